//! Parses constraints written in prose and finds actions that violate them.
//!
//! Only certain prohibitions count: a file, folder, command or package that is the object of a prohibiting verb.
//! "Do not change the signature of `f` in src/a.rs" forbids no file. Supports English and Romanian, with or without diacritics.

mod age;
mod clause;
mod command_effects;
mod commands;
mod grammar;
mod limit;
mod packages;
mod paths;
mod place;
mod read_only;
mod vocabulary;
mod written;

use crate::analyzed_action::AnalyzedAction;
use crate::contract::CompiledContract;
use crate::file_kind::is_temporary;
use crate::finding::finding;
use crate::history::History;
use crate::normalized_path::{NormalizedPath, ProjectRoot};
use crate::words::words;
pub(crate) use age::ConstraintAges;
use age::InstructionText;
use clause::Token;
use commands::CommandConstraint;
pub(crate) use commands::pushes_by_force;
use grammar::is_uncertain;
use grov_domain::{ActionType, Finding, Rule, beginning_of, beginning_to};
use limit::{Context, Limit};
use packages::PackageConstraint;
use paths::{ChangeRequest, PathConstraints};
use read_only::ReadOnlyConstraint;
use written::WrittenConstraint;

/// The maximum number of constraints, and the maximum bytes read of each.
const MAX_CONSTRAINTS: usize = 60;
const MAX_BYTES: usize = 400;

/// The number of newest instructions that are read.
const MAX_INSTRUCTIONS: usize = 20;

/// The score of an action that violates a constraint, and of one that very likely does.
const BROKEN: u8 = 3;
const LIKELY_BROKEN: u8 = 4;
/// The score of an action that may violate a constraint.
const PERHAPS_BROKEN: u8 = 7;

/// The parsed constraints of a contract.
#[derive(Clone, Debug, Default)]
pub(crate) struct Constraints {
    paths: PathConstraints,
    commands: Vec<CommandConstraint>,
    packages: Vec<PackageConstraint>,
    written: Vec<WrittenConstraint>,
    /// The constraints that forbid new files.
    new_files: Vec<String>,
    /// Set if nothing may be changed.
    look_only: Option<ReadOnlyConstraint>,
}

/// The sentences of an instruction, and the change requests among them.
struct Sentences {
    all: Vec<String>,
    orders: Vec<ChangeRequest>,
}

impl Sentences {
    fn of(root: &ProjectRoot, text: &str) -> Self {
        let all = grammar::sentences(text);
        Self {
            orders: all
                .iter()
                .filter_map(|sentence| ChangeRequest::read(root, sentence))
                .collect(),
            all,
        }
    }
}

impl Constraints {
    /// Parses constraints, without those lifted by later requests.
    pub(crate) fn new(
        root: &ProjectRoot,
        constraints: &[String],
        instructions: &[String],
        since: &ConstraintAges,
    ) -> Self {
        let oldest = instructions.len().saturating_sub(MAX_INSTRUCTIONS);
        let instructions = &instructions[oldest..];
        let mut limits = Self {
            look_only: ReadOnlyConstraint::of(instructions),
            ..Self::default()
        };
        let newest = instructions.len().saturating_sub(1);
        let said = instructions.iter().filter(|_| !constraints.is_empty());
        let said: Vec<InstructionText> = said.map(|text| InstructionText::of(text)).collect();
        let read: Vec<Sentences> = instructions
            .iter()
            .enumerate()
            .filter(|(at, _)| *at == newest || !constraints.is_empty())
            .map(|(_, text)| Sentences::of(root, text))
            .collect();
        for text in constraints.iter().take(MAX_CONSTRAINTS) {
            let younger = since.first_younger(text, &said);
            if younger.own.is_none() && limits.look_only.is_none() {
                let since = instructions.get(younger.from..).unwrap_or_default();
                limits.look_only = ReadOnlyConstraint::of_constraint(text, since);
            }
            let own = younger.own.and_then(|own| read.get(own));
            let later = read.get(younger.from..).unwrap_or_default();
            let mut added = Self::default();
            let read_text = beginning_to(text, text.floor_char_boundary(MAX_BYTES));
            let said = clause::tokens(read_text);
            if !limit::only_permits(&said) {
                added.read(root, text);
            }
            let prompt = younger.own.and_then(|own| instructions.get(own));
            let context = prompt.map_or_else(Context::default, |prompt| Context::of(prompt, text, &said));
            let is_read_only = added.read_limits(root, text, said, &context);
            if is_read_only && limits.look_only.is_none() {
                let since = instructions.get(younger.from..).unwrap_or_default();
                limits.look_only = ReadOnlyConstraint::stated(text, since);
            }
            added.lift(root, Some(text.as_str()), own, later);
            limits.append(added);
        }
        limits
    }

    fn append(&mut self, added: Self) {
        self.paths.append(added.paths);
        self.commands.extend(added.commands);
        self.packages.extend(added.packages);
        self.written.extend(added.written);
        self.new_files.extend(added.new_files);
    }

    /// Adds what a constraint forbids. Returns whether it forbids every change.
    fn read_limits(&mut self, root: &ProjectRoot, text: &str, said: Vec<Token>, context: &Context) -> bool {
        let read = beginning_to(text, text.floor_char_boundary(MAX_BYTES));
        let mut is_read_only = false;
        for limit in limit::read(read, said, context) {
            match limit {
                Limit::ReadOnly => is_read_only = true,
                Limit::Places(places, rule) => self.paths.forbid(root, text, &places, &rule),
                Limit::Only(places) => self.paths.confine(root, text, &places),
                Limit::NewFiles => self.new_files.push(text.to_owned()),
                Limit::Command(what) => self.commands.push(CommandConstraint::on(text, what)),
                Limit::Package(package) => self.packages.push(PackageConstraint::on(text, package)),
                Limit::Written(what) => self.written.push(WrittenConstraint {
                    text: text.to_owned(),
                    what,
                }),
            }
        }
        is_read_only
    }

    fn read(&mut self, root: &ProjectRoot, text: &str) {
        let text = beginning_to(text, text.floor_char_boundary(MAX_BYTES));
        let words = words(text);
        self.commands.extend(commands::read(text, &words));
        // A conditional constraint is not certain.
        if is_uncertain(&words) {
            return;
        }
        self.packages.extend(packages::read(text, &words));
        self.paths.read(root, text, &words);
    }

    /// Removes what the user asked for in the constraint's own instruction and in later ones.
    fn lift(
        &mut self,
        root: &ProjectRoot,
        constraint: Option<&str>,
        own: Option<&Sentences>,
        later: &[Sentences],
    ) {
        let requests: Vec<&ChangeRequest> = later.iter().flat_map(|read| &read.orders).collect();
        let constraint = constraint.map(|text| text.trim_end_matches(['.', '!']));
        // The sentence of the constraint requests nothing that it forbids.
        let is_other = |order: &&ChangeRequest| constraint.is_none_or(|text| !order.sentence.contains(text));
        let own_requests: Vec<&ChangeRequest> = own
            .into_iter()
            .flat_map(|read| &read.orders)
            .filter(is_other)
            .collect();
        self.paths.lift(root, &own_requests, &requests);
        let own_sentences = || {
            let all = own.into_iter().flat_map(|read| &read.all);
            all.filter(|sentence| constraint.is_none_or(|text| !sentence.contains(text)))
        };
        let sentences = || own_sentences().chain(later.iter().flat_map(|read| &read.all));
        let permitted = || {
            later
                .iter()
                .flat_map(|read| &read.all)
                .flat_map(|text| permissions(text))
        };
        self.commands.retain(|limit| {
            !sentences().any(|sentence| limit.is_lifted_by(sentence))
                && !permitted().any(|clause| limit.is_lifted_by(clause))
        });
        self.packages
            .retain(|limit| !sentences().any(|sentence| limit.is_lifted_by(sentence)));
        let younger = || later.iter().flat_map(|read| &read.all);
        self.written
            .retain(|limit| !younger().any(|sentence| limit.is_lifted_by(sentence)));
    }

    /// The text of the read-only constraint, if one applies.
    pub(crate) fn look_only(&self) -> Option<&str> {
        self.look_only.as_ref().map(ReadOnlyConstraint::text)
    }

    /// Re-reads the read-only constraint within the whole goal, whose other sentences may request a change. Used for
    /// contracts without instructions.
    pub(crate) fn read_whole(&mut self, goal: &str) {
        if self
            .look_only()
            .is_some_and(|text| goal.contains(text.trim_end_matches('.')))
        {
            self.look_only = ReadOnlyConstraint::of(&[goal.to_owned()]);
        }
    }

    /// Removes the read-only constraint.
    pub(crate) fn release(&mut self) {
        self.look_only = None;
    }

    /// The findings for changes that violate the read-only constraint.
    fn read_only_findings(&self, action: &AnalyzedAction<'_>, compiled: &CompiledContract) -> Vec<Finding> {
        let Some(limit) = &self.look_only else {
            return Vec::new();
        };
        let (places, is_wide) = limit.breaches(action);
        let places = places.into_iter().filter(|place| !compiled.is_allowed(place));
        let mut found: Vec<Finding> = places.map(|place| changed(place, limit.text())).collect();
        if found.is_empty() && is_wide {
            let reason = format!(
                "A command changes the project in violation of \"{}\"",
                shown(limit.text())
            );
            found.push(finding(Rule::Constraint, BROKEN, None, reason));
        }
        found
    }

    /// The findings for texts and files that must not be written.
    fn written_findings(
        &self,
        action: &AnalyzedAction<'_>,
        compiled: &CompiledContract,
        history: &History,
    ) -> Vec<Finding> {
        let broken = self.written.iter().filter_map(|limit| {
            let place = limit.broken_by(action, history)?;
            (!is_temporary(place) && !compiled.is_allowed(place)).then(|| written(place, &limit.text))
        });
        let mut found: Vec<Finding> = broken.take(1).collect();
        if let (Some(text), true) = (self.new_files.first(), is_new(action, history)) {
            let places = action.changed.iter().filter(|place| {
                place.is_in_project()
                    && !is_temporary(place)
                    && !compiled.is_allowed(place)
                    && !compiled.is_named(place)
            });
            found.extend(places.map(|place| changed(place, text)));
        }
        found
    }

    /// The findings for an action.
    pub(crate) fn findings(
        &self,
        root: &ProjectRoot,
        action: &AnalyzedAction<'_>,
        compiled: &CompiledContract,
        history: &History,
    ) -> Vec<Finding> {
        let mut found = self.read_only_findings(action, compiled);
        for place in &action.changed {
            let is_found = found
                .iter()
                .any(|known| known.file.as_deref() == Some(place.display()));
            if !is_found && !compiled.is_allowed(place) {
                found.extend(self.paths.breach(place, action).map(|text| changed(place, text)));
            }
        }
        for (place, removes) in command_effects::implied_changes(root, action) {
            if !compiled.is_allowed(&place) {
                let breach = self.paths.breach_by(&place, action, removes);
                found.extend(breach.map(|text| changed(&place, text)));
            }
        }
        found.extend(self.written_findings(action, compiled, history));
        if let Some(limit) = self.commands.iter().find(|limit| limit.is_broken_by(action)) {
            let reason = format!("A command violates \"{}\"", shown(limit.text()));
            found.push(finding(Rule::Constraint, BROKEN, None, reason));
        }
        if let Some((limit, certain)) = self
            .packages
            .iter()
            .find_map(|limit| limit.broken_by(action, compiled).map(|certain| (limit, certain)))
        {
            let at_most = match (certain, is_new(action, history)) {
                (true, _) => BROKEN,
                (false, true) => LIKELY_BROKEN,
                // The dependency may have been in the file before.
                (false, false) => PERHAPS_BROKEN,
            };
            let file = action.changed.first().map(NormalizedPath::display);
            let reason = format!(
                "A dependency is added in violation of \"{}\"",
                shown(limit.text())
            );
            found.push(finding(Rule::Constraint, at_most, file, reason));
        }
        found
    }
}

/// The clauses of a sentence that permit something: "you can commit now" of "you can commit now, still no push".
fn permissions(sentence: &str) -> impl Iterator<Item = &str> {
    sentence.split([',', ';']).filter(|clause| {
        let permits = ["can", "may", "now", "please", "ok", "okay", "yes", "poti"];
        clause.len() < sentence.len() && words(clause).iter().any(|word| word.is_any(&permits))
    })
}

/// The finding for a changed file.
fn changed(place: &NormalizedPath, constraint: &str) -> Finding {
    let name = place.display();
    let reason = format!("{name} is changed in violation of \"{}\"", shown(constraint));
    finding(Rule::Constraint, BROKEN, Some(name), reason)
}

/// The finding for a text written into a file.
fn written(place: &NormalizedPath, constraint: &str) -> Finding {
    let name = place.display();
    let reason = format!("{name} gets a text in violation of \"{}\"", shown(constraint));
    finding(Rule::Constraint, LIKELY_BROKEN, Some(name), reason)
}

/// Whether a question proposes a change.
pub(crate) fn proposes_change(question: &str) -> bool {
    let words = words(question);
    words
        .iter()
        .any(|word| grammar::is_order(word) || word.is_any(&["ahead", "proceed", "start"]))
}

/// Whether an action writes a file that the conversation has not seen before.
fn is_new(action: &AnalyzedAction<'_>, history: &History) -> bool {
    action.sketch.action_type == ActionType::Write && !action.changed.iter().any(|place| history.knows(place))
}

const COMMAND_REASON: &str = "A command violates";
const DEPENDENCY_REASON: &str = "A dependency is added in violation of";
const PROJECT_REASON: &str = "A command changes the project in violation of";

/// The constraint that a reason quotes, and a word for how it is violated. Both stay the same if the reason is reworded.
pub(crate) fn quoted_constraint(reason: &str) -> Option<(&'static str, &str)> {
    [
        (COMMAND_REASON, "command"),
        (DEPENDENCY_REASON, "dependency"),
        (PROJECT_REASON, "project"),
    ]
    .into_iter()
    .find_map(|(sentence, violation)| Some((violation, reason.strip_prefix(sentence)?.trim())))
}

/// A constraint, shortened for use in a reason.
fn shown(text: &str) -> String {
    const MAX_CHARACTERS: usize = 160;
    let text = text.trim().trim_end_matches(['.', ';']);
    let shown = beginning_of(text, MAX_CHARACTERS);
    if shown.len() < text.len() {
        format!("{shown}…")
    } else {
        shown.to_owned()
    }
}

#[cfg(test)]
mod tests;
