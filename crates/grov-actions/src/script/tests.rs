use super::*;

/// The first path, the targets and the folder of each file that a command runs.
fn files(command: &str) -> Vec<(String, String)> {
    let found = script_files(command, Some("/p"));
    found
        .into_iter()
        .map(|file| {
            (
                file.paths.first().cloned().unwrap_or_default(),
                file.targets.join(" "),
            )
        })
        .collect()
}

#[test]
fn commands_name_the_files_that_they_run() {
    for (command, path, targets) in [
        ("sh x.sh", "/p/x.sh", ""),
        ("bash -eux scripts/x.sh --all", "/p/scripts/x.sh", ""),
        (". ./env.sh && npm ci", "/p/env.sh", ""),
        ("chmod +x setup.sh && ./setup.sh --help", "/p/setup.sh", ""),
        ("sudo ./setup.sh", "/p/setup.sh", ""),
        ("cd tools && python3 -u gen.py --out x", "/p/tools/gen.py", ""),
        ("uv run gen.py", "/p/gen.py", ""),
        ("node --loader x tools/a.mjs", "/p/tools/a.mjs", ""),
        ("npx tsx prisma/fix.ts", "/p/prisma/fix.ts", ""),
        ("deno run -A x.ts", "/p/x.ts", ""),
        ("bun run x.ts", "/p/x.ts", ""),
        ("ruby x.rb", "/p/x.rb", ""),
        ("bash < x.sh", "/p/x.sh", ""),
        ("cat x.sh | sh", "/p/x.sh", ""),
        ("npm run build -- --watch", "/p/package.json", "build"),
        ("npm --prefix web run build", "/p/web/package.json", "build"),
        ("yarn build", "/p/package.json", "build"),
        ("pnpm -C web build", "/p/web/package.json", "build"),
        ("bun run build", "/p/package.json", "build"),
        ("make", "/p/GNUmakefile", ""),
        ("make -C fw flash V=1", "/p/fw/GNUmakefile", "flash"),
        ("make -f x.mk all", "/p/x.mk", "all"),
        ("just ci", "/p/justfile", "ci"),
        ("task build", "/p/Taskfile.yml", "build"),
        ("composer run deploy", "/p/composer.json", "deploy"),
        ("deno task build", "/p/deno.json", "build"),
        ("psql app -f x.sql", "/p/x.sql", ""),
        ("mysql app < x.sql", "/p/x.sql", ""),
    ] {
        assert_eq!(
            files(command).first(),
            Some(&(path.to_owned(), targets.to_owned())),
            "{command}"
        );
    }
}

#[test]
fn commands_without_scripts_run_no_files() {
    for command in [
        "ls",
        "cat x.sh",
        "make -n all",
        "just --list",
        "npm install x",
        "yarn add x",
        "python -c 'x'",
        "python -m http.server",
        "node --version",
        "/usr/bin/env",
        "npx vitest",
        "node_modules/.bin/tsc",
        "bash -c ls",
        "pnpm --filter web build",
        "ssh host ./x.sh",
        "docker run x ./x.sh",
        "sh $X",
        "./gradlew build",
        "grep x < y.sh",
    ] {
        assert_eq!(files(command), [], "{command}");
    }
}

/// The programs that a target of a file runs.
fn programs(command: &str, path: &str, text: &str) -> Vec<String> {
    let files = script_files(command, Some("/p"));
    let file = files
        .iter()
        .find(|file| file.paths.iter().any(|one| one == path))
        .unwrap();
    let commands = file.commands(path, text);
    commands
        .line
        .programs
        .iter()
        .map(|program| program.words().collect::<Vec<_>>().join(" "))
        .collect()
}

#[test]
fn targets_of_a_makefile_run_their_prerequisites_first() {
    let text = "OUT := dist\nDIR = $(OUT)/a\n.PHONY: all\nall: lint $(OUT)\n\t@echo done\nlint:\n\truff check .\n\
                $(OUT):\n\tmkdir -p $(DIR) && \\\n\t  touch $@/x # note\nwipe: ; rm -rf $(HOME)/x $$Y $(shell ls)\n\
                ifeq (1,2)\nendif\n";
    let path = "/p/Makefile";
    assert_eq!(
        programs("make", path, text),
        ["ruff check .", "mkdir -p dist/a", "touch $@/x", "echo done"]
            .map(|line| line.replace("$@", "dist"))
            .to_vec()
    );
    assert_eq!(programs("make wipe", path, text), ["rm -rf ~/x $Y $_"]);
    assert_eq!(
        programs("make wipe OUT=x lint", path, text).last().unwrap(),
        "ruff check ."
    );
    assert!(programs("make missing", path, text).is_empty());
}

#[test]
fn recipes_of_a_justfile_run_with_their_dependencies() {
    let text = "out := \"dist\"\nset shell := [\"bash\"]\nalias c := clean\n\nci: lint test\nlint:\n    cargo clippy\n\
                # note\ntest arg=\"x\":\n    @cargo test {{arg}}\nclean:\n    rm -rf {{out}}\npy:\n    #!/usr/bin/env python3\n    \
                import os\n    os.remove('x')\n";
    let path = "/p/justfile";
    assert_eq!(programs("just", path, text), ["cargo clippy", "cargo test $_"]);
    assert_eq!(programs("just c", path, text), ["rm -rf dist"]);
    assert_eq!(programs("just py", path, text), ["rm x"]);
}

#[test]
fn tasks_of_a_taskfile_run_with_their_dependencies() {
    let text = "version: '3'\nvars:\n  X: y\ntasks:\n  default: go vet\n  build:\n    deps: [lint]\n    cmds:\n      - go build {{.X}}\n      \
                - task: pack\n      - |\n        rm -f a\n        rm -f b\n  lint:\n    cmd: golangci-lint run\n  pack:\n    - tar cf a b\n";
    let path = "/p/Taskfile.yml";
    assert_eq!(
        programs("task build", path, text),
        [
            "golangci-lint run",
            "go build $_",
            "tar cf a b",
            "rm -f a",
            "rm -f b"
        ]
    );
    assert_eq!(programs("task", path, text), ["go vet"]);
}

#[test]
fn scripts_of_a_manifest_run_those_around_them() {
    let text = r#"{"scripts": {"prebuild": "rm -rf dist", "build": "tsc && npm run x", "x": "y", "deploy": ["a", "@php b", "@x"]}}"#;
    assert_eq!(
        programs("npm run build", "/p/package.json", text),
        ["rm -rf dist", "tsc", "npm run x"]
    );
    assert_eq!(
        programs("composer deploy", "/p/composer.json", text),
        ["a", "php b", "composer run x"]
    );
}

#[test]
fn tasks_of_a_rakefile_run_their_bodies() {
    let text = "namespace :db do\n  desc 'x'\n  task wipe: :environment do\n    sh 'dropdb app'\n  end\nend\ntask :environment do\n  \
                system('true')\nend\n";
    assert_eq!(
        programs("bundle exec rake db:wipe", "/p/Rakefile", text),
        ["true", "dropdb app"]
    );
}

#[test]
fn scripts_are_read_by_their_first_line_or_name() {
    assert_eq!(
        programs(
            "./x",
            "/p/x",
            "#!/usr/bin/env python3\nimport os\nos.remove('a')\n"
        ),
        ["rm a"]
    );
    assert_eq!(
        programs("./x.py", "/p/x.py", "import os\nos.remove('a')\n"),
        ["rm a"]
    );
    assert_eq!(programs("./x", "/p/x", "#!/bin/sh -e\nrm a\n"), ["rm a"]);
    assert!(programs("./x", "/p/x", "\0\0").is_empty());
}

#[test]
fn the_line_of_a_program_is_found() {
    let text = "import x\nconn = y\ncur.execute(\"DELETE FROM customers\")\nos.remove('a/b.txt')\n";
    let line = |command: &str| line_of(text, &crate::command_line(command).programs[0]);
    assert_eq!(line("psql -c 'DELETE FROM customers'"), Some(3));
    assert_eq!(line("rm a/b.txt"), Some(4));
    assert_eq!(line("qq"), None);
}
