//! Aligned columns, and text made safe to print on one line.

use crate::output::Style;
use grov_runtime::printable;

/// Longer cells are truncated.
const MAX_CELL_WIDTH: usize = 72;

/// Rows below a header. Cells are made safe for a terminal when a row is added.
#[derive(Debug)]
pub(crate) struct Table {
    header: Vec<String>,
    numeric: Vec<bool>,
    rows: Vec<Vec<String>>,
}

impl Table {
    /// A table with these columns, separated by ", ". A name that ends in `#` is a column of numbers, aligned to the right.
    pub(crate) fn new(columns: &str) -> Self {
        let columns = columns.split(", ");
        Self {
            numeric: columns.clone().map(|name| name.ends_with('#')).collect(),
            header: columns
                .map(|name| name.trim_end_matches('#').to_owned())
                .collect(),
            rows: Vec::new(),
        }
    }

    /// Adds a row with one cell for each column.
    pub(crate) fn row(&mut self, cells: impl IntoIterator<Item = String>) {
        let cells = cells
            .into_iter()
            .map(|cell| truncated(&one_line(&cell), MAX_CELL_WIDTH));
        self.rows.push(cells.collect());
    }

    /// The lines, each with its newline; empty if there are no rows.
    pub(crate) fn render(&self, style: Style) -> String {
        if self.rows.is_empty() {
            return String::new();
        }
        let width = |text: &String| text.chars().count();
        let mut widths: Vec<usize> = self.header.iter().map(width).collect();
        for row in &self.rows {
            for (column, cell) in widths.iter_mut().zip(row) {
                *column = width(cell).max(*column);
            }
        }
        let line = |cells: &[String]| {
            let columns = cells.iter().zip(&widths).zip(&self.numeric);
            let padded = columns.map(|((cell, &width), is_numeric)| match is_numeric {
                true => format!("{cell:>width$}"),
                false => format!("{cell:<width$}"),
            });
            padded.collect::<Vec<_>>().join("  ").trim_end().to_owned()
        };
        let mut text = style.bold(&line(&self.header)) + "\n";
        for row in &self.rows {
            text.push_str(&line(row));
            text.push('\n');
        }
        text
    }
}

/// Lines of a name and a value, with the names padded to one width. Values are made safe for a terminal.
pub(crate) struct Fields {
    name_width: usize,
    max_value: usize,
    text: String,
}

impl Fields {
    /// Names padded to `name_width`, values truncated to `max_value` characters.
    pub(crate) fn new(name_width: usize, max_value: usize) -> Self {
        Self {
            name_width,
            max_value,
            text: String::new(),
        }
    }

    pub(crate) fn add(&mut self, name: &str, value: &str) {
        self.add_styled(name, &truncated(&one_line(value), self.max_value));
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

/// The text on one line, with the characters escaped that a terminal would interpret. For text that an agent or a user wrote.
pub(crate) fn one_line(text: &str) -> String {
    printable(&text.replace(['\n', '\r', '\t'], " ")).into_owned()
}

/// The text of a cell that may be empty.
pub(crate) fn cell(value: Option<impl ToString>) -> String {
    value.map(|value| value.to_string()).unwrap_or_default()
}

/// The text, cut to `max` characters.
pub(crate) fn truncated(text: &str, max: usize) -> String {
    match text.char_indices().nth(max) {
        None => text.to_owned(),
        Some(_) => text.chars().take(max.saturating_sub(1)).chain(['…']).collect(),
    }
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
