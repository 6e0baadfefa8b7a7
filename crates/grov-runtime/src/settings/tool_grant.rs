//! Entries of the list of external tools that agents may call.

/// Permission for an agent to call external tools.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ToolGrant {
    /// `main`, the type of a subagent, or `*` for every agent without an entry of its own.
    pub agent: String,
    /// The command: `*`, `perplexity *`, `tavily search`, `install`.
    pub command: String,
}

impl ToolGrant {
    /// Parses `AGENT=COMMAND`; `None` if that is not its form. A command is one or two words; `*` is possible for the last.
    pub(super) fn parse(text: &str) -> Option<Self> {
        let (agent, command) = text.split_once('=')?;
        let agent = agent.trim();
        let words: Vec<&str> = command.split_whitespace().collect();
        let is_agent = agent == "*"
            || !agent.is_empty()
                && !agent.contains(|c: char| c == '*' || c.is_whitespace() || c.is_control());
        let is_name = |word: &str| {
            let mut letters = word.chars();
            letters.all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-')
        };
        let is_command = match words[..] {
            [word] => word == "*" || is_name(word),
            [group, command] => is_name(group) && (command == "*" || is_name(command)),
            _ => false,
        };
        (is_agent && is_command).then(|| Self {
            agent: agent.to_owned(),
            command: words.join(" "),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_entry_names_agent_and_command() {
        let parsed = |text: &str| ToolGrant::parse(text).map(|grant| (grant.agent, grant.command));
        let pair = |agent: &str, command: &str| Some((agent.to_owned(), command.to_owned()));
        assert_eq!(parsed("main=plans  list"), pair("main", "plans list"));
        assert_eq!(parsed(" a:b-c = perplexity * "), pair("a:b-c", "perplexity *"));
        assert_eq!(parsed("*=*"), pair("*", "*"));
        for broken in [
            "",
            "main",
            "main=",
            "=plans",
            "main=* list",
            "main=a b c",
            "ma*n=plans",
            "main=Perplexity ask",
            "main=$X",
            "two words=plans",
        ] {
            assert_eq!(parsed(broken), None, "{broken}");
        }
    }
}
