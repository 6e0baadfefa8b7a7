//! Secrets that answer a question: on the line below a prompt or a sentence that ends with the name of the password, or among the
//! answers to an agent's questions.

use crate::chosen::{is_made, is_word_with_number};
use crate::numbers::{CODE_WORDS, is_code};
use crate::prose::{OTHER_SUBJECTS, PASSWORD_WORDS, file_stem, is_algorithm, is_elaborate, is_stated};
use crate::random::is_scrambled;
use crate::scan::{Certainty, Scan};
use crate::value::{has_digit, has_letter, is_public_identifier, is_stand_in, is_uuid};
use std::ops::Range;

/// The end of a question and the beginning of its answer, as clients write them.
pub(crate) const ANSWERS: &[&str] = &["?\"=\"", "?\":\"", "?\": \""];

/// Beginnings of a question for the password itself, in the languages of prompts.
#[rustfmt::skip]
const STRAIGHT: &[&str] = &[
    "what is", "what's", "what’s", "wie lautet", "wie ist", "wie heißt", "was ist", "quel est", "c'est quoi", "cuál es", "cual es", "qual é",
    "qual è", "wat is", "jakie jest", "jakie", "какой", "şifresi ne", "şifre ne", "是什么", "是多少", "なんですか", "何ですか", "뭐예요", "무엇",
];

/// Beginnings of a question that yes or no answers.
#[rustfmt::skip]
const YES_OR_NO: &[&str] = &[
    "should", "shall", "do ", "does", "did", "can ", "could", "may ", "must", "is ", "are ", "was ", "will", "would", "soll", "darf", "kann",
    "muss", "ist ", "sind", "dois", "doit", "faut", "est-", "debe", "debo", "puede", "deve", "devo", "posso", "moet", "mag ", "czy ",
    "нужно", "надо", "можно", "должен",
];

/// Finds the password on the line below its name: "Password:\nhunter-22", "das Passwort ist\n\nhunter-22".
pub(crate) fn below(scan: &Scan<'_>, keyword: &Range<usize>) -> Option<Range<usize>> {
    const MAX_LINE: usize = 96;
    const MAX_WORDS: usize = 9;
    let text = scan.text;
    let to = text.floor_char_boundary(keyword.end.saturating_add(MAX_LINE));
    let (line, _) = text.get(keyword.end..to)?.split_once('\n')?;
    let clause = line.trim_start_matches(char::is_alphabetic).trim_end();
    let goes_on = clause.starts_with(['_', '/', '\\', '(', '[', '-', '@', '=', '"', '\'', '.'])
        || clause.contains(['{', '(', ';', '=', '|', '<'])
        || clause.contains(". ")
        || clause.split_whitespace().count() > MAX_WORDS;
    if goes_on {
        return None;
    }
    let is_asked = clause.ends_with('?');
    // The end of a name may be a particle.
    if !is_asked && !is_stated(&text[keyword.clone()], line) {
        return None;
    }
    let start = first_line_below(text, keyword.end + line.len() + 1)?;
    let to = text.floor_char_boundary(start.saturating_add(MAX_LINE));
    let below = text.get(start..to)?.split('\n').next()?;
    let is_indented = below.starts_with([' ', '\t']);
    let answer = below.trim_start();
    let answer = ["A: ", "Answer: ", "> "]
        .iter()
        .find_map(|mark| answer.strip_prefix(mark))
        .or((!is_asked).then_some(answer))?;
    let first = answer.split_whitespace().next()?;
    let word = first.trim_matches(['"', '\'', '`', '*', ',', ';']);
    let is_alone = answer.trim() == first;
    let is_secret = is_elaborate(word) && file_stem(word).is_none()
        || is_alone && is_made(word) && !is_identifier(word)
        || is_alone && !is_asked && !is_indented && is_word_with_number(word);
    let at = word.as_ptr() as usize - text.as_ptr() as usize;
    is_secret.then(|| at..at + word.len())
}

/// Returns whether a word is the name of a type or a function: `Login2Form`.
fn is_identifier(word: &str) -> bool {
    word.bytes().all(|byte| byte.is_ascii_alphanumeric())
        && word.ends_with(|letter: char| letter.is_alphabetic())
        && !is_scrambled(word)
}

/// Returns where the first line from `at` on starts that is neither blank nor the beginning of a block of code.
fn first_line_below(text: &str, at: usize) -> Option<usize> {
    let mut start = at;
    for line in text.get(at..)?.split_inclusive('\n').take(3) {
        let trimmed = line.trim();
        if !trimmed.is_empty() && !trimmed.starts_with("```") {
            return Some(start);
        }
        start += line.len();
    }
    None
}

/// Finds the answer to a question for a password, a PIN or a code: `"What is the password of the server?"="hunter-22"`.
pub(crate) fn answered(scan: &mut Scan<'_>, keyword: Range<usize>) {
    const MAX_QUESTION: usize = 320;
    const MAX_ANSWER: usize = 96;
    let text = scan.text;
    let from = text.floor_char_boundary(keyword.start.saturating_sub(MAX_QUESTION));
    let question = text[from..keyword.start].rsplit('"').next().unwrap_or_default();
    let question = question.to_lowercase();
    let to = text.floor_char_boundary(keyword.end.saturating_add(MAX_ANSWER));
    let Some((answer, _)) = text[keyword.end..to].split_once(['"', '\n']) else {
        return;
    };
    let asks_for = |words: &[&str]| {
        let name = |word: &str| question.contains(word.trim_end_matches([' ', ':', '=', '"', ',']));
        words.iter().any(|word| name(&word.to_lowercase()))
    };
    let is_about = || {
        let mut words = question.split(|letter: char| !letter.is_alphanumeric());
        YES_OR_NO.iter().any(|words| question.starts_with(words))
            || words.any(|word| OTHER_SUBJECTS.contains(&word) || word == "called")
    };
    let is_secret = asks_for(PASSWORD_WORDS) && !is_about() && {
        let is_straight = STRAIGHT.iter().any(|words| question.contains(words));
        is_answer(answer, is_straight)
    } || is_code(answer) && asks_for(CODE_WORDS);
    if is_secret {
        scan.found(
            "password",
            Certainty::Place,
            keyword.end..keyword.end + answer.len(),
        );
    }
}

/// Returns whether an answer is a password and no word, number, file, method or choice.
fn is_answer(answer: &str, is_straight: bool) -> bool {
    let has = |kind: fn(&u8) -> bool| answer.bytes().any(|byte| kind(&byte));
    let ending = answer.rsplit('.').next().unwrap_or_default();
    let is_file = file_stem(answer).is_some() && !ending.starts_with(char::is_uppercase);
    let joined = answer.contains(['.', '-', '_', '!', '#', '%', '&', '?', '+', '*'])
        && has(u8::is_ascii_uppercase)
        && has(u8::is_ascii_lowercase);
    (6..=64).contains(&answer.len())
        && !answer.contains(char::is_whitespace)
        && !answer.contains(['/', '\\', '(', '<', '{', '[', '$', '='])
        && has_letter(answer)
        && !is_stand_in(answer)
        && !is_uuid(answer)
        && !is_public_identifier(answer)
        && !is_algorithm(answer)
        && !is_file
        && (is_made(answer) || is_straight && (has_digit(answer) || joined && answer.len() >= 9))
}

#[cfg(test)]
mod tests {
    use crate::Redactor;

    #[test]
    fn a_password_below_its_name_is_found() {
        for (text, password) in [
            ("Username: jo\nPassword:\nMoos.Gabel-81", "Moos.Gabel-81"),
            (
                "root@10.3.0.4's password:\nzwetschgenknoedel9\nLast login: Mon",
                "zwetschgenknoedel9",
            ),
            (
                "das Passwort vom Drucker ist\nQuitte-17-Baum\nbitte",
                "Quitte-17-Baum",
            ),
            (
                "la contraseña del servidor es:\n\nTejado#rojo55\n",
                "Tejado#rojo55",
            ),
            ("the root password is\n```\nvole_Hinge62\n```", "vole_Hinge62"),
            ("hasło do bazy:\nbzowyklucz88\nuser: app", "bzowyklucz88"),
            ("パスワードは\nHinoki2-kaede", "Hinoki2-kaede"),
            (
                "Q: Which passphrase protects the key?\nA: roter-Kutter-9",
                "roter-Kutter-9",
            ),
        ] {
            let masked = Redactor::shared().redact(text);
            assert!(!masked.contains(password), "{masked}");
            assert_eq!(Redactor::shared().redact(&masked), masked, "twice");
        }
    }

    #[test]
    fn another_line_below_a_password_stays() {
        for text in [
            "Password:\nlogin failed",
            "password:\n  type: string\n  minLength: 12",
            "Password:\n# sudo rights come from /etc/sudoers.d/90-cloud-init",
            "ask for the password:\n1. show an eye icon\n2. limit to 128 characters",
            "root@10.3.0.4's password:\nWelcome to Ubuntu 24.04.1 LTS",
            "Enter passphrase for key '/home/jo/.ssh/id_ed25519':\nEverything up-to-date",
            "das Passwort ist\nan drei Stellen im Code fest verdrahtet",
            "passwords:\n- name: read-2024\n- name: write-2025",
            "Password:\nAuth2Factory.create()\nDone in 3.2s",
            "the hash of the password is\nsha256sum",
            "Where is the password?\nMoos.Gabel-81.txt has it",
        ] {
            assert_eq!(Redactor::shared().redact(text), text);
        }
    }

    #[test]
    fn the_answer_to_a_question_for_a_password_is_found() {
        for (question, answer) in [
            ("What is the password of the staging database?", "birke7falter"),
            ("Wie lautet das Passwort für den FTP-Zugang?", "Nelke.im.Topf"),
            ("Which password should the fixture use?", "Moos-gabel7"),
            ("¿Cuál es la contraseña?", "tejado55rojo"),
            ("Which PIN does the SIM have?", "4471"),
            ("What is the one-time code?", "482913"),
        ] {
            for text in [
                format!(
                    "User has answered your questions: \"{question}\"=\"{answer}\", \"Which folder?\"=\"htdocs\"."
                ),
                format!("{{\"answers\": {{\"{question}\": \"{answer}\"}}}}"),
            ] {
                let masked = Redactor::shared().redact(&text);
                assert!(!masked.contains(answer), "{masked}");
                assert_eq!(Redactor::shared().redact(&masked), masked, "twice");
            }
        }
    }

    #[test]
    fn another_answer_stays() {
        for text in [
            "\"Should the password be hashed with argon2id?\"=\"Yes, argon2id\"",
            "\"Which hash for the password?\"=\"argon2id\"",
            "\"Where is the password stored?\"=\"config/database.yml\"",
            "\"Where is the password checked?\"=\"Server-Side\"",
            "\"How long may the password be?\"=\"128 characters\", \"Which table?\"=\"users_v2\"",
            "\"Which token format?\"=\"JWT with RS256\"",
            "\"Which port?\"=\"482913\"",
        ] {
            assert_eq!(Redactor::shared().redact(text), text);
        }
    }
}
