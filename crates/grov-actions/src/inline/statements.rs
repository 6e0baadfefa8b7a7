//! Database statements in code: SQL in a text, and the calls of object mappers and database drivers that remove data.
//!
//! The result is an equivalent SQL statement: `User.objects.all().delete()` is `DELETE FROM User`.

use super::Language;
use super::calls::{Call, Link};
use super::values::Value;
use crate::has_word;

/// The last names of functions that run the SQL statement in their first argument.
const RUN_STATEMENT: &str = "execute executescript executemany exec_driver_sql execute_sql run_sql exec_query query raw \
      unprepared statement prepare exec run do all read_sql \
      executeRaw executeRawUnsafe queryRaw queryRawUnsafe select_all";

/// The last names of functions that empty or drop something, whatever their arguments.
#[rustfmt::skip]
const DESTROY: &[(&str, &str)] = &[
    ("drop_all drop_all_tables dropAllTables dropSchema drop_schema", "DROP SCHEMA"),
    ("drop_database dropDatabase", "DROP DATABASE"),
    ("drop_collection dropCollection", "DROP COLLECTION"),
    ("flushall flushAll flush_all flushdb flushDb flushDB", "FLUSHALL"),
];

/// The last names of functions that remove all documents if their filter is empty.
const DELETE_MANY: &str = "deleteMany delete_many remove";

/// Methods that select a single record or the records of a known value.
const SINGLE: &str =
    "get find find_by first last first_or_create take get_or_create limit whereKey findOne get_object_or_404";

/// Methods that select records by a condition.
const CONDITION: &str =
    "filter exclude where whereIn where_not orWhere filter_by andWhere not match having eq in is";

/// The last names of functions that open a database. Its name is in an argument.
const CONNECT: &str = "connect create_engine createConnection createClient createPool MongoClient open_database DB Database \
      Pool Client PDO mysqli Connection Sequelize establish_connection new";

/// The statement that a call runs, if it removes data.
pub(super) fn statement(language: Language, call: &Call) -> Option<String> {
    let (before, name) = call.name.rsplit_once('.').unwrap_or(("", &call.name));
    if has_word(RUN_STATEMENT, name) && (!before.is_empty() || name.contains("Raw")) {
        return call
            .text(0)
            .and_then(|text| removes_data(&text.value).then(|| text.value.clone()));
    }
    if let Some((_, statement)) = DESTROY.iter().find(|(names, _)| has_word(names, name)) {
        return (!before.is_empty()).then(|| (*statement).to_owned());
    }
    let links = &call.receiver;
    let receives = |names: &str| links.iter().any(|link| has_word(names, &link.name));
    let is_bare = call.arguments.is_empty() && call.named.is_empty();
    let table = table_of(call, before);
    let removes = match (language, name) {
        (_, name) if has_word(DELETE_MANY, name) => {
            let is_document = name != "remove" || before.starts_with("db.");
            is_document && (is_bare && name != "remove" || call.has_empty_object && call.named.is_empty())
        }
        (Language::Ruby, "delete_all" | "destroy_all" | "destroy" | "destroy!") => is_bare,
        // Dictionaries and sets have no `delete` without arguments.
        (Language::Python, "delete") => {
            is_bare && (receives("objects query all_objects") || !before.is_empty())
        }
        (Language::Php, "delete" | "forceDelete") => is_bare && !before.is_empty(),
        (Language::Php, "truncate") => !before.is_empty(),
        (Language::JavaScript, "truncate") => {
            is_bare
                && links
                    .iter()
                    .any(|link| has_word("knex db table from", &link.name))
                || call.named("cascade").is_some()
        }
        (Language::JavaScript, "del" | "delete") => is_bare && receives("knex db table from"),
        (Language::JavaScript, "destroy") => call.named("truncate").is_some() || call.has_empty_object,
        (Language::JavaScript, "drop") if before.starts_with("db.") && is_bare => {
            return Some(format!("DROP COLLECTION {table}"));
        }
        (Language::Php, "drop" | "dropIfExists") if before == "Schema" => {
            return Some(format!("DROP TABLE {table}"));
        }
        _ => false,
    };
    // One record, or those with a known value.
    let is_one = is_narrow(links) || language == Language::Python && links.is_empty() && name == "delete";
    let condition = if is_one { " WHERE id = 1" } else { "" };
    removes.then(|| format!("DELETE FROM {table}{condition}"))
}

/// What the object of an interface to a service may be.
#[rustfmt::skip]
const OBJECTS: &str = "access account alarm all app application bucket branch certificate channel cluster collection connection container       customer database dataset db deployment disk distribution document domain droplet environment event file folder function group image index indices instance       instances item items job key keyspace kubernetes lifecycle load member message messages model namespace namespaced network node object objects objective org page payment pipeline       pod policy project pull queue record release repo repository resource role route rule run schema secret security server service site snapshot stack       stream subnet subscription table tables tag team ticket topic user users version vm volume vpc webhook workflow workspace zone db_instance blob";

/// The command line of an imaginary client for a call that removes something from a service: `delete-bucket` for
/// `s3.delete_bucket(…)`, `deleteBucket(…)` and `new DeleteBucketCommand(…)`.
pub(super) fn service_removal(call: &Call) -> Option<String> {
    let (before, name) = call.name.rsplit_once('.').unwrap_or(("", &call.name));
    // `dataset.delete({ force: true })`, `run.delete(delete_artifacts=True)`: collections have no such arguments.
    let named = |name: &str| call.named(name).is_some();
    if name == "delete"
        && !before.is_empty()
        && [
            "force",
            "delete_artifacts",
            "delete_contents",
            "recursive",
            "Bucket",
            "projectId",
        ]
        .iter()
        .any(|one| named(one))
    {
        return Some("api delete-object".to_owned());
    }
    let is_command = name.ends_with("Command");
    let kebab = kebab_case(name.strip_suffix("Command").unwrap_or(name));
    let (verb, object) = kebab.split_once('-')?;
    let object = object.split('-').next().unwrap_or_default();
    let removes = matches!(
        verb,
        "delete" | "terminate" | "destroy" | "drop" | "purge" | "deregister" | "batch"
    );
    let is_service = !before.is_empty() && before != "self" && before != "this" || is_command;
    let is_removal = removes && has_word(OBJECTS, object) || verb == "batch" && object == "delete";
    (is_service && is_removal && !matches!(before, "os" | "shutil" | "fs" | "np" | "df" | "pd"))
        .then(|| format!("api {kebab}"))
}

/// A name in lower case with hyphens: `delete-bucket`.
fn kebab_case(name: &str) -> String {
    let mut kebab = String::with_capacity(name.len() + 4);
    for letter in name.chars() {
        if letter.is_uppercase() && !kebab.is_empty() || letter == '_' {
            kebab.push('-');
        }
        if letter != '_' {
            kebab.extend(letter.to_lowercase());
        }
    }
    kebab
}

/// Whether the chain of calls selects single records, or those with a known value.
fn is_narrow(links: &[Link]) -> bool {
    links
        .iter()
        .any(|link| has_word(SINGLE, &link.name) || has_word(CONDITION, &link.name) && link.compares)
}

/// The name of the table or the model, for display.
fn table_of<'c>(call: &'c Call, before: &'c str) -> &'c str {
    let is_model = |name: &&str| {
        !has_word("objects all filter exclude where query table db ?", name) && !name.is_empty()
    };
    let own = before.rsplit('.').find(is_model);
    let of_chain = || {
        call.receiver
            .iter()
            .map(|link| link.name.as_str())
            .rfind(is_model)
    };
    own.or_else(of_chain).unwrap_or("records")
}

/// The name of the database that a call opens, if it is shown.
pub(super) fn opened_database(call: &Call) -> Option<&str> {
    let name = call.name.rsplit('.').next().unwrap_or_default();
    if !has_word(CONNECT, name) {
        return None;
    }
    let named = ["dbname", "database", "db", "url", "uri", "dsn"]
        .iter()
        .find_map(|name| call.named(name));
    let shown = named.and_then(Value::text).or_else(|| call.text(0))?;
    Some(shown.value.as_str())
}

/// Whether a SQL statement begins with the removal of data.
fn removes_data(text: &str) -> bool {
    let mut words = text.split_ascii_whitespace().map(str::to_ascii_lowercase);
    matches!(
        words.next().as_deref(),
        Some(
            "drop"
                | "truncate"
                | "delete"
                | "begin"
                | "begin;"
                | "set"
                | "flushall"
                | "flushdb"
                | "alter"
                | "with"
                | "update"
                | "grant"
                | "purge"
                | "match"
                | "create"
        )
    )
}
