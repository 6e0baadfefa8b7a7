//! "Only there": places that a limit confines changes to.

use super::*;

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
