"""Databases and their migrations; SQL text is judged elsewhere."""

from __future__ import annotations

from markscheme.read.tools.programs.rules import ProgramRule

RULES = (
    ProgramRule(
        programs="""
            createdb dropdb createuser dropuser vacuumdb reindexdb pg_ctl initdb pg_upgrade
            mongorestore mongoimport mysqladmin mysqlimport bcp gh-ost pt-online-schema-change
            pgloader pg_basebackup
        """,
        changes="*",
        reads="status ping version processlist extended-status variables",
    ),
    ProgramRule(
        programs="pg_restore",
        changes="*",
        reading=r"-l|--list",
    ),
    ProgramRule(
        programs="pg_dump pg_dumpall mysqldump mariadb-dump mongodump mongoexport",
        reads="*",
        outputs=r"-f|--file|-r|--result-file|-o|--out",
    ),
    ProgramRule(
        programs="alembic",
        changes="upgrade downgrade revision stamp merge init edit ensure_version",
        reads="current history heads show branches check",
        reading=r"--sql",
    ),
    ProgramRule(
        programs="flask",
        changes="db/upgrade db/downgrade db/migrate db/init db/revision db/stamp db/merge init-db",
        reads="routes db/current db/history db/heads db/show db/check",
    ),
    ProgramRule(
        programs="prisma",
        changes="""
            migrate/dev migrate/deploy migrate/reset migrate/resolve db/push db/pull db/seed
            db/execute generate format init studio
        """,
        reads="migrate/status migrate/diff validate version",
    ),
    ProgramRule(
        programs="manage.py django-admin",
        changes="""
            migrate makemigrations flush loaddata collectstatic createsuperuser changepassword
            startapp startproject createcachetable clearsessions makemessages compilemessages
            squashmigrations remove_stale_contenttypes dbrestore dbbackup reset_db rebuild_index
            update_index clear_cache
        """,
        reads="""
            check showmigrations sqlmigrate sqlflush test diffsettings inspectdb help version
            findstatic show_urls dumpdata optimizemigration
        """,
        outputs=r"-o|--output",
    ),
    ProgramRule(
        programs="flyway",
        changes="migrate clean repair baseline undo",
        reads="info validate check",
    ),
    ProgramRule(
        programs="liquibase",
        changes="update* rollback* drop* tag changelog-sync* clear-checksums release-locks"
        " generate*",
        reads="status history validate diff *-sql",
    ),
    ProgramRule(
        programs="rails rake bin/rails spring",
        changes="""
            db:* generate g destroy d new tmp:* assets:* log:clear credentials:edit app:update
            active_storage:* webpacker:* yarn:install app:* action_text:* data:*
            secret:setup clean clobber
        """,
        reads="""
            routes db:version db:migrate:status db:abort_if_pending_migrations stats about test
            notes middleware initializers assets:reveal db:*:status app:template:list
        """,
    ),
    ProgramRule(
        programs="""
            knex sequelize sequelize-cli typeorm mikro-orm drizzle-kit node-pg-migrate db-migrate
            umzug migrate-mongo goose dbmate migrate sqlx diesel sqitch hasura yoyo skeema
            sql-migrate soda refinery sea-orm-cli piccolo aerich tern bytebase evolve phinx
            graphile-migrate
        """,
        changes="""
            migrate:* migration:* seed:* schema:* db:* */run */apply */up */down up down up-to
            up-by-one down-to redo fix reset push pull generate migrate drop create new rollback
            goto force deploy revert apply reapply rollforward init init-db upgrade downgrade
            inspectdb setup redeploy schema/apply schema/clean migrate/* migration/* database/*
            seed/* metadata/* load wait commit add model:* undo
        """,
        reads="""
            status version info migrate:status migrate:list migrate:currentVersion migration:show
            migration:list schema:log db:migrate:status migration:pending migration:check check
            inspect schema/inspect schema/diff migrate/status migrate/lint migrate/validate
            migration/list migration/info migration/pending log plan verify history heads diff lint
            show dump list
        """,
    ),
    # The migrations of one program of this name, and the clusters of MongoDB with the other.
    ProgramRule(
        programs="atlas",
        changes="""
            migrate/* schema/apply schema/clean schema/plan */create */delete */update */upgrade
            */start */pause */load */watch */apply */edit */add */remove */set */import */export
            */*/create */*/delete */*/update */*/start */*/restart */*/add */*/remove */*/set setup
            quickstart auth/* config/set config/delete config/init config/edit down apply clean
        """,
        reads="""
            version help status */list */ls */describe */get migrate/status migrate/lint
            migrate/validate migrate/ls schema/inspect schema/diff auth/whoami config/list
            config/describe */*/list */*/describe
        """,
    ),
    ProgramRule(
        programs="artisan",
        changes="""
            migrate* make:* db:* cache:clear config:cache config:clear key:generate optimize*
            queue:* storage:* vendor:publish route:cache route:clear view:* schema:* down up
            event:cache schedule:run stub:publish install:*
        """,
        reads="""
            route:list migrate:status about list help db:show db:table env inspire event:list
            model:show schedule:list queue:failed queue:monitor config:show
        """,
    ),
    ProgramRule(
        programs="console",
        changes="""
            doctrine:*:* cache:clear make:* assets:install doctrine:* cache:pool:clear messenger:*
        """,
        reads="""
            debug:* list about lint:* doctrine:migrations:status doctrine:migrations:list
            doctrine:schema:validate router:match doctrine:mapping:info
        """,
    ),
    ProgramRule(
        programs="dbt",
        changes="run seed snapshot build run-operation deps clean init clone retry",
        reads="compile ls list test parse debug docs source show",
    ),
    ProgramRule(
        programs="redis-cli valkey-cli keydb-cli",
        changes="*",
        reads="""
            get mget keys scan info ping ttl pttl type exists hget hgetall hkeys hvals hlen hmget
            hscan lrange llen lindex smembers scard sismember sscan zrange zcard zscore zscan dbsize
            monitor time strlen getrange memory object slowlog client/list config/get xlen xrange
            xread xinfo pubsub echo command lastsave role acl/list latency GET MGET KEYS SCAN INFO
            PING TTL PTTL TYPE EXISTS HGET HGETALL HKEYS HVALS HLEN HMGET HSCAN LRANGE LLEN LINDEX
            SMEMBERS SCARD SISMEMBER SSCAN ZRANGE ZCARD ZSCORE ZSCAN DBSIZE MONITOR TIME STRLEN
            MEMORY OBJECT SLOWLOG CLIENT/LIST CONFIG/GET XLEN XRANGE XREAD XINFO ECHO ROLE
        """,
        reading=r"--scan|--stat|--latency|--bigkeys|--hotkeys|--memkeys",
    ),
    ProgramRule(
        programs="bq",
        changes="rm mk load cp update insert extract partition cancel",
        reads="ls show head version wait help",
    ),
)
