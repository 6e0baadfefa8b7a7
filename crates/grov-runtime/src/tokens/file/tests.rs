use super::*;
use crate::Environment;
use proptest::prelude::*;
use std::os::unix::fs::PermissionsExt;

const NOW: OffsetDateTime = time::macros::datetime!(2026-01-02 03:04:05 UTC);

fn home(folder: &tempfile::TempDir) -> Home {
    Home::locate(Some(folder.path()), &Environment::default()).unwrap()
}

fn create(home: &Home, name: &str) -> Result<Secret, TokenError> {
    Tokens::update(home, |tokens| tokens.create(name, None, None, NOW))
}

#[test]
fn a_token_is_stored_as_its_hash_only() {
    let folder = tempfile::tempdir().unwrap();
    let home = home(&folder);
    assert_eq!(Tokens::read(&home).unwrap(), Tokens::default());
    let token = create(&home, "ana").unwrap();
    let text = std::fs::read_to_string(home.tokens()).unwrap();
    assert!(text.contains("ana") && !text.contains(token.expose()));
    let mode = |path: &Path| std::fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!((mode(&home.tokens()), mode(&home.tokens_lock())), (0o600, 0o600));
    let tokens = Tokens::read(&home).unwrap();
    assert_eq!(tokens.find(token.expose().as_bytes()).unwrap().name, "ana");
    assert_eq!(tokens.find(b"grov_other"), None);
}

#[test]
fn an_active_name_is_taken_and_a_revoked_one_is_free() {
    let folder = tempfile::tempdir().unwrap();
    let home = home(&folder);
    let first = create(&home, "ana").unwrap();
    assert!(matches!(create(&home, "ana"), Err(TokenError::Taken { .. })));
    let revoke = || Tokens::update(&home, |tokens| Ok(tokens.revoke("ana", NOW).is_some())).unwrap();
    assert!(revoke() && !revoke());
    assert_eq!(
        Tokens::read(&home).unwrap().iter().count(),
        1,
        "it is still listed"
    );
    let second = create(&home, "ana").unwrap();
    assert_ne!(first, second);
    assert_eq!(Tokens::read(&home).unwrap().iter().count(), 1);
}

#[test]
fn names_are_plain() {
    let folder = tempfile::tempdir().unwrap();
    let home = home(&folder);
    for name in ["", "-x", "a b", "a\n", "ä", &"x".repeat(65)] {
        assert!(
            matches!(create(&home, name), Err(TokenError::Name { .. })),
            "{name:?}"
        );
    }
    for name in ["a", "ana@example.com", "build-1_x.y+z", &"x".repeat(64)] {
        create(&home, name).unwrap();
    }
}

#[test]
fn a_newer_or_malformed_file_is_never_overwritten() {
    let folder = tempfile::tempdir().unwrap();
    let home = home(&folder);
    for content in [
        "",
        "[]",
        "{\"schema\":2,\"tokens\":[]}",
        "{\"schema\":1,\"tokens\":[{\"name\":\"a\",\"hash\":\"+1\"}]}",
    ] {
        std::fs::write(home.tokens(), content).unwrap();
        let error = create(&home, "ana").unwrap_err();
        assert!(matches!(error, TokenError::Unreadable { .. }), "{error}");
        assert_eq!(std::fs::read_to_string(home.tokens()).unwrap(), content);
    }
}

#[test]
fn processes_that_change_the_file_at_once_lose_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let home = home(&folder);
    std::thread::scope(|scope| {
        for thread in 0..4 {
            let home = &home;
            scope.spawn(move || {
                for number in 0..10 {
                    create(home, &format!("t{thread}-{number}")).unwrap();
                }
            });
        }
    });
    assert_eq!(Tokens::read(&home).unwrap().iter().count(), 40);
}

proptest! {
    #[test]
    fn any_content_is_parsed_or_refused(content in prop::collection::vec(any::<u8>(), 0..200)) {
        let _ = Tokens::parse(&content);
    }

    #[test]
    fn changed_files_are_parsed_or_refused(at in 0_usize..300, byte in any::<u8>()) {
        let mut tokens = Tokens::default();
        tokens.create("ana", Some(NOW), Some("/x"), NOW).unwrap();
        let mut content = serde_json::to_vec(&tokens).unwrap();
        prop_assert_eq!(Tokens::parse(&content), Ok(tokens));
        let at = at % content.len();
        content[at] = byte;
        let _ = Tokens::parse(&content);
    }
}
