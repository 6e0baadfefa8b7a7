//! Compares the tokens of a session with its window.

use crate::Window;
use grov_domain::TokenUsage;
use serde::{Deserialize, Serialize};

/// Share of the window at which the user is warned, in percent.
const WARNING_PERCENT: u64 = 80;
/// Share at which a summary is prepared.
const PREPARE_PERCENT: u64 = 85;
/// Share at which the context can be cleared.
const CLEAR_PERCENT: u64 = 90;

/// The tokens in the model's window after a response: input of all cache classes, and output.
pub fn context_tokens(usage: &TokenUsage) -> u64 {
    [usage.cache_read, usage.cache_creation, usage.output]
        .into_iter()
        .fold(usage.input, u64::saturating_add)
}

/// Absolute thresholds in tokens that replace the shares of the window.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Thresholds {
    /// Replaces 80 %.
    pub warning: Option<u64>,
    /// Replaces 90 %. Preparation begins at the same share of it as of the window: 17/18.
    pub clear: Option<u64>,
}

/// How full a window is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Level {
    /// Below all thresholds.
    Normal,
    /// The user should know.
    Warning,
    /// A summary should be prepared.
    Prepare,
    /// The context can be cleared.
    Clear,
}

impl Level {
    /// The name in JSON and tables.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Normal => "normal",
            Self::Warning => "warning",
            Self::Prepare => "prepare",
            Self::Clear => "clear",
        }
    }
}

/// The tokens of a session, its window and its thresholds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ContextMeter {
    /// Tokens in the window after the newest response of the main conversation.
    pub tokens: u64,
    /// The window.
    pub window: Window,
    /// Absolute thresholds.
    pub thresholds: Thresholds,
}

impl ContextMeter {
    /// The meter of a session. A window that was only guessed is corrected by the usage.
    pub fn new(tokens: u64, window: Window, thresholds: Thresholds) -> Self {
        Self {
            tokens,
            window: window.holding(tokens),
            thresholds,
        }
    }

    /// The used share of the window in percent, rounded down. More than 100 if a message is larger than the window.
    pub fn percent(&self) -> u64 {
        if self.window.tokens == 0 {
            return 0;
        }
        let percent = u128::from(self.tokens) * 100 / u128::from(self.window.tokens);
        u64::try_from(percent).unwrap_or(u64::MAX)
    }

    /// Tokens from which on a level is reached.
    pub fn threshold(&self, level: Level) -> u64 {
        let share = |percent: u64| portion(self.window.tokens, percent, 100);
        match level {
            Level::Normal => 0,
            Level::Warning => self.thresholds.warning.unwrap_or(share(WARNING_PERCENT)),
            Level::Prepare => match self.thresholds.clear {
                Some(clear) => portion(clear, PREPARE_PERCENT, CLEAR_PERCENT),
                None => share(PREPARE_PERCENT),
            },
            Level::Clear => self.thresholds.clear.unwrap_or(share(CLEAR_PERCENT)),
        }
    }

    /// The level: the highest threshold that is reached.
    pub fn level(&self) -> Level {
        let reached = |level: &Level| self.tokens >= self.threshold(*level);
        [Level::Clear, Level::Prepare, Level::Warning]
            .into_iter()
            .find(reached)
            .unwrap_or(Level::Normal)
    }

    /// Whether the user should be warned. If the window is only guessed, the warning would often be wrong.
    pub fn is_worth_a_warning(&self) -> bool {
        let is_certain = !self.window.source.is_guess() || self.thresholds.warning.is_some();
        is_certain && self.tokens >= self.threshold(Level::Warning)
    }
}

fn portion(whole: u64, part: u64, of: u64) -> u64 {
    let portion = u128::from(whole) * u128::from(part) / u128::from(of);
    u64::try_from(portion).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn meter(tokens: u64, thresholds: Thresholds) -> ContextMeter {
        ContextMeter::new(tokens, Window::of_request("claude-haiku-4-5", []), thresholds)
    }

    #[test]
    fn levels_are_shares_of_the_window() {
        let level = |tokens| meter(tokens, Thresholds::default()).level();
        assert_eq!(level(159_999), Level::Normal);
        assert_eq!(level(160_000), Level::Warning);
        assert_eq!(level(170_000), Level::Prepare);
        assert_eq!(level(180_000), Level::Clear);
        assert_eq!(level(u64::MAX), Level::Clear);
        assert_eq!(meter(150_000, Thresholds::default()).percent(), 75);
        assert_eq!(meter(400_000, Thresholds::default()).percent(), 200);
    }

    #[test]
    fn absolute_thresholds_replace_the_shares() {
        let set = Thresholds {
            warning: Some(50_000),
            clear: Some(90_000),
        };
        let level = |tokens| meter(tokens, set).level();
        assert_eq!(level(49_999), Level::Normal);
        assert_eq!(level(50_000), Level::Warning);
        assert_eq!(level(85_000), Level::Prepare);
        assert_eq!(level(90_000), Level::Clear);
    }

    #[test]
    fn a_guessed_window_is_no_reason_to_warn() {
        let guessed =
            |tokens| ContextMeter::new(tokens, Window::of_model("claude-opus-4-8"), Thresholds::default());
        assert!(!guessed(190_000).is_worth_a_warning());
        assert_eq!(guessed(190_000).level(), Level::Clear);
        // More than the smaller window holds: it is the larger one.
        assert!(!guessed(300_000).is_worth_a_warning());
        assert!(guessed(850_000).is_worth_a_warning());
    }

    #[test]
    fn all_classes_of_input_and_the_output_fill_the_window() {
        let usage = TokenUsage {
            input: 1,
            cache_read: 20,
            cache_creation: 300,
            cache_creation_5m: 300,
            cache_creation_1h: 0,
            output: 4000,
        };
        assert_eq!(context_tokens(&usage), 4321);
    }

    proptest::proptest! {
        #[test]
        fn levels_never_fall_while_tokens_grow(
            window in 0u64..=u64::MAX, warning: Option<u64>, clear: Option<u64>, fewer: u64, more: u64,
        ) {
            let (fewer, more) = (fewer.min(more), fewer.max(more));
            let level = |tokens| {
                ContextMeter { tokens, window: Window::set_to(window), thresholds: Thresholds { warning, clear } }.level()
            };
            proptest::prop_assert!(level(fewer) <= level(more));
        }
    }
}
