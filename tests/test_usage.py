"""What an answer took: its tokens and its cost, as far as they are told and can be believed."""

from __future__ import annotations

import json
from decimal import Decimal
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import pytest

from markscheme.ask.subjects import TokenPrice
from markscheme.vocabulary import sum_amounts
from raw_server import DONE, always, completion, event, http

if TYPE_CHECKING:
    from sittings import Sitting
    from wild_servers import Ask


def test_an_answer_with_tokens_and_cost_beyond_belief_is_still_an_answer(sitting: Sitting) -> None:
    (row,) = sitting.asks("boast 1").json()["items"]
    assert (row["got"], row["tokens_in"], row["tokens_out"], row["cost"]) == ("yes", None, 5, None)


@pytest.mark.parametrize("streamed", [True, False], ids=["streamed", "whole"])
@pytest.mark.parametrize(
    "more",
    [
        {"usage": {"prompt_tokens": 10.0, "completion_tokens": 5, "cost": 0.5}},
        {"usage": {"prompt_tokens": 10, "completion_tokens": 5.0, "cost": {"total_cost": 0.5}}},
        {"x_groq": {"usage": {"prompt_tokens": 10, "completion_tokens": 5, "cost": "0.5"}}},
    ],
    ids=["with fractions", "with parts of the cost", "by Groq"],
)
def test_what_an_answer_took_is_read_however_it_is_told(
    ask: Ask, more: dict[str, Any], *, streamed: bool
) -> None:
    told = f"data: {json.dumps({'choices': [], **more})}"
    events = "\n\n".join([event("yes", "stop"), told, DONE, ""])
    whole = http(events if streamed else {**completion("yes"), **more})
    (row,) = ask(always(whole), *(["--stream"] if streamed else [])).json["items"]
    assert (row["tokens_in"], row["tokens_out"], row["cost"]) == (10, 5, 0.5)


@pytest.mark.parametrize("tokens", [10.5, -1.0, 1e300, True, "10"])
def test_tokens_that_cannot_be_counted_are_not_known(ask: Ask, tokens: Any) -> None:
    said = {**completion("yes"), "usage": {"prompt_tokens": tokens}}
    assert ask(always(http(said))).json["items"][0]["tokens_in"] is None


@pytest.mark.parametrize("cost", [2**63 - 1, "9223372036854775807", 2**62, "1e-999999999", "-1"])
@pytest.mark.parametrize("tokens", [1, 2**63 - 1])
def test_whatever_an_answer_is_said_to_cost_it_is_scored(ask: Ask, tokens: int, cost: Any) -> None:
    usage = {"prompt_tokens": tokens, "completion_tokens": tokens, "cost": cost}
    done = ask(always(http({**completion("yes"), "usage": usage})), "--price", "3000000:3000000")
    assert done.code == 0
    assert done.json["summary"]["n"] == 1


def test_a_price_is_exact() -> None:
    price = TokenPrice(tokens_in=Decimal("0.15"), tokens_out=Decimal("0.60"))
    assert price.compute_cost(1000, 10) == Decimal("0.000156")
    assert price.compute_cost(None, 10) is None


def test_amounts_keep_every_digit() -> None:
    price = TokenPrice(
        tokens_in=Decimal("0.1234567890123456789012345678901"), tokens_out=Decimal(0)
    )
    costs = [price.compute_cost(2**40 + n, 1) or Decimal(0) for n in range(3)]
    exact = sum(Fraction(2**40 + n) * Fraction(price.tokens_in) / 10**6 for n in range(3))
    assert Fraction(sum_amounts(costs)) == exact
