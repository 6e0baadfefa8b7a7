//! *Routes* with decisions and their reasons, and *Cost* with prompt-cache misses.

use super::{Scene, cookie_of, enter};
use crate::routing::{marked, providers, saying, write_providers};
use crate::turn;
use anyhow::{Context, Result};
use grov_tests::{Daemon, Grov, Request, eventually, exchange};
use serde_json::json;

#[test]
fn routing_decisions_are_shown_with_their_reasons() -> Result<()> {
    let (anthropic, provider) = (saying("anthropic")?, saying("provider")?);
    let folder = tempfile::tempdir()?;
    let home = folder.path().join("grov");
    write_providers(&home, &providers(&provider, "provider-key", ""))?;
    let daemon = Daemon::on(&home, &anthropic.url()).start()?;
    let grov = Grov::on(&home);
    let cookie = cookie_of(&enter(&grov, &daemon)?).context("no cookie")?;
    assert_eq!(exchange(daemon.port(), &marked(1, "fast"))?.status, 200);
    assert_eq!(exchange(daemon.port(), &marked(2, "nowhere"))?.status, 400);
    let decisions = eventually("both decisions", || {
        let decisions = grov.run_json(&["route", "list"]).ok()?.json["decisions"].clone();
        (decisions[1]["result"] == "complete").then_some(decisions)
    })?;
    assert_eq!(decisions[1]["chosen"], "house/small-model", "{decisions:#}");
    assert_eq!(
        decisions[1]["reason"], "marker in the system prompt",
        "{decisions:#}"
    );
    let request = Request::new("GET", "/_grov/ui/routes").header("Cookie", &cookie);
    let page = exchange(daemon.port(), &request)?.text();
    for wanted in [
        ">healthy</span>",
        "why: <bdi>marker in the system prompt</bdi>",
        "chosen <bdi>house/small-model</bdi>",
        "why: <bdi>the provider file has no such label</bdi>",
        ">answered by Grov</span>",
    ] {
        assert!(page.contains(wanted), "{wanted} in {page}");
    }
    assert!(!page.contains("provider-key"), "{page}");
    Ok(())
}

#[test]
fn a_prompt_cache_miss_is_shown_with_its_cost_and_who_caused_it() -> Result<()> {
    let scene = Scene::new()?;
    let session = turn::session(1);
    let send = |beginning: &str| -> Result<()> {
        let text = format!(
            "{beginning} {}",
            "The cart keeps its prices in cents. ".repeat(1_500)
        );
        let block = json!({"type": "text", "text": text, "cache_control": {"type": "ephemeral"}});
        let answer = exchange(
            scene.daemon.port(),
            &turn::request(&session, &[json!({"role": "user", "content": [block]})]),
        )?;
        assert_eq!(answer.status, 200, "{}", answer.text());
        Ok(())
    };
    assert!(
        scene
            .get("/cost?since=all")?
            .text()
            .contains("No request in this period")
    );
    send("First")?;
    // The same beginning is read from the cache, another one is not.
    send("First")?;
    send("Second")?;
    let page = eventually("the miss", || {
        let page = scene.get("/cost?since=all").ok()?.text();
        page.contains("caused by").then_some(page)
    })?;
    assert!(page.contains("the client or the upstream <small>"), "{page}");
    assert!(
        page.contains("<td class=\"number\" data-name=\"requests\">1</td>"),
        "{page}"
    );
    assert!(
        !page.contains("<dt>prompt-cache misses</dt><dd>$0</dd>"),
        "{page}"
    );
    let (_, link) = page.split_once("<li><a href=\"/_grov/ui").context("no link")?;
    let link = link.split('"').next().unwrap_or_default();
    let request = scene.get(link)?;
    assert_eq!(request.status, 200, "{link}");
    assert!(
        request
            .text()
            .contains("sent as the client made it, byte for byte"),
        "{}",
        request.text()
    );
    Ok(())
}
