//! One conversation, followed action by action.

use grov_domain::{ActionSketch, Assessment, GoalContract};

/// Follows one conversation: what the agent is held to, and what it did so far.
#[derive(Clone, Debug)]
pub struct Rules {
    contract: GoalContract,
    root: Option<String>,
}

impl Rules {
    /// Rules for a conversation that begins. `root` is the folder that relative paths of the contract are meant from; files
    /// of actions below it are told by their path from there.
    pub fn new(contract: GoalContract, root: Option<&str>) -> Self {
        Self {
            contract,
            root: root.map(str::to_owned),
        }
    }

    /// What the agent is held to.
    pub fn contract(&self) -> &GoalContract {
        &self.contract
    }

    /// Holds the agent to something else from now on; what it did so far is kept in mind.
    pub fn hold_to(&mut self, contract: GoalContract) {
        self.contract = contract;
    }

    /// Judges the next action of the conversation. `call` is its tool call, under which its result is told later.
    pub fn assess(&mut self, _action: &ActionSketch, _call: Option<&str>) -> Assessment {
        let _ = &self.root;
        Assessment::on_goal()
    }

    /// Judges an action of a subagent, whose errand is its own: facts alone count (constraints, danger).
    pub fn assess_delegated(&mut self, _action: &ActionSketch) -> Assessment {
        Assessment::on_goal()
    }

    /// How an earlier action ended.
    pub fn ended(&mut self, _call: &str, _failed: bool) {}
}
