//! The effects that later words of the user order: "jetzt pushen", "ahora sí, súbelo", "现在推送".
//!
//! Only words that order and nothing else count: the verb opens its clause, after assent and politeness, or ends it as an infinitive. "Why is
//! push so slow?", "the push button" and "I'll push it later" order nothing.

use super::names::{said_in, with_parts};
use crate::constraints::clause::{is_place, is_unspaced, tokens};
use crate::constraints::place::environment;
use crate::constraints::request::is_forbidding;
use crate::constraints::sentences::sentences;
use crate::constraints::vocabulary::Term;
use crate::phrases::{Languages, Phrases};
use crate::words::{Word, words};
use std::cell::OnceCell;

/// The most words of a clause that ends with its verb.
const MAX_VERB_LAST: usize = 6;

/// Words after which a clause tells who acts, when, or of what, and orders nothing.
#[rustfmt::skip]
const TELLING: &[&str] = &[
    "i", "i'll", "i'd", "i've", "we", "we'll", "he", "she", "they", "who", "why", "how", "what", "which", "if", "when", "once", "after", "before", "until", "unless", "later", "tomorrow", "tonight",
    "ich", "wir", "er", "wer", "warum", "wie", "was", "wenn", "falls", "sobald", "bevor", "nachdem", "bis", "erst", "morgen", "spater",
    "je", "nous", "qui", "pourquoi", "comment", "quand", "apres", "avant", "demain", "tard", "yo", "quien", "como", "cuando", "despues", "antes", "manana", "luego",
    "io", "chi", "perche", "quando", "dopo", "prima", "domani", "eu", "noi", "quem", "depois", "amanha", "cine", "cum", "cand", "daca", "dupa", "inainte", "maine",
    "kto", "dlaczego", "jak", "kiedy", "gdy", "jesli", "jutro", "pozniej", "ik", "wij", "wie", "waarom", "hoe", "wanneer", "als", "nadat", "voordat", "straks",
];

/// Words of them for who speaks.
const SPEAKERS: &[&str] = &[
    "i", "i'll", "we", "we'll", "ich", "wir", "je", "nous", "yo", "io", "eu", "noi", "ik", "wij",
];

/// Words before the verb of an order that are in no table.
#[rustfmt::skip]
const NOW: &[&str] = &[
    "now", "go", "ahead", "you", "may", "can", "could", "jetzt", "nun", "bitte", "darfst", "kannst", "maintenant", "vas-y", "allez", "peux", "ahora", "ya", "puedes", "venga", "dale", "adesso", "ora", "puoi",
    "agora", "pode", "podes", "acum", "poti", "hai", "teraz", "mozesz", "nu", "kun", "mag", "even", "maar", "mal", "dann", "then", "alors", "entonces", "allora", "entao", "wtedy", "dan", "also", "gleich",
];

/// Verbs that a noun makes an order: "fai il push", "haz commit".
#[rustfmt::skip]
const LIGHT: &[&str] = &[
    "da", "dar", "de", "do", "doe", "fa", "fac", "faccio", "faco", "fai", "faire", "fais", "faites", "fare", "faz", "fazer", "haced", "hacer", "haga", "hago", "haz", "mach", "mache", "machen", "make", "rob", "run", "zrob",
];

/// Words before which a verb is a noun.
#[rustfmt::skip]
const ARTICLES: &[&str] = &[
    "a", "an", "the", "this", "that", "every", "each", "of", "das", "dem", "den", "der", "die", "ein", "eine", "einen", "beim", "im", "le", "la", "les", "un", "une", "du", "el", "los", "las", "una", "il", "lo",
    "o", "os", "um", "uma", "do", "het", "een",
];

/// Words between two orders.
#[rustfmt::skip]
const JOINING: &[&str] = &[
    "and", "then", "und", "et", "puis", "y", "e", "ed", "poi", "depois", "i", "oraz", "potem", "en", "si", "apoi",
];

/// Words after the verb that name nothing else.
#[rustfmt::skip]
const OBJECTS: &[&str] = &[
    "it", "them", "this", "that", "all", "everything", "alles", "es", "to", "auf", "nach", "main", "master", "develop", "trunk", "origin", "branch", "your", "my", "our", "from", "as", "with", "again", "only",
];

/// What may stand beside the verb in Chinese and Japanese, longest first.
#[rustfmt::skip]
const PARTICLES: &[&str] = &[
    "してください", "して下さい", "しておいて", "お願いします", "していいよ", "して良いよ", "していい", "よろしく", "お願い", "ください", "しちゃって", "してよ", "して", "しよう", "そろそろ", "じゃあ", "では", "今すぐ", "もう", "いいよ", "ok", "はい", "を", "今",
    "现在", "可以", "好的", "没问题", "那就", "上去", "一下", "出去", "代码", "改动", "变更", "变更吧", "然后", "并且", "马上", "直接", "帮我", "你", "请", "把", "好", "行", "再", "就", "并", "吧", "了", "啊", "它", "去", "到",
];

/// What the user ordered, by instruction, read when the first limit on commands asks for it.
pub(in crate::constraints) struct OrderedEffects<'a> {
    instructions: Vec<(&'a str, OnceCell<Vec<&'static str>>)>,
    consents: &'a [String],
}

impl<'a> OrderedEffects<'a> {
    pub(in crate::constraints) fn new(instructions: &'a [String], consents: &'a [String]) -> Self {
        let unread = |text: &'a String| (text.as_str(), OnceCell::new());
        Self {
            instructions: instructions.iter().map(unread).collect(),
            consents,
        }
    }

    /// What the instructions from this one on order.
    pub(in crate::constraints) fn since(&self, from: usize) -> Vec<&'static str> {
        let later = self.instructions.get(from..).unwrap_or_default().iter();
        let read = |(text, cell): &'_ (&'a str, OnceCell<Vec<&'static str>>)| {
            cell.get_or_init(|| of_prompt(text)).clone()
        };
        later.flat_map(read).collect()
    }

    /// What the user said yes to, an order a line.
    pub(in crate::constraints) fn agreed(&self) -> Vec<&'static str> {
        let lines = self.consents.iter().flat_map(|orders| orders.lines());
        lines
            .flat_map(|order| ordered(order, Languages::NONE, true))
            .collect()
    }
}

fn of_prompt(text: &str) -> Vec<&'static str> {
    let sentences = sentences(text);
    let languages = Languages::of(&words(text));
    sentences
        .iter()
        .flat_map(|sentence| ordered(sentence, languages, false))
        .collect()
}

/// Whether a constraint of an instruction waits for a word of the user: "ask me before …", "not yet", "until I say so".
pub(in crate::constraints) fn waits_for_the_user(constraint: &str, own: &str) -> bool {
    const NEAR: usize = 40;
    let waits = |text: &str, languages: Languages| {
        tokens(text, languages)
            .iter()
            .any(|token| token.is_any(&[Term::Ask, Term::Until]))
    };
    let languages = Languages::of(&words(own));
    let Some((before, after)) = own.split_once(constraint) else {
        return waits(constraint, languages);
    };
    let before = &before[before.ceil_char_boundary(before.len().saturating_sub(NEAR))..];
    let before = before.rsplit([',', '.', ';', '!', '?', '\n']).next();
    let after = after[..after.floor_char_boundary(NEAR)]
        .split(['.', ';', '!', '?', '\n'])
        .next();
    waits(constraint, languages)
        || waits(before.unwrap_or_default(), languages)
        || waits(after.unwrap_or_default(), languages)
}

/// The effects that a text orders. In the words of the agent, whose question the user answers, "I" is who acts.
fn ordered(text: &str, prompt: Languages, is_of_agent: bool) -> Vec<&'static str> {
    let text = text.replace(['，', '、', '。', '！'], ", ");
    let words = words(&text);
    let tables: Vec<&Phrases> = Languages::of(&words).of_part(prompt).tables().collect();
    let mut found = Vec::new();
    let mut from = 0;
    for at in 0..words.len() {
        let joins = words.get(at + 1).is_some_and(|next| next.is_any(JOINING));
        if words[at].pauses() || joins || at + 1 == words.len() {
            found.extend(of_clause(&words[from..=at], &tables, is_of_agent));
            from = at + 1;
        }
    }
    found
}

/// What a word says in an order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Role {
    Filler,
    Article,
    Effect(&'static str),
    Other,
}

fn of_clause(clause: &[Word<'_>], tables: &[&Phrases], is_of_agent: bool) -> Vec<&'static str> {
    let asks = clause.last().is_some_and(|last| last.after.contains(['?', '？']));
    let tells = |word: &Word<'_>| word.is_any(TELLING) && !(is_of_agent && word.is_any(SPEAKERS));
    if asks || clause.iter().any(|word| tells(word) || is_forbidding(word)) {
        return Vec::new();
    }
    let roles = roles(clause, tables);
    let is_light = clause.iter().any(|word| word.is_any(LIGHT));
    let may_precede = |role: &Role| match role {
        Role::Filler | Role::Effect(_) => true,
        Role::Article => is_light,
        Role::Other => false,
    };
    let mut found = Vec::new();
    for (at, role) in roles.iter().enumerate() {
        let Role::Effect(effect) = role else { continue };
        let is_named = at > 0 && roles[at - 1] == Role::Article && !is_light;
        let opens = !is_named
            && roles[..at].iter().all(may_precede)
            && roles.get(at + 1).is_none_or(|role| *role != Role::Other);
        let ends = at + 1 == clause.len()
            && clause.len() <= MAX_VERB_LAST
            && clause[at].folded.ends_with("en")
            && roles[..at].iter().all(|role| *role != Role::Other);
        if opens || ends {
            found.extend(with_parts(effect));
        }
    }
    found
}

fn roles(clause: &[Word<'_>], tables: &[&Phrases]) -> Vec<Role> {
    let folded: Vec<&str> = clause.iter().map(|word| word.folded.as_str()).collect();
    let (said, _) = said_in(&folded, None);
    let mut roles: Vec<Role> = clause.iter().map(|word| role(word, tables)).collect();
    for (phrase, range) in said {
        let Some(effect) = phrase.effect else { continue };
        if range.len() == 1 && clause[range.start].is_any(NOW) {
            continue;
        }
        let goes_along = phrase.classes.contains(&"with");
        let is_verb = phrase.classes.contains(&"alone")
            && clause
                .get(range.end - 1)
                .is_some_and(|word| is_order(&word.folded));
        for (nth, role) in roles[range].iter_mut().enumerate() {
            *role = match (is_verb, nth) {
                (true, 0) => Role::Effect(effect),
                (true, _) => Role::Filler,
                // "Push notifications"
                (false, _) if !goes_along => Role::Other,
                (false, _) if *role == Role::Other => Role::Filler,
                (false, _) => *role,
            };
        }
    }
    roles
}

/// Whether a word of this form may order: no participle, no gerund, no plural.
fn is_order(word: &str) -> bool {
    !(word.is_ascii() && (word.ends_with('s') || word.ends_with("ing") || word.ends_with("ed")))
        && word != "gepusht"
}

fn role(word: &Word<'_>, tables: &[&Phrases]) -> Role {
    if word.raw.contains(is_unspaced) {
        return unspaced_role(&word.folded);
    }
    let folded = &word.folded;
    let is_known = |table: &&Phrases| {
        table.function_words.contains(folded)
            || table.assents.contains(folded)
            || table.leads.contains(folded)
    };
    if word.is_any(ARTICLES) {
        Role::Article
    } else if word.is_any(NOW)
        || word.is_any(OBJECTS)
        || word.is_any(LIGHT)
        || word.is_any(JOINING)
        || is_place(word.raw)
        || word.before.ends_with('`')
        || environment(folded).is_some()
        || Languages::NONE
            .tables()
            .any(|table| table.assents.contains(folded))
        || tables.iter().any(is_known)
    {
        Role::Filler
    } else {
        Role::Other
    }
}

/// The role of a word of a language without spaces: an effect, if nothing but particles stands beside its name.
fn unspaced_role(text: &str) -> Role {
    let (said, _) = said_in(&[], Some(text));
    let mut named: Vec<(&'static str, &'static str)> = said
        .iter()
        .filter(|(phrase, _)| phrase.classes.contains(&"alone"))
        .filter_map(|(phrase, _)| Some((phrase.words().next()?, phrase.effect?)))
        .collect();
    named.sort_by_key(|(name, _)| std::cmp::Reverse(name.len()));
    for (name, effect) in named {
        if text
            .split_once(name)
            .is_some_and(|(before, after)| has_only_particles(before) && has_only_particles(after))
        {
            return Role::Effect(effect);
        }
    }
    if has_only_particles(text) {
        Role::Filler
    } else {
        Role::Other
    }
}

fn has_only_particles(text: &str) -> bool {
    let mut rest = text;
    while !rest.is_empty() {
        match PARTICLES.iter().find_map(|particle| rest.strip_prefix(particle)) {
            Some(after) => rest = after,
            None => return false,
        }
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_order_of_an_effect_is_recognized_in_eleven_languages() {
        let of = |text: &str| ordered(text, Languages::NONE, false);
        for text in [
            "ok, push",
            "push it now",
            "push to main",
            "fix the typo, then push",
            "jetzt pushen",
            "jetzt auf main pushen",
            "vas-y, pousse maintenant",
            "ahora sí, súbelo",
            "haz push",
            "ok, ora fai push",
            "agora dá push",
            "teraz wypchnij",
            "acum dă push",
            "现在推送",
            "好，推上去吧",
            "プッシュして",
            "git push",
        ] {
            assert!(of(text).contains(&"push"), "{text}");
        }
        for text in [
            "why is push so slow?",
            "the push button is broken",
            "push notifications do not arrive",
            "I'll push it later",
            "pushen erst morgen",
            "noch nicht pushen",
            "der Push ist langsam",
            "推送通知收不到",
            "sube el límite de tamaño a 10",
            "don't push",
            "after you push, tell me",
            "pushes are slow",
            "ich pushe das selbst",
            "プッシュ通知が届かない",
            "commit it",
        ] {
            assert!(!of(text).contains(&"push"), "{text}");
        }
        assert!(of("commit and push").contains(&"push") && of("commit and push").contains(&"commit"));
        assert!(of("jetzt committen").contains(&"commit"));
        assert!(ordered("Je pousse", Languages::NONE, true).contains(&"push"));
        assert!(ordered("hago push", Languages::NONE, true).contains(&"push"));
        assert!(of("jetzt deployen").contains(&"deploy"));
        assert!(of("deploy to staging").contains(&"deploy"));
        assert!(!of("the deploy script fails").contains(&"deploy"));
    }
}
