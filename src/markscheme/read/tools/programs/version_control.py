"""Version control systems and code hosts."""

from __future__ import annotations

from markscheme.read.tools.programs.rules import ProgramRule

RULES = (
    ProgramRule(
        programs="git",
        changes="""
            add commit push pull fetch checkout switch restore reset revert merge rebase cherry-pick
            am apply rm mv clean stash tag branch init clone config worktree submodule gc prune
            repack filter-branch filter-repo update-ref update-index symbolic-ref replace notes
            bisect format-patch archive bundle/create bundle/unbundle sparse-checkout fast-import
            write-tree commit-tree read-tree mktree mktag hash-object pack-refs lfs maintenance
            remote/add remote/remove remote/rm remote/rename remote/set-* remote/prune remote/update
            reflog/expire reflog/delete subtree mergetool send-email credential svn/* p4/* flow/*
            annex checkout-index rerere/clear rerere/forget unpack-objects index-pack http-push
            send-pack prune-packed citool gui merge-file merge-index quiltimport multi-pack-index
            commit-graph fetch-pack http-fetch refs/migrate
        """,
        reads="""
            status log diff show blame grep ls-files ls-tree ls-remote rev-parse rev-list describe
            shortlog cat-file name-rev merge-base for-each-ref show-ref show-branch cherry
            range-diff diff-tree diff-index diff-files whatchanged reflog reflog/show remote
            remote/show remote/get-url help version var count-objects fsck verify-commit verify-tag
            verify-pack check-ignore check-attr check-mailmap check-ref-format merge-tree stash/list
            stash/show worktree/list submodule/status submodule/summary notes/list notes/show
            bisect/log bisect/view bisect/visualize bundle/verify bundle/list-heads lfs/ls-files
            lfs/status lfs/env lfs/logs sparse-checkout/list config/get config/list difftool
            annotate get-tar-commit-id patch-id stripspace column bugreport diagnose svn/log
            svn/info rerere/status rerere/diff commit-graph/verify multi-pack-index/verify
            maintenance/list request-pull instaweb show-index mailinfo fmt-merge-msg
        """,
        valued="-C -c --git-dir --work-tree --exec-path --namespace --super-prefix --config-env",
    ),
    ProgramRule(
        programs="hg chg",
        changes="*",
        reads="""
            status st log diff cat annotate blame heads parents identify id summary sum branch
            branches tags bookmarks paths files manifest grep incoming in outgoing out help version
            root showconfig config/* tip verify
        """,
    ),
    ProgramRule(
        programs="svn",
        changes="*",
        reads="""
            status st stat log diff di cat info list ls blame annotate praise help proplist propget
            pl pg
        """,
    ),
    ProgramRule(
        programs="jj",
        changes="*",
        reads="""
            log st status diff show op/log evolog obslog interdiff file/list file/show file/annotate
            branch/list bookmark/list tag/list config/list config/get help version root
            workspace/list workspace/root
        """,
    ),
    ProgramRule(
        programs="sl",
        changes="*",
        reads="status st log smartlog diff show cat blame help files root",
    ),
    ProgramRule(
        programs="bzr brz fossil darcs cvs p4 pijul",
        changes="*",
        reads="""
            status st stat log diff info cat annotate blame ls list help version opened changes
            describe print files filelog have where timeline whatsnew show
        """,
    ),
    ProgramRule(
        programs="gh glab tea hub",
        changes="""
            */create */close */reopen */delete */edit */merge */comment */review */ready */develop
            */lock */unlock */pin */unpin */transfer */checkout */co */update-branch */revert
            repo/fork repo/clone repo/archive repo/unarchive repo/rename repo/sync repo/set-default
            repo/deploy-key/add repo/deploy-key/delete repo/autolink/create repo/autolink/delete
            release/upload release/download release/delete-asset run/cancel run/delete run/rerun
            run/download workflow/run workflow/enable workflow/disable secret/set secret/remove
            variable/set variable/remove ssh-key/add gpg-key/add label/clone cache/delete gist/clone
            gist/rename project/* extension/install extension/remove extension/upgrade
            extension/exec alias/set alias/import auth/login auth/logout auth/refresh auth/setup-git
            auth/switch config/set config/clear-cache codespace/* issue/update mr/update mr/approve
            mr/rebase mr/note issue/note ci/run ci/retry ci/cancel ci/trigger pr/approve
            agent-task/create attestation/download repo/mirror repo/transfer push pull sync merge
            fork clone create init cherry-pick am apply checkout fetch pull-request
        """,
        reads="""
            search search/* browse help version status completion */list */ls */view */diff */checks
            */status */show */watch */logs repo/view release/view auth/token auth/status config/get
            config/list extension/list extension/search extension/browse alias/list api project/list
            project/view project/field-list project/item-list codespace/list codespace/view
            codespace/ports codespace/logs ruleset/* attestation/verify org/list issue/list ci/view
            ci/trace ci/lint ci/list cache/list label/list secret/list variable/list release/list
            gist/view preview copilot/explain copilot/suggest
        """,
        valued="-R --repo --hostname",
    ),
)
