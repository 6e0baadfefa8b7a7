//! Prompts that refer to earlier work without naming it: "continue", "what did we do last?", "why is it like this?".
//!
//! Such a prompt has no word to search for. It is answered with the newest memory, or that of the open files.

use crate::prompt_kind::{is_made_of, prompt_words};
use grov_domain::is_function_word;
use grov_redact::is_unspaced;
use std::collections::HashSet;
use std::sync::LazyLock;

/// Words of such prompts in thirteen languages, triggers and others.
static WORDS: LazyLock<HashSet<&str>> =
    LazyLock::new(|| include_str!("vague/words.txt").split_whitespace().collect());
/// Words that show what such a prompt wants; one of them is in each.
static TRIGGERS: LazyLock<HashSet<&str>> =
    LazyLock::new(|| include_str!("vague/triggers.txt").split_whitespace().collect());
/// The same in scripts without spaces, as pieces of a run.
static PIECES: LazyLock<Vec<&str>> =
    LazyLock::new(|| include_str!("vague/phrases.txt").split_whitespace().collect());
static UNSPACED_TRIGGERS: LazyLock<Vec<&str>> = LazyLock::new(|| {
    include_str!("vague/unspaced_triggers.txt")
        .split_whitespace()
        .collect()
});

/// Those that are such a prompt alone.
const ALONE: &[&str] = &[
    "continue",
    "continuing",
    "dokończ",
    "finisci",
    "terminalo",
    "resume",
    "recap",
    "status",
    "weiter",
    "weitermachen",
    "reprends",
    "continuons",
    "poursuis",
    "sigue",
    "retoma",
    "continua",
    "riprendi",
    "doorgaan",
    "kontynuuj",
    "devam",
];

/// Maximum length of such a prompt, in characters. Longer prompts are never vague.
const MAX_CHARACTERS: usize = 100;

/// Whether a prompt refers to earlier work without naming it.
pub fn refers_to_earlier_work(prompt: &str) -> bool {
    let prompt = prompt.trim();
    if prompt.is_empty() || prompt.starts_with(['/', '!']) || prompt.chars().nth(MAX_CHARACTERS).is_some() {
        return false;
    }
    let words = prompt_words(prompt);
    let is_trigger = |word: &String| asks_for_earlier_work(word);
    // "Why?" asks about the answer before.
    let is_sentence = words.len() > 1 || ALONE.contains(&prompt_word(&words)) || !prompt.is_ascii();
    is_sentence && words.iter().any(is_trigger) && words.iter().all(|word| is_without_subject(word))
}

fn prompt_word(words: &[String]) -> &str {
    words.first().map_or("", String::as_str)
}

/// Whether a word shows that a prompt wants earlier work.
pub(crate) fn asks_for_earlier_work(word: &str) -> bool {
    TRIGGERS.contains(word) || UNSPACED_TRIGGERS.iter().any(|trigger| word.contains(trigger))
}

/// Whether a word names no subject: it belongs to such prompts, or has a function only.
pub(crate) fn is_without_subject(word: &str) -> bool {
    if WORDS.contains(word) || TRIGGERS.contains(word) || is_function_word(word) {
        return true;
    }
    // "c'est", "qu'on".
    if let Some((article, rest)) = word.split_once('\'') {
        return article.len() <= 2 && (WORDS.contains(rest) || rest.is_empty()) || WORDS.contains(article);
    }
    word.chars().any(is_unspaced) && is_made_of(word, &PIECES)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn vague_prompts_are_known_in_any_language() {
        for prompt in [
            "continue",
            "Continue where we left off",
            "what did we do last?",
            "ok, what was the last thing we did here?",
            "why is it like this?",
            "where were we?",
            "mach hier weiter",
            "weiter mit dem hier",
            "Was haben wir zuletzt gemacht?",
            "warum ist das so gelöst?",
            "pourquoi c'est fait comme ça ?",
            "qu'est-ce qu'on a fait la dernière fois ?",
            "¿qué hicimos la última vez?",
            "continúa donde lo dejamos",
            "¿por qué está hecho así?",
            "cosa abbiamo fatto ieri?",
            "por que foi feito assim?",
            "waar waren we gebleven? ga verder",
            "co ostatnio zrobiliśmy?",
            "продолжим то, что делали в прошлый раз",
            "почему это так сделано?",
            "继续上次的工作",
            "我们上次做了什么？",
            "为什么这样做",
            "前回の続きから",
            "なぜこのようになっているのですか",
            "지난번에 하던 작업 계속",
            "finish it",
            "finish the work from yesterday",
            "mach das fertig",
            "bring es zu Ende",
            "termine ça",
            "termínalo",
            "finisci",
            "maak het af",
            "dokończ to",
            "доделай это",
            "把它做完",
            "仕上げてください",
        ] {
            assert!(refers_to_earlier_work(prompt), "{prompt}");
        }
    }

    #[test]
    fn prompts_with_a_subject_are_not_vague() {
        for prompt in [
            "",
            "why?",
            "ok",
            "thanks",
            "what is this?",
            "fix this",
            "continue with the parser",
            "why does the build fail?",
            "what was the last commit?",
            "warum schlägt der Test fehl?",
            "pourquoi la page est lente ?",
            "продолжи рефакторинг парсера",
            "为什么测试失败",
            "继续优化数据库",
            "finish the parser",
            "done",
            "it is finished",
            "maak een test",
            "/resume",
        ] {
            assert!(!refers_to_earlier_work(prompt), "{prompt}");
        }
    }
}
