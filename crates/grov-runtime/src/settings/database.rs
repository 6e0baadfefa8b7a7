//! The address of the agent service's database.

use crate::url::without_credentials;
use grov_redact::Secret;
use std::fmt;
use std::path::{Path, PathBuf};

/// `sqlite:PATH` or `postgresql://…`. `Display` and `Debug` leave out user, password and options.
#[derive(Clone, PartialEq, Eq)]
pub enum DatabaseUrl {
    /// A SQLite file.
    Sqlite(PathBuf),
    /// A PostgreSQL server. The address may contain a password.
    Postgres(Secret),
}

impl DatabaseUrl {
    /// Parses an address. Also takes `sqlite://PATH` and `postgres://…`. `None` if it is neither.
    pub fn parse(text: &str) -> Option<Self> {
        if let Some(path) = text.strip_prefix("sqlite:") {
            let path = path.strip_prefix("//").unwrap_or(path);
            // Options of other programs, such as `?mode=rwc`, mean nothing here.
            let path = path.split_once('?').map_or(path, |(path, _)| path);
            // A database in memory would lose everything at the end.
            let is_file = !path.is_empty() && path != ":memory:" && !path.contains('\0');
            return is_file.then(|| Self::Sqlite(PathBuf::from(path)));
        }
        let is_postgres = text.starts_with("postgresql://") || text.starts_with("postgres://");
        let is_address = is_postgres && url::Url::parse(text).is_ok();
        is_address.then(|| Self::Postgres(Secret::new(text)))
    }

    /// The address with an absolute path. Password and options included.
    pub fn expose(&self) -> String {
        match self {
            Self::Sqlite(path) => format!("sqlite:{}", path.display()),
            Self::Postgres(address) => address.expose().to_owned(),
        }
    }

    /// With a relative path below `root`.
    pub(super) fn below(self, root: &Path) -> Self {
        match self {
            Self::Sqlite(path) => Self::Sqlite(root.join(path)),
            other => other,
        }
    }
}

impl fmt::Display for DatabaseUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Sqlite(path) => write!(f, "sqlite:{}", path.display()),
            Self::Postgres(address) => {
                let text = address.expose();
                // Options may contain the password too.
                let end = text.find(['?', '#']).unwrap_or(text.len());
                f.write_str(&without_credentials(&text[..end]))
            }
        }
    }
}

impl fmt::Debug for DatabaseUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "DatabaseUrl({self})")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_of_both_kinds() {
        let sqlite = |path: &str| Some(DatabaseUrl::Sqlite(path.into()));
        assert_eq!(DatabaseUrl::parse("sqlite:a b.db"), sqlite("a b.db"));
        assert_eq!(
            DatabaseUrl::parse("sqlite:///var/a.db?mode=rwc"),
            sqlite("/var/a.db")
        );
        for text in [
            "postgresql://me:pa55@host:5433/db?sslmode=require",
            "postgres:///db",
        ] {
            assert_eq!(DatabaseUrl::parse(text).unwrap().expose(), text);
        }
        for text in [
            "",
            "sqlite:",
            "sqlite::memory:",
            "mysql://host/db",
            "postgresql:",
            "a.db",
        ] {
            assert_eq!(DatabaseUrl::parse(text), None, "{text}");
        }
    }

    #[test]
    fn a_password_does_not_print() {
        let url = DatabaseUrl::parse("postgresql://me:pa55@host:5433/db?password=pa55").unwrap();
        assert_eq!(url.to_string(), "postgresql://host:5433/db");
        assert!(!format!("{url:?}").contains("pa55"));
    }

    #[test]
    fn a_relative_path_is_below_the_home() {
        let at = |text| {
            DatabaseUrl::parse(text)
                .unwrap()
                .below(Path::new("/home"))
                .expose()
        };
        assert_eq!(at("sqlite:a.db"), "sqlite:/home/a.db");
        assert_eq!(at("sqlite:/a.db"), "sqlite:/a.db");
    }
}
