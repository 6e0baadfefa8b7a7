//! The admin key: from the settings, or made once and kept in the home.

use grov_redact::Secret;
use grov_runtime::{Home, create_private, random_secret};
use std::fs::{self, OpenOptions};
use std::io::{self, Write};
use std::path::PathBuf;

/// Where a made key is kept.
pub(crate) fn path(home: &Home) -> PathBuf {
    home.root().join("agent-key")
}

/// Returns the configured key, else the kept one, else a new one, which is kept.
pub(crate) fn find_or_make(home: &Home, configured: Option<&Secret>) -> io::Result<Secret> {
    if let Some(key) = configured {
        return Ok(key.clone());
    }
    loop {
        match fs::read_to_string(path(home)) {
            Ok(text) if !text.trim().is_empty() => return Ok(Secret::new(text.trim())),
            Ok(_) => {
                let path = path(home);
                let reason = format!("{} is empty; delete it, then a new key is made", path.display());
                return Err(io::Error::other(reason));
            }
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(error) => return Err(error),
        }
        let key = random_secret()?;
        // Linked only when complete, so that of two programs that start at once one wins and the other reads its key.
        let temporary = path(home).with_extension(format!("{}.tmp", std::process::id()));
        let written = create_private(
            &temporary,
            OpenOptions::new().write(true).create(true).truncate(true),
        )
        .and_then(|mut file| file.write_all(format!("{}\n", key.expose()).as_bytes()))
        .and_then(|()| fs::hard_link(&temporary, path(home)));
        // The link stays.
        let _ = fs::remove_file(&temporary);
        match written {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            written => return written.map(|()| key),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use grov_runtime::Environment;
    use std::os::unix::fs::PermissionsExt;

    #[test]
    fn a_key_is_made_once_and_kept_privately() {
        let directory = tempfile::tempdir().unwrap();
        let home = Home::locate(Some(directory.path()), &Environment::of_process()).unwrap();
        let made = find_or_make(&home, None).unwrap();
        assert_eq!(find_or_make(&home, None).unwrap().expose(), made.expose());
        let mode = fs::metadata(path(&home)).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
        assert_eq!(fs::read_dir(directory.path()).unwrap().count(), 1);
        let configured = Secret::new("configured");
        assert_eq!(
            find_or_make(&home, Some(&configured)).unwrap().expose(),
            "configured"
        );
    }
}
