"""SWE-agent: `*.traj` with its `trajectory`, or a `history` whose turns hold commands as text.

An action is one text: a command of the agent's own tools such as `edit 1:3` or `submit`, or any
shell command. Both are lines for a shell, so a command of the agent may stand beside others. Logs
that hold tool calls without a `trajectory` are chat messages of OpenAI.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import Any

from markscheme.read.json_fields import (
    JsonObject,
    iter_objects,
    join_text,
    parse_count,
    parse_json,
    split_words,
    to_object,
    to_text,
)
from markscheme.read.tools import iter_commands
from markscheme.read.transcripts.draft import Draft, parse_inclusive_usage
from markscheme.read.transcripts.log import Log, LogFormat
from markscheme.vocabulary import Transcript

FORMAT_NAME = "swe-agent"
NO_EXIT_STATUS = "there is no exit status, so the run was stopped"
_SHELL = "bash"
_EDITOR = "str_replace_editor"
_SUBMITTED = "submitted"
# Commands of the agent's own tools. Those that change files name the call wherever they stand.
_CHANGING_COMMANDS = split_words("edit create insert undo_edit append str_replace_editor")
_READING_COMMANDS = split_words(
    "open goto scroll_up scroll_down find_file search_dir search_file filemap view_image submit "
    "exit_forfeit open_site close_site screenshot_site click_mouse double_click_mouse move_mouse "
    "drag_mouse type_text scroll_on_page execute_script_on_page navigate_back navigate_forward "
    "reload_page wait_time press_keys_on_page set_browser_window_size get_console_output"
)
# After these, the rest of the text is no command but what is written.
_COMMANDS_WITH_TEXT = split_words("edit insert append")
_HARNESS_ACTIONS = split_words(
    "exit_cost exit_context exit_format exit_api exit_error exit_environment_error exit_command "
    "exit_command_timeout exit_total_execution_time early_exit skip"
)
_HARMLESS_BLOCKS = frozenset({"text", "image_url", "thinking"})
_KNOWN_ROLES = frozenset({"system", "user", "assistant", "tool"})


def can_read_log(log: Log) -> bool:
    """Return whether there is a trajectory of actions, or a history with actions as text."""
    return any(_is_run(record) for record in log.sample)


def _is_run(record: JsonObject) -> bool:
    steps = record.get("trajectory")
    if isinstance(steps, list) and steps:
        return any(
            "action" in step and not {"observation", "response", "thought"}.isdisjoint(step)
            for step in iter_objects(steps)
        )
    turns = [turn for turn in iter_objects(record.get("history")) if _is_turn(turn)]
    return bool(turns) and not any("tool_calls" in turn for turn in turns)


def _is_turn(item: JsonObject) -> bool:
    return to_text(item.get("role")) == "assistant" and "action" in item and "agent" in item


def read_log(log: Log) -> list[Transcript]:
    """Read the runs of a log; a file usually holds one."""
    runs = []
    for record in log.iter_records():
        run = SweAgentRun()
        run.add_record(record)
        runs.append(run)
    runs = runs or [SweAgentRun()]
    return [
        run.draft.build_transcript(FORMAT_NAME, skipped=log.skipped, truncated=log.truncated)
        for run in runs
    ]


class SweAgentRun:
    """One run while its record is read."""

    def __init__(self) -> None:
        self.draft = Draft()

    def add_record(self, record: JsonObject) -> None:
        """Add the prompt, the steps, and how the run ended."""
        history = list(self.draft.iter_elements(record.get("history"), "message"))
        steps = list(self.draft.iter_elements(record.get("trajectory"), "step"))
        self._add_prompt(history)
        self._check_history(history, steps)
        for step in steps or _build_steps(history):
            self._add_step(step)
        # A run with several attempts repeats the chosen one on top; the others are not read.
        if "attempts" in record:
            self.draft.add_unknown_kind("container of calls", "attempts")
        config = to_object(parse_json(record.get("replay_config")))
        self.draft.add_model(to_object(to_object(config.get("agent")).get("model")).get("name"))
        self._add_info(to_object(record.get("info")))

    def _add_prompt(self, history: list[JsonObject]) -> None:
        """Add the task: the first message of the user that is no demonstration."""
        prompt = None
        for item in history:
            role = to_text(item.get("role"))
            if role not in _KNOWN_ROLES:
                self.draft.add_unknown_kind("message", role)
            elif prompt is None and role == "user" and item.get("is_demo") is not True:
                prompt = join_text(item.get("content"))
        self.draft.add_prompt(prompt)

    def _check_history(self, history: list[JsonObject], steps: list[JsonObject]) -> None:
        """Note calls in the messages that no step shows. With steps, tool calls are repeated."""
        for item in history:
            for block in self.draft.iter_blocks(item.get("content")):
                self.draft.add_unread_calls(block)
                if to_text(block.get("type")) not in _HARMLESS_BLOCKS:
                    self.draft.add_unknown_kind("content block", block.get("type"))
            self.draft.add_unread_calls(item, ("content", *(["tool_calls"] if steps else [])))
        turns = [item for item in history if _is_turn(item) and item.get("is_demo") is not True]
        if steps and len(turns) > len(steps):
            self.draft.add_unknown_kind("turn", "without its step")

    def _add_step(self, step: JsonObject) -> None:
        thought = to_text(step.get("thought")) or to_text(step.get("response"))
        if thought is not None:
            self.draft.add_text(thought)
        action, observation = step.get("action"), step.get("observation")
        self.draft.add_unread_calls(step, ("query", "messages", "state", "extra_info"))
        if not isinstance(action, str):
            self.draft.add_unknown_kind("action", "no text")
        elif not action.strip():
            # Without a command the client asks again. It ran something if there is an output.
            is_run = isinstance(observation, str) and observation.strip()
            if is_run and not str(observation).startswith("Exit"):
                self.draft.add_unknown_kind("command", "not found in the turn")
        elif action.strip() not in _HARNESS_ACTIONS:
            name, arguments = _parse_action(action.strip(), step.get("state"))
            call = self.draft.add_call(name, arguments)
            # The log has no error flag.
            if observation is not None:
                call.set_outcome(None)

    def _add_info(self, info: JsonObject) -> None:
        """Add the tokens of the run and how it ended. What was submitted is the answer."""
        stats = to_object(info.get("model_stats"))
        # A replay asks no model and states 0.
        if parse_count(stats.get("tokens_sent")):
            usage = parse_inclusive_usage(
                stats.get("tokens_sent"), None, stats.get("tokens_received")
            )
            self.draft.add_usage(usage)
        status = to_text(info.get("exit_status"))
        if status is None:
            self.draft.add_gap(NO_EXIT_STATUS)
        elif status != _SUBMITTED:
            self.draft.add_gap(f"the run ended with `{status}`")
        else:
            answer = to_text(info.get("submission")) or "\n".join(self.draft.final_texts)
            self.draft.add_text(answer)


def _build_steps(history: list[JsonObject]) -> Iterator[JsonObject]:
    """Yield the steps of a log that has only messages. The next message is the observation."""
    for item, reply in itertools.zip_longest(history, history[1:]):
        if to_text(item.get("role")) == "assistant" and item.get("is_demo") is not True:
            observation = None if reply is None else join_text(reply.get("content")) or ""
            text = to_text(item.get("thought")) or join_text(item.get("content"))
            yield {"action": item.get("action"), "thought": text, "observation": observation}


def _parse_action(action: str, state: Any) -> tuple[str, JsonObject]:
    """Return the name and the arguments of the call that an action is."""
    first_line, _, _ = action.partition("\n")
    has_text = first_line.split(maxsplit=1)[0] in _COMMANDS_WITH_TEXT
    commands = list(iter_commands(first_line if has_text else action))
    programs = [words[0] for words in commands]
    changing = next((words for words in commands if words[0] in _CHANGING_COMMANDS), None)
    if changing is not None:
        return changing[0], {"command": action, **_find_change_arguments(changing, state)}
    if len(programs) == 1 and programs[0] in _READING_COMMANDS:
        return programs[0], {"command": action}
    return _SHELL, {"command": action}


def _find_change_arguments(words: list[str], state: Any) -> JsonObject:
    """Return the file that a command changes, and the action of the editor tool."""
    if words[0] == _EDITOR:
        return {"command": words[1] if len(words) > 1 else "", "path": "".join(words[2:3])}
    if words[0] == "create":
        return {"path": "".join(words[1:2])}
    # The other commands change the file that is open.
    opened = to_text(to_object(parse_json(state)).get("open_file"))
    return {} if opened in {None, "n/a"} else {"path": opened}


FORMAT = LogFormat(
    name=FORMAT_NAME,
    looks_for="a `trajectory` of steps with `action` and `observation`, or a `history` of "
    "assistant messages with `action` and without `tool_calls`",
    can_read_log=can_read_log,
    read_log=read_log,
)
