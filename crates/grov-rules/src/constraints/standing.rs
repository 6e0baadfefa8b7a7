//! Standing rules: orders that hold from now on, which are limits of all later work: "From now on write commit messages in
//! German".

use crate::goal::Sentence;
use crate::text::{Word, any_phrase_at};

/// What opens or closes a standing rule.
#[rustfmt::skip]
const FROM_NOW_ON: &[&str] = &[
    "from here on", "from now on", "going forward",
    "ab heute", "ab jetzt", "ab sofort", "in zukunft", "kunftig", "von jetzt an", "von nun an",
    "a l'avenir", "a partir de maintenant", "desormais", "dorenavant",
    "a partir de ahora", "de ahora en adelante", "en adelante", "a partir de agora", "daqui em diante", "de agora em diante",
    "d'ora in avanti", "d'ora in poi", "da ora in poi", "vanaf nu", "voortaan", "de acum incolo", "de acum inainte", "pe viitor",
    "na przyszlosc", "od dzisiaj", "od teraz", "bundan boyle", "bundan sonra", "artik",
    "впредь", "на будущее", "отныне", "с этого момента", "відтепер", "надалі",
];

/// The same in Chinese and Japanese.
const FROM_NOW_ON_UNSPACED: &[&str] = &[
    "以后",
    "从现在开始",
    "从现在起",
    "今后",
    "今後",
    "これから",
    "앞으로",
];

/// Signs of an order in such a sentence.
const ORDERING_UNSPACED: &[&str] = &[
    "用中文",
    "用英文",
    "用英语",
    "请",
    "不要",
    "别",
    "一律",
    "必须",
    "都用",
    "都要",
    "ください",
    "こと",
    "주세요",
    "세요",
];

/// Verbs of what is or will be, and not of an order.
#[rustfmt::skip]
const MODALS: &[&str] = &[
    "can", "could", "may", "might", "must", "shall", "should", "will", "would", "darf", "durfen", "kann", "konnen", "muss", "mussen", "soll", "sollen", "sollte", "sollten", "werden", "wird", "doit", "doivent", "peut", "peuvent",
    "debe", "deben", "puede", "pueden", "deve", "devem", "pode", "podem", "devono", "possono", "puo", "kan", "kunnen", "moet", "moeten", "moze", "moga", "pot", "poate", "trebuie",
];

/// The fewest words of the rule itself.
const MIN_RULE: usize = 2;

/// The standing rules in sentences that state no other limit.
pub(crate) fn rules<'t>(sentences: &[Sentence<'t>]) -> Vec<&'t str> {
    let unlimited = sentences
        .iter()
        .filter(|sentence| sentence.constraints().is_empty());
    let standing =
        unlimited.filter(|sentence| !sentence.text().trim_end().ends_with(['?', '？']) && holds(sentence));
    standing
        .map(|sentence| sentence.text().trim().trim_end_matches(['.', '!', '。']))
        .collect()
}

/// Whether a sentence begins or ends with such words, and orders something.
fn holds(sentence: &Sentence<'_>) -> bool {
    let text = sentence.text().trim_start();
    if FROM_NOW_ON_UNSPACED.iter().any(|mark| text.starts_with(mark)) {
        return ORDERING_UNSPACED.iter().any(|mark| text.contains(mark));
    }
    let words = sentence.words();
    let rest = match any_phrase_at(words, 0, FROM_NOW_ON) {
        Some(length) => words.get(length..).unwrap_or_default(),
        None => match closing(words) {
            Some(at) => &words[..at],
            None => return false,
        },
    };
    // "From now on it fails" tells what happens.
    let tells = rest.first().is_some_and(|first| first.is_any(SUBJECTS));
    // "In Zukunft sollen Nutzer …", "from now on customers can …"
    let says = rest.iter().take(3).any(|word| word.is_any(MODALS));
    rest.len() >= MIN_RULE && !tells && !says
}

/// The index of such words at the end.
fn closing(words: &[Word<'_>]) -> Option<usize> {
    (1..words.len())
        .find(|at| any_phrase_at(words, *at, FROM_NOW_ON).is_some_and(|length| at + length == words.len()))
}

/// What is told, not ordered, begins with one of these.
#[rustfmt::skip]
const SUBJECTS: &[&str] = &[
    "a", "an", "es", "he", "il", "it", "she", "that", "the", "there", "they", "this", "das", "der", "die", "sie", "le", "la", "les", "el", "los", "las",
    "het", "de", "i", "we", "you", "users", "user", "customers", "people", "everyone", "ich", "wir", "nutzer", "kunden", "nous", "on", "nosotros", "noi", "my", "то", "это", "он", "она",
];

#[cfg(test)]
mod tests {
    use super::*;

    fn of(prompt: &str) -> Vec<String> {
        let texts = crate::text::sentences(prompt);
        let sentences = Sentence::read(&texts);
        rules(&sentences).into_iter().map(str::to_owned).collect()
    }

    #[test]
    fn an_order_that_holds_from_now_on_is_a_limit() {
        for (prompt, rule) in [
            (
                "From now on write commit messages in German. Rename x to y in a.py",
                "From now on write commit messages in German",
            ),
            (
                "Write commit messages in German from now on.",
                "Write commit messages in German from now on",
            ),
            (
                "Schreib Commit-Nachrichten ab jetzt auf Deutsch, ab jetzt.",
                "Schreib Commit-Nachrichten ab jetzt auf Deutsch, ab jetzt",
            ),
            (
                "Ab jetzt schreib Commits auf Deutsch. Benenne x um.",
                "Ab jetzt schreib Commits auf Deutsch",
            ),
            (
                "Désormais écris les messages en français.",
                "Désormais écris les messages en français",
            ),
            (
                "A partir de ahora escribe los mensajes en español.",
                "A partir de ahora escribe los mensajes en español",
            ),
            (
                "D'ora in poi scrivi i messaggi in italiano.",
                "D'ora in poi scrivi i messaggi in italiano",
            ),
            (
                "Vanaf nu schrijf je commits in het Nederlands.",
                "Vanaf nu schrijf je commits in het Nederlands",
            ),
            (
                "Отныне пиши сообщения на русском.",
                "Отныне пиши сообщения на русском",
            ),
            ("今后提交信息用中文写。", "今后提交信息用中文写"),
        ] {
            assert_eq!(of(prompt), [rule], "{prompt}");
        }
    }

    #[test]
    fn what_is_told_or_asked_is_no_rule() {
        for prompt in [
            "From now on the job fails every night.",
            "Rename x to y in a.py",
            "Will it be faster from now on?",
            "From now on users can log in with email. Add the form",
            "Going forward we will support Postgres too. Add the driver",
            "In Zukunft sollen Nutzer sich per Mail anmelden können. Baue das Formular",
            "Aggiungi un commento per chi la legge in futuro",
            "これからログイン画面を作ります。",
            "以后端接口为准",
            "The test has been red from now on and off",
        ] {
            assert!(of(prompt).is_empty(), "{prompt}: {:?}", of(prompt));
        }
    }
}
