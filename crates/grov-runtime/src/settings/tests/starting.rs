//! Settings with which the proxy refuses to start.

use super::*;

fn startable(scene: &Scene) -> Settings {
    let settings = scene.load().unwrap();
    settings.ensure_startable(&scene.environment()).unwrap();
    settings
}

#[test]
fn names_of_the_seed_switch_protection_on() {
    for value in ["true", "1", "YES", "on"] {
        let scene = Scene::new()
            .variable("ENABLE_AUTH", value)
            .variable("GROV_ENABLE_RATE_LIMIT", value)
            .variable("ENABLE_TLS", value);
        let settings = startable(&scene);
        let proxy = settings.proxy();
        assert!(proxy.enable_auth);
        assert_eq!(proxy.request_limit(), Some(100));
        assert_eq!(proxy.tls(), Some(TlsSource::SelfSigned));
    }
    let settings = startable(&Scene::new());
    let proxy = settings.proxy();
    assert_eq!((proxy.request_limit(), proxy.tls()), (None, None));
}

#[test]
fn a_connect_proxy_beside_tokens_is_refused() {
    let scene = || {
        Scene::new()
            .variable("ENABLE_AUTH", "true")
            .user_file("[mitm]\nenabled = true")
    };
    let message = scene().refusal();
    assert!(message.contains("asks for no token"), "{message}");
    startable(&scene().variable("GROV_PROXY_INSECURE", "true"));
}

#[test]
fn a_certificate_needs_its_key() {
    for (name, other) in [
        ("GROV_PROXY_TLS_CERT", "tls_key"),
        ("GROV_PROXY_TLS_KEY", "tls_cert"),
    ] {
        let message = Scene::new().variable(name, "x.pem").refusal();
        assert!(
            message.contains(name) && message.contains(&format!("proxy.{other} is not")),
            "{message}"
        );
    }
    let both = Scene::new()
        .variable("GROV_PROXY_TLS_CERT", "x.pem")
        .variable("GROV_PROXY_TLS_KEY", "/y.pem");
    let settings = startable(&both);
    let Some(TlsSource::Files(files)) = settings.proxy().tls() else {
        panic!("a certificate switches TLS on")
    };
    assert!(files.certificates.is_absolute() && files.certificates.ends_with("x.pem"));
    let message = Scene::new()
        .user_file("[proxy]\nenable_tls = true\ntls_self_signed = false")
        .refusal();
    assert!(message.contains("config.toml:2: asks for TLS"), "{message}");
}

#[test]
fn other_machines_need_tls_and_a_token() {
    for host in ["0.0.0.0", "192.168.1.5", "::", "::ffff:10.0.0.1"] {
        let at = |on: &[&'static str]| {
            let scene = Scene::new().variable("PROXY_HOST", host);
            on.iter().fold(scene, |scene, name| scene.variable(name, "true"))
        };
        for (on, missing) in [
            (&[][..], "neither TLS nor tokens"),
            (&["ENABLE_TLS"], "tokens are off"),
            (&["ENABLE_AUTH"], "TLS is off"),
            (&["ENABLE_AUTH", "ENABLE_RATE_LIMIT"], "TLS is off"),
        ] {
            let message = at(on).refusal();
            assert!(
                message.contains("PROXY_HOST") && message.contains(missing),
                "{message}"
            );
        }
        let settings = startable(&at(&["ENABLE_TLS", "ENABLE_AUTH"]));
        assert!(settings.proxy().is_reachable() && !settings.proxy().is_exposed());
        let settings = startable(&at(&["GROV_PROXY_INSECURE"]));
        assert!(settings.proxy().is_exposed());
    }
    for host in ["127.0.0.1", "127.0.0.9", "::1", "localhost"] {
        let settings = startable(&Scene::new().flag("proxy.host", host));
        assert!(!settings.proxy().is_exposed());
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
