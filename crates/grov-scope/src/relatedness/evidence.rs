//! Computes the evidence for and against a tie between an action and the work.

use super::expected_scope::ExpectedScope;
use super::file_role::FileRole;
use super::request::Request;
use super::state::RelatednessState;
use super::terms::TextTerms;
use super::tracked_file::is_telling;
use super::weights as weight;
use super::work_profile::{FileId, NumberedFile, ratio};
use std::collections::BTreeSet;

/// The number of words of the request that count fully; more do not count.
const ENOUGH_GOAL_WORDS: f64 = 3.0;
/// The number of identifiers that count fully; more do not count.
const ENOUGH_IDENTIFIERS: f64 = 2.0;
/// The number of actions in which [`weight::EARLY`] falls to 1/e.
const EARLY_FADES: f64 = 4.0;
/// The weight of a text's words of which half of the share counts: that of five long words.
const SHORT: f64 = 25.0;
/// The number of words of a request in which [`weight::TERSE`] falls to 1/e.
const TERSE_FADES: f64 = 4.0;
/// The share of known words assumed for a text without words.
const UNKNOWN: f64 = 0.5;

/// An action on files that were not changed before.
#[derive(Clone, Copy, Debug)]
pub(super) struct Candidate<'a> {
    pub(super) files: &'a [NumberedFile],
    pub(super) terms: &'a TextTerms,
    pub(super) is_command: bool,
    pub(super) looks: bool,
    /// It writes a whole file.
    pub(super) writes: bool,
    /// The user named a file, a folder or a pattern that covers it.
    pub(super) is_asked_place: bool,
}

/// The evidence for an action, with the details for its finding.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Evidence {
    /// The log-odds that the action is off the goal.
    pub(super) sum: f64,
    pub(super) talk: f64,
    pub(super) is_new_part: bool,
    pub(super) knows_folder: bool,
    pub(super) is_out_of_scope: bool,
}

/// Evaluates the ties of an action to the work.
pub(super) fn evaluate(
    touch: Candidate<'_>,
    request: &Request,
    expected: &ExpectedScope,
    state: &RelatednessState,
) -> Evidence {
    let Candidate {
        files,
        terms,
        is_command,
        looks,
        writes,
        is_asked_place,
    } = touch;
    let on = &state.on;
    let numbers = files.iter().map(|file| file.id);
    let own: BTreeSet<FileId> = numbers.chain(state.forms(files)).collect();
    let any = |holds: &dyn Fn(&NumberedFile) -> bool| files.iter().any(holds);
    let path: BTreeSet<&str> = files
        .iter()
        .flat_map(|file| file.file.words.iter().map(String::as_str))
        .collect();
    let mut all = path.clone();
    all.extend(terms.words.iter().map(String::as_str));

    let talk = on.talk(terms, &own);
    let mut sum = of_words(talk, terms, &path, &all, &own, request, state);

    let mut add = |weight: f64, holds: bool| sum += if holds { weight } else { 0.0 };
    add(weight::NAMED, any(&|file| on.names(&file.file, &own)));
    let knows_folder = any(&|file| on.knows_folder(&file.file, &own));
    add(weight::FOLDER, knows_folder);
    add(weight::PARTNER, any(&|file| on.knows_stem(&file.file, &own)));
    add(weight::KIN, any(&|file| on.has_edited_kin(&file.file)));
    let is_role_asked = |file: &NumberedFile| file.file.role.is_some_and(|role| request.names_role(role));
    add(weight::ASKED_ROLE, any(&is_role_asked));
    let has_role = |role: FileRole| any(&|file| file.file.role == Some(role));
    let is_test = has_role(FileRole::Test);
    add(
        weight::NEW_FILE,
        writes && !is_test && !own.iter().any(|id| state.has_read(*id)),
    );
    add(
        weight::TEST,
        is_test && state.has_edited() && !state.is_drifting(),
    );
    add(weight::DATA, has_role(FileRole::Data));
    let explains = has_role(FileRole::Docs) || has_role(FileRole::Locale);
    add(weight::DOCS, explains && !writes);
    add(weight::ASKED_PLACE, is_asked_place);
    add(
        weight::ASKED_STEM,
        any(&|file| request.says_stem(&file.file.stem)),
    );
    add(
        weight::MENTIONS,
        terms
            .names
            .iter()
            .any(|name| is_telling(name) && on.edited_stem(name)),
    );
    let is_new_part = on.has_files() && !any(&|file| on.knows_part(&file.file, &own));
    add(weight::NEW_PART, is_new_part);
    add(
        weight::NEW_ENDING,
        on.has_files() && !any(&|file| on.knows_ending(&file.file, &own)),
    );
    let seen = own.iter().filter_map(|id| on.read_at(*id)).min();
    add(
        weight::EXPLORED,
        seen.is_some_and(|seen| state.is_before_first_edit(seen)),
    );
    add(weight::FIRST_EDIT, !state.has_edited());
    add(
        weight::HOUSEHOLD,
        state.has_edited() && !state.is_drifting() && any(&|file| file.file.is_household),
    );
    add(weight::COMMAND, is_command);
    add(weight::READING, looks);
    add(weight::SHOWN, any(&|file| state.shown.names(&file.file)));
    add(weight::DRIFTING, state.is_drifting());

    let nearness = files
        .iter()
        .map(|file| expected.nearness(&file.file))
        .fold(0.0, f64::max);
    let is_out_of_scope = !expected.is_empty() && nearness == 0.0;
    add(weight::OUT_OF_SCOPE, is_out_of_scope);
    sum += weight::IN_SCOPE * nearness;
    sum += weight::EARLY * (-state.age() / EARLY_FADES).exp();
    sum += weight::SHOWN_WORDS * ratio(state.shown.count(all.iter().copied()), all.len());
    sum += weight::LIKE_DRIFT * ratio(state.count_off(all.iter().copied()), all.len());
    sum += weight::WAITING * state.waiting();
    sum += weight::TERSE * (-counted(request.word_count()) / TERSE_FADES).exp();
    Evidence {
        sum,
        talk: talk.unwrap_or(UNKNOWN),
        is_new_part,
        knows_folder,
        is_out_of_scope,
    }
}

/// The log-odds of the words that a change shares with the work and the request.
fn of_words(
    talk: Option<f64>,
    terms: &TextTerms,
    path: &BTreeSet<&str>,
    all: &BTreeSet<&str>,
    own: &BTreeSet<FileId>,
    request: &Request,
    state: &RelatednessState,
) -> f64 {
    let on = &state.on;
    let usual = state.usual_talk();
    // A short text says little: its share is mixed with the usual one.
    let is_sure = terms.weight() / (terms.weight() + SHORT);
    let beyond = talk.map_or(0.0, |talk| (talk - usual) * is_sure);
    let mixed = talk.map_or(UNKNOWN, |_| usual + beyond);
    let sum = weight::START + weight::TALK * mixed + weight::USUAL * beyond;
    let sum = sum + weight::PATH_WORDS * on.path_words(path, own).unwrap_or(UNKNOWN);
    let sum =
        sum + weight::GOAL_WORDS * (counted(request.count(all.iter().copied())) / ENOUGH_GOAL_WORDS).min(1.0);
    sum + weight::IDENTIFIERS * (counted(on.identifiers(terms, own)) / ENOUGH_IDENTIFIERS).min(1.0)
}

fn counted(number: usize) -> f64 {
    ratio(number, 1)
}
