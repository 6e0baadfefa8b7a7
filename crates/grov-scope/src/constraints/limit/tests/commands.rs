//! Commands that must not run, by what they do and by their names.

use super::*;

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
fn all_tests_are_forbidden_and_single_ones_are_not() {
    check(&[(
        "don't run the full test suite",
        &[
            "pytest",
            "make test",
            "npm test",
            "cargo test --workspace",
            "php artisan test",
            "vendor/bin/phpunit",
        ],
        &[
            "pytest tests/test_importer.py",
            "pytest -k importer",
            "cargo test -p parser",
            "npx jest src/a.test.ts",
            "go test ./internal/auth/...",
        ],
    )]);
}

#[test]
fn data_that_may_only_be_read_is_not_written() {
    check(&[(
        "read only on the db pls",
        &["psql -c 'UPDATE orders SET x = 1'", "mysql -e 'DELETE FROM a'"],
        &["psql -c 'SELECT count(*) FROM orders'", "edit src/a.py"],
    )]);
}

#[test]
fn what_a_formatter_or_a_package_manager_rewrites_is_a_change() {
    check(&[
        (
            "don't touch vendor/",
            &[
                "black vendor app",
                "isort vendor app",
                "npx prettier --write vendor src",
            ],
            &[
                "black app",
                "npx prettier --check vendor",
                "npx prettier --write src",
            ],
        ),
        (
            "don't touch package.json",
            &[
                "npm pkg set scripts.x=y",
                "npm version patch",
                "npm uninstall got",
                "pnpm remove got",
                "npm init -y",
            ],
            &[
                "npm pkg get scripts",
                "npm ci",
                "npm run version",
                "npm version",
                "npm ls",
            ],
        ),
    ]);
}

#[test]
fn machines_and_files_are_named_in_plain_words() {
    for (limit, action, expected) in [
        (
            "don't run anything against 10.0.0.5",
            "psql -h 10.0.0.5 -c 'select 1'",
            true,
        ),
        ("don't run anything against 10.0.0.5", "ssh 10.0.0.5 ls", true),
        (
            "don't run anything against 10.0.0.5",
            "rsync -a out/ 10.0.0.5:/srv/",
            true,
        ),
        (
            "don't run anything against 10.0.0.5",
            "psql -h 10.0.0.6 -c 'select 1'",
            false,
        ),
        (
            "never connect to prod (db-main.int)",
            "psql -h db-replica.int -c 'select 1'",
            false,
        ),
        ("dont change the compose file", "edit docker-compose.yml", true),
        (
            "dont change the compose file",
            "yq -i '.a.b = 1' docker-compose.yml",
            true,
        ),
    ] {
        let contract = GoalContract {
            instructions: vec![format!("Fix the page. {limit}")],
            constraints: vec![limit.to_owned()],
            ..GoalContract::default()
        };
        let rules = Rules::new(contract, Some("/home/me/p"));
        assert_eq!(breaks_a_limit(&rules, action), expected, "{limit} | {action}");
    }
}

#[test]
fn words_of_a_formatter_are_no_files() {
    check_in_prompts(&[(
        "Only change files in src/. Fix the button.",
        "Only change files in src/",
        &["npx prettier --write vendor"],
        &[
            "npx prettier --write --parser typescript src/a.ts",
            "black -l 100 src/a.py",
            "isort --profile black src",
            "ruff format src",
            "dart format src",
        ],
    )]);
}
