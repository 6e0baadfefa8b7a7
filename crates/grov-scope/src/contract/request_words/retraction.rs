//! Phrases that take back what a prompt asked for before: "open a PR… wait, not yet, first show me the diff".

use crate::words::Word;

/// Phrases that take back whatever stands before them, folded. A comma marks a word that a pause must follow.
#[rustfmt::skip]
const PHRASES: &[&str] = &[
    "wait no", "wait, not", "wait, don't", "no wait", "not yet,", "never mind", "nevermind", "scratch that", "hold off,", "hold on,", "second thought", "second thoughts", "forget that,", "forget it,",
    "actually no", "actually don't", "actually, don't", "actually not,", "cancel that", "changed my mind", "better not,", "strike that", "no, don't", "don't yet,",
    "doch nicht,", "noch nicht,", "lieber nicht,", "besser nicht,", "vergiss es", "warte,", "nein warte", "halt,", "doch lieber", "stopp,",
    "toch niet,", "nog niet,", "liever niet,", "laat maar", "wacht,", "nee wacht",
    "pas encore,", "finalement non", "laisse tomber", "attends,", "non attends", "oublie ca", "pas maintenant,", "en fait non",
    "espera,", "no espera", "todavia no,", "aun no,", "mejor no,", "olvidalo", "dejalo",
    "ainda nao,", "melhor nao,", "esquece,", "nao espera", "deixa pra", "deixa para",
    "aspetta,", "no aspetta", "non ancora,", "anzi no", "meglio no,", "meglio di no", "lascia perdere", "lascia stare",
    "stai,", "asteapta,", "nu inca,", "inca nu,", "mai bine nu", "las-o balta", "lasa,",
    "czekaj,", "zaczekaj,", "jednak nie,", "jeszcze nie,", "lepiej nie,", "poczekaj,", "niewazne,",
    "подожди,", "погоди,", "стоп,", "пока не,", "хотя нет", "лучше не,", "не надо,", "отбой,", "еще не,", "ещё не,", "нет погоди", "нет подожди",
    "bekle,", "dur,", "vazgectim,", "henuz degil,", "yok dur",
];

/// The same in languages without spaces between words.
const PARTS: &[&str] = &[
    "等等",
    "等一下",
    "先别",
    "先不要",
    "算了",
    "慢着",
    "待って",
    "やっぱり",
    "やっぱ",
    "まだいい",
];

/// The end of a word of such a language that still counts, if the word takes something back.
pub(super) fn kept_end<'w>(word: &'w Word<'_>) -> Option<&'w str> {
    let folded = word.folded.as_str();
    let ends = PARTS
        .iter()
        .filter_map(|part| Some(folded.rfind(part)? + part.len()));
    let end = if word.raw.is_ascii() { None } else { ends.max() };
    end.map(|end| &folded[end..])
}

/// How many words from the position of a phrase on are compared.
const MAX_WORDS: usize = 3;

/// Whether a phrase that takes back what was asked begins at a position.
pub(super) fn begins_at(words: &[Word<'_>], at: usize) -> bool {
    if kept_end(&words[at]).is_some() {
        return true;
    }
    // Something was asked before, in another clause.
    if !at.checked_sub(1).is_some_and(|before| pauses(&words[before])) {
        return false;
    }
    let rest = &words[at..words.len().min(at + MAX_WORDS)];
    PHRASES.iter().any(|phrase| {
        let mut parts = phrase.split(' ').enumerate();
        parts.all(|(number, part)| {
            let (part, needs_pause) = match part.strip_suffix(',') {
                Some(part) => (part, true),
                None => (part, false),
            };
            let ends = |word: &Word<'_>| pauses(word) || at + number + 1 == words.len();
            rest.get(number)
                .is_some_and(|word| word.folded == part && (!needs_pause || ends(word)))
        })
    })
}

fn pauses(word: &Word<'_>) -> bool {
    word.pauses() || word.after.contains(['…', '-'])
}
