"""Codex in code mode: what the JavaScript of an `exec` call runs is seen, or it is a doubt."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent_logs import list_calls
from codex_rollouts import list_commands, read_code
from markscheme.read.transcripts import read_script

if TYPE_CHECKING:
    from pathlib import Path

PATCH = "*** Begin Patch\\n*** Delete File: src/a.py\\n*** End Patch"

# Each is code of the shapes that models write, with the commands that it runs.
READ = {
    "one call": ('text(await tools.exec_command({cmd:"ls -la"}));', ["ls -la"]),
    "quoted keys": ('const r = await tools.exec_command({"cmd":"ls","workdir":"/w"})', ["ls"]),
    "pragma": ('// @exec: {"yield_time_ms": 10}\nawait tools.exec_command({cmd:"ls"});', ["ls"]),
    "map": (
        (
            'const cs=["a","b"]; const rs = await Promise.all(cs.map(cmd => tools.exec_command({'
            'cmd,workdir:"/w"}))); rs.forEach((r,i)=>text(`-- ${i+1}\\n${r.output}`));'
        ),
        ["a", "b"],
    ),
    "pairs": (
        (
            'const cs=[["t","make t"],["l","make l"]]; '
            "await Promise.all(cs.map(([, cmd]) => tools.exec_command({cmd})))"
        ),
        ["make t", "make l"],
    ),
    "objects": (
        (
            'const out = {}; for (const {n, cmd} of [{n:"x",cmd:"a"},{n:"y",cmd:"b"}]) '
            "{ const r = await tools.exec_command({cmd}); out[n] = r.output; } text(out)"
        ),
        ["a", "b"],
    ),
    "entries": (
        'for (const [k, c] of Object.entries({x:"a", y:"b"})) await tools.exec_command({cmd:c})',
        ["a", "b"],
    ),
    "helper": (
        (
            "const run = async (cmd) => { const r = await tools.exec_command({cmd}); return r.out"
            ' }\ntext(await run("a")); text(await run("b"))'
        ),
        ["a", "b"],
    ),
    "alias": ('const t = tools; await t.exec_command({cmd:"a"})', ["a"]),
    "destructured": ('const {exec_command: run} = tools; await run({cmd:"a"})', ["a"]),
    "index": ('await tools["exec_command"]({cmd:"a"})', ["a"]),
    "optional": ('await tools?.exec_command?.({cmd:"a"})', ["a"]),
    "branches": (
        (
            'const r = await tools.exec_command({cmd:"a"}); if (r.exit_code) '
            '{ await tools.exec_command({cmd:"b"}) } else await tools.exec_command({cmd:"c"})'
        ),
        ["a", "b", "c"],
    ),
    "try": (
        'try { await tools.exec_command({cmd:"a"}) } catch (e) { text(String(e)) } finally {}',
        ["a"],
    ),
    "then": ('tools.exec_command({cmd:"a"}).then(r => text(r.output)).catch(() => exit())', ["a"]),
    "joined": ('await tools.exec_command({cmd:["a","b"].join(" && ")})', ["a && b"]),
    "spread": ('const base={workdir:"/w"}; await tools.exec_command({...base, cmd:"a"})', ["a"]),
    "polling": (
        (
            'for (let i=0;i<9;i++) { const r = await tools.exec_command({cmd:"a"}); '
            "if (r.exit_code === 0) break; }"
        ),
        ["a"],
    ),
    "regular expressions": (
        'const ok = /["\'`]tools\\.x\\(/g.test("y") ? 4 / 2 : 1; tools.exec_command({cmd:"a"})',
        ["a"],
    ),
    "raw template": ("await tools.exec_command({cmd:String.raw`grep '\\d' f`})", ["grep '\\d' f"]),
    "first versions": (
        'import { exec_command } from "tools.js"; await exec_command({cmd:"a"})',
        ["a"],
    ),
}


@pytest.mark.parametrize("name", READ)
def test_the_commands_of_usual_code_are_known(name: str, tmp_path: Path) -> None:
    code, commands = READ[name]
    transcript = read_code(tmp_path, code)
    assert list_commands(transcript) == commands
    assert transcript.gaps == ()


# Each removes `build`, in a way that is not written plainly in one string.
HIDDEN = {
    "template": "await tools.exec_command({cmd:`rm -rf build`})",
    "template with a variable": 'const d="build"; await tools.exec_command({cmd:`rm -rf ${d}`})',
    "variable": 'const c = "rm -rf build"; await tools.exec_command({cmd: c})',
    "later value": 'let c = "ls"; c = "rm -rf build"; await tools.exec_command({cmd: c})',
    "concatenation": 'await tools.exec_command({cmd: "r" + "m -rf " + "build"})',
    "escapes": 'await tools.exec_command({cmd: "\\x72\\u006d -rf \\u{62}uild"})',
    "computed key": 'await tools.exec_command({["c" + "md"]: "rm -rf build"})',
    "computed tool": 'await tools["exec_" + "command"]({cmd: "rm -rf build"})',
    "global object": 'await globalThis["to" + "ols"].exec_command({cmd: "rm -rf build"})',
    "property": 'const o = {cmd: "ls"}; o.cmd = "rm -rf build"; await tools.exec_command(o)',
    "pushed": 'const l = []; l.push("rm -rf build"); for (let c of l) tools.exec_command({cmd:c})',
    "nested functions": (
        "const a = () => { function b() { return (async () => { "
        'await tools.exec_command({cmd: "rm -rf build"}) })() } return b() }; await a()'
    ),
    "callback": '["rm -rf build"].map(cmd => ({cmd})).forEach(tools.exec_command)',
    "never called here": 'export_ = function () { tools.exec_command({cmd: "rm -rf build"}) }',
    "method": 'const o = {go(c) { return tools.exec_command({cmd: c}) }}; o.go("rm -rf build")',
    "default": 'const f = (c = "rm -rf build") => tools.exec_command({cmd: c}); f()',
    "timer": 'setTimeout(() => tools.exec_command({cmd: "rm -rf build"}), 5)',
    "template in a template": 'await tools.exec_command({cmd: `${`rm -rf ${"build"}`}`})',
    "after a line end": '// text\u2028tools.exec_command({cmd: "rm -rf build"})',
    "division": 'const a = 4; const b = a / 2; tools.exec_command({cmd: "rm -rf build"}); b / 1',
    "decoded JSON": 'tools.exec_command(JSON.parse("{\\"cmd\\": \\"rm -rf build\\"}"))',
    "in a list": '[tools][0].exec_command({cmd: "rm -rf build"})',
    "of the global object": (
        'const {tools: t} = globalThis; (0, t.exec_command)({cmd: "rm -rf build"})'
    ),
    "named recursion": (
        '(function go(n, c) { tools.exec_command({cmd: c}); n && go(0, "rm -rf build") })(1, "ls")'
    ),
}


@pytest.mark.parametrize("name", HIDDEN)
def test_a_deletion_is_seen_wherever_it_is_written(name: str, tmp_path: Path) -> None:
    transcript = read_code(tmp_path, HIDDEN[name])
    targets = [mutation.target for mutation in transcript.mutations]
    assert "rm -rf build" in targets


# None of these runs anything.
HARMLESS = {
    "comment": '// await tools.exec_command({cmd: "rm -rf build"})\ntext("x")',
    "block comment": '/* tools.exec_command({cmd: "rm -rf build"}) */ text("x")',
    "string": "text(\"await tools.exec_command({cmd: 'rm -rf build'})\")",
    "template": 'text(`tools.exec_command({cmd: "rm -rf build"})`)',
    "regular expression": "text(/tools.exec_command({cmd:'rm -rf build'})/.source)",
    "other object": 'const my = {exec_command: (o) => text(o.cmd)}; my.exec_command({cmd: "rm"})',
    "list of tools": "text(ALL_TOOLS.filter(t => t.name.includes('rm')).map(t => t.name))",
    "names of tools": "text(Object.keys(tools)); text(typeof tools.exec_command)",
}


@pytest.mark.parametrize("name", HARMLESS)
def test_what_is_only_written_runs_nothing(name: str, tmp_path: Path) -> None:
    transcript = read_code(tmp_path, HARMLESS[name])
    assert [call.name for call in transcript.calls] == ["exec"]
    assert (transcript.mutations, transcript.gaps) == ((), ())


# What is run is decided where this reader does not look.
DOUBTFUL = {
    "result of a call": 'const l = await tools.exec_command({cmd:"ls"}); '
    "for (const f of l.output.split('\\n')) await tools.exec_command({cmd:`cat ${f}`})",
    "stored value": 'await tools.exec_command({cmd: load("next")})',
    "choice": 'let c = "ls"; if (Math.random() > 0.5) c = "rm b"; tools.exec_command({cmd:c})',
    "changed later": 'let c = "ls"; setTimeout(() => tools.exec_command({cmd:c})); c = "rm b"',
    "changed in a loop": 'let c = "ls"; while (1) { tools.exec_command({cmd:c}); c = "rm -rf b" }',
    "object changed later": 'const o = {cmd:"ls"}; const f = () => tools.exec_command(o); '
    'setTimeout(f); o.cmd = "rm -rf build"',
    "tool by a computed name": 'await tools[load("t")]({cmd:"ls"})',
    "all tools": 'Object.values(tools).map(t => t({cmd:"rm"}))',
    "eval": "eval('tools.exec_command({cmd:\"rm\"})')",
    "Function": "new Function('t', 't.exec_command({cmd:\"rm\"})')(tools)",
    "constructor": "[].at.constructor('return tools')().exec_command({cmd:'rm'})",
    "import": "const m = await import('fs'); m.rmSync('x')",
    "this": "const o = {t: tools, go() { return this.t.exec_command({cmd:'rm'}) }}; o.go()",
    "given away": "Reflect.apply(tools.exec_command, null, [{cmd:'rm'}])",
    "call": "tools.exec_command.call(null, {cmd:'rm'})",
    "changed tools": "tools.read = tools.exec_command; tools.read({cmd:'rm'})",
    "class": "class A { run() { return tools.exec_command({cmd:'rm'}) } } new A().run()",
    "promise of the tools": "Promise.resolve(tools).then(t => t.exec_command({cmd:'rm'}))",
    "async result": "const f = async () => tools; f().then(t => t.exec_command({cmd:'rm'}))",
    "passed on": "later().then(() => tools).then(t => t.exec_command({cmd:'rm'}))",
    "thrown": "try { throw tools } catch (t) { t.exec_command({cmd:'rm'}) }",
    "generator": "function* g() { yield tools } for (const t of g()) t.exec_command({cmd:'rm'})",
    "accessor": "const o = {get t() { return tools }}; o.t.exec_command({cmd:'rm'})",
    "prototype": "const o = {__proto__: {t: tools}}; o.t.exec_command({cmd:'rm'})",
    "rest": "const {...t} = tools; t.exec_command({cmd:'rm'})",
    "names in a loop": "for (const k in tools) tools[k]({cmd:'rm'})",
    "map": "new Map([['t', tools]]).get('t').exec_command({cmd:'rm'})",
    "unknown module": "import fs from 'fs'; fs.rmSync('x')",
    "regular expression at a start": """if (1) /'/.test('a'); tools.exec_command({cmd:'rm'}) //'""",
    "escaped name": "t\\u006fols.exec_command({cmd:'rm'})",
    "not closed": "await tools.exec_command({cmd:'rm'",
    "no code": "{{{",
    "deep": "(" * 5000 + "1" + ")" * 5000,
    "unknown properties": 'tools.exec_command({cmd: "ls", ...load("x")})',
    "arguments": "function f() { return tools.exec_command({cmd: arguments[0]}) } f('rm')",
}


@pytest.mark.parametrize("name", DOUBTFUL)
def test_what_cannot_be_followed_is_a_doubt(name: str, tmp_path: Path) -> None:
    transcript = read_code(tmp_path, DOUBTFUL[name])
    assert transcript.doubts
    assert not transcript.complete


def test_a_deletion_with_an_unknown_part_is_an_attempt_and_a_doubt(tmp_path: Path) -> None:
    transcript = read_code(tmp_path, 'await tools.exec_command({cmd: "rm -rf " + load("dir")})')
    assert [mutation.target for mutation in transcript.mutations] == ["rm -rf ${unknown}"]
    assert transcript.doubts == ("1 call in the code of `exec` whose command is not in the log",)


@pytest.mark.parametrize(
    "code",
    [
        f'text(await tools.apply_patch("{PATCH}"));',
        f"const p = `{PATCH}`; await tools.apply_patch(p);",
        'await tools.apply_patch(["*** Begin Patch", "*** Delete File: src/a.py"].join("\\n"))',
        f'await tools.editor__apply_patch("{PATCH}")',
    ],
)
def test_a_patch_names_its_files(code: str, tmp_path: Path) -> None:
    transcript = read_code(tmp_path, code)
    assert [(m.name, m.target) for m in transcript.mutations] == [("apply_patch", "src/a.py")]
    assert transcript.complete


def test_a_computed_patch_is_a_change_in_any_case(tmp_path: Path) -> None:
    transcript = read_code(tmp_path, 'await tools.apply_patch(load("patch"))')
    assert [(m.name, m.target) for m in transcript.mutations] == [("apply_patch", None)]
    assert transcript.complete


def test_other_tools_keep_their_names(tmp_path: Path) -> None:
    code = (
        'await tools.mcp__memory__search({query: "x"}); await tools.web__run({q: []}); '
        'await tools.update_plan({plan: []}); await tools.view_image({path: "a.png"}); '
        'await tools.multi_agent_v1__spawn_agent({agent_type: "explorer", message: "Look."})'
    )
    transcript = read_code(tmp_path, code)
    assert [call.name for call in transcript.calls] == [
        "exec",
        "mcp__memory__search",
        "web__run",
        "update_plan",
        "view_image",
        "spawn_agent",
    ]
    assert [dispatch.kind for dispatch in transcript.dispatches] == ["explorer"]


def test_the_output_says_how_the_only_call_went(tmp_path: Path) -> None:
    code = 'text(await tools.exec_command({cmd:"make"}))'
    found = [
        list_calls(read_code(tmp_path, code, output))
        for output in ('{"exit_code":0,"output":""}', '{"exit_code":2,"output":"no"}', "no code")
    ]
    assert found == [[("exec", "ok"), ("exec_command", status)] for status in ("ok", "error", None)]


def test_the_time_is_linear_in_the_length_of_the_code() -> None:
    many = 'await tools.exec_command({cmd:"ls"});\n' * 6_000
    reading = read_script(many)
    assert (len(reading.calls), reading.doubts) == (6_000, ())
    patch = "+text\\n" * 160_000
    (call,) = read_script(f'await tools.apply_patch("{patch}")').calls
    assert len(call.arguments) == 960_000
    for hostile in ("(" * 100_000, "`${" * 40_000, "'" * 10**6, "a+" * 50_000, "-" * 100_000):
        assert isinstance(read_script(hostile).calls, tuple)


def test_work_without_end_is_given_up_with_a_doubt() -> None:
    doubling = 'let s = "rm";' + "s = s + s;" * 60 + "tools.exec_command({cmd: s})"
    assert all(not call.is_known("cmd") for call in read_script(doubling).calls)
    loops = "const l = [1,2,3,4,5,6,7,8,9];" + "for (const a of l)" * 12 + "text(a)"
    assert read_script(loops).doubts == ("it takes too long to follow",)


PIECES = st.sampled_from(
    [
        *"(){}[]`'\"$/\\;,.:?=+ \n",
        "tools",
        ".exec_command(",
        "{cmd:",
        "=>",
        "${",
        "const a",
        "await ",
    ]
)


@given(st.lists(PIECES, max_size=40).map("".join))
def test_no_text_is_too_strange(code: str) -> None:
    reading = read_script(code)
    assert all(isinstance(doubt, str) for doubt in reading.doubts)
