//! Changes of memories: every one is a command of `grov memory`, with its checks.

use super::memory::{decisions, texts};
use crate::Site;
use crate::access::signed_form;
use crate::commands::CommandError;
use crate::format::shown;
use crate::page::with_detail;
use axum::extract::{Path, Request, State};
use axum::http::StatusCode;
use axum::response::{IntoResponse, Redirect, Response};
use serde::Deserialize;
use serde_json::Value;

/// Where a memory is shown. Ids have no characters that an address escapes, or they are not ids.
fn address(id: &str, done: &str) -> String {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.');
    match id.bytes().all(is_plain) {
        true => format!("/_grov/ui/memory/{id}?done={done}"),
        false => "/_grov/ui/memory".to_owned(),
    }
}

/// Shows the memory after a change, or why it was not changed.
fn shown_after(result: Result<Value, CommandError>, address: &str) -> Response {
    match result {
        Ok(_) => Redirect::to(address).into_response(),
        Err(error) => with_detail(
            StatusCode::CONFLICT,
            "Nothing was changed",
            &shown(&error.message),
            error.hint.as_deref(),
        ),
    }
}

/// The fields of a memory. A list has one entry a line.
#[derive(Deserialize)]
struct Fields {
    goal: String,
    query: String,
    status: String,
    #[serde(default)]
    decisions: String,
    #[serde(default)]
    constraints: String,
    #[serde(default)]
    findings: String,
    #[serde(default)]
    tags: String,
}

/// `POST /_grov/ui/memory/{id}/edit`
pub(super) async fn edit(State(site): State<Site>, Path(id): Path<String>, request: Request) -> Response {
    let fields: Fields = match signed_form(&site, request).await {
        Ok(fields) => fields,
        Err(refused) => return refused,
    };
    let stored = match site.commands.run(&["memory", "show", "--", &id]).await {
        Ok(stored) => stored,
        Err(error) => return shown_after(Err(error), ""),
    };
    let words = changes(&stored["memory"], &fields);
    if words.is_empty() {
        return Redirect::to(&address(&id, "")).into_response();
    }
    let mut command = vec!["memory", "edit"];
    command.extend(words.iter().map(String::as_str));
    command.extend(["--", &id]);
    shown_after(site.commands.run(&command).await, &address(&id, "edited"))
}

/// The flags of `grov memory edit` that make the stored memory that of the form.
fn changes(memory: &Value, fields: &Fields) -> Vec<String> {
    let mut words = Vec::new();
    for (field, flag, wanted) in [
        ("goal", "goal", &fields.goal),
        ("original_query", "query", &fields.query),
        ("status", "status", &fields.status),
    ] {
        let stored = memory[field].as_str().map(shown).unwrap_or_default();
        // Browsers send line breaks as CRLF.
        let wanted = wanted.replace("\r\n", "\n");
        if wanted.trim() != stored.trim() {
            words.push(format!("--{flag}={}", wanted.trim()));
        }
    }
    for (flag, stored, wanted) in [
        ("decision", decisions(memory), &fields.decisions),
        ("constraint", texts(memory, "constraints"), &fields.constraints),
        ("finding", texts(memory, "reasoning_trace"), &fields.findings),
        ("tag", texts(memory, "tags"), &fields.tags),
    ] {
        // An entry with line breaks is one line in the form.
        let stored: Vec<String> = stored.iter().map(|one| one.replace('\n', " ")).collect();
        let wanted: Vec<&str> = wanted
            .lines()
            .map(str::trim)
            .filter(|one| !one.is_empty())
            .collect();
        let removed = stored.iter().filter(|one| !wanted.contains(&one.trim()));
        words.extend(removed.map(|one| {
            // A decision is named by its choice.
            let name = if flag == "decision" {
                one.split(": ").next().unwrap_or(one)
            } else {
                one
            };
            format!("--remove-{flag}={name}")
        }));
        let added = wanted
            .iter()
            .filter(|one| !stored.iter().any(|known| known.trim() == **one));
        words.extend(added.map(|one| format!("--add-{flag}={one}")));
    }
    words
}

/// The replacement of a memory; empty to undo it.
#[derive(Deserialize)]
struct Replacement {
    #[serde(default)]
    by: String,
}

/// `POST /_grov/ui/memory/{id}/supersede`
pub(super) async fn supersede(
    State(site): State<Site>,
    Path(id): Path<String>,
    request: Request,
) -> Response {
    let form: Replacement = match signed_form(&site, request).await {
        Ok(form) => form,
        Err(refused) => return refused,
    };
    let by = form.by.trim();
    let (words, done) = match by {
        "" => (vec!["memory", "supersede", "--undo", "--", &id], "restored"),
        by => (vec!["memory", "supersede", "--", &id, by], "replaced"),
    };
    shown_after(site.commands.run(&words).await, &address(&id, done))
}

/// A form without fields.
#[derive(Deserialize)]
struct Nothing {}

/// `POST /_grov/ui/memory/{id}/forget`
pub(super) async fn forget(State(site): State<Site>, Path(id): Path<String>, request: Request) -> Response {
    if let Err(refused) = signed_form::<Nothing>(&site, request).await {
        return refused;
    }
    let done = site.commands.run(&["memory", "forget", "--yes", "--", &id]).await;
    shown_after(done, "/_grov/ui/memory")
}

/// A decision; `content` are the words to accept instead.
#[derive(Deserialize)]
struct Decided {
    #[serde(default)]
    content: String,
}

/// `POST /_grov/ui/inbox/{id}/approve` and `…/reject`
pub(super) async fn decide(
    State(site): State<Site>,
    Path((id, decision)): Path<(String, String)>,
    request: Request,
) -> Response {
    let form: Decided = match signed_form(&site, request).await {
        Ok(form) => form,
        Err(refused) => return refused,
    };
    let content = format!("--content={}", form.content.replace("\r\n", "\n").trim());
    let (words, done) = match decision.as_str() {
        "approve" if form.content.trim().is_empty() => (vec!["memory", "approve", "--", &id], "approved"),
        "approve" => (vec!["memory", "approve", &content, "--", &id], "approved"),
        _ => (vec!["memory", "reject", "--", &id], "rejected"),
    };
    let done = format!("/_grov/ui/inbox?done={done}");
    shown_after(site.commands.run(&words).await, &done)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn form(goal: &str, decisions: &str, tags: &str) -> Fields {
        Fields {
            goal: goal.to_owned(),
            query: "p".to_owned(),
            status: "complete".to_owned(),
            decisions: decisions.to_owned(),
            constraints: String::new(),
            findings: String::new(),
            tags: tags.to_owned(),
        }
    }

    #[test]
    fn only_what_was_changed_becomes_a_flag() {
        let memory = json!({
            "goal": "g", "original_query": "p", "status": "complete",
            "decisions": [{"choice": "use sqlx", "reason": "async"}, {"choice": "no ORM", "reason": ""}],
            "tags": ["db"],
        });
        assert!(changes(&memory, &form("g", "use sqlx: async\r\nno ORM", "db")).is_empty());
        assert_eq!(
            changes(&memory, &form("--yes", "no ORM\nWAL: fast", "")),
            [
                "--goal=--yes",
                "--remove-decision=use sqlx",
                "--add-decision=WAL: fast",
                "--remove-tag=db"
            ]
        );
    }

    #[test]
    fn hostile_ids_do_not_become_addresses() {
        assert_eq!(
            address("0190-ab", "edited"),
            "/_grov/ui/memory/0190-ab?done=edited"
        );
        for id in ["//evil.example", "a?b", "a\r\nSet-Cookie: x", "é"] {
            assert_eq!(address(id, "edited"), "/_grov/ui/memory", "{id}");
        }
    }
}
