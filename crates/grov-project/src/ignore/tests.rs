use super::task::MASK;
use super::*;
use grov_domain::{Decision, FilePin, Task};
use proptest::prelude::*;
use std::fs;
use tempfile::TempDir;

/// A project with this `.grovignore`.
fn project(text: impl AsRef<[u8]>) -> (TempDir, GrovIgnore) {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join(NAME), text).unwrap();
    let ignore = GrovIgnore::load(folder.path());
    (folder, ignore)
}

fn task(texts: &[&str], files: &[&str]) -> Task {
    let owned = |texts: &[&str]| texts.iter().map(ToString::to_string).collect::<Vec<_>>();
    Task {
        goal: Some(texts.join(" or ")),
        reasoning_trace: owned(texts),
        files_touched: owned(files),
        decisions: texts
            .iter()
            .map(|text| Decision {
                choice: "as follows".to_owned(),
                reason: (*text).to_owned(),
            })
            .collect(),
        constraints: owned(texts),
        tags: owned(texts),
        file_pins: files
            .iter()
            .map(|path| FilePin {
                path: (*path).to_owned(),
                hash: None,
            })
            .collect(),
        ..Task::new("t", "/p", &texts.join(" and "))
    }
}

#[test]
fn without_a_file_nothing_is_ignored() {
    let folder = tempfile::tempdir().unwrap();
    let ignore = GrovIgnore::load(folder.path());
    assert!(ignore.is_empty() && ignore.problems().is_empty());
    assert!(!ignore.ignores("secret/plan.md"));
    for text in ["", "\n\n", "# nothing but words\n"] {
        assert!(project(text).1.is_empty(), "{text:?}");
    }
}

#[test]
fn patterns_mean_what_they_mean_to_git() {
    let (_folder, ignore) = project(
        "# what is ours\n\nsecret/\n*.pem\r\n/only-here\ndocs/**/draft.md\n!keep.pem\nsecret/but.md\n!secret/but.md\n\
         odd {name}/\n\\#hash\nspace\\ \n[ab].key\n",
    );
    assert_eq!(ignore.problems(), []);
    for path in [
        "secret",
        "secret/",
        "secret/plan.md",
        "a/secret/b/c.md",
        // A path in an ignored folder cannot be re-included.
        "secret/but.md",
        "key.pem",
        "a/key.pem",
        "only-here",
        "only-here/x",
        "docs/draft.md",
        "docs/a/b/draft.md",
        "odd {name}/x",
        "#hash",
        "a.key",
    ] {
        assert!(ignore.ignores(path), "{path}");
    }
    for path in [
        "",
        "src/lib.rs",
        "secrets/plan.md",
        "keep.pem",
        "a/keep.pem",
        "a/only-here",
        "other/draft.md",
        "odd name/x",
        "c.key",
    ] {
        assert!(!ignore.ignores(path), "{path}");
    }
}

#[test]
fn an_allow_list_of_negated_patterns_works() {
    let (_folder, ignore) = project("*\n!*/\n!*.rs\n");
    assert!(!ignore.ignores("src/lib.rs"));
    assert!(ignore.ignores("src/notes.md"));
}

#[test]
fn a_path_may_be_absolute_and_go_up_and_down() {
    let (folder, ignore) = project("/secret/\n*.pem\n");
    let root = folder.path().to_str().unwrap();
    for path in [
        format!("{root}/secret/x"),
        format!("{root}/./src/../secret/x"),
        format!("{root}/src/../secret"),
        "src/../secret/x".to_owned(),
        "./secret/x".to_owned(),
        "src//..//secret//x".to_owned(),
        format!(
            "../{}/secret/x",
            folder.path().file_name().unwrap().to_str().unwrap()
        ),
        // A path outside the project is matched by its names.
        "/elsewhere/key.pem".to_owned(),
        "../../key.pem".to_owned(),
    ] {
        assert!(ignore.ignores(&path), "{path}");
    }
    for path in [
        format!("{root}/secret/../src/x"),
        format!("{root}/src/secret/x"),
        root.to_owned(),
        "secret/..".to_owned(),
        "..".to_owned(),
        "/".to_owned(),
        "/elsewhere/secret/x".to_owned(),
    ] {
        assert!(!ignore.ignores(&path), "{path}");
    }
}

#[cfg(unix)]
#[test]
fn a_folder_reached_through_a_link_is_the_same_folder() {
    let (folder, _) = project("/secret/\n");
    let elsewhere = tempfile::tempdir().unwrap();
    let link = elsewhere.path().join("link");
    std::os::unix::fs::symlink(folder.path(), &link).unwrap();
    let ignore = GrovIgnore::load(&link);
    for root in [&link, &folder.path().canonicalize().unwrap()] {
        assert!(ignore.ignores(&format!("{}/secret/x", root.display())));
    }
}

#[test]
fn both_files_of_a_linked_working_tree_apply() {
    let folder = tempfile::tempdir().unwrap();
    let top = folder.path().canonicalize().unwrap();
    let (main, linked) = (top.join("main"), top.join("linked"));
    let own = main.join(".git/worktrees/linked");
    for path in [&own, &main.join(".git/objects"), &main.join(".git/refs"), &linked] {
        fs::create_dir_all(path).unwrap();
    }
    for (path, text) in [
        (main.join(".git/HEAD"), "ref: refs/heads/main\n".to_owned()),
        (own.join("HEAD"), "ref: refs/heads/other\n".to_owned()),
        (own.join("commondir"), "../..\n".to_owned()),
        (own.join("gitdir"), format!("{}/.git\n", linked.display())),
        (linked.join(".git"), format!("gitdir: {}\n", own.display())),
        (main.join(NAME), "/mine/\n".to_owned()),
        (linked.join(NAME), "/theirs/\n".to_owned()),
    ] {
        fs::write(path, text).unwrap();
    }
    let location = ProjectLocation::locate(&linked);
    assert_eq!(location.root(), main);
    let ignore = GrovIgnore::at(&location);
    for path in ["mine/x".to_owned(), "theirs/x".to_owned()] {
        assert!(ignore.ignores(&path), "{path}");
    }
    assert!(ignore.ignores(&format!("{}/mine/x", main.display())));
    assert!(ignore.ignores(&format!("{}/theirs/x", linked.display())));
    assert!(!ignore.ignores("ours/x"));
}

#[test]
fn an_invalid_line_is_reported_and_skipped() {
    let (folder, ignore) = project(b"good/\n[z-a]\n\xff\xfe\nalso-good\n".as_slice());
    let lines: Vec<_> = ignore.problems().iter().map(|problem| problem.line).collect();
    assert_eq!(lines, [Some(2), Some(3)]);
    let text = ignore.problems()[0].to_string();
    assert!(
        text.starts_with(&format!("{}:2: ", folder.path().join(NAME).display())),
        "{text}"
    );
    assert!(!text.contains("z-a]"), "the line itself is not repeated: {text}");
    assert!(ignore.ignores("good/x") && ignore.ignores("also-good") && !ignore.ignores("z"));
}

#[test]
fn an_unusable_file_ignores_everything() {
    let large = "x\n".repeat(usize::try_from(MAX_BYTES).unwrap());
    let many: String = (0..=MAX_PATTERNS)
        .map(|number| format!("pattern-{number}\n"))
        .collect();
    let folder = tempfile::tempdir().unwrap();
    fs::create_dir(folder.path().join(NAME)).unwrap();
    for ignore in [project(large).1, project(many).1, GrovIgnore::load(folder.path())] {
        assert!(ignore.ignores("src/lib.rs") && !ignore.is_empty());
        let [problem] = ignore.problems() else {
            panic!("{:?}", ignore.problems())
        };
        assert!(
            problem.line.is_none() && problem.reason.contains("everything"),
            "{problem}"
        );
    }
}

#[test]
fn parts_of_a_task_that_name_an_ignored_path_are_removed() {
    let (_folder, ignore) = project("secret/\n*.pem\n.env\nsecret plans/\n");
    for text in [
        "wrote secret/plan.md",
        "see (secret/plan.md).",
        "see [the plan](secret/plan.md)",
        "compare a.rs,secret/b.rs:12:3",
        "path=./secret/x; done",
        "the folder `secret` is new",
        "reads \"secret plans/x.md\" first",
        "keeps it in .env.",
        "@server.pem is loaded",
        "moved to /other/location/secret/x",
    ] {
        let kept = without_ignored(task(&[text, "harmless words"], &["src/a.rs"]), &ignore);
        assert_eq!(kept.reasoning_trace, ["harmless words"], "{text}");
        assert_eq!(kept.constraints, ["harmless words"], "{text}");
        assert_eq!(kept.tags, ["harmless words"], "{text}");
        assert_eq!(kept.decisions.len(), 1, "{text}");
        for shown in [&kept.original_query, kept.goal.as_ref().unwrap()] {
            assert!(
                shown.contains(MASK) && shown.contains("harmless words"),
                "{text}: {shown}"
            );
            assert!(
                !["secret/", "secret plans", ".env", ".pem", "`secret`"]
                    .iter()
                    .any(|path| shown.contains(path)),
                "{text}: {shown}"
            );
        }
    }
}

#[test]
fn parts_of_a_task_without_ignored_paths_are_kept() {
    let (_folder, ignore) = project("secret/\n*.pem\nMakefile\n");
    let texts = [
        "the secret is rotated",
        "as https://example.com/secret/x says",
        "writes and/or reads, e.g. HTTP/1.1",
        "a secrets/plan.md of another folder",
        "the Makefile of another project",
        "it's \"so\" and 'so' `x`",
    ];
    let before = task(&texts, &["src/a.rs"]);
    assert_eq!(without_ignored(before.clone(), &ignore), before);
    assert_eq!(without_ignored(before.clone(), &GrovIgnore::default()), before);
}

#[test]
fn the_name_of_a_touched_ignored_file_is_masked() {
    let (_folder, ignore) = project("secret/\n");
    let texts = [
        "changed plan.md",
        "changed src/plan.md",
        "changed plan.mdx",
        "credentials are read",
    ];
    let kept = without_ignored(
        task(
            &texts,
            &["secret/plan.md", "secret/sub/credentials", "src/plan.md"],
        ),
        &ignore,
    );
    assert_eq!(kept.files_touched, ["src/plan.md"]);
    assert_eq!(kept.file_pins.len(), 1);
    assert_eq!(kept.reasoning_trace, ["changed src/plan.md", "changed plan.mdx"]);
}

#[test]
fn checking_a_very_long_path_is_fast() {
    let (_folder, ignore) = project("a/b/c/**/d\n**/x/**/y\n*z*z*z*z*\n");
    let long = "a/".repeat(500_000);
    assert!(!ignore.ignores(&long));
    let kept = without_ignored(task(&[&long, &"z.".repeat(300_000)], &[&long]), &ignore);
    assert_eq!(kept.files_touched.len(), 1);
}

proptest! {
    #[test]
    fn what_is_left_names_nothing_more(
        words in proptest::collection::vec("(secret|secret/x|a\\.pem|`secret`|\\(secret/y\\)|\"|'|`|ö|plan|src/a\\.rs| |\n|[a-z]{1,3}){1,5}", 1..6)
    ) {
        let (_folder, ignore) = project("secret/\n*.pem\n");
        let texts: Vec<&str> = words.iter().map(String::as_str).collect();
        let once = without_ignored(task(&texts, &["secret/plan", "src/a.rs"]), &ignore);
        prop_assert_eq!(without_ignored(once.clone(), &ignore), once);
    }

    #[test]
    fn any_file_and_any_path_are_handled(text in any::<Vec<u8>>(), path in ".*") {
        let (_folder, ignore) = project(text);
        ignore.ignores(&path);
    }
}
