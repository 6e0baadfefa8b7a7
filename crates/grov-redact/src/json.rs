//! Visits the strings of a JSON document.

/// Calls `visit` with every string of a JSON document, including keys, and writes the results back. Other bytes do not change.
/// Invalid JSON is visited as one text.
pub fn each_text_of_json(json: &mut String, visit: &mut dyn FnMut(&mut String)) {
    if serde_json::from_str::<serde::de::IgnoredAny>(json).is_err() {
        return visit(json);
    }
    let mut changed: Option<String> = None;
    let (mut copied, mut position) = (0, 0);
    while let Some((start, end)) = next_text(json, position) {
        position = end;
        let Some(replacement) = replaced(&json[start..end], visit) else {
            continue;
        };
        let changed = changed.get_or_insert_with(|| String::with_capacity(json.len()));
        changed.push_str(&json[copied..start]);
        changed.push_str(&replacement);
        copied = end;
    }
    if let Some(mut changed) = changed {
        changed.push_str(&json[copied..]);
        *json = changed;
    }
}

/// Returns the range of the next string from `position` on, with its quotes.
fn next_text(json: &str, position: usize) -> Option<(usize, usize)> {
    let bytes = json.as_bytes();
    let start = position + bytes[position..].iter().position(|byte| *byte == b'"')?;
    let mut end = start + 1;
    loop {
        match bytes.get(end)? {
            b'"' => return Some((start, end + 1)),
            b'\\' => end += 2,
            _ => end += 1,
        }
    }
}

/// Returns the string literal after the visit, or `None` if it did not change.
fn replaced(token: &str, visit: &mut dyn FnMut(&mut String)) -> Option<String> {
    let before: String = match serde_json::from_str(token) {
        Ok(text) => text,
        // serde rejects lone surrogates: replace them, so that the rest is visited.
        Err(_) => serde_json::from_str(&without_surrogates(token)).unwrap_or_default(),
    };
    let mut after = before.clone();
    visit(&mut after);
    (after != before)
        .then(|| serde_json::to_string(&after).ok())
        .flatten()
}

/// Replaces each escaped surrogate by U+FFFD.
fn without_surrogates(token: &str) -> String {
    let mut clean = String::with_capacity(token.len());
    let mut rest = token;
    while let Some(position) = rest.find('\\') {
        let (before, escape) = rest.split_at(position);
        clean.push_str(before);
        let is_surrogate = matches!(
            escape.as_bytes(),
            [
                _,
                b'u',
                b'd' | b'D',
                b'8' | b'9' | b'a'..=b'f' | b'A'..=b'F',
                _,
                _,
                ..,
            ]
        );
        let length = if is_surrogate { 6 } else { 2 };
        clean.push_str(if is_surrogate {
            "\u{fffd}"
        } else {
            escape.get(..length).unwrap_or(escape)
        });
        rest = escape.get(length..).unwrap_or_default();
    }
    clean.push_str(rest);
    clean
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Redactor;
    use proptest::prelude::*;
    use serde_json::Value;

    fn texts(json: &str) -> String {
        let mut json = json.to_owned();
        each_text_of_json(&mut json, &mut |text| {
            *text = Redactor::shared().redact(text).into_owned()
        });
        json
    }

    fn secret() -> String {
        format!("ghp_{}", "a1B2c3D4e5F6".repeat(3))
    }

    #[test]
    fn texts_at_any_depth_are_redacted_and_nothing_else_changes() {
        let secret = secret();
        let json = format!(
            r#"{{ "b":[1, {{"deep\n{secret}": "x {secret} y\u0000"}}],"a" :18446744073709551615,"f":1.50, "t":"\u00e9\/" }}"#
        );
        let redacted = texts(&json);
        assert!(!redacted.contains(&secret), "{redacted}");
        assert!(
            redacted.ends_with(r#"],"a" :18446744073709551615,"f":1.50, "t":"\u00e9\/" }"#),
            "{redacted}"
        );
        let value: Value = serde_json::from_str(&redacted).unwrap();
        assert!(
            value["b"][1]
                .as_object()
                .unwrap()
                .keys()
                .next()
                .unwrap()
                .starts_with("deep\n")
        );
        assert_eq!(texts(&redacted), redacted, "once is enough");
    }

    #[test]
    fn secret_with_json_escapes_is_found() {
        let hidden: String = secret()
            .chars()
            .map(|c| format!("\\u{:04x}", u32::from(c)))
            .collect();
        let json = format!(r#"["{hidden}"]"#);
        let value: Value = serde_json::from_str(&texts(&json)).unwrap();
        assert!(!value[0].as_str().unwrap().contains("a1B2c3"), "{value}");
    }

    #[test]
    fn lone_surrogate_does_not_hide_a_secret() {
        let json = format!(
            r#"["\ud800 {} \udfff\\","\ud83d\ude00 {}","\ud800"]"#,
            secret(),
            secret()
        );
        let redacted = texts(&json);
        assert!(!redacted.contains(&secret()), "{redacted}");
        assert!(redacted.ends_with(r#","\ud800"]"#), "{redacted}");
        assert!(redacted.contains('😀'), "{redacted}");
    }

    #[test]
    fn invalid_json_is_redacted_as_text() {
        for text in [
            secret(),
            format!("{{\"a\": \"{}", secret()),
            format!("\"a\" {}", secret()),
        ] {
            assert!(!texts(&text).contains(&secret()), "{text}");
        }
        assert_eq!(texts(""), "");
    }

    fn json() -> impl Strategy<Value = Value> {
        let leaf = prop_oneof![
            Just(Value::Null),
            any::<i64>().prop_map(Value::from),
            any::<String>().prop_map(Value::from),
            Just(Value::from(secret())),
        ];
        leaf.prop_recursive(4, 32, 4, |inner| {
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
                prop::collection::hash_map(any::<String>(), inner, 0..4).prop_map(Value::from_iter),
            ]
        })
    }

    proptest! {
        #[test]
        fn json_stays_json(value in json()) {
            let json = value.to_string();
            let redacted = texts(&json);
            prop_assert!(!redacted.contains(&secret()));
            prop_assert!(serde_json::from_str::<Value>(&redacted).is_ok());
        }
    }
}
