//! Sources of values and their precedence.

use super::*;
use std::net::{IpAddr, Ipv4Addr};
use std::time::Duration;

#[test]
fn defaults_match_the_documentation() {
    let settings = Scene::new().load().unwrap();
    let seconds = Duration::from_secs;
    assert_eq!(
        settings.proxy(),
        &ProxySettings {
            gemini_upstream: None,
            openai_upstream: None,
            host: IpAddr::V4(Ipv4Addr::LOCALHOST),
            insecure: false,
            port: 8080,
            rate_limit: 100,
            tls_cert: None,
            tls_key: None,
            tls_self_signed: true,
            upstream: crate::Url::parse("https://api.anthropic.com").unwrap(),
            extra_ca: None,
            headers: HeaderPolicy::Open,
            body_limit: 33_554_432,
            connect_timeout: seconds(30),
            response_timeout: seconds(900),
            idle_timeout: seconds(300),
            shutdown_grace: seconds(30),
            enable_auth: false,
            enable_rate_limit: false,
            enable_tls: false,
            allowed_hosts: Vec::new(),
        }
    );
    assert_eq!(
        settings.log(),
        &LogSettings {
            keep: 7,
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
            budget_tokens: 800,
            ask_agent: false,
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
fn each_source_overrides_the_next() {
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
fn prefixed_variables_override_plain_ones() {
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
fn the_environment_overrides_every_name_in_the_env_file() {
    let scene = Scene::new()
        .env_file("GROV_PROXY_PORT=1")
        .variable("PROXY_PORT", "2");
    assert_eq!(scene.load().unwrap().proxy().port, 2);
}

#[test]
fn an_empty_variable_counts_as_not_set() {
    let scene = Scene::new()
        .variable("PROXY_PORT", "")
        .env_file("PROXY_PORT=\nPROXY_HOST=''");
    let settings = scene.load().unwrap();
    assert_eq!(explained(&settings, "proxy.port").1, "default");
    assert!(!settings.is_set("proxy.host"));
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
fn an_unknown_setting_is_explained_with_the_nearest_name() {
    let error = Scene::new().load().unwrap().explain("proxy.pot").unwrap_err();
    assert_eq!(error.to_string(), "there is no setting \"proxy.pot\"");
    assert_eq!(error.hint().as_deref(), Some("did you mean proxy.port?"));
}

#[test]
fn a_relative_log_file_is_in_the_home() {
    let scene = Scene::new().variable("GROV_LOG_FILE", "logs/x.log");
    assert_eq!(
        scene.load().unwrap().log().file,
        Some(scene.path(".grov/logs/x.log"))
    );
}

#[test]
fn apis_of_other_providers_follow_a_gateway_unless_set() {
    let addresses = |scene: Scene| {
        let settings = scene.load().unwrap();
        let proxy = settings.proxy();
        let owned = |address: Option<&str>| address.map(str::to_owned);
        (owned(proxy.openai_address()), owned(proxy.gemini_address()))
    };
    let usual = (
        Some("https://api.openai.com".to_owned()),
        Some("https://generativelanguage.googleapis.com".to_owned()),
    );
    assert_eq!(addresses(Scene::new()), usual);
    let gateway = || Scene::new().variable("GROV_PROXY_UPSTREAM", "https://gateway.example");
    assert_eq!(addresses(gateway()), (None, None));
    let set = gateway().variable("GROV_PROXY_OPENAI_UPSTREAM", "https://other.example/api");
    assert_eq!(
        addresses(set),
        (Some("https://other.example/api".to_owned()), None)
    );
}
