//! What a sentence does, by the meanings of its words: a signal for each thing that can be a part of harm.

use super::concept::Concept::*;
use super::concept::{Concept, Meaning};
use super::words::Word;

/// A part of harm. Which of them are harm alone or together is said in `rules`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) enum Signal {
    /// Something is kept from those who are responsible: "don't tell the reviewers".
    Concealed,
    /// Something is not written down, or done unseen: "not in the changelog", "discreetly".
    Discreet,
    /// Something is not to be shown.
    Unshown,
    /// A result is made up, or reported whatever it is.
    Lied,
    /// A result is told to somebody.
    Posed,
    /// Something is said to somebody.
    Told,
    /// Something is said to be otherwise in truth.
    Contradicted,
    /// A secret, or data of people to an outsider, leaves.
    Leaked,
    /// Private data, or what may be a secret, goes to an address.
    Sent,
    /// Something goes to an address.
    Reached,
    /// A secret is named.
    SecretNamed,
    /// What was named before goes to an address.
    SentOn,
    /// Code from a foreign address is run.
    Fetched,
    /// A source of code or a receiver of data is set to a foreign address.
    Repointed,
    /// The same to an address without a name or without TLS.
    Redirected,
    /// A control of security is taken away.
    Weakened,
    /// A control of quality is taken away.
    Unchecked,
    /// Work is brought in without a look.
    Rash,
    /// An agent is told to do something that is a part of harm.
    Ordered,
    /// Strangers get in.
    Opened,
    /// Somebody gets power.
    Granted,
    /// Words that let somebody in, or past a control.
    Backdoor,
    /// An agent is named.
    Agent,
    /// An agent has to do something.
    Bound,
    /// Something has to be done.
    Must,
    /// The user's wishes and the rules count less.
    Overriding,
    /// Nobody is asked.
    Unasked,
    /// Whatever is asked is done.
    Unbounded,
    /// The note copies itself.
    Replicated,
    /// A stranger gave the advice.
    Voice,
    /// Data or backups are deleted.
    Deleted,
    /// The same in production without a way back.
    Destroyed,
    /// It is for production.
    Prod,
    /// It is for good, or everywhere.
    Forever,
    /// It is only for tests, or something replaces it.
    Excused,
    /// It is about attacks, or about what prevents them.
    Defended,
    /// A control is a nuisance.
    Nerve,
}

const NEGATION: Meaning = Meaning::of(&[Not, Without, Nobody]);
/// The most words between a negation and what it denies.
const NEGATION_REACH: usize = 4;
/// The most words between a word that forbids and what it forbids.
const AVERT_REACH: usize = 9;

/// How many words farther an object may be before its verb: in many languages the verb comes last.
const VERB_LAST: usize = 3;
/// The most words between "was" and what happened.
const NARRATION_REACH: usize = 8;

/// A sentence with questions that can be asked of it.
pub(super) struct Sentence<'a>(pub(super) &'a [Word]);

impl Sentence<'_> {
    fn has(&self, concepts: &[Concept]) -> bool {
        let wanted = Meaning::of(concepts);
        self.0.iter().any(|word| word.meaning.has(wanted))
    }

    /// The words of these concepts.
    fn all(&self, concepts: &[Concept]) -> impl Iterator<Item = usize> {
        let wanted = Meaning::of(concepts);
        let words = self.0.iter().enumerate();
        words.filter_map(move |(place, word)| word.meaning.has(wanted).then_some(place))
    }

    /// Whether another word of these concepts is at most `reach` words away.
    fn near(&self, place: usize, concepts: &[Concept], reach: usize) -> bool {
        let wanted = Meaning::of(concepts);
        let from = place.saturating_sub(reach);
        let end = self.0.len().min(place + reach + 1);
        (from..end).any(|other| other != place && self.0[other].meaning.has(wanted))
    }

    /// Whether a word of these concepts is at most `reach` words before.
    fn near_before(&self, place: usize, concepts: &[Concept], reach: usize) -> bool {
        let wanted = Meaning::of(concepts);
        let joint = Meaning::of(&[Then]);
        (place.saturating_sub(reach)..place)
            .rev()
            .take_while(|other| !self.0[*other].meaning.has(joint))
            .any(|other| self.0[other].meaning.has(wanted))
    }

    /// Whether a word of these concepts is at most `reach` words after.
    fn near_after(&self, place: usize, concepts: &[Concept], reach: usize) -> bool {
        let wanted = Meaning::of(concepts);
        (place + 1..self.0.len().min(place + reach + 1)).any(|other| self.0[other].meaning.has(wanted))
    }

    /// The first of `acts` that is meant and has each of `others` in reach.
    fn act(&self, acts: &[Concept], others: &[(&[Concept], usize)]) -> Option<usize> {
        let has = |place: usize, concepts: &[Concept], reach: usize| {
            self.near_after(place, concepts, reach) || self.near_before(place, concepts, reach + VERB_LAST)
        };
        self.all(acts).find(|place| {
            others.iter().all(|(other, reach)| has(*place, other, *reach)) && !self.is_averted(*place)
        })
    }

    /// Whether a negation denies the word: in its clause before it, or right after it.
    fn is_denied(&self, place: usize) -> bool {
        let start = self.clause(place).max(place.saturating_sub(NEGATION_REACH));
        (start..place).any(|other| self.0[other].meaning.has(NEGATION)) || self.follows(place, &[NotAfter], 2)
    }

    /// Whether the word is denied or forbidden: "never send", "rejects a script that sends".
    fn is_averted(&self, place: usize) -> bool {
        let averts = Meaning::of(&[Avert]);
        let narrates = Meaning::of(&[Narrated]);
        let from = place.saturating_sub(AVERT_REACH);
        let clause = self.clause(place).max(place.saturating_sub(NARRATION_REACH));
        self.is_denied(place)
            || (from..place).any(|other| self.0[other].meaning.has(averts))
            || (clause..place).any(|other| self.0[other].meaning.has(narrates))
    }

    /// The beginning of the word's clause, or a word before all that count.
    fn clause(&self, place: usize) -> usize {
        let from = place.saturating_sub(AVERT_REACH);
        (from..=place)
            .rev()
            .find(|other| self.0[*other].begins)
            .unwrap_or(from)
    }

    /// Calls `add` with each signal and its word.
    pub(super) fn signals(&self, add: &mut impl FnMut(Signal, usize)) {
        self.concealment(add);
        self.lies(add);
        self.leaks(add);
        self.code(add);
        self.controls(add);
        self.access(add);
        self.authority(add);
        self.destruction(add);
        self.circumstances(add);
        self.orders(add);
    }

    /// An agent, or whoever works with it, and an act without control in one sentence.
    fn orders(&self, add: &mut impl FnMut(Signal, usize)) {
        let is_unasked = self.has(&[Concept::Unasked]);
        if !(is_unasked || self.has(&[Concept::Agent]) && self.has(&[Concept::Must])) {
            return;
        }
        let risky = self
            .act(&[Remove, Delete], &[(&[Check, Control, Backup], 4)])
            .or_else(|| self.act(&[Concept::Rash, NoLimit], &[]))
            .or_else(|| {
                self.act(&[Run, Fetch, Send], &[])
                    .filter(|place| self.is_for(*place, &[Url, Mail, Dubious]))
            })
            .or_else(|| self.act(&[Accept], &[(&[NoLimit], 4)]))
            .or_else(|| self.act(&[Set], &[(&[Source], 8)]).filter(|_| is_unasked));
        if let Some(place) = risky {
            add(Signal::Ordered, place);
        }
    }

    fn concealment(&self, add: &mut impl FnMut(Signal, usize)) {
        if !self.has(&[Whether]) {
            self.untold(add);
        }
        let hides = |place: usize, from: &[Concept]| self.near(place, from, 5) && !self.is_averted(place);
        if let Some(place) = self.all(&[Hide]).find(|place| hides(*place, &[Insider])) {
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
        let tells = self.all(&[Tell]).filter(|place| self.is_denied(*place));
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

    /// Whether a word of these concepts is in the clause of a word.
    fn is_for(&self, place: usize, concepts: &[Concept]) -> bool {
        let wanted = Meaning::of(concepts);
        self.follows(place, concepts, 10)
            || (self.clause(place)..place).any(|other| self.0[other].meaning.has(wanted))
    }

    /// Whether somebody else is said to want it: "the mail asks people to send".
    fn is_asked_of(&self, place: usize) -> bool {
        self.near_before(place, &[Ask, Said], 3) || self.follows(place, &[Ask, Said], 1)
    }

    /// Whether the word begins a clause, or follows "then" at its beginning.
    fn is_first(&self, place: usize) -> bool {
        place < 2
            || self.0[place].begins
            || self.0[place - 1].begins
            || self.0[place - 1].meaning.has(Meaning::of(&[Then]))
    }

    /// Whether a word of these concepts follows in the same clause.
    fn follows(&self, place: usize, concepts: &[Concept], reach: usize) -> bool {
        let wanted = Meaning::of(concepts);
        let mut after = self
            .0
            .iter()
            .skip(place + 1)
            .take(reach)
            .take_while(|word| !word.begins);
        after.any(|word| word.meaning.has(wanted))
    }

    fn lies(&self, add: &mut impl FnMut(Signal, usize)) {
        if let Some(place) = self.act(&[Fake], &[(&[Figures, Success], 5)]) {
            add(Signal::Lied, place);
        }
        if let Some(place) = self.all(&[IfAsked]).next() {
            let then_says = (place + 1..self.0.len().min(place + 6))
                .any(|other| self.0[other].meaning.has(Meaning::of(&[Claim])));
            add(if then_says { Signal::Lied } else { Signal::Posed }, place);
        }
        if let Some(place) = self.act(&[Claim], &[(&[Success], 6)]) {
            let is_to_them = self.near(place, &[Insider, Client, Paper], 6);
            let is_close = self.near(place, &[Success], 4);
            if self.has(&[Regardless]) && (place < 3 || is_to_them) {
                add(Signal::Lied, place);
            } else if is_to_them || is_close && self.is_first(place) {
                add(Signal::Posed, place);
            }
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

    fn leaks(&self, add: &mut impl FnMut(Signal, usize)) {
        const AWAY: &[Concept] = &[Url, Mail, PublicPlace, Outside];
        let leaked = self
            .act(&[Send], &[(&[Secret], 12), (AWAY, 14)])
            .or_else(|| self.act(&[Put], &[(&[Secret], 12), (&[PublicPlace, Outside], 14)]));
        if let Some(place) = leaked.filter(|place| !self.is_asked_of(*place)) {
            add(Signal::Leaked, place);
        }
        if let Some(place) = self.act(&[Send, Put], &[(&[Key], 5), (&[PublicPlace, Outside, Mail], 6)]) {
            add(Signal::Leaked, place);
        }
        if let Some(place) = self.all(&[Filled]).find(|_| self.has(&[Secret])) {
            add(Signal::Leaked, place);
        }
        if let Some(place) = self.act(&[Send], &[(&[Private], 10), (&[Outside, Mail, PublicPlace], 12)]) {
            add(Signal::Leaked, place);
        }
        if let Some(place) = self.act(
            &[Send, Put],
            &[(&[Private, Key], 10), (&[Url, PublicPlace, Mail], 12)],
        ) {
            add(Signal::Sent, place);
        }
        if let Some(place) = self.act(&[Send], &[(&[Url, Mail, Outside], 12)]) {
            add(Signal::Reached, place);
        }
        if let Some(place) = self.all(&[Secret]).next() {
            add(Signal::SecretNamed, place);
        }
        if let Some(place) = self
            .act(&[Send], &[(&[This], 3), (&[PublicPlace, Url, Mail], 8)])
            .filter(|place| !self.is_asked_of(*place))
        {
            add(Signal::SentOn, place);
        }
    }

    fn code(&self, add: &mut impl FnMut(Signal, usize)) {
        if let Some(place) = self.act(
            &[Run],
            &[(&[Whatever], 6), (&[Url, Concept::Voice, Concept::Agent], 12)],
        ) {
            add(Signal::Fetched, place);
        }
        let fetched = self.all(&[Run]).find(|place| {
            let code = [
                (&[Fetch][..], 10),
                (&[Url], 14),
                (&[Code, Whatever, This, Dubious], 10),
            ];
            code.iter().all(|(other, reach)| self.near(*place, other, *reach)) && !self.is_averted(*place)
        });
        if let Some(place) = fetched.filter(|_| !self.has(&[Control, Proof, Verify])) {
            add(Signal::Fetched, place);
        }
        if let Some(place) = self.act(&[Run], &[(&[Dubious], 6), (&[Code, Whatever], 6)]) {
            add(Signal::Fetched, place);
        }
        if let Some(place) = self.act(&[Set], &[(&[Source], 8), (&[Url, Mail], 10)]) {
            add(
                if self.near(place, &[Dubious], 10) {
                    Signal::Redirected
                } else {
                    Signal::Repointed
                },
                place,
            );
        }
    }

    fn controls(&self, add: &mut impl FnMut(Signal, usize)) {
        let removed = self
            .act(&[Remove], &[(&[Control], 5)])
            .or_else(|| self.act(&[Remove], &[(&[Proof], 3), (&[Verify, Check], 3)]))
            .or_else(|| self.act(&[Remove], &[(&[Check], 3), (&[All], 3)]))
            .or_else(|| self.all(&[Verify]).find(|place| self.is_undone(*place)))
            .or_else(|| self.all(&[Without]).find(|place| self.lacks_control(*place)))
            .or_else(|| {
                self.all(&[Need])
                    .find(|place| self.is_denied(*place) && self.near(*place, &[Control], 4))
            })
            .or_else(|| self.act(&[Accept], &[(&[All], 3), (&[Control, Proof], 4)]));
        if let Some(place) = removed {
            add(Signal::Weakened, place);
        } else if let Some(place) = self.act(&[Remove], &[(&[Check], 4)]) {
            add(Signal::Unchecked, place);
        } else if let Some(place) = self
            .all(&[Without])
            .find(|place| self.follows(*place, &[Check], 2))
        {
            add(Signal::Unchecked, place);
        }
    }

    /// Whether something goes on without a control: "accept it without a signature check", not "never … without".
    fn lacks_control(&self, place: usize) -> bool {
        let is_open = self.has(&[Accept, Access, Admin, Concept::Prod, Run, Grant]);
        let lacks = self.follows(place, &[Control], 2) || is_open && self.follows(place, &[Verify], 2);
        lacks && !self.is_averted_before(place)
    }

    /// Whether a check is not made: "no longer verify the certificate", not "never deploy without verifying".
    fn is_undone(&self, place: usize) -> bool {
        let from = place.saturating_sub(2);
        let negations = Meaning::of(&[Not, Without]);
        let Some(negation) = (from..place)
            .rev()
            .find(|other| self.0[*other].meaning.has(negations))
        else {
            return false;
        };
        self.near(place, &[Control, Proof], 4) && !self.is_averted_before(negation)
    }

    fn access(&self, add: &mut impl FnMut(Signal, usize)) {
        if let Some(place) = self.act(&[Grant], &[(&[Admin], 8)]) {
            let is_foreign = self.near(place, &[Outside, Mail, Anyone], 10);
            add(
                if is_foreign {
                    Signal::Opened
                } else {
                    Signal::Granted
                },
                place,
            );
        }
        let open = self
            .all(&[Anyone])
            .find(|place| self.near(*place, &[Access, Admin, Private, Data], 6) && !self.is_averted(*place));
        let is_unguarded = self
            .act(&[Not, Without, Remove], &[(&[Verify, Control, Key], 3)])
            .is_some();
        if let Some(place) = open
            .or_else(|| self.act(&[Anyone], &[(&[Access, Admin, Key], 9)]))
            .filter(|_| is_unguarded)
        {
            add(Signal::Opened, place);
        }
        if let Some(place) = self.act(&[Backdoor], &[(&[Put, Grant, Accept, Access, Set, Send], 8)]) {
            add(Signal::Opened, place);
        }
        let past = |place: usize| {
            let skips = self.near(place, &[Remove, Not, Without, Accept], 12)
                && self.near(place, &[Control, Verify], 12);
            (skips || self.near(place, &[Admin], 7) || self.near(place, &[Free], 6))
                && !self.is_averted(place)
        };
        if let Some(place) = self.all(&[Magic]).find(|place| past(*place)) {
            add(Signal::Opened, place);
        } else if let Some(place) = self.all(&[Trigger]).find(|place| past(*place)) {
            add(Signal::Backdoor, place);
        }
        if let Some(place) = self.act(&[Fixed], &[(&[Secret], 3)]) {
            add(Signal::Weakened, place);
        }
    }

    fn authority(&self, add: &mut impl FnMut(Signal, usize)) {
        if let Some(place) = self.all(&[Concept::Agent]).next() {
            add(Signal::Agent, place);
        }
        let denied = |place: usize| self.near_after(place, &[Not], 2);
        let bound = self
            .all(&[Concept::Must])
            .find(|place| self.near(*place, &[Concept::Agent], 6) && !denied(*place));
        if let Some(place) = bound {
            add(Signal::Bound, place);
        }
        if let Some(place) = self.all(&[Concept::Must]).next() {
            add(Signal::Must, place);
        }
        let over = self.act(&[Override], &[(&[Client, Insider, Concept::Agent, Session], 8)]);
        if let Some(place) = over.filter(|place| self.near(*place, &[Rules], 14)) {
            add(Signal::Overriding, place);
        }
        let unasked = self.all(&[Ask]).find(|place| {
            self.is_denied(*place) && self.near(*place, &[Client, Insider, Nobody, Confirm], 5)
        });
        if let Some(place) = unasked {
            add(Signal::Unasked, place);
        }
        if let Some(place) = self.act(&[Outside], &[(&[Said], 3)]) {
            add(Signal::Voice, place);
        }
        if let Some(place) = self
            .all(&[Concept::Unasked])
            .find(|place| !self.is_averted_before(*place))
        {
            add(Signal::Unasked, place);
        }
        if let Some(place) = self.act(&[NoLimit], &[(&[Accept, Run, Must], 6)]) {
            add(Signal::Unbounded, place);
        }
        if let Some(place) = self.all(&[Replicate]).find(|place| !self.is_averted(*place)) {
            add(Signal::Replicated, place);
        }
        if let Some(place) = self.all(&[Concept::Voice]).next() {
            add(Signal::Voice, place);
        }
    }

    /// Whether something before the word in its clause denies it: "never push without asking".
    fn is_averted_before(&self, place: usize) -> bool {
        let denies = Meaning::of(&[Not, Nobody, Avert]);
        (self.clause(place).max(place.saturating_sub(AVERT_REACH))..place)
            .any(|other| self.0[other].meaning.has(denies))
    }

    fn destruction(&self, add: &mut impl FnMut(Signal, usize)) {
        if let Some(place) = self.act(&[Delete], &[(&[Data, Backup], 5)]) {
            let is_final = self.has(&[Without, Not]) && self.has(&[Backup, Confirm]);
            let is_prod = self.has(&[Concept::Prod]);
            add(
                if is_final && is_prod {
                    Signal::Destroyed
                } else {
                    Signal::Deleted
                },
                place,
            );
        }
    }

    fn circumstances(&self, add: &mut impl FnMut(Signal, usize)) {
        for (concept, signal) in [
            (Concept::Prod, Signal::Prod),
            (Concept::Forever, Signal::Forever),
            (Excuse, Signal::Excused),
            (Defend, Signal::Defended),
            (Concept::Nerve, Signal::Nerve),
        ] {
            if let Some(place) = self.all(&[concept]).next() {
                add(signal, place);
            }
        }
    }
}
