//! `grov plans` with real git hooks and the client's prompt hook.

use anyhow::{Context, Result, ensure};
use grov_tests::Grov;
use serde_json::{Value, json};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

struct Project {
    folder: tempfile::TempDir,
    tree: PathBuf,
    grov: Grov,
}

impl Project {
    fn new() -> Result<Self> {
        let folder = tempfile::tempdir()?;
        let tree = folder.path().canonicalize()?.join("tree");
        fs::create_dir(&tree)?;
        let grov = Grov::on(&folder.path().join("grov")).within(&tree);
        let project = Self { folder, tree, grov };
        project.git(&["init", "-q"])?;
        fs::write(project.tree.join("README.md"), "x\n")?;
        project.commit("first")?;
        Ok(project)
    }

    fn git(&self, arguments: &[&str]) -> Result<String> {
        let output = Command::new("git")
            .args([
                "-c",
                "user.name=Ada",
                "-c",
                "user.email=a@h",
                "-c",
                "init.defaultBranch=main",
            ])
            .args(arguments)
            .current_dir(&self.tree)
            .env_clear()
            .env("PATH", std::env::var_os("PATH").unwrap_or_default())
            .env("HOME", self.folder.path())
            .output()
            .context("cannot run git")?;
        let errors = String::from_utf8_lossy(&output.stderr);
        ensure!(output.status.success(), "git {arguments:?}: {errors}");
        Ok(String::from_utf8_lossy(&output.stdout).trim().to_owned())
    }

    fn commit(&self, message: &str) -> Result<()> {
        self.git(&["add", "."])?;
        self.git(&["commit", "-q", "-m", message])?;
        Ok(())
    }

    /// What the client does for a prompt.
    fn prompt(&self, text: &str, directory: &Path) -> Result<()> {
        let input = json!({
            "session_id": "s-1", "hook_event_name": "UserPromptSubmit", "prompt": text, "cwd": directory,
            "prompt_id": text.len().to_string(),
        });
        let ended = self.grov.hook("UserPromptSubmit", &input)?;
        ensure!(ended.code() == Some(0), "{}", ended.stderr);
        Ok(())
    }

    fn json(&self, arguments: &[&str]) -> Result<Value> {
        let answer = self.grov.run_json(&[&["plans"], arguments].concat())?;
        ensure!(answer.code == Some(0), "{arguments:?}: {}", answer.json);
        Ok(answer.json)
    }

    fn lines(&self, file: &str) -> Result<Vec<Value>> {
        let path = self.tree.join(".claude/plans").join(file);
        let text = fs::read_to_string(&path).with_context(|| path.display().to_string())?;
        Ok(text.lines().map(serde_json::from_str).collect::<Result<_, _>>()?)
    }

    fn bytes(&self) -> Result<Vec<(PathBuf, Vec<u8>)>> {
        let mut files = Vec::new();
        for folder in [".git/hooks", ".git/info"] {
            let folder = self.tree.join(folder);
            for entry in fs::read_dir(&folder)? {
                let path = entry?.path();
                files.push((path.clone(), fs::read(&path)?));
            }
        }
        files.sort();
        Ok(files)
    }
}

#[test]
fn a_plan_lives_as_long_as_its_branch() -> Result<()> {
    let project = Project::new()?;
    let before = project.bytes()?;
    project.prompt("before it is on", &project.tree)?;
    ensure!(!project.tree.join(".claude").exists(), "plans are off");
    ensure!(project.json(&["on"])?["changed"] == true);

    project.git(&["checkout", "-q", "-b", "feat/auth"])?;
    fs::create_dir(project.tree.join("src"))?;
    fs::write(project.tree.join("src/login.rs"), "fn main() {}\n")?;
    project.prompt(
        "Add a login to login.rs. <private>for Acme README.md</private> token ghp_a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8",
        &project.tree.join("src"),
    )?;
    project.prompt("before it is done", &project.tree)?;
    let queries = project.lines("feat-auth/queries.jsonl")?;
    assert_eq!(queries.len(), 2);
    let first = queries[0]["prompt"].as_str().context("no prompt")?;
    assert!(first.starts_with("Add a login to login.rs."), "{first}");
    assert!(!first.contains("Acme") && !first.contains("ghp_"), "{first}");
    assert_eq!(
        project.lines("feat-auth/files.jsonl")?,
        [json!({"path": "src/login.rs"})]
    );

    fs::write(
        project.tree.join(".claude/plans/feat-auth/plan.md"),
        "# Login\n\n## Status: draft\n",
    )?;
    let approved = project.json(&["approve", "feat/auth", "--by", "Ada"])?;
    assert_eq!(approved["plans"][0]["status"], "approved");
    let shown = project.json(&["show"])?;
    let text = shown["text"].as_str().context("no text")?;
    assert!(text.contains("## Status: approved (Ada, "), "{text}");
    assert_eq!(project.git(&["status", "--porcelain"])?, "?? src/");

    project.commit("login")?;
    project.git(&["checkout", "-q", "main"])?;
    let listed = project.json(&["list"])?;
    let plan = &listed["plans"][0];
    assert_eq!(
        [
            &plan["branch"],
            &plan["queries"],
            &plan["files"],
            &plan["merged"],
            &plan["gone"]
        ],
        [
            &json!("feat/auth"),
            &json!(2),
            &json!(1),
            &json!(false),
            &json!(false)
        ]
    );
    // The hook that git runs archives it.
    project.git(&["merge", "-q", "--ff-only", "feat/auth"])?;
    assert_eq!(project.json(&["list"])?["plans"], json!([]));
    let archive = project.tree.join(".claude/plans/.archive");
    let archived: Vec<_> = fs::read_dir(&archive)?.flatten().collect();
    assert_eq!(archived.len(), 1);
    assert!(archived[0].path().join("plan.md").is_file());

    // By hand, after a squash.
    project.git(&["checkout", "-q", "-b", "fix"])?;
    project.prompt("fix it", &project.tree)?;
    fs::write(project.tree.join("fix.txt"), "x\n")?;
    project.commit("fix")?;
    project.git(&["checkout", "-q", "main"])?;
    project.git(&["merge", "-q", "--squash", "fix"])?;
    project.git(&["commit", "-q", "-m", "fix (#1)"])?;
    for arguments in [&["cleanup", "--dry-run"][..], &["gc"]] {
        let cleaned = project.json(arguments)?;
        let (plan, archived) = (&cleaned["plans"][0], &cleaned["archived"][0]);
        assert_eq!(
            [&plan["branch"], &plan["merged"], &plan["queries"]],
            [&json!("fix"), &json!(true), &json!(1)],
            "{cleaned}"
        );
        assert_eq!(
            [&archived["branch"], &archived["reason"]],
            [&json!("fix"), &json!("merged")]
        );
    }
    assert_eq!(project.json(&["gc"])?["archived"], json!([]));

    project.json(&["off"])?;
    assert_eq!(project.bytes()?, before);
    assert_eq!(project.git(&["status", "--porcelain"])?, "");
    Ok(())
}

#[test]
fn uninstall_switches_plans_off() -> Result<()> {
    let project = Project::new()?;
    let before = project.bytes()?;
    project.json(&["on"])?;
    assert_ne!(project.bytes()?, before);
    let answer = project.grov.run_json(&["uninstall", "--dry-run"])?.json;
    assert_eq!(answer["plans"][0], json!(project.tree), "{answer}");
    assert_ne!(project.bytes()?, before);
    project.grov.run_json(&["uninstall"])?;
    assert_eq!(project.bytes()?, before);
    Ok(())
}

#[test]
fn an_empty_list_does_not_tell_to_switch_on_what_is_on() -> Result<()> {
    let project = Project::new()?;
    let listed = || -> Result<String> { Ok(project.grov.run(&["plans", "list"])?.stdout) };
    assert!(listed()?.contains("`grov plans on`"));
    project.json(&["on"])?;
    let listed = listed()?;
    assert!(
        listed.contains("plans are on") && !listed.contains("`grov plans on`"),
        "{listed}"
    );
    Ok(())
}

#[test]
fn errors_say_what_to_do() -> Result<()> {
    let project = Project::new()?;
    let outside = Grov::on(&project.folder.path().join("grov"));
    for (grov, arguments, code, kind) in [
        (&outside, &["plans", "list"][..], 2, "no_repository"),
        (&project.grov, &["plans", "show"], 1, "no_plan"),
        (&project.grov, &["plans", "approve", "none"], 1, "no_plan"),
        (&project.grov, &["plans", "archive", "../x"], 1, "no_plan"),
    ] {
        let answer = grov.run_json(arguments)?;
        assert_eq!(
            (answer.code, &answer.json["error"]["kind"]),
            (Some(code), &json!(kind)),
            "{arguments:?}"
        );
        assert!(answer.json["error"]["hint"].is_string(), "{arguments:?}");
    }
    // A git hook never fails, and prints nothing.
    for grov in [&outside, &project.grov] {
        fs::create_dir_all(project.folder.path().join("grov"))?;
        fs::write(project.folder.path().join("grov/config.toml"), "broken")?;
        let ended = grov.run(&["plans", "gc", "--quiet"])?;
        assert_eq!(
            (ended.code(), ended.stdout.as_str(), ended.stderr.as_str()),
            (Some(0), "", "")
        );
    }
    Ok(())
}
