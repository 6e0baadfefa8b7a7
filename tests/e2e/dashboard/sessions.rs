//! Pages of a session of the real client that only hooks saw: what hooks said, and what it proposes to remember.

use super::{cookie_of, enter};
use crate::hooks::QUESTION;
use crate::hooks::hooked::{Hooked, says, writes};
use anyhow::{Context, Result};
use grov_tests::{Daemon, Request, exchange};
use serde_json::json;

const RULE: &str = "From now on use date-fns for dates, never moment.";

#[test]
fn a_session_of_hooks_shows_their_texts_and_its_proposals_are_decided() -> Result<()> {
    let scenarios = json!({
        "dates": {"steps": [writes("dates.ts"), says("The dates are formatted. Not done: the invoices still use moment and must be migrated.")]},
        "hooks": {"steps": [says("By an outbox table.")]},
    });
    let Some(hooked) = Hooked::playing(&scenarios)? else {
        return Ok(());
    };
    hooked.prompt(&format!("{QUESTION} [[scenario:hooks]]"), &[])?;
    let session = hooked.session_when(1)?;
    hooked.prompt(
        &format!("Format the dates in dates.ts. {RULE} [[scenario:dates]]"),
        &[],
    )?;
    hooked.wait_for_memories("the session to be kept", |memories| !memories.is_empty())?;
    let daemon = Daemon::on(&hooked.home(), &hooked.upstream.url()).start()?;
    let cookie = cookie_of(&enter(&hooked.grov, &daemon)?).context("no cookie")?;
    let get = |path: &str| -> Result<String> {
        let request = Request::new("GET", &format!("/_grov/ui{path}")).header("Cookie", &cookie);
        Ok(exchange(daemon.port(), &request)?.text())
    };

    let page = get(&format!("/sessions/{session}"))?;
    for wanted in [
        "memory added to the session start",
        ">hooks</span>",
        "team-memory",
        "<h3>why</h3>",
    ] {
        assert!(page.contains(wanted), "{wanted} in {page}");
    }

    let inbox = get("/inbox")?;
    assert!(
        inbox.contains(&format!(
            "<strong class=\"card-title\" tabindex=\"-1\" data-row><bdi>{RULE}"
        )),
        "{inbox}"
    );
    assert!(
        inbox.contains(&format!("<blockquote><bdi>{RULE}</bdi>")),
        "{inbox}"
    );
    let token = inbox.split("name=\"token\" value=\"").nth(1).context("no form")?;
    let token = token.split('"').next().unwrap_or_default();
    let proposals = hooked.grov.run_json(&["memory", "inbox"])?.json;
    let proposals = proposals["proposals"].as_array().context("no list")?;
    let id = |kind: &str| -> Result<String> {
        let one = proposals
            .iter()
            .find(|item| item["type"] == kind)
            .context("none")?;
        Ok(one["id"].as_str().context("id")?.to_owned())
    };
    let post = |path: &str, form: &str| {
        let request = Request::new("POST", &format!("/_grov/ui{path}"))
            .header("Cookie", &cookie)
            .header("Content-Type", "application/x-www-form-urlencoded")
            .header("Origin", &daemon.url())
            .body(form);
        exchange(daemon.port(), &request)
    };
    let (rule, open) = (id("rule")?, id("open_loop")?);
    assert_eq!(
        post(&format!("/inbox/{rule}/approve"), "token=guess")?.status,
        403
    );
    let form = format!("token={token}&content=Use+date-fns%2C+never+moment.");
    let approved = post(&format!("/inbox/{rule}/approve"), &form)?;
    assert_eq!(
        approved.header("location"),
        Some("/_grov/ui/inbox?done=approved"),
        "{}",
        approved.text()
    );
    assert_eq!(
        post(&format!("/inbox/{open}/reject"), &format!("token={token}"))?.status,
        303
    );
    assert!(get("/inbox?done=rejected")?.contains("Nothing waits for you"));
    // A decision is made once.
    assert_eq!(post(&format!("/inbox/{rule}/approve"), &form)?.status, 409);
    let found = hooked
        .grov
        .run_json(&["memory", "search", "date-fns or moment for the dates?"])?
        .json;
    assert!(
        found.to_string().contains("Use date-fns, never moment."),
        "{found:#}"
    );
    hooked.assert_no_faults()
}
