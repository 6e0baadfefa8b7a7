//! The present text of a file that a call overwrites: rules about weakened tests and checks compare it with the new text.

use grov_domain::{ActionSketch, ActionType};
use std::io::ErrorKind;
use std::path::Path;
use std::sync::Arc;

/// The longest file that is read, in bytes.
const MAX_BYTES: u64 = 64 * 1024;

/// Adds the present text to an action and to its masked form. The text is only compared, never quoted.
pub(super) fn add(action: &mut ActionSketch, masked: &mut ActionSketch) {
    let Some(text) = of(action) else {
        return;
    };
    for change in [&mut action.change, &mut masked.change].into_iter().flatten() {
        Arc::make_mut(change).before = Some(text.clone());
    }
}

/// The present text of a file that is written as a whole, empty if there is none; `None` if it cannot be read.
fn of(action: &ActionSketch) -> Option<String> {
    let change = action.change.as_ref()?;
    let path = Path::new(action.files.first()?);
    if action.action_type != ActionType::Write || change.before.is_some() || !path.is_absolute() {
        return None;
    }
    match std::fs::metadata(path) {
        // Only regular files: reading a pipe could block.
        Ok(file) if file.is_file() && file.len() <= MAX_BYTES => std::fs::read_to_string(path).ok(),
        Err(error) if error.kind() == ErrorKind::NotFound => Some(String::new()),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use grov_actions::{ToolCall, understand_whole};

    fn before(tool: &str, file: &Path) -> Option<String> {
        let input = match tool {
            "Write" => serde_json::json!({"file_path": file, "content": "new"}),
            _ => serde_json::json!({"file_path": file, "old_string": "old", "new_string": "new"}),
        };
        let call = ToolCall {
            name: tool,
            id: None,
            input: (&input).into(),
            working_directory: None,
        };
        let mut action = ActionSketch::of(&understand_whole(&call));
        let mut masked = action.clone();
        add(&mut action, &mut masked);
        assert_eq!(action, masked);
        action.change.as_ref()?.before.clone()
    }

    #[test]
    fn the_text_of_an_overwritten_file_is_known() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("a.rs");
        assert_eq!(before("Write", &file).as_deref(), Some(""));
        std::fs::write(&file, "present").unwrap();
        assert_eq!(before("Write", &file).as_deref(), Some("present"));
        assert_eq!(before("Edit", &file).as_deref(), Some("old"));
        assert_eq!(before("Write", folder.path()), None);
        std::fs::write(&file, "x".repeat(70_000)).unwrap();
        assert_eq!(before("Write", &file), None);
    }
}
