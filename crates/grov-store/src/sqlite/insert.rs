//! Inserts many rows with few statements.

use super::columns::Values;
use sqlx::AssertSqlSafe;

/// Rows per statement. Powers of two, so that few prepared statements serve every batch.
const ROW_COUNTS: [usize; 8] = [128, 64, 32, 16, 8, 4, 2, 1];

/// Splits rows into portions of these sizes.
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

/// An insert of several rows: `into (columns) VALUES (?, …), (?, …) tail`.
pub(super) struct Insert {
    pub(super) into: &'static str,
    pub(super) columns: &'static [&'static str],
    pub(super) tail: &'static str,
}

impl Insert {
    /// Returns the statement for these rows and its values. `bind` adds the values of one row in the order of the
    /// columns.
    pub(super) fn statement<T>(
        &self,
        rows: &[T],
        bind: &impl Fn(&mut Values, &T),
    ) -> (AssertSqlSafe<String>, Values) {
        let mut values = Values::default();
        for row in rows {
            bind(&mut values, row);
        }
        // The text contains constants only.
        (AssertSqlSafe(self.text(rows.len())), values)
    }

    fn text(&self, rows: usize) -> String {
        let row = format!("({})", vec!["?"; self.columns.len()].join(","));
        format!(
            "{} ({}) VALUES {} {}",
            self.into,
            self.columns.join(", "),
            vec![row.as_str(); rows].join(","),
            self.tail
        )
    }
}

/// Declares an [`Insert`] and the function that binds a row. Columns are grouped by the struct that has them as fields;
/// `column = field` names a field that differs from its column. Groups of optional structs follow, marked with `?`, then
/// columns with any other expression.
macro_rules! insert {
    (
        $insert:ident, $bind:ident($row:pat_param in $type:ty): $into:expr, $tail:expr;
        $($source:expr => { $($column:ident $(= $field:ident)?),* })*
        $(? $optional:expr => { $($option:ident $(= $option_field:ident)?),* })*
        $(; $($computed:ident: $value:expr),* $(,)?)?
    ) => {
        pub(super) const $insert: $crate::sqlite::insert::Insert = $crate::sqlite::insert::Insert {
            into: $into,
            columns: &[
                $($(stringify!($column),)*)* $($(stringify!($option),)*)* $($(stringify!($computed),)*)?
            ],
            tail: $tail,
        };

        fn $bind(values: &mut $crate::sqlite::columns::Values, $row: &$type) {
            $({
                let source = &$source;
                $(values.add(&$crate::sqlite::insert::insert!(@field source $column $($field)?));)*
            })*
            $({
                let source = &$optional;
                $(values.add(&source.as_ref().map(
                    |source| &$crate::sqlite::insert::insert!(@field source $option $($option_field)?),
                ));)*
            })*
            $($(values.add(&$value);)*)?
        }
    };
    (@field $source:ident $column:ident) => { $source.$column };
    (@field $source:ident $column:ident $field:ident) => { $source.$field };
}
pub(super) use insert;

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
            into: "INSERT INTO t",
            columns: &["a", "b"],
            tail: "ON CONFLICT DO NOTHING",
        };
        assert_eq!(
            insert.text(3),
            "INSERT INTO t (a, b) VALUES (?,?),(?,?),(?,?) ON CONFLICT DO NOTHING"
        );
    }
}
