//! Who states what the work does: "we evict by LRU", "verdrängen wir", "usamos".

use crate::text::Word;
use grov_scope::phrases::any_at;

/// Who made the work.
#[rustfmt::skip]
const MAKERS: &[&str] = &[
    "biz", "i", "ich", "ik", "je", "my", "noi", "nos", "nosotros", "nous", "on", "we", "wij", "wir", "ми", "мы", "я",
];

/// Words between a maker and its verb.
#[rustfmt::skip]
const ADVERBS: &[&str] = &[
    "alleen", "also", "always", "currently", "doar", "just", "never", "now", "only", "simply", "solo", "still", "then", "therefore", "thus",
    "tylko", "только",
];

/// Verbs after a maker that make nothing: what it has, thinks, sees, tries, checks and suffers.
#[rustfmt::skip]
const NO_DEEDS: &[&str] = &[
    "a", "achamos", "achten", "ai", "already", "am", "are", "ask", "asked", "assume", "assumed", "avem", "avons", "bekliyoruz", "believe",
    "benotigen", "besoin", "biliyoruz", "bin", "block", "brauchen", "break", "can", "can't", "cannot", "chcemy", "check", "checked",
    "consigliamo", "could", "couldn't", "crash", "credem", "crediamo", "creemos", "croit", "croyons", "debemos", "denke", "denken",
    "devemos", "devons", "did", "dobbiamo", "doit", "doubt", "dusunuyoruz", "duşunuyoruz", "encontramos", "erwarten", "espera", "esperamos",
    "esperons", "essayons", "est", "estamos", "expect", "experience", "fail", "failed", "feel", "find", "finde", "finden", "found", "get",
    "glaube", "glauben", "goruyoruz", "got", "guess", "hadden", "hang", "hatte", "hatten", "have", "haven't", "heb", "hebben", "hit",
    "hoffen", "hope", "hopen", "imamo", "intentamos", "istiyoruz", "jestesmy", "kan", "kann", "kenne", "kennen", "know", "konnen",
    "konnten", "kunnen", "lack", "leak", "like", "look", "looked", "lose", "lost", "mamy", "might", "miss", "missed", "moeten", "moge",
    "mozemy", "musimy", "muss", "mussen", "must", "myslimy", "necesitamos", "need", "needed", "notamos", "noticed", "pensamos", "pense",
    "pensiamo", "pensons", "peut", "podemos", "possiamo", "potrzebujemy", "pouvons", "precisamos", "proberen", "probujemy", "proviamo",
    "prufen", "putem", "queremos", "ran", "read", "recomendamos", "recommandons", "recommend", "rerun", "restarted", "riteniamo", "run",
    "sabemos", "sadzimy", "sait", "sappiamo", "savons", "saw", "see", "sehe", "sehen", "should", "siamo", "sind", "sollten", "sommes",
    "somos", "speriamo", "sprawdzamy", "start", "started", "stiamo", "stim", "stopped", "suffer", "sugerimos", "suggeriamo", "suggerons",
    "suggest", "suntem", "suponemos", "supposons", "suspect", "temos", "tenemos", "tentamos", "tested", "testen", "testons", "think",
    "time", "tried", "troviamo", "try", "understand", "vamos", "vedem", "vediamo", "vemos", "verified", "vermute", "vermuten", "versuchen",
    "verwachten", "vogliamo", "voit", "voulons", "voyons", "vrem", "wait", "waited", "want", "wanted", "was", "weiss", "were", "weten",
    "widzimy", "wiemy", "will", "willen", "wissen", "wollen", "wollte", "wollten", "wonder", "would", "wurden", "zien", "zijn", "zou",
    "zouden", "zullen", "будем", "видим", "должны", "думаем", "знаем", "имеем", "маємо", "можем", "можемо", "пробуем", "проверяем",
    "считаем", "хотим",
];

/// How the first person plural ends in a language that needs no pronoun: its connectives, the endings, and endings of other
/// forms.
struct Plural {
    causes: &'static [&'static str],
    endings: &'static [&'static str],
    others: &'static [&'static str],
}

#[rustfmt::skip]
const PLURALS: &[Plural] = &[
    Plural {
        causes: &["dado que", "debido a", "debido al", "ja que", "pois", "por causa", "porque", "pues", "puesto que", "uma vez que", "visto que", "ya que"],
        endings: &["amos", "emos", "imos"],
        others: &["abamos", "aramos", "aremos", "avamos", "eramos", "iamos", "iramos", "iremos"],
    },
    Plural {
        causes: &["a causa", "a causa del", "a causa della", "a causa di", "dato che", "in quanto", "per via", "perche", "poiche", "siccome", "visto che"],
        endings: &["iamo"],
        others: &["eremmo"],
    },
    Plural {
        causes: &["avand in vedere ca", "caci", "dat fiind ca", "deoarece", "din cauza", "fiindca", "intrucat", "pentru ca"],
        endings: &["am", "em", "im"],
        others: &["eam", "sem"],
    },
    Plural {
        causes: &["bo", "bowiem", "gdyz", "jako ze", "poniewaz", "z powodu", "zumal"],
        endings: &["my"],
        others: &["bysmy"],
    },
    Plural {
        causes: &["бо", "ввиду того", "ведь", "из-за", "оскільки", "поскольку", "потому что", "т.к", "так как"],
        endings: &["ем", "ём", "им", "ємо", "емо", "имо", "їмо"],
        others: &[],
    },
    Plural { causes: &["cunku"], endings: &["yoruz"], others: &[] },
];

/// Whether words before or after `cause` state what the work does, or what was done for it, by who made it.
pub(super) fn states_deed(choice: &[Word<'_>], cause: &[Word<'_>], is_front: bool) -> bool {
    let is_deed = |verb: &Word<'_>| !verb.is_any(NO_DEEDS);
    let Some(first) = choice.first() else { return false };
    if first.is_any(MAKERS) {
        let verb = choice[1..].iter().find(|word| !word.is_any(ADVERBS));
        return verb.is_some_and(is_deed);
    }
    // "J'évince", and not "j'ai lancé".
    if let Some(verb) = first.folded.strip_prefix("j'") {
        return !["ai", "avais", "aurais"].contains(&verb) && !NO_DEEDS.contains(&verb);
    }
    // "Weil …, verdrängen wir nach LRU".
    if is_front && choice.get(1).is_some_and(|second| second.is_any(MAKERS)) {
        return is_deed(first);
    }
    let plural = PLURALS
        .iter()
        .find(|plural| any_at(plural.causes, cause, 0).is_some());
    plural.is_some_and(|plural| {
        let ends = |word: &Word<'_>| {
            let ends = |endings: &[&str]| endings.iter().any(|ending| word.folded.ends_with(ending));
            word.folded.chars().count() > 4 && ends(plural.endings) && !ends(plural.others) && is_deed(word)
        };
        // Turkish verbs are the last word.
        ends(first)
            || choice
                .last()
                .is_some_and(|last| last.folded.ends_with("yoruz") && ends(last))
    })
}

/// Words of a time: "since yesterday", "since the last release".
#[rustfmt::skip]
const TIMES: &[&str] = &[
    "april", "august", "beginning", "christmas", "day", "deploy", "deployment", "friday", "january", "july", "june", "last", "launch",
    "march", "midnight", "monday", "month", "morning", "night", "noon", "november", "october", "release", "saturday", "september", "spring",
    "start", "summer", "sunday", "then", "thursday", "tuesday", "update", "upgrade", "version", "wednesday", "week", "weekend", "winter",
    "year", "yesterday",
];

/// Words that begin the naming of a time.
#[rustfmt::skip]
const TIME_OPENERS: &[&str] = &[
    "a", "early", "last", "late", "our", "that", "the", "this", "yesterday's",
];

/// What may follow the name of a time.
const OF_A_TIME: &[&str] = &["at", "for", "in", "of", "on", "to", "when"];

/// The most words of the naming of a time.
const MAX_TIME: usize = 6;

/// Whether "since" between these words is about time: "we see timeouts since this morning", "we have had none since …".
pub(super) fn is_temporal(choice: &[Word<'_>], reason: &[Word<'_>]) -> bool {
    let is_perfect = choice.windows(2).any(|pair| {
        pair[0].is_any(&["has", "have", "haven't", "hasn't", "we've", "it's"])
            && pair[1].is_any(&["been", "got", "had", "seen"])
    });
    is_perfect || names_time(reason)
}

/// Whether words after "since" name a time: "this morning", "the last release", "v2.1 of the API", "2024".
fn names_time(reason: &[Word<'_>]) -> bool {
    let at = reason.iter().take(4).position(|word| !word.is_any(TIME_OPENERS));
    let Some(named) = at.and_then(|at| reason.get(at)) else {
        return true;
    };
    // "Since the release of v2", and not "since the release server is slow": a cause goes on with a verb.
    let ends = |at: usize| {
        let next = reason.get(at + 1).filter(|_| !reason[at].pauses());
        next.is_none_or(|next| next.is_any(OF_A_TIME) && reason.len() <= MAX_TIME)
    };
    let is_this = reason.first().is_some_and(|first| first.is_any(&["this"]));
    let is_number = |word: &Word<'_>| {
        let digits = word.raw.trim_start_matches('v');
        digits.starts_with(|letter: char| letter.is_ascii_digit())
    };
    named.is_any(TIMES) && (is_this || ends(at.unwrap_or_default()))
        || reason.first().is_some_and(is_number) && ends(0)
        || reason
            .iter()
            .take(2)
            .any(|word| word.is_any(&["last", "yesterday", "yesterday's"]))
}
