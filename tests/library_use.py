"""A program that uses every function of the library; `scripts/check_types.py` has pyright check it.

mypy checks it with all other tests. It is never run.
"""

from __future__ import annotations

import markscheme


def use_everything() -> None:
    rubric = markscheme.load_rubric("tutor-capstone")
    exam = markscheme.exam([{"id": "a", "prompt": "b"}], name="x", rubric=rubric)
    breakdown = markscheme.mark(rubric, exam.get_item("a"), "x")
    for name, cell in breakdown.cells.items():
        print(name, cell.value, cell.reason)
    result = markscheme.score(rubric, exam, [{"item": "a", "output": "b"}])
    for metric, value in result.metrics().items():
        print(metric, value + 1)
    print(result.summary.score, result.summary.axes, result.frame.height, result.gates)
    report = markscheme.gate(result)
    print(report.verdict, report.because, [outcome.because for outcome in report.outcomes])
    comparison = markscheme.compare("r", "e", "ratings.csv", baseline="big", candidate="small")
    print(comparison.decision.outcome, [query.verdict for query in comparison.queries])
    print([pair.score for pair in markscheme.compare_runs("latest", "latest~1").pairs])
    print(markscheme.audit(rubric, exam).verdict)
    print([finding.code for finding in markscheme.lint("rubric.yaml").findings])
    print([call.name for call in markscheme.read_transcript("session.jsonl").calls])
    print([finding.because for finding in markscheme.verify("published.json").findings])
    print(list(markscheme.agree("ratings.csv").axes))
    print(markscheme.run(rubric, exam, "tutor", concurrency=2).summary.n)
