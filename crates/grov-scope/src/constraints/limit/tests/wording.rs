//! How limits are worded: other languages, orders of words, reasons, and the prompt around them.

use super::*;

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
fn the_prompt_of_a_constraint_tells_what_it_means() {
    check_in_prompts(&[
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
    ]);
}
