//! The judge: whether the configured model is used.

use super::Check;
use crate::context::{Context, block_on};
use crate::daemon_health::ProxyView;
use crate::failure::Failure;
use crate::judge::{JudgeView, spent_today};
use crate::output::Style;
use grov_domain::MicroUsd;
use grov_llm::{CLIENT_PROGRAM, ClaudeCliSettings, ClientLogin, client_login};
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
    let summary = JudgeView::of(llm, spent).text(Style::plain());
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
    match proxy.judge.and_then(|judge| judge.trouble()).filter(|_| is_model) {
        Some(reason) => Check::warn(
            NAME,
            format!("{provider} is configured, but rules answer now: {reason}"),
        )
        .consequence(RULES_ONLY)
        .fix("see what the provider answered in the log of grov-proxyd"),
        None if !is_model => Check::ok(NAME, format!("{summary}; {MODEL_GAIN}")),
        None => Check::ok(NAME, summary),
    }
}

/// What a person without a model may want to know.
const MODEL_GAIN: &str = "a model understands more limits and finds more memories, your own Claude Code too: `grov config set llm.provider claude_cli`";

/// Asks the user's own client whether it can judge; `None` if nothing is wrong with it.
fn client(context: &Context) -> Option<Check> {
    let settings = ClaudeCliSettings {
        program: CLIENT_PROGRAM.into(),
        environment: daemon::client_environment(&Environment::of_process(), &context.settings),
        model: None,
        base_url: None,
        api_key: context.settings.llm().api_key.clone(),
        proxy: None,
        timeout: context.settings.llm().timeout,
        own_listeners: Vec::new(),
    };
    let login = block_on(async { Ok::<_, Failure>(client_login(&settings).await) });
    // A login that cannot be checked shows in the judge's state.
    let failed = |problem: &str, fix: &str| {
        let problem = format!("llm.provider is claude_cli, but {problem}");
        Some(Check::fail(NAME, problem).consequence(RULES_ONLY).fix(fix))
    };
    match login.ok()?.ok()? {
        ClientLogin::NotInstalled => failed(
            "the client `claude` is not installed, or not in PATH",
            "install Claude Code, or set llm.provider = \"offline\"",
        ),
        ClientLogin::LoggedOut => failed("the client `claude` is not logged in", "run `claude` and log in"),
        ClientLogin::LoggedIn | ClientLogin::Unknown => None,
    }
}
