"""What the portal promises, on a sample; the scripts try it on thousands."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent / "scripts"))
import check_papers
import kill_portal


def test_the_json_of_random_papers_equals_score_of_their_export() -> None:
    assert check_papers.check_papers(10) == []


def test_no_acknowledged_answer_is_lost_or_doubled_when_the_portal_is_killed() -> None:
    acknowledged, problems = kill_portal.kill_portal(2)
    assert acknowledged > 0
    assert problems == []
