//! Draws `grov top`.

use super::model::{Model, Row as Session};
use crate::format::{ago, count, dollars};
use crate::output::Style as Plain;
use grov_domain::MicroUsd;
use grov_query::LiveState;
use ratatui::Frame;
use ratatui::layout::{Constraint, Layout, Rect};
use ratatui::style::{Color, Modifier, Style};
use ratatui::text::{Line, Span};
use ratatui::widgets::{Block, Borders, Cell, Paragraph, Row, Table, TableState};
use time::OffsetDateTime;

/// The narrowest terminal in which all columns are shown.
const WIDE: u16 = 100;
/// Columns of a short id: one of a session without a name has twice as many characters.
const MAX_ID: u16 = 17;

/// Draws everything.
pub(super) fn draw(frame: &mut Frame<'_>, model: &Model, now: OffsetDateTime) {
    let rows = model.rows();
    let listed = u16::try_from(rows.len()).unwrap_or(u16::MAX).saturating_add(2);
    let half = (frame.area().height / 2).max(4);
    let [head, list, rest, keys] = Layout::vertical([
        Constraint::Length(1),
        Constraint::Length(listed.min(half)),
        Constraint::Min(1),
        Constraint::Length(1),
    ])
    .areas(frame.area());
    frame.render_widget(header(model, &rows, now), head);
    draw_list(frame, model, &rows, now, list);
    match model.chosen().filter(|_| model.shows_one) {
        Some(session) => draw_one(frame, model, session, now, rest),
        None => draw_changes(frame, model, "what happens", rest),
    }
    frame.render_widget(footer(model), keys);
}

fn bold() -> Style {
    Style::new().add_modifier(Modifier::BOLD)
}

fn faint() -> Style {
    Style::new().add_modifier(Modifier::DIM)
}

/// A colour, unless colours are off. Then what it says is said by words alone.
fn colored(model: &Model, color: Color) -> Style {
    match model.color {
        true => Style::new().fg(color),
        false => Style::new(),
    }
}

fn header<'m>(model: &Model, rows: &[&Session], now: OffsetDateTime) -> Line<'m> {
    let number = |state| rows.iter().filter(|row| row.state == state).count();
    let cost = rows.iter().filter_map(|row| row.cost_usd);
    let cost = cost.fold(MicroUsd::default(), MicroUsd::plus);
    let off = rows
        .iter()
        .filter(|row| row.off_goal && row.state != LiveState::Ended);
    let mut spans = vec![
        Span::styled("grov top  ", bold()),
        Span::raw(format!(
            "{} working, {} waiting, {} off the goal   {:.1} actions/min   {}",
            number(LiveState::Working),
            number(LiveState::Waiting),
            off.count(),
            model.actions_per_minute(now),
            dollars(cost)
        )),
    ];
    if model.is_paused {
        spans.push(Span::styled("   PAUSED", bold()));
    }
    if model.is_typing || !model.filter.is_empty() {
        let cursor = if model.is_typing { "_" } else { "" };
        spans.push(Span::styled(
            format!("   filter: {}{cursor}", model.filter),
            bold(),
        ));
    }
    Line::from(spans)
}

fn footer<'m>(model: &Model) -> Line<'m> {
    let keys = match (model.is_typing, model.shows_one) {
        (true, _) => "Enter keep the filter   Esc drop it",
        (false, true) => "Esc all sessions   j k next, previous   p pause   q quit",
        (false, false) => "Enter one session   j k next, previous   / filter   p pause   q quit",
    };
    Line::styled(keys, faint())
}

fn draw_list(frame: &mut Frame<'_>, model: &Model, rows: &[&Session], now: OffsetDateTime, area: Rect) {
    if rows.is_empty() {
        let text = match model.filter.is_empty() {
            true => "nothing is recorded yet; start your agent",
            false => "no session fits the filter",
        };
        frame.render_widget(Paragraph::new(text), area);
        return;
    }
    let is_wide = area.width >= WIDE;
    let ids = rows.iter().map(|row| row.short_id.chars().count()).max();
    let ids = u16::try_from(ids.unwrap_or_default()).unwrap_or_default();
    let mut names = vec![
        "STATE", "SESSION", "ACTIONS", "/MIN", "CONTEXT", "COST", "UPDATED",
    ];
    let mut widths = vec![
        Constraint::Length(8),
        Constraint::Length(ids.clamp(9, MAX_ID)),
        Constraint::Length(7),
        Constraint::Length(5),
        Constraint::Length(7),
        Constraint::Length(9),
        Constraint::Length(8),
    ];
    names.push("GOAL");
    widths.push(Constraint::Fill(3));
    if is_wide {
        names.push("LAST ACTION");
        widths.push(Constraint::Fill(3));
    }
    let lines = rows.iter().map(|row| line(model, row, now, is_wide));
    let table = Table::new(lines, widths)
        .header(Row::new(names).style(faint()))
        .row_highlight_style(Style::new().add_modifier(Modifier::REVERSED));
    let mut state = TableState::default().with_selected(Some(model.place()));
    frame.render_stateful_widget(table, area, &mut state);
}

fn line<'m>(model: &Model, row: &'m Session, now: OffsetDateTime, is_wide: bool) -> Row<'m> {
    let state = match row.state {
        LiveState::Working => colored(model, Color::Green),
        LiveState::Waiting => colored(model, Color::Yellow),
        LiveState::Ended => faint(),
    };
    let goal = match row.off_goal {
        true => Cell::from(format!("OFF GOAL {}", row.goal)).style(colored(model, Color::Red)),
        false => Cell::from(row.goal.as_str()),
    };
    let rate = model.actions_per_minute_of(&row.id, now);
    let mut cells = vec![
        Cell::from(row.state.as_str()).style(state),
        Cell::from(row.short_id.as_str()),
        Cell::from(format!("{:>7}", count(row.actions))),
        Cell::from(format!("{rate:>5.1}")),
        Cell::from(match row.context_percent {
            Some(percent) => format!("{percent:>5} %"),
            None => format!("{:>7}", "-"),
        }),
        Cell::from(format!(
            "{:>9}",
            row.cost_usd.map_or_else(|| "-".to_owned(), dollars)
        )),
        Cell::from(ago(row.last_update, now)),
        goal,
    ];
    if is_wide {
        cells.push(Cell::from(row.last_action.as_str()).style(faint()));
    }
    Row::new(cells)
}

fn draw_one(frame: &mut Frame<'_>, model: &Model, session: &Session, now: OffsetDateTime, area: Rect) {
    let [head, tail] = Layout::vertical([Constraint::Length(5), Constraint::Min(1)]).areas(area);
    let tokens = session.tokens;
    let lines = vec![
        Line::styled(session.goal.as_str(), bold()),
        Line::raw(format!(
            "{}   {}   {}",
            session.id, session.path, session.project_path
        )),
        Line::raw(format!(
            "{} prompts, {} actions, {:.1} actions/min",
            session.prompts,
            session.actions,
            model.actions_per_minute_of(&session.id, now)
        )),
        Line::raw(format!(
            "tokens: input {}, cache read {}, cache write {}, output {}",
            count(tokens.input),
            count(tokens.cache_read),
            count(tokens.cache_creation),
            count(tokens.output)
        )),
    ];
    let block = Block::new().borders(Borders::TOP).title(" session ");
    frame.render_widget(Paragraph::new(lines).block(block), head);
    draw_changes(frame, model, "its last five minutes", tail);
}

fn draw_changes(frame: &mut Frame<'_>, model: &Model, title: &str, area: Rect) {
    let room = usize::from(area.height.saturating_sub(1));
    let changes = model.changes(room);
    let lines = changes.into_iter().map(|change| {
        let style = match change.is_finding() {
            true => colored(model, Color::Red),
            false => Style::new(),
        };
        Line::styled(change.text(Plain::default()).trim_end().to_owned(), style)
    });
    let block = Block::new().borders(Borders::TOP).title(format!(" {title} "));
    frame.render_widget(Paragraph::new(lines.collect::<Vec<_>>()).block(block), area);
}

#[cfg(test)]
mod tests {
    use super::super::model::tests::{model, row};
    use super::*;
    use ratatui::Terminal;
    use ratatui::backend::TestBackend;

    fn drawn(model: &Model, width: u16, height: u16) -> String {
        let mut terminal = Terminal::new(TestBackend::new(width, height)).unwrap();
        let now = OffsetDateTime::UNIX_EPOCH + time::Duration::minutes(3);
        terminal.draw(|frame| draw(frame, model, now)).unwrap();
        terminal.backend().to_string()
    }

    #[test]
    fn sessions_are_listed_with_what_they_cost() {
        let text = drawn(&model(), 120, 20);
        for part in [
            "1 working, 1 waiting",
            "$3.69",
            "Fix the login",
            "42 %",
            "Bash cargo test",
            "3m ago",
        ] {
            assert!(text.contains(part), "{part}\n{text}");
        }
    }

    #[test]
    fn small_terminals_and_long_texts_do_no_harm() {
        let mut model = model();
        let long = "g".repeat(5_000);
        model.set_rows(vec![row("x", LiveState::Working, &long)]);
        for (width, height) in [(1, 1), (10, 3), (40, 5), (300, 60)] {
            model.shows_one = width % 2 == 0;
            drawn(&model, width, height);
        }
        assert!(drawn(&Model::new(String::new()), 80, 10).contains("nothing is recorded yet"));
    }

    #[test]
    fn without_colour_words_say_it() {
        let mut model = model();
        model.color = false;
        let mut off = row("d", LiveState::Working, "Cart");
        off.off_goal = true;
        model.set_rows(vec![off]);
        let mut terminal = Terminal::new(TestBackend::new(120, 10)).unwrap();
        let drawn = terminal
            .draw(|frame| draw(frame, &model, OffsetDateTime::UNIX_EPOCH))
            .unwrap();
        let cells = drawn.buffer.content.iter();
        assert!(
            cells
                .clone()
                .all(|cell| cell.fg == Color::Reset && cell.bg == Color::Reset)
        );
        assert!(terminal.backend().to_string().contains("OFF GOAL Cart"));
    }
}
