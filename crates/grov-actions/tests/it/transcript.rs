//! Parses transcripts written by the client.

use grov_actions::transcript::{Entry, Event, Reader, Reading, edits, newest_usage};
use proptest::prelude::*;
use std::fmt::Write;

macro_rules! recorded {
    ($name:literal) => {
        (
            include_str!(concat!("../transcripts/", $name, ".jsonl")),
            include_str!(concat!("../transcripts/", $name, ".txt")),
        )
    };
}

fn describe(entry: &Entry) -> String {
    let mut line = String::new();
    if let Some(agent) = &entry.agent {
        let _ = write!(line, "[{agent}] ");
    }
    if entry.is_inherited {
        line.push_str("(inherited) ");
    }
    let _ = match &entry.event {
        Event::Prompt { text, is_queued } => {
            write!(line, "prompt {text:?}{}", if *is_queued { " queued" } else { "" })
        }
        Event::Call(call) => write!(
            line,
            "call {} {} {:?} command={:?} content={:?} said={:?}",
            call.action.tool,
            call.action.tool_use_id.as_deref().unwrap_or("-"),
            call.action.files,
            call.action.command,
            call.content,
            call.said,
        ),
        Event::Ended(ended) => write!(
            line,
            "ended {} {} {:?}",
            ended.tool_use_id,
            if ended.failed { "failed" } else { "well" },
            ended
                .output
                .as_deref()
                .map(|output| output.chars().take(40).collect::<String>()),
        ),
        Event::Said(text) => write!(line, "said {text:?}"),
        Event::Summary(text) => write!(line, "summary {text}"),
        Event::Compacted { is_automatic } => write!(line, "compacted automatic={is_automatic}"),
        Event::Used(usage) => write!(
            line,
            "used {} {} of {}",
            usage.message_id,
            usage.context(),
            usage.model
        ),
    };
    line
}

fn describe_all(transcript: &str) -> String {
    let reading = Reader::new(None).read(transcript.as_bytes());
    assert_eq!((reading.taken, reading.broken), (transcript.len(), 0));
    reading
        .entries
        .iter()
        .map(|entry| describe(entry) + "\n")
        .collect()
}

#[test]
fn the_summary_of_a_compaction_is_no_prompt() {
    let line = r#"{"type":"user","isCompactSummary":true,"message":{"content":"1. Decisions: x"}}"#;
    let reading = Reader::new(None).read(format!("{line}\n").as_bytes());
    let events: Vec<&Event> = reading.entries.iter().map(|entry| &entry.event).collect();
    assert_eq!(events, [&Event::Summary("1. Decisions: x".to_owned())]);
}

#[test]
fn recorded_transcripts_yield_the_expected_events() {
    let recorded = [
        ("tools", recorded!("tools")),
        ("compacted", recorded!("compacted")),
        ("interrupted", recorded!("interrupted")),
        ("subagent", recorded!("subagent")),
        ("hooks", recorded!("hooks")),
        ("stop_hook", recorded!("stop_hook")),
    ];
    for (name, (transcript, expected)) in recorded {
        let described = describe_all(transcript);
        if std::env::var_os("WRITE_EXPECTED").is_some() {
            std::fs::write(format!("tests/transcripts/{name}.txt"), &described).unwrap();
            continue;
        }
        assert_eq!(described, expected, "{name}");
    }
}

const COMPACTED: &str = include_str!("../transcripts/compacted.jsonl");
const TOOLS: &str = include_str!("../transcripts/tools.jsonl");

fn read_in_parts(transcript: &[u8], mut cuts: Vec<usize>) -> Reading {
    cuts.push(transcript.len());
    cuts.sort_unstable();
    let mut reader = Reader::new(Some("s"));
    let mut all = Reading::default();
    for cut in cuts {
        let reading = reader.read(&transcript[all.taken..cut]);
        all.entries.extend(reading.entries);
        all.taken += reading.taken;
        all.broken += reading.broken;
        // The reader is stored and loaded by another process.
        reader = serde_json::from_str(&serde_json::to_string(&reader).unwrap()).unwrap();
    }
    all
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]
    #[test]
    fn any_split_of_the_bytes_yields_the_same_entries(cuts in prop::collection::vec(0..COMPACTED.len(), 0..12)) {
        let whole = read_in_parts(COMPACTED.as_bytes(), Vec::new());
        prop_assert_eq!(read_in_parts(COMPACTED.as_bytes(), cuts), whole);
    }

    #[test]
    fn a_damaged_byte_breaks_at_most_two_lines(at in 0..TOOLS.len(), byte in any::<u8>(), cut in 0..TOOLS.len()) {
        let mut bytes = TOOLS.as_bytes().to_vec();
        bytes[at] = byte;
        let reading = Reader::new(None).read(&bytes);
        prop_assert!(reading.broken <= 2, "{}", reading.broken);
        prop_assert_eq!(reading.taken > 0, true);
        newest_usage(&bytes[cut..]);
        edits(&bytes[cut..]);
    }

    #[test]
    fn bytes_that_are_not_a_transcript_are_skipped(bytes in prop::collection::vec(any::<u8>(), 0..400)) {
        let reading = Reader::new(None).read(&bytes);
        prop_assert_eq!(reading.entries, Vec::new());
        prop_assert!(reading.taken <= bytes.len());
    }
}

#[test]
fn an_incomplete_line_is_left_for_the_next_call() {
    let (first, rest) = TOOLS.split_at(TOOLS.rfind('\n').unwrap());
    let mut reader = Reader::new(None);
    let reading = reader.read(first.as_bytes());
    assert!(reading.taken < first.len());
    assert_eq!(reading.broken, 0);
    let again = format!("{}{rest}", &first[reading.taken..]);
    assert_eq!(reader.read(again.as_bytes()).taken, again.len());
    assert_eq!(reader.read(b"").taken, 0);
}

fn line(fields: &str) -> String {
    format!(r#"{{"sessionId":"own","timestamp":"2026-01-01T00:00:00.000Z",{fields}}}"#) + "\n"
}

fn events(lines: &[String]) -> Vec<Event> {
    let reading = Reader::new(Some("own")).read(lines.concat().as_bytes());
    reading.entries.into_iter().map(|entry| entry.event).collect()
}

#[test]
fn text_that_the_user_did_not_type_is_not_a_prompt() {
    let said = |text: &str| {
        line(&format!(
            r#""type":"user","message":{{"role":"user","content":{text:?}}}"#
        ))
    };
    for text in [
        "<task-notification><id>1</id></task-notification>",
        "<local-command-stdout>x</local-command-stdout>",
        "<command-name>/clear</command-name>",
        "This session is being continued from a previous conversation that ran out of context.",
        "[Request interrupted by user]",
        "<grov-context source=\"drift\">\nback\n</grov-context>",
        "",
    ] {
        assert_eq!(events(&[said(text)]), Vec::new(), "{text}");
    }
    for fields in [
        r#""type":"user","isMeta":true,"message":{"content":"x"}"#,
        r#""type":"user","isSidechain":true,"message":{"content":"x"}"#,
        r#""type":"user","origin":{"kind":"task-notification"},"message":{"content":"x"}"#,
        r#""type":"user","message":{"content":[{"type":"tool_result"},{"type":"text","text":"Base directory"}]}"#,
        r#""type":"attachment","attachment":{"type":"queued_command","prompt":"x","commandMode":"task-notification"}"#,
        r#""type":"attachment","attachment":{"type":"hook_additional_context","content":["x"]}"#,
        r#""type":"progress","message":{"content":"x"}"#,
    ] {
        assert_eq!(events(&[line(fields)]), Vec::new(), "{fields}");
    }
    let prompt = |text: &str, is_queued| Event::Prompt {
        text: text.to_owned(),
        is_queued,
    };
    assert_eq!(events(&[said("do it")]), [prompt("do it", false)]);
    let queued = line(
        r#""type":"attachment","attachment":{"type":"queued_command","prompt":[{"type":"text","text":"and that"}]}"#,
    );
    assert_eq!(events(&[queued]), [prompt("and that", true)]);
}

#[test]
fn lines_of_other_sessions_are_inherited() {
    let call = |session: &str, more: &str| {
        format!(
            r#"{{"type":"assistant","sessionId":"{session}",{more}"message":{{"content":[{{"type":"tool_use","id":"t","name":"Bash","input":{{"command":"ls"}}}}]}}}}"#
        ) + "\n"
    };
    let text = call("other", "") + &call("own", "") + &call("own", r#""forkedFrom":{"sessionId":"other"},"#);
    let reading = Reader::new(Some("own")).read(text.as_bytes());
    let inherited: Vec<bool> = reading.entries.iter().map(|entry| entry.is_inherited).collect();
    assert_eq!(inherited, [true, false, true]);
    assert!(reading.entries.iter().all(|entry| entry.at.is_none()));
}

#[test]
fn usage_is_reported_once_per_message_and_found_at_the_end() {
    let said = |id: &str, output: u32| {
        line(&format!(
            r#""type":"assistant","message":{{"id":"{id}","model":"m","content":[],"usage":{{"input_tokens":1,"cache_read_input_tokens":20,"cache_creation_input_tokens":300,"output_tokens":{output}}}}}"#
        ))
    };
    let lines = [said("a", 1), said("a", 1), said("b", 1), said("b", 4000)];
    let used: Vec<u64> = events(&lines)
        .iter()
        .filter_map(|event| match event {
            Event::Used(usage) => Some(usage.context()),
            _ => None,
        })
        .collect();
    assert_eq!(used, [322, 322, 4321]);
    let text = lines.concat() + "{\"type\":\"assist";
    let newest = newest_usage(&text.as_bytes()[10..]).unwrap();
    assert_eq!((newest.message_id.as_str(), newest.context()), ("b", 4321));
    assert_eq!(newest_usage(b""), None);
    assert_eq!(newest_usage(b"\n\n"), None);
}

#[test]
fn edits_have_files_and_lines() {
    let found = edits(TOOLS.as_bytes());
    let places: Vec<_> = found
        .iter()
        .map(|edit| (edit.file.as_str(), edit.is_new, edit.lines, edit.code.as_str()))
        .collect();
    let file = "/home/dev/project/hello.txt";
    assert_eq!(
        places,
        [
            (file, true, Some((1, 2)), "hello\nworld\n"),
            (file, false, Some((2, 2)), "mock")
        ]
    );
    assert_eq!(found[0].said.as_deref(), Some("I will write the file."));
}

/// The symbol of an edit that changes one line of a file.
fn symbol(original: &str, at: usize, new: &str) -> Option<String> {
    let lines: Vec<&str> = original.lines().collect();
    let from = at.saturating_sub(1);
    let mut patch: Vec<String> = lines[from..at].iter().map(|line| format!(" {line}")).collect();
    patch.push(format!("-{}", lines[at]));
    patch.push(format!("+{new}"));
    let result = serde_json::json!({
        "filePath": "/p/a", "oldString": lines[at], "newString": new, "originalFile": original,
        "structuredPatch": [{"oldStart": from + 1, "oldLines": 2, "newStart": from + 1, "newLines": 2, "lines": patch}],
    });
    let line = serde_json::json!({
        "type": "user", "toolUseResult": result,
        "message": {"content": [{"type": "tool_result", "tool_use_id": "t", "content": "ok"}]},
    });
    let found = edits(format!("{line}\n").as_bytes());
    let number = u32::try_from(at + 1).unwrap();
    assert_eq!(found[0].lines, Some((number, number)));
    found[0].symbol.clone()
}

#[test]
fn the_symbol_around_an_edit_is_found_in_any_language() {
    let cases = [
        (
            "use a;\n\npub(crate) async fn parse(input: &str) {\n    let a = 1;\n    b();\n}",
            "parse",
        ),
        (
            "class A:\n    x = 1\n    async def run(self):\n        a\n        b",
            "run",
        ),
        ("export default class Store {\n  a = 1;\n\n  b = 2;\n  c", "Store"),
        (
            "func (s *Server) Serve(l net.Listener) error {\n\ta\n\tb\n\tc\n\td",
            "Serve",
        ),
        (
            "impl<T> Iterator for Lines<T> {\n    type Item;\n\n    a\n    b",
            "Lines",
        ),
        ("# Title\ntext\n## Part one\ntext\nmore", "Part one"),
    ];
    for (original, expected) in cases {
        assert_eq!(
            symbol(original, 4, "changed").as_deref(),
            Some(expected),
            "{original}"
        );
    }
    assert_eq!(
        symbol("a\nb\nc\nd\ne", 4, "def fresh():").as_deref(),
        Some("fresh")
    );
    assert_eq!(symbol("a\nb\nc\nd\ne", 4, "x"), None);
}
