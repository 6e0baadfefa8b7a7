use super::{Scene, curl, post};
use anyhow::{Context, Result};
use grov_tests::{Request, eventually, exchange, open, read_response};
use std::io::{BufReader, Write};
use std::time::{Duration, Instant};

fn header(token: &str) -> String {
    format!("x-grov-token: {token}")
}

#[test]
fn requests_need_a_valid_token_which_goes_nowhere() -> Result<()> {
    let scene = Scene::new()?;
    let daemon = scene.builder(&["ENABLE_AUTH"]).start()?;
    let url = daemon.url();
    let refused = |arguments: &[&str]| -> Result<()> {
        let answer = post(&url, 1, arguments)?;
        assert_eq!(answer.status, 401, "{}", answer.body);
        assert_eq!(answer.error()?.0, "authentication_error");
        assert_eq!(answer.header("x-should-retry"), Some("false"));
        Ok(())
    };
    refused(&[])?;
    let token = scene.token("ana", &[])?;
    let shown = header(&token);
    refused(&["-H", "x-grov-token: wrong"])?;
    refused(&["-H", &header(&token[..token.len() - 1])])?;
    refused(&["-H", &shown, "-H", "x-grov-token: second"])?;
    let served = post(&url, 1, &["-H", &shown])?;
    assert_eq!(served.status, 200, "{}", served.body);
    let seen = scene.upstream.sim().messages();
    assert_eq!(seen.len(), 1, "refused requests go nowhere");
    let head = format!("{:?}", seen[0].head).to_lowercase();
    assert!(!head.contains(&token) && !head.contains("x-grov"), "{head}");
    // Other paths need it too, and the health page does not.
    assert_eq!(curl(&format!("{url}/api/hello"), &[])?.status, 401);
    assert_eq!(curl(&format!("{url}/_grov/health"), &[])?.status, 200);
    eventually("the last use to be known", || {
        let listed = scene.grov().run_json(&["token", "list"]).ok()?.json;
        listed["tokens"][0]["last_used_at"].is_string().then_some(())
    })?;
    let revoked = scene.grov().run_json(&["token", "revoke", "ana"])?;
    assert_eq!((revoked.code, &revoked.json["revoked"]), (Some(0), &true.into()));
    refused(&["-H", &shown])?;
    assert_eq!(scene.grov().run(&["token", "revoke", "ana"])?.code(), Some(1));
    for file in ["tokens.json", "token-uses.json"] {
        let text = std::fs::read_to_string(scene.home().join(file)).unwrap_or_default();
        assert!(!text.contains(&token), "{file} holds the token");
    }
    let ended = daemon.stop()?;
    assert!(!ended.stderr.contains(&token), "{}", ended.stderr);
    let listed = scene.grov().run_json(&["token", "list"])?.json;
    let ana = &listed["tokens"][0];
    assert_eq!((&ana["name"], &ana["state"]), (&"ana".into(), &"revoked".into()));
    assert!(ana["last_used_at"].is_string(), "saved at the stop: {ana}");
    Ok(())
}

#[test]
fn a_token_expires() -> Result<()> {
    let scene = Scene::new()?;
    let daemon = scene.builder(&["ENABLE_AUTH"]).start()?;
    let token = scene.token("ben", &["--expires", "2s"])?;
    let shown = header(&token);
    let ask = || Ok::<_, anyhow::Error>(post(&daemon.url(), 1, &["-H", &shown])?.status);
    assert_eq!(ask()?, 200);
    eventually("the token to expire", || (ask().ok()? == 401).then_some(()))?;
    let listed = scene.grov().run_json(&["token", "list"])?.json;
    assert_eq!(listed["tokens"][0]["state"], "expired");
    for wrong in ["0s", "soon"] {
        assert_eq!(
            scene
                .grov()
                .run(&["token", "create", "x", "--expires", wrong])?
                .code(),
            Some(64)
        );
    }
    assert_eq!(scene.grov().run(&["token", "create", "a b"])?.code(), Some(64));
    Ok(())
}

#[test]
fn users_are_recorded_apart() -> Result<()> {
    let scene = Scene::new()?;
    let daemon = scene.builder(&["ENABLE_AUTH"]).start()?;
    for (session, name) in [(1, "ana"), (2, "ben")] {
        let token = scene.token(name, &[])?;
        assert_eq!(
            post(&daemon.url(), session, &["-H", &header(&token)])?.status,
            200
        );
    }
    let users = eventually("both sessions", || {
        let sessions = scene.grov().sessions().ok()?;
        let users: Option<std::collections::BTreeSet<String>> = sessions
            .iter()
            .map(|session| Some(session["user"].as_str()?.to_owned()))
            .collect();
        users.filter(|users| users.len() == 2)
    })?;
    assert_eq!(users.into_iter().collect::<Vec<_>>(), ["ana", "ben"]);
    Ok(())
}

#[test]
fn a_thousand_wrong_tokens_fill_no_log() -> Result<()> {
    let scene = Scene::new()?;
    let daemon = scene.builder(&["ENABLE_AUTH"]).start()?;
    let mut stream = BufReader::new(open(daemon.port())?);
    let request = Request::new("GET", "/v1/models").header("x-grov-token", &"0".repeat(69));
    let bytes = request.bytes(daemon.port());
    let start = Instant::now();
    for _ in 0..1000 {
        stream.get_mut().write_all(&bytes)?;
        assert_eq!(read_response(&mut stream, |_| {})?.status, 401);
    }
    assert!(start.elapsed() < Duration::from_secs(30), "{:?}", start.elapsed());
    let metrics = exchange(daemon.port(), &Request::new("GET", "/_grov/metrics"))?.text();
    assert!(
        metrics.contains("grov_faults_total{kind=\"unauthenticated\"} 1000"),
        "{metrics}"
    );
    let log = daemon.stop()?.stderr;
    let lines = log
        .lines()
        .filter(|line| line.contains("without a valid token"))
        .count();
    assert!((1..=6).contains(&lines), "{log}");
    assert!(log.lines().count() < 50, "{log}");
    Ok(())
}

#[test]
fn a_damaged_file_of_tokens_refuses_the_start_and_keeps_a_running_proxy() -> Result<()> {
    let scene = Scene::new()?;
    let daemon = scene.builder(&["ENABLE_AUTH"]).start()?;
    let token = scene.token("ana", &[])?;
    let shown = header(&token);
    let file = scene.home().join("tokens.json");
    std::fs::write(&file, "{ damaged")?;
    eventually("the fault to be logged", || {
        daemon.log().contains("stay in force").then_some(())
    })?;
    assert_eq!(post(&daemon.url(), 1, &["-H", &shown])?.status, 200);
    let created = scene.grov().run_json(&["token", "create", "ben"])?;
    assert_eq!(created.code, Some(2), "{}", created.json);
    assert!(created.json["error"]["hint"].is_string(), "{}", created.json);
    daemon.stop()?;
    let refused = scene.builder(&["ENABLE_AUTH"]).refuse()?;
    assert_eq!(refused.code(), Some(64), "{}", refused.stderr);
    assert!(refused.stderr.contains("tokens.json"), "{}", refused.stderr);
    Ok(())
}

#[test]
fn processes_that_create_tokens_at_once_lose_none() -> Result<()> {
    let scene = Scene::new()?;
    let tokens: Vec<Result<String>> = std::thread::scope(|scope| {
        let create = |number: usize| scene.token(&format!("user-{number}"), &[]);
        let running: Vec<_> = (0..8).map(|number| scope.spawn(move || create(number))).collect();
        running
            .into_iter()
            .filter_map(|thread| thread.join().ok())
            .collect()
    });
    let tokens: Vec<String> = tokens.into_iter().collect::<Result<_>>()?;
    let daemon = scene.builder(&["ENABLE_AUTH"]).start()?;
    for token in &tokens {
        assert_eq!(post(&daemon.url(), 1, &["-H", &header(token)])?.status, 200);
    }
    Ok(())
}

#[test]
fn init_gives_the_client_a_token_and_unregister_takes_it_back() -> Result<()> {
    let scene = Scene::new()?;
    let daemon = scene.builder(&["ENABLE_TLS", "ENABLE_AUTH"]).start()?;
    let folder = scene.folder.path().join(".claude");
    std::fs::create_dir(&folder)?;
    let settings = folder.join("settings.json");
    let before = "{\n  // mine\n  \"env\": {\"ANTHROPIC_CUSTOM_HEADERS\": \"A: b\"}\n}\n";
    std::fs::write(&settings, before)?;
    let grov = scene.grov().env("USER", "ana");
    let dry = grov.run(&["init", "--proxy", "--dry-run"])?;
    assert!(
        dry.stdout.contains("x-grov-token") && !dry.stdout.contains("grov_"),
        "{}",
        dry.stdout
    );
    let done = grov.run(&["init", "--proxy"])?;
    assert_eq!(done.code(), Some(0), "{}", done.stderr);
    assert!(done.stderr.contains("NODE_EXTRA_CA_CERTS"), "{}", done.stderr);
    let text = std::fs::read_to_string(&settings)?;
    assert!(
        text.contains(&format!("https://127.0.0.1:{}", daemon.port())),
        "{text}"
    );
    let (_, rest) = text.split_once("x-grov-token: ").context(text.clone())?;
    let token = &rest[..69];
    let served = post(
        &format!("https://127.0.0.1:{}", daemon.port()),
        1,
        &["--cacert", &scene.authority(), "-H", &header(token)],
    )?;
    assert_eq!(served.status, 200, "{}", served.body);
    // The same token again.
    grov.run(&["init", "--proxy"])?;
    assert!(std::fs::read_to_string(&settings)?.contains(token));
    let listed = grov.run_json(&["token", "list"])?.json;
    assert_eq!(listed["tokens"].as_array().map(Vec::len), Some(1), "{listed}");
    assert_eq!(listed["tokens"][0]["name"], "ana");
    let undone = grov.run_json(&["unregister"])?;
    assert_eq!(undone.json["revoked"][0], "ana", "{}", undone.json);
    assert_eq!(std::fs::read_to_string(&settings)?, before);
    let listed = grov.run_json(&["token", "list"])?.json;
    assert_eq!(listed["tokens"][0]["state"], "revoked", "{listed}");
    Ok(())
}
