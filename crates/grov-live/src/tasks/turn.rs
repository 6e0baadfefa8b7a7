//! The current turn of a client session.

use super::exchange::RecordedExchange;
use super::location::Location;
use grov_domain::{AgentId, ExchangeId, IntentQuestion};
use grov_session::tasks::{Turn, intent_question};
use time::OffsetDateTime;

/// A turn that has not ended.
#[derive(Debug)]
pub(super) struct OpenTurn {
    pub(super) exchanges: Vec<ExchangeId>,
    pub(super) turn: Turn,
    /// Subagents that acted.
    pub(super) agents: Vec<AgentId>,
    /// The last texts of subagents that changed something.
    pub(super) reports: Vec<String>,
    /// The directory and the commit at its start.
    pub(super) location: Location,
    /// Whether the conversation begins with this turn.
    pub(super) begins: bool,
    pub(super) started_at: OffsetDateTime,
}

impl OpenTurn {
    /// Creates a turn that starts with this exchange, which must still be added.
    pub(super) fn starting_with(exchange: &RecordedExchange, location: Location) -> Self {
        Self {
            exchanges: Vec::new(),
            turn: Turn::default(),
            agents: Vec::new(),
            reports: Vec::new(),
            location,
            begins: exchange.begins,
            started_at: exchange.started_at,
        }
    }

    pub(super) fn add(&mut self, exchange: &RecordedExchange) {
        self.exchanges.push(exchange.id.clone());
        if let Some(agent) = &exchange.agent_id
            && !self.agents.contains(agent)
        {
            self.agents.push(agent.clone());
        }
        let prompts = exchange.prompts.iter().map(|prompt| prompt.text.clone());
        self.turn.prompts.extend(prompts);
        for outcome in &exchange.results {
            self.turn
                .record_result(&outcome.tool_use_id, outcome.failed, outcome.output.as_deref());
        }
        for action in &exchange.actions {
            self.turn
                .push_action(action.tool_use_id.clone(), action.sketch.clone());
        }
    }

    pub(super) fn intent_question(&self) -> IntentQuestion {
        intent_question(&self.turn, self.location.root.as_deref())
    }
}
