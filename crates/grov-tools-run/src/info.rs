//! What is configured, what is missing, and what was spent.

use crate::{Surroundings, UserTools, spending};
use grov_domain::MicroUsd;
use grov_tools::{Answer, Tool};
use serde_json::{Value, json};

/// The data of `envoy info`.
pub async fn info(around: &Surroundings, tools: &UserTools) -> Answer {
    let listed: Vec<Value> = tools
        .registry
        .tools()
        .iter()
        .map(|tool| of_tool(around, tool))
        .collect();
    let spent = spending::spent_today(around).await;
    let mut data = json!({
        "version": env!("CARGO_PKG_VERSION"),
        "home": around.home.root(),
        "env_file": around.variables.path(),
        "tools": listed,
        "providers": {
            "perplexity": is_set(around, &["PERPLEXITY_API_KEY"]),
            "tavily": is_set(around, &["TAVILY_API_KEY"]),
            "gemini": is_set(around, &["VERTEX_API_KEY", "VERTEX_PROJECT", "GOOGLE_API_KEY", "GEMINI_API_KEY"]),
            "anthropic": is_set(around, &["ANTHROPIC_API_KEY"]),
            "openai": is_set(around, &["OPENAI_API_KEY", "OPENAI_BASE_URL"]),
        },
        "spending": {
            "daily_budget_usd": around.budget,
            "spent_today_usd": spent.as_ref().ok(),
            "left_usd": spent.as_ref().ok().map(|spent| MicroUsd(around.budget.0.saturating_sub(spent.0))),
        },
        "problems": tools.problems,
    });
    if let Err(error) = spent {
        data["spending"]["problem"] = json!(error.to_string());
    }
    Answer {
        data,
        cost: Some(MicroUsd(0)),
        ..Answer::default()
    }
}

fn of_tool(around: &Surroundings, tool: &Tool) -> Value {
    let is_vertex = tool.group == "vertex";
    let names: Vec<&str> = match &tool.key {
        Some(_) if is_vertex => vec![
            "VERTEX_API_KEY",
            "VERTEX_PROJECT",
            "GOOGLE_API_KEY",
            "GEMINI_API_KEY",
            "ENVOY_PROVIDER",
        ],
        Some(key) => vec![&key.variable],
        None => Vec::new(),
    };
    let is_ready = names.is_empty() || is_set(around, &names);
    json!({
        "command": tool.command(),
        "description": tool.description,
        "ready": is_ready,
        "missing": if is_ready { Value::Null } else { json!(names[0]) },
        "risk": tool.risk,
        "price": tool.price.basis,
    })
}

fn is_set(around: &Surroundings, names: &[&str]) -> bool {
    names.iter().any(|name| around.variables.get(name).is_some())
}
