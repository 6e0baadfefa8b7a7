//! The constraints of a contract, and the actions that violate them.
//!
//! [`limit`] reads what a constraint forbids, once, as typed values; the other modules compare actions with them. Only certain
//! prohibitions count: a place, command, package or text that the constraint names. "Do not change the signature of `f` in
//! src/a.rs" forbids no file.

mod age;
mod clause;
pub(crate) use clause::is_unspaced;
mod command_effects;
mod commands;
mod effects;
mod limit;
mod named;
mod outputs;
mod packages;
mod paths;
mod permission;
mod place;
mod read_by_model;
mod read_only;
mod request;
mod sentences;
mod stated;
mod substitution;
mod vocabulary;
mod written;

use crate::analyzed_action::AnalyzedAction;
use crate::contract::CompiledContract;
use crate::file_kind::{FileKind, is_temporary};
use crate::finding::finding;
use crate::history::History;
use crate::normalized_path::{NormalizedPath, ProjectRoot};
use crate::phrases::Languages;
use crate::words::words;
pub(crate) use age::ConstraintAges;
use age::{InstructionText, LaterInstructions};
pub(crate) use command_effects::formats;
use commands::CommandConstraint;
pub(crate) use commands::pushes_by_force;
pub(crate) use effects::is_known as has_known_effect;
use effects::{EffectConstraint, OrderedEffects};
use grov_domain::{ActionType, Breach, Finding, GoalContract, Rule, beginning_of, beginning_to};
use limit::{Context, ForbiddenCommand, Limit};
use named::{Change, NamedConstraint};
use packages::PackageConstraint;
use paths::{PathBreach, PathConstraints};
use permission::Permission;
use read_by_model::LimitByModel;
use read_only::ReadOnlyConstraint;
use request::Sentence;
pub(crate) use request::proposes_change;
pub use stated::ReadClause;
use vocabulary::Term;
use written::{Written, WrittenConstraint};

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
    /// The things that constraints name in words.
    named: Vec<NamedConstraint>,
    /// The limits on what commands do.
    effects: Vec<EffectConstraint>,
    /// The limits as a model reads them.
    by_model: Vec<LimitByModel>,
    /// The constraints that forbid new files.
    new_files: Vec<String>,
    /// Set if nothing may be changed.
    look_only: Option<ReadOnlyConstraint>,
}

impl Constraints {
    /// Reads the constraints of a contract, without what later requests lifted. A contract without instructions has its goal
    /// as the only one. If a model read the prompts, the less certain readings of the rules give way to its own.
    pub(crate) fn new(
        root: &ProjectRoot,
        contract: &GoalContract,
        consents: &[String],
        since: &ConstraintAges,
    ) -> Self {
        let mut limits = Self::default();
        let read = contract
            .reading
            .iter()
            .flat_map(|read| &read.limits)
            .take(MAX_CONSTRAINTS);
        limits.by_model = read.map(|limit| LimitByModel::new(root, limit)).collect();
        let constraints = &contract.constraints;
        if constraints.is_empty() {
            return limits;
        }
        let goal = [contract.goal.clone()];
        let instructions = if contract.instructions.is_empty() {
            goal.as_slice()
        } else {
            contract.instructions.as_slice()
        };
        let instructions = &instructions[instructions.len().saturating_sub(MAX_INSTRUCTIONS)..];
        let said: Vec<InstructionText> = instructions
            .iter()
            .map(|text| InstructionText::of(text))
            .collect();
        let sentences: Vec<Vec<Sentence>> = instructions
            .iter()
            .map(|text| Sentence::all(root, text))
            .collect();
        let permissions: Vec<Vec<Permission>> =
            instructions.iter().map(|text| Permission::all(text)).collect();
        let ordered = OrderedEffects::new(instructions, consents);
        for text in constraints.iter().take(MAX_CONSTRAINTS) {
            let text = beginning_to(text, text.floor_char_boundary(MAX_BYTES));
            let younger = since.first_younger(text, &said);
            let own = younger.own.and_then(|own| sentences.get(own));
            let until_own = younger.own.and_then(|own| instructions.get(..=own));
            let later = sentences.get(younger.from..).unwrap_or_default().concat();
            let permitted = permissions.get(younger.from..).unwrap_or_default().concat();
            let mut added = Self::default();
            added.read(root, text, until_own.unwrap_or_default(), &permitted, &later);
            added.give_back(&ordered, younger, text, instructions);
            added.lift(root, text, own.map_or(&[], Vec::as_slice), &later);
            let was_shown = younger
                .own
                .is_some_and(|own| was_shown_to_a_model(instructions, own));
            if contract.reading.is_some() && was_shown {
                added.give_way(root, text, &limits.by_model);
            }
            limits.append(added);
        }
        limits.paths.spare_confined();
        limits
    }

    /// Drops what rules read of a constraint less certainly than a model that found the same constraint and tells how one sees a
    /// breach: what it names in words, its texts, and its places, except those named by their path that the model does not tell.
    /// Commands, packages and "change nothing" stay, which rules read from the parsed command line.
    fn give_way(&mut self, root: &ProjectRoot, text: &str, by_model: &[LimitByModel]) {
        let same = || by_model.iter().filter(|limit| limit.is_about(text));
        if same().any(LimitByModel::tells_places) {
            self.paths
                .keep_untold(|path| same().any(|limit| limit.tells_place(root, path)));
        }
        if same().any(LimitByModel::tells_anything) {
            self.named.clear();
            self.paths.keep_named();
            self.written.clear();
        }
    }

    fn append(&mut self, added: Self) {
        self.paths.append(added.paths);
        self.commands.extend(added.commands);
        self.packages.extend(added.packages);
        self.written.extend(added.written);
        self.named.extend(added.named);
        self.effects.extend(added.effects);
        self.new_files.extend(added.new_files);
        self.look_only = self.look_only.take().or(added.look_only);
    }

    /// Adds what a constraint forbids. The last of `instructions` is its own.
    fn read(
        &mut self,
        root: &ProjectRoot,
        text: &str,
        instructions: &[String],
        permitted: &[Permission],
        later: &[Sentence],
    ) {
        let prompt = instructions.last().map(String::as_str);
        let earlier = instructions
            .len()
            .checked_sub(2)
            .and_then(|at| instructions.get(at));
        let earlier = earlier.map_or("", String::as_str);
        let languages = prompt.map_or(Languages::NONE, |prompt| Languages::of(&words(prompt)));
        let mut words = clause::tokens(text, languages);
        for permission in permitted {
            match permission.rest_of(&words) {
                Some(rest) => words = rest,
                None if permission.lifts(&words) => return,
                None => {}
            }
        }
        // "Ask me before you delete a file", and later "yes, they can go".
        let is_question = words.iter().any(|word| word.is_any(&[Term::Ask]));
        if is_question && later.iter().any(Sentence::answers_yes) {
            return;
        }
        let context = prompt.map_or_else(Context::default, |prompt| {
            Context::of(prompt, earlier, text, &words)
        });
        let text = text.to_owned();
        let named = prompt.map_or_else(Vec::new, |prompt| named::read(&text, words.clone(), prompt));
        self.named.extend(named.into_iter().map(|named| NamedConstraint {
            text: text.clone(),
            named,
            lifted: Vec::new(),
        }));
        let effects = effects::read(&text, &words);
        self.effects
            .extend(effects.into_iter().map(|forbidden| EffectConstraint {
                text: text.clone(),
                forbidden,
            }));
        for limit in limit::read(&text, words, &context) {
            let text = text.clone();
            match limit {
                Limit::ReadOnly => self.look_only = ReadOnlyConstraint::new(&text, later),
                Limit::Places(places, rule) => self.paths.forbid(root, &text, &places, &rule),
                Limit::Only { places, is_strict } => self.paths.confine(root, &text, &places, is_strict),
                Limit::NewFiles => self.new_files.push(text),
                Limit::Command(what) => self.commands.push(CommandConstraint { text, what }),
                Limit::Package(package) => self.packages.push(PackageConstraint { text, package }),
                Limit::Written(what) => self.written.push(WrittenConstraint { text, what }),
            }
        }
    }

    /// Removes the commands that the user ordered later, in whatever words: "jetzt pushen". A yes to a question of the agent orders as well, if
    /// the constraint waits for the user: "ask me before you push".
    fn give_back(
        &mut self,
        ordered: &OrderedEffects<'_>,
        younger: LaterInstructions,
        constraint: &str,
        instructions: &[String],
    ) {
        if self.commands.is_empty() && self.effects.is_empty() {
            return;
        }
        let mut effects = ordered.since(younger.from);
        let own = younger.own.and_then(|own| instructions.get(own));
        if effects::waits_for_the_user(constraint, own.map_or("", String::as_str)) {
            effects.extend(ordered.agreed());
        }
        self.commands.retain(|limit| !limit.is_ordered(&effects));
        self.effects
            .retain_mut(|limit| !limit.forbidden.give_back(&effects));
    }

    /// Removes what the user asked for in the constraint's own instruction and in later ones.
    fn lift(&mut self, root: &ProjectRoot, constraint: &str, own: &[Sentence], later: &[Sentence]) {
        let constraint = constraint.trim_end_matches(['.', '!']);
        // "Write tests for x, don't change x/*.ts": what stands before the constraint in its sentence asks for something, too.
        let before = |sentence: &Sentence| {
            let (before, _) = sentence.text.split_once(constraint)?;
            Some(Sentence::all(root, before))
        };
        let asks_for_tests = |sentence: &Sentence| {
            let change = sentence.change.as_ref();
            change.is_some_and(|change| change.kinds.contains(&FileKind::Test))
        };
        if own.iter().any(asks_for_tests)
            || own
                .iter()
                .filter_map(before)
                .flatten()
                .any(|part| asks_for_tests(&part))
        {
            self.paths.spare_tests();
        }
        // The sentence of the constraint requests nothing that it forbids.
        let own: Vec<&Sentence> = own
            .iter()
            .filter(|sentence| !sentence.text.contains(constraint))
            .collect();
        self.paths.lift(root, &own, later);
        let is_lifted = |limit: &CommandConstraint| {
            own.iter().any(|sentence| limit.is_lifted_by(sentence, false))
                || later.iter().any(|sentence| limit.is_lifted_by(sentence, true))
        };
        self.commands.retain(|limit| !is_lifted(limit));
        let all = || own.iter().copied().chain(later);
        self.packages
            .retain(|limit| !all().any(|sentence| limit.is_lifted_by(sentence)));
        self.written
            .retain(|limit| !later.iter().any(|sentence| limit.is_lifted_by(sentence)));
        self.named
            .retain(|limit| !later.iter().any(|sentence| limit.named.is_lifted_by(sentence)));
        self.effects.retain(|limit| {
            !later
                .iter()
                .any(|sentence| limit.forbidden.is_lifted_by(sentence))
        });
        let requested = later.iter().filter_map(|sentence| sentence.change.as_ref());
        let requested: Vec<_> = requested
            .flat_map(|change| change.paths.iter().chain(&change.names))
            .collect();
        for limit in &mut self.named {
            limit.lifted.extend(requested.iter().copied().cloned());
        }
    }

    /// The text of the read-only constraint, if one applies.
    pub(crate) fn look_only(&self) -> Option<&str> {
        self.look_only.as_ref().map(ReadOnlyConstraint::text)
    }

    /// Removes the read-only constraint.
    pub(crate) fn release(&mut self) {
        self.look_only = None;
        self.by_model.retain(|limit| !limit.forbids_everything());
    }

    /// The findings for changes that violate the read-only constraint.
    fn read_only_findings(&self, action: &AnalyzedAction<'_>, compiled: &CompiledContract) -> Vec<Finding> {
        let Some(limit) = &self.look_only else {
            return Vec::new();
        };
        let (places, is_wide) = limit.breaches(action);
        let places = places.into_iter().filter(|place| !compiled.is_allowed(place));
        // "Change nothing" ends with a request, and with no number of permitted changes.
        let mut found: Vec<Finding> = places
            .map(|place| Finding {
                broken: None,
                ..changed(place, limit.text()).interpreted()
            })
            .collect();
        if found.is_empty() && is_wide {
            let reason = format!(
                "A command changes the project in violation of \"{}\"",
                shown(limit.text())
            );
            let broken = finding(Rule::Constraint, BROKEN, None, reason);
            found.push(broken.breaking(Breach::Project, limit.text()).interpreted());
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
        let texts = Written::all(action, history);
        let broken = self.written.iter().filter_map(|limit| {
            let place = limit.broken_by(&texts)?;
            let is_free = place.is_some_and(|place| is_temporary(place) || compiled.is_allowed(place));
            (!is_free).then(|| written(place, &limit.text).interpreted())
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

    /// The findings for an action that concerns what a constraint names in words. They are reasons to ask the user only.
    pub(crate) fn questions(
        &self,
        root: &ProjectRoot,
        action: &AnalyzedAction<'_>,
        compiled: &CompiledContract,
    ) -> Vec<Finding> {
        let is_allowed = is_allowed(action, compiled);
        let found = self.effect_questions(action);
        if !found.is_empty() && !is_allowed {
            return found;
        }
        if self.named.is_empty() || is_allowed || only_looks(action) {
            return Vec::new();
        }
        let implied = command_effects::implied_changes(root, action);
        let mut change = Change::of(action);
        change.add_places(implied.iter().map(|(place, _)| place));
        let named = self
            .named
            .iter()
            .find(|limit| limit.is_broken_by(action, &change));
        let finding = named.map(|limit| named_in(&limit.text, action));
        finding.into_iter().collect()
    }

    /// The finding for an action that breaks a limit as a model reads it.
    fn finding_by_model(
        &self,
        root: &ProjectRoot,
        action: &AnalyzedAction<'_>,
        compiled: &CompiledContract,
    ) -> Option<Finding> {
        if self.by_model.is_empty() || is_allowed(action, compiled) || only_looks(action) {
            return None;
        }
        let implied = command_effects::implied_changes(root, action);
        let mut change = Change::of(action);
        change.add_places(implied.iter().map(|(place, _)| place));
        let mut limits = self.by_model.iter();
        let broken = limits.find(|limit| limit.is_broken_by(action, &change))?;
        Some(named_in(&broken.words, action).interpreted())
    }

    /// The findings for a command that does what a constraint forbids, also if it only reads or tests.
    pub(crate) fn effect_questions(&self, action: &AnalyzedAction<'_>) -> Vec<Finding> {
        let broken = self
            .effects
            .iter()
            .find(|limit| limit.forbidden.is_broken_by(action))
            .map(|limit| &limit.text);
        // A run of tests is harmless otherwise.
        let tests = || {
            let of_tests = |limit: &&CommandConstraint| limit.what == ForbiddenCommand::AllTests;
            let mut limits = self.commands.iter().filter(of_tests);
            limits
                .find(|limit| limit.is_broken_by(action))
                .map(|limit| &limit.text)
        };
        let finding = broken.or_else(tests).map(|text| {
            let reason = format!("A command violates \"{}\"", shown(text));
            finding(Rule::Constraint, BROKEN, None, reason).breaking(Breach::Command, text)
        });
        finding.into_iter().collect()
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
            if !compiled.is_allowed(place) {
                let breach = self.paths.breach(place, action);
                let breach = breach.filter(|breach| !is_found || !breach.is_interpreted);
                found.extend(breach.map(|breach| breach.at(place)));
            }
        }
        for (place, removes) in command_effects::implied_changes(root, action) {
            if !compiled.is_allowed(&place) {
                let breach = self.paths.breach_by(&place, action, removes);
                found.extend(breach.map(|breach| breach.at(&place)));
            }
        }
        found.extend(self.written_findings(action, compiled, history));
        if let Some(limit) = self.commands.iter().find(|limit| limit.is_broken_by(action)) {
            let reason = format!("A command violates \"{}\"", shown(&limit.text));
            let broken = finding(Rule::Constraint, BROKEN, None, reason);
            found.push(broken.breaking(Breach::Command, &limit.text));
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
            let reason = format!("A dependency is added in violation of \"{}\"", shown(&limit.text));
            let broken = finding(Rule::Constraint, at_most, file, reason);
            found.push(broken.breaking(Breach::Dependency, &limit.text));
        }
        if found.is_empty() {
            found.extend(self.finding_by_model(root, action, compiled));
        }
        found
    }
}

/// Whether the user allowed all that an action changes.
fn is_allowed(action: &AnalyzedAction<'_>, compiled: &CompiledContract) -> bool {
    !action.changed.is_empty() && action.changed.iter().all(|place| compiled.is_allowed(place))
}

fn only_looks(action: &AnalyzedAction<'_>) -> bool {
    action.is_read_only() && !action.needs_rules()
}

/// The finding for an action that concerns what a constraint names.
fn named_in(constraint: &str, action: &AnalyzedAction<'_>) -> Finding {
    match action.changed.first() {
        Some(place) => changed(place, constraint),
        None => {
            let reason = format!("A command concerns \"{}\"", shown(constraint));
            finding(Rule::Constraint, BROKEN, None, reason).breaking(Breach::Command, constraint)
        }
    }
}

/// Whether a model that read the instructions was shown one of them whole: it gets the newest ones, and long ones cut.
fn was_shown_to_a_model(instructions: &[String], at: usize) -> bool {
    // As in the judge's requests (`grov-llm/src/request.rs`).
    const NEWEST: usize = 8;
    const BYTES_OF_NEWEST: usize = 4000;
    const BYTES_OF_OTHERS: usize = 600;
    let age = instructions.len() - at.min(instructions.len());
    let most = if age <= 1 {
        BYTES_OF_NEWEST
    } else {
        BYTES_OF_OTHERS
    };
    age <= NEWEST && instructions.get(at).is_some_and(|text| text.len() <= most)
}

impl PathBreach<'_> {
    /// The finding for a changed file.
    fn at(self, place: &NormalizedPath) -> Finding {
        let found = changed(place, self.text);
        if self.is_interpreted {
            found.interpreted()
        } else {
            found
        }
    }
}

/// The finding for a changed file.
fn changed(place: &NormalizedPath, constraint: &str) -> Finding {
    let name = place.display();
    let reason = format!("{name} is changed in violation of \"{}\"", shown(constraint));
    finding(Rule::Constraint, BROKEN, Some(name), reason).breaking(Breach::File, constraint)
}

/// The finding for a text written into a file, or into files that the command line does not name.
fn written(place: Option<&NormalizedPath>, constraint: &str) -> Finding {
    let Some(name) = place.map(NormalizedPath::display) else {
        let reason = format!(
            "A command writes a text in violation of \"{}\"",
            shown(constraint)
        );
        let found = finding(Rule::Constraint, LIKELY_BROKEN, None, reason);
        return found.breaking(Breach::Command, constraint);
    };
    let reason = format!("{name} gets a text in violation of \"{}\"", shown(constraint));
    finding(Rule::Constraint, LIKELY_BROKEN, Some(name), reason).breaking(Breach::File, constraint)
}

/// Whether an action writes a file that the conversation has not seen before.
fn is_new(action: &AnalyzedAction<'_>, history: &History) -> bool {
    let touches = || action.programs().iter().any(|program| program.name() == "touch");
    (action.sketch.action_type == ActionType::Write || touches())
        && !action.changed.iter().any(|place| history.knows(place))
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
