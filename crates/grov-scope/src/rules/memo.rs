//! The serialised state of [`Rules`], to continue in another process.

use super::reverts::UnrevertedChanges;
use super::subject::Grants;
use super::{ON_GOAL, Rules};
use crate::association::AssociatedFiles;
use crate::constraints::ConstraintAges;
use crate::contract::CompiledContract;
use crate::history::History;
use crate::normalized_path::ProjectRoot;
use crate::relatedness::Relatedness;
use grov_domain::GoalContract;
use serde::{Deserialize, Serialize};

/// Changes whenever the meaning or form of the state changes.
const VERSION: u32 = 2;

/// The state of [`Rules`] without the contract.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Memo {
    pub(super) version: u32,
    /// Proposals of the agent that the user accepted, an order a line.
    #[serde(default, rename = "orders")]
    pub(super) consents: Vec<String>,
    /// When each constraint started to apply.
    #[serde(rename = "since")]
    pub(super) constraint_ages: ConstraintAges,
    pub(super) history: History,
    #[serde(rename = "around")]
    pub(super) associated: AssociatedFiles,
    #[serde(rename = "memory")]
    pub(super) relatedness: Relatedness,
    /// The score of the newest action in hundredths.
    #[serde(rename = "fine")]
    pub(super) hundredths: u16,
    /// Changes that violate a constraint and were not reverted.
    #[serde(default, rename = "breaches")]
    pub(super) unreverted: UnrevertedChanges,
    /// Findings that the user permitted when asked about a call.
    #[serde(default, rename = "granted")]
    pub(super) grants: Grants,
    /// The text of a read-only constraint that the user lifted.
    #[serde(default, rename = "released")]
    pub(super) lifted_read_only: Option<String>,
}

impl Default for Memo {
    fn default() -> Self {
        Self {
            version: VERSION,
            consents: Vec::new(),
            constraint_ages: ConstraintAges::default(),
            history: History::default(),
            associated: AssociatedFiles::default(),
            relatedness: Relatedness::default(),
            hundredths: ON_GOAL,
            unreverted: UnrevertedChanges::default(),
            grants: Grants::default(),
            lifted_read_only: None,
        }
    }
}

impl Rules {
    /// The state to store; deserialises as a [`Memo`].
    pub fn memo(&self) -> impl Serialize + '_ {
        &self.state
    }

    /// Restores rules from a memo, with the contract and root from when it was made. `None` if another version made it.
    pub fn restore(contract: GoalContract, root: Option<&str>, memo: Memo) -> Option<Self> {
        if memo.version != VERSION {
            return None;
        }
        let mut rules = Self {
            contract,
            root: ProjectRoot::new(root),
            compiled: CompiledContract::default(),
            state: Memo {
                hundredths: memo.hundredths.min(ON_GOAL),
                ..memo
            },
            reverted_files: Vec::new(),
            log_odds: 0,
        };
        rules.compile();
        rules
            .state
            .relatedness
            .compile(&rules.contract, &rules.compiled, &rules.root);
        Some(rules)
    }
}
