//! Which files a constraint forbids to change.
//!
//! Only what is certain counts: a file or folder named by its path as the very object of "change" or a word like it, or
//! as what is kept as it is. "Do not change the signature of `f` in src/a.rs" forbids no file.

use super::clean::Cleaned;
use super::scope::is_path;
use super::text::{Word, fold, words};
use super::{constraints, scope};

/// At most so many constraints are read, and so much of each.
const MOST: usize = 40;
const MOST_BYTES: usize = 400;

/// What constraints say of files.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Limits {
    forbidden: Vec<Limit>,
    /// Every one allows its own paths alone.
    only: Vec<Limit>,
    /// What the newest instruction names outside its constraints: the user may take back what was said before.
    named_last: Vec<String>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct Limit {
    /// The constraint's own words.
    text: String,
    paths: Vec<String>,
    /// What "except" takes out.
    except: Vec<String>,
}

/// A change that a constraint forbids.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Breach {
    pub(super) file: String,
    pub(super) constraint: String,
}

impl Limits {
    /// The limits in `constraints`, and in the newest instruction.
    pub(super) fn new(constraints: &[String], newest: &Cleaned) -> Self {
        let mut last = Vec::new();
        constraints::find(&newest.sentences(), &mut last);
        let limited: Vec<String> = last.iter().flat_map(|text| scope::paths(text)).collect();
        let mut named_last = scope::paths(&newest.whole);
        named_last.retain(|path| !limited.contains(path));
        let mut limits = Self {
            named_last,
            ..Self::default()
        };
        for text in constraints.iter().chain(&last).take(MOST) {
            limits.read(&text[..text.floor_char_boundary(MOST_BYTES)]);
        }
        limits
    }

    fn read(&mut self, text: &str) {
        let words = words(text);
        // What holds only sometimes is not certain.
        if words.iter().any(|word| word.is_any(CONDITIONS)) {
            return;
        }
        let exception = words.iter().position(|word| word.is_any(EXCEPTIONS));
        let (rule, except) = words.split_at(exception.unwrap_or(words.len()));
        let limit = |paths| Limit {
            text: text.to_owned(),
            paths,
            except: paths_in(except),
        };
        if let Some(at) = rule.iter().position(|word| word.is_any(ONLY)) {
            let changes = rule.iter().any(is_change);
            let paths = paths_in(rule);
            let negated = rule[..at].iter().any(is_negation);
            if changes && !negated && !paths.is_empty() {
                self.only.push(limit(paths));
            }
            return;
        }
        if let Some(verb) = forbidden_change(rule) {
            let paths = object_of(&rule[verb + 1..]);
            if !paths.is_empty() {
                self.forbidden.push(limit(paths));
            } else if !except.is_empty() && rule[verb + 1..].iter().any(|word| word.is_any(ANYTHING)) {
                let paths = paths_in(except);
                if !paths.is_empty() {
                    self.only.push(limit(paths));
                }
            }
            return;
        }
        let keeps = rule.first().is_some_and(|word| word.is_any(KEEPING));
        if keeps && rule.iter().any(|word| word.is_any(UNCHANGED)) {
            let paths = object_of(&rule[1..]);
            if !paths.is_empty() {
                self.forbidden.push(limit(paths));
            }
        }
    }

    /// The constraint that forbids to change `file`.
    pub(super) fn breach(&self, file: &str) -> Option<Breach> {
        let lies_in = |paths: &[String]| paths.iter().any(|path| lies_in(file, path));
        if lies_in(&self.named_last) {
            return None;
        }
        let forbidden = self
            .forbidden
            .iter()
            .find(|limit| lies_in(&limit.paths) && !lies_in(&limit.except));
        let limit = forbidden.or_else(|| {
            self.only
                .iter()
                .find(|limit| !lies_in(&limit.paths) && !lies_in(&limit.except))
        })?;
        Some(Breach {
            file: file.to_owned(),
            constraint: limit.text.clone(),
        })
    }
}

#[rustfmt::skip]
const ONLY: &[&str] = &["only", "solely", "exclusively", "doar", "numai"];

/// Words that make a constraint hold only sometimes.
#[rustfmt::skip]
const CONDITIONS: &[&str] = &[
    "if", "unless", "when", "after", "before", "until", "while", "yet", "first", "needed", "necessary",
    "daca", "cand", "dupa", "inainte", "pana", "inca",
];

#[rustfmt::skip]
const EXCEPTIONS: &[&str] = &[
    "except", "besides", "but", "other", "than", "apart", "outside", "excluding", "beyond", "exceptand",
    "decat", "afara", "exceptia",
];

#[rustfmt::skip]
const ANYTHING: &[&str] = &[
    "anything", "everything", "nothing", "files", "file", "code", "any", "nimic", "altceva", "fisiere",
];

/// What may stand between "change" and the path that is its object.
#[rustfmt::skip]
const FILLERS: &[&str] = &[
    "the", "any", "a", "file", "files", "folder", "directory", "module", "anything", "everything", "code",
    "in", "to", "under", "inside", "within", "my", "our", "all", "of", "existing", "contents", "content", "and",
    "or", "nor", "fisierul", "fisierele", "folderul", "directorul", "nimic", "din", "in", "pe", "si", "sau",
    "codul", "nici",
];

#[rustfmt::skip]
const KEEPING: &[&str] = &[
    "keep", "leave", "keeping", "leaving", "pastreaza", "pastrati", "lasa", "lasati",
];

#[rustfmt::skip]
const UNCHANGED: &[&str] = &[
    "unchanged", "untouched", "alone", "as-is", "intact", "neschimbat", "neschimbata", "neschimbate",
    "neatins", "neatinsa", "neatinse", "pace", "asa", "is",
];

/// Stems of verbs that mean any change of a file, English and Romanian.
#[rustfmt::skip]
const CHANGES: &[&str] = &["touch", "chang", "modif", "edit", "alter", "ating", "umbl", "schimb"];

fn is_change(word: &Word<'_>) -> bool {
    let changes = |stem: &&str| {
        let ending = word.folded.strip_prefix(*stem);
        ending.is_some_and(|ending| ending.len() <= 4)
    };
    CHANGES.iter().any(changes) && !is_path(word.raw)
}

fn is_negation(word: &Word<'_>) -> bool {
    word.is_any(&[
        "don't",
        "not",
        "never",
        "without",
        "avoid",
        "no",
        "nu",
        "fara",
        "mustn't",
        "shouldn't",
        "can't",
        "cannot",
        "evita",
    ])
}

/// The place of a verb of change that a negation stands right before.
fn forbidden_change(rule: &[Word<'_>]) -> Option<usize> {
    let negation = rule.iter().position(is_negation)?;
    (negation + 1..rule.len().min(negation + 4)).find(|at| is_change(&rule[*at]))
}

/// The paths that a verb stands before, with nothing of another kind between them.
fn object_of(words: &[Word<'_>]) -> Vec<String> {
    let mut found = Vec::new();
    for word in words {
        if is_path(word.raw) {
            found.extend(scope::paths(word.raw));
        } else if !word.is_any(FILLERS) {
            break;
        }
    }
    found
}

fn paths_in(words: &[Word<'_>]) -> Vec<String> {
    words.iter().flat_map(|word| scope::paths(word.raw)).collect()
}

/// Whether a file is the one that `path` names, or lies in the folder that it names.
fn lies_in(file: &str, path: &str) -> bool {
    let (file, path) = (fold(file), fold(path));
    let path = path.trim_start_matches('/').trim_end_matches('/');
    if let Some((folder, ending)) = path.split_once('*') {
        let ending = ending.trim_start_matches(['*', '/']);
        let begins = folder.is_empty() || file.starts_with(folder) || file.contains(&format!("/{folder}"));
        return begins && file.ends_with(ending);
    }
    let inside = format!("/{}/", file.trim_start_matches('/'));
    !path.is_empty() && inside.contains(&format!("/{path}/"))
}

#[cfg(test)]
mod tests {
    use super::super::clean::clean;
    use super::*;

    fn breaks(constraint: &str, file: &str) -> bool {
        Limits::new(&[constraint.to_owned()], &Cleaned::default())
            .breach(file)
            .is_some()
    }

    #[test]
    fn what_is_forbidden_by_its_path_is_seen() {
        for (constraint, file) in [
            ("Do not touch src/auth.rs", "src/auth.rs"),
            ("don't modify anything in `src/auth/`", "src/auth/token.rs"),
            ("never edit src/a.rs or src/b.rs", "src/b.rs"),
            ("without changing the file Cargo.toml", "crates/x/Cargo.toml"),
            ("no changes to src/db/ please", "src/db/pool.rs"),
            ("Leave migrations/ untouched", "db/migrations/1.sql"),
            ("keep src/api.rs as is", "src/api.rs"),
            ("do not change src/*.css", "src/site.css"),
            ("only change src/a.rs", "src/b.rs"),
            ("Only touch files in web/", "src/b.rs"),
            ("do not change anything except src/a.rs", "src/b.rs"),
            ("don't touch src/ except src/a.rs", "src/b.rs"),
            ("Nu modifica src/auth.rs", "src/auth.rs"),
            ("fără să atingi fișierul src/auth.rs", "src/auth.rs"),
            ("modifică doar src/a.rs", "src/b.rs"),
        ] {
            assert!(breaks(constraint, file), "{constraint}: {file}");
        }
    }

    #[test]
    fn what_is_not_certain_is_not_forbidden() {
        for (constraint, file) in [
            ("Do not touch src/auth.rs", "src/auth_test.rs"),
            ("Do not touch src/auth.rs", "src/main.rs"),
            ("do not change the signature of parse() in src/a.rs", "src/a.rs"),
            ("do not remove the comments in src/a.rs", "src/a.rs"),
            ("do not use src/legacy.rs", "src/legacy.rs"),
            ("do not touch the public API", "src/api.rs"),
            ("do not touch src/a.rs unless you must", "src/a.rs"),
            ("only change src/a.rs", "src/a.rs"),
            ("only use src/a.rs as an example", "src/b.rs"),
            ("do not only change src/a.rs", "src/b.rs"),
            ("do not change anything except src/a.rs", "src/a.rs"),
            ("don't touch src/ except src/a.rs", "src/a.rs"),
            ("without dependencies", "Cargo.toml"),
            ("keep src/a.rs small", "src/a.rs"),
            ("", "src/a.rs"),
        ] {
            assert!(!breaks(constraint, file), "{constraint}: {file}");
        }
    }

    #[test]
    fn the_newest_instruction_forbids_and_allows() {
        let said = ["Do not touch src/auth.rs".to_owned()];
        let lifted = Limits::new(&said, &clean("ok, now change src/auth.rs after all"));
        assert_eq!(lifted.breach("src/auth.rs"), None);
        let repeated = Limits::new(&[], &clean("Fix the parser. Don't touch src/auth.rs."));
        let breach = repeated.breach("src/auth.rs").unwrap();
        assert_eq!(breach.constraint, "Don't touch src/auth.rs");
        assert_eq!(repeated.breach("src/parser.rs"), None);
    }
}
