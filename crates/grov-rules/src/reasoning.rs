//! Extracts what team memory keeps of a task.

use super::decisions::{Source, commit_message, decisions};
use super::text::{push_new, shorten};
use super::{constraints, extraction};
use grov_domain::{
    ActionSketch, ActionType, ClientDialect, Decision, Reasoning, ReasoningQuestion, Statement,
    StatementSource,
};

/// What team memory keeps of a task: a trace (at most 20 lines), decisions with reasons (8), the user's constraints (20), tags
/// (8).
pub fn extract_reasoning(question: &ReasoningQuestion) -> Reasoning {
    let actions = extraction::newest(&question.actions);
    let mut reasoning_trace = extraction::trace(actions);
    if reasoning_trace.is_empty()
        && let Some(said) = extraction::first_sentence(&question.answer, 200)
    {
        reasoning_trace.push(format!("Answered: {said}"));
    }
    let mut limits = Vec::new();
    for known in &question.constraints {
        push_new(&mut limits, shorten(known, 200), constraints::MAX_CONSTRAINTS);
    }
    // Closing texts are kept of turns that changed something.
    let texts = question
        .statements
        .iter()
        .map(|statement| match statement.source {
            StatementSource::Closing => (Source::Report, statement.text.as_str()),
            _ => sourced(statement),
        });
    let mut statements: Vec<(Source, &str)> = texts.collect();
    let has_changed = question.actions.iter().any(ActionSketch::has_changed);
    let answer = if has_changed {
        Source::Report
    } else {
        Source::Closing
    };
    statements.push((answer, question.answer.as_str()));
    Reasoning {
        reasoning_trace,
        decisions: decisions_of(actions, &question.prompts, &statements),
        constraints: limits,
        tags: extraction::tags(actions, &question.goal),
    }
}

/// The decisions of prompts, actions, and other texts of the agent.
pub(crate) fn decisions_of(
    actions: &[ActionSketch],
    prompts: &[String],
    statements: &[(Source, &str)],
) -> Vec<Decision> {
    let stated = stated(actions);
    let prompts = prompts.iter().map(|prompt| (Source::Prompt, prompt.as_str()));
    let texts = prompts
        .chain(stated.iter().map(|(source, text)| (*source, text.as_str())))
        .chain(statements.iter().copied());
    decisions(texts)
}

/// A statement with its source.
pub(crate) fn sourced(statement: &Statement) -> (Source, &str) {
    let source = match statement.source {
        StatementSource::UserAnswer => Source::Answer,
        StatementSource::Closing | StatementSource::Plan | StatementSource::Summary => Source::Closing,
    };
    (source, &statement.text)
}

/// The texts in actions that may state decisions: what the agent said before them, messages of commits, answers of the user.
fn stated(actions: &[ActionSketch]) -> Vec<(Source, String)> {
    let mut texts = Vec::new();
    for action in actions {
        if let Some(said) = &action.reasoning {
            texts.push((Source::Remark, said.clone()));
        }
        if action.has_committed()
            && let Some(message) = action.command.as_deref().and_then(commit_message)
        {
            texts.push((Source::Commit, message));
        }
        if action.action_type == ActionType::Other
            && let Some(result) = &action.output
        {
            let answers = ClientDialect::CLAUDE_CODE.user_answers(result);
            texts.extend(
                answers
                    .into_iter()
                    .map(|answer| (Source::Answer, answer.to_owned())),
            );
        }
    }
    texts
}

#[cfg(test)]
mod tests {
    use super::*;
    use grov_domain::{ActionSketch, ActionType, EffectKind};

    fn action(
        action_type: ActionType,
        file: &str,
        command: Option<&str>,
        effect: EffectKind,
        reasoning: &str,
    ) -> ActionSketch {
        ActionSketch {
            action_type,
            files: Vec::from_iter((!file.is_empty()).then(|| file.to_owned())),
            command: command.map(str::to_owned),
            effects: vec![effect],
            reasoning: Some(reasoning.to_owned()),
            failed: Some(false),
            output: None,
            content: None,
            line: None,
            change: None,
        }
    }

    #[test]
    fn the_trace_lists_changes_with_their_files_and_checks() {
        let why = "The cookie is lost on redirect. I use SameSite=Lax instead of Strict because the provider redirects.";
        let on_session = |kind, effect| action(kind, "src/auth/session.ts", None, effect, why);
        let question = ReasoningQuestion {
            goal: "Fix the login bug".to_owned(),
            constraints: vec!["don't touch the header".to_owned()],
            actions: vec![
                on_session(ActionType::Read, EffectKind::Read),
                on_session(ActionType::Edit, EffectKind::Modify),
                on_session(ActionType::Edit, EffectKind::Modify),
                action(
                    ActionType::Bash,
                    "",
                    Some("npm test"),
                    EffectKind::Test,
                    "Now the tests.",
                ),
            ],
            answer: "Done. The identity provider only supports HTTPS callbacks.".to_owned(),
            ..ReasoningQuestion::default()
        };
        let reasoning = extract_reasoning(&question);
        assert_eq!(
            reasoning.reasoning_trace,
            [
                "Edited src/auth/session.ts: The cookie is lost on redirect.",
                "Ran `npm test`: passed"
            ]
        );
        assert_eq!(reasoning.decisions.len(), 1);
        assert_eq!(
            reasoning.decisions[0].choice,
            "I use SameSite=Lax instead of Strict"
        );
        assert_eq!(reasoning.decisions[0].reason, "the provider redirects");
        assert_eq!(reasoning.constraints, ["don't touch the header"]);
        assert_eq!(reasoning.tags, ["bugfix", "tests", "typescript", "auth"]);
    }

    #[test]
    fn without_changes_the_trace_lists_the_files_read() {
        let question = ReasoningQuestion {
            actions: vec![action(
                ActionType::Read,
                "src/a.rs",
                None,
                EffectKind::Read,
                "I look at the parser first.",
            )],
            ..ReasoningQuestion::default()
        };
        let trace = extract_reasoning(&question).reasoning_trace;
        assert_eq!(trace, ["Read src/a.rs: I look at the parser first."]);
        let answered = ReasoningQuestion {
            answer: "The relay copies bytes.".to_owned(),
            ..ReasoningQuestion::default()
        };
        assert_eq!(
            extract_reasoning(&answered).reasoning_trace,
            ["Answered: The relay copies bytes."]
        );
        assert_eq!(
            extract_reasoning(&ReasoningQuestion::default()),
            Reasoning::default()
        );
    }

    #[test]
    fn of_many_actions_the_first_and_the_last_are_told() {
        let actions = (0..300).map(|n| {
            action(
                ActionType::Edit,
                &format!("src/f{n}.rs"),
                None,
                EffectKind::Modify,
                "",
            )
        });
        let question = ReasoningQuestion {
            actions: actions.collect(),
            ..ReasoningQuestion::default()
        };
        let trace = extract_reasoning(&question).reasoning_trace;
        assert_eq!(trace.len(), 20);
        assert_eq!(
            (trace[0].as_str(), trace[19].as_str()),
            ("Edited src/f0.rs", "Edited src/f299.rs")
        );
    }
}
