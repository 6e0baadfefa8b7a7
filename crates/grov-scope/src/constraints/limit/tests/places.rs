//! Files and folders that must not change, by path, kind, words and owner.

use super::*;

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
