"""`markscheme report`: one plain report, told as a page, as Markdown and as JUnit."""

from __future__ import annotations

import base64
import hashlib
import json
import re
from dataclasses import replace
from fractions import Fraction
from html.parser import HTMLParser
from typing import TYPE_CHECKING, Any
from xml.etree import ElementTree as ET

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from commands import FULL, LONG, LONGER, WRONG, Project, here
from hostile import HOSTILE
from markscheme import load_exam, load_rubric, score
from markscheme.tell.charts import (
    AxisMean,
    draw_axis_means,
    draw_stacked_bars,
    find_heat_step,
    shorten_labels,
)
from markscheme.tell.html import render_run_html
from markscheme.tell.markdown import render_run_markdown
from markscheme.tell.svg import find_tick_step, list_ticks
from markscheme.tell.templates import HtmlPage, mark_up_code, render_page
from markscheme.weigh.patterns import Pattern
from markscheme.workflows.demo import generate_tutor_answers
from markscheme.workflows.find_run import RunFinder
from markscheme.workflows.gate import judge_run
from markscheme.workflows.report import build_full_report, build_result_report, find_run_patterns

if TYPE_CHECKING:
    from pathlib import Path

    from markscheme.workflows.report import RunReport

RUBRIC = load_rubric("tutor-capstone")
EXAM = load_exam("capstone", rubric=RUBRIC)


@pytest.fixture(scope="module")
def flawed() -> RunReport:
    answers = generate_tutor_answers(EXAM, flawed=True)
    outputs = {answer["item"]: answer["output"] for answer in answers}
    return build_result_report(score(RUBRIC, EXAM, answers), outputs)


class Parts(HTMLParser):
    """Takes a page apart: its elements with their attributes, and the text of some of them."""

    def __init__(self, text: str) -> None:
        super().__init__(convert_charrefs=True)
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.texts: dict[str, list[str]] = {}
        self._inside = ""
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))
        self._inside = tag

    def handle_endtag(self, tag: str) -> None:
        del tag
        self._inside = ""

    def handle_data(self, data: str) -> None:
        self.texts.setdefault(self._inside, []).append(data)

    @property
    def data(self) -> Any:
        return json.loads(next(text for text in self.texts["script"] if text.startswith("{")))


# --- formats ------------------------------------------------------------------------------------


def test_the_ending_decides_the_format_and_all_say_the_same(project: Project) -> None:
    project.stored(FULL, FULL, FULL, FULL)
    run = project.stored(FULL, FULL, FULL, WRONG)
    judged = project.run("gate", run, "--baseline", "latest~1", "--format", "json").json
    told = {}
    for ending in ("html", "md", "xml"):
        file = project.folder / f"report.{ending}"
        done = project.run("report", run, "--baseline", "latest~1", "-o", file)
        assert (done.code, done.err) == (0, "")
        assert str(file) in done.out
        told[ending] = file.read_text(encoding="utf-8")
    assert judged["verdict"] == "fail"
    assert "FAIL" in told["md"].splitlines()[0]
    assert ET.fromstring(told["xml"]).find(".//testcase[@name='verdict']/failure") is not None  # noqa: S314 - ours
    assert 'class="badge fail"' in told["html"]
    for text in told.values():
        for gate in judged["gates"]:
            assert gate["gate"] in text
            assert gate["because"].split(";")[0].split(" (")[0] in text.replace("\\", "")
    data = Parts(told["html"]).data
    assert [item["i"] for item in data["items"]] == [item["item"] for item in judged["items"]]
    assert [item["s"] for item in data["items"]] == [item["status"] for item in judged["items"]]
    assert [item["v"] for item in data["items"]] == [item["score"] for item in judged["items"]]


def test_a_report_only_tells_so_it_ends_with_0_and_says_what_it_wrote(project: Project) -> None:
    run = project.stored(WRONG, WRONG, WRONG, WRONG)
    file = project.folder / "r.html"
    done = project.run("report", run, "-o", file, "--format", "json")
    assert done.code == 0
    assert done.json == {"run": run, "file": str(file), "bytes": file.stat().st_size}


def test_other_endings_and_places_are_refused_before_anything_is_read(project: Project) -> None:
    done = project.run("report", "no-such-run", "-o", project.folder / "r.pdf")
    assert done.code == 2
    assert "use .html, .md, .xml" in done.err
    done = project.run("report", "no-such-run", "-o", project.folder / "none" / "r.html")
    assert done.code == 2
    assert "does not exist" in done.err


def test_a_result_file_is_reported_and_says_that_it_has_no_raw_output(project: Project) -> None:
    result = project.result(FULL, FULL, WRONG, WRONG)
    file = project.folder / "r.html"
    done = project.run("report", result, "-r", project.rubric, "-e", project.exam, "-o", file)
    assert done.code == 0, done.err
    data = Parts(file.read_text(encoding="utf-8")).data
    assert [len(item["a"]) for item in data["items"]] == [1, 1, 1, 1]
    assert "o" not in data["items"][0]["a"][0]


def test_a_result_file_with_parts_of_milliseconds_and_of_cents_is_reported(
    project: Project,
) -> None:
    answers = project.folder / "answers.jsonl"
    row = {"item": "e-39-01", "output": "ate", "latency_ms": 12.5, "cost": 0.001}
    answers.write_text(json.dumps(row), encoding="utf-8")
    result, file = project.folder / "result.json", project.folder / "r.html"
    words = ("-r", "tutor-capstone", "-e", "capstone")
    assert here("score", *words, "--answers", answers, "-o", result, "--no-store").code == 4
    assert here("report", result, "-o", file).code == 0
    data = Parts(file.read_text(encoding="utf-8")).data
    assert [data["items"][0]["a"][0][name] for name in ("ms", "cost")] == [12.5, 0.001]


def test_what_is_missing_is_shown_and_never_a_zero(project: Project) -> None:
    run = project.stored(FULL, FULL)
    file = project.folder / "r.html"
    assert project.run("report", run, "-o", file).code == 0
    text = file.read_text(encoding="utf-8")
    assert "CANNOT TELL" in text
    items = Parts(text).data["items"]
    assert [item["s"] for item in items] == ["passed", "passed", "missing", "missing"]
    assert [item["v"] for item in items] == [1, 1, None, None]


@pytest.mark.parametrize("run", ["latest", "result.json", "result.jsonl"])
def test_rows_that_were_no_answers_are_told_with_their_place(project: Project, run: str) -> None:
    good = json.dumps({"item": "i1", "output": FULL})
    unknown = json.dumps({"item": "zz", "output": "`x`"})
    answers = project.write("bad.jsonl", f"{good}\n<b>nope</b>\n{unknown}\n")
    documents = ("-r", project.rubric, "-e", project.exam)
    result = project.folder / run
    output = () if run == "latest" else ("-o", result)
    scored = project.run("score", *documents, "-a", answers, *output)
    assert scored.code == 4, scored.err
    named = (result, *documents) if output else (run,)
    for ending in ("html", "md"):
        file = project.folder / f"r.{ending}"
        assert project.run("report", *named, "-o", file).code == 0
        text = file.read_text(encoding="utf-8").replace("\\", "")
        assert "2 bad rows" in text
        assert "line 2: not JSON" in text or ">line 2<" in text
        assert "unknown item" in text
        assert "<b>nope" not in text.replace("`<b>nope", "")


def test_a_run_of_one_item_without_tags_has_a_page(tmp_path: Path) -> None:
    exam = tmp_path / "one.yaml"
    exam.write_text("exam: one\nitems: [{id: a, prompt: p, expected_contains: [x]}]\n")
    rubric = Project(tmp_path).rubric
    loaded = load_rubric(rubric)
    result = score(loaded, load_exam(exam, rubric=loaded), [{"item": "a", "output": "x"}])
    text = render_run_html(build_result_report(result, {"a": "x"}), "1")
    assert "Nothing: every item has full marks." in text
    assert "nan" not in text.lower().replace("maintenance", "")


def test_a_run_of_which_nothing_was_scored_has_a_page(tmp_path: Path) -> None:
    loaded = load_rubric(Project(tmp_path).rubric)
    exam = load_exam(tmp_path / "exam.yaml", rubric=loaded)
    text = render_run_html(build_result_report(score(loaded, exam, []), {}), "1")
    assert "Nothing was scored, so there is no score." in text
    assert "CANNOT TELL" in text


def test_several_attempts_are_told_apart(project: Project) -> None:
    rows = [
        {"item": item, "output": output, "attempt": attempt}
        for item in project.items
        for attempt, output in enumerate([FULL, WRONG, FULL, FULL, FULL, FULL, FULL], 1)
    ]
    file = project.write("a.jsonl", "".join(f"{json.dumps(row)}\n" for row in rows))
    here("score", "-r", project.rubric, "-e", project.exam, "-a", file, "--store", project.store)
    page_file = project.folder / "r.html"
    project.run("report", "latest", "-o", page_file)
    item = Parts(page_file.read_text(encoding="utf-8")).data["items"][0]
    assert [answer["n"] for answer in item["a"]] == [1, 2, 3, 4, 5]
    assert item["m"] == 2


def test_the_page_speaks_the_language_that_is_asked_for(project: Project) -> None:
    run = project.stored(FULL, FULL, FULL, FULL)
    file = project.folder / "r.html"
    for language in ("es", "en"):
        project.run("report", run, "-o", file, "--lang", language)
        assert Parts(file.read_text(encoding="utf-8")).elements[0] == ("html", {"lang": language})


# --- safety -------------------------------------------------------------------------------------


def test_the_policy_admits_one_script_and_one_style_by_their_hashes(flawed: RunReport) -> None:
    parts = Parts(render_run_html(flawed, "1"))
    found = [attributes for tag, attributes in parts.elements if tag == "meta"]
    policy = str(next(one["content"] for one in found if "http-equiv" in one))
    allowed = dict(rule.split(" ", 1) for rule in policy.split("; "))
    assert allowed["default-src"] == "'none'"
    assert allowed["form-action"] == allowed["base-uri"] == "'none'"
    script = next(text for text in parts.texts["script"] if text.startswith('"use strict"'))
    for text, rule in ((script, "script-src"), ("".join(parts.texts["style"]), "style-src")):
        digest = base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
        assert allowed[rule] == f"'sha256-{digest}'"


def test_the_page_names_nothing_outside_and_needs_no_inline_style_or_handler(
    flawed: RunReport,
) -> None:
    for tag, attributes in Parts(render_run_html(flawed, "1")).elements:
        for name, value in attributes.items():
            assert name != "style", tag
            assert not name.startswith("on"), tag
            if name in {"href", "src", "xlink:href", "action", "srcset"}:
                assert str(value).startswith(("#", "data:")), (tag, value)


@given(st.one_of(st.text(), st.sampled_from(HOSTILE)))
def test_no_text_ends_the_data_block(text: str) -> None:
    clean = text.encode(errors="replace").decode()
    page = HtmlPage(template="base.html", view={}, data={"said": clean})
    made = render_page(page, clean.replace("\r", "").replace("\x00", ""))
    parts = Parts(made)
    assert sum(tag == "script" for tag, _ in parts.elements) == 2
    assert parts.data == {"said": clean}


@given(st.one_of(st.text('`<>&a" '), st.sampled_from(HOSTILE)))
def test_names_in_backticks_are_code_and_nothing_else_is_alive(text: str) -> None:
    parts = Parts(mark_up_code(text))
    assert {tag for tag, _ in parts.elements} <= {"code"}
    told = "".join(said for tag in parts.texts.values() for said in tag)
    assert sorted(told.replace("`", "")) == sorted(text.replace("`", ""))


# --- what stands on the page --------------------------------------------------------------------


FAULT = Pattern(
    kind="column",
    sentence="spanish_gloss is 0 in all past simple items <b>!</b>",
    action="Debug why the tutor stops emitting Spanish.",
    items=("e-39-01", "e-39-06"),
    axis="spanish_gloss",
    tags={"tense": "past-simple"},
    hits=14,
    of=14,
    p=Fraction(1, 10**9),
    evidence=("14 of 14 with it, 0 of 66 without",),
)


def test_patterns_come_before_single_items(flawed: RunReport) -> None:
    text = render_run_html(replace(flawed, patterns=(FAULT,)), "1")
    first = text.partition("What to fix first")[2]
    assert first.index("spanish_gloss is 0 in all") < first.index("The items that cost most")
    assert "&lt;b&gt;!&lt;/b&gt;" in first
    assert "14 of 14; chance of seeing this by luck: &lt; 0.0001" in first
    assert 'href="#tag.tense=past-simple&amp;axis=spanish_gloss"' in first


def test_markdown_names_the_patterns_too_with_no_markup_alive(flawed: RunReport) -> None:
    text = render_run_markdown(replace(flawed, patterns=(FAULT,)))
    assert "\\<b\\>" in text
    assert "Debug why the tutor stops emitting Spanish." in text


def test_many_axes_with_parts_of_points_and_many_tags_have_a_page(tmp_path: Path) -> None:
    axes = [
        {"name": f"axis-{at}-{'x' * 40}", "kind": "max_words", "weight": 0.1, "limit": at + 1}
        for at in range(10)
    ]
    items = [
        {
            "id": f"i{at}",
            "prompt": "p",
            "tags": {f"t{tag}": f"v{at % (tag + 2)}" for tag in range(8)},
        }
        for at in range(40)
    ]
    for name, document in (("rubric", {"axes": axes}), ("exam", {"items": items})):
        (tmp_path / f"{name}.yaml").write_text(json.dumps({name: "many", **document}))
    rubric = load_rubric(tmp_path / "rubric.yaml")
    answers = [{"item": f"i{at}", "output": "word " * (at % 12)} for at in range(40)]
    result = score(rubric, load_exam(tmp_path / "exam.yaml", rubric=rubric), answers)
    data = Parts(render_run_html(build_result_report(result, {}), "1")).data
    assert len(data["axes"]) == 10
    assert len(data["tags"]) == 8


def test_every_chart_has_a_text_beside_it(flawed: RunReport) -> None:
    text = render_run_html(flawed, "1")
    charts = re.findall(r'<div class="chart[^"]*" role="group" aria-label="([^"]+)"', text)
    assert len(charts) >= 4
    assert text.count('<svg aria-hidden="true"') == len(charts)
    assert any("Points are lost on correctness: 3 items" in chart for chart in charts)


def test_the_demo_writes_its_report_and_says_where(tmp_path: Path) -> None:
    file = tmp_path / "demo.html"
    done = here("demo", "--flawed", "--report", file, "--no-store")
    assert done.code == 1
    assert str(file) in done.err
    assert "YOU GOED." in file.read_text(encoding="utf-8")
    assert "report" not in here("demo", "--no-report", "--no-store").err
    for ending in ("md", "xml"):
        other = tmp_path / f"demo.{ending}"
        assert here("demo", "--report", other, "--no-store").code == 0
        assert "capstone" in other.read_text(encoding="utf-8")


def test_the_demo_runs_where_nothing_can_be_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "markscheme-demo.html").mkdir()
    monkeypatch.chdir(tmp_path)
    done = here("demo", "--no-store")
    assert done.code == 0
    assert "no report is written" in done.err
    assert here("demo", "--no-store", "--report", "markscheme-demo.html").code == 2


def test_the_trend_ends_with_the_run_that_is_reported(project: Project) -> None:
    for outputs in ((FULL,) * 4, (FULL, FULL, FULL, WRONG), (WRONG,) * 4):
        project.stored(*outputs)
    file = project.folder / "r.html"
    project.run("report", "latest~1", "-o", file)
    text = file.read_text(encoding="utf-8")
    assert "Score over the last 2 runs: 1.00 → 0.7625." in text


def test_the_trend_of_releases_names_them_and_no_line_joins_them(project: Project) -> None:
    for subject, output in (("release-1", FULL), ("release-2", LONG), ("release-3", FULL)):
        project.score(*[output] * 4, subject=subject)
    file = project.folder / "r.html"
    project.run("report", "latest", "-o", file)
    text = file.read_text(encoding="utf-8")
    assert "The runs are of 3 subjects, which the labels name, so no line joins them." in text
    assert re.search(r">release-2 \d\d-\d\d [0-9a-f]{4}</text>", text)
    assert '<td class="n">release-2</td><td class="n">0.98</td>' in text
    assert "Trend by subject" not in text


def test_subjects_that_take_turns_have_a_line_each_and_the_run_its_own_figure(
    project: Project,
) -> None:
    for subject, output in (("ann", FULL), ("bob", LONG), ("ann", FULL), ("bob", LONGER)):
        project.score(*[output] * 4, subject=subject)
    project.score(*[FULL] * 4)
    file = project.folder / "r.html"
    project.run("report", "latest~1", "-o", file)
    text = file.read_text(encoding="utf-8")
    assert "One line for each subject, over the last 4 runs. The thick line is bob." in text
    assert "bob: 0.98 → 0.95 (2 runs). ann: 1.00 → 1.00 (2 runs)." in text
    assert "Trend over runs of bob" in text
    assert "Score over the last 2 runs: 0.98 → 0.95." in text
    project.run("report", "latest", "-o", file)
    text = file.read_text(encoding="utf-8")
    assert "no subject: 1.00 → 1.00 (1 run)." in text
    assert "Trend over runs" not in text


def test_a_whole_report_sees_in_one_pass_what_others_see_in_several(project: Project) -> None:
    for subject in ("one", "two", "one", "one"):
        project.score(FULL, LONG, WRONG, WRONG, subject=subject, latency_ms=5)
    with RunFinder(project.store) as runs, RunFinder(project.store) as others:
        judged = judge_run(runs, runs.find("latest"))
        report = build_full_report(runs, judged)
        assert report.patterns == find_run_patterns(others, others.find("latest"))
        assert report.distribution is not None
        assert [point.run for point in report.distribution.trend] == [
            run.id for run in reversed(others.store.list_runs())
        ]
        stored = others.store.list_runs()
        first, again = others.load_history(stored), others.load_history(reversed(stored))
        assert [run.name for run in first] == [run.id for run in stored]
        assert all(one is other for one, other in zip(first, reversed(again), strict=True))


WEIGHTED = st.lists(st.sampled_from([0.0, 0.125, 0.3, 1 / 3, 0.5]), min_size=2, max_size=2)


@given(st.lists(WEIGHTED, min_size=1, max_size=9).flatmap(st.permutations))
@settings(max_examples=20)
def test_every_item_has_its_own_bar_in_its_own_place(items: list[list[float]]) -> None:
    missed = [at % 2 == 0 for at in range(len(items) * 60)]
    svg = str(draw_stacked_bars(items * 60, missed))
    marks = svg[svg.index("bars") :].partition("</g>")[0]
    paths = [re.findall(r"M([^,]+),([^h]+)h([^v]+)v([^h]+)h", d) for d in marks.split("<path")[1:]]
    assert [len(path) for path in paths] == [len(items) * 60] * 3
    assert [float(width) > 0 for _, _, width, _ in paths.pop()] == missed
    for at, (one, two) in enumerate(zip(*paths, strict=True)):
        below, pitch = 196.0, 1000 / (len(items) * 60)
        for (x, top, width, height), value in zip((one, two), items[at % len(items)], strict=True):
            assert float(x) == pytest.approx(at * pitch, abs=0.006)
            assert float(width) == pytest.approx(
                pitch * (0.86 if len(items) <= 6 else 1), abs=0.011
            )
            assert float(height) == pytest.approx(196 * value, abs=0.011)
            below -= 196 * value
            assert float(top) == pytest.approx(below, abs=0.011)


def test_a_chart_is_shapes_and_texts_without_addresses_styles_or_scripts(flawed: RunReport) -> None:
    page = render_run_html(flawed, "1")
    charts = re.findall(r'<svg aria-hidden="true" xmlns.*?</svg>', page, re.DOTALL)
    assert len(charts) > 3
    drawn = [ET.fromstring(chart) for chart in charts]  # noqa: S314 - ours
    elements = [element for chart in drawn for element in chart.iter()]
    names = {element.tag.rpartition("}")[2] for element in elements}
    assert names <= {"svg", "g", "rect", "path", "circle", "text"}
    attributes = {name for element in elements for name in element.attrib}
    assert not attributes & {"href", "style", "id"}
    assert not any(name.startswith("on") for name in attributes)


@pytest.mark.parametrize("text", HOSTILE)
def test_a_label_of_a_chart_is_text_whatever_it_says(text: str) -> None:
    drawn = draw_axis_means([AxisMean(name=text, mean=0.5, lower=None, upper=None)])
    (label,) = shorten_labels([text])
    elements = ET.fromstring(drawn).iter()  # noqa: S314 - ours
    assert label in [element.text for element in elements]


@given(st.floats(-1e6, 1e6), st.floats(0.01, 1e6), st.integers(2, 40))
def test_ticks_are_even_within_their_range_and_not_too_many(
    low: float, span: float, most: int
) -> None:
    step = find_tick_step(low, low + span, most)
    ticks = list_ticks(low, low + span, step)
    assert len(ticks) <= most + 1
    assert len(ticks) >= most / 5 - 1
    assert all(low - step * 1e-5 <= tick <= low + span + step * 1e-5 for tick in ticks)


def test_a_number_in_a_chart_is_told_as_it_is() -> None:
    drawn = draw_axis_means(
        [AxisMean(name="axis 1.23456", mean=0.979, lower=0.97123, upper=0.98456)]
    )
    assert ">0.979<" in drawn
    assert ">axis 1.23456<" in drawn


@given(st.lists(st.text(max_size=60), max_size=30))
def test_labels_are_short_printable_and_different(names: list[str]) -> None:
    labels = shorten_labels(names, 20)
    assert len(labels) == len(names)
    assert len(set(labels)) == len(labels)
    assert all(len(label) <= 20 and label.isprintable() for label in labels)


def test_a_step_begins_exactly_at_its_limit() -> None:
    values = (0, 0.49, 0.5, 0.75, 0.919, 0.92, 0.95, 0.9999, 1)
    assert [find_heat_step(value) for value in values] == [0, 0, 1, 2, 2, 3, 4, 4, 5]
