//! Inserting many rows with few statements.

use super::columns::Values;
use sqlx::AssertSqlSafe;

/// Rows per statement. Powers of two only, so that a handful of prepared statements serves every batch.
const ROW_COUNTS: [usize; 8] = [128, 64, 32, 16, 8, 4, 2, 1];

/// The rows in portions for which there is a statement.
pub(super) fn portions<T>(mut rows: &[T]) -> impl Iterator<Item = &[T]> {
    let mut sizes = ROW_COUNTS.into_iter().peekable();
    std::iter::from_fn(move || {
        while sizes.peek().is_some_and(|size| *size > rows.len()) {
            sizes.next();
        }
        let (portion, rest) = rows.split_at(*sizes.peek()?);
        rows = rest;
        Some(portion)
    })
}

/// An insert of several rows: `head VALUES (?, …), (?, …) tail`.
pub(super) struct Insert {
    pub(super) head: &'static str,
    pub(super) columns: usize,
    pub(super) tail: &'static str,
}

impl Insert {
    /// The statement for these rows, and their values; `bind` adds one row's values in the order of the columns.
    pub(super) fn statement<T>(
        &self,
        rows: &[T],
        bind: &impl Fn(&mut Values, &T),
    ) -> (AssertSqlSafe<String>, Values) {
        let mut values = Values::with_capacity(rows.len() * self.columns);
        for row in rows {
            bind(&mut values, row);
        }
        // Only constants go into the text.
        (AssertSqlSafe(self.text(rows.len())), values)
    }

    fn text(&self, rows: usize) -> String {
        let mut row = String::with_capacity(2 * self.columns + 3);
        row.push('(');
        row.push_str(&"?,".repeat(self.columns));
        row.pop();
        row.push_str("),");
        let mut text = String::with_capacity(self.head.len() + rows * row.len() + self.tail.len() + 10);
        text.push_str(self.head);
        text.push_str(" VALUES ");
        for _ in 0..rows {
            text.push_str(&row);
        }
        text.pop();
        text.push(' ');
        text.push_str(self.tail);
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn portions_cover_all_rows_in_order() {
        let rows: Vec<usize> = (0..331).collect();
        let sizes: Vec<usize> = portions(&rows).map(<[usize]>::len).collect();
        assert_eq!(sizes, [128, 128, 64, 8, 2, 1]);
        assert_eq!(portions(&rows).flatten().copied().collect::<Vec<_>>(), rows);
        assert_eq!(portions(&rows[..0]).count(), 0);
    }

    #[test]
    fn statement_has_a_place_for_every_value() {
        let insert = Insert {
            head: "INSERT INTO t (a, b)",
            columns: 2,
            tail: "ON CONFLICT DO NOTHING",
        };
        assert_eq!(
            insert.text(3),
            "INSERT INTO t (a, b) VALUES (?,?),(?,?),(?,?) ON CONFLICT DO NOTHING"
        );
    }
}
