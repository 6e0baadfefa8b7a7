//! Secrets from the system's random generator.

use std::fs::File;
use std::io::{self, Read};

/// Returns a new secret of 256 bits.
pub(crate) fn secret() -> io::Result<String> {
    let mut bytes = [0; 32];
    File::open("/dev/urandom")?.read_exact(&mut bytes)?;
    let hex: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
    Ok(format!("grov_{hex}"))
}

#[cfg(test)]
mod tests {
    #[test]
    fn secrets_differ() {
        let (one, other) = (super::secret().unwrap(), super::secret().unwrap());
        assert_ne!(one, other);
        assert_eq!(one.len(), 69);
    }
}
