//! What the shell of a document database removes: `db.users.drop()`, `deleteMany({})`.

/// Calls that remove something whatever their arguments are.
#[rustfmt::skip]
const REMOVALS: &[&str] = &[
    ".dropdatabase(", ".drop()", ".drop({", ".dropindexes(", ".dropindex(", ".dropuser(", ".dropallusers(", ".droprole(", ".dropallroles(", ".shutdownserver(",
    "sh.removeshard", ".renamecollection(", ".dropsearchindex(",
];

/// Commands that a database runs by their names: `runCommand({drop: "users"})`.
#[rustfmt::skip]
const COMMANDS: &[&str] = &[
    "drop", "dropdatabase", "dropindexes", "dropuser", "dropallusersfromdatabase", "droprole", "dropallrolesfromdatabase", "shutdown", "renamecollection", "removeshard", "killop",
    "fsync", "replsetstepdown", "deleteindexes", "converttocapped",
];

/// Calls whose first argument selects the documents.
const SELECTIONS: &[&str] = &[".deletemany(", ".remove(", ".updatemany("];

/// What a text removes.
pub(super) fn removal(text: &str) -> Option<&'static str> {
    let dense = |text: &str| -> String { text.chars().filter(|letter| !letter.is_whitespace()).collect() };
    let whole = dense(text);
    if ["repo.delete_all(", "repo.update_all(", "repo.delete!("]
        .iter()
        .any(|call| whole.contains(call))
    {
        return Some("Repo.delete_all");
    }
    // What stands in a string is the value of a query.
    let code = dense(&without_strings(text));
    if !code.contains("db.") && !code.contains("db[") {
        return None;
    }
    let runs = |call: &str| {
        whole.match_indices(call).any(|(at, call)| {
            let rest = whole[at + call.len()..].trim_start_matches(['{', '"', '\'']);
            COMMANDS.iter().any(|name| {
                let rest = rest
                    .strip_prefix(name)
                    .map(|rest| rest.trim_start_matches(['"', '\'']));
                rest.is_some_and(|rest| rest.starts_with([':', ')', ',']))
            })
        })
    };
    let is_run = code.contains("command(") && ["runcommand(", "admincommand("].iter().any(|call| runs(call));
    // `rs` is the set of replicas, but `users.remove(…)` removes documents.
    let is_name = |letter: char| letter.is_alphanumeric() || letter == '_';
    let removes_member = code.match_indices("rs.remove(").any(|(at, _)| {
        let before = code.get(..at).unwrap_or_default();
        !before.ends_with(is_name)
    });
    if is_run || removes_member || REMOVALS.iter().any(|call| code.contains(call)) {
        return Some("drop");
    }
    let all = |call: &str| {
        code.match_indices(call).any(|(at, call)| {
            let rest = &code[at + call.len()..];
            rest.starts_with(')') || rest.starts_with("{})") || rest.starts_with("{},")
        })
    };
    // `deleteMany({_id: …})` removes one.
    let many = || {
        whole.match_indices(".deletemany({").any(|(at, call)| {
            let filter = whole[at + call.len()..].trim_start_matches(['"', '\'']);
            !filter.starts_with("_id") && !filter.starts_with("id")
        })
    };
    let is_many = code.contains(".deletemany({") && many();
    (SELECTIONS.iter().any(|call| all(call)) || is_many).then_some("deleteMany")
}

/// Code without the content of its strings. Strings end on the line where they begin; others are kept.
fn without_strings(code: &str) -> String {
    let mut plain = String::with_capacity(code.len());
    let mut rest = code;
    while let Some(at) = rest.find(['"', '\'']) {
        let (before, from) = rest.split_at(at);
        plain.push_str(before);
        let quote = if from.starts_with('"') { '"' } else { '\'' };
        let inside = from.get(1..).unwrap_or_default();
        let line = inside.split('\n').next().unwrap_or_default();
        let end = line
            .char_indices()
            .find(|(at, letter)| *letter == quote && !line[..*at].ends_with('\\'));
        plain.push(quote);
        rest = match end {
            Some((end, _)) => {
                plain.push(quote);
                inside.get(end + 1..).unwrap_or_default()
            }
            // An apostrophe in a comment.
            None => {
                plain.push_str(line);
                inside.get(line.len()..).unwrap_or_default()
            }
        };
    }
    plain + rest
}

#[cfg(test)]
mod tests {
    use crate::danger::tests::is_asked;

    #[test]
    fn calls_and_commands_that_remove_are_found() {
        for code in [
            "db.users.drop()",
            "db[\"users\"].drop()",
            "db.getCollection(\"users\").deleteMany({})",
            "db.users.updateMany({}, {$set: {admin: true}})",
            "db.users.deleteMany({ age: { $gt: 3 } })",
            "db.dropAllUsers()",
            "db.dropAllRoles()",
            "db.adminCommand({shutdown: 1})",
            "db = connect(\"a\"); db.hello(); rs.remove(\"mongo-3:27017\")",
            "db.adminCommand({ \"dropDatabase\": 1 })",
            "db.getSiblingDB(\"prod\").runCommand({drop: \"users\"})",
            "db.runCommand(\"dropDatabase\")",
            "db.getSiblingDB(\"admin\").shutdownServer()",
        ] {
            let command = format!("mongosh mongodb://db1.corp/shop --eval '{code}'");
            assert!(is_asked("Fix the parser", &command), "{command}");
        }
        for code in [
            "db.users.find({q: \"db.users.deleteMany({})\"})",
            "db.users.countDocuments({note: \"please .drop() it\"})",
            "db.runCommand({ping: 1})",
            "db.users.remove({_id: 1})",
            "db.adminCommand({serverStatus: 1})",
            "db.users.find({}).limit(3)",
        ] {
            let command = format!("mongosh mongodb://db1.corp/shop --eval '{code}'");
            assert!(!is_asked("Fix the parser", &command), "{command}");
        }
    }
}
