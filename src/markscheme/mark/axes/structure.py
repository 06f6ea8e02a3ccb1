"""Axes about the structure of an answer: the sections it must have, the sources it must cite."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from markscheme.mark.axes.base import TextAxis, quote_excerpt
from markscheme.mark.axes.pattern import explain_refusal
from markscheme.vocabulary import Cell, Item, sentence

if TYPE_CHECKING:
    from markscheme.mark.entries import OutlineEntry

_MAX_SHOWN_FINDINGS = 5
_MEMORY = "memor"
_MEM = "mem(ory|ories|oria|orias)?"
MEMORY_IDS = (
    # mem-12, mem_3f2, memory:7, Memory ID: 4
    rf"(?i)\b{_MEM}([-_:#]+|[-_:# ]*id[-_:# ]+)[a-z_-]{{0,20}}[0-9][0-9a-z_-]*",
    rf"(?i)\b{_MEM} *#[0-9]+",  # memory #7
    # memory 7, but not `memory 7 times`
    rf"(?i)\b{_MEM} [0-9]+([.,;:)\]]|$| (and|or|says|said|states|notes|records|shows|holds)\b)",
    r"(?i)\bmemory:[a-z][a-z0-9_./-]*",  # memory:project_overview
    r"(?i)\bmemory: *[a-z0-9-]+_[a-z0-9_-]+",  # memory: project_overview
    rf"(?i)[(\[] *{_MEM} *[:#] *[a-z][a-z0-9_./-]* *[)\],;]",  # (memory: overview)
    rf"(?i)[(\[] *(from )?(the )?{_MEM} [a-z0-9]+_[a-z0-9_]+",  # (memory project_overview)
    r"(?i)\b(obs|observation|note|entity|kb|decision|adr)[-_:#]+[a-z]*[0-9][0-9a-z_-]*",
    r"(?i)[(\[] *(obs|observation|note|entity|node|kb|decision|adr) *[:#]* *[0-9]+ *[)\],;]",
    r"""(?i)(^|[\s(\[,;])ids? *[:#]+ *["']?[a-z_-]*[0-9][0-9a-z_-]*""",  # id: 42
    r"""(?i)(^|[\s(\[,;])ids? *[:#]+ *["']?[a-z0-9]+_[a-z0-9_-]+""",  # id: project_overview
    r"""(^|[\s(\[,;])(?i:ids?) *[:#]+ *["']?[a-z][a-z0-9_-]*["']?([.,;)\]]|$)""",  # id: loader
    r"(?i)(^|[\s*])[(\[] *ids? *[:=#]+ *[a-z0-9_-]+ *[)\],;]",  # (ID=loader)
    r"(?i)(^|[\s*])[(\[] *ids? +[a-z_-]*[0-9][0-9a-z_-]* *[)\],;]",  # (ID 42)
    r"(^|[\s(\[,;])#([0-9]{2,}|[A-Z][0-9]+)\b",  # #1234, as claude-mem writes them
    r"[(\[] *#[0-9]+\b",  # (#7)
    r"(?i)\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b",  # a UUID
    r"(?i)\b[0-7][0-9a-hjkmnp-tv-z]{25}\b",  # a ULID
    r"[(\[] *M-?[0-9]+ *[)\],;]",  # (M12), but not `Apple M1`
    r"\bM-[0-9]+\b",  # M-12
    # memories/auth.md, .serena/memories/auth, MEMORY.md, project_overview.md
    r"(?i)(^|[\s(\[/\\])(memory|memories)[/\\]([\w-]+[/\\])*[\w-]+\.md\b",
    r"(?i)(^|[\s(\[/\\])memories[/\\][\w-]+([\s.,;:)\]]|$)",
    r"(?i)(^|[\s(\[/\\])memory\.md\b",
    r"(^|[\s(\[])[a-z0-9]+(_[a-z0-9]+)+\.md\b",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Sections(TextAxis):
    """The text has a heading for each key word, in any heading style and in any order."""

    kind: ClassVar[str] = "sections"
    version: ClassVar[int] = 2
    sections: tuple[str, ...]

    def parameter_problems(self) -> Iterator[tuple[str, str]]:
        """Refuse an empty list of sections, and empty names."""
        yield from _check_section_names(self.sections)

    def judge(self, text: str, item: Item) -> Cell:  # noqa: ARG002 - the same for every item
        """List the headings that are missing, and the lines of the others."""
        from markscheme.mark.headings import Outline

        outline = Outline(text, self.sections)
        found = {name: outline.find_by_key_word(name) for name in self.sections}
        there = ", ".join(f"{name} (line {at[0].line})" for name, at in found.items() if at)
        missing = ", ".join(name for name, at in found.items() if not at)
        if not missing:
            return Cell.passed(sentence("every section has its heading: {there}", there=there))
        if not there:
            return Cell.missed(sentence("no heading for {missing}", missing=missing))
        return Cell.missed(
            sentence("no heading for {missing}; found {there}", missing=missing, there=there)
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Citations(TextAxis):
    """Every finding cites a source: `path:line`, or the id of a memory.

    A finding is a list item, a table row or a paragraph of prose under one of the sections. An item
    is also covered by the item it stands in, or if all items inside it are. A short statement that
    nothing was found is no finding. `other_sections` end a section too, where headings show no
    level.
    """

    kind: ClassVar[str] = "citations"
    version: ClassVar[int] = 2
    sections: tuple[str, ...]
    other_sections: tuple[str, ...] = ()
    memory_ids: tuple[str, ...] = MEMORY_IDS

    def parameter_problems(self) -> Iterator[tuple[str, str]]:
        """Refuse an empty list of sections, and patterns that the engine refuses."""
        yield from _check_section_names(self.sections)
        if self.other_sections:
            yield from _check_section_names(self.other_sections, "other_sections")
        for index, pattern in enumerate(self.memory_ids):
            if why := explain_refusal(pattern):
                yield f"memory_ids.{index}", why

    def judge(self, text: str, item: Item) -> Cell:  # noqa: ARG002 - the same for every item
        """Quote the findings that cite nothing."""
        from markscheme.mark.headings import Outline

        outline = Outline(text, (*self.sections, *self.other_sections))
        headings = [heading for name in self.sections for heading in outline.find_by_key_word(name)]
        if not headings:
            names = ", ".join(self.sections)
            return Cell.missed(
                sentence(
                    "there is no section {names}, so nothing that could cite a source", names=names
                )
            )
        # Two names may share a heading, and a heading may stand in the tag of its section.
        entries = {
            (entry.line, entry.text): (entry, heading.has_key_word(_MEMORY))
            for heading in dict.fromkeys(headings)
            for entry in outline.read_entries(heading)
        }
        findings = [leaf for entry, _ in entries.values() for leaf in _find_leaves(entry)]
        lacking = [
            leaf
            for entry, about_memory in entries.values()
            for leaf in self._find_uncited(entry, about_memory=about_memory)
        ]
        if not lacking:
            return Cell.passed(_format_cited_findings(len(findings)))
        quoted = "; ".join(
            f"line {entry.line} {quote_excerpt(entry.text)}"
            for entry in lacking[:_MAX_SHOWN_FINDINGS]
        )
        if len(lacking) > _MAX_SHOWN_FINDINGS:
            quoted = sentence(
                "{these}; and {n} more", these=quoted, n=len(lacking) - _MAX_SHOWN_FINDINGS
            )
        return Cell.missed(
            sentence(
                "{lacking} of {findings} cite no source: {which}",
                lacking=len(lacking),
                findings=_format_finding_count(len(findings)),
                which=quoted,
            )
        )

    def _find_uncited(self, entry: OutlineEntry, *, about_memory: bool) -> Iterator[OutlineEntry]:
        """Yield the findings in an entry that cite nothing and are not inside one that cites."""
        from markscheme.mark.sources import names_line, names_memory

        text = entry.text
        if names_line(text) or names_memory(text, self.memory_ids, about_memory=about_memory):
            return
        if entry.inside:
            for inner in entry.inside:
                yield from self._find_uncited(inner, about_memory=about_memory)
        elif _is_finding(entry):
            yield entry


def _format_cited_findings(findings: int) -> str:
    if not findings:
        return sentence("there is no finding that could cite a source")
    return sentence("{findings}, each with its source", findings=_format_finding_count(findings))


def _format_finding_count(findings: int) -> str:
    return sentence("1 finding") if findings == 1 else sentence("{n} findings", n=findings)


def _find_leaves(entry: OutlineEntry) -> Iterator[OutlineEntry]:
    """Yield the findings in an entry: itself, or the items inside it."""
    if entry.inside:
        for inner in entry.inside:
            yield from _find_leaves(inner)
    elif _is_finding(entry):
        yield entry


def _is_finding(entry: OutlineEntry) -> bool:
    from markscheme.mark.nothing_found import says_nothing_was_found

    return not says_nothing_was_found(entry.text)


def _check_section_names(
    sections: tuple[str, ...], field: str = "sections"
) -> Iterator[tuple[str, str]]:
    if not sections:
        yield field, "is an empty list; name at least one section"
    for index, name in enumerate(sections):
        if not name.strip():
            yield f"{field}.{index}", "is empty; give the key word of a heading"
