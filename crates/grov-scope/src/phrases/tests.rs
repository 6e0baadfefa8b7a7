//! Tables and their search.

use super::*;
use crate::words::fold;

fn is_sorted<T: Copy>(table: &PhraseMap<T>) -> bool {
    table.entries().is_sorted_by(|one, other| one.0 < other.0)
}

fn phrases<T: Copy>(table: &PhraseMap<T>) -> impl Iterator<Item = &'static str> {
    table.entries().iter().map(|row| row.0)
}

#[test]
fn tables_are_sorted_and_folded() {
    for language in LANGUAGES {
        assert!(is_sorted(&language.nouns), "{:?}", language.nouns.entries()[0]);
        assert!(is_sorted(&language.verbs), "{:?}", language.verbs.entries()[0]);
        assert!(is_sorted(&language.cues));
        let lists = [
            &language.function_words,
            &language.leads,
            &language.orders,
            &language.conjunctions,
            &language.narrating,
            &language.forbidden,
            &language.idle,
            &language.endings,
            &language.permissions,
            &language.assents,
            &language.turning_away,
            &language.continuing,
        ];
        let lists = lists.map(PhraseList::entries);
        for list in lists {
            assert!(list.is_sorted_by(|one, other| one < other), "{list:?}");
        }
        let named = phrases(&language.nouns).chain(phrases(&language.verbs));
        let entries = named.chain(phrases(&language.cues));
        for entry in entries.chain(lists.into_iter().flatten().copied()) {
            assert_eq!(fold(entry), entry);
        }
    }
}

#[test]
fn every_entry_is_found_by_its_own_words() {
    for language in LANGUAGES.into_iter().filter(|language| !language.is_unspaced) {
        for entry in language.cues.entries().iter().map(|row| row.0) {
            // "d'" is the beginning of a word.
            let text = entry.replace('*', "") + if entry.ends_with('\'') { "api" } else { "" };
            let own = words(&text);
            assert!(language.cues.at(&own, 0).is_some(), "{entry}");
        }
        for entry in language.function_words.entries() {
            assert!(language.function_words.contains(entry), "{entry}");
            assert!(!Languages::of(&words(entry)).is_none(), "{entry}");
        }
    }
}

#[test]
fn things_and_actions_are_named_in_all_languages() {
    let cases: &[(&str, &[Noun], &[Verb])] = &[
        ("don't touch the tests", &[Noun::Test], &[Verb::Change]),
        ("no new dependencies", &[Noun::Dependency], &[]),
        (
            "never rename public functions or drop tables",
            &[Noun::Signature, Noun::Database],
            &[Verb::Rename, Verb::Delete],
        ),
        (
            "fără să modifici testele și fără commit",
            &[Noun::Test],
            &[Verb::Change, Verb::Commit],
        ),
        ("nu instala librării noi", &[Noun::Dependency], &[Verb::Install]),
        (
            "keine neuen Abhängigkeiten und die Testdateien nicht anfassen",
            &[Noun::Dependency, Noun::Test],
            &[Verb::Change],
        ),
        ("loesch keine Kommentare", &[Noun::Comment], &[Verb::Delete]),
        (
            "ne touche pas aux migrations, n'ajoute rien",
            &[Noun::Migration, Noun::Anything],
            &[Verb::Change, Verb::Add],
        ),
        (
            "sin añadir dependencias ni borrar archivos",
            &[Noun::Dependency, Noun::File],
            &[Verb::Add, Verb::Delete],
        ),
        ("non toccare la configurazione", &[Noun::Config], &[Verb::Change]),
        ("não mexe no banco de dados", &[Noun::Database], &[Verb::Change]),
        (
            "niczego nie zmieniaj w plikach konfiguracyjnych",
            &[Noun::Anything, Noun::File, Noun::Config],
            &[Verb::Change],
        ),
        ("geen nieuwe bestanden aanmaken", &[Noun::File], &[Verb::Create]),
        ("不要修改测试文件", &[Noun::Test, Noun::File], &[Verb::Change]),
        (
            "マイグレーションには触らないで",
            &[Noun::Migration],
            &[Verb::Change],
        ),
        ("a nice day for a walk", &[], &[]),
    ];
    for (text, things, actions) in cases {
        let things_found: Vec<Noun> = nouns(text).iter().map(|found| found.means).collect();
        let actions_found: Vec<Verb> = verbs(text).iter().map(|found| found.means).collect();
        assert_eq!((&*things_found, &*actions_found), (*things, *actions), "{text}");
    }
}

#[test]
fn the_place_of_a_phrase_is_given() {
    let text = "bitte Schlüssel umbenennen";
    let found = verbs(text);
    assert_eq!(&text[found[0].start..found[0].end], "umbenennen");
    let text = "不要修改测试";
    let found = nouns(text);
    assert_eq!(&text[found[0].start..found[0].end], "测试");
}

#[test]
fn the_language_of_a_sentence_is_recognized() {
    let cases = [
        ("fix the login page, don't touch the tests", 0),
        ("repară testul fără să atingi src/", 1),
        ("mach den Button blau, aber fass die Tests nicht an", 2),
        ("corrige l'erreur sans toucher aux tests", 3),
        ("arregla el bug sin tocar los tests", 4),
        ("sistema il bug senza toccare i test", 5),
        ("arruma o bug sem mexer nos testes", 6),
        ("popraw błąd, ale nie ruszaj testów", 7),
        ("los de bug op zonder de tests aan te raken", 8),
        ("修复登录问题，不要改测试", 9),
        ("ログインのバグを直して", 10),
    ];
    for (text, language) in cases {
        let found: Vec<&Phrases> = Languages::of(&words(text)).tables().collect();
        assert!(
            found.len() == 1 && std::ptr::eq(found[0], LANGUAGES[language]),
            "{text}: {}",
            found.len()
        );
    }
    assert!(Languages::of(&words("src/a.rs 12")).is_none());
}
