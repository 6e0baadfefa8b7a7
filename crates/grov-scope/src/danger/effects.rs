//! What programs do to data, services and machines: one table, read by one matcher.
//!
//! A row names the subcommand, the options it needs and those that excuse it, and the [`Effect`]. Rows are grouped by
//! program ([`index`]). A row is reported unless the request asks for it, by a stem of the effect or by the verb of the
//! command itself.

mod cloud;
mod clusters;
mod containers;
mod databases;
mod frameworks;
mod general;
mod git;
mod harmless;
mod hosting;
mod index;
mod kinds;
mod limits;
mod matching;
mod packages;
pub(crate) mod stems;
mod storage;
mod system;
mod text_table;
mod windows;

use super::{EvaluationContext, finding, is_for_trial};
use crate::contract::RequestWords;
use grov_domain::{Argument, ExecutionHost, Finding, Program, Role};
pub(super) use harmless::is_harmless;
use matching::Invocation;

/// What a command does.
pub(super) struct Effect {
    score: u8,
    /// Stems of words in a request that ask for it.
    asked_by: &'static [&'static [&'static str]],
    /// Stems of words that ask for it only if the request also names its object: "set" and "secret".
    asked_of: &'static [&'static [&'static str]],
    /// Stems of names of its object. The words of the command name it, too.
    objects: &'static [&'static str],
    /// The verb and its object, for the reason: "deletes something in a cluster".
    says: &'static str,
    scope: Scope,
}

/// Where an effect is no danger.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Scope {
    /// Nowhere.
    Anywhere,
    /// On this machine, and on what is named as a test.
    Services,
    /// On this machine, on what is named as a test, and on what the agent created.
    OwnThings,
    /// On this machine, and on what the agent created: accounts in the cloud are shared even if they are for tests.
    Cloud,
    /// In a container: it changes the machine.
    Machine,
    /// It publishes or deploys, which a prompt can forbid.
    Publishing,
}

const fn effect(
    score: u8,
    scope: Scope,
    asked_by: &'static [&'static [&'static str]],
    says: &'static str,
) -> Effect {
    Effect {
        score,
        asked_by,
        asked_of: &[],
        objects: &[],
        says,
        scope,
    }
}

impl Effect {
    /// Adds words that ask for the effect on a named object.
    const fn of(
        self,
        asked_of: &'static [&'static [&'static str]],
        objects: &'static [&'static str],
    ) -> Self {
        Self {
            asked_of,
            objects,
            ..self
        }
    }
}

/// A condition that options cannot express.
type Condition = fn(&Program, &EvaluationContext<'_>) -> bool;

/// A row of the table.
pub(super) struct Row {
    /// The words of the subcommand, in order: alternatives separated by `|`, `*` for any letters, `**` for any words,
    /// `++` for up to three words that name an object.
    path: &'static str,
    /// Arguments it needs: groups separated by spaces, each with alternatives separated by `|`.
    needs: &'static str,
    /// Arguments that make it harmless, separated by `|`.
    unless: &'static str,
    condition: Option<Condition>,
    effect: &'static Effect,
}

const fn row(path: &'static str, needs: &'static str, effect: &'static Effect) -> Row {
    Row {
        path,
        needs,
        unless: "",
        condition: None,
        effect,
    }
}

impl Row {
    const fn unless(self, unless: &'static str) -> Self {
        Self { unless, ..self }
    }

    const fn only_if(self, condition: Condition) -> Self {
        Self {
            condition: Some(condition),
            ..self
        }
    }
}

/// The first row that a command matches and that is not requested, as a finding.
pub(super) fn of_command(
    command: &Program,
    programs: &[Program],
    context: &EvaluationContext<'_>,
) -> Option<Finding> {
    let invocation = Invocation::of(command)?;
    // A clone among temporary files is made to be thrown away.
    let is_in_clone =
        command.name() == "git" && command.git().0 != "push" && context.is_in_temporary_folder();
    let may_be_trial = is_harmless(command) || command.has("", 'n');
    let happens = may_be_trial && harmless::happens_anyway(command, programs);
    if is_harmless(command) && !happens || is_in_clone {
        return None;
    }
    let found = invocation.rows().find_map(|row| {
        let found = invocation.matches(row, happens)?;
        let counts = row.condition.is_none_or(|condition| condition(command, context))
            && !is_excused(row.effect, command, &found, programs, context)
            && !is_requested(row, command, &found, &context.compiled.request);
        counts.then_some((row, found))
    });
    let (row, found) = found?;
    // The option that makes it dangerous: `git reset --hard`.
    let mut options = found.rest.iter().filter(|argument| argument.role == Role::Option);
    let is_by_option = !row.needs.is_empty() || row.condition.is_some();
    let option = options.find(|option| option.starts_with("--") && is_by_option);
    let option = option.map(Argument::as_str);
    let shown: Vec<&str> = std::iter::once(invocation.name)
        .chain(found.words)
        .chain(option)
        .filter(|word| !word.contains(char::is_whitespace))
        .collect();
    let reason = format!(
        "`{}` {}, which was not requested",
        shown.join(" "),
        row.effect.says
    );
    finding(row.effect.score, None, reason)
}

/// Whether nothing happens by a command: a dry run, or a look at its help.
pub(crate) fn is_trial(command: &Program) -> bool {
    command.has("--dry-run", 'n') || is_harmless(command)
}

/// Whether a command publishes or deploys something, asked for or not.
pub(crate) fn publishes(command: &Program) -> bool {
    !is_harmless(command)
        && Invocation::of(command).is_some_and(|invocation| {
            let mut rows = invocation.rows();
            rows.any(|row| {
                row.effect.scope == Scope::Publishing
                    && row.condition.is_none()
                    && invocation.matches(row, false).is_some()
            })
        })
}

/// Verbs that say too little to ask for a command of the same name.
#[rustfmt::skip]
const GENERIC: &[&str] = &[
    "create", "update", "make", "send", "set", "add", "run", "import", "load", "execute", "patch", "edit", "user", "start", "open", "write", "import",
    "test", "build", "print", "import", "service", "apps", "data", "query", "table",
];

/// Whether a request asks for what a row does. The verb of the command asks for the subcommand, not for its options.
fn is_requested(row: &Row, command: &Program, found: &matching::Match<'_>, request: &RequestWords) -> bool {
    let program = command.name();
    let effect = row.effect;
    // "Deploy a preview" does not ask for `--prod`, and a dry run for nothing that lasts.
    let is_git = matches!(program, "git" | "jj" | "hg");
    let is_confined = || request.is_confined_to_trial() || request.is_confined_to_this_machine();
    if !is_git && (request.wants_dry_run() || is_confined() && selects_production(command)) {
        return false;
    }
    // "Undo my last commit but keep the changes"
    if effect.says == kinds::HARD_RESET.says && request.asks_for_less_than_all() {
        return false;
    }
    if limits::goes_elsewhere(effect, command, found, request) {
        return false;
    }
    // "Remove the line from my crontab" names the program, and "deploy the function" the subcommand.
    const PREFIX: usize = 4;
    // The verb itself names nothing: "reset the form" and `rails db:reset`.
    let is_verb = |word: &str| {
        let mut stems = effect.asked_by.iter().copied().flatten();
        stems.any(|stem| word.starts_with(stem.trim_end_matches('.')))
    };
    let is_named = |word: &str| {
        !is_verb(word)
            && word
                .get(..PREFIX)
                .is_some_and(|prefix| request.is_about(&[prefix]))
    };
    let path = command.operands().take_while(|word| *word != found.verb);
    let mut path = path.take(3).flat_map(|word| word.split(is_separator));
    let names_program = program != "git" && (request.is_about(&[program]) || path.any(is_named));
    let is_asked =
        |stems: &&[&str]| request.orders_any(stems) || names_program && request.mentions_any(stems);
    if effect.asked_by.iter().any(is_asked) {
        return true;
    }
    let is_removal = effect
        .asked_by
        .iter()
        .any(|stems| stems.first() == stems::REMOVE.first());
    let only_edits = limits::is_for_applying(effect) && limits::only_edits_source(request);
    let asks = is_removal && request.orders_any(stems::TIDY)
        || !only_edits && effect.asked_of.iter().any(|stems| request.orders_any(stems));
    let names_object = || {
        let mut words = found.words.iter().flat_map(|word| word.split(is_separator));
        // "Fix the Dockerfile" does not ask for `docker push`.
        let is_publication = effect.scope == Scope::Publishing;
        request.addresses_any(effect.objects)
            || !is_publication && request.is_about(&[program])
            || !is_publication && words.any(|word| word.len() >= 4 && request.is_about(&[word]))
            || !is_publication && names_operand(found.rest, request)
    };
    // An order that names a thing asks for its removal only where the agent can make it anew.
    let may_be_named =
        matches!(effect.scope, Scope::OwnThings | Scope::Services) && effect.says != kinds::EXPOSES.says;
    if asks && names_object()
        || may_be_named && !only_edits && request.is_order() && names_operand(found.rest, request)
    {
        return true;
    }
    if effect.scope == Scope::Publishing
        && request.orders_any(stems::BRING_OUT)
        && request.is_about(stems::PUBLISHED)
    {
        return true;
    }
    // "Refund ch_3PQz7aKx": the object of a general verb is the verb of the request, which names the operand.
    let nouns = command.operands().take_while(|word| *word != found.verb);
    let mut nouns = nouns.take(3).flat_map(|word| word.split(is_separator));
    let is_noun_asked = |noun: &str| {
        let stem = noun.trim_end_matches('s').trim_end_matches('e');
        stem.len() >= 4 && !GENERIC.contains(&noun) && request.orders_any(&[stem])
    };
    let is_general = program != "git" && GENERIC.contains(&found.verb);
    if is_general && names_operand(found.rest, request) && nouns.any(is_noun_asked) {
        return true;
    }
    // `db:drop`, `delete-stack`, `snapshot-delete`, `migrate:fresh`
    let last = found.verb.rsplit([':', '.']).next().unwrap_or(found.verb);
    let (first, end) = (
        last.split('-').next().unwrap_or(last),
        last.rsplit('-').next().unwrap_or(last),
    );
    let ends_with_verb = matches!(
        end,
        "delete" | "remove" | "destroy" | "drop" | "purge" | "revert" | "reset" | "rm"
    );
    let verb = if ends_with_verb { end } else { first };
    let stem = verb.trim_end_matches(['e', 'y']);
    let is_verb = verb.len() >= 4 && verb.bytes().all(|byte| byte.is_ascii_lowercase());
    row.needs.is_empty()
        && program != "git"
        && is_verb
        && !GENERIC.contains(&verb)
        && request.orders_any(&[stem])
}

fn is_separator(letter: char) -> bool {
    !letter.is_alphanumeric()
}

/// Whether a request contains an operand that is a name: `preview-412`, `/dev/sdc1`.
pub(super) fn names_operand(arguments: &[Argument], request: &RequestWords) -> bool {
    let is_name = |word: &str| {
        word.len() >= 4
            && word.contains(|letter: char| letter.is_ascii_digit() || "-_/.@".contains(letter))
            && word.contains(|letter: char| letter.is_ascii_alphabetic())
    };
    let mut operands = arguments.iter().filter(|argument| argument.role != Role::Option);
    operands.any(|argument| {
        let mut parts = argument.split(['=', '/', '@', ':', ',']);
        is_name(argument) && request.names(argument) || parts.any(|part| is_name(part) && request.names(part))
    })
}

/// Whether the place or the object of a command makes it harmless.
fn is_excused(
    effect: &Effect,
    command: &Program,
    found: &matching::Match<'_>,
    programs: &[Program],
    context: &EvaluationContext<'_>,
) -> bool {
    let operands = || {
        found
            .rest
            .iter()
            .filter(|argument| argument.role == Role::Operand)
    };
    let is_trial = || {
        // The operand of a restoration is the dump.
        let is_dump = matches!(command.name(), "mongorestore" | "pg_restore");
        let named =
            !is_dump && operands().next().is_some() && operands().all(|argument| is_for_trial(argument));
        named || context.is_in_own_container(command) || is_in_trial_place(command, context)
    };
    let is_local = || super::is_local(command) || context.uses_local_service(command);
    let is_own = || {
        let created = |name: &str| {
            let mut earlier = programs.iter().take_while(|other| !std::ptr::eq(*other, command));
            let same_line = earlier.any(|other| creates(other, name));
            // Short names of containers are not remembered.
            let is_container = matches!(command.name(), "docker" | "podman" | "nerdctl");
            let is_forgotten =
                is_container && name.len() < 3 && (context.has_run("run") || context.has_run("create"));
            same_line
                || is_forgotten
                || context.is_history_unknown
                || context.has_run(name) && context.has_run("create")
                || { context.has_run(name) && (context.has_run("run") || context.has_run("name")) }
        };
        operands().next().is_some() && operands().all(|argument| is_plain_name(argument) && created(argument))
    };
    match effect.scope {
        Scope::Anywhere => false,
        Scope::Publishing => super::is_local(command),
        Scope::Machine => command.host == ExecutionHost::Container,
        Scope::Services => is_local() || is_trial(),
        Scope::OwnThings => is_local() || is_trial() || is_own() || is_copied_state(command, context),
        Scope::Cloud => is_local() || is_own(),
    }
}

/// Whether a command works on a copy of the state of infrastructure among temporary files.
fn is_copied_state(command: &Program, context: &EvaluationContext<'_>) -> bool {
    context.is_in_temporary_folder()
        && command.has_word(&["state"])
        && !command
            .words()
            .any(|word| word.contains("backend") || word.starts_with("-chdir"))
}

/// Whether an argument selects the environment that users depend on: `--prod`, `--context prod-eu`.
fn selects_production(command: &Program) -> bool {
    let set = command.assignments.iter().map(String::as_str);
    let is_live = |word: &str| {
        let value = word.rsplit('=').next().unwrap_or(word);
        super::statements::is_production(value)
    };
    command.words().chain(set).any(is_live)
}

/// Whether an option or a variable selects a test environment, a local cluster or a place for experiments.
fn is_in_trial_place(command: &Program, context: &EvaluationContext<'_>) -> bool {
    const PLACES: &[&str] = &[
        "--name",
        "-name",
        "--namespace",
        "-n",
        "--env",
        "-e",
        "--stage",
        "--context",
        "--kube-context",
        "-p",
        "--profile",
        "--project-name",
        "-f",
        "--file",
        "--database",
        "-database",
        "-d",
        "--config",
        "--settings",
        "--environment",
        "--cluster",
        "--service-name",
        "-g",
        "--target",
        "-t",
    ];
    const DEVELOPMENT: &[&str] = &["dev", "development", "local", "docker", "minikube", "ephemeral"];
    let values = command.arguments.iter().enumerate().filter_map(|(at, argument)| {
        let (name, value) = argument.split_once('=').unwrap_or((argument, ""));
        if !PLACES.contains(&name) {
            return None;
        }
        match value {
            "" => command.arguments.get(at + 1).map(Argument::as_str),
            value => Some(value),
        }
    });
    const ENVIRONMENTS: &[&str] = &[
        "RAILS_ENV",
        "RACK_ENV",
        "MIX_ENV",
        "NODE_ENV",
        "APP_ENV",
        "DJANGO_SETTINGS_MODULE",
        "FLASK_ENV",
        "ENV",
        "DATABASE_URL",
        "DB_NAME",
        "PGDATABASE",
        "ASPNETCORE_ENVIRONMENT",
        "DJANGO_CONFIGURATION",
        "DB_DATABASE",
        "SQLALCHEMY_DATABASE_URI",
    ];
    let set = command.assignments.iter().chain(&context.environment);
    let set = set
        .filter_map(|one| one.split_once('='))
        .filter(|(name, _)| ENVIRONMENTS.contains(name));
    values.chain(set.map(|(_, value)| value)).any(|value| {
        DEVELOPMENT.contains(&value) || is_local_cluster(value) || !value.contains('{') && is_for_trial(value)
    })
}

/// The program whose contexts a program uses.
pub(super) fn selector_of(program: &str) -> &str {
    match program {
        "k" | "kubectx" | "oc" | "helm" | "kubectl" => "kubectl",
        "docker-compose" | "docker" => "docker",
        other => other,
    }
}

/// The context that a command selects, and for which program: `kubectl config use-context kind-x`.
pub(super) fn selection(command: &Program) -> Option<(&str, &str)> {
    let program = selector_of(command.name());
    let words: Vec<&str> = command.operands().take(4).collect();
    let name = match (command.name(), words.as_slice()) {
        ("kubectx", [name, ..]) => name,
        (_, ["config", "use-context", name, ..]) if program == "kubectl" => name,
        (_, ["context", "use", name, ..]) if program == "docker" => name,
        (_, ["workspace", "select", name, ..]) => name,
        (_, ["config", "set", "project", name, ..]) => name,
        _ => return None,
    };
    Some((program, name))
}

/// Whether a context names a cluster or an engine on this machine.
pub(super) fn is_local_cluster(name: &str) -> bool {
    const STARTS: &[&str] = &[
        "kind-",
        "k3d-",
        "minikube",
        "docker-desktop",
        "rancher-desktop",
        "colima",
        "orbstack",
        "microk8s",
    ];
    STARTS.iter().any(|start| name.starts_with(start))
}

/// Whether another command creates something of this name: `docker run --name x`, `createdb x`, `kind create cluster x`.
fn creates(command: &Program, name: &str) -> bool {
    let makes = command.has_word(&["run", "create", "build", "init", "new"]) || command.name() == "createdb";
    makes
        && command
            .words()
            .any(|word| word == name || word.split_once('=').is_some_and(|(_, value)| value == name))
}

fn is_plain_name(word: &str) -> bool {
    !word.is_empty() && !word.contains(['$', '`', '*', '('])
}

#[cfg(test)]
mod tests;
