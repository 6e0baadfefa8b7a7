//! Frameworks and migration tools that manage a database.

use super::super::EvaluationContext;
use super::kinds::{CHANGES_DATA, DROPS, MIGRATES, PUBLISHES};
use super::{Row, row};
use crate::danger::is_for_trial;
use grov_domain::Program;

#[rustfmt::skip]
pub(super) const DJANGO: &[Row] = &[
    row("flush|reset_db|reset_schema|drop_test_database|sqlflush_all", "", &DROPS),
    row("migrate ** zero", "", &DROPS),
    row("createsuperuser|changepassword|drop_*|remove_stale_contenttypes|tenant_destroy|delete_tenant|prune*|clear_index|rebuild_index|update_index", "--noinput|--no-input|--remove|-r|*", &DROPS).only_if(names_user),
    row("loaddata|sendtestemail", "", &MIGRATES).only_if(names_production),
    row("clear_*|delete_*|purge_*|truncate_*|wipe_*|drop_*", "", &DROPS).unless("clear_cache|clear_sessions"),
    row("", "", &MIGRATES).only_if(migrates_production),
];

#[rustfmt::skip]
pub(super) const RAILS: &[Row] = &[
    row("", "db:drop*|db:reset*|db:purge*|db:migrate:reset*|db:truncate_all|db:seed:replant|db:nuke*|db:wipe*|*:purge_all", &DROPS),
    row("", "db:schema:load*|db:structure:load*", &DROPS).unless("db:create*"),
    row("", "*:clobber_all|*:destroy_all|*:delete_all|*:nuke*|*:wipe*|cache:flush_all|jobs:clear|sidekiq:clear*|elasticsearch:delete*|storage:purge*|users:delete*|data:purge*|data:reset*|credentials:reset", &DROPS),
    row("release|publish|deploy", "", &PUBLISHES),
    row("release:*|gem:push|deploy:*", "", &PUBLISHES),
    row("", "", &MIGRATES).only_if(migrates_production),
];

#[rustfmt::skip]
pub(super) const LARAVEL: &[Row] = &[
    row("migrate:fresh|migrate:reset|migrate:refresh|db:wipe|queue:flush|queue:clear|model:prune|telescope:clear|scout:flush|horizon:clear", "", &DROPS),
    row("migrate|db:seed|migrate:rollback", "--env=production|--env=prod|--force", &MIGRATES),
    row("queue:forget|queue:prune-*|passport:purge|tenants:migrate-fresh|tenants:rollback|schema:dump|backup:clean|media-library:clear|session:flush|down|key:generate", "--force|--all|--prune|-y|--hours=0|*", &DROPS).only_if(is_risky_artisan),
    row("", "", &MIGRATES).only_if(migrates_production),
];

#[rustfmt::skip]
pub(super) const CONSOLE: &[Row] = &[
    row("doctrine:database:drop|doctrine:schema:drop|d:d:d|d:s:d|doctrine:mongodb:schema:drop", "", &DROPS),
    row("doctrine:schema:update|d:s:u", "--force -f|--force", &DROPS),
    row("doctrine:database:import|doctrine:query:sql|dbal:run-sql|doctrine:query:dql", "*drop*|*delete*|*truncate*|*update*", &DROPS),
    row("messenger:stop-workers|messenger:failed:*|cache:pool:clear|cache:pool:prune|fos:user:*|sulu:*:purge|secrets:remove|secrets:set|enqueue:*", "--force|--all|-f|*prod*|remove", &DROPS),
    row("doctrine:fixtures:load|d:f:l|hautelook:fixtures:load", "", &DROPS).unless("--append"),
    row("orm:schema-tool:drop|messenger:failed:remove", "", &DROPS),
    row("", "", &MIGRATES).only_if(migrates_production),
];

#[rustfmt::skip]
pub(super) const NODE_TOOLS: &[Row] = &[
    row("migrate reset|fresh|refresh|down:all", "", &DROPS),
    row("db push", "--force-reset|--accept-data-loss", &DROPS),
    row("db drop|reset|wipe", "", &DROPS),
    row("schema:drop|db:drop*|db:migrate:undo:all|db:seed:undo:all|db:reset|db:wipe|migrate:fresh|migrate:reset|migrate:refresh|migration:fresh|migration:reset|migration:refresh|schema:fresh", "", &DROPS),
    row("migrate:rollback", "--all", &DROPS),
    row("migration:rollback", "--batch=0", &DROPS),
    row("drop", "", &DROPS),
    row("push", "--force", &DROPS),
    row("schema:sync", "-f|--force", &DROPS),
    row("", "", &MIGRATES).only_if(migrates_production),
];

/// Tools of other languages that change schemas.
#[rustfmt::skip]
pub(super) const MIGRATIONS: &[Row] = &[
    row("** downgrade base|-all|zero", "", &DROPS).unless("--sql"),
    row("** reset|drop|drop-all|dropAll|drop-db|rollback-all|down-to|to-zero|clean|nuke|wipe|redo-all|unlock|force", "", &DROPS).unless("status|info|validate|history"),
    row("clean|drop|reset|drop-all|dropAll|erase|wipe|fresh", "", &DROPS),
    row("down", "-all|--all|0", &DROPS),
    row("down", "", &DROPS).only_if(undoes_all),
    row("down-to 0", "", &DROPS),
    row("database|db|schema|migrate|migration drop|reset|clean|fresh|refresh|wipe", "", &DROPS),
    row("ef database drop", "", &DROPS),
    row("ef database update 0", "", &DROPS),
    row("rollback", "-t=0|--target=0|--all|-a", &DROPS),
    row("rollback*|rollback-*", "--count=*|--tag=*", &DROPS),
    row("rollback-count|rollback-to-date|rollbackCount|rollbackToDate|drop-all|release-locks", "", &DROPS),
    row("", "", &MIGRATES).only_if(migrates_production),
];

#[rustfmt::skip]
pub(super) const MIX: &[Row] = &[
    row("ecto.drop|ecto.reset|ash.reset|ash_postgres.drop", "", &DROPS),
    row("ecto.rollback", "--all|-n=*|--to=*|-v=*", &DROPS).unless("-n=1|--n=1"),
    row("ecto.migrate|ecto.rollback|run|eval|rpc", "env:MIX_ENV=prod", &MIGRATES),
    row("ecto.load|event_store.drop|event_store.reset|oban.drop", "", &DROPS),
    row("hex.publish|hex.retire|hex.owner", "", &PUBLISHES),
    row("", "", &MIGRATES).only_if(migrates_production),
];

#[rustfmt::skip]
pub(super) const WORDPRESS: &[Row] = &[
    row("db reset|drop|clean|import", "", &DROPS),
    row("** sql-drop|sql:drop|sql:sync|sql-sync|core:rsync|rsync|site:install|entity:delete|pm:uninstall|user:cancel|ucan|user:block|state:delete|config:import|cim|updatedb|updb", "", &DROPS).unless("sql:dump|status|st"),
    row("db query", "*delete*|*drop*|*update*|*truncate*", &DROPS),
    row("user create|set-role|add-role|add-cap|update", "--role=administrator|administrator|--user_pass=*", &DROPS),
    row("plugin|theme deactivate|update|delete|uninstall", "--all|-a", &DROPS),
    row("site empty|delete|deactivate|spam|archive", "", &DROPS),
    row("post|user|term|comment|media|option|plugin|theme|menu|role|widget delete|uninstall|reset|remove-all-caps", "", &DROPS),
    row("search-replace", "", &DROPS),
    row("core download|update", "--force", &DROPS),
    row("transient|cache|rewrite|cron delete-all", "", &DROPS),
    row("sql-drop|sql:drop|site:install|si|site-install|pm:uninstall|pmu|entity:delete|edel|sql-create|sql:create", "", &DROPS),
];

#[rustfmt::skip]
pub(super) const AIRFLOW: &[Row] = &[
    row("db|metadb reset|clean|downgrade", "", &DROPS),
    row("dags|tasks|pools|variables|connections|users|assets|jobs|asset|job|run|deployment|work-pool|flow|flow-run|block|schedule trigger|backfill|pause|unpause|clear|delete|import|set|cancel|wipe|resume|run|create", "", &CHANGES_DATA).unless("list|--local|test"),
    row("dags|tasks|pools|variables|connections|users delete|clear", "", &DROPS),
    row("metadata|migrate clear|delete|drop", "", &DROPS),
    row("run|build", "--full-refresh", &DROPS),
];

/// Whether a command names production.
fn names_production(command: &Program, context: &EvaluationContext<'_>) -> bool {
    let set = command.assignments.iter().chain(&context.environment);
    let words = command.words().chain(set.map(String::as_str));
    words
        .flat_map(|word| word.split(['=', '/', ':', '@', '.', '$', '{', '}']))
        .any(crate::danger::statements::is_production)
}

/// Whether a migration runs on production.
fn migrates_production(command: &Program, context: &EvaluationContext<'_>) -> bool {
    #[rustfmt::skip]
    const MIGRATING: &[&str] = &[
        "migrate", "upgrade", "update", "up", "deploy", "push", "apply", "seed", "load", "latest", "run", "rollback", "down", "downgrade", "undo", "revert", "fix", "sync", "repair",
    ];
    const READING: &[&str] = &[
        "status", "info", "validate", "history", "pending", "list", "current", "show", "version", "--check",
        "--plan", "check", "diff",
    ];
    let parts = |word: &str| word.split([':', '-', '.']).any(|part| MIGRATING.contains(&part));
    let reads = command
        .operands()
        .flat_map(|word| word.split(':'))
        .any(|word| READING.contains(&word));
    !reads && command.operands().any(parts) && names_production(command, context)
}

/// Whether a command of Django is about users: accounts are made for people, not for tests.
fn names_user(command: &Program, _: &EvaluationContext<'_>) -> bool {
    command.has_word(&[
        "createsuperuser",
        "changepassword",
        "tenant_destroy",
        "delete_tenant",
    ]) && !command.assignments.iter().any(|one| is_for_trial(one))
}

fn is_risky_artisan(command: &Program, context: &EvaluationContext<'_>) -> bool {
    !command.has_word(&["down", "key:generate"]) || context.compiled.request.only_looks()
}

/// `migrate … down` without a number undoes every migration.
fn undoes_all(command: &Program, _: &EvaluationContext<'_>) -> bool {
    command.name() == "migrate" && command.operands().last() == Some("down")
}
