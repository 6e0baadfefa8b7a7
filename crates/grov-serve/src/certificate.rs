//! What a certificate says.

use rustls::pki_types::CertificateDer;
use sha2::{Digest, Sha256};
use std::net::IpAddr;
use time::OffsetDateTime;
use x509_parser::extensions::{GeneralName, ParsedExtension};
use x509_parser::prelude::{FromDer, X509Certificate};

/// What a server's certificate says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CertificateFacts {
    /// The host names in it, possibly with wildcards.
    pub names: Vec<String>,
    /// The addresses in it.
    pub addresses: Vec<IpAddr>,
    /// From when on it is valid.
    pub not_before: OffsetDateTime,
    /// Until when it is valid.
    pub not_after: OffsetDateTime,
    /// The SHA-256 of the certificate, as `openssl x509 -fingerprint -sha256` prints it.
    pub fingerprint: String,
}

/// Why clients would refuse a certificate at a time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Problem {
    /// It has expired.
    Expired,
    /// It is not valid yet. Often the clock is wrong.
    NotYetValid,
}

impl CertificateFacts {
    /// Reads a certificate.
    ///
    /// # Errors
    /// Why it is not a certificate.
    pub fn of(certificate: &CertificateDer<'_>) -> Result<Self, String> {
        let (_, parsed) = X509Certificate::from_der(certificate)
            .map_err(|error| format!("it is not a valid certificate: {error}"))?;
        let validity = parsed.validity();
        let mut facts = Self {
            names: Vec::new(),
            addresses: Vec::new(),
            not_before: validity.not_before.to_datetime(),
            not_after: validity.not_after.to_datetime(),
            fingerprint: fingerprint(certificate),
        };
        let extensions = parsed.extensions().iter();
        for extension in extensions {
            if let ParsedExtension::SubjectAlternativeName(alternatives) = extension.parsed_extension() {
                alternatives.general_names.iter().for_each(|name| facts.add(name));
            }
        }
        Ok(facts)
    }

    fn add(&mut self, name: &GeneralName<'_>) {
        match name {
            GeneralName::DNSName(name) => self.names.push((*name).to_ascii_lowercase()),
            GeneralName::IPAddress(bytes) => {
                let four = <[u8; 4]>::try_from(*bytes).map(IpAddr::from);
                let address = four.or_else(|_| <[u8; 16]>::try_from(*bytes).map(IpAddr::from));
                self.addresses.extend(address);
            }
            _ => {}
        }
    }

    /// Returns whether it is for a host, a name or an address.
    pub fn covers(&self, host: &str) -> bool {
        if let Ok(address) = host.parse::<IpAddr>() {
            return self.addresses.contains(&address);
        }
        let host = host.to_ascii_lowercase();
        self.names.iter().any(|name| match name.strip_prefix("*.") {
            // A wildcard stands for one label.
            Some(rest) => host
                .split_once('.')
                .is_some_and(|(first, parent)| !first.is_empty() && parent == rest),
            None => *name == host,
        })
    }

    /// Returns the host for the base URL of clients on this machine, with brackets if it needs them. `listens` is the address of the
    /// server. The host is one that the certificate covers, a loopback one if possible.
    pub fn host_for(&self, listens: IpAddr) -> String {
        let has_loopback = listens.is_unspecified() || listens.to_canonical().is_loopback();
        let loopback = ["127.0.0.1", "localhost"].into_iter().filter(|_| has_loopback);
        let near = loopback.map(str::to_owned).chain([listens.to_string()]);
        let mut names = self.names.iter().filter(|name| !name.starts_with('*'));
        let covered = near.into_iter().find(|host| self.covers(host));
        let host = covered.or_else(|| names.next().cloned());
        let host = host.unwrap_or_else(|| match listens.is_unspecified() {
            true => "localhost".to_owned(),
            false => listens.to_string(),
        });
        match host.contains(':') {
            true => format!("[{host}]"),
            false => host,
        }
    }

    /// Returns why clients would refuse it at this time.
    pub fn problem(&self, now: OffsetDateTime) -> Option<Problem> {
        if now > self.not_after {
            Some(Problem::Expired)
        } else if now < self.not_before {
            Some(Problem::NotYetValid)
        } else {
            None
        }
    }
}

fn fingerprint(certificate: &CertificateDer<'_>) -> String {
    let digest = Sha256::digest(certificate.as_ref());
    let pairs: Vec<String> = digest.iter().map(|byte| format!("{byte:02X}")).collect();
    pairs.join(":")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::self_signed;
    use proptest::prelude::*;
    use rustls::pki_types::pem::PemObject;
    use time::Duration;

    const NOW: OffsetDateTime = time::macros::datetime!(2026-01-02 03:04:05 UTC);

    fn facts(hosts: &[&str]) -> CertificateFacts {
        let hosts = hosts.iter().map(|host| (*host).to_owned());
        let own = self_signed(hosts, NOW).unwrap();
        CertificateFacts::of(&CertificateDer::from_pem_slice(own.certificate.as_bytes()).unwrap()).unwrap()
    }

    #[test]
    fn names_addresses_and_validity_are_read() {
        let facts = facts(&["grov.example", "*.team.example", "127.0.0.1", "::1"]);
        for host in [
            "grov.example",
            "GROV.example",
            "a.team.example",
            "127.0.0.1",
            "::1",
        ] {
            assert!(facts.covers(host), "{host}");
        }
        for host in [
            "example",
            "b.a.team.example",
            ".team.example",
            "team.example",
            "127.0.0.2",
            "",
        ] {
            assert!(!facts.covers(host), "{host}");
        }
        assert_eq!(facts.problem(NOW), None);
        assert_eq!(facts.problem(NOW - Duration::days(3)), Some(Problem::NotYetValid));
        assert_eq!(facts.problem(NOW + Duration::days(1000)), Some(Problem::Expired));
        assert_eq!(facts.fingerprint.len(), 95);
    }

    #[test]
    fn the_host_for_clients_is_one_that_it_covers() {
        for (hosts, listens, expected) in [
            (&["localhost", "127.0.0.1"][..], "127.0.0.1", "127.0.0.1"),
            (&["localhost"], "0.0.0.0", "localhost"),
            (&["grov.example", "127.0.0.1"], "0.0.0.0", "127.0.0.1"),
            (&["localhost", "grov.example"], "192.168.1.5", "localhost"),
            (&["192.168.1.5", "grov.example"], "192.168.1.5", "192.168.1.5"),
            (&["*.example", "grov.example"], "0.0.0.0", "grov.example"),
            (&["::1"], "::1", "[::1]"),
            (&["*.example"], "0.0.0.0", "localhost"),
        ] {
            let host = facts(hosts).host_for(listens.parse().unwrap());
            assert_eq!(host, expected, "{hosts:?} {listens}");
        }
    }

    proptest! {
        #[test]
        fn any_bytes_are_read_or_refused(bytes in prop::collection::vec(any::<u8>(), 0..400)) {
            let _ = CertificateFacts::of(&CertificateDer::from(bytes));
        }

        #[test]
        fn changed_certificates_are_read_or_refused(at in 0_usize..1000, byte in any::<u8>()) {
            let own = self_signed(["localhost".to_owned()].into_iter(), NOW).unwrap();
            let mut bytes = CertificateDer::from_pem_slice(own.certificate.as_bytes()).unwrap().to_vec();
            let at = at % bytes.len();
            bytes[at] = byte;
            let _ = CertificateFacts::of(&CertificateDer::from(bytes));
        }
    }
}
