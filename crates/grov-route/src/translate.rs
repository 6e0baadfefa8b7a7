//! Translation between the Messages API and the APIs of other providers.
//!
//! ```text
//! request   Messages ─▶ Chat Completions ─▶ transforms ─▶ (Responses)
//! response  chunks ─▶ events ─▶ transforms ─▶ blocks ─▶ event stream, or one message
//! ```
//!
//! Answers are handled as [`Event`]s, whatever API they come from. Only `blocks` opens and closes content blocks.

mod answer;
mod blocks;
mod chat;
mod event;
mod failure;
mod ids;
mod json;
mod json_end;
mod json_repair;
mod lenient;
mod messages;
mod response;
mod responses;
mod sse;
mod transform;
mod translator;
mod whole;
mod writer;

pub use event::{Event, Finish, ProviderError, ReasoningField, Usage};
pub use failure::{
    ErrorCategory, Failure, client_status, error_body, in_band_failure, mask_keys, redact_provider_text,
};
pub use ids::{new_request_id, tool_id};
pub use json_repair::repair;
pub use response::ResponseTranslator;
pub use transform::{
    OrderError, Phase, ResponseChain, SchemaDialect, Transform, UnknownTransform, run_order,
};
pub use translator::{
    Api, TranslateError, TranslatedRequest, TranslationSettings, Translator, chat_events,
    has_too_many_values, transform_request,
};
pub use writer::PING_EVENT;
