//! Tools, the choice among them, and their calls.

use crate::translate::json::{Json, Object};
use crate::translate::messages::{Block, Tool, ToolChoice};
use std::borrow::Cow;

/// Appends tools and tool choice.
pub(super) fn push_tools<'a>(
    tools: Option<Vec<Tool<'a>>>,
    choice: Option<ToolChoice<'a>>,
    chat: &mut Object<'a>,
) {
    let asked = tools.as_ref().is_some_and(|tools| !tools.is_empty());
    let functions: Vec<_> = tools
        .unwrap_or_default()
        .into_iter()
        .filter_map(function)
        .collect();
    let any = !functions.is_empty();
    if any {
        chat.push("tools", Json::Array(functions));
    }
    // A choice among tools that were all left out would be refused.
    let Some(choice) = choice.filter(|_| any || !asked) else {
        return;
    };
    let parallel = !choice.disable_parallel_tool_use;
    let value = match (choice.kind.as_ref(), choice.name) {
        ("any", _) => Json::text("required"),
        ("none", _) => Json::text("none"),
        ("tool", Some(name)) => {
            let function = Json::object([("name", Json::Text(name))]);
            Json::object([("type", Json::text("function")), ("function", function)])
        }
        _ => Json::text("auto"),
    };
    chat.push("tool_choice", value);
    if any && !parallel {
        chat.push("parallel_tool_calls", Json::from(false));
    }
}

/// A tool as a function, or `None` if it is one that only the Messages API can run.
fn function(tool: Tool<'_>) -> Option<Json<'_>> {
    let parameters = match tool.input_schema {
        Some(schema) => Json::Raw(schema),
        None if tool.kind.as_deref().is_none_or(|kind| kind == "custom") => Json::object([
            ("type", Json::text("object")),
            ("properties", Json::Object(Object::default())),
        ]),
        None => return None,
    };
    let mut function = Object::default();
    function.push("name", Json::Text(tool.name));
    if let Some(description) = tool.description.filter(|description| !description.is_empty()) {
        function.push("description", Json::Text(description));
    }
    function.push("parameters", parameters);
    Some(Json::object([
        ("type", Json::text("function")),
        ("function", Json::Object(function)),
    ]))
}

/// A call of a tool. The arguments keep the text of the input, and with it the order of keys.
pub(super) fn call(block: Block<'_>) -> Json<'_> {
    let input = block
        .input
        .map(|input| input.get())
        .filter(|input| *input != "null");
    let function = Json::object([
        ("name", Json::Text(block.name.unwrap_or_default())),
        ("arguments", Json::Text(Cow::Borrowed(input.unwrap_or("{}")))),
    ]);
    Json::object([
        ("id", Json::Text(block.id.unwrap_or_default())),
        ("type", Json::text("function")),
        ("function", function),
    ])
}
