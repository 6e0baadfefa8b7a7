//! The same thing again without getting on.
//!
//! Many different edits of one file, and edit–test–edit, are how work looks. What is a circle: the same text is written
//! into the same file for the third time, two texts take turns, a command that failed is given again and again with
//! nothing new in between.

use crate::deed::Deed;
use crate::history::{Entry, History, Kind, Print, command_hash};
use crate::place::Place;
use grov_domain::{EffectKind, Finding, Rule};

/// So many actions are looked back on: what lies further back was done for another reason.
const WITHIN: usize = 40;

/// Shorter texts are written at several places of a file without being a circle (a closing bracket, an attribute).
const LEAST_BYTES: usize = 20;

/// So often a text may be written where the file is looked at in between.
const SEEN_AND_REPEATED: usize = 5;

/// What is found of an action.
pub(crate) fn findings(deed: &Deed<'_>, print: Option<&Print>, history: &History) -> Vec<Finding> {
    let mut found = Vec::new();
    if let Some(print) = print {
        found.extend(same_text(deed, print, history));
    }
    found.extend(same_failure(deed, history));
    found
}

/// Earlier changes of a file, the newest first, as far back as the file stayed the conversation's own.
struct Earlier<'a> {
    prints: Vec<&'a Print>,
    /// How many of them were made since the file was looked at last.
    unseen: usize,
}

impl<'a> Earlier<'a> {
    fn of(file: &Place, history: &'a History) -> Self {
        let mut prints: Vec<&Print> = Vec::new();
        let mut unseen = None;
        // A change that failed wrote nothing; it counts while nothing else was written after it.
        let mut written = false;
        for entry in history.of_files(std::slice::from_ref(file), WITHIN) {
            if entry.kind == Kind::Look {
                unseen.get_or_insert(prints.len());
            }
            if entry.kind != Kind::Change {
                continue;
            }
            // Put back by a command: to write it again is no circle.
            let Some(print) = &entry.print else { break };
            let failed = entry.failed == Some(true);
            if !(failed && written) {
                prints.push(print);
            }
            written |= !failed;
        }
        Self {
            unseen: unseen.unwrap_or(prints.len()),
            prints,
        }
    }

    /// How often a text was written that is the same or, once there is a circle, nearly the same.
    fn times(&self, print: &Print) -> usize {
        let circles = is_circle(&self.prints);
        // Who went round three times goes on with small variations.
        let goes_on = circles
            && self
                .prints
                .iter()
                .any(|one| self.prints.iter().filter(|other| other.is(one)).count() >= 3);
        let alike = |other: &&&Print| {
            if circles {
                other.resembles(print) || goes_on && other.begins_as(print)
            } else {
                other.is(print)
            }
        };
        let all = self.prints.iter().filter(alike).count();
        // To look at the file first is what a careful agent does; to do so for ever is not.
        if all >= SEEN_AND_REPEATED {
            return all;
        }
        self.prints.iter().take(self.unseen).filter(alike).count()
    }
}

fn same_text(deed: &Deed<'_>, print: &Print, history: &History) -> Option<Finding> {
    let file = deed.changed.first()?;
    let earlier = Earlier::of(file, history);
    let times = earlier.times(print);
    let least = if print.bytes < LEAST_BYTES { 3 } else { 2 };
    let name = file.shown();
    if times >= least {
        let at_most = 4_usize.saturating_sub(times - least).max(2);
        return Some(finding(
            u8::try_from(at_most).unwrap_or(2),
            Some(name),
            format!(
                "The same text is written into {name} for the {} time",
                ordinal(times + 1)
            ),
        ));
    }
    if let [one, two, three, ..] = earlier.prints.as_slice()
        && earlier.unseen >= 3
        && two.is(print)
        && three.is(one)
        && !one.is(print)
    {
        let reason = format!("Two versions of {name} take turns: the change goes back and forth");
        return Some(finding(4, Some(name), reason));
    }
    None
}

fn same_failure(deed: &Deed<'_>, history: &History) -> Option<Finding> {
    let command = command_hash(deed)?;
    if deed.looks() || waits(deed) {
        return None;
    }
    let mut failures = 0;
    let mut circles = false;
    for entry in history.newest().take(WITHIN) {
        if entry.command == Some(command) {
            if entry.failed != Some(true) {
                break;
            }
            failures += 1;
        } else if is_new_work(entry) {
            break;
        }
        circles |= entry.kind == Kind::Change && entry.repeats && entry.print.is_some();
    }
    let least = if circles { 1 } else { 2 };
    if failures < least {
        return None;
    }
    let at_most = if circles || failures > least { 3 } else { 4 };
    let times = if failures == 1 {
        "once".to_owned()
    } else {
        format!("{failures} times")
    };
    Some(finding(
        at_most,
        None,
        format!("A command that failed {times} is run again with nothing new in between"),
    ))
}

/// Whether a change writes what was written into the same file before: it brings nothing new.
pub(crate) fn repeats(deed: &Deed<'_>, print: Option<&Print>, history: &History) -> bool {
    let (Some(file), Some(print)) = (deed.changed.first(), print) else {
        return false;
    };
    Earlier::of(file, history).times(print) > 0
}

/// Whether a text was written twice already.
fn is_circle(earlier: &[&Print]) -> bool {
    earlier
        .iter()
        .enumerate()
        .any(|(at, one)| earlier[at + 1..].iter().any(|other| other.is(one)))
}

/// Whether an action may be what makes a failing command succeed: a change that brings something new, another command.
fn is_new_work(entry: &Entry) -> bool {
    match entry.kind {
        Kind::Change => !entry.repeats,
        Kind::Run => entry.failed != Some(true),
        Kind::Look => false,
    }
}

/// Whether the command waits for something outside: a server that starts, a build elsewhere.
fn waits(deed: &Deed<'_>) -> bool {
    deed.action.effects.contains(&EffectKind::Network)
        || deed
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

fn finding(at_most: u8, file: Option<&str>, reason: String) -> Finding {
    Finding {
        rule: Rule::Repetition,
        file: file.map(str::to_owned),
        reason,
        at_most,
    }
}

#[cfg(test)]
mod tests {
    use crate::Rules;
    use crate::deed::tests::{bash, edit, read};
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
        assert_eq!(scores(&[poll(), poll(), poll(), poll()]), [10; 4], "waiting");
        let grep = || failed(bash("grep -r foo src"));
        assert_eq!(scores(&[grep(), grep(), grep(), grep()]), [10; 4], "looking");
    }

    #[test]
    fn how_a_call_ended_is_told_later() {
        let mut rules = Rules::new(GoalContract::default(), None);
        let test = bash("cargo test");
        for call in ["1", "2"] {
            assert_eq!(rules.assess(&test, Some(call)).score, 10);
            rules.ended(call, true);
        }
        assert_eq!(rules.assess(&test, Some("3")).score, 4);
    }
}
