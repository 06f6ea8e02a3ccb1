"""The MCP server, with a real client over stdio."""

from __future__ import annotations

import json
import os
import sys
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any

import anyio
import pytest

from commands import here, markscheme

mcp: Any = pytest.importorskip("mcp")

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Awaitable, Callable
    from pathlib import Path

TOOLS = {
    *("score_answer", "score_file", "lint", "gate", "failures", "compare_runs", "list_runs"),
}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    here("init", str(tmp_path / "project"))
    return tmp_path / "project"


@asynccontextmanager
async def connect(folder: Path) -> AsyncIterator[Any]:
    from mcp.client.stdio import stdio_client  # noqa: PLC0415 - the package may be absent

    words = ["-m", "markscheme", "mcp", "--folder", str(folder)]
    server = mcp.StdioServerParameters(command=sys.executable, args=words, env=dict(os.environ))
    async with stdio_client(server) as streams, mcp.ClientSession(*streams) as session:
        await session.initialize()
        yield session


def talk(folder: Path, conversation: Callable[[Any], Awaitable[None]]) -> None:
    """Start the server, hold a conversation, and end both."""

    async def run() -> None:
        with anyio.fail_after(60):
            async with connect(folder) as session:
                await conversation(session)

    anyio.run(run)


async def call(session: Any, tool: str, **arguments: Any) -> Any:
    answer = await session.call_tool(tool, arguments)
    text = answer.content[0].text
    assert not answer.is_error, text
    return json.loads(text)


async def refuse(session: Any, tool: str, **arguments: Any) -> str:
    answer = await session.call_tool(tool, arguments)
    assert answer.is_error
    text: str = answer.content[0].text
    return text.removeprefix(f"Error executing tool {tool}: ")


def test_an_assistant_scores_judges_and_compares(folder: Path) -> None:
    async def conversation(session: Any) -> None:
        listed = await session.list_tools()
        assert {tool.name for tool in listed.tools} == TOOLS
        assert all(tool.description for tool in listed.tools)

        documents = {"rubric": "rubric.yaml", "exams": ["exam.yaml"], "answers": "answers.jsonl"}
        scored = await call(session, "score_file", **documents, store=True)
        assert (scored["summary"]["score"], scored["summary"]["n"]) == (0.7, 3)
        again = await call(session, "score_file", **documents, store=True)
        runs = [run["id"] for run in (await call(session, "list_runs"))["runs"]]
        assert runs == [*again["runs"], *scored["runs"]]

        judged = await call(session, "gate", run="latest")
        assert judged["verdict"] in {"pass", "fail", "undecided"}
        failed = await call(session, "failures", run="latest")
        assert [item["item"] for item in failed["items"]] == ["c-02", "c-03"]
        assert "lacks the accent" in failed["items"][0]["answers"][0]["reasons"]["right"]
        compared = await call(session, "compare_runs", runs=["latest~1", "latest"])
        assert compared["runs"] == runs[::-1]

        one = {"rubric": "rubric.yaml", "exam": "exam.yaml", "item": "c-01"}
        marked = await call(session, "score_answer", **one, output="Rome")
        assert marked["axes"]["right"]["value"] == 0
        found = await call(session, "lint", files=["rubric.yaml", "exam.yaml"])
        assert not [finding for finding in found["findings"] if finding["severity"] == "error"]

    talk(folder, conversation)


def test_errors_reach_the_client_as_sentences(folder: Path) -> None:
    rubric = folder / "rubric.yaml"
    (folder / "wrong.yaml").write_text(rubric.read_text().replace("0.10", "0.15"))

    async def conversation(session: Any) -> None:
        one = {"rubric": "rubric.yaml", "exam": "exam.yaml", "output": "x"}
        assert await refuse(session, "score_answer", **one, item="c-1") == (
            "the exam `capitals` has no item `c-1`; did you mean `c-01`?"
        )
        weights = await refuse(session, "score_answer", **{**one, "rubric": "wrong.yaml"}, item="a")
        assert "they must sum to exactly 1" in weights
        outside = await refuse(session, "lint", files=["../../etc/passwd.yaml"])
        assert "is outside of the folder" in outside
        assert "there is no store at" in await refuse(session, "gate", run="no-such")
        margin = await refuse(session, "compare_runs", runs=["a", "b"], margin="x")
        assert margin == "the margin must be a number such as 0.02, not `x`"
        assert await call(session, "lint", files=["rubric.yaml"])

    talk(folder, conversation)


def test_the_command_says_what_it_is_for(tmp_path: Path) -> None:
    assert "is no folder" in markscheme("mcp", "--folder", str(tmp_path / "none")).err
    done = markscheme("mcp", "--folder", str(tmp_path))
    assert (done.code, done.out) == (0, "")
