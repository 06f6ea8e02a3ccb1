"""D: what is proved of verdict rules and decision tables, told so that a person can follow it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from markscheme.prove.lint.findings import Fix, locate_field, make_finding
from markscheme.prove.lint.table_proof import prove_table
from markscheme.prove.lint.table_states import TableTooLarge
from markscheme.prove.lint.verdict_proof import prove_scale
from markscheme.vocabulary import format_decimal

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from fractions import Fraction

    from markscheme.prove.lint.findings import FindingLocation, LintFinding
    from markscheme.prove.lint.table_proof import TableProof
    from markscheme.prove.lint.table_states import VerdictVector
    from markscheme.prove.lint.verdict_proof import AveragePair, ScaleProof
    from markscheme.read.documents import YamlMapping
    from markscheme.vocabulary import DecisionTable, Item, VerdictRules

_MAX_NAMED_QUERIES = 6


def check_verdict_rules(rules: VerdictRules, tree: YamlMapping, file: str) -> Iterator[LintFinding]:
    """Yield where the rules are not total, free of conflict, monotone and alive."""
    proof = prove_scale(rules)
    spot = locate_field(tree, file, "verdict_rules", "rules")
    yield from _report_scale_flaws(proof, spot)
    for place in proof.dead:
        told = f"the rule for {rules.rules[place].verdict} never holds, or another goes before it"
        yield make_finding("D005", locate_field(tree, file, "verdict_rules", "rules", place), told)
    for verdict in proof.unreachable:
        place = rules.verdicts.index(verdict)
        yield make_finding(
            "D006", locate_field(tree, file, "verdicts", place), f"no averages are {verdict}"
        )


def _report_scale_flaws(proof: ScaleProof, spot: FindingLocation) -> Iterator[LintFinding]:
    if proof.gap is not None:
        told = f"{_format_share(proof.uncovered, proof.pairs, 'pairs of averages')} no verdict"
        yield make_finding("D002", spot, f"{told}: {_format_average_pair(proof.gap)}")
    if proof.ambiguity is not None:
        told = f"{_format_share(proof.ambiguous, proof.pairs, 'pairs of averages')} more than one verdict"
        both = " and ".join(proof.ambiguity.verdicts)
        yield make_finding(
            "D003", spot, f"{told}: {_format_average_pair(proof.ambiguity.pair)} is both {both}"
        )
    if proof.drop is not None:
        drop = proof.drop
        told = (
            f"against a baseline of {_format_average(drop.baseline)}, the candidate improves from"
        )
        rise = f"{_format_average(drop.lower)} to {_format_average(drop.higher)}"
        worse = f"the verdict falls from {drop.before} to {drop.after}"
        yield make_finding("D004", spot, f"{told} {rise}, and {worse}")


def _format_share(count: int, total: int, what: str) -> str:
    if not count:
        return f"none of the {total:,} {what} of one rater, but averages of several raters, have"
    return f"{count:,} of {total:,} {what} have"


def _format_average_pair(pair: AveragePair) -> str:
    return f"baseline {_format_average(pair[0])}, candidate {_format_average(pair[1])}"


def _format_average(value: Fraction) -> str:
    return str(value) if value.denominator == 1 else format_decimal(value)


def check_decision_table(
    table: DecisionTable, tree: YamlMapping, file: str
) -> Iterator[LintFinding]:
    """Yield where the table fails on the queries that it says it is meant for."""
    stated = tree["decision_table"]
    if "missing" not in stated:
        told = "does not say what a missing verdict means; nothing is decided then"
        fix = Fix(path=("decision_table",), action="insert", text="missing: none")
        yield make_finding("D012", locate_field(tree, file, "decision_table"), told, fix)
    names = [f"TQ-{number}" for number in range(1, sum(table.queries.values()) + 1)]
    yield from _TableReporter(table, names, tree, file).report_flaws(table.queries)


def check_table_exam(
    table: DecisionTable, exam: Sequence[Item], tree: YamlMapping, file: str
) -> Iterator[LintFinding]:
    """Yield where the table fails on the queries of an exam, if these are of modes."""
    modes = [item.tags.get("mode") for item in exam]
    if not modes or None in modes:
        return
    unknown = sorted({str(mode) for mode in modes} - table.queries.keys())
    spot = locate_field(tree, file, "decision_table", "queries")
    for mode in unknown:
        told = f"the exam has queries of mode `{mode}`; the table knows {', '.join(table.queries)}"
        yield make_finding("D015", spot, told)
    if unknown:
        return
    named = {mode: [i.id for i in exam if i.tags["mode"] == mode] for mode in table.queries}
    queries = {mode: len(items) for mode, items in named.items() if items}
    if queries != dict(table.queries):
        names = [name for items in named.values() for name in items]
        yield from _TableReporter(
            table, names, tree, file, " (on the exam's queries)"
        ).report_flaws(queries)


class _TableReporter:
    """Tells a proof in the names of the queries."""

    def __init__(
        self,
        table: DecisionTable,
        names: Sequence[str],
        tree: YamlMapping,
        file: str,
        where: str = "",
    ) -> None:
        self.table = table
        self.names = names
        self.tree = tree
        self.file = file
        self.where = where

    def report_flaws(self, queries: Mapping[str, int]) -> Iterator[LintFinding]:
        spot = self._locate_field("rows")
        try:
            proof = prove_table(self.table, queries)
        except TableTooLarge as error:
            yield make_finding("D014", spot, f"{error}; nothing is proved{self.where}")
            return
        yield from self._report_gaps(proof, spot)
        yield from self._report_drops(proof, spot)
        if not self.where:  # rows that a smaller exam has no use for are no mistake
            yield from self._report_unused(proof)

    def _report_unused(self, proof: TableProof) -> Iterator[LintFinding]:
        rows = [row.name for row in self.table.rows]
        for name in proof.dead:
            told = f"`{name}` never holds, or another row always goes before it"
            yield make_finding("D010", self._locate_field("rows", rows.index(name)), told)
        for outcome in proof.unreachable:
            yield make_finding(
                "D011", self._locate_field("outcomes"), f"no verdicts lead to {outcome}"
            )

    def _locate_field(self, *path: str | int) -> FindingLocation:
        return locate_field(self.tree, self.file, "decision_table", *path)

    def _report_gaps(self, proof: TableProof, spot: FindingLocation) -> Iterator[LintFinding]:
        if proof.gap is not None:
            told = f"{_format_share(proof.uncovered, proof.vectors, 'vectors of verdicts')} no decision"
            yield make_finding(
                "D007", spot, f"{told}{self.where}: {self._format_vector(proof.gap)}"
            )
        if proof.conflict is not None:
            told = _format_share(proof.conflicting, proof.vectors, "vectors of verdicts")
            said = " but ".join(f"`{r.name}` says {r.decided}" for r in proof.conflict.rows)
            witness = self._format_vector(proof.conflict.vector)
            message = f"{told} more than one decision{self.where}: {witness}; {said}"
            yield make_finding("D008", spot, message)

    def _report_drops(self, proof: TableProof, spot: FindingLocation) -> Iterator[LintFinding]:
        if (fall := proof.fall) is not None:
            verdicts, worse = self.table.verdicts, fall.vector[fall.query]
            improves = f"{self.names[fall.query]} improves from {verdicts[worse]}"
            rises = f"{improves} to {verdicts[fall.better]}"
            falls = f"the decision falls from {fall.before} to {fall.after}"
            others = self._format_vector(fall.vector, but=fall.query)
            beside = f" ({others})" if others else ""
            yield make_finding("D009", spot, f"{rises}, and {falls}{self.where}{beside}")
        if proof.too_good is not None:
            worst = proof.too_good.index(max(proof.too_good))
            told = f"with {self._format_vector(proof.too_good)}, a missing verdict on {self.names[worst]}"
            better = f"would give {self.table.missing}, better than its being known{self.where}"
            yield make_finding("D013", self._locate_field("missing"), f"{told} {better}")

    def _format_vector(self, vector: VerdictVector, but: int | None = None) -> str:
        """Return the queries that have not the best verdict, and that the others have it."""
        verdicts = self.table.verdicts
        rest = [place for place in range(len(vector)) if place != but]
        told = [f"{self.names[place]} {verdicts[vector[place]]}" for place in rest if vector[place]]
        shown = told[:_MAX_NAMED_QUERIES] + (
            [f"{len(told) - _MAX_NAMED_QUERIES} more"] if len(told) > _MAX_NAMED_QUERIES else []
        )
        if len(told) == len(rest):
            return ", ".join(shown)
        others = "the others" if told or but is not None else "all"
        return ", ".join([*shown, f"{others} {verdicts[0]}"])
