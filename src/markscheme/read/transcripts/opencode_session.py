"""OpenCode's messages and parts, whichever of its five shapes they come in, as transcripts."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

from markscheme.read.transcripts.arguments import Described, described
from markscheme.read.transcripts.draft import CUT_OFF, Draft, summed
from markscheme.read.transcripts.values import Object, count, epoch, mapping, text
from markscheme.transcript import MAIN, CallStatus, Tokens

if TYPE_CHECKING:
    from datetime import datetime

    from markscheme.read.transcripts.draft import DraftDispatch
    from markscheme.transcript import Transcript

_STATUS = {
    "completed": CallStatus.OK,
    "error": CallStatus.ERROR,
    "pending": CallStatus.NONE,
    "running": CallStatus.NONE,
}
_DENIED = ("The user rejected permission", "The user has specified a rule which prevents")
_DEEPEST = 16
_ENDED = frozenset({"completed", "error"})


@dataclass(slots=True)
class Message:
    """A message with its parts, in the order in which they were met."""

    info: Object = field(default_factory=dict)
    parts: dict[str, Object] = field(default_factory=dict)


@dataclass(slots=True)
class Session:
    """A session with its messages, in the order in which they were met."""

    id: str
    info: Object = field(default_factory=dict)
    messages: dict[str, Message] = field(default_factory=dict)

    def message(self, id_: str) -> Message:
        """Return a message by its id; a new one where there is none."""
        found = self.messages.get(id_)
        if found is None:
            found = self.messages[id_] = Message()
        return found


class Sessions:
    """Every session that a source holds, folded by id."""

    def __init__(self) -> None:
        self._sessions: dict[str, Session] = {}

    def session(self, id_: str) -> Session:
        """Return a session by its id; a new one where there is none."""
        found = self._sessions.get(id_)
        if found is None:
            found = self._sessions[id_] = Session(id_)
        return found

    def info(self, info: Object) -> None:
        """Take what is said of a session."""
        id_ = text(info.get("id"))
        if id_ is not None:
            self.session(id_).info = info

    def message(self, info: Object, parts: list[Object]) -> None:
        """Take a message with its parts."""
        session, id_ = text(info.get("sessionID")), text(info.get("id"))
        if session is None or id_ is None:
            return
        message = self.session(session).message(id_)
        message.info = info
        for part in parts:
            message.parts[text(part.get("id")) or str(len(message.parts))] = slim(part)

    def part(self, part: Object) -> None:
        """Take the newest state of a part."""
        session, message = text(part.get("sessionID")), text(part.get("messageID"))
        if session is not None and message is not None:
            parts = self.session(session).message(message).parts
            parts[text(part.get("id")) or str(len(parts))] = slim(part)

    def append(self, event: Object) -> None:
        """Append to a field of a part."""
        session, message = text(event.get("sessionID")), text(event.get("messageID"))
        part, delta = text(event.get("partID")), text(event.get("delta"))
        if None in {session, message, part, delta} or event.get("field") != "text":
            return
        parts = self.session(str(session)).message(str(message)).parts
        if str(part) in parts:
            parts[str(part)]["text"] = f"{parts[str(part)].get('text') or ''}{delta}"

    def remove(self, event: Object) -> None:
        """Take away a message or a part."""
        session, message = text(event.get("sessionID")), text(event.get("messageID"))
        found = self._sessions.get(session or "")
        if found is None or message is None:
            return
        part = text(event.get("partID"))
        if part is None:
            found.messages.pop(message, None)
        elif message in found.messages:
            found.messages[message].parts.pop(part, None)

    def transcripts(self, format_: str, *, skipped: int = 0, cut: bool = False) -> list[Transcript]:
        """Return the sessions that no other has started, each with those that it started."""
        children: dict[str, list[str]] = {}
        started: set[str] = set()
        for session in self._sessions.values():
            for id_ in _started_by(session, self._sessions):
                if id_ not in started and id_ != session.id:
                    started.add(id_)
                    children.setdefault(session.id, []).append(id_)
        roots = [s for s in self._sessions.values() if s.id not in started and s.messages]
        roots = roots or [s for s in self._sessions.values() if s.messages][:1]
        build = _Builder(self._sessions, children, format_)
        return [build.transcript(root, skipped=skipped, cut=cut) for root in roots]


def slim(part: Object) -> Object:
    """Return a part; of a call that has ended, without its bulk."""
    state = part.get("state")
    if isinstance(state, dict) and text(state.get("status")) in _ENDED:
        kept = {key: part.get(key) for key in ("type", "tool", "callID")}
        return {**kept, "state": Called.of(part, state)}
    return part


class Called(NamedTuple):
    """What is kept of the state of a call."""

    status: CallStatus
    given: Described
    start: datetime | None
    end: datetime | None
    session: str | None

    @classmethod
    def of(cls, part: Object, state: Object) -> Called:
        """Return what is kept, without what the tool put out."""
        name, time = str(part.get("tool")), mapping(state.get("time"))
        return cls(
            status=_status(name, state),
            given=described(name, state.get("input")),
            start=epoch(time.get("start"), "ms"),
            end=epoch(time.get("end"), "ms"),
            session=text(mapping(state.get("metadata")).get("sessionId")),
        )


def _called(part: Object) -> Called:
    state = part.get("state")
    return state if isinstance(state, Called) else Called.of(part, mapping(state))


def _started_by(session: Session, known: dict[str, Session]) -> list[str]:
    """Return the ids of the sessions that this one started."""
    named = [
        _called(part).session
        for message in session.messages.values()
        for part in message.parts.values()
        if part.get("tool") == "task"
    ]
    parents = [other.id for other in known.values() if other.info.get("parentID") == session.id]
    return [id_ for id_ in dict.fromkeys((*named, *parents)) if id_ is not None and id_ in known]


class _Builder:
    """Makes transcripts of sessions."""

    def __init__(
        self, sessions: dict[str, Session], children: dict[str, list[str]], format_: str
    ) -> None:
        self._sessions = sessions
        self._children = children
        self._format = format_
        self._kinds: dict[str, str | None] = {}

    def transcript(
        self, session: Session, *, skipped: int = 0, cut: bool = False, depth: int = 0
    ) -> Transcript:
        draft = Draft(session.id if depth else MAIN, kind=self._kinds.get(session.id))
        draft.session = session.id
        used: list[Tokens] = []
        for id_, message in session.messages.items():
            if text(message.info.get("role")) == "user":
                _asked(draft, message)
            else:
                self._answered(draft, id_, message)
                used.extend(_used(message))
        draft.tokens = summed(used)
        if cut:
            draft.gap(CUT_OFF)
        if depth < _DEEPEST:
            draft.children = [
                self.transcript(self._sessions[child], depth=depth + 1)
                for child in self._children.get(session.id, ())
            ]
        return draft.finish(self._format, skipped=skipped)

    def _answered(self, draft: Draft, id_: str, message: Message) -> None:
        info = message.info
        draft.model(info.get("modelID"))
        summary = info.get("summary") is True or info.get("agent") == "compaction"
        spoken = text(info.get("role")) == "assistant" and not summary
        completed = epoch(mapping(info.get("time")).get("completed"), "ms")
        for part in message.parts.values():
            kind = text(part.get("type"))
            if kind == "text" and spoken and not part.get("ignored"):
                end = epoch(mapping(part.get("time")).get("end"), "ms")
                draft.say(text(part.get("text")) or "", end or completed, id_)
            elif kind == "tool":
                started = take_tool(draft, part)
                if started is not None and started.agent is not None:
                    self._kinds[started.agent] = started.kind
            elif kind == "subtask":
                draft.dispatch(text(part.get("agent")), None, text(part.get("prompt")))
        name = text(mapping(info.get("error")).get("name"))
        if name is not None:
            draft.trouble = f"the last message ended with {name}"
        if info and completed is None and "time" in info:
            draft.trouble = "the last message was not finished"


def take_tool(draft: Draft, part: Object) -> DraftDispatch | None:
    """Take a call with its newest state; return the dispatch that it is, if it is one."""
    state, name = _called(part), text(part.get("tool")) or "?"
    made = draft.call(name, state.given, id_=text(part.get("callID")), at=state.start)
    made.status, made.ended = state.status, state.end
    made.answered = made.status is not CallStatus.NONE
    if name != "task":
        return None
    dispatch = draft.dispatch(made.given.arguments.get("subagent_type"), made)
    dispatch.agent = state.session
    return dispatch


def _asked(draft: Draft, message: Message) -> None:
    """Take a user's message: what the person wrote, without what the client added."""
    parts = list(message.parts.values())
    if any(part.get("type") == "compaction" for part in parts):
        return
    for part in parts:
        if part.get("type") == "subtask":
            draft.dispatch(text(part.get("agent")), None, text(part.get("prompt")))
    written = [
        text(part.get("text")) or ""
        for part in parts
        if part.get("type") == "text" and not part.get("synthetic") and not part.get("ignored")
    ]
    at = epoch(mapping(message.info.get("time")).get("created"), "ms")
    draft.prompt("\n".join(written) or None, at)


def _status(name: str, state: Object) -> CallStatus:
    """Return how a call went; a bad exit code and the tool `invalid` are completed to OpenCode."""
    status = _STATUS.get(str(state.get("status")), CallStatus.NONE)
    if status is CallStatus.ERROR:
        denied = (text(state.get("error")) or "").startswith(_DENIED)
        return CallStatus.DENIED if denied else status
    if status is CallStatus.OK:
        code = mapping(state.get("metadata")).get("exit")
        failed = name == "invalid" or (isinstance(code, int) and code != 0)
        return CallStatus.ERROR if failed else status
    return status


def _used(message: Message) -> list[Tokens]:
    """Return the usage of a message: of its steps, or its own where it has none of theirs."""
    steps = [
        mapping(part.get("tokens"))
        for part in message.parts.values()
        if part.get("type") == "step-finish"
    ]
    if steps:
        return [tokens_of(step) for step in steps if step]
    own = mapping(message.info.get("tokens"))
    found = tokens_of(own)
    return [found] if any((found.input_uncached, found.output, found.cache_read)) else []


def tokens_of(tokens: Object) -> Tokens:
    """Return one usage. Reasoning stands apart, unless the total shows that it is in the output."""
    cache = mapping(tokens.get("cache"))
    input_, output = count(tokens.get("input")), count(tokens.get("output"))
    reasoning = count(tokens.get("reasoning"))
    read, write = count(cache.get("read")), count(cache.get("write"))
    whole = sum(part or 0 for part in (input_, output, read, write))
    apart = count(tokens.get("total")) != whole
    return Tokens(
        input_uncached=input_,
        cache_read=read,
        cache_write=write,
        output=None if output is None else output + (reasoning or 0) * apart,
        reasoning=reasoning,
    )
