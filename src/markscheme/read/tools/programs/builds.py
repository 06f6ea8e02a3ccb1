"""Compilers, bundlers and site generators that write files unless told otherwise.

What only builds through a file of its own, such as `make` or `npm run build`, is in no table: it
may do anything, and is named in the evidence.
"""

from __future__ import annotations

from markscheme.read.tools.programs.rules import Effect, ProgramRule

RULES = (
    ProgramRule(
        programs="tsc vue-tsc tsgo",
        changes="*",
        reading=r"--no-?[eE]mit|--showConfig|--listFilesOnly|--dry|-v|--version|-h|--all",
        bare=Effect.CHANGE,
    ),
    ProgramRule(
        programs="webpack webpack-cli rspack",
        changes="*",
        reading=r"serve|server|dev|info|help|version|configtest|-v|--version",
        bare=Effect.CHANGE,
    ),
    ProgramRule(
        programs="tsup tsdown microbundle unbuild pkgroll",
        changes="*",
        reading=r"-v|--version|-h",
        bare=Effect.CHANGE,
    ),
    ProgramRule(
        programs="rollup",
        reads="*",
        changing=r"-[odc]|--(file|dir|config)",
        reading=r"-v|--version|-h",
    ),
    ProgramRule(programs="esbuild", reads="*", changing=r"--out(file|dir)=.*"),
    ProgramRule(programs="babel swc", reads="*", outputs=r"-d|-o|--out-dir|--out-file"),
    ProgramRule(programs="sass node-sass lessc", reads="*", changes="*/*"),
    ProgramRule(
        programs="vite next nuxt nuxi gatsby parcel ncc svelte-kit",
        changes="build export generate optimize init clean cleanup telemetry",
        reads="info lint check help",
    ),
    ProgramRule(
        programs="mkdocs docusaurus jekyll eleventy hexo zola mdbook",
        changes="build gh-deploy new init deploy clean clear generate publish swizzle",
        reads="get-deps doctor help",
    ),
    ProgramRule(
        programs="hugo",
        changes="*",
        reading=r"version|env|list|config|server|serve|help|completion|--renderToMemory",
        bare=Effect.CHANGE,
    ),
    ProgramRule(programs="jupyter", changes="nbconvert", reading=r"--stdout|--list|--paths"),
    ProgramRule(programs="coverage", changes="html xml json lcov erase combine", reads="report"),
    ProgramRule(programs="sphinx-build sphinx-apidoc", changes="*/*"),
    ProgramRule(
        programs="bazel bazelisk buck2",
        changes="clean",
        reads="query cquery aquery info version help",
    ),
    ProgramRule(
        programs="xcodebuild",
        changes="*/clean clean install archive",
        reading=r"-list|-version|-showBuildSettings|-showsdks|-showdestinations|-help",
    ),
)
