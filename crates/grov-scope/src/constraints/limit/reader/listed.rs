//! "Don't touch a.ts, the tests, or dependencies": each item of a list forbids for itself, whatever the others are.

use super::forbid::MANIFESTS;
use super::{COMMANDS, ClauseReader};
use crate::constraints::clause::Token;
use crate::constraints::limit::forbidden_commands::commands;
use crate::constraints::limit::parts::{GENERAL, Parts, place_of};
use crate::constraints::limit::{Limit, Place, PlaceRule};
use crate::constraints::vocabulary::Term;

/// Verbs of what happens to a place.
const PLACE_VERBS: &[Term] = &[Term::Change, Term::Remove, Term::Rename];

/// Verbs of what happens to dependencies.
const PACKAGE_VERBS: &[Term] = &[Term::Change, Term::Add, Term::Install, Term::Upgrade];

impl ClauseReader<'_> {
    /// What each item of a list forbids. `is_state` says that the items are off limits without a verb.
    pub(super) fn listed(&self, words: &[Token], is_state: bool, except: &[Place]) -> Vec<Limit> {
        let items = items(words);
        if items.len() < 2 {
            return Vec::new();
        }
        let verb_of = |item: &[Token]| {
            item.iter()
                .find(|token| token.is_action())
                .and_then(|token| token.term)
        };
        // "a.ts und die Tests nicht anfassen": the verb stands last.
        let last = items.iter().rev().find_map(|item| verb_of(item));
        let mut verb = match items.first().and_then(|item| verb_of(item)) {
            None if is_state => Some(Term::Change),
            None => last.filter(|_| ends_with_verb(words)),
            first => first,
        };
        let mut found = Vec::new();
        // "The signature of f in a.ts or b.ts": what follows belongs to the signature.
        let mut is_part = false;
        let names_path = items.iter().any(|item| item.iter().any(Token::is_place));
        for item in items {
            if let Some(own) = verb_of(item) {
                verb = Some(own);
                is_part = false;
            }
            let Some(verb) = verb else { continue };
            let parts = Parts::of(item);
            let is_manifest =
                |place: &Place| matches!(place, Place::Path(path) if MANIFESTS.contains(&path.as_str()));
            if PACKAGE_VERBS.contains(&verb)
                && parts.has(Term::Dependency)
                && !parts.places.is_empty()
                && parts.places.iter().all(is_manifest)
                && parts.words.is_empty()
            {
                found.push(Limit::Package(None));
                continue;
            }
            is_part |= !parts.places.is_empty() && !is_bare(item);
            if is_part {
                continue;
            }
            let removal_only = matches!(verb, Term::Remove | Term::Rename);
            let rule = |existing_only| PlaceRule {
                removal_only,
                existing_only,
                except: except.to_vec(),
            };
            if PLACE_VERBS.contains(&verb) && is_bare(item) && !parts.places.is_empty() {
                found.push(Limit::Places(
                    item.iter()
                        .filter(|token| token.is_place())
                        .map(place_of)
                        .collect(),
                    rule(parts.has(Term::Existing)),
                ));
            } else if PLACE_VERBS.contains(&verb)
                && parts.places.is_empty()
                && parts.literals.is_empty()
                && let Some(places) = self.kinds_or_words(item, &parts, names_path)
            {
                found.push(Limit::Places(places, rule(parts.has(Term::Existing))));
            } else if verb == Term::Add
                && parts.has(Term::File)
                && parts.has_only(&[Term::Add, Term::New, Term::File, Term::All, Term::Not])
            {
                found.push(Limit::NewFiles);
            } else if PACKAGE_VERBS.contains(&verb)
                && parts.has(Term::Dependency)
                && parts.has_only(&[Term::Dependency, Term::New, Term::All, Term::Else, verb])
            {
                found.push(Limit::Package(None));
            } else if COMMANDS.contains(&verb) && parts.has_only(&[verb, Term::All, Term::That, Term::Not]) {
                let bare: Vec<Token> = item.iter().filter(|token| token.is(verb)).cloned().collect();
                found.extend(commands(&Parts::of(&bare), &bare, is_state, self.context));
            }
        }
        found
    }

    /// The places of an item that names kinds of files, or beside paths what words name: "the storyboard and Info.plist".
    fn kinds_or_words(&self, item: &[Token], parts: &Parts<'_>, names_path: bool) -> Option<Vec<Place>> {
        let kinds = parts.kinds();
        let is_plain = item.iter().all(|token| {
            token.term.is_none()
                || token.is_any(PLAIN)
                || token.is_any(PLACE_VERBS)
                || token
                    .term
                    .is_some_and(|term| crate::constraints::limit::kind_of(term).is_some())
        });
        if !is_plain {
            return None;
        }
        match (kinds.is_empty(), parts.groups.as_slice()) {
            (false, _) if parts.words.len() <= 2 => Some(kinds),
            (true, [group]) if names_path && group.len() <= 2 => {
                let is_telling = group
                    .iter()
                    .all(|word| word.len() >= 4 && !GENERAL.contains(word));
                is_telling.then(|| parts.named().into_iter().map(Place::Words).collect())
            }
            _ => None,
        }
    }
}

/// The items of a list: what stands between conjunctions and pauses.
fn items(words: &[Token]) -> Vec<&[Token]> {
    let mut found = Vec::new();
    let mut from = 0;
    for (at, token) in words.iter().enumerate() {
        let joins = token.is(Term::And) || token.is(Term::Not) && !token.pauses && at > from;
        if joins || token.pauses {
            let to = if joins { at } else { at + 1 };
            found.extend(words.get(from..to).filter(|item| !item.is_empty()));
            from = at + 1;
        }
    }
    found.extend(words.get(from..).filter(|item| !item.is_empty()));
    found
}

/// Whether an item is nothing but paths, and words that say nothing besides.
fn is_bare(item: &[Token]) -> bool {
    // "The grammar file grammar.lark"
    let names_file = |at: usize| {
        item[at].term.is_none()
            && item.get(at + 1).is_some_and(|next| next.is(Term::File))
            && !item[at].is_quoted
    };
    item.iter().enumerate().all(|(at, token)| {
        token.is_place()
            || token.is_any(PLAIN)
            || token.is_any(PLACE_VERBS)
            || token.is(Term::Most)
            || names_file(at)
    })
}

/// Meanings of words beside the names of places.
const PLAIN: &[Term] = &[
    Term::Filler,
    Term::File,
    Term::All,
    Term::That,
    Term::Existing,
    Term::Not,
    Term::Leave,
    Term::Keep,
    Term::Still,
    Term::HandsOff,
];

/// Whether the last action stands after the last object.
fn ends_with_verb(words: &[Token]) -> bool {
    let verb = words.iter().rposition(Token::is_action);
    let object = words.iter().rposition(Token::is_place);
    verb > object
}
