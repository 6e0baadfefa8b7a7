//! Pages of lists: each starts behind the key of the last entry of the page before, so that entries that are added or
//! deleted meanwhile neither repeat nor hide others.

use crate::column::Columns;
use crate::work::Arg;
use grov_agent::{AgentStoreError, Listed, Page};
use sqlx::any::AnyRow;
use std::str::FromStr;
use uuid::Uuid;

/// The most entries of a page, whatever is asked for.
const MOST: u32 = 1_000;

/// Newest first: pages by time of creation and id.
pub(crate) struct Newest {
    limit: u32,
    after: Option<(i64, String)>,
}

impl Newest {
    pub(crate) fn of(page: &Page) -> Result<Self, AgentStoreError> {
        let after = page.after.as_deref().map(time_and_id).transpose()?;
        Ok(Self {
            limit: page.limit.clamp(1, MOST),
            after,
        })
    }

    /// The end of a statement that has at least one condition, and its values. `table` names the columns' table.
    pub(crate) fn clause(&self, table: &str, args: &mut Vec<Arg>) -> String {
        let mut clause = String::new();
        if let Some((created_at, id)) = &self.after {
            args.push(Arg::from(*created_at));
            args.push(Arg::from(id));
            let (time, id) = (args.len() - 1, args.len());
            clause = format!(" AND ({table}.created_at, {table}.id) < (${time}, ${id})");
        }
        args.push(Arg::from(self.limit + 1));
        let limit = args.len();
        format!("{clause} ORDER BY {table}.created_at DESC, {table}.id DESC LIMIT ${limit}")
    }

    /// Reads the rows of the statement.
    pub(crate) fn listed<T>(
        &self,
        rows: &[AnyRow],
        read: impl Fn(&AnyRow) -> Result<T, AgentStoreError>,
    ) -> Result<Listed<T>, AgentStoreError> {
        listed(rows, self.limit, read, |row| {
            let (created_at, id): (i64, String) = (row.get_as("created_at")?, row.get_as("id")?);
            Ok(format!("{created_at}.{id}"))
        })
    }
}

/// In order: pages by the column `ordinal`.
pub(crate) struct InOrder {
    pub(crate) limit: u32,
    pub(crate) after: i64,
}

impl InOrder {
    pub(crate) fn of(page: &Page) -> Result<Self, AgentStoreError> {
        let after = match page.after.as_deref() {
            Some(cursor) => cursor.parse().map_err(|_| not_a_cursor())?,
            None => -1,
        };
        Ok(Self {
            limit: page.limit.clamp(1, MOST),
            after,
        })
    }

    /// Reads the rows of a statement that asked for one row more than [`InOrder::limit`].
    pub(crate) fn listed<T>(
        &self,
        rows: &[AnyRow],
        read: impl Fn(&AnyRow) -> Result<T, AgentStoreError>,
    ) -> Result<Listed<T>, AgentStoreError> {
        listed(rows, self.limit, read, |row| {
            row.get_as::<i64>("ordinal").map(|ordinal| ordinal.to_string())
        })
    }
}

fn listed<T>(
    rows: &[AnyRow],
    limit: u32,
    read: impl Fn(&AnyRow) -> Result<T, AgentStoreError>,
    cursor: impl Fn(&AnyRow) -> Result<String, AgentStoreError>,
) -> Result<Listed<T>, AgentStoreError> {
    let limit = usize::try_from(limit).unwrap_or(usize::MAX);
    let shown = rows.get(..limit).unwrap_or(rows);
    let next = match shown.last() {
        Some(last) if rows.len() > limit => Some(cursor(last)?),
        _ => None,
    };
    let items = shown.iter().map(read).collect::<Result<_, _>>()?;
    Ok(Listed { items, next })
}

fn time_and_id(cursor: &str) -> Result<(i64, String), AgentStoreError> {
    let (created_at, id) = cursor.split_once('.').ok_or_else(not_a_cursor)?;
    let created_at = created_at.parse().map_err(|_| not_a_cursor())?;
    let id = Uuid::from_str(id).map_err(|_| not_a_cursor())?;
    Ok((created_at, id.hyphenated().to_string()))
}

fn not_a_cursor() -> AgentStoreError {
    AgentStoreError::NotFound("page; the cursor is not one that this list gave")
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn no_cursor_makes_it_panic(cursor in ".*", limit in any::<u32>()) {
            let page = Page { limit, after: Some(cursor) };
            let _ = (Newest::of(&page).is_ok(), InOrder::of(&page).is_ok());
        }
    }

    #[test]
    fn a_cursor_is_read_as_it_was_written() {
        let id = Uuid::nil().hyphenated().to_string();
        assert_eq!(time_and_id(&format!("-5.{id}")).unwrap(), (-5, id));
        assert!(time_and_id("5").is_err());
        assert!(time_and_id("5.x").is_err());
    }
}
