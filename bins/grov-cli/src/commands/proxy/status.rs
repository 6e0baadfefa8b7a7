//! `grov proxy status`

use crate::context::Context;
use crate::daemon_health::{self, ProxyState, ProxyView, port_taken_by};
use crate::output::{ExitStatus, Outcome, Style};
use crate::table::one_line;
use grov_runtime::daemon::run_records;
use serde::Serialize;
use std::net::SocketAddr;

#[derive(Serialize)]
struct Answer {
    proxy: ProxyView,
    /// The other program that listens on the configured port.
    #[serde(skip_serializing_if = "Option::is_none")]
    port_taken_by: Option<String>,
    /// The log, if the daemon runs in the background.
    log: String,
    /// Daemons that serve one `grov run` each.
    runs: Vec<RunView>,
}

#[derive(Serialize)]
struct RunView {
    pid: u32,
    url: String,
    version: String,
}

pub(super) fn run(context: &Context) -> Outcome {
    let proxy = daemon_health::query(&context.home);
    let configured = context.settings.proxy();
    let log = context.settings.log().file.clone();
    let answer = Answer {
        port_taken_by: match proxy.state {
            ProxyState::NotRunning => port_taken_by(SocketAddr::new(configured.host, configured.port)),
            ProxyState::Running | ProxyState::NotAnswering => None,
        },
        log: log
            .unwrap_or_else(|| context.home.daemon_log())
            .to_string_lossy()
            .into_owned(),
        runs: run_records(&context.home)
            .into_iter()
            .map(|record| RunView {
                pid: record.pid,
                url: record.url,
                version: record.version,
            })
            .collect(),
        proxy,
    };
    let is_running = answer.proxy.running;
    context.answer(answer, text)?;
    Ok(ExitStatus::success_if(is_running))
}

fn text(answer: &Answer, style: Style) -> String {
    let proxy = &answer.proxy;
    let mut text = if proxy.running {
        let shown = |value: &Option<String>| one_line(value.as_deref().unwrap_or("unknown"));
        let pid = proxy.pid.map_or("unknown".to_owned(), |pid| pid.to_string());
        let (url, version) = (shown(&proxy.url), shown(&proxy.version));
        let state = style.green("running");
        format!(
            "{state} at {url} (pid {pid}, version {version})\nlog: {}\n",
            one_line(&answer.log)
        )
    } else if let Some((problem, fix)) = proxy.not_answering() {
        let state = match proxy.stopping {
            Some(_) => "stopping",
            None => "not answering",
        };
        format!(
            "{}: {}\n{}\n",
            style.red(state),
            one_line(&problem),
            one_line(&fix)
        )
    } else {
        let state = style.red("not running");
        match &answer.port_taken_by {
            Some(taken) => {
                format!("{state}: {taken}; stop that program, or set proxy.port to another port\n")
            }
            None => format!("{state}; `grov proxy start` starts it\n"),
        }
    };
    for run in &answer.runs {
        text.push_str(&format!(
            "for one grov run: {} (pid {})\n",
            one_line(&run.url),
            run.pid
        ));
    }
    text
}
