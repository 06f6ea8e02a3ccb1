"""Findings of an answer: what is one, what it cites, and what only says that nothing was found."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from markscheme import Item, Response
from markscheme.mark import mark_cell
from markscheme.mark.axes import Citations, Sections
from markscheme.vocabulary import Cell, Reading, Status

SIX = ("Memory", "Codebase", "Patterns", "Dispatched", "Gaps", "Recommendation")
AXIS = Citations(sections=SIX[:4], other_sections=SIX[4:])
ITEM = Item(id="q", prompt="Ask.")


def cell(text: str) -> Cell:
    return mark_cell(AXIS, Response(reading=Reading.TEXT, text=text), ITEM)


def read_quotes(text: str) -> list[str]:
    """Return the findings that cite nothing, as the cell quotes them."""
    return re.findall(r'line \d+ "([^"]*)"', cell(text).reason)


def read_uncited(body: str, section: str = "Codebase") -> list[str]:
    return read_quotes(f"## {section}\n{body}\n\n## Gaps\n- nobody knows")


CITED = """
src/a.py#L12
src/a.py:12–20
src/a.py:12:5
[a.py](src/a.py#L12)
(src/a.py:12,src/b.py:13)
.github/workflows/ci.yml:7
packages/@scope/a.ts:4
src/a.weird:12
tests/x.test.ts:9
src/Foo.Designer.cs:12
schema.prisma:12
config.ru:3
src\\a.py:3
mem_123
memory #42
Memory 7 says so
(memory: project_overview)
(memory:overview)
(ID 42)
(M12)
[M-12]
(#7)
id: 42
id: loader
01ARZ3NDEKTSV4RRFFQ69G5FAV
memories/auth.md
.serena/memories/auth
MEMORY.md
project_overview.md
#1234
(#123)
in the color memory #123456
"""
UNCITED = """
api.acme.dev:8443
api.acme.dev:8443/health.py
api.acme.sh:8443
kafka-1.acme.io:9092
127.0.0.1:80
10.0.0.1:5432/db
[::1]:80
https://x.y:443/z
node:18-alpine
node:18
acme/api:12
acme/api:v12
ghcr.io/acme/api:12
redis:7.2
python:3.12-slim
postgres:16
Node.js:18
v1.2:3
John 3:16
std::vector
key: 42
port:8080
:tada:
id: int
(id: int)
id: Optional[str]
ids: list[int]
id: uuid4()
user_id: 42
User(id: bigint)
Apple M1
the M2 chip
src/memory/heap2.c
memory 512MB
memory: 2 GB
memory 3 times
(memory: none)
mem0
we are #1 here
a.py:0
config.py: 12
/users:12
README.md
docs/setup.md
the brand color is #123456
the colors #111222 and #333444
#1234abcd
#12ab34
(#fff)
<!-- a.py:1 -->
<!-- memory #7 --> late
"""


@pytest.mark.parametrize("source", CITED.split("\n")[1:-1])
def test_a_line_of_a_file_or_the_id_of_a_memory_is_a_source(source: str) -> None:
    assert read_uncited(f"- It loads {source}") == []


@pytest.mark.parametrize("source", UNCITED.split("\n")[1:-1])
def test_hosts_tags_versions_types_and_amounts_are_no_sources(source: str) -> None:
    assert len(read_uncited(f"- It loads {source}")) == 1


def test_in_the_section_on_memory_a_markdown_file_is_a_memory() -> None:
    assert read_uncited("- It was rewritten (auth.md).", "Memory") == []
    assert read_uncited("- It was rewritten (auth.md).") == ["It was rewritten (auth.md)."]
    assert read_uncited("- It was rewritten (README.md).", "Memory") != []


NOTHING = """
None.
**None**
None found.
None (quick mode).
None — quick mode.
N/A
Empty
0 agents
Nothing relevant found.
Nothing in memory.
Nothing was found in memory about this topic.
No memory entries matched the query.
No relevant memories found.
No memories about auth.
No relevant entries. Searched for auth and login.
None of the memory entries matched the query.
There are no relevant memories.
Memory is empty.
Memory: none
The memory search returned no results.
I found nothing relevant in memory.
I searched memory and found nothing.
Searched memory for auth, but found no relevant entries.
Could not find any relevant memories.
No agents were dispatched (quick mode).
Not dispatched (quick mode).
No dispatches.
No prior decisions recorded.
✅ None
Nada.
Ninguno.
Sin resultados.
No aplica.
No se encontró nada
No se encontraron memorias relevantes.
No hay memorias relevantes.
No se despachó ningún agente.
"""
SOMETHING = """
None of the services sets a timeout
No service sets a timeout
Nothing validates the token in the gateway
Nothing in the gateway validates the token
None of these handlers validates its input
Nothing is returned on error
Nothing is cached.
None is returned
None — the loader is broken.
Found nothing. The gateway leaks.
I searched memory and found the loader.
Nothing found: the gateway leaks
JWT validation: none
No retries are configured in the client.
No rate limiting.
No authentication is required for the admin route.
No tests
No files in the repo set a timeout
No entries in the cache expire
No results are cached
No tasks run at startup
Not thread-safe
Not needed: the lock is held by the caller
Empty passwords are accepted
0 of 3 services validate tokens
Zero downtime is not guaranteed
Searched memory for auth
quick mode
Ningún servicio fija un timeout
Ninguno de los servicios fija un timeout
Nada valida el token
No hay timeout en el cliente
Sin validación de entrada
"""


@pytest.mark.parametrize("mark", ["- ", "", "| ", "1. "])
@pytest.mark.parametrize("said", NOTHING.split("\n")[1:-1])
def test_a_short_statement_that_nothing_was_found_is_no_finding(said: str, mark: str) -> None:
    line = f"| {said} | |" if mark == "| " else f"{mark}{said}"
    assert cell(f"## Memory\n{line}").reason == "there is no finding that could cite a source"


@pytest.mark.parametrize("said", SOMETHING.split("\n")[1:-1])
def test_a_statement_that_something_is_missing_is_a_finding(said: str) -> None:
    assert cell(f"## Memory\n- {said}").value == 0
    assert cell(f"## Memory\n{said}").value == 0


def test_a_long_statement_is_a_finding() -> None:
    assert cell("## Memory\n- " + "No memories found. " * 9).value == 0


@pytest.mark.parametrize(
    ("body", "uncited"),
    [
        ("It was rewritten.", ["It was rewritten."]),
        ("It loads (src/a.py:1).\n\nIt is slow.", ["It is slow."]),
        ("It loads\nfrom src/a.py:1.", []),
        ("Key files:\n- src/a.py:1", []),
        ("**Key files**\n\n- src/a.py:1", []),
        ("**Auth flow**\nThe gateway checks it (src/a.py:3).", []),
        ("The modules are:\n\n| a | b |\n|---|---|\n| x | src/a.py:1 |", []),
        ("It is read as follows:\n\n```\nsrc/a.py:1\n```", []),
        ("See src/a.py:1\n```\ncode\n```\nIt leaks.", ["It leaks."]),
        ("It leaks:", ["It leaks:"]),
        ("Two modules read it.\n- src/a.py:1", ["Two modules read it."]),
        ("---\nsrc/a.py:1", []),
        ("<!-- a note -->", []),
        ("> It leaks.", ["It leaks."]),
        ("#1234 is old\nand slow", []),
        ("a) one\nb) src/a.py:1", ["one"]),
        ("(a) one\n(b) src/a.py:1", ["one"]),
        ("a. one\nb. src/a.py:1", ["one"]),
        ("i) one\nii) src/a.py:1", ["one"]),
        ("1.2. one\n1.3. src/a.py:1", ["one"]),
        ("✅ one\n❌ src/a.py:1", ["one"]),
        ("▪ one\n▪ src/a.py:1", ["one"]),
        ("<ul>\n<li>one\n<li>src/a.py:1\n</ul>", ["one"]),
        ("<tr><th>a</th></tr>\n<tr>one\n<tr>src/a.py:1", ["one"]),
        ("- **Loader**\n  - one\n  - src/a.py:1", ["one"]),
        ("- **Loader** src/a.py:1\n  - one", []),
    ],
)
def test_items_rows_and_paragraphs_are_findings(body: str, uncited: list[str]) -> None:
    assert read_uncited(body) == uncited


@pytest.mark.parametrize(
    ("text", "uncited"),
    [
        ("**Memory:** none found\n\n**Codebase:** one\n\n**Gaps:** two", ["one"]),
        ("- **Memory**\n  - one\n- **Codebase**\n  two\n- **Gaps**\n  - x", ["one", "two"]),
        ("- **Memory**: one\n- **Codebase**: src/a.py:1\n- **Gaps**: x", ["one"]),
        ("Memory: one\n\nCodebase: src/a.py:3", ["one"]),
        ("**Memory** (quick mode)\n\nNone.", []),
        ("<h2>Memory</h2> one", ["one"]),
        ("<memory>\none\n</memory>\n<gaps>\ntwo\n</gaps>", ["one"]),
        ("<memory>one</memory><codebase>two</codebase><gaps>x</gaps>", ["one", "two"]),
        ("<memory>\n## Auth\none\n</memory>\nafter it", ["one"]),
        ("<memory>\n## Memory\n- one\n</memory>\n<gaps>\n- x\n</gaps>", ["one"]),
        ('<section name="memory">\n- one\n</section>', ["one"]),
        ("memory:\n  - one\ngaps:\n  - two", ["one"]),
        ("**Memory leaks in every one of the loaders.**", []),
    ],
)
def test_sections_hold_their_findings_in_any_style(text: str, uncited: list[str]) -> None:
    assert read_quotes(text) == uncited


HOSTILE = [
    "a\n",
    "- a\n",
    "| a | b |\n",
    "## Memory of it\n",
    "**Memory** x\n\n",
    "- **Memory**: x\n",
    "<memory></memory>",
    "<memory>\n",
    "<",
    "<a ",
    ":1",
    "a.py:",
    "a/",
    "(memory ",
    "_ids",
    "no memory ",
    "None of it\n\n",
]


@pytest.mark.parametrize("part", HOSTILE)
def test_a_large_answer_is_read_to_its_end(part: str) -> None:
    text = "## Memory\n" + part * (6_000 // len(part)) + "</memory>"
    assert cell(text).status is Status.SCORED


def test_items_nested_without_end_are_read() -> None:
    text = "## Memory\n" + "".join(f"{' ' * depth}- a\n" for depth in range(700))
    assert cell(text).value == 0


PARTS = [
    *("<memory>", "</memory>", "## Memory", "- **Memory**", "- one", "  - src/a.py:1", "```"),
    *("| a | b |", "|---|---|", "Prose.", "Key files:", "", "---", "Memory: x", "a) one"),
]


@given(
    st.lists(
        st.sampled_from(PARTS),
        max_size=14,
    )
)
def test_citations_and_sections_see_the_same_headings(lines: list[str]) -> None:
    found = cell("\n".join(lines))
    assert found.status is Status.SCORED
    sections = Sections(sections=("Memory",))
    text = "\n".join(lines)
    heading = mark_cell(sections, Response(reading=Reading.TEXT, text=text), ITEM)
    assert (heading.value == 1) is ("no section" not in found.reason)
