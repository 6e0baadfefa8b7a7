use super::narrated;
use crate::words::words;

/// The words of a text that are narrated.
fn narrated_words(text: &str) -> Vec<String> {
    let words = words(text);
    let marks = narrated(&words);
    let pairs = words.iter().zip(marks).filter(|(_, is_narrated)| *is_narrated);
    pairs.map(|(word, _)| word.folded.clone()).collect()
}

#[test]
fn clauses_about_circumstances_others_and_the_user_are_narrated() {
    for (text, verb, expected) in [
        ("when I delete an order it fails, fix it", "delete", true),
        ("when I delete an order it fails, fix it", "fix", false),
        ("if CI is green push it", "push", false),
        ("admins can delete users", "delete", true),
        ("can you delete the users", "delete", false),
        ("users can edit and delete posts", "delete", true),
        ("fix it and deploy it", "deploy", false),
        ("I'll deploy it", "deploy", true),
        ("we can deploy it", "deploy", false),
        ("add a button to delete users and deploy it", "deploy", false),
        ("add a button to delete users and deploy it", "delete", true),
        ("the branch can be deleted", "deleted", false),
        ("the branch will be deleted", "deleted", true),
        ("try deleting the cache", "deleting", false),
        ("deploy to eu", "deploy", false),
        ("verwijder de tabel van de oude app", "verwijder", false),
        ("how about we deploy it to production?", "deploy", false),
        ("what about just deleting the folder?", "deleting", false),
        ("the package needs publishing", "publishing", false),
        ("Ich möchte, dass du die Tabelle löschst", "loschst", false),
        ("Chcę, żebyś usunął tabelę", "usunał", false),
        ("Я хочу, чтобы ты удалил таблицу", "удалил", false),
        ("J'aimerais que la table soit supprimée.", "supprimee", false),
        ("It would be great if you dropped the table", "dropped", false),
        ("if you dropped the table the tests fail", "dropped", true),
        ("Bob suggested dropping the table. Go ahead.", "dropping", false),
        ("Bob suggested dropping the table. I'll do it.", "dropping", true),
        ("Write a script to drop the table, then run it", "drop", false),
        ("Write a script to drop the table", "drop", true),
    ] {
        assert_eq!(
            narrated_words(text).iter().any(|word| word == verb),
            expected,
            "{text}: {verb}"
        );
    }
}
