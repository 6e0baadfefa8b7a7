//! Properties of every text.

use crate::forms::FORMS;
use grov_redact::Redactor;
use proptest::prelude::*;
use proptest::sample::select;
use proptest::string::string_regex;
use std::borrow::Cow;

/// A token and its rule.
fn token() -> impl Strategy<Value = (&'static str, String)> {
    let forms: Vec<_> = FORMS
        .iter()
        .map(|(rule, form, _)| string_regex(form).unwrap().prop_map(move |t| (*rule, t)).boxed())
        .collect();
    (0..forms.len()).prop_flat_map(move |i| forms[i].clone())
}

/// Text without characters that would continue a token.
fn edge() -> impl Strategy<Value = String> {
    select(vec![
        "", " ", "\n", "\"", "'", "(", ")", ",", ";", "\t", "{", "}", "|", "!", "→", "ü ",
    ])
    .prop_map(str::to_owned)
}

/// Random sequences of parts that rules look for.
fn pieces() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        4 => select(vec![
            "password", "token", "api_key", "SECRET", "=", ":", "=>", ":=", "\"", "'", "\\\"", " ", "\n", "\\n", "\\", "://", "@", "/",
            "<private>", "</private>", "<private", ">", "-----BEGIN RSA PRIVATE KEY-----", "-----END RSA PRIVATE KEY-----",
            "-----END ", "Private-Lines: 2", "Authorization", "Bearer ", "Basic ", "Cookie", ";", "&", "?", "curl ", " -u ", " -p", "--password ",
            "sk-ant-", "eyJ", ".", "ghp_", "AKIA", ":AA", "8Q~", "-us1", ".atlasv1.", "hunter2", "value", "name", "identified by ", "password is ",
            "otp ", "PIN is ", "482913", "482 913", "?\"=\"", "What is the password", "insert into t (password) values ('", "')", "chpasswd\n", "\nuser ",
            "sendline(\"", "expect password", " -u ", " -p ", "passwort ist\n", "log in as ", " / ", "Moos-gabel7", "moosgabel77", "«", "»",
            "ZGVwbG95Ok1vb3JodWhuLXF1ZXJ0LTQ=", "334 UGFzc3dvcmQ6", "5f23327c-359f-4ee9-8422-fe24a2fdfd76",
            "[redacted:", "[redacted:jwt]", "]", "${", "}", "<", "<password>", "login me password ", "MIIEpAIBAAKCAQEA75cPMIIEpAIBAAKCAQEA75cP", "ü", "→",
        ]).prop_map(str::to_owned),
        1 => "[A-Za-z0-9+/_-]{1,80}",
        1 => any::<String>(),
        1 => token().prop_map(|(_, token)| token),
    ];
    proptest::collection::vec(piece, 0..40).prop_map(|pieces| pieces.concat())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(512))]

    #[test]
    fn a_planted_token_is_always_masked(
        before in any::<String>(), left in edge(), (rule, token) in token(), right in edge(), after in any::<String>(),
    ) {
        // A letter or digit next to it could make it another word.
        let left = if left.is_empty() && !before.is_empty() { " ".to_owned() } else { left };
        let right = if right.is_empty() && !after.is_empty() { " ".to_owned() } else { right };
        let text = format!("{before}{left}{token}{right}{after}");
        let redacted = Redactor::new().redact(&text).into_owned();
        let known = redacted.contains(&format!("[redacted:{rule}]")) || !redacted.contains(&token);
        prop_assert!(known, "{rule} stayed in {redacted}");
        prop_assert!(!redacted.contains(&token));
    }

    #[test]
    fn redacting_twice_changes_nothing_more(text in pieces()) {
        let redactor = Redactor::new();
        let once = redactor.redact(&text).into_owned();
        let again = redactor.redact(&once);
        prop_assert!(matches!(again, Cow::Borrowed(_)), "{text:?}\n{once:?}\n{again:?}");
    }

    #[test]
    fn findings_are_in_order_apart_and_on_character_boundaries(text in pieces()) {
        let mut end = 0;
        for finding in Redactor::new().findings(&text) {
            prop_assert!(finding.range.start >= end && !finding.range.is_empty());
            prop_assert!(text.get(finding.range.clone()).is_some());
            end = finding.range.end;
        }
    }

    #[test]
    fn any_text_can_be_redacted(text in any::<String>()) {
        let redactor = Redactor::new();
        let redacted = redactor.redact(&text);
        prop_assert_eq!(redactor.findings(&redacted), []);
    }

    #[test]
    fn a_planted_password_is_always_masked(
        name in select(vec!["password", "DB_PASSWORD", "api_key", "clientSecret", "GITHUB_TOKEN", "secret_key"]),
        sign in select(vec![" = ", "=", ": ", " := ", " => "]),
        quote in select(vec!["\"", "'", "`"]),
        value in "[a-z]{4}[0-9]{3}[A-Z]{3}[a-z0-9]{4}",
        before in "[ -~\n]{0,60}",
    ) {
        let text = format!("{before}\n{name}{sign}{quote}{value}{quote}\n");
        let redacted = Redactor::new().redact(&text).into_owned();
        prop_assert!(!redacted.contains(&value), "{redacted}");
    }
}
