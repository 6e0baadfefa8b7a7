use super::*;
use tempfile::TempDir;

fn hosts(names: &[&str]) -> Vec<ServerName> {
    names.iter().map(|name| name.parse().unwrap()).collect()
}

fn api() -> Vec<ServerName> {
    hosts(&["api.anthropic.com"])
}

fn files() -> (TempDir, CaFiles) {
    let directory = tempfile::tempdir().unwrap();
    let files = CaFiles::new(directory.path().join("ca"));
    (directory, files)
}

fn now() -> OffsetDateTime {
    OffsetDateTime::now_utc()
}

fn mode(path: &Path) -> u32 {
    std::fs::metadata(path).unwrap().permissions().mode() & 0o777
}

/// The fingerprint of the authority that signs for the API.
fn signer(authorities: &Authorities, at: OffsetDateTime) -> String {
    authorities.issuer_for(&api()[0], at).unwrap().fingerprint()
}

#[test]
fn an_authority_is_made_once_and_is_private() {
    let (_directory, files) = files();
    assert!(files.load(now()).unwrap().is_none());
    let made = files.ensure(&api(), now()).unwrap();
    let again = files.ensure(&api(), now()).unwrap();
    assert_eq!(made.current.fingerprint(), again.current.fingerprint());
    assert_eq!((mode(files.directory()), mode(&files.key())), (0o700, 0o600));
    assert_eq!(
        std::fs::read_to_string(files.bundle()).unwrap(),
        made.current.pem()
    );
    assert_eq!(again.notes, [""; 0]);
}

#[test]
fn many_at_once_agree_on_one_authority() {
    let (_directory, files) = files();
    let made: Vec<String> = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..8)
            .map(|_| scope.spawn(|| files.ensure(&api(), now()).unwrap().current.fingerprint()))
            .collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).collect()
    });
    assert!(made.iter().all(|fingerprint| *fingerprint == made[0]), "{made:?}");
}

#[test]
fn an_expiring_authority_is_renewed_with_an_overlap() {
    let (_directory, files) = files();
    let first = files.ensure(&api(), now()).unwrap().current;
    let late = first.not_after() - Duration::days(29);
    let renewed = files.ensure(&api(), late).unwrap();
    assert_ne!(renewed.current.fingerprint(), first.fingerprint());
    assert_eq!(
        renewed.bundle(),
        format!("{}{}", renewed.current.pem(), first.pem())
    );
    // A client that started before the renewal knows only the first one.
    assert_eq!(signer(&renewed, late), first.fingerprint());
    assert_eq!(
        signer(&renewed, late + OVERLAP - Duration::hours(1)),
        first.fingerprint()
    );
    assert_eq!(
        signer(&renewed, late + OVERLAP + Duration::hours(1)),
        renewed.current.fingerprint()
    );
    let between = files.ensure(&api(), late + OVERLAP + Duration::hours(1)).unwrap();
    assert!(between.old.is_some(), "its last leaves are still in use");
    let settled = files.ensure(&api(), late + OVERLAP + Duration::days(3)).unwrap();
    assert!(settled.old.is_none());
    assert_eq!(settled.bundle(), renewed.current.pem());
    assert!(!files.old_key().exists());
}

#[test]
fn a_new_host_gets_a_new_authority_and_the_old_hosts_keep_theirs() {
    let (_directory, files) = files();
    let first = files.ensure(&api(), now()).unwrap().current.fingerprint();
    let both = hosts(&["api.anthropic.com", "gateway.example"]);
    let changed = files.ensure(&both, now()).unwrap();
    assert_eq!(signer(&changed, now()), first);
    let gateway = changed.issuer_for(&both[1], now()).unwrap();
    assert_eq!(gateway.fingerprint(), changed.current.fingerprint());
    assert!(
        changed.notes[0].contains("gateway.example"),
        "{:?}",
        changed.notes
    );
    assert!(changed.issuer_for(&hosts(&["other.example"])[0], now()).is_none());
}

#[test]
fn rotation_with_and_without_overlap() {
    let (_directory, files) = files();
    let first = files.ensure(&api(), now()).unwrap().current.fingerprint();
    let rotated = files.rotate(&api(), Overlap::Keep, now()).unwrap();
    assert_eq!(signer(&rotated, now()), first);
    let at_once = files.rotate(&api(), Overlap::None, now()).unwrap();
    assert!(at_once.old.is_none());
    assert_eq!(signer(&at_once, now()), at_once.current.fingerprint());
    assert_eq!(
        files.load(now()).unwrap().unwrap().bundle(),
        at_once.current.pem()
    );
}

/// Damages the files.
type Breaks = fn(&CaFiles);

#[test]
fn unusable_files_are_replaced_and_said() {
    let (_directory, files) = files();
    let mut last = files.ensure(&api(), now()).unwrap().current.fingerprint();
    let broken: [(&str, Breaks); 5] = [
        ("key is missing", |files| {
            std::fs::remove_file(files.key()).unwrap();
        }),
        ("certificate is missing", |files| {
            std::fs::remove_file(files.certificate()).unwrap();
        }),
        ("PEM", |files| {
            std::fs::write(files.certificate(), "junk").unwrap()
        }),
        ("key is not readable", |files| {
            std::fs::write(files.key(), [0xff, 0xfe]).unwrap();
        }),
        ("another one", |files| {
            let other = Authority::create(&api(), now()).unwrap();
            std::fs::write(files.key(), other.key_pem()).unwrap();
        }),
    ];
    for (reason, breaks) in broken {
        let before = files.stamp();
        breaks(&files);
        assert_ne!(files.stamp(), before, "{reason}");
        let replaced = files.ensure(&api(), now()).unwrap();
        assert!(
            replaced.notes.iter().any(|note| note.contains(reason)),
            "{reason}: {:?}",
            replaced.notes
        );
        assert_ne!(replaced.current.fingerprint(), last, "{reason}");
        last = replaced.current.fingerprint();
    }
}

#[test]
fn an_expired_authority_and_one_of_the_future_are_replaced_without_overlap() {
    let (_directory, files) = files();
    let first = files.ensure(&api(), now()).unwrap().current;
    let expired = first.not_after() + Duration::days(1);
    let renewed = files.ensure(&api(), expired).unwrap();
    assert!(renewed.old.is_none() && renewed.current.is_valid(expired));
    // The clock is set right again.
    let right = files.ensure(&api(), now()).unwrap();
    assert!(right.old.is_none() && right.current.is_valid(now()));
    assert!(right.notes[0].contains("not valid yet"), "{:?}", right.notes);
}

#[test]
fn permissions_of_others_are_taken_back_and_said() {
    let (_directory, files) = files();
    files.ensure(&api(), now()).unwrap();
    std::fs::set_permissions(files.key(), Permissions::from_mode(0o644)).unwrap();
    std::fs::set_permissions(files.directory(), Permissions::from_mode(0o755)).unwrap();
    let notes = files.ensure(&api(), now()).unwrap().notes;
    assert_eq!((mode(files.directory()), mode(&files.key())), (0o700, 0o600));
    assert_eq!(notes.len(), 2, "{notes:?}");
    assert!(
        notes[1].contains("ca.key") && notes[1].contains("rotate --now"),
        "{notes:?}"
    );
}

#[test]
fn files_with_the_users_certificates_do_not_pile_up() {
    let (_directory, files) = files();
    files.ensure(&api(), now()).unwrap();
    let first = files.write_bundle_with("MINE", now()).unwrap();
    let second = files.write_bundle_with("OTHER", now()).unwrap();
    assert_ne!(first, second);
    assert!(std::fs::read_to_string(&first).unwrap().ends_with("MINE"));
    let old = std::fs::File::options().write(true).open(&first).unwrap();
    old.set_modified((now() - UNUSED - Duration::hours(1)).into())
        .unwrap();
    files.write_bundle_with("OTHER", now()).unwrap();
    assert!(!first.exists() && second.exists());
    // One that is used again stays.
    files.write_bundle_with("MINE", now()).unwrap();
    files.write_bundle_with("OTHER", now()).unwrap();
    assert!(first.exists());
    files.remove().unwrap();
    assert!(!first.exists() && !second.exists());
    assert!(!files.bundle().exists());
}

#[test]
fn a_file_with_the_users_certificates_is_written_and_cleaned_up_under_the_lock() {
    let (_directory, files) = files();
    files.ensure(&api(), now()).unwrap();
    let first = files.write_bundle_with("MINE", now()).unwrap();
    std::fs::remove_file(&first).unwrap();
    let lock = files.lock().unwrap();
    let other = files.clone();
    let writing = std::thread::spawn(move || other.write_bundle_with("MINE", now()).unwrap());
    // Without the lock it would be there by then. With it, the time does not matter.
    std::thread::sleep(std::time::Duration::from_millis(50));
    assert!(!first.exists());
    drop(lock);
    assert_eq!(writing.join().unwrap(), first);
    assert!(first.exists());
}

#[test]
fn the_stamp_belongs_to_the_authorities() {
    let (_directory, files) = files();
    let (made, stamp) = files.ensure_stamped(&api(), now()).unwrap();
    assert_eq!(stamp, files.stamp());
    files.rotate(&api(), Overlap::Keep, now()).unwrap();
    assert_ne!(stamp, files.stamp());
    let (rotated, stamp) = files.ensure_stamped(&api(), now()).unwrap();
    assert_ne!(made.current.fingerprint(), rotated.current.fingerprint());
    assert_eq!(stamp, files.stamp());
}

#[test]
fn removal_leaves_no_key() {
    let (_directory, files) = files();
    assert!(!files.remove().unwrap());
    files.ensure(&api(), now()).unwrap();
    files.rotate(&api(), Overlap::Keep, now()).unwrap();
    assert!(files.remove().unwrap());
    assert!(!files.remove().unwrap());
    let left: Vec<_> = std::fs::read_dir(files.directory())
        .unwrap()
        .map(|entry| entry.unwrap().file_name())
        .collect();
    assert_eq!(left, ["ca.lock"]);
    assert!(files.load(now()).unwrap().is_none());
}
