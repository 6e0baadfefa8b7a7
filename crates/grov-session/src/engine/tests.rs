//! Tests of the engine with sequences of events.

mod obedience;

use super::*;
use crate::snapshot::EngineSnapshot;
use crate::testing::{bash, edit, read, read_intent};
use grov_domain::{
    ActionSketch, CorrectionId, CorrectionLevel, EffectKind, GoalEditId, GoalEditKind, ReadLimit,
    ReadRequest, SessionMode, StepId,
};
use proptest::prelude::*;
use std::sync::Arc;
use time::Duration;

const GOAL: &str = "Fix the token refresh in src/auth/token.ts";
const ROOT: &str = "/home/me/app";
const POLICIES: [Policy; 2] = [Policy::PER_ACTION, Policy::PER_PROMPT];

fn edits() -> Vec<GoalEdit> {
    vec![GoalEdit {
        id: GoalEditId::new("edit"),
        client_session_id: ClientSessionId::new("s"),
        kind: GoalEditKind::Forbid,
        text: "src/billing/**".to_owned(),
        at: OffsetDateTime::UNIX_EPOCH,
        since_prompt: None,
    }]
}

fn reader() -> IntentReader {
    Arc::new(read_intent)
}

/// An engine with a forbidden folder.
struct Session {
    engine: SessionEngine,
    policy: Policy,
    seconds: i64,
    calls: usize,
}

impl Session {
    fn new(policy: Policy) -> Self {
        let at = OffsetDateTime::UNIX_EPOCH;
        let engine = SessionEngine::new(ClientSessionId::new("s"), Some(ROOT), policy, reader(), at);
        let mut session = Self {
            engine: engine.start_with(Vec::new(), &edits(), 0),
            policy,
            seconds: 0,
            calls: 0,
        };
        session.prompt(GOAL);
        session
    }

    fn context(&self) -> EventContext {
        EventContext {
            at: OffsetDateTime::UNIX_EPOCH + Duration::seconds(self.seconds),
            correction_id: CorrectionId::new(format!("c{}", self.seconds)),
            task: ClientSessionId::new("s").first_task(),
        }
    }

    fn apply(&mut self, event: SessionEvent<'_>) -> Effects {
        self.seconds += 1;
        let context = self.context();
        self.engine.apply(event, &context)
    }

    fn prompt(&mut self, text: &str) -> Effects {
        let arrived_at = OffsetDateTime::UNIX_EPOCH + Duration::seconds(self.seconds + 1);
        self.apply(SessionEvent::Prompt { text, arrived_at })
    }

    fn observed(&mut self, action: ActionSketch) -> ObservedAction {
        self.calls += 1;
        ObservedAction {
            action,
            call: Some(format!("call-{}", self.calls)),
            step: Some(StepId::new(format!("step-{}", self.calls))),
            is_delegated: false,
        }
    }

    /// Applies a response with these actions. Returns the call of the last one.
    fn respond(&mut self, actions: Vec<ActionSketch>) -> String {
        let observed: Vec<ObservedAction> = actions.into_iter().map(|one| self.observed(one)).collect();
        self.apply(SessionEvent::Response(observed));
        format!("call-{}", self.calls)
    }

    fn act(&mut self, action: ActionSketch) -> String {
        self.respond(vec![action])
    }

    fn fail(&mut self, call: &str) {
        self.apply(SessionEvent::CallEnded(CallResult {
            call,
            failed: true,
            output: None,
            is_delegated: false,
        }));
    }

    fn pending_text(&self) -> Option<String> {
        self.engine
            .drift()
            .pending_correction()
            .map(|pending| pending.text.clone())
    }

    /// Delivers the pending correction.
    fn deliver(&mut self) -> Option<CorrectionLevel> {
        let at = self.context().at;
        let due = self.engine.drift().deliverable_correction(at, false)?.clone();
        self.engine.mark_delivered(&due, at);
        Some(due.level)
    }
}

fn billing(file: &str) -> ActionSketch {
    edit(
        &format!("{ROOT}/src/billing/{file}"),
        &format!("export const {} = 1;", file.len()),
    )
}

fn undo(file: &str) -> ActionSketch {
    let path = format!("{ROOT}/src/billing/{file}");
    let command = format!("git checkout -- src/billing/{file}");
    bash(&command, EffectKind::Modify, &[&path])
}

/// A violation that is worse than any change of a file.
fn destructive() -> ActionSketch {
    bash("rm -rf ~", EffectKind::Delete, &["/home/me"])
}

#[test]
fn repeating_a_violation_does_not_permit_it_after_the_next_prompt() {
    let removal = || bash("rm -rf /home/me/other", EffectKind::Delete, &["/home/me/other"]);
    let emptied = || edit(&format!("{ROOT}/src/billing/invoice.ts"), "");
    for action in [removal(), emptied()] {
        let mut session = Session::new(Policy::PER_PROMPT);
        session.act(action.clone());
        assert!(session.pending_text().is_some(), "{action:?}");
        session.prompt("go on");
        assert!(session.pending_text().is_some(), "{action:?}");
    }
}

#[test]
fn a_correction_waits_no_longer_when_a_model_read_that_the_user_wants_the_action() {
    let reset = || bash("git reset --hard origin/main", EffectKind::Delete, &[]);
    let reading = || PromptReading {
        asked: vec![ReadRequest {
            words: GOAL.to_owned(),
            commands: vec!["^git reset --hard origin/main$".to_owned()],
            ..ReadRequest::default()
        }],
        ..PromptReading::default()
    };
    let mut session = Session::new(Policy::PER_ACTION);
    session.act(reset());
    assert!(session.pending_text().is_some());
    // The reading of an earlier prompt says nothing about this one.
    for (read_to, waits) in [("Something else", true), (GOAL, false)] {
        let reading = reading();
        session.apply(SessionEvent::PromptsRead { read_to, reading });
        assert_eq!(session.pending_text().is_some(), waits, "{read_to}");
    }
    session.act(reset());
    assert_eq!(session.pending_text(), None);
    session.prompt("Now fix the retry in src/auth/token.ts, too");
    session.act(reset());
    assert!(
        session.pending_text().is_some(),
        "no model has read the new prompt"
    );
}

#[test]
fn a_limit_that_a_model_read_is_said_to_the_agent() {
    let reading = PromptReading {
        limits: vec![ReadLimit {
            words: "leave the mails".to_owned(),
            files: vec!["src/mails/**".to_owned()],
            ..ReadLimit::default()
        }],
        ..PromptReading::default()
    };
    let mut session = Session::new(Policy::PER_ACTION);
    session.apply(SessionEvent::PromptsRead {
        read_to: GOAL,
        reading,
    });
    session.act(edit(&format!("{ROOT}/src/mails/welcome.ts"), "Hello"));
    let text = session.pending_text().unwrap();
    assert!(text.contains("leave the mails"), "{text}");
}

#[test]
fn attached_facts_are_dropped_when_corrections_are_disabled() {
    for policy in POLICIES {
        let mut session = Session::new(policy);
        session.act(destructive());
        session.act(billing("invoice.ts"));
        session.apply(SessionEvent::CorrectionsEnabled(false));
        session.apply(SessionEvent::CorrectionsEnabled(true));
        session.act(billing("cart.ts"));
        let text = session.pending_text().unwrap();
        assert!(text.contains("cart.ts") && !text.contains("invoice.ts"), "{text}");
    }
}

#[test]
fn facts_that_did_not_fit_are_delivered_later() {
    let mut session = Session::new(Policy::PER_ACTION);
    for number in 0..6 {
        session.act(billing(&format!("file{number}.ts")));
    }
    let mut texts = session.pending_text().unwrap();
    session.deliver();
    session.act(edit(&format!("{ROOT}/src/auth/token.ts"), "refresh()"));
    texts += &session.pending_text().unwrap();
    for number in 0..6 {
        assert!(texts.contains(&format!("file{number}.ts")), "{number}: {texts}");
    }
}

#[test]
fn a_fact_found_while_a_worse_one_is_pending_is_delivered_with_it() {
    for policy in POLICIES {
        let mut session = Session::new(policy);
        session.act(destructive());
        let before = session.engine.drift().pending_correction().unwrap().score;
        session.act(billing("invoice.ts"));
        let pending_text = session.engine.drift().pending_correction().unwrap();
        assert_eq!(pending_text.score, before);
        assert!(
            pending_text.text.contains("removes everything") && pending_text.text.contains("invoice.ts"),
            "{}",
            pending_text.text
        );
    }
}

#[test]
fn an_attached_fact_is_promoted_when_the_call_of_the_pending_one_failed() {
    for policy in POLICIES {
        let mut session = Session::new(policy);
        let destructive = session.act(destructive());
        let lesser = session.act(billing("invoice.ts"));
        session.fail(&destructive);
        assert_eq!(session.engine.drift().pending_call(), Some(lesser.as_str()));
        let text = session.pending_text().unwrap();
        assert!(
            text.contains("invoice.ts") && !text.contains("removes everything"),
            "{text}"
        );
        session.fail(&lesser);
        assert_eq!(session.pending_text(), None);
    }
}

#[test]
fn an_attached_fact_is_promoted_when_the_pending_one_was_undone() {
    for policy in POLICIES {
        let mut session = Session::new(policy);
        session.act(billing("invoice.ts"));
        let second = session.act(billing("cart.ts"));
        session.act(undo("invoice.ts"));
        assert_eq!(session.engine.drift().pending_call(), Some(second.as_str()));
        let text = session.pending_text().unwrap();
        assert!(text.contains("cart.ts") && !text.contains("invoice.ts"), "{text}");
    }
}

#[test]
fn an_attached_fact_is_dropped_when_it_was_undone() {
    for policy in POLICIES {
        let mut session = Session::new(policy);
        session.act(destructive());
        session.act(billing("invoice.ts"));
        session.act(undo("invoice.ts"));
        let text = session.pending_text().unwrap();
        assert!(
            text.contains("removes everything") && !text.contains("invoice.ts"),
            "{text}"
        );
    }
}

#[test]
fn a_violation_undone_before_delivery_is_not_corrected() {
    for policy in POLICIES {
        let mut session = Session::new(policy);
        session.act(billing("invoice.ts"));
        session.act(undo("invoice.ts"));
        assert_eq!(
            (session.deliver(), session.engine.drift().state().escalation),
            (None, 0)
        );
        assert_eq!(session.engine.drift().state().mode, SessionMode::Normal);
    }
}

#[test]
fn a_violation_undone_in_the_same_response_is_not_corrected() {
    for policy in POLICIES {
        let mut session = Session::new(policy);
        session.respond(vec![billing("invoice.ts"), undo("invoice.ts")]);
        assert_eq!(
            (session.deliver(), session.engine.drift().state().escalation),
            (None, 0)
        );
        assert_eq!(session.engine.drift().state().mode, SessionMode::Normal);
        session.respond(vec![
            billing("cart.ts"),
            billing("invoice.ts"),
            undo("invoice.ts"),
        ]);
        let text = session.pending_text().unwrap();
        assert!(text.contains("cart.ts") && !text.contains("invoice.ts"), "{text}");
    }
}

#[test]
fn per_prompt_three_ignored_corrections_lead_to_two_forced_actions_and_no_more() {
    let mut session = Session::new(Policy::PER_PROMPT);
    let (mut levels, mut modes) = (Vec::new(), Vec::new());
    for file in ["a.ts", "b.ts", "c.ts", "d.ts", "e.ts", "f.ts"] {
        session.act(billing(file));
        modes.push(session.engine.drift().state().mode);
        session.prompt("no, do not");
        levels.push(session.deliver());
    }
    use CorrectionLevel::{Forced, Halt, Intervene};
    let expected = [
        Some(Intervene),
        Some(Halt),
        Some(Halt),
        Some(Forced),
        Some(Forced),
        None,
    ];
    assert_eq!(levels, expected);
    assert_eq!(
        modes[2..],
        [
            SessionMode::Drifted,
            SessionMode::Forced,
            SessionMode::Forced,
            SessionMode::Forced
        ]
    );
    // No correction is created until the next prompt.
    session.act(billing("g.ts"));
    session.prompt("no!");
    assert_eq!(session.deliver(), Some(Halt));
    session.act(edit(&format!("{ROOT}/src/auth/token.ts"), "refresh(token)"));
    assert_eq!(session.engine.drift().state().mode, SessionMode::Normal);
}

#[test]
fn nothing_is_pending_while_corrections_are_disabled() {
    for policy in POLICIES {
        let mut session = Session::new(policy);
        session.apply(SessionEvent::CorrectionsEnabled(false));
        session.act(billing("invoice.ts"));
        session.act(billing("cart.ts"));
        session.prompt("go on");
        assert_eq!(session.pending_text(), None);
        assert_eq!(session.engine.drift().state().escalation, 0);
        // Violations found in the meantime are not corrected later.
        session.apply(SessionEvent::CorrectionsEnabled(true));
        assert_eq!(session.pending_text(), None);
        // Disabling corrections drops the pending one.
        session.act(billing("tax.ts"));
        assert!(session.pending_text().is_some());
        session.apply(SessionEvent::CorrectionsEnabled(false));
        assert_eq!(session.pending_text(), None);
    }
}

#[test]
fn a_tolerated_change_is_not_corrected_again() {
    for policy in POLICIES {
        let mut session = Session::new(policy);
        session.act(billing("invoice.ts"));
        session.prompt("go on");
        assert_eq!(session.deliver(), Some(CorrectionLevel::Intervene));
        // The user has read it and does not object.
        session.prompt("go on");
        session.act(billing("invoice.ts"));
        session.prompt("go on");
        assert_eq!(session.deliver(), None);
        session.act(billing("cart.ts"));
        session.prompt("go on");
        assert!(session.deliver().is_some(), "another file is corrected");
    }
}

/// Writes the same text until the repetition is found.
fn repeat_edit(session: &mut Session) {
    let text = "export const refresh = async (token: Token) => renew(token, { retries: 3 });";
    for _ in 0..6 {
        session.act(edit(&format!("{ROOT}/src/auth/token.ts"), text));
        if session.pending_text().is_some() {
            return;
        }
    }
    panic!("the repetition is found");
}

#[test]
fn per_prompt_a_repetition_is_corrected_unless_there_is_a_new_request() {
    let mut session = Session::new(Policy::PER_PROMPT);
    repeat_edit(&mut session);
    session.prompt("go on");
    assert!(session.deliver().is_some());
    let mut session = Session::new(Policy::PER_PROMPT);
    repeat_edit(&mut session);
    session.prompt("Now write the docs/guide.md about the menu");
    assert_eq!(session.deliver(), None);
}

#[test]
fn an_action_that_the_user_objected_to_is_corrected_again() {
    let mut session = Session::new(Policy::PER_PROMPT);
    session.act(billing("invoice.ts"));
    session.prompt("go on");
    assert!(session.deliver().is_some());
    session.prompt("no, not the billing");
    session.act(billing("invoice.ts"));
    session.prompt("no!");
    assert!(session.deliver().is_some());
}

#[test]
fn an_action_that_the_user_allowed_is_on_goal_whenever_the_permission_is_known() {
    let asked = |call: &str, ran: bool| {
        vec![AskedCall {
            tool_use_id: call.to_owned(),
            ran,
        }]
    };
    let ran = |session: &mut Session, call: &str| {
        session.apply(SessionEvent::CallEnded(CallResult {
            call,
            failed: false,
            output: None,
            is_delegated: false,
        }))
    };
    for policy in POLICIES {
        // The permission is known before the action is assessed.
        let mut session = Session::new(policy);
        session.apply(SessionEvent::PermissionAsked(&asked("call-1", true)));
        let one = session.observed(billing("invoice.ts"));
        let effects = session.apply(SessionEvent::Response(vec![one]));
        let verdict = effects.verdicts[0].clone().unwrap();
        assert_eq!((verdict.score, verdict.findings.len()), (10, 0));
        // The question is known before, and that it ran afterwards.
        let mut session = Session::new(policy);
        session.apply(SessionEvent::PermissionAsked(&asked("call-1", false)));
        session.act(billing("invoice.ts"));
        let effects = ran(&mut session, "call-1");
        assert_eq!(
            effects.later_verdicts,
            [(
                StepId::new("step-1"),
                step_verdict(10, JudgedBy::Rules, Vec::new(), None)
            )]
        );
        assert!(!effects.needs_permission_lookup);
        assert_eq!(
            (session.pending_text(), session.engine.drift().state().mode),
            (None, SessionMode::Normal)
        );
        // That it ran is known first, and the question afterwards.
        let mut session = Session::new(policy);
        session.act(billing("invoice.ts"));
        assert!(ran(&mut session, "call-1").needs_permission_lookup);
        let effects = session.apply(SessionEvent::PermissionAsked(&asked("call-1", false)));
        assert_eq!(
            effects.later_verdicts,
            [(
                StepId::new("step-1"),
                step_verdict(10, JudgedBy::Rules, Vec::new(), None)
            )]
        );
        assert_eq!(
            (session.pending_text(), session.engine.drift().state().mode),
            (None, SessionMode::Normal)
        );
        // The same file is not corrected again.
        session.act(billing("invoice.ts"));
        assert_eq!(session.pending_text(), None);
    }
}

/// A random event; numbers select its data.
#[derive(Clone, Debug)]
enum RandomEvent {
    Prompt(usize),
    Act(Vec<(usize, bool)>),
    Ended(usize, bool, bool),
    Asks(usize, bool),
    AssistantText(usize),
    TurnEnded,
    Permission(usize, bool),
    Corrects(bool),
    Edited(bool),
    Delivered,
    CheckResult,
}

const PROMPTS: &[&str] = &[
    "go on",
    "no, leave that",
    "yes",
    "Do not touch src/styles.css",
    "Now write the docs/guide.md about the menu",
    "You may change src/billing/invoice.ts",
];
const WORDS: &[&str] = &[
    "Shall I push with git push --force?",
    "Done.",
    "I changed src/billing/invoice.ts",
];

fn random_event() -> impl Strategy<Value = RandomEvent> {
    prop_oneof![
        2 => (0..PROMPTS.len()).prop_map(RandomEvent::Prompt),
        6 => prop::collection::vec((0..9_usize, prop::bool::weighted(0.2)), 1..3).prop_map(RandomEvent::Act),
        3 => (0..9_usize, prop::bool::weighted(0.3), any::<bool>())
            .prop_map(|(call, failed, speaks)| RandomEvent::Ended(call, failed, speaks)),
        1 => (0..9_usize, any::<bool>()).prop_map(|(call, plan)| RandomEvent::Asks(call, plan)),
        1 => (0..WORDS.len()).prop_map(RandomEvent::AssistantText),
        1 => Just(RandomEvent::TurnEnded),
        1 => (0..9_usize, any::<bool>()).prop_map(|(call, ran)| RandomEvent::Permission(call, ran)),
        1 => any::<bool>().prop_map(RandomEvent::Corrects),
        1 => any::<bool>().prop_map(RandomEvent::Edited),
        3 => Just(RandomEvent::Delivered),
        1 => Just(RandomEvent::CheckResult),
    ]
}

fn an_action(number: usize) -> ActionSketch {
    match number {
        0 | 1 => billing(["invoice.ts", "cart.ts"][number]),
        2 => undo("invoice.ts"),
        3 => destructive(),
        4 => edit(&format!("{ROOT}/src/auth/token.ts"), "refresh(token)"),
        5 => read(&format!("{ROOT}/src/auth/token.ts")),
        6 => edit(&format!("{ROOT}/docs/menu/lunch.md"), "soup with leek and cream"),
        7 => edit(&format!("{ROOT}/assets/moon.svg"), "<svg><circle/></svg>"),
        _ => bash("git push --force", EffectKind::VersionControl, &[]),
    }
}

impl Session {
    /// Applies an event. Returns its effects, the state and the contract.
    fn apply_random(&mut self, what: &RandomEvent) -> String {
        let effects = match what {
            RandomEvent::Prompt(number) => self.prompt(PROMPTS[*number]),
            RandomEvent::Act(actions) => {
                let delegated = actions[0].1;
                let observed = actions.iter().map(|(number, _)| ObservedAction {
                    is_delegated: delegated,
                    ..self.observed(an_action(*number))
                });
                let observed = observed.collect();
                self.apply(SessionEvent::Response(observed))
            }
            RandomEvent::Ended(call, failed, speaks) => {
                let call = format!("call-{call}");
                self.apply(SessionEvent::CallEnded(CallResult {
                    call: &call,
                    failed: *failed,
                    output: speaks.then_some("src/billing/cart.ts: error in line 3"),
                    is_delegated: false,
                }))
            }
            RandomEvent::Asks(call, plan) => self.apply(SessionEvent::QuestionAsked(PendingQuestion {
                call: format!("call-{call}"),
                plan: plan.then(|| "Change src/billing/invoice.ts".to_owned()),
            })),
            RandomEvent::AssistantText(number) => self.apply(SessionEvent::AssistantText(WORDS[*number])),
            RandomEvent::TurnEnded => self.apply(SessionEvent::TurnEnded),
            RandomEvent::Permission(call, ran) => {
                let asked = AskedCall {
                    tool_use_id: format!("call-{call}"),
                    ran: *ran,
                };
                self.apply(SessionEvent::PermissionAsked(&[asked]))
            }
            RandomEvent::Corrects(corrects) => {
                self.policy.corrects = *corrects;
                self.apply(SessionEvent::CorrectionsEnabled(*corrects))
            }
            RandomEvent::Edited(forbids) => {
                let edits = if *forbids { edits() } else { Vec::new() };
                self.apply(SessionEvent::GoalEdited(edits))
            }
            RandomEvent::Delivered => {
                return format!("{:?} {:?}", self.deliver(), self.engine.drift().state());
            }
            RandomEvent::CheckResult => return format!("{:?}", self.engine.check()),
        };
        format!(
            "{effects:?} {:?} {:?}",
            self.engine.drift().state(),
            self.engine.contract()
        )
    }

    /// Stores and restores the engine.
    fn kept(self, edits: &[GoalEdit]) -> Self {
        let text = serde_json::to_string(&self.engine.snapshot(true)).unwrap();
        let snapshot: EngineSnapshot<'_> = serde_json::from_str(&text).unwrap();
        Self {
            engine: SessionEngine::restore(snapshot, Some(ROOT), self.policy, reader(), edits),
            ..self
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn a_restored_engine_behaves_like_one_that_was_never_stored(
        by_prompt in any::<bool>(),
        events in prop::collection::vec(random_event(), 1..24),
    ) {
        let policy = POLICIES[usize::from(by_prompt)];
        let (mut never, mut kept) = (Session::new(policy), Session::new(policy));
        let mut edited = edits();
        for (index, event) in events.iter().enumerate() {
            if let RandomEvent::Edited(forbids) = event {
                edited = if *forbids { edits() } else { Vec::new() };
            }
            prop_assert_eq!(never.apply_random(event), kept.apply_random(event), "event {}", index);
            kept = kept.kept(&edited);
        }
    }
}

#[test]
fn a_snapshot_of_an_earlier_version_round_trips() {
    let stored: serde_json::Value =
        serde_json::from_str(include_str!("../../testdata/stored_engine.json")).unwrap();
    let snapshot: EngineSnapshot<'_> = serde_json::from_value(stored.clone()).unwrap();
    let engine = SessionEngine::restore(snapshot, Some(ROOT), Policy::PER_ACTION, reader(), &edits());
    assert_eq!(serde_json::to_value(engine.snapshot(false)).unwrap(), stored);
}
