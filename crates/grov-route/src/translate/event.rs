//! The typed form of an answer, between the provider's form and the client's.

/// One piece of an answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Event {
    /// The answer begins. May be repeated; only the first counts.
    Start {
        /// The provider's id of the answer, possibly empty.
        id: String,
    },
    /// Text for the user.
    Text(String),
    /// Reasoning in a field of the provider. It reaches the client only through the transform `reasoning`.
    Reasoning {
        /// The field that contained it.
        field: ReasoningField,
        /// The text.
        text: String,
    },
    /// Reasoning that the client receives as a thinking block.
    Thinking(String),
    /// A tool call begins.
    ToolStart {
        /// Identifies the call within the answer.
        call: usize,
        /// The provider's id of the call, possibly empty.
        id: String,
        /// The name of the tool.
        name: String,
    },
    /// The next part of a call's arguments.
    ToolArguments {
        /// The call.
        call: usize,
        /// JSON text.
        text: String,
    },
    /// The tokens used so far.
    Usage(Usage),
    /// Why the model stopped. Of several the last counts.
    Finish(Finish),
    /// The provider reported an error. Nothing follows.
    Error(ProviderError),
    /// The answer is complete.
    End,
}

/// The field in which a provider sends reasoning.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReasoningField {
    /// `reasoning_content`: DeepSeek, Qwen, vLLM, llama.cpp.
    Content,
    /// `reasoning` or `reasoning_details`: OpenRouter, Ollama.
    Reasoning,
}

/// The tokens of an exchange.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Usage {
    /// Input tokens that were not read from the provider's prompt cache.
    pub input_tokens: u64,
    /// Input tokens that were read from the provider's prompt cache.
    pub cache_read_input_tokens: u64,
    /// Generated tokens, reasoning included.
    pub output_tokens: u64,
}

/// Why the model stopped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Finish {
    /// It was done.
    Stop,
    /// It called tools.
    ToolCalls,
    /// It reached the token limit.
    Length,
    /// It wrote a stop sequence.
    StopSequence,
    /// It refused, or a filter stopped it.
    Refusal,
}

impl Finish {
    /// Reads a finish reason of Chat Completions. An unknown one counts as [`Finish::Stop`].
    pub fn parse(reason: &str) -> Self {
        match reason {
            "tool_calls" | "function_call" | "tool_use" => Self::ToolCalls,
            "length" | "max_tokens" | "model_length" | "MAX_TOKENS" => Self::Length,
            "stop_sequence" => Self::StopSequence,
            "content_filter" | "refusal" | "safety" | "SAFETY" => Self::Refusal,
            _ => Self::Stop,
        }
    }

    /// The stop reason of the Messages API.
    pub fn stop_reason(self) -> &'static str {
        match self {
            Self::Stop => "end_turn",
            Self::ToolCalls => "tool_use",
            Self::Length => "max_tokens",
            Self::StopSequence => "stop_sequence",
            Self::Refusal => "refusal",
        }
    }
}

/// An error that a provider sent inside an answer.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ProviderError {
    /// The HTTP status that the error names, if any.
    pub status: Option<u16>,
    /// The provider's message, not yet redacted.
    pub message: String,
}
