//! Programs that administer databases and message queues. Statements are read in `statements`.

use super::super::EvaluationContext;
use super::kinds::{DROPS, EMPTIES_QUEUE, RESTORES};
use super::{Row, row};
use crate::danger::{is_for_trial, is_local};
use grov_domain::{ExecutionHost, Program};

#[rustfmt::skip]
pub(super) const POSTGRES: &[Row] = &[
    row("*", "", &DROPS).only_if(drops_lasting),
];

pub(super) const DROP_USER: &[Row] = &[row("*", "", &DROPS)];

pub(super) const CLUSTER_TOOLS: &[Row] = &[
    row("** drop|*drop*|shutdown|reset|delete", "", &DROPS),
    row("drop*|delete*|shutdown|flush-*|reset", "", &DROPS),
];

pub(super) const RESET_WAL: &[Row] = &[row("*", "", &DROPS).unless("-n")];

#[rustfmt::skip]
pub(super) const RESTORE: &[Row] = &[
    row("", "--clean|-c|--drop|--overwrite-tables|--overwrite|--force", &RESTORES),
    row("", "", &RESTORES).only_if(is_elsewhere).unless("-l|--list|-f|--file"),
];

/// A client that reads a dump from a file into a database on another machine.
#[rustfmt::skip]
pub(super) const CLIENTS: &[Row] = &[
    row("", "", &RESTORES).only_if(loads_dump_elsewhere),
    row("", ".restore*", &RESTORES),
];

#[rustfmt::skip]
pub(super) const REDIS: &[Row] = &[
    row("flushall|flushdb", "", &DROPS),
    row("shutdown|failover", "", &DROPS),
    row("del|unlink", "", &DROPS).only_if(is_fed),
    row("cluster reset|forget|flushslots", "", &DROPS),
    row("debug|script|config|function flushall|sleep|flush|rewrite|set", "", &DROPS).unless("notify-keyspace-events"),
    row("--cluster del-node|fix|reshard", "", &DROPS),
];

#[rustfmt::skip]
pub(super) const KAFKA: &[Row] = &[
    row("", "--delete|--reset-offsets|--delete-offsets", &EMPTIES_QUEUE),
    row("", "--offset-json-file|--execute", &EMPTIES_QUEUE),
    row("topic|group|acl|cluster delete|delete-records|trim-prefix", "", &EMPTIES_QUEUE),
];

#[rustfmt::skip]
pub(super) const QUEUES: &[Row] = &[
    row("reset|force_reset|purge_queue|delete_*|clear_*|stop_app|stop|shutdown|purge|purge-queue", "", &EMPTIES_QUEUE),
    row("** delete|purge|rm|remove|flush|drop", "", &EMPTIES_QUEUE),
    row("delete|purge|flush", "", &EMPTIES_QUEUE),
];

#[rustfmt::skip]
pub(super) const STORES: &[Row] = &[
    row("** delete|drop|del|rm|remove|purge", "", &DROPS),
    row("del|delete|drop|drop-database|delete-database", "", &DROPS),
];

/// Whether a database is dropped that the line does not create, and that is not for tests.
fn drops_lasting(command: &Program, context: &EvaluationContext<'_>) -> bool {
    let created = |name: &str| context.fresh_databases.contains(&name);
    !command
        .operands()
        .last()
        .is_some_and(|name| is_for_trial(name) || created(name))
}

/// Whether a database is on another machine.
fn is_elsewhere(command: &Program, _: &EvaluationContext<'_>) -> bool {
    let has_host = command.has("--host", 'h')
        || command
            .arguments
            .iter()
            .any(|argument| argument.contains("://") || argument.starts_with("--host="));
    has_host && !is_local(command)
}

fn loads_dump_elsewhere(command: &Program, context: &EvaluationContext<'_>) -> bool {
    let dump = |file: &String| {
        let file = file.to_ascii_lowercase();
        [".sql", ".dump", ".sql.gz", ".bak", ".psql"]
            .iter()
            .any(|ending| file.ends_with(ending))
    };
    command.reads.iter().any(dump) && is_elsewhere(command, context)
}

/// Whether `xargs` names the keys.
fn is_fed(command: &Program, _: &EvaluationContext<'_>) -> bool {
    let is_fed = |program: &String| program == "xargs" || program == "parallel";
    command.through.iter().any(is_fed) && command.host != ExecutionHost::Container
}
