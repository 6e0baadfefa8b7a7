//! What `grov top` shows, and what keys change of it.

use crate::commands::watch::ChangeView;
use crate::table::one_line;
use grov_cost::PriceBook;
use grov_domain::{MicroUsd, TokenUsage};
use grov_query::{LiveState, SessionCard};
use serde::Serialize;
use std::collections::VecDeque;
use time::{Duration, OffsetDateTime};

/// Sessions in the list.
pub(super) const MAX_ROWS: u32 = 50;
/// Changes that are remembered.
const MAX_CHANGES: usize = 2_000;
/// The time over which rates are taken.
const RATE_OVER: Duration = Duration::minutes(5);

/// A key, apart from the terminal library.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Key {
    Up,
    Down,
    Enter,
    Escape,
    Backspace,
    Interrupt,
    Char(char),
}

/// What follows from a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Then {
    Stay,
    Quit,
}

/// A session.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(super) struct Row {
    pub(super) id: String,
    pub(super) short_id: String,
    pub(super) state: LiveState,
    pub(super) path: &'static str,
    pub(super) goal: String,
    pub(super) project_path: String,
    pub(super) prompts: u64,
    pub(super) actions: u64,
    pub(super) tokens: TokenUsage,
    /// `None` if it is unknown.
    pub(super) context_percent: Option<u64>,
    /// `None` if it is unknown.
    pub(super) cost_usd: Option<MicroUsd>,
    pub(super) off_goal: bool,
    pub(super) last_action: String,
    #[serde(with = "time::serde::rfc3339")]
    pub(super) last_update: OffsetDateTime,
}

impl Row {
    pub(super) fn of(card: &SessionCard, prices: &PriceBook) -> Self {
        let session = &card.session;
        let costs = card.usage.iter().filter_map(|usage| {
            let model = usage.model.as_deref().unwrap_or_default();
            prices.cost(model, false, &usage.tokens)
        });
        let cost: u128 = costs.sum();
        let context = card.context.as_ref();
        Self {
            id: session.id.to_string(),
            short_id: one_line(&session.short_id),
            state: session.state,
            path: session.path.as_str(),
            goal: one_line(session.goal.as_deref().unwrap_or_default()),
            project_path: one_line(session.project_path.as_deref().unwrap_or_default()),
            prompts: card.prompts,
            actions: card.actions,
            tokens: card.tokens,
            context_percent: context
                .map(|reading| reading.tokens.saturating_mul(100) / reading.window_tokens.max(1)),
            cost_usd: (!card.usage.is_empty())
                .then(|| MicroUsd(u64::try_from(cost / 1_000).unwrap_or(u64::MAX))),
            off_goal: card.is_off_goal,
            last_action: match &card.last_action {
                Some(step) => one_line(&format!("{} {}", step.tool, step.subject())),
                None => String::new(),
            },
            last_update: session.last_update,
        }
    }

    fn contains(&self, text: &str) -> bool {
        let fields = [&self.id, &self.goal, &self.project_path, &self.last_action];
        let state = self.state.as_str().contains(text);
        state || fields.iter().any(|field| field.to_lowercase().contains(text))
    }
}

/// What is shown.
#[derive(Debug)]
pub(super) struct Model {
    rows: Vec<Row>,
    changes: VecDeque<ChangeView>,
    /// The chosen session, which stays chosen when the order changes.
    chosen: Option<String>,
    pub(super) filter: String,
    pub(super) is_typing: bool,
    pub(super) is_paused: bool,
    pub(super) shows_one: bool,
    pub(super) color: bool,
}

impl Model {
    pub(super) fn new(filter: String) -> Self {
        Self {
            rows: Vec::new(),
            changes: VecDeque::new(),
            chosen: None,
            filter,
            is_typing: false,
            is_paused: false,
            shows_one: false,
            color: true,
        }
    }

    /// Replaces the list. Sessions at work come first, then those that wait.
    pub(super) fn set_rows(&mut self, mut rows: Vec<Row>) {
        rows.sort_by_key(|row| std::cmp::Reverse((row.state, row.last_update)));
        self.rows = rows;
    }

    pub(super) fn into_rows(self) -> Vec<Row> {
        self.rows
    }

    /// Adds a change at the end.
    pub(super) fn add(&mut self, change: ChangeView) {
        if self.changes.len() == MAX_CHANGES {
            self.changes.pop_front();
        }
        self.changes.push_back(change);
    }

    /// The sessions that fit the filter.
    pub(super) fn rows(&self) -> Vec<&Row> {
        let filter = self.filter.to_lowercase();
        self.rows.iter().filter(|row| row.contains(&filter)).collect()
    }

    /// The place of the chosen session in the list; the first one's if none is chosen.
    pub(super) fn place(&self) -> usize {
        let rows = self.rows();
        let chosen = self.chosen.as_ref();
        let place = rows.iter().position(|row| Some(&row.id) == chosen);
        place.unwrap_or_default()
    }

    /// The chosen session.
    pub(super) fn chosen(&self) -> Option<&Row> {
        self.rows().get(self.place()).copied()
    }

    /// The newest changes, oldest first, at most `most`: of the session that is shown, or of all in the list.
    pub(super) fn changes(&self, most: usize) -> Vec<&ChangeView> {
        let one = self
            .chosen()
            .filter(|_| self.shows_one)
            .map(|row| row.id.as_str());
        let listed = self.rows();
        let fits = |change: &&ChangeView| match one {
            Some(one) => change.session() == one,
            None => self.filter.is_empty() || listed.iter().any(|row| row.id == change.session()),
        };
        let mut newest: Vec<&ChangeView> = self.changes.iter().rev().filter(fits).take(most).collect();
        newest.reverse();
        newest
    }

    /// Actions a minute of all sessions.
    pub(super) fn actions_per_minute(&self, now: OffsetDateTime) -> f64 {
        self.rate(now, |_| true)
    }

    /// Actions a minute of one session.
    pub(super) fn actions_per_minute_of(&self, session: &str, now: OffsetDateTime) -> f64 {
        self.rate(now, |change| change.session() == session)
    }

    fn rate(&self, now: OffsetDateTime, counts: impl Fn(&ChangeView) -> bool) -> f64 {
        let recent = self.changes.iter().rev();
        let recent = recent.take_while(|change| now - change.at() < RATE_OVER);
        let actions = recent
            .filter(|change| change.is_action() && counts(change))
            .count();
        (actions as f64 / RATE_OVER.as_seconds_f64() * 600.0).round() / 10.0
    }

    /// Changes what a key asks for.
    pub(super) fn press(&mut self, key: Key) -> Then {
        if key == Key::Interrupt {
            return Then::Quit;
        }
        if self.is_typing {
            match key {
                Key::Enter => self.is_typing = false,
                Key::Escape => {
                    self.is_typing = false;
                    self.filter.clear();
                }
                Key::Backspace => {
                    self.filter.pop();
                }
                Key::Char(character) => self.filter.push(character),
                Key::Up | Key::Down | Key::Interrupt => {}
            }
            return Then::Stay;
        }
        match key {
            Key::Char('q') => return Then::Quit,
            Key::Escape if self.shows_one => self.shows_one = false,
            Key::Escape if !self.filter.is_empty() => self.filter.clear(),
            Key::Escape => return Then::Quit,
            Key::Up | Key::Char('k') => self.move_by(-1),
            Key::Down | Key::Char('j') => self.move_by(1),
            Key::Enter => self.shows_one = !self.shows_one,
            Key::Char('/') => self.is_typing = true,
            Key::Char('p' | ' ') => self.is_paused = !self.is_paused,
            Key::Backspace | Key::Char(_) | Key::Interrupt => {}
        }
        Then::Stay
    }

    fn move_by(&mut self, step: isize) {
        let rows = self.rows();
        let last = rows.len().saturating_sub(1);
        let place = self.place().saturating_add_signed(step).min(last);
        self.chosen = rows.get(place).map(|row| row.id.clone());
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    pub(crate) fn row(id: &str, state: LiveState, goal: &str) -> Row {
        Row {
            id: id.to_owned(),
            short_id: id.to_owned(),
            state,
            path: "proxy",
            goal: goal.to_owned(),
            project_path: "/p".to_owned(),
            prompts: 1,
            actions: 12,
            tokens: TokenUsage::default(),
            context_percent: Some(42),
            cost_usd: Some(MicroUsd(1_230_000)),
            off_goal: false,
            last_action: "Bash cargo test".to_owned(),
            last_update: OffsetDateTime::UNIX_EPOCH,
        }
    }

    pub(crate) fn model() -> Model {
        let mut model = Model::new(String::new());
        model.set_rows(vec![
            row("a", LiveState::Ended, "Old work"),
            row("b", LiveState::Working, "Fix the login"),
            row("c", LiveState::Waiting, "Cart total"),
        ]);
        model
    }

    #[test]
    fn sessions_at_work_come_first_and_the_choice_follows_its_session() {
        let mut model = model();
        let ids: Vec<&str> = model.rows().iter().map(|row| row.id.as_str()).collect();
        assert_eq!(ids, ["b", "c", "a"]);
        model.press(Key::Down);
        assert_eq!(model.chosen().unwrap().id, "c");
        model.set_rows(vec![
            row("c", LiveState::Working, "Cart total"),
            row("b", LiveState::Ended, "x"),
        ]);
        assert_eq!((model.chosen().unwrap().id.as_str(), model.place()), ("c", 0));
        for _ in 0..9 {
            model.press(Key::Char('j'));
        }
        assert_eq!(model.chosen().unwrap().id, "b");
    }

    #[test]
    fn a_filter_is_typed_and_taken_back() {
        let mut model = model();
        assert_eq!(model.press(Key::Char('/')), Then::Stay);
        for character in "Cartq".chars() {
            assert_eq!(model.press(Key::Char(character)), Then::Stay, "{character}");
        }
        model.press(Key::Backspace);
        assert_eq!((model.filter.as_str(), model.rows().len()), ("Cart", 1));
        model.press(Key::Enter);
        assert_eq!(model.press(Key::Escape), Then::Stay);
        assert_eq!((model.filter.as_str(), model.rows().len()), ("", 3));
        assert_eq!(model.press(Key::Escape), Then::Quit);
        assert_eq!(model.press(Key::Interrupt), Then::Quit);
    }

    #[test]
    fn pause_and_detail_are_switches() {
        let mut model = model();
        model.press(Key::Char(' '));
        model.press(Key::Enter);
        assert!(model.is_paused && model.shows_one);
        model.press(Key::Char('p'));
        model.press(Key::Escape);
        assert!(!model.is_paused && !model.shows_one);
    }
}
