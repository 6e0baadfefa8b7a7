use super::*;
use grov_agent::{Project, ProjectStore};
use grov_agent_store::{AgentDatabase, DatabaseOptions};
use grov_redact::Redacted;
use std::fs;
use std::os::unix::fs::symlink;

fn titles(root: &Path, summary: &mut Summary) -> Vec<String> {
    documents(root, summary)
        .into_iter()
        .map(|(title, _)| title)
        .collect()
}

#[test]
fn documents_are_found_without_what_git_ignores_and_without_links() {
    let outside = tempfile::tempdir().unwrap();
    fs::write(outside.path().join("secret.md"), "secret").unwrap();
    let directory = tempfile::tempdir().unwrap();
    let root = directory.path().canonicalize().unwrap();
    for (path, text) in [
        ("README.md", "# A"),
        ("docs/b.txt", "b"),
        ("docs/a.md", "a"),
        ("src/main.rs", "fn main() {}"),
        ("picture.png", "x"),
        ("target/out.md", "x"),
        (".hidden.md", "x"),
        (".gitignore", "target/\n"),
    ] {
        let path = root.join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
    symlink(outside.path(), root.join("linked")).unwrap();
    symlink(outside.path().join("secret.md"), root.join("linked.md")).unwrap();
    let mut summary = Summary::default();
    assert_eq!(
        titles(&root, &mut summary),
        ["README.md", "docs/a.md", "docs/b.txt", "src/main.rs"]
    );
    assert_eq!((summary.ignored, summary.failed.len()), (1, 0));
    assert!(read(&root, &root.join("linked.md")).is_err());
    assert!(read(&root, &root.join("linked/secret.md")).is_err());
    assert_eq!(read(&root, &root.join("README.md")).unwrap(), b"# A");
}

#[test]
fn a_summary_names_what_failed() {
    let summary = Summary {
        stored: 2,
        failed: vec![("a.md".to_owned(), "no text".to_owned())],
        ..Summary::default()
    };
    assert_eq!(summary.to_json()["failed"][0]["path"], "a.md");
    assert!(summary.to_string().contains("1 failed"));
}

#[tokio::test]
async fn an_import_run_again_stores_what_has_changed() {
    let directory = tempfile::tempdir().unwrap();
    let home = tempfile::tempdir().unwrap();
    let url = format!("sqlite:{}", home.path().join("agent.db").display());
    let database = AgentDatabase::open(&url, &DatabaseOptions::default())
        .await
        .unwrap();
    let project = Project {
        id: ProjectId::fresh(),
        name: "one".to_owned(),
        role_statement: String::new(),
        created_at: SystemClock.now(),
    };
    database.create_project(&Redacted::of(&project)).await.unwrap();
    let store: Arc<dyn AgentStore> = Arc::new(database);
    let request = Import {
        directory: directory.path().to_owned(),
        project: project.id,
        category: Category::Facts,
    };
    let run = async |request: &Import| {
        let parts = Parts {
            store: store.clone(),
            uploads: Uploads::new(home.path().join("uploads")),
            clock: Arc::new(SystemClock),
        };
        let mut lines = Vec::new();
        let summary = import(request, parts, &mut |progress| lines.push(progress.to_string())).await;
        (summary, lines)
    };
    fs::create_dir(directory.path().join("docs")).unwrap();
    fs::write(directory.path().join("docs/a.md"), "# A\ntext").unwrap();
    fs::write(directory.path().join("b.txt"), "text").unwrap();
    fs::write(directory.path().join("broken.md"), b"\xff\xff").unwrap();
    let (summary, lines) = run(&request).await;
    let summary = summary.unwrap();
    assert_eq!(
        (summary.stored, summary.unchanged, summary.failed.len()),
        (2, 0, 1)
    );
    assert_eq!(lines[2], "[3/3] docs/a.md: version 1, 1 chunks");
    fs::write(directory.path().join("b.txt"), "other text").unwrap();
    let (summary, lines) = run(&request).await;
    let summary = summary.unwrap();
    assert_eq!(
        (summary.stored, summary.unchanged, summary.failed.len()),
        (1, 1, 1)
    );
    assert_eq!(lines[0], "[1/3] b.txt: version 2, 1 chunks");
    let foreign = Import {
        project: ProjectId::fresh(),
        ..request
    };
    assert!(
        run(&foreign)
            .await
            .0
            .unwrap_err()
            .to_string()
            .contains("no project")
    );
}
