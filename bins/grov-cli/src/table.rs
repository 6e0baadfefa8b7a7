//! Aligned columns, and text made safe to print on one line.

use crate::output::Style;
use comfy_table::presets::NOTHING;
use comfy_table::{CellAlignment, ColumnConstraint, ContentArrangement};
use grov_runtime::printable;
use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

/// Longer cells are cut where the width of the terminal is not known, unless `--wide`.
const MAX_CELL_WIDTH: usize = 72;
/// The narrowest that a column of texts becomes before others are left out.
const MIN_TEXT_WIDTH: usize = 16;
/// Spaces between columns.
const GAP: u16 = 2;
/// The narrowest that values of [`Fields`] are wrapped to.
const MIN_VALUE_WIDTH: usize = 24;

/// Rows below a header, fitted to the terminal. Cells are made safe for a terminal when a row is added.
#[derive(Debug)]
pub(crate) struct Table {
    columns: Vec<Column>,
    rows: Vec<Row>,
}

#[derive(Debug)]
struct Column {
    name: String,
    /// Aligned to the right.
    is_number: bool,
    /// May be cut to fit.
    is_text: bool,
    /// May be left out to fit.
    is_optional: bool,
}

#[derive(Debug)]
struct Row {
    cells: Vec<String>,
    emphasis: Emphasis,
}

/// How a row stands out.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Emphasis {
    #[default]
    None,
    /// Something went wrong.
    Bad,
    /// Something is over.
    Faint,
}

impl Table {
    /// A table with these columns, separated by ", ". What follows a name says what kind of column it is: `#` numbers, aligned to
    /// the right; `~` texts, which are cut with … if they do not fit; `?` less important ones, left out if nothing else helps,
    /// the last one first.
    pub(crate) fn new(columns: &str) -> Self {
        let column = |column: &str| Column {
            name: column.trim_end_matches(['#', '~', '?']).to_owned(),
            is_number: column.contains('#'),
            is_text: column.contains('~'),
            is_optional: column.contains('?'),
        };
        Self {
            columns: columns.split(", ").map(column).collect(),
            rows: Vec::new(),
        }
    }

    /// Adds a row with one cell for each column.
    pub(crate) fn row(&mut self, cells: impl IntoIterator<Item = String>) {
        self.emphasized(Emphasis::None, cells);
    }

    /// Adds a row that stands out.
    pub(crate) fn emphasized(&mut self, emphasis: Emphasis, cells: impl IntoIterator<Item = String>) {
        let cells = cells.into_iter().map(|cell| one_line(&cell)).collect();
        self.rows.push(Row { cells, emphasis });
    }

    /// The lines, each with its newline; empty if there are no rows.
    pub(crate) fn render(&self, style: Style) -> String {
        if self.rows.is_empty() {
            return String::new();
        }
        let shown = self.shown(style.width());
        let mut table = comfy_table::Table::new();
        table
            .load_preset(NOTHING)
            .set_truncation_indicator("…")
            .set_content_arrangement(match style.width() {
                Some(_) => ContentArrangement::Dynamic,
                None => ContentArrangement::Disabled,
            });
        if let Some(width) = style.width() {
            table.set_width(u16::try_from(width).unwrap_or(u16::MAX));
        }
        let cells = |cells: Vec<&str>| {
            let mut row = comfy_table::Row::from(cells);
            row.max_height(1);
            row
        };
        table.set_header(cells(
            shown.iter().map(|&at| self.columns[at].name.as_str()).collect(),
        ));
        let cut: Vec<Vec<String>> = self.rows.iter().map(|row| self.cells_of(row, style)).collect();
        for row in &cut {
            table.add_row(cells(
                shown
                    .iter()
                    .map(|&at| row.get(at).map_or("", String::as_str))
                    .collect(),
            ));
        }
        self.arrange(&mut table, &shown);
        let text = table.trim_fmt();
        let mut lines = text.lines();
        let mut rendered = style.bold(lines.next().unwrap_or_default()) + "\n";
        for (line, row) in lines.zip(&self.rows) {
            rendered.push_str(&match row.emphasis {
                Emphasis::None => line.to_owned(),
                Emphasis::Bad => style.red(line),
                Emphasis::Faint => style.faint(line),
            });
            rendered.push('\n');
        }
        rendered
    }

    fn arrange(&self, table: &mut comfy_table::Table, shown: &[usize]) {
        for (place, &at) in shown.iter().enumerate() {
            let (Some(column), Some(kind)) = (table.column_mut(place), self.columns.get(at)) else {
                continue;
            };
            column.set_padding((0, if place + 1 < shown.len() { GAP } else { 0 }));
            if kind.is_number {
                column.set_cell_alignment(CellAlignment::Right);
            }
            if !kind.is_text {
                column.set_constraint(ColumnConstraint::ContentWidth);
            }
        }
    }

    /// The cells of a row; long ones are cut if the terminal's width does not do that.
    fn cells_of(&self, row: &Row, style: Style) -> Vec<String> {
        let cut = |cell: &String| match style.width() {
            None if !style.is_wide() => truncated(cell, MAX_CELL_WIDTH),
            _ => cell.clone(),
        };
        row.cells.iter().map(cut).collect()
    }

    /// The columns that fit into a width.
    fn shown(&self, width: Option<usize>) -> Vec<usize> {
        let mut shown: Vec<usize> = (0..self.columns.len()).collect();
        let Some(width) = width else { return shown };
        let least = |&at: &usize| {
            let column = &self.columns[at];
            let cells = self.rows.iter().filter_map(|row| row.cells.get(at));
            let widest = cells.map(|cell| cell.width()).chain([column.name.width()]).max();
            let widest = widest.unwrap_or_default();
            if column.is_text {
                widest.min(MIN_TEXT_WIDTH)
            } else {
                widest
            }
        };
        while shown.iter().map(least).sum::<usize>() + usize::from(GAP) * (shown.len() - 1) > width {
            let Some(last) = shown.iter().rposition(|&at| self.columns[at].is_optional) else {
                break;
            };
            shown.remove(last);
        }
        shown
    }
}

/// Lines of a name and a value, with the names padded to one width. Values are made safe for a terminal, and wrapped at its width.
pub(crate) struct Fields {
    name_width: usize,
    max_value: usize,
    width: Option<usize>,
    text: String,
}

impl Fields {
    /// Names padded to `name_width`, values truncated to `max_value` columns.
    pub(crate) fn new(name_width: usize, max_value: usize, style: Style) -> Self {
        Self {
            name_width,
            max_value: if style.is_wide() { usize::MAX } else { max_value },
            width: style.width(),
            text: String::new(),
        }
    }

    pub(crate) fn add(&mut self, name: &str, value: &str) {
        let value = truncated(&one_line(value), self.max_value);
        let indentation = self.name_width.max(name.width()) + 1;
        match self.width {
            Some(width) if indentation + value.width() > width => {
                let lines = wrapped(&value, width.saturating_sub(indentation).max(MIN_VALUE_WIDTH));
                self.add_styled(name, &lines.join(&format!("\n{:indentation$}", "")));
            }
            _ => self.add_styled(name, &value),
        }
    }

    /// Adds a value, and behind it a note that stands back.
    pub(crate) fn add_noted(&mut self, name: &str, value: &str, note: &str, style: Style) {
        let value = one_line(value);
        let columns = self.name_width.max(name.width()) + 3 + value.width() + note.width();
        match self.width {
            Some(width) if columns > width => self.add(name, format!("{value}  {note}").trim_end()),
            _ => self.add_styled(name, &format!("{value}  {}", style.faint(note))),
        }
    }

    /// Adds a line for each value.
    pub(crate) fn add_all<T: AsRef<str>>(&mut self, name: &str, values: impl IntoIterator<Item = T>) {
        for value in values {
            self.add(name, value.as_ref());
        }
    }

    /// Adds a value that is safe already and may be styled.
    pub(crate) fn add_styled(&mut self, name: &str, value: &str) {
        let line = format!("{name:<width$} {value}", width = self.name_width);
        self.text.push_str(line.trim_end());
        self.text.push('\n');
    }

    pub(crate) fn into_text(self) -> String {
        self.text
    }
}

/// The lines of a text, broken at spaces. A word that is longer than a line, such as a path, stays whole.
pub(crate) fn wrapped(text: &str, width: usize) -> Vec<String> {
    let mut lines = vec![String::new()];
    let mut used = 0;
    for word in text.split(' ') {
        let length = word.width();
        match lines.last_mut() {
            Some(line) if used == 0 || used + 1 + length <= width => {
                if used > 0 {
                    line.push(' ');
                    used += 1;
                }
                line.push_str(word);
                used += length;
            }
            _ => {
                lines.push(word.to_owned());
                used = length;
            }
        }
    }
    lines
}

/// The text on one line, with the characters escaped that a terminal would interpret. For text that an agent or a user wrote.
pub(crate) fn one_line(text: &str) -> String {
    printable(&text.replace(['\n', '\r', '\t'], " ")).into_owned()
}

/// The text of a cell that may be empty.
pub(crate) fn cell(value: Option<impl ToString>) -> String {
    value.map(|value| value.to_string()).unwrap_or_default()
}

/// The text, cut to `max` columns of a terminal.
pub(crate) fn truncated(text: &str, max: usize) -> String {
    if text.width() <= max {
        return text.to_owned();
    }
    let mut cut = String::new();
    let mut used = 1;
    for character in text.chars() {
        used += character.width().unwrap_or_default();
        if used > max {
            break;
        }
        cut.push(character);
    }
    cut.push('…');
    cut
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_aligned_and_numbers_to_the_right() {
        let mut table = Table::new("NAME, COUNT#, NOTE");
        table.row(["a".to_owned(), "5".to_owned(), "é".to_owned()]);
        table.row(["longer".to_owned(), "1234567".to_owned(), String::new()]);
        assert_eq!(
            table.render(Style::plain()),
            "NAME      COUNT  NOTE\na             5  é\nlonger  1234567\n"
        );
    }

    #[test]
    fn a_table_fits_its_width() {
        let mut table = Table::new("SESSION, COST#, AGENT?, GOAL~");
        let goal = "Fix the login, and explain to me why the session was lost";
        table.row(["3f2a91c0", "$1.20", "a8b4a2e7beda78101", goal].map(str::to_owned));
        table.row(
            [
                "4f2a91c0",
                "$0.001",
                "",
                "修正登录并解释为什么会话丢失了以及如何避免",
            ]
            .map(str::to_owned),
        );
        for width in [40, 60, 80, 120] {
            let text = table.render(Style::plain().fitted(width));
            assert!(text.lines().all(|line| line.width() <= width), "{width}\n{text}");
            assert_eq!(text.lines().count(), 3, "{text}");
            assert!(text.contains("3f2a91c0") && text.contains("$0.001"), "{text}");
            assert_eq!(text.contains("AGENT"), width >= 60, "{text}");
        }
        let narrow = table.render(Style::plain().fitted(40));
        assert!(narrow.contains('…'), "{narrow}");
        assert!(table.render(Style::plain().fitted(200)).contains(goal));
    }

    #[test]
    fn values_are_wrapped() {
        let mut fields = Fields::new(5, usize::MAX, Style::plain().fitted(40));
        fields.add(
            "goal",
            "Fix the login, and explain to me why the session was lost",
        );
        assert_eq!(
            fields.into_text(),
            "goal  Fix the login, and explain to me\n      why the session was lost\n"
        );
    }

    #[test]
    fn texts_are_cut_by_columns() {
        assert_eq!(truncated("abcdef", 6), "abcdef");
        assert_eq!(truncated("abcdefg", 6), "abcde…");
        assert_eq!(truncated("修正登录", 5), "修正…");
    }

    #[test]
    fn cells_cannot_control_the_terminal() {
        let mut table = Table::new("COMMAND");
        table.row(["echo \u{1b}]0;title\u{7}\nrm \u{202e}x".to_owned()]);
        let text = table.render(Style::plain());
        assert_eq!(text.lines().count(), 2);
        assert!(!text.contains(['\u{1b}', '\u{7}', '\u{202e}']), "{text:?}");
        table.row(["x".repeat(500)]);
        assert!(
            table
                .render(Style::plain())
                .lines()
                .all(|line| line.chars().count() <= MAX_CELL_WIDTH)
        );
    }
}
