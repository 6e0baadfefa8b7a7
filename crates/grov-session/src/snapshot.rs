//! Stores and restores engines.

use crate::action_batch::ActionBatch;
use crate::contract_builder::{GoalContractBuilder, IntentReader};
use crate::engine::SessionEngine;
use crate::event::PendingQuestion;
use crate::permissions::Permissions;
use crate::policy::Policy;
use crate::preload::Preload;
use crate::state_machine::DriftStateMachine;
use grov_domain::{GoalContract, GoalEdit, Intent};
use grov_scope::Rules;
use serde::{Deserialize, Serialize};
use std::borrow::Cow;

/// The serializable state of an engine, to continue in another process.
///
/// Root and policy are not part of it: pass the same ones to [`SessionEngine::restore`]. Renamed fields are serialized
/// under the names of earlier versions.
#[derive(Serialize, Deserialize)]
pub struct EngineSnapshot<'a, R = grov_scope::Memo> {
    #[serde(rename = "course")]
    drift: Cow<'a, DriftStateMachine>,
    #[serde(default, rename = "stretch")]
    batch: Cow<'a, ActionBatch>,
    #[serde(default)]
    last_answer: Cow<'a, Option<String>>,
    #[serde(default)]
    questions: Cow<'a, [PendingQuestion]>,
    #[serde(default)]
    last_score: Option<u8>,
    #[serde(default)]
    suspicions: u8,
    #[serde(default)]
    permissions: Cow<'a, Permissions>,
    /// The contract without edits.
    #[serde(rename = "typed")]
    typed_contract: Cow<'a, GoalContract>,
    /// The contract of the rules, if it differs from that.
    #[serde(rename = "held")]
    rules_contract: Option<Cow<'a, GoalContract>>,
    rules: Option<R>,
}

impl SessionEngine {
    /// Returns a snapshot of the engine. Without `with_rules`, the state of the rules, which may be long, is left out: the
    /// restored rules have no memory of earlier actions.
    pub fn snapshot(&self, with_rules: bool) -> EngineSnapshot<'_, impl Serialize + '_> {
        let rules = self.rules.as_ref().filter(|_| with_rules);
        let typed = self.builder.typed_contract();
        EngineSnapshot {
            drift: Cow::Borrowed(&self.drift),
            batch: Cow::Borrowed(&self.batch),
            last_answer: Cow::Borrowed(&self.last_answer),
            questions: Cow::Borrowed(&self.questions),
            last_score: self.last_score,
            suspicions: self.suspicions,
            permissions: Cow::Borrowed(&self.permissions),
            typed_contract: Cow::Borrowed(typed),
            rules_contract: rules
                .map(Rules::contract)
                .filter(|contract| *contract != typed)
                .map(Cow::Borrowed),
            rules: rules.map(Rules::memo),
        }
    }

    /// Restores an engine from a snapshot, with its history known. `edits` are all contract edits so far, oldest first.
    pub fn restore(
        snapshot: EngineSnapshot<'_>,
        root: Option<&str>,
        policy: Policy,
        reader: IntentReader,
        edits: &[GoalEdit],
    ) -> Self {
        let typed = snapshot.typed_contract.into_owned();
        let rules_contract = snapshot.rules_contract.map(Cow::into_owned);
        let rules = snapshot.rules.and_then(|memo| {
            let contract = rules_contract.unwrap_or_else(|| typed.clone());
            Rules::restore(contract, root, memo)
        });
        let mut builder = GoalContractBuilder::new(reader);
        builder.set_task(Intent::default(), typed.instructions);
        builder.set_edits(edits.to_vec());
        builder.mark_complete();
        let mut preload = Preload::default();
        preload.mark_loaded();
        let mut engine = Self {
            root: root.map(str::to_owned),
            builder,
            rules,
            rules_version: None,
            drift: snapshot.drift.into_owned(),
            last_answer: snapshot.last_answer.into_owned(),
            questions: snapshot.questions.into_owned(),
            permissions: snapshot.permissions.into_owned(),
            batch: snapshot.batch.into_owned(),
            preload,
            suspicions: snapshot.suspicions,
            last_score: snapshot.last_score,
        };
        engine.drift.policy = policy;
        engine.current_rules();
        engine
    }
}
