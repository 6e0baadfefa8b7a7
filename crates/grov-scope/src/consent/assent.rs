//! Prompts that agree and say nothing else. Whatever the tables do not know is no yes.

use super::{fold, is_unspaced};

/// Maximum length of a yes, in words or in letters of scripts without spaces.
const MAX_WORDS: usize = 10;
const MAX_LETTERS: usize = 16;

/// Words and phrases that agree, folded. Longer ones stand before those that they begin with.
#[rustfmt::skip]
const AGREEING: &[&str] = &[
    // English
    "yes", "yep", "yeah", "yup", "y", "ye", "ok", "okay", "okey", "k", "kk", "sure thing", "sure", "absolutely", "definitely", "certainly", "affirmative",
    "agreed", "approved", "accepted", "confirmed", "confirm", "correct", "exactly", "proceed", "continue", "of course", "go ahead", "go on", "go for it", "go",
    "do it", "do that", "do so", "do this", "please do", "sounds good", "sounds great", "looks good", "looks great", "looks right", "all good", "i agree",
    "i approve", "i confirm", "i accept", "fine by me", "fine with me", "that's fine", "works for me", "sgtm", "lgtm", "make it so", "you may", "carry on",
    // German
    "jawohl", "jepp", "jap", "jo", "ja gerne", "ja gern", "ja", "klar", "naturlich", "gerne", "gern", "einverstanden", "passt", "genau", "in ordnung",
    "leg los", "alles klar", "mach das", "mach es", "mach weiter", "mach mal", "mach", "tu das", "weiter", "auf jeden fall", "selbstverstandlich", "nur zu",
    // French
    "oui", "ouais", "ouip", "d'accord", "dac", "vas-y", "vas y", "allez-y", "allez y", "bien sur", "volontiers", "ca marche", "c'est bon", "continuez",
    "fais-le", "fais le", "faites-le", "faites le", "tout a fait", "je confirme", "parfait",
    // Spanish
    "claro que si", "si claro", "si", "vale", "claro", "por supuesto", "adelante", "de acuerdo", "dale", "hazlo", "procede", "continua", "sigue",
    "esta bien", "me parece bien", "perfecto", "confirmo",
    // Italian
    "certo", "va bene", "procedi", "vai", "d'accordo", "volentieri", "fallo", "prosegui", "certamente", "perfetto",
    // Portuguese
    "sim", "pode sim", "pode fazer", "pode ir", "pode", "prossiga", "continue", "vai em frente", "manda ver", "com certeza", "faca isso", "faz isso", "perfeito",
    // Romanian
    "da", "sigur", "desigur", "de acord", "da-i drumul", "fa-o", "fa asta", "mergi mai departe", "bineinteles", "perfect",
    // Polish
    "tak", "jasne", "oczywiscie", "zgoda", "zgadzam sie", "kontynuuj", "rob", "zrob to", "smialo", "pewnie", "dawaj",
    // Dutch and the languages of the north
    "jazeker", "jawel", "zeker", "natuurlijk", "graag", "akkoord", "prima", "ga door", "ga verder", "ga je gang", "doe maar", "doe het", "is goed",
    "japp", "visst", "garna", "kor pa", "kor", "fortsatt", "gor det", "gjerne", "joo", "kylla", "jatka",
    // Russian and Ukrainian, Czech, Turkish, Hungarian, Greek, Indonesian, Arabic, Hindi
    "да", "ага", "конечно", "хорошо", "давайте", "давай", "ок", "окей", "продолжайте", "продолжай", "согласен", "согласна", "подтверждаю", "делай", "так",
    "звісно", "добре", "ano", "jasne", "souhlasim", "pokracuj", "evet", "tamam", "olur", "peki", "elbette", "tabii", "devam et", "devam", "onayliyorum",
    "igen", "rendben", "ναι", "εντάξει", "ya", "iya", "lanjut", "setuju", "نعم", "हाँ", "हां",
    // Korean
    "네", "예", "응", "그래", "그래요", "좋아", "좋아요", "좋습니다", "계속", "계속해", "계속해줘", "계속해주세요", "진행해", "진행해줘", "진행해주세요", "진행",
    "오케이", "물론", "동의", "동의합니다", "해줘", "해주세요", "그렇게", "부탁해", "부탁합니다", "부탁해요",
];

/// Words that may stand beside them, folded.
#[rustfmt::skip]
const BESIDE: &[&str] = &[
    "please", "pls", "plz", "thanks", "thank", "thx", "you", "ty", "then", "now", "so", "that", "it", "this", "all", "both", "of", "them", "with", "the", "plan",
    "great", "perfect", "cool", "nice", "good", "awesome", "right", "looks", "bitte", "danke", "das", "es", "mal", "dann", "jetzt", "so", "gut", "super", "merci",
    "s'il", "te", "vous", "plait", "stp", "svp", "gracias", "por", "favor", "grazie", "per", "favore", "obrigado", "obrigada", "rog", "mersi", "multumesc",
    "prosze", "dzieki", "alsjeblieft", "bedankt", "goed", "пожалуйста", "спасибо", "lutfen", "bine", "bien", "bene", "dobrze",
];

/// The same in Chinese and Japanese: whole parts between punctuation, longer ones first.
#[rustfmt::skip]
const UNSPACED_AGREEING: &[&str] = &[
    "当然可以", "就这么办", "就这么做", "就这样做", "就这样", "好的", "好吧", "好呀", "好啊", "好", "可以的", "可以", "没问题", "請繼續", "请继续", "继续吧", "继续", "繼續",
    "同意", "确认", "確認", "确定", "当然", "是的", "是", "对的", "对", "嗯嗯", "嗯", "行", "开始吧", "开始", "去吧", "做吧", "执行吧", "执行", "没错", "推送吧", "お願いします",
    "おねがいします", "お願い", "はい", "うん", "ええ", "了解です", "了解", "いいですよ", "いいです", "いいよ", "続けてください", "続けて", "進めてください", "進めて", "どうぞ",
    "もちろん", "承認します", "承認", "やってください", "やって", "それで", "オッケー", "オーケー",
];
const UNSPACED_BESIDE: &[&str] = &[
    "谢谢",
    "麻烦了",
    "请",
    "就",
    "吧",
    "了",
    "です",
    "ください",
    "ありがとう",
];

/// Signs that agree.
const SIGNS: &[char] = &['👍', '✅', '👌', '🚀', '💯'];
/// What may follow a sign: its colour, its form.
const MODIFIERS: std::ops::RangeInclusive<char> = '\u{1f3fb}'..='\u{1f3ff}';
const VARIATION: char = '\u{fe0f}';

/// Punctuation that changes nothing. A question mark does.
const PUNCTUATION: &str = ",.!;:-'’()，。！、；：～~…\"";

/// Whether a prompt agrees, in words that the tables know, and says nothing else.
pub fn is_assent(prompt: &str) -> bool {
    // A longer text says more.
    if prompt.len() > 200 {
        return false;
    }
    let mut agrees = false;
    let mut spaced = String::new();
    let mut unspaced = String::new();
    for letter in prompt.chars() {
        if SIGNS.contains(&letter) {
            agrees = true;
            spaced.push(' ');
        } else if is_unspaced(letter) {
            unspaced.push(letter);
            spaced.push(' ');
        } else if letter.is_alphanumeric()
            || letter.is_whitespace()
            || "'’-".contains(letter)
            || is_mark(letter)
        {
            spaced.push(letter);
            unspaced.push(' ');
        } else if PUNCTUATION.contains(letter) {
            spaced.push(' ');
            unspaced.push(' ');
        } else if !MODIFIERS.contains(&letter) && letter != VARIATION {
            return false;
        }
    }
    let Some(by_words) = agree_in_words(&spaced) else {
        return false;
    };
    let Some(by_letters) = agree_in_letters(&unspaced) else {
        return false;
    };
    agrees || by_words || by_letters
}

/// Whether a character is a mark of a letter, as in Hindi.
fn is_mark(letter: char) -> bool {
    ('\u{300}'..='\u{36f}').contains(&letter) || ('\u{900}'..='\u{97f}').contains(&letter)
}

/// Whether words agree; `None` if one of them says something else.
fn agree_in_words(text: &str) -> Option<bool> {
    let folded = fold(text);
    let words: Vec<&str> = folded
        .split_whitespace()
        .map(|word| word.trim_matches(['\'', '-']))
        .filter(|word| !word.is_empty())
        .collect();
    if words.len() > MAX_WORDS {
        return None;
    }
    let mut agrees = false;
    let mut rest = &words[..];
    while let [first, after @ ..] = rest {
        let phrase = AGREEING
            .iter()
            .map(|phrase| phrase.split(' ').count())
            .zip(AGREEING)
            .filter(|(count, phrase)| {
                *count <= rest.len() && phrase.split(' ').eq(rest[..*count].iter().copied())
            })
            .max_by_key(|(count, _)| *count);
        match phrase {
            Some((count, _)) => {
                agrees = true;
                rest = &rest[count..];
            }
            None if BESIDE.contains(first) => rest = after,
            None => return None,
        }
    }
    Some(agrees)
}

/// The same for scripts without spaces.
fn agree_in_letters(text: &str) -> Option<bool> {
    if text.chars().filter(|letter| !letter.is_whitespace()).count() > MAX_LETTERS {
        return None;
    }
    let mut agrees = false;
    for part in text.split_whitespace() {
        let mut rest = part;
        while !rest.is_empty() {
            let find = |list: &[&'static str]| {
                list.iter()
                    .copied()
                    .filter(|known| rest.starts_with(*known))
                    .max_by_key(|known| known.len())
            };
            match (find(UNSPACED_AGREEING), find(UNSPACED_BESIDE)) {
                (Some(known), _) => {
                    agrees = true;
                    rest = &rest[known.len()..];
                }
                (None, Some(known)) => rest = &rest[known.len()..],
                (None, None) => return None,
            }
        }
    }
    Some(agrees)
}
