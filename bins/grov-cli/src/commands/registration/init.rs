//! `grov init`

use super::comments::Commented;
use super::http_hooks::{Daemon, warn_of_readers};
use super::judge::{HINT, JudgeAnswer, JudgePlan};
use super::{FileAnswer, client_folder, clients, gateway, shell, user_token};
use crate::arguments::{InitArguments, InitScope};
use crate::commands::tools;
use crate::context::Context;
use crate::daemon_health;
use crate::failure::Failure;
use crate::output::{ExitStatus, Outcome, Style, note};
use crate::programs::in_path;
use crate::table::one_line;
use crate::written_files::FileChange;
use grov_hooks::event::{Event, registered};
use grov_hooks::settings::{
    Hook, Inspection, McpServer, Plan, Registration, Registry, Route, Scope, SettingsError, SettingsFile,
    StatusLine, inspect, loopback_exceptions, route, settings_path, shell_word,
};
use grov_redact::Secret;
use grov_runtime::{Environment, LlmProvider, TlsSource, Url, without_credentials};
use grov_serve::read_facts;
use serde::Serialize;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};

const PROGRAM: &str = "grov";
/// The name of the client's state file, next to its folder or, with `CLAUDE_CONFIG_DIR`, in it.
const STATE_FILE: &str = ".claude.json";

#[derive(Serialize)]
struct Answer {
    dry_run: bool,
    files: Vec<FileAnswer>,
    /// Where the client will send its requests; null without `--proxy`.
    proxy: Option<String>,
    /// Where it will send hooks; null without `--http`.
    hooks: Option<String>,
    /// Where it sent requests before, which the proxy now forwards to.
    gateway: Option<String>,
    /// The file of the user's shell, with `--mitm`.
    #[serde(skip_serializing_if = "Option::is_none")]
    shell: Option<FileChange>,
    /// The judge, with `--judge`.
    #[serde(skip_serializing_if = "Option::is_none")]
    judge: Option<JudgeAnswer>,
    /// Whether to say that a model could judge.
    #[serde(skip)]
    hints_at_judge: bool,
}

/// A settings file and what to register in it.
struct Target {
    scope: Scope,
    path: PathBuf,
    hooks: Vec<Hook>,
}

/// The inputs of `grov init`.
struct Init<'a> {
    arguments: &'a InitArguments,
    context: &'a Context,
    environment: Environment,
    /// The client's directory for the user.
    client_folder: PathBuf,
    project: PathBuf,
    /// This program as a shell word.
    program: String,
    /// Where the proxy listens, with `--proxy`.
    proxy: Option<String>,
    /// Whether it asks for a token.
    asks_for_token: bool,
    /// The daemon for hooks, with `--http`.
    daemon: Option<Daemon>,
}

pub(crate) fn run(context: &Context, arguments: &InitArguments) -> Outcome {
    let environment = Environment::of_process();
    let dry_run = arguments.dry_run;
    if let Some(client) = arguments.client {
        return clients::init(context, client, dry_run);
    }
    let project = context
        .top()
        .ok_or_else(|| Failure::usage("--project must name a directory that exists"))?;
    // Fails before anything is changed.
    let judge = arguments
        .judge
        .map(|choice| JudgePlan::new(context, &environment, choice));
    let judge = judge.transpose()?;
    let listener = match arguments.proxy || arguments.http {
        true => Some(Listener::of(context)?),
        false => None,
    };
    let is_self_signed = listener.as_ref().is_some_and(|listener| listener.is_self_signed);
    let home = context.home.root().to_owned();
    let mut registry = if dry_run {
        Registry::read(&home)?
    } else {
        context.home.create()?;
        Registry::open(&home)?
    };
    let daemon = match listener.as_ref().filter(|_| arguments.http) {
        Some(Listener { local_url: url, .. }) => {
            let fails_closed = context.settings.guard().fails_closed;
            Some(Daemon::at(url, &context.home, fails_closed, dry_run)?)
        }
        None => None,
    };
    let init = Init {
        arguments,
        client_folder: client_folder(&environment)?,
        project,
        program: program(&environment),
        asks_for_token: listener.as_ref().is_some_and(|listener| listener.asks_for_token),
        proxy: listener
            .filter(|_| arguments.proxy)
            .map(|listener| listener.base_url),
        daemon,
        context,
        environment,
    };

    if arguments.mitm {
        // Fails for an unknown shell, before anything is changed.
        shell::planned(&init.environment, &init.program)?;
    }
    let mut plans = Vec::new();
    let mut commented = Vec::new();
    let mut gateway = None;
    let mut holds_token = false;
    for target in init.targets()? {
        let mut file = SettingsFile::read(&target.path)?;
        if let Some(found) = Commented::of(&file)? {
            if arguments.plain {
                file = found.planned();
                commented.push(found);
            } else {
                warn_of_comments(&file);
            }
        }
        let token = init.token(&target, &file)?;
        holds_token |= token.is_some();
        let wanted = init.wanted(target, &file, &registry, token.as_ref(), &mut gateway)?;
        plans.push(registry.plan_registration(file, &wanted)?);
    }
    if arguments.mcp {
        if !tools::is_installed(&init.environment) {
            note!(
                "warning: {}, so the MCP server cannot start; {}",
                tools::MISSING,
                tools::INSTALL
            );
        }
        plans.push(init.mcp_plan(&registry)?);
    }
    if let Some(gateway) = &gateway
        && let Some(upstream) = gateway::upstream(gateway, &init.context.settings)?
        && !dry_run
    {
        // Before the client uses the proxy, the proxy must know its upstream.
        gateway::write(&init.context.home, &upstream)?;
        note!("restart a running grov-proxyd so that it forwards to the gateway");
    }
    // Nothing was written to a settings file before.
    for found in &commented {
        found.write()?;
    }
    let mut files = Vec::new();
    for plan in &plans {
        let mut answer = FileAnswer::of(plan, dry_run);
        if !dry_run {
            let done = registry.apply(plan)?;
            answer.backup = done.backup.map(|path| path.to_string_lossy().into_owned());
            if init.daemon.is_some() || holds_token {
                warn_of_readers(&SettingsFile::read(plan.path())?);
            }
        }
        files.push(answer);
    }
    let shell = match (arguments.mitm, dry_run) {
        (false, _) => None,
        (true, true) => Some(shell::planned(&init.environment, &init.program)?),
        (true, false) => Some(shell::write(context, &init.environment, &init.program)?),
    };
    let judge = judge.map(|plan| plan.carry_out(context, dry_run, arguments.proxy));
    let is_changed = files.iter().any(|file| file.changed);
    let answer = Answer {
        dry_run,
        files,
        proxy: init.proxy,
        hooks: init.daemon.map(|daemon| daemon.url),
        gateway: gateway.as_deref().map(without_credentials),
        shell,
        judge: judge.transpose()?,
        hints_at_judge: arguments.judge.is_none() && is_undecided(context),
    };
    context.answer(answer, text)?;
    if is_changed && !dry_run {
        note!("running sessions keep their old settings; `grov unregister` reverts the changes");
    }
    if arguments.proxy && is_self_signed {
        explain_certificate(context);
    }
    Ok(ExitStatus::Success)
}

impl Init<'_> {
    /// The files of the scope. A file that is shared with others gets nothing that is specific to this machine: no path, no
    /// URL, no token.
    fn targets(&self) -> Result<Vec<Target>, SettingsError> {
        let target = |scope, hooks| Target {
            scope,
            path: self.path(scope),
            hooks,
        };
        let own_hooks = || self.hooks(&self.program);
        Ok(match self.arguments.scope {
            InitScope::User => vec![target(Scope::User, own_hooks())],
            InitScope::Local => vec![target(Scope::Local, own_hooks())],
            InitScope::Project if self.daemon.is_some() => {
                self.explain_shared_file()?;
                vec![target(Scope::Local, own_hooks())]
            }
            InitScope::Project => {
                let shared = target(Scope::Project, self.hooks(PROGRAM));
                note!(
                    "{} is shared, so it calls `{PROGRAM}` by name: everyone who works on the project needs it in PATH",
                    shared.path.display()
                );
                let local = commands_for_http(&SettingsFile::read(&self.path(Scope::Local))?)?;
                vec![shared, target(Scope::Local, local)]
            }
        })
    }

    fn path(&self, scope: Scope) -> PathBuf {
        settings_path(scope, &self.client_folder, &self.project)
    }

    fn hooks(&self, program: &str) -> Vec<Hook> {
        let hook = |event: Event| match &self.daemon {
            Some(daemon) => daemon.hook(program, event),
            None => Hook::command(program, event.name, event.timeout),
        };
        registered()
            .map(|event| hook(event).matching(event.matcher))
            .collect()
    }

    /// Explains why `--scope project --http` leaves the shared file alone.
    fn explain_shared_file(&self) -> Result<(), SettingsError> {
        let shared = SettingsFile::read(&self.path(Scope::Project))?;
        let path = shared.path().display();
        if inspected(&shared)?.hooks.is_empty() {
            note!("{path} is not changed, because the daemon's URL and token are valid on this machine only");
        } else {
            note!(
                "{path} registers Grov for everyone and is not changed: each event runs its hook and the new one, and the first to run answers"
            );
        }
        Ok(())
    }

    /// The token for the client of a file, if the proxy asks for one.
    fn token(&self, target: &Target, file: &SettingsFile) -> Result<Option<Secret>, Failure> {
        if self.proxy.is_none() || !self.asks_for_token || target.scope == Scope::Project {
            return Ok(None);
        }
        let user = self.environment.get("USER").and_then(|user| user.to_str());
        user_token::find_or_create(&self.context.home, file, user, self.arguments.dry_run).map(Some)
    }

    /// The entries to register in a file. Sets `gateway` if the client uses one.
    fn wanted(
        &self,
        target: Target,
        file: &SettingsFile,
        registry: &Registry,
        token: Option<&Secret>,
        gateway: &mut Option<String>,
    ) -> Result<Registration, SettingsError> {
        let mut wanted = Registration {
            hooks: target.hooks,
            ..Registration::default()
        };
        let project = match target.scope {
            Scope::Project => return Ok(wanted),
            Scope::User => None,
            Scope::Local => self.project.to_str(),
        };
        if self.arguments.statusline {
            wanted.status_line = self.status_line(file)?;
        }
        let variable = |name: &str| self.environment.get(name)?.to_str().map(str::to_owned);
        let malformed = |error| file.malformed(error);
        if let Some(url) = &self.proxy {
            let to = Route { url, project, token };
            let routed = route(file.text(), variable, registry.changes(file), to).map_err(malformed)?;
            for message in &routed.notes {
                note!("{message}");
            }
            wanted.environment = routed.environment;
            *gateway = routed.gateway.or(gateway.take());
        } else if self.daemon.is_some() {
            wanted.environment = loopback_exceptions(file.text(), variable).map_err(malformed)?;
        }
        // Hooks do not get this command's --home.
        let home = self
            .context
            .common
            .home
            .as_ref()
            .and(self.context.home.root().to_str());
        let home = home.map(|home| ("GROV_HOME".to_owned(), home.to_owned()));
        wanted.environment.extend(home);
        Ok(wanted)
    }

    /// The registration of the MCP server, in the file in which the client keeps those of the scope: `.mcp.json` of the project,
    /// or the client's state file in the user's home.
    fn mcp_plan(&self, registry: &Registry) -> Result<Plan, SettingsError> {
        let home = self.context.common.home.as_ref();
        let home = home.and(self.context.home.root().to_str()).map(str::to_owned);
        let own_state = state_file(&self.environment, &self.client_folder);
        let project = || self.project.to_string_lossy().into_owned();
        let program = || program_path(&self.environment).to_string_lossy().into_owned();
        let (path, server) = match self.arguments.scope {
            InitScope::User => (own_state, (Vec::new(), program(), home)),
            InitScope::Local => {
                let into = vec!["projects".to_owned(), project()];
                (own_state, (into, program(), home))
            }
            // Shared with everybody: no path and no home of this machine.
            InitScope::Project => (
                self.project.join(".mcp.json"),
                (Vec::new(), PROGRAM.to_owned(), None),
            ),
        };
        let (into, program, home) = server;
        let wanted = Registration {
            mcp_server: Some(McpServer { into, program, home }),
            ..Registration::default()
        };
        registry.plan_registration(SettingsFile::read(&path)?, &wanted)
    }

    /// The command for the status line; `None` if it is set, or if the user has another one.
    fn status_line(&self, file: &SettingsFile) -> Result<Option<String>, SettingsError> {
        let command = format!("{} statusline", self.program);
        Ok(match inspected(file)?.status_line {
            Some(line) if line.command == command => None,
            Some(StatusLine {
                command,
                is_grovs: false,
            }) => {
                note!(
                    "{} has another status line, which is kept: {}; its program may pass its input to `grov statusline`",
                    file.path().display(),
                    one_line(&command)
                );
                None
            }
            _ => Some(command),
        })
    }
}

/// The client's state file, which holds the user's MCP servers.
pub(crate) fn state_file(environment: &Environment, client_folder: &Path) -> PathBuf {
    match environment.get("CLAUDE_CONFIG_DIR") {
        Some(_) => client_folder.join(STATE_FILE),
        None => client_folder.with_file_name(STATE_FILE),
    }
}

/// Says that the client ignores a file.
fn warn_of_comments(file: &SettingsFile) {
    note!(
        "warning: {} has comments or trailing commas. Claude Code reads plain JSON only and ignores the whole file, Grov's hooks included: `grov init --plain` removes them and keeps a copy",
        file.path().display()
    );
}

/// Commands for the events that the file registers over HTTP. They are the same as in the shared file, so that the client runs
/// each once.
fn commands_for_http(file: &SettingsFile) -> Result<Vec<Hook>, SettingsError> {
    let inspected = inspected(file)?;
    let is_http = |event: &Event| {
        let mut hooks = inspected.hooks.iter();
        hooks.any(|hook| hook.event == event.name && hook.daemon_port.is_some())
    };
    let command = |event: Event| Hook::command(PROGRAM, event.name, event.timeout).matching(event.matcher);
    Ok(registered().filter(is_http).map(command).collect())
}

fn inspected(file: &SettingsFile) -> Result<Inspection, SettingsError> {
    inspect(file.text()).map_err(|error| file.malformed(error))
}

/// This program as a shell word, with its path: that of the entry in a `PATH` directory that leads to this program, which
/// remains valid after an upgrade, else its own.
fn program(environment: &Environment) -> String {
    shell_word(&program_path(environment).to_string_lossy())
}

fn program_path(environment: &Environment) -> PathBuf {
    let Ok(own) = std::env::current_exe() else {
        return PathBuf::from(PROGRAM);
    };
    let resolved = own.canonicalize().ok();
    let found = in_path(PROGRAM, environment).next();
    let found = found.filter(|path| path.canonicalize().ok() == resolved);
    found.unwrap_or(own)
}

/// Where the proxy listens, or will listen.
pub(super) struct Listener {
    /// The base URL for the client.
    pub(super) base_url: String,
    /// The URL for hooks. A daemon with TLS accepts hooks of this machine in plain HTTP.
    local_url: String,
    pub(super) asks_for_token: bool,
    pub(super) is_self_signed: bool,
}

impl Listener {
    pub(super) fn of(context: &Context) -> Result<Self, Failure> {
        let daemon = daemon_health::query(&context.home);
        let settings = context.settings.proxy();
        let local = |port| format!("http://{}", SocketAddr::new(settings.local_host(), port));
        if let (Some(base_url), true) = (&daemon.base_url, daemon.running) {
            let port = Url::parse(base_url).map_or(settings.port, |url| url.port());
            // The daemon may have been started with other settings.
            let access = daemon.access.clone();
            let record = grov_runtime::daemon::read(&context.home);
            let address = record.and_then(|record| record.local_address());
            return Ok(Self {
                base_url: base_url.clone(),
                local_url: address.map_or_else(|| local(port), |address| format!("http://{address}")),
                asks_for_token: access.as_ref().is_some_and(|access| access.tokens.is_some()),
                is_self_signed: access
                    .and_then(|access| access.tls)
                    .is_some_and(|tls| tls.self_signed),
            });
        }
        if settings.port == 0 {
            let message = "proxy.port is 0, so the proxy's port is not known yet";
            let hint = "set proxy.port, or start the proxy first: grov proxy start";
            return Err(Failure::error("proxy", message).hint(hint));
        }
        match daemon.not_answering() {
            Some((problem, fix)) => note!("{problem}: {fix}"),
            None => {
                note!(
                    "grov-proxyd is not running: sessions start it, or start it now with `grov proxy start`"
                )
            }
        }
        Ok(Self {
            base_url: configured_base_url(context),
            local_url: local(settings.port),
            asks_for_token: settings.enable_auth,
            is_self_signed: settings.tls() == Some(TlsSource::SelfSigned),
        })
    }
}

/// The base URL of a proxy with these settings.
pub(crate) fn configured_base_url(context: &Context) -> String {
    let settings = context.settings.proxy();
    let address = SocketAddr::new(settings.local_host(), settings.port);
    match settings.tls() {
        None => format!("http://{address}"),
        // It covers its own address.
        Some(TlsSource::SelfSigned) => format!("https://{address}"),
        Some(TlsSource::Files(files)) => match read_facts(&files.certificates) {
            Ok(facts) => format!("https://{}:{}", facts.host_for(settings.host), settings.port),
            Err(_) => format!("https://{address}"),
        },
    }
}

/// Whether rules judge alone because no judge was chosen.
fn is_undecided(context: &Context) -> bool {
    let settings = &context.settings;
    settings.llm().provider == LlmProvider::Offline && !settings.is_set("llm.provider")
}

/// Says how the client comes to trust a certificate that the proxy made.
fn explain_certificate(context: &Context) {
    note!(
        "the proxy's certificate is self-signed: start the client with NODE_EXTRA_CA_CERTS={}",
        context.home.own_certificate().display()
    );
}

fn text(answer: &Answer, style: Style) -> String {
    let mut text: String = answer.files.iter().map(|file| file.text(style)).collect();
    if let Some(proxy) = &answer.proxy {
        text.push_str(&format!("requests go to {proxy}"));
        if let Some(gateway) = &answer.gateway {
            text.push_str(&format!(", which forwards them to {gateway} as before"));
        }
        text.push('\n');
    }
    if let Some(shell) = &answer.shell {
        text.push_str(&shell.text());
        text.push_str("`claude` runs through the proxy in new shells\n");
    }
    if let Some(hooks) = &answer.hooks {
        text.push_str(&format!(
            "hooks go to {hooks}; sessions start it if it is not running\n"
        ));
    }
    if let Some(judge) = &answer.judge {
        text.push_str(&judge.text(style));
    }
    if answer.hints_at_judge {
        text.push_str(&style.faint(&style.prose(HINT)));
    }
    text
}
