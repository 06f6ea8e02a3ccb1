"""Tables of programs: which sub-commands and options change something, and which only read.

To teach markscheme a program, add a line to `_RULES`. A rule names programs, then says:

- `changes`, `reads`: patterns of sub-commands, with `/` between words (`stash/list`, `*/delete`);
  the longest match decides, and `*` alone is what holds for all others;
- `changing`, `reading`: options with which the program changes something, or only prints;
- `outputs`: options whose value is a file that is written.

A program in `READING_PROGRAMS` changes nothing. A program in no table has an unknown effect.
"""

from __future__ import annotations

import re
from fnmatch import translate
from functools import lru_cache

from msgspec import Struct

from markscheme.read.json_fields import split_words


class CommandRule(Struct, frozen=True, kw_only=True):
    """What is known of a program; the module's docstring explains the fields."""

    changes: tuple[tuple[str, ...], ...] = ()
    reads: tuple[tuple[str, ...], ...] = ()
    changing: re.Pattern[str] | None = None
    reading: re.Pattern[str] | None = None
    outputs: re.Pattern[str] | None = None

    def match_subcommand(self, words: list[str]) -> bool | None:
        """Return whether a sub-command changes something; `None` if it is not known."""
        changes = max((_match_path(path, words) for path in self.changes), default=-1)
        reads = max((_match_path(path, words) for path in self.reads), default=-1)
        return None if changes < 0 and reads < 0 else changes >= reads

    def knows_word(self, word: str) -> bool:
        """Return whether a word begins a sub-command that the rule lists."""
        return any(
            path[0] != "*" and _compile_pattern(path[0]).fullmatch(word)
            for path in (*self.changes, *self.reads)
        )


@lru_cache(maxsize=4096)
def _compile_pattern(pattern: str) -> re.Pattern[str]:
    return re.compile(translate(pattern))


def _match_path(path: tuple[str, ...], words: list[str]) -> int:
    """Return how closely a pattern fits: 0 for the pattern that fits all, -1 for no match."""
    if path == ("*",):
        return 0
    if len(words) < len(path):
        return -1
    if not all(_compile_pattern(p).fullmatch(w) for p, w in zip(path, words, strict=False)):
        return -1
    return 2 * len(path) - sum("*" in pattern for pattern in path)


# Verbs of command lines that name a noun and a verb, such as `gcloud compute instances delete`.
_WRITE_VERBS = (
    "create delete remove rm add update set unset edit patch put apply deploy destroy start stop "
    "restart reboot reset scale import upload push publish promote rollback enable disable attach "
    "detach rename move mv cp copy sync restore resize run invoke trigger cancel approve reject "
    "merge close reopen login logout install uninstall upgrade init new up down kill terminate "
    "rotate revoke grant tag untag link unlink transfer migrate purge submit send register "
    "deregister assign unassign mk mb rb rsync select use activate deactivate clone fork checkout "
    "comment review ready lock unlock pin unpin archive unarchive rerun download develop bind "
    "unbind map unmap suspend resume replace modify provision release redeploy save set-* add-* "
    "remove-* create-* delete-* update-* put-* disable-* enable-* start-* stop-* setup-git refresh"
)
_READ_VERBS = (
    "list ls get show describe view status info logs log read cat version help search diff "
    "history inspect top ps whoami check validate print* tail events plan preview output outputs "
    "config/get config/list list-* get-* describe-* show-* head-* watch usage metrics stats checks"
)


def _nest(verbs: str, depth: int = 4) -> str:
    """Return patterns for a verb as the first word of a sub-command, the second, and so on."""
    return " ".join("*/" * level + verb for level in range(depth) for verb in verbs.split())


_ZIP_READS = r"-[a-zA-Z]*[clt][a-zA-Z]*|--(stdout|to-stdout|list|test)"
_FIX = r"--fix(-type|-only)?|--write|-w|-i|--in-?place|--fix-all"
_NOUN_VERB_PROGRAMS = (
    "gcloud az doctl linode-cli hcloud flyctl fly heroku vercel netlify firebase supabase wrangler "
    "eksctl argocd flux oc istioctl nomad consul vault railway render ibmcloud oci openstack scw "
    "yc aliyun tccli civo exo vultr-cli upctl sentry-cli stripe twilio shopify sfdx sf cf "
    "rosa minikube kind k3d kops talosctl tkn circleci buildkite-agent glab hub tea jira linear "
    "acli lark slack doppler infisical op bw lpass databricks snow astro prefect dagster airflow "
    "kaggle huggingface-cli hf wandb mlflow dvc lakectl confluent kafka-topics rabbitmqadmin mc "
    "gsutil s3cmd s5cmd b2 azcopy multipass lxc incus virsh vboxmanage prlctl limactl colima orb "
    "launchctl networksetup nmcli hostnamectl timedatectl localectl loginctl machinectl gsettings "
    "dconf xfconf-query defaults scutil tailscale cloudflared ngrok neonctl pscale turso "
    "planetscale atlas-cli mongocli auth0 okta amplify eas expo ionic cdktf crossplane kn velero "
    "linkerd cilium hubble sops age-keygen step-cli cosign crane oras skopeo regctl"
)

# (programs, fields of the rule)
_RULES: tuple[tuple[str, dict[str, str]], ...] = (
    # Files
    (
        "rm rmdir mv mkdir touch ln chmod chown chgrp truncate install unlink shred patch "
        "apply_patch applypatch mkfifo mknod rename mmv trash trash-put gio-trash rimraf del-cli "
        "cpy-cli mkdirp setfacl chattr chflags setfattr sponge split csplit dos2unix unix2dos "
        "mktemp fallocate ditto srm wipe link lndir stow chezmoi detox convmv mkfile",
        {"changes": "*", "reading": "-u|--list-only|-l"},
    ),
    ("cp gcp", {"changes": "*"}),
    ("rsync", {"changes": "*", "reading": r"-[a-zA-Z]*n[a-zA-Z]*|--list-only"}),
    ("scp sftp ftp lftp ncftpput tftp pscp ssh-copy-id aria2c axel", {"changes": "*"}),
    ("rclone", {"changes": "*", "reads": "ls lsl lsd lsf lsjson cat size check about tree listremotes version config/show"}),
    ("xattr", {"changing": "-[a-z]*[wdc][a-z]*"}),
    ("unzip", {"changes": "*", "reading": "-[a-zA-Z]*[lptvZ][a-zA-Z]*"}),
    ("zip", {"changes": "*", "reading": "-sf|-T|-h|--show-files"}),
    ("gunzip gzip pigz bzip2 bunzip2 xz unxz lzma unlzma zstd unzstd lz4 brotli compress uncompress", {"changes": "*", "reading": _ZIP_READS}),
    ("7z 7za 7zz unrar rar unar", {"changes": "*", "reads": "l t lt lb v vt p"}),
    ("sort shuf iconv xmllint pandoc wkhtmltopdf graphviz dot plantuml mmdc qpdf pdftk gs", {"outputs": "-o|--output"}),
    ("gcc g++ cc c++ clang clang++ rustc ld nasm as javac kotlinc swiftc ghc nim", {"changes": "*", "reading": r"-E|-fsyntax-only|-###|-M{1,2}|--print.*|-print.*|-dump\w*|-v|-help"}),
    ("strip objcopy ranlib codesign install_name_tool svgo optipng pngcrush jpegoptim mogrify exiftool", {"changes": "*"}),
    ("convert magick sox", {"changes": "*"}),
    ("yt-dlp youtube-dl gallery-dl httrack", {"changes": "*", "reading": r"-F|-j|-J|-s|-g|--list-\w+|--dump-\w+|--simulate|--get-\w+"}),
    # Version control; `git` has more rules of its own
    ("git", {
        "changes": "add commit push pull checkout switch restore reset revert merge rebase cherry-pick "
        "am apply rm mv clean stash tag branch init clone config worktree submodule gc prune repack "
        "filter-branch filter-repo update-ref update-index symbolic-ref replace notes bisect "
        "format-patch archive bundle/create sparse-checkout fast-import write-tree commit-tree "
        "read-tree mktree hash-object pack-refs lfs maintenance remote/add remote/remove remote/rm "
        "remote/rename remote/set-* remote/prune remote/update reflog/expire reflog/delete subtree "
        "mergetool send-email credential svn/* p4/* flow/* annex checkout-index rerere/clear "
        "unpack-objects index-pack http-push send-pack prune-packed citool gui",
        "reads": "status log diff show blame grep ls-files ls-tree ls-remote rev-parse rev-list "
        "describe shortlog cat-file name-rev merge-base for-each-ref show-ref show-branch cherry "
        "range-diff diff-tree diff-index diff-files whatchanged reflog remote help version var "
        "count-objects fsck verify-commit verify-tag check-ignore check-attr check-ref-format "
        "merge-tree stash/list stash/show worktree/list submodule/status submodule/summary "
        "notes/list notes/show bisect/log bisect/view bundle/verify bundle/list-heads lfs/ls-files "
        "lfs/status lfs/env sparse-checkout/list config/get config/list difftool annotate "
        "get-tar-commit-id patch-id stripspace column instaweb credential/fill bugreport svn/log svn/info",
    }),
    ("hg chg", {"changes": "*", "reads": "status st log diff cat annotate blame heads parents identify id summary sum branch branches tags bookmarks paths files manifest grep incoming in outgoing out help version root showconfig config/* tip verify"}),
    ("svn", {"changes": "*", "reads": "status st stat log diff di cat info list ls blame annotate praise help proplist propget pl pg"}),
    ("jj", {"changes": "*", "reads": "log st status diff show op/log evolog obslog interdiff file/list file/show file/annotate branch/list bookmark/list tag/list config/list config/get help version root workspace/list workspace/root"}),
    ("sl", {"changes": "*", "reads": "status st log smartlog diff show cat blame help files root"}),
    ("bzr brz fossil darcs cvs p4 pijul", {"changes": "*", "reads": "status st stat log diff info cat annotate blame ls list help version opened changes describe print filelog have where timeline whatsnew show"}),
    ("gh", {"changes": _nest(_WRITE_VERBS, 3), "reads": f"search browse help version status {_nest(_READ_VERBS, 3)} repo/view pr/checks auth/token run/watch"}),
    # Containers and clusters
    ("docker podman nerdctl buildah docker-compose podman-compose finch", {
        "changes": "*",
        "reads": "ps images logs inspect version info search history diff top stats port events config "
        "ls wait help */ls */list */inspect */ps */logs */history */df */info */show */version "
        "*/config */images */top */port */events */stats */diff scout/* manifest/inspect compose/version "
        "compose/ls buildx/*/inspect */imagetools/inspect",
    }),
    ("kubectl k kubecolor", {
        "changes": "*",
        "reads": "get describe logs top explain api-resources api-versions version cluster-info diff "
        "auth/can-i auth/whoami config/view config/current-context config/get-* rollout/status "
        "rollout/history wait events kustomize completion options plugin/list port-forward help tree ctx ns",
    }),
    ("helm", {"changes": "*", "reads": "list ls get status history hist show inspect search template lint version env repo/list dependency/list dep/list plugin/list verify help completion diff"}),
    ("helmfile", {"changes": "apply sync destroy delete fetch deps", "reads": "diff list template lint status build"}),
    ("skaffold tilt", {"changes": "*", "reads": "version help diagnose render config/list"}),
    ("kustomize", {"changes": "edit create", "reads": "build version cfg"}),
    # Infrastructure
    ("terraform tofu terragrunt", {
        "changes": "*",
        "reads": "plan validate show output graph version providers console state/list state/show "
        "state/pull workspace/list workspace/show help metadata test state workspace",
        "reading": "-check|-write=false",
        "outputs": "-out",
    }),
    ("pulumi", {"changes": "*", "reads": "preview pre logs about whoami version config/get stack/ls stack/output stack/history stack/graph config plugin/ls help stack console"}),
    ("cdk sam serverless sls copilot chalice zappa", {"changes": "deploy destroy bootstrap init import watch delete remove rollback migrate package build sync create", "reads": "synth diff list ls doctor metadata info logs validate print docs help"}),
    ("packer vagrant", {"changes": "*", "reads": "validate inspect version status global-status ssh-config port help box/list"}),
    ("ansible-playbook ansible-pull", {"changes": "*", "reading": r"--check|-C|--syntax-check|--list-\w+"}),
    ("ansible-galaxy ansible-vault", {"changes": "*", "reads": "list search info view collection/list role/list role/info"}),
    ("salt salt-call puppet chef-client knife capistrano cap fab", {"changes": "*", "reading": "--noop|--why-run|--list"}),
    ("aws", {
        "changes": "*/*",
        "reads": "help */describe-* */get-* */list-* */head-* */batch-get-* */lookup-* */search* */filter-* "
        "*/query */scan */wait */ls */help */select-* */estimate-* */validate-* */simulate-* "
        "*/preview-* */tail */check-* */detect-* */test-* configure/list configure/get configure/list-* "
        "s3/presign logs/start-query logs/filter-log-events logs/tail ssm/start-session */count-*",
    }),
    (_NOUN_VERB_PROGRAMS, {"changes": _nest(f"{_WRITE_VERBS} write"), "reads": _nest(f"{_READ_VERBS} secrets/list")}),
    # Services, users, disks, network
    ("systemctl", {"changes": "*", "reads": "status list-* show cat is-* get-default help"}),
    ("service rc-service", {"changes": "*/*", "reads": "*/status"}),
    ("initctl supervisorctl pm2 forever monit sv rcctl", {"changes": "start stop restart reload delete del kill save add remove update reread shutdown resurrect", "reads": "status list ls logs log show info jlist prettylist describe monit"}),
    ("kill pkill killall skill taskkill xkill", {"changes": "*", "reading": "-0|-l|-L|--list"}),
    ("fuser", {"changing": "-[a-z]*k[a-z]*|--kill"}),
    ("at batch atrm mail mailx sendmail mutt msmtp swaks reboot shutdown poweroff halt useradd userdel usermod groupadd groupdel groupmod adduser deluser addgroup passwd chpasswd chsh chfn mkfs mkswap swapon swapoff umount modprobe rmmod insmod depmod ldconfig visudo vipw wall logger telinit init cryptsetup lvcreate lvremove vgcreate pvcreate parted sgdisk wipefs blkdiscard mkfs.ext4 fstrim tune2fs resize2fs grub-install update-grub newgrp gpasswd setcap semanage setsebool restorecon update-initramfs locale-gen dpkg-reconfigure iptables-restore", {"changes": "*", "reading": "-l|-S|--status|--list"}),
    ("fdisk sfdisk diskutil hdiutil losetup dmsetup zpool zfs btrfs", {"changes": "*", "reads": "list ls info status get history show imageinfo", "reading": "-l|-a|--list|-d"}),
    ("mount", {"changes": "*/*"}),
    ("iptables ip6tables nft ebtables ipset", {"changing": "-[ADIRFXPNZE]|--(append|delete|insert|flush|policy)", "changes": "add delete flush create destroy insert", "reads": "list"}),
    ("ufw firewall-cmd", {"changes": "allow deny reject limit enable disable reset reload delete insert route", "reads": "status show", "changing": "--(add|remove|set|reload|permanent).*"}),
    ("ip bridge tc", {"changes": "*/add */del */delete */set */flush */change */replace */append", "reads": "* */show */list */ls */get"}),
    ("ifconfig", {"changes": "*/up */down */netmask */add */del"}),
    ("route", {"changes": "add del delete change flush", "reads": "* get"}),
    ("sysctl", {"changing": r"-w|--write|-p|--load|[\w.]+=.*"}),
    ("journalctl", {"reads": "*", "changing": "--(vacuum|rotate|flush|sync).*"}),
    ("dmesg", {"reads": "*", "changing": "-[cC]|--clear|--read-clear"}),
    ("tmux screen zellij", {"changes": "*", "reads": "ls list-* capture-pane capturep show-* display-message info has-session has", "reading": "-ls|-list|-V"}),
    ("update-alternatives", {"changing": "--(install|set|remove|auto|config).*"}),
    ("ssh-keygen", {"changes": "*", "reading": "-[a-zA-Z]*[lFyB]"}),
    ("ssh-add", {"changes": "*", "reading": "-[lL]"}),
    ("openssl certtool keytool mkcert certbot acme.sh", {"outputs": "-out|-keyout|--outfile", "changing": r"-genkey\w*|-import\w*|-delete|-install|--issue|--renew", "changes": "renew certonly delete revoke", "reads": "certificates x509 s_client version dgst verify rand"}),
    ("gpg gpg2", {"outputs": "-o|--output", "changing": r"--(import|gen-key|full-gen.*|quick.*|delete.*|edit-key|sign|encrypt|detach-sign|clearsign|recv-keys|refresh-keys|send-keys)|-[esb]\w*"}),
    ("pass gopass", {"changes": "insert generate rm mv cp edit init git", "reads": "ls show find grep"}),
    ("security", {"changes": "add-* delete-* create-* set-* import unlock-keychain", "reads": "find-* list-* show-* dump-*"}),
    # Formatters and linters that can change files
    ("black isort pyupgrade autotyping rustfmt swiftformat scalafmt elm-format nixfmt alejandra stylua csharpier phpcbf add-trailing-comma reorder-python-imports setup-cfg-fmt pyproject-fmt sqlfmt mdformat yamlfmt sort-package-json ormolu ssort buildifier usort ufmt google-java-format ktfmt cljfmt dhall purs-tidy prettierd topiary treefmt terraform-docs doctoc gersemi fantomas bean-format", {
        "changes": "*", "reads": "check diff", "reading": r"--check(-only)?|-c|--check-formatted|--diff|-d|--lint|--test|--validate|--verify|--list|-l|--stdout|--mode=check|--dry-?run|-n|-",
    }),
    ("autopep8 yapf autoflake docformatter clang-format shfmt gofmt goimports gofumpt gci golines prettier eslint eslint_d stylelint tslint standard xo ts-standard semistandard oxlint golangci-lint staticcheck markdownlint markdownlint-cli2 codespell typos djlint swiftlint ktlint rubocop standardrb cmake-format ocamlformat fourmolu hlint perltidy latexindent pg_format uncrustify astyle yq knip syncpack html-tidy tidy xmlstarlet sqlfluff ansible-lint ast-grep sg semgrep comby unimport eradicate refurb pyright-fix biome rome dprint taplo php-cs-fixer rector htmlbeautifier erb-format erblint clang-tidy clang-apply-replacements jscodeshift ember-template-lint textlint vale cspell slim-lint haml-lint solhint forge-fmt verible-verilog-format npm-check-updates ncu", {
        "changes": "fix format/* fmt process autocorrect eject upgrade rm",
        "reads": "format/--check check lint",
        "changing": rf"{_FIX}|-[aAFUmLbu]|--auto-?(correct|fix)(-all)?|--fix-errors|--format$|--replace(-all)?|--no-backup|--reformat|--update-all|--inplace|--upgrade|-fix|--apply(-unsafe)?|--modify|--refactor|--write-changes|-p[iw]",
        "reading": r"--check|--verify|--diff|-d|--validate|--lint|--fix-dry-run|--dry-?run|--list-different|-l",
    }),
    ("ruff", {"changes": "format clean", "reads": "check rule linter version config server analyze", "changing": r"--fix(-only)?|--add-noqa|--unsafe-fixes", "reading": "--check|--diff|--no-fix|--show-fixes"}),
    # Databases and migrations; SQL text is looked into elsewhere
    ("createdb dropdb createuser dropuser vacuumdb reindexdb pg_ctl initdb pg_upgrade mongorestore mongoimport mysqladmin mysqlimport bcp gh-ost pt-online-schema-change pgloader pg_basebackup", {"changes": "*", "reads": "status ping version processlist extended-status variables"}),
    ("pg_restore", {"changes": "*", "reading": "-l|--list"}),
    ("pg_dump pg_dumpall mysqldump mariadb-dump mongodump mongoexport", {"outputs": "-f|--file|-r|--result-file|-o|--out"}),
    ("alembic", {"changes": "upgrade downgrade revision stamp merge init edit ensure_version", "reads": "current history heads show branches check", "reading": "--sql"}),
    ("flask", {"changes": "db/upgrade db/downgrade db/migrate db/init db/revision db/stamp db/merge init-db", "reads": "routes db/current db/history db/heads db/show db/check"}),
    ("prisma", {"changes": "migrate/dev migrate/deploy migrate/reset migrate/resolve db/push db/pull db/seed db/execute generate format init studio", "reads": "migrate/status migrate/diff validate version"}),
    ("manage.py django-admin", {"changes": "migrate makemigrations flush loaddata collectstatic createsuperuser changepassword startapp startproject createcachetable clearsessions makemessages compilemessages squashmigrations sqlflush_apply remove_stale_contenttypes dbrestore dbbackup reset_db rebuild_index update_index clear_cache", "reads": "check showmigrations sqlmigrate sqlflush test diffsettings inspectdb help version findstatic show_urls dumpdata optimizemigration", "outputs": "-o|--output"}),
    ("flyway", {"changes": "migrate clean repair baseline undo", "reads": "info validate check"}),
    ("liquibase", {"changes": "update* rollback* drop* tag changelog-sync* clear-checksums release-locks generate*", "reads": "status history validate diff *-sql"}),
    ("rails rake bin/rails spring", {"changes": "db:* generate g destroy d new tmp:* assets:* log:clear credentials:edit app:update active_storage:* webpacker:* yarn:install app:* action_text:* data:* secret:setup", "reads": "routes db:version db:migrate:status db:abort_if_pending_migrations stats about test notes middleware initializers -T assets:reveal db:*:status app:template:list"}),
    ("knex sequelize sequelize-cli typeorm mikro-orm drizzle-kit node-pg-migrate db-migrate umzug migrate-mongo goose dbmate migrate atlas sqlx diesel sqitch hasura yoyo skeema sql-migrate soda refinery sea-orm-cli piccolo aerich tern bytebase evolve phinx graphile-migrate", {
        "changes": "migrate:* migration:* seed:* schema:* db:* */run */apply */up */down up down up-to up-by-one down-to redo fix reset push pull generate migrate drop create new rollback goto force deploy revert apply reapply rollforward init init-db upgrade downgrade inspectdb setup redeploy schema/apply schema/clean migrate/* migration/* database/* seed/* metadata/* load wait commit add model:* undo",
        "reads": "status version info migrate:status migrate:list migrate:currentVersion migration:show migration:list schema:log db:migrate:status migration:pending migration:check check inspect schema/inspect schema/diff migrate/status migrate/lint migrate/validate migration/list migration/info migration/pending log plan verify history heads diff lint show dump list",
    }),
    ("artisan", {"changes": "migrate* make:* db:* cache:clear config:cache config:clear key:generate optimize* queue:* storage:* vendor:publish route:cache route:clear view:* schema:* down up tinker_apply event:cache schedule:run stub:publish install:*", "reads": "route:list migrate:status about list help db:show db:table env inspire event:list model:show schedule:list queue:failed queue:monitor config:show --version"}),
    ("console", {"changes": "doctrine:*:* cache:clear make:* assets:install doctrine:* cache:pool:clear messenger:*", "reads": "debug:* list about lint:* doctrine:migrations:status doctrine:migrations:list doctrine:schema:validate router:match doctrine:mapping:info"}),
    ("dbt", {"changes": "run seed snapshot build run-operation deps clean init clone retry", "reads": "compile ls list test parse debug docs source show"}),
    ("redis-cli valkey-cli keydb-cli", {
        "changes": "*",
        "reads": "get mget keys scan info ping ttl pttl type exists hget hgetall hkeys hvals hlen hmget hscan lrange llen lindex smembers scard sismember sscan zrange zcard zscore zscan dbsize monitor time strlen getrange memory object slowlog client/list config/get xlen xrange xread xinfo pubsub echo command lastsave role acl/list latency "
        "GET MGET KEYS SCAN INFO PING TTL PTTL TYPE EXISTS HGET HGETALL HKEYS HVALS HLEN HMGET HSCAN LRANGE LLEN LINDEX SMEMBERS SCARD SISMEMBER SSCAN ZRANGE ZCARD ZSCORE ZSCAN DBSIZE MONITOR TIME STRLEN MEMORY OBJECT SLOWLOG CLIENT/LIST CONFIG/GET XLEN XRANGE XREAD XINFO ECHO ROLE",
        "reading": r"--scan|--stat|--latency|--bigkeys|--hotkeys|--memkeys",
    }),
    ("bq", {"changes": "rm mk load cp update insert extract partition cancel", "reads": "ls show head version wait help"}),
    # Package managers
    ("npm", {"changes": "install i in add ci install-test it uninstall remove rm r un unlink update up upgrade link ln publish unpublish version init create set dedupe ddp prune rebuild rb pack deprecate dist-tag/add dist-tag/rm login logout adduser audit/fix cache/clean cache/add config/set config/delete config/edit pkg/set pkg/delete pkg/fix shrinkwrap owner/add owner/rm access/set token/create token/revoke hook team star undeprecate stage", "reads": "ls list ll la view info show v outdated audit search find ping whoami explain why root prefix bin config/get config/list config/ls help doctor fund docs repo bugs dist-tag/ls pkg/get query cache/ls cache/verify profile/get token/list"}),
    ("pnpm", {"changes": "install i add remove rm uninstall un update up upgrade link unlink publish import dedupe prune rebuild patch patch-commit fetch store/prune create init env/use pack deploy setup self-update config/set approve-builds", "reads": "ls list ll la why outdated audit root bin licenses config/get config/list store/path store/status"}),
    ("yarn", {"changes": "install add remove upgrade up upgrade-interactive link unlink publish create init import dedupe set version cache/clean patch patch-commit rebuild unplug autoclean plugin/import config/set pack global/add global/remove npm/publish self-update", "reads": "list info why outdated audit config/list config/get versions workspaces/info workspaces/list cache/dir cache/list bin licenses npm/info npm/audit constraints"}),
    ("bun", {"changes": "install i add a remove rm update link unlink create init upgrade publish patch pm/trust pm/cache/rm", "reads": "pm/ls pm/cache pm/bin outdated why audit info"}),
    ("deno", {"changes": "install add remove upgrade uninstall init cache compile publish vendor clean deploy", "reads": "info lint check doc types coverage test bench outdated", "changing": "--fix"}),
    ("pip pip3", {"changes": "install uninstall download wheel cache/purge cache/remove config/set config/unset config/edit", "reads": "list show freeze check search index inspect config/list config/get config/debug cache/info cache/dir cache/list debug hash help"}),
    ("uv", {"changes": "add remove sync lock venv init build publish version/* tool/install tool/uninstall tool/upgrade python/install python/uninstall python/pin pip/install pip/uninstall pip/sync pip/compile_apply cache/clean cache/prune self/update format", "reads": "tree export pip/list pip/show pip/freeze pip/check pip/tree tool/list tool/dir python/list python/find python/dir cache/dir version help", "outputs": "-o|--output-file", "reading": "--check"}),
    ("poetry pdm hatch rye pixi flit", {"changes": "install add remove update lock sync init new publish build version/* self/update cache/clear config/* env/use env/remove source/add use fix import bump pin fmt env/create env/prune upgrade global/install global/uninstall", "reads": "show check list info env/info env/list search about config/--list lock/--check version status tree source/show"}),
    ("pipx pipenv", {"changes": "install uninstall upgrade upgrade-all inject uninject reinstall reinstall-all uninstall-all ensurepath lock sync update clean", "reads": "list graph check environment requirements verify"}),
    ("conda mamba micromamba", {"changes": "install remove uninstall update upgrade create clean env/create env/remove env/update config/--set config/--add init build rename", "reads": "list info search env/list env/export config/--show package"}),
    ("pip-compile pip-sync easy_install virtualenv venv ensurepip compileall cookiecutter copier cruft degit tiged create-react-app create-next-app create-vite yo nativefier bumpversion bump2version bump-my-version standard-version semantic-release lerna-publish np release-it twine husky patch-package playwright-install", {"changes": "*", "reads": "check show"}),
    ("changeset lerna nx turbo rush", {"changes": "version publish add bootstrap clean import init create exec-format format:write format generate g migrate reset login link prune update install", "reads": "status list ls diff changed info print-affected show graph format:check report affected:graph"}),
    ("cargo", {"changes": "add remove rm install uninstall update fmt fix publish new init generate-lockfile vendor clean yank owner login package upgrade set-version release", "reads": "tree metadata search check verify-project pkgid locate-project info outdated audit deny version help read-manifest", "changing": "--fix", "reading": "--check|--list"}),
    ("rustup", {"changes": "install update default override toolchain/install toolchain/uninstall component/add component/remove target/add target/remove self/update self/uninstall uninstall set", "reads": "show check which doc toolchain/list component/list target/list"}),
    ("go", {"changes": "get install generate fmt mod/tidy mod/init mod/edit mod/vendor mod/download work/init work/use work/sync work/edit clean fix env/-w", "reads": "list vet doc version env mod/graph mod/why mod/verify", "outputs": "-o", "changing": "-w"}),
    ("gem bundle bundler", {"changes": "install uninstall update add remove lock init push yank build owner cleanup pristine clean binstubs config/set config/unset gem package cache doctor/--fix", "reads": "list show info outdated check search env contents which specification dependency viz licenses config/get config/list help open"}),
    ("composer", {"changes": "install require update remove dump-autoload dumpautoload create-project init global clear-cache self-update reinstall bump config/* archive", "reads": "show info outdated validate audit licenses depends why why-not search status diagnose check-platform-reqs fund browse config/--list"}),
    ("mix", {"changes": "deps.get deps.update deps.clean deps.unlock format ecto.* phx.gen* phx.new new archive.install local.* hex.publish hex.build release clean compile_apply assets.*", "reads": "deps deps.tree hex.info hex.outdated hex.audit help xref test credo dialyzer phx.routes ecto.migrations", "reading": "--check-formatted|--check"}),
    ("rebar3 stack cabal opam ghcup luarocks cpan cpanm raco lein pod carthage port nix-env nix-channel nix guix emerge pkg pkg_add pkg_delete xbps-install xbps-remove opkg eopkg swupd tdnf microdnf winget choco scoop snap flatpak brew mas apt apt-get aptitude dnf yum zypper apk nala asdf mise rtx nvm fnm volta pyenv rbenv nodenv jenv tfenv sdk n corepack gvm tlmgr spack conan vcpkg xcodes rvm krew helm-plugin arduino-cli platformio pio cpm juliaup", {
        "changes": "install i add remove rm uninstall del delete erase purge upgrade update up dist-upgrade full-upgrade autoremove clean autoclean reinstall link unlink tap untap pin unpin switch use global local shell_apply default init sync cleanup services/start services/stop services/restart bundle enable disable refresh revert set connect profile/install profile/remove profile/upgrade flake/update flake/lock build_apply publish upload tidy source/add source/remove download fetch deps import deintegrate prune trust plugin/add plugin/install hold unhold config/set repo/add repo/remove dev/add new create mark selfupdate self-update makecache",
        "reads": "list ls search info show status outdated doctor deps_list tree config cat leaves uses desc home log policy cache depends rdepends list-installed query which current versions version whence where why help services/list plugin/list repolist history check repoquery provides env bin",
        "changing": r"-i|-e|-u|--install|--uninstall|--delete-.*|--sync|-[aC]\w*|--add|--remove|--update",
        "reading": r"--list|-qa?|--simulate|-s|--search|--print-uris|--dry-run|--query",
    }),
    ("pacman yay paru", {"changing": "-S[yuwc]*|-R[a-z]*|-U[a-z]*|-D[a-z]*|--sync|--remove|--upgrade", "reading": r"-S[a-z]*[sigl][a-z]*|-Q[a-z]*|-F[a-z]*"}),
    ("dpkg rpm", {"changing": r"-[irPUFe][vh]*|--(install|remove|purge|unpack|configure|import|erase|upgrade|rebuilddb).*", "reading": r"-q\w*|-l|-L|-s|-S|--list.*"}),
    ("dotnet", {"changes": "add remove restore new publish format clean pack nuget/push nuget/add nuget/delete nuget/locals tool/install tool/uninstall tool/update tool/restore sln/add sln/remove workload/install ef/database ef/migrations/add ef/migrations/remove ef/dbcontext/scaffold user-secrets/set user-secrets/remove dev-certs", "reads": "list --info --version --list-sdks ef/migrations/list ef/dbcontext/info nuget/list sln/list tool/list ef/migrations/script", "reading": "--verify-no-changes"}),
    ("nuget", {"changes": "*", "reads": "list search locals_list help sources/list"}),
    ("mvn mvnw", {"changes": "install deploy clean versions:* release:* package dependency:copy* dependency:unpack* spotless:apply formatter:format site archetype:generate flyway:migrate flyway:clean liquibase:update", "reads": "dependency:tree dependency:list dependency:analyze help:* validate versions:display* spotless:check"}),
    ("gradle gradlew sbt", {"changes": "clean publish* install* spotlessApply ktlintFormat wrapper init flywayMigrate upload* scalafmtAll scalafmt bintray* release", "reads": "tasks dependencies projects properties help dependencyInsight scalafmtCheck spotlessCheck"}),
    ("flutter dart", {"changes": "pub/* create clean upgrade downgrade format fix config channel install build_runner", "reads": "analyze doctor devices pub/deps pub/outdated --version emulators info", "reading": r"--output=none|--set-exit-if-changed|--dry-run|-n"}),
    ("swift", {"changes": "package/update package/resolve package/init package/add-* package/clean package/reset package/purge-cache", "reads": "package/describe package/show-dependencies package/dump-package"}),
    ("zig gleam crystal-shards shards dub nimble elm spago bower jspm", {"changes": "fmt fetch init install add remove update format publish uninstall upgrade init-exe prune", "reads": "version env check list search info outdated", "reading": "--check"}),
    ("code cursor codium", {"changing": "--(install|uninstall)-extension"}),
    ("helm-docs protoc buf sqlc openapi-generator openapi-generator-cli swagger-codegen graphql-codegen quicktype thrift flatc msgfmt mockgen stringer wire", {"changes": "* generate", "reads": "lint breaking ls-files vet compile list validate help build version diff"}),
    # Windows
    ("del erase rd md ren copy move xcopy robocopy mklink setx diskpart format takeown bitsadmin expand assoc ftype cacls", {"changes": "*", "reading": "/L|/l|/\\?"}),
    ("attrib", {"changing": "[+-][rahsRAHS]"}),
    ("icacls", {"changing": "/(grant|deny|remove|reset|setowner|inheritance|restore).*"}),
    ("reg", {"changes": "add delete import copy restore load unload save ADD DELETE IMPORT", "reads": "query export_list compare QUERY"}),
    ("sc net", {"changes": "create delete start stop config pause continue failure use share user localgroup accounts", "reads": "query queryex qc view statistics config_list"}),
    ("schtasks", {"changing": r"/(create|delete|run|end|change)", "reading": "/query"}),
    ("wmic", {"changes": _nest("delete call create set"), "reads": _nest("get list")}),
    ("fsutil", {"changes": "file/createnew file/setzerodata hardlink/create", "reads": "fsinfo volume file/queryfileid"}),
    ("certutil", {"changing": r"-(urlcache|decode|encode|addstore|delstore|importpfx)"}),
    # PowerShell aliases
    ("ri rni mi cpi ni ac clc rp sp si saps spps start-process", {"changes": "*"}),
)

READING_PROGRAMS = split_words(
    "cat bat batcat head tail less more nl ls ll la dir vdir tree exa eza lsd find fd fdfind rg ripgrep grep "
    "egrep fgrep zgrep ag ack ugrep git-grep wc sort uniq cut paste tr rev tac fold fmt column join "
    "comm diff cmp sdiff colordiff delta vimdiff-cat echo printf true false test [ [[ : pwd cd pushd popd dirs "
    "export unset set declare local typeset readonly alias unalias shopt setopt return exit break continue shift let read wait "
    "jobs fg bg disown umask ulimit hash type which whereis whatis apropos man info help command date cal sleep "
    "seq expr bc dc factor basename dirname realpath readlink stat file du df free uptime uname hostname "
    "whoami id groups who w last users finger env printenv locale tty arch nproc lscpu lsblk lspci lsusb lsof "
    "lsmod ps pstree pgrep pidof top htop btop vmstat iostat mpstat sar netstat ss ping ping6 traceroute dig "
    "nslookup host whois getent md5sum sha1sum sha256sum sha512sum md5 shasum cksum b2sum sum crc32 base64 "
    "base32 xxd hexdump hd od strings nm objdump readelf otool ldd size jq jaq gron fx xq htmlq pup csvcut "
    "csvlook csvstat csvgrep mlr xsv qsv miller zcat bzcat xzcat zless zmore gzcat zstdcat lz4cat tokei cloc scc "
    "loc ctags-list ffprobe identify exif mediainfo pdftotext-list pdfinfo pdfgrep getopts times history fc tput clear "
    "reset stty yes time tsort numfmt shuf envsubst getconf sw_vers system_profiler mdfind mdls ioreg "
    "shellcheck hadolint yamllint jsonlint xmlwf pylint flake8 pycodestyle pydocstyle mypy pyright "
    "bandit vulture radon tflint tfsec checkov kubeval kubeconform actionlint luacheck phpstan psalm phpcs "
    "esac fi done case in for select function do then else if while until { } ! coproc esac;; "
    "type findstr where more.com systeminfo tasklist ver vol ipconfig fc.exe comp chdir title rem cls "
    "gci gc sls select-string gi gp gm gl pwd.exe measure sort-object select where-object foreach-object % ? "
    "ft fl fw oh write-host write-output out-null out-string out-host gps gsv gcm echo.exe sl "
    "tldr cheat wslpath cygpath pbpaste xclip-out dust duf procs hyperfine glow mdcat viu entr-list locate mlocate "
    "plocate updatedb-list acpi sensors lshw dmidecode inxi neofetch fastfetch rpmquery apt-cache dpkg-query "
    "view zipinfo lsar zipgrep zipnote-list arp iwconfig nmap-list kubectx-list shfmt-list hostid logname seqkit samtools-view "
    "trap-list sed-list look spell aspell-list expand unexpand pr ptx iconv-list gettext ngettext egrep"
)


def _split_paths(text: str) -> tuple[tuple[str, ...], ...]:
    return tuple(tuple(path.split("/")) for path in text.split())


def _compile_options(text: str | None) -> re.Pattern[str] | None:
    return None if text is None else re.compile(f"(?:{text})(?:=.*)?", re.DOTALL)


@lru_cache(maxsize=1024)
def find_rule(program: str) -> CommandRule | None:
    """Return what is known of a program; `None` if it is in no table of rules."""
    fields = _FIELDS.get(program)
    if fields is None:
        return None
    return CommandRule(
        changes=_split_paths(fields.get("changes", "")),
        reads=_split_paths(fields.get("reads", "")),
        changing=_compile_options(fields.get("changing")),
        reading=_compile_options(fields.get("reading")),
        outputs=_compile_options(fields.get("outputs")),
    )


_FIELDS = {name: fields for names, fields in _RULES for name in names.split()}
RULED_PROGRAMS = frozenset(_FIELDS)
