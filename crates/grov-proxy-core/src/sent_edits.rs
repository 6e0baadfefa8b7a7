//! What policies changed of a request, as it was sent: for observers.

use bytes::Bytes;

/// The changes of a request, in the order of their places. It is an extension of the request if the request was sent with edits.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SentEdits {
    /// Length of the client's body, in bytes.
    pub original: usize,
    /// Length of the body as it was sent.
    pub sent: usize,
    /// The changes.
    pub changes: Vec<SentChange>,
    /// Whether the upstream refused the changed request, so that the client's was sent after it.
    pub refused: bool,
}

/// A place at which bytes were added, left out or replaced.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SentChange {
    /// The place in the client's body, in bytes.
    pub at: usize,
    /// Bytes of the client's body that were left out there.
    pub removed: usize,
    /// What was added instead.
    pub added: Vec<Bytes>,
}

impl SentEdits {
    /// Compares a body with the pieces that were sent. A piece that is a slice of the body is the client's, any other was added.
    pub(crate) fn of(body: &Bytes, pieces: &[Bytes]) -> Self {
        let start = body.as_ptr() as usize;
        let mut changes: Vec<SentChange> = Vec::new();
        let mut taken = 0;
        let mut added: Vec<Bytes> = Vec::new();
        for piece in pieces {
            let offset = (piece.as_ptr() as usize).checked_sub(start);
            let own = offset.filter(|offset| *offset >= taken && offset + piece.len() <= body.len());
            let Some(offset) = own else {
                added.push(piece.clone());
                continue;
            };
            if offset > taken || !added.is_empty() {
                changes.push(SentChange {
                    at: taken,
                    removed: offset - taken,
                    added: std::mem::take(&mut added),
                });
            }
            taken = offset + piece.len();
        }
        if taken < body.len() || !added.is_empty() {
            changes.push(SentChange {
                at: taken,
                removed: body.len() - taken,
                added,
            });
        }
        Self {
            original: body.len(),
            sent: pieces.iter().map(Bytes::len).sum(),
            changes,
            refused: false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn additions_and_omissions_are_found_with_their_places() {
        let body = Bytes::from_static(b"0123456789");
        let new = Bytes::from("new".to_owned());
        let pieces = [
            body.slice(0..4),
            new.clone(),
            body.slice(4..6),
            body.slice(8..10),
            new.clone(),
        ];
        let edits = SentEdits::of(&body, &pieces);
        let change = |at, removed, added: &[&Bytes]| SentChange {
            at,
            removed,
            added: added.iter().map(|one| (*one).clone()).collect(),
        };
        assert_eq!(
            edits.changes,
            [change(4, 0, &[&new]), change(6, 2, &[]), change(10, 0, &[&new])]
        );
        assert_eq!((edits.original, edits.sent), (10, 14));
        assert!(
            SentEdits::of(&body, std::slice::from_ref(&body))
                .changes
                .is_empty()
        );
        assert_eq!(SentEdits::of(&body, &[]).changes, [change(0, 10, &[])]);
    }
}
