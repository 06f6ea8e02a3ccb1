"""Programs that run another command: which words of theirs come before it.

`unwrap_command` returns the command itself, as a list of words or as a script of the shell. To
teach markscheme a wrapper, add a line to `_WRAPPERS`.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from msgspec import Struct
from msgspec.structs import replace

from markscheme.read.json_fields import split_words
from markscheme.read.tools.programs import find_option_values

_SHELL_KEYWORDS = split_words("then do else elif if while until ! { } coproc")
_ASSIGNMENT = re.compile(r"[A-Za-z_]\w*(\[[^\]]*\])?\+?=.*", re.DOTALL)
_SEPARATOR_LIMIT = 40
MAX_WRAPPERS = 60
# `npx prettier@3` and `deno run npm:prettier` run the program `prettier`.
_PACKAGE = re.compile(r"(?:npm:|jsr:)?(?P<name>[\w.-]+)(?:@[\w.^~*-]+)?")


class Wrapper(Struct, frozen=True, kw_only=True):
    """How a program names the command that it runs.

    - `subcommand`: the words that must follow, such as `exec` of `docker exec`;
    - `valued`: options with a value in a word of their own; single letters stand for `-x`;
    - `needs`: a pattern of an option without which the wrapper is another one;
    - `skip`: the number of words before the command, such as the host of `ssh`; `_ALL_WORDS` if
      only an option or `--` begins a command;
    - `as_script`: the words are joined, and a shell reads them again;
    - `script_option`: a pattern of an option whose value is a script;
    - `outputs`: a pattern of options whose value is a file that the wrapper writes;
    - `command_option`: an option after which all words are the command;
    - `separator`: the command begins after `--`, and only there;
    - `writes_operand`: the first word that is no option is a file that the wrapper writes;
    - `shell_option`: a pattern of options with which it is a shell that reads its script from
      standard input if it has no command.
    """

    programs: str
    subcommand: str = ""
    needs: str = ""
    valued: str = ""
    skip: int = 0
    as_script: bool = False
    script_option: str = ""
    outputs: str = ""
    command_option: str = ""
    separator: bool = False
    writes_operand: bool = False
    shell_option: str = ""


_ALL_WORDS = 99
_ALWAYS = ".*"
_CONTAINER_VALUES = (
    "-e -u -w --env --user --workdir --env-file --detach-keys --index -n --namespace -c "
    "--container "
    "--context --cluster --kubeconfig -f --file -p --project-name --profile -H --host -l -s"
)
_RUNNER_VALUES = (
    "-p --package --python --with --from --extra --group --directory --project --env-file --spec "
    "--with-requirements --with-editable --index-url -i -n --name --prefix -c --call -w "
    "--workspace "
    "--index --config --environment -e -E"
)

_WRAPPERS = (
    Wrapper(
        programs="sudo",
        valued="u g p C h T r R t D U --user --group --prompt --close-from --host --command-timeout"
        " --role --chroot --type --chdir --other-user",
        shell_option=r"-[A-Za-z]*[si][a-z]*|--shell|--login",
    ),
    Wrapper(programs="doas", valued="u C a", shell_option=r"-s"),
    Wrapper(
        programs="env genv", valued="u C --unset --chdir", script_option=r"-v?S|--split-string"
    ),
    Wrapper(
        programs="command builtin nohup setsid chronic unbuffer winpty catchsegv eatmydata"
        " noglob nocorrect call busybox toybox",
    ),
    Wrapper(programs="time gtime", valued="f o --format --output", outputs="-o|--output"),
    Wrapper(programs="rlwrap", valued="f H s b C D g l P q w O S t"),
    Wrapper(programs="proxychains proxychains4", valued="f"),
    Wrapper(programs="torsocks", valued="a u p P --address --user --pass --port"),
    Wrapper(programs="dbus-run-session", valued="--config-file --dbus-daemon"),
    Wrapper(programs="exec", valued="a"),
    Wrapper(programs="nice", valued="n --adjustment"),
    Wrapper(programs="ionice", valued="c n p P u --class --classdata --pid --pgid --uid"),
    Wrapper(programs="chrt", valued="p T P D --pid", skip=1),
    Wrapper(programs="stdbuf gstdbuf", valued="i o e --input --output --error"),
    Wrapper(programs="timeout gtimeout", valued="s k --signal --kill-after", skip=1),
    Wrapper(
        programs="xargs gxargs",
        valued="I n P L d a s E --max-args --max-procs --max-chars --arg-file --delimiter"
        " --process-slot-var",
    ),
    Wrapper(
        programs="parallel",
        valued="j a N n L I d C S --jobs --arg-file --max-procs --max-args --max-replace-args"
        " --max-lines --delimiter --colsep --delay --timeout --joblog --results --tmpdir --retries"
        " --load --memfree --halt --workdir --sshlogin --basefile --tagstring",
        as_script=True,
        shell_option=_ALWAYS,
    ),
    Wrapper(
        programs="strace ltrace dtruss",
        valued="e o p s P u E --output --attach --string-limit --user --env --trace --trace-path",
        outputs="-o|--output",
    ),
    Wrapper(programs="watch viddy", valued="n --interval", as_script=True),
    Wrapper(programs="caffeinate", valued="t w"),
    Wrapper(programs="chroot setarch arch-chroot taskset", skip=1),
    Wrapper(
        programs="flock",
        valued="w E --wait --timeout --conflict-exit-code",
        skip=1,
        script_option=r"-c|--command",
    ),
    Wrapper(
        programs="runuser",
        needs=r"-u.*|--user(=.*)?",
        valued="u g G s w --user --group --supp-group --shell --whitelist-environment",
    ),
    Wrapper(
        programs="su runuser",
        valued="s g G w --shell --group --supp-group --whitelist-environment",
        script_option=r"-c|--command",
        skip=_ALL_WORDS,
        shell_option=_ALWAYS,
    ),
    # On Linux the file is the last word, and on macOS a command may follow it.
    Wrapper(
        programs="script",
        valued="t",
        script_option=r"-[a-z]*?c|--command",
        skip=1,
        writes_operand=True,
    ),
    Wrapper(programs="gosu su-exec setuidgid s6-setuidgid softlimit chpst", valued="u", skip=1),
    Wrapper(
        programs="pkexec run0 dumb-init tini fakeroot setpriv flatpak-spawn termux-chroot proot"
        " rtk catatonit valgrind",
        valued="u --user --tool",
    ),
    Wrapper(programs="faketime", valued="f", skip=1),
    Wrapper(programs="cgexec", valued="g"),
    Wrapper(programs="perf", subcommand="stat", valued="e o r", outputs="-o|--output"),
    Wrapper(programs="perf", subcommand="record", valued="e o F", outputs="-o|--output"),
    Wrapper(programs="lxc-attach", valued="n u g --name"),
    Wrapper(programs="distrobox", subcommand="enter", valued="n --name", skip=1),
    Wrapper(programs="toolbox", subcommand="run", valued="c --container"),
    Wrapper(programs="machinectl", subcommand="shell", valued="--uid", skip=1),
    Wrapper(programs="foreman honcho forego", subcommand="run", valued="e --env"),
    Wrapper(programs="nodemon", valued="e w --ext --watch", script_option=r"-x|--exec", skip=0),
    Wrapper(
        programs="watchexec", valued="e w f i --exts --watch --filter --ignore", as_script=True
    ),
    Wrapper(
        programs="fly flyctl",
        subcommand="ssh console",
        script_option=r"-C|--command",
        skip=_ALL_WORDS,
    ),
    Wrapper(programs="xvfb-run", valued="n s e --server-args --server-num"),
    Wrapper(programs="firejail bwrap numactl prlimit systemd-inhibit", valued="p"),
    Wrapper(
        programs="systemd-run",
        valued="p u E M H --property --unit --uid --gid --working-directory --setenv --slice"
        " --description --machine --host --nice",
    ),
    Wrapper(programs="nsenter unshare", valued="t S G --target --setuid --setgid"),
    Wrapper(programs="entr", valued=""),
    Wrapper(programs="cross-env dotenvx env-cmd dotenv with-env", valued="e f"),
    Wrapper(programs="direnv", subcommand="exec", skip=1),
    Wrapper(programs="nix-shell", script_option=r"--run|--command", skip=_ALL_WORDS),
    Wrapper(programs="nix", subcommand="develop", command_option=r"-c|--command", skip=_ALL_WORDS),
    Wrapper(programs="nix", subcommand="shell", command_option=r"-c|--command", skip=_ALL_WORDS),
    Wrapper(
        programs="poetry pipenv pdm hatch rye pixi uv", subcommand="run", valued=_RUNNER_VALUES
    ),
    Wrapper(
        programs="conda mamba micromamba", subcommand="run", valued="n p --name --prefix --cwd"
    ),
    Wrapper(programs="mise rtx asdf rbenv pyenv nodenv", subcommand="exec"),
    Wrapper(programs="mise", subcommand="x"),
    Wrapper(programs="volta dotenvx", subcommand="run"),
    Wrapper(programs="bundle bundler", subcommand="exec"),
    Wrapper(programs="npx bunx pnpx", valued=_RUNNER_VALUES, script_option=r"-c|--call"),
    Wrapper(programs="uvx", valued=_RUNNER_VALUES),
    Wrapper(programs="deno", subcommand="run", valued="c config import-map lock L"),
    Wrapper(programs="npm", subcommand="exec", valued=_RUNNER_VALUES, script_option=r"-c|--call"),
    Wrapper(programs="npm bun", subcommand="x", valued=_RUNNER_VALUES),
    Wrapper(programs="pnpm yarn", subcommand="exec"),
    Wrapper(programs="pnpm yarn", subcommand="dlx", valued=_RUNNER_VALUES),
    Wrapper(programs="uv", subcommand="tool run", valued=_RUNNER_VALUES),
    Wrapper(programs="pipx", subcommand="run", valued=_RUNNER_VALUES),
    Wrapper(programs="doppler op infisical chamber teller", subcommand="run", separator=True),
    Wrapper(programs="aws-vault", subcommand="exec", separator=True),
    Wrapper(
        programs="docker podman nerdctl finch", subcommand="exec", valued=_CONTAINER_VALUES, skip=1
    ),
    Wrapper(
        programs="docker podman nerdctl finch",
        subcommand="container exec",
        valued=_CONTAINER_VALUES,
        skip=1,
    ),
    Wrapper(
        programs="docker podman nerdctl finch",
        subcommand="compose exec",
        valued=_CONTAINER_VALUES,
        skip=1,
    ),
    Wrapper(
        programs="docker-compose podman-compose",
        subcommand="exec",
        valued=_CONTAINER_VALUES,
        skip=1,
    ),
    Wrapper(programs="kubectl oc k kubecolor", subcommand="exec", valued=_CONTAINER_VALUES, skip=1),
    Wrapper(programs="lxc incus multipass", subcommand="exec", skip=1),
    Wrapper(programs="adb", subcommand="shell", as_script=True),
    Wrapper(
        programs="ssh autossh mosh",
        shell_option=_ALWAYS,
        valued="b c D E e F I i J L l m O o p Q R S W w",
        skip=1,
        as_script=True,
    ),
    Wrapper(programs="sshpass", valued="p f d P"),
    Wrapper(
        programs="vagrant",
        subcommand="ssh",
        shell_option=_ALWAYS,
        script_option=r"-c|--command",
        skip=_ALL_WORDS,
        as_script=True,
    ),
    Wrapper(
        programs="gcloud",
        subcommand="compute ssh",
        shell_option=_ALWAYS,
        script_option=r"--command",
        skip=_ALL_WORDS,
        as_script=True,
    ),
    Wrapper(programs="wsl wsl.exe", valued="d u --distribution --user", script_option=""),
)
_BY_PROGRAM: dict[str, list[Wrapper]] = {}
for _wrapper in _WRAPPERS:
    for _name in _wrapper.programs.split():
        _BY_PROGRAM.setdefault(_name, []).append(_wrapper)


class Unwrapped(Struct, frozen=True):
    """The command inside its wrappers: its words, or scripts of the shell.

    `reads_script` says that a shell reads its script from standard input, as with `ssh host`;
    `writes` are files that the wrappers write.
    """

    words: list[str]
    scripts: tuple[str, ...] = ()
    is_wrapped: bool = False
    too_many: bool = False
    reads_script: bool = False
    writes: tuple[str, ...] = ()


def get_program_name(word: str) -> str:
    """Return the name of a program without its folder, its registry, its version and `.exe`."""
    name = word.replace("\\", "/").rpartition("/")[2]
    package = _PACKAGE.fullmatch(name)
    name = name if package is None else package["name"]
    return (
        name[:-4] if name.lower().endswith((".exe", ".cmd")) and len(name) > len(".exe") else name
    )


def unwrap_command(words: Sequence[str]) -> Unwrapped:
    """Return the command itself, without keywords, assignments and wrappers like `sudo`."""
    at, count = 0, 0
    writes: list[str] = []
    while at < len(words):
        name = get_program_name(words[at])
        prefix = _count_prefix_words(name, words[at])
        if prefix:
            at += prefix
            continue
        if name == "command" and list(words[at + 1 : at + 2]) in (["-v"], ["-V"]):
            # It only asks where a command is.
            return Unwrapped([])
        wrapper = _find_wrapper(name, words, at)
        if wrapper is None:
            break
        count += 1
        if count > MAX_WRAPPERS:
            return Unwrapped([], too_many=True)
        end, script = _skip_options(wrapper, words, at)
        writes += _find_written_files(wrapper, words[at + 1 :], end - at - 1, script)
        inner = _take_inner_script(wrapper, words, at, end, script)
        if inner is not None:
            return replace(inner, writes=tuple(writes))
        at = end
    return Unwrapped(list(words[at:]), is_wrapped=count > 0, writes=tuple(writes))


def _find_written_files(
    wrapper: Wrapper, words: Sequence[str], end: int, script: str | None
) -> list[str]:
    """Return the files that a wrapper writes; its own words end before the position `end`."""
    written = find_option_values(words[:end], wrapper.outputs) if wrapper.outputs else []
    if wrapper.writes_operand:
        written += [word for word in words if word[:1] != "-" and word != script][:1]
    return written


def _take_inner_script(
    wrapper: Wrapper, words: Sequence[str], at: int, end: int, script: str | None
) -> Unwrapped | None:
    """Return the script that a wrapper runs, if it is handed a script and not words."""
    if script is not None:
        return Unwrapped([], (script,), is_wrapped=True)
    inner = " ".join(words[end:])
    if wrapper.as_script and inner:
        return Unwrapped([], (inner,), is_wrapped=True)
    if inner:
        return None
    # Without a command, a wrapper such as `env` only prints.
    return Unwrapped([], is_wrapped=True, reads_script=_is_shell(wrapper, words[at + 1 : end]))


def _is_shell(wrapper: Wrapper, options: Sequence[str]) -> bool:
    """Return whether a wrapper without a command is a shell that reads its script, as `su bob`."""
    pattern = wrapper.shell_option
    asks = {"--help", "--version", "-h", "-V"} & set(options)
    if not pattern or asks:
        return False
    return pattern == _ALWAYS or any(re.fullmatch(pattern, option) for option in options)


def _count_prefix_words(name: str, word: str) -> int:
    """Return how many words stand here that come before a command, and are none."""
    if name in _SHELL_KEYWORDS or _ASSIGNMENT.fullmatch(word):
        return 1
    # The body of a function may follow its name in the same line.
    return 2 if word == "function" else 0


def _find_wrapper(name: str, words: Sequence[str], at: int) -> Wrapper | None:
    for wrapper in _BY_PROGRAM.get(name, ()):
        if wrapper.needs and not any(
            re.fullmatch(wrapper.needs, word) for word in words[at + 1 : at + _SEPARATOR_LIMIT]
        ):
            continue
        if not wrapper.subcommand:
            return wrapper
        if _find_subcommand(wrapper, words, at) is not None:
            return wrapper
    return None


def _find_subcommand(wrapper: Wrapper, words: Sequence[str], at: int) -> int | None:
    """Return the position after the sub-command of a wrapper, which options may precede."""
    valued = _split_valued(wrapper)
    wanted = wrapper.subcommand.split()
    position = at + 1
    limit = min(len(words), at + _SEPARATOR_LIMIT)
    while position < limit and wanted:
        word = words[position]
        if word.startswith("-"):
            position += 2 if word in valued else 1
        elif word == wanted[0]:
            wanted = wanted[1:]
            position += 1
        else:
            return None
    return None if wanted else position


def _split_valued(wrapper: Wrapper) -> frozenset[str]:
    return frozenset(
        word if word.startswith("-") else f"-{word}" for word in wrapper.valued.split()
    )


def _skip_options(wrapper: Wrapper, words: Sequence[str], at: int) -> tuple[int, str | None]:
    """Return the position of the inner command, or the script that an option holds."""
    position = _find_subcommand(wrapper, words, at) if wrapper.subcommand else at + 1
    position = at + 1 if position is None else position
    valued = _split_valued(wrapper)
    letters = {option[1] for option in valued if len(option) == len("-x")}
    skipped = 0
    while position < len(words):
        word = words[position]
        if word == "--":
            return _skip_double_dash(wrapper, words, position, skipped)
        if wrapper.command_option and re.fullmatch(wrapper.command_option, word):
            return position + 1, None
        script = _find_option_script(wrapper, words, position)
        if script is not None:
            return position, script
        if word.startswith("-") and len(word) > 1:
            takes_next = word in valued or (
                not word.startswith("--") and word[-1] in letters and len(word) <= len("-xyz")
            )
            position += 2 if takes_next else 1
        elif wrapper.separator:
            position += 1
        elif _ASSIGNMENT.fullmatch(word) or (skipped < wrapper.skip and wrapper.skip):
            skipped += not _ASSIGNMENT.fullmatch(word)
            position += 1
        else:
            break
    return _skip_separator(wrapper, words, position), None


def _skip_double_dash(
    wrapper: Wrapper, words: Sequence[str], position: int, skipped: int
) -> tuple[int, str | None]:
    """Return the position of the command after `--`; a host or a container may still come first."""
    if wrapper.skip != _ALL_WORDS:
        return position + 1 + (wrapper.skip - skipped if not skipped else 0), None
    # `su bob -- -c SCRIPT` hands its options to the shell.
    script = _find_option_script(wrapper, words, position + 1) if words[position + 1 :] else None
    return position + 1, script


def _find_option_script(wrapper: Wrapper, words: Sequence[str], position: int) -> str | None:
    """Return the script that an option holds: attached to it, after `=`, or in the next word."""
    if not wrapper.script_option:
        return None
    word = words[position]
    option, _, value = word.partition("=")
    if re.fullmatch(wrapper.script_option, option):
        return value or "".join(words[position + 1 : position + 2])
    attached = re.fullmatch(rf"(?:{wrapper.script_option})(?P<script>.+)", word, re.DOTALL)
    return None if attached is None or word.startswith("--") else attached["script"]


def _skip_separator(wrapper: Wrapper, words: Sequence[str], position: int) -> int:
    after_target = wrapper.skip and position < len(words) and words[position] == "--"
    return position + 1 if after_target else position
