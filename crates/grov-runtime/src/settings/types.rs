//! The types of settings in the program, and how each is read from a [`Value`].

use super::Home;
use super::database::DatabaseUrl;
use super::tool_grant::ToolGrant;
use super::value::Value;
use crate::Url;
use grov_redact::Secret;
use std::net::IpAddr;
use std::path::PathBuf;
use std::time::Duration;

/// A type of a setting in the program.
pub(super) trait FromValue: Sized {
    /// The value as this type; `None` if it has another type, which is a bug.
    fn from_value(value: &Value, home: &Home) -> Option<Self>;
}

/// Implements [`FromValue`] for types, with the values that each is converted from.
macro_rules! from_value {
    ($($type:ty { $($pattern:pat $(if $guard:expr)? => $value:expr),+ $(,)? })+) => {
        $(
            impl FromValue for $type {
                fn from_value(value: &Value, _: &Home) -> Option<Self> {
                    match value {
                        $($pattern $(if $guard)? => $value,)+
                        _ => None,
                    }
                }
            }
        )+
    };
}

from_value! {
    bool {
        Value::Boolean(boolean) => Some(*boolean),
        Value::Text(word) => match word.as_str() {
            "on" | "closed" => Some(true),
            "off" | "open" => Some(false),
            _ => None,
        },
    }
    u16 { Value::Integer(number) => u16::try_from(*number).ok() }
    u64 { Value::Integer(number) | Value::Size(number) | Value::MicroDollars(number) => Some(*number) }
    u32 { Value::Integer(number) => u32::try_from(*number).ok() }
    usize { Value::Integer(number) => usize::try_from(*number).ok() }
    Option<u64> {
        Value::Integer(number) => Some(Some(*number)),
        Value::Text(text) if text.is_empty() => Some(None),
    }
    Option<usize> {
        Value::Integer(number) => usize::try_from(*number).ok().map(Some),
        Value::Text(text) if text.is_empty() => Some(None),
    }
    Option<DatabaseUrl> {
        Value::Database(database) => Some(Some(database.clone())),
        Value::Text(text) if text.is_empty() => Some(None),
    }
    Duration { Value::Duration(duration) => Some(*duration) }
    IpAddr { Value::Address(address) => Some(*address) }
    Url { Value::Url(url) => Some(url.clone()) }
    Option<Url> {
        Value::Url(url) => Some(Some(url.clone())),
        Value::Text(text) if text.is_empty() => Some(None),
    }
    Option<Secret> { Value::Secret(secret) => Some((!secret.is_empty()).then(|| secret.clone())) }
    String { Value::Text(text) => Some(text.clone()) }
    Option<String> { Value::Text(text) => Some((!text.is_empty()).then(|| text.clone())) }
    Vec<String> { Value::List(items) => Some(items.clone()) }
    Vec<ToolGrant> { Value::List(items) => items.iter().map(|item| ToolGrant::parse(item)).collect() }
}

impl FromValue for Option<PathBuf> {
    fn from_value(value: &Value, home: &Home) -> Option<Self> {
        let path: Option<String> = FromValue::from_value(value, home)?;
        Some(path.map(|path| home.root().join(path)))
    }
}

/// Declares enums whose variants are the words of a setting.
macro_rules! choices {
    ($(
        $(#[$meta:meta])*
        $name:ident { $($(#[$variant_meta:meta])* $variant:ident = $word:literal),+ $(,)? }
    )+) => {
        $(
            $(#[$meta])*
            #[derive(Clone, Copy, Debug, PartialEq, Eq)]
            pub enum $name {
                $($(#[$variant_meta])* $variant,)+
            }

            impl $name {
                pub(super) const WORDS: &[&str] = &[$($word),+];

                /// The word of the setting.
                pub fn as_str(self) -> &'static str {
                    match self {
                        $(Self::$variant => $word,)+
                    }
                }
            }

            impl FromValue for $name {
                fn from_value(value: &Value, _: &Home) -> Option<Self> {
                    match value {
                        $(Value::Text(word) if word == $word => Some(Self::$variant),)+
                        _ => None,
                    }
                }
            }
        )+
    };
}

choices! {
    /// The provider of the agent service's chat model.
    ChatProvider {
        /// No model: rules answer with quotations, or ask.
        Offline = "offline",
        /// The Anthropic Messages API.
        Anthropic = "anthropic",
        /// A server that is compatible with OpenAI's chat completions.
        OpenAi = "openai",
        /// The user's own installed client, with the user's login.
        ClaudeCli = "claude_cli",
    }
    /// The provider of the agent service's embeddings.
    AgentEmbedding {
        /// None: search by words.
        None = "none",
        /// A static model of this machine.
        Static = "static",
        /// Ollama.
        Ollama = "ollama",
        /// A server with OpenAI's `/v1/embeddings`.
        OpenAi = "openai",
        /// Vectors from hashes of words, for tests.
        Mock = "mock",
    }
    /// Which request headers are forwarded.
    HeaderPolicy {
        /// All end-to-end ones.
        Open = "open",
        /// Those in a short list.
        Strict = "strict",
    }
    /// What the guard does with an action that it objects to.
    GuardMode {
        /// Ask the user.
        Ask = "ask",
        /// Block it.
        Deny = "deny",
        /// Nothing; actions are not checked.
        Off = "off",
    }
    /// How the project's git user is recorded.
    UserMode {
        /// Name and e-mail.
        Plain = "plain",
        /// A hash of them.
        Hash = "hash",
        /// Not at all.
        Off = "off",
    }
}
