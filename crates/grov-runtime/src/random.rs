//! Secrets from the system's random generator.

use grov_redact::Secret;
use std::fs::File;
use std::io::{self, Read};

/// Returns `bytes` random bytes as hexadecimal digits.
///
/// # Errors
/// The system provides no random bytes.
pub fn random_hex(bytes: usize) -> io::Result<String> {
    let mut random = vec![0; bytes];
    File::open("/dev/urandom")?.read_exact(&mut random)?;
    Ok(hex(&random))
}

/// Returns a new secret of 256 bits, with the prefix that secrets of Grov have.
///
/// # Errors
/// The system provides no random bytes.
pub fn random_secret() -> io::Result<Secret> {
    Ok(Secret::new(format!("grov_{}", random_hex(32)?)))
}

/// Returns bytes as hexadecimal digits.
pub(crate) fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn secrets_differ() {
        let (one, other) = (random_secret().unwrap(), random_secret().unwrap());
        assert_ne!(one, other);
        assert_eq!(one.expose().len(), 69);
    }
}
