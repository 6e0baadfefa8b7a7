//! Phrases that give orders, as words in a sentence with a few others between them.

use super::SuspicionKind;
use crate::quote::is_hidden;

/// A word that is one of several, at most so many words behind the one before it. The first one's number is how far from
/// the sentence's beginning it may stand.
struct Slot(usize, &'static [&'static str]);

/// Words in this order in one sentence.
struct Phrase {
    kind: SuspicionKind,
    slots: &'static [Slot],
}

const ANYWHERE: usize = usize::MAX;

const PHRASES: &[Phrase] = &[
    order(&[
        Slot(ANYWHERE, &["ignore", "disregard", "forget", "discard"]),
        Slot(
            3,
            &[
                "previous",
                "prior",
                "above",
                "earlier",
                "preceding",
                "foregoing",
                "your",
                "system",
                "all",
                "any",
                "other",
            ],
        ),
        Slot(2, &["instructions", "prompt", "prompts", "directives"]),
    ]),
    order(&[
        Slot(1, &["ignore", "disregard", "forget", "override", "bypass"]),
        Slot(2, &["your", "previous", "prior", "all"]),
        Slot(
            2,
            &[
                "rules",
                "guidelines",
                "guardrails",
                "training",
                "programming",
                "restrictions",
            ],
        ),
        Slot(2, &["and", "you", "now", "that", "given", "above"]),
    ]),
    order(&[
        Slot(1, &["override", "bypass"]),
        Slot(2, &["your", "previous", "system", "safety"]),
        Slot(2, &["instructions", "prompt", "guidelines", "guardrails"]),
    ]),
    order(&[
        Slot(ANYWHERE, &["you"]),
        Slot(0, &["are"]),
        Slot(1, &["an", "a", "the", "now", "no"]),
        Slot(
            3,
            &[
                "ai",
                "assistant",
                "claude",
                "chatgpt",
                "dan",
                "jailbroken",
                "unrestricted",
                "chatbot",
                "longer",
            ],
        ),
    ]),
    order(&[
        Slot(1, &["from"]),
        Slot(0, &["now"]),
        Slot(0, &["on"]),
        Slot(1, &["you", "your", "obey", "ignore"]),
    ]),
    order(&[
        Slot(2, &["new", "updated", "real", "actual", "secret", "hidden"]),
        Slot(1, &["instructions", "instruction", "directive"]),
        Slot(
            3,
            &["you", "ignore", "assistant", "claude", "agent", "ai", "model"],
        ),
    ]),
    order(&[
        Slot(ANYWHERE, &["act", "behave", "pretend", "roleplay"]),
        Slot(1, &["as", "to"]),
        Slot(3, &["unrestricted", "jailbroken", "dan", "uncensored"]),
    ]),
    order(&[
        Slot(ANYWHERE, &["not", "dont", "never", "without"]),
        Slot(
            1,
            &[
                "tell",
                "telling",
                "inform",
                "informing",
                "mention",
                "mentioning",
                "reveal",
                "revealing",
                "disclose",
            ],
        ),
        Slot(2, &["this", "these", "that"]),
        Slot(5, &["user", "human", "developer", "anyone", "anybody"]),
    ]),
    order(&[
        Slot(ANYWHERE, &["not", "dont", "never", "without"]),
        Slot(
            1,
            &[
                "tell",
                "telling",
                "inform",
                "informing",
                "alert",
                "alerting",
                "notify",
                "notifying",
            ],
        ),
        Slot(2, &["user", "human", "developer", "anyone", "anybody"]),
        Slot(2, &["this", "these", "instruction", "instructions"]),
    ]),
    order(&[
        Slot(
            1,
            &["reveal", "print", "repeat", "output", "leak", "show", "disclose"],
        ),
        Slot(2, &["your"]),
        Slot(2, &["prompt", "instructions"]),
    ]),
    order(&[
        Slot(ANYWHERE, &["you", "assistant", "claude", "agent", "ai", "model"]),
        Slot(1, &["must", "should", "shall", "will"]),
        Slot(3, &["obey", "comply"]),
    ]),
    order(&[
        Slot(
            2,
            &[
                "you",
                "assistant",
                "claude",
                "now",
                "immediately",
                "please",
                "always",
                "first",
            ],
        ),
        Slot(4, &["run", "execute"]),
        Slot(3, &["rm"]),
        Slot(0, &["-rf", "-fr", "-r"]),
        Slot(1, &["/", "~", "~/", "$home", "/*", "--no-preserve-root"]),
    ]),
    // The same in other languages.
    order(&[
        Slot(
            2,
            &[
                "ignoriere",
                "ignorier",
                "ignorieren",
                "missachte",
                "vergiss",
                "vergessen",
            ],
        ),
        Slot(
            3,
            &[
                "vorherigen",
                "bisherigen",
                "vorigen",
                "früheren",
                "obigen",
                "deine",
            ],
        ),
        Slot(2, &["anweisungen", "anweisung", "instruktionen", "vorgaben"]),
    ]),
    order(&[
        Slot(
            2,
            &[
                "ignore",
                "ignorez",
                "ignorer",
                "oublie",
                "oubliez",
                "ignora",
                "ignorar",
                "olvida",
                "ignorate",
                "dimentica",
                "esqueça",
            ],
        ),
        Slot(
            3,
            &[
                "instructions",
                "consignes",
                "instrucciones",
                "instruções",
                "istruzioni",
            ],
        ),
        Slot(
            2,
            &[
                "précédentes",
                "antérieures",
                "anteriores",
                "previas",
                "precedenti",
                "ci-dessus",
            ],
        ),
    ]),
    order(&[
        Slot(2, &["игнорируй", "игнорируйте", "забудь", "забудьте", "ігноруй"]),
        Slot(2, &["предыдущие", "прежние", "прошлые", "попередні", "все"]),
        Slot(2, &["инструкции", "указания", "інструкції"]),
    ]),
    leak(&[
        Slot(
            ANYWHERE,
            &[
                "send",
                "post",
                "upload",
                "exfiltrate",
                "leak",
                "forward",
                "email",
                "transmit",
                "publish",
                "paste",
                "curl",
            ],
        ),
        Slot(
            4,
            &[
                "your",
                "users",
                "user's",
                "all",
                "any",
                "every",
                "my",
                "developers",
                "these",
                "aws",
                "env",
                "ssh",
            ],
        ),
        Slot(
            3,
            &[
                "credentials",
                "credential",
                "secrets",
                "secret",
                "passwords",
                "api-keys",
                "keys",
                "tokens",
                "variables",
            ],
        ),
        Slot(6, &["http*", "webhook", "pastebin", "gist", "@*"]),
    ]),
    leak(&[
        Slot(
            ANYWHERE,
            &[
                "send",
                "post",
                "upload",
                "exfiltrate",
                "leak",
                "forward",
                "email",
                "transmit",
                "publish",
                "paste",
                "curl",
            ],
        ),
        Slot(
            5,
            &[
                ".env",
                "~/.ssh",
                "id_rsa",
                "~/.ssh/id_rsa",
                "~/.aws/credentials",
                "~/.aws",
                "/etc/passwd",
                "/etc/shadow",
            ],
        ),
        Slot(6, &["http*", "webhook", "pastebin", "gist", "@*"]),
    ]),
    leak(&[
        Slot(
            ANYWHERE,
            &[
                "read", "cat", "print", "include", "paste", "append", "put", "add", "copy", "show",
            ],
        ),
        Slot(
            4,
            &[
                ".env",
                "~/.ssh",
                "id_rsa",
                "~/.ssh/id_rsa",
                "~/.aws/credentials",
                "/etc/shadow",
            ],
        ),
        Slot(
            6,
            &[
                "response", "reply", "answer", "comment", "commit", "pr", "chat", "url", "http*",
            ],
        ),
    ]),
    Phrase {
        kind: SuspicionKind::Exfiltration,
        slots: &[
            Slot(ANYWHERE, &["exfiltrate"]),
            Slot(5, &["data", "secrets", "credentials", "code", "keys", "source"]),
        ],
    },
    unchecked(&[
        Slot(ANYWHERE, &["always", "must", "should", "please", "you"]),
        Slot(3, &["use", "pass", "commit", "push", "run", "add", "start"]),
        Slot(
            5,
            &[
                "--no-verify",
                "--dangerously-skip-permissions",
                "--yolo",
                "--no-gpg-sign",
            ],
        ),
    ]),
    unchecked(&[
        Slot(2, &["not", "dont", "never", "without"]),
        Slot(1, &["ask", "asking", "request", "requesting", "wait", "waiting"]),
        Slot(4, &["permission", "approval", "consent"]),
    ]),
    unchecked(&[
        Slot(1, &["disable", "skip", "bypass", "circumvent"]),
        Slot(
            2,
            &["all", "any", "every", "your", "safety", "security", "permission"],
        ),
        Slot(
            1,
            &[
                "checks",
                "hooks",
                "guards",
                "guardrails",
                "prompts",
                "permissions",
                "safeguards",
                "reviews",
            ],
        ),
    ]),
];

const fn order(slots: &'static [Slot]) -> Phrase {
    Phrase {
        kind: SuspicionKind::Order,
        slots,
    }
}

const fn leak(slots: &'static [Slot]) -> Phrase {
    Phrase {
        kind: SuspicionKind::Exfiltration,
        slots,
    }
}

const fn unchecked(slots: &'static [Slot]) -> Phrase {
    Phrase {
        kind: SuspicionKind::Unchecked,
        slots,
    }
}

/// The same in scripts without spaces, as pieces in this order in one sentence.
const UNSPACED: &[&[&str]] = &[
    &["忽略", "指令"],
    &["忽略", "指示"],
    &["忽略", "提示词"],
    &["无视", "指令"],
    &["無視", "指令"],
    &["忘记", "之前", "指令"],
    &["指示", "無視し"],
    &["指示を無視"],
    &["命令を無視"],
    &["이전", "지시", "무시"],
    &["지침", "무시"],
];

/// What a reader sees of a text: in lower case, letters of other alphabets and widths that look like Latin ones
/// replaced, hidden characters gone, one space between words and one line a sentence.
pub(super) struct Visible {
    text: String,
    /// For each byte of a word's beginning in `text`, where the word begins in the original: pairs, ascending.
    origins: Vec<(usize, usize)>,
}

impl Visible {
    pub(super) fn of(original: &str) -> Self {
        let mut visible = Self {
            text: String::with_capacity(original.len()),
            origins: Vec::new(),
        };
        let mut word = String::new();
        let mut start = 0;
        for (at, character) in original.char_indices().chain([(original.len(), '\n')]) {
            if is_hidden(character) {
                continue;
            }
            let character = narrow(character);
            if is_of_a_word(character) {
                if word.is_empty() {
                    start = at;
                }
                if character != '\'' && character != '\u{2019}' {
                    word.extend(character.to_lowercase());
                }
                continue;
            }
            // A dot ends a sentence at the end of a word; inside it is part of a name.
            let stop =
                word.ends_with('.') || matches!(character, '!' | '?' | ';' | '\n' | '。' | '！' | '？');
            let bare = word.trim_end_matches(['.', ':', ',', '-']);
            if !bare.is_empty() {
                if !visible.text.is_empty() && !visible.text.ends_with('\n') {
                    visible.text.push(' ');
                }
                visible.origins.push((visible.text.len(), start));
                visible.push_word(bare);
            }
            word.clear();
            if stop && !visible.text.ends_with('\n') {
                visible.text.push('\n');
            }
        }
        visible
    }

    /// Adds a word. One that mixes Latin letters with look-alikes is read as Latin.
    fn push_word(&mut self, word: &str) {
        if !word.is_ascii() && word.contains(|character: char| character.is_ascii_alphabetic()) {
            self.text.extend(word.chars().map(look_alike));
        } else {
            self.text.push_str(word);
        }
    }

    /// Each kind of phrase that is there, with its first place in the original.
    pub(super) fn phrases(&self) -> Vec<(SuspicionKind, usize)> {
        let mut found = Vec::new();
        let mut from = 0;
        for sentence in self.text.split_inclusive('\n') {
            let words: Vec<&str> = sentence.split_whitespace().collect();
            for phrase in PHRASES {
                if let Some(at) = phrase.stands_in(&words) {
                    // The words are slices of the text.
                    let place = from + words.iter().take(at).map(|word| word.len() + 1).sum::<usize>();
                    found.push((phrase.kind, self.origin(place)));
                }
            }
            if !sentence.is_ascii() && UNSPACED.iter().any(|pieces| stand_in_order(pieces, sentence)) {
                found.push((SuspicionKind::Order, self.origin(from)));
            }
            from += sentence.len();
        }
        found
    }

    fn origin(&self, place: usize) -> usize {
        let next = self.origins.partition_point(|(seen, _)| *seen <= place);
        next.checked_sub(1)
            .and_then(|index| self.origins.get(index))
            .map_or(0, |(_, original)| *original)
    }
}

impl Phrase {
    /// The number of the word with which the phrase begins.
    fn stands_in(&self, words: &[&str]) -> Option<usize> {
        let (Slot(reach, alternatives), rest) = self.slots.split_first()?;
        (0..words.len()).take(reach.saturating_add(1)).find(|&at| {
            matches(words[at], alternatives) && !is_negated(words, at) && follow(rest, words, at + 1)
        })
    }
}

/// Whether the slots can be filled from the words that begin at `from`.
fn follow(slots: &[Slot], words: &[&str], from: usize) -> bool {
    let Some((Slot(reach, alternatives), rest)) = slots.split_first() else {
        return true;
    };
    (from..words.len())
        .take(reach + 1)
        .any(|at| matches(words[at], alternatives) && follow(rest, words, at + 1))
}

/// Whether a word is one of these; `*` at the end of one stands for more, at its beginning for an address.
fn matches(word: &str, alternatives: &[&str]) -> bool {
    alternatives.iter().any(|one| match one.strip_suffix('*') {
        Some("@") => word.contains('@') && word.contains('.'),
        Some("http") => word.contains("http://") || word.contains("https://"),
        Some(beginning) => word.starts_with(beginning),
        None => word == *one,
    })
}

/// "Never ignore previous instructions" and "must not …" are no such order.
fn is_negated(words: &[&str], at: usize) -> bool {
    let before = at.checked_sub(1).and_then(|before| words.get(before));
    before.is_some_and(|word| ["not", "never", "dont", "cannot", "doesnt", "wont", "shouldnt"].contains(word))
}

fn stand_in_order(pieces: &[&str], sentence: &str) -> bool {
    let mut rest = sentence;
    pieces.iter().all(|piece| match rest.find(piece) {
        Some(at) => {
            rest = &rest[at + piece.len()..];
            true
        }
        None => false,
    })
}

fn is_of_a_word(character: char) -> bool {
    character.is_alphanumeric() || "'_-./~@:$*".contains(character) || character == '\u{2019}'
}

/// Full-width letters as ordinary ones.
fn narrow(character: char) -> char {
    match character {
        '\u{ff01}'..='\u{ff5e}' => char::from_u32(u32::from(character) - 0xfee0).unwrap_or(character),
        _ => character,
    }
}

/// A lower-case letter of another alphabet as the Latin one that it looks like.
fn look_alike(character: char) -> char {
    match character {
        'а' | 'α' => 'a',
        'е' | 'ε' => 'e',
        'о' | 'ο' => 'o',
        'р' | 'ρ' => 'p',
        'с' => 'c',
        'у' => 'y',
        'х' => 'x',
        'і' | 'ι' => 'i',
        'ѕ' => 's',
        'ј' => 'j',
        'ν' => 'v',
        'ԁ' => 'd',
        'һ' => 'h',
        _ => character,
    }
}
