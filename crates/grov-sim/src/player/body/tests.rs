use super::*;
use crate::request::{MessagesRequest, Purpose};

fn conversation(model: &str) -> Conversation {
    let config = PlayerConfig {
        model: model.to_owned(),
        ..PlayerConfig::in_directory("/home/dev/project")
    };
    Conversation::main(&config)
}

fn messages(conversation: &Conversation, extra: Extra) -> Vec<Json> {
    conversation
        .body(extra)
        .get("messages")
        .unwrap()
        .as_array()
        .unwrap()
        .to_vec()
}

fn roles(messages: &[Json]) -> String {
    messages
        .iter()
        .map(|message| &message.get_str("role").unwrap()[..1])
        .collect()
}

fn call(id: &str) -> Json {
    Json::parse(
        format!(
            r#"{{"type":"tool_use","id":"{id}","name":"Edit","input":{{"file_path":"f","old_string":"a","new_string":"b"}}}}"#
        )
        .as_bytes(),
    )
    .unwrap()
}

fn result(id: &str) -> Json {
    Json::parse(format!(r#"{{"tool_use_id":"{id}","type":"tool_result","content":"ok"}}"#).as_bytes())
        .unwrap()
}

/// Every `cache_control` in a message list: index of the message.
fn marks(messages: &[Json]) -> Vec<usize> {
    (0..messages.len())
        .filter(|at| messages[*at].to_string().contains("cache_control"))
        .collect()
}

#[test]
fn the_body_has_the_clients_layout() {
    let mut conversation = conversation("claude-opus-4-8");
    conversation.say("hello");
    let body = conversation.body(Extra::Nothing);
    let Json::Object(members) = &body else {
        panic!("no object")
    };
    let keys: Vec<&str> = members.iter().map(|(key, _)| key.as_str()).collect();
    assert_eq!(
        keys,
        [
            "model",
            "messages",
            "system",
            "tools",
            "metadata",
            "max_tokens",
            "thinking",
            "context_management",
            "output_config"
        ]
    );
    let request = MessagesRequest::parse(body.to_string().as_bytes()).unwrap();
    assert_eq!(request.tools.len(), 24);
    assert!((60_000..70_000).contains(&body.get("tools").unwrap().to_string().len()));
    assert_eq!(request.working_directory(), Some("/home/dev/project"));
    assert!(request.session_id().is_some());
    let subagent = Conversation::subagent(&PlayerConfig::in_directory("/home/dev/project"));
    let request = MessagesRequest::parse(subagent.body(Extra::Nothing).to_string().as_bytes()).unwrap();
    assert_eq!(
        (request.tools.len(), request.working_directory()),
        (21, Some("/home/dev/project"))
    );
}

#[test]
fn both_dialects() {
    let (mut newer, mut older) = (conversation("claude-opus-4-8"), conversation("claude-sonnet-4-5"));
    newer.say("hello");
    older.say("hello");
    let (newer, older) = (messages(&newer, Extra::Nothing), messages(&older, Extra::Nothing));
    assert_eq!((roles(&newer), roles(&older)), ("us".to_owned(), "u".to_owned()));
    let blocks = |message: &Json| message.get("content").unwrap().as_array().unwrap().len();
    assert_eq!((blocks(&newer[0]), blocks(&older[0])), (2, 4));
}

#[test]
fn marks_move_and_lone_texts_fold() {
    let mut conversation = conversation("claude-opus-4-8");
    conversation.say("one");
    conversation.answer(&[call("t1")]);
    conversation.results(vec![result("t1")]);
    conversation.answer(&[text_block("done")]);
    conversation.say("two");
    let sent = messages(&conversation, Extra::Nothing);
    assert_eq!((roles(&sent).as_str(), marks(&sent)), ("usauau", vec![5]));
    assert_eq!(sent[5].get("content").unwrap().as_array().unwrap().len(), 1);
    assert!(
        sent[2]
            .to_string()
            .contains(r#""input":{"replace_all":false,"file_path":"f""#)
    );
    conversation.answer(&[text_block("yes")]);
    let sent = messages(&conversation, Extra::Suggestion);
    assert_eq!((roles(&sent).as_str(), marks(&sent)), ("usauauau", vec![6]));
    assert_eq!(
        sent[5].get_str("content"),
        Some("two"),
        "without a mark it is a string"
    );
}

#[test]
fn compaction_restarts_the_messages() {
    let mut conversation = conversation("claude-opus-4-8");
    conversation.say("one");
    conversation.answer(&[call("t1")]);
    conversation.results(vec![result("t1")]);
    conversation.answer(&[text_block("done")]);
    let request = conversation.body(Extra::Compaction);
    let parsed = MessagesRequest::parse(request.to_string().as_bytes()).unwrap();
    assert_eq!(parsed.purpose(), Purpose::Compaction);
    let sent = messages(&conversation, Extra::Compaction);
    assert_eq!((roles(&sent).as_str(), marks(&sent)), ("usau", vec![2]));
    let billing = |body: &Json| {
        body.get("system").unwrap().as_array().unwrap()[0]
            .get_str("text")
            .unwrap()
            .to_owned()
    };
    let before = billing(&request);
    conversation.compact("<summary>\nall of it\n</summary>");
    conversation.say("two");
    let sent = messages(&conversation, Extra::Nothing);
    assert_eq!((roles(&sent).as_str(), marks(&sent)), ("uau", vec![2]));
    assert!(sent[0].to_string().contains("all of it"));
    assert!(sent[2].to_string().contains("<command-name>/compact"));
    assert_ne!(billing(&conversation.body(Extra::Nothing)), before);
}

#[test]
fn a_prompt_after_a_failed_turn_joins_the_one_before() {
    let mut conversation = conversation("claude-opus-4-8");
    conversation.say("one");
    conversation.say("two");
    assert_eq!(roles(&messages(&conversation, Extra::Nothing)), "us");
}
