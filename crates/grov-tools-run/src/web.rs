//! The tools of Perplexity and Tavily.

use crate::http::{ChunkReader, Line};
use crate::job::JobFile;
use crate::material::{Piped, clean};
use crate::{Surroundings, provider};
use grov_domain::MicroUsd;
use grov_redact::Secret;
use grov_tools::perplexity::{self, Chat};
use grov_tools::sse::EventReader;
use grov_tools::{Answer, Arguments, BuiltIn, ErrorKind, HttpCall, Tool, ToolError, tavily};
use serde_json::json;
use std::io::BufReader;

/// The most text of a stream, in bytes; an event has the same limit.
const MAX_TEXT: usize = 8 * 1024 * 1024;

/// A prepared call.
pub(crate) struct Web {
    pub(crate) provider: &'static str,
    pub(crate) base: String,
    pub(crate) call: HttpCall,
    /// The model or endpoint, for the ledger.
    pub(crate) model: String,
    pub(crate) most_cost: MicroUsd,
    /// What changes the answer, but not the request.
    pub(crate) options: String,
    kind: Kind,
}

enum Kind {
    Chat {
        tool: BuiltIn,
        strip_thinking: bool,
        is_job: bool,
    },
    PerplexitySearch {
        query: String,
    },
    TavilySearch(tavily::SearchInput),
    TavilyExtract(tavily::ExtractInput),
}

impl Web {
    /// Prepares the call of a tool. With `needs_key` false a missing key is left out.
    pub(crate) fn prepare(
        around: &Surroundings,
        tool: &Tool,
        action: BuiltIn,
        mut arguments: Arguments,
        piped: Option<&Piped>,
        needs_key: bool,
    ) -> Result<Self, ToolError> {
        add_piped(action, &mut arguments, piped);
        if let Some(missing) = arguments.missing(tool) {
            return Err(
                ToolError::usage(format!("`{}` needs <{}>", tool.command(), missing.name)).hint(format!(
                    "usage: envoy {} {}",
                    tool.group,
                    grov_tools::docs::usage(tool)
                )),
            );
        }
        let is_tavily = matches!(action, BuiltIn::TavilySearch | BuiltIn::TavilyExtract);
        let (name, variable, default) = match is_tavily {
            true => ("Tavily", "TAVILY_BASE_URL", tavily::BASE_URL),
            false => ("Perplexity", "PERPLEXITY_BASE_URL", perplexity::BASE_URL),
        };
        let key = tool
            .key
            .as_ref()
            .map(|key| key.variable.as_ref())
            .unwrap_or_default();
        let base = provider::base(around, variable, default, key)?;
        let (call, kind, model) = request(action, &arguments, &Secret::new(""))?;
        let mut web = Self {
            provider: name,
            base,
            call,
            model,
            // Prices are small numbers that are not negative.
            most_cost: MicroUsd((tool.price.usual_usd * 1e6) as u64),
            options: format!("strip={}", arguments.flag("strip_thinking")),
            kind,
        };
        match tool.key.as_ref().map(|wanted| provider::key(around, wanted)) {
            Some(Ok(key)) => web.call = request(action, &arguments, &key)?.0,
            Some(Err(error)) if needs_key => return Err(error),
            _ => {}
        }
        Ok(web)
    }

    /// Whether the call runs as a job at the provider.
    pub(crate) fn is_job(&self) -> bool {
        matches!(self.kind, Kind::Chat { is_job: true, .. })
    }

    /// Whether silence is limited instead of the whole call.
    pub(crate) fn is_stream(&self) -> bool {
        matches!(self.kind, Kind::Chat { tool, .. } if perplexity::streams(tool))
    }

    /// Makes the call; with `job` as a job.
    pub(crate) async fn run(&self, line: &Line<'_>, job: Option<&JobFile>) -> Result<Answer, ToolError> {
        match &self.kind {
            Kind::Chat {
                tool, strip_thinking, ..
            } => {
                let chat = match job {
                    Some(job) => job.run(line, &self.call).await?,
                    None if self.is_stream() => self.stream(line).await?,
                    None => Chat::of_body(&line.post(&self.call).await?)?,
                };
                chat.answer(*tool, *strip_thinking)
            }
            Kind::PerplexitySearch { query } => perplexity::read_search(query, &line.post(&self.call).await?),
            Kind::TavilySearch(input) => tavily::read_search(input, &line.post(&self.call).await?),
            Kind::TavilyExtract(input) => {
                let input = input.clone();
                let read = move |body: ChunkReader| tavily::read_extract(&input, BufReader::new(body));
                line.post_and_read(&self.call, read).await
            }
        }
    }

    /// Reads a stream; its end is an event, not the end of the connection.
    async fn stream(&self, line: &Line<'_>) -> Result<Chat, ToolError> {
        let mut response = line.open(&self.call).await?;
        let is_stream = response
            .content_type()
            .is_some_and(|kind| kind.starts_with("text/event-stream"));
        if !is_stream {
            return Chat::of_body(&line.body(response).await?);
        }
        let (mut chat, mut events) = (Chat::default(), EventReader::default());
        loop {
            let chunk = response.chunk().await.map_err(|error| line.failed(error));
            let chunk = match chunk {
                Ok(chunk) => chunk,
                // What was read so far tells how far it came.
                Err(error) if error.kind == ErrorKind::Incomplete => None,
                Err(error) => return Err(error),
            };
            let Some(chunk) = chunk else { break };
            for event in events.push(&chunk) {
                if !chat.add_event(&event)? {
                    return Ok(chat);
                }
            }
            if events.is_broken() || chat.len() > MAX_TEXT {
                return Err(line.too_long(MAX_TEXT));
            }
            (line.around.progress)(&format!("{} answers: {} bytes", self.provider, chat.len()));
        }
        if let Some(event) = events.finish() {
            chat.add_event(&event)?;
        }
        Ok(chat)
    }
}

/// Piped input is context of a question, the query of a search, and addresses of pages.
fn add_piped(action: BuiltIn, arguments: &mut Arguments, piped: Option<&Piped>) {
    let Some(text) = piped
        .map(|piped| piped.text.trim())
        .filter(|text| !text.is_empty())
    else {
        return;
    };
    match action {
        BuiltIn::TavilyExtract => {
            let mut urls = arguments.list("urls");
            urls.extend(tavily::urls_in(text));
            arguments.set("urls", json!(urls));
        }
        BuiltIn::TavilySearch | BuiltIn::PerplexitySearch => {
            let query = match arguments.text("query") {
                Some(query) => format!("{query} {text}"),
                None => text.to_owned(),
            };
            arguments.set("query", json!(query));
        }
        _ if arguments.text("query").is_none() => arguments.set("query", json!(text)),
        _ => {
            let context = arguments.text("context").map(|context| format!("{context}\n\n"));
            let context = format!("{}{text}", context.unwrap_or_default());
            arguments.set("context", json!(context));
        }
    }
}

fn request(
    action: BuiltIn,
    arguments: &Arguments,
    key: &Secret,
) -> Result<(HttpCall, Kind, String), ToolError> {
    let filled = |query: &str| match query.trim() {
        "" => Err(ToolError::usage("the query is empty")),
        query => Ok(clean(query)),
    };
    Ok(match action {
        BuiltIn::TavilySearch => {
            let mut input: tavily::SearchInput = arguments.read()?;
            input.query = filled(&input.query)?;
            (
                tavily::search(&input, key),
                Kind::TavilySearch(input),
                "search".to_owned(),
            )
        }
        BuiltIn::TavilyExtract => {
            let input: tavily::ExtractInput = arguments.read()?;
            (
                tavily::extract(&input, key)?,
                Kind::TavilyExtract(input),
                "extract".to_owned(),
            )
        }
        BuiltIn::PerplexitySearch => {
            let mut input: perplexity::SearchInput = arguments.read()?;
            input.query = filled(&input.query)?;
            let call = perplexity::search(&input, key);
            (
                call,
                Kind::PerplexitySearch { query: input.query },
                "search".to_owned(),
            )
        }
        tool => {
            let mut input: perplexity::ChatInput = arguments.read()?;
            input.query = filled(&input.query)?;
            input.context = input.context.as_deref().map(clean);
            let (strip_thinking, is_job) = (input.strip_thinking, input.is_job);
            let call = perplexity::chat(tool, &input, key);
            (
                call,
                Kind::Chat {
                    tool,
                    strip_thinking,
                    is_job,
                },
                perplexity::model(tool).to_owned(),
            )
        }
    })
}
