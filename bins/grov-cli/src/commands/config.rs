//! `grov config explain KEY`, `grov config list`

use crate::arguments::Common;
use crate::context::Context;
use crate::output::{Outcome, Style, Terminal, Verdict};
use crate::table::{Table, harmless};
use grov_runtime::{CandidateStatus, Explanation, Origin};
use serde::Serialize;
use serde_json::Value;
use std::fmt::Write;

#[derive(Serialize)]
struct OriginView {
    /// `flag`, `environment`, `env_file`, `project`, `user` or `default`.
    kind: &'static str,
    /// The flag or the variable.
    name: Option<&'static str>,
    path: Option<String>,
    line: Option<usize>,
}

#[derive(Serialize)]
struct CandidateView {
    value: String,
    origin: OriginView,
    #[serde(rename = "standing")]
    status: &'static str,
    reason: Option<&'static str>,
    #[serde(skip)]
    place: String,
}

#[derive(Serialize)]
struct Explained {
    key: &'static str,
    value: Value,
    origin: OriginView,
    candidates: Vec<CandidateView>,
    expected: String,
    doc: &'static str,
    environment: &'static [&'static str],
    flag: Option<&'static str>,
    project_may_set: bool,
    #[serde(skip)]
    shown: String,
    #[serde(skip)]
    place: String,
}

#[derive(Serialize)]
struct Listed {
    settings: Vec<Setting>,
}

#[derive(Serialize)]
struct Setting {
    key: &'static str,
    value: Value,
    origin: OriginView,
    #[serde(skip)]
    shown: String,
    #[serde(skip)]
    place: String,
}

impl OriginView {
    fn of(origin: &Origin) -> Self {
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
        }
    }
}

impl Explained {
    fn of(explanation: &Explanation<'_>) -> Self {
        let key = explanation.key;
        let candidates = explanation.candidates.iter().map(|candidate| CandidateView {
            value: candidate.shown.clone(),
            origin: OriginView::of(&candidate.origin),
            status: candidate.status.as_str(),
            reason: match candidate.status {
                CandidateStatus::Refused(reason) => Some(reason),
                CandidateStatus::Used | CandidateStatus::Overridden => None,
            },
            place: candidate.origin.to_string(),
        });
        Self {
            key: key.name,
            value: explanation.value.to_json(),
            origin: OriginView::of(explanation.origin),
            candidates: candidates.collect(),
            expected: key.kind.expected(),
            doc: key.doc,
            environment: key.environment,
            flag: key.flag,
            project_may_set: key.project,
            shown: explanation.value.to_string(),
            place: explanation.origin.to_string(),
        }
    }
}

pub(crate) fn explain(common: &Common, key: &str, terminal: Terminal) -> Outcome {
    let context = Context::load(common)?;
    let answer = Explained::of(&context.settings.explain(key)?);
    terminal.answer(answer, explained_text)?;
    Ok(Verdict::Found)
}

pub(crate) fn list(common: &Common, terminal: Terminal) -> Outcome {
    let context = Context::load(common)?;
    let settings = context.settings.explain_all().map(|explanation| Setting {
        key: explanation.key.name,
        value: explanation.value.to_json(),
        origin: OriginView::of(explanation.origin),
        shown: explanation.value.to_string(),
        place: explanation.origin.to_string(),
    });
    terminal.answer(
        Listed {
            settings: settings.collect(),
        },
        listed_text,
    )?;
    Ok(Verdict::Found)
}

fn explained_text(answer: &Explained, style: Style) -> String {
    let mut text = String::new();
    // Writing to a string cannot fail.
    let _ = writeln!(text, "{} = {}", style.bold(answer.key), harmless(&answer.shown));
    let _ = writeln!(text, "  from      {}", harmless(&answer.place));
    for candidate in answer
        .candidates
        .iter()
        .filter(|candidate| candidate.status != "used")
    {
        let reason = candidate
            .reason
            .map(|reason| format!(" ({reason})"))
            .unwrap_or_default();
        let (value, place) = (harmless(&candidate.value), harmless(&candidate.place));
        let _ = writeln!(text, "  {:<9} {value} from {place}{reason}", candidate.status);
    }
    let _ = writeln!(text, "  {}", answer.doc);
    let _ = writeln!(text, "  must be   {}", answer.expected);
    let mut ways: Vec<String> = answer.flag.map(str::to_owned).into_iter().collect();
    ways.extend(answer.environment.iter().map(|name| (*name).to_owned()));
    ways.push("the user's config.toml".to_owned());
    if answer.project_may_set {
        ways.push("a project's .grov/config.toml".to_owned());
    }
    let _ = writeln!(text, "  set it by {}", ways.join(", "));
    text
}

fn listed_text(answer: &Listed, style: Style) -> String {
    let mut table = Table::new(&["SETTING", "VALUE", "FROM"]);
    for setting in &answer.settings {
        table.row([
            setting.key.to_owned(),
            setting.shown.clone(),
            setting.place.clone(),
        ]);
    }
    table.render(style)
}
