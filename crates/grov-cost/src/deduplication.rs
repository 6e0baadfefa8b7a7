//! Keeps one entry per response: its lines are repeated while it grows, in resumed sessions and in side conversations.

use crate::UsageEntry;
use grov_domain::TokenUsage;
use std::collections::HashMap;
use time::OffsetDateTime;

/// An entry and the price that decides between equal ones.
#[derive(Clone, Debug)]
pub(crate) struct Priced {
    pub(crate) entry: UsageEntry,
    /// The session of the line or, if it names none, of the file.
    pub(crate) session: String,
    /// Billionths of a USD.
    pub(crate) cost: u128,
    /// Whether the price is known.
    pub(crate) is_priced: bool,
}

/// What identifies a response.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum Key {
    /// Message and request, in any session: a resumed session copies earlier lines.
    Request(String, String),
    /// The message alone: without a request, its id has to be random enough.
    Message(String),
    /// Other providers may use a short id again.
    Time(String, String, OffsetDateTime),
}

/// The entries, without duplicates.
#[derive(Debug, Default)]
pub(crate) struct Deduplication {
    entries: Vec<Priced>,
    /// Places by key. After a replacement the entry there may have another key.
    places: HashMap<Key, Vec<usize>>,
    /// Places by message and session: a side conversation repeats messages of the main one with other requests. An entry that
    /// several sessions have is found in each.
    by_message: HashMap<(String, String), Vec<usize>>,
}

impl Deduplication {
    /// Adds an entry, or replaces its duplicate if it knows more.
    pub(crate) fn add(&mut self, new: Priced) {
        let Some(message) = new.entry.message.clone() else {
            // Nothing identifies it.
            self.entries.push(new);
            return;
        };
        let key = key(&message, &new);
        let in_session = |session: &str| (message.clone(), session.to_owned());
        let mut sessions = vec![new.session.clone()];
        let place = match self.duplicate_of(&new, &key, &in_session(&new.session)) {
            Some(place) => {
                let known = &mut self.entries[place];
                if known.session != new.session {
                    sessions.push(known.session.clone());
                } else if !new.knows_more_than(known) {
                    return;
                }
                if new.knows_more_than(known) {
                    *known = new;
                    note(self.places.entry(key).or_default(), place);
                }
                place
            }
            None => {
                let place = self.entries.len();
                self.entries.push(new);
                note(self.places.entry(key).or_default(), place);
                place
            }
        };
        for session in sessions {
            note(self.by_message.entry(in_session(&session)).or_default(), place);
        }
    }

    /// The place of an entry of the same response.
    fn duplicate_of(&self, new: &Priced, key: &Key, in_session: &(String, String)) -> Option<usize> {
        let has_key = |place: &usize| {
            let known = &self.entries[*place];
            let message = known.entry.message.as_deref().unwrap_or_default();
            self::key(message, known) == *key
        };
        let is_replay = |place: &usize| new.entry.is_sidechain || self.entries[*place].entry.is_sidechain;
        let same = self.places.get(key).into_iter().flatten().copied().find(has_key);
        same.or_else(|| {
            let places = self.by_message.get(in_session).into_iter().flatten();
            places.copied().find(is_replay)
        })
    }

    /// The entries, in the order in which they were found first.
    pub(crate) fn into_entries(self) -> Vec<Priced> {
        self.entries
    }
}

fn note(places: &mut Vec<usize>, place: usize) {
    if !places.contains(&place) {
        places.push(place);
    }
}

fn key(message: &str, new: &Priced) -> Key {
    match &new.entry.request {
        Some(request) => Key::Request(message.to_owned(), request.clone()),
        None if is_random(message) => Key::Message(message.to_owned()),
        None => Key::Time(message.to_owned(), new.session.clone(), new.entry.at),
    }
}

/// Letters and digits of an id that nobody makes twice: a UUID has 32, an id of the Messages API 24 and more, a counter or three
/// random digits fewer.
const RANDOM: usize = 16;

/// Whether an id of a message is so long that no other message has it.
fn is_random(message: &str) -> bool {
    let counted = message.bytes().filter(u8::is_ascii_alphanumeric).count();
    counted >= RANDOM && message.bytes().any(|byte| byte.is_ascii_digit())
}

impl Priced {
    /// Whether it replaces another entry of the same response: the main conversation before a side conversation, then the one
    /// with more tokens, the higher cost, and the one that says how fast it was.
    fn knows_more_than(&self, known: &Self) -> bool {
        if self.entry.is_sidechain != known.entry.is_sidechain {
            return known.entry.is_sidechain;
        }
        let (own, other) = (total(&self.entry.tokens), total(&known.entry.tokens));
        if own != other {
            return own > other;
        }
        if self.cost != known.cost {
            return self.cost > known.cost;
        }
        self.entry.has_speed && !known.entry.has_speed
    }
}

fn total(tokens: &TokenUsage) -> u64 {
    let classes = [
        tokens.input,
        tokens.output,
        tokens.cache_creation,
        tokens.cache_read,
    ];
    classes.into_iter().fold(0, u64::saturating_add)
}
