//! The state of the judge, for status displays.

use crate::Provider;
use std::sync::{Mutex, PoisonError};

/// The state of the judge.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct JudgeStatus {
    /// The provider.
    pub provider: Provider,
    /// The model; `None` with [`Provider::Offline`].
    pub model: Option<String>,
    /// The source of the next answer.
    pub answering: Answering,
    /// Counts since the start.
    pub counters: JudgeCounters,
}

/// The source of answers: the model or rules.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Answering {
    /// The model.
    Model,
    /// Rules, for this reason.
    Rules(RulesReason),
}

/// Why rules answer instead of a model.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum RulesReason {
    /// No provider is set up.
    Offline,
    /// The provider needs a key and none is set.
    NoKey,
    /// Today's budget did not allow the last call.
    BudgetSpent,
    /// The ledger cannot be written, so no call is allowed.
    LedgerFailed,
    /// The provider refused the key (401 or 403).
    KeyRefused,
    /// The user's client is not installed.
    ClientMissing,
    /// The user's client is not logged in.
    LoggedOut,
    /// The circuit breaker is open after repeated failures.
    ProviderDown,
    /// The judge was closed.
    Closed,
}

impl RulesReason {
    /// The name used in JSON output.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Offline => "offline",
            Self::NoKey => "no_key",
            Self::BudgetSpent => "budget_spent",
            Self::LedgerFailed => "ledger_failed",
            Self::KeyRefused => "key_refused",
            Self::ClientMissing => "client_missing",
            Self::LoggedOut => "logged_out",
            Self::ProviderDown => "provider_down",
            Self::Closed => "closed",
        }
    }
}

/// Counts since the start.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct JudgeCounters {
    /// Questions that a model answered.
    pub by_model: u64,
    /// Questions without an answer from the model.
    pub by_rules: u64,
    /// Calls made to the model, retries and repairs included.
    pub calls: u64,
    /// Retries after a transient failure.
    pub retries: u64,
    /// Calls to repair an unusable answer.
    pub repairs: u64,
    /// Failed calls.
    pub failures: u64,
    /// Questions that shared the call of an identical one.
    pub shared: u64,
    /// Questions rejected because too many were waiting, or because the wait took too long.
    pub turned_away: u64,
}

/// The live values of [`JudgeCounters`].
#[derive(Debug, Default)]
pub(crate) struct Counters(Mutex<JudgeCounters>);

impl Counters {
    /// Adds one to a counter.
    pub(crate) fn add(&self, counter: impl FnOnce(&mut JudgeCounters) -> &mut u64) {
        *counter(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner)) += 1;
    }

    pub(crate) fn read(&self) -> JudgeCounters {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
