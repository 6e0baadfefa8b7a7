use super::*;
use std::collections::BTreeMap;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::process::Command;

struct Scene {
    top: tempfile::TempDir,
    tree: PathBuf,
}

impl Scene {
    /// `None` if git is not installed.
    fn new() -> Option<Self> {
        Command::new("git").arg("--version").output().ok()?;
        let top = tempfile::tempdir().unwrap();
        let tree = top.path().canonicalize().unwrap().join("tree");
        std::fs::create_dir(&tree).unwrap();
        let scene = Self { top, tree };
        scene.git(&["init", "-q"]);
        scene.git(&["commit", "-q", "--allow-empty", "-m", "first"]);
        let program = "#!/bin/sh\necho \"$@\" >> \"$(dirname \"$0\")/calls\"\n";
        scene.script(&scene.program(), program);
        Some(scene)
    }

    fn program(&self) -> PathBuf {
        self.top.path().join("grov's")
    }

    fn home(&self) -> PathBuf {
        self.top.path().join("home")
    }

    fn script(&self, path: &Path, text: &str) {
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
        std::fs::set_permissions(path, PermissionsExt::from_mode(0o755)).unwrap();
    }

    fn git(&self, arguments: &[&str]) -> String {
        self.git_in(&self.tree, arguments)
    }

    fn git_in(&self, folder: &Path, arguments: &[&str]) -> String {
        let output = Command::new("git")
            .args([
                "-c",
                "user.name=N",
                "-c",
                "user.email=n@h",
                "-c",
                "init.defaultBranch=main",
            ])
            .args(arguments)
            .current_dir(folder)
            .env_clear()
            .env("PATH", std::env::var_os("PATH").unwrap_or_default())
            .env("HOME", self.top.path())
            .env("GIT_CONFIG_NOSYSTEM", "1")
            .output()
            .unwrap();
        let errors = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(output.status.success(), "git {arguments:?}: {errors}");
        String::from_utf8_lossy(&output.stdout).trim().to_owned()
    }

    fn switch(&self) -> Switch {
        Switch::of(&self.home())
    }

    fn on(&self) -> SwitchChange {
        let command = [
            self.program().display().to_string(),
            "--home".to_owned(),
            "/x".to_owned(),
        ];
        self.switch()
            .on(&Git::at(&self.tree), &self.tree, &command)
            .unwrap()
    }

    fn off(&self) -> SwitchChange {
        self.switch().off(&self.tree).unwrap()
    }

    /// Switches branches and merges; returns how often the program was called.
    fn calls(&self) -> usize {
        let file = self.top.path().join("calls");
        let _ = std::fs::remove_file(&file);
        self.git(&["checkout", "-q", "-B", "feat"]);
        self.git(&["commit", "-q", "--allow-empty", "-m", "x"]);
        self.git(&["checkout", "-q", "main"]);
        self.git(&["merge", "-q", "feat"]);
        let calls = std::fs::read_to_string(&file).unwrap_or_default();
        assert!(
            calls.lines().all(|line| line == "--home /x plans gc --quiet"),
            "{calls}"
        );
        calls.lines().count()
    }

    /// Each file outside of git's objects with its mode and content.
    fn files(&self) -> BTreeMap<PathBuf, (u32, Vec<u8>)> {
        let mut files = BTreeMap::new();
        let mut folders = vec![self.tree.clone()];
        while let Some(folder) = folders.pop() {
            for entry in std::fs::read_dir(&folder).unwrap() {
                let path = entry.unwrap().path();
                let status = std::fs::symlink_metadata(&path).unwrap();
                let content = match () {
                    () if status.is_symlink() => std::fs::read_link(&path)
                        .unwrap()
                        .into_os_string()
                        .into_encoded_bytes(),
                    () if status.is_dir() => {
                        if path
                            .file_name()
                            .is_none_or(|name| name != "objects" && name != "logs")
                        {
                            folders.push(path.clone());
                        }
                        Vec::new()
                    }
                    () => std::fs::read(&path).unwrap(),
                };
                files.insert(path, (status.permissions().mode(), content));
            }
        }
        files
    }

    /// Switches on and off; checks that the program is called meanwhile and that every byte is as before.
    fn check(&self, what: &str) {
        let before = self.files();
        assert!(self.on().changed);
        let changed = self.files();
        assert_ne!(changed, before, "{what}");
        assert!(
            !self.on().changed && self.files() == changed,
            "{what}: on again changes nothing"
        );
        std::fs::create_dir_all(plans_folder(&self.tree)).unwrap();
        std::fs::write(plans_folder(&self.tree).join("x"), "x").unwrap();
        let status = self.git(&["status", "--porcelain"]);
        assert!(!status.contains("??"), "{what}: {status}");
        std::fs::remove_dir_all(self.tree.join(".claude")).unwrap();
        assert_eq!(self.off().notes, [""; 0], "{what}");
        assert_eq!(self.files(), before, "{what}");
        assert!(!self.switch().is_on(&self.tree).unwrap());
        self.on();
        assert_eq!(self.calls(), 3, "{what}");
        self.off();
        assert_eq!(self.calls(), 0, "{what}");
    }
}

#[test]
fn plain_hooks_are_restored_byte_for_byte() {
    let Some(scene) = Scene::new() else { return };
    scene.check("no hooks");
    let calls = scene.tree.join("own-calls");
    let own = |name: &str, text: &str| scene.script(&scene.tree.join(".git/hooks").join(name), text);
    own(
        "post-merge",
        &format!("#!/bin/sh\necho merge >> '{}'\nexit 1", calls.display()),
    );
    own(
        "post-checkout",
        &format!(
            "#!/usr/bin/env bash\nset -eu\necho \"$3\" >> '{}'\n",
            calls.display()
        ),
    );
    std::fs::write(scene.tree.join(".git/info/exclude"), "no line end").unwrap();
    scene.git(&["checkout", "-q", "-B", "main"]);
    std::fs::write(&calls, "").unwrap();
    scene.git(&["add", "own-calls"]);
    scene.git(&["commit", "-q", "-m", "calls"]);
    scene.check("shell hooks");
    std::fs::write(&calls, "").unwrap();
    scene.on();
    scene.git(&["checkout", "-q", "-f", "-B", "other"]);
    scene.git(&["checkout", "-q", "-f", "main"]);
    assert!(
        std::fs::read_to_string(&calls).unwrap().starts_with("1\n"),
        "the hook that was there runs too"
    );
}

#[test]
fn hooks_that_are_no_scripts_are_kept_aside() {
    let Some(scene) = Scene::new() else { return };
    let hooks = scene.tree.join(".git/hooks");
    let seen = scene.top.path().join("seen");
    let text = format!(
        "#!/usr/bin/env -S awk -f\nBEGIN {{ print ARGC >> \"{}\" }}\n",
        seen.display()
    );
    scene.script(&scene.top.path().join("linked"), &text);
    std::fs::create_dir_all(&hooks).unwrap();
    symlink(scene.top.path().join("linked"), hooks.join("post-checkout")).unwrap();
    std::fs::write(hooks.join("post-merge"), "#!/bin/sh\nexit 1\n").unwrap();
    scene.check("a link, and a hook that is not executable");
    let _ = std::fs::remove_file(&seen);
    scene.on();
    scene.git(&["checkout", "-q", "-B", "other"]);
    assert_eq!(
        std::fs::read_to_string(&seen).unwrap(),
        "4\n",
        "with its arguments"
    );
}

#[test]
fn a_folder_of_hooks_in_the_working_tree() {
    let Some(scene) = Scene::new() else { return };
    scene.git(&["config", "core.hooksPath", ".githooks"]);
    scene.check("missing folder");
    scene.script(&scene.tree.join(".githooks/post-merge"), "#!/bin/sh\ntrue\n");
    scene.git(&["add", "."]);
    scene.git(&["commit", "-q", "-m", "hooks"]);
    let notes = scene.on().notes;
    assert!(notes.len() == 1 && notes[0].contains("tracked"), "{notes:?}");
    scene.off();
    assert_eq!(scene.git(&["status", "--porcelain"]), "");
}

#[test]
fn husky_runs_its_own_files() {
    let Some(scene) = Scene::new() else { return };
    // What husky 9 generates.
    let runner = "#!/usr/bin/env sh\nn=$(basename \"$0\")\ns=$(dirname \"$(dirname \"$0\")\")/$n\n[ ! -f \"$s\" ] && exit 0\nsh -e \"$s\" \"$@\"\n";
    scene.script(&scene.tree.join(".husky/_/h"), runner);
    for name in ["post-merge", "post-checkout"] {
        scene.script(
            &scene.tree.join(".husky/_").join(name),
            "#!/usr/bin/env sh\n. \"${0%/*}/h\"",
        );
    }
    std::fs::write(scene.tree.join(".husky/_/.gitignore"), "*").unwrap();
    std::fs::write(scene.tree.join(".husky/post-merge"), "echo hi >/dev/null\n").unwrap();
    scene.git(&["add", "."]);
    scene.git(&["commit", "-q", "-m", "husky"]);
    scene.git(&["config", "core.hooksPath", ".husky/_"]);
    let files = scene.on().files;
    assert!(files.contains(&scene.tree.join(".husky/post-merge")), "{files:?}");
    scene.off();
    scene.check("husky 9");
}

#[test]
fn a_folder_of_hooks_that_two_projects_share() {
    let Some(one) = Scene::new() else { return };
    let Some(two) = Scene::new() else { return };
    let shared = one.top.path().canonicalize().unwrap().join("shared");
    one.script(&shared.join("post-merge"), "#!/bin/sh\ntrue\n");
    let before = std::fs::read(shared.join("post-merge")).unwrap();
    for scene in [&one, &two] {
        scene.git(&["config", "core.hooksPath", &shared.display().to_string()]);
        let command = ["/bin/true".to_owned()];
        one.switch()
            .on(&Git::at(&scene.tree), &scene.tree, &command)
            .unwrap();
    }
    one.switch().off(&one.tree).unwrap();
    assert_ne!(std::fs::read(shared.join("post-merge")).unwrap(), before);
    one.switch().off(&two.tree).unwrap();
    assert_eq!(std::fs::read(shared.join("post-merge")).unwrap(), before);
    assert!(!shared.join("post-checkout").exists());
    assert!(!one.home().join("plans.json").exists());
}

#[test]
fn what_was_done_before_an_error_is_undone() {
    let Some(scene) = Scene::new() else { return };
    std::fs::create_dir(scene.tree.join(".git/hooks/post-checkout.before-grov")).unwrap();
    std::os::unix::fs::symlink("x", scene.tree.join(".git/hooks/post-checkout")).unwrap();
    let before = scene.files();
    let command = [scene.program().display().to_string()];
    let on = scene.switch().on(&Git::at(&scene.tree), &scene.tree, &command);
    assert!(on.is_err());
    assert!(scene.tree.join(".git/hooks/post-merge").exists());
    scene.off();
    assert_eq!(scene.files(), before);
}

#[test]
fn hooks_are_renewed_when_the_program_has_moved() {
    let Some(scene) = Scene::new() else { return };
    let before = scene.files();
    let old = ["/nowhere/grov".to_owned()];
    scene
        .switch()
        .on(&Git::at(&scene.tree), &scene.tree, &old)
        .unwrap();
    assert_eq!(scene.on().files.len(), 2);
    let hook = std::fs::read_to_string(scene.tree.join(".git/hooks/post-merge")).unwrap();
    assert!(!hook.contains("nowhere"), "{hook}");
    scene.off();
    assert_eq!(scene.files(), before);
}

#[test]
fn changes_of_the_user_are_kept() {
    let Some(scene) = Scene::new() else { return };
    let (hook, exclude) = (
        scene.tree.join(".git/hooks/post-merge"),
        scene.tree.join(".git/info/exclude"),
    );
    std::fs::write(&exclude, "a").unwrap();
    scene.on();
    let added = std::fs::read_to_string(&exclude).unwrap() + "b\n";
    std::fs::write(&exclude, added).unwrap();
    std::fs::write(&hook, "#!/bin/sh\nmine\n").unwrap();
    let notes = scene.off().notes;
    assert!(notes.len() == 1 && notes[0].contains("post-merge"), "{notes:?}");
    assert_eq!(std::fs::read_to_string(&exclude).unwrap(), "a\nb\n");
    assert_eq!(std::fs::read_to_string(&hook).unwrap(), "#!/bin/sh\nmine\n");
}

#[test]
fn plans_that_stay_are_still_ignored() {
    let Some(scene) = Scene::new() else { return };
    scene.on();
    crate::PlanDir::find_or_create(&scene.tree, &crate::Branch::of(Some("main"))).unwrap();
    assert_eq!(scene.off().notes.len(), 1);
    assert_eq!(scene.git(&["status", "--porcelain"]), "");
    scene.on();
    assert!(!plans_folder(&scene.tree).join(".gitignore").exists());
}

#[test]
fn only_directories_of_the_project_are_covered() {
    let Some(scene) = Scene::new() else { return };
    let switch = scene.switch();
    let covers = |path: &Path| switch.may_cover(path).unwrap();
    assert!(!covers(&scene.tree));
    scene.git(&["worktree", "add", "-q", "../linked"]);
    scene.on();
    let linked = scene.tree.with_file_name("linked");
    for path in [&scene.tree, &scene.tree.join("src"), &linked.join("deep")] {
        assert!(covers(path), "{}", path.display());
    }
    for path in [
        scene.home(),
        scene.tree.with_file_name("tree2"),
        PathBuf::from("/"),
    ] {
        assert!(!covers(&path), "{}", path.display());
    }
    let later = scene.tree.with_file_name("later");
    scene.git(&["worktree", "add", "-q", "../later"]);
    assert!(!covers(&later));
    switch.renew_trees(&Git::at(&later), &scene.tree).unwrap();
    assert!(covers(&later));
}

#[test]
fn a_broken_record_is_reported() {
    let Some(scene) = Scene::new() else { return };
    std::fs::create_dir(scene.home()).unwrap();
    std::fs::write(scene.home().join("plans.json"), "{").unwrap();
    assert!(matches!(
        scene.switch().may_cover(&scene.tree),
        Err(PlanError::BadRecord { .. })
    ));
}
