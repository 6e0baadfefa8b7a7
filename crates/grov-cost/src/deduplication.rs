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
    /// Without a request, other providers may use the id of a message again.
    Time(String, String, OffsetDateTime),
}

/// The entries, without duplicates.
#[derive(Debug, Default)]
pub(crate) struct Deduplication {
    entries: Vec<Priced>,
    places: HashMap<Key, usize>,
    /// Places by message and session: a side conversation repeats messages of the main one with other requests.
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
        let in_session = (message.clone(), new.session.clone());
        let same_request = self.places.get(&key).copied();
        let same_request = same_request.filter(|place| {
            let known = &self.entries[*place].entry;
            known.message.as_ref() == Some(&message) && known.request == new.entry.request
        });
        let found = same_request.or_else(|| {
            let places = self.by_message.get(&in_session).into_iter().flatten();
            places.copied().find(|place| {
                let known = &self.entries[*place];
                known.entry.message.as_ref() == Some(&message)
                    && known.session == new.session
                    && (new.entry.is_sidechain || known.entry.is_sidechain)
            })
        });
        let place = match found {
            Some(place) if new.knows_more_than(&self.entries[place]) => {
                self.entries[place] = new;
                place
            }
            Some(_) => return,
            None => {
                self.entries.push(new);
                self.entries.len() - 1
            }
        };
        self.places.entry(key).or_insert(place);
        let places = self.by_message.entry(in_session).or_default();
        if !places.contains(&place) {
            places.push(place);
        }
    }

    /// The entries, in the order in which they were found first.
    pub(crate) fn into_entries(self) -> Vec<Priced> {
        self.entries
    }
}

fn key(message: &str, new: &Priced) -> Key {
    match &new.entry.request {
        Some(request) => Key::Request(message.to_owned(), request.clone()),
        None => Key::Time(message.to_owned(), new.session.clone(), new.entry.at),
    }
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
