use super::*;
use crate::Prompt;
use grov_redact::Redactor;
use std::collections::BTreeMap;
use std::process::Command;
use time::Duration;
use time::macros::datetime;

const NOW: OffsetDateTime = datetime!(2026-11-26 21:40:05 UTC);

/// A repository with a remote.
struct Repo {
    top: tempfile::TempDir,
    tree: PathBuf,
}

impl Repo {
    /// `None` if git is not installed.
    fn new() -> Option<Self> {
        Command::new("git").arg("--version").output().ok()?;
        let top = tempfile::tempdir().unwrap();
        let tree = top.path().canonicalize().unwrap().join("tree");
        let repo = Self { top, tree };
        std::fs::create_dir(&repo.tree).unwrap();
        repo.git(&["init", "-q"]);
        std::fs::write(repo.tree.join(".git/info/exclude"), "/.claude/plans/\n").unwrap();
        let lines: String = (0..200).map(|line| format!("line {line}\n")).collect();
        std::fs::write(repo.tree.join("shared.txt"), lines).unwrap();
        repo.commit("start");
        let remote = repo.remote();
        repo.git(&["clone", "-q", "--bare", ".", &remote]);
        repo.git(&["remote", "add", "origin", &remote]);
        repo.git(&["fetch", "-q", "origin"]);
        Some(repo)
    }

    fn remote(&self) -> String {
        self.top.path().join("remote.git").display().to_string()
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
                "-c",
                "gc.auto=0",
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

    fn write(&self, name: &str, text: &str) {
        std::fs::write(self.tree.join(name), text).unwrap();
    }

    fn commit(&self, message: &str) {
        self.git(&["add", "."]);
        self.git(&["commit", "-q", "-m", message]);
    }

    /// Changes a line of the shared file.
    fn change_line(&self, line: usize, text: &str) {
        let path = self.tree.join("shared.txt");
        let old = std::fs::read_to_string(&path).unwrap();
        let mut lines: Vec<&str> = old.lines().collect();
        lines[line] = text;
        std::fs::write(&path, lines.join("\n") + "\n").unwrap();
    }

    /// What the git hooks do after a checkout or merge.
    fn hook(&self) -> Collected {
        let collected = collect(&Git::at(&self.tree), options(false)).unwrap();
        assert!(collected.states.is_complete);
        collected
    }

    fn checkout(&self, arguments: &[&str]) {
        self.git(&[&["checkout", "-q"], arguments].concat());
        self.hook();
    }

    fn prompt(&self) {
        let branch = self.git(&["branch", "--show-current"]);
        let prompt = Prompt {
            text: &Redactor::shared().text("Plan it."),
            directory: &self.tree,
            session: None,
            id: None,
            commit: Some(&self.git(&["rev-parse", "HEAD"])),
            at: NOW,
        };
        assert!(crate::capture(&self.tree, &Branch::of(Some(&branch)), &prompt).unwrap());
    }

    /// A branch with a plan and two commits; an odd one has another, in the shared file.
    fn work(&self, name: &str, number: usize) {
        self.checkout(&["-b", name, "main"]);
        self.prompt();
        for part in 0..2 {
            self.write(
                &format!("{}-{part}.txt", name.replace('/', "-")),
                &format!("{name} {part}\n"),
            );
            self.commit(&format!("{name} {part}"));
        }
        if number % 2 == 1 {
            self.change_line(number * 3, &format!("{name} changed this"));
            self.commit(&format!("{name} shared"));
        }
    }

    /// Another commit on the main branch, next to the line of a branch.
    fn main_moves(&self, number: usize) {
        self.git(&["checkout", "-q", "main"]);
        self.write(&format!("main-{number}.txt"), "x\n");
        self.commit(&format!("main {number}"));
    }

    fn names(&self) -> Vec<String> {
        let (plans, faults) = PlanDir::all(&self.tree).unwrap();
        assert!(faults.is_empty(), "{faults:?}");
        let branch = |plan: PlanDir| plan.branch().map(ToString::to_string);
        plans.into_iter().filter_map(branch).collect()
    }

    fn reasons(&self) -> BTreeMap<String, ArchiveReason> {
        let Ok(entries) = std::fs::read_dir(crate::plans_folder(&self.tree).join(".archive")) else {
            return BTreeMap::new();
        };
        let read = |path: PathBuf| std::fs::read_to_string(path.join("archived.json")).unwrap();
        entries
            .map(|entry| serde_json::from_str::<Archived>(&read(entry.unwrap().path())).unwrap())
            .map(|archived| (archived.branch, archived.reason))
            .collect()
    }
}

fn options(dry_run: bool) -> CollectOptions {
    CollectOptions { dry_run, now: NOW }
}

fn merge(repo: &Repo, style: &str, name: &str, number: usize) {
    match style {
        "merge" => {
            repo.main_moves(number);
            repo.hook();
            repo.git(&["merge", "-q", "--no-ff", "--no-edit", name]);
        }
        "squash" => {
            repo.main_moves(number);
            repo.hook();
            repo.git(&["merge", "-q", "--squash", name]);
            repo.git(&["commit", "-q", "-m", &format!("{name} (#{number})")]);
        }
        "rebase" => {
            repo.main_moves(number);
            repo.hook();
            let range = format!("main..{name}");
            repo.git(&["cherry-pick", &range]);
        }
        "forward" => {
            repo.checkout(&["main"]);
            repo.git(&["merge", "-q", "--ff-only", name]);
        }
        "remote" => {
            // Merged at the remote by a clone that has moved on, in one of three ways, and then pulled.
            repo.checkout(&["main"]);
            repo.git(&["push", "-q", "origin", "main", name]);
            let clone = repo.top.path().join(format!("clone-{number}"));
            repo.git(&["clone", "-q", &repo.remote(), &clone.display().to_string()]);
            let at_remote = |arguments: &[&str]| repo.git_in(&clone, arguments);
            std::fs::write(clone.join(format!("other-{number}.txt")), "x\n").unwrap();
            at_remote(&["add", "."]);
            at_remote(&["commit", "-q", "-m", "other"]);
            let branch = format!("origin/{name}");
            match number % 3 {
                0 => at_remote(&["merge", "-q", "--no-ff", "--no-edit", &branch]),
                1 => {
                    at_remote(&["merge", "-q", "--squash", &branch]);
                    at_remote(&["commit", "-q", "-m", "squashed"])
                }
                _ => at_remote(&["cherry-pick", &format!("main~1..{branch}")]),
            };
            at_remote(&["push", "-q", "origin", "main", &format!(":{name}")]);
            repo.git(&["pull", "-q", "--prune", "--ff-only", "origin", "main"]);
        }
        _ => {
            // Merged, and deleted before anybody looked.
            repo.main_moves(number);
            repo.hook();
            repo.git(&["merge", "-q", "--squash", name]);
            repo.git(&["commit", "-q", "-m", name]);
            repo.git(&["branch", "-q", "-D", name]);
        }
    }
    repo.hook();
}

/// Ten branches that are merged in the same way, one after the other; beside them one that stays open.
fn ten_branches(style: &str) {
    let Some(repo) = Repo::new() else { return };
    repo.work("open/branch", 65);
    for number in 0..10 {
        let name = format!("{style}/{number}");
        repo.work(&name, number);
        assert_eq!(
            repo.reasons().get(&name),
            None,
            "{name} is archived before it is merged"
        );
        merge(&repo, style, &name, number);
        assert_eq!(repo.reasons().get(&name), Some(&ArchiveReason::Merged), "{name}");
    }
    assert_eq!(repo.reasons().len(), 10);
    assert_eq!(repo.names(), ["open/branch"]);
}

#[test]
fn ten_branches_with_merge_commits() {
    ten_branches("merge");
}

#[test]
fn ten_squashed_branches() {
    ten_branches("squash");
}

#[test]
fn ten_rebased_branches() {
    ten_branches("rebase");
}

#[test]
fn ten_fast_forwarded_branches() {
    ten_branches("forward");
}

#[test]
fn ten_branches_merged_at_the_remote() {
    ten_branches("remote");
}

#[test]
fn ten_branches_deleted_before_anybody_looked() {
    ten_branches("deleted");
}

#[test]
fn a_squashed_branch_is_recognized_after_the_main_branch_changed_the_same_lines() {
    let Some(repo) = Repo::new() else { return };
    repo.work("feat", 5);
    repo.checkout(&["main"]);
    // Next to the branch's line, so that the patch of the squashed commit has another context.
    repo.change_line(17, "moved");
    repo.commit("next to it");
    repo.git(&["merge", "-q", "--squash", "feat"]);
    repo.write("changelog.txt", "added while merging\n");
    repo.commit("feat (#1)");
    repo.change_line(15, "changed again");
    repo.commit("later");
    repo.hook();
    assert_eq!(repo.reasons().get("feat"), Some(&ArchiveReason::Merged));
}

#[test]
fn a_branch_without_commits_is_not_merged() {
    let Some(repo) = Repo::new() else { return };
    repo.checkout(&["-b", "new"]);
    repo.prompt();
    repo.main_moves(1);
    repo.hook();
    // The branch catches up, and still has no work of its own.
    repo.checkout(&["new"]);
    repo.git(&["merge", "-q", "main"]);
    repo.hook();
    repo.main_moves(2);
    repo.checkout(&["main"]);
    assert_eq!(repo.names(), ["new"]);
}

#[test]
fn a_branch_on_top_of_a_merged_one_is_not_merged() {
    let Some(repo) = Repo::new() else { return };
    repo.work("below", 1);
    repo.checkout(&["-b", "above"]);
    repo.prompt();
    repo.checkout(&["main"]);
    repo.git(&["merge", "-q", "--no-ff", "--no-edit", "below"]);
    repo.hook();
    assert_eq!(repo.names(), ["above"]);
}

#[test]
fn unmerged_work_stays_and_a_partial_merge_is_none() {
    let Some(repo) = Repo::new() else { return };
    repo.work("feat", 1);
    repo.checkout(&["main"]);
    repo.git(&["cherry-pick", "feat~2"]);
    repo.hook();
    assert_eq!(repo.names(), ["feat"]);
    // All of it, and one more commit on the branch.
    repo.git(&["merge", "-q", "--no-ff", "--no-edit", "feat"]);
    repo.git(&["checkout", "-q", "feat"]);
    repo.write("more.txt", "x");
    repo.commit("more");
    repo.checkout(&["main"]);
    assert_eq!(repo.names(), ["feat"]);
}

#[test]
fn a_checked_out_branch_keeps_its_plan() {
    let Some(repo) = Repo::new() else { return };
    repo.work("feat", 1);
    repo.git(&["push", "-q", "-u", "origin", "feat"]);
    repo.git(&["push", "-q", "origin", "feat:main", ":feat"]);
    repo.git(&["fetch", "-q", "--prune"]);
    let states = repo.hook().states;
    assert!(states.plans[0].merged && states.plans[0].checked_out && !states.plans[0].gone);
    assert_eq!(repo.names(), ["feat"]);
    repo.git(&["worktree", "add", "-q", "../other", "main"]);
    repo.git(&["checkout", "-q", "--detach"]);
    repo.git_in(&repo.tree.join("../other"), &["checkout", "-q", "feat"]);
    repo.hook();
    assert_eq!(repo.names(), ["feat"], "in another working tree");
    repo.git(&["worktree", "remove", "../other"]);
    repo.hook();
    assert_eq!(repo.reasons().get("feat"), Some(&ArchiveReason::Merged));
}

#[test]
fn a_renamed_branch_keeps_its_plan() {
    let Some(repo) = Repo::new() else { return };
    repo.work("old", 1);
    repo.prompt();
    repo.git(&["branch", "-m", "new"]);
    repo.write("after.txt", "x");
    repo.commit("after");
    repo.checkout(&["main"]);
    assert_eq!(repo.names(), ["new"]);
    let plan = PlanDir::find(&repo.tree, &Branch::of(Some("new")))
        .unwrap()
        .unwrap();
    assert_eq!(plan.name(), "old", "its directory has the old name");
}

#[test]
fn a_prompt_on_a_renamed_branch_goes_to_its_plan() {
    let Some(repo) = Repo::new() else { return };
    repo.work("old", 1);
    repo.prompt();
    let old = PlanDir::find(&repo.tree, &Branch::of(Some("old")))
        .unwrap()
        .unwrap();
    std::fs::write(old.path().join("plan.md"), "# Old\n").unwrap();
    repo.git(&["branch", "-m", "new"]);
    repo.prompt();
    repo.hook();
    assert_eq!(repo.names(), ["new"]);
    let (plans, _) = PlanDir::all(&repo.tree).unwrap();
    assert_eq!(plans[0].text().unwrap().as_deref(), Some("# Old\n"));
    assert_eq!(plans[0].queries().unwrap().items.len(), 3);
}

#[test]
fn the_plan_of_a_deleted_branch_is_archived_and_never_removed_if_unmerged() {
    let Some(repo) = Repo::new() else { return };
    repo.work("dropped", 1);
    repo.work("done", 2);
    repo.checkout(&["main"]);
    repo.git(&["branch", "-q", "-D", "dropped"]);
    repo.git(&["merge", "-q", "--no-ff", "--no-edit", "done"]);
    let dry = collect(&Git::at(&repo.tree), options(true)).unwrap();
    assert_eq!(
        (dry.archived.len(), repo.names().len()),
        (2, 2),
        "a dry run changes nothing"
    );
    repo.hook();
    let reasons = repo.reasons();
    assert_eq!(reasons["dropped"], ArchiveReason::Deleted);
    assert_eq!(reasons["done"], ArchiveReason::Merged);
    let later = |days| CollectOptions {
        dry_run: false,
        now: NOW + Duration::days(days),
    };
    assert!(
        collect(&Git::at(&repo.tree), later(29))
            .unwrap()
            .removed
            .is_empty()
    );
    let removed = collect(&Git::at(&repo.tree), later(400)).unwrap().removed;
    assert_eq!(removed.len(), 1);
    assert_eq!(repo.reasons().into_keys().collect::<Vec<_>>(), ["dropped"]);
}

#[test]
fn the_plan_of_a_branch_deleted_without_any_work_is_never_removed() {
    let Some(repo) = Repo::new() else { return };
    for name in ["idea", "caught-up"] {
        repo.checkout(&["-b", name, "main"]);
        repo.prompt();
    }
    repo.main_moves(1);
    repo.checkout(&["caught-up"]);
    repo.git(&["merge", "-q", "--ff-only", "main"]);
    repo.hook();
    repo.checkout(&["main"]);
    repo.git(&["branch", "-q", "-D", "idea", "caught-up"]);
    repo.hook();
    let reasons = repo.reasons();
    assert_eq!(reasons["idea"], ArchiveReason::Deleted);
    assert_eq!(reasons["caught-up"], ArchiveReason::Deleted);
    let later = CollectOptions {
        dry_run: false,
        now: NOW + Duration::days(400),
    };
    assert!(collect(&Git::at(&repo.tree), later).unwrap().removed.is_empty());
    assert_eq!(repo.reasons().len(), 2);
}

#[test]
fn a_branch_whose_work_was_discarded_is_not_merged() {
    let Some(repo) = Repo::new() else { return };
    repo.work("feat", 1);
    repo.checkout(&["main"]);
    repo.main_moves(1);
    repo.checkout(&["feat"]);
    repo.git(&["push", "-q", "-u", "origin", "feat"]);
    repo.git(&["reset", "-q", "--hard", "main"]);
    repo.checkout(&["main"]);
    repo.main_moves(2);
    repo.hook();
    assert_eq!(repo.names(), ["feat"]);
    // It starts again, and is merged this time.
    repo.checkout(&["feat"]);
    repo.write("again.txt", "x");
    repo.commit("again");
    repo.checkout(&["main"]);
    assert_eq!(repo.names(), ["feat"]);
    repo.git(&["merge", "-q", "--no-ff", "--no-edit", "feat"]);
    repo.hook();
    assert_eq!(repo.reasons().get("feat"), Some(&ArchiveReason::Merged));
}

#[test]
fn discarded_work_on_top_of_a_merged_branch_is_not_merged() {
    let Some(repo) = Repo::new() else { return };
    repo.work("below", 1);
    repo.checkout(&["-b", "above"]);
    repo.prompt();
    repo.write("above.txt", "x");
    repo.commit("above");
    repo.checkout(&["main"]);
    repo.checkout(&["above"]);
    repo.git(&["reset", "-q", "--hard", "below"]);
    repo.checkout(&["main"]);
    merge(&repo, "squash", "below", 1);
    assert_eq!(repo.names(), ["above"]);
}

#[test]
fn a_branch_set_back_to_the_main_branch_after_its_merge_is_merged() {
    let Some(repo) = Repo::new() else { return };
    repo.work("feat", 1);
    repo.checkout(&["main"]);
    repo.git(&["merge", "-q", "--squash", "feat"]);
    repo.git(&["commit", "-q", "-m", "feat (#1)"]);
    repo.git(&["checkout", "-q", "feat"]);
    repo.git(&["reset", "-q", "--hard", "main"]);
    repo.checkout(&["main"]);
    assert_eq!(repo.reasons().get("feat"), Some(&ArchiveReason::Merged));
}

#[test]
fn a_branch_that_only_the_remote_has_is_not_gone() {
    let Some(repo) = Repo::new() else { return };
    repo.work("feat", 1);
    repo.git(&["push", "-q", "origin", "feat"]);
    repo.checkout(&["main"]);
    repo.git(&["branch", "-q", "-D", "feat"]);
    let states = repo.hook().states;
    assert!(!states.plans[0].gone && !states.plans[0].merged);
    assert_eq!(repo.names(), ["feat"]);
}

#[test]
fn a_directory_that_the_user_made_is_matched_to_its_branch() {
    let Some(repo) = Repo::new() else { return };
    repo.git(&["checkout", "-q", "-b", "feat/a"]);
    let folder = crate::plans_folder(&repo.tree).join("feat-a");
    std::fs::create_dir_all(&folder).unwrap();
    std::fs::write(folder.join("plan.md"), "# A\n").unwrap();
    repo.write("a.txt", "x");
    repo.git(&["add", "a.txt"]);
    repo.git(&["commit", "-q", "-m", "a"]);
    repo.git(&["checkout", "-q", "main"]);
    repo.git(&["merge", "-q", "--no-ff", "--no-edit", "feat/a"]);
    repo.hook();
    assert_eq!(repo.reasons().get("feat/a"), Some(&ArchiveReason::Merged));
}

#[test]
fn nothing_is_written_to_the_repository() {
    let Some(repo) = Repo::new() else { return };
    repo.work("feat", 1);
    repo.checkout(&["main"]);
    repo.change_line(4, "near");
    repo.commit("near");
    let before = repo.git(&["count-objects", "-v"]);
    repo.hook();
    assert_eq!(repo.git(&["count-objects", "-v"]), before);
    let status = repo.git(&["status", "--porcelain"]);
    assert_eq!(status, "");
}

/// A hook that ran out of time recorded the start of the plan, but not that the branch had work.
#[test]
fn a_branch_seen_with_all_its_work_is_recognized_later() {
    let Some(repo) = Repo::new() else { return };
    repo.git(&["checkout", "-q", "-b", "feat"]);
    repo.write("a.txt", "x");
    repo.commit("a");
    repo.git(&["branch", "copy-of-main", "main"]);
    repo.prompt();
    let states = states(&Git::at(&repo.tree)).unwrap();
    assert!(states.plans[0].record.worked, "noted without any comparison");
    repo.checkout(&["main"]);
    repo.git(&["merge", "-q", "--ff-only", "feat"]);
    repo.hook();
    assert_eq!(repo.reasons().get("feat"), Some(&ArchiveReason::Merged));
}

#[test]
fn a_time_limit_leaves_plans_as_they_are() {
    let Some(repo) = Repo::new() else { return };
    repo.work("feat", 1);
    repo.git(&["checkout", "-q", "main"]);
    repo.git(&["merge", "-q", "--no-edit", "feat"]);
    let git = Git::at(&repo.tree).until(std::time::Instant::now());
    assert!(matches!(
        collect(&git, options(false)),
        Err(PlanError::GitTimedOut { .. })
    ));
    assert_eq!(repo.names(), ["feat"]);
}

#[test]
fn git_tells_the_checked_out_branch() {
    let Some(repo) = Repo::new() else { return };
    let commit = Some(repo.git(&["rev-parse", "HEAD"]));
    let head = || Git::at(&repo.tree).head().unwrap();
    assert_eq!(head(), (Branch::of(Some("main")), commit.clone()));
    repo.git(&["checkout", "-q", "--detach"]);
    assert_eq!(head(), (Branch::Detached, commit));
    repo.git(&["checkout", "-q", "--orphan", "new/one"]);
    assert_eq!(head(), (Branch::of(Some("new/one")), None));
}

#[test]
fn another_collection_at_the_same_time_is_refused() {
    let Some(repo) = Repo::new() else { return };
    repo.work("feat", 1);
    let _lock = lock(&crate::plans_folder(&repo.tree)).unwrap();
    assert!(matches!(
        collect(&Git::at(&repo.tree), options(false)),
        Err(PlanError::Busy)
    ));
}

#[test]
fn a_folder_outside_of_git_is_an_error() {
    let folder = tempfile::tempdir().unwrap();
    PlanDir::find_or_create(folder.path(), &Branch::of(Some("x"))).unwrap();
    let found = states(&Git::at(folder.path()));
    assert!(
        matches!(found, Err(PlanError::Git { .. } | PlanError::NoGit(_))),
        "{found:?}"
    );
}
