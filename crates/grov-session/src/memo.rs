//! What an engine has to keep to go on in another process.

use crate::course::Course;
use crate::engine::SessionEngine;
use crate::event::Question;
use crate::holding::{Agreement, IntentReader, TaskGoal};
use crate::past::Past;
use crate::permissions::Permissions;
use crate::policy::Policy;
use crate::stretch::Stretch;
use grov_domain::{GoalContract, GoalEdit};
use grov_scope::Rules;
use serde::{Deserialize, Serialize};

/// An engine as it was kept. A memo is of one root and one policy; who keeps it keeps these, too.
#[derive(Deserialize)]
pub struct Memo {
    course: Course,
    #[serde(default)]
    stretch: Stretch,
    #[serde(default)]
    last_answer: Option<String>,
    #[serde(default)]
    questions: Vec<Question>,
    #[serde(default)]
    last_score: Option<u8>,
    #[serde(default)]
    suspicions: u8,
    #[serde(default)]
    permissions: Permissions,
    /// What the user typed.
    typed: GoalContract,
    /// What the rules were held to, where that is not what the user typed alone.
    held: Option<GoalContract>,
    rules: Option<grov_scope::Memo>,
}

/// The same, lent.
#[derive(Serialize)]
struct Lent<'a, M> {
    course: &'a Course,
    stretch: &'a Stretch,
    last_answer: Option<&'a str>,
    questions: &'a [Question],
    last_score: Option<u8>,
    suspicions: u8,
    permissions: &'a Permissions,
    typed: &'a GoalContract,
    held: Option<&'a GoalContract>,
    rules: Option<M>,
}

impl SessionEngine {
    /// What has to be kept to go on elsewhere; read back as a [`Memo`]. Without rules, which may be long, they begin anew with
    /// what comes next.
    pub fn memo(&self, with_rules: bool) -> impl Serialize + '_ {
        let rules = self.rules.as_ref().filter(|_| with_rules);
        let typed = self.agreement.typed();
        Lent {
            course: &self.course,
            stretch: &self.stretch,
            last_answer: self.last_answer.as_deref(),
            questions: &self.questions,
            last_score: self.last_score,
            suspicions: self.suspicions,
            permissions: &self.permissions,
            typed,
            held: rules.map(Rules::contract).filter(|held| *held != typed),
            rules: rules.map(Rules::memo),
        }
    }

    /// Goes on from a memo, with what a person changed of the contract since, oldest first.
    pub fn recall(
        memo: Memo,
        root: Option<&str>,
        policy: Policy,
        reader: IntentReader,
        edits: &[GoalEdit],
    ) -> Self {
        let Memo {
            course,
            stretch,
            last_answer,
            questions,
            last_score,
            suspicions,
            permissions,
            typed,
            held,
            rules,
        } = memo;
        let held = held.unwrap_or_else(|| typed.clone());
        let rules = rules.and_then(|memo| Rules::restore(held, root, memo));
        let mut agreement = Agreement::new(reader);
        agreement.work_on(TaskGoal::default(), typed.instructions);
        agreement.edited(edits.to_vec());
        let mut past = Past::default();
        past.holds_nothing();
        agreement.is_new();
        let mut engine = Self {
            policy,
            root: root.map(str::to_owned),
            agreement,
            rules,
            held: None,
            course: course.under(policy),
            last_answer,
            questions,
            permissions,
            stretch,
            past,
            suspicions,
            last_score,
        };
        engine.rules();
        engine
    }
}
