//! The directory the agent works in, as the request itself names it.

use grov_domain::ClientDialect;
use grov_wire::{RequestIndex, Role};

/// Messages that are looked through, counted from the first: the environment is told at the beginning.
const MESSAGES: usize = 3;

/// The working directory named in the system prompt, or in a system message among the first ones. What stands in the user's
/// messages is not believed: a cloned repository writes there too (its instructions to the agent), and could name the
/// directory of another project, whose memory it is not to see.
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

/// The first path that is introduced.
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
    fn the_spellings_of_the_environment_block_are_understood() {
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
    fn prose_about_working_directories_is_no_introduction() {
        assert_eq!(introduced("Set the Working directory: /tmp to run it"), None);
        assert_eq!(introduced("Working directory: unknown"), None);
    }
}
