use super::{Scene, curl, post};
use anyhow::{Context, Result};
use grov_tests::{Request, exchange};

#[test]
fn requests_beyond_the_limit_are_told_to_wait() -> Result<()> {
    let scene = Scene::new()?;
    let daemon = scene
        .builder(&["ENABLE_RATE_LIMIT"])
        .env("GROV_PROXY_RATE_LIMIT", "3")
        .start()?;
    for _ in 0..3 {
        assert_eq!(post(&daemon.url(), 1, &[])?.status, 200);
    }
    let refused = post(&daemon.url(), 1, &[])?;
    assert_eq!(
        (refused.status, refused.error()?.0.as_str()),
        (429, "rate_limit_error")
    );
    let wait: u64 = refused.header("retry-after").context("no Retry-After")?.parse()?;
    assert!((1..=20).contains(&wait), "{wait}");
    assert_eq!(scene.upstream.turns(), 3);
    // Other paths are not limited.
    for path in ["/_grov/health", "/_grov/metrics"] {
        assert_eq!(curl(&format!("{}{path}", daemon.url()), &[])?.status, 200);
    }
    let other = curl(&format!("{}/api/hello", daemon.url()), &[])?;
    assert_ne!(other.status, 429);
    Ok(())
}

#[test]
fn each_token_has_its_own_limit() -> Result<()> {
    let scene = Scene::new()?;
    let daemon = scene
        .builder(&["ENABLE_RATE_LIMIT", "ENABLE_AUTH"])
        .env("GROV_PROXY_RATE_LIMIT", "2")
        .start()?;
    for name in ["ana", "ben"] {
        let shown = format!("x-grov-token: {}", scene.token(name, &[])?);
        let statuses: Vec<u16> = (0..3)
            .map(|_| Ok(post(&daemon.url(), 1, &["-H", &shown])?.status))
            .collect::<Result<_>>()?;
        assert_eq!(statuses, [200, 200, 429], "{name}");
    }
    assert_eq!(
        post(&daemon.url(), 1, &[])?.status,
        401,
        "not limited, but refused"
    );
    Ok(())
}

#[test]
fn other_machines_need_tls_and_tokens_or_a_word_about_it() -> Result<()> {
    let scene = Scene::new()?;
    let at = |on: &[&str]| scene.builder(on).arg("--host").arg("0.0.0.0");
    for on in [&[][..], &["ENABLE_TLS"], &["ENABLE_AUTH"], &["ENABLE_RATE_LIMIT"]] {
        let refused = at(on).refuse()?;
        assert_eq!(refused.code(), Some(64), "{on:?}: {}", refused.stderr);
        assert!(refused.stderr.contains("--insecure"), "{}", refused.stderr);
    }
    let insecure = at(&[]).arg("--insecure").start()?;
    assert_eq!(post(&insecure.url(), 1, &[])?.status, 200);
    // As if the client had used an address of this machine that a router translates.
    let direct = Request::new("GET", "/_grov/health").header("Host", "10.0.0.7:8080");
    let health = exchange(insecure.port(), &direct)?;
    assert_eq!(health.status, 403, "on loopback, other hosts are refused as ever");
    assert!(insecure.log().contains("insecure"), "{}", insecure.log());
    let status = scene.grov().run_json(&["proxy-status"])?.json;
    assert_eq!(status["proxy"]["access"]["insecure"], true, "{status}");
    let doctor = scene.grov().run_json(&["doctor"])?.json;
    let checks = doctor["checks"].as_array().context("no checks")?;
    let access = checks
        .iter()
        .find(|check| check["name"] == "access")
        .context("no check of access")?;
    assert_eq!(access["status"], "warn", "{access}");
    insecure.stop()?;
    let secure = at(&["ENABLE_TLS", "ENABLE_AUTH"]).start()?;
    let token = format!("x-grov-token: {}", scene.token("ana", &[])?);
    let url = format!("https://localhost:{}", secure.port());
    assert_eq!(
        post(&url, 1, &["--cacert", &scene.authority(), "-H", &token])?.status,
        200
    );
    let status = scene.grov().run_json(&["proxy-status"])?.json;
    assert_eq!(status["proxy"]["running"], true, "{status}");
    assert_eq!(status["proxy"]["access"]["insecure"], false, "{status}");
    assert!(!secure.log().contains("insecure"), "{}", secure.log());
    Ok(())
}
