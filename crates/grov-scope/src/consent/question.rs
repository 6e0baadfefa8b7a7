//! The question or the offer with which a text of the agent ends.

use super::plan::{block_before, is_lead_in_of_steps};
use super::{
    as_order, fold, has_alternatives, is_entry, is_set_aside, is_unspaced, options, sentences, words,
};

/// A question stands among the last lines of a text.
const LAST_LINES: usize = 3;
/// A question without words of asking names too little in more words or letters.
const MAX_ELLIPTIC_WORDS: usize = 9;

/// Phrases of an offer without a question mark: "Let me know if you want me to push it."
#[rustfmt::skip]
const OFFERS: &[&str] = &[
    "let me know", "if you want", "if you'd like", "if you like", "want me to", "say the word", "sag bescheid", "wenn du", "wenn sie", "si tu veux",
    "si vous voulez", "si quieres", "si lo deseas", "se vuoi", "se quiser", "jesli chcesz", "als je wilt", "daca vrei", "если хотите", "如果你",
    "如果需要", "需要我", "よければ", "원하시면",
];

/// Words of a request to confirm what was said before it, folded.
#[rustfmt::skip]
const CONFIRMING: &[&str] = &["please confirm", "confirm to proceed", "bitte bestatige", "confirma por favor", "conferma", "请确认", "確認してください"];

/// Words with which the agent asks whether it shall do something, folded.
#[rustfmt::skip]
const ASKING: &[&str] = &[
    "shall i", "should i", "shall we", "should we", "do you want me to", "would you like me to", "want me to", "like me to", "may i", "can i",
    "could i", "ok if i", "okay if i", "ready to", "ok to", "okay to", "soll ich", "sollen wir", "darf ich", "kann ich", "dass ich",
    "que je", "dois-je", "puis-je", "on peut", "quieres que", "debo", "puedo", "te parece si", "deseas que", "vuoi che", "devo", "posso",
    "quer que eu", "queres que", "czy mam", "mam", "zal ik", "moet ik", "dat ik", "mag ik", "vrei sa", "pot sa", "мне", "要不要我", "要不要", "需要我",
    "要我", "是否需要", "是否", "我可以", "可以",
];

/// Words with which the agent says what it is about to do, folded.
#[rustfmt::skip]
const INTENDING: &[&str] = &[
    "i will", "i'll", "i would", "i'd like to", "i'd", "i can", "i could", "i need to", "i want to", "i am going to", "i'm going to", "i plan to", "next i will", "next i'll", "next i", "next step:",
    "ich werde", "ich wurde", "ich mochte", "ich will", "ich kann", "ich muss", "als nachstes", "je vais", "je peux", "je dois", "je voudrais", "voy a",
    "puedo", "necesito", "quiero", "sto per", "vorrei", "posso", "vou", "preciso", "voi", "vreau sa", "pot sa", "zamierzam", "moge", "ik ga", "ik wil",
    "ik kan", "я могу", "я хочу", "我将", "我会", "我要", "我准备", "接下来", "これから",
];

/// First words of a question about facts: "Is that clear?", "What shall I call it?"
#[rustfmt::skip]
const INTERROGATIVE: &[&str] = &[
    "who", "what", "why", "how", "which", "when", "where", "is", "are", "was", "were", "do", "does", "did", "has", "have", "will", "would", "could", "can",
    "anything", "any", "wer", "was", "warum", "wie", "welche", "welcher", "welches", "wann", "wo", "ist", "sind", "hat", "haben", "wirst", "willst", "noch",
    "qui", "quoi", "pourquoi", "comment", "quel", "quelle", "est-ce", "quien", "que", "como", "cual", "cuando", "donde", "chi", "cosa", "perche", "quale",
    "quem", "qual", "quando", "cine", "ce", "cum", "care", "cand", "unde", "kto", "co", "jak", "ktory", "wie", "wat", "waarom", "hoe", "welke", "кто", "что",
    "как", "почему", "какой",
];

/// Words of a question that points at what was proposed before it: "Shall I go ahead?"
#[rustfmt::skip]
const POINTING: &[&str] = &[
    "ahead", "all", "alright", "and", "apply", "approve", "as", "begin", "carry", "changes", "confirm", "continue", "do", "execute", "fine", "for", "go", "good",
    "implement", "it", "look", "looks", "me", "now", "of", "ok", "okay", "on", "option", "plan", "please", "point", "proceed", "proposed", "ready", "right", "run", "so",
    "sound", "sounds", "start", "step", "steps", "that", "the", "them", "then", "these", "this", "those", "to", "with", "you", "your", "does",
    "anfangen", "ausfuhren", "beginnen", "das", "den", "diese", "dies", "einverstanden", "es", "fortfahren", "ich", "jetzt", "loslegen", "machen", "mit",
    "passt", "plan", "schritte", "soll", "umsetzen", "weitermachen", "ainsi", "appliquer", "ca", "cela", "commencer", "continuer", "faire", "j'y", "je",
    "le", "les", "on", "proceder", "va", "vais", "asi", "aplico", "aplicar", "con", "continuar", "continuo", "el", "empezar", "empiezo", "esto", "hacerlo",
    "lo", "procedo", "seguir", "sigo", "avanti", "comincio", "con", "faccio", "il", "iniziare", "inizio", "piano", "procedere", "questo", "assim",
    "comecar", "faco", "isso", "o", "plano", "prosseguir", "acest", "acesta", "aplic", "asta", "continuam", "continui", "incep", "fac", "planul", "sa", "cu",
    "kontynuowac", "zaczac", "to", "tak", "doorgaan", "dit", "verder", "het", "продолжать", "продолжить", "начинать", "начать", "делать", "это", "приступать",
];
const UNSPACED_POINTING: &[&str] = &[
    "可以",
    "继续",
    "开始",
    "执行",
    "实施",
    "这样",
    "这个",
    "这么",
    "按照",
    "计划",
    "方案",
    "吗",
    "是否",
    "现在",
    "进行",
    "同意",
    "确认",
    "我",
    "要",
    "做",
    "吧",
    "需要",
    "好",
    "上面",
    "上述",
    "的",
    "进めて",
    "進めて",
    "よろしい",
    "でしょうか",
    "続け",
    "いいですか",
    "て",
    "も",
    "この",
    "まま",
    "計画",
    "実行",
    "して",
    "で",
    "か",
];

/// Words after which a sentence gives its reason.
#[rustfmt::skip]
const REASONS: &[&str] = &[
    " because ", " since ", " so that ", ", as ", " given that ", " weil ", ", da ", " damit ", " denn ", " parce que ", " puisque ", " porque ", " ya que ", " perche ",
    " pois ", " pentru ca ", " poniewaz ", " omdat ", " потому что ", "因为", "なので", "ため",
];

/// What a yes to a text of the agent asks for.
pub(super) fn orders(text: &str) -> Vec<String> {
    let lines = spoken_lines(text);
    let last = lines.len().saturating_sub(LAST_LINES);
    let ending: Vec<&str> = lines[last..]
        .iter()
        .filter(|line| !is_entry(line) || line.contains(['?', '？']))
        .flat_map(|line| sentences(line))
        .collect();
    let is_question = |sentence: &&&str| sentence.contains(['?', '？']);
    let questions: Vec<&str> = ending.iter().filter(is_question).copied().collect();
    if questions.iter().any(|question| has_alternatives(question)) {
        return Vec::new();
    }
    if questions.is_empty() && ending.iter().any(|sentence| is_request_to_confirm(sentence)) {
        return proposed(text, &ending, &[]);
    }
    if questions.is_empty() {
        return ending
            .iter()
            .filter(|sentence| is_offer(sentence))
            .filter_map(|sentence| after_lead_in(sentence))
            .collect();
    }
    let mut orders = Vec::new();
    for question in questions {
        match pointed(question) {
            Some(labels) => orders.extend(proposed(text, &ending, &labels)),
            None => orders.extend(order_of(question)),
        }
    }
    orders
}

/// A question of the agent as an order: "Shall I push it?" is "push it". `None` if a yes to it asks for nothing.
pub(super) fn order_of(question: &str) -> Option<String> {
    if is_set_aside(question) || has_alternatives(question) {
        return None;
    }
    if let Some(order) = after_phrase(question, ASKING) {
        return Some(order);
    }
    // "Push it to main?"
    let order = as_order(question);
    let words = words(&order);
    let is_elliptic = words.len() <= MAX_ELLIPTIC_WORDS
        && words.first().is_some_and(|first| !first.is_any(INTERROGATIVE))
        && !words
            .iter()
            .any(|word| word.is_any(&["you", "your", "du", "sie", "tu", "vous", "usted", "voce"]));
    is_elliptic.then_some(order)
}

/// Lines that the agent says itself, without quotations and code, untrimmed.
fn spoken_lines(text: &str) -> Vec<&str> {
    let mut is_code = false;
    let mut lines = Vec::new();
    for line in text.lines() {
        let plain = line.trim();
        if plain.starts_with("```") {
            is_code = !is_code;
        } else if !is_code && !plain.is_empty() && !plain.starts_with('>') {
            lines.push(plain);
        }
    }
    lines
}

/// "Please confirm."
fn is_request_to_confirm(sentence: &str) -> bool {
    let folded = fold(sentence);
    words(sentence).len() <= 6 && CONFIRMING.iter().any(|phrase| folded.contains(phrase))
}

fn is_offer(sentence: &str) -> bool {
    let folded = fold(sentence);
    !is_set_aside(sentence)
        && !has_alternatives(sentence)
        && OFFERS.iter().any(|phrase| folded.contains(phrase))
}

/// Whether the agent says that it is about to do something.
pub(super) fn announces(sentence: &str) -> bool {
    after_phrase(sentence, INTENDING).is_some() || after_phrase(sentence, ASKING).is_some()
}

/// What an offer or an announcement says after the words that ask or announce.
fn after_lead_in(sentence: &str) -> Option<String> {
    after_phrase(sentence, ASKING).or_else(|| after_phrase(sentence, INTENDING))
}

/// What follows the first of these phrases, without its reason. What precedes it gives the reason: "The tests pass, shall I push?"
fn after_phrase(sentence: &str, phrases: &[&str]) -> Option<String> {
    let folded = fold(&as_order(sentence));
    let begins = |(at, _): &(usize, &str)| *at == 0 || !folded[..*at].ends_with(char::is_alphanumeric);
    let is_unspaced_phrase = |phrase: &str| phrase.chars().next().is_some_and(is_unspaced);
    let ends = |at: usize, phrase: &str| {
        is_unspaced_phrase(phrase) || !folded[at + phrase.len()..].starts_with(char::is_alphanumeric)
    };
    let (at, phrase) = phrases
        .iter()
        .filter_map(|phrase| {
            folded
                .match_indices(phrase)
                .find(|found| (is_unspaced_phrase(phrase) || begins(found)) && ends(found.0, phrase))
        })
        .max_by_key(|(at, phrase)| (std::cmp::Reverse(*at), phrase.len()))?;
    let order = &folded[at + phrase.len()..];
    let end = REASONS
        .iter()
        .filter_map(|reason| order.find(reason))
        .min()
        .unwrap_or(order.len());
    let order = order[..end].trim_matches(|letter: char| letter.is_whitespace() || ",;:".contains(letter));
    (!order.is_empty()).then(|| order.to_owned())
}

/// The labels that a question points at with words that name nothing themselves: "Shall I go ahead with 1?"; none of them stands for
/// the whole proposal. `None` if the question names something.
fn pointed(question: &str) -> Option<Vec<String>> {
    let mut folded = fold(question);
    for phrase in ASKING {
        if phrase.is_ascii() && folded.contains(phrase) {
            folded = folded.replacen(phrase, " ", 1);
        }
    }
    let mut unspaced: String = folded.chars().filter(|letter| is_unspaced(*letter)).collect();
    let mut known: Vec<&str> = UNSPACED_POINTING.to_vec();
    known.sort_by_key(|part| std::cmp::Reverse(part.len()));
    for part in known {
        unspaced = unspaced.replace(part, "");
    }
    let mut labels = Vec::new();
    let spaced: String = folded
        .chars()
        .map(|letter| if is_unspaced(letter) { ' ' } else { letter })
        .collect();
    for word in words(&spaced) {
        if let Some(label) = options::label(word.raw) {
            labels.push(label);
        } else if !word.is_any(POINTING) {
            return None;
        }
    }
    unspaced.is_empty().then_some(labels)
}

/// What a question points at: the steps of the list before it, or what the agent says that it is about to do.
fn proposed(text: &str, ending: &[&str], labels: &[String]) -> Vec<String> {
    let lines: Vec<&str> = text.lines().collect();
    if let Some(steps) = block_before(&lines, labels) {
        return steps;
    }
    if !labels.is_empty() {
        return Vec::new();
    }
    ending
        .iter()
        .filter(|sentence| {
            !sentence.contains(['?', '？']) && !is_set_aside(sentence) && !has_alternatives(sentence)
        })
        .filter(|sentence| is_lead_in_of_steps(sentence))
        .filter_map(|sentence| after_lead_in(sentence))
        .collect()
}
