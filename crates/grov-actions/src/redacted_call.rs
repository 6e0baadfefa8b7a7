//! Parses tool calls with secrets masked.
//!
//! Secrets are masked in the arguments before these are parsed. Afterwards a word would no longer be recognized as a
//! secret, because its context, such as the option `-p` before it, is gone.

use crate::{ToolCall, ToolInput, content, understand, understand_whole};
use grov_domain::{Action, ActionType, ClientDialect, Effect, end_of};
use grov_redact::Redactor;
use serde_json::Value;
use std::borrow::Cow;
use std::sync::Arc;

/// The length of the part of a written text that is redacted, in bytes. [`content`] keeps less.
const MAX_WRITTEN: usize = 64 * 1024;

/// The minimum number of bytes redacted to take the end of a text. The words that announce a secret may precede that
/// end.
const MIN_REDACTED_END: usize = 16 * 1024;

/// A parsed tool call without secrets.
#[derive(Clone, Debug, PartialEq)]
pub struct RedactedCall {
    /// The action. The kinds of its effects come from the unmasked call.
    pub action: Action,
    /// The beginning of the text that it writes: see [`content`].
    pub content: Option<String>,
    /// The plan that it asks the user to approve.
    pub plan: Option<String>,
}

/// Like [`understand`], with secrets masked in all texts.
pub fn understand_redacted(call: &ToolCall<'_>) -> RedactedCall {
    redact_then(understand, call)
}

/// Like [`understand_whole`], with secrets masked in all texts.
pub fn understand_redacted_whole(call: &ToolCall<'_>) -> RedactedCall {
    redact_then(understand_whole, call)
}

fn redact_then(understand: fn(&ToolCall<'_>) -> Action, call: &ToolCall<'_>) -> RedactedCall {
    let input = call.input.value();
    let folder = call.working_directory.map(redacted);
    let parsed = |input| ToolCall {
        input: ToolInput::Json(input),
        ..*call
    };
    let masked = masked(call.name, &input);
    let safe = ToolCall {
        working_directory: folder.as_deref(),
        ..parsed(masked.as_ref().unwrap_or(&input))
    };
    let mut action = understand(&safe);
    if masked.is_some() {
        action.effects = effects(understand(&parsed(&input)).effects, action.effects);
    }
    let programs = action.line.as_mut().map(|line| &mut Arc::make_mut(line).programs);
    let changes = programs
        .into_iter()
        .flatten()
        .flat_map(|program| &mut program.changes);
    let places = action.files.iter_mut().chain(&mut action.folders).chain(changes);
    for path in places.chain(action.effects.iter_mut().flat_map(|effect| &mut effect.paths)) {
        if let Some(masked) = masked_assignments(path) {
            *path = masked;
        }
    }
    let plan = safe
        .input
        .value()
        .get("plan")
        .and_then(Value::as_str)
        .map(str::to_owned);
    RedactedCall {
        action,
        content: content(&safe),
        plan,
    }
}

/// Masks names in a path that assign a secret: `logs/DB_PASSWORD=x1y2z3.txt`. The extension stays. `None` if there
/// are none.
fn masked_assignments(path: &str) -> Option<String> {
    if !path.contains('=') {
        return None;
    }
    let masked = |name: &str| {
        let (stem, extension) = match name.rsplit_once('.') {
            Some((stem, extension)) if extension.len() <= 5 => (stem, &name[stem.len()..]),
            _ => (name, ""),
        };
        format!("{}{extension}", redacted(stem))
    };
    let names: Vec<String> = path.split('/').map(masked).collect();
    let masked = names.join("/");
    (masked != path).then_some(masked)
}

/// The text with its secrets masked.
pub(crate) fn redacted(text: &str) -> Cow<'_, str> {
    Redactor::shared().redact(text)
}

/// The last `most` characters of a text, with secrets masked.
pub fn redacted_end(text: &str, most: usize) -> String {
    let start = text.ceil_char_boundary(text.len().saturating_sub(MIN_REDACTED_END.max(8 * most)));
    end_of(&redacted(&text[start..]), most).to_owned()
}

/// The arguments with secrets masked; `None` if they contain none.
fn masked(tool: &str, input: &Value) -> Option<Value> {
    let action_type = ClientDialect::CLAUDE_CODE.action_type(tool);
    let masking = Masking {
        max_bytes: if action_type.modifies_files() {
            MAX_WRITTEN
        } else {
            usize::MAX
        },
        by_name: matches!(action_type, ActionType::Mcp | ActionType::Other),
    };
    let mut masked = input.clone();
    masking.mask(None, &mut masked).then_some(masked)
}

struct Masking {
    /// The maximum length of a text in bytes.
    max_bytes: usize,
    /// Whether the name of an argument may show that its value is a secret.
    by_name: bool,
}

impl Masking {
    /// Masks the secrets in a value. Returns whether it changed.
    fn mask(&self, name: Option<&str>, value: &mut Value) -> bool {
        match value {
            Value::String(text) => {
                let masked = self.text(name, text);
                masked.map(|masked| *text = masked).is_some()
            }
            Value::Array(values) => values
                .iter_mut()
                .fold(false, |changed, value| self.mask(name, value) | changed),
            Value::Object(fields) => fields.iter_mut().fold(false, |changed, (name, value)| {
                self.mask(Some(name), value) | changed
            }),
            _ => false,
        }
    }

    fn text(&self, name: Option<&str>, text: &str) -> Option<String> {
        const MAX_NAMED: usize = 1024;
        let part = &text[..text.floor_char_boundary(self.max_bytes.min(text.len()))];
        if let Cow::Owned(masked) = redacted(part) {
            return Some(masked);
        }
        let name = name.filter(|_| self.by_name && text.len() <= MAX_NAMED);
        if let Some(rule) = name.and_then(|name| rule_by_name(name, text)) {
            return Some(format!("[redacted:{rule}]"));
        }
        (part.len() < text.len()).then(|| part.to_owned())
    }
}

/// The rule by which the name and the value of an argument are a secret: `"password": "…"`.
fn rule_by_name(name: &str, text: &str) -> Option<&'static str> {
    let member = format!("\"{name}\": \"{text}\"");
    let value = name.len() + "\"\": \"".len();
    let found = Redactor::shared().findings(&member);
    let found = found.into_iter().find(|finding| finding.range.end > value);
    found.map(|finding| finding.rule)
}

/// The effects of the unmasked call with the paths of the masked call.
fn effects(raw: Vec<Effect>, masked: Vec<Effect>) -> Vec<Effect> {
    let same = raw.len() == masked.len()
        && raw
            .iter()
            .zip(&masked)
            .all(|(raw, masked)| raw.kind == masked.kind);
    if same {
        return masked;
    }
    // The effects do not correspond one to one, so each effect gets all paths of its kind.
    let of_kind = |effect: &Effect| {
        let same_kind = masked.iter().filter(|masked| masked.kind == effect.kind);
        same_kind
            .flat_map(|masked| masked.paths.iter().cloned())
            .collect()
    };
    raw.iter()
        .map(|effect| Effect {
            kind: effect.kind,
            paths: of_kind(effect),
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use grov_domain::EffectKind;
    use serde_json::json;

    /// Assembled from parts, so that this file does not contain a secret.
    fn token() -> String {
        ["ghp_", "a8Kd03mZxQw7LpYt5RvN2bHs9JcF4gEuT6iO"].concat()
    }

    fn of(name: &str, input: &Value) -> RedactedCall {
        understand_redacted(&ToolCall {
            name,
            id: Some("t"),
            input: input.into(),
            working_directory: Some("/p"),
        })
    }

    #[test]
    fn passwords_of_a_command_are_not_in_files_or_effects() {
        for command in [
            "curl -u deploy:tr0ub4dor/and/3-staples -o out.tgz https://example.org/a",
            "mysql -u root -ptr0ub4dor/and/3-staples < dump.sql",
            "sshpass -p 'tr0ub4dor/and/3-staples' scp a.txt me@host.example.org:/srv/a.txt",
            "API_TOKEN=tr0ub4dor/and/3-staples rm -rf build/",
        ] {
            let kept = of("Bash", &json!({ "command": command }));
            let debug = format!("{kept:?}");
            assert!(
                !debug.contains("tr0ub4dor") && !debug.contains("staples"),
                "{command}: {debug}"
            );
            let raw = json!({ "command": command });
            let raw = understand(&ToolCall {
                name: "Bash",
                id: None,
                input: (&raw).into(),
                working_directory: Some("/p"),
            });
            let kinds = |effects: &[Effect]| effects.iter().map(|effect| effect.kind).collect::<Vec<_>>();
            assert_eq!(kinds(&kept.action.effects), kinds(&raw.effects), "{command}");
        }
    }

    #[test]
    fn effects_come_from_the_unmasked_command() {
        let command = format!("cat > .env <<'EOF'\nTOKEN={}\nEOF\nrm -r old", token());
        let kept = of("Bash", &json!({ "command": command }));
        assert!(kept.action.files.contains(&"/p/.env".to_owned()), "{kept:?}");
        assert!(
            kept.action
                .effects
                .iter()
                .any(|effect| effect.kind == EffectKind::Delete)
        );
    }

    #[test]
    fn secrets_in_paths_are_masked() {
        let path = format!("/tmp/{}.txt", token());
        let kept = of("Read", &json!({ "file_path": path }));
        assert_eq!(kept.action.files, ["/tmp/[redacted:github-token].txt"]);
        let folder = format!("/tmp/{}", token());
        let call = json!({"file_path": "a.txt"});
        let kept = super::understand_redacted(&ToolCall {
            name: "Write",
            id: None,
            input: (&call).into(),
            working_directory: Some(&folder),
        });
        assert_eq!(kept.action.files, ["/tmp/[redacted:github-token]/a.txt"]);
    }

    #[test]
    fn an_assignment_in_a_file_name_is_masked_but_not_the_extension() {
        let path = json!({"file_path": "docs/spring.datasource.password=Hunter22.md"});
        let kept = of("Read", &path);
        assert_eq!(
            kept.action.files,
            ["/p/docs/spring.datasource.password=[redacted:password].md"]
        );
        let path = json!({"file_path": "out/a=b/c=1.txt"});
        assert_eq!(of("Read", &path).action.files, ["/p/out/a=b/c=1.txt"]);
    }

    #[test]
    fn the_name_of_an_argument_shows_a_secret() {
        let call = json!({"path": "a.txt", "auth": {"password": "hunter2/or/so"}, "query": "SELECT 1"});
        let input = masked("mcp__db__query", &call).unwrap();
        assert_eq!(input["auth"]["password"], "[redacted:password]");
        assert_eq!(input["path"], "a.txt");
        let call = json!({"password": "the password field", "command": "ls"});
        assert_eq!(masked("mcp__x__y", &call), None);
    }

    #[test]
    fn a_call_without_secrets_is_not_changed() {
        for (name, input) in [
            (
                "Bash",
                json!({"command": "mkdir -p src/a && git show 9f86d081884c7d659a2feaa0c55ad0159f86d081"}),
            ),
            (
                "Edit",
                json!({"file_path": "src/a.rs", "old_string": "a", "new_string": "b"}),
            ),
            (
                "mcp__x__y",
                json!({"path": "a", "n": 1, "list": ["b", {"c": null}]}),
            ),
        ] {
            let call = ToolCall {
                name,
                id: None,
                input: (&input).into(),
                working_directory: Some("/p"),
            };
            let kept = understand_redacted(&call);
            assert_eq!((kept.action, kept.content), (understand(&call), content(&call)));
        }
    }

    #[test]
    fn a_secret_before_the_returned_end_is_masked() {
        let long = "x ".repeat(40_000);
        let text = format!("{long}password: hunter2staple\n{}", "y ".repeat(195));
        let end = redacted_end(&text, 400);
        assert!(!end.contains("hunter2"), "{end}");
    }

    #[test]
    fn written_content_is_truncated_and_masked() {
        let text = format!("TOKEN={}\n{}", token(), "x ".repeat(1 << 20));
        let kept = of("Write", &json!({"file_path": "a", "content": text}));
        let content = kept.content.unwrap();
        assert!(
            content.starts_with("TOKEN=[redacted:github-token]"),
            "{}",
            &content[..80]
        );
        assert!(content.chars().count() <= 4000);
    }
}
