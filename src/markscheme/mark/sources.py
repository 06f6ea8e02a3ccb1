"""Find what a finding cites: a line of a file (`path:line`), or the id of a memory.

`name:12` may be a line of a file, a host with its port, the tag of an image, a version or a ratio.
It cites a line only if the name is known to be a file: by a known extension, by a known name
without one (`Makefile`, `.env`), by any extension behind a folder, or by `./`, `../` or `~/` in
front. Ids of memories are searched for in what is left of a text without its URLs, paths, type
annotations and amounts.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from markscheme.mark.axes import find_match
from markscheme.read.json_fields import split_words

# In a section about memory, a Markdown file without a folder is a memory, unless it is one of the
# files that repositories have for their readers.
_BARE_MEMORY_FILE = re.compile(
    r"(?<![\w./\\-])(?!(?:readme|changelog|contributing|license|security|code_of_conduct|todo"
    r"|history|authors|news|index)\.)[\w-]{1,80}\.md\b",
    re.IGNORECASE,
)

# The extensions of files that have lines.
_EXTENSIONS = split_words(
    "adb ads adoc al applescript as asm asciidoc asp aspx astro awk bash bat bazel bicep bzl c cbl "
    "cc cfc cfg cfm cjs clj cljc cljs cls cmake cmd cnf cob coffee conf config containerfile cpp "
    "cr cs cshtml csproj css csv cts cu cue cuh cxx cypher d dart diff dockerfile edn eex ejs el "
    "elm env erb erl ex exs f f03 f90 f95 feature fish fs fsi fsproj fsx gd gemspec go gql gradle "
    "graphql groovy gyp h haml handlebars hbs hcl heex hh hjson hpp hrl hs htm html hxx idl ini "
    "ino ipynb j2 jade java jinja jinja2 jl js json json5 jsonc jsonl jsonnet jsp jsx just ksh kt "
    "kts leex less lhs libsonnet liquid lisp lock log lua m m4 mak make markdown md mdx mjs mk ml "
    "mli mm mod module mts mustache nasm ndjson nim nix njk nu odin pas patch php phtml pl plist "
    "pm po pot pp prisma pro properties proto ps1 psd1 psm1 pug pxd py pyi pyw pyx r rake rb rbi "
    "re rego res rmd robot rs rst s sass sbt scala scm scss sh slim snap sol sql st star styl sum "
    "surql sv svelte svg svh swift t tcl template tex tf tfvars thrift tmpl toml tpl ts tsv tsx "
    "twig txt unity v vala vb vbs vcxproj vhd vhdl vue wat wgsl wsdl xaml xhtml xml xsd xsl xslt "
    "yaml yml zig zsh"
)
# Top-level domains among them: `db.acme.sh:5432` is a host, `install.sh:12` a file.
_DOMAINS = split_words("as cr gd ml mm nu pl pm pro re rs sh st sv")
_FILE_NAMES = split_words(
    "brewfile caddyfile cartfile codeowners config.ru containerfile copying dangerfile dockerfile "
    "earthfile fastfile gemfile gnumakefile guardfile jenkinsfile justfile kconfig license "
    "makefile notice pipfile podfile procfile rakefile readme snakefile tiltfile vagrantfile"
)
_CAPITAL_FILE_NAMES = split_words("BUILD BUCK WORKSPACE")
_DOT_FILE = re.compile(
    r"\.(?:env|git\w+|docker\w+|editorconfig|htaccess|profile|bash_\w+|flake8|mailmap"
    r"|[a-z]+rc|[a-z]+ignore|[a-z]+-versions?)(?:\.[\w-]{1,40}){0,3}"
)
# Products that are written like files: `Node.js:18` is a version.
_PRODUCTS = split_words(
    "node.js vue.js next.js nuxt.js react.js express.js three.js d3.js ember.js angular.js"
)
_URL = re.compile(r"\b[a-z][a-z0-9+.-]{0,20}://\S+", re.IGNORECASE)
_WORD = re.compile(r"[^\s\"'“”\u2018\u2019«»<>|,;]+")
# A line number, or a range. What follows it may make it a tag, a version or a port with a path:
# `18-alpine`, `7.2`, `8443/health`.
_LINE = re.compile(
    r"(?::L?|#L)0{0,3}[1-9][0-9]{0,6}(?:[-–](?:#?L)?[0-9]{1,7})?(?![0-9])"
    r"(?![-–]?[^\W\d]|\.[0-9]|[/\\@%=])",
    re.IGNORECASE,
)
_EXTENSION = re.compile(r"(?!v[0-9])[A-Za-z][\w+-]{0,11}")
_MAX_WORD_LENGTH = 500
_OPENING_MARKS = "([{<*_~=→:-"
_CLOSING_MARKS = ")]}>*_~:.!?"
_RELATIVE = ("./", "../", "~/")

# Nobody who reads the answer as Markdown or HTML sees a comment.
_COMMENT = re.compile(r"<!--.*?(?:-->|\Z)", re.DOTALL)
_NO_MEMORY_BEFORE = r"(?<!mem)(?<!mem )(?<!memory)(?<!memory )(?<!memories )(?<!id )"
# What looks like the id of a memory and is none.
_NO_IDS = re.compile(
    # Types: id: int, user_id: Optional[str]
    r"\b\w{0,40}ids? ?[:=] ?[\"']?(?:u?int|integer|[iu]|usize|isize|str|string|number|numeric|float"
    r"|double|decimal|bool|boolean|uuid|guid|ulid|cuid|nanoid|big_?int|small_?int|big_?serial"
    r"|serial|long|short|n?var_?char|char|text|any|object|object_?id|bytes?|date|datetime|time"
    r"|timestamp|null|nil|none|undefined|void|symbol|unknown|never|real|id|self|type|optional"
    r"|union|list|array|vec|option|maybe|auto_?increment|primary[ _]key|required|unique|missing|pk"
    r"|bytea|jsonb?|enum|struct|interface|readonly|const|new|auto|hash|key|slug|generated|private"
    r"|empty)[0-9]{0,3}(?:_?t)?\b(?:[\[(<][\w ,|.\[\]<>]{0,60}[\])>])?"
    # Amounts: memory 512MB, memory: 2 GB, memory 64-bit
    r"|\b[0-9]{1,9}(?:\.[0-9]{1,9})?[ -]?(?:[kmgtp]i?b?|bytes?|bits?|%|x|ms|s|times|percent)(?!\w)"
    # memory_v2, (memory: none), mem0
    r"|\bmem(?:ory)?[-_:]v[0-9]\w*|\bmem0\b"
    # Colours: #1234ab, #fff; of digits only, behind the word: the color is #123456
    rf"|{_NO_MEMORY_BEFORE}#(?=[0-9]{{0,7}}[a-f])(?:[0-9a-f]{{3}}|[0-9a-f]{{6}}|[0-9a-f]{{8}})(?![\w-])"
    rf"|\bcolou?r(?:e?s)?\b(?:[^\n#.;()]{{0,30}}{_NO_MEMORY_BEFORE}"
    r"#(?:[0-9a-f]{3}|[0-9a-f]{6})(?![\w-])){1,20}"
    r"|\bmem(?:ory|ories)? ?[:#] ?(?:none|nothing|n/a|no|yes|unknown|empty|high|low|unbounded)\b",
    re.IGNORECASE,
)


def names_line(text: str) -> bool:
    """Return whether a text names a line of a file, as `src/a.py:12` or `src/a.py#L12`."""
    return any(
        _word_names_line(word[0])
        for word in _WORD.finditer(_strip_marks(text))
        if len(word[0]) <= _MAX_WORD_LENGTH
    )


def names_memory(text: str, patterns: Iterable[str], *, about_memory: bool) -> bool:
    """Return whether a text names a memory by its id; `about_memory`: in a section about them."""
    text = _strip_marks(text)
    if about_memory and _BARE_MEMORY_FILE.search(text):
        return True
    bare = _NO_IDS.sub(" ", _WORD.sub(_drop_path, text))
    return any(find_match(pattern, bare) is not None for pattern in patterns)


def _strip_marks(text: str) -> str:
    """Return a text without comments, code marks, bold marks and URLs."""
    return _URL.sub(" ", _COMMENT.sub(" ", text).replace("`", "").replace("**", ""))


def _word_names_line(word: str) -> bool:
    start = 0
    for found in _LINE.finditer(word):
        if _is_file(word[start : found.start()]):
            return True
        start = found.end()
    return False


def _drop_path(word: re.Match[str]) -> str:
    """Return a word, or nothing if it is a path: `src/memory/heap2.c` names no memory."""
    path = word[0].rstrip(_CLOSING_MARKS)
    is_path = ("/" in path or "\\" in path) and len(path) <= _MAX_WORD_LENGTH
    return " " if is_path and not path.lower().endswith(".md") and _is_file(path) else word[0]


def _is_file(path: str) -> bool:
    """Return whether what stands before a line number is the path of a file."""
    path = path.replace("\\", "/").rpartition("](")[2].lstrip(_OPENING_MARKS)
    folder, separator, name = path.rpartition("/")
    name = name.rpartition(":")[2].rstrip(_CLOSING_MARKS)
    lower = name.casefold()
    if lower in _FILE_NAMES or name in _CAPITAL_FILE_NAMES or _DOT_FILE.fullmatch(lower):
        return True
    if path.startswith(_RELATIVE) and any(map(str.isalnum, name)):
        return True
    stem, _, extension = name.rpartition(".")
    if _EXTENSION.fullmatch(extension) is None or extension == name:
        return False
    is_known = extension.casefold() in _EXTENSIONS
    if separator:
        return is_known or not _is_host(folder.partition("/")[0])
    is_host = "." in stem and extension.casefold() in _DOMAINS
    return is_known and bool(stem) and lower not in _PRODUCTS and not is_host


def _is_host(name: str) -> bool:
    """Return whether the first part of a path looks like a host, as in `ghcr.io/acme/api`."""
    return "." in name.strip(".")
