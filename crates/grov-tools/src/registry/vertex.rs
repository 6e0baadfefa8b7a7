//! The tools that ask a model, Gemini unless another provider is named.

use crate::opinion::Opinion;
use crate::schema::{nullable, object, text};
use crate::tool::{Action, Argument, BuiltIn, Key, Kind, Price, Risk, Tool};

fn with_model(mut arguments: Vec<Argument>) -> Vec<Argument> {
    arguments.push(Argument::option(
        "provider",
        Kind::Text,
        "gemini (default), anthropic, openai, or any name P with P_BASE_URL and P_API_KEY of an OpenAI-compatible server",
    ));
    arguments.push(Argument::option("model", Kind::Text, "The provider's model"));
    arguments
}

fn files() -> Argument {
    Argument::option(
        "files",
        Kind::List(None),
        "Files to send, also as globs: src/**/*.rs",
    )
}

fn force() -> Argument {
    Argument::option(
        "force",
        Kind::Flag,
        "Send files that usually hold keys too, such as .env; secrets in them are masked all the same",
    )
}

fn plan() -> Argument {
    Argument::option(
        "plan",
        Kind::Text,
        "The plan: a file or a plan directory (default: the plan of this branch)",
    )
}

fn tool(action: BuiltIn, name: &'static str, description: &'static str, when: &'static str) -> Tool {
    Tool {
        group: "vertex".into(),
        name: name.into(),
        description: description.into(),
        when_to_use: when.into(),
        arguments: Vec::new(),
        output: object(&[
            ("content", text("the answer")),
            (
                "thinking",
                nullable(text("the model's thinking, if it shows any")),
            ),
        ]),
        key: Some(Key {
            variable: "VERTEX_API_KEY".into(),
            source:
                "https://console.cloud.google.com/vertex-ai/studio (express mode), or GEMINI_API_KEY from \
                     https://aistudio.google.com/apikey, or another provider with --provider"
                    .into(),
        }),
        price: Price {
            usual_usd: 0.05,
            basis: "by tokens at the model's list price".into(),
        },
        risk: Risk::SendsFiles,
        action: Action::BuiltIn(action),
    }
}

/// The tools that ask a model.
pub(super) fn tools() -> Vec<Tool> {
    let query = |help| Argument::positional("query", Kind::Text, help);
    vec![
        Tool {
            arguments: with_model(vec![query("The question"), files(), force()]),
            ..tool(
                BuiltIn::VertexAsk,
                "ask",
                "Ask a model, without a system prompt",
                "Any question, if the skill brings its own context",
            )
        },
        Tool {
            arguments: with_model(vec![
                plan(),
                Argument::option(
                    "queries",
                    Kind::Text,
                    "File with the user's queries in order (default: those of the plan)",
                ),
                files(),
                force(),
                Argument::option(
                    "project-root",
                    Kind::Text,
                    "Directory that paths are relative to (default: the repository)",
                ),
            ]),
            output: Opinion::Validate.schema(),
            ..tool(
                BuiltIn::VertexValidate,
                "validate",
                "Check a plan against what the user asked for",
                "Before a plan is shown to the user for approval",
            )
        },
        Tool {
            arguments: with_model(vec![
                plan(),
                Argument::option(
                    "step",
                    Kind::Integer { min: 1, max: 10_000 },
                    "The step of the plan that is reviewed",
                ),
                Argument::option(
                    "diff-against",
                    Kind::Text,
                    "Git reference to compare with (default: the main branch)",
                ),
                Argument::option(
                    "project-root",
                    Kind::Text,
                    "Directory inside the repository (default: the current one)",
                ),
            ]),
            output: Opinion::Review.schema(),
            ..tool(
                BuiltIn::VertexReview,
                "review",
                "Review the changes of this branch against the plan; runs git diff itself",
                "After each step of a plan, or at its end",
            )
        },
        Tool {
            arguments: with_model(vec![
                query("The feature or system"),
                files(),
                Argument::option(
                    "constraints",
                    Kind::Text,
                    "Known constraints: technology, performance, deadlines",
                ),
                force(),
            ]),
            output: Opinion::Architect.schema(),
            ..tool(
                BuiltIn::VertexArchitect,
                "architect",
                "Architecture of a large feature: decisions, strategy, risks",
                "Before a large feature is planned",
            )
        },
    ]
}
