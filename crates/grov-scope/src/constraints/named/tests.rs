use super::*;
use crate::analyzed_action::tests::bash;
use crate::constraints::clause::tokens;
use crate::normalized_path::ProjectRoot;
use crate::phrases::Languages;
use crate::words::words;
use grov_domain::{ActionSketch, ActionType, TextChange};
use std::sync::Arc;

fn asks(prompt: &str, action: &ActionSketch) -> bool {
    let root = ProjectRoot::new(Some("/home/me/p"));
    let words = tokens(prompt, Languages::of(&words(prompt)));
    let action = AnalyzedAction::new(&root, action);
    let change = Change::of(&action);
    read(prompt, words, prompt)
        .iter()
        .any(|named| named.is_broken_by(&action, &change))
}

fn edit(file: &str, old: &str, new: &str) -> ActionSketch {
    ActionSketch {
        files: vec![file.to_owned()],
        content: Some(new.to_owned()),
        change: Some(Arc::new(TextChange {
            before: (!old.is_empty()).then(|| old.to_owned()),
            after: new.to_owned(),
        })),
        ..ActionSketch::empty(ActionType::Edit)
    }
}

#[test]
fn edits_of_named_things_are_asked_about() {
    for (prompt, file, old, new) in [
        (
            "no threads please",
            "crawl.py",
            "import requests",
            "import requests\nimport threading",
        ),
        (
            "don't rename the resources",
            "modules/s3/main.tf",
            "resource \"aws_s3_bucket\" \"bucket\" {",
            "resource \"aws_s3_bucket\" \"this\" {",
        ),
        (
            "the column names stay as they are",
            "src/User.java",
            "    private Long id;\n    private String nickName;",
            "    private Long id;\n    private String nickname;",
        ),
        (
            "don't rename the CSS classes",
            "src/Form.jsx",
            "<input className=\"login-input\" />",
            "<input className=\"form-field\" />",
        ),
        (
            "the public API stays as it is",
            "retry/retry.go",
            "func Do(ctx context.Context, fn func() error) error {",
            "func Do(ctx context.Context, fn func() error, opts ...Option) error {",
        ),
        (
            "no associative arrays",
            "scripts/backup.sh",
            "set -eu",
            "set -eu\ndeclare -A folders=([docs]=docs)",
        ),
        (
            "we stay on python 3.9, that is not changing",
            "setup.cfg",
            "python_requires = >=3.9",
            "python_requires = >=3.11",
        ),
        (
            "don't change the routes",
            "web.py",
            "@app.get('/orders')",
            "@app.get('/v2/orders')",
        ),
        (
            "the output format stays the same",
            "a.py",
            "print('%s %s' % x)",
            "print('%s;%s' % x)",
        ),
        (
            "don't change the class names",
            "a.css",
            ".price { float: left; }",
            ".cost { float: left; }",
        ),
        ("comments only", "a.py", "x = 1  # one", "x = 2  # two"),
        (
            "we keep all the macOS 12 support",
            "Package.swift",
            ".macOS(.v12)",
            ".iOS(.v13)",
        ),
    ] {
        assert!(asks(prompt, &edit(file, old, new)), "{prompt}");
    }
}

#[test]
fn edits_of_other_things_are_not_asked_about() {
    for (prompt, file, old, new) in [
        ("leave the importer as it is", "lib/export.php", "a", "b"),
        (
            "don't rename the tasks",
            "roles/nginx/tasks/main.yml",
            "- name: copy nginx.conf\n  template: {}",
            "- name: copy nginx.conf\n  template: {}\n  notify: restart",
        ),
        (
            "the public header include/tl.h must not change its API",
            "src/internal.h",
            "int map_err(int);",
            "int map_err(enum err e);",
        ),
        (
            "the log lines with \"FETCH \" stay byte for byte",
            "scraper/fetch.py",
            "log.info(\"requesting %s\", url)\nlog.info(\"FETCH %s\", url)",
            "log.info(\"FETCH %s\", url)",
        ),
        (
            "no f-strings in log calls",
            "pipeline/join.py",
            "print('rows', len(df))",
            "logger.debug('rows=%d', len(df))",
        ),
        (
            "we stay on python 3.9, that is not changing",
            "setup.cfg",
            "name = a",
            "name = b",
        ),
        (
            "don't change the routes",
            "web.py",
            "@app.get('/orders')\nx = 1",
            "@app.get('/orders')\nx = 2",
        ),
        (
            "don't change the class names",
            "a.css",
            ".price { float: left; }",
            ".price { display: grid; }",
        ),
        ("comments only", "a.py", "x = 1  # one", "x = 1  # the first"),
        ("no need to keep the importer", "lib/import.php", "a", "b"),
        ("don't delete the importer", "lib/import.php", "a", "b"),
    ] {
        assert!(!asks(prompt, &edit(file, old, new)), "{prompt}");
    }
}

#[test]
fn commands_that_run_named_things_are_asked_about() {
    for (prompt, command, is_asked) in [
        (
            "don't flash the board",
            "esptool.py write_flash 0x1000 a.bin",
            true,
        ),
        ("don't flash the board", "idf.py build", false),
        ("on évite de lancer le playbook", "ls playbooks", false),
        (
            "don't send any emails while testing",
            "python manage.py send_reminders",
            true,
        ),
        ("not on main", "git push origin HEAD:main", true),
        ("not on main", "git log main", false),
        (
            "never connect to prod",
            "psql -h db-prod.example.com -c 'select 1'",
            true,
        ),
        ("never connect to prod", "psql -h localhost -c 'select 1'", false),
        ("no renaming", "git mv a.rs b.rs", true),
        ("only format packages/web", "npx prettier --write .", true),
        (
            "only format packages/web",
            "npx prettier --write packages/web",
            false,
        ),
        (
            "don't touch the partner pages",
            "lychee docs --exclude-path docs/partners",
            false,
        ),
    ] {
        assert_eq!(asks(prompt, &bash(command)), is_asked, "{prompt}: {command}");
    }
}

#[test]
fn main_before_a_noun_is_no_branch() {
    for prompt in [
        "Don't change the main layout",
        "leave the main menu alone",
        "don't touch main.ts",
        "ne touche pas à la fonction main",
        "keep the main config as it is",
    ] {
        for command in [
            "git push origin main",
            "git branch -D main",
            "git checkout main",
            "git rebase main",
        ] {
            assert!(!asks(prompt, &bash(command)), "{prompt}: {command}");
        }
    }
    for prompt in [
        "Never push to main",
        "never push directly to the main branch",
        "don't touch main",
        "nicht auf main pushen",
        "don't push to main or develop yet",
        "never commit to main",
    ] {
        assert!(asks(prompt, &bash("git push origin main")), "{prompt}");
    }
}

#[test]
fn commands_that_only_read_a_branch_are_not_asked_about() {
    for command in [
        "git rebase origin/main",
        "git merge main",
        "git switch -c x main",
        "git checkout -b x main",
        "git cherry-pick main",
        "git reset --hard origin/main",
        "git push origin main:review",
        "git push main x",
        "git branch x main",
    ] {
        assert!(!asks("Never push to main", &bash(command)), "{command}");
    }
    for command in [
        "git push origin main",
        "git push -f origin +HEAD:refs/heads/main",
        "git push origin --delete main",
        "git branch -f main HEAD~3",
        "git branch -D main",
        "git checkout -B main x",
    ] {
        assert!(asks("Never push to main", &bash(command)), "{command}");
    }
    assert!(asks("don't switch to main", &bash("git checkout main")));
}

#[test]
fn comments_of_a_long_edit_are_compared_as_sets() {
    let line = |at: usize| format!("let a{at} = {at};\n// number {at}\n");
    let old: String = (0..1000).map(line).collect();
    let new: String = (0..1000).rev().map(line).collect();
    let fewer = new.replace("// number 7\n", "");
    assert!(!asks("don't change the comments", &edit("a.ts", &old, &new)));
    assert!(asks("don't change the comments", &edit("a.ts", &old, &fewer)));
}

/// Prompts, and what is asked about: an edit `FILE` or `FILE: OLD => NEW`, or a command after `$ `.
fn check(cases: &[(&str, &[&str], &[&str])]) {
    let mut wrong = Vec::new();
    for (prompt, breaches, lawful) in cases {
        for (actions, expected) in [(breaches, true), (lawful, false)] {
            for action in *actions {
                let sketch = match action.strip_prefix("$ ") {
                    Some(command) => bash(command),
                    None => {
                        let (file, texts) = action.split_once(": ").unwrap_or((action, "a => b"));
                        let (old, new) = texts.split_once(" => ").unwrap_or(("", texts));
                        edit(file, old, new)
                    }
                };
                if asks(prompt, &sketch) != expected {
                    wrong.push(format!("{prompt} | {action}"));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn changes_of_named_parts_are_asked_about() {
    check(&[
        (
            "stay out of the payments module",
            &["src/payments/total.ts", "app/PaymentService.java"],
            &[
                "src/checkout/coupon.ts",
                "src/last_payment_of_user.ts",
                "tests/payments_test.ts",
            ],
        ),
        ("nu umbla la import", &["lib/import.php"], &["lib/export.php"]),
        (
            "no toques el middleware de sesiones",
            &["app/middleware/session.js"],
            &["app/middleware/log.js"],
        ),
        (
            "no changes of the code",
            &["src/a.rs: x = 1 => x = 2"],
            &["README.md", "src/a.rs:  => // why"],
        ),
        (
            "the database stays as it is",
            &["db/migrations/7.sql"],
            &["src/a.ts"],
        ),
        (
            "don't touch production",
            &["infra/prod/main.tf"],
            &["infra/staging/main.tf"],
        ),
        (
            "don't edit the old invoices",
            &["data/invoices/7.json"],
            &["src/invoices.ts"],
        ),
    ]);
}

#[test]
fn replacements_by_commands_are_compared_like_edits() {
    check(&[
        (
            "don't rename the css classes",
            &[
                "$ sed -i 's/ct-box/contact-box/g' css/a.css",
                "a.html: <b class=\"ct-box\"> => <b class=\"box\">",
            ],
            &["a.html: <b class=\"ct-box\"> => <b class=\"ct-box wide\">"],
        ),
        (
            "only comments",
            &["$ sed -i 's/R = 6378137$/R = 6378137.0/' geo/a.py"],
            &["$ sed -i 's/# old/# new/' geo/a.py"],
        ),
    ]);
}

#[test]
fn what_stays_is_compared_with_what_an_edit_takes_away() {
    check(&[
        (
            "keep the base at debian bookworm",
            &[
                "Dockerfile: FROM debian:bookworm => FROM alpine:3.20",
                "$ sed -i 's/^FROM debian:bookworm/FROM ubuntu:24.04/' Dockerfile",
            ],
            &["Dockerfile: FROM debian:bookworm => FROM debian:bookworm-slim"],
        ),
        (
            "keep the table name `foo_entries`",
            &["a.py: __tablename__ = \"foo_entries\" => __tablename__ = \"entries\""],
            &["a.py: class FooEntry: => class Entry:"],
        ),
        ("without lowering the threshold", &[], &["a.py: x = 1 => x = 2"]),
        (
            "don't change the threshold",
            &["a.js: threshold: 90 => threshold: 60"],
            &["a.js: limit: 1 => limit: 2"],
        ),
        ("no sidebar", &[], &["public/css/sidebar.css"]),
    ]);
}

#[test]
fn kinds_of_things_are_found_in_any_language_of_code() {
    check(&[
        (
            "no new classes",
            &[
                "a.py: def f(): => class F:",
                "a.ts: const a = 1 => export class A {",
            ],
            &["a.py: x = 'class' => y = 'class'"],
        ),
        ("sans récursivité", &[], &["a.py: def f(n): => def f(n, m):"]),
        (
            "nessuna chiamata asincrona",
            &["a.py: def f(): => async def f():"],
            &["a.py: def f(): => def g():"],
        ),
        (
            "without regular expressions",
            &[
                "a.go: \"time\" => \"regexp\"",
                "a.py: x = y => x = re.sub('a', 'b', y)",
            ],
            &["a.py: x = y => x = y.replace('a', 'b')"],
        ),
        (
            "the exit codes stay as they are",
            &["a.py: sys.exit(2) => sys.exit(1)"],
            &[
                "a.py: print('no') => print('no file')",
                "a.go: os.Exit(2) => os.Exit(2) // usage",
            ],
        ),
        (
            "die Fehlermeldungen bleiben gleich",
            &["a.py: raise E('no file') => raise E('the file is missing')"],
            &["a.py: raise E('no file') => raise F('no file')"],
        ),
        (
            "no raw SQL",
            &["a.py: O.all() => O.raw('SELECT * FROM o')"],
            &["a.py: O.all() => O.filter(a=1)"],
        ),
        (
            "the database schema must not change",
            &["$ psql app -c 'CREATE INDEX i ON a(b)'"],
            &["$ psql app -c 'SELECT a FROM b'"],
        ),
        (
            "keep the order of the columns",
            &["a.py: c = ['a', 'b', 'c'] => c = ['b', 'a', 'c']"],
            &["a.py: c = ['a', 'b', 'c'] => c = ['a', 'b', 'c', 'd']"],
        ),
        (
            "don't delete existing keys",
            &["a.json: \"a\": 1, => \"b\": 2,"],
            &["a.json: \"a\": 1, => \"a\": 2,"],
        ),
    ]);
}

#[test]
fn an_old_version_lacks_what_newer_ones_brought() {
    check(&[
        (
            "it must still run on python 3.8",
            &[
                "a.py: x = 1 => match x:",
                "a.py: def f(a): => def f(a: str) -> int | None:",
            ],
            &["a.py: x = 1 => y = x.match()", "b.js: x = 1 => match x:"],
        ),
        (
            "stay on node 18",
            &["a.mjs: x => import { globSync } from 'node:fs';"],
            &["a.mjs: x => import { readFileSync } from 'node:fs';"],
        ),
        (
            "must compile as c99",
            &["a.c: int x; => _Atomic int x;"],
            &["a.c: int x; => long x;"],
        ),
    ]);
}

#[test]
fn an_amount_is_compared_by_its_unit() {
    check(&[
        (
            "the TTL must not exceed 60 seconds",
            &["a.go: const ttl = 30 * time.Second => const ttl = 5 * time.Minute"],
            &["a.go: const ttl = 30 * time.Second => const ttl = 45 * time.Second"],
        ),
        (
            "como mucho tres veces",
            &["a.py: post(m) => for i in range(10): post(m)"],
            &["a.py: post(m) => for i in range(3): post(m)"],
        ),
        (
            "limit it to 1000 rows",
            &["$ psql a -c 'select * from b limit 5000'"],
            &["$ psql a -c 'select * from b limit 500'"],
        ),
    ]);
}

#[test]
fn a_version_is_that_of_the_thing_that_is_named() {
    check(&[(
        "don't change the version of redis",
        &["Chart.yaml: redis: 7.0.1 => redis: 7.2.0"],
        &["Chart.yaml: postgresql: 13.2.1 => postgresql: 15.5.3"],
    )]);
}

#[test]
fn comments_beside_code_that_must_not_change_are_written() {
    let prompt = "no changes to the code";
    let comment = "/** Starts the engine. */\nclass A";
    assert!(!asks(prompt, &edit("a.php", "class A", comment)));
    assert!(asks(prompt, &edit("a.php", "return 1;", "return 2;")));
}

/// Whether a constraint of a longer prompt is broken.
fn asks_in(prompt: &str, constraint: &str, action: &ActionSketch) -> bool {
    let root = ProjectRoot::new(Some("/home/me/p"));
    let words = tokens(constraint, Languages::of(&words(prompt)));
    let action = AnalyzedAction::new(&root, action);
    let change = Change::of(&action);
    read(constraint, words, prompt)
        .iter()
        .any(|named| named.is_broken_by(&action, &change))
}

#[test]
fn words_of_other_languages_name_parts_with_cognates() {
    for (prompt, file) in [
        ("Ne touche pas aux contrôleurs", "src/Controller/A.php"),
        ("nie ruszaj walidatorów", "src/validators/a.js"),
        ("no toques las notificaciones", "app/notifications/send.py"),
        ("não mexas na integração", "src/integration/a.go"),
    ] {
        assert!(asks(prompt, &edit(file, "a", "b")), "{prompt}");
        assert!(!asks(prompt, &edit("src/orders/a.js", "a", "b")), "{prompt}");
    }
}

#[test]
fn the_others_are_not_those_that_are_asked_for() {
    let prompt = "Fix the parser of CSV in src/parsers/csv.rs. Don't touch the other parsers";
    let constraint = "Don't touch the other parsers";
    assert!(asks_in(prompt, constraint, &edit("src/parsers/xml.rs", "a", "b")));
    assert!(!asks_in(
        prompt,
        constraint,
        &edit("src/parsers/csv.rs", "a", "b")
    ));
    assert!(!asks_in(prompt, constraint, &edit("src/main.rs", "a", "b")));
}

#[test]
fn what_is_banned_must_not_be_in_new_text_either() {
    let write = |file: &str, text: &str| ActionSketch {
        files: vec![file.to_owned()],
        content: Some(text.to_owned()),
        ..ActionSketch::empty(ActionType::Write)
    };
    let text = "import debounce from \"lodash/debounce\";\n";
    assert!(asks("no lodash please", &write("a.js", text)));
    assert!(asks("no lodash please", &edit("a.js", "", text)));
    assert!(!asks("no lodash please", &write("NOTES.md", text)));
    assert!(!asks(
        "no lodash please",
        &write("a.js", "// lodash is not needed\n")
    ));
    assert!(asks(
        "no snapshots",
        &edit("a.test.ts", "", "expect(x).toMatchSnapshot();")
    ));
    assert!(asks(
        "mocks are forbidden",
        &edit("a.py", "", "from unittest.mock import patch\n")
    ));
}

#[test]
fn the_verb_of_a_limit_names_nothing() {
    let limit = "do not log card numbers";
    assert!(asks(
        limit,
        &edit("a.py", "charge()", "log(card.number())\ncharge()")
    ));
    assert!(!asks(
        limit,
        &edit("a.py", "charge()", "log.info(\"charging\")\ncharge()")
    ));
}

#[test]
fn a_generation_of_an_interface_is_a_folder() {
    assert!(asks("Don't touch v1", &edit("src/api/v1/a.ts", "a", "b")));
    assert!(!asks("Don't touch v1", &edit("src/api/v2/a.ts", "a", "b")));
}

#[test]
fn things_in_texts_without_spaces_are_parts_of_the_project() {
    for prompt in ["不要动支付模块", "決済まわりは触らないこと"] {
        assert!(asks(prompt, &edit("src/payment/pay.ts", "a", "b")), "{prompt}");
        assert!(!asks(prompt, &edit("src/orders/list.ts", "a", "b")), "{prompt}");
    }
}

#[test]
fn stored_data_keeps_its_names() {
    let limit = "Don't rename the database table";
    let sql = edit("db/9.sql", "", "ALTER TABLE users RENAME TO accounts;");
    assert!(asks(limit, &sql));
    assert!(!asks(
        limit,
        &edit("db/9.sql", "", "ALTER TABLE users ADD age INT;")
    ));
}
