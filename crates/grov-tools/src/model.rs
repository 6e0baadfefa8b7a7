//! Models that give opinions, behind one type: Gemini, Anthropic, and servers compatible with OpenAI's.

mod anthropic;
mod gemini;
mod openai;
pub mod status;

use crate::{HttpCall, ToolError};
use grov_domain::MicroUsd;
use grov_redact::Secret;
use grov_route::{PriceTable, Prices, TokenCounts};
use serde_json::Value;

/// The most tokens of an answer.
pub const MAX_OUTPUT_TOKENS: u32 = 16_000;

/// A model, and how it is reached.
#[derive(Clone, Debug)]
pub struct Model {
    /// The API that the server speaks.
    pub api: Api,
    /// The model's name.
    pub name: String,
    /// The key or token; `None` for a server that needs none.
    pub key: Option<Secret>,
    /// Whether the server is on this machine: its unknown models are free.
    pub is_local: bool,
}

/// The API of a server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Api {
    /// Gemini with a key of AI Studio.
    GeminiStudio,
    /// Gemini on Vertex AI in express mode, with a key.
    GeminiExpress,
    /// Gemini on Vertex AI with a token.
    GeminiVertex {
        /// The project.
        project: String,
        /// The location.
        location: String,
    },
    /// The Messages API.
    Anthropic,
    /// Chat completions.
    OpenAi,
}

/// A question to a model.
#[derive(Clone, Debug, PartialEq)]
pub struct Question {
    /// The system prompt.
    pub system: Option<String>,
    /// The turns of user and model, beginning with the user.
    pub turns: Vec<String>,
    /// The schema of the answer; `None` for free text.
    pub schema: Option<Value>,
}

/// What a model answered.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Reply {
    /// The text.
    pub text: String,
    /// The thinking that it shows.
    pub thinking: Option<String>,
    /// The model that answered.
    pub model: Option<String>,
    /// Tokens used.
    pub usage: Option<TokenCounts>,
}

impl Api {
    /// The provider's name in messages.
    pub fn provider(&self) -> &'static str {
        match self {
            Self::GeminiStudio | Self::GeminiExpress | Self::GeminiVertex { .. } => "Gemini",
            Self::Anthropic => "Anthropic",
            Self::OpenAi => "the model's server",
        }
    }

    /// The address of the API.
    pub fn base_url(&self) -> String {
        match self {
            Self::GeminiStudio => "https://generativelanguage.googleapis.com".to_owned(),
            Self::GeminiExpress => "https://aiplatform.googleapis.com".to_owned(),
            Self::GeminiVertex { location, .. } if location == "global" => {
                "https://aiplatform.googleapis.com".to_owned()
            }
            Self::GeminiVertex { location, .. } => format!("https://{location}-aiplatform.googleapis.com"),
            Self::Anthropic => "https://api.anthropic.com".to_owned(),
            Self::OpenAi => "https://api.openai.com".to_owned(),
        }
    }
}

impl Model {
    /// The request of a question. `with_format` is false for a server that refused the format of the answer.
    pub fn request(&self, question: &Question, with_format: bool) -> HttpCall {
        match &self.api {
            Api::Anthropic => anthropic::request(self, question),
            Api::OpenAi => openai::request(self, question, with_format),
            _ => gemini::request(self, question),
        }
    }

    /// Reads a response with status 200.
    ///
    /// # Errors
    ///
    /// If it is no answer: no JSON, blocked, empty or cut off.
    pub fn read(&self, body: &[u8]) -> Result<Reply, ToolError> {
        let value: Value =
            serde_json::from_slice(body).map_err(|error| status::no_json(self.api.provider(), &error))?;
        match &self.api {
            Api::Anthropic => anthropic::read(&value),
            Api::OpenAi => openai::read(&value),
            _ => gemini::read(&value),
        }
    }

    /// The cost of an answer; `None` if the model's price is unknown.
    pub fn cost(&self, usage: &TokenCounts) -> Option<MicroUsd> {
        Some(MicroUsd(cost(self.prices()?, usage)))
    }

    /// An upper estimate of the cost of a question. An unknown remote model is taken as the dearest known one.
    pub fn most_cost(&self, question_bytes: usize) -> MicroUsd {
        let prices = self.prices().unwrap_or_else(dearest);
        let usage = TokenCounts {
            input: question_bytes.div_ceil(3) as u64 + 300,
            output: u64::from(MAX_OUTPUT_TOKENS),
            ..TokenCounts::default()
        };
        MicroUsd(cost(prices, &usage))
    }

    fn prices(&self) -> Option<Prices> {
        let table = PriceTable::built_in();
        let name = self.name.rsplit('/').next().unwrap_or_default();
        let known = table.of(&self.name).or_else(|| table.of(name));
        known.or_else(|| self.is_local.then(Prices::default))
    }
}

/// Dollars per million tokens are millionths of a dollar per token.
fn cost(prices: Prices, usage: &TokenCounts) -> u64 {
    let of = |count: u64, price: f64| count as f64 * price;
    let total = of(usage.input, prices.input)
        + of(usage.output, prices.output)
        + of(usage.cache_read, prices.cache_read)
        + of(usage.cache_write, prices.cache_write);
    total.ceil() as u64
}

fn dearest() -> Prices {
    let rows = PriceTable::built_in().models.iter();
    let most = |of: fn(&Prices) -> f64| rows.clone().map(|row| of(&row.prices)).fold(0.0, f64::max);
    Prices {
        input: most(|prices| prices.input),
        output: most(|prices| prices.output),
        ..Prices::default()
    }
}

#[cfg(test)]
mod tests;
