use super::*;
use std::os::unix::fs::symlink;

fn named(name: &str) -> Branch {
    Branch::of(Some(name))
}

fn tree() -> (tempfile::TempDir, PathBuf) {
    let tree = tempfile::tempdir().unwrap();
    let root = tree.path().canonicalize().unwrap();
    (tree, root)
}

#[test]
fn two_names_that_sanitize_alike_have_two_directories() {
    let (_tree, root) = tree();
    let slash = PlanDir::find_or_create(&root, &named("feat/auth")).unwrap();
    let dash = PlanDir::find_or_create(&root, &named("feat-auth")).unwrap();
    assert_eq!(slash.name(), "feat-auth");
    assert!(dash.name().starts_with("feat-auth-"), "{}", dash.name());
    for plan in [&slash, &dash] {
        let branch = plan.branch().unwrap();
        assert_eq!(PlanDir::find(&root, branch).unwrap().as_ref(), Some(plan));
        assert_eq!(&PlanDir::find_or_create(&root, branch).unwrap(), plan);
    }
    assert_eq!(
        std::fs::read_to_string(slash.path().join("branch")).unwrap(),
        "feat/auth\n"
    );
    std::fs::remove_dir_all(slash.path()).unwrap();
    assert_eq!(
        PlanDir::find(&root, &named("feat-auth")).unwrap(),
        Some(dash),
        "also without the other"
    );
}

#[test]
fn the_plan_of_a_renamed_branch_is_found_by_its_new_name() {
    let (_tree, root) = tree();
    let plan = PlanDir::find_or_create(&root, &named("before")).unwrap();
    std::fs::write(plan.path().join("plan.md"), "# X\n").unwrap();
    std::fs::write(plan.path().join("branch"), "after\n").unwrap();
    let found = PlanDir::find(&root, &named("after")).unwrap().unwrap();
    assert_eq!(found.path(), plan.path());
    assert_eq!(PlanDir::find_or_create(&root, &named("after")).unwrap(), found);
    assert_eq!(PlanDir::find(&root, &named("before")).unwrap(), None);
}

#[test]
fn a_directory_of_the_user_belongs_to_the_branch_with_its_name() {
    let (_tree, root) = tree();
    let folder = plans_folder(&root).join("feat-auth");
    std::fs::create_dir_all(&folder).unwrap();
    std::fs::write(folder.join("plan.md"), "# X\n\n## Status: approved\n").unwrap();
    let plan = PlanDir::find(&root, &named("feat/auth")).unwrap().unwrap();
    assert_eq!(
        (plan.path(), plan.status().unwrap()),
        (folder.as_path(), Some((Status::Approved, None)))
    );
    assert_eq!(PlanDir::find(&root, &named("feat/other")).unwrap(), None);
    PlanDir::find_or_create(&root, &named("feat/auth")).unwrap();
    let other = PlanDir::find_or_create(&root, &named("feat-auth")).unwrap();
    assert_ne!(other.path(), folder, "it is recorded by now");
}

#[test]
fn a_detached_head_has_its_own_plan() {
    let (_tree, root) = tree();
    let branch = PlanDir::find_or_create(&root, &named("detached")).unwrap();
    let detached = PlanDir::find_or_create(&root, &Branch::Detached).unwrap();
    assert_ne!(branch.path(), detached.path());
    assert_eq!(PlanDir::find(&root, &Branch::Detached).unwrap(), Some(detached));
}

#[test]
fn what_is_no_plan_directory_is_refused() {
    let (_tree, root) = tree();
    let outside = tempfile::tempdir().unwrap();
    let folder = plans_folder(&root);
    std::fs::create_dir_all(&folder).unwrap();
    std::fs::write(folder.join("file"), "x").unwrap();
    symlink(outside.path(), folder.join("link")).unwrap();
    for name in ["file", "link"] {
        let (found, made) = (
            PlanDir::find(&root, &named(name)),
            PlanDir::find_or_create(&root, &named(name)),
        );
        assert!(
            matches!(
                (&found, name),
                (Err(PlanError::WrongKind { .. }), "file") | (Err(PlanError::Outside { .. }), "link")
            ),
            "{found:?}"
        );
        assert!(made.is_err(), "{made:?}");
        assert!(PlanDir::open(&root, &folder.join(name)).is_err());
    }
    assert!(PlanDir::open(&root, &folder.join("none")).is_err());
    assert!(PlanDir::open(&root, outside.path()).is_err());
    let (plans, faults) = PlanDir::all(&root).unwrap();
    assert!(
        plans.is_empty() && matches!(faults.as_slice(), [PlanError::Outside { .. }]),
        "{faults:?}"
    );
    std::fs::remove_dir_all(&folder).unwrap();
    symlink(outside.path(), &folder).unwrap();
    assert!(matches!(PlanDir::all(&root), Err(PlanError::Outside { .. })));
    assert!(matches!(
        PlanDir::find_or_create(&root, &named("x")),
        Err(PlanError::Outside { .. })
    ));
    assert_eq!(std::fs::read_dir(outside.path()).unwrap().count(), 0);
}

#[test]
fn a_file_in_place_of_the_folder_is_an_error() {
    let (_tree, root) = tree();
    std::fs::write(root.join(".claude"), "x").unwrap();
    assert!(matches!(PlanDir::all(&root), Err(PlanError::WrongKind { .. })));
    assert!(PlanDir::find_or_create(&root, &named("x")).is_err());
}

#[test]
fn only_existing_files_of_the_project_are_listed() {
    let (_tree, root) = tree();
    let outside = tempfile::tempdir().unwrap();
    std::fs::write(outside.path().join("secret"), "x").unwrap();
    symlink(outside.path().join("secret"), root.join("link")).unwrap();
    std::fs::write(root.join("a.rs"), "x").unwrap();
    let plan = PlanDir::find_or_create(&root, &named("x")).unwrap();
    let secret = outside.path().join("secret").display().to_string();
    let paths = [
        "a.rs",
        "a.rs",
        "gone.rs",
        "link",
        "../x",
        secret.as_str(),
        ".claude",
    ];
    let lines: String = paths
        .iter()
        .map(|path| format!("{{\"path\":\"{path}\"}}\n"))
        .collect();
    std::fs::write(plan.path().join("files.jsonl"), lines).unwrap();
    let files = plan.files().unwrap();
    assert_eq!((files.items, files.skipped), (vec![PathBuf::from("a.rs")], 5));
    let mentioned = plan.mentioned_files().unwrap();
    assert_eq!(
        (mentioned.items.len(), mentioned.skipped),
        (4, 2),
        "{mentioned:?}"
    );
}

#[test]
fn a_link_in_place_of_a_plan_or_list_is_not_read() {
    let (_tree, root) = tree();
    std::fs::write(root.join(".env"), "{\"prompt\":\"KEY=1\",\"path\":\"a.rs\"}\n").unwrap();
    let plan = PlanDir::find_or_create(&root, &named("x")).unwrap();
    for name in [PLAN, QUERIES, FILES] {
        symlink(root.join(".env"), plan.path().join(name)).unwrap();
    }
    assert!(matches!(plan.text(), Err(PlanError::WrongKind { .. })));
    assert!(matches!(plan.queries(), Err(PlanError::WrongKind { .. })));
    assert!(matches!(plan.mentioned_files(), Err(PlanError::WrongKind { .. })));
    assert!(matches!(plan.files(), Err(PlanError::WrongKind { .. })));
}

#[test]
fn files_of_git_and_plans_are_no_mentioned_files() {
    let (_tree, root) = tree();
    let plan = PlanDir::find_or_create(&root, &named("x")).unwrap();
    std::fs::create_dir_all(root.join("module/.git")).unwrap();
    std::fs::create_dir(root.join(".git")).unwrap();
    for path in [".git/config", "module/.git/config", "a.rs"] {
        std::fs::write(root.join(path), "x").unwrap();
    }
    symlink(".git/config", root.join("link")).unwrap();
    let paths = [
        ".git/config",
        ".GIT/config",
        "module/.git/config",
        ".claude/plans/x/branch",
        "link",
        "a.rs",
    ];
    let lines: String = paths
        .iter()
        .map(|path| format!("{{\"path\":\"{path}\"}}\n"))
        .collect();
    std::fs::write(plan.path().join(FILES), lines).unwrap();
    let mentioned = plan.mentioned_files().unwrap();
    assert_eq!(
        (mentioned.items, mentioned.skipped),
        (["link", "a.rs"].map(PathBuf::from).to_vec(), 4)
    );
    let files = plan.files().unwrap();
    assert_eq!((files.items, files.skipped), (vec![PathBuf::from("a.rs")], 5));
}
