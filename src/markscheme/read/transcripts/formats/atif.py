"""ATIF, the Agent Trajectory Interchange Format of Harbor: one document for each trajectory.

A step holds what the agent said, its calls and their results. Agents that type into a terminal
have results without calls in older documents; their commands stand in the text.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import datetime
from typing import Any

from markscheme.read.json_fields import (
    JsonObject,
    iter_objects,
    join_text,
    parse_count,
    parse_json,
    parse_json_or_raw,
    parse_timestamp,
    split_words,
    to_object,
    to_text,
)
from markscheme.read.transcripts.draft import Draft, DraftCall, parse_inclusive_usage
from markscheme.read.transcripts.log import Log, LogFormat
from markscheme.vocabulary import MAIN_AGENT, CallStatus, Tokens, Transcript

FORMAT_NAME = "atif"
_VERSION_PREFIX = "ATIF-v1."
_TERMINAL_TOOL = "bash_command"
# Calls that end a trajectory; what the agent says with them is its answer.
_END_TOOLS = frozenset({"mark_task_complete", "task_complete", "finish", "submit"})
_STEP_FIELDS = split_words(
    "step_id timestamp source model_name reasoning_effort message reasoning_content tool_calls "
    "observation metrics extra llm_call_count is_copied_context"
)
_SOURCES = frozenset({"system", "user", "agent"})
_PART_KINDS = frozenset({"text", "image"})
_ERROR_FLAGS = ("is_error", "tool_result_is_error", "timed_out")
_KEYSTROKES = re.compile(r"<keystrokes[^>]*>(.*?)</keystrokes>", re.DOTALL)
_MAX_DEPTH = 16


def can_read_log(log: Log) -> bool:
    """Return whether a document states a version of the format."""
    return any((to_text(r.get("schema_version")) or "").startswith("ATIF-") for r in log.sample)


def read_log(log: Log) -> list[Transcript]:
    """Read the trajectories of a log; a file usually holds one."""
    trajectories = [AtifTrajectory(record) for record in log.iter_records()]
    return [
        trajectory.build_transcript(log.skipped, truncated=log.truncated)
        for trajectory in trajectories or [AtifTrajectory({})]
    ]


class AtifTrajectory:
    """One trajectory, with those of the sub-agents that stand in the same document."""

    def __init__(self, document: JsonObject, agent: str = MAIN_AGENT, depth: int = 0) -> None:
        config = to_object(document.get("agent"))
        kind = None if agent == MAIN_AGENT else to_text(config.get("name"))
        self.draft = Draft(agent, kind=kind)
        self.draft.session = to_text(document.get("session_id"))
        self.manages_context = False
        self._document = document
        self._depth = depth
        self._default_model = config.get("model_name")
        # The sub-agents that steps refer to, and those of them that only manage the context.
        self._referenced: set[str] = set()
        self._internal: set[str] = set()

    def build_transcript(self, skipped: int, *, truncated: bool) -> Transcript:
        """Read the document, and return it as a transcript."""
        version = to_text(self._document.get("schema_version"))
        if version is None or not version.startswith(_VERSION_PREFIX):
            self.draft.add_unknown_kind("version", version)
        steps = list(self.draft.iter_elements(self._document.get("steps"), "step"))
        for step in steps:
            # A copied step was taken over from an earlier trajectory, which holds its calls.
            if step.get("is_copied_context") is not True:
                self._add_step(step)
        if not self.draft.models:
            self.draft.add_model(self._default_model)
        self._add_final_metrics(len(steps))
        self._add_subagents()
        if self._document.get("continued_trajectory_ref"):
            self.draft.add_gap("the trajectory goes on in another file")
        # What only summarises is no work of an agent; with calls of its own it is.
        has_work = bool(self.draft.calls) or bool(self.draft.unknown_kinds)
        self.draft.internal = self.manages_context and not has_work
        return self.draft.build_transcript(FORMAT_NAME, skipped=skipped, truncated=truncated)

    def _add_step(self, step: JsonObject) -> None:
        source, at = to_text(step.get("source")), parse_timestamp(step.get("timestamp"))
        for field in step.keys() - _STEP_FIELDS:
            self.draft.add_unknown_kind("field of a step", field)
        self.draft.add_unread_calls({"extra": step.get("extra")})
        if source not in _SOURCES:
            self.draft.add_unknown_kind("step", source)
        self._check_parts(step.get("message"))
        text = join_text(step.get("message"))
        if source == "user":
            self.draft.add_prompt(text, at)
        elif source == "agent":
            self.draft.add_model(step.get("model_name"))
            self._add_usage(to_object(step.get("metrics")))
            if text is not None:
                self.draft.add_text(text, at)
        calls = list(self._add_calls(step, text, at))
        is_agent = source != "system" and (bool(calls) or _find_keystrokes(text) is None)
        self._add_results(step, calls, is_agent=is_agent)
        if any(call.name in _END_TOOLS for call in calls):
            self._end_trajectory(step, text, at)

    def _check_parts(self, content: Any) -> None:
        if not isinstance(content, str):
            for part in self.draft.iter_elements(content, "content part"):
                self.draft.add_unread_calls(part)
                if to_text(part.get("type")) not in _PART_KINDS:
                    self.draft.add_unknown_kind("content part", part.get("type"))

    def _add_calls(
        self, step: JsonObject, text: str | None, at: datetime | None
    ) -> Iterator[DraftCall]:
        is_named = False
        for record in self.draft.iter_elements(step.get("tool_calls"), "tool call"):
            is_named = True
            name = to_text(record.get("function_name"))
            arguments = parse_json_or_raw(record.get("arguments"))
            if name == _TERMINAL_TOOL and isinstance(arguments, dict):
                arguments = {"command": arguments.get("keystrokes"), **arguments}
            id_ = to_text(record.get("tool_call_id"))
            call = self.draft.add_call(name or "?", arguments, id_=id_, at=at)
            call.set_outcome(_parse_status(to_object(record.get("extra"))) or CallStatus.NONE)
            yield call
        if not is_named:
            for keystrokes in _find_keystrokes(text) or []:
                yield self.draft.add_call(_TERMINAL_TOOL, {"command": keystrokes}, at=at)

    def _add_results(self, step: JsonObject, calls: list[DraftCall], *, is_agent: bool) -> None:
        observation = step.get("observation")
        if observation is not None and not isinstance(observation, dict):
            self.draft.add_unknown_kind("observation", "no object")
        results = to_object(observation).get("results")
        step_status = _parse_status(to_object(step.get("extra"))) if len(calls) == 1 else None
        by_id = {call.id: call for call in calls if call.id is not None}
        for result in self.draft.iter_elements(results, "result"):
            self._check_parts(result.get("content"))
            references = list(
                self.draft.iter_elements(result.get("subagent_trajectory_ref"), "reference")
            )
            id_ = to_text(result.get("source_call_id"))
            answered = [by_id[id_]] if id_ in by_id else [c for c in calls if not c.has_result]
            status = _parse_status(to_object(result.get("extra"))) or step_status
            for call in answered:
                call.set_outcome(status or (call.status if call.has_result else None))
            self._add_references(references, answered, is_agent=is_agent)
            # Something was run that the step does not show.
            if is_agent and not references and (not calls or (id_ and id_ not in by_id)):
                self.draft.add_unknown_kind("result", "without its call")

    def _add_references(
        self, references: list[JsonObject], calls: list[DraftCall], *, is_agent: bool
    ) -> None:
        """Add the sub-agents of a result. The agent did not dispatch those of the system."""
        for reference in references:
            id_ = to_text(reference.get("trajectory_id"))
            if id_ is not None:
                self._referenced.add(id_)
            if is_agent:
                dispatch = self.draft.add_dispatch(None, calls[0] if calls else None)
                dispatch.agent = id_
            elif id_ is not None:
                self._internal.add(id_)

    def _end_trajectory(self, step: JsonObject, text: str | None, at: datetime | None) -> None:
        for call in iter_objects(step.get("tool_calls")):
            if call.get("function_name") in _END_TOOLS:
                arguments = to_object(parse_json(call.get("arguments")))
                answers = map(arguments.get, ("message", "final_thought", "answer"))
                text = next(filter(None, map(to_text, answers)), text)
        self.draft.add_text(text or "", at)

    def _add_usage(self, metrics: JsonObject) -> None:
        if metrics:
            extra = to_object(metrics.get("extra"))
            usage = parse_inclusive_usage(
                metrics.get("prompt_tokens"),
                metrics.get("cached_tokens"),
                metrics.get("completion_tokens"),
                extra.get("reasoning_tokens"),
                extra.get("cache_creation_input_tokens"),
            )
            self.draft.add_usage(usage)

    def _add_final_metrics(self, step_count: int) -> None:
        """Take the totals that the document states, and compare its number of steps."""
        metrics = to_object(self._document.get("final_metrics"))
        total, extra = parse_count(metrics.get("total_steps")), to_object(metrics.get("extra"))
        if total is not None and total > step_count and not self._document.get("notes"):
            self.draft.add_gap(f"the log has {step_count} of {total} steps")
        usage = parse_inclusive_usage(
            metrics.get("total_prompt_tokens"),
            metrics.get("total_cached_tokens"),
            metrics.get("total_completion_tokens"),
            extra.get("total_reasoning_tokens"),
            extra.get("total_cache_creation_input_tokens"),
        )
        if usage != Tokens():
            self.draft.tokens = usage

    def _add_subagents(self) -> None:
        embedded = self._document.get("subagent_trajectories")
        for document in self.draft.iter_elements(embedded, "sub-agent"):
            id_ = to_text(document.get("trajectory_id"))
            if self._depth >= _MAX_DEPTH or id_ is None:
                self.draft.add_unknown_kind("sub-agent", id_)
                continue
            child = AtifTrajectory(document, id_, self._depth + 1)
            child.draft.session = child.draft.session or self.draft.session
            child.manages_context = id_ in self._internal
            for dispatch in self.draft.dispatches:
                if dispatch.agent == id_:
                    dispatch.kind = child.draft.kind
            # A sub-agent that no result names was started by something the steps do not show.
            if id_ not in self._referenced:
                self.draft.add_unknown_kind("sub-agent", "without its call")
            self.draft.children.append(child.build_transcript(0, truncated=False))


def _find_keystrokes(text: str | None) -> list[str] | None:
    """Return the commands in the text of an agent that answers in JSON or XML."""
    written = text or ""
    start, end = written.find("{"), written.rfind("}")
    answer = to_object(parse_json(written[start : end + 1]))
    if "commands" in answer:
        commands = answer["commands"] if isinstance(answer["commands"], list) else [None]
        typed = [to_object(command).get("keystrokes") for command in commands]
        is_known = all(isinstance(keystrokes, str) for keystrokes in typed)
        return [keystrokes for keystrokes in typed if keystrokes] if is_known else None
    return _KEYSTROKES.findall(written) or None


def _parse_status(extra: JsonObject) -> CallStatus | None:
    """Return the status that a producer notes in the field for its own data."""
    flags = [extra[name] for name in _ERROR_FLAGS if isinstance(extra.get(name), bool)]
    if isinstance(extra.get("success"), bool):
        flags.append(not extra["success"])
    if type(extra.get("exit_code")) is int:
        flags.append(extra["exit_code"] != 0)
    if not flags:
        return None
    return CallStatus.ERROR if any(flags) else CallStatus.OK


FORMAT = LogFormat(
    name=FORMAT_NAME,
    looks_for="`schema_version` ATIF-v1 with `steps`",
    can_read_log=can_read_log,
    read_log=read_log,
)
