mod random;

use super::*;
use proptest::prelude::*;
use random::{Settings, settings};
use serde_json::{Value, json};

/// The registration of `grov init --proxy`.
fn wanted() -> Registration {
    Registration {
        hooks: vec![
            Hook::command("grov", "SessionStart", 10).with_daemon(8080),
            Hook::command("grov", "UserPromptSubmit", 5),
            Hook::http("http://127.0.0.1:8080", &"token".into(), "Stop", 5),
        ],
        environment: vec![
            ("ANTHROPIC_BASE_URL".into(), "http://127.0.0.1:8080".into()),
            (
                "ANTHROPIC_CUSTOM_HEADERS".into(),
                "a: b\nx-grov-project: /p".into(),
            ),
        ],
        status_line: Some("grov statusline".into()),
        mcp_server: None,
    }
}

/// The same with the MCP server, in a nested object.
fn with_mcp() -> Registration {
    Registration {
        mcp_server: Some(McpServer {
            into: vec!["projects".into(), "/p".into()],
            program: "/usr/bin/grov".into(),
            home: Some("/h".into()),
        }),
        ..wanted()
    }
}

fn only_hook() -> Registration {
    Registration {
        hooks: vec![Hook::command("grov", "Stop", 5)],
        ..Registration::default()
    }
}

/// Reads JSON with comments and trailing commas, independently of the scanner.
fn value_of(text: &str) -> Value {
    let mut plain = String::new();
    let mut rest = text.trim_start_matches('\u{feff}');
    while let Some(first) = rest.chars().next() {
        let length = match first {
            '"' => {
                let mut escaped = false;
                let end = rest[1..].find(|character| {
                    let ends = character == '"' && !escaped;
                    escaped = character == '\\' && !escaped;
                    ends
                });
                end.unwrap() + 2
            }
            '/' if rest.starts_with("//") => {
                rest = &rest[rest.find('\n').unwrap_or(rest.len())..];
                continue;
            }
            '/' => {
                rest = &rest[rest.find("*/").unwrap() + 2..];
                continue;
            }
            '}' | ']' => {
                let before = plain.trim_end();
                plain.truncate(before.strip_suffix(',').unwrap_or(before).len());
                1
            }
            other => other.len_utf8(),
        };
        plain.push_str(&rest[..length]);
        rest = &rest[length..];
    }
    if plain.trim().is_empty() {
        return Value::Null;
    }
    serde_json::from_str(&plain).unwrap_or_else(|error| panic!("{error}: {text}"))
}

fn handlers_in<'v>(value: &'v Value, event: &str) -> Vec<&'v Value> {
    let groups = value["hooks"][event].as_array().into_iter().flatten();
    groups
        .filter_map(|group| group["hooks"].as_array())
        .flatten()
        .collect()
}

fn registered(text: &str, wanted: &Registration) -> RegisteredText {
    register(text, wanted).unwrap_or_else(|error| panic!("{error}: {text}"))
}

fn unregistered(text: &str, changes: &[Change]) -> UnregisteredText {
    unregister(text, changes).unwrap_or_else(|error| panic!("{error}: {text}"))
}

/// Whether `text` is a subsequence of `longer`.
fn is_subsequence(text: &str, longer: &str) -> bool {
    let mut rest = longer.chars();
    text.chars()
        .all(|character| rest.by_ref().any(|other| other == character))
}

/// Registers and unregisters. Returns the registered text.
#[track_caller]
fn round_trip(text: &str, wanted: &Registration) -> String {
    let there = registered(text, wanted);
    let again = registered(&there.text, wanted);
    assert_eq!(again.text, there.text, "a second time changes nothing");
    assert_eq!(again.changes, []);
    let back = unregistered(&there.text, &there.changes);
    assert_eq!(back.text, text, "from {}", there.text);
    assert_eq!(back.left, [""; 0]);
    there.text
}

#[test]
fn an_ordinary_file_keeps_its_layout() {
    let text = round_trip(
        "{\n  // mine\n  \"model\": \"opus\", // the best\n  \"env\": {\n    \"A\": \"1\" // one\n  }\n}\n",
        &Registration {
            environment: vec![("B".into(), "2".into())],
            ..only_hook()
        },
    );
    assert_eq!(
        text,
        r#"{
  // mine
  "model": "opus", // the best
  "env": {
    "A": "1", // one
    "B": "2"
  },
  "hooks": {
    "Stop": [
      {
        "hooks": [
          {
            "type": "command",
            "command": "grov hook Stop",
            "timeout": 5
          }
        ]
      }
    ]
  }
}
"#
    );
}

#[test]
fn unusual_layouts_are_kept() {
    let own = r#"{"type":"command","command":"grov hook Stop","timeout":5}"#;
    assert_eq!(
        round_trip(r#"{"a":1,"hooks":{"Stop":[{"x":2}]}}"#, &only_hook()),
        format!(r#"{{"a":1,"hooks":{{"Stop":[{{"x":2}}, {}]}}}}"#, spaced(own))
    );
    assert_eq!(
        round_trip(
            "{\r\n\t\"hooks\": {\r\n\t\t\"Stop\": [ ], // none\r\n\t},\r\n}",
            &only_hook()
        ),
        "{\r\n\t\"hooks\": {\r\n\t\t\"Stop\": [\r\n\t\t\t{\r\n\t\t\t\t\"hooks\": [\r\n\t\t\t\t\t{\r\n\
         \t\t\t\t\t\t\"type\": \"command\",\r\n\t\t\t\t\t\t\"command\": \"grov hook Stop\",\r\n\
         \t\t\t\t\t\t\"timeout\": 5\r\n\t\t\t\t\t}\r\n\t\t\t\t]\r\n\t\t\t}\r\n\t\t ], // none\r\n\t},\r\n}"
    );
    for text in [
        "",
        "\u{feff}",
        "// later",
        "{}",
        "{ }",
        "{\n}",
        "{ // c\n}",
        "{ // c\r\r}",
        "{\"env\": { // c\r}}",
        "{/**/}",
        "{\"a\": 1 // c\n}",
        "{\"a\": 1, // c\n}",
        "{\"a\": 1 /* c */, /* d */ // e\n\n, \"b\": 2}"
            .replace("\n\n,", "\n")
            .as_str(),
        "{\"hooks\": {}, \"hooks\": {\"Stop\": []}, \"env\": {}, \"env\": {}}",
        "\t{\n\t\t\"a\": 1\n\t}",
        "{\n\"a\": 1\n}",
        "{\"a\": 1\n, \"b\": 2\n, \"c\": 3\n}",
    ] {
        round_trip(text, &only_hook());
        round_trip(text, &wanted());
        round_trip(text, &with_mcp());
    }
}

fn spaced(handler: &str) -> String {
    let handler = handler.replace("\":", "\": ").replace(",\"", ", \"");
    format!("{{\"hooks\": [{handler}]}}")
}

#[test]
fn a_registered_hook_keeps_its_matcher() {
    let guard = Hook::command("grov", "PreToolUse", 5).matching(Some("Edit|mcp__.*"));
    let wanted = Registration {
        hooks: vec![guard],
        ..Registration::default()
    };
    let text = round_trip(
        r#"{"hooks": {"PreToolUse": [{"matcher": "Bash", "hooks": [{"command": "mine"}]}]}}"#,
        &wanted,
    );
    let groups = &value_of(&text)["hooks"]["PreToolUse"];
    assert_eq!(groups[0]["matcher"], "Bash");
    assert_eq!(groups[1]["matcher"], "Edit|mcp__.*");
    assert_eq!(groups[1]["hooks"][0]["command"], "grov hook PreToolUse");
    let narrowed = text.replace("Edit|mcp__.*", "Write");
    assert_eq!(registered(&narrowed, &wanted).changes, []);
}

#[test]
fn an_empty_registration_changes_nothing() {
    for text in ["", "{}", "// c", "{\"a\": 1,}"] {
        let registered = registered(text, &Registration::default());
        assert_eq!((registered.text.as_str(), registered.changes), (text, Vec::new()));
    }
}

#[test]
fn malformed_settings_are_rejected_with_a_position() {
    for (text, line, column) in [
        ("{\n  \"a\": 1\n  \"b\": 2\n}", 3, 3),
        ("[]", 1, 1),
        ("\"x\"", 1, 1),
        ("{\n \"hooks\": []}", 2, 11),
        ("{\"hooks\": {\"Stop\": {}}}", 1, 20),
        ("{\"env\": null}", 1, 9),
        ("{\"a\": 1}}", 1, 9),
    ] {
        let wanted = Registration {
            environment: vec![("A".into(), "1".into())],
            ..only_hook()
        };
        let error = register(text, &wanted).unwrap_err();
        assert_eq!((error.line, error.column), (line, column), "{text}: {error}");
    }
    assert!(unregister("{\"a\" 1}", &[]).is_err());
}

#[test]
fn a_hook_of_another_grov_is_replaced_and_reverted() {
    let first = registered("{\n  \"a\": 1\n}\n", &only_hook());
    let moved = Registration {
        hooks: vec![Hook::command("/opt/grov", "Stop", 7)],
        ..Registration::default()
    };
    let second = registered(&first.text, &moved);
    let value = value_of(&second.text);
    let own = handlers_in(&value, "Stop");
    assert_eq!(
        own,
        [&json!({"type": "command", "command": "/opt/grov hook Stop", "timeout": 7})]
    );
    let changes = [first.changes, second.changes].concat();
    assert_eq!(unregistered(&second.text, &changes).text, "{\n  \"a\": 1\n}\n");
}

#[test]
fn a_registration_can_be_extended() {
    let text = "{\"env\": {\"A\": \"1\"}} // end";
    let first = registered(text, &only_hook());
    let second = registered(&first.text, &wanted());
    let changes = [first.changes, second.changes].concat();
    assert_eq!(unregistered(&second.text, &changes).text, text);
}

#[test]
fn replaced_values_are_restored_as_written() {
    let text = r#"{"env": {"ANTHROPIC_BASE_URL": "https:\/\/gateway\u002eexample" }, "statusLine": {"type":"command"}}"#;
    let there = round_trip(text, &wanted());
    let value = value_of(&there);
    assert_eq!(value["env"]["ANTHROPIC_BASE_URL"], "http://127.0.0.1:8080");
    assert_eq!(value["statusLine"]["command"], "grov statusline");
}

#[test]
fn values_changed_by_the_user_are_kept_and_reported() {
    let there = registered("{}\n", &wanted());
    let edited = there
        .text
        .replace("\"http://127.0.0.1:8080\"", "\"https://mine.example\"")
        .replace("grov statusline", "mine");
    let back = unregistered(&edited, &there.changes);
    assert_eq!(
        value_of(&back.text),
        json!({
            "env": {"ANTHROPIC_BASE_URL": "https://mine.example"},
            "statusLine": {"type": "command", "command": "mine"},
        })
    );
    let mut left = back.left;
    left.sort();
    let expected = ["env.ANTHROPIC_BASE_URL", "statusLine"];
    assert_eq!(
        left,
        expected.map(|path| format!("`{path}` was changed since and stays as it is"))
    );
}

#[test]
fn values_added_by_the_user_are_kept() {
    let there = registered("", &wanted());
    let edited = there
        .text
        .replace(
            "\"command\": \"grov hook SessionStart\",",
            "\"command\": \"grov hook SessionStart\", /* slow? */",
        )
        .replace(
            "\"hooks\": [\n          {\n            \"type\": \"http\"",
            "\"hooks\": [\n          // mine\n          {\"type\": \"command\", \"command\": \"mine\"},\n          {\n            \"type\": \"http\"",
        )
        .replace("\"env\": {", "\"env\": {\n    \"MINE\": \"1\", // mine too");
    let back = unregistered(&edited, &there.changes);
    assert_eq!(
        value_of(&back.text),
        json!({
            "hooks": {"Stop": [{"hooks": [{"type": "command", "command": "mine"}]}]},
            "env": {"MINE": "1"},
        })
    );
    assert!(
        back.text.contains("// mine\n") && back.text.contains("// mine too\n"),
        "{}",
        back.text
    );
}

#[test]
fn a_reformatted_file_can_be_unregistered() {
    let there = registered("{\"theme\": \"dark\", \"env\": {\"A\": \"1\"}}", &wanted());
    let pretty = serde_json::to_string_pretty(&value_of(&there.text)).unwrap();
    let back = unregistered(&pretty, &there.changes);
    assert_eq!(value_of(&back.text), json!({"theme": "dark", "env": {"A": "1"}}));
    assert_eq!(back.left, [""; 0]);
}

#[test]
fn without_a_record_only_hooks_and_status_line_are_removed() {
    let there = registered("{\"a\": 1}", &wanted());
    let back = unregistered(&there.text, &[]);
    let value = value_of(&back.text);
    assert_eq!(
        value["hooks"],
        json!({"SessionStart": [], "UserPromptSubmit": [], "Stop": []})
    );
    assert_eq!(value["env"]["ANTHROPIC_BASE_URL"], "http://127.0.0.1:8080");
    assert_eq!(value.get("statusLine"), None);
    let foreign = "{\"statusLine\": {\"type\": \"command\", \"command\": \"mine\"}}";
    assert_eq!(unregistered(foreign, &[]).text, foreign);
}

#[test]
fn reverting_twice_changes_nothing_more() {
    let there = registered("{\"hooks\": {\"Stop\": [{\"hooks\": []}]}}", &wanted());
    let once = unregistered(&there.text, &there.changes);
    let twice = unregistered(&once.text, &there.changes);
    assert_eq!((twice.text, twice.left), (once.text, Vec::new()));
}

#[test]
fn no_text_becomes_part_of_a_line_comment() {
    let there = registered("{\n  \"a\": 1 // note\n}", &only_hook());
    let joined = there.text.replace("\n  }\n}", "\n  } }");
    assert_ne!(joined, there.text);
    let back = unregistered(&joined, &there.changes);
    assert_eq!(value_of(&back.text), json!({"a": 1}));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn hooks_can_switch_between_commands_and_http(Settings(text) in settings()) {
        let over_http = Registration {
            hooks: vec![
                Hook::command("grov", "SessionStart", 5).with_daemon(8080),
                Hook::http("http://127.0.0.1:8080", &"token".into(), "Stop", 5),
            ],
            ..Registration::default()
        };
        let commands = Registration {
            hooks: vec![Hook::command("grov", "SessionStart", 5), Hook::command("grov", "Stop", 5)],
            ..Registration::default()
        };
        let mut text_now = text.clone();
        let mut changes = Vec::new();
        for wanted in [&commands, &over_http, &commands, &over_http] {
            let there = registered(&text_now, wanted);
            changes.extend(there.changes);
            prop_assert_eq!(&registered(&there.text, wanted).changes, &[]);
            let inspected = inspect(&there.text).unwrap();
            let own: Vec<bool> = inspected.hooks.iter().map(|hook| hook.daemon_port.is_some()).collect();
            prop_assert_eq!(own.len(), inspect(&text).unwrap().hooks.len().max(2), "{}", there.text);
            prop_assert!(own.contains(&(wanted == &over_http)), "{}", there.text);
            text_now = there.text;
        }
        prop_assert_eq!(&unregistered(&text_now, &changes).text, &text);
    }

    #[test]
    fn unregistering_restores_every_byte(Settings(text) in settings()) {
        round_trip(&text, &wanted());
        round_trip(&text, &with_mcp());
    }

    #[test]
    fn registered_values_are_present_and_others_are_kept(Settings(text) in settings()) {
        let there = registered(&text, &wanted());
        let value = value_of(&there.text);
        for (event, target, is) in [
            ("SessionStart", "command", "grov hook SessionStart --daemon-port 8080"),
            ("UserPromptSubmit", "command", "grov hook UserPromptSubmit"),
            ("Stop", "url", "http://127.0.0.1:8080/_grov/hook/Stop"),
        ] {
            let own = handlers_in(&value, event).into_iter().filter(|handler| handler[target] == is).count();
            prop_assert_eq!(own, 1, "{} in {}", event, there.text);
        }
        for (name, is) in wanted().environment {
            prop_assert_eq!(&value["env"][name], &is);
        }
        prop_assert_eq!(&value["statusLine"]["command"], "grov statusline");
        let only_added = there.changes.iter().all(|change| matches!(change, Change::Inserted { .. } | Change::Root { .. }));
        if only_added {
            prop_assert!(is_subsequence(&text, &there.text), "{} in {}", text, there.text);
        }
        let before = value_of(&text);
        for (name, was) in before.as_object().into_iter().flatten() {
            if !["hooks", "env", "statusLine"].contains(&name.as_str()) {
                prop_assert_eq!(&value[name], was);
            }
        }
        for (event, groups) in before["hooks"].as_object().into_iter().flatten() {
            for group in groups.as_array().into_iter().flatten() {
                prop_assert!(value["hooks"][event].as_array().unwrap().contains(group));
            }
        }
    }

    #[test]
    fn additions_by_the_user_are_kept(Settings(text) in settings(), spots in random::spots()) {
        let there = registered(&text, &wanted());
        let (edited, added) = random::with_additions(&there.text, &spots);
        let back = unregistered(&edited, &there.changes);
        let value = value_of(&back.text);
        let printed = value.to_string();
        prop_assert!(!printed.contains("grov hook") && !printed.contains("_grov"), "{}", back.text);
        prop_assert!(!printed.contains("127.0.0.1:8080"), "{}", back.text);
        for mark in added {
            prop_assert!(back.text.contains(&mark), "{} is gone from {}", mark, back.text);
        }
        let before = value_of(&text);
        for (name, was) in before["env"].as_object().into_iter().flatten() {
            prop_assert_eq!(&value["env"][name], was);
        }
        prop_assert!(is_subsequence(&text, &back.text), "{} in {}", text, back.text);
    }

    #[test]
    fn any_text_is_handled(text in "[\\[\\]{}\":,/* \n\r\\\\a1\u{feff}é-]{0,40}") {
        if let Ok(there) = register(&text, &wanted()) {
            prop_assert_eq!(unregistered(&there.text, &there.changes).text, text);
        }
    }
}
