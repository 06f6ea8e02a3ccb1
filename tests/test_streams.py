"""A streamed answer is whole however it comes, or it is none."""

from __future__ import annotations

from sittings import Sitting, faults


def test_a_streamed_answer_has_the_time_to_its_first_token(sitting: Sitting) -> None:
    document = sitting.asks("stream 1").json("--stream")
    (row,) = document["items"]
    first = row["asked"]["first_token_ms"]
    assert row["got"] == "yes"
    assert 0 < first < row["latency_ms"]
    assert row["tokens_out"] == 2
    assert document["live"]["first_token_ms"]["n"] == 1


def test_a_stream_that_ends_too_soon_is_no_answer(sitting: Sitting) -> None:
    document = sitting.asks("trickle 1").json("--stream", "--retries", "0")
    assert faults(document) == {"broken-off": 1}


def test_a_stream_that_ends_with_an_error_is_no_answer(sitting: Sitting) -> None:
    document = sitting.asks("sink 1").json("--stream", "--retries", "0")
    assert faults(document) == {"server-error": 1}
    assert "overloaded" in document["items"][0]["asked"]["error"]["why"]
