//! What an answer claims about the work, and what the actions prove.

use super::clean::clean;
use super::text::{Word, any_phrase_at, ends_with_question, has_phrase, sentences, words};
use grov_domain::{ActionSketch, EffectKind};

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
    /// It says that tests pass.
    pub(crate) tests_pass: bool,
    /// It ends with a question to the user.
    pub(crate) asks: bool,
    /// It is a plan, or waits for approval.
    pub(crate) plans: bool,
    /// It admits that something is missing or fails.
    pub(crate) unfinished: bool,
}

/// What the actions of a turn prove.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Proof {
    /// Something was changed.
    pub(crate) changed: bool,
    /// The last tests or build after the last change passed.
    pub(crate) tested: bool,
    /// The last tests or build failed.
    pub(crate) failed: bool,
    /// There was a commit and no change after it.
    pub(crate) committed: bool,
}

#[rustfmt::skip]
const DONE: &[&str] = &[
    "all done", "task complete", "task completed", "task is complete", "task is done",
    "task is now complete", "is complete", "is now complete", "are complete", "is finished", "are done",
    "is done", "everything is done", "everything works", "completed successfully", "complete and",
    "successfully completed", "work is done", "have completed", "i've completed", "i've finished",
    "i have finished", "finished implementing", "is now fully", "fully implemented",
    "everything is in place", "is all set", "all set", "you're all set", "that's it", "job done",
    "implementation is complete", "is ready", "now done", "done and", "all finished", "completed all",
    "completed the", "finished the", "subtask complete", "subtask done", "is resolved", "is fixed",
    "is now fixed", "has been fixed", "am terminat", "am finalizat", "e gata", "este gata", "totul e gata",
    "gata totul", "s-a terminat", "sarcina e", "task terminat", "am incheiat", "totul functioneaza",
    "totul merge", "finalizata", "terminata", "sunt gata", "am rezolvat",
];

#[rustfmt::skip]
const DONE_ALONE: &[&str] = &[
    "done", "finished", "complete", "completed", "gata", "terminat", "fixed", "rezolvat",
];

#[rustfmt::skip]
const WORKED: &[&str] = &[
    "i've", "i have", "fixed", "added", "updated", "implemented", "created", "removed", "refactored",
    "renamed", "replaced", "moved", "committed", "installed", "changed", "wrote", "rewrote", "migrated",
    "converted", "extracted", "merged", "has been", "have been", "is now", "now uses", "now returns",
    "pushed", "i added", "i fixed", "configured", "upgraded", "documented", "deleted", "bumped", "cleaned",
    "am adaugat", "am reparat", "am modificat", "am schimbat", "am scris", "am creat", "am actualizat",
    "am sters", "am facut", "am mutat", "am redenumit", "am implementat", "am corectat", "am inlocuit",
    "am instalat", "am rulat", "am scos", "am eliminat",
];

#[rustfmt::skip]
const TESTS_PASS: &[&str] = &[
    "tests pass", "all tests pass", "tests passed", "tests are passing", "tests now pass",
    "tests are green", "all green", "test passes", "tests passing", "pass now", "passes now",
    "build passes", "build succeeds", "all pass", "suite passes", "suite is green", "tests all pass",
    "now passes", "tests succeed", "build is green", "checks pass", "everything passes", "testele trec",
    "toate testele trec", "testele au trecut", "testul trece", "teste trec", "au trecut toate",
    "toate trec", "testele sunt verzi",
];

/// Words that negate a claim or move it to the future.
#[rustfmt::skip]
const DOUBTING: &[&str] = &[
    "not", "isn't", "aren't", "don't", "doesn't", "didn't", "hasn't", "haven't", "won't", "can't", "cannot",
    "once", "when", "if", "until", "after", "before", "will", "would", "should", "could", "almost",
    "nearly", "partially", "partly", "halfway", "unless", "yet", "never", "without", "assuming", "expect",
    "expected", "hope", "goal", "whether", "half", "to", "going", "let", "let's", "i'll", "we'll",
    "half-done", "first", "nu", "cand", "daca", "dupa", "inainte", "aproape", "partial", "voi", "va", "vom",
    "ar", "jumatate", "inca",
];

#[rustfmt::skip]
const UNFINISHED: &[&str] = &[
    "still failing", "still fails", "still fail", "still broken", "not done", "not finished",
    "not complete", "isn't complete", "isn't done", "remaining", "remains", "remain", "not yet", "todo",
    "left to do", "still need", "still needs", "still to do", "next i'll", "next i will", "i'll now",
    "i will now", "next step is", "now i'll", "let me now", "couldn't", "could not", "unable to",
    "wasn't able", "was not able", "failed to", "fails with", "fails because", "failing", "blocked",
    "i'm stuck", "partially", "halfway", "work in progress", "in progress", "tests fail", "test fails",
    "build fails", "doesn't work", "does not compile", "doesn't compile", "half of", "stopped here",
    "haven't", "have not", "inca nu", "mai ramane", "mai raman", "nu am reusit", "nu am putut", "nu e gata",
    "nu este gata", "pica", "esueaza", "blocat", "partial", "nu trec", "nu trece", "mai trebuie",
    "urmeaza sa", "nu compileaza", "nu merge",
];

#[rustfmt::skip]
const PLANS: &[&str] = &[
    "here's my plan", "here is my plan", "here's the plan", "here is the plan", "proposed plan", "my plan",
    "plan:", "i propose", "i'd suggest", "i would suggest", "i plan to", "awaiting your",
    "waiting for your", "waiting for approval", "let me know if you approve", "let me know which",
    "let me know whether", "let me know how you", "ready to proceed", "once you approve", "if you approve",
    "before i proceed", "before i start", "please confirm", "please choose", "need your approval",
    "your go-ahead", "need your input", "please approve", "please let me know which", "implementation plan",
    "i need to know", "please provide", "please clarify", "i need you to", "could you provide",
    "iata planul", "planul meu", "planul este", "planul:", "propun", "astept aprobarea",
    "astept confirmarea", "aprobi", "te rog confirma", "confirma-mi", "spune-mi daca", "spune-mi care",
    "am nevoie de confirmare", "inainte sa incep", "inainte sa continui",
];

/// Polite closing questions.
#[rustfmt::skip]
const COURTESY: &[&str] = &[
    "anything else", "what else", "what would you like to do next", "how can i help", "what's next",
    "altceva", "cu ce te mai pot", "mai pot",
];

/// First words of a report of completed work.
#[rustfmt::skip]
const REPORTS: &[&str] = &[
    "fixed", "added", "updated", "implemented", "created", "removed", "refactored", "renamed", "replaced",
    "moved", "committed", "installed", "changed", "wrote", "rewrote", "migrated", "converted", "extracted",
    "merged", "pushed", "configured", "upgraded", "documented", "deleted", "bumped", "cleaned", "corrected",
    "simplified", "split", "reparat", "corectat", "adaugat", "inlocuit", "redenumit", "schimbat",
    "actualizat", "sters", "scos", "mutat", "modificat", "creat", "implementat",
];

/// Phrases for partial work.
#[rustfmt::skip]
const PARTIAL: &[&str] = &[
    "first half", "first part", "half of", "part of the", "first step", "step 1", "phase 1", "first of",
    "one of the two", "second half", "prima parte", "prima jumatate", "o parte din", "primul pas",
    "partea intai", "jumatate din", "so far", "pana acum", "deocamdata",
];

/// Phrases that announce the next step.
#[rustfmt::skip]
const ANNOUNCING: &[&str] = &[
    "next step", "next steps", "next thing", "next is", "next up", "next comes", "i'll", "i will",
    "i am going to", "i'm going to", "i am about to", "i'm about to", "about to", "let me", "we still need",
    "is next", "are next", "comes next", "now we can", "now i can", "starting with", "urmeaza",
    "urmatorul pas", "pasul urmator", "o sa", "voi", "acum trec la", "trec la", "incep cu", "imediat",
];

/// Phrases of an offer rather than an announcement.
#[rustfmt::skip]
const COURTEOUS: &[&str] = &[
    "let me know", "i'll be happy", "i will be happy", "i'll be glad", "if you", "whenever", "daca",
    "now we can", "now i can", "you might", "you could", "you can", "optional", "if needed", "you may",
];

/// Whether a sentence announces what the agent will do next.
fn announces(words: &[Word<'_>]) -> bool {
    has_phrase(words, ANNOUNCING) && !has_phrase(words, COURTEOUS)
}

/// Phrases in which a word of unfinished work means the opposite.
#[rustfmt::skip]
const NOTHING_UNFINISHED: &[&str] = &[
    "no remaining", "nothing remains", "no failing", "no longer failing", "was failing", "were failing",
    "0 failing",
];

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
    for sentence in newest {
        let words = words(sentence);
        let question = ends_with_question(sentence);
        let courteous = question && has_phrase(&words, COURTESY);
        if !courteous {
            last_is_question = question;
        }
        if question {
            claims.plans |= has_phrase(&words, PLANS);
            continue;
        }
        if has_phrase(&words, UNFINISHED) && !has_phrase(&words, NOTHING_UNFINISHED) {
            claims.unfinished = true;
        }
        claims.plans |= has_phrase(&words, PLANS);
        let alone = words
            .first()
            .is_some_and(|word| word.is_any(DONE_ALONE) && (words.len() == 1 || word.pauses()));
        let partial = has_phrase(&words, PARTIAL);
        claims.unfinished |= announces(&words);
        if partial {
            claims.unfinished = true;
            continue;
        }
        claims.done |= alone || claimed(&words, DONE);
        claims.worked |= claimed(&words, WORKED);
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

/// Whether test output reports a failure: a pipe after the tests hides their exit status.
fn reports_failure(output: &str) -> bool {
    let words = words(output);
    words.iter().enumerate().any(|(at, word)| {
        let counted = at > 0 && words[at - 1].raw.parse::<u64>().is_ok_and(|count| count > 0);
        matches!(word.raw, "FAILED" | "FAIL")
            || (counted && word.is_any(&["failed", "failing", "failures", "failure"]))
    })
}

/// What the actions prove.
pub(crate) fn proof_of(actions: &[ActionSketch]) -> Proof {
    let mut proof = Proof::default();
    for action in actions {
        let failed = action.failed == Some(true);
        if is_check(action) {
            let failed = failed || action.output.as_deref().is_some_and(reports_failure);
            proof.failed = failed;
            proof.tested = !failed && action.failed == Some(false);
        }
        if action.changes_build_inputs() && !failed {
            proof.changed = true;
            if !is_check(action) {
                proof.tested = false;
                proof.committed = false;
            }
        }
        if action.is_commit() && !failed {
            proof.committed = true;
            proof.changed = true;
        }
    }
    proof
}

/// Whether the work on `goal` is finished, as the reason to believe so.
pub(crate) fn finished(
    claims: &Claims,
    proof: &Proof,
    stop_reason: Option<&str>,
    goal: &str,
) -> Option<&'static str> {
    let ended = stop_reason.is_none_or(|reason| reason == "end_turn");
    if !ended || claims.asks || claims.plans || claims.unfinished || proof.failed {
        return None;
    }
    if claims.done {
        return Some("the answer says that the work is done");
    }
    if claims.worked || claims.tests_pass || !claims.reports.is_empty() {
        if proof.tested {
            return Some("the answer reports finished work, and the tests passed");
        }
        if proof.committed {
            return Some("the answer reports finished work, and it was committed");
        }
        if claims.tests_pass && proof.changed {
            return Some("something was changed and the answer says that the tests pass");
        }
    }
    let reported = claims.reports.iter().any(|report| {
        let words = words(report);
        let same_deed = reported_verb(&words).is_none_or(|deed| matches_goal_verb(deed, goal));
        same_deed && super::scope::overlap(report, goal) > 0
    });
    (reported && proof.changed)
        .then_some("something was changed and the answer reports just what was asked for")
}

/// The participle of "I have added …".
fn reported_verb<'w>(words: &'w [Word<'_>]) -> Option<&'w str> {
    let length = any_phrase_at(words, 0, &["i've", "i have", "we've"])?;
    let deed = words.get(length)?;
    deed.folded.ends_with("ed").then_some(deed.folded.as_str())
}

/// Whether the verb reported is one that the goal asks for: "added" for "add".
fn matches_goal_verb(deed: &str, goal: &str) -> bool {
    let goal = words(goal);
    goal.iter()
        .take(40)
        .any(|word| word.folded.len() >= 3 && deed.starts_with(word.folded.as_str()))
}
