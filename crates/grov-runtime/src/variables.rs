//! Variables of the environment and of the home's `.env`, for programs with names of their own such as provider keys.

use crate::dotenv;
use crate::{Environment, Home};
use grov_redact::Secret;
use std::io;
use std::path::PathBuf;

/// The environment, and below it the home's `.env`. An empty variable counts as not set.
#[derive(Clone, Debug)]
pub struct Variables {
    environment: Environment,
    file: Vec<(String, Secret)>,
    path: PathBuf,
}

impl Variables {
    /// Reads the file. A missing file is empty.
    ///
    /// # Errors
    ///
    /// The system's error, if the file cannot be read or is not UTF-8.
    pub fn load(home: &Home, environment: &Environment) -> io::Result<Self> {
        let path = home.env_file();
        let text = match std::fs::read_to_string(&path) {
            Ok(text) => text,
            Err(error) if error.kind() == io::ErrorKind::NotFound => String::new(),
            Err(error) => return Err(error),
        };
        let assignments = dotenv::parse(&text).assignments.into_iter();
        Ok(Self {
            environment: environment.clone(),
            file: assignments
                .map(|assignment| (assignment.name, Secret::new(assignment.value)))
                .collect(),
            path,
        })
    }

    /// The value of a variable.
    pub fn get(&self, name: &str) -> Option<&str> {
        self.in_environment(name).or_else(|| self.in_file(name))
    }

    /// The value in the environment alone.
    pub fn in_environment(&self, name: &str) -> Option<&str> {
        self.environment.get(name)?.to_str()
    }

    /// The value in the file alone.
    pub fn in_file(&self, name: &str) -> Option<&str> {
        let mut all = self.file.iter();
        let (_, value) = all.find(|(known, value)| known == name && !value.is_empty())?;
        Some(value.expose())
    }

    /// The value of a variable that holds a secret, without the space around it.
    pub fn secret(&self, name: &str) -> Option<Secret> {
        let value = self.get(name)?.trim();
        (!value.is_empty()).then(|| Secret::new(value))
    }

    /// The file.
    pub fn path(&self) -> &std::path::Path {
        &self.path
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_environment_comes_before_the_file() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join(".env"), "A=file\nB= b \nC=\n").unwrap();
        let environment: Environment = [("A", "real"), ("D", "")].into_iter().collect();
        let home = Home::locate(Some(folder.path()), &environment).unwrap();
        let variables = Variables::load(&home, &environment).unwrap();
        assert_eq!(variables.get("A"), Some("real"));
        assert_eq!(variables.in_file("A"), Some("file"));
        assert_eq!(variables.secret("B"), Some(Secret::new("b")));
        assert_eq!((variables.get("C"), variables.get("D")), (None, None));
        assert!(!format!("{variables:?}").contains("file\""));
    }

    #[test]
    fn a_missing_file_is_empty() {
        let folder = tempfile::tempdir().unwrap();
        let home = Home::locate(Some(folder.path()), &Environment::default()).unwrap();
        assert_eq!(
            Variables::load(&home, &Environment::default()).unwrap().get("A"),
            None
        );
    }
}
