//! Before and after of a request: the page shows exactly the bytes that arrived and the client did not send.

use super::{cookie_of, enter};
use crate::judge::TestHome;
use anyhow::{Context, Result, ensure};
use grov_tests::{Daemon, Request, eventually, exchange};
use serde_json::json;

/// A page of a signed-in browser.
fn page(daemon: &Daemon, cookie: &str, path: &str) -> Result<String> {
    let answer = exchange(daemon.port(), &Request::new("GET", path).header("Cookie", cookie))?;
    ensure!(answer.status == 200, "{path}: {}", answer.text());
    Ok(answer.text())
}

/// The texts between two marks.
fn between<'p>(page: &'p str, opening: &'p str, closing: &'p str) -> impl Iterator<Item = &'p str> {
    let parts = page.split(opening).skip(1);
    parts.filter_map(move |part| part.split_once(closing).map(|(text, _)| text))
}

/// The text that a browser shows for escaped text.
fn unescaped(text: &str) -> String {
    [
        ("&#60;", "<"),
        ("&#62;", ">"),
        ("&#34;", "\""),
        ("&#39;", "'"),
        ("&#38;", "&"),
    ]
    .iter()
    .fold(text.to_owned(), |text, (escape, character)| {
        text.replace(escape, character)
    })
}

#[test]
fn the_page_of_a_request_shows_the_bytes_that_were_added() -> Result<()> {
    let home = TestHome::new()?;
    let daemon = home.with_rules().start()?;
    let record = json!({
        "id": "mixer", "project_path": "elsewhere", "user": "Ada", "original_query": "Tune the violin mixer",
        "goal": "Tune the violin mixer <b>", "reasoning_trace": ["The violin mixer was too loud"],
        "files_touched": ["src/violin.rs"], "decisions": [{"choice": "Halve the gain of the violin mixer", "reason": "It clipped"}],
        "constraints": [], "tags": [], "status": "complete", "created_at": "2026-01-02T03:04:05Z",
    });
    let file = home.project().join("records.jsonl");
    std::fs::write(&file, format!("{record}\n"))?;
    home.grov()
        .run_json(&["memory", "import", file.to_str().context("path")?])?;
    let cookie = cookie_of(&enter(&home.grov(), &daemon)?).context("no cookie")?;
    // A busy machine misses the time limit of a memory; then another session asks.
    let mut found = None;
    for _ in 0..40 {
        let mut person = home.person(&daemon)?;
        person.types("How did we tune the violin mixer, and why?")?;
        let sent = person.transcript().exchanges.iter().map(|one| one.sent.to_vec());
        let sent: Vec<Vec<u8>> = sent.collect();
        let session = person.session.to_string();
        let arrived = home.api.sim().messages().into_iter().filter(|request| {
            request.header("x-claude-code-session-id") == Some(&session)
                && !sent.contains(&request.body.to_vec())
        });
        let arrived: Vec<_> = arrived.collect();
        if let Some(first) = arrived.first() {
            found = Some((session, sent, first.body.to_vec()));
            break;
        }
    }
    let (session, sent, arrived) = found.context("no request was changed")?;
    let arrived = String::from_utf8(arrived)?;
    let list = eventually("the request is recorded", || {
        let list = page(&daemon, &cookie, &format!("/_grov/ui/sessions/{session}")).ok()?;
        list.contains("bytes by Grov").then_some(list)
    })?;
    let prefix = format!("/_grov/ui/sessions/{session}/requests/");
    let links = between(&list, &prefix, "\"").map(|id| format!("{prefix}{id}"));
    let mut checked = 0;
    for link in links {
        let page = page(&daemon, &cookie, &link)?;
        if !page.contains(&format!(">{}</td>", arrived.len())) {
            continue;
        }
        let added: String = between(&page, "<ins><bdi>", "</bdi></ins>")
            .map(unescaped)
            .collect();
        let at = arrived
            .find(&added)
            .with_context(|| format!("not in the request: {added}"))?;
        let client = [&arrived[..at], &arrived[at + added.len()..]]
            .concat()
            .into_bytes();
        assert!(
            sent.contains(&client),
            "the client did not send {}",
            String::from_utf8_lossy(&client)
        );
        for wanted in [
            format!(">{}</td>", client.len()),
            format!("at byte {at}, message "),
            "<bdi>memory</bdi>".to_owned(),
            "why: <bdi>".to_owned(),
            "cached prefix".to_owned(),
            ">new</span>".to_owned(),
            "/_grov/ui/memory/".to_owned(),
        ] {
            assert!(page.contains(&wanted), "{wanted} in {page}");
        }
        // The memory's markup is text here, too.
        assert!(!page.contains("mixer <b>"), "{page}");
        checked += 1;
    }
    assert_eq!(checked, 1, "{list}");
    let missing = Request::new("GET", &format!("{prefix}none")).header("Cookie", &cookie);
    assert_eq!(exchange(daemon.port(), &missing)?.status, 404);
    Ok(())
}
