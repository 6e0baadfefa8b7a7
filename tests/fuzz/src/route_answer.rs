//! A provider's answer: the translation does not depend on chunks, and is a complete message of the Messages API.

use crate::{chunks, controlled};
use bytes::BytesMut;
use grov_route::{Api, ResponseTranslator, Transform, TranslationSettings, Translator};
use serde_json::Value;

const REQUEST: &str = r#"{"max_tokens":9,"messages":[],"tools":[{"name":"f","input_schema":{}}],"stream":"#;

/// Checks one answer; the first byte chooses the API, the form and the transforms.
pub(crate) fn check(data: &[u8]) {
    let (control, answer) = controlled(data);
    let streams = control & 1 == 0;
    let (Some(whole), Some(parts)) = (translator(control, streams), translator(control, streams)) else {
        return;
    };
    let whole = translated(whole, &mut std::iter::once(answer));
    let parts = translated(parts, &mut chunks(answer, control));
    assert_eq!(without_ids(&whole), without_ids(&parts));
    if streams {
        assert_protocol(&whole);
    } else {
        let body: Value = serde_json::from_str(&whole).unwrap_or_default();
        assert!(body["type"] == "message" || body["type"] == "error");
    }
}

fn translator(control: u8, streams: bool) -> Option<ResponseTranslator> {
    let chosen = |at: usize| control >> 2 & (1 << (at % 6)) != 0;
    let transforms = Transform::ALL
        .into_iter()
        .enumerate()
        .filter(|(at, _)| chosen(*at));
    let settings = TranslationSettings {
        api: if control & 2 == 0 {
            Api::Chat
        } else {
            Api::Responses
        },
        transforms: transforms.map(|(_, transform)| transform).collect(),
        ..TranslationSettings::default()
    };
    let request = format!("{REQUEST}{streams}}}");
    Some(
        Translator::new(settings)
            .request(request.as_bytes())
            .ok()?
            .response,
    )
}

fn translated(mut translator: ResponseTranslator, chunks: &mut dyn Iterator<Item = &[u8]>) -> String {
    translator.head(200, None);
    let mut out = BytesMut::new();
    chunks.for_each(|chunk| translator.chunk(chunk, &mut out));
    translator.end(&mut out);
    assert!(translator.is_done());
    String::from_utf8_lossy(&out).into_owned()
}

/// Ids that the translation makes up are different each time.
fn without_ids(text: &str) -> String {
    let mut out = String::new();
    for piece in text.split_inclusive(['"']) {
        let made_up = piece.len() > 25 && (piece.starts_with("call_") || piece.starts_with("msg_"));
        out.push_str(if made_up { "id\"" } else { piece });
    }
    out
}

/// Blocks are opened and closed in turn, and the message ends once.
fn assert_protocol(stream: &str) {
    let mut open = false;
    let mut ends = 0;
    for name in stream.lines().filter_map(|line| line.strip_prefix("event: ")) {
        match name {
            "content_block_start" => assert!(!std::mem::replace(&mut open, true)),
            "content_block_delta" => assert!(open),
            "content_block_stop" => assert!(std::mem::replace(&mut open, false)),
            "message_delta" | "error" => ends += 1,
            _ => {}
        }
    }
    assert!(ends == 1 && stream.ends_with("data: {\"type\":\"message_stop\"}\n\n"));
}
