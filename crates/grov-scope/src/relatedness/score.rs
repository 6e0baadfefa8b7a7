//! The ties of a change to the work, weighed.

use super::asked::Asked;
use super::expected::Expected;
use super::memory::Memory;
use super::subject::is_telling;
use super::text::Heard;
use super::ties::{FileId, Numbered, ratio};
use super::weights as weight;
use std::collections::BTreeSet;

/// So many words of the goal are as good as more.
const ENOUGH_GOAL_WORDS: f64 = 3.0;
/// So many identifiers are as good as more.
const ENOUGH_IDENTIFIERS: f64 = 2.0;
/// Actions in which "little is known yet" fades to a third.
const EARLY_FADES: f64 = 4.0;
/// Where a text says nothing it counts as half known.
const UNKNOWN: f64 = 0.5;

/// An action on files that the work did not change before.
#[derive(Clone, Copy, Debug)]
pub(super) struct Touch<'a> {
    pub(super) files: &'a [Numbered],
    pub(super) heard: &'a Heard,
    pub(super) is_command: bool,
    pub(super) looks: bool,
}

/// What came out, with what a person is told of it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Weighed {
    /// Log-odds that it is off the goal.
    pub(super) sum: f64,
    pub(super) talk: f64,
    pub(super) is_new_part: bool,
    pub(super) knows_folder: bool,
    pub(super) is_out_of_scope: bool,
}

/// Weighs the ties of an action to the work.
pub(super) fn weigh(touch: Touch<'_>, asked: &Asked, expected: &Expected, memory: &Memory) -> Weighed {
    let Touch {
        files,
        heard,
        is_command,
        looks,
    } = touch;
    let on = &memory.on;
    let numbers = files.iter().map(|file| file.id);
    let own: BTreeSet<FileId> = numbers.chain(memory.forms(files)).collect();
    let any = |holds: &dyn Fn(&Numbered) -> bool| files.iter().any(holds);
    let path: BTreeSet<&str> = files
        .iter()
        .flat_map(|file| file.subject.words.iter().map(String::as_str))
        .collect();
    let mut all = path.clone();
    all.extend(heard.words.iter().map(String::as_str));

    let talk = on.talk(heard, &own);
    let mut sum = weight::START + weight::TALK * talk.unwrap_or(UNKNOWN);
    sum += weight::USUAL * talk.map_or(0.0, |talk| talk - memory.usual_talk());
    sum += weight::PATH_WORDS * on.path_words(&path, &own).unwrap_or(UNKNOWN);
    sum += weight::GOAL_WORDS * (counted(asked.count(all.iter().copied())) / ENOUGH_GOAL_WORDS).min(1.0);
    sum += weight::IDENTIFIERS * (counted(on.identifiers(heard, &own)) / ENOUGH_IDENTIFIERS).min(1.0);

    let mut add = |weight: f64, holds: bool| sum += if holds { weight } else { 0.0 };
    add(weight::NAMED, any(&|file| on.names(&file.subject, &own)));
    let knows_folder = any(&|file| on.knows_folder(&file.subject, &own));
    add(weight::FOLDER, knows_folder);
    add(weight::PARTNER, any(&|file| on.knows_stem(&file.subject, &own)));
    add(
        weight::MENTIONS,
        heard
            .names
            .iter()
            .any(|name| is_telling(name) && on.edited_stem(name)),
    );
    let is_new_part = on.has_files() && !any(&|file| on.knows_part(&file.subject, &own));
    add(weight::NEW_PART, is_new_part);
    add(
        weight::NEW_ENDING,
        on.has_files() && !any(&|file| on.knows_ending(&file.subject, &own)),
    );
    let seen = own.iter().filter_map(|id| on.read_at(*id)).min();
    add(
        weight::EXPLORED,
        seen.is_some_and(|seen| memory.is_before_first_edit(seen)),
    );
    add(weight::FIRST_EDIT, !memory.has_edited());
    add(
        weight::HOUSEHOLD,
        memory.has_edited() && any(&|file| file.subject.is_household),
    );
    add(weight::COMMAND, is_command);
    add(weight::READING, looks);
    add(weight::TOLD, any(&|file| memory.told.names(&file.subject)));
    add(weight::DRIFTING, memory.is_drifting());

    let nearness = files
        .iter()
        .map(|file| expected.nearness(&file.subject))
        .fold(0.0, f64::max);
    let is_out_of_scope = !expected.is_empty() && nearness == 0.0;
    add(weight::OUT_OF_SCOPE, is_out_of_scope);
    sum += weight::IN_SCOPE * nearness;
    sum += weight::EARLY * (-memory.age() / EARLY_FADES).exp();
    sum += weight::TOLD_WORDS * ratio(memory.told.count(all.iter().copied()), all.len());
    sum += weight::LIKE_DRIFT * ratio(memory.count_off(all.iter().copied()), all.len());
    sum += weight::WAITING * memory.waiting();
    Weighed {
        sum,
        talk: talk.unwrap_or(UNKNOWN),
        is_new_part,
        knows_folder,
        is_out_of_scope,
    }
}

fn counted(number: usize) -> f64 {
    ratio(number, 1)
}
