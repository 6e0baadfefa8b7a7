//! What the engine says when, by events alone.

use super::*;
use crate::snapshot::EngineSnapshot;
use crate::testing::{bash, edit, read, read_intent};
use grov_domain::{
    ActionSketch, CorrectionId, CorrectionLevel, EffectKind, GoalEditId, GoalEditKind, StepId,
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
    }]
}

fn reader() -> IntentReader {
    Arc::new(read_intent)
}

/// An engine whose user forbade a folder.
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
            id: CorrectionId::new(format!("c{}", self.seconds)),
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

    /// A response with these actions. The call of the last one.
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

    fn waits(&self) -> Option<String> {
        self.engine
            .drift()
            .pending_correction()
            .map(|pending| pending.text.clone())
    }

    /// What waits is said now.
    fn say(&mut self) -> Option<CorrectionLevel> {
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

fn put_back(file: &str) -> ActionSketch {
    let path = format!("{ROOT}/src/billing/{file}");
    let command = format!("git checkout -- src/billing/{file}");
    bash(&command, EffectKind::Modify, &[&path])
}

/// Destroys more than any change of a file.
fn grave() -> ActionSketch {
    bash("rm -rf ~", EffectKind::Delete, &["/home/me"])
}

#[test]
fn what_was_done_against_a_fact_does_not_excuse_itself_under_the_next_prompt() {
    let removal = || bash("rm -rf /home/me/other", EffectKind::Delete, &["/home/me/other"]);
    let emptied = || edit(&format!("{ROOT}/src/billing/invoice.ts"), "");
    for action in [removal(), emptied()] {
        let mut session = Session::new(Policy::PER_PROMPT);
        session.act(action.clone());
        assert!(session.waits().is_some(), "{action:?}");
        session.prompt("go on");
        assert!(session.waits().is_some(), "{action:?}");
    }
}

#[test]
fn what_waited_when_corrections_were_switched_off_is_not_said_with_a_later_one() {
    for policy in POLICIES {
        let mut session = Session::new(policy);
        session.act(grave());
        session.act(billing("invoice.ts"));
        session.apply(SessionEvent::CorrectionsEnabled(false));
        session.apply(SessionEvent::CorrectionsEnabled(true));
        session.act(billing("cart.ts"));
        let text = session.waits().unwrap();
        assert!(text.contains("cart.ts") && !text.contains("invoice.ts"), "{text}");
    }
}

#[test]
fn facts_for_which_there_was_no_room_are_said_afterwards() {
    let mut session = Session::new(Policy::PER_ACTION);
    for number in 0..6 {
        session.act(billing(&format!("file{number}.ts")));
    }
    let mut texts = session.waits().unwrap();
    session.say();
    session.act(edit(&format!("{ROOT}/src/auth/token.ts"), "refresh()"));
    texts += &session.waits().unwrap();
    for number in 0..6 {
        assert!(texts.contains(&format!("file{number}.ts")), "{number}: {texts}");
    }
}

#[test]
fn a_fact_found_while_a_graver_one_waits_is_said_with_it() {
    for policy in POLICIES {
        let mut session = Session::new(policy);
        session.act(grave());
        let before = session.engine.drift().pending_correction().unwrap().score;
        session.act(billing("invoice.ts"));
        let waits = session.engine.drift().pending_correction().unwrap();
        assert_eq!(waits.score, before);
        assert!(
            waits.text.contains("removes everything") && waits.text.contains("invoice.ts"),
            "{}",
            waits.text
        );
    }
}

#[test]
fn a_fact_takes_the_place_of_a_graver_one_that_failed() {
    for policy in POLICIES {
        let mut session = Session::new(policy);
        let grave = session.act(grave());
        let lesser = session.act(billing("invoice.ts"));
        session.fail(&grave);
        assert_eq!(session.engine.drift().pending_call(), Some(lesser.as_str()));
        let text = session.waits().unwrap();
        assert!(
            text.contains("invoice.ts") && !text.contains("removes everything"),
            "{text}"
        );
        session.fail(&lesser);
        assert_eq!(session.waits(), None);
    }
}

#[test]
fn a_fact_takes_the_place_of_one_that_was_put_back() {
    for policy in POLICIES {
        let mut session = Session::new(policy);
        session.act(billing("invoice.ts"));
        let second = session.act(billing("cart.ts"));
        session.act(put_back("invoice.ts"));
        assert_eq!(session.engine.drift().pending_call(), Some(second.as_str()));
        let text = session.waits().unwrap();
        assert!(text.contains("cart.ts") && !text.contains("invoice.ts"), "{text}");
    }
}

#[test]
fn a_fact_that_is_said_with_a_graver_one_goes_when_it_is_put_back() {
    for policy in POLICIES {
        let mut session = Session::new(policy);
        session.act(grave());
        session.act(billing("invoice.ts"));
        session.act(put_back("invoice.ts"));
        let text = session.waits().unwrap();
        assert!(
            text.contains("removes everything") && !text.contains("invoice.ts"),
            "{text}"
        );
    }
}

#[test]
fn what_was_put_back_before_it_was_said_is_not_said() {
    for policy in POLICIES {
        let mut session = Session::new(policy);
        session.act(billing("invoice.ts"));
        session.act(put_back("invoice.ts"));
        assert_eq!(
            (session.say(), session.engine.drift().state().escalation),
            (None, 0)
        );
        assert_eq!(session.engine.drift().state().mode, SessionMode::Normal);
    }
}

#[test]
fn what_the_same_response_puts_back_is_not_said() {
    for policy in POLICIES {
        let mut session = Session::new(policy);
        session.respond(vec![billing("invoice.ts"), put_back("invoice.ts")]);
        assert_eq!(
            (session.say(), session.engine.drift().state().escalation),
            (None, 0)
        );
        assert_eq!(session.engine.drift().state().mode, SessionMode::Normal);
        session.respond(vec![
            billing("cart.ts"),
            billing("invoice.ts"),
            put_back("invoice.ts"),
        ]);
        let text = session.waits().unwrap();
        assert!(text.contains("cart.ts") && !text.contains("invoice.ts"), "{text}");
    }
}

#[test]
fn with_prompts_three_ignored_corrections_lead_to_two_demands_and_then_to_silence() {
    let mut session = Session::new(Policy::PER_PROMPT);
    let (mut levels, mut modes) = (Vec::new(), Vec::new());
    for file in ["a.ts", "b.ts", "c.ts", "d.ts", "e.ts", "f.ts"] {
        session.act(billing(file));
        modes.push(session.engine.drift().state().mode);
        session.prompt("no, do not");
        levels.push(session.say());
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
    // The silence lasts until the user speaks.
    session.act(billing("g.ts"));
    session.prompt("no!");
    assert_eq!(session.say(), Some(Halt));
    session.act(edit(&format!("{ROOT}/src/auth/token.ts"), "refresh(token)"));
    assert_eq!(session.engine.drift().state().mode, SessionMode::Normal);
}

#[test]
fn where_corrections_are_switched_off_nothing_waits() {
    for policy in POLICIES {
        let mut session = Session::new(policy);
        session.apply(SessionEvent::CorrectionsEnabled(false));
        session.act(billing("invoice.ts"));
        session.act(billing("cart.ts"));
        session.prompt("go on");
        assert_eq!(session.waits(), None);
        assert_eq!(session.engine.drift().state().escalation, 0);
        // What was found meanwhile is not said later.
        session.apply(SessionEvent::CorrectionsEnabled(true));
        assert_eq!(session.waits(), None);
        // What waits goes with the switch.
        session.act(billing("tax.ts"));
        assert!(session.waits().is_some());
        session.apply(SessionEvent::CorrectionsEnabled(false));
        assert_eq!(session.waits(), None);
    }
}

#[test]
fn what_the_user_let_pass_is_not_corrected_again() {
    for policy in POLICIES {
        let mut session = Session::new(policy);
        session.act(billing("invoice.ts"));
        session.prompt("go on");
        assert_eq!(session.say(), Some(CorrectionLevel::Intervene));
        // They have read it, and do not object.
        session.prompt("go on");
        session.act(billing("invoice.ts"));
        session.prompt("go on");
        assert_eq!(session.say(), None);
        session.act(billing("cart.ts"));
        session.prompt("go on");
        assert!(session.say().is_some(), "another file is another matter");
    }
}

/// Writes the same text until that is found.
fn circle(session: &mut Session) {
    let text = "export const refresh = async (token: Token) => renew(token, { retries: 3 });";
    for _ in 0..6 {
        session.act(edit(&format!("{ROOT}/src/auth/token.ts"), text));
        if session.waits().is_some() {
            return;
        }
    }
    panic!("a circle is found");
}

#[test]
fn with_prompts_a_circle_is_said_unless_something_was_asked_for_since() {
    let mut session = Session::new(Policy::PER_PROMPT);
    circle(&mut session);
    session.prompt("go on");
    assert!(session.say().is_some());
    let mut session = Session::new(Policy::PER_PROMPT);
    circle(&mut session);
    session.prompt("Now write the docs/guide.md about the menu");
    assert_eq!(session.say(), None);
}

#[test]
fn what_the_user_objected_to_is_corrected_again() {
    let mut session = Session::new(Policy::PER_PROMPT);
    session.act(billing("invoice.ts"));
    session.prompt("go on");
    assert!(session.say().is_some());
    session.prompt("no, not the billing");
    session.act(billing("invoice.ts"));
    session.prompt("no!");
    assert!(session.say().is_some());
}

#[test]
fn what_the_user_allowed_in_the_dialog_is_on_the_goal_whenever_that_is_known() {
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
        // Known to have run before it is looked at.
        let mut session = Session::new(policy);
        session.apply(SessionEvent::PermissionAsked(&asked("call-1", true)));
        let one = session.observed(billing("invoice.ts"));
        let effects = session.apply(SessionEvent::Response(vec![one]));
        let verdict = effects.verdicts[0].clone().unwrap();
        assert_eq!((verdict.score, verdict.findings.len()), (10, 0));
        // Known to be asked before, and to have run behind.
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
            (session.waits(), session.engine.drift().state().mode),
            (None, SessionMode::Normal)
        );
        // Known to have run, and to be asked behind.
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
            (session.waits(), session.engine.drift().state().mode),
            (None, SessionMode::Normal)
        );
        // The same file is not spoken of again.
        session.act(billing("invoice.ts"));
        assert_eq!(session.waits(), None);
    }
}

/// Something that may happen, by numbers.
#[derive(Clone, Debug)]
enum Happens {
    Prompt(usize),
    Act(Vec<(usize, bool)>),
    Ended(usize, bool, bool),
    Asks(usize, bool),
    Said(usize),
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

fn happens() -> impl Strategy<Value = Happens> {
    prop_oneof![
        2 => (0..PROMPTS.len()).prop_map(Happens::Prompt),
        6 => prop::collection::vec((0..9_usize, prop::bool::weighted(0.2)), 1..3).prop_map(Happens::Act),
        3 => (0..9_usize, prop::bool::weighted(0.3), any::<bool>())
            .prop_map(|(call, failed, speaks)| Happens::Ended(call, failed, speaks)),
        1 => (0..9_usize, any::<bool>()).prop_map(|(call, plan)| Happens::Asks(call, plan)),
        1 => (0..WORDS.len()).prop_map(Happens::Said),
        1 => Just(Happens::TurnEnded),
        1 => (0..9_usize, any::<bool>()).prop_map(|(call, ran)| Happens::Permission(call, ran)),
        1 => any::<bool>().prop_map(Happens::Corrects),
        1 => any::<bool>().prop_map(Happens::Edited),
        3 => Just(Happens::Delivered),
        1 => Just(Happens::CheckResult),
    ]
}

fn an_action(number: usize) -> ActionSketch {
    match number {
        0 | 1 => billing(["invoice.ts", "cart.ts"][number]),
        2 => put_back("invoice.ts"),
        3 => grave(),
        4 => edit(&format!("{ROOT}/src/auth/token.ts"), "refresh(token)"),
        5 => read(&format!("{ROOT}/src/auth/token.ts")),
        6 => edit(&format!("{ROOT}/docs/menu/lunch.md"), "soup with leek and cream"),
        7 => edit(&format!("{ROOT}/assets/moon.svg"), "<svg><circle/></svg>"),
        _ => bash("git push --force", EffectKind::VersionControl, &[]),
    }
}

impl Session {
    /// Lets it happen; what comes of it, and what waits then.
    fn happen(&mut self, what: &Happens) -> String {
        let came = match what {
            Happens::Prompt(number) => self.prompt(PROMPTS[*number]),
            Happens::Act(actions) => {
                let delegated = actions[0].1;
                let observed = actions.iter().map(|(number, _)| ObservedAction {
                    is_delegated: delegated,
                    ..self.observed(an_action(*number))
                });
                let observed = observed.collect();
                self.apply(SessionEvent::Response(observed))
            }
            Happens::Ended(call, failed, speaks) => {
                let call = format!("call-{call}");
                self.apply(SessionEvent::CallEnded(CallResult {
                    call: &call,
                    failed: *failed,
                    output: speaks.then_some("src/billing/cart.ts: error in line 3"),
                    is_delegated: false,
                }))
            }
            Happens::Asks(call, plan) => self.apply(SessionEvent::QuestionAsked(PendingQuestion {
                call: format!("call-{call}"),
                plan: plan.then(|| "Change src/billing/invoice.ts".to_owned()),
            })),
            Happens::Said(number) => self.apply(SessionEvent::AssistantText(WORDS[*number])),
            Happens::TurnEnded => self.apply(SessionEvent::TurnEnded),
            Happens::Permission(call, ran) => {
                let asked = AskedCall {
                    tool_use_id: format!("call-{call}"),
                    ran: *ran,
                };
                self.apply(SessionEvent::PermissionAsked(&[asked]))
            }
            Happens::Corrects(corrects) => {
                self.policy.corrects = *corrects;
                self.apply(SessionEvent::CorrectionsEnabled(*corrects))
            }
            Happens::Edited(forbids) => {
                let edits = if *forbids { edits() } else { Vec::new() };
                self.apply(SessionEvent::GoalEdited(edits))
            }
            Happens::Delivered => return format!("{:?} {:?}", self.say(), self.engine.drift().state()),
            Happens::CheckResult => return format!("{:?}", self.engine.check()),
        };
        format!(
            "{came:?} {:?} {:?}",
            self.engine.drift().state(),
            self.engine.contract()
        )
    }

    /// The same, kept and taken up again.
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
    fn an_engine_that_was_kept_goes_on_as_one_that_never_was(
        by_prompt in any::<bool>(),
        events in prop::collection::vec(happens(), 1..24),
    ) {
        let policy = POLICIES[usize::from(by_prompt)];
        let (mut never, mut kept) = (Session::new(policy), Session::new(policy));
        let mut edited = edits();
        for (place, event) in events.iter().enumerate() {
            if let Happens::Edited(forbids) = event {
                edited = if *forbids { edits() } else { Vec::new() };
            }
            prop_assert_eq!(never.happen(event), kept.happen(event), "event {}", place);
            kept = kept.kept(&edited);
        }
    }
}

#[test]
fn a_snapshot_stored_by_an_earlier_version_is_restored_and_stored_alike() {
    let stored: serde_json::Value =
        serde_json::from_str(include_str!("../../testdata/stored_engine.json")).unwrap();
    let snapshot: EngineSnapshot<'_> = serde_json::from_value(stored.clone()).unwrap();
    let engine = SessionEngine::restore(snapshot, Some(ROOT), Policy::PER_ACTION, reader(), &edits());
    assert_eq!(serde_json::to_value(engine.snapshot(false)).unwrap(), stored);
}
