//! Tools of the user's own, declared in TOML files.

use crate::schema::Checker;
use crate::tool::{Action, Argument, Key, Kind, Price, Risk, Tool};
use serde::Deserialize;
use serde_json::{Map, Value, json};

/// What a tool of the user runs.
#[derive(Clone, Debug, PartialEq)]
pub enum UserAction {
    /// A program with arguments, without a shell. It gets the input as JSON on standard input.
    Command(Vec<String>),
    /// An HTTP request with the input as JSON.
    Http {
        /// The address.
        url: String,
        /// `GET` sends the input as query parameters, `POST` as a body.
        method: String,
    },
}

/// Options that the command line has for every command.
const GLOBAL_ARGUMENTS: [&str; 6] = ["home", "project", "json", "color", "help", "version"];

/// Why a file declares no tool.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum UserToolError {
    /// It is no TOML, or a field is missing or has the wrong type.
    #[error("it does not declare a tool: {0}")]
    Toml(String),
    /// A field has a value that is not allowed.
    #[error("{0}")]
    Field(String),
    /// The name is taken.
    #[error("there is already a command `{0}`; choose another group or name")]
    Taken(String),
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    group: String,
    name: String,
    description: String,
    #[serde(default)]
    when_to_use: String,
    key: Option<String>,
    #[serde(default)]
    price_usd: f64,
    risk: Option<String>,
    command: Option<Vec<String>>,
    http: Option<Http>,
    #[serde(default)]
    input: Option<Value>,
    #[serde(default)]
    output: Option<Value>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Http {
    url: String,
    #[serde(default = "post")]
    method: String,
}

fn post() -> String {
    "POST".to_owned()
}

/// Reads the declaration of a tool.
///
/// # Errors
///
/// What is wrong with it.
pub fn parse_user_tool(text: &str) -> Result<Tool, UserToolError> {
    let file: File =
        toml::from_str(text).map_err(|error| UserToolError::Toml(error.to_string().trim().to_owned()))?;
    let field = |message: String| UserToolError::Field(message);
    for (what, word) in [("group", &file.group), ("name", &file.name)] {
        if !is_word(word) {
            return Err(field(format!(
                "`{what}` is {word:?}; it must consist of lower-case letters, digits and `-`, and start with a letter"
            )));
        }
    }
    let is_variable = |key: &str| {
        let is_part = |byte: u8| byte.is_ascii_uppercase() || byte.is_ascii_digit() || byte == b'_';
        !key.is_empty() && key.bytes().all(is_part)
    };
    if file.key.as_deref().is_some_and(|key| !is_variable(key)) {
        return Err(field(
            "`key` must be the name of an environment variable such as SERVICE_API_KEY, not the key itself"
                .to_owned(),
        ));
    }
    if !(0.0..=1000.0).contains(&file.price_usd) {
        return Err(field("`price_usd` must be a number from 0 to 1000".to_owned()));
    }
    let (action, risk) = match (file.command, file.http) {
        (Some(command), None) if command.first().is_some_and(|program| !program.is_empty()) => {
            (UserAction::Command(command), Risk::RunsProgram)
        }
        (None, Some(Http { url, method })) => {
            if !(url.starts_with("https://") || url.starts_with("http://")) {
                return Err(field(format!(
                    "`http.url` is {url:?}; it must start with https:// or http://"
                )));
            }
            if !["GET", "POST"].contains(&method.as_str()) {
                return Err(field(format!(
                    "`http.method` is {method:?}; it must be GET or POST"
                )));
            }
            (UserAction::Http { url, method }, Risk::Web)
        }
        (Some(_), None) => return Err(field("`command` is empty".to_owned())),
        _ => return Err(field("declare either `command` or `[http]`".to_owned())),
    };
    let risk = match file.risk.as_deref() {
        None => risk,
        Some("web" | "low") => Risk::Web,
        Some("sends_files" | "medium") => Risk::SendsFiles,
        Some("runs_program" | "high") => Risk::RunsProgram,
        Some(other) => {
            return Err(field(format!(
                "`risk` is {other:?}; it must be web, sends_files or runs_program (low, medium or high)"
            )));
        }
    };
    Ok(Tool {
        arguments: arguments(file.input.as_ref())?,
        group: file.group.into(),
        name: file.name.into(),
        description: file.description.trim_end_matches('.').to_owned().into(),
        when_to_use: file.when_to_use.into(),
        output: file
            .output
            .unwrap_or_else(|| json!({"type": "object", "properties": {}, "required": []})),
        key: file.key.map(|variable| Key {
            variable: variable.into(),
            source: "the user's own tool".into(),
        }),
        price: Price {
            usual_usd: file.price_usd,
            basis: format!("{} USD per call", file.price_usd).into(),
        },
        risk,
        action: Action::User(action),
    })
}

fn is_word(word: &str) -> bool {
    word.starts_with(|c: char| c.is_ascii_lowercase())
        && word.len() <= 40
        && word
            .chars()
            .all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-')
}

/// The arguments of a JSON Schema: required properties have no name in the command line, in the order of `required`.
fn arguments(schema: Option<&Value>) -> Result<Vec<Argument>, UserToolError> {
    let Some(schema) = schema else {
        return Ok(Vec::new());
    };
    let none = Map::new();
    let properties = match schema.get("properties") {
        Some(properties) => properties
            .as_object()
            .ok_or_else(|| UserToolError::Field("`input.properties` is no table".to_owned()))?,
        None => &none,
    };
    let required: Vec<&str> = schema["required"]
        .as_array()
        .into_iter()
        .flatten()
        .filter_map(Value::as_str)
        .collect();
    if let Some(name) = required.iter().find(|name| !properties.contains_key(**name)) {
        return Err(UserToolError::Field(format!(
            "`input.required` names {name:?}, which is not in `input.properties`"
        )));
    }
    let optional = properties
        .keys()
        .map(String::as_str)
        .filter(|name| !required.contains(name));
    let ordered = required.iter().copied().chain(optional);
    ordered
        .map(|name| {
            let property = &properties[name];
            let option = name.replace('_', "-");
            let is_common = crate::COMMON_ARGUMENTS.iter().any(|common| common.name == option)
                || GLOBAL_ARGUMENTS.contains(&option.as_str());
            if !is_word(&option) || is_common {
                return Err(UserToolError::Field(format!(
                    "`input.properties` has the name {name:?}, which cannot be an option"
                )));
            }
            let kind = kind(name, property)?;
            let schema = (kind == Kind::Json || says_more(property)).then(|| property.clone());
            if let Some(problem) = schema.as_ref().and_then(|schema| Checker::new(schema).err()) {
                return Err(UserToolError::Field(format!(
                    "`input.properties.{name}` is no JSON Schema: {problem}"
                )));
            }
            Ok(Argument {
                schema,
                name: option.into(),
                kind,
                is_positional: required.contains(&name),
                is_required: required.contains(&name),
                help: property["description"].as_str().unwrap_or(name).to_owned().into(),
            })
        })
        .collect()
}

/// Whether a schema has keywords that the kind of an argument does not express.
fn says_more(property: &Value) -> bool {
    let keywords = property.as_object().into_iter().flatten();
    let is_list = property["type"] == "array";
    keywords
        .into_iter()
        .any(|(keyword, value)| match keyword.as_str() {
            "type" | "description" | "minimum" | "maximum" | "maxItems" => false,
            "enum" => property["type"].as_str().is_some_and(|kind| kind != "string"),
            "items" => is_list && *value != json!({"type": "string"}),
            _ => true,
        })
}

/// What an argument accepts in the command line. Whatever is no text, number, flag or list of texts is JSON.
fn kind(name: &str, property: &Value) -> Result<Kind, UserToolError> {
    if !property.is_object() {
        return Err(UserToolError::Field(format!(
            "`input.properties.{name}` is no table with a JSON Schema"
        )));
    }
    let words: Option<Vec<_>> = property["enum"].as_array().and_then(|words| {
        let words = words.iter().map(|word| Some(word.as_str()?.to_owned().into()));
        words.collect::<Option<Vec<_>>>()
    });
    Ok(match (property["type"].as_str(), words) {
        (Some("string") | None, Some(words)) if !words.is_empty() => Kind::Choice(words),
        (Some("string"), _) => Kind::Text,
        (Some("boolean"), _) => Kind::Flag,
        (Some("integer"), _) => Kind::Integer {
            min: property["minimum"].as_i64().unwrap_or(i64::MIN),
            max: property["maximum"].as_i64().unwrap_or(i64::MAX),
        },
        (Some("number"), _) => Kind::Number {
            min: property["minimum"].as_f64().unwrap_or(f64::MIN),
            max: property["maximum"].as_f64().unwrap_or(f64::MAX),
        },
        (Some("array"), _) if matches!(property["items"]["type"].as_str(), None | Some("string")) => {
            // A count of items fits.
            Kind::List(property["maxItems"].as_u64().map(|most| most as usize))
        }
        _ => Kind::Json,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const WORDCOUNT: &str = r#"
group = "local"
name = "wordcount"
description = "Counts words."
when_to_use = "How long is a text?"
key = "WORDS_KEY"
price_usd = 0.001
risk = "low"
command = ["wc", "-w"]

[input]
type = "object"
required = ["text"]
[input.properties.text]
type = "string"
description = "The text"
[input.properties.max_lines]
type = "integer"
minimum = 1
"#;

    #[test]
    fn a_command_is_read() {
        let tool = parse_user_tool(WORDCOUNT).unwrap();
        assert_eq!(tool.command(), "local wordcount");
        assert_eq!(tool.arguments[0].usage(), "<text>");
        assert_eq!(tool.arguments[1].usage(), "--max-lines <n>");
        assert_eq!(
            tool.action,
            Action::User(UserAction::Command(vec!["wc".to_owned(), "-w".to_owned()]))
        );
        let mut registry = crate::Registry::built_in();
        registry.add(tool.clone()).unwrap();
        assert!(crate::docs::catalogue(&registry).contains("local wordcount"));
        assert!(crate::docs::snippet(&tool).contains("--max-lines"));
        assert!(matches!(registry.add(tool), Err(UserToolError::Taken(_))));
    }

    const NESTED: &str = r#"
group = "team"
name = "tickets"
description = "Finds tickets"
command = ["tickets"]

[input]
type = "object"
required = ["filter"]
[input.properties.filter]
type = "object"
description = "What to find"
required = ["state"]
additionalProperties = false
[input.properties.filter.properties.state]
enum = ["open", "closed"]
[input.properties.filter.properties.period]
type = "object"
required = ["from"]
properties = { from = { type = "string", pattern = "^\\d{4}-\\d{2}-\\d{2}$" }, days = { type = "integer", minimum = 1 } }
[input.properties.rows]
type = "array"
minItems = 1
items = { type = "object", required = ["id"], properties = { id = { type = "integer" } } }
[input.properties.labels]
type = "array"
items = { type = "string", enum = ["bug", "idea"] }
[input.properties.priority]
type = "integer"
enum = [1, 3, 5]
"#;

    fn of_words(tool: &Tool, given: &[(&str, &str)]) -> Result<crate::Arguments, crate::ToolError> {
        let given = given.iter();
        let given = given.map(|(field, word)| ((*field).to_owned(), vec![(*word).to_owned()]));
        crate::Arguments::of_words(tool, given.collect())
    }

    #[test]
    fn nested_objects_and_lists_are_checked_with_their_place() {
        let tool = parse_user_tool(NESTED).unwrap();
        let good = r#"{"state": "open", "period": {"from": "2026-01-02", "days": 3}}"#;
        let given = [
            ("filter", good),
            ("rows", r#"[{"id": 1}, {"id": 2}]"#),
            ("labels", "bug,idea"),
            ("priority", "3"),
        ];
        let read = of_words(&tool, &given).unwrap();
        assert_eq!(read.as_object()["filter"]["period"]["days"], 3);
        assert_eq!(read.as_object()["rows"][1]["id"], 2);
        for (field, word, reason) in [
            ("filter", "{", "must be JSON"),
            (
                "filter",
                r#"{"period": {"from": "2026-01-02"}}"#,
                "\"state\" is a required property",
            ),
            ("filter", r#"{"state": "other"}"#, "/state"),
            ("filter", r#"{"state": "open", "more": 1}"#, "more"),
            (
                "filter",
                r#"{"state": "open", "period": {"from": "today"}}"#,
                "/period/from",
            ),
            (
                "filter",
                r#"{"state": "open", "period": {"from": "2026-01-02", "days": 0}}"#,
                "/period/days",
            ),
            ("filter", r#"["open"]"#, "not of type"),
            ("rows", "[]", "does not fit"),
            ("rows", r#"[{"id": 1}, {"id": "2"}]"#, "/1/id"),
            ("labels", "bug,other", "/1"),
            ("priority", "2", "does not fit"),
        ] {
            let error = of_words(&tool, &[(field, word)]).unwrap_err();
            assert_eq!(error.kind, crate::ErrorKind::Usage);
            assert!(error.message.contains(reason), "{word}: {error}");
        }
    }

    #[test]
    fn nested_schemas_are_in_help_snippet_catalogue_and_definition() {
        let tool = parse_user_tool(NESTED).unwrap();
        assert_eq!(tool.arguments[0].usage(), "<filter>");
        let shape = r#"{"period"?: {"days"?: integer, "from": string}, "state": "open" | "closed"}"#;
        assert!(
            tool.arguments[0].long_help().contains(shape),
            "{}",
            tool.arguments[0].long_help()
        );
        assert!(crate::docs::snippet(&tool).contains(&shape.replace('|', "\\|")));
        let schema = &crate::docs::definition(&tool)["input_schema"]["properties"];
        assert_eq!(
            schema["filter"]["properties"]["period"]["required"],
            json!(["from"])
        );
        assert_eq!(schema["rows"]["items"]["properties"]["id"]["type"], "integer");
        let mut registry = crate::Registry::built_in();
        registry.add(tool).unwrap();
        assert!(crate::docs::catalogue(&registry).contains(shape));
    }

    #[test]
    fn a_schema_that_is_none_is_refused() {
        for property in [
            "type='strange'",
            "type='object'\nrequired='x'",
            "'$ref'='https://a.example/s.json'",
        ] {
            let text = format!(
                "group='a'\nname='b'\ndescription='d'\ncommand=['x']\n[input.properties.p]\n{property}"
            );
            let error = parse_user_tool(&text).unwrap_err().to_string();
            assert!(error.contains("input.properties.p"), "{property}: {error}");
        }
    }

    #[test]
    fn a_property_with_the_name_of_a_global_option_is_refused() {
        for name in GLOBAL_ARGUMENTS {
            let text = format!(
                "group='a'\nname='b'\ndescription='d'\ncommand=['x']\n[input.properties.{name}]\ntype='string'"
            );
            let error = parse_user_tool(&text).unwrap_err();
            assert!(error.to_string().contains(name), "{error}");
        }
    }

    #[test]
    fn an_http_call_is_read() {
        let text = "group='my'\nname='api'\ndescription='d'\n[http]\nurl='https://a/b'\nmethod='GET'\n";
        let tool = parse_user_tool(text).unwrap();
        assert!(matches!(tool.action, Action::User(UserAction::Http { .. })));
    }

    #[test]
    fn broken_declarations_say_what_is_wrong() {
        for (text, reason) in [
            ("group=", "TOML"),
            ("group='a'\nname='b'", "description"),
            ("group='A'\nname='b'\ndescription='d'\ncommand=['x']", "group"),
            ("group='a'\nname='b'\ndescription='d'", "command"),
            ("group='a'\nname='b'\ndescription='d'\ncommand=[]", "empty"),
            (
                "group='a'\nname='b'\ndescription='d'\ncommand=['x']\nkey='sk-123'",
                "variable",
            ),
            (
                "group='a'\nname='b'\ndescription='d'\n[http]\nurl='ftp://x'",
                "http.url",
            ),
            (
                "group='a'\nname='b'\ndescription='d'\ncommand=['x']\n[input]\nrequired=['y']",
                "required",
            ),
            (
                "group='a'\nname='b'\ndescription='d'\ncommand=['x']\n[input.properties.fresh]\ntype='string'",
                "fresh",
            ),
        ] {
            let error = parse_user_tool(text).unwrap_err().to_string();
            assert!(error.contains(reason), "{text:?}: {error}");
        }
    }

    #[test]
    fn built_in_commands_cannot_be_replaced() {
        let mut registry = crate::Registry::built_in();
        for (group, name) in [("tavily", "search"), ("info", "x"), ("plans", "list")] {
            let text = format!("group='{group}'\nname='{name}'\ndescription='d'\ncommand=['x']");
            assert!(registry.add(parse_user_tool(&text).unwrap()).is_err(), "{group}");
        }
    }
}
