"""Formatters and linters that can change files."""

from __future__ import annotations

from markscheme.read.tools.programs.rules import ProgramRule

_FIX = r"--fix(-type|-only|-all)?|--write|--in-?place"

RULES = (
    # These write unless told otherwise.
    ProgramRule(
        programs="""
            black isort ssort usort ufmt pyupgrade autotyping add-trailing-comma
            reorder-python-imports setup-cfg-fmt pyproject-fmt sqlfmt mdformat yamlfmt rustfmt
            swiftformat scalafmt nixfmt alejandra nixpkgs-fmt stylua elm-format sort-package-json
            ormolu buildifier ktfmt topiary treefmt terraform-docs gersemi fantomas bean-format
            phpcbf pint blue brunette docstrfmt jscodeshift doctoc unify nbstripout jupytext
            fprettify cabal-fmt hindent
        """,
        changes="*",
        reading=r"--check(-only|-formatted)?|-c|--diff|-d|--lint|--test|--validate|--verify|--list"
        r"|-l|--stdout|--mode=check|--dry|-n|-|--to|--stdinfilepath|--write=false",
    ),
    ProgramRule(
        programs="csharpier cljfmt zprint purs-tidy dhall ",
        changes="*",
        reads="check pipe-files",
        reading=r"--check|--diff",
    ),
    # These print or report unless an option tells them to write.
    ProgramRule(
        programs="prettier prettierd prettier-eslint standard semistandard ts-standard xo oxfmt",
        reads="*",
        changing=r"--write|-w|--fix",
    ),
    ProgramRule(
        programs="""
            eslint eslint_d stylelint tslint oxlint ember-template-lint textlint htmlhint
            markdownlint markdownlint-cli2 knip syncpack golangci-lint staticcheck refurb pylint
            solhint cspell slim-lint flake8 mypy npm-package-json-lint ansible-lint redocly
            dotenv-linter semgrep spectral remark alex proselint erblint erb-lint haml-lint
            clang-tidy clang-apply-replacements detekt ameba credo sobelow lychee
        """,
        reads="*",
        changing=rf"{_FIX}|--autofix|--autocorrect|--auto-correct|--fix-errors|--fix-notes"
        r"|--output|-fix|--install-types",
        reading=r"--fix-dry-run|--diff",
    ),
    ProgramRule(
        programs="autopep8 yapf autoflake docformatter unimport eradicate ",
        reads="*",
        changing=r"-[a-z]*i[a-z]*|--in-place|--overwrite|--remove",
        reading=r"--diff|-d|--check|-c",
    ),
    ProgramRule(
        programs="gofmt goimports gofumpt gci golines shfmt",
        reads="*",
        changes="write",
        changing=r"-[a-z]*w[a-z]*|--write|--write-output",
    ),
    ProgramRule(
        programs="clang-format cmake-format uncrustify astyle pg_format perltidy latexindent tidy",
        reads="*",
        changing=r"-i|--in-?place|--replace|--no-backup|-b|-m|-w|--modify|-(rw|modify)",
        reading=r"--check|--dry-run|-n|-Werror",
    ),
    ProgramRule(
        programs="rubocop standardrb rufo htmlbeautifier erb-format",
        reads="*",
        changing=r"-[aAx]|--auto-?correct(-all)?|--safe-auto-?correct|--fix(-layout|-unsafely)?"
        r"|--auto-gen-config|--regenerate-todo|--write|-w",
        reading=r"--check|-c",
    ),
    ProgramRule(
        programs="swiftlint ktlint hlint google-java-format fourmolu ocamlformat ocp-indent",
        reads="*",
        changes="fix autocorrect format",
        changing=rf"{_FIX}|-F|--format|--refactor|-i|--replace|-r|--autocorrect|-m",
        reading=r"--check|--mode=check",
    ),
    ProgramRule(
        programs="codespell typos misspell",
        reads="*",
        changing=r"-w|--write-changes",
        reading=r"--diff",
    ),
    ProgramRule(programs="djlint curlylint", reads="*", changing=r"--reformat", reading="--check"),
    ProgramRule(
        programs="biome rome dprint taplo oxc php-cs-fixer rector easy-coding-standard ecs",
        changes="fmt fix init migrate process",
        reads="* check lint ci format lsp-proxy output-file-paths describe list-files",
        changing=rf"{_FIX}|--apply(-unsafe|-suggested)?|--suppress|-w",
        reading=r"--check|--dry-run|--diff",
    ),
    ProgramRule(
        programs="sqlfluff",
        changes="fix format",
        reads="* lint parse render rules dialects version",
    ),
    ProgramRule(
        programs="ast-grep sg comby gritql grit fastmod codemod sad sd rpl srgn ruplacer",
        reads="new",
        changing=r"-U|--update-all|-i|--in-place|-in-place|--go|--accept-all|--commit|-k",
    ),
    ProgramRule(programs="yq dasel xmlstarlet fx", reads="*", changing=r"-i|--in-?place|-L"),
    ProgramRule(
        programs="npm-check-updates ncu npm-check taze",
        reads="*",
        changing=r"-[a-z]*u[a-z]*|--upgrade|-w|--write|--update-all",
    ),
    ProgramRule(
        programs="ruff",
        changes="format clean",
        reads="check rule linter version config server analyze",
        changing=r"--fix(-only)?|--add-noqa",
        reading=r"--check|--diff|--no-fix",
        outputs=r"-o|--output-file",
    ),
    ProgramRule(
        programs="pre-commit prek lefthook husky lint-staged overcommit",
        changes="*",
        reads="validate-config validate-manifest sample-config help dump check-install version",
    ),
)
