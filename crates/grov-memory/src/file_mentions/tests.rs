//! Tests of what is recognised as a file.

use super::*;

#[track_caller]
fn check(prompt: &str, expected: &[&str]) {
    assert_eq!(mentioned_files(prompt), expected, "{prompt:?}");
}

#[test]
fn the_lists_can_be_searched() {
    assert!(EXTENSIONS.is_sorted_by(|one, other| one < other));
    assert!(
        BARE_NAMES
            .iter()
            .chain(NO_FILES)
            .all(|name| name.to_ascii_lowercase() == **name)
    );
}

#[test]
fn files_are_found_as_people_write_them() {
    for (prompt, expected) in [
        ("fix the retry in upload.rs", &["upload.rs"][..]),
        (
            "look at src/a.rs:12 and src/b.rs:3:7, then src/a.rs",
            &["src/a.rs", "src/b.rs"],
        ),
        ("src/a.rs:10-20 is wrong", &["src/a.rs"]),
        ("see `src/net/pool.rs`.", &["src/net/pool.rs"]),
        ("@src/app.tsx does not build", &["src/app.tsx"]),
        (
            "@\"docs/my notes/plan one.md\" says so",
            &["docs/my notes/plan one.md"],
        ),
        ("what of \"src/a.rs and b\"?", &["src/a.rs"]),
        ("`cargo run src/x y.rs`", &["y.rs"]),
        ("`cat src/a.rs src/b.rs`", &["src/a.rs", "src/b.rs"]),
        (
            "/home/dev/relay/src/limit.rs fails",
            &["/home/dev/relay/src/limit.rs"],
        ),
        ("C:\\repo\\src\\main.cs:14", &["C:/repo/src/main.cs"]),
        ("src\\lib\\mod.py", &["src/lib/mod.py"]),
        (
            "./a/b.go, ../c/d.go and ~/e/f.go",
            &["a/b.go", "c/d.go", "e/f.go"],
        ),
        ("(see tests/it/main.rs)", &["tests/it/main.rs"]),
        ("[main](src/main.rs)", &["src/main.rs"]),
        (
            "app/[slug]/page.tsx and app/(auth)/login.tsx",
            &["app/[slug]/page.tsx", "app/(auth)/login.tsx"],
        ),
        ("--config=etc/app.cnf", &["etc/app.cnf"]),
        (
            "the Makefile, Dockerfile and .gitignore",
            &["Makefile", "Dockerfile", ".gitignore"],
        ),
        ("ci/justfile", &["ci/justfile"]),
        (".github/workflows/ci.yml", &[".github/workflows/ci.yml"]),
        ("add it to .env.local", &[".env.local"]),
        (
            "package.json, Cargo.toml; go.mod",
            &["package.json", "Cargo.toml", "go.mod"],
        ),
        ("at run (/srv/app/src/a.ts:10:5)", &["/srv/app/src/a.ts"]),
        ("File \"lib/x.py\", line 3, in run", &["lib/x.py"]),
        ("is it in config.test.ts?", &["config.test.ts"]),
        (
            "https://git.example.com/a/b.rs#L3 or src/c.rs#L3-L9",
            &["src/c.rs"],
        ),
        ("修改src/a.rs的逻辑，不要动b.go。", &["src/a.rs", "b.go"]),
        ("看看文档/说明.md", &["看看文档/说明.md"]),
        ("проверь src/склад.rs", &["src/склад.rs"]),
        ("**src/bold.rs**", &["src/bold.rs"]),
        ("don't touch 'src/quoted.rs'", &["src/quoted.rs"]),
        ("fix it in parser.c...", &["parser.c"]),
        ("diff --git a/src/x.rs b/src/x.rs", &["a/src/x.rs", "b/src/x.rs"]),
    ] {
        check(prompt, expected);
    }
}

#[test]
fn lookalikes_of_files_are_left_out() {
    for prompt in [
        "",
        "e.g. this, i.e. that, etc. and so on",
        "bump it to v1.2.3 or 1.5 or 2.0.0-rc.1",
        "it costs 3.50 and takes 1.5s",
        "https://example.com/a/b.html",
        "www.example.org/x.html",
        "github.com/owner/project.git",
        "mail dev@example.com or dev@example.rs",
        "git@github.com:owner/project.git",
        "we use Node.js, Next.js and docs.rs",
        "and/or, client/server, TCP/IP, 1/2, 24/7",
        "src/memory and tests/",
        "call response.json() or std::fs::read",
        "self.items and process.env",
        "the license says so",
        "wait... what?",
        "Mr.Smith",
        "10:30 and 12:45",
        "obj.field:12",
        "v1/2.0",
        "a.b",
    ] {
        check(prompt, &[]);
    }
}

#[test]
fn the_number_of_files_is_limited() {
    let prompt: String = (0..100).map(|number| format!("src/f{number}.rs ")).collect();
    assert_eq!(mentioned_files(&prompt).len(), MAX_FILES);
    assert_eq!(
        mentioned_files(&format!("{} src/late.rs", "x".repeat(2 * MAX_READ_BYTES))),
        [""; 0]
    );
}

proptest::proptest! {
    #[test]
    fn any_text_is_handled(prompt in "\\PC{0,120}|[a-z./\\\\:@`\"()\\[\\]#0-9 文-]{0,80}") {
        for file in mentioned_files(&prompt) {
            proptest::prop_assert!(!file.is_empty() && file.len() <= MAX_PATH_BYTES && !file.contains('\n'));
        }
    }
}
