//! Finds the agent's working directory in a request.

use grov_domain::ClientDialect;
use grov_wire::{RequestIndex, Role};

/// Messages searched from the beginning, where the client describes the environment.
const MESSAGES: usize = 3;

/// Returns the working directory named in the system prompt, or in a system message among the first messages. User
/// messages are not trusted: they contain files of the repository, which could name the directory of another project to
/// get its memories.
pub(crate) fn find(index: &RequestIndex) -> Option<String> {
    index
        .system_texts()
        .find_map(|text| introduced(&text))
        .or_else(|| {
            let first = index.messages().take(MESSAGES);
            first
                .filter(|message| message.role() == Role::System)
                .flat_map(|message| message.texts())
                .find_map(|text| introduced(&text))
        })
}

/// Returns the first path that the text introduces as the working directory.
fn introduced(text: &str) -> Option<String> {
    let mut named = ClientDialect::CLAUDE_CODE.working_directories(text);
    named.find(|path| is_absolute(path)).map(str::to_owned)
}

pub(crate) fn is_absolute(path: &str) -> bool {
    let bytes = path.as_bytes();
    path.starts_with('/')
        || path.starts_with("\\\\")
        || (bytes.len() > 2
            && bytes[0].is_ascii_alphabetic()
            && bytes[1] == b':'
            && matches!(bytes[2], b'\\' | b'/'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_forms_of_the_environment_block_are_read() {
        for text in [
            "<env>\nWorking directory: /home/dev/project\nIs directory a git repo: Yes\n</env>",
            "# Environment\n - Primary working directory: /home/dev/project\n   - Is a git repository: false\n",
            "Current working directory: /home/dev/project",
        ] {
            assert_eq!(introduced(text).as_deref(), Some("/home/dev/project"), "{text}");
        }
        assert_eq!(
            introduced("Working directory: C:\\code\\x\n").as_deref(),
            Some("C:\\code\\x")
        );
    }

    #[test]
    fn prose_about_working_directories_is_ignored() {
        assert_eq!(introduced("Set the Working directory: /tmp to run it"), None);
        assert_eq!(introduced("Working directory: unknown"), None);
    }
}
