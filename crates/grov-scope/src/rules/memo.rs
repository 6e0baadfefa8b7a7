//! The serialised state of [`Rules`], to continue in another process.

use super::reverts::UnrevertedChanges;
use super::subject::Grants;
use super::{ON_GOAL, Rules};
use crate::association::AssociatedFiles;
use crate::constraints::ConstraintAges;
use crate::contract::CompiledContract;
use crate::history::History;
use crate::normalized_path::ProjectRoot;
use crate::relatedness::{Relatedness, RelatednessState};
use grov_domain::GoalContract;
use serde::{Deserialize, Serialize};

/// Changes whenever the meaning or form of the state changes.
const VERSION: u32 = 1;

/// The state of [`Rules`] without the contract.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Memo {
    version: u32,
    consents: Vec<String>,
    #[serde(rename = "since")]
    constraint_ages: ConstraintAges,
    history: History,
    #[serde(rename = "around")]
    associated: AssociatedFiles,
    #[serde(rename = "memory")]
    relatedness: RelatednessState,
    #[serde(rename = "fine")]
    hundredths: u16,
    #[serde(default, rename = "breaches")]
    unreverted: UnrevertedChanges,
    #[serde(default, rename = "granted")]
    grants: Grants,
    #[serde(default, rename = "released")]
    lifted_read_only: Option<String>,
}

/// A borrowed [`Memo`].
#[derive(Serialize)]
struct MemoRef<'a> {
    version: u32,
    consents: &'a [String],
    #[serde(rename = "since")]
    constraint_ages: &'a ConstraintAges,
    history: &'a History,
    #[serde(rename = "around")]
    associated: &'a AssociatedFiles,
    #[serde(rename = "memory")]
    relatedness: &'a RelatednessState,
    #[serde(rename = "fine")]
    hundredths: u16,
    #[serde(rename = "breaches")]
    unreverted: &'a UnrevertedChanges,
    #[serde(rename = "granted")]
    grants: &'a Grants,
    #[serde(rename = "released")]
    lifted_read_only: Option<&'a str>,
}

impl Rules {
    /// The state to store; deserialises as a [`Memo`].
    pub fn memo(&self) -> impl Serialize + '_ {
        MemoRef {
            version: VERSION,
            consents: &self.consents,
            constraint_ages: &self.constraint_ages,
            history: &self.history,
            associated: &self.associated,
            relatedness: self.relatedness.state(),
            hundredths: self.hundredths,
            unreverted: &self.unreverted,
            grants: &self.grants,
            lifted_read_only: self.lifted_read_only.as_deref(),
        }
    }

    /// Restores rules from a memo, with the contract and root from when it was made. `None` if another version made it.
    pub fn restore(contract: GoalContract, root: Option<&str>, memo: Memo) -> Option<Self> {
        if memo.version != VERSION {
            return None;
        }
        let root = ProjectRoot::new(root);
        let compiled = CompiledContract::new(&root, &contract, &memo.consents, &memo.constraint_ages);
        let relatedness = Relatedness::restore(&contract, &compiled, &root, memo.relatedness);
        let mut rules = Self {
            contract,
            root,
            compiled,
            consents: memo.consents,
            constraint_ages: memo.constraint_ages,
            history: memo.history,
            associated: memo.associated,
            relatedness,
            hundredths: memo.hundredths.min(ON_GOAL),
            unreverted: memo.unreverted,
            grants: memo.grants,
            lifted_read_only: memo.lifted_read_only,
            reverted_files: Vec::new(),
        };
        rules.compile();
        Some(rules)
    }
}
