//! Subagents, each with a transcript of its own.

use super::*;

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
