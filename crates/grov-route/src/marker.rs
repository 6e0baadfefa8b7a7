//! The marker in a system prompt that names the model of an agent: `<!-- @proxy-local-route:af83e9 model=LABEL -->`.
//!
//! Only `system` is searched. A message may quote another agent's system prompt, and must not route the request.

use crate::body_edit::{Edit, Fields, apply, lenient_text};
use serde_json::value::RawValue;

const OPENING: &str = "<!-- @proxy-local-route:af83e9 model=";
const CLOSING: &str = " -->";

/// The part of the marker that no JSON encoder escapes. A body without it has no marker and is not parsed.
const SIGN: &str = "proxy-local-route:af83e9";

const BYTE_ORDER_MARK: &[u8] = "\u{feff}".as_bytes();

/// Characters that are trimmed from both ends of a text whose marker was removed.
const TRIMMED: [char; 4] = [' ', '\t', '\r', '\n'];

/// A request with a marker.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MarkedRequest {
    /// The label of the first marker.
    pub label: String,
    /// The body without markers. Bytes outside of the edited texts are unchanged.
    pub body: Vec<u8>,
}

/// The marker to write into an agent's system prompt.
pub fn marker(label: &str) -> String {
    format!("{OPENING}{label}{CLOSING}")
}

/// Whether `label` can be written in a marker: not empty, without white space.
pub fn is_label(label: &str) -> bool {
    !label.is_empty() && !label.bytes().any(is_space)
}

/// Finds the markers in the `system` field of a request and removes all of them. `None` if there is none, or the body is not a JSON object:
/// [`is_unreadable_and_marked`] tells the second case.
pub fn strip_marker(body: &[u8]) -> Option<MarkedRequest> {
    memchr::memmem::find(body, SIGN.as_bytes())?;
    let fields = Fields::parse(body)?;
    let mut label = None;
    let mut edits = Vec::new();
    for text in fields.named("system").flat_map(texts) {
        let Some(decoded) = lenient_text(text) else {
            continue;
        };
        let Some(stripped) = strip_text(&decoded) else {
            continue;
        };
        label.get_or_insert(stripped.label);
        edits.push(Edit::replace(
            body,
            text,
            serde_json::to_string(&stripped.rest).ok()?,
        )?);
    }
    Some(MarkedRequest {
        label: label?,
        body: apply(body, &edits),
    })
}

/// Whether a body that is no valid JSON seems to have a marker. It must not be forwarded: its agent is meant for another model.
///
/// If the body becomes valid without a byte order mark and with invalid UTF-8 replaced, only its `system` counts.
pub fn is_unreadable_and_marked(body: &[u8]) -> bool {
    if memchr::memmem::find(body, SIGN.as_bytes()).is_none() || is_json(body) {
        return false;
    }
    let text = String::from_utf8_lossy(body.strip_prefix(BYTE_ORDER_MARK).unwrap_or(body));
    !is_json(text.as_bytes()) || strip_marker(text.as_bytes()).is_some()
}

/// Text in the `system` field of an unmarked request that looks like a misspelled marker, shortened; `None` if there is none.
/// Such a request is not marked, and its agent is probably meant for another model.
pub fn near_miss(body: &[u8]) -> Option<String> {
    if !signs(body).any(|at| is_near_sign(&body[at..])) {
        return None;
    }
    let fields = Fields::parse(body)?;
    let mut texts = fields.named("system").flat_map(texts).filter_map(lenient_text);
    texts.find_map(|text| near_miss_in(&text))
}

/// The same of a text, such as an agent file. `None` also if the text has a marker.
pub fn near_miss_in(text: &str) -> Option<String> {
    let at = signs(text.as_bytes()).find(|at| is_near_sign(&text.as_bytes()[*at..]))?;
    if strip_text(text).is_some() {
        return None;
    }
    let line_from = text[..at].rfind('\n').map_or(0, |end| end + 1);
    let from = text[line_from..at]
        .rfind("<!")
        .map_or(at, |open| line_from + open);
    let line_end = text[at..].find('\n').map_or(text.len(), |end| at + end);
    let end = text[at..line_end]
        .find("-->")
        .map_or(line_end, |close| at + close + 3);
    Some(text[from..end].trim().chars().take(MAX_SHOWN).collect())
}

/// The characters of a misspelled marker that are shown.
const MAX_SHOWN: usize = 120;

/// Where a marker or a misspelled one may have its sign.
fn signs(text: &[u8]) -> impl Iterator<Item = usize> {
    memchr::memchr_iter(b'@', text)
}

/// Whether a text that begins with `@` goes on like the sign of a marker, apart from letter case and white space.
fn is_near_sign(text: &[u8]) -> bool {
    const WINDOW: usize = 64;
    let window = &text[..text.len().min(WINDOW)];
    let letters = window.iter().skip(1).filter(|byte| byte.is_ascii_alphanumeric());
    let letters: Vec<u8> = letters.map(u8::to_ascii_lowercase).collect();
    letters.starts_with(b"proxylocalroute")
        || letters.starts_with(b"proxyroute")
        || letters.starts_with(b"localroute")
}

fn is_json(body: &[u8]) -> bool {
    serde_json::from_slice::<&RawValue>(body).is_ok()
}

/// The strings of a system prompt: itself, or the `text` of each of its blocks.
fn texts(system: &RawValue) -> Vec<&RawValue> {
    match system.get().as_bytes().first() {
        Some(b'"') => vec![system],
        Some(b'[') => {
            let blocks: Vec<&RawValue> = serde_json::from_str(system.get()).unwrap_or_default();
            blocks.into_iter().flat_map(texts_of_block).collect()
        }
        _ => Vec::new(),
    }
}

fn texts_of_block(block: &RawValue) -> Vec<&RawValue> {
    let fields = Fields::parse(block.get().as_bytes());
    fields.map_or_else(Vec::new, |fields| fields.named("text").collect())
}

struct StrippedText {
    label: String,
    rest: String,
}

/// Removes every marker of a text; `None` if it has none.
fn strip_text(text: &str) -> Option<StrippedText> {
    let mut label = None;
    let mut rest = String::new();
    let mut kept_to = 0;
    let mut search_from = 0;
    while let Some(found) = text.get(search_from..).and_then(|text| text.find(OPENING)) {
        let start = search_from + found;
        let after = text.get(start + OPENING.len()..).unwrap_or_default();
        // White space is ASCII white space: a no-break space may be part of a label.
        let length = after.bytes().position(is_space).unwrap_or(after.len());
        let (name, end) = after.split_at(length);
        if name.is_empty() || !end.starts_with(CLOSING) {
            // A marker may begin inside of what looked like one.
            search_from = start + 1;
            continue;
        }
        label.get_or_insert_with(|| name.to_owned());
        rest.push_str(text.get(kept_to..start).unwrap_or_default());
        kept_to = start + OPENING.len() + length + CLOSING.len();
        search_from = kept_to;
    }
    rest.push_str(text.get(kept_to..).unwrap_or_default());
    Some(StrippedText {
        label: label?,
        rest: rest.trim_matches(TRIMMED).to_owned(),
    })
}

fn is_space(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\n' | b'\r' | 0x0c)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn strip(body: &str) -> Option<(String, String)> {
        let marked = strip_marker(body.as_bytes())?;
        Some((marked.label, String::from_utf8(marked.body).unwrap()))
    }

    #[test]
    fn the_marker_goes_and_everything_else_keeps_its_bytes() {
        let body = r#"{ "n":1.50, "system": "Do it. <!-- @proxy-local-route:af83e9 model=fast -->\n", "messages":[ ]}"#;
        let expected = r#"{ "n":1.50, "system": "Do it.", "messages":[ ]}"#;
        assert_eq!(strip(body), Some(("fast".to_owned(), expected.to_owned())));
    }

    #[test]
    fn every_block_loses_its_marker_and_the_first_names_the_model() {
        let body = r#"{"system":[{"type":"text","text":"a"},{"text":"<!-- @proxy-local-route:af83e9 model=one --> b"},
            {"text":"c <!-- @proxy-local-route:af83e9 model=two -->","cache_control":{"type":"ephemeral"}}]}"#;
        let (label, stripped) = strip(body).unwrap();
        assert_eq!(label, "one");
        assert!(!stripped.contains("@proxy"), "{stripped}");
        assert!(stripped.contains(r#"{"text":"b"}"#) && stripped.contains(r#"{"text":"c","cache_control""#));
    }

    #[test]
    fn escaped_brackets_are_found() {
        let body = r#"{"system":"\u003c!-- @proxy-local-route:af83e9 model=x --\u003e hi"}"#;
        assert_eq!(
            strip(body),
            Some(("x".to_owned(), r#"{"system":"hi"}"#.to_owned()))
        );
    }

    #[test]
    fn a_repeated_system_field_hides_no_marker() {
        let body = r#"{"system":"<!-- @proxy-local-route:af83e9 model=x -->","system":"plain"}"#;
        assert_eq!(strip(body).unwrap().0, "x");
    }

    #[test]
    fn a_marker_inside_of_a_broken_one_is_found() {
        let broken = "<!-- @proxy-local-route:af83e9 model=<!-- @proxy-local-route:af83e9 model=x -->";
        let stripped = strip_text(broken).unwrap();
        assert_eq!(stripped.label, "x");
        assert_eq!(stripped.rest, "<!-- @proxy-local-route:af83e9 model=");
    }

    #[test]
    fn messages_and_tools_route_nothing() {
        let marker = marker("x");
        for body in [
            format!(r#"{{"messages":[{{"role":"user","content":"{marker}"}}]}}"#),
            format!(r#"{{"tools":[{{"system":"{marker}"}}]}}"#),
            format!(r#"{{"system":{{"text":"{marker}"}}}}"#),
            format!(r#"[{{"system":"{marker}"}}]"#),
        ] {
            assert_eq!(strip(&body), None, "{body}");
        }
    }

    #[test]
    fn a_misspelled_marker_in_the_system_prompt_is_noticed() {
        for wrong in [
            "<!-- @proxy-local-route:af83e9 model = cheap -->",
            "<!-- @Proxy-Local-Route:AF83E9 model=cheap -->",
            "<!--@proxy-local-route:af83e9 model=cheap-->",
            "<!-- @ proxy-local-route:af83e9 model=cheap -->",
            "<!-- @proxy_local_route model=cheap -->",
            "@proxy-local-route:af83e9 model=cheap",
        ] {
            for system in [
                serde_json::json!(format!("Do it.\n{wrong}\nNow.")),
                serde_json::json!([{"text": format!("a {wrong}")}]),
            ] {
                let body = serde_json::json!({"system": system, "messages": []}).to_string();
                assert_eq!(strip_marker(body.as_bytes()), None, "{wrong}");
                assert_eq!(near_miss(body.as_bytes()).as_deref(), Some(wrong), "{system}");
            }
            let quoted = serde_json::json!({"system": "plain", "messages": [{"content": wrong}]}).to_string();
            assert_eq!(near_miss(quoted.as_bytes()), None);
        }
        for right in ["mail me at a@proxy.example", "@types/node", "@", &marker("x")] {
            assert_eq!(near_miss_in(right), None, "{right}");
        }
    }

    #[test]
    fn a_lone_surrogate_hides_no_marker() {
        for lone in [r"\ud83d", r"\ude00", r"\ud83d\ud83d\ude00"] {
            let body = format!(
                r#"{{"a{lone}":1,"system":[{{"b{lone}":"","text":"é{lone} {}"}}],"messages":[]}}"#,
                marker("x")
            );
            let marked = strip_marker(body.as_bytes()).unwrap();
            assert_eq!(marked.label, "x", "{lone}");
            let text = String::from_utf8(marked.body).unwrap();
            assert!(text.contains("\"text\":\"é\u{fffd}"), "{text}");
            assert!(
                !text.contains("\u{fffd}\u{fffd}") && !text.contains(SIGN),
                "{text}"
            );
        }
    }

    #[test]
    fn an_unreadable_body_hides_no_marker() {
        let marker = marker("x");
        let in_system = format!(r#"{{"system":"{marker}","messages":[{{"content":"?"}}]}}"#);
        let in_message = format!(r#"{{"system":"plain","messages":[{{"content":"?{marker}"}}]}}"#);
        let damages: [fn(&str) -> Vec<u8>; 2] = [
            |body| [BYTE_ORDER_MARK, body.as_bytes()].concat(),
            |body| {
                body.bytes()
                    .map(|byte| if byte == b'?' { 0xff } else { byte })
                    .collect()
            },
        ];
        for damage in damages {
            assert!(strip_marker(&damage(&in_system)).is_none());
            assert!(is_unreadable_and_marked(&damage(&in_system)));
            assert!(!is_unreadable_and_marked(&damage(&in_message)));
        }
        assert!(is_unreadable_and_marked(
            &in_system.as_bytes()[..in_system.len() - 1]
        ));
        for readable in [&in_system, &in_message] {
            assert!(!is_unreadable_and_marked(readable.as_bytes()));
        }
        assert!(!is_unreadable_and_marked(b"\xff"));
    }

    proptest! {
        #[test]
        fn any_label_survives_the_way_into_a_request_and_out(
            label in "[^ \t\r\n\u{c}]{1,20}",
            before in "[^<]{0,20}",
            after in "[^<]{0,20}",
        ) {
            let text = format!("{before}{}{after}", marker(&label));
            let body = serde_json::json!({"system": [{"type": "text", "text": text}], "messages": []}).to_string();
            let marked = strip_marker(body.as_bytes()).unwrap();
            prop_assert_eq!(marked.label, label);
            let value: serde_json::Value = serde_json::from_slice(&marked.body).unwrap();
            let rest = format!("{before}{after}");
            prop_assert_eq!(value["system"][0]["text"].as_str().unwrap(), rest.trim_matches(TRIMMED));
        }

        #[test]
        fn arbitrary_bytes_do_no_harm(mut bytes in prop::collection::vec(any::<u8>(), 0..200), at in 0_usize..200) {
            let at = at.min(bytes.len());
            bytes.splice(at..at, SIGN.bytes());
            let _ = strip_marker(&bytes);
            let _ = is_unreadable_and_marked(&bytes);
            let _ = near_miss(&bytes);
            let _ = near_miss_in(&String::from_utf8_lossy(&bytes));
        }
    }
}
