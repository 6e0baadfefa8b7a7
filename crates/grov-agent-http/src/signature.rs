//! Signatures of webhook events and of posted results: `t=UNIX,v1=HEX`, an HMAC-SHA256 of `UNIX.body`.
//!
//! The time is part of what is signed, so that a recorded request cannot be sent again later.

use grov_redact::Secret;
use hmac::{Hmac, Mac};
use sha2::Sha256;
use std::time::Duration;
use time::OffsetDateTime;

/// The header with the signature.
pub const SIGNATURE_HEADER: &str = "x-grov-signature";

/// How far the time of a signature may be from the own clock.
pub const SIGNATURE_TOLERANCE: Duration = Duration::from_secs(5 * 60);

/// The longest header that is read.
const MAX_HEADER_BYTES: usize = 1024;

/// Why a signature is not accepted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SignatureError {
    /// The header is no signature.
    #[error("the signature must be t=UNIX,v1=HEX")]
    Malformed,
    /// The time is too far from now.
    #[error("the signature's time is more than five minutes from now; check both clocks")]
    Expired,
    /// The secret or the body differs.
    #[error("the signature does not fit the body; check TOOL_WEBHOOK_SECRET on both sides")]
    Wrong,
}

/// Signs a body. Returns the value of [`SIGNATURE_HEADER`].
pub fn sign(secret: &Secret, body: &[u8], now: OffsetDateTime) -> String {
    let at = now.unix_timestamp();
    let digest = mac(secret, at, body).map(|mac| mac.finalize().into_bytes());
    let hex: String = digest
        .iter()
        .flatten()
        .map(|byte| format!("{byte:02x}"))
        .collect();
    format!("t={at},v1={hex}")
}

/// Checks the value of [`SIGNATURE_HEADER`] in constant time. A header may have several `v1`, one of which must fit, so that a
/// sender can change its secret.
///
/// # Errors
///
/// Returns why the signature is not accepted.
pub fn verify(secret: &Secret, header: &str, body: &[u8], now: OffsetDateTime) -> Result<(), SignatureError> {
    let (at, digests) = parse(header).ok_or(SignatureError::Malformed)?;
    if at.abs_diff(now.unix_timestamp()) > SIGNATURE_TOLERANCE.as_secs() {
        return Err(SignatureError::Expired);
    }
    let fits = |digest: &Vec<u8>| mac(secret, at, body).is_some_and(|mac| mac.verify_slice(digest).is_ok());
    if digests.iter().any(fits) {
        Ok(())
    } else {
        Err(SignatureError::Wrong)
    }
}

/// The HMAC of time and body. `Some` for every secret: the algorithm takes keys of any length.
fn mac(secret: &Secret, at: i64, body: &[u8]) -> Option<Hmac<Sha256>> {
    let mut mac = Hmac::<Sha256>::new_from_slice(secret.expose().as_bytes()).ok()?;
    mac.update(format!("{at}.").as_bytes());
    mac.update(body);
    Some(mac)
}

/// The time and the digests of a header.
fn parse(header: &str) -> Option<(i64, Vec<Vec<u8>>)> {
    if header.len() > MAX_HEADER_BYTES {
        return None;
    }
    let mut at = None;
    let mut digests = Vec::new();
    for part in header.split(',') {
        match part.trim().split_once('=')? {
            ("t", seconds) if at.is_none() => at = Some(seconds.parse().ok()?),
            ("t", _) => return None,
            ("v1", hex) => digests.push(bytes(hex)?),
            // A later version of the scheme.
            _ => {}
        }
    }
    (!digests.is_empty()).then_some((at?, digests))
}

/// The bytes of a hexadecimal text.
fn bytes(hex: &str) -> Option<Vec<u8>> {
    let digits: Option<Vec<u32>> = hex.chars().map(|digit| digit.to_digit(16)).collect();
    let digits = digits.filter(|digits| digits.len().is_multiple_of(2))?;
    let byte = |pair: &[u32]| match pair {
        [high, low] => u8::try_from(high * 16 + low).ok(),
        _ => None,
    };
    digits.chunks(2).map(byte).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use time::macros::datetime;

    const NOW: OffsetDateTime = datetime!(2026-03-01 12:00:00 UTC);

    fn secret() -> Secret {
        Secret::new("whsec")
    }

    #[test]
    fn the_signature_is_the_hmac_of_time_and_body() {
        // printf '1772366400.{"a":1}' | openssl dgst -sha256 -hmac whsec
        assert_eq!(
            sign(&secret(), br#"{"a":1}"#, NOW),
            "t=1772366400,v1=26873fa8ed8cbf25e19b85c04b6c9cc46f2470811d76183b6fb751e2472ab6e5"
        );
    }

    #[test]
    fn what_was_signed_is_verified() {
        let header = sign(&secret(), b"body", NOW);
        assert_eq!(verify(&secret(), &header, b"body", NOW), Ok(()));
        let rotated = header.replace(",v1=", ",v1=00ff,v1=");
        assert_eq!(verify(&secret(), &rotated, b"body", NOW), Ok(()));
        let spaced = header.replace(',', ", ");
        assert_eq!(verify(&secret(), &spaced, b"body", NOW), Ok(()));
    }

    #[test]
    fn another_body_secret_or_time_is_refused() {
        let header = sign(&secret(), b"body", NOW);
        let wrong = Err(SignatureError::Wrong);
        assert_eq!(verify(&secret(), &header, b"Body", NOW), wrong);
        assert_eq!(verify(&Secret::new("other"), &header, b"body", NOW), wrong);
        let later = header.replace("t=17723664", "t=17723665");
        assert_eq!(verify(&secret(), &later, b"body", NOW), wrong);
        for away in [time::Duration::seconds(301), time::Duration::seconds(-301)] {
            let expired = Err(SignatureError::Expired);
            assert_eq!(verify(&secret(), &header, b"body", NOW + away), expired);
        }
        let just = time::Duration::seconds(300);
        assert_eq!(verify(&secret(), &header, b"body", NOW + just), Ok(()));
    }

    #[test]
    fn other_headers_are_malformed() {
        for header in [
            "",
            "t=1",
            "v1=00",
            "t=1,v1=0",
            "t=1,v1=zz",
            "t=1,t=2,v1=00",
            "t=x,v1=00",
            "v1",
            "t=99999999999999999999,v1=00",
            &format!("t=1,v1={}", "00".repeat(600)),
        ] {
            let verified = verify(&secret(), header, b"", NOW);
            assert_eq!(verified, Err(SignatureError::Malformed), "{header}");
        }
    }
}
