//! Detects objections in prompts, and finds what the user agreed to in the client's dialogs.

use grov_scope::{answered, approved};

/// Words that refuse, stop or revert something, in English and Romanian.
const WORDS: &str = "no nope not dont don't never none stop wait cancel undo revert rollback without cannot can't shouldn't \
    mustn't won't wrong why nu nici niciodată niciodata oprește opreste stai anulează anuleaza fără fara greșit gresit";

/// The same in nine more languages. They count at the beginning of a prompt: further on, most of them describe the work.
const OPENING_WORDS: &str = "nein nicht kein keine stopp warte abbrechen rückgängig falsch warum non pas arrête attends annule \
    jamais sans pourquoi nunca espera cancela deshaz sin ferma aspetta annulla senza não nao pare desfaz sem nie czekaj poczekaj \
    cofnij anuluj nigdy bez nee niet geen wacht nooit zonder нет не стоп стой подожди отмени никогда без";

/// The same in scripts without spaces between words.
#[rustfmt::skip]
const UNSPACED_WORDS: [&str; 17] = [
    "不", "别", "別", "停", "等", "取消", "撤销", "没", "いいえ", "ない", "やめ", "待って", "止め", "だめ", "아니", "멈춰", "취소",
];

/// The length of the beginning, in words, or in letters of scripts without spaces.
const OPENING: usize = 6;
const UNSPACED_OPENING: usize = 12;

/// Maximum number of words examined.
const MAX_WORDS: usize = 2000;

/// Whether a prompt contains an objection. In doubt it does, so that nothing is permitted by mistake: "no problem, go on"
/// counts as an objection.
pub fn has_objection(prompt: &str) -> bool {
    let is_part = |character: char| character.is_alphanumeric() || character == '\'';
    let plain = prompt.replace('\u{2019}', "'").to_lowercase();
    let words = plain.split(|character| !is_part(character));
    let mut words = words.filter(|word| !word.is_empty()).take(MAX_WORDS).enumerate();
    let is_in = |list: &str, word: &str| list.split_whitespace().any(|known| known == word);
    let objects = words.any(|(at, word)| {
        let word = word.trim_matches('\'');
        is_in(WORDS, word) || at < OPENING && is_in(OPENING_WORDS, word)
    });
    let opening: String = plain.chars().take(UNSPACED_OPENING).collect();
    objects || UNSPACED_WORDS.iter().any(|known| opening.contains(known))
}

/// Returns what the user asked for by answering a question or approving `plan`, an order a line; `None` if the call failed, an
/// answer is an objection, or nothing was asked for. `output` is the result of a question, which repeats it with the answer:
/// `"Shall I publish?"="Yes"`.
pub(crate) fn approved_orders(plan: Option<&str>, failed: bool, output: Option<&str>) -> Option<String> {
    if failed {
        return None;
    }
    let orders = match plan {
        Some(plan) => approved(plan),
        None => {
            let output = output?;
            let mut answers = output.split("\"=\"").skip(1);
            if answers.any(|rest| has_objection(rest.split('"').next().unwrap_or(rest))) {
                return None;
            }
            answered(output)
        }
    };
    (!orders.is_empty()).then(|| orders.join("\n"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn has_objection_distinguishes_no_from_yes() {
        for prompt in [
            "no",
            "No.",
            "don't do that",
            "Don\u{2019}t",
            "stop!",
            "Nu, lasă",
            "why did you touch it?",
            "please do NOT push",
            "nein, lass das",
            "non, pas encore",
            "不要",
            "ちょっと待って",
        ] {
            assert!(has_objection(prompt), "{prompt}");
        }
        for prompt in [
            "yes",
            "go on",
            "da, continuă",
            "Also update notes.md",
            "now do it",
            "ok, know-how",
            "ja, mach weiter",
            "oui, vas-y",
            "Übersetze jetzt auch die Seite mit den Preisen, die noch nicht übersetzt ist",
            "好的，继续",
            "",
        ] {
            assert!(!has_objection(prompt), "{prompt}");
        }
    }
}
