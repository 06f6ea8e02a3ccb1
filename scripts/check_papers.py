"""Check that the JSON of a paper equals `score` of its export, byte for byte, on random papers.

Example:
    python scripts/check_papers.py                 10,000 papers
    python scripts/check_papers.py --papers 100
"""

from __future__ import annotations

import argparse
import random
import sys
import tempfile
from datetime import UTC, datetime
from io import BytesIO
from pathlib import Path

from markscheme.keep import OWN_LEARNER, PaperAnswer, PaperMode, open_store
from markscheme.vocabulary import Exam, Item
from markscheme.workflows.documents import load_exam, load_rubric
from markscheme.workflows.papers import (
    export_paper,
    format_answers,
    load_paper,
    open_paper,
    score_paper,
)
from markscheme.workflows.score import score
from markscheme.workflows.sinks import JsonStream

NOW = datetime(2026, 3, 2, tzinfo=UTC)
PIECES = (
    "", " ", "ate", "comió", "comio", "\u00e1te", "co\u0301mo", "\u200b", "\u0430te", "{", "}", '"',
    "\\", "\n", "```json\n{}\n```", '{"correction": "ate"}', "😀", "null", "<b>", "’s eaten",
    "\u2028",
)  # fmt: skip


def build_text(item: Item, rng: random.Random) -> str:
    """Return a random text, now and then with the right form in it."""
    right = [
        form
        for key in ("expected_contains", "gloss_contains")
        for entry in item.expectations[key]
        for form in ([entry] if isinstance(entry, str) else entry)
    ]
    pieces = rng.choices([*PIECES, *right, *right], k=rng.randrange(4))
    return "".join(pieces)


def check_papers(count: int, seed: int = 25) -> list[str]:
    """Return the papers whose JSON differs from that of their export."""
    rng = random.Random(seed)  # noqa: S311 - the same papers in every run
    rubrics = [load_rubric(name) for name in ("tutor-capstone", "tutor-capstone-strict")]
    whole = load_exam("capstone-extra", rubric=rubrics[0])
    different = []
    with tempfile.TemporaryDirectory() as name:
        file = Path(name) / "answers.jsonl"
        with open_store(Path(name) / "store.db", create=True) as store:
            store.learning.ensure_own_learner()
            for number in range(count):
                id_, rubric = f"p{number}", rng.choice(rubrics)
                with store.transaction():
                    open_paper(
                        store,
                        id_=id_,
                        learner=OWN_LEARNER,
                        rubric=rubric,
                        exam=whole,
                        mode=PaperMode.EXAM,
                        now=NOW,
                    )
                    store.learning.add_paper_answers(build_answers(id_, whole, rng))
                paper = load_paper(store, id_)
                file.write_text(format_answers(export_paper(store, paper)), encoding="utf-8")
                scored = BytesIO()
                score(rubric, whole, file, sinks=[JsonStream(scored)])
                if score_paper(store, paper) != scored.getvalue():
                    different.append(id_)
    return different


def build_answers(paper: str, exam: Exam, rng: random.Random) -> list[PaperAnswer]:
    """Return random answers to some of the items."""
    return [
        PaperAnswer(
            id=f"{paper}-{item.id}",
            paper=paper,
            item=item.id,
            at=NOW,
            fields={
                field: build_text(item, rng)
                for field in ("correction", "spanish_gloss", "explanation")
                if rng.random() < 0.9  # noqa: PLR2004 - a share
            },
        )
        for item in exam.items
        if rng.random() < 0.8  # noqa: PLR2004 - a share
    ]


def main() -> int:
    """Check, and print which papers differ."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--papers", type=int, default=10_000)
    papers = parser.parse_args().papers
    different = check_papers(papers)
    print(f"{papers} papers, {len(different)} differ: {different[:5]}")
    return 1 if different else 0


if __name__ == "__main__":
    sys.exit(main())
