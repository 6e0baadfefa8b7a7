//! Adds a provider to the text of a provider file. The rest of the text stays as it is.

use std::fmt::Write;

/// The first lines of a new file.
const HEADER: &str =
    "# Other models for agents that need them: providers, their models by label, and rules.\nproviders:\n";

/// A provider with one model, to be added to a file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct NewProvider {
    /// The provider's name.
    pub name: String,
    /// Its base URL.
    pub endpoint: String,
    /// Its API, if that is not Chat Completions.
    pub api: Option<String>,
    /// The variable with its key.
    pub key_variable: Option<String>,
    /// Names of transforms.
    pub transforms: Vec<String>,
    /// The label of its model.
    pub label: String,
    /// The provider's name of the model.
    pub model: String,
}

/// Why a provider cannot be added to a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum EntryError {
    /// `providers` is written as `[…]`, on one line or several.
    #[error("`providers` is not a list of lines that begin with `- `")]
    FlowList,
}

impl NewProvider {
    /// The entry, indented by `indent` spaces.
    pub fn to_yaml(&self, indent: usize) -> String {
        let mut lines = vec![
            format!("- name: {}", scalar(&self.name)),
            format!("  endpoint: {}", scalar(&self.endpoint)),
        ];
        lines.extend(self.api.as_ref().map(|api| format!("  api: {}", scalar(api))));
        lines.extend(
            self.key_variable
                .as_ref()
                .map(|name| format!("  api_key: ${{{name}}}")),
        );
        if !self.transforms.is_empty() {
            lines.push(format!("  transform: [{}]", self.transforms.join(", ")));
        }
        lines.push("  models:".to_owned());
        lines.push(format!("    {}: {}", scalar(&self.label), scalar(&self.model)));
        let mut text = String::new();
        for line in lines {
            let _ = writeln!(text, "{:indent$}{line}", "");
        }
        text
    }

    /// The text of a provider file with this provider at the end of its list. An empty text becomes a new file.
    ///
    /// # Errors
    ///
    /// If the list of providers is not written as lines.
    pub fn insert(&self, text: &str) -> Result<String, EntryError> {
        let lines: Vec<&str> = text.split_inclusive('\n').collect();
        let Some(start) = lines.iter().position(|line| line.starts_with("providers:")) else {
            let separator = if text.is_empty() || text.ends_with('\n') {
                ""
            } else {
                "\n"
            };
            let header = if text.trim().is_empty() {
                HEADER
            } else {
                "\nproviders:\n"
            };
            return Ok(format!("{text}{separator}{header}{}", self.to_yaml(2)));
        };
        let value = lines[start].trim_start_matches("providers:").trim();
        if !value.is_empty() && !value.starts_with('#') {
            return Err(EntryError::FlowList);
        }
        let body = &lines[start + 1..];
        let is_content = |line: &&&str| !line.trim().is_empty() && !line.trim_start().starts_with('#');
        let is_item = |line: &str| line.trim_start().starts_with("- ");
        let first = body.iter().find(is_content).filter(|line| is_item(line));
        let indent = first.map_or(2, |line| line.len() - line.trim_start().len());
        // The list ends where a line at the margin is no item of it.
        let end = body
            .iter()
            .position(|line| {
                is_content(&line) && !line.starts_with([' ', '\t']) && !(indent == 0 && is_item(line))
            })
            .unwrap_or(body.len());
        // Comments and blank lines before the next section belong to it.
        let last = body[..end]
            .iter()
            .rposition(|line| is_content(&line))
            .map_or(0, |at| at + 1);
        let position: usize = lines[..start + 1 + last].iter().map(|line| line.len()).sum();
        let (before, after) = text.split_at(position);
        let newline = if before.ends_with('\n') { "" } else { "\n" };
        let gap = if first.is_some() { "\n" } else { "" };
        Ok(format!("{before}{newline}{gap}{}{after}", self.to_yaml(indent)))
    }
}

/// A text as a YAML scalar, in quotes unless it is surely a text.
fn scalar(text: &str) -> String {
    let is_plain = text.starts_with(|c: char| c.is_ascii_alphabetic())
        && text
            .chars()
            .all(|c| c.is_ascii_alphanumeric() || "-_./:".contains(c))
        && !text.ends_with(':')
        && !matches!(
            text.to_ascii_lowercase().as_str(),
            "true" | "false" | "null" | "yes" | "no" | "on" | "off" | "y" | "n"
        );
    match is_plain {
        true => text.to_owned(),
        // A JSON string is a YAML string.
        false => serde_json::Value::from(text).to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ProviderFile;
    use proptest::prelude::*;

    fn entry() -> NewProvider {
        NewProvider {
            name: "local".to_owned(),
            endpoint: "http://127.0.0.1:8080/v1".to_owned(),
            key_variable: Some("KEY".to_owned()),
            transforms: vec!["reasoning".to_owned(), "schema:generic".to_owned()],
            label: "fast".to_owned(),
            model: "qwen3:32b".to_owned(),
            ..NewProvider::default()
        }
    }

    fn labels(text: &str) -> Vec<String> {
        let file = ProviderFile::read(text, &|_| Some("k".to_owned()))
            .unwrap_or_else(|error| panic!("{error}\n{text}"));
        file.targets().iter().map(|target| target.label.clone()).collect()
    }

    #[test]
    fn a_new_file_is_valid() {
        for text in [
            "",
            "\n",
            "# mine\n",
            "rules: {}",
            "providers:\n",
            "providers: # none yet\n# todo\n",
        ] {
            let inserted = entry().insert(text).unwrap();
            assert!(text.lines().all(|line| inserted.contains(line)), "{inserted}");
            assert_eq!(labels(&inserted), ["fast"], "{text}");
        }
    }

    #[test]
    fn the_entry_follows_the_last_provider_and_the_rest_stays() {
        let list = "# top\nproviders: # mine\n    - name: a\n      endpoint: http://a\n      # a comment\n      models: {one: m} # end\n";
        let rest = "\n# rules of mine\nrules:\n    default: one\n";
        let inserted = entry().insert(&format!("{list}{rest}")).unwrap();
        let added = inserted
            .strip_prefix(list)
            .and_then(|text| text.strip_suffix(rest))
            .unwrap();
        assert!(
            added.starts_with("\n    - name: local\n      endpoint: "),
            "{added}"
        );
        assert_eq!(labels(&inserted), ["one", "fast"]);
    }

    #[test]
    fn a_list_at_the_margin_and_a_file_without_a_last_newline_work() {
        let text = "providers:\n- name: a\n  endpoint: http://a\n  models:\n    one: m";
        let inserted = entry().insert(text).unwrap();
        assert!(inserted.starts_with(text));
        assert_eq!(labels(&inserted), ["one", "fast"]);
        let before_rules = entry()
            .insert(&format!("{text}\nrules:\n  default: one\n"))
            .unwrap();
        assert_eq!(labels(&before_rules), ["one", "fast"]);
    }

    #[test]
    fn a_list_in_brackets_is_not_touched() {
        assert_eq!(entry().insert("providers: []\n"), Err(EntryError::FlowList));
        assert_eq!(
            entry().insert("providers: [\n  {name: a}\n]\n"),
            Err(EntryError::FlowList)
        );
    }

    proptest! {
        #[test]
        fn any_name_survives(name in "[!-~]{1,12}", model in "\\PC{1,20}") {
            prop_assume!(!model.trim().is_empty());
            let entry = NewProvider { name: name.clone(), label: name.clone(), model: model.clone(), ..entry() };
            let inserted = entry.insert("").unwrap();
            let file = ProviderFile::read(&inserted, &|_| Some("k".to_owned()));
            let file = file.map_err(|error| TestCaseError::fail(format!("{error}\n{inserted}")))?;
            let target = file.target(&name).unwrap();
            prop_assert_eq!(&target.provider, &name);
            prop_assert_eq!(&target.model, model.trim());
        }
    }
}
