//! The scanner accepts exactly what `serde_json` accepts.

use crate::generated::Noise;
use grov_wire::json::{JsonProblem, validate};
use proptest::prelude::*;
use serde::de::IgnoredAny;
use serde_json::Value;

/// The reference: UTF-8, and skipped by `serde_json` without an error. Skipping has no limit of depth or of numbers, like the
/// grammar.
fn reference_accepts(document: &[u8]) -> bool {
    std::str::from_utf8(document).is_ok() && serde_json::from_slice::<IgnoredAny>(document).is_ok()
}

fn assert_same_verdict(document: &[u8]) {
    let ours = validate(document);
    let shown = String::from_utf8_lossy(document);
    assert_eq!(
        ours.is_ok(),
        reference_accepts(document),
        "{ours:?} for {shown:?}"
    );
    if let Err(error) = ours {
        assert!(
            error.offset <= document.len(),
            "{error} lies outside of {shown:?}"
        );
    }
}

const ACCEPTED: &[&str] = &[
    "0",
    "-0",
    "-1",
    "10",
    "0.5",
    "-0.5e+10",
    "1E5",
    "1e-5",
    "1e999",
    "123456789012345678901234567890",
    "true",
    "false",
    "null",
    "\"\"",
    "[]",
    "{}",
    " [ ] ",
    "\t{\r\n}\n",
    "[1,2]",
    "[[],{}]",
    "{\"\":0}",
    "{\"a\":{\"a\":[{}]}}",
    r#""\"\\\/\b\f\n\r\t\u0000\uFFFF\ud834\udd1e""#,
    r#""\ud834""#,
    r#""\udd1e\ud834""#,
    "\"\u{7f}\u{e9}\u{10ffff}\"",
    r#""a\\""#,
    r#""\\\\\"""#,
    r#"{"a\"b":1}"#,
    "[\"]\",\"}\",\",\"]",
    "{\"a\":1,\"a\":2}",
    "[1 , 2 ]",
    "{\"a\" : 1}",
];

const REJECTED: &[&str] = &[
    "",
    " ",
    "\u{feff}{}",
    "00",
    "01",
    "-",
    "-01",
    "+1",
    ".5",
    "1.",
    "1.e5",
    "1e",
    "1e+",
    "0x1",
    "1_0",
    "Infinity",
    "NaN",
    "-a",
    "tru",
    "truE",
    "True",
    "nul",
    "nulll",
    "falsely",
    "\"",
    "\"a",
    "\"\\\"",
    "\"\\",
    "\"\\x\"",
    "\"\\u\"",
    "\"\\u12\"",
    "\"\\u123g\"",
    "\"\\u+123\"",
    "\"\\U0000\"",
    "\"a\nb\"",
    "\"\t\"",
    "\"\u{0}\"",
    "\"\u{1f}\"",
    "\"\\\n\"",
    "'a'",
    "a",
    "[",
    "]",
    "[1",
    "[1,",
    "[1,]",
    "[,1]",
    "[,]",
    "[1 2]",
    "[1;2]",
    "[1}",
    "{",
    "}",
    "{]",
    "{\"a\"}",
    "{\"a\":}",
    "{\"a\":1",
    "{\"a\":1,",
    "{\"a\":1,}",
    "{,}",
    "{\"a\" 1}",
    "{\"a\"::1}",
    "{1:1}",
    "{a:1}",
    "{'a':1}",
    "{\"a\":1 \"b\":2}",
    "{\"a\":1]",
    "[]]",
    "{}}",
    "[] []",
    "1 2",
    "null,",
    "// no\n1",
    "/**/1",
    "\\",
    "\\\"a\"",
    "\u{b}1",
    "\u{a0}1",
    "1\u{0}",
    "[\"a\", \\\"b\"]",
    "\"a\"\\",
    "\"abc\"\"",
];

#[test]
fn tricky_documents_are_judged_correctly() {
    for document in ACCEPTED {
        assert!(validate(document.as_bytes()).is_ok(), "{document:?} is JSON");
        assert_same_verdict(document.as_bytes());
    }
    for document in REJECTED {
        assert!(validate(document.as_bytes()).is_err(), "{document:?} is no JSON");
        assert_same_verdict(document.as_bytes());
    }
}

#[test]
fn tricky_documents_are_judged_correctly_at_every_block_offset() {
    for document in ACCEPTED.iter().chain(REJECTED) {
        for before in 0..130 {
            let padding = "x".repeat(before);
            assert_same_verdict(format!("[\"{padding}\",{document}]").as_bytes());
            assert_same_verdict(format!("{}{document}", " ".repeat(before)).as_bytes());
        }
    }
}

#[test]
fn encoding_errors_have_their_offset() {
    for (document, offset) in [
        (&b"\"\xff\""[..], 1),
        (b"\"a\xc3\"", 2),
        (b"\"\xed\xa0\x80\"", 1),
        (b"\"\xc0\xaf\"", 1),
        (b"\"\xf4\x90\x80\x80\"", 1),
        (b"{}\xe2\x82", 2),
    ] {
        let error = validate(document).unwrap_err();
        assert_eq!((error.problem, error.offset), (JsonProblem::NotUtf8, offset));
    }
}

#[test]
fn errors_have_kind_and_offset() {
    for (document, problem, offset) in [
        ("[1,]", JsonProblem::ExpectedValue, 3),
        ("{\"a\" 1}", JsonProblem::ExpectedColon, 5),
        ("{1:1}", JsonProblem::ExpectedKey, 1),
        ("[1 2]", JsonProblem::ExpectedCommaOrEnd, 3),
        ("\"abc", JsonProblem::UnterminatedString, 4),
        ("\"a\nb\"", JsonProblem::ControlCharacter, 2),
        ("\"ab\\q\"", JsonProblem::BadEscape, 3),
        ("[01]", JsonProblem::BadNumber, 1),
        ("{} {}", JsonProblem::TrailingCharacters, 3),
    ] {
        let error = validate(document.as_bytes()).unwrap_err();
        assert_eq!((error.problem, error.offset), (problem, offset), "{document}");
    }
}

#[test]
fn nesting_is_bounded_by_length_alone() {
    for depth in [63, 64, 65, 127, 128, 129, 10_000, 100_000] {
        let arrays = "[".repeat(depth) + &"]".repeat(depth);
        assert!(validate(arrays.as_bytes()).is_ok());
        let objects = "{\"a\":[".repeat(depth) + &"]}".repeat(depth);
        assert!(validate(objects.as_bytes()).is_ok());
        let crossed = "{\"a\":[".repeat(depth) + "0" + &"}]".repeat(depth);
        assert_eq!(
            validate(crossed.as_bytes()).unwrap_err().problem,
            JsonProblem::ExpectedCommaOrEnd
        );
        assert!(validate("[".repeat(depth).as_bytes()).is_err());
    }
}

/// A document in any style.
fn document() -> impl Strategy<Value = Vec<u8>> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        "\\PC{0,80}".prop_map(Value::from),
        "[\\x00-\\x7f]{0,80}".prop_map(Value::from),
    ];
    let tree = leaf.prop_recursive(5, 60, 6, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..6).prop_map(Value::from),
            prop::collection::btree_map("\\PC{0,8}", inner, 0..6)
                .prop_map(|fields| Value::Object(fields.into_iter().collect())),
        ]
    });
    (tree, any::<u64>()).prop_map(|(tree, noise)| {
        let mut text = String::new();
        Noise(noise).write(&tree, &mut text);
        text.into_bytes()
    })
}

/// Bytes with a meaning in the grammar, and bytes that are invalid UTF-8.
fn telling_byte() -> impl Strategy<Value = u8> {
    prop_oneof![
        prop::sample::select(&b"{}[]\",:\\/u0123456789abcdefntrul+-.eE \n\t\x00\x1f\x7f"[..]),
        any::<u8>(),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1_000))]

    #[test]
    fn documents_are_accepted(document in document()) {
        prop_assert!(validate(&document).is_ok());
        assert_same_verdict(&document);
    }

    #[test]
    fn changed_documents_are_judged_like_the_reference(
        document in document(),
        changes in prop::collection::vec((any::<prop::sample::Index>(), 0..3, telling_byte()), 1..4),
    ) {
        let mut document = document;
        for (place, change, byte) in changes {
            let at = place.index(document.len() + 1);
            match change {
                0 if at < document.len() => document[at] = byte,
                1 if at < document.len() => {
                    document.remove(at);
                }
                _ => document.insert(at, byte),
            }
        }
        assert_same_verdict(&document);
    }

    #[test]
    fn random_bytes_are_judged_like_the_reference(document in prop::collection::vec(telling_byte(), 0..12)) {
        assert_same_verdict(&document);
    }

    #[test]
    fn truncated_documents_are_judged_like_the_reference(document in document(), end in any::<prop::sample::Index>()) {
        assert_same_verdict(&document[..end.index(document.len() + 1)]);
    }

    #[test]
    fn backslashes_and_quotes_are_judged_like_the_reference(
        before in "x{0,64}", middle in "[\\\\\"]{0,140}", after in "[nux\\\\\"]{0,8}",
    ) {
        assert_same_verdict(format!("\"{before}{middle}{after}\"").as_bytes());
    }
}
