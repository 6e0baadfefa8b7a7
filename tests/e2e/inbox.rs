//! What sessions propose to remember, and what a person decides about it.

use crate::hooks::hooked::{Hooked, says, writes};
use crate::work::Work;
use anyhow::{Context, Result, ensure};
use grov_tests::eventually;
use serde_json::{Value, json};

const RULE: &str = "From now on use date-fns for dates, never moment.";
const LEFT: &str = "Not done: the invoices still use moment and must be migrated.";

fn begin() -> Result<Option<Hooked>> {
    Hooked::playing(&json!({
        "dates": {"steps": [writes("dates.ts"), says(&format!("The dates are formatted. {LEFT}"))]},
        "times": {"steps": [writes("times.ts"), says("The times are formatted.")]},
        "plain": {"steps": [writes("plain.ts"), says("Done. plain.ts is written.")]},
        "answer": {"steps": [says("With date-fns.")]},
    }))
}

impl Hooked {
    fn proposals(&self) -> Result<Vec<Value>> {
        let inbox = self.grov.run_json(&["memory", "inbox"])?.json;
        ensure!(inbox["schema"] == 1, "{inbox}");
        Ok(inbox["proposals"].as_array().context("no list")?.clone())
    }

    /// A session that proposes a rule and an open end.
    fn proposes(&self) -> Result<Vec<Value>> {
        self.prompt(
            &format!("Format the dates in dates.ts. {RULE} [[scenario:dates]]"),
            &[],
        )?;
        self.wait_for_memories("the session to be kept", |memories| memories.len() == 1)?;
        self.proposals()
    }
}

fn id(item: &Value) -> &str {
    item["id"].as_str().unwrap_or_default()
}

#[test]
fn a_rule_is_proposed_with_evidence_and_injected_only_once_it_is_approved() -> Result<()> {
    let Some(hooked) = begin()? else { return Ok(()) };
    let proposals = hooked.proposes()?;
    let kinds: Vec<&Value> = proposals.iter().map(|item| &item["type"]).collect();
    assert!(
        kinds.contains(&&json!("rule")) && kinds.contains(&&json!("open_loop")),
        "{proposals:#?}"
    );
    assert!(proposals.len() <= 3);
    let rule = proposals
        .iter()
        .find(|item| item["type"] == "rule")
        .context("no rule")?;
    assert_eq!(
        (&rule["status"], &rule["content"]),
        (&json!("proposed"), &json!(RULE)),
        "{rule:#}"
    );
    assert_eq!(rule["evidence"][0]["kind"], "task", "{rule:#}");
    assert_eq!(rule["evidence"][0]["quote"], RULE, "{rule:#}");

    // A proposal is no memory yet: only the task's own record is.
    let count = || -> Result<usize> {
        let found = hooked
            .grov
            .run_json(&["memory", "search", "date-fns or moment for the dates?"])?
            .json;
        Ok(found["results"].as_array().map_or(0, Vec::len))
    };
    let before = count()?;
    let approved = hooked.grov.run_json(&["memory", "approve", id(rule)])?;
    assert_eq!(approved.json["item"]["status"], "accepted", "{:#}", approved.json);
    assert_eq!(count()?, before + 1);
    hooked.prompt(
        "Which library formats the dates, date-fns or moment? [[scenario:answer]]",
        &[],
    )?;
    let request = hooked.newest_request()?;
    assert!(
        request.contains("rule, approved") && request.contains("date-fns for dates, never moment"),
        "{request}"
    );

    // A decision is made once, and a rejected proposal does not come back.
    assert_eq!(
        hooked.grov.run_json(&["memory", "approve", id(rule)])?.code,
        Some(1)
    );
    let open = proposals
        .iter()
        .find(|item| item["type"] == "open_loop")
        .context("no open end")?;
    assert_eq!(
        hooked.grov.run_json(&["memory", "reject", id(open)])?.code,
        Some(0)
    );
    assert_eq!(hooked.proposals()?, Vec::<Value>::new());
    hooked.prompt(
        &format!("Format the times in times.ts, too. {RULE} [[scenario:times]]"),
        &[],
    )?;
    hooked.wait_for_memories("the second session to be kept", |memories| {
        memories.iter().filter(|memory| memory["item"].is_null()).count() == 2
    })?;
    assert_eq!(hooked.proposals()?, Vec::<Value>::new());

    // Forgetting the rule deletes it in every form.
    let forgotten = hooked
        .grov
        .run_json(&["memory", "forget", id(rule), "--yes"])?
        .json;
    assert_eq!(forgotten["forgotten"][0], id(rule), "{forgotten:#}");
    assert_eq!(
        hooked.grov.run_json(&["memory", "approve", id(rule)])?.code,
        Some(1)
    );
    hooked.assert_no_faults()
}

#[test]
fn forgetting_a_task_deletes_what_it_proposed() -> Result<()> {
    let Some(hooked) = begin()? else { return Ok(()) };
    let proposals = hooked.proposes()?;
    let rule = proposals
        .iter()
        .find(|item| item["type"] == "rule")
        .context("no rule")?;
    hooked.grov.run_json(&["memory", "approve", id(rule)])?;
    let task = rule["task_id"].as_str().context("no task")?;
    hooked.grov.run_json(&["memory", "forget", task, "--yes"])?;
    assert_eq!(hooked.proposals()?, Vec::<Value>::new());
    let left = hooked
        .grov
        .run_json(&["memory", "search", "date-fns never moment"])?
        .json;
    assert!(!left.to_string().contains("date-fns for dates"), "{left:#}");
    hooked.assert_no_faults()
}

#[test]
fn a_proposal_is_reworded_and_ordinary_work_proposes_nothing() -> Result<()> {
    let Some(hooked) = begin()? else { return Ok(()) };
    hooked.prompt(
        "Write plain.ts, and do not touch main.rs. [[scenario:plain]]",
        &[],
    )?;
    hooked.wait_for_memories("the session to be kept", |memories| memories.len() == 1)?;
    assert_eq!(hooked.proposals()?, Vec::<Value>::new());

    hooked.prompt(
        &format!("Format the dates in dates.ts. {RULE} [[scenario:dates]]"),
        &[],
    )?;
    hooked.wait_for_memories("the session to be kept", |memories| memories.len() == 2)?;
    let proposals = hooked.proposals()?;
    let rule = proposals
        .iter()
        .find(|item| item["type"] == "rule")
        .context("no rule")?;
    let words = "Dates are formatted with date-fns 4 only.";
    hooked
        .grov
        .run_json(&["memory", "edit", id(rule), "--content", words])?;
    let changed = hooked
        .grov
        .run_json(&["memory", "approve", &id(rule)[28..]])?
        .json;
    assert_eq!(changed["item"]["content"], words, "{changed:#}");
    assert_eq!(changed["item"]["evidence"][0]["quote"], RULE, "{changed:#}");
    let refused = hooked
        .grov
        .run(&["memory", "edit", id(rule), "--goal", "Another"])?;
    assert_eq!(refused.code(), Some(64), "{refused:?}");
    hooked.assert_no_faults()
}

#[test]
fn a_session_start_mentions_proposals_once_a_day() -> Result<()> {
    let Some(hooked) = begin()? else { return Ok(()) };
    hooked.proposes()?;
    let starts = |session: &str| -> Result<String> {
        let input = json!({
            "session_id": session, "hook_event_name": "SessionStart", "source": "startup",
            "cwd": hooked.client.project(), "transcript_path": hooked.client.home().join("none.jsonl"),
        });
        Ok(hooked.grov.hook("SessionStart", &input)?.stdout)
    };
    let first = starts("5f0c5c1e-0000-4000-8000-000000000001")?;
    assert!(first.contains("proposals wait: grov memory inbox"), "{first}");
    let second = starts("5f0c5c1e-0000-4000-8000-000000000002")?;
    assert!(!second.contains("grov memory inbox"), "{second}");
    hooked.assert_no_faults()
}

#[test]
fn a_session_that_only_the_proxy_sees_proposes_too() -> Result<()> {
    let script = json!({"scenarios": {
        "dates": {"steps": [writes("dates.ts"), says(&format!("The dates are formatted. {LEFT}"))]},
        "answer": {"steps": [says("With date-fns.")]},
    }});
    let Some(work) = Work::with(&script)? else {
        return Ok(());
    };
    let prompt = format!("Format the dates in dates.ts. {RULE} [[scenario:dates]]");
    work.prompt(&prompt, &[])?.result()?;
    let grov = work.grov();
    let proposals = eventually("the session to propose something", || {
        let inbox = grov.run_json(&["memory", "inbox"]).ok()?.json;
        let proposals = inbox["proposals"].as_array()?.clone();
        (!proposals.is_empty()).then_some(proposals)
    })?;
    let of_kind = |kind: &str| proposals.iter().find(|item| item["type"] == kind);
    let rule = of_kind("rule").with_context(|| format!("{proposals:#?}"))?;
    assert_eq!(
        (&rule["status"], &rule["content"], &rule["evidence"][0]["quote"]),
        (&json!("proposed"), &json!(RULE), &json!(RULE)),
        "{rule:#}"
    );
    let open = of_kind("open_loop").with_context(|| format!("{proposals:#?}"))?;
    assert!(
        LEFT.contains(open["content"].as_str().context("no content")?),
        "{open:#}"
    );

    let ask = "Which library formats the dates, date-fns or moment? [[scenario:answer]]";
    assert!(!work.request_of(ask)?.contains("rule, approved"));
    let approved = grov.run_json(&["memory", "approve", id(rule)])?;
    assert_eq!(approved.json["item"]["status"], "accepted", "{:#}", approved.json);
    work.injects(ask, &["rule, approved", "date-fns for dates, never moment"])?;
    Ok(())
}
