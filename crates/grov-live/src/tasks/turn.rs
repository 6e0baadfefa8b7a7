//! The turn of a client session that is under way, as exchanges bring it.

use super::exchange::RecordedExchange;
use super::location::Location;
use grov_domain::{AgentId, ExchangeId, IntentQuestion};
use grov_session::tasks::{Turn, intent_question};
use time::OffsetDateTime;

/// A turn that has not come to rest.
#[derive(Debug)]
pub(super) struct OpenTurn {
    pub(super) exchanges: Vec<ExchangeId>,
    pub(super) turn: Turn,
    /// Subagents that acted.
    pub(super) agents: Vec<AgentId>,
    /// Where it began, and the commit that was checked out then.
    pub(super) location: Location,
    /// A conversation begins with this turn.
    pub(super) begins: bool,
    pub(super) started_at: OffsetDateTime,
}

impl OpenTurn {
    /// The turn that begins with this exchange, which is not yet part of it.
    pub(super) fn beginning_with(exchange: &RecordedExchange, location: Location) -> Self {
        Self {
            exchanges: Vec::new(),
            turn: Turn::default(),
            agents: Vec::new(),
            location,
            begins: exchange.begins,
            started_at: exchange.started_at,
        }
    }

    /// Adds an exchange.
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
                .ended(&outcome.tool_use_id, outcome.failed, outcome.output.as_deref());
        }
        for action in &exchange.actions {
            self.turn.act(action.tool_use_id.clone(), action.sketch.clone());
        }
    }

    pub(super) fn intent_question(&self) -> IntentQuestion {
        intent_question(&self.turn, self.location.root.as_deref())
    }
}
