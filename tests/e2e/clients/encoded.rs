//! Requests with a content coding: read for the record, and relayed as they came.

use super::conversation::{Chat, Conversation, Responses, SESSION};
use super::{canned, record, script};
use crate::judge::query;
use anyhow::{Context, Result};
use grov_sim::Encoding;
use grov_tests::{Daemon, Request, WireTap, eventually, exchange};
use serde_json::json;
use std::fs;

/// A client that encodes what it sends.
struct Encoded<C> {
    client: C,
    encoding: Encoding,
}

impl<C: Conversation> Conversation for Encoded<C> {
    fn next_request(&mut self) -> Option<Request> {
        let request = self.client.next_request()?;
        let body = self.encoding.encode(request.payload());
        Some(
            request
                .header("content-encoding", self.encoding.as_str())
                .body(body),
        )
    }

    fn answered(&mut self, events: &str) {
        self.client.answered(events);
    }
}

#[test]
fn an_encoded_conversation_is_recorded_and_relayed_as_it_came() -> Result<()> {
    for encoding in [Encoding::Zstd, Encoding::Gzip, Encoding::Brotli] {
        let patch = "*** Begin Patch\n*** Add File: notes.md\n+# Notes\n*** End Patch\n";
        let write = json!({"type": "tool_use", "name": "apply_patch", "input": {"input": patch}});
        let client = Responses::new();
        let mut codex = Encoded { client, encoding };
        let (steps, session) = record(&mut codex, &script("exec_command", "cmd", &write))?;
        super::assert_recorded(&steps, &session, ["exec_command", "apply_patch"]);
        assert_eq!(session["client_session_id"], SESSION, "{session}");
    }
    let input = json!({"filePath": "/home/dev/app/notes.md", "content": "# Notes\n"});
    let write = json!({"type": "tool_use", "name": "write", "input": input});
    let mut opencode = Encoded {
        client: Chat::new(),
        encoding: Encoding::Gzip,
    };
    let (steps, session) = record(&mut opencode, &script("bash", "command", &write))?;
    super::assert_recorded(&steps, &session, ["bash", "write"]);
    Ok(())
}

/// The most memory that a process has used so far, in MiB.
fn peak(process: u32) -> Result<u64> {
    let status = fs::read_to_string(format!("/proc/{process}/status"))?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let kibibytes = line.and_then(|line| line.trim().strip_suffix(" kB"));
    Ok(kibibytes.context("no VmHWM")?.trim().parse::<u64>()? / 1024)
}

#[test]
fn a_bomb_and_a_broken_coding_are_relayed_and_not_read() -> Result<()> {
    let folder = tempfile::tempdir()?;
    let home = folder.path().join("grov");
    let end = json!({"type": "response.completed", "response": {"status": "completed", "usage": {"input_tokens": 3, "output_tokens": 2}}});
    let upstream = canned::answering("text/event-stream", format!("data: {end}\n\n").into_bytes())?;
    let tap = WireTap::before(upstream)?;
    let daemon = Daemon::on(&home, &tap.url()).start()?;
    let before = peak(daemon.pid())?;
    let bomb = vec![b' '; 512 << 20];
    let cut = {
        let mut whole = Encoding::Zstd.encode(b"{\"input\":\"go\"}");
        whole.truncate(whole.len() - 3);
        whole
    };
    let bodies = [
        ("zstd", Encoding::Zstd.encode(&bomb)),
        ("gzip", Encoding::Gzip.encode(&bomb)),
        ("gzip, gzip", Encoding::Gzip.encode(&Encoding::Gzip.encode(&bomb))),
        ("zstd", cut),
        ("gzip", b"{\"input\":\"plain\"}".to_vec()),
        ("lzma", b"unknown".to_vec()),
    ];
    drop(bomb);
    for (number, (coding, body)) in (1..).zip(bodies) {
        let request = Request::new("POST", "/v1/responses")
            .header("content-encoding", coding)
            .header("session-id", SESSION)
            .body(body.clone());
        let answer = exchange(daemon.port(), &request)?;
        assert_eq!(answer.status, 200);
        let relayed = tap.messages()?.pop().context("it was not relayed")?;
        assert!(relayed.body == body, "{coding}: the request was changed");
        eventually("the exchange to be stored", || {
            let count = query(&home, "SELECT CAST(count(*) AS TEXT) FROM exchanges").ok()?;
            (count == [number.to_string()]).then_some(())
        })?;
    }
    assert!(query(&home, "SELECT text FROM prompts")?.is_empty());
    assert_eq!(
        query(&home, "SELECT CAST(sum(output) AS TEXT) FROM exchanges")?,
        ["12"]
    );
    let grown = peak(daemon.pid())?.saturating_sub(before);
    assert!(grown < 100, "{grown} MiB");
    Ok(())
}
