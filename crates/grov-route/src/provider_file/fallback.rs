//! Checks `fallback`: known labels, no cycles.

use super::ProviderFile;
use super::problem::label_hint;
use super::reader::Reader;
use crate::target::Target;

impl Reader<'_> {
    /// Reports unknown labels and cycles.
    pub(super) fn check_fallbacks(&mut self, file: &ProviderFile) {
        let labels: Vec<&str> = file.targets.iter().map(|target| target.label.as_str()).collect();
        for target in &file.targets {
            for label in &target.fallback {
                if file.target(label).is_none() {
                    let message = format!(
                        "`fallback` of `{}` names the unknown label `{label}`",
                        target.label
                    );
                    self.problem(target.line, message, label_hint(label, &labels));
                }
            }
        }
        let mut reported: Vec<&str> = Vec::new();
        for target in &file.targets {
            if let Some(cycle) = cycle_from(file, target) {
                // A cycle is found from each of its labels and reported once.
                if !reported.iter().any(|label| cycle.contains(label)) {
                    let message = format!("`fallback` is cyclic: {}", cycle.join(" → "));
                    self.problem(target.line, message, "remove one of these fallbacks");
                }
                reported.extend(cycle);
            }
        }
    }
}

/// The labels of a way from `start` back to itself.
fn cycle_from<'a>(file: &'a ProviderFile, start: &'a Target) -> Option<Vec<&'a str>> {
    let mut seen: Vec<&str> = Vec::new();
    let mut ways: Vec<Vec<&'a str>> = vec![vec![&start.label]];
    while let Some(way) = ways.pop() {
        let target = way.last().and_then(|label| file.target(label));
        for label in target.iter().flat_map(|target| &target.fallback) {
            let mut longer = way.clone();
            longer.push(label);
            if *label == start.label {
                return Some(longer);
            }
            if !seen.contains(&label.as_str()) {
                seen.push(label);
                ways.push(longer);
            }
        }
    }
    None
}
