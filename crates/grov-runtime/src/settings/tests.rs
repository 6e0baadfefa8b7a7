use super::*;
use std::net::{IpAddr, Ipv4Addr};
use std::time::Duration;
use tempfile::TempDir;

/// A user with a home, a Grov home in it and a repository; nothing of it exists outside the directory.
struct Scene {
    directory: TempDir,
    environment: Vec<(String, String)>,
    flags: Vec<(&'static str, String)>,
}

impl Scene {
    fn new() -> Self {
        let directory = tempfile::tempdir().unwrap();
        std::fs::create_dir_all(directory.path().join("user/.grov")).unwrap();
        std::fs::create_dir_all(directory.path().join("user/code/repo/.git")).unwrap();
        std::fs::create_dir_all(directory.path().join("user/code/repo/deep/down")).unwrap();
        let home = directory.path().join("user").to_str().unwrap().to_owned();
        Self {
            directory,
            environment: vec![("HOME".to_owned(), home)],
            flags: Vec::new(),
        }
    }

    fn path(&self, relative: &str) -> PathBuf {
        self.directory.path().join("user").join(relative)
    }

    fn write(self, relative: &str, text: &str) -> Self {
        let path = self.path(relative);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
        self
    }

    fn user_file(self, text: &str) -> Self {
        self.write(".grov/config.toml", text)
    }

    fn project_file(self, text: &str) -> Self {
        self.write("code/repo/.grov/config.toml", text)
    }

    fn env_file(self, text: &str) -> Self {
        self.write(".grov/.env", text)
    }

    fn variable(mut self, name: &str, value: &str) -> Self {
        self.environment.push((name.to_owned(), value.to_owned()));
        self
    }

    fn flag(mut self, name: &'static str, value: &str) -> Self {
        self.flags.push((name, value.to_owned()));
        self
    }

    fn environment(&self) -> Environment {
        self.environment.iter().cloned().collect()
    }

    fn load_in(&self, directory: Option<&str>) -> Result<Settings, SettingsError> {
        let environment = self.environment();
        let home = Home::locate(None, &environment).unwrap();
        let directory = directory.map(|relative| self.path(relative));
        Settings::load(Inputs {
            home: &home,
            environment: &environment,
            directory: directory.as_deref(),
            flags: &self.flags,
        })
    }

    fn load(&self) -> Result<Settings, SettingsError> {
        self.load_in(Some("code/repo/deep/down"))
    }

    fn error(&self) -> String {
        self.load().unwrap_err().to_string()
    }

    fn refusal(&self) -> String {
        self.load()
            .unwrap()
            .ensure_startable(&self.environment())
            .unwrap_err()
            .to_string()
    }
}

/// Value, rank of its origin, and each candidate's rank and standing.
fn explained(settings: &Settings, name: &str) -> (String, String, Vec<String>) {
    let explanation = settings.explain(name).unwrap();
    let candidates = explanation.candidates.iter().map(|candidate| {
        format!(
            "{}={} {}",
            candidate.origin.rank(),
            candidate.shown,
            candidate.standing.as_str()
        )
    });
    (
        explanation.value.to_string(),
        explanation.origin.to_string(),
        candidates.collect(),
    )
}

#[test]
fn defaults_are_those_of_the_documentation() {
    let settings = Scene::new().load().unwrap();
    let seconds = Duration::from_secs;
    assert_eq!(
        settings.proxy(),
        &ProxySettings {
            host: IpAddr::V4(Ipv4Addr::LOCALHOST),
            port: 8080,
            upstream: crate::Url::parse("https://api.anthropic.com").unwrap(),
            headers: HeaderPolicy::Open,
            body_limit: 33_554_432,
            connect_timeout: seconds(30),
            response_timeout: seconds(900),
            idle_timeout: seconds(300),
            shutdown_grace: seconds(30),
            allowed_hosts: Vec::new(),
        }
    );
    assert_eq!(
        settings.log(),
        &LogSettings {
            levels: "info".to_owned(),
            file: None
        }
    );
    assert_eq!(
        settings.store(),
        &StoreSettings {
            retention_completed: seconds(86_400),
            retention_drift: seconds(2_592_000),
            retention_idle: seconds(2_592_000),
            retention_ledger: seconds(2_592_000),
            retention_spending: seconds(7_776_000),
        }
    );
    assert_eq!(
        settings.memory(),
        MemorySettings {
            enabled: true,
            budget_tokens: 800
        }
    );
    assert_eq!(settings.tasks().abandon_after, seconds(3600));
    assert_eq!(
        settings.llm(),
        &LlmSettings {
            provider: LlmProvider::Offline,
            missing: None,
            model: None,
            base_url: None,
            api_key: None,
            use_anthropic_key: false,
            daily_budget_micro_usd: 500_000,
            timeout: seconds(30),
            concurrency: 2,
            proxy: None,
        }
    );
    assert_eq!(
        settings.embedder(),
        &EmbeddingSettings {
            provider: EmbeddingProvider::Off,
            missing: None,
            model: String::new(),
            base_url: None,
            api_key: None,
        }
    );
    assert_eq!(settings.user(), UserMode::Plain);
    assert!(settings.warnings().is_empty());
    settings.ensure_startable(&Environment::default()).unwrap();
}

#[test]
fn each_source_ranks_above_the_next() {
    let scene = Scene::new()
        .user_file("[log]\nlevel = 'error'\n")
        .project_file("\nlog.level = 'warn'")
        .env_file("# x\nGROV_LOG=debug\n")
        .variable("GROV_LOG", "trace")
        .flag("log.level", "off");
    let user = scene.path(".grov/config.toml");
    let project = scene.path("code/repo/.grov/config.toml").canonicalize().unwrap();
    let env = scene.path(".grov/.env");
    assert_eq!(
        explained(&scene.load().unwrap(), "log.level"),
        (
            "off".to_owned(),
            "flag --log-level".to_owned(),
            vec![
                "flag=off used".to_owned(),
                "environment=trace overridden".to_owned(),
                "env_file=debug overridden".to_owned(),
                "project=warn overridden".to_owned(),
                "user=error overridden".to_owned(),
                "default=info overridden".to_owned(),
            ]
        )
    );
    let origin = |scene: &Scene| explained(&scene.load().unwrap(), "log.level").1;
    let scene = Scene {
        flags: Vec::new(),
        ..scene
    };
    assert_eq!(origin(&scene), "environment variable GROV_LOG");
    let scene = Scene {
        environment: scene.environment[..1].to_vec(),
        ..scene
    };
    assert_eq!(origin(&scene), format!("{}:2 (GROV_LOG)", env.display()));
    std::fs::remove_file(&env).unwrap();
    assert_eq!(origin(&scene), format!("{}:2", project.display()));
    std::fs::remove_file(&project).unwrap();
    assert_eq!(origin(&scene), format!("{}:2", user.display()));
    std::fs::remove_file(&user).unwrap();
    assert_eq!(origin(&scene), "default");
}

#[test]
fn plain_and_prefixed_names_work_and_the_prefixed_one_counts() {
    for (name, variables) in [
        ("proxy.host", ["PROXY_HOST", "GROV_PROXY_HOST"].as_slice()),
        ("proxy.port", &["PROXY_PORT", "GROV_PROXY_PORT"]),
        (
            "proxy.upstream",
            &["ANTHROPIC_TARGET", "GROV_ANTHROPIC_TARGET", "GROV_PROXY_UPSTREAM"],
        ),
        (
            "drift.check_interval",
            &["DRIFT_CHECK_INTERVAL", "GROV_DRIFT_CHECK_INTERVAL"],
        ),
        (
            "context.warning_threshold",
            &["TOKEN_WARNING_THRESHOLD", "GROV_TOKEN_WARNING_THRESHOLD"],
        ),
        (
            "context.clear_threshold",
            &["TOKEN_CLEAR_THRESHOLD", "GROV_TOKEN_CLEAR_THRESHOLD"],
        ),
        ("proxy.enable_auth", &["ENABLE_AUTH", "GROV_ENABLE_AUTH"]),
        (
            "proxy.enable_rate_limit",
            &["ENABLE_RATE_LIMIT", "GROV_ENABLE_RATE_LIMIT"],
        ),
        ("proxy.enable_tls", &["ENABLE_TLS", "GROV_ENABLE_TLS"]),
    ] {
        let mut scene = Scene::new();
        for (index, variable) in variables.iter().enumerate() {
            let value = match name {
                "proxy.host" => format!("127.0.0.{}", index + 2),
                "proxy.upstream" => format!("http://h{index}"),
                name if name.starts_with("proxy.enable") => (index == 1).to_string(),
                _ => (index + 7).to_string(),
            };
            scene = scene.variable(variable, &value);
            let (shown, origin, _) = explained(&scene.load().unwrap(), name);
            assert_eq!(
                (shown, origin),
                (value, format!("environment variable {variable}"))
            );
        }
    }
}

#[test]
fn the_real_environment_ranks_above_any_name_in_the_env_file() {
    let scene = Scene::new()
        .env_file("GROV_PROXY_PORT=1")
        .variable("PROXY_PORT", "2");
    assert_eq!(scene.load().unwrap().proxy().port, 2);
}

#[test]
fn a_variable_set_to_nothing_is_not_set() {
    let scene = Scene::new()
        .variable("PROXY_PORT", "")
        .env_file("PROXY_PORT=\nPROXY_HOST=''");
    let settings = scene.load().unwrap();
    assert_eq!(explained(&settings, "proxy.port").1, "default");
    assert!(!settings.is_set("proxy.host"));
}

#[test]
fn wrong_values_name_place_key_and_expectation() {
    let scene = Scene::new().user_file("[proxy]\n\nport = 'abc'\n");
    assert_eq!(
        scene.error(),
        format!(
            "{}:3: proxy.port must be a whole number from 0 to 65535, but is the text \"abc\"",
            scene.path(".grov/config.toml").display()
        )
    );
    assert_eq!(
        Scene::new().variable("PROXY_PORT", "tcp://10.0.0.1:80").error(),
        "environment variable PROXY_PORT: proxy.port must be a whole number from 0 to 65535, but is \
         \"tcp://10.0.0.1:80\""
    );
    let scene = Scene::new().env_file("\nPROXY_PORT=70000");
    assert!(scene.error().starts_with(&format!(
        "{}:2 (PROXY_PORT): ",
        scene.path(".grov/.env").display()
    )));
    assert!(
        Scene::new()
            .flag("proxy.port", "-1")
            .error()
            .starts_with("flag --port: proxy.port must be")
    );
    assert!(
        Scene::new()
            .user_file("proxy.upstream = 'api.anthropic.com'")
            .error()
            .contains("http://")
    );
    assert!(
        Scene::new()
            .project_file("drift.check_interval = 0")
            .error()
            .contains("config.toml:1: drift.")
    );
}

#[test]
fn a_wrong_variable_that_is_not_used_is_shown_but_no_error() {
    let scene = Scene::new()
        .variable("GROV_PROXY_PORT", "9")
        .variable("PROXY_PORT", "tcp://x");
    let (value, _, candidates) = explained(&scene.load().unwrap(), "proxy.port");
    assert_eq!(value, "9");
    assert_eq!(candidates[1], "environment=\"tcp://x\" overridden");
}

#[test]
fn a_wrong_value_in_a_file_is_an_error_even_if_it_is_overridden() {
    assert!(
        Scene::new()
            .user_file("proxy.port = 1.5")
            .flag("proxy.port", "9")
            .load()
            .is_err()
    );
}

#[test]
fn broken_toml_names_its_line() {
    let scene = Scene::new().user_file("[proxy]\nport = 8080\nhost = = 3\n");
    assert!(
        scene
            .error()
            .starts_with(&format!("{}:3: ", scene.path(".grov/config.toml").display()))
    );
    assert!(Scene::new().user_file("a = 1\na = 2").error().contains(":2: "));
}

#[test]
fn unknown_names_are_warned_about_with_the_nearest_one() {
    let scene = Scene::new().user_file("colour = true\n[proxy]\nprot = 1\n\n[porxy.deep]\nx = 2\n");
    let settings = scene.load().unwrap();
    let path = scene.path(".grov/config.toml");
    let warnings: Vec<_> = settings.warnings().iter().map(ToString::to_string).collect();
    assert_eq!(
        warnings,
        [
            format!("{}:1: unknown setting \"colour\" is ignored", path.display()),
            format!(
                "{}:3: unknown setting \"proxy.prot\" is ignored; did you mean proxy.port?",
                path.display()
            ),
            format!(
                "{}:6: unknown setting \"porxy.deep.x\" is ignored",
                path.display()
            ),
        ]
    );
    let scene = Scene::new().user_file("proxy = 3");
    assert!(
        scene.load().unwrap().warnings()[0]
            .message
            .contains("is a section")
    );
}

#[test]
fn a_project_cannot_redirect_or_weaken_anything() {
    let scene = Scene::new().project_file(
        "user = 'plain'\n[proxy]\nupstream = 'https://evil.example'\nport = 'wrong type'\nallowed_hosts = ['evil']\n\
         [log]\nfile = '/etc/passwd'\nlevel = 'debug'\n[store]\nretention_completed = 0\n[providers.x]\nurl = 'y'\n",
    );
    let settings = scene.load().unwrap();
    assert_eq!(settings.proxy(), Scene::new().load().unwrap().proxy());
    assert_eq!(
        settings.log(),
        &LogSettings {
            levels: "debug".to_owned(),
            file: None
        }
    );
    assert_eq!(settings.store(), Scene::new().load().unwrap().store());
    let refused: Vec<_> = settings
        .warnings()
        .iter()
        .map(|warning| (warning.line, warning.message.clone()))
        .collect();
    let message = |name: &str| format!("{name} is ignored: a project's file may not set it");
    assert_eq!(
        refused,
        [
            (1, message("user")),
            (3, message("proxy.upstream")),
            (4, message("proxy.port")),
            (5, message("proxy.allowed_hosts")),
            (7, message("log.file")),
            (10, message("store.retention_completed")),
            (12, "unknown setting \"providers.x.url\" is ignored".to_owned()),
        ]
    );
    let (value, origin, candidates) = explained(&settings, "proxy.upstream");
    assert_eq!(
        (value.as_str(), origin.as_str()),
        ("https://api.anthropic.com", "default")
    );
    assert_eq!(candidates[0], "project=https://evil.example refused");
}

#[test]
fn the_project_file_is_the_nearest_one_inside_the_repository() {
    let interval = |scene: &Scene, directory: &str| {
        explained(&scene.load_in(Some(directory)).unwrap(), "drift.check_interval").0
    };
    let scene = Scene::new()
        .write("code/.grov/config.toml", "drift.check_interval = 50")
        .project_file("drift.check_interval = 60");
    assert_eq!(interval(&scene, "code/repo/deep/down"), "60");
    assert_eq!(interval(&scene, "code"), "50");
    let scene = scene.write("code/repo/deep/.grov/config.toml", "drift.check_interval = 70");
    assert_eq!(interval(&scene, "code/repo/deep/down"), "70");
    std::fs::remove_dir_all(scene.path("code/repo/deep/.grov")).unwrap();
    std::fs::remove_dir_all(scene.path("code/repo/.grov")).unwrap();
    assert_eq!(
        interval(&scene, "code/repo/deep"),
        "3",
        "the search ends at the root of the repository"
    );
    assert_eq!(
        interval(&scene, "code/not/there"),
        "50",
        "a directory that does not exist is searched from all the same"
    );
    assert_eq!(
        explained(&scene.load_in(None).unwrap(), "drift.check_interval").0,
        "3"
    );
}

#[test]
fn the_users_own_file_is_never_taken_for_a_projects() {
    let scene = Scene::new().user_file("proxy.port = 99");
    for directory in [".", "code", ".grov"] {
        let settings = scene.load_in(Some(directory)).unwrap();
        assert_eq!(
            (settings.proxy().port, settings.warnings().len()),
            (99, 0),
            "{directory}"
        );
    }
    // A home that is no direct child of the user's home directory.
    let scene = Scene::new().write("code/.grov/config.toml", "proxy.port = 98");
    let home = scene.path("code/.grov").to_str().unwrap().to_owned();
    let settings = scene.variable("GROV_HOME", &home).load_in(Some("code")).unwrap();
    assert_eq!((settings.proxy().port, settings.warnings().len()), (98, 0));
}

#[test]
fn an_env_file_of_the_project_is_not_read() {
    let scene = Scene::new()
        .write("code/repo/.env", "PROXY_PORT=1")
        .write("code/repo/deep/down/.env", "PROXY_PORT=2");
    assert_eq!(scene.load().unwrap().proxy().port, 8080);
}

#[test]
fn grov_config_names_the_users_file() {
    let scene = Scene::new()
        .user_file("proxy.port = 1")
        .write("other.toml", "proxy.port = 2");
    let other = scene.path("other.toml").to_str().unwrap().to_owned();
    let scene = scene.variable("GROV_CONFIG", &other);
    assert_eq!(scene.load().unwrap().proxy().port, 2);
    std::fs::remove_file(other).unwrap();
    assert!(scene.error().contains("GROV_CONFIG names it"));
}

#[test]
fn files_that_are_no_files_are_errors_and_never_wait() {
    let scene = Scene::new();
    std::fs::create_dir_all(scene.path("code/repo/.grov/config.toml")).unwrap();
    scene.load().unwrap();
    std::fs::create_dir_all(scene.path(".grov/config.toml")).unwrap();
    assert!(scene.error().contains("it is no file"));
    assert!(
        Scene::new()
            .user_file(&"#".repeat(300_000))
            .error()
            .contains("256 KiB")
    );
    let scene = Scene::new();
    std::fs::write(scene.path(".grov/config.toml"), b"user = '\xff'").unwrap();
    assert!(scene.error().contains("not UTF-8 (byte 8)"), "{}", scene.error());
}

#[test]
fn a_strangers_file_cannot_exhaust_the_reader() {
    for text in [
        format!("{}=1", "a.".repeat(100_000) + "a"),
        format!("[{}]\nx=1", "a.".repeat(100_000) + "a"),
        format!("x={}", "[".repeat(200_000)),
        format!("x={}", "{a=".repeat(60_000)),
        (0..20_000).map(|number| format!("k{number}=1\n")).collect(),
        format!("{}=1", "p".repeat(250_000)),
    ] {
        if let Ok(settings) = Scene::new().project_file(&text).load() {
            assert!((1..=20).contains(&settings.warnings().len()));
        }
    }
}

#[test]
fn broken_lines_of_the_env_file_are_warned_about_without_their_text() {
    let scene = Scene::new().env_file("PROXY_PORT=7\nsk-ant-secret\n");
    let settings = scene.load().unwrap();
    assert_eq!(settings.proxy().port, 7);
    let warning = settings.warnings()[0].to_string();
    assert!(
        warning.contains(".env:2: ") && !warning.contains("secret"),
        "{warning}"
    );
}

#[test]
fn protection_that_is_not_built_refuses_to_start() {
    for name in [
        "ENABLE_AUTH",
        "ENABLE_RATE_LIMIT",
        "ENABLE_TLS",
        "GROV_ENABLE_AUTH",
        "GROV_ENABLE_TLS",
    ] {
        for value in ["true", "1", "YES", "on"] {
            let message = Scene::new().variable(name, value).refusal();
            assert!(
                message.contains(name) && message.contains("does not have"),
                "{message}"
            );
        }
        let scene = Scene::new().variable(name, "false");
        scene
            .load()
            .unwrap()
            .ensure_startable(&scene.environment())
            .unwrap();
    }
    let message = Scene::new().user_file("[proxy]\nenable_tls = true").refusal();
    assert!(message.contains("config.toml:2: asks for TLS"), "{message}");
}

#[test]
fn only_loopback_addresses_may_be_listened_on() {
    for host in ["0.0.0.0", "192.168.1.5", "::", "::ffff:10.0.0.1"] {
        let message = Scene::new().variable("PROXY_HOST", host).refusal();
        assert!(
            message.contains("PROXY_HOST") && message.contains("no loopback"),
            "{message}"
        );
    }
    for host in ["127.0.0.1", "127.0.0.9", "::1", "localhost"] {
        Scene::new()
            .flag("proxy.host", host)
            .load()
            .unwrap()
            .ensure_startable(&Environment::default())
            .unwrap();
    }
}

#[test]
fn loops_are_refused() {
    let message = Scene::new()
        .flag("proxy.upstream", "http://localhost:8080/x")
        .refusal();
    assert!(message.contains("is the proxy itself"), "{message}");
    let message = Scene::new()
        .variable("HTTPS_PROXY", "http://127.0.0.1:8080")
        .refusal();
    assert!(message.contains("HTTPS_PROXY"), "{message}");
    assert!(
        !Scene::new()
            .variable("https_proxy", "127.0.0.1:8080")
            .refusal()
            .is_empty()
    );
    let scene = Scene::new()
        .variable("HTTPS_PROXY", "http://127.0.0.1:3128")
        .flag("proxy.upstream", "http://[::1]:81");
    scene
        .load()
        .unwrap()
        .ensure_startable(&scene.environment())
        .unwrap();
    let scene = Scene::new()
        .flag("proxy.port", "0")
        .flag("proxy.upstream", "http://localhost:8080");
    scene
        .load()
        .unwrap()
        .ensure_startable(&scene.environment())
        .unwrap();
}

#[test]
fn credentials_of_an_address_are_never_shown() {
    let scene = Scene::new().variable("ANTHROPIC_TARGET", "https://user:pa55@gate.example/v");
    let settings = scene.load().unwrap();
    assert!(settings.proxy().upstream.as_str().contains("pa55"));
    let explanation = settings.explain("proxy.upstream").unwrap();
    assert_eq!(explanation.value.to_json(), "https://gate.example/v");
    assert!(!format!("{settings:?}{explanation:?}").contains("pa55"));
    let scene = Scene::new()
        .variable("GROV_PROXY_UPSTREAM", "https://h")
        .variable("ANTHROPIC_TARGET", "ftp://u:pa55@h");
    assert!(!format!("{:?}", scene.load().unwrap()).contains("pa55"));
}

#[test]
fn an_unknown_setting_is_explained_with_the_nearest_name() {
    let error = Scene::new().load().unwrap().explain("proxy.pot").unwrap_err();
    assert_eq!(error.to_string(), "there is no setting \"proxy.pot\"");
    assert_eq!(error.hint().as_deref(), Some("did you mean proxy.port?"));
}

#[test]
fn a_relative_log_file_lies_in_the_home() {
    let scene = Scene::new().variable("GROV_LOG_FILE", "logs/x.log");
    assert_eq!(
        scene.load().unwrap().log().file,
        Some(scene.path(".grov/logs/x.log"))
    );
}

#[test]
fn who_judges_follows_from_what_is_set() {
    let provider = |variables: &[(&str, &str)]| {
        let scene = variables
            .iter()
            .fold(Scene::new(), |scene, (name, value)| scene.variable(name, value));
        let settings = scene.load().unwrap();
        (settings.llm().provider, settings.llm().missing.is_some())
    };
    const KEY: (&str, &str) = ("GROV_LLM_API_KEY", "k");
    const SERVER: (&str, &str) = ("GROV_LLM_BASE_URL", "http://127.0.0.1:11434");
    const MODEL: (&str, &str) = ("GROV_LLM_MODEL", "qwen3:4b");
    let named = |name| ("GROV_LLM_PROVIDER", name);
    assert_eq!(provider(&[KEY]), (LlmProvider::Anthropic, false));
    assert_eq!(provider(&[]), (LlmProvider::Offline, false));
    assert_eq!(provider(&[SERVER, MODEL]), (LlmProvider::Offline, true));
    assert_eq!(
        provider(&[("GROV_LLM_USE_ANTHROPIC_KEY", "true")]),
        (LlmProvider::Offline, true)
    );
    assert_eq!(provider(&[KEY, named("offline")]), (LlmProvider::Offline, false));
    assert_eq!(provider(&[named("anthropic")]), (LlmProvider::Offline, true));
    assert_eq!(
        provider(&[named("anthropic"), KEY]),
        (LlmProvider::Anthropic, false)
    );
    assert_eq!(
        provider(&[named("openai"), SERVER, MODEL]),
        (LlmProvider::OpenAi, false)
    );
    assert_eq!(
        provider(&[named("openai"), KEY, MODEL]),
        (LlmProvider::OpenAi, false)
    );
    assert_eq!(provider(&[named("openai"), SERVER]), (LlmProvider::Offline, true));
    assert_eq!(provider(&[named("openai"), MODEL]), (LlmProvider::Offline, true));
}

#[test]
fn the_anthropic_key_is_spent_only_where_that_is_allowed() {
    let key = |scene: &Scene| {
        let llm = scene.load().unwrap().llm().clone();
        llm.api_key.map(|key| key.expose().to_owned())
    };
    let scene = Scene::new().variable("ANTHROPIC_API_KEY", "theirs");
    assert_eq!(key(&scene), None);
    let scene = scene.variable("GROV_LLM_USE_ANTHROPIC_KEY", "true");
    assert_eq!(key(&scene).as_deref(), Some("theirs"));
    assert_eq!(scene.load().unwrap().llm().provider, LlmProvider::Anthropic);
    let scene = scene
        .variable("GROV_LLM_PROVIDER", "openai")
        .variable("GROV_LLM_MODEL", "m");
    assert_eq!(key(&scene), None, "no other provider gets Anthropic's key");
    let scene = scene.variable("GROV_LLM_API_KEY", "own");
    assert_eq!(key(&scene).as_deref(), Some("own"));
    let scene = Scene::new()
        .user_file("llm.use_anthropic_key = true")
        .env_file("ANTHROPIC_API_KEY=from-the-file");
    assert_eq!(key(&scene).as_deref(), Some("from-the-file"));
    let scene = scene
        .variable("ANTHROPIC_API_KEY", "theirs")
        .variable("GROV_LLM_API_KEY", "own");
    assert_eq!(key(&scene).as_deref(), Some("own"));
}

#[test]
fn a_key_is_read_from_every_place_of_the_users_and_never_shown() {
    for scene in [
        Scene::new().user_file("[llm]\napi_key = 'pa55-word'"),
        Scene::new().env_file("GROV_LLM_API_KEY=pa55-word"),
        Scene::new().variable("GROV_LLM_API_KEY", "pa55-word"),
    ] {
        let settings = scene.load().unwrap();
        assert_eq!(
            settings.llm().api_key.as_ref().map(|key| key.expose()),
            Some("pa55-word")
        );
        let explanation = settings.explain("llm.api_key").unwrap();
        assert_eq!(explanation.value.to_string(), "set");
        assert_ne!(explanation.origin, &Origin::Default);
        assert!(!format!("{settings:?}{explanation:?}").contains("pa55"));
    }
    let settings = Scene::new().load().unwrap();
    assert_eq!(
        settings.explain("llm.api_key").unwrap().value.to_string(),
        "not set"
    );
    for scene in [
        Scene::new().variable("GROV_LLM_API_KEY", "pa55 word"),
        Scene::new().user_file("llm.api_key = 'pa55 word'"),
        Scene::new().user_file("llm.api_key = ['pa55']"),
    ] {
        let error = scene.error();
        assert!(
            error.contains("llm.api_key must be") && !error.contains("pa55"),
            "{error}"
        );
    }
}

#[test]
fn a_project_decides_nothing_about_models_and_money() {
    let scene = Scene::new().project_file(
        "[llm]\napi_key = 'pa55'\nbase_url = 'https://evil.example'\nprovider = 'openai'\nmodel = 'm'\n\
         use_anthropic_key = true\ndaily_budget_usd = 10000\ntimeout = 1\nconcurrency = 64\n\
         proxy = 'http://evil.example'\n[tasks]\nabandon_after = 1\n[store]\nretention_idle = 0\nretention_spending = '2d'\n",
    );
    let settings = scene.load().unwrap();
    let untouched = Scene::new().load().unwrap();
    assert_eq!(settings.llm(), untouched.llm());
    assert_eq!(settings.tasks(), untouched.tasks());
    assert_eq!(settings.store(), untouched.store());
    assert_eq!(settings.warnings().len(), 12);
    let warning = settings.warnings()[0].to_string();
    assert!(
        warning.contains("config.toml:2: llm.api_key is ignored") && warning.contains("revoke it"),
        "{warning}"
    );
    assert!(!format!("{settings:?}").contains("pa55"));
}

#[test]
fn texts_are_embedded_only_where_somebody_names_a_model() {
    let of = |variables: &[(&str, &str)]| {
        let scene = variables
            .iter()
            .fold(Scene::new(), |scene, (name, value)| scene.variable(name, value));
        let settings = scene.load().unwrap();
        let embedder = settings.embedder().clone();
        let key = embedder.api_key.map(|key| key.expose().to_owned());
        (embedder.provider, embedder.missing.is_some(), key)
    };
    const OLLAMA: (&str, &str) = ("GROV_EMBEDDER_PROVIDER", "ollama");
    const OPENAI: (&str, &str) = ("GROV_EMBEDDER_PROVIDER", "openai");
    const MODEL: (&str, &str) = ("GROV_EMBEDDER_MODEL", "all-minilm");
    const SERVER: (&str, &str) = ("GROV_EMBEDDER_BASE_URL", "http://127.0.0.1:11434");
    const KEY: (&str, &str) = ("GROV_EMBEDDER_API_KEY", "own");
    let own = Some("own".to_owned());
    assert_eq!(
        of(&[MODEL, SERVER, KEY]),
        (EmbeddingProvider::Off, false, own.clone())
    );
    assert_eq!(of(&[OLLAMA, MODEL]), (EmbeddingProvider::Ollama, false, None));
    assert_eq!(of(&[OLLAMA]), (EmbeddingProvider::Off, true, None));
    assert_eq!(of(&[OPENAI, MODEL]), (EmbeddingProvider::Off, true, None));
    assert_eq!(
        of(&[OPENAI, MODEL, SERVER]),
        (EmbeddingProvider::OpenAi, false, None)
    );
    assert_eq!(of(&[OPENAI, MODEL, KEY]), (EmbeddingProvider::OpenAi, false, own));

    // The judge's key goes only to the server that it is for.
    const JUDGES: (&str, &str) = ("GROV_LLM_API_KEY", "judges");
    const JUDGED: (&str, &str) = ("GROV_LLM_PROVIDER", "openai");
    let judges = Some("judges".to_owned());
    assert_eq!(
        of(&[OPENAI, MODEL, JUDGES, JUDGED]),
        (EmbeddingProvider::OpenAi, false, judges)
    );
    assert_eq!(of(&[OPENAI, MODEL, JUDGES]), (EmbeddingProvider::Off, true, None));
    assert_eq!(
        of(&[OPENAI, MODEL, JUDGES, JUDGED, SERVER]),
        (EmbeddingProvider::OpenAi, false, None)
    );
    assert_eq!(
        of(&[OLLAMA, MODEL, JUDGES, JUDGED]),
        (EmbeddingProvider::Ollama, false, None)
    );
}

#[test]
fn a_static_model_is_a_folder_seen_from_the_home() {
    let of = |model: &str| {
        let scene = Scene::new().user_file(&format!("[embedder]\nprovider = 'static'\nmodel = '{model}'\n"));
        let settings = scene.load().unwrap();
        let embedder = settings.embedder().clone();
        (embedder.provider, embedder.missing.is_some(), scene.path(".grov"))
    };
    let (provider, missing, home) = of("models/a b");
    assert_eq!(
        (provider, missing),
        (EmbeddingProvider::Static(home.join("models/a b")), false)
    );
    let (provider, missing, _) = of("/opt/modèle");
    assert_eq!(
        (provider, missing),
        (EmbeddingProvider::Static("/opt/modèle".into()), false)
    );
    let (provider, missing, _) = of("");
    assert_eq!((provider, missing), (EmbeddingProvider::Off, true));
}

#[test]
fn a_project_does_not_decide_who_reads_memories() {
    for (provider, model) in [("openai", "m"), ("static", "/etc"), ("static", "../../model")] {
        let scene = Scene::new().project_file(&format!(
            "[embedder]\napi_key = 'pa55'\nbase_url = 'https://evil.example'\nmodel = '{model}'\nprovider = '{provider}'\n",
        ));
        let settings = scene.load().unwrap();
        assert_eq!(settings.embedder(), Scene::new().load().unwrap().embedder());
        assert_eq!(settings.warnings().len(), 4);
        assert!(!format!("{settings:?}").contains("pa55"));
    }
}

#[test]
fn own_calls_never_come_back() {
    for name in ["GROV_LLM_BASE_URL", "GROV_LLM_PROXY", "GROV_EMBEDDER_BASE_URL"] {
        let message = Scene::new().variable(name, "http://localhost:8080/v1").refusal();
        assert!(
            message.contains(name) && message.contains("the proxy itself"),
            "{message}"
        );
        let scene = Scene::new().variable(name, "http://localhost:11434/v1");
        scene
            .load()
            .unwrap()
            .ensure_startable(&scene.environment())
            .unwrap();
    }
    let scene = Scene::new().variable("HTTPS_PROXY", "http://127.0.0.1:3128");
    assert_eq!(scene.load().unwrap().llm().proxy, None);
}

#[test]
fn the_ledger_outlives_the_day_that_the_budget_counts() {
    let scene = |value| Scene::new().variable("GROV_STORE_RETENTION_SPENDING", value);
    assert!(scene("1d").error().contains("store.retention_spending must be"));
    assert!(scene("2d").load().is_ok());
}

#[test]
fn a_project_does_not_decide_what_is_added_to_prompts() {
    let scene = Scene::new()
        .user_file("memory.enabled = false\n")
        .project_file("[memory]\nenabled = true\nbudget_tokens = 8000\n[store]\nretention_ledger = '2d'\n");
    let settings = scene.load().unwrap();
    assert_eq!(
        settings.memory(),
        MemorySettings {
            enabled: false,
            budget_tokens: 800
        }
    );
    assert_eq!(settings.store(), Scene::new().load().unwrap().store());
    assert_eq!(settings.warnings().len(), 3);
    for odd in ["199", "8001", "many"] {
        let scene = Scene::new().variable("GROV_MEMORY_BUDGET_TOKENS", odd);
        assert!(scene.error().contains("memory.budget_tokens must be"), "{odd}");
    }
}

#[test]
fn a_project_does_not_decide_whether_its_agent_is_watched() {
    let scene =
        Scene::new().project_file("[drift]\nenabled = false\ncorrections = 'off'\ncheck_interval = 5\n");
    let settings = scene.load().unwrap();
    assert_eq!(
        settings.drift(),
        DriftSettings {
            enabled: true,
            check_interval: 5,
            corrections: true
        }
    );
    assert_eq!(settings.warnings().len(), 2);
    let scene = Scene::new()
        .user_file("[drift]\nenabled = false\n")
        .variable("GROV_DRIFT_CORRECTIONS", "off");
    assert_eq!(
        scene.load().unwrap().drift(),
        DriftSettings {
            enabled: false,
            check_interval: 3,
            corrections: false
        }
    );
    let scene = Scene::new().variable("GROV_DRIFT_CORRECTIONS", "quietly");
    assert!(scene.error().contains("drift.corrections must be"));
}

#[test]
fn a_project_does_not_decide_whether_its_agent_is_guarded() {
    let scene = Scene::new().project_file("[guard]\nmode = 'off'\nfail = 'open'\n");
    let settings = scene.load().unwrap();
    let usual = GuardSettings {
        mode: GuardMode::Ask,
        fails_closed: false,
    };
    assert_eq!(settings.guard(), usual);
    assert_eq!(settings.warnings().len(), 2);
    let scene = Scene::new()
        .project_file("[guard]\nmode = 'off'\n")
        .user_file("[guard]\nmode = 'deny'\nfail = 'closed'\n");
    assert_eq!(
        scene.load().unwrap().guard(),
        GuardSettings {
            mode: GuardMode::Deny,
            fails_closed: true
        }
    );
    let scene = Scene::new().variable("GROV_GUARD_MODE", "off");
    assert_eq!(scene.load().unwrap().guard().mode, GuardMode::Off);
    let scene = Scene::new().variable("GROV_GUARD_FAIL", "shut");
    assert!(scene.error().contains("guard.fail must be"));
}
