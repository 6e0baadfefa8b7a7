use super::*;
use bytes::Bytes;
use http::HeaderMap;
use serde_json::{Value, json};
use time::OffsetDateTime;

const CLIENT: ClientDialect = ClientDialect::CLAUDE_CODE;

fn request(messages: &Value) -> MessagesRequest {
    let body = Bytes::from(json!({"messages": messages}).to_string());
    MessagesRequest::new(HeaderMap::new(), body, OffsetDateTime::UNIX_EPOCH)
}

fn found(messages: &Value) -> Vec<(String, bool)> {
    newest(&request(messages))
        .into_iter()
        .map(|prompt| (prompt.text, prompt.queued))
        .collect()
}

fn text(text: &str) -> Value {
    json!({"type": "text", "text": text})
}

fn result(id: &str) -> Value {
    json!({"type": "tool_result", "tool_use_id": id, "content": "ok"})
}

fn call(id: &str) -> Value {
    json!({"role": "assistant", "content": [{"type": "tool_use", "id": id, "name": "Bash", "input": {}}]})
}

const REMINDER: &str = "<system-reminder>\nAs you answer…\n</system-reminder>\n\n";

#[test]
fn reminders_are_not_part_of_the_first_prompt() {
    let messages = json!([
        {"role": "user", "content": [text(REMINDER), text("fix the bug")]},
        {"role": "system", "content": "Available agent types for the Agent tool:\n…"},
    ]);
    assert_eq!(found(&messages), [("fix the bug".to_owned(), false)]);
}

#[test]
fn a_tool_loop_has_no_prompt() {
    let messages = json!([
        {"role": "user", "content": "fix the bug"}, call("t1"),
        {"role": "user", "content": [result("t1"), text(REMINDER)]},
    ]);
    assert_eq!(found(&messages), []);
}

#[test]
fn texts_of_the_client_with_tool_results_are_not_prompts() {
    for note in [
        "Tool loaded.",
        "`/simplify` → 4 cleanup agents in parallel\n\nbody of the skill",
    ] {
        let messages = json!([
            {"role": "user", "content": "go"}, call("t1"), {"role": "user", "content": [result("t1"), text(note)]},
        ]);
        assert_eq!(found(&messages), []);
    }
}

#[test]
fn text_after_an_interruption_is_a_prompt() {
    let after_denial = json!([
        {"role": "user", "content": "go"}, call("t1"),
        {"role": "user", "content": [
            result("t1"), text("[Request interrupted by user for tool use]\n"), text("no, the other file"),
        ]},
    ]);
    assert_eq!(found(&after_denial), [("no, the other file".to_owned(), false)]);
    let after_escape = json!([
        {"role": "user", "content": "go"},
        {"role": "assistant", "content": [text("I am goi")]},
        {"role": "user", "content": [text("[Request interrupted by user]\n"), text("stop, do this")]},
    ]);
    assert_eq!(found(&after_escape), [("stop, do this".to_owned(), false)]);
}

#[test]
fn a_prompt_typed_during_the_turn_counts() {
    let note = "The user sent a new message while you were working:\nalso update the docs\n\nIMPORTANT: After \
                completing your current task, you MUST address the user's message above.";
    let with = |last: Value| json!([{"role": "user", "content": "go"}, call("t1"), {"role": "user", "content": [result("t1")]}, last]);
    let expected = [("also update the docs".to_owned(), true)];
    assert_eq!(found(&with(json!({"role": "system", "content": note}))), expected);
    let reminder = format!("<system-reminder>\n{note}\n</system-reminder>");
    assert_eq!(
        found(&with(json!({"role": "user", "content": [text(&reminder)]}))),
        expected
    );
}

#[test]
fn command_blocks_and_notifications_are_not_prompts() {
    let after_clear = json!([{"role": "user", "content": [
        text(REMINDER),
        text("<local-command-caveat>Caveat: …</local-command-caveat>"),
        text("<command-name>/clear</command-name>\n"),
        text("<local-command-stdout></local-command-stdout>\n"),
        text("after clear"),
    ]}]);
    assert_eq!(found(&after_clear), [("after clear".to_owned(), false)]);
    let notification = json!([
        {"role": "user", "content": "go"}, {"role": "assistant", "content": [text("started")]},
        {"role": "user", "content": [text("<task-notification>\n<task-id>a</task-id></task-notification>")]},
    ]);
    assert_eq!(found(&notification), []);
    let continued = json!([{"role": "user", "content": [
        text(REMINDER), text("This session is being continued from a previous conversation that ran out of context."),
    ]}]);
    assert_eq!(found(&continued), []);
}

#[test]
fn a_repeated_prompt_has_the_same_key_and_a_later_equal_one_another() {
    let first = json!([{"role": "user", "content": [text("again"), ]}]);
    let as_string = json!([{"role": "user", "content": "again"}]);
    let later = json!([
        {"role": "user", "content": "again"},
        {"role": "assistant", "content": [text("done")]},
        {"role": "user", "content": "again"},
    ]);
    let key = |messages: &Value| newest(&request(messages))[0].key;
    assert_eq!(key(&first), key(&as_string));
    assert_ne!(key(&first), key(&later));
}

#[test]
fn earlier_prompts_exclude_the_newest_and_summarized_ones() {
    let messages = json!([
        {"role": "user", "content": [text(REMINDER), text("fix the bug")]}, call("t1"),
        {"role": "user", "content": [result("t1"), text(REMINDER)]},
        {"role": "assistant", "content": "done"},
        {"role": "user", "content": "now the docs"}, call("t2"),
        {"role": "user", "content": [result("t2")]},
        {"role": "assistant", "content": "done"},
        {"role": "user", "content": "continue"},
    ]);
    let earlier_of = |messages: &Value| earlier(&CLIENT, request(messages).index().unwrap());
    assert_eq!(earlier_of(&messages), ["fix the bug", "now the docs"]);
    assert!(!begins(&CLIENT, request(&messages).index().unwrap()));

    let summed_up = json!([
        {"role": "user", "content": format!("{} that ran out of context.", CLIENT.continued)},
        {"role": "assistant", "content": "ok"},
        {"role": "user", "content": "now the docs"},
        {"role": "assistant", "content": "done"},
        {"role": "user", "content": "continue"},
    ]);
    assert_eq!(earlier_of(&summed_up), Vec::<String>::new());
    assert_eq!(
        earlier_of(&json!([{"role": "user", "content": "fix the bug"}])),
        Vec::<String>::new()
    );
}
