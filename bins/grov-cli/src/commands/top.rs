//! `grov top`: the sessions and what they do, in the terminal, as it happens.

mod model;
mod screen;

use crate::arguments::TopArguments;
use crate::assembly;
use crate::client_spending::prices;
use crate::commands::watch::{ChangeView, Seen};
use crate::context::{Context, block_on};
use crate::failure::Failure;
use crate::output::{ExitStatus, Outcome};
use grov_cost::PriceBook;
use grov_domain::{ChangeCursor, Clock, StoreConnection, SystemClock};
use grov_query::session_cards;
use model::{Key, Model, Row, Then};
use ratatui::DefaultTerminal;
use ratatui::crossterm::event::{self, Event, KeyCode, KeyEventKind, KeyModifiers};
use serde::Serialize;
use std::io::IsTerminal;
use std::time::{Duration, Instant};
use time::OffsetDateTime;

/// Time between two looks into the store.
const INTERVAL: Duration = Duration::from_millis(250);
/// Time between two reads of the list without a change: ages grow, and sessions end by silence.
const REFRESH: Duration = Duration::from_secs(5);
/// Time between two reads of the list while much changes.
const PAUSE: Duration = Duration::from_millis(900);
/// Time before the start whose actions are shown, and counted for rates.
const BEFORE: time::Duration = time::Duration::minutes(5);

#[derive(Serialize)]
struct Snapshot {
    sessions: Vec<Row>,
    actions_per_minute: f64,
}

pub(crate) fn run(context: &Context, arguments: &TopArguments) -> Outcome {
    let prices = prices(context)?;
    let mut model = Model::new(arguments.filter.clone().unwrap_or_default());
    if context.terminal.wants_json() {
        block_on(async {
            match Feed::open(context, prices).await? {
                Some(mut feed) => feed.look(&mut model, true).await.map(drop),
                None => Ok(()),
            }
        })?;
        let snapshot = Snapshot {
            actions_per_minute: model.actions_per_minute(SystemClock.now()),
            sessions: model.into_rows(),
        };
        return context.answer(snapshot, |_, _| String::new());
    }
    if !std::io::stdout().is_terminal() || !std::io::stdin().is_terminal() {
        let failure = Failure::usage("grov top draws on a terminal, and this is none");
        return Err(failure.hint("`grov watch` prints what happens as lines, `grov top --json` one snapshot"));
    }
    model.color = context.terminal.style().is_colored();
    block_on(async {
        let mut feed = Feed::open(context, prices.clone()).await?;
        // Also restores the terminal if this program panics.
        let mut terminal = ratatui::try_init()
            .map_err(|error| Failure::error("terminal", format!("cannot use the terminal: {error}")))?;
        let ended = show(context, &prices, &mut terminal, &mut feed, &mut model).await;
        ratatui::restore();
        ended
    })?;
    Ok(ExitStatus::Success)
}

/// Draws until a key ends it.
async fn show(
    context: &Context,
    prices: &PriceBook,
    terminal: &mut DefaultTerminal,
    feed: &mut Option<Feed>,
    model: &mut Model,
) -> Result<(), Failure> {
    let failed = |error: std::io::Error| Failure::error("terminal", format!("cannot draw: {error}"));
    let mut is_stale = true;
    loop {
        match feed {
            Some(feed) if !model.is_paused => is_stale |= feed.look(model, false).await?,
            Some(_) => {}
            // The first session creates the database.
            None => *feed = Feed::open(context, prices.clone()).await?,
        }
        if is_stale {
            let now = SystemClock.now();
            terminal
                .draw(|frame| screen::draw(frame, model, now))
                .map_err(failed)?;
        }
        is_stale = event::poll(INTERVAL).map_err(failed)?;
        // All keys that were typed, before drawing again.
        while event::poll(Duration::ZERO).map_err(failed)? {
            is_stale = true;
            if let Some(key) = key(&event::read().map_err(failed)?)
                && model.press(key) == Then::Quit
            {
                return Ok(());
            }
        }
    }
}

/// Returns the key of an event.
fn key(event: &Event) -> Option<Key> {
    let Event::Key(pressed) = event else { return None };
    if pressed.kind == KeyEventKind::Release {
        return None;
    }
    if pressed.modifiers.contains(KeyModifiers::CONTROL) {
        return matches!(pressed.code, KeyCode::Char('c' | 'd')).then_some(Key::Interrupt);
    }
    Some(match pressed.code {
        KeyCode::Up => Key::Up,
        KeyCode::Down => Key::Down,
        KeyCode::Enter => Key::Enter,
        KeyCode::Esc => Key::Escape,
        KeyCode::Backspace => Key::Backspace,
        KeyCode::Char(character) => Key::Char(character),
        _ => return None,
    })
}

/// Reads sessions and changes.
struct Feed {
    store: Box<dyn StoreConnection>,
    prices: PriceBook,
    seen: Seen,
    cursor: Option<ChangeCursor>,
    listed: Option<Instant>,
    /// Whether something changed since the list was read.
    is_changed: bool,
}

impl Feed {
    /// Opens the store; `None` if there is none yet.
    async fn open(context: &Context, prices: PriceBook) -> Result<Option<Self>, Failure> {
        let store = assembly::open_to_follow(&context.database()).await?;
        Ok(store.map(|store| Self {
            store,
            prices,
            seen: Seen::default(),
            cursor: None,
            listed: None,
            is_changed: true,
        }))
    }

    /// Reads what is new, and returns whether there was something. A busy store is read again later.
    async fn look(&mut self, model: &mut Model, at_once: bool) -> Result<bool, Failure> {
        match self.read(model, at_once).await {
            Ok(is_new) => Ok(is_new),
            Err(error) if error.is_transient() => Ok(false),
            Err(error) => Err(error.into()),
        }
    }

    async fn read(&mut self, model: &mut Model, at_once: bool) -> Result<bool, grov_domain::StoreError> {
        let now = SystemClock.now();
        let cursor = match self.cursor {
            Some(cursor) => cursor,
            None => self.store.change_cursor(now - BEFORE).await?,
        };
        let (changes, next) = self.store.changes(&cursor).await?;
        self.cursor = Some(next);
        let mut is_new = false;
        for change in changes {
            let is_old = change.at < now - BEFORE;
            if self.seen.is_new(change.key.clone(), change.at) && !is_old {
                is_new = true;
                model.add(ChangeView::of(change));
            }
        }
        self.seen.forget(now);
        self.is_changed |= is_new;
        let age = self.listed.map_or(Duration::MAX, |listed| listed.elapsed());
        let is_due = age >= REFRESH || self.is_changed && age >= PAUSE;
        if at_once || is_due {
            self.list(model, now).await?;
            is_new = true;
        }
        Ok(is_new)
    }

    async fn list(&mut self, model: &mut Model, now: OffsetDateTime) -> Result<(), grov_domain::StoreError> {
        let cards = session_cards(&*self.store, model::MAX_ROWS, now).await?;
        model.set_rows(cards.iter().map(|card| Row::of(card, &self.prices)).collect());
        self.listed = Some(Instant::now());
        self.is_changed = false;
        Ok(())
    }
}
