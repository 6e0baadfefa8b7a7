//! What holds for any course of events.

use super::*;
use proptest::prelude::*;

#[derive(Clone, Debug)]
enum Event {
    Change(u8, Rule, bool),
    Read,
    Deliver,
    Prompt,
    TakenBack,
    Verdict(u8),
}

fn event() -> impl Strategy<Value = Event> {
    let rule = prop_oneof![
        Just(Rule::Constraint),
        Just(Rule::Danger),
        Just(Rule::Tangent),
        Just(Rule::Repetition)
    ];
    prop_oneof![
        6 => (1u8..=10, rule, any::<bool>()).prop_map(|(score, rule, other)| Event::Change(score, rule, other)),
        1 => Just(Event::Read),
        5 => Just(Event::Deliver),
        1 => Just(Event::Prompt),
        1 => Just(Event::TakenBack),
        1 => (1u8..=10).prop_map(Event::Verdict),
    ]
}

proptest! {
    #[test]
    fn random_events_keep_the_state_consistent(events in proptest::collection::vec(event(), 0..80)) {
        let mut session = Session::new();
        let mut texts: Vec<String> = Vec::new();
        let mut ignored = 0;
        let mut last = Vec::new();
        for event in events {
            let mode = session.mode();
            let transition = match event {
                Event::Change(score, rule, is_other) => {
                    let file = if is_other { "web/theme.css" } else { "src/lib.rs" };
                    last = vec![assessed(edit(file, "x"), rule, score)];
                    session.on_response(&last)
                }
                Event::Read => session.on_response(&[assessed(action(ActionType::Read, &["z"]), Rule::Scope, 10)]),
                Event::Deliver => {
                    if let Some(correction) = session.deliver() {
                        prop_assert!(!texts.contains(&correction.text));
                        texts.push(correction.text);
                    }
                    Transition::default()
                }
                Event::Prompt => session.prompt(),
                Event::TakenBack => {
                    let at = session.context().at;
                    if session.drift.mark_undelivered(at) {
                        texts.pop();
                    }
                    Transition::default()
                }
                Event::Verdict(score) => {
                    session.judge(&last, score)
                }
            };
            for outcome in outcomes(&transition) {
                ignored += usize::from(outcome == CorrectionOutcome::Ignored);
            }
            let state = session.drift.state();
            if state.mode == SessionMode::Normal {
                ignored = 0;
            }
            prop_assert!(state.escalation <= 3);
            prop_assert!(state.failed_recoveries <= 3);
            if state.mode == SessionMode::Forced && mode != SessionMode::Forced {
                prop_assert!(ignored >= 3 && transition.entered_forced_mode);
            }
            prop_assert!(state.said.len() <= super::super::delivery::MAX_DELIVERED_HASHES);
        }
        session.change("src/auth/token.ts", Rule::Scope, 10);
        session.prompt();
        session.change("src/auth/token.ts", Rule::Scope, 10);
        prop_assert!(session.mode() == SessionMode::Normal || session.drift.pending_correction().is_some());
        session.deliver();
        session.change("src/auth/token.ts", Rule::Scope, 10);
        prop_assert_eq!(session.mode(), SessionMode::Normal);
        prop_assert_eq!(&session.drift.state().correction, &None);
    }
}
