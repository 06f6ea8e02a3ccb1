"""Judge source text of JavaScript, Ruby, Perl, PHP, Lua and R by its words.

Strings and comments are taken out first; what remains is names and signs. Three tables decide for
each language: names that change something, names that run what cannot be read, and names that only
read or compute. A call of any other name is a doubt, unless the source defines the name itself.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from msgspec import Struct

from markscheme.read.json_fields import split_words
from markscheme.read.tools.findings import Findings, shorten_code

_MAX_SOURCE = 100_000
_MAX_CALLS = 5_000
_MARK = "\x00"
_TEXT_MARK = re.compile(f"{_MARK}(\\d+){_MARK}")
_VALUE = "code_value"


class LanguageRules(Struct, frozen=True, kw_only=True):
    """What is known of a language; the patterns are searched in source without its strings.

    - `quotes`: a pattern of strings (group `text`), comments and regular expressions;
    - `changing`, `opaque`: patterns of what changes something, and of what cannot be read;
    - `starting`: a pattern that ends before the first argument of a call that starts a command;
    - `calls`: a pattern of calls, with the group `name`;
    - `plain`: names that may be called;
    - `defining`: a pattern of definitions, with the group `name`.
    """

    name: str
    quotes: re.Pattern[str]
    changing: re.Pattern[str]
    opaque: re.Pattern[str]
    starting: re.Pattern[str]
    calls: re.Pattern[str]
    plain: frozenset[str]
    defining: re.Pattern[str]
    modules: re.Pattern[str] | None = None
    plain_modules: frozenset[str] = frozenset()


def _compile(text: str) -> re.Pattern[str]:
    return re.compile(text, re.DOTALL | re.MULTILINE)


_STRINGS = r"(?P<text>\"(?:[^\"\\]|\\.)*(?:\"|\Z)|'(?:[^'\\]|\\.)*(?:'|\Z)"

_BACKQUOTED = _STRINGS + r"|`[^`]*(?:`|\Z)"

JAVASCRIPT = LanguageRules(
    name="JavaScript",
    quotes=_compile(
        _STRINGS + r"|`(?:[^`\\]|\\.)*(?:`|\Z))|(?P<comment>//[^\n]*|/\*.*?(?:\*/|\Z))"
        r"|(?P<regex>(?<=[(,=:\[!&|?{};\n])\s*/(?![/*])(?:[^/\\\n\[]|\\.|\[(?:[^\]\\\n]"
        r"|\\.)*\])+/[a-z]*)"
    ),
    changing=_compile(
        r"\b(writeFile|appendFile|unlink|rm|rmdir|mkdir|rename|copyFile|cp|truncate|ftruncate"
        r"|symlink"
        r"|link|chmod|lchmod|fchmod|chown|lchown|utimes|futimes|mkdtemp)(Sync)?\s*\("
        r"|\b(createWriteStream|outputFile|outputJson|writeJson|ensureDir|emptyDir|removeSync"
        r"|moveSync"
        r"|copySync|rimraf|mkdirp)\w*\s*\(|\bprocess\s*\.\s*(kill|setuid)\s*\("
        r"|\bBun\s*\.\s*write\b|\bDeno\s*\.\s*(write|remove|mkdir|rename|copy|truncate|create"
        r"|symlink"
        r"|link|chmod|chown|makeTemp|kill|utime)\w*|\b(axios|got|request|superagent|ky"
        r"|needle)\s*\.\s*"
        r"(post|put|patch|delete|del)\b|\bmethod['\"]?\s*:\s*\x00METHOD\x00"
    ),
    opaque=_compile(
        r"\beval\b|\bFunction\s*\(|\bnew\s+Function\b|\bconstructor\b|\bvm\b|\bWebAssembly\b"
        r"|\bglobalThis\s*\[|\bglobal\s*\[|\bprocess\s*\.\s*(binding|dlopen|mainModule)"
        r"|\]\s*(\?\.)?\("
        r"|\brequire\s*\(\s*\x00\d+\x00\s*\)\s*\(|\bimport\s*\(\s*(?!\x00)"
        r"|\brequire\s*\(\s*(?!\x00)|\brequire\s*(?![\w\s(.=:}]|\s*\()"
        r"|\bReflect\b|\bWorker\b|\bsetTimeout\s*\(\s*\x00|\brequire\s*\.\s*(extensions|main)"
        r"|\bcreateRequire\b"
    ),
    starting=_compile(
        r"\b(execSync|execFileSync|spawnSync|execFile|spawn|exec|fork|execa|execaSync|shell|\$)"
        r"\s*[(`]?\s*(?=\x00|[^\s\x00])"
    ),
    calls=_compile(r"(?<![\w$])(?P<name>[A-Za-z_$][\w$]*)\s*(?:\?\.)?\("),
    plain=split_words(
        "console log error warn info dir table stringify parse require keys values entries "
        "fromEntries assign freeze create getOwnPropertyNames getPrototypeOf defineProperty is "
        "isArray from of map filter reduce reduceRight forEach some every find findIndex findLast "
        "indexOf lastIndexOf includes slice splice concat join push pop shift unshift reverse "
        "sort flat flatMap fill at copyWithin charAt charCodeAt codePointAt fromCharCode "
        "fromCodePoint split replace replaceAll match matchAll search substring substr trim "
        "trimStart trimEnd padStart padEnd repeat toLowerCase toUpperCase toString toFixed "
        "toPrecision toISOString toLocaleString toLocaleUpperCase localeCompare normalize "
        "startsWith endsWith test raw valueOf hasOwnProperty hasOwn call apply bind Number String "
        "Boolean Array Object Date RegExp Map Set WeakMap Symbol BigInt Promise Error TypeError "
        "RangeError URL URLSearchParams Buffer Uint8Array TextDecoder TextEncoder parseInt "
        "parseFloat isNaN isFinite isInteger encodeURIComponent decodeURIComponent encodeURI "
        "decodeURI abs ceil floor round max min pow sqrt random trunc sign log2 log10 sin cos now "
        "getTime getFullYear getMonth getDate getDay getHours getMinutes has get set add delete "
        "clear size then catch finally resolve reject all allSettled race any readFileSync "
        "readFile readdirSync readdir existsSync statSync lstatSync stat lstat accessSync access "
        "realpathSync realpath readlinkSync createReadStream opendirSync basename dirname extname "
        "relative isAbsolute sep cwd exit on once emit memoryUsage hrtime uptime versions "
        "platform arch cpus totalmem freemem homedir hostname tmpdir type release write end pipe "
        "setEncoding inspect format promisify createHash update digest randomUUID randomBytes "
        "createInterface question close fetch json text arrayBuffer toJSON if for while switch "
        "function return typeof catch await async super import nextTick setTimeout setImmediate "
        "clearTimeout queueMicrotask structuredClone next return deepEqual deepStrictEqual equal "
        "strictEqual ok assert file readTextFileSync readTextFile readDirSync execPath args "
        "satisfies valid gt lt major minor group time timeEnd count trace getTimezoneOffset "
        "getElementById exec byteLength equals copy readUInt8 readUInt32BE atob btoa"
    ),
    defining=_compile(
        r"\bfunction\s*\*?\s*(?P<name>[\w$]+)|\b(?:const|let"
        r"|var)\s+(?P<name2>[\w$]+)\s*=\s*(?:async\s*)?"
        r"(?:function\b|\(|[\w$]+\s*=>)|\bclass\s+(?P<name3>[\w$]+)"
        r"|(?P<name4>[\w$]+)\s*\([^()]*\)\s*\{"
    ),
    modules=_compile(r"\b(?:require|import)\s*\(?\s*\x00(\d+)\x00|\bfrom\s*\x00(\d+)\x00"),
    plain_modules=split_words(
        "fs fs/promises path os util url assert crypto zlib events stream querystring "
        "string_decoder buffer readline process timers perf_hooks v8 child_process http https dns "
        "punycode semver lodash yaml js-yaml glob fast-glob minimatch typescript acorn "
        "@babel/parser cheerio chalk ms uuid dayjs moment date-fns axios node-fetch bun fs-extra"
    ),
)

RUBY = LanguageRules(
    name="Ruby",
    quotes=_compile(
        _BACKQUOTED
        + r"|%[qQwWiI]?\{[^}]*\}|%[qQwWiI]\([^)]*\)|%[wi]\[[^\]]*\])|(?P<comment>\#[^\n{]*$)"
        r"|(?P<regex>(?<=[(,=~!&|?{;\s])/(?![\s/])(?:[^/\\\n]|\\.)+/[a-z]*)"
    ),
    changing=_compile(
        r"\b(File|IO|Pathname|Dir|CSV)\s*\.\s*(write|binwrite|delete|unlink|rename|symlink|link"
        r"|chmod|chown"
        r"|truncate|mkdir|rmdir|mkfifo|utime|mktmpdir|copy_stream|lchmod|lchown)\b|\bFileUtils\b"
        r"|\bProcess\s*\.\s*(kill|daemon)\b|\b(write|binwrite|unlink|mkpath|rmtree)\b\s*[( "
        r"]?\s*\x00"
        r"|\bTempfile\b|\bNet::HTTP\s*\.\s*(post|put|delete|patch)\w*|\bNet::HTTP::(Post|Put"
        r"|Delete|Patch)\b"
        r"|\.\s*(destroy|destroy_all|delete_all|update_all|save!?|create!|update!|update_columns"
        r"|insert_all"
        r"|upsert_all|mkpath|rmtree|touch_all)(?![\w:])|\bexecute\b"
        r"|\bopen\b[^;\n]{0,200}?\x00OPEN\x00"
    ),
    opaque=_compile(
        r"\b(eval|instance_eval|class_eval|module_eval|binding|public_send|__send__|send|const_get"
        r"|method|define_method|load|syscall|Marshal|ObjectSpace|TOPLEVEL_BINDING"
        r"|require_relative|Fiddle"
        r"|autoload|trap|fork)\b(?!\s*:)"
    ),
    starting=_compile(
        r"\b(?:system|exec|spawn|popen|popen2|popen3|popen2e|capture2|capture2e|capture3"
        r"|pipeline)\b\s*\(?\s*"
        r"(?=\S)|(?:%x\s*)(?=\S)"
    ),
    calls=_compile(
        r"(?<![\w@$:])(?P<name>[a-z_]\w*[!?]?)(?=\s*\(|\s+\x00|\s+[\w@\[(:]|\s*(?:do|\{)|\s*\Z"
        r"|\s*[;\n.])"
    ),
    plain=split_words(
        "puts print p pp printf require if unless else elsif end do def class module while until "
        "for in case when then return yield self nil true false and or not begin rescue ensure "
        "each each_with_index map select reject find detect inject reduce sort sort_by group_by "
        "count length size first last take drop join split gsub sub scan match strip chomp upcase "
        "downcase capitalize reverse include to_s to_i to_f to_a to_h to_sym to_json keys values "
        "key value each_line each_char lines chars bytes read readlines foreach open exist exists "
        "file directory basename dirname extname expand_path glob entries children parse generate "
        "pretty_generate dump load_file safe_load now strftime format sprintf rand sleep loop "
        "times upto downto step zip uniq flatten compact sum min max any all none one tally "
        "each_slice each_cons with_index with_object merge fetch dig store push pop shift unshift "
        "concat insert freeze frozen dup clone nil? empty? is_a? respond_to? raise exit gets "
        "lambda proc new lambda? attr_accessor attr_reader initialize super then tap sum get "
        "start_with? end_with? include? exist? file? directory? key? any? all? none? gsub! sub! "
        "strip! each_with_object filter filter_map flat_map partition each_key each_value max_by "
        "min_by tr squeeze center ljust rjust hex ord chr succ next break redo retry alias undef "
        "version body code message size? zero? even? odd? abs round floor ceil methods "
        "instance_methods inspect object_id hash ancestors name constants stdin stdout stderr "
        "argv env"
    ),
    defining=_compile(
        r"\bdef\s+(?:self\.)?(?P<name>\w+[!?]?)|(?<![\w.])(?P<name2>[a-z_]\w*)\s*(?:[+*|/-]|\|\|"
        r"|&&)?=(?![=~])"
        r"|\|(?P<name3>[^|\n]*)\||\bfor\s+(?P<name4>\w+)"
    ),
)

PERL = LanguageRules(
    name="Perl",
    quotes=_compile(
        _BACKQUOTED + r"|\bqq?\{[^}]*\}|\bqq?\([^)]*\)|\bqw\s*[(\[{/][^)\]}/]*[)\]}/])"
        r"|(?P<comment>(?<!\$)\#[^\n]*)"
        r"|(?P<regex>(?<![\w)}\]])(?:m\s*)?/(?:[^/\\\n]|\\.)*/[a-z]*"
        r"|\b(?:s|tr|y)(?P<d>[/|!#,~@%])(?:(?!(?P=d))[^\\]|\\.)*(?P=d)(?:(?!(?P=d))[^\\]"
        r"|\\.)*(?P=d)"
        r"(?![a-z]*e)[a-z]*|\b(?:m|qr)(?P<d2>[|!#,~@%/])(?:(?!(?P=d2))[^\\]|\\.)*(?P=d2)[a-z]*"
        r"|\b(?:m|qr)\{[^}]*\}[a-z]*|\bs\{[^}]*\}\s*\{[^}]*\}(?![a-z]*e)[a-z]*)"
    ),
    changing=_compile(
        r"(?<![\w$@%>])(unlink|rename|mkdir|rmdir|chmod|chown|utime|symlink|link|truncate|kill"
        r"|rmtree"
        r"|make_path|remove_tree|mkpath|copy|move|write_file|append_file|spew\w*|dbmopen"
        r"|tempfile)\b(?!\s*=>)"
        r"|\bopen\b[^;]{0,200}?\x00OPEN\x00|\bsysopen\b|\bFile::(Copy|Path|Temp)\b|\bsyswrite\b"
    ),
    opaque=_compile(
        r"\beval\b\s*(?!\{)|\bdo\s+(?=[\x00$])|\brequire\s+(?=[\x00$])|\bsyscall\b|&\$\w+"
        r"|->\s*\(|->\s*\$"
        r"|\bs(?P<d>[/|!#,~@])(?:(?!(?P=d)).)*(?P=d)(?:(?!(?P=d)).)*(?P=d)[a-z]*e|&\{|\bINC\b"
        r"|\bSocket\b"
        r"|\bfork\b"
    ),
    starting=_compile(r"(?<![\w$@%>])(?:system|exec|qx|readpipe)\b\s*\(?\s*(?=\S)"),
    calls=_compile(r"(?<![\w$@%&{:])(?P<name>[a-z_]\w*)(?=\s*\()|->\s*(?P<name2>\w+)"),
    plain=split_words(
        "print printf say join split map grep sort reverse keys values each push pop shift "
        "unshift splice length substr index rindex sprintf uc lc ucfirst lcfirst ord chr hex oct "
        "abs int sqrt sin cos atan2 exp log rand srand time localtime gmtime defined exists "
        "delete scalar wantarray ref bless chomp chop open close eof read binmode readline "
        "opendir readdir closedir stat lstat die warn exit return if unless while until for "
        "foreach my our local sub use no and or not new decode encode decode_json encode_json "
        "to_json from_json pretty canonical utf8 first sum max min uniq shuffle basename dirname "
        "fileparse abs_path getcwd cwd find Dumper sleep pos quotemeta lc pack unpack vec local "
        "else elsif last next redo seek tell eval q qq qw"
    ),
    defining=_compile(r"\bsub\s+(?P<name>\w+)"),
)

PHP = LanguageRules(
    name="PHP",
    quotes=_compile(
        _BACKQUOTED + r")|(?P<comment>//[^\n]*|\#[^\n]*|/\*.*?(?:\*/|\Z))|(?P<regex>\Z(?!.))"
    ),
    changing=_compile(
        r"(?<![\w$>])(file_put_contents|fwrite|fputs|fputcsv|unlink|rename|mkdir|rmdir|copy"
        r"|touch|chmod|chown"
        r"|chgrp|symlink|link|tempnam|tmpfile|move_uploaded_file|ftruncate|mail|curl_exec)\s*\("
        r"|\bfopen\s*\([^)]{0,300}?\x00OPEN\x00|->\s*(exec|save|delete|update|insert|persist"
        r"|flush)\s*\("
    ),
    opaque=_compile(
        r"\b(eval|assert|create_function|call_user_func\w*|include|include_once|require"
        r"|require_once"
        r"|unserialize|ReflectionFunction|extract|parse_str)\b|\$\w+\s*\(|\]\s*\("
        r"|\)\s*\(|\$\$"
    ),
    starting=_compile(
        r"(?<![\w$>])(?:exec|system|shell_exec|passthru|popen|proc_open|pcntl_exec)\s*\(\s*(?=\S)"
    ),
    calls=_compile(r"(?<![\w$])(?P<name>[A-Za-z_]\w*)\s*\("),
    plain=split_words(
        "echo print print_r var_dump var_export printf sprintf json_encode json_decode phpversion "
        "phpinfo file_get_contents file fopen fread fgets fclose feof readfile file_exists "
        "is_file is_dir scandir glob filesize filemtime basename dirname pathinfo realpath getcwd "
        "count strlen strpos str_replace substr strtolower strtoupper trim explode implode "
        "array_map array_filter array_keys array_values array_merge in_array sort usort isset "
        "empty is_array is_string intval date time microtime mktime strtotime md5 sha1 hash "
        "base64_encode base64_decode preg_match preg_match_all preg_replace preg_split ini_get "
        "extension_loaded get_loaded_extensions function_exists class_exists method_exists "
        "defined constant getenv array range max min abs round floor ceil rand if for foreach "
        "while switch function list exit die array_slice array_unique array_sum number_format "
        "php_uname php_sapi_name sys_get_temp_dir memory_get_usage token_get_all highlight_string "
        "ucfirst str_repeat str_pad str_contains str_starts_with nl2br htmlspecialchars urlencode "
        "urldecode parse_url"
    ),
    defining=_compile(r"\bfunction\s+(?P<name>\w+)"),
)

LUA = LanguageRules(
    name="Lua",
    quotes=_compile(_STRINGS + r"|\[\[.*?\]\])|(?P<comment>--[^\n]*)|(?P<regex>\Z(?!.))"),
    changing=_compile(
        r"\bos\s*\.\s*(remove|rename|tmpname)\b|\bio\s*\.\s*(open"
        r"|output)\b[^)]{0,300}?\x00OPEN\x00|\bio\s*\.\s*output\b"
    ),
    opaque=_compile(
        r"\b(load|loadstring|dofile|loadfile|require|_G|_ENV|debug|setfenv|getfenv)\b|\]\s*\("
        r"|\)\s*\("
    ),
    starting=_compile(r"\b(?:os\s*\.\s*execute|io\s*\.\s*popen)\s*\(?\s*(?=\S)"),
    calls=_compile(r"(?<!\w)(?P<name>[A-Za-z_]\w*)\s*\("),
    plain=split_words(
        "print format gsub gmatch match find sub upper lower rep reverse len byte char tostring "
        "tonumber type pairs ipairs next select unpack insert remove concat sort open read lines "
        "close write time date clock getenv exit floor ceil max min abs sqrt random error assert "
        "pcall xpcall function if while for and or not return getmetatable setmetatable rawget "
        "rawset"
    ),
    defining=_compile(r"\bfunction\s+(?P<name>\w+)|\blocal\s+(?P<name2>\w+)\s*=\s*function"),
)

LANGUAGES = {
    "javascript": JAVASCRIPT,
    "ruby": RUBY,
    "perl": PERL,
    "php": PHP,
    "lua": LUA,
}
_HTTP_WRITES = split_words("POST PUT PATCH DELETE")
_OPEN_MODES = re.compile(r"[wax]\+?[bt]*\+?(:.*)?|rb?\+b?", re.DOTALL)
_PERL_OPEN_MODES = re.compile(r"\s*\+?>.*|\s*\|.*|.*\|\s*|\s*\+<.*|-\|", re.DOTALL)


def judge_script_code(language: str, source: str) -> Findings:
    """Return what source text of one of the `LANGUAGES` does."""
    rules, found = LANGUAGES[language], Findings()
    if len(source) > _MAX_SOURCE:
        found.doubts.append(f"{rules.name} code that is too long to be read")
        return found
    plain, texts = _take_out_texts(rules, source)
    _add_started_commands(rules, source, plain, texts, found)
    _add_backquoted_commands(rules, source, found)
    change = rules.changing.search(plain)
    if change is not None:
        found.changes.append(shorten_code(source))
    opaque = rules.opaque.search(plain)
    if opaque is not None:
        found.doubts.append(_explain_doubt(rules, "uses", opaque[0], source))
    if re.search(r"(?<![\w$])\$\(|^\s*\$\w*\s*$", plain):
        found.doubts.append(_explain_doubt(rules, "is put together while it runs", "", source))
    _judge_modules(rules, plain, texts, found)
    unknown = next(_find_unknown_calls(rules, plain), None)
    if unknown is not None:
        found.doubts.append(_explain_doubt(rules, "calls", unknown, source))
    return found


def _explain_doubt(rules: LanguageRules, what: str, name: str, source: str) -> str:
    name = " ".join(_TEXT_MARK.sub("…", name).split())
    quoted = f" `{name}`" if name else ""
    return f"{rules.name} code {what}{quoted}: {shorten_code(source)}"


def _take_out_texts(rules: LanguageRules, source: str) -> tuple[str, list[str]]:
    """Return the source with marks for its strings, and the strings."""
    texts: list[str] = []

    def keep(match: re.Match[str]) -> str:
        text = match["text"]
        if text is None:
            return " /x/ " if match["regex"] is not None else " "
        inner = text[1:-1]
        if inner.upper() in _HTTP_WRITES:
            return f"{_MARK}METHOD{_MARK}"
        texts.append(inner)
        inside = "".join(_iter_interpolations(rules, text))
        modes = _PERL_OPEN_MODES if rules is PERL else _OPEN_MODES
        if rules is not JAVASCRIPT and modes.fullmatch(inner):
            return f"{_MARK}OPEN{_MARK}{inside}"
        return f"{_MARK}{len(texts) - 1}{_MARK}{inside}"

    return rules.quotes.sub(keep, source), texts


def _iter_interpolations(rules: LanguageRules, text: str) -> Iterator[str]:
    """Yield the code inside a string: `${…}` in a template, `#{…}` in Ruby."""
    if rules is JAVASCRIPT and text[0] == "`":
        yield from (f";({inner});" for inner in re.findall(r"\$\{([^}]*)\}?", text))
    elif rules is RUBY and text[0] != "'":
        yield from (f";({inner});" for inner in re.findall(r"#\{([^}]*)\}?", text))


def _add_started_commands(
    rules: LanguageRules, source: str, plain: str, texts: list[str], found: Findings
) -> None:
    for count, match in enumerate(rules.starting.finditer(plain)):
        # In JavaScript, `exec` is also the method of a regular expression.
        if rules is JAVASCRIPT and not _starts_in_javascript(match, plain, texts):
            continue
        if count > _MAX_CALLS:
            break
        script = _read_command(plain, match.end(), texts)
        if script is None:
            found.doubts.append(_explain_doubt(rules, "starts a computed command", "", source))
        else:
            found.scripts.append(script)


def _starts_in_javascript(match: re.Match[str], plain: str, texts: list[str]) -> bool:
    if match[0].endswith("\n") or match[1] in {"$", "shell", "fork", "exec", "spawn"}:
        known = {"child_process", "node:child_process", "execa", "zx", "shelljs", "bun"}
        opened = "(" in match[0] or (
            match[1] == "$" and plain[match.end() : match.end() + 1] == _MARK
        )
        return opened and (bool(known & set(texts)) or "Bun." in plain)
    return "(" in match[0]


def _read_command(plain: str, position: int, texts: list[str]) -> str | None:
    """Read a command from its first string, or from a list of strings; `None` if it is computed."""
    rest = plain[position : position + 2000]
    first = re.match(rf"\[?\s*{_MARK}(\d+){_MARK}", rest)
    if first is None:
        return None
    words = [texts[int(first[1])]]
    after = rest[first.end() :]
    if re.match(r"\s*(,\s*\[|,\s*\x00|,)", after):
        words += [texts[int(index)] for index in _TEXT_MARK.findall(after.partition(")")[0])]
        words = [word.replace("\n", " ") for word in words[:30]]
    elif re.match(r"\s*[+.]", after):
        words.append(_VALUE)
    return re.sub(r"\$\{[^}]*\}|#\{[^}]*\}", _VALUE, " ".join(words))


def _add_backquoted_commands(rules: LanguageRules, source: str, found: Findings) -> None:
    """Ruby, Perl and PHP run what stands in backquotes."""
    if rules is JAVASCRIPT or rules is LUA:
        return
    for script in re.findall(r"`([^`]*)`", source)[:100]:
        found.scripts.append(re.sub(r"#\{[^}]*\}", _VALUE, script))
    for script in re.findall(r"(?:%x|\bqx)\s*[({\[/]([^)}\]/]*)[)}\]/]", source)[:100]:
        found.scripts.append(script)


def _judge_modules(rules: LanguageRules, plain: str, texts: list[str], found: Findings) -> None:
    """Name the modules that are not known, as what they do when loaded is not known."""
    if rules.modules is None:
        return
    for groups in rules.modules.findall(plain)[:100]:
        module = texts[int(next(group for group in groups if group))]
        name = module.removeprefix("node:")
        if name not in rules.plain_modules and not name.endswith(".json"):
            found.programs.append(f"{rules.name} module {shorten_code(name)}")


def _find_unknown_calls(rules: LanguageRules, plain: str) -> Iterator[str]:
    defined = {
        name
        for match in rules.defining.finditer(plain)
        for group in match.groupdict().values()
        if group
        for name in re.findall(r"\w+[!?]?", group)
    }
    starting = {
        word for match in rules.starting.finditer(plain) for word in re.findall(r"\w+", match[0])
    }
    for match in rules.calls.finditer(plain):
        name = next(group for group in match.groupdict().values() if group)
        if name in rules.plain or name in defined or name in starting:
            continue
        if rules.changing.match(f"{name}(") is None:
            yield name
