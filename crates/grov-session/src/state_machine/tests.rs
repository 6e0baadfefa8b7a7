use super::response::MAX_DESCRIPTION;
use super::*;
use crate::testing::{action, assessed, bash, edit, read};
use grov_domain::{
    ActionType, ClientSessionId, CorrectionLevel, CorrectionOutcome, DriftType, DriftVerdict, EffectKind,
    RecoveryStep, Rule, SessionId, StepId,
};
use proptest::prelude::*;

/// A session with its own clock and ids.
struct Session {
    drift: DriftStateMachine,
    contract: GoalContract,
    time: i64,
}

fn contract() -> GoalContract {
    GoalContract {
        goal: "Fix the token refresh".to_owned(),
        instructions: vec!["Fix the token refresh in src/auth/token.ts".to_owned()],
        scope: vec!["src/auth/token.ts".to_owned()],
        ..GoalContract::default()
    }
}

impl Session {
    fn new() -> Self {
        Self::with_policy(Policy::default())
    }

    fn with_policy(policy: Policy) -> Self {
        let state = DriftState::new(ClientSessionId::new("s"), OffsetDateTime::UNIX_EPOCH);
        Self {
            drift: DriftStateMachine::new(state, policy),
            contract: contract(),
            time: 0,
        }
    }

    fn context(&mut self) -> EventContext {
        self.time += 1;
        EventContext {
            at: OffsetDateTime::UNIX_EPOCH + Duration::seconds(self.time),
            correction_id: CorrectionId::new(format!("c{}", self.time)),
            task: SessionId::new("s"),
        }
    }

    fn on_response(&mut self, response: &[AssessedAction]) -> Transition {
        let context = self.context();
        let contract = self.contract.clone();
        self.drift.on_response(response, &contract, &context)
    }

    /// Applies a change with this score.
    fn change(&mut self, file: &str, rule: Rule, score: u8) -> Transition {
        self.on_response(&[assessed(edit(file, "x"), rule, score)])
    }

    fn deliver(&mut self) -> Option<Correction> {
        let context = self.context();
        let pending = self.drift.deliverable_correction(context.at, false)?.clone();
        assert!(self.drift.mark_delivered(&pending, context.at));
        Some(pending)
    }

    /// Applies two doubts, so that the next one is reported.
    fn two_doubts(&mut self) {
        for file in ["web/first.css", "web/second.css"] {
            let transition = self.change(file, Rule::Tangent, 3);
            assert_eq!(level_of(&transition), None, "{file}");
        }
    }

    /// Applies a change with this score and delivers its correction.
    fn corrected(&mut self, file: &str, rule: Rule, score: u8) {
        if rule.is_doubt() {
            self.two_doubts();
        }
        self.change(file, rule, score);
        assert!(self.deliver().is_some());
    }

    /// Applies a model's verdict on a response.
    fn judge(&mut self, response: &[AssessedAction], score: u8) -> Transition {
        let asked_at = self.drift.position();
        self.judge_at(response, score, asked_at)
    }

    /// Applies a model's verdict that was requested at this position.
    fn judge_at(&mut self, response: &[AssessedAction], score: u8, asked_at: Position) -> Transition {
        let context = self.context();
        let contract = self.contract.clone();
        self.drift
            .apply_verdict(response, &verdict(score), asked_at, &contract, &context)
    }

    fn prompt(&mut self) -> Transition {
        self.prompt_with(false)
    }

    fn prompt_with(&mut self, has_objection: bool) -> Transition {
        let at = self.context().at;
        let summary = PromptSummary {
            has_objection,
            arrived_at: at,
        };
        self.drift.on_prompt(summary, at)
    }

    fn mode(&self) -> SessionMode {
        self.drift.state().mode
    }
}

fn level_of(transition: &Transition) -> Option<CorrectionLevel> {
    transition
        .new_correction
        .as_ref()
        .map(|(_, correction)| correction.level)
}

fn outcomes(transition: &Transition) -> Vec<CorrectionOutcome> {
    transition.resolved.iter().filter_map(|one| one.outcome).collect()
}

#[test]
fn ignored_corrections_escalate_to_a_forced_action_which_ends_forced_mode() {
    let mut session = Session::new();
    let first = session.change("web/theme.css", Rule::Constraint, 3);
    assert_eq!(level_of(&first), Some(CorrectionLevel::Intervene));
    assert_eq!(session.mode(), SessionMode::Drifted);
    session.deliver().unwrap();

    let second = session.change("web/button.tsx", Rule::Constraint, 3);
    assert_eq!(outcomes(&second), [CorrectionOutcome::Ignored]);
    assert_eq!(level_of(&second), Some(CorrectionLevel::Halt));
    assert!(
        second
            .new_correction
            .unwrap()
            .1
            .text
            .contains("Edit of web/button.tsx")
    );
    session.deliver().unwrap();

    let third = session.change("web/card.tsx", Rule::Constraint, 3);
    assert_eq!(level_of(&third), Some(CorrectionLevel::Halt));
    assert_eq!(session.mode(), SessionMode::Drifted);
    session.deliver().unwrap();

    let fourth = session.change("web/list.tsx", Rule::Constraint, 3);
    assert!(fourth.entered_forced_mode);
    assert_eq!(level_of(&fourth), Some(CorrectionLevel::Forced));
    assert_eq!(session.mode(), SessionMode::Forced);
    let demand = session.deliver().unwrap();
    assert_eq!(
        demand.recovery_plan.first().and_then(|step| step.file.as_deref()),
        Some("web/list.tsx")
    );

    let undo = bash(
        "git checkout web/list.tsx",
        EffectKind::VersionControl,
        &["web/list.tsx"],
    );
    let followed = session.on_response(&[assessed(undo, Rule::Constraint, 3)]);
    assert_eq!(outcomes(&followed), [CorrectionOutcome::Followed]);
    assert_eq!(session.mode(), SessionMode::Normal);
    assert_eq!(session.drift.state().failed_recoveries, 0);
}

#[test]
fn forced_actions_are_limited() {
    let mut session = Session::new();
    let mut said = 0;
    for number in 0..30 {
        session.change(&format!("web/{number}.css"), Rule::Constraint, 1);
        said += usize::from(session.deliver().is_some());
    }
    assert_eq!(said, 3 + usize::from(MAX_FORCED));
    assert_eq!(session.mode(), SessionMode::Forced);
    session.prompt();
    assert_eq!(session.mode(), SessionMode::Normal);
}

#[test]
fn reading_does_not_resolve_a_correction() {
    let mut session = Session::new();
    session.corrected("web/theme.css", Rule::Constraint, 3);
    let before = session.drift.state().clone();
    for file in ["README.md", "src/a.rs", "web/theme.css"] {
        let transition = session.on_response(&[assessed(read(file), Rule::Scope, 10)]);
        assert_eq!(transition, Transition::default(), "{file}");
    }
    let tests = bash("npm test", EffectKind::Test, &[]);
    assert_eq!(
        session.on_response(&[assessed(tests, Rule::Scope, 10)]),
        Transition::default()
    );
    assert_eq!(*session.drift.state(), before);
}

#[test]
fn undoing_a_violation_follows_the_correction_and_is_on_goal() {
    let mut session = Session::new();
    session.corrected("db/schema.sql", Rule::Constraint, 2);
    let undo = bash(
        "git checkout -- db/schema.sql",
        EffectKind::VersionControl,
        &["db/schema.sql"],
    );
    let transition = session.on_response(&[assessed(undo, Rule::Constraint, 2)]);
    assert_eq!(transition.exempt, [0]);
    assert_eq!(outcomes(&transition), [CorrectionOutcome::Followed]);
    assert_eq!(session.mode(), SessionMode::Normal);
}

#[test]
fn only_the_first_edit_of_a_file_counts_as_an_undo() {
    let mut session = Session::new();
    session.corrected("web/theme.css", Rule::Constraint, 3);
    let change = |session: &mut Session, text: &str| {
        session.on_response(&[assessed(edit("web/theme.css", text), Rule::Constraint, 3)])
    };
    let maybe = change(&mut session, "y");
    assert_eq!(outcomes(&maybe), [CorrectionOutcome::Followed]);
    // The written content comes again.
    assert!(level_of(&change(&mut session, "zx")).is_some());
    session.deliver().unwrap();
    let again = change(&mut session, "w");
    assert_eq!(outcomes(&again), [CorrectionOutcome::Ignored]);
}

#[test]
fn returning_to_the_goal_resolves_the_correction() {
    let mut session = Session::new();
    session.corrected("web/theme.css", Rule::Tangent, 3);
    let transition = session.change("src/auth/token.ts", Rule::Scope, 9);
    assert_eq!(outcomes(&transition), [CorrectionOutcome::Followed]);
    assert_eq!(session.mode(), SessionMode::Normal);
    assert_eq!(session.drift.state().escalation, 0);
}

#[test]
fn mild_scores_are_corrected_only_if_they_persist() {
    let mut session = Session::new();
    let levels: Vec<_> = (0..9)
        .map(|number| {
            let level = level_of(&session.change(&format!("{number}.rs"), Rule::Repetition, 7));
            session.deliver();
            level
        })
        .collect();
    let summary: Vec<usize> = (0..9).filter(|index| levels[*index].is_some()).collect();
    assert_eq!(summary, [2, 6]);
    assert_eq!(levels[2], Some(CorrectionLevel::Nudge));
}

#[test]
fn hard_findings_are_corrected_at_once_at_any_score() {
    for (score, expected) in [
        (7, CorrectionLevel::Nudge),
        (6, CorrectionLevel::Correct),
        (4, CorrectionLevel::Intervene),
        (1, CorrectionLevel::Halt),
    ] {
        let mut session = Session::new();
        let transition = session.change("db/schema.sql", Rule::Constraint, score);
        assert_eq!(level_of(&transition), Some(expected), "{score}");
    }
}

#[test]
fn the_worst_action_of_a_response_gets_the_only_correction() {
    let mut session = Session::new();
    let transition = session.on_response(&[
        assessed(edit("src/auth/token.ts", "x"), Rule::Scope, 10),
        assessed(edit("web/theme.css", "x"), Rule::Tangent, 3),
        assessed(edit("db/schema.sql", "x"), Rule::Constraint, 2),
    ]);
    let (index, correction) = transition.new_correction.unwrap();
    assert_eq!((index, correction.score), (Some(2), 2));
}

#[test]
fn subagents_are_corrected_for_hard_findings_only_and_resolve_nothing() {
    let delegated = |action, rule, score| AssessedAction {
        is_delegated: true,
        ..assessed(action, rule, score)
    };
    let mut session = Session::new();
    for number in 0..20 {
        let far = edit(&format!("far/{number}.rs"), "x");
        let transition = session.on_response(&[delegated(far, Rule::Tangent, 1)]);
        assert_eq!(transition, Transition::default());
    }
    session.corrected("web/theme.css", Rule::Tangent, 3);
    let near = delegated(edit("src/auth/token.ts", "x"), Rule::Scope, 10);
    assert_eq!(session.on_response(&[near]), Transition::default());
    let fact = delegated(edit("db/schema.sql", "x"), Rule::Constraint, 2);
    assert!(level_of(&session.on_response(&[fact])).is_some());
}

#[test]
fn a_prompt_overtakes_a_delivered_correction() {
    let mut session = Session::new();
    session.corrected("web/theme.css", Rule::Tangent, 3);
    let transition = session.prompt();
    assert_eq!(outcomes(&transition), [CorrectionOutcome::Overtaken]);
    assert_eq!(session.mode(), SessionMode::Normal);
    // The user let it pass, so it is not corrected again; other violations are.
    session.two_doubts();
    assert_eq!(level_of(&session.change("web/theme.css", Rule::Tangent, 3)), None);
    assert!(level_of(&session.change("docs/other.md", Rule::Constraint, 3)).is_some());
}

#[test]
fn a_prompt_drops_a_pending_correction_unless_it_has_a_hard_finding() {
    for (rule, is_dropped) in [(Rule::Tangent, true), (Rule::Constraint, false)] {
        let mut session = Session::new();
        if is_dropped {
            session.two_doubts();
        }
        session.change("web/theme.css", rule, 3);
        let now = session.context().at;
        assert_eq!(
            session.drift.deliverable_correction(now, true).is_none(),
            is_dropped
        );
        let transition = session.prompt();
        assert_eq!(transition.expired, usize::from(is_dropped));
        assert_eq!(session.drift.pending_correction().is_none(), is_dropped);
        assert_eq!(session.drift.state().escalation, u8::from(!is_dropped));
    }
}

#[test]
fn an_expired_correction_is_not_delivered() {
    let mut session = Session::new();
    session.change("web/theme.css", Rule::Constraint, 3);
    session.time += 3600;
    assert_eq!(session.deliver(), None);
    let transition = session.change("src/auth/token.ts", Rule::Scope, 9);
    assert_eq!(transition.expired, 1);
    assert_eq!(session.mode(), SessionMode::Normal);
}

#[test]
fn an_undelivered_correction_is_pending_again() {
    let mut session = Session::new();
    session.two_doubts();
    session.change("web/theme.css", Rule::Tangent, 3);
    let delivered = session.deliver().unwrap();
    let now = session.context().at;
    assert!(session.drift.mark_undelivered(now));
    assert_eq!(
        session.drift.pending_correction().map(|one| one.id.clone()),
        Some(delivered.id)
    );
    assert!(session.drift.state().said.is_empty());
    assert!(!session.drift.mark_undelivered(now));
}

fn verdict(score: u8) -> DriftVerdict {
    DriftVerdict {
        score,
        drift_type: DriftType::of_score(score),
        diagnostic: "The theme is not part of the goal.".to_owned(),
        recovery_plan: vec![RecoveryStep {
            file: Some("src/auth/token.ts".to_owned()),
            action: "Go back to src/auth/token.ts".to_owned(),
        }],
    }
}

#[test]
fn a_doubt_confirmed_by_a_model_is_corrected() {
    let mut session = Session::new();
    let response = [assessed(edit("web/theme.css", "x"), Rule::Scope, 6)];
    assert_eq!(level_of(&session.on_response(&response)), None);
    let transition = session.judge(&response, 3);
    let (_, correction) = transition.new_correction.unwrap();
    assert_eq!(correction.reason, "The theme is not part of the goal.");
    assert_eq!(correction.recovery_plan, verdict(3).recovery_plan);
}

#[test]
fn a_model_that_disagrees_drops_a_pending_correction_unless_it_has_a_hard_finding() {
    for (rule, is_withdrawn) in [(Rule::Tangent, true), (Rule::Constraint, false)] {
        let mut session = Session::new();
        let mut one = assessed(edit("web/theme.css", "x"), rule, 3);
        one.step = Some(StepId::new("step"));
        let response = [one];
        session.on_response(&response);
        session.judge(&response, 9);
        assert_eq!(session.drift.pending_correction().is_none(), is_withdrawn);
        assert_eq!(session.mode() == SessionMode::Normal, is_withdrawn);
    }
}

#[test]
fn a_late_verdict_creates_no_correction() {
    let mut session = Session::new();
    let response = [assessed(edit("web/theme.css", "x"), Rule::Scope, 4)];
    session.on_response(&response);
    let asked_at = session.drift.position();
    session.change("src/auth/token.ts", Rule::Scope, 10);
    let transition = session.judge_at(&response, 2, asked_at);
    assert_eq!(transition, Transition::default());
}

#[test]
fn the_state_is_tracked_while_corrections_are_disabled() {
    let mut session = Session::new();
    session.drift.policy.corrects = false;
    for number in 0..10 {
        let transition = session.change(&format!("{number}.css"), Rule::Constraint, 1);
        assert_eq!(level_of(&transition), None);
    }
    assert_eq!(session.mode(), SessionMode::Drifted);
}

#[test]
fn a_session_resumes_from_the_stored_state() {
    let mut session = Session::new();
    session.corrected("web/theme.css", Rule::Constraint, 3);
    let stored = session.drift.state().clone();

    let mut later = Session::new();
    later.time = 1000;
    later
        .drift
        .resume(stored.clone(), &[], OffsetDateTime::UNIX_EPOCH);
    assert_eq!(*later.drift.state(), stored);
    let transition = later.change("web/button.tsx", Rule::Constraint, 3);
    assert_eq!(outcomes(&transition), [CorrectionOutcome::Ignored]);
    assert_eq!(level_of(&transition), Some(CorrectionLevel::Halt));
}

#[test]
fn update_times_increase_even_if_the_clock_is_set_back() {
    let mut session = Session::new();
    session.time = 5000;
    session.change("web/theme.css", Rule::Tangent, 3);
    let before = session.drift.state().updated_at;
    session.time = 0;
    session.change("web/button.css", Rule::Tangent, 3);
    session.prompt();
    assert!(session.drift.state().updated_at > before);
}

#[test]
fn a_doubt_is_corrected_mildly_once_and_never_escalates() {
    let mut session = Session::new();
    let mut levels = Vec::new();
    for number in 0..20 {
        let file = format!("docs/{number}.md");
        levels.push(level_of(&session.change(&file, Rule::Tangent, 2)));
        if let Some(said) = session.deliver() {
            assert!(said.text.contains("estimate by rules"), "{}", said.text);
            let plan = format!("{} {:?}", said.text, said.recovery_plan).to_lowercase();
            assert!(!plan.contains("undo") && !plan.contains("stop"), "{plan}");
        }
    }
    let summary: Vec<usize> = (0..20).filter(|index| levels[*index].is_some()).collect();
    assert_eq!(summary, [2]);
    assert_eq!(levels[2], Some(CorrectionLevel::Correct));
    let state = session.drift.state();
    assert_eq!((state.escalation, state.failed_recoveries), (0, 0));
    assert_eq!(session.mode(), SessionMode::Drifted);

    // A prompt alone does not reset the limit; another goal does.
    session.prompt();
    session.drift.on_new_request();
    session.two_doubts();
    assert_eq!(level_of(&session.change("docs/more.md", Rule::Tangent, 2)), None);
    session.prompt();
    session.drift.on_new_request();
    session.contract.goal = "Translate the manual".to_owned();
    session.two_doubts();
    assert!(level_of(&session.change("docs/last.md", Rule::Tangent, 2)).is_some());
}

/// An action that breaks a limit read from words.
fn interpreted(file: &str, limit: &str) -> AssessedAction {
    let mut one = assessed(edit(file, file), Rule::Constraint, 3);
    for finding in &mut one.assessment.findings {
        finding.is_interpreted = true;
        finding.reason = format!("{file} is changed in violation of \"{limit}\"");
    }
    one
}

#[test]
fn an_interpreted_limit_is_corrected_mildly_and_once() {
    let mut session = Session::new();
    let mut said = Vec::new();
    for number in 0..6 {
        let response = [interpreted(&format!("web/{number}.css"), "only the tests")];
        said.push(level_of(&session.on_response(&response)));
        session.deliver();
    }
    assert_eq!(said[0], Some(CorrectionLevel::Correct));
    assert!(said[1..].iter().all(Option::is_none), "{said:?}");
    let state = session.drift.state();
    assert_eq!((state.escalation, state.failed_recoveries), (0, 0));

    // Another limit is another matter, and a fact that rests on no interpretation is as strong as ever.
    let response = [interpreted("db/a.sql", "no changes of the data model")];
    assert_eq!(
        level_of(&session.on_response(&response)),
        Some(CorrectionLevel::Correct)
    );
    session.deliver();
    let response = [assessed(edit("vendor/a.js", "x"), Rule::Constraint, 3)];
    assert!(level_of(&session.on_response(&response)) > Some(CorrectionLevel::Correct));
}

#[test]
fn a_certain_fact_is_as_strong_beside_an_interpreted_one() {
    let css = || interpreted("web/a.css", "only the tests");
    let vendor = || assessed(edit("vendor/a.js", "x"), Rule::Constraint, 3);
    let strong = Some(CorrectionLevel::Intervene);
    for response in [vec![css(), vendor()], vec![vendor(), css()]] {
        let mut session = Session::new();
        assert_eq!(level_of(&session.on_response(&response)), strong);
        let said = session.deliver().unwrap();
        assert!(
            said.reason.contains("nothing to do") && said.text.contains("web/a.css"),
            "{}",
            said.text
        );
    }
    // It takes the place of a pending one, and is told although the agent was told of the limit.
    let mut session = Session::new();
    assert_eq!(
        level_of(&session.on_response(&[css()])),
        Some(CorrectionLevel::Correct)
    );
    assert_eq!(level_of(&session.on_response(&[vendor()])), strong);
    session.deliver();
    let response = [css(), assessed(edit("vendor/b.js", "x"), Rule::Constraint, 3)];
    assert!(level_of(&session.on_response(&response)) >= strong);
}

#[test]
fn going_on_with_a_told_limit_ignores_the_correction_of_a_certain_fact() {
    let mut session = Session::new();
    session.on_response(&[interpreted("web/0.css", "only the tests")]);
    session.deliver();
    session.on_response(&[assessed(edit("vendor/a.js", "x"), Rule::Constraint, 3)]);
    session.deliver();
    let transition = session.on_response(&[interpreted("web/1.css", "only the tests")]);
    assert_eq!(outcomes(&transition), [CorrectionOutcome::Ignored]);
    assert_eq!(level_of(&transition), None);
}

#[test]
fn a_series_of_interpreted_breaches_before_the_delivery_is_told_once() {
    let mut session = Session::new();
    for number in 0..12 {
        session.on_response(&[interpreted(&format!("web/{number}.css"), "only the tests")]);
    }
    assert!(session.deliver().is_some());
    for number in 12..16 {
        session.on_response(&[interpreted(&format!("web/{number}.css"), "only the tests")]);
        assert!(session.deliver().is_none(), "{number}");
    }
}

#[test]
fn an_interpreted_limit_is_corrected_again_after_an_objection() {
    let mut session = Session::new();
    let response = [interpreted("web/a.css", "only the tests")];
    assert!(level_of(&session.on_response(&response)).is_some());
    // Facts of the same limit found before the delivery are told with it.
    session.on_response(&[interpreted("web/b.css", "only the tests")]);
    let said = session.deliver().unwrap();
    assert!(said.text.contains("web/b.css"), "{}", said.text);
    session.prompt_with(true);
    let response = [interpreted("web/c.css", "only the tests")];
    assert!(level_of(&session.on_response(&response)).is_some());
}

#[test]
fn a_model_makes_a_delivered_doubt_firm() {
    let mut session = Session::new();
    session.two_doubts();
    let mut one = assessed(edit("web/theme.css", "x"), Rule::Tangent, 3);
    one.step = Some(StepId::new("step"));
    let response = [one];
    assert_eq!(
        level_of(&session.on_response(&response)),
        Some(CorrectionLevel::Correct)
    );
    session.deliver().unwrap();
    session.judge(&response, 3);
    session.change("web/button.tsx", Rule::Constraint, 3);
    assert_eq!(session.drift.state().failed_recoveries, 1);
}

#[test]
fn a_confirmed_doubt_replaces_the_pending_one() {
    let mut session = Session::new();
    session.two_doubts();
    let response = [assessed(edit("web/theme.css", "x"), Rule::Tangent, 3)];
    assert!(level_of(&session.on_response(&response)).is_some());
    let transition = session.judge(&response, 3);
    assert_eq!(level_of(&transition), Some(CorrectionLevel::Intervene));
}

#[test]
fn a_verdict_after_the_next_prompt_creates_no_correction() {
    let mut session = Session::new();
    let response = [assessed(edit("web/theme.css", "x"), Rule::Scope, 4)];
    session.on_response(&response);
    let asked_at = session.drift.position();
    session.prompt();
    let transition = session.judge_at(&response, 2, asked_at);
    assert_eq!(transition, Transition::default());
}

#[test]
fn an_undo_may_take_several_edits() {
    let mut session = Session::new();
    let change = |session: &mut Session, text: &str| {
        session.on_response(&[assessed(edit("db/schema.sql", text), Rule::Constraint, 3)])
    };
    change(&mut session, "expires INTEGER");
    session.deliver().unwrap();
    assert_eq!(
        outcomes(&change(&mut session, "PRIMARY KEY")),
        [CorrectionOutcome::Followed]
    );
    for part in ["second part", "third part"] {
        let transition = change(&mut session, part);
        assert_eq!(
            (level_of(&transition), transition.exempt.as_slice()),
            (None, &[0][..]),
            "{part}"
        );
    }
    assert_eq!(session.mode(), SessionMode::Normal);
    assert!(level_of(&change(&mut session, "and: expires INTEGER")).is_some());
}

#[test]
fn a_hard_finding_that_the_user_let_pass_is_not_corrected_again() {
    for has_objection in [false, true] {
        let mut session = Session::new();
        session.corrected("db/schema.sql", Rule::Danger, 3);
        session.prompt_with(has_objection);
        let again = session.change("db/schema.sql", Rule::Danger, 3);
        assert_eq!(level_of(&again).is_none(), !has_objection);
        assert_eq!(again.exempt.is_empty(), has_objection);
        assert_eq!(session.mode() == SessionMode::Normal, !has_objection);
    }
}

#[test]
fn a_prompt_does_not_overtake_a_correction_delivered_with_it() {
    let mut session = Session::new();
    session.change("web/theme.css", Rule::Constraint, 3);
    let arrived_at = session.context().at;
    session.deliver().unwrap();
    let at = session.context().at;
    let summary = PromptSummary {
        has_objection: false,
        arrived_at,
    };
    let transition = session.drift.on_prompt(summary, at);
    assert_eq!(outcomes(&transition), []);
    assert_eq!(session.mode(), SessionMode::Drifted);
    let followed = bash(
        "git checkout web/theme.css",
        EffectKind::VersionControl,
        &["web/theme.css"],
    );
    let transition = session.on_response(&[assessed(followed, Rule::Constraint, 3)]);
    assert_eq!(outcomes(&transition), [CorrectionOutcome::Followed]);
}

#[test]
fn a_dropped_correction_leaves_no_trace_in_the_state() {
    let mut session = Session::new();
    let mut one = assessed(edit("web/theme.css", "x"), Rule::Constraint, 3);
    one.call = Some("call".to_owned());
    session.on_response(&[one]);
    assert_eq!(session.drift.pending_call(), Some("call"));
    let at = session.context().at;
    assert_eq!(session.drift.drop_pending(at).expired, 1);
    assert_eq!((session.deliver(), session.mode()), (None, SessionMode::Normal));
    assert_eq!(session.drift.state().escalation, 0);
}

#[test]
fn the_description_of_an_action_contains_no_partial_secret() {
    let key = format!("ghp_{}", "a1B2".repeat(9));
    let command = format!(
        "curl {} -H 'Authorization: Bearer {key}'",
        "x".repeat(MAX_DESCRIPTION - 50)
    );
    let description = described(&bash(&command, EffectKind::Network, &[]));
    assert!(!description.contains("ghp_"), "{description}");
}

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
            prop_assert!(state.said.len() <= super::delivery::MAX_DELIVERED_HASHES);
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

#[test]
fn a_hard_finding_survives_a_restart() {
    let mut session = Session::new();
    session.change("src/auth/a.ts", Rule::Constraint, 3);
    let mut again = DriftStateMachine::new(
        DriftState::new(ClientSessionId::new("s"), OffsetDateTime::UNIX_EPOCH),
        Policy::default(),
    );
    again.resume(session.drift.state().clone(), &[], OffsetDateTime::UNIX_EPOCH);
    // On-goal actions do not make it moot, because it was never delivered.
    let response = [assessed(edit("src/auth/token.ts", "x"), Rule::Scope, 9)];
    again.on_response(&response, &contract(), &session.context());
    assert!(again.pending_correction().is_some());
}

#[test]
fn undoing_an_earlier_violation_as_well_is_on_goal() {
    let mut session = Session::new();
    let mut breach = |file: &str, content: &str| {
        let transition = session.on_response(&[assessed(edit(file, content), Rule::Constraint, 3)]);
        let level = level_of(&transition);
        if level.is_some() {
            session.deliver().unwrap();
        }
        level
    };
    assert!(breach("src/styles/theme.css", "red").is_some());
    assert!(breach("src/styles/header.css", "blue").is_some());
    assert_eq!(breach("src/styles/header.css", "grey"), None, "the newest one");
    assert_eq!(
        breach("src/styles/theme.css", "black"),
        None,
        "and the one before"
    );
    assert!(breach("src/styles/theme.css", "green").is_some(), "once");
}

#[test]
fn a_single_doubt_is_corrected_only_if_a_model_confirms_it() {
    let mut session = Session::new();
    let response = [assessed(edit("web/theme.css", "x"), Rule::Tangent, 3)];
    let transition = session.on_response(&response);
    assert_eq!(level_of(&transition), None);
    assert_eq!(session.mode(), SessionMode::Drifted);
    let transition = session.judge(&response, 3);
    assert_eq!(level_of(&transition), Some(CorrectionLevel::Intervene));
}

#[test]
fn other_work_does_not_follow_the_correction_of_a_hard_finding() {
    let mut session = Session::new();
    session.corrected("web/theme.css", Rule::Constraint, 3);
    let transition = session.change("src/auth/token.ts", Rule::Scope, 10);
    assert_eq!(outcomes(&transition), [CorrectionOutcome::Ignored]);
    let mut session = Session::new();
    session.corrected("web/theme.css", Rule::Constraint, 3);
    let back = bash(
        "git checkout -- web/theme.css",
        EffectKind::VersionControl,
        &["web/theme.css"],
    );
    let transition = session.on_response(&[assessed(back, Rule::Scope, 10)]);
    assert_eq!(outcomes(&transition), [CorrectionOutcome::Followed]);
}
