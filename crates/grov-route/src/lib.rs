//! Which model answers a request, and the translation between the Messages API and the APIs of other providers.
//!
//! Pure: no sockets, files or clock.
#![forbid(unsafe_code)]

// Choosing the model: marker, provider file, rules.
mod body_edit;
mod breaker;
mod key_pool;
mod local_answer;
mod marker;
mod own_thinking;
mod prices;
pub mod probe;
mod provider_file;
mod request_facts;
mod retry;
mod rules;
mod target;
mod text_scan;
mod tokens;

pub use body_edit::with_model;
pub use breaker::{Breaker, BreakerState, Health};
pub use key_pool::KeyPool;
pub use local_answer::LocalAnswer;
pub use marker::{
    MarkedRequest, is_label, is_unreadable_and_marked, marker, near_miss, near_miss_in, strip_marker,
};
pub use own_thinking::{OWN_SIGNATURE, without_own_thinking};
pub use prices::{PriceTable, PricedModel, Prices, RoutedCost, TokenCounts};
pub use provider_file::{EntryError, NewProvider, Problem, ProviderFile, ProviderFileError};
pub use request_facts::{Agent, Effort, RouteRequest};
pub use retry::{is_about_key, is_retryable, retry_after};
pub use rules::{
    Choice, LONG_CONTEXT_TOKENS, LongContextRule, Reason, RouteDecision, Rules, THINK_EFFORT, THINK_TOKENS,
    ThinkRule, choose,
};
pub use target::{ProviderApi, Target, Timeouts};
pub use tokens::{Calibration, count_tokens};

// Translating: requests, responses, streams, transforms.
pub mod translate;
pub use translate::{
    Api, ResponseTranslator, Transform, TranslateError, TranslatedRequest, TranslationSettings, Translator,
};
