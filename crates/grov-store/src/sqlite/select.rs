//! Builds statements with optional conditions.

use super::columns::{ToColumn, Values};
use super::{SqliteStore, StoreError};
use sqlx::AssertSqlSafe;
use sqlx::sqlite::SqliteRow;

/// Replaces the names of `parts`, in braces, by their text, in the order of `parts`.
pub(super) fn expanded(statement: &str, parts: &[(&str, &str)]) -> AssertSqlSafe<String> {
    let replace = |sql: String, (name, part): &(&str, &str)| sql.replace(name, part);
    AssertSqlSafe(parts.iter().fold(statement.to_owned(), replace))
}

/// A statement that selects rows. Its text contains only constants.
pub(super) struct Select {
    text: String,
    values: Values,
}

impl Select {
    /// Starts with the text before `WHERE`.
    pub(super) fn new(from: &'static str) -> Self {
        Self {
            text: format!("{from} WHERE true"),
            values: Values::default(),
        }
    }

    /// Adds a condition such as `column =` if there is a value.
    pub(super) fn and<T: ToColumn>(&mut self, condition: &'static str, value: Option<T>) {
        if let Some(value) = value {
            self.and_raw(&[condition, " ?"]);
            self.values.add(&value);
        }
    }

    /// Adds a condition with its own placeholders.
    pub(super) fn and_all(&mut self, condition: &'static str, values: &[&dyn ToColumn]) {
        self.and_raw(&[condition]);
        for value in values {
            self.values.add(*value);
        }
    }

    fn and_raw(&mut self, condition: &[&'static str]) {
        self.text.push_str(" AND ");
        self.text.extend(condition.iter().copied());
    }

    /// Adds the text after the conditions, and a limit.
    pub(super) fn end(&mut self, rest: &'static str, limit: Option<u32>) {
        self.text.extend([" ", rest]);
        if let Some(limit) = limit {
            self.text.push_str(" LIMIT ?");
            self.values.add(&limit);
        }
    }

    /// Returns the text and the values.
    pub(super) fn into_parts(self) -> (AssertSqlSafe<String>, Values) {
        (AssertSqlSafe(self.text), self.values)
    }

    /// Runs the statement; each row is converted by `read`.
    pub(super) async fn read<T>(
        self,
        store: &SqliteStore,
        read: impl Fn(&SqliteRow) -> Result<T, StoreError>,
    ) -> Result<Vec<T>, StoreError> {
        let (text, values) = self.into_parts();
        store.read(text, values, read).await
    }
}
