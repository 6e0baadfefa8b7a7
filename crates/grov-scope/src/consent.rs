//! What the user agrees to in a text of the agent: the question that it ends with, the plan that a short question is about ("Shall I go
//! ahead?"), or the option that the user chose. The rest of the text reports what was done, and asks for nothing.

use crate::constraints::is_unspaced;
use crate::words::{fold, words};

/// The first line of a text that the user accepted as a whole: an approved plan, a chosen option.
const ACCEPTED: &str = "Accepted:";
/// A question stands among the last lines of a text.
const LAST_LINES: usize = 3;
/// Maximum number of lines of a plan, before the question about it.
const MAX_PLAN_LINES: usize = 40;
/// A question of so many words, or letters in scripts without spaces, names too little to stand alone: "Shall I do this now?"
const SHORT_WORDS: usize = 7;
const SHORT_LETTERS: usize = 10;
/// Maximum length of a prompt that chooses an option, in words or in letters of scripts without spaces.
const MAX_CHOICE_WORDS: usize = 6;
const MAX_CHOICE_LETTERS: usize = 8;
/// Maximum number of lines of an option.
const MAX_OPTION_LINES: usize = 12;

/// Phrases of an offer without a question mark: "Let me know if you want me to push it."
#[rustfmt::skip]
const OFFERS: &[&str] = &[
    "let me know", "if you want", "if you'd like", "if you like", "want me to", "say the word", "sag bescheid", "wenn du", "wenn sie", "si tu veux",
    "si vous voulez", "si quieres", "si lo deseas", "se vuoi", "se quiser", "jeśli chcesz", "als je wilt", "dacă vrei", "если хотите", "如果你",
    "如果需要", "需要我", "よければ", "원하시면",
];

/// What joins question and answer in the client's record of a question that was answered.
const ANSWERED: &str = "\"=\"";

/// Words with which the agent asks whether it shall do something, folded.
#[rustfmt::skip]
const ASKING: &[&str] = &[
    "shall i", "should i", "shall we", "should we", "do you want me to", "would you like me to", "want me to", "like me to", "may i", "can i",
    "could i", "ready to", "ok to", "okay to", "i can", "i could", "i'll", "i will", "soll ich", "sollen wir", "darf ich", "kann ich", "dass ich",
    "que je", "dois-je", "puis-je", "on peut", "quieres que", "debo", "puedo", "te parece si", "deseas que", "vuoi che", "devo", "posso",
    "quer que eu", "queres que", "czy mam", "mam", "zal ik", "moet ik", "dat ik", "mag ik", "vrei sa", "pot sa", "мне", "要不要我", "要不要", "需要我",
    "要我", "是否需要", "是否", "我可以", "可以",
];

/// Words of a sentence that rules something out.
#[rustfmt::skip]
const NEGATIONS: &[&str] = &[
    "don't", "dont", "never", "no", "not", "won't", "without", "kein", "keine", "keinen", "nicht", "nie", "ohne", "jamais", "ne", "pas", "sans", "nunca",
    "sin", "mai", "non", "senza", "não", "nao", "sem", "bez", "geen", "niet", "zonder", "fără", "fara", "nu", "без", "не",
];

/// The same in scripts without spaces.
const UNSPACED_NEGATIONS: &[&str] = &["不", "没", "没有", "無", "ない", "ません", "なし"];

/// Words before the label of an option.
#[rustfmt::skip]
const OPTION_WORDS: &[&str] = &[
    "approach", "choice", "choose", "go", "number", "nr", "opcion", "opcja", "opcao", "optie", "option", "opțiunea", "optiunea", "opzione", "pick",
    "plan", "solution", "take", "use", "variant", "variante", "way", "with", "вариант", "нимм", "nimm",
];
const UNSPACED_OPTION_WORDS: &[&str] = &[
    "方案", "选项", "選項", "第", "案", "番", "选", "選", "方法", "옵션",
];

/// Ordinals that stand for a label.
#[rustfmt::skip]
const ORDINALS: &[(&str, &str)] = &[
    ("first", "1"), ("second", "2"), ("third", "3"), ("erste", "1"), ("ersten", "1"), ("zweite", "2"), ("zweiten", "2"), ("dritte", "3"),
    ("premiere", "1"), ("deuxieme", "2"), ("troisieme", "3"), ("primera", "1"), ("segunda", "2"), ("tercera", "3"), ("prima", "1"),
    ("seconda", "2"), ("terza", "3"), ("primeira", "1"), ("terceira", "3"), ("pierwsza", "1"), ("druga", "2"), ("eerste", "1"), ("tweede", "2"),
];

/// The numbers of options in Chinese and Japanese.
const UNSPACED_NUMBERS: &[(char, &str)] = &[('一', "1"), ('二', "2"), ('三', "3"), ('四', "4"), ('五', "5")];

/// Marks a text as accepted from its first to its last line.
pub fn accepted(text: &str) -> String {
    format!("{ACCEPTED}\n{text}")
}

/// What a user who agrees to a text of the agent asks for, as orders: "Shall I push it?" is "push it".
pub(crate) fn orders(text: &str) -> Vec<String> {
    proposals(text)
        .iter()
        .map(|proposal| as_order(proposal))
        .collect()
}

/// The sentences of a text of the agent that a user who agrees to it asks for.
fn proposals(text: &str) -> Vec<&str> {
    if let Some(whole) = text.strip_prefix(ACCEPTED) {
        return whole
            .lines()
            .flat_map(sentences)
            .filter(|part| !is_negated(part))
            .collect();
    }
    if text.contains(ANSWERED) {
        return answered(text);
    }
    let lines: Vec<&str> = text
        .lines()
        .map(str::trim)
        .filter(|line| !line.is_empty())
        .collect();
    let last = lines.len().saturating_sub(LAST_LINES);
    let ending = || lines[last..].iter().flat_map(|line| sentences(line));
    let mut found: Vec<&str> = ending()
        .filter(|sentence| sentence.contains(['?', '？']))
        .collect();
    if found.is_empty() {
        let offers = |sentence: &&str| {
            let lower = sentence.to_lowercase();
            OFFERS.iter().any(|phrase| lower.contains(phrase))
        };
        return ending().filter(offers).collect();
    }
    if found.iter().all(|question| is_short(question)) {
        let from = lines.len().saturating_sub(MAX_PLAN_LINES);
        found.extend(plan(&lines[from..]));
    }
    found
}

/// The questions and answers of the client's record of a question that was answered: `"Push it to main?"="Yes"`.
fn answered(text: &str) -> Vec<&str> {
    let parts: Vec<&str> = text.split(ANSWERED).collect();
    let pairs = parts.windows(2).flat_map(|pair| match pair {
        [before, after] => [before.rsplit('"').next(), after.split('"').next()],
        _ => [None, None],
    });
    pairs.flatten().filter(|part| !is_negated(part)).collect()
}

/// A proposal in the words of an order: without the mark of a list, the words that ask whether, and the question mark.
fn as_order(proposal: &str) -> String {
    let plain =
        proposal.trim_start_matches(|letter: char| letter.is_whitespace() || "#*->_•¿\"".contains(letter));
    let plain = match label_of(plain) {
        Some(_) => plain
            .split_once(['.', ')', ':', '：', '、'])
            .map_or(plain, |(_, rest)| rest),
        None => plain,
    };
    let plain = plain.trim_start_matches(|letter: char| letter.is_whitespace() || "*_\"".contains(letter));
    let plain = plain.trim_end_matches(|letter: char| letter.is_whitespace() || "?？".contains(letter));
    let folded = fold(plain);
    // What precedes the words that ask gives the reason: "The tests pass, shall I push?"
    let begins = |(at, _): &(usize, &str)| *at == 0 || !folded[..*at].ends_with(char::is_alphanumeric);
    let lead_in = ASKING
        .iter()
        .filter_map(|phrase| folded.match_indices(phrase).find(begins))
        .max_by_key(|(at, phrase)| (std::cmp::Reverse(*at), phrase.len()));
    match lead_in {
        Some((at, phrase)) => folded[at + phrase.len()..].trim().to_owned(),
        None => plain.to_owned(),
    }
}

/// The option of a text of the agent that a short prompt chooses: "option 2", "B please", "方案 2".
pub fn chosen_option(prompt: &str, text: &str) -> Option<String> {
    let labels = chosen_labels(prompt);
    let lines: Vec<&str> = text.lines().collect();
    let mut chosen = Vec::new();
    for label in labels {
        // Of two lists, the later one is what was asked about.
        let begin = lines
            .iter()
            .rposition(|line| label_of(line).is_some_and(|found| found == label))?;
        let option = lines[begin..].iter().take(MAX_OPTION_LINES).enumerate();
        let option = option.take_while(|(number, line)| *number == 0 || label_of(line).is_none());
        let option = option.take_while(|(_, line)| !line.contains(['?', '？']));
        chosen.extend(option.map(|(_, line)| *line));
    }
    (!chosen.is_empty()).then(|| chosen.join("\n"))
}

/// The labels that a prompt chooses; none if it says more.
fn chosen_labels(prompt: &str) -> Vec<String> {
    let letters = prompt.chars().filter(|letter| is_unspaced(*letter)).count();
    if letters > 0 {
        let names_option = UNSPACED_OPTION_WORDS.iter().any(|word| prompt.contains(word));
        if letters > MAX_CHOICE_LETTERS || !names_option {
            return Vec::new();
        }
        let label = |letter: char| match letter {
            '1'..='9' | 'A'..='F' => Some(letter.to_lowercase().to_string()),
            _ => UNSPACED_NUMBERS
                .iter()
                .find(|(number, _)| *number == letter)
                .map(|(_, label)| (*label).to_owned()),
        };
        return prompt.chars().filter_map(label).collect();
    }
    let words = words(prompt);
    if words.len() > MAX_CHOICE_WORDS {
        return Vec::new();
    }
    let names_option = |at: usize| {
        at.checked_sub(1)
            .is_some_and(|before| words[before].is_any(OPTION_WORDS))
    };
    let label = |at: usize| {
        let word = &words[at];
        let is_number = word.raw.len() <= 2 && word.raw.bytes().all(|digit| digit.is_ascii_digit());
        // "a" is an article, "A" an option.
        let is_letter = matches!(word.raw, "A" | "B" | "C" | "D" | "E" | "F")
            || matches!(word.raw, "a" | "b" | "c" | "d" | "e" | "f")
                && (words.len() == 1 || names_option(at));
        let ordinal = ORDINALS.iter().find(|(name, _)| word.folded == *name);
        match ordinal {
            Some((_, label)) if words.len() <= 4 => Some((*label).to_owned()),
            _ => (is_number || is_letter).then(|| word.raw.to_lowercase()),
        }
    };
    (0..words.len()).filter_map(label).collect()
}

/// The label of a line that begins an option: `2.`, `**B)**`, `- Option 2:`, `方案 2：`.
fn label_of(line: &str) -> Option<String> {
    let line = line.trim_start_matches(|letter: char| letter.is_whitespace() || "#*->_•`".contains(letter));
    let mut rest = line;
    if let Some(word) = UNSPACED_OPTION_WORDS.iter().find(|word| line.starts_with(**word)) {
        rest = &line[word.len()..];
    } else if let Some((first, after)) = line.split_once(' ')
        && OPTION_WORDS.contains(&fold(first).as_str())
    {
        rest = after;
    }
    let is_named = rest.len() < line.len();
    let rest = rest.trim_start();
    let end = rest
        .find(|letter: char| !letter.is_ascii_alphanumeric())
        .unwrap_or(rest.len());
    let (label, after) = rest.split_at(end);
    if label.is_empty()
        && let Some(first) = rest.chars().next().filter(|_| is_named)
    {
        let number = UNSPACED_NUMBERS.iter().find(|(number, _)| *number == first)?;
        return Some(number.1.to_owned());
    }
    let is_label = label.len() <= 2 && label.bytes().all(|digit| digit.is_ascii_digit())
        || matches!(
            label,
            "A" | "B" | "C" | "D" | "E" | "F" | "a" | "b" | "c" | "d" | "e" | "f"
        );
    let is_set_off = after.starts_with(['.', ')', ':', '：', '、', '*', ']']) || is_named;
    (!label.is_empty() && is_label && is_set_off).then(|| label.to_lowercase())
}

/// The sentences of a line.
fn sentences(line: &str) -> impl Iterator<Item = &str> {
    let ends = |(at, mark): &(usize, &str)| {
        let after = line[at + mark.len()..].chars().next();
        !mark.is_ascii() || after.is_none_or(char::is_whitespace)
    };
    let mut from = 0;
    let mut ends: Vec<usize> = line
        .match_indices(['.', '!', '?', '。', '！', '？'])
        .filter(ends)
        .map(|(at, mark)| at + mark.len())
        .collect();
    ends.push(line.len());
    let parts: Vec<&str> = ends
        .into_iter()
        .map(|end| {
            let part = line.get(from..end).unwrap_or_default();
            from = end;
            part.trim()
        })
        .collect();
    parts.into_iter().filter(|part| !part.is_empty())
}

fn is_short(question: &str) -> bool {
    let letters = question.chars().filter(|letter| is_unspaced(*letter)).count();
    match letters {
        0 => words(question).len() <= SHORT_WORDS,
        letters => letters <= SHORT_LETTERS,
    }
}

/// The steps and commands of a plan, without what is marked as done or ruled out.
fn plan<'a>(lines: &[&'a str]) -> Vec<&'a str> {
    let mut is_code = false;
    let mut found = Vec::new();
    for line in lines {
        if line.starts_with("```") {
            is_code = !is_code;
        } else if is_code || is_step(line) && !is_done(line) && !is_negated(line) {
            found.push(*line);
        }
    }
    found
}

fn is_step(line: &str) -> bool {
    line.starts_with(['-', '*', '•', '+']) || label_of(line).is_some()
}

/// Whether a step reports what was done: "✅ Tests", "- Removed the flag".
fn is_done(line: &str) -> bool {
    line.contains(['✅', '✓', '✔', '☑'])
        || line.contains("[x]")
        || words(line)
            .iter()
            .find(|word| word.raw.len() > 1)
            .is_some_and(|first| first.folded.ends_with("ed"))
}

fn is_negated(sentence: &str) -> bool {
    words(sentence).iter().any(|word| word.is_any(NEGATIONS))
        || UNSPACED_NEGATIONS.iter().any(|word| sentence.contains(word))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_yes_answers_the_question_and_not_the_report_before_it() {
        let cases: &[(&str, &[&str])] = &[
            (
                "I removed the old tables and pushed. Shall I also update the wiki page of the team?",
                &["also update the wiki page of the team"],
            ),
            (
                "Fertig. Alte Tabellen gelöscht.\n\nSoll ich jetzt auch noch das neue Release veröffentlichen?",
                &["jetzt auch noch das neue release veroffentlichen"],
            ),
            ("All done, the volume was deleted.", &[]),
            ("Done. Let me know if you want me to push it.", &["push it."]),
            (
                "已删除缓存。要我推送到 main 分支然后重新部署服务吗？",
                &["推送到 main 分支然后重新部署服务吗"],
            ),
            (
                "User has answered your questions: \"Push it to main?\"=\"Yes\", \"How?\"=\"Force-push the branch\". You can go on.",
                &["Push it to main", "Yes", "How", "Force-push the branch"],
            ),
            (
                "The tests pass, should I merge it into main?",
                &["merge it into main"],
            ),
        ];
        for (text, expected) in cases {
            assert_eq!(orders(text), *expected, "{text}");
        }
    }

    #[test]
    fn a_yes_to_a_short_question_accepts_the_steps_of_the_plan() {
        let text = "Removed the flag.\n- Deleted the cache\n- ✅ tests\n1. Drop the table `old`\n2. Do not touch users\n```\ngit push\n```\nShall I go ahead?";
        assert_eq!(orders(text), ["go ahead", "Drop the table `old`", "git push"]);
        let text = accepted("# Plan\nWe deploy to staging. We never reset the database.");
        assert_eq!(orders(&text), ["Plan", "We deploy to staging."]);
    }

    #[test]
    fn a_short_prompt_chooses_an_option() {
        let options = "I see two ways:\n\n1. **Revert** the commit\n2. **Force-push** the branch\n   git push --force\n\nWhich one?";
        let lettered = "**A)** wait\n**B)** deploy now\n";
        let chinese = "方案 1：git revert\n方案 2：git push --force 到远程\n请选择";
        let cases = [
            (
                "2",
                options,
                Some("2. **Force-push** the branch\n   git push --force\n"),
            ),
            (
                "option 2",
                options,
                Some("2. **Force-push** the branch\n   git push --force\n"),
            ),
            (
                "the second one",
                options,
                Some("2. **Force-push** the branch\n   git push --force\n"),
            ),
            ("go with 1 please", options, Some("1. **Revert** the commit")),
            ("B", lettered, Some("**B)** deploy now")),
            ("方案 2", chinese, Some("方案 2：git push --force 到远程\n请选择")),
            ("方案二", chinese, Some("方案 2：git push --force 到远程\n请选择")),
            ("option 3", options, None),
            ("there are 2 things that still look wrong to me", options, None),
            ("wait a moment", lettered, None),
            ("2", "No list.", None),
        ];
        for (prompt, text, expected) in cases {
            assert_eq!(chosen_option(prompt, text).as_deref(), expected, "{prompt}");
        }
    }
}
