//! The earlier actions of a session that goes through the proxy.

use super::decision::PastAction;
use grov_actions::recorded_action;
use grov_domain::{
    ClientSessionId, Correction, DriftEvent, DriftFilter, Rule, StepRow, StoreConnection, StoreError,
};
use time::OffsetDateTime;

/// Loads the earlier actions for which `is_done` holds, oldest first.
pub(super) async fn proxied_past(
    store: &dyn StoreConnection,
    id: &ClientSessionId,
    is_done: impl Fn(Option<&str>) -> bool,
) -> Result<Vec<PastAction>, StoreError> {
    let of_session = DriftFilter {
        client_session_id: Some(id.clone()),
        ..DriftFilter::default()
    };
    let mut steps = store.client_steps(id).await?;
    let mut events = store.drift_events(&of_session).await?;
    steps.retain(|step| is_done(step.tool_use_id.as_deref()));
    events.retain(|event| is_done(event.tool_use_id.as_deref()));
    Ok(merged(&steps, &events, &store.corrections(id).await?))
}

/// Merges the steps with the actions off the goal, which are only in the drift log.
fn merged(steps: &[StepRow], events: &[DriftEvent], corrections: &[Correction]) -> Vec<PastAction> {
    let steps = steps.iter().map(|step| {
        let past = PastAction {
            action: step.sketch(),
            broke_constraint: false,
            is_corrected: false,
        };
        (step.timestamp, past)
    });
    // The log does not tell whether a call failed. One whose correction was delivered did not.
    let is_corrected = |event: &&DriftEvent| {
        let mut delivered = corrections.iter().filter(|one| one.delivered_at.is_some());
        event.tool_use_id.is_some() && delivered.any(|one| one.tool_use_id == event.tool_use_id)
    };
    let events = events.iter().filter(is_corrected).map(|event| {
        let mut findings = event.findings.iter();
        let past = PastAction {
            action: recorded_action(event),
            broke_constraint: findings.any(|finding| finding.rule == Rule::Constraint),
            is_corrected: true,
        };
        (event.timestamp, past)
    });
    let mut past: Vec<(OffsetDateTime, PastAction)> = steps.chain(events).collect();
    past.sort_by_key(|(at, _)| *at);
    past.into_iter().map(|(_, past)| past).collect()
}

#[cfg(test)]
mod tests {
    use super::super::decision::{Question, decide};
    use super::*;
    use grov_actions::{ToolCall, understand};
    use grov_domain::{
        ActionSketch, ActionType, CorrectionId, CorrectionLevel, DriftEventId, Finding, GoalContract,
        GuardVerdict,
    };
    use time::OffsetDateTime;

    fn event(call: &str, action_type: ActionType, file: &str, command: Option<&str>) -> DriftEvent {
        DriftEvent {
            id: DriftEventId::new(call),
            session_id: ClientSessionId::new("s").first_task(),
            timestamp: OffsetDateTime::UNIX_EPOCH,
            action_type: Some(action_type),
            files: vec![file.to_owned()],
            drift_score: Some(3),
            level: None,
            reason: None,
            correction_given: None,
            recovery_plan: Vec::new(),
            client_session_id: None,
            step_id: None,
            tool_use_id: Some(call.to_owned()),
            command: command.map(str::to_owned),
            findings: vec![Finding::new(Rule::Constraint, 3, Some(file), String::new())],
            judged_by: None,
            outcome: None,
        }
    }

    fn correction(call: &str, delivered_at: Option<OffsetDateTime>) -> Correction {
        Correction {
            id: CorrectionId::new("c"),
            client_session_id: ClientSessionId::new("s"),
            session_id: ClientSessionId::new("s").first_task(),
            step_id: None,
            tool_use_id: Some(call.to_owned()),
            level: CorrectionLevel::Intervene,
            score: 3,
            reason: String::new(),
            text: String::new(),
            recovery_plan: Vec::new(),
            made_at: OffsetDateTime::UNIX_EPOCH,
            delivered_at,
            outcome: None,
        }
    }

    #[test]
    fn undoing_what_a_delivered_correction_is_about_is_not_asked_about() {
        let contract = GoalContract {
            goal: "Fix the login".to_owned(),
            instructions: vec!["Fix the login. Do not touch src/db/".to_owned()],
            constraints: vec!["Do not touch src/db/".to_owned()],
            ..GoalContract::default()
        };
        let is_asked = |past: &[PastAction], command: &str| {
            let input = serde_json::json!({ "command": command });
            let action = ActionSketch::of(&understand(&ToolCall {
                name: "Bash",
                id: None,
                input: (&input).into(),
                working_directory: Some("/p"),
            }));
            let stop = decide(&Question {
                contract: &contract,
                root: Some("/p"),
                directory: None,
                action: &action,
                masked: None,
                scripts: &[],
                past: Some(past),
                is_released: false,
                consents: &[],
                allowed: &[],
                verdict: GuardVerdict::Ask,
            });
            stop.is_some()
        };
        let wrote = event("1", ActionType::Write, "/p/src/db/new.rs", None);
        let removed = event(
            "2",
            ActionType::Bash,
            "/p/src/db/pool.rs",
            Some("rm src/db/pool.rs"),
        );
        let at = Some(OffsetDateTime::UNIX_EPOCH);
        for (event, command) in [
            (&wrote, "rm src/db/new.rs"),
            (&removed, "git checkout -- src/db/pool.rs"),
        ] {
            let call = event.tool_use_id.clone().unwrap_or_default();
            let events = std::slice::from_ref(event);
            let undelivered = merged(&[], events, &[correction(&call, None)]);
            assert!(is_asked(&undelivered, command), "{command}");
            let delivered = merged(&[], events, &[correction(&call, at)]);
            assert!(!is_asked(&delivered, command), "{command}");
            assert!(is_asked(&delivered, "rm src/db/other.rs"));
        }
    }
}
