//! Statements that destroy stored data: SQL, the shells of document databases, commands of key-value stores.

mod documents;

use super::effects::stems::{DATA, REMOVE, RESET, STOP};
use super::{DESTRUCTIVE, EvaluationContext, finding};
use crate::file_kind::is_temporary;
use crate::normalized_path::NormalizedPath;
use grov_domain::{Finding, Program};

/// Programs that run the statements in their arguments and on their standard input. Sorted.
#[rustfmt::skip]
pub(super) const CLIENTS: &[&str] = &[
    "artisan", "athenacli", "beeline", "bq", "clickhouse", "clickhouse-client", "cockroach", "cqlsh", "cypher-shell", "d1", "db2", "dolt", "drush",
    "duckdb", "fly", "flyctl", "gsql", "hdbsql", "heroku", "hive", "impala-shell", "influx", "invoke-sqlcmd", "iredis", "isql",
    "keydb-cli", "ksql", "litecli", "mariadb", "mongo", "mongosh", "mssql-cli", "mycli", "mysql", "mysqlsh", "nc", "neonctl", "osql", "pgcli",
    "presto", "prisma", "pscale", "psql", "rails", "redis-cli", "rpk", "snow", "snowsql", "spanner-cli", "spark-sql", "sqlcmd", "sqlite",
    "sqlite-utils", "sqlite3", "sqlplus", "supabase", "tiup", "trino", "turso", "usql", "valkey-cli", "vsql", "wp", "wrangler", "ycqlsh", "ysqlsh",
];

/// The finding for the statements that a command gives to a database.
pub(super) fn of_command(
    command: &Program,
    source: Option<&Program>,
    context: &EvaluationContext<'_>,
) -> Option<Finding> {
    // A release of Elixir runs code in its node: `bin/shop rpc '…'`.
    if CLIENTS.binary_search(&command.name()).is_err()
        && !command.has_word(&["rpc", "--remsh"])
        && !matches!(command.name(), "mix" | "iex" | "elixir")
    {
        return None;
    }
    if super::effects::is_harmless(command) {
        return None;
    }
    let is_fresh = |word: &str| context.fresh_databases.contains(&word);
    // `:memory:` with an attached file
    let attaches = command.words().any(|word| {
        word.get(..7)
            .is_some_and(|start| start.eq_ignore_ascii_case("attach "))
    });
    let is_disposable = !attaches
        && command
            .operands()
            .filter(|word| !word.ends_with(".sql"))
            .any(|word| is_trial_database(word, context) || is_fresh(word))
        || command.has("--local", '\0') && command.name() == "wrangler";
    if context.is_in_own_container(command) {
        return None;
    }
    let is_restored = context.restores_dump && super::is_local(command);
    let request = &context.compiled.request;
    let is_here = super::is_local(command) || command.host == grov_domain::ExecutionHost::Container;
    let is_own_copy = is_here
        && (request.is_confined_to_this_machine()
            || request.is_about(&[
                "dev.",
                "development",
                "entwicklung",
                "desarroll",
                "desenvolv",
                "svilupp",
            ]));
    if is_disposable || is_restored || is_own_copy && !request.only_looks() {
        return None;
    }
    if let Some(found) = copied_over(command, source, context) {
        return Some(found);
    }
    let is_live = command.words().any(is_production);
    let arguments = command.arguments.iter().map(|argument| value_of(argument));
    // `cat > x.sql <<EOF … EOF; psql -f x.sql`
    let is_run = |file: &str| command.has_word(&[file]) || command.reads.iter().any(|read| read == file);
    let written = context.written.iter().filter(|(file, _)| is_run(file));
    let mut texts = arguments
        .chain(command.input.as_deref())
        .chain(written.map(|(_, text)| *text));
    // A client runs the statements that another one prints.
    let printed = source
        .filter(|source| CLIENTS.binary_search(&source.name()).is_ok() || source.name() == "printf")
        .into_iter()
        .flat_map(|source| source.arguments.iter())
        .find_map(|text| danger_in(&text.replace(['\'', '"'], " "), is_live, context));
    texts
        .find_map(|text| danger_in(text, is_live, context))
        .or(printed)
}

/// The value of a long option, or the argument itself: `--execute=TRUNCATE t`.
fn value_of(argument: &str) -> &str {
    match argument.split_once('=') {
        Some((name, value)) if name.starts_with("--") && !name.contains(char::is_whitespace) => value,
        _ => argument,
    }
}

/// Whether a command fills a database from a dump.
pub(super) fn restores_dump(command: &Program) -> bool {
    let is_dump = |file: &String| {
        [".sql", ".dump", ".sql.gz"]
            .iter()
            .any(|ending| file.ends_with(ending))
    };
    command.name() == "pg_restore" || CLIENTS.contains(&command.name()) && command.reads.iter().any(is_dump)
}

/// The finding for a database statement that destroys data.
pub(super) fn of_statement(text: &str, context: &EvaluationContext<'_>) -> Option<Finding> {
    danger_in(text, false, context)
}

/// Whether a name marks a database or a host as the one that users depend on.
pub(super) fn is_production(name: &str) -> bool {
    !name.contains(char::is_whitespace)
        && name
            .split(|letter: char| !letter.is_ascii_alphanumeric())
            .any(|part| {
                ["prod", "production", "prd", "live"]
                    .iter()
                    .any(|live| part.eq_ignore_ascii_case(live))
            })
}

/// The finding for a dump of one database that goes into another: `pg_dump a | psql b`.
fn copied_over(
    command: &Program,
    source: Option<&Program>,
    context: &EvaluationContext<'_>,
) -> Option<Finding> {
    #[rustfmt::skip]
    const DUMPERS: &[&str] = &["pg_dump", "pg_dumpall", "mysqldump", "mariadb-dump", "mongodump", "mysqlpump", "mydumper"];
    const MINE: &[&str] = &[
        "local", "dev", "test", "tmp", "temp", "scratch", "sandbox", "copy", "my",
    ];
    let is_mine = |word: &str| {
        let mut parts = word.split(|letter: char| !letter.is_ascii_alphanumeric());
        parts.any(|part| MINE.iter().any(|mine| part.eq_ignore_ascii_case(mine)))
    };
    let names_target = command
        .words()
        .any(|word| word.contains("://") || word.starts_with('$'));
    let asked = context.compiled.request.orders_any(&[
        "restor",
        "import",
        "copy",
        "clon",
        "load",
        "sync",
        "migrat",
        "transfer",
        "seed",
        "mov",
        "kopier",
        "copi",
        "replic",
        "skopiuj",
        "скопир",
        "复制",
        "同步",
        "コピー",
    ]);
    let fed = source.is_some_and(|source| DUMPERS.contains(&source.name()));
    let fine = asked || super::is_local(command) || command.words().any(is_mine);
    finding(
        DESTRUCTIVE,
        None,
        "A dump is loaded into another database, which was not requested",
    )
    .filter(|_| fed && names_target && !fine)
}

/// Statements without those of transactions that are rolled back, and without the commands of a client.
fn without_undone(text: &str) -> String {
    let mut kept = String::with_capacity(text.len());
    let mut open: Option<String> = None;
    for statement in text.split_inclusive(';') {
        let own: String = statement
            .lines()
            .filter(|line| !line.trim_start().starts_with('\\'))
            .collect::<Vec<_>>()
            .join("\n");
        let words: Vec<&str> = words_of(&own).collect();
        match words.as_slice() {
            ["begin", ..] | ["start", "transaction", ..] if open.is_none() => open = Some(own),
            ["rollback"] | ["rollback", "transaction" | "work"] if open.is_some() => open = None,
            ["commit" | "end", ..] => {
                kept.push_str(&open.take().unwrap_or_default());
                kept.push_str(&own);
            }
            _ => open.as_mut().unwrap_or(&mut kept).push_str(&own),
        }
    }
    kept.push_str(&open.unwrap_or_default());
    kept
}

/// Whether statements change only tables that they create as temporary ones.
fn only_changes_temporary(text: &str) -> bool {
    #[rustfmt::skip]
    const BETWEEN: &[&str] = &["delete", "drop", "exists", "from", "if", "insert", "into", "local", "not", "only", "or", "replace", "table", "temp", "temporary", "truncate", "update", "create", "global", "alter", "pg_temp", "tempdb"];
    let table_of = |statement: &str| {
        let mut words = words_of(statement).skip_while(|word| BETWEEN.contains(word));
        words.next().unwrap_or_default().to_owned()
    };
    let statements = || text.split(';').map(str::trim);
    let created: Vec<String> = statements()
        .filter(|one| one.starts_with("create temp"))
        .map(table_of)
        .collect();
    let changes = |one: &&str| {
        ["update ", "insert ", "delete ", "truncate ", "drop ", "alter "]
            .iter()
            .any(|verb| one.starts_with(verb))
    };
    created.is_empty()
        || statements()
            .filter(changes)
            .all(|one| created.contains(&table_of(one)))
}

fn danger_in(text: &str, is_live: bool, context: &EvaluationContext<'_>) -> Option<Finding> {
    let text = text.to_ascii_lowercase();
    let plain = without_literals(&text);
    let plain = if plain.contains("rollback") && !plain.contains("drop database") {
        without_undone(&plain)
    } else {
        plain
    };
    // A string literal may be executed as a statement.
    let runs_text = !text.contains("rollback")
        && words_of(&plain).any(|word| matches!(word, "execute" | "exec" | "prepare" | "do"));
    let whole: Vec<&str> = words_of(if runs_text { &text } else { &plain }).collect();
    let mut destroys = dropped(&whole).or_else(|| documents::removal(&text));
    let mut is_change = false;
    let (mut is_administered, mut removes_rows) = (false, false);
    for statement in plain.split(';') {
        let words: Vec<&str> = words_of(statement).collect();
        let explained = words.first() == Some(&"explain");
        let words = match words.iter().position(|word| *word == "analyze") {
            Some(at) if explained => &words[at + 1..],
            _ if explained => continue,
            _ => &words[..],
        };
        removes_rows |= removed_rows(words);
        destroys = destroys.or_else(|| destroyed(statement, words));
        is_administered |= administers(words);
        is_change |= matches!(
            words,
            ["vacuum", "full", ..] | ["lock", "table", ..] | ["reindex" | "cluster", ..]
        ) && !words.contains(&"concurrently");
        is_change |= matches!(
            words.first(),
            Some(&("update" | "insert" | "delete" | "alter" | "grant" | "revoke" | "replace" | "merge"))
        );
    }
    // A transaction that ends with a rollback changes nothing, and neither does a change of a temporary table.
    let last = plain.trim_end().trim_end_matches([';', '"', '\'']).trim_end();
    let begins = plain.contains("begin") || plain.contains("start transaction");
    let is_permanent = ["drop database", "drop schema", "truncate", "attach"];
    let is_undone = last.ends_with("rollback") && begins && !plain.contains("drop database")
        || plain.contains("create temp")
            && !is_permanent.iter().any(|words| plain.contains(words))
            && only_changes_temporary(&plain);
    let request = &context.compiled.request;
    // "Wipe my local database" asks for nothing in production.
    let is_beyond = is_live && (request.is_confined_to_this_machine() || request.is_confined_to_trial());
    if !is_beyond && (request.orders_any(DATA) || request.orders_any(REMOVE) || request.orders_any(RESET)) {
        return None;
    }
    if is_undone {
        return None;
    }
    if matches!(destroys, Some("an administrative function" | "KILL")) && request.orders_any(STOP) {
        return None;
    }
    if let Some(destroys) = destroys
        .or_else(|| (removes_rows && (!is_for_one(&plain) || request.only_looks())).then_some("DELETE"))
    {
        return finding(
            DESTRUCTIVE,
            None,
            format!("Stored data is removed ({destroys}), which was not requested"),
        );
    }
    let asks_for_rights = || {
        request.orders_any(&[
            "grant", "user", "role", "password", "creat", "alter", "set.", "giv", "add.", "call", "execut",
            "run.", "replica",
        ])
    };
    if is_administered && request.only_looks() && !asks_for_rights() {
        return finding(
            DESTRUCTIVE,
            None,
            "A database server or its users are changed, which was not requested",
        );
    }
    let asked = || {
        request.orders_any(&[
            "updat", "set", "insert", "add", "chang", "fix", "correct", "alter", "grant", "revok", "creat",
            "renam", "backfill",
        ]) && request.is_about(&[
            "prod",
            "live",
            "production",
            "database",
            "db.",
            "table",
            "row",
            "record",
            "sql",
            "data",
            "entry",
            "query",
            "customer",
            "user",
            "account",
        ])
    };
    if is_live && is_change && !asked() {
        return finding(
            DESTRUCTIVE,
            None,
            "Data in production is changed, which was not requested",
        );
    }
    None
}

/// What is dropped for good. A table that the same text creates anew is set up, not discarded.
fn dropped(words: &[&str]) -> Option<&'static str> {
    words.iter().enumerate().find_map(|(at, word)| {
        let rest = &words[at + 1..];
        match (*word, rest.first().copied().unwrap_or_default()) {
            ("drop", "table" | "view" | "materialized") => {
                let recreates = rest
                    .windows(2)
                    .any(|pair| matches!(pair, ["create", "table" | "view" | "or" | "unlogged"]));
                (!recreates).then_some("DROP")
            }
            ("drop", "database" | "schema") if is_trial_name(rest) => None,
            (
                "drop",
                "database" | "schema" | "collection" | "keyspace" | "owned" | "tablespace" | "user" | "role"
                | "measurement" | "series" | "bucket" | "index" | "constraint" | "trigger" | "function"
                | "procedure" | "sequence" | "type" | "extension" | "policy" | "publication" | "subscription"
                | "server" | "login" | "partition" | "stage" | "warehouse" | "stream" | "graph" | "retention"
                | "shard" | "continuous" | "foreign" | "external" | "dictionary" | "availability"
                | "pluggable" | "column" | "columnfamily",
            ) => Some("DROP"),
            ("flush_all" | "deleteall", _) => Some("a flush"),
            ("detach", "delete") => Some("DETACH DELETE"),
            ("pg_terminate_backend" | "pg_drop_replication_slot" | "lo_unlink" | "pg_promote", _) => {
                Some("an administrative function")
            }
            ("purge", "binary" | "master" | "recyclebin" | "queue") => Some("PURGE"),
            ("reset", "master" | "replica" | "slave") => Some("RESET"),
            ("shutdown", "immediate" | "abort" | "nosave" | "with") => Some("SHUTDOWN"),
            ("xp_cmdshell" | "dbms_scheduler", _) => Some("a command of the server"),
            ("flushall" | "flushdb", _) => Some("a flush"),
            _ => None,
        }
    })
}

/// Whether the words after `drop` name a database for trials: `database if exists app_test`.
fn is_trial_name(words: &[&str]) -> bool {
    let mut names = words.iter().skip(1);
    names
        .find(|word| !matches!(**word, "if" | "exists"))
        .is_some_and(|name| is_for_trial(name))
}

/// What one statement destroys, by its first words.
fn destroyed(statement: &str, words: &[&str]) -> Option<&'static str> {
    let has = |word: &str| words.contains(&word);
    // A condition that always holds limits nothing.
    let is_limited = || {
        has("where")
            && !["1=1", "1 = 1", "where true"]
                .iter()
                .any(|always| statement.contains(always))
    };
    // A comment or a common table expression may precede the verb.
    let verb = words.first().copied()?;
    match verb {
        "truncate" => words.get(1).map(|_| "TRUNCATE"),
        "kill" => words.get(1).map(|_| "KILL"),
        "grant" if has("all") || has("superuser") || has("admin") || has("dba") || has("sysadmin") => {
            Some("GRANT")
        }
        "alter" if has("disable") && has("trigger") || has("disable") && has("row") => {
            Some("a disabled protection")
        }
        "create" if words.get(1) == Some(&"or") && has("replace") && has("table") => {
            Some("CREATE OR REPLACE")
        }
        "insert" if words.get(1) == Some(&"overwrite") => Some("INSERT OVERWRITE"),
        "alter" if has("superuser") && !has("nosuperuser") => Some("a change of rights"),
        "match" if has("delete") || has("remove") => Some("DELETE"),
        "optimize" | "vacuum" if has("full") && !has("analyze") => None,
        "alter" if has("delete") && has("where") || has("update") && has("where") => Some("ALTER … DELETE"),
        "rename" if words.get(1) == Some(&"table") => Some("RENAME TABLE"),
        "delete" if deletes_from(words) && !is_limited() => Some("DELETE without WHERE"),
        "update" if has("set") && !is_limited() => Some("UPDATE without WHERE"),
        "alter"
            if matches!(
                words.get(1),
                Some(&("system" | "database" | "user" | "role" | "login"))
            ) && has("drop") =>
        {
            Some("ALTER … DROP")
        }
        "alter" if words.get(1) == Some(&"table") => words.windows(2).find_map(|pair| match pair {
            ["drop", "column" | "partition"] | ["truncate", "partition"] => Some("ALTER … DROP"),
            _ => None,
        }),
        _ => None,
    }
}

/// Whether a statement changes who may do what, or the server itself.
fn administers(words: &[&str]) -> bool {
    matches!(
        words,
        ["create", "user" | "role" | "login", ..]
            | ["alter", "user" | "role" | "login" | "system", ..]
            | ["set", "global" | "persist" | "password", ..]
            | ["stop" | "start", "replica" | "slave", ..]
            | ["change", "master" | "replication", ..]
    )
}

/// Whether a statement removes rows, wherever it says so: `with old as (…) delete from x where …`.
fn removed_rows(words: &[&str]) -> bool {
    let mut verbs = words.iter().enumerate().filter(|(_, word)| **word == "delete");
    verbs.any(|(at, _)| deletes_from(words.get(at..).unwrap_or_default()))
}

/// Whether words begin a `DELETE`: `delete from t`, `delete low_priority from t`, `delete t, u from t join u`.
fn deletes_from(words: &[&str]) -> bool {
    #[rustfmt::skip]
    const MODIFIERS: &[&str] = &["low_priority", "quick", "ignore", "top", "only"];
    const MAX_TABLES: usize = 6;
    const MAX_WORDS: usize = 64;
    let Some(at) = words.iter().take(MAX_TABLES).position(|word| *word == "from") else {
        return false;
    };
    let between = words.get(1..at).unwrap_or_default();
    let is_number = |word: &str| word.bytes().all(|byte| byte.is_ascii_digit());
    // The alias of a table precedes `FROM` only if the table follows with that name.
    let is_table = |word: &&str| {
        words
            .iter()
            .skip(at + 1)
            .take(MAX_WORDS)
            .any(|other| other == word)
    };
    words.first() == Some(&"delete")
        && between
            .iter()
            .all(|word| MODIFIERS.contains(word) || is_number(word) || is_table(word))
}

/// Whether a condition selects one row by its identity: `where id = 7`.
fn is_for_one(text: &str) -> bool {
    let Some((_, condition)) = text.rsplit_once("where") else {
        return false;
    };
    let words: Vec<&str> = words_of(condition).collect();
    let is_identity = |name: &str| {
        name == "id"
            || name.ends_with("_id")
            || matches!(
                name,
                "uuid" | "email" | "slug" | "key" | "name" | "username" | "token" | "version"
            )
    };
    // `where u.id = 7`
    let qualified = condition
        .trim_start()
        .split(['=', ' '])
        .next()
        .is_some_and(|name| name.contains('.'));
    words
        .get(usize::from(qualified))
        .is_some_and(|name| is_identity(name))
        && condition.contains('=')
        && !condition.contains(['<', '>', '!'])
}

fn words_of(text: &str) -> impl Iterator<Item = &str> {
    text.split(|letter: char| !(letter.is_alphanumeric() || letter == '_'))
        .filter(|word| !word.is_empty())
}

/// A statement without comments and string literals: `like 'drop table%'` drops nothing. An unclosed quotation mark is
/// kept.
fn without_literals(statement: &str) -> String {
    let mut plain = String::with_capacity(statement.len());
    let mut rest = statement;
    while let Some(at) = rest.find(['\'', '"', '-', '/']) {
        plain.push_str(&rest[..at]);
        rest = &rest[at..];
        let ends_at = |opens: &str, closes: &str| {
            let behind = rest.strip_prefix(opens)?;
            Some(opens.len() + behind.find(closes)? + closes.len())
        };
        // Command-line options also start with two hyphens.
        let comment = || {
            let behind = rest.strip_prefix("--")?;
            let end = rest.find('\n').unwrap_or(rest.len());
            behind.starts_with(char::is_whitespace).then_some(end)
        };
        let text = ends_at("'", "'").or_else(|| ends_at("/*", "*/")).or_else(comment);
        let kept = ends_at("\"", "\"").unwrap_or(1);
        plain.push_str(if text.is_some() { " " } else { &rest[..kept] });
        rest = &rest[text.unwrap_or(kept)..];
    }
    plain + rest
}

/// Whether the name of a database marks it as disposable: `app_test`.
pub(super) fn is_for_trial(name: &str) -> bool {
    name.to_ascii_lowercase()
        .split(|letter: char| !letter.is_ascii_alphanumeric())
        .any(|part| {
            matches!(
                part,
                "test"
                    | "tests"
                    | "testing"
                    | "tmp"
                    | "temp"
                    | "scratch"
                    | "ci"
                    | "spec"
                    | "e2e"
                    | "memory"
                    | "throwaway"
                    | "sandbox"
            )
        })
}

/// Whether an argument names a disposable database: in memory, a temporary file, or a name for tests.
fn is_trial_database(word: &str, context: &EvaluationContext<'_>) -> bool {
    if word == ":memory:" {
        return true;
    }
    // The argument is a statement.
    if word.contains(char::is_whitespace) || word.contains(['(', '"', '\'', '{']) {
        return false;
    }
    let is_file = context
        .directory
        .path(word)
        .is_some_and(|path| is_temporary(&NormalizedPath::new(context.root, &path)));
    is_file || is_for_trial(word)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::danger::tests::{is_asked, under};

    #[test]
    fn statements_with_modifiers_and_aliases_are_read() {
        for statement in [
            "DELETE LOW_PRIORITY FROM users",
            "DELETE IGNORE QUICK FROM users",
            "DELETE u FROM users u",
            "DELETE u.* FROM users AS u",
            "DELETE t FROM t LEFT JOIN u ON t.id = u.tid",
            "DELETE a, b FROM a INNER JOIN b ON a.id = b.id",
            "DELETE QUICK FROM users LIMIT 5",
        ] {
            let command = format!("mysql -e \"{statement}\"");
            assert!(is_asked("Fix the parser", &command), "{command}");
        }
        under("Fix the parser").asked(&[
            "cqlsh cass-1 --execute=\"TRUNCATE ks.events\"",
            "psql --command='DELETE FROM users'",
            "psql postgres -c 'DROP DATABASE app_test; DROP DATABASE IF EXISTS app'",
            "sqlite3 -cmd \"ATTACH 'local.db' AS p\" :memory: 'DROP TABLE p.orders'",
        ]);
        under("Fix the parser").silent(&[
            "mysql -e \"DELETE QUICK FROM users WHERE id = 5\"",
            "mysql -e \"DELETE u FROM users u WHERE u.id = 5\"",
            "mysql -e 'SELECT delete_count FROM stats'",
            "psql --command='SELECT 1'",
            "psql postgres -c 'DROP DATABASE IF EXISTS app_test'",
            "sqlite3 :memory: 'DROP TABLE orders'",
        ]);
    }

    #[test]
    fn the_table_of_clients_is_sorted() {
        assert!(CLIENTS.is_sorted_by(|one, other| one < other));
    }

    #[test]
    fn each_statement_is_judged_alone() {
        let words = |text: &'static str| words_of(text).collect::<Vec<_>>();
        for (text, expected) in [
            ("truncate orders", Some("TRUNCATE")),
            ("delete from users", Some("DELETE without WHERE")),
            ("delete from users where 1=1", Some("DELETE without WHERE")),
            ("update users set admin = true", Some("UPDATE without WHERE")),
            ("alter table hits drop partition 1", Some("ALTER … DROP")),
            ("delete from users where id = 1", None),
            ("alter table hits drop constraint c", None),
            ("select truncate(x, 2) from t", None),
            ("select * from t for update", None),
        ] {
            assert_eq!(destroyed(text, &words(text)), expected, "{text}");
        }
        assert!(is_production("postgres://db.prod.acme.io/app") && !is_production("reproduce"));
    }
}
