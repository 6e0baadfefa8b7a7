//! Reads the certificate of an authority.

use crate::name::ServerName;
use std::net::IpAddr;
use time::OffsetDateTime;
use x509_parser::extensions::{GeneralName, NameConstraints};
use x509_parser::prelude::{FromDer, X509Certificate};

/// What a certificate says about itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Inspected {
    pub(crate) subject: String,
    pub(crate) not_before: OffsetDateTime,
    pub(crate) not_after: OffsetDateTime,
    /// The servers that it may sign for.
    pub(crate) permitted: Vec<ServerName>,
}

/// Inspects the certificate of an authority whose public key is `public_key`. Returns why it is unusable otherwise.
pub(crate) fn inspect(der: &[u8], public_key: &[u8]) -> Result<Inspected, String> {
    let (rest, certificate) =
        X509Certificate::from_der(der).map_err(|error| format!("it is not a certificate ({error})"))?;
    if !rest.is_empty() {
        return Err("there are bytes after the certificate".to_owned());
    }
    if *certificate.public_key().subject_public_key.data != *public_key {
        return Err("its key is another one".to_owned());
    }
    if !certificate.is_ca() {
        return Err("it is not the certificate of an authority".to_owned());
    }
    let constraints = certificate
        .name_constraints()
        .map_err(|error| format!("its name constraints are invalid ({error})"))?;
    let permitted = constraints
        .map(|constraints| permitted(constraints.value))
        .unwrap_or_default();
    if permitted.is_empty() {
        return Err("it has no name constraints".to_owned());
    }
    Ok(Inspected {
        subject: certificate.subject().to_string(),
        not_before: certificate.validity().not_before.to_datetime(),
        not_after: certificate.validity().not_after.to_datetime(),
        permitted,
    })
}

/// The permitted servers. Subtrees that Grov does not write are ignored: the authority is then not used for them.
fn permitted(constraints: &NameConstraints<'_>) -> Vec<ServerName> {
    let subtrees = constraints.permitted_subtrees.iter().flatten();
    subtrees
        .filter_map(|subtree| match &subtree.base {
            GeneralName::DNSName(name) => name.parse().ok(),
            GeneralName::IPAddress(bytes) => single_address(bytes).map(ServerName::Ip),
            _ => None,
        })
        .collect()
}

/// The address of a subnet with one address: address and mask, of equal length.
fn single_address(bytes: &[u8]) -> Option<IpAddr> {
    let (address, mask) = bytes.split_at_checked(bytes.len() / 2)?;
    if mask.iter().any(|byte| *byte != 0xff) {
        return None;
    }
    match address.len() {
        4 => <[u8; 4]>::try_from(address).ok().map(IpAddr::from),
        16 => <[u8; 16]>::try_from(address).ok().map(IpAddr::from),
        _ => None,
    }
}
