//! Follows sessions across several hooks, each with a new follower.

use super::pending::{can_defer, has_no_actions, record_pending};
use super::*;
use grov_domain::{
    ClientSessionId, CorrectionLevel, GoalEditId, GoalEditKind, OFF_GOAL_BELOW, OWN_TEXT_OPENING,
};
use grov_rules::{IntentCache, extract_intent};
use proptest::prelude::*;
use serde_json::{Value, json};
use std::sync::Arc;
use time::Duration;

const ROOT: &str = "/home/me/app";
const GOAL: &str = "Fix the token refresh in src/auth/token.ts. Do not touch src/billing.";

fn start() -> OffsetDateTime {
    OffsetDateTime::from_unix_timestamp(1_800_000_000).unwrap()
}

fn begun() -> HookSession {
    HookSession::new(
        ClientSessionId::new("s"),
        ROOT.to_owned(),
        ROOT.to_owned(),
        start(),
    )
}

fn resume(session: HookSession) -> TranscriptFollower {
    TranscriptFollower::resume(session, &[], Arc::new(extract_intent))
}

/// A growing transcript, and the stored session that follows it.
struct Session {
    transcript: String,
    stored: HookSession,
    calls: usize,
    now: OffsetDateTime,
    checks: Vec<HookCheck>,
    steps: Vec<HookStep>,
    ended: Vec<HookStepResult>,
    allowed: Vec<StepId>,
    guard: Vec<GuardRecord>,
}

impl Session {
    fn new() -> Self {
        Self {
            transcript: String::new(),
            stored: begun(),
            calls: 0,
            now: start(),
            checks: Vec::new(),
            steps: Vec::new(),
            ended: Vec::new(),
            allowed: Vec::new(),
            guard: Vec::new(),
        }
    }

    /// The guard asks about the next call.
    fn asks(&mut self, ran: bool) {
        self.guard.push(GuardRecord {
            client_session_id: ClientSessionId::new("s"),
            tool_use_id: format!("toolu_{}", self.calls + 1),
            verdict: GuardVerdict::Ask,
            subject: String::new(),
            reason: String::new(),
            ran,
            at: self.now,
        });
    }

    fn line(&mut self, mut line: Value) {
        self.now += Duration::seconds(1);
        let at = self
            .now
            .format(&time::format_description::well_known::Rfc3339)
            .unwrap();
        line["sessionId"] = json!("s");
        line["timestamp"] = json!(at);
        line["cwd"] = json!(ROOT);
        self.transcript += &format!("{line}\n");
    }

    fn call(&mut self, name: &str, input: Value) -> String {
        self.calls += 1;
        let id = format!("toolu_{}", self.calls);
        let content = json!([{"type": "tool_use", "id": id, "name": name, "input": input}]);
        self.line(json!({"type": "assistant", "message": {"id": format!("m{id}"), "model": "m", "content": content}}));
        id
    }

    fn result(&mut self, id: &str, failed: bool) {
        let content =
            json!([{"type": "tool_result", "tool_use_id": id, "content": "done", "is_error": failed}]);
        self.line(json!({"type": "user", "message": {"content": content}}));
    }

    fn edit(&mut self, file: &str, text: &str) {
        let input = json!({"file_path": format!("{ROOT}/{file}"), "old_string": "a", "new_string": text});
        let id = self.call("Edit", input);
        self.result(&id, false);
    }

    fn run(&mut self, command: &str) {
        let id = self.call("Bash", json!({"command": command}));
        self.result(&id, false);
    }

    /// Resumes the session in a new follower.
    fn hook(&mut self, then: impl FnOnce(&mut TranscriptFollower)) {
        let mut follower = resume(self.stored.clone());
        follower.apply_guard_log(&self.guard);
        let from = follower.offset(self.transcript.len() as u64);
        follower.read(&self.transcript.as_bytes()[usize::try_from(from).unwrap()..]);
        then(&mut follower);
        let progress = follower.into_progress(self.now);
        self.stored = progress.session;
        self.steps.extend(progress.steps);
        self.ended.extend(progress.ended);
        self.allowed.extend(progress.allowed);
        self.checks.extend(progress.check);
    }

    /// Ends a turn: the worker follows the transcript.
    fn stop(&mut self) {
        let now = self.now;
        self.hook(|follower| {
            follower.flush_pending();
            follower.settle(now);
        });
    }

    /// A prompt that the hook records without following the transcript.
    fn record_pending(&mut self, text: &str) {
        let length = self.transcript.len() as u64;
        record_pending(&mut self.stored, text, length, Arc::new(extract_intent));
        self.line(json!({"type": "user", "message": {"content": text}}));
    }

    fn unread(&self) -> &[u8] {
        &self.transcript.as_bytes()[usize::try_from(self.stored.read_to).unwrap()..]
    }

    /// A prompt that the hook processes, and that the transcript contains afterwards.
    fn prompt(&mut self, text: &str) -> Option<HookCheck> {
        let before = self.checks.len();
        let now = self.now;
        self.hook(|follower| {
            follower.add_prompt(text, now);
            follower.check(now);
        });
        self.line(json!({"type": "user", "message": {"content": text}}));
        self.checks.get(before).cloned()
    }
}

#[test]
fn work_on_the_goal_is_not_corrected() {
    let mut session = Session::new();
    assert_eq!(session.prompt(GOAL), None);
    session.run("npm test");
    session.edit("src/auth/token.ts", "refreshToken(user)");
    session.edit("src/auth/token.test.ts", "expect(refreshToken(user))");
    let check = session.prompt("continue").unwrap();
    assert_eq!((check.score, check.level, check.actions), (10, None, 3));
    assert_eq!((session.stored.prompts, session.stored.actions), (2, 3));
    assert_eq!(session.stored.contract.instructions, [GOAL]);
    assert_eq!(session.prompt("continue"), None, "nothing was done since");
}

#[test]
fn a_forbidden_change_is_corrected_with_the_next_prompt() {
    let mut session = Session::new();
    session.prompt(GOAL);
    session.edit("src/billing/invoice.ts", "total(lines)");
    let check = session.prompt("looks good").unwrap();
    assert_eq!(check.level, Some(CorrectionLevel::Intervene));
    assert!(check.score <= 3 && session.stored.escalation == 1);
    assert_eq!(check.files, ["src/billing/invoice.ts"]);
    let text = check.correction.unwrap();
    assert!(text.starts_with(OWN_TEXT_OPENING), "{text}");
    assert!(text.contains("token refresh") && text.contains("src/billing/invoice.ts"));
    assert!(
        check.recovery_plan[0]
            .action
            .starts_with("Undo the change of src/billing/invoice.ts")
    );
    assert_eq!(session.steps.last().unwrap().score, Some(check.score));
}

#[test]
fn corrections_escalate_and_never_repeat_a_text() {
    let mut session = Session::new();
    session.prompt(GOAL);
    let mut texts = Vec::new();
    for level in [
        CorrectionLevel::Intervene,
        CorrectionLevel::Halt,
        CorrectionLevel::Halt,
    ] {
        session.edit("src/billing/invoice.ts", "total(lines)");
        let check = session.prompt("go on").unwrap();
        assert_eq!(check.level, Some(level));
        let text = check.correction.unwrap();
        assert!(!texts.contains(&text));
        assert!(text.len() / 4 < 600);
        texts.push(text);
    }
    assert_eq!(session.stored.escalation, 3);
    session.edit("src/auth/token.ts", "refreshToken(user)");
    assert_eq!(session.prompt("go on").unwrap().level, None);
    assert_eq!(session.stored.escalation, 2);
}

/// Edits that are unrelated to the goal.
fn edit_unrelated_files(session: &mut Session, round: usize) {
    for (file, text) in [
        (
            "web/src/hero/Banner.tsx",
            "  return <section className=\"hero\">{headline}</section>;",
        ),
        (
            "infra/network/dns.tf",
            "resource \"aws_route53_zone\" \"internal\" { name = \"corp\" }",
        ),
        (
            "mobile/ios/Login.swift",
            "    let controller = UIHostingController(rootView: PinPad())",
        ),
    ] {
        let file = file.replace('.', &format!("{round}."));
        session.edit(&file, text);
    }
}

#[test]
fn repeated_edits_of_a_file_are_not_corrected() {
    let mut session = Session::new();
    session.prompt(GOAL);
    for file in ["src/auth/token.ts", "src/auth/token.test.ts"] {
        for number in 0..3 {
            session.edit(file, &format!("refreshToken(user, {number})"));
        }
    }
    let check = session.prompt("go on").unwrap();
    assert_eq!((check.score, check.correction), (6, None));
}

#[test]
fn doubts_give_one_mild_correction() {
    let mut session = Session::new();
    session.prompt("Fix the overflow in billing/invoice.py");
    let mut corrected = 0;
    for round in 0..5 {
        session.edit(
            "billing/invoice.py",
            &format!("total_{round} = sum(line.amount for line in lines)"),
        );
        edit_unrelated_files(&mut session, round);
        let check = session.prompt("go on").unwrap();
        assert!(check.score < 8, "{check:?}");
        assert!(check.level <= Some(CorrectionLevel::Correct), "{check:?}");
        corrected += usize::from(check.correction.is_some());
    }
    assert_eq!(corrected, 1);
    assert_eq!(session.stored.escalation, 0);
}

#[test]
fn continuing_after_a_doubt_is_not_corrected_again() {
    let mut session = Session::new();
    session.prompt("Fix the overflow in billing/invoice.py");
    session.edit("billing/invoice.py", "total = sum(line.amount for line in lines)");
    edit_unrelated_files(&mut session, 0);
    edit_unrelated_files(&mut session, 1);
    assert!(session.prompt("go on").unwrap().correction.is_some());
    let further = [
        "web/src/hero/Button0.tsx",
        "mobile/ios/Logout.swift",
        "infra/network/vpn.tf",
    ];
    let corrected = further.map(|file| {
        session.edit(file, "border: 1px solid papayawhip; margin: auto");
        let check = session.prompt("go on").unwrap();
        assert!(check.score < OFF_GOAL_BELOW, "{check:?}");
        check.correction.is_some()
    });
    assert_eq!(corrected, [false; 3]);
}

#[test]
fn actions_that_the_new_prompt_asks_for_are_not_corrected() {
    let mut session = Session::new();
    session.prompt(GOAL);
    session.edit("src/billing/invoice.ts", "total(lines)");
    let check = session
        .prompt("You may change src/billing/invoice.ts too, make the total right")
        .unwrap();
    assert_eq!(check.level, None, "{check:?}");
}

#[test]
fn failed_and_refused_calls_are_not_corrected() {
    let mut session = Session::new();
    session.prompt(GOAL);
    let input =
        json!({"file_path": format!("{ROOT}/src/billing/invoice.ts"), "old_string": "a", "new_string": "b"});
    let id = session.call("Edit", input);
    session.result(&id, true);
    let check = session.prompt("go on").unwrap();
    assert_eq!((check.score, check.level), (10, None));
    assert_eq!(session.steps[0].action.failed, Some(true));
}

#[test]
fn without_corrections_there_is_only_a_score() {
    let mut session = Session::new();
    session.prompt(GOAL);
    session.edit("src/billing/invoice.ts", "total(lines)");
    let now = session.now;
    session.hook(|follower| {
        follower.set_corrects(false);
        follower.check(now);
    });
    let check = &session.checks[0];
    assert!(check.score <= 3 && check.level.is_none() && check.correction.is_none());
    assert_eq!(session.stored.escalation, 0);
}

#[test]
fn private_text_is_not_stored() {
    let words = ["quetzal", "kaleidoskop", "mississippi", "zweitausend"];
    let private = |word: &str| format!("<private>the {word} is ours</private>");
    let mut session = Session::new();
    let prompt = format!("{GOAL} {}", private(words[0]));
    session.prompt(&prompt);
    session.call(
        "Bash",
        json!({"command": format!("cat notes # {}", private(words[1]))}),
    );
    let file = format!("{ROOT}/src/auth/token.ts");
    session.call("Write", json!({"file_path": file, "content": private(words[2])}));
    let id = session.call("Bash", json!({"command": "cat notes"}));
    let content = json!([{"type": "tool_result", "tool_use_id": id, "content": private(words[3])}]);
    session.line(json!({"type": "user", "message": {"content": content}}));
    session.hook(|_| {});
    let state = session.stored.engine_state.clone().unwrap();
    for word in words {
        assert!(!state.contains(word), "{word}: {state}");
    }
}

#[test]
fn file_names_with_secrets_are_not_stored() {
    let token = ["ghp_", "a8Kd03mZxQw7LpYt5RvN2bHs9JcF4gEuT6iO"].concat();
    let mut session = Session::new();
    session.prompt(GOAL);
    session.edit(&format!("src/billing/{token}.ts"), "x");
    session.run("curl -u deploy:tr0ub4dor/and/3-staples -o out.tgz https://example.org/a");
    session.hook(|_| {});
    let kept = format!("{:?} {:?}", session.stored, session.steps);
    for part in [&token[4..], "tr0ub4dor", "staples"] {
        assert!(!kept.contains(part), "{part}: {kept}");
    }
    assert!(kept.contains("src/billing/[redacted:github-token].ts"), "{kept}");
}

#[test]
fn a_subagent_is_followed_in_its_own_transcript() {
    let mut session = Session::new();
    session.prompt(GOAL);
    let agent = AgentId::new("a1");
    let call = |file: &str, id: &str| {
        let content = json!([{"type": "tool_use", "id": id, "name": "Write", "input": {"file_path": file, "content": "x"}}]);
        json!({"type": "assistant", "isSidechain": true, "agentId": "a1", "sessionId": "s", "message": {"content": content}})
            .to_string()
            + "\n"
    };
    let text = call("/home/me/app/web/theme.css", "x1") + &call("/home/me/app/src/billing/a.ts", "x2");
    let now = session.now;
    for _ in 0..2 {
        session.hook(|follower| {
            let from = usize::try_from(follower.subagent_offset(&agent, text.len() as u64)).unwrap();
            follower.read_subagent(&agent, &text.as_bytes()[from..]);
            follower.check(now);
        });
    }
    let scores: Vec<_> = session
        .steps
        .iter()
        .map(|step| (step.score, step.agent_id.is_some()))
        .collect();
    // Actions that violate nothing get no score.
    assert_eq!(scores, [(None, true), (Some(3), true)]);
    assert_eq!(session.checks.len(), 1);
    assert!(
        session.checks[0]
            .reason
            .as_ref()
            .unwrap()
            .starts_with("a subagent did this")
    );
}

/// A forbidden change in a subagent's transcript.
fn delegated_violation(session: &mut Session, agent: &str) -> String {
    session.now += Duration::seconds(1);
    let at = session
        .now
        .format(&time::format_description::well_known::Rfc3339)
        .unwrap();
    let input = json!({"file_path": format!("{ROOT}/src/billing/a.ts"), "content": "x"});
    let content = json!([{"type": "text", "text": "On it."},
        {"type": "tool_use", "id": format!("t-{agent}"), "name": "Write", "input": input}]);
    let line = json!({"type": "assistant", "isSidechain": true, "agentId": agent, "sessionId": "s",
        "timestamp": at, "message": {"id": agent, "model": "m", "content": content}});
    format!("{line}\n")
}

#[test]
fn many_subagents_are_followed_and_corrected_once() {
    let mut session = Session::new();
    session.prompt(GOAL);
    let agents: Vec<(AgentId, String)> = (0..300)
        .map(|number| format!("a{number:03}"))
        .map(|name| {
            (
                AgentId::new(name.as_str()),
                delegated_violation(&mut session, &name),
            )
        })
        .collect();
    for round in 0..3 {
        let now = session.now;
        session.hook(|follower| {
            for (agent, text) in &agents {
                let length = text.len() as u64;
                let from = follower.subagent_offset(agent, length);
                assert!(round == 0 || from == length, "{agent} is read again");
                follower.read_subagent(agent, &text.as_bytes()[usize::try_from(from).unwrap()..]);
            }
            follower.check(now);
        });
    }
    assert_eq!(session.stored.actions, 300);
    assert_eq!((session.steps.len(), session.checks.len()), (300, 1));
    let state = session.stored.engine_state.unwrap();
    assert!(state.len() < 64 * 1024, "{}", state.len());
}

#[test]
fn subagents_beyond_the_limit_are_not_followed() {
    let mut session = Session::new();
    session.prompt(GOAL);
    session.hook(|follower| {
        for number in 0..1024 {
            assert_eq!(
                follower.subagent_offset(&AgentId::new(format!("a{number}")), 9),
                0
            );
        }
        let late = AgentId::new("late");
        assert_eq!(follower.subagent_offset(&late, 9), 9);
        assert_eq!(follower.read_subagent(&late, b"{}\n"), 0);
        assert_eq!(follower.subagent_offset(&AgentId::new("a0"), 9), 0);
    });
}

#[test]
fn a_result_in_a_later_hook_updates_its_step() {
    let mut session = Session::new();
    session.prompt(GOAL);
    let input =
        json!({"file_path": format!("{ROOT}/src/auth/token.ts"), "old_string": "a", "new_string": "b"});
    let late = session.call("Edit", input.clone());
    session.hook(|_| {});
    assert_eq!(session.steps[0].action.failed, None);
    session.result(&late, true);
    let own = session.call("Edit", input);
    session.result(&own, false);
    session.hook(|_| {});
    assert_eq!(session.steps[1].action.failed, Some(false));
    let expected = HookStepResult {
        id: session.steps[0].id.clone(),
        failed: true,
        output: Some("done".to_owned()),
    };
    assert_eq!(session.ended, [expected]);
}

#[test]
fn entries_before_the_first_hook_are_history() {
    let mut session = Session::new();
    session.line(json!({"type": "user", "message": {"content": GOAL}}));
    session.edit("src/billing/invoice.ts", "total(lines)");
    session.stored.started_at = session.now;
    assert_eq!(session.prompt("go on"), None);
    // A fork begins with a copy of another session, whose actions are not recorded twice.
    assert_eq!((session.stored.actions, session.stored.prompts), (0, 1));
    assert!(session.stored.contract.goal.contains("token refresh"));
}

#[test]
fn a_fork_starts_with_the_contract_of_its_origin() {
    let mut origin = Session::new();
    origin.prompt(GOAL);
    origin.edit("src/auth/token.ts", "refresh");
    let begins = origin.now + Duration::seconds(10);
    let id = ClientSessionId::new("f");
    let fork = HookSession::new(id, ROOT.to_owned(), ROOT.to_owned(), begins);
    let read: IntentReader = Arc::new(extract_intent);
    let follower = TranscriptFollower::fork(fork, &origin.stored.contract, &[], Arc::clone(&read));
    assert!(follower.contract().instructions.contains(&GOAL.to_owned()));

    // Another hook gets the first prompt, before the transcript exists.
    let mut follower =
        TranscriptFollower::resume(follower.into_progress(begins).session, &[], Arc::clone(&read));
    follower.add_prompt("Now write tests for src/auth/token.ts as well", start());
    let stored = follower.into_progress(begins).session;
    let contract = stored.contract.clone();
    assert_eq!((contract.instructions.len(), stored.prompts), (2, 1));
    assert!(
        contract
            .constraints
            .iter()
            .any(|words| words.contains("src/billing")),
        "{contract:?}"
    );
    let mut follower = TranscriptFollower::resume(stored, &[], read);
    follower.read(origin.transcript.replace("\"s\"", "\"f\"").as_bytes());
    assert_eq!(
        follower.contract(),
        &contract,
        "its history repeats known prompts"
    );
    assert_eq!((follower.session().prompts, follower.session().actions), (1, 0));
}

#[test]
fn state_of_another_version_is_rebuilt_without_repeating_corrections() {
    let mut session = Session::new();
    session.prompt(GOAL);
    session.edit("src/billing/invoice.ts", "total(lines)");
    session.prompt("go on");
    let before = session.steps.clone();
    for state in ["{\"version\":999}", "no JSON", ""] {
        session.stored.engine_state = Some(state.to_owned());
        session.steps.clear();
        session.checks.clear();
        let now = session.now;
        session.hook(|follower| {
            follower.check(now);
        });
        assert_eq!(session.steps, before, "{state}");
        assert_eq!(session.checks, []);
        assert_eq!(session.stored.contract.instructions, [GOAL]);
        assert_eq!((session.stored.actions, session.stored.prompts), (1, 2));
    }
}

#[test]
fn a_shorter_or_missing_transcript_is_handled() {
    let mut session = Session::new();
    session.prompt(GOAL);
    session.edit("src/auth/token.ts", "refreshToken(user)");
    session.hook(|_| {});
    let mut follower = resume(session.stored.clone());
    assert_eq!(follower.offset(10), 0);
    assert_eq!(follower.read(b"{\"type\":\"user\",\"mess"), 0);
    assert_eq!(follower.offset(0), 0);
    follower.add_prompt("", start());
    follower.follow(&[]);
    assert!(
        follower.check(start() - Duration::days(400)).is_some(),
        "the clock jumped"
    );
    let progress = follower.into_progress(start() - Duration::days(400));
    assert_eq!(progress.session.read_to, 0);
}

#[test]
fn repeated_lines_give_the_same_steps() {
    let mut session = Session::new();
    session.prompt(GOAL);
    session.edit("src/auth/token.ts", "refreshToken(user)");
    session.hook(|_| {});
    let steps = session.steps.clone();
    // The client rewrites the file with the same entries.
    session.stored.read_to = 0;
    session.hook(|_| {});
    assert_eq!(session.steps, steps);
}

#[test]
fn goal_edits_apply_and_are_not_stored_in_the_contract() {
    let mut session = Session::new();
    session.prompt(GOAL);
    let edit = GoalEdit {
        id: GoalEditId::new("e"),
        client_session_id: ClientSessionId::new("s"),
        kind: GoalEditKind::Forbid,
        text: "docs/**".to_owned(),
        at: start(),
    };
    let mut follower = TranscriptFollower::resume(session.stored.clone(), &[edit], Arc::new(extract_intent));
    assert_eq!(follower.contract().forbidden, ["docs/**"]);
    let from = usize::try_from(session.stored.read_to).unwrap();
    session.edit("docs/a.md", "text");
    follower.read(&session.transcript.as_bytes()[from..]);
    let check = follower.check(session.now).unwrap();
    assert!(check.score <= 3);
    let progress = follower.into_progress(session.now);
    assert_eq!(progress.session.contract.forbidden, Vec::<String>::new());
    // The user reverted the edit meanwhile.
    let later = resume(progress.session);
    assert_eq!(later.contract().forbidden, Vec::<String>::new());
}

#[test]
fn a_turn_of_thousands_of_actions_has_bounded_state() {
    let mut session = Session::new();
    session.prompt(GOAL);
    for at in 0..2_000 {
        session.edit(
            &format!("src/auth/part_{at}.ts"),
            &format!("refreshToken(user, {at})"),
        );
    }
    let check = session.prompt("go on").unwrap();
    assert_eq!(check.actions, 2_000);
    assert_eq!(session.stored.actions, 2_000);
    let state = session.stored.engine_state.as_ref().unwrap();
    assert!(state.len() < 1_100_000, "{}", state.len());
}

#[test]
fn an_empty_goal_forbids_nothing() {
    let mut session = Session::new();
    session.edit("web/theme.css", "color: red");
    session.run("cargo test");
    let now = session.now;
    session.hook(|follower| {
        assert_eq!(follower.contract().goal, "");
        let check = follower.check(now).unwrap();
        assert_eq!((check.score, check.level), (10, None));
    });
}

#[derive(Clone, Debug)]
enum Happening {
    Prompt(&'static str),
    Edit(&'static str, &'static str),
    Run(&'static str),
    Fails(&'static str),
}

fn event_cases() -> impl Strategy<Value = Happening> {
    let files = || {
        prop::sample::select(vec![
            "src/auth/token.ts",
            "src/billing/a.ts",
            "web/theme.css",
            "README.md",
        ])
    };
    let texts = prop::sample::select(vec![
        "refreshToken(user)",
        "color: teal; border: 0",
        "total(lines) + tax(lines)",
    ]);
    let prompts = prop::sample::select(vec![
        GOAL,
        "go on",
        "also fix web/theme.css",
        "no, stop",
        "Translate README.md",
    ]);
    let commands = prop::sample::select(vec!["npm test", "rm -rf src", "git push --force", "cat a"]);
    prop_oneof![
        1 => prompts.prop_map(Happening::Prompt),
        4 => (files(), texts).prop_map(|(file, text)| Happening::Edit(file, text)),
        2 => commands.prop_map(Happening::Run),
        1 => files().prop_map(Happening::Fails),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]
    #[test]
    fn hooks_at_any_place_give_the_same_steps(
        happened in prop::collection::vec(event_cases(), 1..20),
        cuts in prop::collection::vec(any::<prop::sample::Index>(), 0..6),
    ) {
        let mut session = Session::new();
        for one in &happened {
            match one {
                Happening::Prompt(text) => session.line(json!({"type": "user", "message": {"content": text}})),
                Happening::Edit(file, text) => session.edit(file, text),
                Happening::Run(command) => session.run(command),
                Happening::Fails(file) => {
                    let id = session.call("Edit", json!({"file_path": format!("{ROOT}/{file}"), "new_string": "z"}));
                    session.result(&id, true);
                }
            }
        }
        let follow = |mut cuts: Vec<usize>| {
            cuts.push(session.transcript.len());
            cuts.sort_unstable();
            let mut stored = begun();
            let mut judged = Vec::new();
            for cut in cuts {
                let mut follower = resume(stored);
                let from = usize::try_from(follower.offset(cut as u64)).unwrap();
                follower.read(&session.transcript.as_bytes()[from.min(cut)..cut]);
                let progress = follower.into_progress(session.now);
                stored = progress.session;
                judged.extend(progress.steps.into_iter().map(|step| (step.id, step.score, step.findings, step.prompt)));
            }
            let mut last = resume(stored);
            let check = last.check(session.now);
            (judged, check)
        };
        let cuts = cuts.iter().map(|cut| cut.index(session.transcript.len())).collect();
        prop_assert_eq!(follow(Vec::new()), follow(cuts));
    }
}

#[test]
fn a_pending_prompt_gives_the_same_result() {
    let second = "Now write the docs of it in docs/auth.md, and do not touch README.md.";
    let work = |session: &mut Session, note: fn(&mut Session, &str)| {
        note(session, GOAL);
        session.edit("src/auth/token.ts", "refreshToken(user)");
        session.stop();
        note(session, second);
        session.edit("docs/auth.md", "How a token is refreshed");
        session.edit("README.md", "Tokens");
        session.stop();
    };
    let (mut pending, mut followed) = (Session::new(), Session::new());
    work(&mut pending, Session::record_pending);
    work(&mut followed, |session, text| {
        session.prompt(text);
    });
    assert_eq!(pending.stored.contract, followed.stored.contract);
    assert_eq!(pending.stored.waiting, []);
    let counted = |session: &Session| {
        (
            session.stored.prompts,
            session.stored.actions,
            session.stored.read_to,
        )
    };
    assert_eq!(counted(&pending), counted(&followed));
    let found = |session: &Session| -> Vec<_> {
        let steps = session.steps.iter();
        steps
            .map(|step| (step.id.clone(), step.prompt, step.score))
            .collect()
    };
    assert_eq!(found(&pending), found(&followed));
    assert_eq!(pending.checks.len(), 1, "the first turn was settled");
    assert!(pending.stored.is_unchecked, "the second turn needs a check");
    let correction = |session: &mut Session| session.prompt("go on").unwrap().correction.unwrap();
    assert_eq!(correction(&mut pending), correction(&mut followed));
    assert!(!pending.stored.is_unchecked);
}

#[test]
fn actions_before_a_pending_prompt_are_judged_without_it() {
    let mut session = Session::new();
    session.record_pending(GOAL);
    session.edit("README.md", "Tokens");
    session.edit("src/auth/token.ts", "refreshToken(user)");
    // No worker followed that turn.
    session.record_pending("Do not touch README.md any more.");
    assert_eq!(session.stored.waiting.len(), 2);
    session.stop();
    let forbidden = session.steps.iter().flat_map(|step| &step.findings);
    assert_eq!(
        forbidden
            .filter(|finding| finding.rule == grov_domain::Rule::Constraint)
            .count(),
        0
    );
    session.edit("README.md", "Tokens again");
    session.stop();
    let last = session.steps.last().unwrap();
    assert_eq!(last.findings[0].rule, grov_domain::Rule::Constraint);
    assert_eq!(session.stored.prompts, 2);
}

#[test]
fn only_text_may_stay_unread() {
    let mut session = Session::new();
    assert!(can_defer(&session.stored, true));
    session.record_pending(GOAL);
    session.line(json!({"type": "system", "subtype": "turn_duration"}));
    session.line(json!({"type": "user", "message": {"content": "go on"}}));
    assert!(has_no_actions(&session.stored, session.unread(), "go on"));
    assert!(
        !has_no_actions(&session.stored, session.unread(), "go on then"),
        "no hook recorded that prompt"
    );
    session.run("ls");
    assert!(!has_no_actions(&session.stored, session.unread(), "go on"));
    session.edit("README.md", "Tokens");
    session.edit("src/billing/bill.ts", "Tokens");
    session.stop();
    assert!(session.stored.is_unchecked && !can_defer(&session.stored, true));
    assert!(can_defer(&session.stored, false), "checks are off");
    session.prompt("go on");
    for _ in 0..8 {
        assert!(can_defer(&session.stored, true));
        session.record_pending("go on");
    }
    assert!(!can_defer(&session.stored, true), "that is enough");
}

#[test]
fn pending_prompts_apply_immediately() {
    let mut session = Session::new();
    session.record_pending(GOAL);
    session.edit("src/auth/token.ts", "refreshToken(user)");
    let read_to = session.transcript.len();
    session.edit("src/auth/token.ts", "refreshToken(user, now)");
    session.record_pending("Do not touch README.md any more.");
    let contract_before = session.stored.contract.clone();
    assert_eq!(contract_before.instructions.len(), 2);
    // A hook follows a part of it, for a new and for a stored engine state.
    for part in [0, read_to] {
        let mut follower = resume(session.stored.clone());
        follower.offset(session.transcript.len() as u64);
        let from = usize::try_from(follower.session().read_to).unwrap();
        follower.read(&session.transcript.as_bytes()[from..part.max(from)]);
        session.stored = follower.into_progress(session.now).session;
        assert_eq!(session.stored.contract, contract_before, "{part}");
        assert_eq!(session.stored.prompts, 2, "{part}");
    }
    let mut follower = resume(session.stored.clone());
    follower.queue_prompt("And not LICENSE either.", session.transcript.len() as u64);
    session.stored = follower.into_progress(session.now).session;
    assert_eq!((session.stored.prompts, session.stored.waiting.len()), (3, 2));
    assert_eq!(session.stored.contract.instructions.len(), 3);
    session.stop();
    assert_eq!((session.stored.prompts, session.stored.waiting.len()), (3, 0));
    assert_eq!(session.stored.contract.instructions.len(), 3);
}

#[test]
fn a_prompt_in_the_transcript_before_its_hook_counts_once() {
    let mut session = Session::new();
    session.record_pending(GOAL);
    session.stop();
    session.line(json!({"type": "user", "message": {"content": "Now write docs/auth.md."}}));
    let length = session.transcript.len() as u64;
    record_pending(
        &mut session.stored,
        "Now write docs/auth.md.",
        length,
        Arc::new(extract_intent),
    );
    session.edit("docs/auth.md", "Tokens");
    session.stop();
    assert_eq!((session.stored.prompts, session.stored.actions), (2, 1));
    assert_eq!(session.stored.contract.instructions.len(), 2);
}

#[test]
fn a_prefetched_prompt_gives_the_same_contract() {
    let intents = Arc::new(IntentCache::default());
    let reader = || -> IntentReader {
        let intents = Arc::clone(&intents);
        Arc::new(move |question: &grov_domain::IntentQuestion| intents.extract_intent(question))
    };
    let mut session = begun();
    let mut ahead = begun();
    let prompts = [
        GOAL,
        "yes, go on",
        "Now write docs/auth.md.",
        "Only that, please.",
        "thanks",
        "Translate the README into French.",
    ];
    for prompt in prompts.iter().cycle().take(40) {
        ahead
            .contract
            .instructions
            .iter()
            .for_each(|prompt| intents.prefetch(prompt));
        intents.prefetch_alone(prompt);
        record_pending(&mut ahead, prompt, 0, reader());
        record_pending(&mut session, prompt, 0, Arc::new(extract_intent));
        assert_eq!(ahead, session);
    }
    assert!(session.contract.instructions.len() > 2);
}

#[test]
fn deleted_memory_is_not_read_again() {
    let mut session = Session::new();
    session.prompt(GOAL);
    session.edit("src/billing/bill.ts", "Tokens");
    session.stop();
    assert!(session.stored.is_unchecked);
    let forgotten = HookSession {
        contract: GoalContract::default(),
        engine_state: None,
        waiting: Vec::new(),
        ..session.stored.clone()
    };
    session.stored = forgotten.clone();
    session.steps.clear();
    session.stop();
    assert_eq!(session.stored.contract, GoalContract::default());
    assert_eq!(session.stored.read_to, forgotten.read_to);
    assert_eq!((session.stored.prompts, session.stored.actions), (1, 1));
    assert!(session.steps.is_empty() && !session.stored.is_unchecked);
    let check = session.prompt("Write docs/auth.md.");
    assert_eq!(check, None, "a corrected action is not corrected again");
    session.edit("docs/auth.md", "Tokens");
    session.stop();
    assert_eq!(session.stored.contract.instructions, ["Write docs/auth.md."]);
    assert_eq!((session.stored.prompts, session.stored.actions), (2, 2));
}

/// A session with a forbidden change that was corrected.
fn corrected_session(is_made: bool) -> Session {
    let mut session = Session::new();
    session.prompt(GOAL);
    if is_made {
        let input =
            json!({"file_path": format!("{ROOT}/src/billing/new.ts"), "content": "export const total = 1;"});
        let id = session.call("Write", input);
        session.result(&id, false);
    } else {
        session.edit("src/billing/invoice.ts", "total(lines)");
    }
    let check = session.prompt("go on").unwrap();
    assert_eq!(check.level, Some(CorrectionLevel::Intervene));
    session
}

#[test]
fn undoing_a_forbidden_change_is_recovery() {
    for (is_made, command) in [
        (true, "rm src/billing/new.ts"),
        (true, "cd src/billing && rm new.ts"),
        (false, "git checkout -- src/billing/invoice.ts"),
        (false, "git restore src/billing/invoice.ts"),
        (false, "git stash"),
    ] {
        let mut session = corrected_session(is_made);
        session.run(command);
        let check = session.prompt("go on").unwrap();
        assert_eq!((check.score, check.level), (10, None), "{command}: {check:?}");
        let step = session.steps.last().unwrap();
        assert_eq!((step.score, step.findings.len()), (Some(10), 0), "{command}");
        assert!(command == "git stash" || check.has_put_back(), "{check:?}");
    }
    let mut session = corrected_session(false);
    session.edit("src/billing/invoice.ts", "sum(lines)");
    let check = session.prompt("go on").unwrap();
    assert!(check.level.is_none() && check.has_put_back(), "{check:?}");
}

#[test]
fn removing_an_older_file_is_not_recovery() {
    let mut session = corrected_session(true);
    session.run("rm -rf src/billing");
    let check = session.prompt("go on").unwrap();
    assert!(check.level >= Some(CorrectionLevel::Intervene), "{check:?}");
}

#[test]
fn changes_reverted_before_a_check_are_not_corrected() {
    let mut session = Session::new();
    session.prompt(GOAL);
    session.edit("src/billing/invoice.ts", "total(lines)");
    session.run("git checkout -- src/billing/invoice.ts");
    assert_eq!(session.prompt("go on").unwrap().level, None);
}

#[test]
fn approval_in_the_guards_dialog_is_consent() {
    for ran in [false, true] {
        let mut session = Session::new();
        session.prompt(GOAL);
        session.asks(ran);
        session.edit("src/billing/invoice.ts", "total(lines)");
        let check = session.prompt("go on").unwrap();
        assert_eq!((check.score, check.level), (10, None), "{check:?}");
        assert_eq!(session.steps[0].score, Some(10));
        // The same file is neither asked about nor corrected again.
        session.edit("src/billing/invoice.ts", "sum(lines)");
        assert_eq!(session.prompt("go on").unwrap().level, None);
        session.edit("src/billing/other.ts", "sum(lines)");
        assert!(session.prompt("go on").unwrap().level.is_some());
    }
}

#[test]
fn approval_in_the_guards_dialog_revises_a_stored_step() {
    let mut session = Session::new();
    session.prompt(GOAL);
    let file = format!("{ROOT}/src/billing/invoice.ts");
    let id = session.call(
        "Edit",
        json!({"file_path": file, "old_string": "a", "new_string": "b"}),
    );
    // A hook reads the call while the dialog is open, before it sees the guard's record.
    session.hook(|_| {});
    assert_eq!(session.steps[0].score, Some(3));
    session.calls -= 1;
    session.asks(true);
    session.calls += 1;
    session.result(&id, false);
    session.hook(|_| {});
    assert_eq!(session.allowed, [session.steps[0].id.clone()]);
}

#[test]
fn refusal_in_the_guards_dialog_allows_nothing() {
    let mut session = Session::new();
    session.prompt(GOAL);
    session.asks(false);
    let file = format!("{ROOT}/src/billing/invoice.ts");
    let id = session.call(
        "Edit",
        json!({"file_path": file, "old_string": "a", "new_string": "b"}),
    );
    session.result(&id, true);
    assert_eq!(session.prompt("go on").unwrap().level, None);
    session.edit("src/billing/invoice.ts", "total(lines)");
    assert_eq!(
        session.prompt("go on").unwrap().level,
        Some(CorrectionLevel::Intervene)
    );
}

#[test]
fn a_single_doubt_is_recorded_but_not_corrected() {
    let mut session = Session::new();
    session.prompt("Fix the overflow in billing/invoice.py");
    session.edit("billing/invoice.py", "total = sum(line.amount for line in lines)");
    session.edit(
        "mobile/ios/Login.swift",
        "    let controller = UIHostingController(rootView: PinPad())",
    );
    let check = session.prompt("go on").unwrap();
    assert!(check.score < 8 && check.reason.is_some(), "{check:?}");
    assert_eq!((check.level, check.correction), (None, None));
    assert!(session.steps[1].score < Some(OFF_GOAL_BELOW));
}

#[test]
fn doubts_do_not_escalate_a_fact() {
    let mut session = Session::new();
    session.prompt(GOAL);
    session.edit("src/billing/invoice.ts", "total(lines)");
    edit_unrelated_files(&mut session, 0);
    let check = session.prompt("go on").unwrap();
    assert_eq!(check.level, Some(CorrectionLevel::Intervene), "{check:?}");
    assert!(check.correction.unwrap().contains("src/billing/invoice.ts"));
}

#[test]
fn a_request_for_an_explanation_makes_changes_off_goal() {
    let mut session = Session::new();
    session.prompt("Explain how the login works. Don't change anything.");
    session.run("rm src/login.ts");
    let check = session.prompt("go on").unwrap();
    assert_eq!(check.level, Some(CorrectionLevel::Intervene), "{check:?}");
    assert!(check.correction.unwrap().contains("Don't change anything"));
    session.prompt("Now fix the timeout in src/login.ts");
    session.edit("src/login.ts", "timeout(30)");
    assert_eq!(session.prompt("go on").unwrap().level, None);
}
