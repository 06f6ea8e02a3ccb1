"""Package managers, build tools, code generators."""

from __future__ import annotations

from markscheme.read.tools.programs.rules import Effect, ProgramRule

RULES = (
    ProgramRule(
        programs="npm cnpm",
        changes="""
            install i in ins add ci clean-install install-test it install-ci-test uninstall remove
            rm r un unlink update up upgrade udpate link ln publish unpublish version init create
            innit set dedupe ddp prune rebuild rb pack deprecate undeprecate dist-tag/add
            dist-tag/rm login logout adduser add-user audit/fix cache/clean cache/clear cache/add
            cache/rm config/set config/delete config/edit config/fix c/set pkg/set pkg/delete
            pkg/fix shrinkwrap owner/add owner/rm access/set access/grant access/revoke access/*
            token/create token/revoke hook/* team/* org/set org/rm star unstar profile/set
            profile/enable-2fa stage version/* set-script
        """,
        reads="""
            ls list ll la view info show v outdated audit audit/signatures search s find ping whoami
            explain why root prefix bin config config/get config/list config/ls get help help-search
            doctor fund docs home repo bugs issues dist-tag dist-tag/ls pkg/get query cache/ls
            cache/verify profile/get token/list access/list access/ls-packages owner/ls sbom diff
            completion stars team/ls org/ls hook/ls
        """,
        valued="-C --prefix -w --workspace",
    ),
    ProgramRule(
        programs="pnpm",
        changes="""
            install i add remove rm uninstall un update up upgrade link unlink publish import dedupe
            prune rebuild patch patch-commit fetch store/prune create init env/use pack deploy setup
            self-update config/set approve-builds
        """,
        reads="""
            ls list ll la why outdated audit root bin licenses config/get config/list store/path
            store/status
        """,
    ),
    ProgramRule(
        programs="yarn",
        changes="""
            install add remove upgrade up upgrade-interactive link unlink publish create init import
            dedupe set version cache/clean patch patch-commit rebuild unplug autoclean plugin/import
            config/set pack global/add global/remove npm/publish self-update
        """,
        reads="""
            list info why outdated audit config/list config/get versions workspaces/info
            workspaces/list cache/dir cache/list bin licenses npm/info npm/audit constraints
        """,
    ),
    ProgramRule(
        programs="bun",
        changes="""
            install i add a remove rm update link unlink create init upgrade publish patch pm/trust
            pm/cache/rm
        """,
        reads="pm/ls pm/cache pm/bin outdated why audit info",
    ),
    ProgramRule(
        programs="deno",
        changes="install add remove upgrade uninstall init cache compile publish vendor clean"
        " deploy fmt",
        reads="info lint check doc types coverage test bench outdated",
        changing=r"--fix",
        reading=r"--check",
    ),
    ProgramRule(
        programs="pip pip3",
        changes="""
            install uninstall download wheel cache/purge cache/remove config/set config/unset
            config/edit
        """,
        reads="""
            list show freeze check search index inspect config/list config/get config/debug
            cache/info cache/dir cache/list debug hash help
        """,
    ),
    ProgramRule(
        programs="uv",
        changes="""
            add remove sync lock venv init build publish version/* tool/install tool/uninstall
            tool/upgrade python/install python/uninstall python/pin pip/install pip/uninstall
            pip/sync cache/clean cache/prune self/update format
        """,
        reads="""
            tree export pip/list pip/show pip/freeze pip/check pip/tree tool/list tool/dir
            python/list python/find python/dir cache/dir version help
        """,
        outputs=r"-o|--output-file",
        reading=r"--check",
    ),
    ProgramRule(
        programs="poetry pdm hatch rye pixi flit",
        changes="""
            install add remove update lock sync init new publish build version/* self/update
            cache/clear config/* env/use env/remove source/add use fix import bump pin fmt
            env/create env/prune upgrade global/install global/uninstall
        """,
        reads="show check list info env/info env/list search about version status tree source/show",
    ),
    ProgramRule(
        programs="pipx pipenv",
        changes="""
            install uninstall upgrade upgrade-all inject uninject reinstall reinstall-all
            uninstall-all ensurepath lock sync update clean
        """,
        reads="list graph check environment requirements verify",
    ),
    ProgramRule(
        programs="conda mamba micromamba",
        changes="""
            install remove uninstall update upgrade create clean env/create env/remove env/update
            init build rename
        """,
        reads="list info search env/list env/export package",
    ),
    ProgramRule(
        programs="""
            pip-compile pip-sync easy_install virtualenv venv ensurepip compileall cookiecutter
            copier cruft degit tiged create-react-app create-next-app create-vite yo nativefier
            bumpversion bump2version bump-my-version lerna-publish twine patch-package
            playwright-install
        """,
        changes="*",
        reads="check show",
    ),
    # A bare `semantic-release` publishes too.
    ProgramRule(programs="standard-version semantic-release np release-it", changes="*"),
    ProgramRule(
        programs="changeset lerna nx turbo rush",
        changes="""
            version publish add bootstrap clean import init create format:write format generate g
            migrate reset login link prune update install
        """,
        reads="""
            status list ls diff changed info print-affected show graph format:check report
            affected:graph
        """,
    ),
    ProgramRule(
        programs="cargo",
        changes="""
            add remove rm install uninstall update fmt fix publish new init generate-lockfile vendor
            clean yank owner login package upgrade set-version release
        """,
        reads="""
            tree metadata search check verify-project pkgid locate-project info outdated audit deny
            version help read-manifest
        """,
        changing=r"--fix",
        reading=r"--check|--list",
    ),
    ProgramRule(
        programs="rustup",
        changes="""
            install update default override toolchain/install toolchain/uninstall component/add
            component/remove target/add target/remove self/update self/uninstall uninstall set
        """,
        reads="show check which doc toolchain/list component/list target/list",
    ),
    ProgramRule(
        programs="go",
        changes="""
            get install generate fmt mod/tidy mod/init mod/edit mod/vendor mod/download work/init
            work/use work/sync work/edit clean fix
        """,
        reads="list vet doc version env mod/graph mod/why mod/verify",
        outputs=r"-o",
        changing=r"-w",
    ),
    ProgramRule(
        programs="gem bundle bundler",
        changes="""
            install uninstall update add remove lock init push yank build owner cleanup pristine
            clean binstubs config/set config/unset gem package cache
        """,
        reads="""
            list show info outdated check search env contents which specification dependency viz
            licenses config/get config/list help open
        """,
    ),
    ProgramRule(
        programs="composer",
        changes="""
            install require update remove dump-autoload dumpautoload create-project init global
            clear-cache self-update reinstall bump config/* archive
        """,
        reads="""
            show info outdated validate audit licenses depends why why-not search status diagnose
            check-platform-reqs fund browse
        """,
    ),
    ProgramRule(
        programs="mix",
        changes="""
            deps.get deps.update deps.clean deps.unlock format ecto.* phx.gen* phx.new new
            archive.install local.* hex.publish hex.build release clean assets.*
        """,
        reads="""
            deps deps.tree hex.info hex.outdated hex.audit help xref test credo dialyzer phx.routes
            ecto.migrations
        """,
        reading=r"--check-formatted|--check",
    ),
    ProgramRule(
        programs="""
            rebar3 stack cabal opam ghcup luarocks raco lein pod carthage port nix-channel nix guix
            emerge pkg pkg_add pkg_delete xbps-install xbps-remove opkg eopkg swupd tdnf microdnf
            winget choco scoop snap flatpak brew mas apt apt-get aptitude dnf yum zypper apk nala
            asdf mise rtx nvm fnm volta pyenv rbenv nodenv jenv tfenv sdk n corepack gvm tlmgr spack
            conan vcpkg xcodes rvm krew helm-plugin arduino-cli platformio pio cpm juliaup
        """,
        changes="""
            install i add remove rm uninstall del delete erase purge upgrade update up dist-upgrade
            full-upgrade autoremove clean autoclean reinstall link unlink tap untap pin unpin switch
            use global local default init sync cleanup services/start services/stop services/restart
            bundle enable disable refresh revert set connect profile/install profile/remove
            profile/upgrade flake/update flake/lock publish upload tidy source/add source/remove
            download fetch deps import deintegrate prune trust plugin/add plugin/install hold unhold
            config/set repo/add repo/remove dev/add new create mark selfupdate self-update makecache
        """,
        reads="""
            list ls search info show status outdated doctor tree config cat leaves uses desc home
            log policy cache depends rdepends list-installed query which current versions version
            whence where why help services/list plugin/list repolist history check repoquery
            provides env bin
        """,
        changing=r"-i|-e|-u|--install|--uninstall|--delete-.*|--sync|-[aC]\w*|--add|--remove|--update",
        reading=r"--list|-qa?|--simulate|-s|--search|--print-uris|--dry-run|--query",
    ),
    ProgramRule(
        programs="pacman yay paru",
        changing=r"-S[yuwc]*|-R[a-z]*|-U[a-z]*|-D[a-z]*|--sync|--remove|--upgrade",
        reading=r"-S[a-z]*[sigl][a-z]*|-Q[a-z]*|-F[a-z]*",
    ),
    ProgramRule(
        programs="dpkg rpm",
        changing=r"-[irPUFe][vh]*|--(install|remove|purge|unpack|configure|import|erase|upgrade|rebuilddb).*",
        reading=r"-q\w*|-l|-L|-s|-S|--list.*",
    ),
    ProgramRule(
        programs="dotnet",
        changes="""
            add remove restore new publish format clean pack nuget/push nuget/add nuget/delete
            nuget/locals tool/install tool/uninstall tool/update tool/restore sln/add sln/remove
            workload/install ef/database ef/migrations/add ef/migrations/remove
            ef/dbcontext/scaffold user-secrets/set user-secrets/remove dev-certs
        """,
        reads="""
            list ef/migrations/list ef/dbcontext/info nuget/list sln/list tool/list
            ef/migrations/script
        """,
        reading=r"--verify-no-changes",
    ),
    ProgramRule(
        programs="nuget",
        changes="*",
        reads="list search help sources/list",
    ),
    ProgramRule(
        programs="mvn mvnw",
        changes="""
            install deploy clean versions:* release:* package dependency:copy* dependency:unpack*
            spotless:apply formatter:format site archetype:generate flyway:migrate flyway:clean
            liquibase:update
        """,
        reads="""
            dependency:tree dependency:list dependency:analyze help:* validate versions:display*
            spotless:check
        """,
    ),
    ProgramRule(
        programs="gradle gradlew sbt",
        changes="""
            clean publish* install* spotlessApply ktlintFormat wrapper init flywayMigrate upload*
            scalafmtAll scalafmt bintray* release
        """,
        reads="""
            tasks dependencies projects properties help dependencyInsight scalafmtCheck
            spotlessCheck
        """,
    ),
    ProgramRule(
        programs="flutter dart",
        changes="pub/* create clean upgrade downgrade format fix config channel install"
        " build_runner",
        reads="analyze doctor devices pub/deps pub/outdated emulators info",
        reading=r"--output=none|--set-exit-if-changed|--dry-run|-n",
    ),
    ProgramRule(
        programs="swift",
        changes="""
            package/update package/resolve package/init package/add-* package/clean package/reset
            package/purge-cache
        """,
        reads="package/describe package/show-dependencies package/dump-package",
    ),
    ProgramRule(
        programs="zig gleam crystal-shards shards dub nimble elm spago bower jspm",
        changes="""
            fmt fetch init install add remove update format publish uninstall upgrade init-exe prune
        """,
        reads="version env check list search info outdated",
        reading=r"--check",
    ),
    ProgramRule(
        programs="code cursor codium",
        changing=r"--(install|uninstall)-extension",
    ),
    ProgramRule(
        programs="""
            helm-docs protoc buf sqlc openapi-generator openapi-generator-cli swagger-codegen
            graphql-codegen quicktype thrift flatc msgfmt mockgen stringer wire
        """,
        changes="* generate",
        reads="lint breaking ls-files vet compile list validate help build version diff",
        bare=Effect.CHANGE,
    ),
    ProgramRule(
        programs="nix-env",
        changing=r"-[a-z]*[ieuGS][a-zA-Z]*|--(install|uninstall|upgrade|rollback|set|delete-.*)",
        reading=r"-[a-z]*q[a-zA-Z]*|--query",
        reads="*",
    ),
    ProgramRule(programs="cpan cpanm", changes="*", reading=r"-[lDav]|--info|--showdeps"),
    ProgramRule(
        programs="setup.py",
        changes="install develop build build_* bdist bdist_* sdist upload register clean egg_info",
        reads="check test --version --name",
    ),
)
