"""Shell commands: which change something, and which only look like it."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from markscheme.read.tools import find_changes

CHANGES = [
    "rm -rf build",
    "cd /x && mkdir -p y",
    "echo hi > out.txt",
    "echo hi >> out.txt",
    "make 2> errors.log",
    "make &> all.log",
    "cat > notes.md <<'EOF'\nhello\nEOF",
    "ls | tee files.txt",
    "sed -i 's/a/b/' file",
    "sed -i.bak -e s/a/b/ file",
    "perl -pi -e s/a/b/ file",
    "git add -A && git commit -m 'a > b'",
    "git -C /repo checkout main",
    "git stash",
    "git branch -D old",
    "git remote add origin x",
    "npm install left-pad",
    "python3 -m pip install x",
    "uv pip install x",
    "mix deps.get",
    "go mod tidy",
    "sudo -u me touch file",
    "env A=1 touch file",
    "A=1 B=2 cp a b",
    "timeout 5 mv a b",
    "find . -name '*.pyc' -delete",
    "find . -name x -exec rm {} +",
    "find . | xargs -n 1 rm",
    "bash -lc 'echo x > y'",
    "bash <<EOF\nrm x\nEOF",
    "eval 'rm x'",
    "echo $(touch x)",
    'echo "$(touch x)"',
    "echo `touch x`",
    "if true; then rm x; fi",
    "(cd x; rm y)",
    "! rm x",
    "curl -sSL -o file http://x",
    "wget http://x",
    "tar xzf a.tgz",
    "apply_patch <<'PATCH'\n*** Begin Patch\n*** Update File: src/a.py\n*** End Patch\nPATCH",
    "echo a\nrm b",
    "diff <(rm a) b",
    ">empty",
    "/bin/rm x",
    "while read f; do mv $f x; done",
    "wget -O page.html http://x",
    "wget -qO page.html http://x",
    "wget --output-document=page.html http://x",
    "curl -fsSLO http://x",
    "curl -opage.html http://x",
    "curl --output=page.html http://x",
    "tar -C build -xf a.tgz",
    "tar --exclude=node_modules -czf a.tgz .",
    "sed -ibak s/a/b/ file",
    "gsed -i s/a/b/ file",
    "gawk -i inplace '{print}' file",
    "find . -exec grep -q x {} \\; -exec rm {} \\;",
    "find . -exec sh -c 'rm \"$1\"' _ {} \\;",
    "npm --prefix web install",
    "pnpm -C web add x",
    "yarn --cwd web add x",
    "gunzip a.gz",
    "unzip a.zip -d out",
]
LOOKS = [
    "ls 2>/dev/null",
    "grep -rn 'a > b' . 2>&1 | head",
    'echo "rm -rf / > x"',
    "cat <<'EOF'\nrm -rf > x\nEOF",
    "cat <<-EOF\n\trm x\n\tEOF\necho done",
    "make >/dev/null 2>&1",
    "make &>/dev/null",
    "echo hi >&2",
    "git status && git diff > /dev/null",
    "git log --oneline | head -3",
    "git branch -a",
    "git branch --show-current",
    "git stash list",
    "git remote -v",
    "git tag -l 'v*'",
    "git config --get user.name",
    "git add --dry-run .",
    "git worktree list",
    "git apply --check x.patch",
    "npm test",
    "npm run build",
    "pip list",
    "cargo test",
    "sed -n 1,20p file",
    "perl -ne 'print if /i/' file",
    "find . -name '*.py' -exec grep -n x {} +",
    "[[ a > b ]] && echo yes",
    "(( a > b )) && echo yes",
    "echo $((1 > 0))",
    "ls | tee /dev/null",
    "curl -s http://x | head",
    "wget -qO- http://x",
    "tar tzf a.tgz",
    "awk '$1 > 3' file",
    "# rm x",
    "echo rm x",
    "bash -lc ls",
    "which rm",
    "diff <(ls a) <(ls b)",
    "wc -l < file",
    "grep x <<< 'rm y'",
    "python - <<'EOF'\nprint(1 > 0)\nEOF",
    "command -v rm",
    "command -V mv",
    "wget -O - http://x",
    "wget -qO - http://x | head",
    "wget -qO/dev/null http://x",
    "curl -o /dev/null http://x",
    "curl -fsSL -o- http://x",
    "unzip -l a.zip",
    "unzip -p a.zip x | head",
    "gunzip -c a.gz | head",
    "gzip -dc a.gz",
    "gzip --list a.gz",
    "tar -C build -tf a.tgz",
    "find . -exec sh -c 'cat \"$1\"' _ {} \\;",
    "npm --prefix web test",
    "awk -i lib.awk '{print}' file",
    "",
]


@pytest.mark.parametrize("script", CHANGES)
def test_a_command_that_writes_is_a_change(script: str) -> None:
    assert list(find_changes(script)), script


@pytest.mark.parametrize("script", LOOKS)
def test_a_command_that_only_looks_is_none(script: str) -> None:
    assert list(find_changes(script)) == [], script


def test_what_would_change_is_named() -> None:
    assert list(find_changes("ls; echo a > out.txt; git add -A")) == ["out.txt", "git add -A"]
    patch = "apply_patch <<'P'\n*** Add File: a.py\n+x\n*** Delete File: b.py\nP"
    assert list(find_changes(patch)) == ["a.py, b.py"]


@given(st.text(alphabet="ab \n\t'\"\\$()`<>|&;#{}[]!=-0EOF", max_size=60))
def test_any_text_can_be_read_as_a_command(script: str) -> None:
    assert all(isinstance(found, str) for found in find_changes(script))


PIECES = st.sampled_from(
    [
        *(
            "rm",
            "git",
            "add",
            "status",
            "ls",
            "x",
            "tee",
            "sed",
            "-i",
            "bash",
            "-c",
            "eval",
            "yarn",
            "python",
            "node",
            "-e",
            "psql",
            "docker",
            "exec",
            "xargs",
            "ssh",
            "vim",
            "awk",
        ),
        *("2>/dev/null", ">", ">>", "&>/dev/null", "2>&1", "<<EOF", "EOF", "/dev/null", "<", "3"),
        *("'", '"', "\\", "$(", ")", "`", "|", ";", "&&", "\n", " ", "#", "{", "}", "[[", "]]"),
        *("yarn", "sudo", "A=1", "find", "-delete"),
    ]
)


@given(st.lists(PIECES, max_size=14).map("".join) | st.lists(PIECES, max_size=14).map(" ".join))
def test_any_pieces_of_commands_can_be_read(script: str) -> None:
    assert all(isinstance(found, str) for found in find_changes(script))


@pytest.mark.parametrize(
    "command",
    [
        "echo ${a%>*}",
        "echo ${path##*>}",
        r"echo $'it\'s > here'",
        "if [[ $a > $b ]]; then echo more; fi",
        "if (( a > b )); then echo more; fi",
        "words=(a '>' b)",
        "case $x in a\\>b) echo odd;; esac",
    ],
)
def test_a_bracket_inside_expansions_quotes_and_tests_is_no_redirection(command: str) -> None:
    assert list(find_changes(command)) == []


@pytest.mark.parametrize(
    "command",
    [
        "cat <<EOF\n$(touch x)\nEOF",
        'echo "${a:-$(rm x)}"',
        "echo $(cat <<'E'\nit's (fine\nE\n) > out",
    ],
)
def test_commands_inside_heredocs_and_expansions_are_seen(command: str) -> None:
    assert list(find_changes(command))
