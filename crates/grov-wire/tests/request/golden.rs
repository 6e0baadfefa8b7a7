//! Small handwritten bodies in the forms that Claude Code sends, with the expected index of each.
//!
//! `tests/golden/requests/NAME.json` is a body, `NAME.txt` the result of [`describe`].

use crate::against_value::assert_agrees;
use bytes::Bytes;
use grov_wire::{
    Block, BlockKind, Content, Message, RequestIndex, Role, SystemPrompt, without_system_reminders,
};
use std::fmt::Write;
use std::path::PathBuf;

fn folder() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/golden/requests")
}

/// Returns a golden body.
pub(crate) fn body(name: &str) -> Bytes {
    Bytes::from(std::fs::read(folder().join(name).with_extension("json")).unwrap())
}

/// Returns the index of a golden body.
pub(crate) fn index(name: &str) -> RequestIndex {
    RequestIndex::parse(&body(name)).unwrap()
}

/// Returns the names of all golden bodies, sorted.
pub(crate) fn names() -> Vec<String> {
    let files = std::fs::read_dir(folder())
        .unwrap()
        .map(|entry| entry.unwrap().path());
    let bodies = files.filter(|path| path.extension().is_some_and(|extension| extension == "json"));
    let mut names: Vec<_> = bodies
        .map(|path| path.file_stem().unwrap().to_string_lossy().into_owned())
        .collect();
    names.sort();
    names
}

/// Describes an index with the results of all accessors.
fn describe(index: &RequestIndex) -> String {
    let mut text = String::new();
    let fields: Vec<_> = index.fields().map(|(key, _)| key).collect();
    writeln!(text, "fields {}", fields.join(" ")).unwrap();
    writeln!(text, "model {:?}", index.model()).unwrap();
    writeln!(
        text,
        "stream {}, max_tokens {:?}",
        index.stream(),
        index.max_tokens()
    )
    .unwrap();
    writeln!(text, "session {:?}", index.metadata_session_id()).unwrap();
    let first_tool = index.first_tool().map(|tool| (tool.type_name(), tool.name()));
    writeln!(text, "tools {}, first {first_tool:?}", index.tool_count()).unwrap();
    writeln!(
        text,
        "tool_choice {}, output format {:?}",
        index.field("tool_choice").is_some(),
        index.output_format()
    )
    .unwrap();
    match index.system() {
        SystemPrompt::Blocks(blocks) => {
            writeln!(text, "system").unwrap();
            blocks.for_each(|block| describe_block(block, &mut text));
        }
        other => writeln!(text, "system {other:?}").unwrap(),
    }
    for message in index.messages() {
        describe_message(message, &mut text);
    }
    let newest = index.newest_user_message();
    writeln!(
        text,
        "newest user message {:?}",
        newest.map(|message| message.number())
    )
    .unwrap();
    let texts: Vec<_> = newest
        .iter()
        .flat_map(Message::texts)
        .map(without_system_reminders)
        .filter(|text| !text.is_empty())
        .collect();
    writeln!(text, "its texts {texts:?}").unwrap();
    let last_answer = index
        .messages()
        .rposition(|message| message.role() == Role::Assistant);
    let trailing: Vec<_> = index
        .messages()
        .skip(last_answer.map_or(0, |last| last + 1))
        .filter(|message| message.role() == Role::System)
        .map(|message| message.number())
        .collect();
    writeln!(text, "trailing system messages {trailing:?}").unwrap();
    text
}

fn describe_message(message: Message<'_>, text: &mut String) {
    write!(text, "{} {:?}", message.number(), message.role()).unwrap();
    match message.content() {
        Content::Text(content) => writeln!(text, " {content:?}").unwrap(),
        Content::Blocks(blocks) => {
            text.push('\n');
            blocks.for_each(|block| describe_block(block, text));
        }
        Content::Other => writeln!(text, " other").unwrap(),
    }
}

fn describe_block(block: Block<'_>, text: &mut String) {
    write!(text, "  {:?}", block.kind()).unwrap();
    match block.kind() {
        BlockKind::Text => write!(text, " {:?}", block.text().unwrap()).unwrap(),
        BlockKind::ToolUse => {
            let (id, name) = (block.tool_use_id().unwrap(), block.tool_name().unwrap());
            write!(text, " {id} {name} {}", block.input().unwrap()).unwrap();
        }
        BlockKind::ToolResult => {
            let id = block.tool_use_id().unwrap();
            write!(text, " {id} {}", block.result_content().unwrap()).unwrap();
        }
        BlockKind::Thinking | BlockKind::Other => write!(text, " {:?}", block.type_name()).unwrap(),
    }
    text.push_str(if block.is_error() { " error" } else { "" });
    text.push_str(if block.has_cache_control() {
        " cached\n"
    } else {
        "\n"
    });
}

#[test]
fn golden_bodies_are_indexed_as_described() {
    let names = names();
    assert!(names.len() >= 15, "golden bodies are missing: {names:?}");
    for name in names {
        let description = describe(&assert_agrees(&body(&name)));
        let expected =
            std::fs::read_to_string(folder().join(&name).with_extension("txt")).unwrap_or_default();
        assert!(
            description == expected,
            "{name} is described as\n{description}but expected is\n{expected}"
        );
    }
}
