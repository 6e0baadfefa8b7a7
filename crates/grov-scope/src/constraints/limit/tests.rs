//! Limits as people set them, what breaks them, and what does not. An action is a command, or `edit FILE: TEXT`, or
//! `write FILE: TEXT`.

use crate::Rules;
use crate::analyzed_action::tests::{bash, edit};
use grov_domain::{ActionSketch, ActionType, GoalContract, OFF_GOAL_BELOW, Rule, TextChange};
use std::sync::Arc;

fn sketch(action: &str) -> ActionSketch {
    let written = |rest: &str, action_type| {
        let (file, text) = rest.split_once(": ").unwrap_or((rest, "x = 1"));
        let change = TextChange {
            before: (action_type == ActionType::Edit).then(String::new),
            after: text.to_owned(),
        };
        ActionSketch {
            action_type,
            change: Some(Arc::new(change)),
            ..edit(file, text)
        }
    };
    match action.split_once(' ') {
        Some(("edit", rest)) => written(rest, ActionType::Edit),
        Some(("write", rest)) => written(rest, ActionType::Write),
        _ => bash(action),
    }
}

fn breaks(constraint: &str, prompt: &str, action: &ActionSketch) -> Option<String> {
    let contract = GoalContract {
        goal: prompt.to_owned(),
        instructions: vec![prompt.to_owned()],
        constraints: vec![constraint.to_owned()],
        ..GoalContract::default()
    };
    let rules = Rules::new(contract, Some("/home/me/p"));
    let found = rules.assess_without_history(action).findings;
    let broken = found
        .into_iter()
        .find(|finding| finding.rule == Rule::Constraint && finding.at_most < OFF_GOAL_BELOW);
    broken.map(|finding| finding.reason)
}

/// Checks limits with the actions that break them and those that do not, and lists all that is wrong.
fn check(cases: &[(&str, &[&str], &[&str])]) {
    let mut wrong = Vec::new();
    for (constraint, breaches, lawful) in cases {
        for (actions, expected) in [(breaches, true), (lawful, false)] {
            for action in *actions {
                let found = breaks(constraint, constraint, &sketch(action));
                if found.is_some() != expected {
                    wrong.push(format!("{constraint} | {action} | {found:?}"));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn places_are_named_by_path_kind_and_words() {
    check(&[
        (
            "leave the header component alone",
            &["edit src/components/Header.tsx"],
            &["edit src/components/Footer.tsx"],
        ),
        (
            "don't touch legacy billing",
            &["edit legacy/billing/a.py", "edit src/legacy_billing.py"],
            &["edit billing/a.py", "edit legacy/users.py"],
        ),
        (
            "keep the payment code as it is",
            &["edit src/payment/charge.ts", "edit app/PaymentService.java"],
            &["edit src/cart.ts"],
        ),
        (
            "nothing outside packages/web",
            &["edit packages/api/a.ts"],
            &["edit packages/web/a.ts", "write /tmp/x"],
        ),
        (
            "don't change anything in docs/ except docs/faq.md",
            &["edit docs/a.md"],
            &["edit docs/faq.md", "edit src/a.ts"],
        ),
        (
            "don't touch the lockfile",
            &["edit package-lock.json"],
            &["edit package.json", "npm ci"],
        ),
        (
            "leave package.json alone",
            &["npm install lodash", "pnpm add zod", "edit package.json"],
            &["npm ci", "npm install", "npm run build"],
        ),
        (
            "don't edit generated code",
            &["edit src/generated/a.ts"],
            &["edit src/a.ts"],
        ),
        (
            "don't change the CI",
            &["edit .github/workflows/ci.yml"],
            &["edit src/ci.ts", "gh run list"],
        ),
        (
            "the frontend is off limits",
            &["edit frontend/src/a.ts", "edit web/templates/a.html"],
            &["edit api/a.py"],
        ),
        (
            "check with me before you change the schema",
            &["edit db/schema.rb"],
            &["edit app/a.rb"],
        ),
        (
            "i'll do the tests myself",
            &["write tests/a_test.py"],
            &["edit src/a.py", "pytest"],
        ),
        (
            "don't delete any tests",
            &["rm tests/a_test.py"],
            &["edit tests/a_test.py: def test_b(): pass"],
        ),
        (
            "don't create any new files",
            &["write src/new.ts"],
            &["edit src/old.ts"],
        ),
        (
            "nothing in backend/",
            &["cd backend && npm update", "edit backend/a.py"],
            &["cd frontend && npm update"],
        ),
        (
            "don't touch infra/prod/",
            &["sed -i s/a/b/ infra/*/main.tf"],
            &["sed -i s/a/b/ infra/dev/main.tf"],
        ),
        (
            "don't touch the Gemfile",
            &["bundle add csv"],
            &["bundle exec rspec"],
        ),
        (
            "don't edit any .meta files",
            &["edit Assets/a.cs.meta"],
            &["edit Assets/a.cs"],
        ),
    ]);
}

#[test]
fn commands_are_forbidden_by_what_they_do() {
    check(&[
        (
            "stay on this branch",
            &["git checkout main", "git switch -c x"],
            &[
                "git checkout -- src/a.rs",
                "git commit -m x",
                "git branch --show-current",
            ],
        ),
        (
            "don't start any containers",
            &["docker compose up -d", "docker run -p 1:1 redis"],
            &["docker ps", "docker compose config"],
        ),
        (
            "don't run the migrations",
            &[
                "bin/rails db:migrate",
                "python manage.py migrate",
                "npx prisma migrate deploy",
            ],
            &["write db/migrate/1_a.rb", "bin/rails db:migrate:status"],
        ),
        (
            "don't reformat anything",
            &["npx prettier --write src", "cargo fmt", "black ."],
            &["npx prettier --check src", "edit src/a.py", "cargo fmt --check"],
        ),
        (
            "don't push yet",
            &["git push"],
            &["git commit -m a", "git stash list"],
        ),
        (
            "ask before you commit",
            &["git commit -m x"],
            &["git add -A", "edit src/a.py"],
        ),
        (
            "do not alter the database",
            &["psql -c 'alter table a add b int'"],
            &["psql -c 'select 1'", "edit src/a.py"],
        ),
        (
            "selects only",
            &["psql -h db -c 'update a set b = 1'"],
            &["psql -h db -c 'select updated_at from a'"],
        ),
        (
            "no --force and no --legacy-peer-deps",
            &["npm install --legacy-peer-deps", "npx ng update --force"],
            &["npm install"],
        ),
        (
            "never kubectl apply or helm upgrade yourself",
            &["kubectl apply -f a.yml", "helm upgrade api ."],
            &["kubectl get pods", "helm template ."],
        ),
        (
            "no apply",
            &["terraform apply"],
            &["terraform plan", "edit main.tf"],
        ),
        (
            "except react and react-dom",
            &["npm install react@19", "npx npm-check-updates -u"],
            &[
                "npm install lodash",
                "npx npm-check-updates -u --reject react,react-dom",
                "edit a.tsx: import React from 'react'",
            ],
        ),
    ]);
}

#[test]
fn texts_are_forbidden_by_construct() {
    check(&[
        (
            "don't touch calculateTotal",
            &["edit src/cart.ts: function calculateTotal(items) {"],
            &["edit src/cart.ts: const t = calculateTotal(items);"],
        ),
        (
            "no jQuery please",
            &["npm i jquery", "edit a.js: import $ from 'jquery';"],
            &[
                "edit a.js: document.querySelector('a')",
                "edit README.md: we removed jquery",
            ],
        ),
        (
            "don't use unwrap",
            &["edit src/a.rs: let a = b.unwrap();"],
            &[
                "edit src/a.rs: let a = b?;",
                "edit src/a.rs: let a = b.unwrap_or(1);",
            ],
        ),
        (
            "no console.log",
            &["edit a.ts: console.log(a)"],
            &["edit a.ts: logger.info(a)"],
        ),
        (
            "no `any`",
            &["write a.ts: const f = (a: any) => a;"],
            &["write a.ts: const f = (company: string) => company;"],
        ),
        (
            "don't add comments",
            &["edit a.ts: // adds one", "edit a.py: x = 1  # one"],
            &["edit a.ts: const url = 'http://x'", "edit a.py: x = '#fff'"],
        ),
        (
            "no emojis in the output",
            &["edit a.py: print('✨ done')"],
            &["edit a.py: print('done')"],
        ),
        (
            "no inline styles",
            &["edit a.tsx: <a style={{color: 'red'}}>"],
            &[
                "edit a.tsx: <a className='x'>",
                "edit a.tsx: <a style={styles.a}>",
            ],
        ),
        (
            "min iOS stays 15",
            &["edit Package.swift: platforms: [.iOS(.v17)],"],
            &["edit Package.swift: platforms: [.iOS(.v15)],"],
        ),
        (
            "without !important",
            &["edit a.css: a { color: red !important; }"],
            &["edit a.css: a { color: red; }"],
        ),
        (
            "the signature of export_rows() has to stay",
            &["edit a.py: def export_rows(query, stream=True):"],
            &[
                "edit a.py: def _iter_rows(query):",
                "edit a.py: rows = export_rows(q)",
            ],
        ),
        (
            "no mocks",
            &["edit tests/a.ts: vi.mock('./a')"],
            &["edit tests/a.ts: expect(a()).toBe(1)"],
        ),
        (
            "C99",
            &["edit a.c: _Static_assert(1, \"x\");"],
            &["edit a.c: int a = 1;"],
        ),
    ]);
}

#[test]
fn other_languages_bind_alike() {
    check(&[
        (
            "nicht committen",
            &["git commit -m x"],
            &["git status", "edit a.py"],
        ),
        ("ohne neue Abhängigkeiten", &["npm i lodash"], &["npm ci"]),
        (
            "fass die Tests nicht an",
            &["edit tests/a.py"],
            &["edit src/a.py", "pytest"],
        ),
        (
            "die Datenbank nicht verändern",
            &["psql -c 'delete from a'"],
            &["psql -c 'select 1'"],
        ),
        (
            "ne touche pas à src/auth/",
            &["edit src/auth/a.ts"],
            &["edit src/b.ts", "cat src/auth/a.ts"],
        ),
        (
            "sans nouvelle dépendance",
            &["composer require a/b"],
            &["composer install"],
        ),
        ("ne commite pas", &["git commit -m x"], &["git diff"]),
        ("no toques los tests", &["edit tests/a.py"], &["edit src/a.py"]),
        (
            "sin comentarios en el código",
            &["edit a.py: # hola"],
            &["edit a.py: x = 1"],
        ),
        ("no instales nada", &["pip install x"], &["pytest"]),
        (
            "non modificare package.json",
            &["npm i lodash", "edit package.json"],
            &["npm ci"],
        ),
        ("solo in src/api/", &["edit src/web/a.ts"], &["edit src/api/a.ts"]),
        (
            "não mexa na pasta config/",
            &["edit config/a.yml"],
            &["edit src/a.ts"],
        ),
        ("sem novas dependências", &["npm i lodash"], &["npm ci"]),
        (
            "nie ruszaj katalogu migrations/",
            &["edit migrations/1.sql"],
            &["edit src/a.py"],
        ),
        ("bez nowych zależności", &["pip install x"], &["pytest"]),
        ("nie commituj", &["git commit -m x"], &["git diff"]),
        ("raak de tests niet aan", &["edit tests/a.py"], &["edit src/a.py"]),
        ("geen nieuwe dependencies", &["npm i x"], &["npm ci"]),
        ("niet pushen", &["git push"], &["git commit -m x"]),
        ("不要修改 tests/ 目录", &["edit tests/a.py"], &["edit src/a.py"]),
        ("不要添加新的依赖", &["npm i x"], &["npm ci"]),
        ("别提交", &["git commit -m x"], &["git diff"]),
        ("只改 src/a.ts", &["edit src/b.ts"], &["edit src/a.ts"]),
        ("不要写注释", &["edit a.py: # 你好"], &["edit a.py: x = 1"]),
        (
            "テストは変更しないでください",
            &["edit tests/a.py"],
            &["edit src/a.py"],
        ),
        ("新しい依存は追加しないで", &["npm i x"], &["npm ci"]),
        ("コミットしないで", &["git commit -m x"], &["git diff"]),
        (
            "src/api/ だけ変更して",
            &["edit src/web/a.ts"],
            &["edit src/api/a.ts"],
        ),
        ("nu atinge testele", &["edit tests/a.py"], &["edit src/a.py"]),
        ("fără librării noi", &["npm i x"], &["npm ci"]),
        ("lasă package.json așa cum e", &["npm i x"], &["npm ci"]),
        ("n'applique rien", &["edit src/a.php"], &["git blame src/a.php"]),
        ("só leitura", &["edit src/a.tf"], &["terraform state list"]),
    ]);
}

#[test]
fn permissions_and_matters_of_taste_bind_nothing() {
    let ordinary: &[&str] = &[
        "edit src/a.ts: export function a() {",
        "edit src/a.go: errors.New(\"x\")",
        "edit src/a.py: def test(): return 1",
        "edit src/db/a.rs",
        "edit vendor/a.go",
        "edit tests/a.py",
        "write src/b.ts",
        "edit README.md: # Title",
        "npm run build",
        "npm ci",
        "curl localhost:3000",
        "git status",
        "pytest -q",
    ];
    for constraint in [
        "no need to avoid vendor/",
        "you don't have to touch the tests",
        "don't hesitate to change src/db/",
        "you may edit src/db/",
        "no breaking changes",
        "don't break the build",
        "without errors",
        "keep it simple",
        "don't overengineer this",
        "no fancy stuff",
        "must be backwards compatible",
        "must work on Windows",
        "don't log passwords",
        "at most 2 retries",
        "no more than 80 characters per line",
        "no global state",
        "only use the standard library",
        "don't change behaviour",
        "without changing the output format",
        "no new endpoints",
        "keep the function short",
        "don't touch src/db/ if you can avoid it",
        "nothing fancy",
        "keep the tests green",
        "not only the tests",
        "tests must pass",
        "use async/await, not callbacks",
        "names in English",
        "globs `**/*.md` only",
        "the docs/ folder only has markdown",
        "keep the style of the file",
        "kein Problem wenn es länger dauert",
        "pas besoin de toucher aux tests",
        "no hace falta tocar los tests",
        "non serve toccare src/db/",
        "不用改测试也可以",
        "テストを変更してもいい",
    ] {
        for action in ordinary {
            let found = breaks(constraint, constraint, &sketch(action));
            assert_eq!(found, None, "{constraint}: {action}");
        }
    }
}

#[test]
fn an_edit_that_keeps_a_definition_keeps_its_signature() {
    let change = |before: &str, after: &str| ActionSketch {
        change: Some(Arc::new(TextChange {
            before: Some(before.to_owned()),
            after: after.to_owned(),
        })),
        ..edit("src/a.ts", after)
    };
    let limit = "keep the public signatures as they are";
    let old = "export function load(id: string): Item {\n  return a;\n}";
    for (after, expected) in [
        (
            "export function load(id: string): Item {\n  return b;\n}\n",
            false,
        ),
        (
            "export function load(id: string): Item {\n  return a;\n}\nexport function more() {}",
            false,
        ),
        (
            "export function load(id: string, b = 1): Item {\n  return a;\n}",
            true,
        ),
        ("export function read(id: string): Item {\n  return a;\n}", true),
    ] {
        assert_eq!(
            breaks(limit, limit, &change(old, after)).is_some(),
            expected,
            "{after}"
        );
    }
}

#[test]
fn a_later_permission_in_a_clause_lifts_a_command() {
    let said = |later: &str| GoalContract {
        instructions: vec!["Fix it, don't commit, don't push".to_owned(), later.to_owned()],
        constraints: vec!["don't commit".to_owned(), "don't push".to_owned()],
        ..GoalContract::default()
    };
    for (later, command, expected) in [
        (
            "looks right. you can commit now, still no push",
            "git commit -m x",
            false,
        ),
        ("looks right. you can commit now, still no push", "git push", true),
        ("looks right", "git commit -m x", true),
    ] {
        let rules = Rules::new(said(later), Some("/home/me/p"));
        let found = rules.assess_without_history(&bash(command)).findings;
        let is_broken = found.iter().any(|finding| finding.rule == Rule::Constraint);
        assert_eq!(is_broken, expected, "{later}: {command}");
    }
}

#[test]
fn the_prompt_of_a_constraint_tells_what_it_means() {
    type Row = (
        &'static str,
        &'static str,
        &'static [&'static str],
        &'static [&'static str],
    );
    let cases: &[Row] = &[
        (
            "Split the settings. prod.py i will write though, leave it",
            "leave it",
            &["write config/prod.py"],
            &["write config/dev.py"],
        ),
        (
            "packages/ds is frozen until the release, so nothing in there",
            "nothing in there",
            &["edit packages/ds/a.tsx"],
            &["edit src/a.tsx"],
        ),
        (
            "fix the mypy errors, dont add type: ignore",
            "dont add type",
            &["edit a.py: x = 1  # type: ignore"],
            &["edit a.py: x: int = 1"],
        ),
        (
            "solo commenti, niente cambi al codice!",
            "niente cambi al codice",
            &[],
            &["edit a.rs: /// Un nodo."],
        ),
        (
            "Add retry to lib/s3.rb. ONLY that file",
            "ONLY that file",
            &["edit lib/base.rb"],
            &["edit lib/s3.rb"],
        ),
        (
            "Refactor `berechneRabatt`, Signatur bleibt",
            "Signatur bleibt",
            &["edit a.ts: export function berechneRabatt(o: Opts) {"],
            &["edit a.ts: const r = berechneRabatt(o);"],
        ),
        (
            "write the cleanup as a rake task. you must not execute it",
            "you must not execute it",
            &["bin/rails attachments:cleanup"],
            &["bin/rails -T attachments"],
        ),
        (
            "show me, dont apply. unless it is one line",
            "dont apply",
            &[],
            &["edit a.rb"],
        ),
        (
            "Use slog. Do not log user emails or tokens",
            "Do not log user emails or tokens",
            &["edit a.go: slog.Info(\"done\", \"user\", u.Email)"],
            &[
                "edit a.go: slog.Info(\"sent the email\", \"id\", u.ID)",
                "edit a.go: x := u.Email",
            ],
        ),
    ];
    for (prompt, constraint, breaches, lawful) in cases {
        for (actions, expected) in [(breaches, true), (lawful, false)] {
            for action in *actions {
                let found = breaks(constraint, prompt, &sketch(action));
                assert_eq!(found.is_some(), expected, "{prompt}: {action}: {found:?}");
            }
        }
    }
}

#[test]
fn only_with_another_verb_than_change_confines_no_edits() {
    check(&[
        ("alleen test uitrollen", &[], &["edit modules/uploads/main.tf"]),
        ("only deploy the docs", &[], &["edit src/app.ts"]),
        (
            "only touch src/app.ts",
            &["edit src/other.ts"],
            &["edit src/app.ts"],
        ),
        (
            "only change the tests",
            &["edit src/app.ts"],
            &["edit src/app.test.ts"],
        ),
    ]);
}

#[test]
fn a_limit_to_a_place_without_a_boundary_binds_nothing() {
    let cases: Vec<(&str, &[&str], &[&str])> = vec![
        (
            "just the header",
            &[],
            &["edit src/footer.css", "edit src/header.css"],
        ),
        ("only the retry logic", &[], &["edit src/other.ts"]),
        ("só claro/escuro/sistema", &[], &["edit app/Theme.kt"]),
        ("only admins may see it", &[], &["edit src/menu.ts"]),
        ("only format packages/web", &[], &["write .prettierrc.json"]),
        ("only when the cache is cold", &[], &["edit src/cache.ts"]),
        ("nur das Logging bleibt synchron", &[], &["edit src/api.py"]),
        ("seulement le composant de recherche", &[], &["edit src/a.vue"]),
        ("solo el formulario", &[], &["edit src/a.ts"]),
        ("tylko nazwa przycisku", &[], &["edit src/a.ts"]),
        ("只改标题", &[], &["edit src/a.ts"]),
    ];
    check(&cases);
}

#[test]
fn what_belongs_to_a_place_may_change_with_it() {
    check(&[
        (
            "only touch packages/web",
            &[
                "edit packages/api/a.ts",
                "edit docs/api.md",
                "edit packages/api/package.json",
            ],
            &[
                "edit packages/web/a.ts",
                "edit tests/web/a.test.ts",
                "edit package.json",
                "edit package-lock.json",
            ],
        ),
        (
            "stay in lib/parser.rb",
            &["edit lib/lexer.rb"],
            &[
                "edit lib/parser.rb",
                "edit spec/parser_spec.rb",
                "edit CHANGELOG.md",
            ],
        ),
        (
            "change only src/a.ts, nothing else",
            &["edit package.json", "edit tests/a.test.ts"],
            &["edit src/a.ts"],
        ),
        (
            "reste dans docs/fr",
            &["edit README.md", "edit docs/en/a.md"],
            &["edit docs/fr/a.md"],
        ),
    ]);
}

#[test]
fn a_reason_says_nothing_about_what_is_forbidden() {
    check(&[
        (
            "don't touch the importer because the parser team owns it",
            &["edit src/importer.py"],
            &["edit src/parser.py"],
        ),
        (
            "nie ruszaj backendu bo Kasia robi tam migracje",
            &["edit backend/src/A.java"],
            &["edit frontend/a.ts"],
        ),
        (
            "fass src/auth/ nicht an weil das Audit läuft",
            &["edit src/auth/a.ts"],
            &["edit src/audit.ts"],
        ),
        (
            "no toques config/ porque lo lleva sistemas",
            &["edit config/a.yml"],
            &["edit src/sistemas.py"],
        ),
    ]);
}

#[test]
fn the_owner_of_a_place_protects_it() {
    check(&[
        (
            "the workflows in .github belong to the platform team",
            &["edit .github/workflows/ci.yml"],
            &["edit platform/a.tf"],
        ),
        (
            "services/billing/ is owned by payments",
            &["edit services/billing/a.go"],
            &["edit services/users/a.go"],
        ),
        (
            "data/raw is sacred, read from it but never write to it",
            &["mv data/raw/a.csv data/raw/b.csv", "sed -i s/a/b/ data/raw/a.csv"],
            &["cp data/raw/a.csv data/clean/a.csv"],
        ),
        (
            "composer.json and composer.lock stay untouched",
            &["composer require league/csv", "edit composer.json"],
            &["composer install", "edit src/A.php"],
        ),
        (
            "non toccare i file .po e .mo",
            &["edit languages/it.po"],
            &["edit widgets/a.php"],
        ),
    ]);
}

#[test]
fn commands_wait_for_the_user() {
    check(&[
        ("I'll push myself", &["git push"], &["git commit -m x"]),
        (
            "I'll upload it myself tonight",
            &["arduino-cli upload -b x y"],
            &["arduino-cli compile y"],
        ),
        ("commit pas als ik ok zeg", &["git commit -m x"], &["git status"]),
        (
            "i'd rather you didn't commit",
            &["git commit -m x"],
            &["git diff"],
        ),
        (
            "dont reindex pls",
            &["bin/console search:reindex --all"],
            &["bin/console cache:clear"],
        ),
        ("Nix flashen", &["west flash"], &["west build"]),
        (
            "never push to main",
            &["git push origin HEAD:main"],
            &["git push origin topic"],
        ),
        (
            "don't restart the service",
            &["systemctl restart api"],
            &["systemctl status api"],
        ),
        (
            "不要重启服务",
            &["systemctl restart api"],
            &["systemctl status api"],
        ),
        (
            "--force is not ok",
            &["npm audit fix --force"],
            &["npm audit fix"],
        ),
        (
            "keep the batch size at 256",
            &["python train.py --batch-size 64"],
            &["python train.py --batch-size 256"],
        ),
        (
            "niente deploy su staging",
            &["bundle exec cap staging deploy"],
            &["edit config/deploy.rb"],
        ),
    ]);
}

#[test]
fn environments_are_told_apart() {
    check(&[
        (
            "ONLY prod",
            &["edit config/staging.yml", "kubectl -n staging apply -f a.yml"],
            &[
                "edit config/prod.yml",
                "edit src/a.ts",
                "kubectl -n staging get pods",
            ],
        ),
        (
            "dev only",
            &[
                "helm upgrade api ./chart --kube-context prod-eu",
                "edit k8s/production/a.yml",
            ],
            &[
                "helm upgrade api ./chart --kube-context dev",
                "edit chart/values.yaml",
            ],
        ),
        (
            "never touch prod",
            &["edit envs/prod/main.tf", "kubectl -n prod delete pod a"],
            &[
                "edit envs/dev/main.tf",
                "kubectl -n prod get pods",
                "edit src/product.ts",
            ],
        ),
    ]);
}

#[test]
fn keys_and_values_are_kept() {
    let change = |file: &str, before: &str, after: &str| ActionSketch {
        change: Some(Arc::new(TextChange {
            before: Some(before.to_owned()),
            after: after.to_owned(),
        })),
        ..edit(file, after)
    };
    for (limit, file, before, after, expected) in [
        (
            "don't change the keys",
            "lang/ro.json",
            "\"a_b\": \"Coș\",",
            "\"a.b\": \"Coș\",",
            true,
        ),
        (
            "don't change the keys",
            "lang/ro.json",
            "\"a_b\": \"Coș\",",
            "\"a_b\": \"Coșul\",",
            false,
        ),
        (
            "nie zmieniaj kluczy",
            "m.php",
            "'a' => 'Adres',",
            "'b' => 'Adres',",
            true,
        ),
        (
            "keep the batch size at 256",
            "a.yaml",
            "batch_size: 256",
            "batch_size: 128",
            true,
        ),
        ("keep the batch size at 256", "a.yaml", "lr: 1", "lr: 2", false),
        (
            "hands off the ingress section",
            "a.yaml",
            "ingress:\n  on: true",
            "ingress:\n  on: false",
            true,
        ),
        (
            "hands off the ingress section",
            "a.yaml",
            "service:\n  on: true",
            "service:\n  on: false",
            false,
        ),
        (
            "stay on react 17",
            "package.json",
            "\"react\": \"17.0.2\"",
            "\"react\": \"18.0.0\"",
            true,
        ),
        (
            "leave the versions alone",
            "package.json",
            "\"react\": \"17.0.2\"",
            "\"react\": \"18.0.0\"",
            true,
        ),
        (
            "leave the versions alone",
            "package.json",
            "\"build\": \"a\"",
            "\"build\": \"b\"",
            false,
        ),
    ] {
        let found = breaks(limit, limit, &change(file, before, after));
        assert_eq!(
            found.is_some(),
            expected,
            "{limit}: {before} => {after}: {found:?}"
        );
    }
}

#[test]
fn a_later_permission_lifts_a_limit_in_any_language() {
    for (limit, later, action) in [
        (
            "vendor/ is frozen",
            "ok you may touch vendor now",
            "edit vendor/a.go",
        ),
        (
            "古いdeploy.shはまだ消さないで",
            "やっぱり消していいよ",
            "rm deploy.sh",
        ),
        (
            "na razie nie kasuj starych klas",
            "dobra, stare mozesz juz kasowac",
            "rm src/Stare.java",
        ),
        ("先不要升级依赖", "现在可以升级 axios 了", "pnpm up axios"),
        (
            "aber nicht die Zahlungen",
            "Audit ist durch! Zahlungen also auch.",
            "edit api/zahlungen.py",
        ),
        (
            "sauf dans les vues sql",
            "bon finalement les vues aussi",
            "edit sql/vues/a.sql",
        ),
    ] {
        let contract = |later: &[&str]| GoalContract {
            instructions: [&[limit], later]
                .concat()
                .iter()
                .map(|text| (*text).to_owned())
                .collect(),
            constraints: vec![limit.to_owned()],
            ..GoalContract::default()
        };
        let is_broken = |later: &[&str]| {
            let rules = Rules::new(contract(later), Some("/home/me/p"));
            let found = rules.assess_without_history(&sketch(action)).findings;
            found.iter().any(|finding| finding.rule == Rule::Constraint)
        };
        assert!(!is_broken(&[later]), "{limit}; {later}");
    }
    let rules = |later: &str| {
        let contract = GoalContract {
            instructions: vec!["don't touch vendor/".to_owned(), later.to_owned()],
            constraints: vec!["don't touch vendor/".to_owned()],
            ..GoalContract::default()
        };
        Rules::new(contract, Some("/home/me/p"))
    };
    for later in [
        "you may touch src/ now",
        "you can run the tests",
        "you can change anything else",
    ] {
        let found = rules(later)
            .assess_without_history(&sketch("edit vendor/a.go"))
            .findings;
        assert!(!found.is_empty(), "{later}");
    }
}

#[test]
fn the_object_may_stand_before_the_verb() {
    check(&[
        (
            "die Tests nicht anfassen",
            &["edit tests/a.py"],
            &["edit src/a.py"],
        ),
        (
            "src/auth/ bitte nicht ändern",
            &["edit src/auth/a.ts"],
            &["edit src/b.ts"],
        ),
        ("Testów nie zmieniaj", &["edit tests/a.cs"], &["edit src/a.cs"]),
        (
            "config/ niet aanpassen",
            &["edit config/a.yml"],
            &["edit src/a.ts"],
        ),
        (
            "lass die Finger von der config.yaml",
            &["edit config.yaml"],
            &["edit src/config.py"],
        ),
        (
            "das Designsystem fasst du bitte nicht an",
            &["edit designsystem/src/A.kt"],
            &["edit login/src/A.kt"],
        ),
        (
            "nel parser non cambiare nulla",
            &["edit src/parser.rs"],
            &["edit src/lexer.rs", "write tests/parser.rs"],
        ),
        ("src/api.ts 不要动", &["edit src/api.ts"], &["edit src/b.ts"]),
        (
            "src/common は触らないで",
            &["edit src/common/a.ts"],
            &["edit src/b.ts"],
        ),
        (
            "No modifiques nada de Nominas.Calculo",
            &["edit src/Nominas.Calculo/A.cs"],
            &["edit src/Nominas.Web/A.cs"],
        ),
        (
            "never touch prod state without asking",
            &["terraform -chdir=envs/prod state mv a b"],
            &["terraform -chdir=envs/prod plan"],
        ),
    ]);
}

#[test]
fn translations_and_assets_are_kinds_of_files() {
    check(&[
        (
            "don't touch the translations",
            &["edit locales/fr.json", "edit po/de.po"],
            &["edit src/i18n.ts", "edit src/a.ts"],
        ),
        (
            "die Übersetzungen bleiben wie sie sind",
            &["edit src/lang/de.json"],
            &["edit src/a.ts"],
        ),
        (
            "no toques las traducciones",
            &["edit i18n/es.yml"],
            &["edit app/a.rb"],
        ),
        ("不要改翻译", &["edit locales/zh.json"], &["edit src/a.ts"]),
        (
            "leave the English texts alone",
            &["edit lang/en.json"],
            &["edit lang/fr.json"],
        ),
        (
            "don't change any assets",
            &["edit public/logo.svg"],
            &["edit src/logo.ts"],
        ),
        ("画像は変更しないで", &["edit assets/a.png"], &["edit src/a.ts"]),
    ]);
}

#[test]
fn actions_of_git_and_tasks_are_forbidden_by_name() {
    check(&[
        (
            "don't amend",
            &["git commit --amend --no-edit"],
            &["git commit -m x"],
        ),
        (
            "don't create a new branch",
            &["git switch -c x", "git checkout -b x"],
            &["git checkout -- a.ts"],
        ),
        ("don't open a PR", &["gh pr create --fill"], &["gh pr view 3"]),
        ("no sudo", &["sudo apt-get install x"], &["apt-get install x"]),
        ("don't run the build", &["npm run build"], &["npm test"]),
        ("don't run the seeder", &["npm run seeder"], &["npm run start"]),
    ]);
}

#[test]
fn what_the_program_must_do_and_how_things_are_limit_nothing() {
    let ordinary: &[&str] = &[
        "edit src/export.py: text = 'b'",
        "edit tests/login.py: order = 2",
        "edit src/api/users.ts: const a = 1;",
        "edit src/logs.ts",
        "docker logs api",
        "kubectl -n prod get pods",
        "ssh prod-1 tail -n 5 app.log",
        "psql -h prod-db -c 'select 1'",
        "npm cache verify",
        "rm -rf node_modules",
    ];
    for (constraint, prompt) in [
        (
            "empty names are not allowed",
            "Validate the form: empty names are not allowed",
        ),
        (
            "tests are not allowed to use the network",
            "tests are not allowed to use the network, mock it",
        ),
        ("except the export", "everything works except the export, fix it"),
        ("except the login one", "all tests pass except the login one"),
        (
            "stick to the conventions of src/api/orders.ts",
            "stick to the conventions of src/api/orders.ts",
        ),
        ("no logs", "no logs"),
        ("no cache", "no cache"),
        ("keep 2 columns", "keep 2 columns"),
        ("don't touch prod", "don't touch prod"),
        ("nothing gets deleted", "nothing gets deleted"),
        ("don't change the text", "don't change the text"),
        (
            "sin cambios",
            "actualiza el script, los tests deben pasar sin cambios",
        ),
        (
            "ohne Änderungen",
            "Schreib den Parser um, die Aufrufer sollen ohne Änderungen bauen",
        ),
    ] {
        for action in ordinary {
            let found = breaks(constraint, prompt, &sketch(action));
            assert_eq!(found, None, "{constraint}: {action}");
        }
    }
}

#[test]
fn a_later_prompt_that_only_mentions_the_object_lifts_no_limit() {
    for (limit, later, action) in [
        (
            "don't touch src/legacy",
            "does src/legacy also use this?",
            "edit src/legacy/a.py",
        ),
        (
            "don't add new dependencies",
            "Also add a unit test for the parser",
            "npm install left-pad",
        ),
        (
            "don't add new dependencies",
            "you can add a helper for that",
            "npm install left-pad",
        ),
    ] {
        let contract = GoalContract {
            instructions: vec![limit.to_owned(), later.to_owned()],
            constraints: vec![limit.to_owned()],
            ..GoalContract::default()
        };
        let found = Rules::new(contract, Some("/home/me/p"))
            .assess_without_history(&sketch(action))
            .findings;
        assert!(
            found.iter().any(|finding| finding.rule == Rule::Constraint),
            "{limit}; {later}"
        );
    }
}

#[test]
fn replacements_by_commands_are_read_like_edits() {
    check(&[
        (
            "don't change the signature of normalize()",
            &["sed -i 's/func normalize(s string)/func normalize(b []byte)/' a.go"],
            &["sed -i 's/return s/return t/' a.go"],
        ),
        (
            "please no formatting changes",
            &["npx prettier --write src"],
            &["sed -i 's/a/b/' src/a.ts"],
        ),
    ]);
    let layout = ActionSketch {
        change: Some(Arc::new(TextChange {
            before: Some("function f(d) { return d }".to_owned()),
            after: "function f(d) {\n  return d;\n}".to_owned(),
        })),
        ..edit("lib/a.js", "function f(d) {\n  return d;\n}")
    };
    assert!(breaks("no formatting changes", "no formatting changes", &layout).is_some());
}

#[test]
fn scripts_that_must_not_run_are_known_by_their_names() {
    check(&[
        (
            "don't run deploy.sh",
            &["./deploy.sh production", "bash scripts/deploy.sh"],
            &["cat deploy.sh", "bash scripts/build.sh"],
        ),
        (
            "don't run it against production",
            &["QUEUE_URL=redis://prod-queue:6379 python -m worker"],
            &["QUEUE_URL=redis://localhost:6379 python -m worker"],
        ),
    ]);
}

#[test]
fn negations_of_nouns_and_impersonal_sentences_are_read() {
    check(&[
        (
            "Não altere nenhum arquivo",
            &["edit src/a.ts"],
            &["grep -rn x src"],
        ),
        (
            "dist/ is generated, don't edit it by hand",
            &["edit dist/a.css"],
            &["edit src/a.css"],
        ),
        (
            "everything except src/http should remain untouched",
            &["edit src/queue/a.ts"],
            &["write src/http/retry.ts"],
        ),
        (
            "uniquement côté serveur",
            &["edit client/src/A.vue"],
            &["edit server/a.js"],
        ),
    ]);
}

#[test]
fn commands_are_read_as_they_are_written_and_where_they_run() {
    check(&[
        (
            "never commit directly to main",
            &["git checkout main && git commit -am x"],
            &["git checkout -b fix && git commit -am x"],
        ),
        (
            "don't run the scripts in ops/bin",
            &["./ops/bin/close.sh --date 2024"],
            &["./tools/close.sh"],
        ),
        (
            "no reformatting",
            &["./gradlew ktlintFormat", "npm run format:all"],
            &["./gradlew check", "npm run format:check"],
        ),
        ("do not run cargo update", &["cargo update"], &["cargo check"]),
        (
            "don't apply it in the cluster",
            &[],
            &["kubectl apply --dry-run=client -f a.yaml"],
        ),
    ]);
}

#[test]
fn only_a_part_of_a_file_or_a_component_confines_to_its_files() {
    check(&[
        (
            "only `fn next_line` in src/lexer.rs",
            &["edit src/parser.rs"],
            &["edit src/lexer.rs"],
        ),
        (
            "only change the Navbar component",
            &["edit src/components/Footer.tsx"],
            &["edit src/components/Navbar.tsx", "edit src/components/navbar.css"],
        ),
    ]);
}

#[test]
fn a_path_listed_with_something_else_is_forbidden() {
    check(&[
        (
            "don't change src/api.ts or the types",
            &["edit src/api.ts"],
            &["edit src/app.ts"],
        ),
        (
            "do not modify src/auth or add comments",
            &["edit src/auth/login.ts"],
            &["edit src/app.ts"],
        ),
        (
            "nie ruszaj build.gradle.kts ani wersji bibliotek",
            &["edit app/build.gradle.kts"],
            &["edit app/src/main.kt"],
        ),
        // What is inside a file is not the file.
        (
            "don't change the signature of load in src/api.ts",
            &[],
            &["edit src/api.ts"],
        ),
        (
            "don't change the signatures in src/a.ts and src/b.ts",
            &[],
            &["edit src/a.ts", "edit src/b.ts"],
        ),
    ]);
}
