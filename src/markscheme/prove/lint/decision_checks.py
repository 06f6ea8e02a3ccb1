"""Checks D…: report the flaws that the proofs find in verdict rules and decision tables."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction

from markscheme.prove.lint.findings import (
    FindingLocation,
    Fix,
    LintFinding,
    locate_field,
    make_finding,
)
from markscheme.prove.lint.table_proof import TableProof, TableTooLarge, VerdictVector, prove_table
from markscheme.prove.lint.verdict_proof import AveragePair, ScaleProof, prove_scale
from markscheme.read.documents import YamlMapping
from markscheme.vocabulary import DecisionTable, Item, VerdictRules, format_decimal

_MAX_NAMED_QUERIES = 6


def check_verdict_rules(rules: VerdictRules, tree: YamlMapping, file: str) -> Iterator[LintFinding]:
    """Yield a finding for each flaw: gaps, conflicts, non-monotone, dead and unreachable rules."""
    proof = prove_scale(rules)
    location = locate_field(tree, file, "verdict_rules", "rules")
    yield from _report_scale_flaws(proof, location)
    for index in proof.dead:
        verdict = rules.rules[index].verdict
        message = f"the rule for {verdict} never holds, or another goes before it"
        at_rule = locate_field(tree, file, "verdict_rules", "rules", index)
        yield make_finding("D005", at_rule, message)
    for verdict in proof.unreachable:
        at_verdict = locate_field(tree, file, "verdicts", rules.verdicts.index(verdict))
        yield make_finding("D006", at_verdict, f"no averages are {verdict}")


def _report_scale_flaws(proof: ScaleProof, location: FindingLocation) -> Iterator[LintFinding]:
    if proof.gap is not None:
        share = _format_share(proof.uncovered, proof.pairs, "pairs of averages")
        example = _format_average_pair(proof.gap)
        yield make_finding("D002", location, f"{share} no verdict: {example}")
    if proof.ambiguity is not None:
        share = _format_share(proof.ambiguous, proof.pairs, "pairs of averages")
        example = _format_average_pair(proof.ambiguity.pair)
        both = " and ".join(proof.ambiguity.verdicts)
        message = f"{share} more than one verdict: {example} is both {both}"
        yield make_finding("D003", location, message)
    if proof.drop is not None:
        drop = proof.drop
        against = f"against a baseline of {_format_average(drop.baseline)}"
        rise = f"{_format_average(drop.lower)} to {_format_average(drop.higher)}"
        worse = f"the verdict falls from {drop.before} to {drop.after}"
        message = f"{against}, the candidate improves from {rise}, and {worse}"
        yield make_finding("D004", location, message)


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
    """Yield a finding for each flaw of the table on the number of queries that it states."""
    stated = tree["decision_table"]
    if "missing" not in stated:
        message = "does not say what a missing verdict means; nothing is decided then"
        fix = Fix(path=("decision_table",), action="insert", text="missing: none")
        yield make_finding("D012", locate_field(tree, file, "decision_table"), message, fix)
    names = [f"TQ-{number}" for number in range(1, sum(table.queries.values()) + 1)]
    yield from _TableReporter(table, names, tree, file).report_flaws(table.queries)


def check_table_exam(
    table: DecisionTable, exam: Sequence[Item], tree: YamlMapping, file: str
) -> Iterator[LintFinding]:
    """Yield a finding for each flaw of the table on an exam whose items all have the tag `mode`."""
    modes = [item.tags.get("mode") for item in exam]
    if not modes or None in modes:
        return
    unknown = sorted({str(mode) for mode in modes} - table.queries.keys())
    location = locate_field(tree, file, "decision_table", "queries")
    for mode in unknown:
        known = ", ".join(table.queries)
        message = f"the exam has queries of mode `{mode}`; the table knows {known}"
        yield make_finding("D015", location, message)
    if unknown:
        return
    ids = {mode: [i.id for i in exam if i.tags["mode"] == mode] for mode in table.queries}
    queries = {mode: len(items) for mode, items in ids.items() if items}
    if queries != dict(table.queries):
        names = [name for items in ids.values() for name in items]
        reporter = _TableReporter(table, names, tree, file, " (on the exam's queries)")
        yield from reporter.report_flaws(queries)


class _TableReporter:
    """Words the flaws of a table with the names of the queries.

    `where` is put behind each statement if the queries are those of an exam.
    """

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
        location = self._locate_field("rows")
        try:
            proof = prove_table(self.table, queries)
        except TableTooLarge as error:
            yield make_finding("D014", location, f"{error}; nothing is proved{self.where}")
            return
        yield from self._report_gaps(proof, location)
        yield from self._report_drops(proof, location)
        if not self.where:
            # Only for the queries that the table states: a small exam may not use every row.
            yield from self._report_unused(proof)

    def _report_unused(self, proof: TableProof) -> Iterator[LintFinding]:
        rows = [row.name for row in self.table.rows]
        for name in proof.dead:
            message = f"`{name}` never holds, or another row always goes before it"
            yield make_finding("D010", self._locate_field("rows", rows.index(name)), message)
        for outcome in proof.unreachable:
            message = f"no verdicts lead to {outcome}"
            yield make_finding("D011", self._locate_field("outcomes"), message)

    def _locate_field(self, *path: str | int) -> FindingLocation:
        return locate_field(self.tree, self.file, "decision_table", *path)

    def _report_gaps(self, proof: TableProof, location: FindingLocation) -> Iterator[LintFinding]:
        if proof.gap is not None:
            share = _format_share(proof.uncovered, proof.vectors, "vectors of verdicts")
            message = f"{share} no decision{self.where}: {self._format_vector(proof.gap)}"
            yield make_finding("D007", location, message)
        if proof.conflict is not None:
            share = _format_share(proof.conflicting, proof.vectors, "vectors of verdicts")
            rows = " but ".join(f"`{r.name}` says {r.decided}" for r in proof.conflict.rows)
            example = self._format_vector(proof.conflict.vector)
            message = f"{share} more than one decision{self.where}: {example}; {rows}"
            yield make_finding("D008", location, message)

    def _report_drops(self, proof: TableProof, location: FindingLocation) -> Iterator[LintFinding]:
        if (fall := proof.fall) is not None:
            verdicts, worse = self.table.verdicts, fall.vector[fall.query]
            rise = f"improves from {verdicts[worse]} to {verdicts[fall.better]}"
            drop = f"the decision falls from {fall.before} to {fall.after}"
            others = self._format_vector(fall.vector, skip=fall.query)
            context = f" ({others})" if others else ""
            message = f"{self.names[fall.query]} {rise}, and {drop}{self.where}{context}"
            yield make_finding("D009", location, message)
        if proof.too_good is not None:
            worst = proof.too_good.index(max(proof.too_good))
            vector = self._format_vector(proof.too_good)
            missing = f"a missing verdict on {self.names[worst]} would give {self.table.missing}"
            message = f"with {vector}, {missing}, better than its being known{self.where}"
            yield make_finding("D013", self._locate_field("missing"), message)

    def _format_vector(self, vector: VerdictVector, skip: int | None = None) -> str:
        """Return the verdicts of a vector: the queries without the best one, then the others.

        `TQ-2 degraded, TQ-3 acceptable, the others superior`. `skip` is a query to leave out.
        """
        verdicts = self.table.verdicts
        queries = [query for query in range(len(vector)) if query != skip]
        worse = [f"{self.names[q]} {verdicts[vector[q]]}" for q in queries if vector[q]]
        shown = worse[:_MAX_NAMED_QUERIES]
        if len(worse) > _MAX_NAMED_QUERIES:
            shown.append(f"{len(worse) - _MAX_NAMED_QUERIES} more")
        if len(worse) == len(queries):
            return ", ".join(shown)
        others = "the others" if worse or skip is not None else "all"
        return ", ".join([*shown, f"{others} {verdicts[0]}"])
