//! Transforms of requests, on the form of Chat Completions.

use super::schema::{SchemaDialect, each_schema};
use super::{Phase, Transform, exit_tool, force_reasoning, gemini, run_order};
use crate::translate::json::{Json, Object};
use serde_json::{Map, Value};

/// What transforms need to know besides the request.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RequestContext<'c> {
    /// Parameters that `customparams` adds.
    pub(crate) params: &'c Map<String, Value>,
    /// Whether the provider file limits the tokens.
    pub(crate) limited: bool,
}

/// The limit of DeepSeek's models unless the provider file says otherwise.
const DEEPSEEK_MAX_TOKENS: u64 = 8192;

/// Applies transforms to a request.
pub(crate) fn apply(transforms: &[Transform], chat: &mut Object<'_>, context: RequestContext<'_>) {
    // Parameters come first, so that the other transforms see them.
    let stage = |transform| u8::from(transform != Transform::CustomParams);
    for transform in run_order(transforms, Phase::Request, stage) {
        match transform {
            Transform::Schema(dialect) => {
                each_schema(chat, |schema| dialect.clean(schema));
                if dialect == SchemaDialect::Gemini {
                    gemini::sign_calls(chat);
                }
            }
            Transform::Reasoning => reasoning(chat),
            Transform::DeepSeek => {
                let most = if context.limited {
                    u64::MAX
                } else {
                    DEEPSEEK_MAX_TOKENS
                };
                rename_limit(chat, most);
            }
            Transform::MaxTokens => rename_limit(chat, u64::MAX),
            Transform::OpenRouter | Transform::CleanCache => clean_cache(chat),
            Transform::Groq => {
                clean_cache(chat);
                each_schema(chat, |schema| {
                    if let Some(schema) = schema.as_object() {
                        schema.remove("$schema");
                    }
                });
            }
            Transform::ToolUse => exit_tool::offer(chat),
            Transform::ForceReasoning => force_reasoning::ask(chat),
            Transform::CustomParams => {
                for (name, value) in context.params {
                    if !chat.contains(name) {
                        chat.set(name.clone(), Json::owned(value.clone()));
                    }
                }
            }
            Transform::EnhanceTool | Transform::ExtraThinkTag => {}
        }
    }
}

/// Uses the older name of the token limit.
fn rename_limit(chat: &mut Object<'_>, most: u64) {
    let Some(mut limit) = chat.remove("max_completion_tokens") else {
        if let Some(limit) = chat.get("max_tokens")
            && let Some(asked) = limit.as_u64()
        {
            *limit = Json::from(asked.min(most));
        }
        return;
    };
    if let Some(asked) = limit.as_u64() {
        limit = Json::from(asked.min(most));
    }
    chat.set("max_tokens", limit);
}

/// Turns a reasoning budget into the form of DeepSeek and others.
fn reasoning(chat: &mut Object<'_>) {
    let reasoning = chat.get("reasoning").and_then(Json::as_object);
    let Some(budget) = reasoning.and_then(|reasoning| reasoning.remove("max_tokens")) else {
        return;
    };
    chat.remove("reasoning");
    let thinking = Json::object([("type", Json::text("enabled")), ("budget_tokens", budget)]);
    chat.set("thinking", thinking);
}

/// Removes `cache_control` wherever the Messages API has it. A property of that name in a schema stays.
fn clean_cache(chat: &mut Object<'_>) {
    chat.remove("cache_control");
    for list in ["messages", "tools"] {
        let Some(items) = chat.get(list).and_then(Json::as_array) else {
            continue;
        };
        for item in items.iter_mut().filter_map(Json::as_object) {
            item.remove("cache_control");
            for inner in ["content", "tool_calls"] {
                let Some(parts) = item.get(inner).and_then(Json::as_array) else {
                    continue;
                };
                for part in parts.iter_mut().filter_map(Json::as_object) {
                    part.remove("cache_control");
                }
            }
            if let Some(function) = item.get("function").and_then(Json::as_object) {
                function.remove("cache_control");
            }
        }
    }
}
