//! The size of a model's context window.

use serde::{Deserialize, Serialize};
use std::sync::LazyLock;

const BUILT_IN: &str = include_str!("../windows.json");

/// Prefix of the beta that asks for a window of a million tokens.
const LARGE_BETA: &str = "context-1m-";
/// Suffix of the client's model names with the same meaning.
const LARGE_SUFFIX: &str = "[1m]";
/// The window that both ask for, in tokens.
const LARGE: u64 = 1_000_000;
/// The window of a model without an entry if the table cannot be read.
const FALLBACK: u64 = 200_000;

/// How a window's size is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum WindowSource {
    /// The user set it.
    Setting,
    /// The client reported it.
    Client,
    /// The request asked for it.
    Request,
    /// It is the model's, from the built-in table.
    Model,
    /// More tokens were used than the smaller window of the model has.
    Usage,
    /// The model's smaller window. The request that could have asked for the larger one is not known.
    Smaller,
    /// The model is unknown.
    Assumed,
}

impl WindowSource {
    /// The name in JSON and in records.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Setting => "setting",
            Self::Client => "client",
            Self::Request => "request",
            Self::Model => "model",
            Self::Usage => "usage",
            Self::Smaller => "smaller",
            Self::Assumed => "assumed",
        }
    }

    /// The source with this name; [`WindowSource::Assumed`] for a name that this version does not know.
    pub fn from_name(name: &str) -> Self {
        let all = [
            Self::Setting,
            Self::Client,
            Self::Request,
            Self::Model,
            Self::Usage,
            Self::Smaller,
        ];
        let found = all.into_iter().find(|source| source.as_str() == name);
        found.unwrap_or(Self::Assumed)
    }

    /// Whether the real window may be larger.
    pub fn is_guess(self) -> bool {
        matches!(self, Self::Smaller | Self::Assumed)
    }
}

/// A context window.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Window {
    /// Its size in tokens.
    pub tokens: u64,
    /// How it is known.
    pub source: WindowSource,
}

#[derive(Deserialize)]
struct Table {
    as_of: String,
    assumed: u64,
    models: Vec<Model>,
}

#[derive(Deserialize)]
struct Model {
    model: String,
    tokens: u64,
    extended: Option<u64>,
}

static TABLE: LazyLock<Option<Table>> = LazyLock::new(|| serde_json::from_str(BUILT_IN).ok());

/// The date of the built-in table of windows, `YYYY-MM-DD`.
pub fn windows_as_of() -> &'static str {
    TABLE.as_ref().map_or("", |table| &table.as_of)
}

impl Window {
    /// A window of this size, set by the user.
    pub fn set_to(tokens: u64) -> Self {
        Self {
            tokens,
            source: WindowSource::Setting,
        }
    }

    /// The window of a request for `model` with these values of `anthropic-beta`, each with one or more names.
    pub fn of_request<'b>(model: &str, betas: impl IntoIterator<Item = &'b str>) -> Self {
        let mut names = betas.into_iter().flat_map(|value| value.split(','));
        if names.any(|name| name.trim().starts_with(LARGE_BETA)) {
            return Self {
                tokens: known(model).and_then(|model| model.extended).unwrap_or(LARGE),
                source: WindowSource::Request,
            };
        }
        let window = Self::of_model(model);
        match window.source {
            // Without the beta, the request did not ask for more.
            WindowSource::Smaller => Self {
                source: WindowSource::Request,
                ..window
            },
            _ => window,
        }
    }

    /// The window of a model if the request is not known, as in a transcript.
    pub fn of_model(model: &str) -> Self {
        if model.trim_end().ends_with(LARGE_SUFFIX) {
            return Self {
                tokens: LARGE,
                source: WindowSource::Request,
            };
        }
        match known(model) {
            Some(known) => Self {
                tokens: known.tokens,
                source: match known.extended {
                    Some(_) => WindowSource::Smaller,
                    None => WindowSource::Model,
                },
            },
            None => Self {
                tokens: TABLE.as_ref().map_or(FALLBACK, |table| table.assumed),
                source: WindowSource::Assumed,
            },
        }
    }

    /// Corrects a guess by the tokens that were used: more than the window has cannot have been in it.
    #[must_use]
    pub fn holding(self, tokens: u64) -> Self {
        if self.source.is_guess() && tokens > self.tokens {
            return Self {
                tokens: LARGE.max(tokens),
                source: WindowSource::Usage,
            };
        }
        self
    }
}

/// The entry of a model: the longest name that it begins with, up to a separator. Names of other providers have the model's
/// behind a slash or a dot.
fn known(model: &str) -> Option<&'static Model> {
    let model = model.trim();
    let name = model.find("claude-").map_or(model, |at| &model[at..]);
    let begins_with = |known: &&Model| {
        name.strip_prefix(known.model.as_str())
            .is_some_and(|rest| rest.is_empty() || rest.starts_with(['-', '@', ':', '[', '.']))
    };
    let models = TABLE.as_ref()?.models.iter();
    models.filter(begins_with).max_by_key(|known| known.model.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_can_be_read() {
        let table = TABLE.as_ref().unwrap();
        assert!(table.models.iter().all(|model| model.tokens >= 100_000));
        assert_eq!(windows_as_of().len(), 10);
    }

    #[test]
    fn the_beta_asks_for_the_larger_window() {
        let of = |model: &str, betas: &[&str]| {
            let window = Window::of_request(model, betas.iter().copied());
            (window.tokens, window.source)
        };
        let betas = &["claude-code-20250219,context-1m-2025-08-07", "effort-2025-11-24"][..];
        assert_eq!(of("claude-opus-4-8", betas), (1_000_000, WindowSource::Request));
        assert_eq!(of("claude-opus-4-8", &[]), (200_000, WindowSource::Request));
        assert_eq!(of("claude-opus-4-8[1m]", &[]), (1_000_000, WindowSource::Request));
        assert_eq!(
            of("claude-haiku-4-5-20251001", &[]),
            (200_000, WindowSource::Model)
        );
        assert_eq!(of("claude-sonnet-5", &[]), (1_000_000, WindowSource::Model));
        assert_eq!(of("new-model", &["x"]), (200_000, WindowSource::Assumed));
    }

    #[test]
    fn the_longest_known_name_counts() {
        assert_eq!(known("claude-opus-4-1-20250805").unwrap().model, "claude-opus-4");
        assert_eq!(
            known("claude-opus-4-8-20260601").unwrap().model,
            "claude-opus-4-8"
        );
        assert_eq!(
            known("eu.anthropic.claude-opus-4-8").unwrap().model,
            "claude-opus-4-8"
        );
        assert!(known("claude-opus-50").is_none());
        assert!(known("").is_none());
    }

    #[test]
    fn usage_beyond_a_guess_corrects_it() {
        let guess = Window::of_model("claude-opus-4-8");
        assert_eq!(guess.source, WindowSource::Smaller);
        assert_eq!(guess.holding(150_000), guess);
        assert_eq!(guess.holding(250_000).tokens, 1_000_000);
        let set = Window::set_to(100_000);
        assert_eq!(set.holding(250_000), set);
    }
}
