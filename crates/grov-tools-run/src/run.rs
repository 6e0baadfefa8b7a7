//! Runs a tool from its arguments to the object that is printed.

use crate::asking::{Asking, Failed};
use crate::cache::Cache;
use crate::http::Line;
use crate::job::JobFile;
use crate::material::Piped;
use crate::spending::Spending;
use crate::suspicious::suspicious;
use crate::user::UserCall;
use crate::web::Web;
use crate::{Surroundings, spending};
use grov_domain::{CallOutcome, MicroUsd};
use grov_tools::{
    Action, Answer, Arguments, BuiltIn, Envelope, ErrorKind, HttpCall, Metadata, Risk, Tool, ToolError,
};
use serde_json::{Map, Value, json};
use std::time::Duration;
use tokio::time::Instant;

/// Runs a tool. `cancelled` ends when the user cancels the call.
pub async fn run(
    around: &Surroundings,
    tool: &Tool,
    arguments: Arguments,
    piped: Option<Piped>,
    cancelled: impl Future<Output = ()>,
) -> Envelope {
    let begun = Instant::now();
    let spending = Spending::new(around, arguments.flag("yes"));
    let mut metadata = Metadata {
        command: tool.command(),
        ..Metadata::default()
    };
    let work = work(
        around,
        tool,
        &arguments,
        piped.as_ref(),
        &spending,
        &mut metadata.more,
    );
    let result = tokio::select! {
        // First, so that a signal is handled before anything is read.
        biased;
        () = cancelled => {
            let cost = spending.settle(None, CallOutcome::Failed).await;
            metadata.cost_usd = Some(cost.unwrap_or_default());
            let message = match cost {
                None => "the call was cancelled before anything was sent".to_owned(),
                Some(MicroUsd(0)) => "the call was cancelled; it cost nothing".to_owned(),
                Some(cost) => format!("the call was cancelled; it may have cost up to {cost}, which counts against today's budget"),
            };
            let error = ToolError::new(ErrorKind::Cancelled, message);
            Err(match cost.is_some() && arguments.flag("async") {
                true => error.hint("the provider goes on with the job; the same command within a day gets its result"),
                false => error,
            })
        }
        result = work => result,
    };
    // A duration in milliseconds fits.
    metadata.duration_ms = u64::try_from(begun.elapsed().as_millis()).unwrap_or(u64::MAX);
    match result {
        Ok(answer) => Envelope::success(answer, metadata),
        Err(error) => {
            metadata.cost_usd = metadata.cost_usd.or_else(|| {
                let cost = metadata.more.remove("cost_of_failure")?.as_u64()?;
                Some(MicroUsd(cost))
            });
            Envelope::error(error, metadata)
        }
    }
}

/// A prepared call of any tool.
enum Prepared {
    Web(Box<Web>),
    Asking(Box<Asking>),
    User(UserCall),
}

async fn work(
    around: &Surroundings,
    tool: &Tool,
    arguments: &Arguments,
    piped: Option<&Piped>,
    spending: &Spending<'_>,
    more: &mut Map<String, Value>,
) -> Result<Answer, ToolError> {
    let timeout = around.timeout()?;
    let is_shown = arguments.flag("show_request");
    let prepared = prepare(around, tool, arguments, piped, !is_shown).await?;
    let mut omitted: Vec<String> = piped.and_then(Piped::omitted).into_iter().collect();
    omitted.extend(prepared.omitted().iter().cloned());
    if !omitted.is_empty() {
        more.insert("omitted".to_owned(), json!(at_most(omitted, 20)));
    }
    if is_shown {
        return Ok(prepared.shown());
    }
    let cache = prepared.cache(around, &tool.slug());
    if !arguments.flag("fresh")
        && let Some(answer) = cache.as_ref().and_then(Cache::get)
    {
        return Ok(marked(tool, answer, more));
    }
    let most = prepared.most_cost();
    let (provider, model) = prepared.names(tool);
    let job = prepared.job(around, &tool.slug());
    match job.as_ref().and_then(JobFile::begun) {
        Some(begun) => spending.resume(&provider, &model, begun.call()),
        None => {
            warn(around, tool, most, more).await;
            spending.reserve(&provider, &model, most).await?;
            if let (Some(job), Some(call)) = (&job, spending.call()) {
                job.begin(&call)?;
            }
        }
    }
    let result = prepared.run(around, timeout, job.as_ref()).await;
    let mut answer = match result {
        Ok(mut answer) => {
            answer.cost = spending.settle(answer.cost, CallOutcome::Answered).await;
            answer
        }
        Err(Failed { error, cost }) => {
            let outcome = match error.kind {
                ErrorKind::BadAnswer | ErrorKind::EmptyAnswer | ErrorKind::Blocked => CallOutcome::Unusable,
                _ => CallOutcome::Failed,
            };
            let cost = spending.settle(cost, outcome).await;
            more.extend(cost.map(|cost| ("cost_of_failure".to_owned(), json!(cost.0))));
            return Err(error);
        }
    };
    if let Some(cache) = cache {
        cache.put(&answer);
    }
    if let Some(job) = job {
        job.remove();
    }
    if let Prepared::Asking(asking) = &prepared {
        // A cached answer is in the plan already.
        let fields = asking.record(around, &answer);
        let fields = fields.into_iter().map(|(name, value)| (name.to_owned(), value));
        answer.metadata.extend(fields);
    }
    Ok(marked(tool, answer, more))
}

/// The first texts, and the number of the others.
fn at_most(mut texts: Vec<String>, most: usize) -> Vec<String> {
    let more = texts.len().saturating_sub(most);
    texts.truncate(most);
    if more > 0 {
        texts.push(format!("{more} more"));
    }
    texts
}

async fn prepare(
    around: &Surroundings,
    tool: &Tool,
    arguments: &Arguments,
    piped: Option<&Piped>,
    needs_key: bool,
) -> Result<Prepared, ToolError> {
    Ok(match &tool.action {
        Action::User(action) => {
            let piped = piped.map(|piped| piped.text.as_str());
            Prepared::User(UserCall::prepare(
                around, tool, action, arguments, piped, needs_key,
            )?)
        }
        Action::BuiltIn(
            action @ (BuiltIn::VertexAsk
            | BuiltIn::VertexValidate
            | BuiltIn::VertexReview
            | BuiltIn::VertexArchitect),
        ) => Prepared::Asking(Box::new(
            Asking::prepare(around, tool, *action, arguments, piped, needs_key).await?,
        )),
        Action::BuiltIn(action) => Prepared::Web(Box::new(Web::prepare(
            around,
            tool,
            *action,
            arguments.clone(),
            piped,
            needs_key,
        )?)),
    })
}

impl Prepared {
    fn omitted(&self) -> &[String] {
        match self {
            Self::Asking(asking) => &asking.omitted,
            _ => &[],
        }
    }

    /// The request that would be sent, without keys.
    fn shown(&self) -> Answer {
        let http = |base: &str, call: &HttpCall| {
            let headers: Vec<&str> = call.headers.iter().map(|(name, _)| *name).collect();
            json!({
                "url": format!("{}{}", base.trim_end_matches('/'), call.path),
                "method": "POST",
                "headers": headers,
                "request": call.body,
            })
        };
        let data = match self {
            Self::Web(web) => http(&web.base, &web.call),
            Self::Asking(asking) => http(&asking.base, &asking.call()),
            Self::User(user) => json!({"request": user.shown()}),
        };
        Answer {
            data,
            cost: Some(MicroUsd(0)),
            ..Answer::default()
        }
    }

    /// The cache; programs of the user have none, because they may do something.
    fn cache(&self, around: &Surroundings, slug: &str) -> Option<Cache> {
        match self {
            Self::Web(web) => Some(Cache::of(around, slug, &web.base, &web.call, &web.options)),
            Self::Asking(asking) => Some(Cache::of(around, slug, &asking.base, &asking.call(), "")),
            Self::User(_) => None,
        }
    }

    /// The record of a call that runs as a job.
    fn job(&self, around: &Surroundings, slug: &str) -> Option<JobFile> {
        match self {
            Self::Web(web) if web.is_job() => {
                let cache = Cache::of(around, slug, &web.base, &web.call, &web.options);
                Some(JobFile::beside(&cache, around))
            }
            _ => None,
        }
    }

    fn most_cost(&self) -> MicroUsd {
        match self {
            Self::Web(web) => web.most_cost,
            Self::Asking(asking) => asking.most_cost(),
            Self::User(user) => user.most_cost(),
        }
    }

    fn names(&self, tool: &Tool) -> (String, String) {
        match self {
            Self::Web(web) => (web.provider.to_owned(), web.model.clone()),
            Self::Asking(asking) => {
                let provider = match asking.model.api.provider() {
                    "the model's server" => "openai",
                    other => other,
                };
                (provider.to_owned(), asking.model.name.clone())
            }
            Self::User(_) => (tool.group.to_string(), tool.name.to_string()),
        }
    }

    async fn run(
        &self,
        around: &Surroundings,
        timeout: Duration,
        job: Option<&JobFile>,
    ) -> Result<Answer, Failed> {
        let deadline = Some(Instant::now() + timeout);
        let (provider, base) = match self {
            Self::Web(web) => (web.provider, web.base.clone()),
            Self::Asking(asking) => (asking.model.api.provider(), asking.base.clone()),
            Self::User(user) => (
                "the tool's server",
                user.http().map(|(url, _)| url).unwrap_or_default(),
            ),
        };
        (around.progress)(&format!("asking {provider}"));
        let line = Line {
            around,
            provider,
            base: &base,
            silence: timeout,
            deadline: match self {
                Self::Web(web) if web.is_stream() => None,
                _ => deadline,
            },
        };
        let failed = |error: ToolError| {
            // A job that is still recorded goes on at the provider.
            let goes_on = job.is_some_and(|job| job.begun().is_some());
            let cost = match goes_on || error.kind.may_have_cost() {
                true => None,
                false => Some(MicroUsd(0)),
            };
            Failed { error, cost }
        };
        match self {
            Self::Web(web) => web.run(&line, job).await.map_err(failed),
            Self::Asking(asking) => asking.run(&line).await,
            Self::User(user) => user.run(&line).await.map_err(failed),
        }
    }
}

/// A warning before a call that costs a good part of the budget.
async fn warn(around: &Surroundings, tool: &Tool, most: MicroUsd, more: &mut Map<String, Value>) {
    if !matches!(tool.action, Action::BuiltIn(BuiltIn::PerplexityResearch)) {
        return;
    }
    // Without a ledger the call is refused later, with the reason.
    let spent = spending::spent_today(around).await.unwrap_or_default();
    let warning = format!(
        "deep research may cost up to {most}; {spent} of today's budget of {} for tools is spent",
        around.budget
    );
    (around.progress)(&format!("warning: {warning}"));
    more.insert("warnings".to_owned(), json!([warning]));
}

/// Adds what is known only after the answer: suspicious text.
fn marked(tool: &Tool, answer: Answer, more: &mut Map<String, Value>) -> Answer {
    if tool.risk != Risk::RunsProgram {
        more.insert("untrusted".to_owned(), json!(true));
        let found = suspicious(&answer.data);
        if !found.is_empty() {
            more.insert("suspicious".to_owned(), json!(found));
        }
    }
    answer
}
