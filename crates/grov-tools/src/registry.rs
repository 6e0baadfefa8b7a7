//! All tools: those of this crate, and the user's.

mod perplexity;
mod tavily;
mod vertex;

use crate::tool::{Argument, Kind, Tool};
use crate::user_tool::UserToolError;
use std::sync::LazyLock;

/// The arguments that every tool accepts.
pub static COMMON_ARGUMENTS: LazyLock<Vec<Argument>> = LazyLock::new(|| {
    vec![
        Argument::option("stdin", Kind::Flag, "Read piped input and add it to the request"),
        Argument::option("fresh", Kind::Flag, "Do not use a cached answer"),
        Argument::option(
            "yes",
            Kind::Flag,
            "Make the call even if the daily budget does not allow it",
        ),
        Argument::option(
            "show-request",
            Kind::Flag,
            "Print what would be sent in data.request, and send nothing",
        ),
    ]
});

/// All tools, in the order of the catalogue.
#[derive(Clone, Debug, PartialEq)]
pub struct Registry {
    tools: Vec<Tool>,
}

impl Registry {
    /// The built-in tools.
    pub fn built_in() -> Self {
        let mut tools = perplexity::tools();
        tools.extend(tavily::tools());
        tools.extend(vertex::tools());
        Self { tools }
    }

    /// The tools in order.
    pub fn tools(&self) -> &[Tool] {
        &self.tools
    }

    /// The groups in order.
    pub fn groups(&self) -> Vec<&str> {
        let mut groups: Vec<&str> = Vec::new();
        for tool in &self.tools {
            if !groups.contains(&&*tool.group) {
                groups.push(&tool.group);
            }
        }
        groups
    }

    /// A tool by its two words.
    pub fn find(&self, group: &str, name: &str) -> Option<&Tool> {
        let mut tools = self.tools.iter();
        tools.find(|tool| tool.group == group && tool.name == name)
    }

    /// A tool by the name of its snippet.
    pub fn find_slug(&self, slug: &str) -> Option<&Tool> {
        self.tools.iter().find(|tool| tool.slug() == slug)
    }

    /// Adds a tool of the user.
    ///
    /// # Errors
    ///
    /// If its name is taken.
    pub fn add(&mut self, tool: Tool) -> Result<(), UserToolError> {
        let is_reserved = RESERVED_GROUPS.contains(&&*tool.group);
        if is_reserved || self.find(&tool.group, &tool.name).is_some() {
            return Err(UserToolError::Taken(tool.command()));
        }
        self.tools.push(tool);
        Ok(())
    }
}

/// Words that are commands of their own.
const RESERVED_GROUPS: [&str; 7] = ["info", "snippet", "docs", "install", "uninstall", "plans", "help"];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tool::{Action, BuiltIn};
    use std::collections::HashSet;

    #[test]
    fn names_arguments_and_actions_are_unique() {
        let registry = Registry::built_in();
        let slugs: HashSet<String> = registry.tools().iter().map(Tool::slug).collect();
        assert_eq!(slugs.len(), registry.tools().len());
        let mut actions: HashSet<BuiltIn> = HashSet::new();
        for tool in registry.tools() {
            let Action::BuiltIn(action) = tool.action else {
                panic!()
            };
            assert!(actions.insert(action), "{action:?}");
            let all = tool.arguments.iter().chain(COMMON_ARGUMENTS.iter());
            let names: Vec<&str> = all.map(|argument| &*argument.name).collect();
            assert_eq!(
                names.iter().collect::<HashSet<_>>().len(),
                names.len(),
                "{}",
                tool.slug()
            );
        }
    }
}
