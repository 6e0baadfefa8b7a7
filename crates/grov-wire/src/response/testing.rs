//! Strategies shared by tests: random chunks and random damage.

use proptest::prelude::*;
use proptest::sample::Index;

/// Up to 12 places at which to cut a text.
pub(crate) fn places() -> impl Strategy<Value = Vec<Index>> {
    prop::collection::vec(any::<Index>(), 0..12)
}

/// Cuts `text` at the given places (taken modulo its length).
pub(crate) fn cut<'a>(text: &'a [u8], places: &[Index]) -> Vec<&'a [u8]> {
    let mut places: Vec<usize> = places.iter().map(|place| place.index(text.len() + 1)).collect();
    places.sort_unstable();
    let mut chunks = Vec::new();
    let mut from = 0;
    for to in places.into_iter().chain([text.len()]) {
        chunks.push(&text[from..to]);
        from = to;
    }
    chunks
}

/// One byte changed, inserted or removed.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Damage {
    Change(Index, u8),
    Insert(Index, u8),
    Remove(Index),
}

/// One to four changes.
pub(crate) fn damages() -> impl Strategy<Value = Vec<Damage>> {
    let damage = prop_oneof![
        (any::<Index>(), any::<u8>()).prop_map(|(place, byte)| Damage::Change(place, byte)),
        (any::<Index>(), any::<u8>()).prop_map(|(place, byte)| Damage::Insert(place, byte)),
        any::<Index>().prop_map(Damage::Remove),
    ];
    prop::collection::vec(damage, 1..5)
}

/// Applies damages in order.
pub(crate) fn damage(bytes: &mut Vec<u8>, damages: &[Damage]) {
    for damage in damages {
        match *damage {
            Damage::Insert(place, byte) => bytes.insert(place.index(bytes.len() + 1), byte),
            Damage::Change(..) | Damage::Remove(_) if bytes.is_empty() => {}
            Damage::Change(place, byte) => {
                let at = place.index(bytes.len());
                bytes[at] = byte;
            }
            Damage::Remove(place) => {
                bytes.remove(place.index(bytes.len()));
            }
        }
    }
}
