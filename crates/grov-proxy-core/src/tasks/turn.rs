//! A turn in the making: everything from a prompt to the point where the conversation comes to rest.

use super::exchange::{RecordedExchange, SketchedAction};
use super::location::Location;
use grov_domain::{ActionSketch, ActionType, AgentId, ExchangeId};
use time::OffsetDateTime;

/// Actions of a turn that are kept for its verdict; of more, the first and the last half of this.
const MAX_ACTIONS: usize = 200;

/// Files that tell where the work began.
const MAX_FIRST_FILES: usize = 8;

/// The turn of a client session that is under way.
#[derive(Debug)]
pub(super) struct OpenTurn {
    pub(super) exchanges: Vec<ExchangeId>,
    /// What the user typed, oldest first.
    pub(super) prompts: Vec<String>,
    actions: Vec<SketchedAction>,
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
            prompts: Vec::new(),
            actions: Vec::new(),
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
        self.prompts.extend(prompts);
        for outcome in &exchange.results {
            let action = self
                .actions
                .iter_mut()
                .rev()
                .find(|action| action.tool_use_id.as_ref() == Some(&outcome.tool_use_id));
            if let Some(action) = action {
                action.sketch.failed = Some(outcome.failed);
                action.sketch.output.clone_from(&outcome.output);
            }
        }
        for action in &exchange.actions {
            if self.actions.len() >= MAX_ACTIONS {
                self.actions.remove(MAX_ACTIONS / 2);
            }
            self.actions.push(action.clone());
        }
    }

    /// Whether there is something to judge: a repeated request carries neither a new prompt nor an action.
    pub(super) fn has_substance(&self) -> bool {
        !self.prompts.is_empty() || !self.actions.is_empty()
    }

    /// Whether files or the repository were changed.
    pub(super) fn changed_something(&self) -> bool {
        self.actions.iter().any(|action| action.sketch.has_changed())
    }

    pub(super) fn actions(&self) -> Vec<ActionSketch> {
        self.actions.iter().map(|action| action.sketch.clone()).collect()
    }

    /// The files that were read or searched before anything was changed.
    pub(super) fn first_files(&self) -> Vec<String> {
        let mut files: Vec<String> = Vec::new();
        let looking = self
            .actions
            .iter()
            .map(|action| &action.sketch)
            .take_while(|sketch| !sketch.is_change())
            .filter(|sketch| matches!(sketch.action_type, ActionType::Read | ActionType::Search));
        for file in looking.flat_map(|sketch| &sketch.files) {
            if files.len() < MAX_FIRST_FILES && !files.contains(file) {
                files.push(file.clone());
            }
        }
        files
    }
}
