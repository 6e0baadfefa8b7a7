//! The token that authenticates hooks over HTTP; only this user can read it.

use grov_redact::Secret;
use grov_runtime::{Home, write_private};
use std::fs::{self, File};
use std::hint::black_box;
use std::io::{self, ErrorKind, Read};

/// Number of random bytes; the token has twice as many hexadecimal digits.
const BYTES: usize = 32;
/// Maximum number of bytes read of the token file.
const MAX_BYTES: u64 = 4 * 1024;

/// Reads the token; `None` if the file is missing or malformed.
pub fn read(home: &Home) -> Option<Secret> {
    let mut text = String::new();
    let file = File::open(home.hook_token()).ok()?;
    file.take(MAX_BYTES).read_to_string(&mut text).ok()?;
    let text = text.trim();
    let is_token = text.len() == 2 * BYTES && text.bytes().all(|byte| byte.is_ascii_hexdigit());
    is_token.then(|| Secret::new(text))
}

/// Reads the token, or creates it.
///
/// # Errors
/// The file cannot be written, or the system provides no random bytes.
pub fn read_or_create(home: &Home) -> io::Result<Secret> {
    if let Some(token) = read(home) {
        return Ok(token);
    }
    let mut random = [0; BYTES];
    File::open("/dev/urandom")?.read_exact(&mut random)?;
    let text: String = random.iter().map(|byte| format!("{byte:02x}")).collect();
    write_private(&home.hook_token(), format!("{text}\n").as_bytes())?;
    Ok(Secret::new(text))
}

/// Removes the token. Returns whether it existed.
///
/// # Errors
/// The file cannot be removed.
pub fn remove(home: &Home) -> io::Result<bool> {
    match fs::remove_file(home.hook_token()) {
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(false),
        removed => removed.map(|()| true),
    }
}

/// Compares tokens in constant time.
pub fn is_equal(token: &Secret, shown: &[u8]) -> bool {
    let token = token.expose().as_bytes();
    let pairs = token.iter().zip(shown);
    let differing = pairs.fold(0, |differing, (one, other)| black_box(differing | (one ^ other)));
    token.len() == shown.len() && differing == 0
}

#[cfg(test)]
mod tests {
    use super::*;
    use grov_runtime::Environment;
    use std::os::unix::fs::PermissionsExt;

    #[test]
    fn a_token_is_created_once_and_private() {
        let folder = tempfile::tempdir().unwrap();
        let home = Home::locate(Some(folder.path()), &Environment::default()).unwrap();
        assert_eq!(read(&home), None);
        let token = read_or_create(&home).unwrap();
        assert_eq!(token.expose().len(), 64);
        assert_eq!(
            (read_or_create(&home).unwrap(), read(&home)),
            (token.clone(), Some(token.clone()))
        );
        let mode = fs::metadata(home.hook_token()).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
        for broken in ["", "short", &"z".repeat(64)] {
            fs::write(home.hook_token(), broken).unwrap();
            assert_eq!(read(&home), None, "{broken:?}");
            assert_ne!(read_or_create(&home).unwrap(), token);
        }
        assert!(remove(&home).unwrap() && !home.hook_token().exists());
        assert!(!remove(&home).unwrap());
    }

    #[test]
    fn only_the_same_token_is_equal() {
        let token = Secret::new("abcd");
        assert!(is_equal(&token, b"abcd"));
        for other in ["", "abc", "abcde", "abce", "bbcd"] {
            assert!(!is_equal(&token, other.as_bytes()), "{other}");
        }
        assert!(!is_equal(&Secret::new(""), b"a"));
    }
}
