//! The arguments of a call as JSON, checked against the tool's declaration.

use crate::ToolError;
use crate::schema::{Checker, shape};
use crate::tool::{Argument, Kind, Tool};
use serde::de::DeserializeOwned;
use serde_json::{Map, Value, json};

/// Checked arguments of a call, by their names in JSON. Absent ones are absent.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Arguments(Map<String, Value>);

impl Arguments {
    /// Checks arguments in JSON, for a caller that has no command line.
    ///
    /// # Errors
    ///
    /// An unknown name, a wrong type, or a value out of range. A required argument may still be missing, because standard input can
    /// replace it: see [`Arguments::missing`].
    pub fn of(tool: &Tool, values: Map<String, Value>) -> Result<Self, ToolError> {
        for (field, value) in &values {
            let argument = tool.argument(field);
            let argument = argument
                .ok_or_else(|| ToolError::usage(format!("`{}` has no argument `{field}`", tool.command())))?;
            check(argument, value)?;
        }
        Ok(Self(values))
    }

    /// Reads the raw words of a command line: for each argument that was given its words. A flag has none.
    ///
    /// # Errors
    ///
    /// As [`Arguments::of`].
    pub fn of_words(tool: &Tool, given: Vec<(String, Vec<String>)>) -> Result<Self, ToolError> {
        let mut given = given;
        return_swallowed_query(tool, &mut given);
        let mut values = Map::new();
        for (field, words) in given {
            let argument = tool.argument(&field);
            let argument = argument
                .ok_or_else(|| ToolError::usage(format!("`{}` has no argument `{field}`", tool.command())))?;
            values.insert(field, parse(argument, words)?);
        }
        Self::of(tool, values)
    }

    /// The first required argument that is missing.
    pub fn missing<'t>(&self, tool: &'t Tool) -> Option<&'t Argument> {
        let mut required = tool.arguments.iter().filter(|argument| argument.is_required);
        required.find(|argument| !self.0.contains_key(&argument.field()))
    }

    /// The arguments as the input type of a tool, which names only some of them.
    ///
    /// # Errors
    ///
    /// If type and declaration differ, which a test excludes.
    pub fn read<T: DeserializeOwned>(&self) -> Result<T, ToolError> {
        serde_json::from_value(Value::Object(self.0.clone()))
            .map_err(|error| ToolError::usage(format!("the arguments do not fit the tool: {error}")))
    }

    /// Whether a flag is given.
    pub fn flag(&self, field: &str) -> bool {
        self.0.get(field).is_some_and(|value| *value == json!(true))
    }

    /// The text of an argument.
    pub fn text(&self, field: &str) -> Option<&str> {
        self.0.get(field)?.as_str()
    }

    /// The texts of a list.
    pub fn list(&self, field: &str) -> Vec<String> {
        let items = self.0.get(field).and_then(Value::as_array);
        let texts = items.into_iter().flatten().filter_map(Value::as_str);
        texts.map(str::to_owned).collect()
    }

    /// Sets an argument from text of standard input, read like a word of the command line.
    ///
    /// # Errors
    ///
    /// As [`Arguments::of`].
    pub fn set_text(&mut self, argument: &Argument, text: &str) -> Result<(), ToolError> {
        let value = parse(argument, vec![text.to_owned()])?;
        check(argument, &value)?;
        self.set(&argument.field(), value);
        Ok(())
    }

    /// Sets an argument, for one that comes from standard input.
    pub fn set(&mut self, field: &str, value: Value) {
        self.0.insert(field.to_owned(), value);
    }

    /// All arguments.
    pub fn as_object(&self) -> &Map<String, Value> {
        &self.0
    }
}

/// A list option takes all words up to the next option, and so the query behind it. A word with a space is the query.
fn return_swallowed_query(tool: &Tool, given: &mut Vec<(String, Vec<String>)>) {
    let query = tool.arguments.iter().find(|argument| argument.is_positional);
    let Some(query) = query.filter(|query| query.kind == Kind::Text) else {
        return;
    };
    if given.iter().any(|(field, _)| *field == query.field()) {
        return;
    }
    let is_list = |field: &str| {
        tool.argument(field)
            .is_some_and(|argument| matches!(argument.kind, Kind::List(_)))
    };
    let swallowed = given
        .iter_mut()
        .filter(|(field, words)| is_list(field) && words.len() > 1)
        .find_map(|(_, words)| words.pop_if(|word| word.trim().contains(char::is_whitespace)));
    given.extend(swallowed.map(|text| (query.field(), vec![text])));
}

fn parse(argument: &Argument, words: Vec<String>) -> Result<Value, ToolError> {
    let name = &argument.name;
    let one = || words.last().cloned().unwrap_or_default();
    let number = |text: &str| {
        text.trim()
            .parse::<f64>()
            .map_err(|_| ToolError::usage(format!("`{name}` must be a number, not {text:?}")))
    };
    Ok(match &argument.kind {
        Kind::Text | Kind::Choice(_) => json!(one()),
        Kind::Flag => json!(true),
        Kind::FlagOrChoice(_) => match one().as_str() {
            "" | "true" => json!(true),
            "false" => json!(false),
            word => json!(word),
        },
        Kind::Integer { .. } => {
            let text = one();
            let whole = text.trim().parse::<i64>();
            json!(
                whole.map_err(|_| ToolError::usage(format!(
                    "`{name}` must be a whole number, not {text:?}"
                )))?
            )
        }
        Kind::Number { .. } => json!(number(&one())?),
        Kind::Json => {
            let text = one();
            let value: Result<Value, _> = serde_json::from_str(text.trim());
            value.map_err(|error| {
                let shape = argument.schema.as_ref().map(shape).unwrap_or_default();
                ToolError::usage(format!("`{name}` must be JSON: {error}"))
                    .hint(format!("its shape is {shape}"))
            })?
        }
        Kind::List(_) => {
            let parts = words
                .iter()
                .flat_map(|word| word.split(|c: char| c == ',' || c.is_whitespace()));
            json!(parts.filter(|part| !part.is_empty()).collect::<Vec<_>>())
        }
    })
}

/// Checks the kind of a value, and what its schema says more.
fn check(argument: &Argument, value: &Value) -> Result<(), ToolError> {
    check_kind(argument, value)?;
    let Some(schema) = &argument.schema else {
        return Ok(());
    };
    let wrong = |problem: String| {
        ToolError::usage(format!("`{}` does not fit: {problem}", argument.name))
            .hint(format!("its shape is {}", shape(schema)))
    };
    let problem = Checker::new(schema).map_err(wrong)?.problem(value);
    problem.map_or(Ok(()), |problem| Err(wrong(problem)))
}

fn check_kind(argument: &Argument, value: &Value) -> Result<(), ToolError> {
    let name = &argument.name;
    let wrong = |expected: String| {
        Err(ToolError::usage(format!(
            "`{name}` must be {expected}, not {value}"
        )))
    };
    let is_word =
        |words: &[crate::tool::Text]| value.as_str().is_some_and(|word| words.iter().any(|w| w == word));
    match &argument.kind {
        Kind::Json => Ok(()),
        Kind::Text if value.is_string() => Ok(()),
        Kind::Text => wrong("a text".to_owned()),
        Kind::Flag if value.is_boolean() => Ok(()),
        Kind::Flag => wrong("true or false".to_owned()),
        Kind::Choice(words) if is_word(words) => Ok(()),
        Kind::Choice(words) => wrong(format!("one of {}", words.join(", "))),
        Kind::FlagOrChoice(words) if value.is_boolean() || is_word(words) => Ok(()),
        Kind::FlagOrChoice(words) => wrong(format!("a flag or one of {}", words.join(", "))),
        Kind::Integer { min, max } => match value.as_i64() {
            Some(number) if (*min..=*max).contains(&number) => Ok(()),
            _ => wrong(format!("a whole number from {min} to {max}")),
        },
        Kind::Number { min, max } => match value.as_f64() {
            Some(number) if (*min..=*max).contains(&number) => Ok(()),
            _ => wrong(format!("a number from {min} to {max}")),
        },
        Kind::List(most) => match value.as_array() {
            Some(items) if items.iter().all(Value::is_string) => match most {
                Some(most) if items.len() > *most => Err(ToolError::usage(format!(
                    "`{name}` has {} values; at most {most} are allowed",
                    items.len()
                ))),
                _ => Ok(()),
            },
            _ => wrong("a list of texts".to_owned()),
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Registry;

    fn words(group: &str, name: &str, given: &[(&str, &[&str])]) -> Result<Arguments, ToolError> {
        let registry = Registry::built_in();
        let tool = registry.find(group, name).unwrap();
        let given = given.iter();
        let given = given.map(|(field, words)| {
            let words = words.iter().map(|word| (*word).to_owned()).collect();
            ((*field).to_owned(), words)
        });
        Arguments::of_words(tool, given.collect())
    }

    #[test]
    fn lists_accept_commas_spaces_and_repetition() {
        let read = words("tavily", "extract", &[("urls", &["a,b", "c d", "e"])]).unwrap();
        assert_eq!(read.list("urls"), ["a", "b", "c", "d", "e"]);
    }

    #[test]
    fn more_than_twenty_urls_are_bad_usage() {
        let many = vec!["https://a"; 21].join(",");
        let error = words("tavily", "extract", &[("urls", &[&many])]).unwrap_err();
        assert_eq!(error.kind, crate::ErrorKind::Usage);
        assert!(error.message.contains("21"), "{error}");
        assert!(words("tavily", "extract", &[("urls", &[&many[..many.len() - 10]])]).is_ok());
    }

    #[test]
    fn a_query_behind_a_list_is_the_query() {
        let read = words("vertex", "ask", &[("files", &["a.rs", "what is it?"])]).unwrap();
        assert_eq!(read.text("query"), Some("what is it?"));
        assert_eq!(read.list("files"), ["a.rs"]);
    }

    #[test]
    fn values_out_of_range_are_bad_usage() {
        for (field, value) in [
            ("max_results", "0"),
            ("max_results", "21"),
            ("max_results", "x"),
            ("depth", "deep"),
        ] {
            let given: &[(&str, &[&str])] = &[("query", &["q"]), (field, &[value])];
            assert!(words("tavily", "search", given).is_err(), "{field} {value}");
        }
    }
}
