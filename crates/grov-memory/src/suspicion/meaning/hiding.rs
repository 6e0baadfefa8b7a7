//! What is kept from somebody, and what is told that is not true.

use super::concept::Concept::*;
use super::concept::{Concept, Meaning};
use super::sentence::Sentence;
use super::signals::Signal;

impl Sentence<'_> {
    pub(super) fn concealment(&self, add: &mut impl FnMut(Signal, usize)) {
        if !self.has(&[Whether]) {
            self.untold(add);
        }
        let hides = |place: usize, from: &[Concept]| self.near(place, from, 5) && !self.is_averted(place);
        let from_them = |place: usize| hides(place, &[Insider]) && self.near(place, &[Insider], 3);
        if let Some(place) = self.all(&[Hide]).find(|place| from_them(*place)) {
            add(Signal::Concealed, place);
        } else if let Some(place) = self
            .all(&[Hide])
            .find(|place| hides(*place, &[Paper, Client, This]))
        {
            add(Signal::Discreet, place);
        }
        let unwritten = |place: usize| self.follows(place, &[Paper], 5);
        if let Some(place) = self.all(&[Not, Without]).find(|place| unwritten(*place)) {
            add(Signal::Discreet, place);
        }
        if let Some(place) = self.all(&[OutOf]).find(|place| self.follows(*place, &[Paper], 3)) {
            add(Signal::Discreet, place);
        }
        let unshown = self
            .all(&[Put])
            .find(|place| self.is_forbidden(*place) && self.near(*place, &[This], 3));
        if let Some(place) = unshown.filter(|_| !self.has(&[Key, Secret, Private])) {
            add(Signal::Unshown, place);
        }
        if let Some(place) = self.all(&[Secretly]).find(|place| !self.is_averted(*place)) {
            let is_from_them = self.near(place, &[Insider], 5);
            add(
                if is_from_them {
                    Signal::Concealed
                } else {
                    Signal::Discreet
                },
                place,
            );
        }
        if let Some(place) = self.act(
            &[Quiet],
            &[(&[Send, Grant, Accept, Remove, Set, Delete, Run, Put], 4)],
        ) {
            add(Signal::Discreet, place);
        }
    }

    /// Somebody is not to be told, to know, or to notice.
    fn untold(&self, add: &mut impl FnMut(Signal, usize)) {
        let was = Meaning::of(&[Narrated]);
        let is_denied = |place: usize| self.is_denied(place) || self.near_before(place, &[Avert], 2);
        let tells = self.all(&[Tell]).filter(|place| is_denied(*place));
        for place in tells.filter(|place| {
            !self.0[place.saturating_sub(3)..*place]
                .iter()
                .any(|word| word.meaning.has(was))
        }) {
            let of_this = self.near(place, &[This], 4);
            let to_them = self.near(place, &[Insider, Nobody], 4);
            let to_client = self.near(place, &[Client], 4);
            let on_paper = self.near(place, &[Paper], 6);
            if to_them || of_this && (to_client || on_paper) {
                add(Signal::Concealed, place);
            } else if to_client || of_this || on_paper || self.near(place, &[Without], 2) {
                add(Signal::Discreet, place);
            }
        }
        for place in self.all(&[Know]).filter(|place| self.is_denied(*place)) {
            let must_not = self.near(place, &[Concept::Must, Need, This], 4);
            if self.near(place, &[Insider, Client, Nobody], 5) {
                add(
                    if must_not {
                        Signal::Concealed
                    } else {
                        Signal::Discreet
                    },
                    place,
                );
            }
        }
        for place in self.all(&[See]).filter(|place| self.is_denied(*place)) {
            if self.near(place, &[Insider], 5) && self.near(place, &[Concept::Must, Need, This], 4) {
                add(Signal::Concealed, place);
            } else if self.near(place, &[Client, Nobody, Insider], 5) {
                add(Signal::Discreet, place);
            }
        }
    }

    /// Whether a clause begins with "do not" and this word.
    fn is_forbidden(&self, place: usize) -> bool {
        let negation = Meaning::of(&[Not]);
        let mut before = place.saturating_sub(2)..place;
        before.any(|other| self.0[other].meaning.has(negation) && self.is_first(other))
            || self.follows(place, &[NotAfter], 2)
    }

    pub(super) fn lies(&self, add: &mut impl FnMut(Signal, usize)) {
        if let Some(place) = self.act(&[Fake], &[(&[Figures, Success], 5)]) {
            add(Signal::Lied, place);
        }
        if let Some(place) = self.all(&[IfAsked]).next() {
            let then_says = (place + 1..self.0.len().min(place + 6))
                .any(|other| self.0[other].meaning.has(Meaning::of(&[Claim])));
            add(if then_says { Signal::Lied } else { Signal::Posed }, place);
        }
        let claims = self
            .all(&[Claim])
            .filter(|place| self.reaches(*place, &[Success], 6) && !self.is_averted(*place));
        let mut said = None;
        for place in claims {
            let is_to_them = self.near(place, &[Insider, Client, Paper], 6);
            let is_order = self.near(place, &[Success], 4) && self.is_first(place);
            let is_close = is_order || self.near_before(place, &[Success], 1);
            if self.has(&[Regardless]) && (place < 3 || is_to_them) {
                said = Some((Signal::Lied, place));
            } else if is_to_them || is_close {
                said = said.or(Some((Signal::Posed, place)));
            }
        }
        if let Some((signal, place)) = said {
            add(signal, place);
        } else if let Some(place) = self
            .act(&[Claim], &[(&[Insider, Client], 4)])
            .filter(|place| *place < 2)
        {
            add(Signal::Told, place);
        }
        if let Some(place) = self.act(&[Concept::Rash], &[]) {
            add(Signal::Rash, place);
        }
        if let Some(place) = self.all(&[Regardless]).next() {
            add(Signal::Contradicted, place);
        }
    }
}
