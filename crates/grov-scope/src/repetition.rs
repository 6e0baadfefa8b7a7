//! Repeated actions without progress.
//!
//! Many different edits of one file, and edit–test–edit, are normal work. Loops are: the same text written to the same
//! place for the third time, two texts that alternate, and a failed command that is rerun with nothing new in between.

use crate::analyzed_action::AnalyzedAction;
use crate::essential_words::essential_hash;
use crate::finding::finding;
use crate::history::{Entry, Fingerprint, History, Kind};
use crate::normalized_path::{NormalizedPath, ProjectRoot};
use grov_domain::{EffectKind, Finding, Rule};

/// The number of previous actions that count.
const WITHIN: usize = 40;

/// Shorter texts are often written several times without a loop (a closing bracket, an attribute).
const MIN_BYTES: usize = 20;

/// How often a text may be written if the file is read in between.
const SEEN_AND_REPEATED: usize = 5;

/// The findings for an action.
pub(crate) fn findings(
    action: &AnalyzedAction<'_>,
    fingerprint: Option<&Fingerprint>,
    history: &History,
    root: &ProjectRoot,
) -> Vec<Finding> {
    let mut found = Vec::new();
    if let Some(fingerprint) = fingerprint {
        found.extend(same_text(action, fingerprint, history));
    }
    found.extend(same_failure(action, history, root));
    found
}

/// Earlier changes of a file, the newest first, back to the last change with unknown text.
struct Earlier<'a> {
    fingerprints: Vec<&'a Fingerprint>,
    /// The number of changes since the file was last read.
    unseen: usize,
}

impl<'a> Earlier<'a> {
    fn of(file: &NormalizedPath, history: &'a History) -> Self {
        let mut fingerprints: Vec<&Fingerprint> = Vec::new();
        let mut unseen = None;
        // A change that failed wrote nothing; it counts while nothing else was written after it.
        let mut written = false;
        for entry in history.of_files(std::slice::from_ref(file), WITHIN) {
            if entry.kind == Kind::Look {
                unseen.get_or_insert(fingerprints.len());
            }
            if entry.kind != Kind::Change {
                continue;
            }
            // A command may have restored the file, so writing the text again is not a loop.
            let Some(fingerprint) = &entry.fingerprint else {
                break;
            };
            let failed = entry.failed == Some(true);
            if !(failed && written) {
                fingerprints.push(fingerprint);
            }
            written |= !failed;
        }
        Self {
            unseen: unseen.unwrap_or(fingerprints.len()),
            fingerprints,
        }
    }

    /// How often the same text was written or, in a loop, nearly the same.
    fn times(&self, fingerprint: &Fingerprint) -> usize {
        let loops = is_loop(&self.fingerprints);
        // After three identical texts, small variations also count.
        let varies = loops
            && self
                .fingerprints
                .iter()
                .any(|one| self.fingerprints.iter().filter(|other| other.is(one)).count() >= 3);
        let alike = |other: &&&Fingerprint| {
            if loops {
                other.resembles(fingerprint) || varies && other.begins_as(fingerprint)
            } else {
                other.is(fingerprint)
            }
        };
        let all = self.fingerprints.iter().filter(alike).count();
        // Reading the file before each change excuses repetition only up to a limit.
        if all >= SEEN_AND_REPEATED {
            return all;
        }
        self.fingerprints.iter().take(self.unseen).filter(alike).count()
    }
}

fn same_text(action: &AnalyzedAction<'_>, fingerprint: &Fingerprint, history: &History) -> Option<Finding> {
    let file = action.changed.first()?;
    let earlier = Earlier::of(file, history);
    let times = earlier.times(fingerprint);
    let least = if fingerprint.bytes < MIN_BYTES { 3 } else { 2 };
    let name = file.display();
    if times >= least {
        let at_most = 4_usize.saturating_sub(times - least).max(2);
        return Some(finding(
            Rule::Repetition,
            u8::try_from(at_most).unwrap_or(2),
            Some(name),
            format!(
                "The same text is written into {name} for the {} time",
                ordinal(times + 1)
            ),
        ));
    }
    if let [one, two, three, ..] = earlier.fingerprints.as_slice()
        && earlier.unseen >= 3
        && two.is(fingerprint)
        && three.is(one)
        && !one.is(fingerprint)
    {
        let reason = format!("Two versions of {name} alternate: the change goes back and forth");
        return Some(finding(Rule::Repetition, 4, Some(name), reason));
    }
    None
}

fn same_failure(action: &AnalyzedAction<'_>, history: &History, root: &ProjectRoot) -> Option<Finding> {
    let command = essential_hash(action, root, history.directory())?;
    if action.is_read_only() {
        return None;
    }
    let mut failures = 0;
    let mut loops = false;
    for entry in history.newest().take(WITHIN) {
        if entry.command == Some(command) {
            // `cargo test | tail` succeeds whatever the tests do.
            if entry.failed == Some(false) && entry.hides_result {
                continue;
            }
            if entry.failed != Some(true) {
                break;
            }
            failures += 1;
        } else if is_new_work(entry) {
            break;
        }
        loops |= entry.kind == Kind::Change && entry.repeats && entry.fingerprint.is_some();
    }
    let least = match loops {
        true => 1,
        // A server may answer after a while, and what is waited for may come.
        false => {
            let is_remote = action.sketch.effects.contains(&EffectKind::Network);
            2 + usize::from(is_remote)
                + if waits(action) {
                    1 + usize::from(is_remote)
                } else {
                    0
                }
        }
    };
    if failures < least {
        return None;
    }
    let at_most = if loops || failures > least { 3 } else { 4 };
    let times = if failures == 1 {
        "once".to_owned()
    } else {
        format!("{failures} times")
    };
    Some(finding(
        Rule::Repetition,
        at_most,
        None,
        format!("A command that failed {times} is rerun although nothing changed in between"),
    ))
}

/// Whether a change writes a text that was written into the same file before.
pub(crate) fn repeats(
    action: &AnalyzedAction<'_>,
    fingerprint: Option<&Fingerprint>,
    history: &History,
) -> bool {
    let (Some(file), Some(fingerprint)) = (action.changed.first(), fingerprint) else {
        return false;
    };
    Earlier::of(file, history).times(fingerprint) > 0
}

/// Whether a text was already written twice.
fn is_loop(earlier: &[&Fingerprint]) -> bool {
    earlier
        .iter()
        .enumerate()
        .any(|(at, one)| earlier[at + 1..].iter().any(|other| other.is(one)))
}

/// Whether an action may make a failing command succeed: a new change, or another command, that did not fail.
fn is_new_work(entry: &Entry) -> bool {
    let changes_something = match entry.kind {
        Kind::Change => !entry.repeats,
        Kind::Run => true,
        Kind::Look => false,
    };
    changes_something && entry.failed != Some(true)
}

/// Whether the command waits for something: a starting server, a remote build.
fn waits(action: &AnalyzedAction<'_>) -> bool {
    action
        .programs()
        .iter()
        .any(|command| matches!(command.name(), "sleep" | "wait" | "watch"))
}

fn ordinal(number: usize) -> String {
    match number {
        2 => "second".to_owned(),
        3 => "third".to_owned(),
        4 => "fourth".to_owned(),
        5 => "fifth".to_owned(),
        number => format!("{number}th"),
    }
}

#[cfg(test)]
mod tests {
    use crate::Rules;
    use crate::analyzed_action::tests::{bash, edit, read, replacement};
    use grov_domain::{ActionSketch, GoalContract};

    const A: &str = "fn parse(input: &str) -> Result<Tree, Error> { lex(input)?.tree() }";
    const B: &str = "fn parse(input: &str) -> Option<Tree> { tokens(input).and_then(build) }";

    fn scores(actions: &[ActionSketch]) -> Vec<u8> {
        let mut rules = Rules::new(GoalContract::default(), Some("/home/me/p"));
        actions
            .iter()
            .map(|action| rules.assess(action, None).score)
            .collect()
    }

    fn failed(action: ActionSketch) -> ActionSketch {
        ActionSketch {
            failed: Some(true),
            ..action
        }
    }

    fn passed(action: ActionSketch) -> ActionSketch {
        ActionSketch {
            failed: Some(false),
            ..action
        }
    }

    #[test]
    fn the_same_text_for_the_third_time_is_a_circle() {
        let same = || edit("src/a.rs", A);
        assert_eq!(
            scores(&[same(), same(), same(), same(), same(), same()]),
            [10, 10, 4, 3, 2, 2]
        );
        let test = || failed(bash("cargo test"));
        assert_eq!(
            scores(&[same(), test(), same(), test(), same()])[4],
            4,
            "with tests that fail in between"
        );
        let other = edit("src/a.rs", &format!("{} {A}", &A[..30]));
        assert_eq!(scores(&[same(), same(), same(), other])[3], 3, "nearly the same");
    }

    #[test]
    fn work_is_no_circle() {
        let many: Vec<ActionSketch> = (0..40)
            .map(|n| edit("src/a.rs", &format!("fn step_{n}() {{ call_{n}() }}")))
            .collect();
        assert!(scores(&many).iter().all(|score| *score == 10));
        let mut cycle = Vec::new();
        for n in 0..10 {
            cycle.push(edit(
                "src/a.rs",
                &format!("fn parse() {{ attempt_{n}(input, {n}) }}"),
            ));
            cycle.push(failed(bash("cargo test")));
        }
        assert!(scores(&cycle).iter().all(|score| *score == 10));
        let same = || edit("src/a.rs", A);
        let looked = || read("src/a.rs");
        assert_eq!(scores(&[same(), looked(), same(), looked(), same()]), [10; 5]);
        let restored = || bash("git checkout -- src/a.rs");
        assert_eq!(scores(&[same(), restored(), same(), restored(), same()]), [10; 5]);
        let twice = [
            failed(same()),
            edit("src/a.rs", B),
            failed(same()),
            looked(),
            same(),
        ];
        assert_eq!(scores(&twice), [10; 5], "what failed was not written");
        let brackets: Vec<ActionSketch> = (0..3).map(|_| edit("src/a.rs", "}")).collect();
        assert_eq!(scores(&brackets), [10; 3]);
    }

    #[test]
    fn back_and_forth_is_a_circle() {
        let (a, b) = (|| edit("src/a.rs", A), || edit("src/a.rs", B));
        assert_eq!(scores(&[a(), b(), a(), b()]), [10, 10, 10, 4]);
    }

    #[test]
    fn the_same_failure_again_and_again_is_a_circle() {
        let test = || failed(bash("cargo test -p x"));
        assert_eq!(scores(&[test(), test(), test(), test()]), [10, 10, 4, 3]);
        assert_eq!(
            scores(&[test(), edit("a.rs", A), test(), edit("a.rs", B), test()]),
            [10; 5]
        );
        assert_eq!(
            scores(&[test(), test(), passed(bash("make clean")), test()]),
            [10; 4]
        );
        assert_eq!(
            scores(&[test(), passed(bash("cargo test -p x")), test(), test()]),
            [10; 4]
        );
        let poll = || failed(bash("sleep 5; cargo test -p x"));
        assert_eq!(
            scores(&[poll(), poll(), poll(), poll()]),
            [10, 10, 10, 4],
            "waiting"
        );
        let poll = || failed(bash("sleep 5; curl -sf localhost:3000/health"));
        assert_eq!(
            scores(&[poll(), poll(), poll(), poll()]),
            [10; 4],
            "waiting for a server"
        );
        let grep = || failed(bash("grep -r foo src"));
        assert_eq!(scores(&[grep(), grep(), grep(), grep()]), [10; 4], "looking");
    }

    #[test]
    fn a_failure_is_repeated_unless_something_was_changed() {
        let test = || failed(bash("cargo test -p x"));
        let refused = failed(edit("a.rs", A));
        assert_eq!(scores(&[test(), test(), refused, test()])[3], 4);
        let pull = || failed(bash("docker pull registry.example.com/x"));
        assert_eq!(scores(&[pull(), pull(), pull(), pull()]), [10, 10, 10, 4]);
        let login = passed(bash("docker login registry.example.com"));
        assert_eq!(scores(&[pull(), pull(), pull(), login, pull()]), [10; 5]);
    }

    #[test]
    fn a_failure_is_the_same_however_it_is_dressed() {
        for (first, second) in [
            ("cargo test -p x", "time cargo test -p x"),
            ("cargo test -p x", "cargo test --package x -v"),
            ("cargo test -p x", "cargo test -p x 2>&1 | tail -40"),
            ("cargo test -p x", "RUST_BACKTRACE=1 cargo test -p x"),
            ("cargo test -p x", "cd /home/me/p && cargo test -p x"),
            ("cargo test -p x", "timeout 60 cargo test -p x > out.log 2>&1"),
            ("cargo test -p x", "cargo test -p x; echo done"),
            ("pytest tests -k slow", "pytest tests --keyword slow -vv"),
            ("pytest --keyword=slow tests", "pytest -k slow tests"),
            ("npm run build", "npm run build --silent | grep error"),
        ] {
            let all = [first, second, second].map(|command| failed(bash(command)));
            assert_eq!(scores(&all), [10, 10, 4], "{first}; {second}");
        }
        for (first, second) in [
            ("cargo test -p x", "cargo test -p y"),
            ("cargo test -p x", "cd other && cargo test -p x"),
            (
                "cargo test -p x",
                "DATABASE_URL=postgres://localhost/t cargo test -p x",
            ),
            ("cargo build", "cargo build --offline"),
            ("npm test", "sudo npm test"),
            ("pytest tests -k slow", "pytest tests -k fast"),
        ] {
            let all = [first, second, first].map(|command| failed(bash(command)));
            assert_eq!(scores(&all), [10; 3], "{first}; {second}");
        }
        let hidden = || passed(bash("cargo test -p x 2>&1 | tail"));
        let test = || failed(bash("cargo test -p x"));
        assert_eq!(scores(&[test(), hidden(), test(), hidden(), test()])[4], 4);
        assert_eq!(
            scores(&[test(), hidden(), edit("a.rs", A), test(), hidden()]),
            [10; 5]
        );
    }

    #[test]
    fn the_same_line_in_many_places_is_no_circle() {
        let line = |before: &str| replacement("src/a.rs", before, A);
        assert_eq!(scores(&[line("a"), line("b"), line("c"), line("d")]), [10; 4]);
        assert_eq!(scores(&[line("a"), line("a"), line("a")]), [10, 10, 4]);
    }

    #[test]
    fn a_result_may_be_recorded_after_the_assessment() {
        let mut rules = Rules::new(GoalContract::default(), None);
        let test = bash("cargo test");
        for call in ["1", "2"] {
            assert_eq!(rules.assess(&test, Some(call)).score, 10);
            rules.record_result(call, true);
        }
        assert_eq!(rules.assess(&test, Some("3")).score, 4);
    }
}
