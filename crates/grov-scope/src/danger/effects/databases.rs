//! Programs that administer databases and message queues. Statements are read in `statements`.

use super::super::EvaluationContext;
use super::kinds::{ACCESS, CHANGES_DATA, DROPS, EMPTIES_QUEUE, RESTORES};
use super::{Row, row};
use crate::danger::{is_for_trial, is_local};
use grov_domain::{ExecutionHost, Program};

#[rustfmt::skip]
pub(super) const POSTGRES: &[Row] = &[
    row("*", "", &DROPS).only_if(drops_lasting),
];

pub(super) const DROP_USER: &[Row] = &[row("*", "", &DROPS)];

pub(super) const CLUSTER_TOOLS: &[Row] = &[
    row("** drop|*drop*|shutdown|reset|delete|decommission|drain|recommission", "", &DROPS),
    row("removenode|assassinate|cleanup|drain|clearsnapshot|truncatehints|resetlocalschema|decommission|disablebinary|disablegossip|stopdaemon|rebuild|move", "", &DROPS).unless("status|info"),
    row("kill|password|stop-slave|stop-replica|old-password", "", &DROPS),
    row("stop|promote|restart|kill|initdb|init", "", &DROPS),
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
    row("del|unlink|hdel|ltrim|xtrim|zremrangebyrank|zremrangebyscore|spop|lpop|rpop|rename|swapdb|expire|getdel|json.del|ft.dropindex|ft.drop|graph.delete|ts.del", "", &DROPS).only_if(is_shared),
    row("slaveof|replicaof|migrate|restore", "", &DROPS),
    row("acl deluser|setuser|load", "", &DROPS),
    row("client kill|pause|no-evict", "", &DROPS),
    row("eval|evalsha|fcall", "*flush*|*'del'*|*\"del\"*|*unlink*", &DROPS),
    row("set|hset|mset|incr|lpush|rpush|publish|setex|append", "", &CHANGES_DATA).only_if(is_shared),
    row("cluster reset|forget|flushslots", "", &DROPS),
    row("debug|script|config|function flushall|sleep|flush|rewrite|set", "", &DROPS).unless("notify-keyspace-events"),
    row("--cluster del-node|fix|reshard", "", &DROPS),
];

#[rustfmt::skip]
pub(super) const KAFKA: &[Row] = &[
    row("", "--delete|--delete-offsets", &EMPTIES_QUEUE),
    row("", "--reset-offsets --execute", &EMPTIES_QUEUE),
    row("", "--offset-json-file|--execute|--remove|--alter", &EMPTIES_QUEUE).unless("--verify|--generate"),
    row("consumer-group|consumer-groups|topics|records|partition|acls|user|clientquotas|security|schema|registry|connector|connect ** delete|reset|purge|alter|create|set|decommission|remove", "", &EMPTIES_QUEUE),
    row("reset|produce|alter|decommission", "", &EMPTIES_QUEUE),
    row("topic|group|acl|cluster delete|delete-records|trim-prefix", "", &EMPTIES_QUEUE),
];

#[rustfmt::skip]
pub(super) const QUEUES: &[Row] = &[
    row("reset|force_reset|purge_queue|delete_*|clear_*|stop_app|stop|shutdown|purge|purge-queue", "", &EMPTIES_QUEUE),
    row("** delete|purge|rm|remove|flush|drop", "", &EMPTIES_QUEUE),
    row("delete|purge|flush", "", &EMPTIES_QUEUE),
    row("forget_cluster_node|close_all_connections|set_permissions|change_password|add_user|set_policy|set_user_tags|rotate_logs|set_vm_memory_high_watermark|rename_cluster_node|restart_vhost|publish|declare|pub|request", "", &CHANGES_DATA).only_if(is_shared),
];

#[rustfmt::skip]
pub(super) const STORES: &[Row] = &[
    row("** delete|drop|del|rm|remove|purge|*-delete|*-flush|restore|reset|deleteall|rmr|drop-*|load", "", &DROPS).unless("list|get|dump|help|info"),
    row("database|db load|restore|import|migrate", "--overwrite*|--force|--replace", &DROPS),
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

/// Programs that start, stop or create a database server.
#[rustfmt::skip]
pub(super) const SERVERS: &[Row] = &[
    row("stop|promote|restart|kill|drop|upgrade|reload", "", &CHANGES_DATA).only_if(is_outside_project),
    row("* * stop|restart|promote|drop", "", &CHANGES_DATA).only_if(is_outside_project),
];

/// Tools that change a live table in place.
#[rustfmt::skip]
pub(super) const LIVE_CHANGES: &[Row] = &[row("", "--execute|--purge|--dest|--no-dry-run|--allow-on-master", &DROPS), row("", "--kill|--kill-query", &DROPS)];

/// Creators of users of a database.
pub(super) const CREATE_USER: &[Row] = &[row("", "-s|--superuser|-r|--createrole", &ACCESS)];

/// Publishers of messages to devices.
pub(super) const DEVICES: &[Row] = &[row("", "-h|--host|-L|--url|-b|-P", &CHANGES_DATA)
    .only_if(is_shared)
    .unless("-C|-Q|-l")];

/// Loads of dumps into a live database.
#[rustfmt::skip]
pub(super) const IMPORTS: &[Row] = &[row("", "table_exists_action=replace|table_exists_action=truncate|--overwrite*", &RESTORES), row("", "", &RESTORES).only_if(is_elsewhere)];

/// Whether the server is on another machine.
fn is_shared(command: &Program, _: &EvaluationContext<'_>) -> bool {
    let named = [
        "-h",
        "--host",
        "-u",
        "--url",
        "--server",
        "--bootstrap-server",
        "-H",
        "-n",
        "-b",
        "-L",
    ];
    let mut values = command
        .arguments
        .windows(2)
        .filter(|pair| named.contains(&pair[0].as_str()));
    (values.any(|pair| !pair[1].starts_with('-'))
        || command
            .words()
            .any(|word| word.contains("://") || word.starts_with("--host=")))
        && !is_local(command)
}

fn is_outside_project(command: &Program, _: &EvaluationContext<'_>) -> bool {
    // `pg_ctl -D ./data stop` stops the server of a project.
    !command
        .words()
        .any(|word| word.starts_with("./") || is_for_trial(word) || word.contains("tmp"))
}

/// Whether `xargs` names the keys.
fn is_fed(command: &Program, _: &EvaluationContext<'_>) -> bool {
    let is_fed = |program: &String| program == "xargs" || program == "parallel";
    command.through.iter().any(is_fed) && command.host != ExecutionHost::Container
}
