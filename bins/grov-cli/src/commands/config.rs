//! `grov config …`

mod change;

pub(crate) use change::{UserChange, set, unset};

use crate::context::Context;
use crate::output::{Outcome, Style};
use crate::table::{Fields, Table, one_line};
use grov_runtime::{CandidateStatus, Explanation, Origin};
use serde::Serialize;
use serde_json::Value;

#[derive(Serialize)]
struct OriginView {
    /// `flag`, `environment`, `env_file`, `project`, `user` or `default`.
    kind: &'static str,
    /// The flag or the variable.
    name: Option<&'static str>,
    path: Option<String>,
    line: Option<usize>,
    #[serde(skip)]
    text: String,
}

/// A value that was found for a setting, used or not.
#[derive(Serialize)]
struct CandidateView {
    value: String,
    origin: OriginView,
    /// `used`, `overridden` or `refused`.
    #[serde(rename = "standing")]
    status: &'static str,
    reason: Option<&'static str>,
}

/// A setting and its value.
#[derive(Serialize)]
struct SettingView {
    key: &'static str,
    value: Value,
    origin: OriginView,
    #[serde(skip)]
    text: String,
}

#[derive(Serialize)]
struct ExplainAnswer {
    #[serde(flatten)]
    setting: SettingView,
    candidates: Vec<CandidateView>,
    expected: String,
    doc: &'static str,
    environment: &'static [&'static str],
    flag: Option<&'static str>,
    project_may_set: bool,
}

#[derive(Serialize)]
struct ListAnswer {
    settings: Vec<SettingView>,
}

impl From<&Origin> for OriginView {
    fn from(origin: &Origin) -> Self {
        let (name, place) = match origin {
            Origin::Flag(name) | Origin::Environment(name) => (Some(*name), None),
            Origin::EnvFile { name, path, line } => (Some(*name), Some((path, line))),
            Origin::Project { path, line } | Origin::User { path, line } => (None, Some((path, line))),
            Origin::Default => (None, None),
        };
        Self {
            kind: origin.rank(),
            name,
            path: place.map(|(path, _)| path.display().to_string()),
            line: place.map(|(_, line)| *line),
            text: origin.to_string(),
        }
    }
}

impl From<&Explanation> for SettingView {
    fn from(explanation: &Explanation) -> Self {
        Self {
            key: explanation.key.name,
            value: explanation.value.to_json(),
            origin: OriginView::from(&explanation.origin),
            text: explanation.value.to_string(),
        }
    }
}

pub(crate) fn explain(context: &Context, key: &str) -> Outcome {
    let explanation = context.settings.explain(key)?;
    let key = explanation.key;
    let candidates = explanation.candidates.iter().map(|candidate| CandidateView {
        value: candidate.shown.clone(),
        origin: OriginView::from(&candidate.origin),
        status: candidate.status.as_str(),
        reason: match candidate.status {
            CandidateStatus::Refused(reason) => Some(reason),
            CandidateStatus::Used | CandidateStatus::Overridden => None,
        },
    });
    let answer = ExplainAnswer {
        setting: SettingView::from(explanation),
        candidates: candidates.collect(),
        expected: key.kind.expected(),
        doc: key.doc,
        environment: key.environment,
        flag: key.flag,
        project_may_set: key.project,
    };
    context.answer(answer, explain_text)
}

pub(crate) fn list(context: &Context) -> Outcome {
    let settings = context.settings.explain_all();
    let settings = settings.iter().map(SettingView::from).collect();
    context.answer(ListAnswer { settings }, list_text)
}

fn explain_text(answer: &ExplainAnswer, style: Style) -> String {
    let setting = &answer.setting;
    let heading = format!("{} = {}", style.bold(setting.key), one_line(&setting.text));
    let mut fields = Fields::new(11, usize::MAX, style);
    fields.add("  from", &setting.origin.text);
    for candidate in answer
        .candidates
        .iter()
        .filter(|candidate| candidate.status != "used")
    {
        let mut text = format!("{} from {}", candidate.value, candidate.origin.text);
        if let Some(reason) = candidate.reason {
            text.push_str(&format!(" ({reason})"));
        }
        fields.add(&format!("  {}", candidate.status), &text);
    }
    fields.add("  meaning", answer.doc);
    fields.add("  must be", &answer.expected);
    let mut ways: Vec<&str> = answer.flag.into_iter().collect();
    ways.extend(answer.environment);
    ways.push("the user's config.toml");
    if answer.project_may_set {
        ways.push("a project's .grov/config.toml");
    }
    fields.add("  set by", &ways.join(", "));
    format!("{heading}\n{}", fields.into_text())
}

fn list_text(answer: &ListAnswer, style: Style) -> String {
    let mut table = Table::new("SETTING, VALUE~, FROM~");
    for setting in &answer.settings {
        let (value, origin) = (setting.text.clone(), setting.origin.text.clone());
        table.row([setting.key.to_owned(), value, origin]);
    }
    table.render(style)
}
