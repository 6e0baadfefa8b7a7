//! Tests with repositories written file by file, and with repositories created by git if it is installed.

use super::*;
use crate::Head;
use std::os::unix::fs::symlink;
use std::process::Command;
use tempfile::TempDir;

const COMMIT: &str = "0123456789abcdef0123456789abcdef01234567";

struct Scene {
    _directory: TempDir,
    root: PathBuf,
}

impl Scene {
    fn new() -> Self {
        let directory = tempfile::tempdir().unwrap();
        let root = directory.path().canonicalize().unwrap();
        Self {
            _directory: directory,
            root,
        }
    }

    fn path(&self, relative: &str) -> PathBuf {
        self.root.join(relative)
    }

    fn write(&self, relative: &str, text: &str) -> PathBuf {
        let path = self.path(relative);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, text).unwrap();
        path
    }

    fn folder(&self, relative: &str) -> PathBuf {
        let path = self.path(relative);
        std::fs::create_dir_all(&path).unwrap();
        path
    }

    /// A git directory at `relative`.
    fn git_directory(&self, relative: &str, config: &str) {
        self.write(&format!("{relative}/HEAD"), "ref: refs/heads/main\n");
        self.write(&format!("{relative}/config"), config);
        self.folder(&format!("{relative}/objects"));
        self.folder(&format!("{relative}/refs/heads"));
    }

    /// A linked working tree `tree` of the git directory `common`, as git makes it.
    fn linked(&self, common: &str, tree: &str) {
        let private = format!("{common}/worktrees/linked");
        self.write(&format!("{private}/HEAD"), "ref: refs/heads/topic\n");
        self.write(&format!("{private}/commondir"), "../..\n");
        self.write(
            &format!("{private}/gitdir"),
            &format!("{}\n", self.path(tree).join(".git").display()),
        );
        self.write(
            &format!("{tree}/.git"),
            &format!("gitdir: {}\n", self.path(&private).display()),
        );
    }

    fn root_of(&self, relative: &str) -> PathBuf {
        ProjectLocation::locate(&self.path(relative)).root
    }
}

#[test]
fn a_folder_inside_a_working_tree() {
    let scene = Scene::new();
    scene.git_directory(
        "Repo/.git",
        "[remote \"origin\"]\nurl = https://u:p@h.example/o/r.git\n",
    );
    scene.folder("Repo/src/deep");
    let location = ProjectLocation::locate(&scene.path("Repo/src/deep"));
    assert_eq!(
        (location.root(), location.work_tree()),
        (scene.path("Repo").as_path(), Some(scene.path("Repo").as_path()))
    );
    assert!(location.is_git());
    let project = location.project();
    assert_eq!(project.path.as_deref(), scene.path("Repo").to_str());
    assert_eq!(project.remote.as_deref(), Some("h.example/o/r"));
    assert_eq!(
        scene.root_of("Repo/.git/refs"),
        scene.path("Repo"),
        "inside the git directory as well"
    );
}

#[test]
fn outside_git_the_project_is_the_directory_itself() {
    let scene = Scene::new();
    scene.folder("plain/sub/.git");
    let location = ProjectLocation::locate(&scene.path("plain/sub"));
    assert_eq!(
        location.root(),
        scene.path("plain/sub"),
        "an empty .git is not a repository"
    );
    assert!(!location.is_git() && location.remote().is_none() && location.head() == Head::default());
    assert_eq!(
        ProjectLocation::locate(Path::new("/not/there/../x")).root(),
        Path::new("/not/there/../x")
    );
}

#[test]
fn symbolic_links_are_resolved() {
    let scene = Scene::new();
    scene.git_directory("repo/.git", "");
    scene.folder("repo/src");
    symlink(scene.path("repo/src"), scene.path("link")).unwrap();
    assert_eq!(scene.root_of("link"), scene.path("repo"));
    symlink(scene.path("loop"), scene.path("loop")).unwrap();
    assert_eq!(scene.root_of("loop"), scene.path("loop"));
}

#[test]
fn linked_working_trees_share_the_project() {
    let scene = Scene::new();
    scene.git_directory("repo/.git", "[remote \"up\"]\nurl = git@h.example:o/r\n");
    scene.linked("repo/.git", "elsewhere/tree");
    scene.folder("elsewhere/tree/src");
    let location = ProjectLocation::locate(&scene.path("elsewhere/tree/src"));
    assert_eq!(location.root(), scene.path("repo"));
    assert_eq!(location.work_tree(), Some(scene.path("elsewhere/tree").as_path()));
    assert_eq!(
        location.remote().as_deref(),
        Some("h.example/o/r"),
        "the only remote need not be called origin"
    );
    assert_eq!(location.head().branch.as_deref(), Some("topic"));
    assert_eq!(
        ProjectLocation::locate(&scene.path("repo"))
            .head()
            .branch
            .as_deref(),
        Some("main")
    );
}

#[test]
fn relative_pointers_work_in_both_directions() {
    let scene = Scene::new();
    scene.git_directory("repo/.git", "");
    scene.linked("repo/.git", "tree");
    scene.write("tree/.git", "gitdir: ../repo/.git/worktrees/linked\n");
    scene.write("repo/.git/worktrees/linked/gitdir", "../../../../tree/.git\n");
    assert_eq!(scene.root_of("tree"), scene.path("repo"));
}

#[test]
fn a_bare_repository_is_its_own_project() {
    let scene = Scene::new();
    scene.git_directory("r.git", "[core]\nbare = true\n");
    scene.linked("r.git", "tree");
    let location = ProjectLocation::locate(&scene.path("r.git/objects"));
    assert_eq!(
        (location.root(), location.work_tree()),
        (scene.path("r.git").as_path(), None)
    );
    assert_eq!(scene.root_of("tree"), scene.path("r.git"));
}

#[test]
fn a_bare_repository_inside_the_folder_that_points_to_it() {
    let scene = Scene::new();
    scene.git_directory("project/.bare", "[core]\nbare = true\n");
    scene.write("project/.git", "gitdir: ./.bare\n");
    scene.linked("project/.bare", "project/main");
    assert_eq!(scene.root_of("project/main"), scene.path("project/.bare"));
    assert_eq!(scene.root_of("project"), scene.path("project/.bare"));
}

#[test]
fn a_submodule_is_its_own_project() {
    let scene = Scene::new();
    scene.git_directory("super/.git", "");
    scene.git_directory("super/.git/modules/sub", "[core]\nworktree = ../../../sub\n");
    scene.write("super/sub/.git", "gitdir: ../.git/modules/sub\n");
    scene.linked("super/.git/modules/sub", "tree");
    assert_eq!(scene.root_of("super/sub"), scene.path("super/sub"));
    assert_eq!(
        scene.root_of("tree"),
        scene.path("super/sub"),
        "and so are their working trees"
    );
    assert_eq!(scene.root_of("super"), scene.path("super"));
    assert!(ProjectLocation::locate(&scene.path("super/sub")).is_git());
}

#[test]
fn a_download_cannot_impersonate_another_project() {
    let scene = Scene::new();
    let origin = "[remote \"origin\"]\nurl = https://h.example/secret/r\n";
    scene.git_directory("secret/.git", origin);
    scene.linked("secret/.git", "secret-tree");
    let victim = scene.path("secret/.git").display().to_string();
    let alone = |relative: &str| {
        let location = ProjectLocation::locate(&scene.path(relative));
        assert_eq!(location.root(), scene.path(relative), "{relative}");
        assert_eq!(location.remote(), None, "{relative}");
    };

    scene.write("pointer/.git", &format!("gitdir: {victim}\n"));
    alone("pointer");
    scene.write("to-linked/.git", &format!("gitdir: {victim}/worktrees/linked\n"));
    alone("to-linked");
    // A separate git directory that names the other as its common directory.
    scene.write("common/.git/HEAD", "ref: refs/heads/main");
    scene.write("common/.git/commondir", &victim);
    alone("common");
    scene.write("own/fake/HEAD", "ref: refs/heads/main");
    scene.write("own/fake/commondir", &victim);
    scene.write("own/fake/gitdir", scene.path("own/.git").to_str().unwrap());
    scene.write("own/.git", "gitdir: fake\n");
    assert_eq!(scene.root_of("own"), scene.path("own/fake"));
    assert_eq!(ProjectLocation::locate(&scene.path("own")).remote(), None);
    // The same without a pointer, as a bare repository.
    scene.write("bare/HEAD", "ref: refs/heads/main");
    scene.write("bare/commondir", &victim);
    alone("bare");
    // A configuration that names the other's working tree.
    scene.git_directory(
        "tree",
        &format!("[core]\nworktree = {}\n", scene.path("secret").display()),
    );
    alone("tree");
}

#[test]
fn broken_pointers_fall_back_to_the_folder() {
    let scene = Scene::new();
    for (index, text) in [
        "",
        "gitdir:",
        "gitdir: /nowhere/at/all",
        "gitdir: .git",
        "nonsense",
        "gitdir: \0",
    ]
    .iter()
    .enumerate()
    {
        let folder = format!("broken{index}");
        scene.write(&format!("{folder}/.git"), text);
        scene.folder(&format!("{folder}/src"));
        let location = ProjectLocation::locate(&scene.path(&folder).join("src"));
        assert_eq!(
            (location.root(), location.is_git()),
            (scene.path(&folder).as_path(), false),
            "{text:?}"
        );
    }
    scene.write("huge/.git", &format!("gitdir: {}", "x".repeat(100_000)));
    assert_eq!(scene.root_of("huge"), scene.path("huge"));
}

#[test]
fn a_pipe_in_place_of_a_file_is_not_waited_for() {
    let scene = Scene::new();
    scene.git_directory("repo/.git", "");
    std::fs::remove_file(scene.path("repo/.git/config")).unwrap();
    let made = Command::new("mkfifo")
        .arg(scene.path("repo/.git/config"))
        .arg(scene.path("repo/.git/packed-refs"))
        .status();
    if made.is_ok_and(|status| status.success()) {
        let location = ProjectLocation::locate(&scene.path("repo"));
        assert_eq!((location.remote(), location.head().commit), (None, None));
    }
}

#[test]
fn head_is_resolved_through_loose_and_packed_references() {
    let scene = Scene::new();
    scene.git_directory("repo/.git", "");
    let head = || ProjectLocation::locate(&scene.path("repo")).head();
    let expected = |branch: Option<&str>, commit: Option<&str>| Head {
        branch: branch.map(str::to_owned),
        commit: commit.map(str::to_owned),
    };
    assert_eq!(head(), expected(Some("main"), None), "no commit yet");
    let other = "f".repeat(40);
    scene.write(
        "repo/.git/packed-refs",
        &format!("# pack-refs with: peeled fully-peeled sorted\n{other} refs/heads/mai\n{COMMIT} refs/heads/main\n^{other}\n"),
    );
    assert_eq!(head(), expected(Some("main"), Some(COMMIT)));
    scene.write("repo/.git/refs/heads/main", &format!("{other}\n"));
    assert_eq!(
        head(),
        expected(Some("main"), Some(&other)),
        "a loose reference ranks above a packed one"
    );
    scene.write("repo/.git/refs/heads/main", "ref: refs/heads/next\n");
    scene.write("repo/.git/refs/heads/next", &COMMIT.to_uppercase());
    assert_eq!(head(), expected(Some("main"), Some(COMMIT)));
    scene.write("repo/.git/HEAD", COMMIT);
    assert_eq!(head(), expected(None, Some(COMMIT)));
}

#[test]
fn cyclic_and_dangling_references_have_no_commit() {
    let scene = Scene::new();
    scene.git_directory("repo/.git", "");
    scene.write("repo/.git/refs/heads/main", "ref: refs/heads/main\n");
    scene.write("outside", COMMIT);
    let commit = || ProjectLocation::locate(&scene.path("repo")).head().commit;
    assert_eq!(commit(), None);
    for text in [
        "ref: ../../outside",
        "ref: refs/../../../outside",
        "ref: /etc/passwd",
        "not a commit",
        "",
        "ref:",
    ] {
        scene.write("repo/.git/HEAD", text);
        assert_eq!(commit(), None, "{text}");
    }
    scene.write("repo/.git/HEAD", "ref: refs/heads/.invalid");
    assert_eq!(
        ProjectLocation::locate(&scene.path("repo")).head(),
        Head::default()
    );
}

#[test]
fn the_remote_is_origin_or_the_only_one() {
    let scene = Scene::new();
    let remote = |config: &str| {
        scene.git_directory("repo/.git", config);
        ProjectLocation::locate(&scene.path("repo")).remote()
    };
    assert_eq!(remote(""), None);
    assert_eq!(
        remote(
            "[remote \"a\"]\nurl = h:a/a\n[remote \"origin\"]\nurl = h.example:o/o\nurl = h.example:x/x\n"
        )
        .as_deref(),
        Some("h.example/o/o")
    );
    assert_eq!(
        remote("[remote \"a\"]\nurl = h.example:a/a\n[remote \"b\"]\nurl = h.example:b/b\n"),
        None
    );
    assert_eq!(remote("[remote \"origin\"]\nurl = ../other\n"), None);
    assert_eq!(remote("[remote \"a\"]\nfetch = x\n"), None);
}

#[test]
fn the_user_of_the_repository_takes_precedence() {
    let scene = Scene::new();
    scene.git_directory("repo/.git", "[user]\nemail = repo@h\n");
    scene.write("home/.config/git/config", "[user]\nname = Older\n");
    scene.write("home/work-config", "[user]\nemail = work@h\n");
    scene.write(
        "home/.gitconfig",
        "[user]\nname = Global\nemail = global@h\n[includeIf \"gitdir:~/code/\"]\npath = work-config\n",
    );
    scene.git_directory("home/code/repo/.git", "");
    let home = scene.path("home");
    let user = |relative: &str| {
        ProjectLocation::locate(&scene.path(relative))
            .user(Some(&home))
            .to_string()
    };
    assert_eq!(user("repo"), "Global <repo@h>");
    assert_eq!(user("home"), "Global <global@h>");
    assert_eq!(user("home/code/repo"), "Global <work@h>");
    assert_eq!(
        ProjectLocation::locate(&scene.path("repo"))
            .user(None)
            .to_string(),
        "repo@h"
    );
}

/// Runs git without user and system configuration. Returns `false` if git is not installed.
fn git(folder: &Path, arguments: &[&str]) -> bool {
    let run = Command::new("git")
        .args([
            "-c",
            "user.name=N",
            "-c",
            "user.email=n@h",
            "-c",
            "init.defaultBranch=trunk",
            "-c",
            "protocol.file.allow=always",
        ])
        .args(arguments)
        .current_dir(folder)
        .env_clear()
        .env("PATH", std::env::var_os("PATH").unwrap_or_default())
        .env("HOME", folder)
        .env("GIT_CONFIG_NOSYSTEM", "1")
        .output();
    match run {
        Ok(output) => {
            assert!(
                output.status.success(),
                "git {arguments:?}: {}",
                String::from_utf8_lossy(&output.stderr)
            );
            true
        }
        Err(_) => false,
    }
}

#[test]
fn repositories_created_by_git() {
    let scene = Scene::new();
    let top = scene.root.clone();
    if !git(&top, &["init", "-q", "repo"]) {
        return;
    }
    let repo = scene.path("repo");
    git(&repo, &["commit", "-q", "--allow-empty", "-m", "first"]);
    git(&repo, &["remote", "add", "origin", "git@h.example:o/r.git"]);
    git(&repo, &["config", "user.email", "me@h"]);
    git(&repo, &["worktree", "add", "-q", "-b", "topic", "../tree"]);
    git(&repo, &["pack-refs", "--all"]);
    git(&top, &["clone", "-q", "--bare", "repo", "bare.git"]);
    git(
        &scene.path("bare.git"),
        &["worktree", "add", "-q", "../bare-tree", "trunk"],
    );
    git(
        &top,
        &["init", "-q", "--separate-git-dir", "kept.git", "separate"],
    );
    let bare = scene.path("bare.git").display().to_string();
    git(&repo, &["submodule", "--quiet", "add", &bare, "sub"]);

    assert_eq!(scene.root_of("repo"), repo);
    assert_eq!(scene.root_of("tree"), repo);
    assert_eq!(scene.root_of("bare.git"), scene.path("bare.git"));
    assert_eq!(scene.root_of("bare-tree"), scene.path("bare.git"));
    assert_eq!(scene.root_of("separate"), scene.path("separate"));
    assert_eq!(scene.root_of("repo/sub"), scene.path("repo/sub"));

    let (main, linked) = (
        ProjectLocation::locate(&repo),
        ProjectLocation::locate(&scene.path("tree")),
    );
    assert_eq!(main.remote().as_deref(), Some("h.example/o/r"));
    assert_eq!(linked.remote(), main.remote());
    assert_eq!(main.user(None).to_string(), "me@h");
    assert_eq!(
        (main.head().branch.as_deref(), linked.head().branch.as_deref()),
        (Some("trunk"), Some("topic"))
    );
    let commit = main.head().commit.unwrap();
    assert_eq!(linked.head().commit.as_ref(), Some(&commit));
    assert!(git(&repo, &["cat-file", "-e", &format!("{commit}^{{commit}}")]));
    assert!(
        ProjectLocation::locate(&scene.path("repo/sub"))
            .head()
            .commit
            .is_some()
    );
}
