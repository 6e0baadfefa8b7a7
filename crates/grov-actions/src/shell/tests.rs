use super::state::MAX_EFFECTS;
use super::*;
use grov_domain::EffectKind;
use proptest::prelude::*;

mod programs;

/// The effects of a command line in `/w` in short form: `delete a b; write c`. Paths are relative to `/w`, folders
/// end with a slash.
fn as_shell_lines(script: &str) -> String {
    let understood = understand(script, Some("/w"));
    let shorten = |path: &String| {
        let short = match path.as_str() {
            "/w" => ".",
            path => path.strip_prefix("/w/").unwrap_or(path),
        };
        let slash = understood.folders.contains(path) && !short.ends_with('/');
        format!("{short}{}", if slash { "/" } else { "" })
    };
    let effect = |effect: &Effect| {
        let kind = format!("{:?}", effect.kind);
        let mut words = vec![kind.to_lowercase()];
        words.extend(effect.paths.iter().map(shorten));
        words.join(" ")
    };
    understood
        .effects
        .iter()
        .map(effect)
        .collect::<Vec<_>>()
        .join("; ")
}

const COMMANDS: &[(&str, &str)] = &[
    // Removing.
    ("rm a.txt", "delete a.txt"),
    ("rm -rf build dist/", "delete build dist/"),
    ("rm -- -odd", "delete -odd"),
    ("rm 'a b' \"c d\" e\\ f", "delete a b c d e f"),
    ("rm *.log", "delete *.log"),
    ("rm ../x /etc/y ~/z", "delete /x /etc/y ~/z"),
    ("rm {a,b}.txt", "delete a.txt b.txt"),
    (
        "rm \"$X\"/{a,b} 'my file'{,.bak} '{c,d}' e\\{f,g}",
        "delete $X/a $X/b my file my file.bak {c,d} e{f,g}",
    ),
    ("rmdir old", "delete old/"),
    ("unlink a", "delete a"),
    ("/bin/rm -f a", "delete a"),
    ("rm \"$FILE\"", "delete"),
    ("rm $DIR/a.txt", "delete $DIR/a.txt"),
    ("F=a.txt; rm \"$F\" ${F}.bak", "delete a.txt a.txt.bak"),
    ("for f in a b; do rm \"$f.o\"; done", "delete a.o b.o"),
    ("FILES='a b'; rm $FILES", "delete a b"),
    ("rm -rf \"$DIR\"/*", "delete $DIR/*"),
    ("rm \"a b\"/c", "delete a b/c"),
    ("rm $(cat list.txt)", "read list.txt; delete"),
    ("rm \"$(pwd)/x\" $PWD/y $HOME/z", "delete x y ~/z"),
    // Moving and copying.
    ("mv a b", "move a b"),
    ("mv a b c/", "move a b c/"),
    ("mv a b c", "move a b c/"),
    ("mv -t dest a b", "move a b dest/"),
    ("cp -r src lib", "copy src lib"),
    ("cp file{,.bak}", "copy file file.bak"),
    ("cp -- a b", "copy a b"),
    (
        "install -m 755 bin/x /usr/local/bin/x",
        "copy bin/x /usr/local/bin/x",
    ),
    ("install -d out/bin", "write out/bin/"),
    ("ln -s ../a b", "write b"),
    ("ln -s /x/tool", "write tool"),
    // Creating.
    ("touch a b", "write a b"),
    ("touch -d yesterday a", "write a"),
    ("mkdir -p src/{a,b}/c", "write src/a/c/ src/b/c/"),
    ("mkdir -m 700 secret", "write secret/"),
    ("truncate -s 0 app.log", "write app.log"),
    ("dd if=/dev/zero of=disk.img bs=1M count=1", "write disk.img"),
    ("dd if=a of=b", "read a; write b"),
    ("echo x | tee a b", "write a b"),
    ("echo x | sudo tee -a /etc/hosts > /dev/null", "modify /etc/hosts"),
    // Changing.
    ("sed -i 's/a/b/g' x.rs y.rs", "modify x.rs y.rs"),
    ("yq -i '.a = 1' x.yml", "modify x.yml"),
    ("yq '.a' x.yml", "read x.yml"),
    ("sed -i '' -e 's/a/b/' x.rs", "modify x.rs"),
    ("sed -i.bak -e s/a/b/ -e s/c/d/ x.rs", "modify x.rs"),
    ("sed --in-place=.orig 's/a/b/' x.rs", "modify x.rs"),
    ("sed -n '1,20p' x.rs", "read x.rs"),
    ("sed -Ei.bak 's/a/b/' x.rs", "modify x.rs"),
    ("sed -i '.bak' 's/a/b/' x.rs", "modify x.rs"),
    ("sed -e '/i/d' x.rs", "read x.rs"),
    ("sed 's/a/b/' < in > out", "read in; write out"),
    ("perl -pi -e 's/a/b/' x y", "modify x y"),
    ("perl -i.bak -ne 'print' x", "modify x"),
    ("perl script.pl in.txt", "execute script.pl in.txt"),
    ("awk '{print $1}' a.txt", "read a.txt"),
    ("awk -F: -v x=1 '{print}' a.txt", "read a.txt"),
    ("gawk -i inplace '{print}' a.txt", "modify a.txt"),
    ("sort -u -o out.txt in.txt", "read in.txt; write out.txt"),
    ("patch -p1 < fix.patch", "modify; read fix.patch"),
    ("patch src/a.c fix.patch", "read fix.patch; modify src/a.c"),
    ("gzip big.log", "modify big.log"),
    // Reading.
    ("cat a b", "read a b"),
    ("cat a | wc -l", "read a"),
    ("head -n 20 a", "read a"),
    ("head -20 a", "read a"),
    ("tail -f -n 5 app.log", "read app.log"),
    ("less +G a", "read +G a"),
    ("wc -l src/*.rs", "read src/*.rs"),
    ("diff -u a b", "read a b"),
    ("stat -c %s a", "read a"),
    ("jq '.a | .b' x.json", "read x.json"),
    ("cut -d: -f1 /etc/passwd", "read /etc/passwd"),
    ("grep foo a.txt", "read a.txt"),
    ("grep -rn 'foo bar' src", "read src/"),
    ("grep -r foo", "read ./"),
    ("grep -e foo -e bar a b", "read a b"),
    ("ps aux | grep foo", ""),
    ("rg foo", "read ./"),
    (
        "rg -n 'fn main' src crates/x/src/lib.rs",
        "read src/ crates/x/src/lib.rs",
    ),
    ("rg --files -g '*.rs' src", "read src/"),
    ("ls", "read ./"),
    ("ls -la src a.rs", "read src/ a.rs"),
    ("tree -L 2", "read ./"),
    ("du -sh target", "read target/"),
    ("find . -name '*.rs'", "read ./"),
    ("find src tests -type f -newer a", "read src/ tests/"),
    ("find . -name '*.pyc' -delete", "read ./; delete **/*.pyc"),
    ("find build -exec rm -rf {} +", "read build/; delete build/"),
    ("find . -name '*.tmp' -exec rm {} \\;", "read ./; delete **/*.tmp"),
    (
        "find src -name '*.c' -exec grep -l main {} \\; -print",
        "read src/; read src/**/*.c",
    ),
    ("fd -e rs . src -x rm", "read src/; delete src/"),
    // Permission.
    ("chmod +x run.sh", "permission run.sh"),
    ("chmod -R 755 a b", "permission a b"),
    ("sudo chown me:me /srv/x", "permission /srv/x"),
    // Redirections.
    ("echo hi > a", "write a"),
    ("echo hi >> a", "modify a"),
    ("echo hi >| a", "write a"),
    ("make 2> err.log", "build; write err.log"),
    ("make &> all.log", "build; write all.log"),
    ("make > out.log 2>&1", "build; write out.log"),
    ("echo oops >&2; exit 3", ""),
    ("ls 2>/dev/null", "read ./"),
    ("> empty", "write empty"),
    ("cat <<EOF > a.txt\nrm -rf /\nEOF\nrm b", "write a.txt; delete b"),
    ("cat > a.py <<'PY'\nimport os\nos.remove('x')\nPY", "write a.py"),
    ("cat <<-EOF >> a\n\tx\n\tEOF\nls b/", "modify a; read b/"),
    ("bash <<'EOF'\nrm x\nEOF", "execute; delete x"),
    ("bash <<< 'rm x'", "execute; delete x"),
    ("{ cat a; cat b; } > c", "read a; read b; write c"),
    (
        "(cd sub && rm x) > log; rm y",
        "delete sub/x; write log; delete y",
    ),
    ("while read -r l; do echo $l; done < in.txt", "read in.txt"),
    ("sudo bash -s <<EOF\nrm x\nEOF", "execute; delete x"),
    ("ssh host bash <<EOF\nrm x\nEOF", "network"),
    (
        "python3 - <<'EOF'\nimport os; os.remove(\"rm x\")\nEOF",
        "execute; delete rm x",
    ),
    ("python3 <<< \"open('a', 'w')\"", "execute; write a"),
    ("python3 run.py <<'EOF'\nopen('a', 'w')\nEOF", "execute run.py"),
    ("echo x > \"$OUT\"", "write"),
    ("echo x > \"$OUT/a.txt\"", "write $OUT/a.txt"),
    (
        "git commit -m \"$(cat <<'EOF'\nDon't rm -rf (x); see `y` > z\n\nCo-Authored-By: a\nEOF\n)\" && rm b",
        "versioncontrol; delete b",
    ),
    // Folders.
    ("cd src && rm a", "delete src/a"),
    ("cd src; cd ../tests; rm a", "delete tests/a"),
    ("cd /tmp && rm a; cd - && rm b", "delete /tmp/a; delete b"),
    ("(cd src && rm a); rm b", "delete src/a; delete b"),
    ("pushd src && rm a && popd && rm b", "delete src/a; delete b"),
    ("cd \"$X\" && rm a", "delete $X/a"),
    ("cd \"$(mktemp -d)\" && rm a", "delete /tmp/mktemp/a"),
    ("cd && rm a", "delete ~/a"),
    ("rm $(cd src && ls) b", "read src/; delete b"),
    // Wrappers.
    ("sudo rm -rf /var/x", "delete /var/x"),
    ("sudo -u postgres rm a", "delete a"),
    ("env A=1 B=2 rm a", "delete a"),
    ("A=1 rm a", "delete a"),
    ("time rm a", "delete a"),
    ("nohup rm a &", "delete a"),
    ("timeout -k 5 10 rm a", "delete a"),
    ("nice -n 19 rm a", "delete a"),
    ("xargs rm < list", "delete; read list"),
    ("git ls-files | xargs -I{} -n 1 rm {}", "read; delete"),
    ("bash -c 'cd src && rm a'; rm b", "delete src/a; delete b"),
    ("sh -ec \"rm 'a b'\"", "delete a b"),
    ("sudo bash -c \"bash -c 'rm a'\"", "delete a"),
    ("eval \"rm a\"", "delete a"),
    ("command -v git", ""),
    ("command rm a", "delete a"),
    ("exec rm a", "delete a"),
    ("if [ -f a ]; then rm a; else touch a; fi", "delete a; write a"),
    ("[[ -f a && b > c ]] && rm a", "delete a"),
    ("! rm a", "delete a"),
    ("test -d x || mkdir x", "write x/"),
    ("case $1 in start) rm a;; *) touch b;; esac", "delete a; write b"),
    ("f() { rm a; }; f", "delete a; execute"),
    ("rm a # and b", "delete a"),
    ("echo 'rm a; rm b'", ""),
    ("echo \"$(rm a)\"", "delete a"),
    ("echo `rm a`", "delete a"),
    ("diff <(sort a) <(sort b)", "read a; read b"),
    (
        "rm a && rm b || rm c; rm d & rm e | rm f",
        "delete a; delete b; delete c; delete d; delete e; delete f",
    ),
    ("rm a\nrm b\\\n c", "delete a; delete b c"),
    // Git.
    ("git status", "read"),
    ("git -C sub status -s", "read"),
    ("git --no-pager log -5 --oneline -- src/a.rs", "read src/a.rs"),
    ("git diff HEAD~1 src/a.rs", "read src/a.rs"),
    ("git diff main...feature/x", "read"),
    ("git show HEAD:src/a.rs", "read src/a.rs"),
    ("git blame -L 1,5 src/a.rs", "read src/a.rs"),
    ("git grep -n foo -- src", "read src/"),
    ("git add -A", "versioncontrol"),
    ("git add src/a.rs b", "versioncontrol src/a.rs b/"),
    ("git add .", "versioncontrol ./"),
    ("git commit -m 'remove a.rs; rm -rf'", "versioncontrol"),
    (
        "git commit -am \"$(cat msg.txt)\"",
        "read msg.txt; versioncontrol",
    ),
    ("git commit -m x -- a.rs", "versioncontrol a.rs"),
    ("git checkout main", "versioncontrol"),
    ("git checkout -b feature/a.b", "versioncontrol"),
    (
        "git checkout -- src/a.rs b",
        "versioncontrol src/a.rs b; modify src/a.rs b",
    ),
    ("git checkout HEAD~2 -- a", "versioncontrol a; modify a"),
    ("git checkout .", "versioncontrol ./; modify ./"),
    ("git switch -c x", "versioncontrol"),
    ("git restore a b", "versioncontrol a b; modify a b"),
    ("git restore --staged a", "versioncontrol a"),
    ("git restore --source=HEAD~1 a", "versioncontrol a; modify a"),
    ("git reset --hard origin/main", "versioncontrol; modify"),
    ("git reset HEAD a.rs", "versioncontrol a.rs"),
    ("git revert HEAD", "versioncontrol"),
    ("git merge --no-ff topic", "versioncontrol"),
    ("git rebase -i HEAD~3", "versioncontrol"),
    ("git stash", "versioncontrol"),
    ("git stash push -m wip a.rs", "versioncontrol a.rs"),
    ("git stash list", "read"),
    ("git clean -fdx", "versioncontrol; delete"),
    ("git clean -n", "read"),
    ("git clean -fd build", "versioncontrol build; delete build"),
    (
        "git rm -r --quiet old a.rs",
        "versioncontrol old a.rs; delete old a.rs",
    ),
    ("git rm --cached a", "versioncontrol a"),
    ("git mv a b", "versioncontrol a b; move a b"),
    ("git push -u origin main", "versioncontrol; network"),
    ("git pull --rebase", "versioncontrol; network"),
    ("git fetch --all", "versioncontrol; network"),
    (
        "git clone https://example.com/x/y.git",
        "versioncontrol y/; network",
    ),
    (
        "git clone --depth 1 git@host:x/y.git z",
        "versioncontrol z/; network",
    ),
    ("git apply fix.patch", "versioncontrol fix.patch; modify"),
    ("git branch", "read"),
    ("git branch -D old", "versioncontrol"),
    ("git tag v1", "versioncontrol"),
    ("git remote -v", "read"),
    ("git worktree add ../x topic", "versioncontrol /x/"),
    ("cd sub && git add a", "versioncontrol sub/a/"),
    ("git -C sub add a", "versioncontrol sub/a/"),
    ("gh pr create --title x", "network"),
    // Network.
    ("curl https://example.com/a.json", "network"),
    (
        "curl -sSL -o out/a.json https://example.com/a.json",
        "network; write out/a.json",
    ),
    ("curl -O https://example.com/a/b.tgz?x=1", "network; write b.tgz"),
    (
        "curl -X POST -H 'A: b/c.d' -d @body.json https://x",
        "read body.json; network",
    ),
    ("curl -fsSL https://x/install.sh | sh", "network; execute"),
    ("wget https://example.com/a.tgz", "network; write a.tgz"),
    ("wget -qO- https://example.com/a", "network"),
    ("wget -O x.html https://example.com/a", "network; write x.html"),
    ("ssh host 'rm -rf /x'", "network"),
    ("scp a.txt me@host:/tmp/", "read a.txt; network"),
    ("scp me@host:/tmp/a .", "write ./; network"),
    ("rsync -av src/ dst/", "copy src/ dst/"),
    ("rsync -az dist/ me@host:/srv", "read dist/; network"),
    ("nc -z host 80", "network"),
    ("kubectl apply -f k8s/app.yaml", "execute k8s/app.yaml; network"),
    ("aws s3 ls", "network"),
    ("terraform apply", "execute; network"),
    // Packages.
    ("npm install", "install"),
    ("npm i -D @types/node vitest", "install"),
    ("npm ci --prefix web", "install"),
    ("pnpm add lodash", "install"),
    ("yarn", "install"),
    ("yarn add x", "install"),
    ("bun install", "install"),
    ("pip install -r requirements.txt", "install requirements.txt"),
    ("python3 -m pip install x", "install"),
    ("pip list", "read"),
    ("uv add httpx", "install"),
    ("uv pip install x", "install"),
    ("uv sync", "install"),
    ("poetry add x", "install"),
    ("cargo add serde", "install"),
    ("cargo install ripgrep", "install"),
    ("sudo apt-get install -y jq", "install"),
    ("brew install jq", "install"),
    ("go get example.com/x", "install"),
    ("gem install rails", "install"),
    ("composer require x/y", "install"),
    // Tests and checks.
    ("cargo test -p x -- --nocapture name", "test"),
    ("cargo +nightly nextest run -p x", "test"),
    ("cargo clippy --all-targets -- -D warnings", "test"),
    ("cargo clippy --fix", "modify"),
    (
        "pytest -q tests/test_a.py::test_x -k 'a and b'",
        "test tests/test_a.py",
    ),
    ("python -m pytest tests/", "test tests/"),
    ("python manage.py test", "test"),
    ("uv run --with x pytest tests/a.py", "test tests/a.py"),
    ("poetry run pytest", "test"),
    ("npm test -- src/a.test.ts", "test src/a.test.ts"),
    ("npm run test:unit", "test"),
    ("npm run lint", "test"),
    ("npm run lint:fix", "modify"),
    ("npx jest src/a.test.ts", "test src/a.test.ts"),
    ("npx --yes eslint . --fix", "modify"),
    ("npx tsc --noEmit", "test"),
    ("yarn lint", "test"),
    ("yarn workspace web test", "test"),
    ("pnpm --filter web run build", "build"),
    ("bundle exec rspec spec/a_spec.rb", "test spec/a_spec.rb"),
    ("go test ./... ./cmd/...", "test ./ cmd/"),
    ("make test", "test"),
    ("make -C sub check", "test"),
    ("just lint", "test"),
    ("./gradlew test", "test"),
    ("mvn -q test", "test"),
    ("dotnet test", "test"),
    ("mypy src/", "test src/"),
    ("ruff check .", "test"),
    ("prettier --check src/a.ts", "test src/a.ts"),
    // Formatters.
    ("prettier --write src/a.ts", "modify src/a.ts"),
    ("cargo fmt", "modify"),
    ("cargo fmt --check", "test"),
    ("black src/a.py", "modify src/a.py"),
    ("gofmt -w main.go", "modify main.go"),
    // Builds.
    ("cargo build --release", "build"),
    ("cargo check -p x", "build"),
    ("cargo clean", "delete target/"),
    ("npm run build", "build"),
    ("tsc -p tsconfig.json", "build tsconfig.json"),
    ("make", "build"),
    ("make -j8 all install", "build; install"),
    ("make clean", "delete"),
    (
        "docker build -t app -f docker/App.dockerfile .",
        "build docker/App.dockerfile",
    ),
    ("docker compose up -d", "execute"),
    ("chrt -f 10 rm src/a.rs", "delete src/a.rs"),
    ("sudo -h box -u root rm src/a.rs", "delete src/a.rs"),
    ("flock -w 5 /tmp/l -c 'rm src/a.rs'", "delete src/a.rs"),
    ("docker ps", "read"),
    ("go build ./cmd/x", "build cmd/x"),
    ("gcc -o a a.c", "build a.c"),
    // Other programs are executed.
    ("python scripts/x.py --out y.json", "execute scripts/x.py y.json"),
    ("python3 -c \"import os; os.remove('a')\"", "execute; delete a"),
    (
        "cd sub && python3 -c \"import os; os.chdir('x'); os.system('cd y && rm a')\"; rm b",
        "execute; delete sub/x/y/a; delete sub/b",
    ),
    ("python3 -c \"print('rm -rf /')\"", "execute"),
    ("python3 -c \"import os; os.remove('$F/$(x)')\"", "execute"),
    (
        "node -e \"require('fs').rmSync('a', { recursive: true })\"",
        "execute; delete a",
    ),
    ("perl -e 'system(\"rm a\")'", "execute; delete a"),
    ("ruby -e '`rm a`'", "execute; delete a"),
    ("php -r 'unlink(\"a\");'", "execute; delete a"),
    ("node server.js", "execute server.js"),
    ("./run.sh a.txt", "execute run.sh a.txt"),
    ("bash scripts/deploy.sh", "execute scripts/deploy.sh"),
    ("source .env", "execute .env"),
    ("cargo run -- in.txt", "execute in.txt"),
    ("psql -c 'drop table x'", "execute"),
    ("unknown --flag x 3", "execute"),
    ("$TOOL a.txt", "execute a.txt"),
    // Archives.
    ("tar czf a.tgz src", "read src; write a.tgz"),
    ("tar -xzf a.tgz -C out", "read a.tgz; write out/"),
    ("unzip -o a.zip -d out", "read a.zip; write out/"),
    ("zip -r a.zip src", "read src; write a.zip"),
    // No effects.
    ("", ""),
    ("   \n\n", ""),
    ("# a comment", ""),
    ("echo hello", ""),
    ("export A=b && sleep 5; pwd", ""),
    ("true", ""),
];

#[test]
fn command_lines_show_their_effects() {
    let wrong: Vec<String> = COMMANDS
        .iter()
        .map(|(script, expected)| (script, expected, as_shell_lines(script)))
        .filter(|(_, expected, shown)| shown != *expected)
        .map(|(script, expected, shown)| format!("{script}\n    expected {expected}\n    shown    {shown}"))
        .collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn files_and_folders_are_the_paths_of_all_effects() {
    for (script, _) in COMMANDS {
        let understood = understand(script, Some("/w"));
        let mut paths: Vec<&String> = Vec::new();
        for path in understood.effects.iter().flat_map(|effect| &effect.paths) {
            if !paths.contains(&path) {
                paths.push(path);
            }
        }
        let files: Vec<&String> = paths
            .iter()
            .copied()
            .filter(|path| !understood.folders.contains(path))
            .collect();
        assert_eq!(files, understood.files.iter().collect::<Vec<_>>(), "{script}");
        assert!(
            !understood
                .files
                .iter()
                .any(|file| understood.folders.contains(file)),
            "{script}"
        );
    }
}

#[test]
fn folders_of_cd_are_recorded() {
    let understood = understand("cd sub/dir && cargo test", Some("/w"));
    assert_eq!(understood.folders, ["/w/sub/dir"]);
}

#[test]
fn without_a_working_folder_paths_stay_relative() {
    let understood = understand("cd src && rm a ../b && cat /etc/x", None);
    assert_eq!(understood.files, ["src/a", "b", "/etc/x"]);
}

#[test]
fn the_number_of_effects_and_files_is_limited() {
    let names: Vec<String> = (0..3000).map(|n| format!("f{n}")).collect();
    let understood = understand(&format!("rm {}", names.join(" ")), Some("/w"));
    assert_eq!(understood.files.len(), crate::MAX_FILES);
    let lines: Vec<String> = names.iter().map(|name| format!("rm {name}")).collect();
    let understood = understand(&lines.join("\n"), Some("/w"));
    assert_eq!(understood.effects.len(), MAX_EFFECTS);
}

#[test]
fn long_and_hostile_command_lines_are_analyzed_in_bounded_time() {
    let long = "x".repeat(100_000);
    let pieces = [
        "( ",
        "(",
        "$(",
        "`",
        "\"",
        "'",
        "{",
        "}",
        "a=b;",
        "a=$a$a;",
        "rm $a$a ",
        "rm {a,b}{a,b} ",
        "{a,",
        "cd x;",
        "cd ..;",
        "bash -c '",
        "eval ",
        "bash -c \"eval ",
        "<<E ",
        "<<E\n",
        "sudo ",
        "env ",
        "find . -exec ",
        "xargs ",
        "for x in ",
        "case ",
        "[[ ",
        "> ",
        "\\",
        "git -C x ",
        "../",
        "a/",
        "uv run ",
        "npx ",
    ];
    for piece in pieces {
        understand(&piece.repeat(100_000 / piece.len()), Some("/w"));
        understand(&format!("{}{long}", piece.repeat(1000)), Some("/w"));
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1024))]

    #[test]
    fn any_text_can_be_understood(script in any::<String>()) {
        understand(&script, Some("/w"));
    }

    #[test]
    fn any_mixture_of_commands_can_be_analyzed(
        words in proptest::collection::vec(
            proptest::sample::select(vec![
                "rm", "mv", "cp", "git", "checkout", "--", "-C", "sed", "-i", "find", "-exec", "{}", "\\;", "+", "cd", "..", "bash", "-c", "'", "\"",
                "$(", ")", "(", "`", "|", "&&", ";", "\n", ">", ">>", "<<EOF", "EOF", "<", "2>&1", "$A", "A=b", "{a,b}", "*", "for", "in", "do", "done",
                "case", "esac", "tar", "xzf", "-f", "curl", "-o", "https://x/y", "npm", "run", "test", "uv", "env", "sudo", "xargs", "-", "", "ü", "python", "-m",
            ]),
            0..30,
        )
    ) {
        let script = words.join(" ");
        let understood = understand(&script, Some("/w"));
        for path in understood.files.iter().chain(&understood.folders) {
            let elsewhere = words.contains(&"cd") || words.contains(&"-C");
            prop_assert!(elsewhere || crate::path::is_absolute(path), "{path} in {script}");
        }
    }

    #[test]
    fn a_removed_file_is_always_found(name in "[a-z][a-z0-9_.]{0,12}", before in "(cd sub && |sudo |true; |A=1 |\\( )?", quote in "['\"]?") {
        let script = format!("{before}rm -f {quote}{name}{quote}");
        let folder = if before.starts_with("cd") { "/w/sub" } else { "/w" };
        let understood = understand(&script, Some("/w"));
        let expected = crate::path::resolve(Some(folder), &name);
        let removed = understood.effects.iter().filter(|effect| effect.kind == EffectKind::Delete).flat_map(|effect| &effect.paths);
        prop_assert_eq!(removed.collect::<Vec<_>>(), expected.iter().collect::<Vec<_>>());
    }
}
