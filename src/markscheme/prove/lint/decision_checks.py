"""Checks D…: report the flaws that the proofs find in verdict rules and decision tables."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from fractions import Fraction

from markscheme.prove.lint.findings import (
    FindingLocation,
    Fix,
    LintFinding,
    locate_field,
    make_finding,
)
from markscheme.prove.lint.table_proof import (
    DecisionChange,
    TableProof,
    TableTooLarge,
    VerdictVector,
    prove_all_sizes,
    prove_follow_up,
    prove_table,
)
from markscheme.prove.lint.verdict_proof import AveragePair, ScaleProof, prove_scale
from markscheme.read.documents import YamlMapping
from markscheme.vocabulary import DecisionTable, Item, VerdictRules, format_decimal, is_follow_up

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
    yield from _TableReporter(table, tree, file).report_stated_sizes()
    yield from _FollowUpReporter(table, tree, file).report_flaws()


def check_table_exam(
    table: DecisionTable, exam: Sequence[Item], tree: YamlMapping, file: str
) -> Iterator[LintFinding]:
    """Yield a finding for each flaw of the table on an exam whose items all have the tag `mode`.

    Follow-up queries are not counted by the table.
    """
    modes = [item.tags.get("mode") for item in exam]
    if not modes or None in modes:
        return
    unknown = sorted({str(mode) for mode in modes} - table.queries.keys())
    location = locate_field(tree, file, "decision_table", "queries")
    for mode in unknown:
        known = ", ".join(table.queries)
        message = f"the exam has queries of mode `{mode}`; the table knows {known}"
        yield make_finding("D015", location, message)
    main_round = [item for item in exam if not is_follow_up(item)]
    if unknown or not main_round:
        return
    ids = {mode: [i.id for i in main_round if i.tags["mode"] == mode] for mode in table.queries}
    queries = {mode: len(items) for mode, items in ids.items() if items}
    lacking = table.find_lacking(queries)
    if lacking:
        stated = ", ".join(f"{n} {mode}" for mode, n in lacking.items())
        decided = "nothing" if table.missing is None else f"`missing`, {table.missing}"
        message = f"the exam lacks {stated} of what the table is meant for; {decided} is decided"
        yield make_finding("D020", location, message)
    elif not table.is_meant_for(queries):
        names = [name for items in ids.values() for name in items]
        reporter = _TableReporter(table, tree, file, " (on the exam's queries)", names)
        yield from reporter.report_exam_sizes(queries)


def _format_size(queries: Mapping[str, int]) -> str:
    return ", ".join(f"{n} {mode}" for mode, n in queries.items() if n)


class _TableReporter:
    """Words the flaws of a table with the names of the queries: those of an exam, or TQ-1, TQ-2.

    `where` is put behind each statement if the queries are not simply those that the table states.
    """

    place: tuple[str, ...] = ("decision_table",)

    def __init__(
        self,
        table: DecisionTable,
        tree: YamlMapping,
        file: str,
        where: str = "",
        names: Sequence[str] = (),
    ) -> None:
        self.table = table
        self.tree = tree
        self.file = file
        self.where = where
        self._names = names

    def get_name(self, query: int) -> str:
        """Return the name of a query by its place."""
        return self._names[query] if self._names else f"TQ-{query + 1}"

    def report_exam_sizes(self, queries: Mapping[str, int]) -> Iterator[LintFinding]:
        """Yield the flaws on an exam; unused rows are none, as a small exam may not use them."""
        proof = yield from self._prove(lambda: prove_table(self.table, queries))
        if proof is not None:
            yield from self._report_gaps(proof, self._locate_field("rows"))
            yield from self._report_drops(proof, self._locate_field("rows"))

    def report_stated_sizes(self) -> Iterator[LintFinding]:
        """Yield the flaws on every number of queries that the table is meant for."""
        proof = yield from self._prove(lambda: prove_all_sizes(self.table))
        if proof is None:
            return
        if self.table.most_queries:
            self.where = f" (with {_format_size(proof.queries)})"
        yield from self._report_gaps(proof, self._locate_field("rows"))
        yield from self._report_drops(proof, self._locate_field("rows"))
        yield from self._report_unused(proof)
        yield from self._report_unfinished(proof)

    def _prove(
        self, prove: Callable[[], TableProof | None]
    ) -> Generator[LintFinding, None, TableProof | None]:
        try:
            return prove()
        except TableTooLarge as error:
            location = self._locate_field("rows")
            yield make_finding("D014", location, f"{error}; nothing is proved{self.where}")
            return None

    def _report_unfinished(self, proof: TableProof) -> Iterator[LintFinding]:
        """Report conditional decisions that no follow-up finishes, or that it cannot finish."""
        if self.table.follow_up is None:
            # Of a table that does not even decide the main round, this is no use to know yet.
            if proof.conditional and not proof.has_example:
                message = "some verdicts lead to conditional, and no `follow_up` says what then"
                yield make_finding("D016", self._locate_field(), message)
            return
        location = self._locate_field("follow_up")
        if not proof.conditional:
            message = "no verdicts lead to conditional, so nothing is followed up"
            yield make_finding("D019", location, message)
        if proof.not_followed is not None:
            bad = " or ".join(self.table.follow_up.in_modes_of)
            vector = self._format_vector(proof.not_followed)
            message = f"no mode has a {bad} query to follow up{self.where}: {vector}"
            yield make_finding("D019", self._locate_field("follow_up", "in_modes_of"), message)
        if (change := proof.overtaken) is not None:
            best = min((row.decided for row in self.table.follow_up.rows), key=lambda o: o.rank)
            rise, context = self._describe_rise(change)
            message = (
                f"conditional can become {best} in the follow-up, but where {rise}, the decision "
                f"is {change.after}{self.where}{context}"
            )
            yield make_finding("D018", location, message)

    def _report_unused(self, proof: TableProof) -> Iterator[LintFinding]:
        rows = [row.name for row in self.table.rows]
        for name in proof.dead:
            message = f"`{name}` never holds, or another row always goes before it"
            yield make_finding("D010", self._locate_field("rows", rows.index(name)), message)
        for outcome in proof.unreachable:
            message = f"no verdicts lead to {outcome}"
            yield make_finding("D011", self._locate_field("outcomes"), message)

    def _locate_field(self, *path: str | int) -> FindingLocation:
        return locate_field(self.tree, self.file, *self.place, *path)

    def _describe_rise(self, change: DecisionChange) -> tuple[str, str]:
        """Return which query improves how, and the verdicts on the others in brackets."""
        verdicts, worse = self.table.verdicts, change.vector[change.query]
        name = self.get_name(change.query)
        rise = f"{name} improves from {verdicts[worse]} to {verdicts[change.better]}"
        others = self._format_vector(change.vector, skip=change.query)
        return rise, f" ({others})" if others else ""

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
            rise, context = self._describe_rise(fall)
            drop = f"the decision falls from {fall.before} to {fall.after}"
            yield make_finding("D009", location, f"{rise}, and {drop}{self.where}{context}")
        if proof.too_good is not None:
            worst = proof.too_good.index(max(proof.too_good))
            vector = self._format_vector(proof.too_good)
            missing = f"a missing verdict on {self.get_name(worst)} would give {self.table.missing}"
            message = f"with {vector}, {missing}, better than its being known{self.where}"
            yield make_finding("D013", self._locate_field("missing"), message)

    def _format_vector(self, vector: VerdictVector, skip: int | None = None) -> str:
        """Return the verdicts of a vector: the queries without the best one, then the others.

        `TQ-2 degraded, TQ-3 acceptable, the others superior`. `skip` is a query to leave out.
        """
        verdicts = self.table.verdicts
        queries = [query for query in range(len(vector)) if query != skip]
        worse = [f"{self.get_name(q)} {verdicts[vector[q]]}" for q in queries if vector[q]]
        shown = worse[:_MAX_NAMED_QUERIES]
        if len(worse) > _MAX_NAMED_QUERIES:
            shown.append(f"{len(worse) - _MAX_NAMED_QUERIES} more")
        if len(worse) == len(queries):
            return ", ".join(shown)
        others = "the others" if worse or skip is not None else "all"
        return ", ".join([*shown, f"{others} {verdicts[0]}"])


class _FollowUpReporter(_TableReporter):
    """Words the flaws of the rows that decide after `conditional`."""

    place = ("decision_table", "follow_up")

    def report_flaws(self) -> Iterator[LintFinding]:
        """Yield the flaws for every number of further queries that is enough."""
        proof = yield from self._prove(lambda: prove_follow_up(self.table))
        if proof is None:
            return
        self.where = f" (with {_format_size(proof.queries)} in the follow-up)"
        location = self._locate_field("rows")
        # The same flaws as in the table itself, under codes of their own.
        codes = {"D007": "D017", "D008": "D017", "D009": "D018"}
        for finding in (*self._report_gaps(proof, location), *self._report_drops(proof, location)):
            yield make_finding(codes[finding.code], location, finding.message)
        rows = [row.name for row in self.table.follow_up.rows] if self.table.follow_up else []
        for name in proof.dead:
            message = f"`{name}` never holds, or another row always goes before it"
            yield make_finding("D019", self._locate_field("rows", rows.index(name)), message)
