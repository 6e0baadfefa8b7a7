//! Refreshes the goal contract from stored inputs on a copy, because parsing prompts takes long.

use crate::contract_builder::GoalContractBuilder;
use crate::engine::SessionEngine;
use grov_domain::{GoalEdit, Intent};

/// The stored inputs of a goal contract.
#[derive(Clone, Debug, Default)]
pub struct ContractInputs {
    /// The intent of the active task; the default if it is unknown.
    pub task: Intent,
    /// Instructions, oldest first, see [`instructions`](crate::instructions).
    pub prompts: Vec<String>,
    /// Contract edits, oldest first.
    pub edits: Vec<GoalEdit>,
}

impl ContractInputs {
    fn apply_to(self, builder: &mut GoalContractBuilder) {
        builder.set_task(self.task, self.prompts);
        builder.set_edits(self.edits);
    }
}

/// A copy of the contract builder, and its version when it was copied.
pub(crate) struct BuilderCopy {
    pub(crate) builder: GoalContractBuilder,
    version: u64,
}

/// A refresh of the goal contract, started by [`SessionEngine::begin_contract_refresh`].
pub struct ContractRefresh {
    copy: BuilderCopy,
    inputs: ContractInputs,
}

impl ContractRefresh {
    /// Parses the prompts. Takes long for long prompts; call it without locking the engine.
    #[must_use]
    pub fn parse(mut self) -> Self {
        self.inputs.clone().apply_to(&mut self.copy.builder);
        self
    }
}

impl SessionEngine {
    /// Copies the contract for a refresh from stored inputs.
    pub fn begin_contract_refresh(&self, inputs: ContractInputs) -> ContractRefresh {
        ContractRefresh {
            copy: self.copy_builder(),
            inputs,
        }
    }

    /// Applies a refreshed contract. If the contract changed since the copy, the inputs are applied to the current one.
    pub fn finish_contract_refresh(&mut self, refresh: ContractRefresh) {
        if !self.replace_builder(refresh.copy) {
            refresh.inputs.apply_to(&mut self.builder);
        }
    }

    pub(crate) fn copy_builder(&self) -> BuilderCopy {
        BuilderCopy {
            builder: self.builder.clone(),
            version: self.builder.version(),
        }
    }

    /// Replaces the builder by a changed copy. Returns `false`, and replaces nothing, if it changed since the copy.
    pub(crate) fn replace_builder(&mut self, copy: BuilderCopy) -> bool {
        let is_current = self.builder.version() == copy.version;
        if is_current {
            self.builder = copy.builder;
            self.rules_version = None;
        }
        is_current
    }
}
