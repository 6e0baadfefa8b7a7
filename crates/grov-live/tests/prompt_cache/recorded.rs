//! Histories from requests of the real client.

use grov_sim::history::{Event, Sent};
use grov_sim::request::MessagesRequest;
use std::path::{Path, PathBuf};
use time::{Duration, OffsetDateTime};

/// Recordings that continue each other, in order of time.
const SESSIONS: [&[&str]; 2] = [
    &[
        "side_title",
        "loop_0_first",
        "loop_1_after_write",
        "loop_2_after_bash",
        "loop_3_queued_prompt",
        "side_suggestion",
        "loop_4_second_prompt",
        "loop_4_resumed",
        "side_compaction",
        "after_compaction",
        "side_web_search",
    ],
    &["older_0_first", "older_1_parallel", "older_2_resumed"],
];

/// Returns hand-made bodies in the real client's shapes, each sent twice, with a restart between any two.
pub(crate) fn golden() -> Vec<Event> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../grov-wire/tests/golden/requests");
    let mut events = Vec::new();
    for name in SESSIONS.into_iter().flatten() {
        let body = std::fs::read(folder.join(name).with_extension("json")).unwrap();
        for _ in 0..2 {
            events.push(event(events.len(), None, None, body.clone()));
        }
        events.push(Event::Restart);
    }
    events
}

/// Reads recordings from a directory: `requests/*.json`, each `{"request": {"headers": [[name, value]…], "body":
/// {…}}}`.
pub(crate) fn set(folder: &Path) -> Vec<Event> {
    let files = std::fs::read_dir(folder.join("requests")).unwrap();
    let mut files: Vec<PathBuf> = files.map(|entry| entry.unwrap().path()).collect();
    files.sort();
    let mut events = Vec::new();
    for file in files {
        let recording: serde_json::Value = serde_json::from_slice(&std::fs::read(&file).unwrap()).unwrap();
        let request = &recording["request"];
        let is_counting = file.to_string_lossy().contains("count_tokens");
        if !request["body"]["messages"].is_array() || is_counting {
            continue;
        }
        let header = |name: &str| {
            let pairs = request["headers"].as_array().into_iter().flatten();
            let mut pairs = pairs.filter_map(|pair| Some((pair[0].as_str()?, pair[1].as_str()?)));
            pairs
                .find(|(header, _)| header.eq_ignore_ascii_case(name))
                .map(|(_, value)| value.to_owned())
        };
        let body = serde_json::to_vec(&request["body"]).unwrap();
        let session = header("x-claude-code-session-id");
        events.push(event(
            events.len(),
            session,
            header("x-claude-code-agent-id"),
            body,
        ));
    }
    events
}

fn event(number: usize, session: Option<String>, agent: Option<String>, body: Vec<u8>) -> Event {
    let request = MessagesRequest::parse(&body).unwrap();
    Event::Sent(Sent {
        operation: number,
        at: OffsetDateTime::UNIX_EPOCH + Duration::seconds(number as i64),
        session: session.or_else(|| request.session_id()).unwrap(),
        agent,
        family: 0,
        purpose: request.purpose(),
        body: body.into(),
        began: true,
    })
}
