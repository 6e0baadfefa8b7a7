//! The judge: whether the configured model is used.

use super::Check;
use crate::context::Context;
use crate::daemon_health::{LiveJudge, ProxyView};
use crate::format::plural;
use crate::judge::{JudgeView, client_state, spent_today};
use crate::output::Style;
use grov_domain::{Clock, MicroUsd, SystemClock};
use grov_llm::ClientLogin;
use grov_runtime::{Environment, LlmProvider, daemon};

const NAME: &str = "judge";
const RULES_ONLY: &str = "Rules judge actions instead of a model.";

pub(super) fn check(context: &Context, proxy: ProxyView) -> Check {
    let llm = context.settings.llm();
    let provider = llm.provider.as_str();
    if let Some(missing) = llm.missing {
        return Check::fail(NAME, missing)
            .consequence(RULES_ONLY)
            .fix("correct that, or set llm.provider = \"offline\"");
    }
    if llm.daily_budget_micro_usd == 0 && llm.api_key.is_some() {
        return Check::fail(NAME, "an API key is set, but llm.daily_budget_usd is 0")
            .consequence(RULES_ONLY)
            .fix("set llm.daily_budget_usd");
    }
    // The database check reports a database that cannot be read.
    let spent = context.read(async |store| Ok(spent_today(store).await?));
    let spent = spent.ok().flatten().unwrap_or_default();
    let is_model = llm.provider != LlmProvider::Offline;
    let mut summary = JudgeView::of(llm, spent).text(Style::plain());
    let waiting = context.read(async |store| Ok(store.unjudged(None, SystemClock.now()).await?));
    let waiting = waiting.ok().flatten().filter(|waiting| is_model && *waiting > 0);
    if let Some(waiting) = waiting {
        let memories = plural(waiting, "memory waits", "memories wait");
        summary.push_str(&format!("; {memories} to be read for harm"));
    }
    if is_model && spent >= MicroUsd(llm.daily_budget_micro_usd) {
        return Check::warn(NAME, summary)
            .consequence("Rules judge actions until midnight UTC.")
            .fix("raise llm.daily_budget_usd, or wait");
    }
    if llm.provider == LlmProvider::ClaudeCli
        && let Some(trouble) = client(context)
    {
        return trouble;
    }
    if let Some(judge) = proxy.judge.as_ref().filter(|judge| judge.is_outdated(provider)) {
        return outdated(judge, provider);
    }
    if !is_model {
        return Check::ok(NAME, format!("{summary}; {MODEL_GAIN}"));
    }
    match &proxy.judge {
        Some(judge) => of_daemon(judge, provider, &summary),
        None => Check::ok(NAME, summary),
    }
}

/// The running daemon was started before the setting was changed.
fn outdated(judge: &LiveJudge, provider: &str) -> Check {
    let running = judge.provider.as_deref().unwrap_or_default();
    let problem = format!("{provider} is configured, but the running proxy was started with {running}");
    Check::warn(NAME, problem)
        .consequence("The proxy judges as before.")
        .fix("grov proxy restart; if that changes nothing, its log says why")
}

/// Whether the running daemon asks this provider, and gets answers.
fn of_daemon(judge: &LiveJudge, provider: &str, summary: &str) -> Check {
    let Some(reason) = judge.trouble() else {
        let done = judge.done().map(|done| format!("; {done}")).unwrap_or_default();
        return Check::ok(NAME, format!("{summary}{done}"));
    };
    let fix = match (
        provider == LlmProvider::ClaudeCli.as_str(),
        judge.why_rules.as_deref(),
    ) {
        (_, Some("client_missing")) => {
            "run `grov proxy restart` in a shell that finds `claude`; Grov looks again every half minute"
        }
        (_, Some("logged_out")) => "run `claude` and log in; Grov tries again within five minutes",
        (true, _) => {
            "run `claude -p hello` to see whether it answers; `grov usage` shows how each call ended"
        }
        (false, _) => "see what the provider answered in the log of grov-proxyd",
    };
    let problem = format!("{provider} is configured, but rules answer now: {reason}");
    Check::warn(NAME, problem).consequence(RULES_ONLY).fix(fix)
}

/// What a person without a model may want to know.
const MODEL_GAIN: &str = "a model understands more limits and finds more memories, your own Claude Code too: `grov config set llm.provider claude_cli`";

/// Asks the user's own client whether it can judge; `None` if nothing is wrong with it.
fn client(context: &Context) -> Option<Check> {
    let environment = daemon::client_environment(&Environment::of_process(), &context.settings);
    // A login that cannot be checked shows in the judge's state.
    let failed = |problem: &str, fix: &str| {
        let problem = format!("llm.provider is claude_cli, but {problem}");
        Some(Check::fail(NAME, problem).consequence(RULES_ONLY).fix(fix))
    };
    match client_state(context.settings.llm(), environment)? {
        ClientLogin::NotInstalled => failed(
            "the client `claude` is not installed, or not in PATH",
            "install Claude Code, or set llm.provider = \"offline\"",
        ),
        ClientLogin::LoggedOut => failed("the client `claude` is not logged in", "run `claude` and log in"),
        ClientLogin::LoggedIn | ClientLogin::Unknown => None,
    }
}
