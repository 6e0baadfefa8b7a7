//! What a settings file says of Grov.

use super::error::SyntaxError;
use super::hook::{is_grovs, shell_words_first};
use super::register::handlers;
use super::scan::{Document, Node};
use std::collections::BTreeMap;

/// What a settings file says, as far as it concerns Grov.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Inspected {
    /// The events with a hook that calls Grov, each with the program that it runs; none for a hook over HTTP.
    pub hooks: Vec<(String, Option<String>)>,
    /// The variables that the client gets, texts alone.
    pub environment: BTreeMap<String, String>,
}

/// Reads what the text of a settings file says.
///
/// # Errors
/// The text is no JSON.
pub fn inspect(text: &str) -> Result<Inspected, SyntaxError> {
    let document = Document::scan(text)?;
    let mut inspected = Inspected::default();
    let items = |name: &str| document.at(&[name]).map(Node::items).unwrap_or_default();
    for event in items("hooks") {
        for handler in handlers(&event.node).filter(|handler| is_grovs(handler)) {
            let command = handler.member("command").and_then(Node::text);
            let name = event.key.clone().unwrap_or_default();
            inspected.hooks.push((name, command.map(shell_words_first)));
        }
    }
    for variable in items("env") {
        if let (Some(name), Some(value)) = (&variable.key, variable.node.text()) {
            inspected.environment.insert(name.clone(), value.to_owned());
        }
    }
    Ok(inspected)
}

#[cfg(test)]
mod tests {
    use super::super::{Hook, Wanted, register, shell_word};
    use super::*;

    #[test]
    fn what_is_registered_is_found() {
        let program = "/opt/it's here/grov";
        let wanted = Wanted {
            hooks: vec![
                Hook::command(&shell_word(program), "Stop", 5),
                Hook::http("http://127.0.0.1:1", "PreToolUse", 5),
                Hook::command("grov", "SessionStart", 5),
            ],
            environment: vec![("A".to_owned(), "1".to_owned())],
            status_line: None,
        };
        let text = r#"{"hooks": {"Stop": [{"hooks": [{"command": "mine"}]}]}, "env": {"B": 2}}"#;
        let inspected = inspect(&register(text, &wanted).unwrap().text).unwrap();
        assert_eq!(
            inspected.hooks,
            [
                ("Stop".to_owned(), Some(program.to_owned())),
                ("PreToolUse".to_owned(), None),
                ("SessionStart".to_owned(), Some("grov".to_owned())),
            ]
        );
        assert_eq!(inspected.environment, [("A".to_owned(), "1".to_owned())].into());
        assert_eq!(inspect("").unwrap(), Inspected::default());
        assert!(inspect("{").is_err());
    }
}
