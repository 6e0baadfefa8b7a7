//! One authority: its certificate and key, and the leaf certificates that it signs.

use crate::error::CaError;
use crate::inspect::{Inspected, inspect};
use crate::name::ServerName;
use rcgen::{
    BasicConstraints, CertificateParams, CidrSubnet, DnType, ExtendedKeyUsagePurpose, GeneralSubtree, IsCa,
    Issuer, KeyPair, KeyUsagePurpose, NameConstraints, SanType,
};
use sha2::{Digest, Sha256};
use std::fmt::Write;
use std::net::{Ipv4Addr, Ipv6Addr};
use time::{Duration, OffsetDateTime};

/// Lifetime of an authority.
const LIFETIME: Duration = Duration::days(730);

/// An authority is valid from this long before it was made, for clocks that differ.
const BACKDATED: Duration = Duration::days(1);

/// Lifetime of a leaf, of which an hour is in the past, for clocks that differ.
const LEAF_LIFETIME: Duration = Duration::hours(24);
const LEAF_BACKDATED: Duration = Duration::hours(1);

/// Longest common name in a certificate.
const MAX_COMMON_NAME: usize = 64;

/// A certificate authority: a certificate, constrained to some servers, and its private key.
pub struct Authority {
    issuer: Issuer<'static, KeyPair>,
    pem: String,
    der: Vec<u8>,
    inspected: Inspected,
}

/// A certificate for one server, and its private key.
pub struct Leaf {
    /// The certificate, DER.
    pub certificate: Vec<u8>,
    /// Its private key, PKCS#8 DER.
    pub key: Vec<u8>,
    /// Until when it is valid.
    pub not_after: OffsetDateTime,
}

impl Authority {
    /// Makes an authority for `hosts`, with a new key.
    pub(crate) fn create(hosts: &[ServerName], now: OffsetDateTime) -> Result<Self, CaError> {
        if hosts.is_empty() {
            return Err(CaError::NoHosts);
        }
        let key = KeyPair::generate()?;
        let mut params = CertificateParams::default();
        params.not_before = now - BACKDATED;
        params.not_after = now + LIFETIME;
        params.is_ca = IsCa::Ca(BasicConstraints::Constrained(0));
        params.key_usages = vec![KeyUsagePurpose::KeyCertSign, KeyUsagePurpose::CrlSign];
        params.name_constraints = Some(constraints(hosts));
        params.distinguished_name = rcgen::DistinguishedName::new();
        // Different for each authority, so that a client can hold two of them.
        let id = &fingerprint(key.public_key_raw())[..8];
        let name = format!("Grov local CA {} {id}", now.date());
        params.distinguished_name.push(DnType::CommonName, name);
        params.distinguished_name.push(DnType::OrganizationName, "Grov");
        let certificate = params.self_signed(&key)?;
        let pem = certificate.pem();
        Self::from_der(certificate.der().to_vec(), pem, key)
            .map_err(|_| rcgen::Error::CouldNotParseCertificate.into())
    }

    /// Reads an authority. Returns why it is unusable otherwise.
    pub(crate) fn parse(certificate: &str, key: &str) -> Result<Self, String> {
        let key = KeyPair::from_pem(key).map_err(|error| format!("its key is not readable ({error})"))?;
        let (_, pem) = x509_parser::pem::parse_x509_pem(certificate.as_bytes())
            .map_err(|error| format!("it is not a PEM file ({error})"))?;
        Self::from_der(pem.contents, certificate.to_owned(), key)
    }

    fn from_der(der: Vec<u8>, pem: String, key: KeyPair) -> Result<Self, String> {
        let inspected = inspect(&der, key.public_key_raw())?;
        let issuer =
            Issuer::from_ca_cert_der(&der.as_slice().into(), key).map_err(|error| error.to_string())?;
        Ok(Self {
            issuer,
            pem,
            der,
            inspected,
        })
    }

    /// Returns the certificate, PEM.
    pub fn pem(&self) -> &str {
        &self.pem
    }

    /// Returns the private key, PKCS#8 PEM.
    pub(crate) fn key_pem(&self) -> String {
        self.issuer.key().serialize_pem()
    }

    /// Returns the subject of the certificate.
    pub fn subject(&self) -> &str {
        &self.inspected.subject
    }

    /// Returns the SHA-256 fingerprint of the certificate, in hexadecimal.
    pub fn fingerprint(&self) -> String {
        fingerprint(&self.der)
    }

    /// Returns the servers that it may sign for.
    pub fn permitted(&self) -> &[ServerName] {
        &self.inspected.permitted
    }

    /// Returns since when it is valid.
    pub fn not_before(&self) -> OffsetDateTime {
        self.inspected.not_before
    }

    /// Returns until when it is valid.
    pub fn not_after(&self) -> OffsetDateTime {
        self.inspected.not_after
    }

    /// Returns when it was made.
    pub fn created_at(&self) -> OffsetDateTime {
        self.inspected.not_before + BACKDATED
    }

    /// Returns whether it is valid at a time.
    pub fn is_valid(&self, at: OffsetDateTime) -> bool {
        self.inspected.not_before <= at && at < self.inspected.not_after
    }

    /// Returns whether it may sign for a server.
    pub fn permits(&self, host: &ServerName) -> bool {
        self.inspected.permitted.contains(host)
    }

    /// Makes a certificate for a server, with a new key. It is valid for 24 hours, of which one is in the past.
    ///
    /// # Errors
    /// If the authority must not sign for the server, or signing fails.
    pub fn issue(&self, host: &ServerName, now: OffsetDateTime) -> Result<Leaf, CaError> {
        if !self.permits(host) {
            return Err(CaError::NotPermitted(host.to_string()));
        }
        let mut params = CertificateParams::default();
        params.not_before = (now - LEAF_BACKDATED).max(self.not_before());
        params.not_after = (params.not_before + LEAF_LIFETIME).min(self.not_after());
        params.is_ca = IsCa::ExplicitNoCa;
        params.key_usages = vec![KeyUsagePurpose::DigitalSignature];
        params.extended_key_usages = vec![ExtendedKeyUsagePurpose::ServerAuth];
        params.use_authority_key_identifier_extension = true;
        params.subject_alt_names = vec![match host {
            ServerName::Dns(name) => SanType::DnsName(name.as_str().try_into()?),
            ServerName::Ip(address) => SanType::IpAddress(*address),
        }];
        params.distinguished_name = rcgen::DistinguishedName::new();
        let name = host.to_string();
        if name.len() <= MAX_COMMON_NAME {
            params.distinguished_name.push(DnType::CommonName, name);
        }
        let key = KeyPair::generate()?;
        let not_after = params.not_after;
        let certificate = params.signed_by(&key, &self.issuer)?;
        Ok(Leaf {
            certificate: certificate.der().to_vec(),
            key: key.serialize_der(),
            not_after,
        })
    }
}

/// Name constraints for `hosts`. A kind of name without a host is excluded: a list of permitted DNS names says nothing about
/// addresses.
fn constraints(hosts: &[ServerName]) -> NameConstraints {
    let permitted: Vec<GeneralSubtree> = hosts
        .iter()
        .map(|host| match host {
            ServerName::Dns(name) => GeneralSubtree::DnsName(name.clone()),
            ServerName::Ip(address) => {
                let bits = if address.is_ipv4() { 32 } else { 128 };
                GeneralSubtree::IpAddress(CidrSubnet::from_addr_prefix(*address, bits))
            }
        })
        .collect();
    let mut excluded = Vec::new();
    if !hosts.iter().any(|host| matches!(host, ServerName::Dns(_))) {
        excluded.push(GeneralSubtree::DnsName(String::new()));
    }
    if !hosts.iter().any(|host| matches!(host, ServerName::Ip(_))) {
        let everything = [
            CidrSubnet::from_addr_prefix(Ipv4Addr::UNSPECIFIED.into(), 0),
            CidrSubnet::from_addr_prefix(Ipv6Addr::UNSPECIFIED.into(), 0),
        ];
        excluded.extend(everything.map(GeneralSubtree::IpAddress));
    }
    NameConstraints {
        permitted_subtrees: permitted,
        excluded_subtrees: excluded,
    }
}

fn fingerprint(bytes: &[u8]) -> String {
    Sha256::digest(bytes)
        .iter()
        .fold(String::new(), |mut text, byte| {
            // Writing to a string cannot fail.
            let _ = write!(text, "{byte:02x}");
            text
        })
}

impl std::fmt::Debug for Authority {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Authority")
            .field("inspected", &self.inspected)
            .finish_non_exhaustive()
    }
}

impl std::fmt::Debug for Leaf {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Leaf")
            .field("not_after", &self.not_after)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(hosts: &[&str]) -> Vec<ServerName> {
        hosts.iter().map(|host| host.parse().unwrap()).collect()
    }

    #[test]
    fn a_written_authority_reads_back_the_same() {
        let hosts = names(&["api.anthropic.com", "127.0.0.1", "::1"]);
        let made = Authority::create(&hosts, OffsetDateTime::now_utc()).unwrap();
        let read = Authority::parse(made.pem(), &made.key_pem()).unwrap();
        assert_eq!(read.inspected, made.inspected);
        assert_eq!(read.permitted(), hosts);
        assert_eq!(read.fingerprint().len(), 64);
        assert!(read.is_valid(OffsetDateTime::now_utc()));
    }

    #[test]
    fn a_key_of_another_authority_is_refused() {
        let now = OffsetDateTime::now_utc();
        let (one, other) = (
            Authority::create(&names(&["a.example"]), now).unwrap(),
            Authority::create(&names(&["a.example"]), now).unwrap(),
        );
        assert_ne!(one.subject(), other.subject());
        let error = Authority::parse(one.pem(), &other.key_pem()).unwrap_err();
        assert!(error.contains("another one"), "{error}");
        assert!(Authority::parse("junk", &one.key_pem()).is_err());
        assert!(Authority::parse(one.pem(), "junk").is_err());
    }

    #[test]
    fn leaves_are_only_for_permitted_hosts_and_live_at_most_a_day() {
        let now = OffsetDateTime::now_utc();
        let authority = Authority::create(&names(&["a.example"]), now).unwrap();
        let leaf = authority.issue(&names(&["a.example"])[0], now).unwrap();
        assert!(leaf.not_after <= now + LEAF_LIFETIME);
        let refused = authority.issue(&names(&["b.example"])[0], now).unwrap_err();
        assert!(matches!(refused, CaError::NotPermitted(_)));
        let almost = authority.not_after() - Duration::hours(2);
        let last = authority.issue(&names(&["a.example"])[0], almost).unwrap();
        assert_eq!(last.not_after, authority.not_after());
    }

    #[test]
    fn an_authority_without_name_constraints_is_refused() {
        let key = KeyPair::generate().unwrap();
        let mut params = CertificateParams::default();
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        let certificate = params.self_signed(&key).unwrap();
        let error = Authority::parse(&certificate.pem(), &key.serialize_pem()).unwrap_err();
        assert!(error.contains("name constraints"), "{error}");
    }
}
