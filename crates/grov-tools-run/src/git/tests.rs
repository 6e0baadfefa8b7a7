use super::*;

/// A repository with a commit on `main`.
struct Repository(tempfile::TempDir);

impl Repository {
    fn new() -> Self {
        let repository = Self(tempfile::tempdir().unwrap());
        repository.git(&["init", "-q", "-b", "main"]);
        repository.write("a.txt", "one\n");
        repository.commit("first");
        repository
    }

    fn git(&self, arguments: &[&str]) {
        let status = Command::new("git")
            .arg("-C")
            .arg(self.0.path())
            .args(["-c", "user.name=T", "-c", "user.email=t@example.com"])
            .args(arguments)
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .status();
        assert!(status.unwrap().success(), "{arguments:?}");
    }

    fn write(&self, path: &str, text: &str) {
        std::fs::write(self.0.path().join(path), text).unwrap();
    }

    fn commit(&self, message: &str) {
        self.git(&["add", "-A"]);
        self.git(&["commit", "-q", "-m", message]);
    }

    fn changes(&self, against: Option<&str>) -> Result<Changes, ToolError> {
        changes(self.0.path(), against, Limits::default())
    }
}

#[test]
fn changes_are_those_since_the_merge_base_and_of_the_working_tree() {
    let repository = Repository::new();
    repository.git(&["checkout", "-q", "-b", "feature"]);
    repository.write("a.txt", "one\ncommitted\n");
    repository.commit("second");
    repository.git(&["checkout", "-q", "main"]);
    repository.write("main-only.txt", "of main\n");
    repository.commit("on main");
    repository.git(&["checkout", "-q", "feature"]);
    repository.write("a.txt", "one\ncommitted\nuncommitted\n");
    repository.write("new.txt", "untracked\n");
    repository.write(".env", "A=1\n");
    let changes = repository.changes(None).unwrap();
    assert_eq!(changes.against, "main");
    let text = &changes.diff.text;
    assert!(
        text.contains("+committed") && text.contains("+uncommitted"),
        "{text}"
    );
    assert!(!text.contains("main-only") && !text.contains("untracked"));
    assert_eq!(changes.untracked, ["new.txt"]);
    assert_eq!(repository.changes(Some("HEAD")).unwrap().diff.added, 1);
}

#[test]
fn unknown_references_and_missing_repositories_are_errors() {
    let repository = Repository::new();
    assert_eq!(
        repository.changes(Some("nowhere")).unwrap_err().kind,
        ErrorKind::NotFound
    );
    assert_eq!(
        repository.changes(Some("--output=x")).unwrap_err().kind,
        ErrorKind::Usage
    );
    let folder = tempfile::tempdir().unwrap();
    assert_eq!(
        changes(folder.path(), None, Limits::default()).unwrap_err().kind,
        ErrorKind::Git
    );
    let empty = Repository(tempfile::tempdir().unwrap());
    empty.git(&["init", "-q"]);
    assert!(empty.changes(None).unwrap_err().message.contains("no commit"));
}

#[test]
fn huge_diffs_stay_within_the_limit() {
    let repository = Repository::new();
    repository.write("long.txt", &"y".repeat(30 * 1024 * 1024));
    repository.write("many.txt", &"line\n".repeat(2_000_000));
    repository.git(&["add", "-A"]);
    let changes = repository.changes(None).unwrap();
    assert!(changes.diff.text.len() < 500 * 1024);
    assert_eq!(changes.diff.added, 2_000_001);
    assert!(
        changes
            .diff
            .omitted
            .iter()
            .any(|note| note.starts_with("many.txt"))
    );
}
