"""The order in which the answers of a stored run were asked, from the journal of its sitting."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from markscheme.weigh.orders import AskedOrder

if TYPE_CHECKING:
    from collections.abc import Mapping

    from markscheme.history.runs import FoundRun, RunFinder


def load_asked_order(runs: RunFinder, found: FoundRun) -> AskedOrder | None:
    """Return where each answer of a live run was asked; of any other run that is not recorded."""
    if found.stored is None:
        return None
    summaries = runs.store.read_summaries([found.stored.id])
    live: Any = next((summary.get("live") for _, summary in summaries), None)
    if not isinstance(live, dict) or not live.get("sitting") or not live.get("beside"):
        return None
    bodies = [noted.body for noted in runs.store.journal.read_entries(live["sitting"])]
    places = {
        (body["item"], body["attempt"]): body["order"] for body in bodies if _is_live_reply(body)
    }
    return AskedOrder(sitting=live["sitting"], other_sittings=tuple(live["beside"]), places=places)


def _is_live_reply(body: Mapping[str, Any]) -> bool:
    """Whether the subject itself was asked, and answered: what a cache said has no order."""
    reply: Any = body.get("reply")
    whole = isinstance(reply, dict) and {"item", "attempt", "order"} <= body.keys()
    return whole and reply.get("text") is not None and not reply.get("cached")
