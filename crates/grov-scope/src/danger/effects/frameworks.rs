//! Frameworks and migration tools that manage a database.

use super::super::EvaluationContext;
use super::kinds::{DROPS, PUBLISHES};
use super::{Row, row};
use grov_domain::Program;

#[rustfmt::skip]
pub(super) const DJANGO: &[Row] = &[
    row("flush|reset_db|reset_schema|drop_test_database|sqlflush_all", "", &DROPS),
    row("migrate * zero", "", &DROPS),
    row("clear_*|delete_*|purge_*|truncate_*|wipe_*|drop_*", "", &DROPS).unless("clear_cache|clear_sessions"),
];

#[rustfmt::skip]
pub(super) const RAILS: &[Row] = &[
    row("", "db:drop*|db:reset*|db:purge*|db:migrate:reset*|db:truncate_all|db:seed:replant|db:nuke*|db:wipe*|*:purge_all", &DROPS),
    row("", "db:schema:load*|db:structure:load*", &DROPS).unless("db:create*"),
    row("release|publish|deploy", "", &PUBLISHES),
    row("release:*|gem:push|deploy:*", "", &PUBLISHES),
];

#[rustfmt::skip]
pub(super) const LARAVEL: &[Row] = &[
    row("migrate:fresh|migrate:reset|migrate:refresh|db:wipe|queue:flush|queue:clear|model:prune|telescope:clear|scout:flush|horizon:clear", "", &DROPS),
    row("migrate|db:seed|migrate:rollback", "--env=production|--env=prod", &DROPS),
];

#[rustfmt::skip]
pub(super) const CONSOLE: &[Row] = &[
    row("doctrine:database:drop|doctrine:schema:drop|d:d:d|d:s:d|doctrine:mongodb:schema:drop", "", &DROPS),
    row("doctrine:fixtures:load|d:f:l|hautelook:fixtures:load", "", &DROPS).unless("--append"),
    row("orm:schema-tool:drop|messenger:failed:remove", "", &DROPS),
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
];

/// Tools of other languages that change schemas.
#[rustfmt::skip]
pub(super) const MIGRATIONS: &[Row] = &[
    row("downgrade base|-all|zero", "", &DROPS),
    row("clean|drop|reset|drop-all|dropAll|erase|wipe|fresh", "", &DROPS),
    row("down", "-all|--all|0", &DROPS),
    row("down", "", &DROPS).only_if(undoes_all),
    row("down-to 0", "", &DROPS),
    row("database|db|schema|migrate|migration drop|reset|clean|fresh|refresh|wipe", "", &DROPS),
    row("ef database drop", "", &DROPS),
    row("ef database update 0", "", &DROPS),
    row("rollback", "-t=0|--target=0|--all|-a", &DROPS),
    row("rollback*|rollback-*", "--count=*|--tag=*", &DROPS),
];

#[rustfmt::skip]
pub(super) const MIX: &[Row] = &[
    row("ecto.drop|ecto.reset|ash.reset|ash_postgres.drop", "", &DROPS),
    row("ecto.rollback", "--all", &DROPS),
    row("hex.publish|hex.retire|hex.owner", "", &PUBLISHES),
];

#[rustfmt::skip]
pub(super) const WORDPRESS: &[Row] = &[
    row("db reset|drop|clean|import", "", &DROPS),
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
    row("dags|tasks|pools|variables|connections|users delete|clear", "", &DROPS),
    row("metadata|migrate clear|delete|drop", "", &DROPS),
    row("run|build", "--full-refresh", &DROPS),
];

/// `migrate … down` without a number undoes every migration.
fn undoes_all(command: &Program, _: &EvaluationContext<'_>) -> bool {
    command.name() == "migrate" && command.operands().last() == Some("down")
}
