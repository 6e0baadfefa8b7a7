//! Finds the agent's working directory in a request.

use grov_domain::ClientDialect;
use grov_wire::{RequestIndex, Role};

/// Messages searched from the beginning, where the client describes the environment.
const MESSAGES: usize = 3;

/// Returns the working directory named in the system prompt, in a system message among the first messages, or in the client's own
/// description of the environment. Other user messages are not trusted: they contain files of the repository, which could name the
/// directory of another project to get its memories.
pub(crate) fn find(client: &ClientDialect, index: &RequestIndex) -> Option<String> {
    let in_system = index.system_texts().find_map(|text| introduced(client, &text));
    in_system.or_else(|| {
        let first = index.messages().take(MESSAGES);
        let texts = first.flat_map(|message| {
            let is_system = message.role() == Role::System;
            message
                .texts()
                .filter(move |text| is_system || describes(client, message.role(), text))
        });
        texts.into_iter().find_map(|text| introduced(client, &text))
    })
}

/// Returns whether a text is the client's description of the environment, which stands alone in its block.
fn describes(client: &ClientDialect, role: Role, text: &str) -> bool {
    role == Role::User && !client.environment.is_empty() && text.trim_start().starts_with(client.environment)
}

/// Returns the first path that the text introduces as the working directory.
fn introduced(client: &ClientDialect, text: &str) -> Option<String> {
    let mut named = client.working_directories(text);
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

    const CLIENT: ClientDialect = ClientDialect::CLAUDE_CODE;

    #[test]
    fn all_forms_of_the_environment_block_are_read() {
        for text in [
            "<env>\nWorking directory: /home/dev/project\nIs directory a git repo: Yes\n</env>",
            "# Environment\n - Primary working directory: /home/dev/project\n   - Is a git repository: false\n",
            "Current working directory: /home/dev/project",
        ] {
            assert_eq!(
                introduced(&CLIENT, text).as_deref(),
                Some("/home/dev/project"),
                "{text}"
            );
        }
        assert_eq!(
            introduced(&CLIENT, "Working directory: C:\\code\\x\n").as_deref(),
            Some("C:\\code\\x")
        );
    }

    #[test]
    fn prose_about_working_directories_is_ignored() {
        assert_eq!(
            introduced(&CLIENT, "Set the Working directory: /tmp to run it"),
            None
        );
        assert_eq!(introduced(&CLIENT, "Working directory: unknown"), None);
    }
}
