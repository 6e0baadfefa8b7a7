use super::*;
use grov_runtime::{Environment, Inputs, Settings};
use std::os::unix::fs::PermissionsExt;

fn settings(home: &Home, variables: &[(&str, &str)]) -> ProxySettings {
    let environment: Environment = variables.iter().copied().collect();
    let inputs = Inputs {
        home,
        environment: &environment,
        directory: None,
        flags: &[],
    };
    Settings::load(inputs).unwrap().proxy().clone()
}

#[test]
fn an_own_certificate_is_made_once_and_again_for_more_hosts() {
    let folder = tempfile::tempdir().unwrap();
    let home = Home::locate(Some(folder.path()), &Environment::default()).unwrap();
    let open = |variables: &[(&str, &str)]| {
        let settings = settings(&home, variables);
        match Certificate::open(&home, &settings, TlsSource::SelfSigned) {
            Ok(certificate) => certificate.server.facts(),
            Err(stop) => panic!("{:#}", stop.error),
        }
    };
    let first = open(&[]);
    assert!(
        ["localhost", "127.0.0.1", "::1"]
            .iter()
            .all(|host| first.covers(host))
    );
    assert_eq!(open(&[]), first);
    let key = home.own_certificate_key();
    assert_eq!(
        std::fs::metadata(&key).unwrap().permissions().mode() & 0o777,
        0o600
    );
    let more = open(&[
        ("GROV_PROXY_ALLOWED_HOSTS", "grov.example"),
        ("PROXY_HOST", "192.168.1.5"),
    ]);
    assert!(more.covers("grov.example") && more.covers("192.168.1.5"));
    assert_ne!(more.fingerprint, first.fingerprint);
    assert_eq!(open(&[]), more, "more hosts do no harm");
    std::fs::write(&key, "damaged").unwrap();
    assert_ne!(open(&[]).fingerprint, more.fingerprint);
    std::fs::set_permissions(&key, std::fs::Permissions::from_mode(0o644)).unwrap();
    open(&[]);
    assert_eq!(
        std::fs::metadata(&key).unwrap().permissions().mode() & 0o777,
        0o600
    );
}
