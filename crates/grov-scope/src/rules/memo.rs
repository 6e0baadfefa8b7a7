//! What rules have to keep in mind to go on in another process.

use super::subject::Granted;
use super::undoing::Breaches;
use super::{ON_GOAL, Rules};
use crate::contract::Compiled;
use crate::history::History;
use crate::limits::Since;
use crate::neighbours::Neighbourhood;
use crate::place::Root;
use crate::relatedness::{Memory, Relatedness};
use grov_domain::GoalContract;
use serde::{Deserialize, Serialize};

/// Changes whenever what is kept changes its meaning or form.
const VERSION: u32 = 1;

/// What rules know of a conversation beside its contract, fit to be stored.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Memo {
    version: u32,
    consents: Vec<String>,
    since: Since,
    history: History,
    around: Neighbourhood,
    memory: Memory,
    fine: u16,
    #[serde(default)]
    breaches: Breaches,
    #[serde(default)]
    granted: Granted,
    #[serde(default)]
    released: Option<String>,
}

/// The same, lent.
#[derive(Serialize)]
struct Lent<'a> {
    version: u32,
    consents: &'a [String],
    since: &'a Since,
    history: &'a History,
    around: &'a Neighbourhood,
    memory: &'a Memory,
    fine: u16,
    breaches: &'a Breaches,
    granted: &'a Granted,
    released: Option<&'a str>,
}

impl Rules {
    /// What has to be kept to go on elsewhere; read back as a [`Memo`].
    pub fn memo(&self) -> impl Serialize + '_ {
        Lent {
            version: VERSION,
            consents: &self.consents,
            since: &self.since,
            history: &self.history,
            around: &self.around,
            memory: self.related.memory(),
            fine: self.fine,
            breaches: &self.breaches,
            granted: &self.granted,
            released: self.released.as_deref(),
        }
    }

    /// Goes on under the contract that held when the memo was made, and from the same root. `None`: it was made by another
    /// version.
    pub fn recall(contract: GoalContract, root: Option<&str>, memo: Memo) -> Option<Self> {
        if memo.version != VERSION {
            return None;
        }
        let root = Root::new(root);
        let compiled = Compiled::new(&root, &contract, &memo.consents, &memo.since);
        let related = Relatedness::recall(&contract, &compiled, &root, memo.memory);
        let mut rules = Self {
            contract,
            root,
            compiled,
            consents: memo.consents,
            since: memo.since,
            history: memo.history,
            around: memo.around,
            related,
            fine: memo.fine.min(ON_GOAL),
            breaches: memo.breaches,
            granted: memo.granted,
            released: memo.released,
            put_back: Vec::new(),
        };
        rules.compile();
        Some(rules)
    }
}
