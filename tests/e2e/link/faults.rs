//! A service that is away, slow, of another version, or something else altogether.

use super::{Developer, key};
use crate::agent::{Scene, text};
use anyhow::{Result, ensure};
use grov_tests::{Agent, Answer, Balancer, eventually};
use serde_json::Value;
use std::io::{Read, Write};
use std::net::TcpListener;

const PROJECT: &str = "00000000-0000-4000-8000-000000000001";

/// A server that answers each request by its head, and closes the connection. Returns its port.
fn stand_in(answer: impl Fn(&str) -> String + Send + 'static) -> Result<u16> {
    let listener = TcpListener::bind("127.0.0.1:0")?;
    let port = listener.local_addr()?.port();
    std::thread::spawn(move || {
        for mut stream in listener.incoming().flatten() {
            let mut head = Vec::new();
            let mut byte = [0];
            while !head.ends_with(b"\r\n\r\n") && stream.read(&mut byte).is_ok_and(|read| read == 1) {
                head.push(byte[0]);
            }
            let reply = answer(&String::from_utf8_lossy(&head));
            // A client that gave up is no fault.
            let _ = stream.write_all(reply.as_bytes());
        }
    });
    Ok(port)
}

fn reply(status: &str, media_type: &str, body: &str) -> String {
    let length = body.len();
    format!(
        "HTTP/1.1 {status}\r\nContent-Type: {media_type}\r\nContent-Length: {length}\r\nConnection: close\r\n\r\n{body}"
    )
}

/// `GET /health` as the service answers it.
fn health() -> String {
    let body = r#"{"status":"ok","version":"0.0.1","database":{"kind":"sqlite","ok":true}}"#;
    reply("200 OK", "application/json", body)
}

/// Links through a balancer, so that what is behind the address can be replaced.
fn linked_through(scene: &Scene, ada: &Developer, balancer: &Balancer) -> Result<()> {
    let linked = link_to(
        ada,
        balancer.port(),
        &scene.project,
        &key(scene, "ada", "approver")?,
    )?;
    ensure!(linked.json["linked"] == true, "{:#}", linked.json);
    eventually("the first exchange", || {
        ada.status().ok()?["last_sync"].as_str().map(drop)
    })
}

fn link_to(ada: &Developer, port: u16, project: &str, key: &str) -> Result<Answer> {
    let (url, key) = (format!("http://127.0.0.1:{port}"), ada.key_file(key)?);
    ada.grov.run_json(&[
        "agent",
        "link",
        &url,
        "--remote-project",
        project,
        "--key-file",
        &key,
    ])
}

fn arrives(scene: &Scene, id: &str) -> Result<()> {
    let target = format!("/projects/{}/memory/{id}", scene.project);
    eventually("the decision to arrive at the service", || {
        let (status, _) = scene.agent.call("GET", &target, &Value::Null).ok()?;
        (status == 200).then_some(())
    })
}

#[test]
fn what_was_decided_while_the_service_was_away_is_sent_when_it_is_back() -> Result<()> {
    let scene = Scene::offline()?;
    let ada = Developer::new("Ada")?;
    let balancer = Balancer::start(vec![scene.agent.port()])?;
    linked_through(&scene, &ada, &balancer)?;
    let Scene {
        agent,
        project,
        folder,
    } = scene;
    let old = agent.port();
    agent.kill()?;
    let contents = [
        "Deploys happen on Tuesdays.",
        "Invoices are numbered per country.",
    ];
    let ids = contents
        .iter()
        .map(|content| ada.accepts(content))
        .collect::<Result<Vec<_>>>()?;
    let status = eventually("the fault to be shown", || {
        ada.status()
            .ok()
            .filter(|status| text(&status["fault"]).contains("tried again"))
    })?;
    // Two decisions and the tasks that they come from.
    assert_eq!(
        (&status["state"], &status["pending_out"]),
        (&"on".into(), &4.into()),
        "{status:#}"
    );

    let agent = Agent::on(&folder.path().join("grov")).start()?;
    balancer.replace(old, agent.port());
    let scene = Scene {
        agent,
        project,
        folder,
    };
    for id in ids {
        arrives(&scene, &id)?;
    }
    eventually("the fault to be over", || {
        let status = ada.status().ok()?;
        (status["fault"].is_null() && status["pending_out"] == 0).then_some(())
    })
}

#[test]
fn a_link_to_what_became_a_page_says_so() -> Result<()> {
    let ada = Developer::new("Ada")?;
    let mut lock = Some(ada.without_worker()?);
    let scene = Scene::offline()?;
    let balancer = Balancer::start(vec![scene.agent.port()])?;
    link_to(
        &ada,
        balancer.port(),
        &scene.project,
        &key(&scene, "ada", "approver")?,
    )?;
    let portal = stand_in(|_| reply("200 OK", "text/html", "<html>Please sign in</html>"))?;
    balancer.replace(scene.agent.port(), portal);
    ada.accepts("Deploys happen on Tuesdays.")?;
    let synced = ada.sync(&mut lock)?;
    assert_eq!(synced.code, Some(2), "{:#}", synced.json);
    let status = ada.status()?;
    assert_eq!(
        (&status["state"], &status["pending_out"]),
        (&"on".into(), &2.into()),
        "{status:#}"
    );
    assert!(text(&status["fault"]).contains("HTML page"), "{status:#}");
    Ok(())
}

#[test]
fn a_service_without_the_calls_of_a_link_is_named_as_older() -> Result<()> {
    let ada = Developer::new("Ada")?;
    let older = stand_in(|head| match head.contains("GET /health") {
        true => health(),
        false => reply(
            "404 Not Found",
            "application/problem+json",
            r#"{"type":"about:blank","title":"Not Found","status":404,"code":"not_found","detail":"there is no such path"}"#,
        ),
    })?;
    let refused = link_to(&ada, older, PROJECT, "grov_secret")?;
    assert_eq!(refused.code, Some(2), "{:#}", refused.json);
    assert!(
        text(&refused.json["error"]["message"]).contains("older than this version"),
        "{:#}",
        refused.json
    );
    assert_eq!(ada.grov.run_json(&["agent", "status"])?.code, Some(1));
    Ok(())
}

/// A service with kinds of records and fields that this version does not know.
#[test]
fn what_a_newer_service_sends_is_read_as_far_as_it_is_known() -> Result<()> {
    let ada = Developer::new("Ada")?;
    let mut lock = Some(ada.without_worker()?);
    let feed = r#"{"changes":[
        {"revision":1,"kind":"plan","id":"p1","plan":{"steps":[]},"deleted":false},
        {"revision":2,"kind":"item","id":"x","deleted":true,"mood":"good"},
        {"revision":3,"kind":"task","id":"of-ben","deleted":false,"weather":"fair","task":{"id":"of-ben",
         "original_query":"Format the dates","status":"complete","created_at":"2026-01-02T03:04:05Z","colour":"blue"}}
        ],"latest":3,"next":"soon"}"#;
    let newer = stand_in(move |head| match head {
        head if head.contains("GET /health") => health(),
        head if head.contains("changes?after=0&") => reply("200 OK", "application/json", feed),
        _ => reply("200 OK", "application/json", r#"{"changes":[],"latest":3}"#),
    })?;
    let linked = link_to(&ada, newer, PROJECT, "grov_secret")?;
    assert_eq!(linked.json["linked"], true, "{:#}", linked.json);
    let synced = ada.sync(&mut lock)?;
    assert_eq!(synced.code, Some(0), "{:#}", synced.json);
    let memories = ada.grov.run_json(&["memory", "list"])?.json;
    assert_eq!(memories["memories"][0]["id"], "of-ben", "{memories:#}");
    Ok(())
}

#[test]
fn a_service_that_hangs_delays_no_prompt_and_gets_everything_later() -> Result<()> {
    let scene = Scene::offline()?;
    let ada = Developer::new("Ada")?;
    ada.link(&scene, &key(&scene, "ada", "approver")?)?;
    let known = ada.accepts("Refunds are queued in the ledger table, not sent inline.")?;
    arrives(&scene, &known)?;
    scene.agent.signal("STOP")?;
    let id = ada.accepts("Invoices are numbered per country.")?;
    // Injected from this machine, whatever the service does: also what was accepted since.
    for (session, (prompt, expected)) in [
        (
            "How are refunds sent, inline or queued in the ledger table?",
            "Refunds are queued",
        ),
        (
            "How are invoices numbered, per country or per year?",
            "numbered per country",
        ),
    ]
    .into_iter()
    .enumerate()
    {
        let reply = ada.injected(u32::try_from(session)?, prompt)?;
        assert!(reply.contains(expected), "{reply}");
    }
    assert!(ada.status()?["pending_out"].as_u64() >= Some(1));
    scene.agent.signal("CONT")?;
    arrives(&scene, &id)
}
