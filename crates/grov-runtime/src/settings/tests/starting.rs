//! Settings with which the proxy refuses to start.

use super::*;

#[test]
fn protection_that_is_not_implemented_is_refused() {
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
fn only_loopback_listeners_are_allowed() {
    for host in ["0.0.0.0", "192.168.1.5", "::", "::ffff:10.0.0.1"] {
        let message = Scene::new().variable("PROXY_HOST", host).refusal();
        assert!(
            message.contains("PROXY_HOST") && message.contains("not a loopback"),
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
fn grovs_own_calls_never_reach_the_proxy() {
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
