//! Prompts with and without limits.

use super::*;
use crate::text::sentences;

fn found(prompt: &str) -> Vec<String> {
    let mut found = Vec::new();
    find(&sentences(prompt), &mut found);
    found
}

#[test]
fn limits_are_found() {
    let cases: &[(&str, &[&str])] = &[
        (
            "Refactor the parser but don't change the public API, and keep the tests green.",
            &["don't change the public API", "keep the tests green"],
        ),
        (
            "Do not touch `src/db.rs` or the migrations; only edit the handlers.",
            &[
                "Do not touch `src/db.rs` or the migrations",
                "only edit the handlers",
            ],
        ),
        ("Please never commit to main.", &["never commit to main"]),
        ("never ever push. fix typo", &["never ever push"]),
        ("fix it. never ever touch test/", &["never ever touch test/"]),
        ("It never ever worked, fix it", &[]),
        ("fix rounding dont touch tests", &["dont touch tests"]),
        ("FIX ROUNDING DONT TOUCH TESTS", &["DONT TOUCH TESTS"]),
        ("fix the buttons, they dont push the state", &[]),
        ("fix buttons that dont commit the form", &[]),
        ("fix the typo. commit but dont push", &["dont push"]),
        (
            "corrige la faute. tu peux commiter mais pas pusher",
            &["pas pusher"],
        ),
        ("popraw literówkę. zacommituj ale nie pushuj", &["nie pushuj"]),
        (
            "fix the query. never connect to prod (db-main.int)",
            &["never connect to prod (db-main.int)"],
        ),
        ("Stop pushing so many notifications to users", &[]),
        ("Move the tabs to the left. Then update the readme", &[]),
        (
            "Take the tone analyzer offline. Remove its route from the menu",
            &[],
        ),
        ("fix typo. no more commits please", &["no more commits please"]),
        ("the app should stop pushing events twice", &[]),
        ("fix rounding. tests are read only", &["tests are read only"]),
        (
            "Rewrite it without adding dependencies",
            &["without adding dependencies"],
        ),
        ("Can you do that with no new crates?", &[]),
        ("Add a cache with no new crates", &["no new crates"]),
        (
            "The response must not exceed 1 MB.",
            &["The response must not exceed 1 MB"],
        ),
        ("Fix the header, nothing else.", &["nothing else"]),
        (
            "Behebe das Leck. Vor dem Commit bitte fragen.",
            &["Vor dem Commit bitte fragen"],
        ),
        (
            "Get CI green. Do not disable or skip tests.",
            &["Do not disable or skip tests"],
        ),
        (
            "Migrate from moment to date-fns in src/utils only. Exposed ports unchanged.",
            &["in src/utils only", "Exposed ports unchanged"],
        ),
        (
            "scrie documentatia in docs/facturi.md. codul ramane neatins",
            &["codul ramane neatins"],
        ),
        ("Stay on tokio 1.36 and fix the build.", &["Stay on tokio 1.36"]),
        (
            "Fix it, and the test must not be skipped",
            &["the test must not be skipped"],
        ),
        (
            "Das Datenbankschema bleibt wie es ist.",
            &["Das Datenbankschema bleibt wie es ist"],
        ),
        (
            "Am Code darf sich nichts ändern.",
            &["Am Code darf sich nichts ändern"],
        ),
        (
            "Die Funktion darf nicht umbenannt werden",
            &["Die Funktion darf nicht umbenannt werden"],
        ),
        (
            "On ne touche pas au CSS global",
            &["On ne touche pas au CSS global"],
        ),
        ("Prepara o commit mas não faz push", &["não faz push"]),
        (
            "Skryptu backup.sh nie wolno usuwać.",
            &["Skryptu backup.sh nie wolno usuwać"],
        ),
        (
            "Fix it, but it has to keep running on python 3.8",
            &["it has to keep running on python 3.8"],
        ),
        (
            "Leave the legacy module alone.",
            &["Leave the legacy module alone"],
        ),
        (
            "Avoid recursion; use at most 3 retries",
            &["Avoid recursion", "use at most 3 retries"],
        ),
        (
            "I don't want any new files, just fix it",
            &["I don't want any new files"],
        ),
        (
            "Format everything except the vendored code",
            &["except the vendored code"],
        ),
        ("change only the css", &["change only the css"]),
        (
            "This should never write to disk",
            &["This should never write to disk"],
        ),
        (
            "Nu modifica schema, dar adaugă un index.",
            &["Nu modifica schema"],
        ),
        (
            "Repară testul fără să atingi codul din src/",
            &["fără să atingi codul din src/"],
        ),
        (
            "Te rog să nu ștergi fișierele vechi",
            &["nu ștergi fișierele vechi"],
        ),
        ("Păstrează API-ul neschimbat", &["Păstrează API-ul neschimbat"]),
        ("Lasa testele asa cum sunt", &["Lasa testele asa cum sunt"]),
        (
            "Schimbă doar fișierul README.md",
            &["Schimbă doar fișierul README.md"],
        ),
        (
            "Refactor it: no new files, keep the tests as they are",
            &["no new files", "keep the tests as they are"],
        ),
        ("Docs only, please.", &["Docs only"]),
        ("In niciun caz sa nu dai push", &["In niciun caz sa nu dai push"]),
        (
            "Aggiorna il README inglese. quello italiano (README.it.md) resta com'è",
            &["README.it.md) resta com'è"],
        ),
        (
            "corrige. et la config bot.toml tu la laisses tranquille",
            &["config bot.toml tu la laisses tranquille"],
        ),
        (
            "migrate our suite to vitest. production code is not part of this.",
            &["production code is not part of this"],
        ),
    ];
    for (prompt, expected) in cases {
        assert_eq!(&found(prompt), expected, "{prompt}");
    }
}

#[test]
fn stories_and_questions_limit_nothing() {
    let cases = [
        "Why does it not work?",
        "I don't know why it fails.",
        "It doesn't compile.",
        "This only happens when the cache is cold.",
        "I never saw that before.",
        "Don't worry about the warnings.",
        "If you don't mind, add a test.",
        "I can't log in.",
        "The error says \"you must not be root\".",
        "The server says do not retry.",
        "It fails with error: value must not be null",
        "The cache must be stale.",
        "You must have missed a case.",
        "No, the other one.",
        "No idea why.",
        "The app starts without errors but hangs.",
        "The button is not aligned.",
        "The job never finishes.",
        "What must I do?",
        "Nu știu de ce pică.",
        "Butonul nu merge.",
        "Nu funcționează salvarea.",
        "Merge doar pe mașina mea.",
        "De ce nu trebuie config?",
        "",
    ];
    for prompt in cases {
        assert_eq!(found(prompt), Vec::<String>::new(), "{prompt}");
    }
}

#[test]
fn limits_are_short() {
    let prompt = format!("Do not touch {}", "a_very_long_name ".repeat(100));
    let found = found(&prompt);
    assert_eq!(found.len(), 1);
    assert!(found[0].chars().count() <= MAX_CHARACTERS);
}

#[test]
fn a_list_belongs_to_its_limit_as_a_whole() {
    let cases: &[(&str, &[&str])] = &[
        (
            "Fix it. You must not change a.toml, b.lock or anything under .cargo/.",
            &["You must not change a.toml, b.lock or anything under .cargo/"],
        ),
        (
            "Fix it; don't edit docs, CI config, or lock files",
            &["don't edit docs, CI config, or lock files"],
        ),
        (
            "Fix it. Do not stage, commit, or push anything.",
            &["Do not stage, commit, or push anything"],
        ),
        (
            "Don't touch a.ts, b.ts and fix c.ts.",
            &["Don't touch a.ts, b.ts"],
        ),
        (
            "Fix x.py. Don't touch nginx.conf, nor the charts in deploy/charts.",
            &["Don't touch nginx.conf, nor the charts in deploy/charts"],
        ),
        (
            "Refactor `a.py` but do not touch `b.py` or `tests/`.",
            &["do not touch `b.py` or `tests/`"],
        ),
    ];
    for (prompt, limits) in cases {
        assert_eq!(found(prompt), *limits, "{prompt}");
    }
}

#[test]
fn a_heading_and_a_colon_tell_what_the_list_beside_them_means() {
    let cases: &[(&str, &[&str])] = &[
        (
            "Fix it.\n\nOff limits:\n* app/models\n* Gemfile.lock",
            &["Hands off app/models, Gemfile.lock"],
        ),
        (
            "Fix it.\n## Don't\n- touch app/models\n- install gems",
            &["Don't touch app/models", "Don't install gems"],
        ),
        (
            "Fix it. Out of scope: server.ts, docs/.",
            &["Hands off server.ts, docs/"],
        ),
        (
            "Fix it. Tests and docs: hands off.",
            &["Tests and docs: hands off"],
        ),
        (
            "Fix it. config/prod.yml: do not touch.",
            &["config/prod.yml: do not touch"],
        ),
        ("No\n- fix the header", &[]),
    ];
    for (prompt, limits) in cases {
        assert_eq!(found(prompt), *limits, "{prompt}");
    }
}

#[test]
fn what_defines_something_is_no_limit() {
    let definition =
        "When both exist, the rule is:\n- **CLAUDE.md** = pointer only, containing solely `@AGENTS.md`";
    assert_eq!(found(definition), Vec::<String>::new());
    for description in [
        "Root cause: the effect falls through silently, staying in the config phase without setting `remediationId`.",
        "Plastic.Init overrides Base.Init but only sets p.options and p.env",
        "Add `list(id)`, which returns all of them (no LIMIT)",
    ] {
        assert_eq!(found(description), Vec::<String>::new(), "{description}");
    }
    for limit in [
        "Do not change MAX = 5",
        "Only tests, nothing else",
        "Fix the problem: don't touch a.ts",
        "Add it (no new dependencies)",
    ] {
        assert!(!found(limit).is_empty(), "{limit}");
    }
}

#[test]
fn a_wish_to_see_it_first_is_a_limit() {
    for (prompt, limit) in [
        (
            "fix the typo in src/a.ts and let me review before you push",
            "let me review before you push",
        ),
        (
            "dry-run first, then show me the numbers before anything is written.",
            "show me the numbers before anything is written",
        ),
        (
            "Behebe den Fehler und lass mich das ansehen, bevor du pushst",
            "lass mich das ansehen, bevor du pushst",
        ),
        (
            "Corrige la faute et laisse-moi relire avant de pousser",
            "laisse-moi relire avant de pousser",
        ),
        (
            "fix the parser. I'd like to look at it before you commit",
            "I'd like to look at it before you commit",
        ),
    ] {
        assert_eq!(found(prompt), [limit], "{prompt}");
    }
    for prompt in [
        "The user can review before you push the order in the checkout",
        "Show me the numbers before the chart is drawn",
        "Let me know what you think before Friday",
    ] {
        assert_eq!(found(prompt), Vec::<String>::new(), "{prompt}");
    }
}

#[test]
fn a_symptom_since_an_update_is_no_limit() {
    for prompt in [
        "Der Container gitea startet nicht mehr nach dem Update auf 1.22, bitte wieder zum Laufen bringen",
        "Containerul gitea nu mai pornește după update, repară-l",
        "De container gitea start niet meer na de update, los het op",
        "Le conteneur gitea ne démarre plus depuis la mise à jour, répare",
    ] {
        assert_eq!(found(prompt), Vec::<String>::new(), "{prompt}");
    }
    for prompt in ["Die Config nicht mehr ändern", "Nu mai modifica testele"] {
        assert!(!found(prompt).is_empty(), "{prompt}");
    }
}
