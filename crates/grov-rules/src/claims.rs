//! What an answer claims about the work, and what the actions prove.

mod words;

use self::words::{
    ANNOUNCING, COURTEOUS, COURTESY, DELEGATED, DONE, DONE_ALONE, DOUBTING, FAILING, FAILING_UNSPACED,
    GOING_ON, MISSING, MISSING_UNSPACED, NEXT, NEXT_STEPS, NOTHING, NOTHING_UNFINISHED, OFFERS,
    OFFERS_UNSPACED, PARTIAL, PLANS, RELATIVE, REPORTS, TESTS_PASS, USER_STEPS, WORKED,
};
use super::clean::clean;
use super::text::{Word, any_phrase_at, ends_with_question, has_phrase, sentences, words};
use grov_domain::{ActionSketch, EffectKind, StepOutcome};
use grov_scope::phrases::any_at;

/// What the last text of a turn claims.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Claims {
    /// The text is not empty.
    pub(crate) says_something: bool,
    /// "All done", "task complete".
    pub(crate) done: bool,
    /// It reports completed work: "I've added …", "Fixed …".
    pub(crate) worked: bool,
    /// Sentences that report like a log: "Fixed the typo in …".
    pub(crate) reports: Vec<String>,
    /// It says that a subagent finished.
    pub(crate) delegated: bool,
    /// It says that tests pass.
    pub(crate) tests_pass: bool,
    /// It ends with a question to the user.
    pub(crate) asks: bool,
    /// The question at its end offers more than was asked for.
    pub(crate) offers: bool,
    /// It is a plan, or waits for approval.
    pub(crate) plans: bool,
    /// It says that something is left to do.
    pub(crate) unfinished: bool,
    /// It says that something fails, or describes what the work does about failures.
    pub(crate) failing: bool,
}

/// What the actions of a turn prove.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Proof {
    /// Something was changed, and not only restored.
    pub(crate) changed: bool,
    /// Earlier changes were undone, and nothing else was changed.
    pub(crate) undone: bool,
    /// There was a test or build, and a change after it.
    pub(crate) unverified: bool,
    /// The last tests or build after the last change passed.
    pub(crate) tested: bool,
    /// The last tests or build failed.
    pub(crate) failed: bool,
    /// There was a commit and no change after it.
    pub(crate) committed: bool,
    /// The last commit failed, and no check passed after it.
    pub(crate) refused: bool,
    /// A change, or a program that does more than look, check or build, failed.
    pub(crate) failed_to_act: bool,
    /// Something ran that did more than look, check or build.
    pub(crate) acted: bool,
}

/// Whether a sentence announces what the agent will do next.
pub(crate) fn announces(words: &[Word<'_>]) -> bool {
    has_phrase(words, ANNOUNCING) && !has_phrase(words, COURTEOUS)
}

/// Parses an answer. Code and quotations are ignored.
pub(crate) fn claims_of(answer: &str) -> Claims {
    let cleaned = clean(answer);
    let prose = without_quotations(&cleaned.prose);
    let all = sentences(&prose);
    let newest = &all[all.len().saturating_sub(60)..];
    let mut claims = Claims {
        says_something: !answer.trim().is_empty(),
        ..Claims::default()
    };
    let mut last_is_question = false;
    for (place, sentence) in newest.iter().enumerate() {
        let words = words(sentence);
        let question = ends_with_question(sentence);
        let courteous = question && has_phrase(&words, COURTESY);
        if !courteous {
            last_is_question = question;
            // "Task 1.2 is complete. Ready to proceed with task 1.3?"
            let goes_on = claims.done && (has_phrase(&words, GOING_ON) || has_phrase(&words, PLANS));
            claims.offers = question && (offers(sentence, &words) || goes_on);
        }
        if question {
            claims.plans |= has_phrase(&words, PLANS) && !claims.offers;
            continue;
        }
        // "Next steps: run chezmoi apply" is for the user.
        let is_for_user = next_steps(&words) && newest.get(place + 1).is_some_and(|next| tells_user(next));
        claims.unfinished |= leaves_something(sentence, &words) && !is_for_user;
        claims.failing |= has_any(FAILING, &words) && !has_phrase(&words, NOTHING_UNFINISHED)
            || FAILING_UNSPACED.iter().any(|entry| sentence.contains(entry));
        claims.plans |= has_phrase(&words, PLANS);
        let alone = words
            .first()
            .is_some_and(|word| word.is_any(DONE_ALONE) && (words.len() == 1 || word.pauses()));
        let partial = has_phrase(&words, PARTIAL);
        claims.unfinished |= announces(&words) && !is_for_user;
        if partial {
            claims.unfinished = true;
            continue;
        }
        claims.done |= alone || claimed(&words, DONE);
        claims.worked |= claimed(&words, WORKED);
        claims.delegated |= claimed(&words, DELEGATED);
        let reports =
            words.first().is_some_and(|word| word.is_any(REPORTS)) || reported_verb(&words).is_some();
        if reports && claims.reports.len() < 8 {
            claims.reports.push(sentence.clone());
        }
        claims.tests_pass |= claimed(&words, TESTS_PASS);
    }
    claims.asks = last_is_question;
    claims
}

/// Whether words are the heading of a list of steps.
fn next_steps(words: &[Word<'_>]) -> bool {
    has_phrase(words, NEXT_STEPS) && words.last().is_some_and(|last| last.after.contains(':'))
}

/// Whether a sentence tells the user to try, check or publish the work.
fn tells_user(sentence: &str) -> bool {
    let words = words(sentence);
    let first = words
        .iter()
        .find(|word| word.raw.chars().any(char::is_alphabetic));
    first.is_some_and(|first| first.is_any(USER_STEPS))
}

fn has_any(table: &[&str], words: &[Word<'_>]) -> bool {
    (0..words.len()).any(|at| any_at(table, words, at).is_some())
}

/// Whether a sentence says that something is left to do.
pub(crate) fn leaves_something(sentence: &str, words: &[Word<'_>]) -> bool {
    // "Invoices that are not yet sent" describes them.
    let denied = |at: usize| {
        words[at.saturating_sub(3)..at]
            .iter()
            .any(|word| word.is_any(NOTHING))
            || at > 0 && words[at - 1].is_any(RELATIVE)
    };
    let is_left = |at: usize| any_at(MISSING, words, at).is_some() && !denied(at);
    // "Two call sites remain", but not "the old interface remains".
    let remain = |at: usize| {
        let counted = |word: &Word<'_>| {
            word.raw.bytes().any(|byte| byte.is_ascii_digit()) || word.is_any(SMALL_NUMBERS)
        };
        words[at].is_any(&["remain", "remains", "left"])
            && words[at.saturating_sub(4)..at].iter().any(counted)
    };
    let heads_list = any_at(NEXT, words, 0).is_some_and(|length| words[length - 1].after.contains(':'));
    // "I have not run it yet."
    let yet = words
        .iter()
        .position(|word| word.is_any(&["yet"]))
        .is_some_and(|yet| {
            words[..yet].iter().any(|word| {
                word.is_any(&[
                    "not", "haven't", "hasn't", "isn't", "aren't", "doesn't", "don't", "didn't",
                ])
            })
        });
    let resolved = has_phrase(words, NOTHING_UNFINISHED);
    (0..words.len()).any(|at| is_left(at) && !resolved || remain(at))
        || words.iter().any(|word| word.raw == "TODO")
        || heads_list
        || yet
        || MISSING_UNSPACED.iter().any(|entry| sentence.contains(entry))
}

/// Counts in words.
const SMALL_NUMBERS: &[&str] = &["one", "two", "three", "four", "five", "some", "several", "few"];

/// Whether a question offers more work than was asked for.
fn offers(sentence: &str, words: &[Word<'_>]) -> bool {
    has_any(OFFERS, words) || OFFERS_UNSPACED.iter().any(|entry| sentence.contains(entry))
}

/// Whether the sentence contains one of the phrases, with no doubting word before it in the clause.
fn claimed(words: &[Word<'_>], phrases: &[&str]) -> bool {
    (0..words.len()).any(|at| {
        let Some(length) = any_phrase_at(words, at, phrases) else {
            return false;
        };
        let from = (0..at)
            .rev()
            .find(|index| words[*index].pauses())
            .map_or(0, |index| index + 1);
        !words[from..at].iter().any(|word| word.is_any(DOUBTING))
            && !words
                .get(at + length)
                .is_some_and(|word| word.is_any(&["except", "soon", "cand", "when", "once", "after"]))
    })
}

/// The text with quotations in double quotes or backticks replaced by a placeholder.
fn without_quotations(text: &str) -> String {
    let mut kept = String::with_capacity(text.len());
    for line in text.lines() {
        let mut open: Option<char> = None;
        let mut quoted = String::new();
        for letter in line.chars() {
            match open {
                Some(mark) if letter == mark => {
                    kept.push_str(" x ");
                    quoted.clear();
                    open = None;
                }
                Some(_) => quoted.push(letter),
                None if matches!(letter, '"' | '`') => open = Some(letter),
                None if letter == '“' => open = Some('”'),
                None if matches!(letter, '*') => {}
                None => kept.push(letter),
            }
        }
        // An unclosed mark is not a quotation.
        kept.push_str(&quoted);
        kept.push('\n');
    }
    kept
}

/// Whether an action runs tests, checks or a build.
pub(crate) fn is_check(action: &ActionSketch) -> bool {
    action
        .effects
        .iter()
        .any(|effect| matches!(effect, EffectKind::Test | EffectKind::Build))
}

/// The result of a test or build: whether it passed; `None` if that is not known.
pub(crate) fn check_result(action: &ActionSketch) -> Option<bool> {
    let output = action.output.as_deref().unwrap_or_default();
    if action.failed == Some(true) || reports_failure(output) {
        return Some(false);
    }
    let hides_failure = action.command.as_deref().is_some_and(hides_failure);
    action.failed.filter(|_| !hides_failure).map(|failed| !failed)
}

/// Whether a command line succeeds even if its check fails: "… || true".
fn hides_failure(command: &str) -> bool {
    let plain: String = command.split_whitespace().collect::<Vec<_>>().join(" ");
    [
        "|| true",
        "|| :",
        "|| echo",
        "|| exit 0",
        "; true",
        "; exit 0",
        "; echo",
        "||true",
        ";true",
    ]
    .iter()
    .any(|end| plain.contains(end))
}

/// Whether test output reports a failure: a pipe after the tests hides their exit status.
fn reports_failure(output: &str) -> bool {
    let words = words(output);
    words.iter().enumerate().any(|(at, word)| {
        let is_count = |at: usize| words[at].raw.parse::<u64>().is_ok_and(|count| count > 0);
        // "2 failures", and "Failures: 2", but not "22, Failures: 0".
        let counted = if word.after.contains(':') {
            at + 1 < words.len() && is_count(at + 1)
        } else {
            at > 0 && is_count(at - 1) && !words[at - 1].pauses()
        };
        matches!(word.raw, "FAILED" | "FAIL")
            || (counted && word.is_any(&["failed", "failing", "failures", "failure", "errors"]))
    })
}

/// Whether output reports passed tests or a successful build, whatever program wrote it.
fn reports_success(output: &str) -> bool {
    let words = words(output);
    !reports_failure(output)
        && words.iter().enumerate().any(|(at, word)| {
            let count = at
                .checked_sub(1)
                .and_then(|before| words[before].raw.parse::<u64>().ok());
            word.is_any(&["passed", "passing"]) && count.is_some_and(|count| count > 0)
                || word.is_any(&["failures", "failed", "errors"]) && count == Some(0)
                || word.is_any(&["success", "successful", "succeeded"])
                || word.raw == "OK"
        })
}

/// Endings of files that no test or build depends on.
const PROSE: &[&str] = &["md", "mdx", "rst", "txt", "adoc"];

/// Whether an action changes only documents.
fn changes_prose_only(action: &ActionSketch) -> bool {
    let is_prose = |file: &String| {
        let ending = file.rsplit_once('.').map_or("", |(_, ending)| ending);
        PROSE.iter().any(|prose| ending.eq_ignore_ascii_case(prose))
    };
    !action.files.is_empty()
        && action.files.iter().all(is_prose)
        && !action.effects.contains(&EffectKind::Install)
}

/// What git says when a commit has nothing to do.
const NOTHING_TO_COMMIT: &[&str] = &["nothing to commit", "not a git repository"];

/// How the results of calls begin that a hook of the client refused.
const REFUSALS: &[&str] = &["Grov:", "PreToolUse:"];

/// Whether a failed action is a commit that ran and was not made: a hook refused it. The user may have refused the call, and in
/// `git commit && git push` the push may have failed.
fn is_refused_commit(action: &ActionSketch) -> bool {
    let output = action.output.as_deref().unwrap_or_default();
    action.is_commit()
        && StepOutcome::of_failure(output) == StepOutcome::Failed
        && !REFUSALS
            .iter()
            .any(|start| output.trim_start().starts_with(start))
        && !NOTHING_TO_COMMIT.iter().any(|reason| output.contains(reason))
        && !output.lines().any(reports_commit)
}

/// Whether a line of git reports a commit: `[main 1a2b3c4] Add a limit`.
fn reports_commit(line: &str) -> bool {
    let inside = line.strip_prefix('[').and_then(|line| line.split_once("] "));
    let hash = inside.and_then(|(inside, _)| inside.rsplit(' ').next());
    hash.is_some_and(|hash| hash.len() >= 7 && hash.bytes().all(|letter| letter.is_ascii_hexdigit()))
}

impl Proof {
    /// Whether what was tried failed, and nothing came of it.
    pub(crate) fn is_fruitless(self) -> bool {
        self.failed_to_act && !(self.changed || self.acted || self.committed)
    }
}

/// What the actions prove.
pub(crate) fn proof_of(actions: &[ActionSketch]) -> Proof {
    let mut proof = Proof::default();
    for action in actions {
        let failed = action.failed == Some(true);
        if is_check(action) {
            let passed = check_result(action);
            proof.failed = passed == Some(false);
            proof.tested = passed == Some(true);
            proof.unverified = false;
            proof.refused &= !proof.tested;
        } else if !failed
            && !action.is_change()
            && action.command.is_some()
            && action.output.as_deref().is_some_and(reports_success)
        {
            // A check that the command line does not show, such as a script.
            (proof.tested, proof.failed, proof.unverified) = (true, false, false);
        }
        if failed {
            proof.refused |= is_refused_commit(action);
            proof.failed_to_act |= action.acts();
            continue;
        }
        proof.acted |= action.acts();
        if action.only_restores() {
            proof.undone = true;
            (proof.changed, proof.tested) = (false, false);
        } else if action.changes_build_inputs() {
            proof.changed = true;
            proof.undone = false;
            if !is_check(action) && !changes_prose_only(action) {
                proof.unverified |= proof.tested || proof.failed;
                proof.tested = false;
                proof.committed = false;
            }
        }
        if action.is_commit() {
            proof.committed = true;
            proof.changed = true;
            proof.refused = false;
        }
    }
    proof
}

/// Whether the work on `goal` is finished, as the reason to believe so. `is_whole` says that the turn began with the request for
/// the work.
///
/// A commit and passed checks count more than words, and in any language; words count against it.
pub(crate) fn finished(
    claims: &Claims,
    proof: &Proof,
    stop_reason: Option<&str>,
    goal: &str,
    is_whole: bool,
) -> Option<&'static str> {
    let ended = stop_reason.is_none_or(|reason| reason == "end_turn");
    let is_proven = proof.tested || proof.committed || claims.done || claims.tests_pass && proof.changed;
    let waits = claims.asks && !(claims.offers && is_proven);
    if !ended || waits || claims.plans || claims.unfinished || proof.failed || proof.undone {
        return None;
    }
    // Whatever the answer says: "Done" after a commit that a hook refused.
    if proof.refused || proof.is_fruitless() {
        return None;
    }
    if proof.committed {
        return Some("the work was committed, and nothing was changed afterwards");
    }
    if proof.changed && proof.tested {
        return Some("something was changed, and the last check after it passed");
    }
    if claims.failing {
        return None;
    }
    if claims.done {
        return Some("the answer says that the work is done");
    }
    if claims.delegated && proof.changed && !proof.unverified {
        return Some("something was changed, and the answer says that a subagent finished");
    }
    if claims.worked || claims.tests_pass || !claims.reports.is_empty() {
        if proof.tested {
            return Some("the answer reports finished work, and the tests passed");
        }
        if claims.tests_pass && proof.changed {
            return Some("something was changed and the answer says that the tests pass");
        }
    }
    if is_whole && proof.changed && claims.says_something && !proof.unverified {
        return Some("what was asked for was changed, and the answer names nothing that is left");
    }
    if claims.worked && is_whole && proof.acted && !proof.unverified {
        return Some("the answer reports finished work, and names nothing that is left");
    }
    let reported = claims.reports.iter().any(|report| {
        let words = words(report);
        let same_verb = reported_verb(&words).is_none_or(|verb| matches_goal_verb(verb, goal));
        same_verb && super::scope::overlap(report, goal) > 0
    });
    (reported && proof.changed)
        .then_some("something was changed and the answer reports just what was asked for")
}

/// The participle of "I have added …".
fn reported_verb<'w>(words: &'w [Word<'_>]) -> Option<&'w str> {
    let length = any_phrase_at(words, 0, &["i've", "i have", "we've"])?;
    let verb = words.get(length)?;
    verb.folded.ends_with("ed").then_some(verb.folded.as_str())
}

/// Whether the verb reported is one that the goal asks for: "added" for "add".
fn matches_goal_verb(verb: &str, goal: &str) -> bool {
    let goal = words(goal);
    goal.iter()
        .take(40)
        .any(|word| word.folded.len() >= 3 && verb.starts_with(word.folded.as_str()))
}

#[cfg(test)]
mod tests {
    use super::{Proof, claims_of, finished, proof_of};
    use grov_domain::{ActionSketch, ActionType, EffectKind};

    /// Whether an answer after an unchecked change says that the work is finished.
    fn is_finished(answer: &str) -> bool {
        let proof = Proof {
            changed: true,
            ..Proof::default()
        };
        finished(&claims_of(answer), &proof, None, "Add the mirror", true).is_some()
    }

    #[test]
    fn steps_for_the_user_and_the_next_task_leave_nothing_open() {
        for answer in [
            "Added a template.\n\nNext steps:\n1. Run `chezmoi diff`.\n2. Run `chezmoi apply`.",
            "Task 1.2 is complete. Ready to proceed with Task 1.3?",
            "Erledigt. Soll ich die Crons wieder einschalten?",
            "Facturas que aún no han salido se pueden borrar. He añadido la opción.",
            "Replaced the variables.\n\nRemaining uncommitted files:\n- notes.md",
        ] {
            assert!(is_finished(answer), "{answer}: {:?}", claims_of(answer));
        }
        for answer in [
            "Added a template.\n\nNext steps:\n1. The second template.\n2. The third.",
            "The template needs a name. Ready to proceed with mirror.toml?",
            "Added half of the templates. Shall I continue?",
            "La opción aún no funciona.",
        ] {
            assert!(!is_finished(answer), "{answer}: {:?}", claims_of(answer));
        }
    }

    fn action(
        action_type: ActionType,
        command: &str,
        effects: &[EffectKind],
        failed: bool,
        output: &str,
    ) -> ActionSketch {
        ActionSketch {
            action_type,
            files: Vec::new(),
            command: (!command.is_empty()).then(|| command.to_owned()),
            effects: effects.to_vec(),
            reasoning: None,
            failed: Some(failed),
            output: Some(output.to_owned()),
            content: None,
            line: None,
            change: None,
        }
    }

    fn commits(failed: bool, output: &str) -> ActionSketch {
        let command = "git add -A && git commit -m 'Limit'";
        action(
            ActionType::Bash,
            command,
            &[EffectKind::VersionControl],
            failed,
            output,
        )
    }

    fn is_done_after(actions: &[ActionSketch]) -> bool {
        let claims = claims_of("Done. The limit is added and committed.");
        finished(&claims, &proof_of(actions), None, "Add a limit", true).is_some()
    }

    #[test]
    fn done_after_a_commit_that_a_hook_refused_is_not_done() {
        let write = || action(ActionType::Write, "", &[], false, "ok");
        let test = || action(ActionType::Bash, "npm test", &[EffectKind::Test], false, "ok");
        let refused = || commits(true, "Exit code 1\n3 tests failed");
        let status = action(ActionType::Bash, "git status", &[EffectKind::Read], false, "");
        assert!(!is_done_after(&[write(), refused()]));
        assert!(!is_done_after(&[write(), test(), refused(), status]));
        assert!(is_done_after(&[write(), refused(), write(), commits(false, "")]));
        assert!(is_done_after(&[write(), refused(), write(), test()]));
        for output in [
            "Exit code 1\nnothing to commit, working tree clean",
            "The user doesn't want to proceed with this tool use. The tool use was rejected",
            "Grov: a commit in violation of \"don't commit\"",
            "Exit code 1\n[main 1a2b3c4] Limit\n 1 file changed\nfatal: could not read from remote",
        ] {
            assert!(is_done_after(&[write(), commits(true, output)]), "{output}");
        }
    }

    #[test]
    fn done_after_a_failed_edit_and_a_failed_command_is_not_done() {
        let edit = || action(ActionType::Edit, "", &[], true, "String to replace not found");
        let run = |failed| action(ActionType::Bash, "./x.sh", &[EffectKind::Execute], failed, "");
        assert!(!is_done_after(&[edit(), run(true)]));
        assert!(!is_done_after(&[edit()]));
        assert!(is_done_after(&[run(false)]));
        assert!(is_done_after(&[
            edit(),
            action(ActionType::Edit, "", &[], false, "ok")
        ]));
        assert!(is_done_after(&[]), "it may have been done in an earlier turn");
    }

    #[test]
    fn work_that_a_subagent_finished_is_finished() {
        let changed = Proof {
            changed: true,
            ..Proof::default()
        };
        let is_finished = |answer: &str, proof: &Proof| {
            finished(&claims_of(answer), proof, None, "Describe the cache", false).is_some()
        };
        let answer = "The subagent finished; caching is by ETag.";
        assert!(is_finished(answer, &changed));
        assert!(!is_finished(answer, &Proof::default()));
        assert!(!is_finished(
            "The subagent finished. Next I'll wire it up.",
            &changed
        ));
    }

    #[test]
    fn work_on_machines_changes_no_file() {
        let acted = Proof {
            acted: true,
            ..Proof::default()
        };
        let is_finished = |answer: &str, is_whole| {
            finished(&claims_of(answer), &acted, None, "Restart the pods", is_whole).is_some()
        };
        assert!(is_finished("I've restarted all three pods.", true));
        assert!(!is_finished("I've restarted all three pods.", false));
        assert!(!is_finished("The pods are old.", true));
    }

    #[test]
    fn tables_of_words_are_sorted() {
        for table in [super::MISSING, super::FAILING, super::NEXT, super::OFFERS] {
            for pair in table.windows(2) {
                assert!(pair[0] < pair[1], "{pair:?}");
            }
        }
    }
}
