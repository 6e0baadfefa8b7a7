//! A cut leaves out the beginning of a conversation and nothing else. Results of tools can be replaced.

use crate::generated::{request, text};
use crate::golden;
use bytes::Bytes;
use grov_wire::{BlockKind, Edit, RequestIndex, Role, Splice, SpliceError, is_system_reminder, text_block};
use proptest::prelude::*;
use serde_json::{Value, json};

fn index(tree: &Value) -> RequestIndex {
    RequestIndex::parse(&Bytes::from(tree.to_string())).unwrap()
}

fn apply(index: &RequestIndex, edits: &[Edit]) -> Bytes {
    let chunks = Splice::apply(index, edits).unwrap();
    let length = chunks.len();
    let bytes = chunks.into_vec().concat();
    assert_eq!(bytes.len(), length);
    Bytes::from(bytes)
}

fn tree(body: &Bytes) -> Value {
    serde_json::from_slice(body).unwrap()
}

fn user(text: &str) -> Value {
    json!({"role": "user", "content": [{"type": "text", "text": text}]})
}

fn assistant(text: &str) -> Value {
    json!({"role": "assistant", "content": [{"type": "text", "text": text}]})
}

fn cut(index: &RequestIndex, message: usize, text: &str) -> Edit {
    Edit::Cut {
        at: index.cut_point(message).unwrap(),
        bytes: text_block(text),
    }
}

/// Cuts a tree: written without the index.
fn cut_tree(tree: &mut Value, from: usize, block: Value) {
    let messages = tree["messages"].as_array_mut().unwrap();
    let rest = messages.split_off(from);
    let blocks = messages[0]["content"].as_array().cloned().unwrap_or_default();
    let is_reminder =
        |block: &Value| block["type"] == "text" && block["text"].as_str().is_some_and(is_system_reminder);
    let mut content: Vec<Value> = blocks.into_iter().filter(is_reminder).collect();
    content.push(block);
    let mut kept = vec![json!({"role": "user", "content": content})];
    kept.extend(
        messages
            .get(1)
            .filter(|message| message["role"] == "system")
            .cloned(),
    );
    kept.extend(rest);
    *messages = kept;
}

#[test]
fn a_cut_keeps_the_reminders_the_first_system_message_and_the_rest() {
    let reminder = json!({"type": "text", "text": "<system-reminder>\nrules\n</system-reminder>\n"});
    let note = json!({"role": "system", "content": "agents"});
    let rest = json!({"role": "assistant", "content": [{"type": "thinking", "thinking": "t", "signature": "s"},
        {"type": "tool_use", "id": "b", "name": "Bash", "input": {}}]});
    let results = json!({"role": "user", "content": [{"type": "tool_result", "tool_use_id": "b", "content": "ok",
        "cache_control": {"type": "ephemeral"}}]});
    let index = index(&json!({"model": "m", "messages": [
        {"role": "user", "content": [reminder, {"type": "text", "text": "do it"}]}, note,
        assistant("one"), user("two"), {"role": "system", "content": "late"}, rest, results,
    ], "stream": true}));
    let edited = apply(&index, &[cut(&index, 5, "so far")]);
    let summary = json!({"type": "text", "text": "so far"});
    assert_eq!(
        tree(&edited),
        json!({"model": "m", "messages": [{"role": "user", "content": [reminder, summary]}, note, rest, results],
            "stream": true})
    );
    assert_eq!(index.opening_blocks(), 3);
}

#[test]
fn edits_in_the_part_that_is_left_out_are_dropped() {
    let index =
        index(&json!({"messages": [user("a"), assistant("b"), user("c"), assistant("d"), user("e")]}));
    let end = |message: usize| index.message(message).unwrap().insertion_point_at_end().unwrap();
    let insert = |message: usize, text: &str| Edit::insert(end(message), text_block(text));
    let cut = cut(&index, 3, "so far");
    let kept = apply(&index, &[insert(4, "here"), cut.clone()]);
    assert_eq!(
        apply(
            &index,
            &[
                insert(0, "gone"),
                insert(4, "here"),
                insert(2, "gone"),
                cut.clone()
            ]
        ),
        kept
    );
    assert_eq!(
        Splice::apply(&index, &[cut.clone(), cut]).unwrap_err(),
        SpliceError::Duplicate { edit: 1 }
    );
}

#[test]
fn a_conversation_is_cut_only_between_the_user_and_the_assistant() {
    let index = index(&json!({"messages": [
        user("a"), assistant("b"), assistant("c"), user("d"), user("e"), {"role": "system", "content": "f"}, assistant("g"),
    ]}));
    let possible: Vec<usize> = (0..9)
        .filter(|message| index.cut_point(*message).is_some())
        .collect();
    assert_eq!(possible, [1, 6], "not between two messages of one turn");
    let odd = RequestIndex::parse(&Bytes::from(
        json!({"messages": [assistant("a"), user("b"), assistant("c")]}).to_string(),
    ));
    assert_eq!(odd.unwrap().cut_point(2), None, "begins with the assistant");
}

#[test]
fn the_link_of_a_cut_is_the_first_of_its_message() {
    let index = golden::index("loop_4_second_prompt");
    let skeleton = index.skeleton();
    let mut cuts = 0;
    for link in skeleton.links() {
        let Some(at) = index.cut_point_before(&skeleton, link) else {
            continue;
        };
        cuts += 1;
        assert_eq!(at.message(), link.message);
        assert_eq!(skeleton.links_from(at.message()).first(), Some(link));
    }
    assert!(cuts > 1, "{cuts}");
}

#[test]
fn results_are_replaced_by_a_string_or_blocks() {
    let result = |content: Value| json!({"type": "tool_result", "tool_use_id": "a", "content": content, "is_error": true});
    let request = |content: Value| {
        json!({"messages": [user("x"),
            {"role": "assistant", "content": [{"type": "tool_use", "id": "a", "name": "Read", "input": {}}]},
            {"role": "user", "content": [result(content)]}]})
    };
    let index = index(&request(json!("long")));
    let at = index.newest_results().next().unwrap().result_place().unwrap();
    let replace = |bytes: &'static str| Edit::ReplaceResult {
        at,
        bytes: Bytes::from_static(bytes.as_bytes()),
    };
    assert_eq!(
        tree(&apply(&index, &[replace("\"short\"")])),
        request(json!("short"))
    );
    assert_eq!(tree(&apply(&index, &[replace("[]")])), request(json!([])));
    assert_eq!(
        Splice::apply(&index, &[replace("{}")]).unwrap_err(),
        SpliceError::NotContent { edit: 0 }
    );
    assert_eq!(
        Splice::apply(&index, &[replace("[]"), replace("\"\"")]).unwrap_err(),
        SpliceError::Duplicate { edit: 1 }
    );
    let text = index.message(0).unwrap().blocks().next().unwrap();
    assert_eq!(text.result_place(), None);
}

#[test]
fn recorded_requests_can_be_cut() {
    for name in ["loop_4_resumed", "side_compaction", "older_2_resumed"] {
        let index = golden::index(name);
        let last = index
            .messages()
            .rfind(|message| message.role() == Role::Assistant)
            .unwrap();
        let edited = apply(&index, &[cut(&index, last.number(), "so far")]);
        let mut expected = tree(index.body());
        cut_tree(
            &mut expected,
            last.number(),
            json!({"type": "text", "text": "so far"}),
        );
        assert_eq!(tree(&edited), expected, "{name}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn cuts_of_bytes_equal_cuts_of_a_tree(body in request(), words in text()) {
        let index = RequestIndex::parse(&body).unwrap();
        for message in 0..index.messages().len() {
            let Some(at) = index.cut_point(message) else { continue };
            let edited = apply(&index, &[Edit::Cut { at, bytes: text_block(&words) }]);
            let mut expected: Value = tree(&body);
            cut_tree(&mut expected, message, json!({"type": "text", "text": words}));
            prop_assert_eq!(tree(&edited), expected);
            let again = RequestIndex::parse(&edited).unwrap();
            prop_assert_eq!(again.messages().len(), index.messages().len() - message + 1 + usize::from(index.opening_system().is_some()));
            let before = |index: &RequestIndex, count: usize| index.messages().take(count).map(|message| message.blocks().len()).sum::<usize>();
            let opening = again.messages().len() - (index.messages().len() - message);
            // A system message that is a string counts as one block.
            let strings = usize::from(opening == 2 && again.message(1).unwrap().blocks().len() == 0);
            if index.opening_system().is_none_or(|system| system.blocks().len() > 0 || matches!(system.content(), grov_wire::Content::Text(_))) {
                prop_assert_eq!(before(&again, opening) + strings, index.opening_blocks());
            }
        }
    }

    #[test]
    fn replaced_results_change_nothing_else(body in request(), words in text()) {
        let index = RequestIndex::parse(&body).unwrap();
        let mut expected: Value = tree(&body);
        let mut edits = vec![];
        for message in index.messages() {
            for block in message.blocks().filter(|block| block.kind() == BlockKind::ToolResult) {
                let Some(at) = block.result_place() else { continue };
                edits.push(Edit::ReplaceResult { at, bytes: Bytes::from(json!(words).to_string()) });
                expected["messages"][message.number()]["content"][block.number()]["content"] = json!(words);
            }
        }
        prop_assert_eq!(tree(&apply(&index, &edits)), expected);
    }

    #[test]
    fn cuts_of_another_request_give_a_valid_request_or_an_error(one in request(), other in request()) {
        let (one, other) = (RequestIndex::parse(&one).unwrap(), RequestIndex::parse(&other).unwrap());
        for message in 0..one.messages().len() {
            let Some(at) = one.cut_point(message) else { continue };
            if let Ok(chunks) = Splice::apply(&other, &[Edit::Cut { at, bytes: text_block("x") }]) {
                prop_assert!(RequestIndex::parse(&Bytes::from(chunks.into_vec().concat())).is_ok());
            }
        }
    }
}
