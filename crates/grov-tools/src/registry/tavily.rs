//! The tools of Tavily.

use crate::schema::{list, nullable, number, object, text};
use crate::tool::{Action, Argument, BuiltIn, Key, Kind, Price, Risk, Tool};

fn key() -> Option<Key> {
    Some(Key {
        variable: "TAVILY_API_KEY".into(),
        source: "https://app.tavily.com".into(),
    })
}

fn search() -> Tool {
    let words = |words: &[&'static str]| words.iter().map(|word| (*word).into()).collect();
    Tool {
        group: "tavily".into(),
        name: "search".into(),
        description: "Web search with an optional short answer".into(),
        when_to_use: "Sources to read yourself: pass results[].url to `tavily extract`".into(),
        arguments: vec![
            Argument::positional("query", Kind::Text, "What to search for"),
            Argument::option(
                "depth",
                Kind::Choice(words(&["basic", "advanced", "fast", "ultra-fast"])),
                "Search depth (default basic; advanced costs 2 credits)",
            ),
            Argument::option(
                "max-results",
                Kind::Integer { min: 1, max: 20 },
                "Number of results (default 5)",
            ),
            Argument::option(
                "include-answer",
                Kind::FlagOrChoice(words(&["basic", "advanced"])),
                "Also an answer written by a model",
            ),
            Argument::option("include-raw", Kind::Flag, "Also the content of each page"),
            Argument::option(
                "topic",
                Kind::Choice(words(&["general", "news", "finance"])),
                "Search category (default general)",
            ),
            Argument::option(
                "time-range",
                Kind::Choice(words(&["day", "week", "month", "year"])),
                "Only pages of this time",
            ),
            Argument::option("include-domains", Kind::List(None), "Only these domains"),
            Argument::option("exclude-domains", Kind::List(None), "Not these domains"),
        ],
        output: object(&[
            ("query", text("the query")),
            ("answer", nullable(text("the answer, if it was asked for"))),
            (
                "results",
                list(object(&[
                    ("title", text("title of the page")),
                    ("url", text("address")),
                    ("content", text("excerpt")),
                    ("score", number("relevance from 0 to 1")),
                    (
                        "raw_content",
                        nullable(text("content of the page, if it was asked for")),
                    ),
                ])),
            ),
        ]),
        key: key(),
        price: Price {
            usual_usd: 0.016,
            basis: "1 credit, 2 with --depth advanced; 0.008 USD per credit".into(),
        },
        risk: Risk::Web,
        action: Action::BuiltIn(BuiltIn::TavilySearch),
    }
}

fn extract() -> Tool {
    let words = |words: &[&'static str]| words.iter().map(|word| (*word).into()).collect();
    Tool {
        name: "extract".into(),
        description: "Content of web pages".into(),
        when_to_use: "Pages to read in full, from a search or named by the user".into(),
        arguments: vec![
            Argument::positional(
                "urls",
                Kind::List(Some(20)),
                "Addresses, separated by spaces or commas",
            ),
            Argument::option(
                "depth",
                Kind::Choice(words(&["basic", "advanced"])),
                "Extraction depth (default basic; advanced gets tables and embedded content)",
            ),
            Argument::option(
                "format",
                Kind::Choice(words(&["markdown", "text"])),
                "Output format (default markdown)",
            ),
            Argument::option("include-images", Kind::Flag, "Also the addresses of images"),
            Argument::option(
                "timeout",
                Kind::Number { min: 1.0, max: 60.0 },
                "Tavily's timeout in seconds (default 10, with --depth advanced 30)",
            ),
        ],
        output: object(&[
            (
                "results",
                list(object(&[
                    ("url", text("address")),
                    ("raw_content", text("content of the page")),
                    ("images", list(text("address of an image"))),
                ])),
            ),
            (
                "failed_results",
                list(object(&[
                    ("url", text("address")),
                    ("error", text("why it failed")),
                ])),
            ),
        ]),
        price: Price {
            usual_usd: 0.064,
            basis: "1 credit per 5 pages, 2 with --depth advanced; 0.008 USD per credit".into(),
        },
        action: Action::BuiltIn(BuiltIn::TavilyExtract),
        ..search()
    }
}

/// The tools of Tavily.
pub(super) fn tools() -> Vec<Tool> {
    vec![search(), extract()]
}
