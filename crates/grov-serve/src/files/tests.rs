use super::*;
use crate::self_signed;
use std::fs::Permissions;
use time::Duration;

const NOW: OffsetDateTime = time::macros::datetime!(2026-01-02 03:04:05 UTC);

struct Folder {
    folder: tempfile::TempDir,
    files: CertificateFiles,
}

impl Folder {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let files = CertificateFiles {
            certificates: folder.path().join("server.crt"),
            key: folder.path().join("server.key"),
        };
        let new = Self { folder, files };
        new.renew(NOW);
        new
    }

    fn renew(&self, at: OffsetDateTime) {
        let own = self_signed(["localhost".to_owned()].into_iter(), at).unwrap();
        self.write_key(&own.key);
        self.replace(&self.files.certificates, &own.certificate);
    }

    fn write_key(&self, key: &str) {
        self.replace(&self.files.key, key);
        std::fs::set_permissions(&self.files.key, Permissions::from_mode(0o600)).unwrap();
    }

    fn replace(&self, path: &Path, content: &str) {
        let new = self.folder.path().join("new");
        std::fs::write(&new, content).unwrap();
        std::fs::rename(&new, path).unwrap();
    }

    fn load(&self, now: OffsetDateTime) -> Result<ServerCertificate, CertificateError> {
        ServerCertificate::load(self.files.clone(), now)
    }

    fn error(&self, now: OffsetDateTime) -> CertificateError {
        self.load(now).err().unwrap()
    }
}

#[test]
fn a_renewed_certificate_is_used_once_both_files_have_settled() {
    let folder = Folder::new();
    let certificate = Arc::new(folder.load(NOW).unwrap());
    certificate.config().unwrap();
    let first = certificate.facts();
    assert!(!certificate.refresh(NOW).unwrap());
    folder.renew(NOW + Duration::days(1));
    assert!(!certificate.refresh(NOW).unwrap(), "it may still be changing");
    assert_eq!(certificate.facts(), first);
    assert!(certificate.refresh(NOW).unwrap());
    assert_ne!(certificate.facts(), first);
    assert!(!certificate.refresh(NOW).unwrap());
}

#[test]
fn an_unusable_new_certificate_keeps_the_old_one() {
    let folder = Folder::new();
    let certificate = folder.load(NOW).unwrap();
    let first = certificate.facts();
    let errors = |what: &str| {
        assert!(!certificate.refresh(NOW).unwrap(), "{what}");
        let error = certificate.refresh(NOW).unwrap_err();
        assert!(!certificate.refresh(NOW).unwrap(), "{what}: reported once");
        assert_eq!(certificate.facts(), first, "{what}");
        error
    };
    folder.replace(&folder.files.certificates, "nonsense");
    assert!(matches!(errors("no PEM"), CertificateError::Unreadable { .. }));
    std::fs::remove_file(&folder.files.certificates).unwrap();
    assert!(matches!(errors("missing"), CertificateError::Unreadable { .. }));
    folder.renew(NOW - Duration::days(900));
    assert!(matches!(errors("expired"), CertificateError::Expired { .. }));
    folder.renew(NOW + Duration::days(10));
    assert!(matches!(
        errors("of the future"),
        CertificateError::NotYetValid { .. }
    ));
    folder.renew(NOW);
    assert!(!certificate.refresh(NOW).unwrap());
    assert!(certificate.refresh(NOW).unwrap());
}

#[test]
fn a_renewed_certificate_that_could_not_be_read_once_is_read_again() {
    let folder = Folder::new();
    let certificate = folder.load(NOW).unwrap();
    let first = certificate.facts();
    folder.renew(NOW + Duration::days(1));
    // A change of permissions is no change of the file.
    std::fs::set_permissions(&folder.files.key, Permissions::from_mode(0o644)).unwrap();
    assert!(!certificate.refresh(NOW).unwrap());
    assert!(certificate.refresh(NOW).is_err() && certificate.is_outdated());
    assert_eq!(certificate.facts(), first);
    std::fs::set_permissions(&folder.files.key, Permissions::from_mode(0o600)).unwrap();
    assert!(certificate.refresh(NOW).unwrap());
    assert!(!certificate.is_outdated());
    assert_ne!(certificate.facts(), first);
}

#[test]
fn a_fault_ends_when_the_old_files_come_back() {
    let folder = Folder::new();
    let certificate = folder.load(NOW).unwrap();
    let (key, aside) = (&folder.files.key, folder.folder.path().join("aside"));
    for _ in 0..2 {
        std::fs::rename(key, &aside).unwrap();
        folder.write_key("damaged");
        assert!(!certificate.refresh(NOW).unwrap());
        assert!(certificate.refresh(NOW).is_err() && certificate.is_outdated());
        std::fs::rename(&aside, key).unwrap();
        assert!(!certificate.refresh(NOW).unwrap());
        assert!(!certificate.is_outdated());
    }
}

#[test]
fn unusable_files_are_refused_with_the_reason() {
    let folder = Folder::new();
    let key = std::fs::read_to_string(&folder.files.key).unwrap();
    std::fs::set_permissions(&folder.files.key, Permissions::from_mode(0o644)).unwrap();
    let error = folder.error(NOW);
    assert!(
        error.to_string().contains("644") && error.hint().contains("chmod"),
        "{error}"
    );
    std::fs::set_permissions(&folder.files.key, Permissions::from_mode(0o640)).unwrap();
    folder.load(NOW).unwrap();
    for (content, part) in [("", "server.key"), ("nonsense", "server.key")] {
        folder.write_key(content);
        assert!(folder.error(NOW).to_string().contains(part));
    }
    folder.write_key(&self_signed(["a".to_owned()].into_iter(), NOW).unwrap().key);
    assert!(matches!(folder.error(NOW), CertificateError::Mismatch { .. }));
    folder.write_key(&key);
    folder.load(NOW).unwrap();
    assert!(matches!(
        folder.error(NOW + Duration::days(800)),
        CertificateError::Expired { .. }
    ));
    assert!(matches!(
        folder.error(NOW - Duration::days(800)),
        CertificateError::NotYetValid { .. }
    ));
    for content in ["", "text", &key] {
        folder.replace(&folder.files.certificates, content);
        assert!(
            matches!(folder.error(NOW), CertificateError::Unreadable { .. }),
            "{content}"
        );
    }
    std::fs::remove_file(&folder.files.key).unwrap();
    folder.renew(NOW);
    std::fs::remove_file(&folder.files.key).unwrap();
    assert!(folder.error(NOW).to_string().contains("server.key"));
}
