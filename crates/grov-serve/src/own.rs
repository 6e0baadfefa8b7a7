//! A certificate that a server makes for itself.

use rcgen::{CertificateParams, DistinguishedName, DnType, ExtendedKeyUsagePurpose, KeyPair};
use time::{Duration, OffsetDateTime};

/// How long such a certificate is valid. Clients have to be told about a new one.
const VALIDITY: Duration = Duration::days(730);
/// It is valid this long before it is made, because the clocks of clients differ.
const CLOCK_SKEW: Duration = Duration::days(1);

/// A self-signed certificate and its key, in PEM.
pub struct OwnCertificate {
    /// The certificate.
    pub certificate: String,
    /// The key. Only the server may read it.
    pub key: String,
}

/// Makes a self-signed certificate for host names and addresses, with a new key on P-256.
///
/// # Errors
/// A name is not valid in a certificate.
pub fn self_signed(
    hosts: impl Iterator<Item = String>,
    now: OffsetDateTime,
) -> Result<OwnCertificate, rcgen::Error> {
    let mut params = CertificateParams::new(hosts.collect::<Vec<_>>())?;
    let mut name = DistinguishedName::new();
    name.push(DnType::CommonName, "Grov");
    params.distinguished_name = name;
    params.not_before = now - CLOCK_SKEW;
    params.not_after = now + VALIDITY;
    params.extended_key_usages = vec![ExtendedKeyUsagePurpose::ServerAuth];
    let key = KeyPair::generate()?;
    let certificate = params.self_signed(&key)?;
    Ok(OwnCertificate {
        certificate: certificate.pem(),
        key: key.serialize_pem(),
    })
}
