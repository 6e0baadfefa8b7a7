//! `grov init --judge`: the setting that lets a model judge.

use super::{FileAnswer, difference};
use crate::arguments::JudgeChoice;
use crate::commands::config::UserChange;
use crate::context::Context;
use crate::daemon_health;
use crate::failure::Failure;
use crate::format::dollars;
use crate::judge::client_state;
use crate::output::{Style, note};
use grov_domain::MicroUsd;
use grov_llm::{ClientLogin, DEFAULT_ANTHROPIC_MODEL};
use grov_redact::Redacted;
use grov_runtime::{Environment, LlmProvider, Settings};
use serde::Serialize;

const KEY: &str = "llm.provider";

/// Questions per prompt: its limits and the judgement of its turn, and often the goal, the reasons of the work, or a choice of memories.
const QUESTIONS: &str = "about three or four short questions per prompt";

/// What to say where nothing was chosen.
pub(super) const HINT: &str =
    "rules judge; with `--judge claude` your Claude Code reads limits that they miss";

/// The judge, and the change of the file that chooses it.
#[derive(Serialize)]
pub(super) struct JudgeAnswer {
    /// `claude_cli` or `offline`.
    provider: &'static str,
    /// The model; null if rules judge alone.
    model: Option<String>,
    /// The most that it may spend in a day, at list prices.
    daily_budget_usd: MicroUsd,
    file: FileAnswer,
}

/// A judge to set up.
pub(super) struct JudgePlan {
    provider: LlmProvider,
    change: UserChange,
}

impl JudgePlan {
    /// Checks that the judge can be used. Nothing is written.
    ///
    /// # Errors
    /// The client is not installed, or the configuration file is not valid.
    pub(super) fn new(
        context: &Context,
        environment: &Environment,
        choice: JudgeChoice,
    ) -> Result<Self, Failure> {
        let provider = match choice {
            JudgeChoice::Claude => LlmProvider::ClaudeCli,
            JudgeChoice::Off => LlmProvider::Offline,
        };
        let change = UserChange::planned(&context.common, KEY, provider.as_str())?;
        if provider == LlmProvider::ClaudeCli {
            check_client(context, environment)?;
        }
        Ok(Self { provider, change })
    }

    /// Writes the setting, unless `dry_run`. Says what the judge still lacks.
    pub(super) fn carry_out(
        self,
        context: &Context,
        dry_run: bool,
        is_proxied: bool,
    ) -> Result<JudgeAnswer, Failure> {
        let settings = match dry_run {
            true => None,
            false => Some(self.change.apply()?),
        };
        if let Some(settings) = &settings {
            self.explain(context, settings, is_proxied);
        }
        let llm = settings.as_ref().unwrap_or(&context.settings).llm();
        let is_model = self.provider == LlmProvider::ClaudeCli;
        let model = llm
            .model
            .clone()
            .unwrap_or_else(|| DEFAULT_ANTHROPIC_MODEL.to_owned());
        Ok(JudgeAnswer {
            provider: self.provider.as_str(),
            model: is_model.then_some(model),
            daily_budget_usd: MicroUsd(llm.daily_budget_micro_usd),
            file: self.file(dry_run),
        })
    }

    fn file(&self, dry_run: bool) -> FileAnswer {
        let path = self.change.path().to_string_lossy().into_owned();
        let edit = self.change.edit();
        // The file may hold keys.
        let shown = |text: &String| Redacted::of(text).to_string();
        let diff = dry_run.then(|| difference(&path, &shown(&edit.before), &shown(&edit.after)));
        FileAnswer {
            path,
            changed: self.change.has_changes(),
            backup: None,
            removed: false,
            diff,
            left: Vec::new(),
        }
    }

    /// What keeps the judge from its work, or is better known before.
    fn explain(&self, context: &Context, settings: &Settings, is_proxied: bool) {
        let llm = settings.llm();
        if let Some(missing) = llm.missing {
            note!("warning: {missing}");
        } else if llm.provider != self.provider
            && let Ok(applied) = settings.explain(KEY)
        {
            note!("warning: {KEY} is {} from {}", applied.value, applied.origin);
        }
        if self.change.has_changes() && daemon_health::query(&context.home).running {
            note!("the running proxy still judges as before: `grov proxy restart`");
        }
        if self.provider != LlmProvider::ClaudeCli {
            return;
        }
        if !is_proxied {
            note!(
                "without `--proxy` the model only describes finished work: it reads limits and chooses memories for the proxy"
            );
        }
        if llm.api_key.is_some() {
            note!("an API key of Grov's is set: the client uses it, and not your login");
        }
        if llm.daily_budget_micro_usd == 0 {
            note!("warning: llm.daily_budget_usd is 0, so no model is asked");
        }
    }
}

impl JudgeAnswer {
    /// For a person.
    pub(super) fn text(&self, style: Style) -> String {
        let mut text = self.file.text(style);
        let said = match &self.model {
            None => "rules judge alone".to_owned(),
            Some(model) => format!(
                "{model} judges through your Claude Code, in the background: {QUESTIONS}, which count against your plan's limits. At most {} a day at list prices (llm.daily_budget_usd), then rules judge; `grov usage` shows them.",
                dollars(self.daily_budget_usd),
            ),
        };
        text.push_str(&style.prose(&said));
        text
    }
}

/// Fails if the client is not installed, and says if it has no login.
fn check_client(context: &Context, environment: &Environment) -> Result<(), Failure> {
    let variables = environment.outside_of_run();
    let variables = variables
        .iter()
        .map(|(name, value)| (name.to_owned(), value.to_owned()));
    match client_state(context.settings.llm(), variables.collect()) {
        Some(ClientLogin::NotInstalled) => {
            let message = "the client `claude` is not installed, or not in PATH, so it cannot judge";
            Err(Failure::error("judge", message).hint("install Claude Code, or omit --judge"))
        }
        Some(ClientLogin::LoggedOut) => {
            note!(
                "warning: the client `claude` is not logged in, so rules judge until it is: run `claude` and log in"
            );
            Ok(())
        }
        Some(ClientLogin::LoggedIn | ClientLogin::Unknown) | None => Ok(()),
    }
}

/// Says at the end that the setting remains.
pub(super) fn note_rest(context: &Context) {
    if context.settings.llm().provider == LlmProvider::ClaudeCli {
        note!(
            "the setting llm.provider = \"claude_cli\" stays, and is used by sessions with Grov only; `grov config unset llm.provider` removes it"
        );
    }
}
