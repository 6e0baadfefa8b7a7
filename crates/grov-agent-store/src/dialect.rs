//! The pieces of SQL in which SQLite and PostgreSQL differ.

/// The database behind a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Dialect {
    Sqlite,
    Postgres,
}

impl Dialect {
    /// Either text, by the database.
    pub(crate) fn pick<T>(self, sqlite: T, postgres: T) -> T {
        match self {
            Self::Sqlite => sqlite,
            Self::Postgres => postgres,
        }
    }

    /// Locks the selected rows until the end of the transaction. SQLite has one writer, so nothing is needed there.
    pub(crate) fn for_update(self) -> &'static str {
        self.pick("", " FOR NO KEY UPDATE")
    }

    /// A condition that is met by the members of the JSON array of texts in parameter `n`.
    pub(crate) fn is_in(self, column: &str, n: u32) -> String {
        match self {
            Self::Sqlite => format!("{column} IN (SELECT value FROM json_each(${n}))"),
            Self::Postgres => {
                format!("{column} = ANY (ARRAY(SELECT jsonb_array_elements_text(${n}::text::jsonb)))")
            }
        }
    }

    /// A source of rows named `r`: the members of the JSON array of objects in parameter 1. `columns` are names and whether
    /// they are numbers.
    pub(crate) fn rows(self, columns: &[(&str, bool)]) -> String {
        let listed: Vec<String> = columns
            .iter()
            .map(|(name, is_number)| match self {
                Self::Sqlite => format!("value ->> '$.{name}' AS {name}"),
                Self::Postgres => format!("{name} {}", if *is_number { "bigint" } else { "text" }),
            })
            .collect();
        let listed = listed.join(", ");
        match self {
            Self::Sqlite => format!("(SELECT {listed} FROM json_each($1)) AS r"),
            Self::Postgres => format!("jsonb_to_recordset($1::text::jsonb) AS r ({listed})"),
        }
    }
}
