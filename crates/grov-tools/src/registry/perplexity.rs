//! The tools of Perplexity.

use crate::schema::{list, nullable, object, text};
use crate::tool::{Action, Argument, BuiltIn, Key, Kind, Price, Risk, Tool};
use serde_json::Value;

fn key() -> Option<Key> {
    Some(Key {
        variable: "PERPLEXITY_API_KEY".into(),
        source: "https://www.perplexity.ai/settings/api".into(),
    })
}

fn chat_output() -> Value {
    object(&[
        ("content", text("the answer, with citations as [1]")),
        ("citations", list(text("URL of a citation, in order"))),
        (
            "thinking",
            nullable(text("the model's thinking, unless it is stripped")),
        ),
    ])
}

fn search_output() -> Value {
    object(&[
        ("query", text("the query")),
        (
            "results",
            list(object(&[
                ("title", text("title of the page")),
                ("url", text("address")),
                ("snippet", nullable(text("excerpt"))),
                ("date", nullable(text("date of publication"))),
            ])),
        ),
    ])
}

fn chat_arguments() -> Vec<Argument> {
    vec![
        Argument::positional("query", Kind::Text, "The question"),
        Argument::option("strip-thinking", Kind::Flag, "Leave out data.thinking"),
        Argument::option("context", Kind::Text, "Further context for the question"),
        Argument::option(
            "recency",
            Kind::Choice(vec![
                "hour".into(),
                "day".into(),
                "week".into(),
                "month".into(),
                "year".into(),
            ]),
            "Only sources of this time",
        ),
        Argument::option(
            "domains",
            Kind::List(Some(20)),
            "Only sources of these domains; -DOMAIN excludes one",
        ),
    ]
}

/// The tools of Perplexity.
pub(super) fn tools() -> Vec<Tool> {
    let chat = |action,
                name: &'static str,
                description: &'static str,
                when: &'static str,
                usd,
                basis: &'static str| Tool {
        group: "perplexity".into(),
        name: name.into(),
        description: description.into(),
        when_to_use: when.into(),
        arguments: chat_arguments(),
        output: chat_output(),
        key: key(),
        price: Price {
            usual_usd: usd,
            basis: basis.into(),
        },
        risk: Risk::Web,
        action: Action::BuiltIn(action),
    };
    let mut research = chat(
        BuiltIn::PerplexityResearch,
        "research",
        "Deep research with citations (sonar-deep-research)",
        "Findings from many sources, already put together. Takes one to five minutes",
        1.0,
        "by tokens and searches, as Perplexity reports it; usually 0.20 to 1.00 USD",
    );
    research.arguments.push(Argument::option(
        "effort",
        Kind::Choice(vec!["low".into(), "medium".into(), "high".into()]),
        "How far it reasons; low is cheaper",
    ));
    research.arguments.push(Argument::option(
        "async",
        Kind::Flag,
        "Run it as a job and ask for its result; a command that ended early goes on when it is repeated within a day",
    ));
    let search = Tool {
        name: "search".into(),
        description: "Web search: titles, addresses and excerpts".into(),
        when_to_use: "A list of sources, without an answer".into(),
        arguments: vec![
            Argument::positional("query", Kind::Text, "What to search for"),
            Argument::option(
                "max-results",
                Kind::Integer { min: 1, max: 20 },
                "Number of results (default 10)",
            ),
            Argument::option(
                "domains",
                Kind::List(Some(20)),
                "Only these domains; -DOMAIN excludes one",
            ),
        ],
        output: search_output(),
        ..chat(
            BuiltIn::PerplexitySearch,
            "search",
            "",
            "",
            0.005,
            "0.005 USD per request",
        )
    };
    vec![
        research,
        chat(
            BuiltIn::PerplexityAsk,
            "ask",
            "Quick answer from the web with citations (sonar-pro)",
            "One question with a short answer",
            0.03,
            "by tokens and request, as Perplexity reports it",
        ),
        chat(
            BuiltIn::PerplexityReason,
            "reason",
            "Reasoned answer from the web with citations (sonar-reasoning-pro)",
            "A question that needs steps of reasoning about sources",
            0.05,
            "by tokens and request, as Perplexity reports it",
        ),
        search,
    ]
}
