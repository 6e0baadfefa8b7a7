use super::*;
use crate::Inputs;

fn settings(directory: &Path, environment: &Environment) -> Settings {
    let inputs = Inputs {
        home: &home(directory),
        environment,
        directory: None,
        flags: &[],
    };
    Settings::load(inputs).unwrap()
}

fn home(directory: &Path) -> Home {
    Home::locate(Some(directory), &Environment::default()).unwrap()
}

fn record() -> Record {
    Record::of_this_process("http://127.0.0.1:8080", "1.2.3", OffsetDateTime::UNIX_EPOCH)
}

#[test]
fn a_second_daemon_is_refused_with_the_record_of_the_first() {
    let directory = tempfile::tempdir().unwrap();
    let home = home(directory.path());
    assert!(!is_running(&home));
    let lock = Lock::acquire(&home).unwrap();
    assert!(is_running(&home));
    let starting = Lock::acquire(&home).unwrap_err();
    assert!(starting.to_string().contains("just starting"), "{starting}");
    lock.publish(&record()).unwrap();
    assert_eq!(read(&home), Some(record()));
    let refused = Lock::acquire(&home).unwrap_err().to_string();
    assert!(refused.contains("http://127.0.0.1:8080"), "{refused}");
    assert!(refused.contains(&std::process::id().to_string()), "{refused}");
    drop(lock);
    assert_eq!((read(&home), is_running(&home)), (None, false));
    Lock::acquire(&home).unwrap();
}

#[test]
fn a_daemon_starts_while_others_check_whether_one_is_running() {
    let directory = tempfile::tempdir().unwrap();
    let home = home(directory.path());
    drop(Lock::acquire(&home).unwrap());
    let open = || File::open(home.daemon_lock()).unwrap();
    let checking = std::cell::RefCell::new(Some(open()));
    checking.borrow().as_ref().unwrap().try_lock_shared().unwrap();
    let own = open();
    let long = Duration::from_secs(60);
    lock_within(long, || {
        let tried = own.try_lock();
        // The other process releases the lock.
        checking.take();
        tried
    })
    .unwrap();
    let held = lock_within(Duration::ZERO, || open().try_lock());
    assert!(matches!(held, Err(TryLockError::WouldBlock)));
}

#[cfg(target_os = "linux")]
#[test]
fn a_daemon_that_a_signal_stopped_is_reported_as_stopped() {
    let directory = tempfile::tempdir().unwrap();
    let home = home(directory.path());
    let lock = Lock::acquire(&home).unwrap();
    let mut child = std::process::Command::new("sleep").arg("600").spawn().unwrap();
    let pid = child.id();
    lock.publish(&Record { pid, ..record() }).unwrap();
    assert_eq!(stopped_process(&home), None);
    let signal = |name: &str| {
        let sent = std::process::Command::new("kill")
            .args([name, &pid.to_string()])
            .status();
        assert!(sent.unwrap().success());
    };
    signal("-STOP");
    while stopped_process(&home).is_none() {
        std::thread::yield_now();
    }
    assert_eq!(stopped_process(&home), Some(pid));
    signal("-KILL");
    child.wait().unwrap();
    assert_eq!(stopped_process(&home), None);
}

#[test]
fn a_lock_whose_file_was_deleted_or_replaced_is_not_in_place() {
    let directory = tempfile::tempdir().unwrap();
    let root = directory.path().join("home");
    let home = home(&root);
    home.create().unwrap();
    let first = Lock::acquire(&home).unwrap();
    assert!(first.is_in_place());
    std::fs::remove_dir_all(&root).unwrap();
    assert!(!first.is_in_place());
    home.create().unwrap();
    let second = Lock::acquire(&home).unwrap();
    second.publish(&record()).unwrap();
    assert!(second.is_in_place() && !first.is_in_place());
    drop(first);
    assert_eq!(
        read(&home),
        Some(record()),
        "the record of the second one remains"
    );
}

#[test]
fn the_environment_of_a_daemon_contains_nothing_of_the_client() {
    let kept = [
        ("ANTHROPIC_TARGET", "https://gate.example"),
        ("HOME", "/h"),
        ("HTTPS_PROXY", "http://127.0.0.1:3128"),
        ("PROXY_PORT", "8080"),
        ("GROV_LLM_API_KEY", "own"),
        ("PATH", "/bin"),
        ("LC_ALL", "de_DE.UTF-8"),
        ("XDG_RUNTIME_DIR", "/run/user/1"),
        ("SSL_CERT_FILE", "/etc/ca.pem"),
        ("NO_PROXY", "localhost"),
        ("DRIFT_CHECK_INTERVAL", "5"),
        ("TOKEN_CLEAR_THRESHOLD", "180000"),
    ];
    let dropped = [
        ("AWS_SECRET_ACCESS_KEY", "k"),
        ("GITHUB_TOKEN", "k"),
        ("OPENAI_API_KEY", "k"),
        ("SSH_AUTH_SOCK", "/s"),
        ("DATABASE_URL", "postgres://u:p@h/d"),
        ("GROV_CHAT_API_KEY", "k"),
        ("LD_PRELOAD", "/x.so"),
        ("ANTHROPIC_API_KEY", "k"),
        ("ANTHROPIC_AUTH_TOKEN", "k"),
        ("ANTHROPIC_BASE_URL", "http://127.0.0.1:8080"),
        ("ANTHROPIC_CUSTOM_HEADERS", "x"),
        ("CLAUDECODE", "1"),
        ("CLAUDE_CODE_OAUTH_TOKEN", "k"),
        ("http_proxy", "localhost:8080"),
        ("ALL_PROXY", "http://u:p@[::1]:8080/"),
    ];
    let environment: Environment = kept.into_iter().chain(dropped).collect();
    let directory = tempfile::tempdir().unwrap();
    assert_eq!(
        scrubbed_environment(&environment, &settings(directory.path(), &environment)),
        kept.into_iter().collect()
    );
}

#[test]
fn a_daemon_keeps_the_anthropic_key_that_it_may_spend_and_its_own() {
    let directory = tempfile::tempdir().unwrap();
    for (allowed, kept) in [("true", true), ("false", false)] {
        let environment = Environment::from_iter([
            ("ANTHROPIC_API_KEY", "k"),
            ("ANTHROPIC_AUTH_TOKEN", "t"),
            ("GROV_LLM_API_KEY", "own"),
            ("GROV_LLM_USE_ANTHROPIC_KEY", allowed),
        ]);
        let left = scrubbed_environment(&environment, &settings(directory.path(), &environment));
        assert_eq!(left.get("ANTHROPIC_API_KEY").is_some(), kept, "{allowed}");
        assert_eq!(left.get("ANTHROPIC_AUTH_TOKEN"), None);
        assert_eq!(left.get("GROV_LLM_API_KEY"), Some("own".as_ref()));
    }
}

#[test]
fn a_daemon_keeps_the_login_of_the_client_that_judges() {
    let directory = tempfile::tempdir().unwrap();
    let login = [("CLAUDE_CONFIG_DIR", "/h/c"), ("CLAUDE_CODE_OAUTH_TOKEN", "k")];
    let others = [("ANTHROPIC_API_KEY", "k"), ("CLAUDECODE", "1")];
    let environment: Environment = login.into_iter().chain(others).collect();
    let left = |environment: &Environment| {
        scrubbed_environment(environment, &settings(directory.path(), environment))
    };
    assert_eq!(left(&environment), Environment::default());
    std::fs::write(
        directory.path().join("config.toml"),
        "llm.provider = 'claude_cli'",
    )
    .unwrap();
    assert_eq!(left(&environment), login.into_iter().collect());
}

#[test]
fn a_daemon_keeps_the_keys_that_the_provider_file_names() {
    let directory = tempfile::tempdir().unwrap();
    let environment = Environment::from_iter([("NAMED_KEY", "k"), ("OTHER_KEY", "k"), ("PATH", "/bin")]);
    let home = Home::locate(Some(directory.path()), &environment).unwrap();
    std::fs::write(home.providers_file(), "api_key: ${NAMED_KEY}").unwrap();
    let settings = settings(directory.path(), &environment);
    assert_eq!(
        daemon_environment(&home, &environment, &settings),
        Environment::from_iter([("NAMED_KEY", "k"), ("PATH", "/bin")])
    );
}

#[test]
fn the_record_has_its_documented_shape() {
    let text = serde_json::to_string(&record()).unwrap();
    let pid = std::process::id();
    assert_eq!(
        text,
        format!(
            r#"{{"schema":1,"pid":{pid},"url":"http://127.0.0.1:8080","version":"1.2.3","started_at":"1970-01-01T00:00:00Z"}}"#
        )
    );
}

#[test]
fn a_damaged_record_is_none() {
    let directory = tempfile::tempdir().unwrap();
    let home = home(directory.path());
    for content in ["", "{", "[]", "{\"schema\":1}"] {
        std::fs::write(home.daemon_record(), content).unwrap();
        assert_eq!(read(&home), None);
    }
}

#[test]
fn a_home_that_does_not_exist_is_a_clear_error() {
    let directory = tempfile::tempdir().unwrap();
    let error = Lock::acquire(&home(&directory.path().join("gone")))
        .unwrap_err()
        .to_string();
    assert!(error.contains("daemon.lock"), "{error}");
}
