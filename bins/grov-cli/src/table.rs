//! Aligned columns.

use crate::output::Style;

/// Longer cells are cut.
const WIDEST: usize = 72;

/// Rows under a head. Text is made harmless for a terminal on its way in.
#[derive(Debug)]
pub(crate) struct Table {
    head: Vec<&'static str>,
    numeric: Vec<bool>,
    rows: Vec<Vec<String>>,
}

impl Table {
    /// A table with these columns; a name that ends in `#` is a column of numbers, aligned to the right.
    pub(crate) fn new(columns: &[&'static str]) -> Self {
        Self {
            head: columns.iter().map(|name| name.trim_end_matches('#')).collect(),
            numeric: columns.iter().map(|name| name.ends_with('#')).collect(),
            rows: Vec::new(),
        }
    }

    /// Adds a row with one cell for each column.
    pub(crate) fn row(&mut self, cells: impl IntoIterator<Item = String>) {
        let cells = cells.into_iter();
        self.rows
            .push(cells.map(|cell| shortened(&harmless(&cell), WIDEST)).collect());
    }

    /// The lines, each with its newline.
    pub(crate) fn render(&self, style: Style) -> String {
        let width = |text: &str| text.chars().count();
        let widths: Vec<usize> = (0..self.head.len())
            .map(|column| {
                let cells = self
                    .rows
                    .iter()
                    .filter_map(|row| row.get(column))
                    .map(|cell| width(cell));
                cells.chain([width(self.head[column])]).max().unwrap_or(0)
            })
            .collect();
        let line = |cells: &[&str]| {
            let padded = cells.iter().enumerate().map(|(column, cell)| {
                let space = " ".repeat(widths.get(column).map_or(0, |all| all - width(cell)));
                if self.numeric.get(column) == Some(&true) {
                    space + cell
                } else {
                    format!("{cell}{space}")
                }
            });
            padded.collect::<Vec<_>>().join("  ").trim_end().to_owned()
        };
        let mut text = style.bold(&line(&self.head)) + "\n";
        for row in &self.rows {
            text.push_str(&line(&row.iter().map(String::as_str).collect::<Vec<_>>()));
            text.push('\n');
        }
        text
    }
}

/// The text on one line and without characters that a terminal would obey: what is shown was written by an agent.
pub(crate) fn harmless(text: &str) -> String {
    let is_hidden = |c: char| {
        // Marks that reorder or hide text.
        c.is_control()
            || matches!(c, '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{206f}')
    };
    let mut shown = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '\n' | '\r' | '\t' => shown.push(' '),
            other if is_hidden(other) => shown.push(char::REPLACEMENT_CHARACTER),
            other => shown.push(other),
        }
    }
    shown
}

/// The text, cut to `most` characters.
pub(crate) fn shortened(text: &str, most: usize) -> String {
    match text.char_indices().nth(most) {
        None => text.to_owned(),
        Some(_) => text.chars().take(most.saturating_sub(1)).chain(['…']).collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_aligned_and_numbers_stand_right() {
        let mut table = Table::new(&["NAME", "COUNT#", "NOTE"]);
        table.row(["a".to_owned(), "5".to_owned(), "é".to_owned()]);
        table.row(["longer".to_owned(), "1234567".to_owned(), String::new()]);
        assert_eq!(
            table.render(Style::plain()),
            "NAME      COUNT  NOTE\na             5  é\nlonger  1234567\n"
        );
    }

    #[test]
    fn cells_cannot_steer_the_terminal() {
        let mut table = Table::new(&["COMMAND"]);
        table.row(["echo \u{1b}]0;title\u{7}\nrm \u{202e}x".to_owned()]);
        let text = table.render(Style::plain());
        assert_eq!(text.lines().count(), 2);
        assert!(!text.contains(['\u{1b}', '\u{7}', '\u{202e}']), "{text:?}");
        table.row(["x".repeat(500)]);
        assert!(
            table
                .render(Style::plain())
                .lines()
                .all(|line| line.chars().count() <= WIDEST)
        );
    }
}
