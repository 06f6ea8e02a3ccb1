"""What nobody should say: sixty texts that try to be more than text, or to break a page."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from commands import here

if TYPE_CHECKING:
    from pathlib import Path

HOSTILE = (
    "<script>window.pwned = 1</script>",
    "</script><script>window.pwned = 1</script>",
    "<!--<script>window.pwned = 1</script>",
    "--><script>window.pwned = 1</script>",
    "<![CDATA[<script>window.pwned = 1</script>]]>",
    "<SCRIPT SRC=https://evil.example/x.js></SCRIPT>",
    "<script type=module>window.pwned = 1</script>",
    "<scr<script>ipt>window.pwned = 1</scr</script>ipt>",
    "<img src=x onerror=window.pwned=1>",
    "<img src='https://evil.example/pixel.png'>",
    "<img srcset='https://evil.example/a.png 2x'>",
    "<body onload=window.pwned=1>",
    "<svg onload=window.pwned=1>",
    "<svg><script>window.pwned = 1</script></svg>",
    "<svg><animate onbegin=window.pwned=1 attributeName=x dur=1s>",
    "<svg><use href='https://evil.example/x.svg#a'/></svg>",
    "<svg><foreignObject><img src=x onerror=window.pwned=1></foreignObject></svg>",
    "<math><mi xlink:href='javascript:window.pwned=1'>x</mi></math>",
    "<iframe src='javascript:window.pwned=1'></iframe>",
    "<iframe srcdoc='<script>parent.pwned=1</script>'></iframe>",
    "<object data='data:text/html,<script>window.pwned=1</script>'></object>",
    "<embed src='https://evil.example/x.swf'>",
    "<link rel=stylesheet href='https://evil.example/x.css'>",
    "<style>* { display: none !important }</style>",
    "<style>@import 'https://evil.example/x.css';</style>",
    "<base href='https://evil.example/'>",
    "<meta http-equiv=refresh content='0;url=https://evil.example/'>",
    "<form action='https://evil.example/'><button>go</button></form>",
    "<input autofocus onfocus=window.pwned=1>",
    "<select autofocus onfocus=window.pwned=1>",
    "<textarea autofocus onfocus=window.pwned=1>",
    "<details open ontoggle=window.pwned=1>",
    "<video><source onerror=window.pwned=1></video>",
    "<audio src=x onerror=window.pwned=1>",
    "<marquee onstart=window.pwned=1>x</marquee>",
    "<a href='javascript:window.pwned=1'>press me</a>",
    "<a href='https://evil.example/' ping='https://evil.example/'>press me</a>",
    "<template><script>window.pwned = 1</script></template>",
    "<noscript><p title='</noscript><img src=x onerror=window.pwned=1>'>",
    "<title></title></head><body><h1>mine now</h1>",
    "</summary></details></div></main></body></html>",
    "</pre></textarea></title></style>",
    '" onmouseover="window.pwned=1" x="',
    "' autofocus onfocus='window.pwned=1",
    "javascript:window.pwned=1",
    "data:text/html;base64,PHNjcmlwdD53aW5kb3cucHduZWQ9MTwvc2NyaXB0Pg==",
    "&lt;script&gt;window.pwned = 1&lt;/script&gt;",
    "&#60;script&#62;window.pwned = 1&#60;/script&#62;",
    "&lt &amp &quot; &#x0; &#xD800; &bogus;",
    "\\u003cscript\\u003ewindow.pwned = 1\\u003c/script\\u003e",
    "{{ 7 * 7 }} {% raw %} ${window.pwned = 1} #{1}",
    "{{ constructor.constructor('window.pwned = 1')() }}",
    "\u202ereversed by an override\u202c and \u2066isolated\u2069",
    "\u200b\u200b\ufeff zero width \u2028 line \u2029 paragraph",
    "a\u0300\u0301\u0302\u0303\u0304\u0305\u0306\u0307\u0308\u0309" * 40,
    "x" * 10_000,
    "w" * 5_000 + " " + "\u4e00" * 5_000,
    "line\n" * 2_000,
    "🏳️‍🌈👨‍👩‍👧‍👦 \U0001f1ea\U0001f1f8 \ufffd \ue000 \t tab",
    "= 1 + 1; @somebody #1 !important; @import url(https://evil.example)",
)


def without_controls(text: str) -> str:
    """Return a text as a tag value may hold it: control characters are refused there."""
    joiner = "\u200d"
    return "".join(sign for sign in text if sign.isprintable() or sign == joiner)


def score_hostile_answers(folder: Path, store: Path, *, subject: str = HOSTILE[0]) -> None:
    """Score and store a run in which everything that can be said is hostile."""
    items, rows = [], []
    for at, text in enumerate(HOSTILE):
        tags = {
            "pair": without_controls(HOSTILE[at // 2 * 2]),
            "third": without_controls(HOSTILE[at % 3]),
            "long": without_controls(HOSTILE[55 - at % 2]),
        }
        items.append(
            {"id": f"h{at}", "prompt": text, "expected_contains": [text[:2000]], "tags": tags}
        )
        said = text if at % 3 else {"correction": text, "spanish_gloss": text, "explanation": text}
        rows.append({"item": f"h{at}", "output": said, "subject": subject, "latency_ms": at})
    expected = [{**item, "gloss_contains": item["expected_contains"]} for item in items]
    exam = {"exam": "hostile", "items": expected}
    (folder / "exam.yaml").write_text(json.dumps(exam, ensure_ascii=False), encoding="utf-8")
    rows += [{"item": f"{text} is no item", "output": text} for text in HOSTILE]
    lines = "".join(f"{json.dumps(row)}\n" for row in rows)
    (folder / "answers.jsonl").write_text(lines, encoding="utf-8")
    files = ("-r", "tutor-capstone", "-e", folder / "exam.yaml", "-a", folder / "answers.jsonl")
    scored = here("score", *files, "--store", store)
    assert scored.code == 4, scored.err
