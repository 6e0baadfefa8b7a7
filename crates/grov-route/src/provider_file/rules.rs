//! The section `rules`.

use super::ProviderFile;
use super::node::{Node, NodeValue};
use super::problem::{did_you_mean, label_hint};
use super::reader::{Reader, line_of};
use crate::request_facts::Effort;
use crate::rules::{LONG_CONTEXT_TOKENS, LongContextRule, Rules, THINK_EFFORT, THINK_TOKENS, ThinkRule};

/// Keys of `rules`.
pub(super) const RULE_KEYS: &[&str] = &[
    "agents",
    "background",
    "think",
    "long_context",
    "web_search",
    "images",
    "default",
];

/// Keys of `think`.
pub(super) const THINK_KEYS: &[&str] = &["model", "budget", "effort"];

/// Keys of `long_context`.
pub(super) const LONG_CONTEXT_KEYS: &[&str] = &["model", "threshold"];

impl Reader<'_> {
    pub(super) fn rules(&mut self, node: &Node, file: &ProviderFile) -> Rules {
        let Some(fields) = self.section(node, "rules", RULE_KEYS) else {
            return Rules::default();
        };
        let mut label = |key: &str| fields.get(key).and_then(|node| self.label(node, key, file));
        let (background, web_search) = (label("background"), label("web_search"));
        let (images, default) = (label("images"), label("default"));
        Rules {
            agents: fields
                .get("agents")
                .map_or_else(Vec::new, |node| self.agents(node, file)),
            background,
            think: fields.get("think").and_then(|node| self.think(node, file)),
            long_context: fields
                .get("long_context")
                .and_then(|node| self.long_context(node, file)),
            web_search,
            images,
            default,
        }
    }

    /// A label of the file.
    fn label(&mut self, node: &Node, what: &str, file: &ProviderFile) -> Option<String> {
        let label = self.text(node, what)?;
        if file.target(&label).is_some() {
            return Some(label);
        }
        let labels: Vec<&str> = file
            .targets()
            .iter()
            .map(|target| target.label.as_str())
            .collect();
        let message = format!("`{what}` names the unknown label `{label}`");
        self.problem(line_of(node), message, label_hint(&label, &labels));
        None
    }

    fn agents(&mut self, node: &Node, file: &ProviderFile) -> Vec<(String, String)> {
        let Some(fields) = self.mapping(node, "agents") else {
            return Vec::new();
        };
        fields
            .iter()
            .filter_map(|(agent, node)| Some((agent.value.clone(), self.label(node, &agent.value, file)?)))
            .collect()
    }

    fn think(&mut self, node: &Node, file: &ProviderFile) -> Option<ThinkRule> {
        let mut rule = ThinkRule {
            label: String::new(),
            budget: THINK_TOKENS,
            effort: THINK_EFFORT,
        };
        if !matches!(node.value, NodeValue::Mapping(_)) {
            rule.label = self.label(node, "think", file)?;
            return Some(rule);
        }
        let fields = self.section(node, "think", THINK_KEYS)?;
        if let Some(node) = fields.get("budget") {
            rule.budget = self.positive(node, "budget")?;
        }
        if let Some(node) = fields.get("effort") {
            let name = self.text(node, "effort")?;
            let Some(effort) = Effort::parse(&name) else {
                let hint = did_you_mean(&name, Effort::NAMES);
                self.problem(line_of(node), format!("unknown effort `{name}`"), hint);
                return None;
            };
            rule.effort = effort;
        }
        rule.label = self.model_of(&fields, "think", file)?;
        Some(rule)
    }

    fn long_context(&mut self, node: &Node, file: &ProviderFile) -> Option<LongContextRule> {
        if !matches!(node.value, NodeValue::Mapping(_)) {
            let label = self.label(node, "long_context", file)?;
            let threshold = LONG_CONTEXT_TOKENS;
            return Some(LongContextRule { label, threshold });
        }
        let fields = self.section(node, "long_context", LONG_CONTEXT_KEYS)?;
        let threshold = match fields.get("threshold") {
            Some(node) => self.positive(node, "threshold")?,
            None => LONG_CONTEXT_TOKENS,
        };
        let label = self.model_of(&fields, "long_context", file)?;
        Some(LongContextRule { label, threshold })
    }

    fn model_of(
        &mut self,
        fields: &super::reader::Mapping<'_>,
        what: &str,
        file: &ProviderFile,
    ) -> Option<String> {
        match fields.get("model") {
            Some(node) => self.label(node, "model", file),
            None => {
                self.problem(
                    fields.line,
                    format!("`{what}` has no `model`"),
                    "add `model:` with a label",
                );
                None
            }
        }
    }
}
