//! Properties that hold for any input.

use super::*;
use grov_domain::{
    ActionSketch, ActionType, EffectKind, IntentQuestion, ReasoningQuestion, SessionId, SummaryQuestion,
    TaskContextQuestion, TaskSketch, TaskType,
};
use proptest::prelude::*;

/// Pieces that the rules look for, between anything at all.
fn text() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        any::<String>(),
        "[a-zăîșț ,.!?:;`'\"()—<>/-]{0,40}",
        prop::sample::select(vec![
            "<system-reminder>",
            "</system-reminder>",
            "<grov-context",
            "</grov-context>",
            "```",
            "don't",
            "do not ",
            "only ",
            "fără ",
            "nu ",
            "must ",
            "Fix src/a.rs ",
            "[Image #1]",
            "All done.",
            "back to ",
            "because ",
            "instead of ",
            "\n",
            "\n\n",
            "- ",
            "1. ",
            "!)",
            "’",
            "İ",
            "\u{0}",
            "?",
            "…",
        ])
        .prop_map(str::to_owned),
    ];
    prop::collection::vec(piece, 0..24).prop_map(|pieces| pieces.concat())
}

fn action() -> impl Strategy<Value = ActionSketch> {
    let kinds = prop::sample::select(vec![
        ActionType::Edit,
        ActionType::Write,
        ActionType::Read,
        ActionType::Bash,
        ActionType::Task,
        ActionType::Other,
    ]);
    let effects = prop::sample::select(vec![
        EffectKind::Modify,
        EffectKind::Test,
        EffectKind::VersionControl,
        EffectKind::Read,
        EffectKind::Delete,
    ]);
    (
        kinds,
        prop::collection::vec(text(), 0..4),
        prop::option::of(text()),
        prop::collection::vec(effects, 0..3),
        prop::option::of(text()),
        prop::option::of(any::<bool>()),
        prop::option::of(text()),
    )
        .prop_map(
            |(action_type, files, command, effects, reasoning, failed, output)| ActionSketch {
                action_type,
                files,
                command,
                effects,
                reasoning,
                failed,
                output,
                content: None,
                line: None,
                change: None,
            },
        )
}

fn task() -> impl Strategy<Value = TaskSketch> {
    (text(), any::<bool>(), any::<bool>()).prop_map(|(goal, subtask, completed)| TaskSketch {
        id: SessionId::new(goal.clone()),
        goal,
        task_type: if subtask {
            TaskType::Subtask
        } else {
            TaskType::Main
        },
        parent: None,
        completed,
    })
}

fn texts() -> impl Strategy<Value = Vec<String>> {
    prop::collection::vec(text(), 0..5)
}

fn actions() -> impl Strategy<Value = Vec<ActionSketch>> {
    prop::collection::vec(action(), 0..12)
}

fn short(text: &str, limit: usize) -> bool {
    text.chars().count() <= limit
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, ..ProptestConfig::default() })]

    #[test]
    fn intents_are_bounded_and_the_same_twice(prompts in texts(), first_files in texts()) {
        let question = IntentQuestion { prompts, first_files };
        let intent = extract_intent(&question);
        prop_assert!(short(&intent.goal, 200));
        prop_assert!(intent.scope.len() <= 40 && intent.scope.iter().all(|entry| short(entry, 300)));
        prop_assert!(intent.constraints.len() <= 20 && intent.constraints.iter().all(|entry| short(entry, 200)));
        prop_assert!(intent.keywords.len() <= 12);
        prop_assert_eq!(extract_intent(&question), intent);
    }

    #[test]
    fn verdicts_on_turns_are_sound(
        current in prop::option::of(task()),
        others in prop::collection::vec(task(), 0..3),
        prompts in texts(),
        actions in actions(),
        answer in text(),
        stop_reason in prop::option::of(prop::sample::select(vec!["end_turn".to_owned(), "max_tokens".to_owned(), "new".to_owned()])),
    ) {
        let question = TaskContextQuestion {
            current, others, prompts, actions, answer, stop_reason, unchecked_finishes: true, is_remembered_complete: false,
        };
        let analysis = analyze_task_context(&question);
        prop_assert!(short(&analysis.goal, 200) && short(&analysis.reasoning, 300));
        prop_assert!(analysis.constraints.len() <= 20);
        prop_assert!(!analysis.finished || analysis.action.starts());
        prop_assert!(analysis.task_id.is_none() || !analysis.action.starts());
        let known = |id: &SessionId| question.others.iter().chain(&question.current).any(|task| task.id == *id);
        prop_assert!(analysis.task_id.as_ref().is_none_or(known));
        let ended = question.stop_reason.as_deref().is_none_or(|reason| reason == "end_turn");
        prop_assert!(ended || !(analysis.finished || analysis.action.completes()));
        prop_assert_eq!(analyze_task_context(&question), analysis);
    }

    #[test]
    fn what_is_remembered_is_bounded(prompts in texts(), actions in actions(), answer in text(), goal in text(), constraints in texts()) {
        let question = ReasoningQuestion { goal: goal.clone(), prompts: prompts.clone(), constraints: constraints.clone(), actions: actions.clone(), statements: Vec::new(), answer: answer.clone() };
        let reasoning = extract_reasoning(&question);
        prop_assert!(reasoning.reasoning_trace.len() <= 20 && reasoning.reasoning_trace.iter().all(|line| short(line, 400)));
        prop_assert!(reasoning.decisions.len() <= 8);
        prop_assert!(reasoning.constraints.len() <= 20 && reasoning.tags.len() <= 8);
        prop_assert!(reasoning.tags.iter().all(|tag| *tag == tag.to_lowercase()));
        prop_assert_eq!(extract_reasoning(&question), reasoning);
        let digest = session_summary(&SummaryQuestion { goal, constraints, prompts, actions, answer, ..SummaryQuestion::default() });
        prop_assert!(digest.files_modified.len() <= 50 && digest.progress.len() <= 20);
        prop_assert!(!digest.current_state.is_empty() && !digest.next_action.is_empty());
    }
}
