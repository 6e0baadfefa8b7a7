//! Summarises a session.

use super::claims::{check_result, claims_of, finished, is_check, proof_of};
use super::clean::clean;
use super::decisions::Source;
use super::open_ends::open_ends;
use super::reasoning::{decisions_of, sourced};
use super::text::{ends_with_question, push_new, sentences, shorten};
use super::{extraction, goal};
use grov_domain::{ActionSketch, SessionDigest, SummaryQuestion};

/// The most files.
const MAX_FILES: usize = 50;

/// A summary of a session: progress, decisions, changed files, current state and next action.
pub fn session_summary(question: &SummaryQuestion) -> SessionDigest {
    let actions = extraction::newest(&question.actions);
    let mut files_modified = Vec::new();
    for action in actions
        .iter()
        .filter(|action| action.changes_build_inputs() && action.failed != Some(true))
    {
        for file in &action.files {
            push_new(
                &mut files_modified,
                file.trim_start_matches("./").to_owned(),
                MAX_FILES,
            );
        }
    }
    let claims = claims_of(&question.answer);
    let proof = proof_of(actions);
    let last_proof = actions.iter().rfind(|action| is_check(action));
    let command = last_proof
        .and_then(|action| action.command.as_deref())
        .map(|command| shorten(command, 100));
    let said = sentences(&clean(&question.answer).prose);
    let asked = said
        .iter()
        .rfind(|sentence| ends_with_question(sentence))
        .map(|sentence| shorten(sentence, 200));
    let changed = match files_modified.len() {
        0 => "Nothing was changed so far".to_owned(),
        1 => format!("{} was changed", files_modified[0]),
        count => format!("{count} files were changed"),
    };
    let tested = match (&command, last_proof.and_then(check_result)) {
        (Some(command), Some(false)) => format!("; `{command}` failed last"),
        (Some(command), Some(true)) if proof.tested => format!("; `{command}` passed after the last change"),
        (Some(command), Some(true)) => format!("; `{command}` passed, but something was changed after it"),
        (Some(command), None) => format!("; the result of `{command}` is not known"),
        (None, _) if proof.changed => "; nothing was tested".to_owned(),
        (None, _) => String::new(),
    };
    let committed = if proof.committed {
        "; the work is committed"
    } else {
        ""
    };
    let waits = if claims.asks {
        "; a question to the user is open"
    } else {
        ""
    };
    let wanted = question
        .prompts
        .iter()
        .rev()
        .take(20)
        .map(|prompt| goal::goal_of(&clean(prompt).sentences()))
        .find(|goal| !goal.is_empty())
        .unwrap_or_else(|| shorten(&question.goal, goal::MAX_CHARACTERS));
    let next_action = if let (true, Some(asked)) = (claims.asks, asked) {
        format!("Wait for the user's answer to: {asked}")
    } else if proof.failed {
        match &command {
            Some(command) => format!("Make `{command}` pass"),
            None => "Make the failing check pass".to_owned(),
        }
    } else if claims.plans {
        "Wait for the user's approval of the plan".to_owned()
    } else if finished(&claims, &proof, Some("end_turn"), &question.goal, false).is_some() {
        "Wait for the user's next instruction".to_owned()
    } else if question.prompts.last().is_some_and(|prompt| asks_to_undo(prompt)) {
        // What is undone must not be undone, or done, once more.
        "Check that what the user wanted undone is undone; then wait for their next instruction".to_owned()
    } else if wanted.is_empty() {
        "Ask the user what to do next".to_owned()
    } else if proof.changed && !proof.tested {
        format!("Check the changes, then go on with: {wanted}")
    } else {
        format!("Go on with: {wanted}")
    };
    // What the agent says of work that changed something tells how the work does things.
    let has_changed = question.actions.iter().any(ActionSketch::has_changed);
    let told = |(source, text)| match source {
        Source::Closing if has_changed => (Source::Report, text),
        source => (source, text),
    };
    let closing = (Source::Closing, question.answer.as_str());
    let statements: Vec<(Source, &str)> = question
        .statements
        .iter()
        .map(sourced)
        .chain([closing])
        .map(told)
        .collect();
    SessionDigest {
        progress: extraction::trace(actions),
        decisions: decisions_of(actions, &question.prompts, &statements),
        files_modified,
        open_ends: open_ends(&question.statements, &question.answer),
        current_state: format!("{changed}{tested}{committed}{waits}."),
        next_action,
    }
}

/// Stems of a prompt that takes back the last change.
#[rustfmt::skip]
const UNDOING: &[&str] = &[
    "undo", "revert", "roll back", "rollback", "take that back", "rückgängig", "zurücknehmen", "nimm das zurück", "annule", "deshaz", "annulla", "desfaz",
    "desfaça", "anulează", "anuleaza", "cofnij", "draai terug", "maak ongedaan", "отмени", "верни как было", "撤销", "撤回", "还原", "取り消", "元に戻", "되돌",
];
/// Maximum length of such a prompt, in words: a longer one describes work.
const MAX_UNDOING: usize = 10;

/// Whether a prompt only takes back the last change.
fn asks_to_undo(prompt: &str) -> bool {
    let lower = prompt.to_lowercase();
    lower.split_whitespace().nth(MAX_UNDOING).is_none() && UNDOING.iter().any(|stem| lower.contains(stem))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_prompt_that_takes_back_a_change_is_not_gone_on_with() {
        for prompt in [
            "no, undo that",
            "nein, mach das wieder rückgängig",
            "revert it",
            "撤销",
        ] {
            assert!(asks_to_undo(prompt), "{prompt}");
        }
        for prompt in [
            "Add an undo button to the editor that restores the last ten states of the canvas",
            "Set y to 5 in b.py",
        ] {
            assert!(!asks_to_undo(prompt), "{prompt}");
        }
    }
    use grov_domain::{ActionType, EffectKind, Statement, StatementSource};

    fn edit(file: &str) -> ActionSketch {
        ActionSketch {
            action_type: ActionType::Edit,
            files: vec![file.to_owned()],
            command: None,
            effects: vec![EffectKind::Modify],
            reasoning: None,
            failed: Some(false),
            output: None,
            content: None,
            line: None,
            change: None,
        }
    }

    fn test(failed: bool) -> ActionSketch {
        ActionSketch {
            action_type: ActionType::Bash,
            files: Vec::new(),
            command: Some("cargo test".to_owned()),
            effects: vec![EffectKind::Test],
            failed: Some(failed),
            ..edit("")
        }
    }

    #[test]
    fn state_and_next_step_are_honest() {
        let cases = [
            (
                vec![edit("a.rs"), test(true)],
                "One test fails.",
                "a.rs was changed; `cargo test` failed last.",
                "Make `cargo test` pass",
            ),
            (
                vec![edit("a.rs"), test(false)],
                "Done.",
                "a.rs was changed; `cargo test` passed after the last change.",
                "Wait for the user's next instruction",
            ),
            (
                vec![test(false), edit("a.rs")],
                "I go on.",
                "a.rs was changed; `cargo test` passed, but something was changed after it.",
                "Check the changes, then go on with: Fix the parser.",
            ),
            (
                vec![],
                "Which parser do you mean?",
                "Nothing was changed so far; a question to the user is open.",
                "Wait for the user's answer to: Which parser do you mean?",
            ),
            (
                vec![edit("a.rs"), edit("b.rs")],
                "",
                "2 files were changed; nothing was tested.",
                "Check the changes, then go on with: Fix the parser.",
            ),
        ];
        for (actions, answer, state, next) in cases {
            let digest = session_summary(&SummaryQuestion {
                goal: "Fix the parser".to_owned(),
                prompts: vec!["Fix the parser.".to_owned()],
                actions,
                answer: answer.to_owned(),
                ..SummaryQuestion::default()
            });
            assert_eq!(
                (digest.current_state.as_str(), digest.next_action.as_str()),
                (state, next)
            );
        }
    }

    #[test]
    fn a_decision_in_prose_is_among_what_a_summary_must_keep() {
        let digest = |actions, statement: &str, answer: &str| {
            let statement = Statement {
                source: StatementSource::Closing,
                text: statement.to_owned(),
            };
            let question = SummaryQuestion {
                goal: "Add a cache".to_owned(),
                prompts: vec!["Add a cache.".to_owned()],
                actions,
                statements: vec![statement],
                answer: answer.to_owned(),
                ..SummaryQuestion::default()
            };
            session_summary(&question).decisions.len()
        };
        let said = "We evict by LRU since the working set is skewed.";
        assert_eq!(digest(vec![edit("a.rs")], said, "Done."), 1);
        assert_eq!(digest(vec![edit("a.rs")], "Done.", said), 1);
        assert_eq!(digest(Vec::new(), said, "Done."), 0);
    }
}
