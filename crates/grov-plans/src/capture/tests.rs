use super::*;
use grov_redact::Redactor;
use std::os::unix::fs::PermissionsExt;
use time::macros::datetime;

struct Scene {
    _tree: tempfile::TempDir,
    root: PathBuf,
}

impl Scene {
    fn new() -> Self {
        let tree = tempfile::tempdir().unwrap();
        let root = tree.path().canonicalize().unwrap();
        std::fs::create_dir_all(root.join("src/deep")).unwrap();
        std::fs::write(root.join("src/main.rs"), "").unwrap();
        std::fs::write(root.join("README.md"), "").unwrap();
        Self { _tree: tree, root }
    }

    fn capture(&self, text: &str, id: Option<&str>) -> Result<bool, PlanError> {
        let prompt = Prompt {
            text: &Redactor::shared().text(text),
            directory: &self.root.join("src"),
            session: Some("s-1"),
            id,
            commit: Some("0123456789012345678901234567890123456789"),
            at: datetime!(2026-11-26 21:40:05 UTC),
        };
        capture(&self.root, &Branch::of(Some("feat/x")), &prompt)
    }

    fn plan(&self) -> PlanDir {
        PlanDir::find(&self.root, &Branch::of(Some("feat/x")))
            .unwrap()
            .unwrap()
    }

    fn prompts(&self) -> Vec<String> {
        let queries = self.plan().queries().unwrap();
        assert_eq!((queries.skipped, queries.is_cut), (0, false));
        queries.items.into_iter().map(|query| query.prompt).collect()
    }
}

#[test]
fn prompts_and_existing_files_are_added_in_order() {
    let scene = Scene::new();
    let text =
        "Fix main.rs, ../README.md; not gone.rs, ../src/main.rs. See (deep) and /etc/passwd\n\"done\" ";
    assert!(scene.capture(text, None).unwrap());
    assert!(scene.capture("Second é", None).unwrap());
    assert_eq!(scene.prompts(), [text, "Second é"]);
    let files: Vec<PathBuf> = scene.plan().files().unwrap().items;
    assert_eq!(files, ["README.md", "src/main.rs"].map(PathBuf::from));
    let query = scene.plan().queries().unwrap().items.remove(0);
    assert_eq!(
        (query.session.as_deref(), query.at.as_deref()),
        (Some("s-1"), Some("2026-11-26T21:40:05Z"))
    );
    let mode = std::fs::metadata(scene.plan().path().join("queries.jsonl"))
        .unwrap()
        .permissions()
        .mode();
    assert_eq!(mode & 0o777, 0o600);
}

#[test]
fn private_text_and_secrets_are_left_out() {
    let scene = Scene::new();
    let token = "ghp_a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8";
    scene
        .capture(
            &format!("use {token} <private>README.md hush</private> now"),
            None,
        )
        .unwrap();
    let text = std::fs::read_to_string(scene.plan().path().join("queries.jsonl")).unwrap();
    assert!(!text.contains(token) && !text.contains("hush"), "{text}");
    assert!(text.contains("now"), "{text}");
}

#[test]
fn a_duplicate_of_the_last_prompt_is_not_added() {
    let scene = Scene::new();
    assert!(scene.capture("one", Some("p1")).unwrap());
    assert!(!scene.capture("one", Some("p1")).unwrap());
    assert!(scene.capture("one", Some("p2")).unwrap());
    assert!(scene.capture("two", Some("p2")).unwrap());
    assert!(scene.capture("no id", None).unwrap());
    assert!(scene.capture("no id", None).unwrap());
    assert!(!scene.capture(" \n", None).unwrap());
    assert_eq!(scene.prompts(), ["one", "one", "two", "no id", "no id"]);
}

#[test]
fn an_interrupted_line_does_not_swallow_the_next() {
    let scene = Scene::new();
    scene.capture("one", None).unwrap();
    let path = scene.plan().path().join("queries.jsonl");
    let text = std::fs::read_to_string(&path).unwrap();
    std::fs::write(&path, format!("{text}{{\"prom")).unwrap();
    scene.capture("two", None).unwrap();
    let queries = scene.plan().queries().unwrap();
    assert_eq!((queries.items.len(), queries.skipped), (2, 1));
}

#[test]
fn nothing_is_added_to_a_huge_list() {
    let scene = Scene::new();
    scene.capture("one", None).unwrap();
    let path = scene.plan().path().join("queries.jsonl");
    std::fs::File::options()
        .write(true)
        .open(&path)
        .unwrap()
        .set_len(MAX_LIST)
        .unwrap();
    assert!(!scene.capture("two", None).unwrap());
    assert_eq!(std::fs::metadata(&path).unwrap().len(), MAX_LIST);
}

#[test]
fn a_link_or_folder_in_place_of_a_list_is_refused() {
    let scene = Scene::new();
    scene.capture("one", None).unwrap();
    let path = scene.plan().path().join("queries.jsonl");
    std::fs::remove_file(&path).unwrap();
    let outside = tempfile::NamedTempFile::new().unwrap();
    std::os::unix::fs::symlink(outside.path(), &path).unwrap();
    assert!(matches!(
        scene.capture("two", None),
        Err(PlanError::Outside { .. })
    ));
    std::fs::remove_file(&path).unwrap();
    std::fs::create_dir(&path).unwrap();
    assert!(matches!(
        scene.capture("two", None),
        Err(PlanError::WrongKind { .. })
    ));
    assert_eq!(outside.as_file().metadata().unwrap().len(), 0);
}

#[test]
fn processes_at_the_same_time_do_not_mix_their_lines() {
    let scene = Scene::new();
    std::thread::scope(|scope| {
        for thread in 0..8 {
            let scene = &scene;
            scope.spawn(move || {
                for number in 0..20 {
                    let text = format!("{thread}-{number} {}", "x".repeat(5000));
                    assert!(scene.capture(&text, Some(&text[..6])).unwrap());
                }
            });
        }
    });
    assert_eq!(scene.prompts().len(), 160);
}

#[test]
fn paths_outside_of_the_project_are_not_looked_up() {
    let scene = Scene::new();
    let outside = tempfile::tempdir().unwrap();
    let outside = outside.path().canonicalize().unwrap();
    // A lookup would follow these links and find files of the project.
    std::os::unix::fs::symlink(scene.root.join("README.md"), outside.join("link.md")).unwrap();
    let absolute = outside.join("link.md").display().to_string();
    let up = "../".repeat(20);
    let of_the_project = scene.root.join("src/main.rs").display().to_string();
    scene
        .capture(
            &format!("see {absolute} and {up}{} and {of_the_project}", &absolute[1..]),
            None,
        )
        .unwrap();
    let files: Vec<PathBuf> = scene.plan().files().unwrap().items;
    assert_eq!(files, [PathBuf::from("src/main.rs")]);
}

#[test]
fn a_path_of_the_project_as_the_user_calls_it_is_found() {
    let scene = Scene::new();
    let other = tempfile::tempdir().unwrap();
    let called = other.path().join("project");
    std::os::unix::fs::symlink(&scene.root, &called).unwrap();
    let text = format!("see {} and deep/../main.rs", called.join("README.md").display());
    let prompt = Prompt {
        text: &Redactor::shared().text(&text),
        directory: &called.join("src"),
        session: None,
        id: None,
        commit: None,
        at: datetime!(2026-11-26 21:40:05 UTC),
    };
    assert!(capture(&called, &Branch::of(Some("feat/x")), &prompt).unwrap());
    let files: Vec<PathBuf> = scene.plan().files().unwrap().items;
    assert_eq!(files, ["README.md", "src/main.rs"].map(PathBuf::from));
}
