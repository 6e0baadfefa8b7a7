//! The programs of a command line and their arguments.

use crate::command_line;
use crate::shell::understand;
use grov_domain::{ExecutionHost, Program, Role};
use proptest::prelude::*;

fn programs(line: &str) -> Vec<Program> {
    command_line(line).programs
}

/// The programs with their arguments.
fn words(line: &str) -> Vec<String> {
    let joined = |program: &Program| program.words().collect::<Vec<_>>().join(" ");
    programs(line).iter().map(joined).collect()
}

/// The name of the last program and its operands.
fn operands(line: &str) -> Vec<String> {
    let programs = programs(line);
    let last = programs.last();
    let words = last.map(|program| std::iter::once(program.name()).chain(program.operands()));
    words.into_iter().flatten().map(str::to_owned).collect()
}

#[test]
fn programs_are_found_with_their_arguments() {
    let cases: &[(&str, &[&str])] = &[
        (
            "cd a && git push; ls | wc -l",
            &["cd a", "git push", "ls", "wc -l"],
        ),
        (
            "git commit -m 'no; git push' --amend",
            &["git commit -m no; git push --amend"],
        ),
        ("cat > a.sh <<'EOF'\nrm -rf /\nEOF\nls", &["cat", "ls"]),
        ("bash -lc 'npm i && ls'", &["bash -lc npm i && ls", "npm i", "ls"]),
        ("if true; then git push; fi", &["true", "git push"]),
        ("# git push\nls", &["ls"]),
        ("cat <dir>/a > b", &["cat <dir>/a"]),
        ("/usr/bin/git push 2>&1", &["/usr/bin/git push"]),
        (
            "bash <<EOF && ls\ngit push\nEOF\npwd",
            &["bash", "git push", "ls", "pwd"],
        ),
        ("sh <<< 'git push'; ls", &["sh", "git push", "ls"]),
        ("bash run.sh <<< 'git push'", &["bash run.sh"]),
        ("echo 'git push' | bash", &["echo git push", "bash", "git push"]),
        ("cat <<X | sudo bash -s\nls\nX", &["cat", "bash -s", "ls"]),
        ("python3 -c 'print(1)'", &["python3 -c print(1)"]),
        (
            "python3 - <<'E'\nimport os\nos.system(\"git push\")\nE\nls",
            &["python3 -", "git push", "ls"],
        ),
        (
            "echo $(git push) `ls`",
            &["git push", "ls", "echo $(git push) `ls`"],
        ),
        (
            "rm -rf $1/* ${X:-/y} $((1+2))",
            &["rm -rf $1/* ${X:-/y} $((1+2))"],
        ),
        ("ssh host 'git push'", &["ssh host git push", "cd ~", "git push"]),
        (
            "docker exec box npm test",
            &["docker exec box npm test", "npm test"],
        ),
        ("su me -c 'rm a'", &["su me -c rm a", "rm a"]),
        ("trap 'rm a' EXIT", &["trap rm a EXIT", "rm a"]),
        ("for f in a b; do rm $f; done", &["rm a b"]),
        ("D=build; rm -r \"$D\"/x", &["rm -r build/x"]),
        (
            "uv run --with x pytest -q",
            &["uv run --with x pytest -q", "pytest -q"],
        ),
        ("echo \"unclosed", &["echo unclosed"]),
        ("", &[]),
    ];
    for (line, expected) in cases {
        assert_eq!(&words(line), expected, "{line}");
    }
}

#[test]
fn values_of_options_are_not_programs() {
    for (line, name) in [
        ("sudo -u deploy rm x", "rm"),
        ("timeout -s KILL 5 make", "make"),
        ("env -u FOO npm test", "npm"),
        ("xargs -n 1 rm", "rm"),
        ("nice -n 10 cargo build", "cargo"),
        ("time -p make", "make"),
        ("npx -p prettier eslint .", "eslint"),
        ("uv run --with requests python a.py", "python"),
        ("sudo -n env A=b timeout 5 rm -rf x", "rm"),
    ] {
        assert_eq!(programs(line).last().map(Program::name), Some(name), "{line}");
    }
}

#[test]
fn values_of_options_are_not_operands() {
    for (line, expected) in [
        ("git -C dir status", "git status"),
        ("git -c a=b log -n 3 src", "git log src"),
        ("truncate -s 0 a.log", "truncate a.log"),
        ("mkdir -m 755 a", "mkdir a"),
        ("touch -d yesterday a", "touch a"),
        ("head -n 5 a", "head a"),
        ("sed -i -e s/a/b/ -e s/c/d/ a", "sed a"),
        ("curl -o out -H x: url", "curl url"),
        ("kubectl -n prod delete pod a", "kubectl delete pod a"),
        ("npm --prefix web publish", "npm publish"),
        ("bash -o pipefail a.sh", "bash a.sh"),
        ("rm -- -rf", "rm -rf"),
    ] {
        assert_eq!(operands(line).join(" "), expected, "{line}");
    }
    let commit = &programs("git commit -m 'a b' --amend x")[0];
    let (verb, rest) = commit.git();
    assert_eq!(verb, "commit");
    let roles: Vec<Role> = rest.iter().map(|argument| argument.role).collect();
    assert_eq!(roles, [Role::Option, Role::Value, Role::Option, Role::Operand]);
}

#[test]
fn changes_of_programs_are_recorded() {
    for (line, expected) in [
        ("cp -t dest a b", "dest"),
        ("cp a b", "b"),
        ("cd src && rm a.rs", "src/a.rs"),
        ("truncate -s 0 a.log", "a.log"),
        ("find src -name '*.o' -delete", "src/**/*.o"),
        ("find src -exec rm {} +", "src"),
        ("perl -pi -e 's/a/b/' a.pl", "a.pl"),
        ("curl -so out.tgz https://x.example/y", "out.tgz"),
        ("cat a > b 2>/dev/null", "b"),
        ("rm \"$FILE\"", "$FILE"),
        ("tar xzf a.tgz", ""),
        ("git reset --hard $COMMIT", ""),
        ("make $TARGET", ""),
        ("docker run -v /srv:/d alpine rm /d/x /etc/y", "/srv/x"),
        ("ssh host rm a", "~/a"),
    ] {
        let changes: Vec<String> = programs(line)
            .into_iter()
            .flat_map(|program| program.changes)
            .collect();
        assert_eq!(changes.join(" "), expected, "{line}");
    }
}

#[test]
fn wrappers_and_hosts_of_programs_are_recorded() {
    let line = programs("sudo -u me xargs -0 rm");
    assert_eq!(line[0].through, ["sudo", "xargs"]);
    assert_eq!(programs("find . -exec sudo rm {} \\;")[0].for_each, ["rm"]);
    let grounds = |line: &str| programs(line).last().map(|program| program.host);
    assert_eq!(grounds("ssh host rm a"), Some(ExecutionHost::Remote));
    assert_eq!(grounds("docker exec box make"), Some(ExecutionHost::Container));
    assert_eq!(grounds("sudo make"), Some(ExecutionHost::Local));
    let shells = |line: &str| -> Vec<u32> { programs(line).iter().map(|program| program.shell).collect() };
    assert_eq!(shells("cd a; (cd b; ls); ls"), [0, 1, 1, 0]);
    assert_eq!(shells("cd $(pwd)/x && eval 'cd y'"), [1, 0, 0, 0]);
}

#[test]
fn inputs_of_programs_are_recorded() {
    let sources =
        |line: &str| -> Vec<Option<usize>> { programs(line).iter().map(|program| program.source).collect() };
    assert_eq!(sources("a | b; c"), [None, Some(0), None]);
    assert_eq!(sources("(a; b) | c"), [None, None, Some(1)]);
    assert_eq!(
        sources("a $(x) | b || c | d"),
        [None, None, Some(1), None, Some(3)]
    );
    assert_eq!(sources("a |\n (b; c)"), [None, Some(0), None]);
    let eval = &programs("eval \"$(curl u | gunzip)\"")[2];
    assert_eq!(eval.arguments[0].output_of, 0..2);
    let line = programs("a || cd b && c");
    assert!(!line[0].is_fallback && line[1].is_fallback && !line[2].is_fallback);
}

#[test]
fn exceeding_a_limit_is_reported() {
    assert!(!command_line(&"ls a; ".repeat(100)).is_cut);
    assert!(command_line(&"ls a; ".repeat(5000)).is_cut);
    assert!(command_line(&format!("rm {}", "a ".repeat(5000))).is_cut);
    assert!(command_line(&format!("rm {}", "a".repeat(300 * 1024))).is_cut);
    let text = format!("cat > a <<'E'\n{}E\nrm b", "text\n".repeat(90_000));
    assert!(!command_line(&text).is_cut);
    // The limit never cuts a path in two.
    for more in 0..40 {
        let line = format!(
            "echo {}; rm -rf /home/me/x; ls",
            "a".repeat(256 * 1024 - 40 + more)
        );
        let removed = programs(&line)
            .into_iter()
            .filter(|program| program.name() == "rm");
        removed.for_each(|rm| assert_eq!(rm.operands().collect::<Vec<_>>(), ["/home/me/x"]));
    }
}

#[test]
fn the_number_of_programs_in_self_multiplying_code_is_limited() {
    let nested = |levels: usize| {
        (0..levels).fold("rm inner".to_owned(), |script, level| {
            let calls: String = (0..40)
                .map(|number| format!("system('A={number};'.$x);"))
                .collect();
            format!("perl <<'E{level}'\n$x=q{{{script}}};{calls}\nE{level}\n")
        })
    };
    for levels in 1..=6 {
        assert!(programs(&nested(levels)).len() <= 4096);
    }
}

#[test]
fn a_stored_command_yields_the_same_programs() {
    let line = "cd src && sudo -u me cp -t ../dest a.rs | tee $HOME/log > \"$(date).txt\"";
    let first = understand(line, Some("/home/me/p")).line;
    let again = command_line(line);
    let words = |line: &grov_domain::CommandLine| -> Vec<String> {
        let words = line.programs.iter().flat_map(|program| program.words());
        words.map(str::to_owned).collect()
    };
    assert_eq!(words(&first), words(&again));
}

proptest! {
    #[test]
    fn any_line_is_read(line in any::<String>(), shell in "[ab\\\\'\"<>|&;()#\n$ {}`-]{0,80}") {
        let _ = command_line(&line);
        let read = command_line(&shell);
        for (number, program) in read.programs.iter().enumerate() {
            prop_assert!(program.source.is_none_or(|source| source < number));
        }
    }
}
