//! Recognises requests to remember something.

use crate::chat::draft::{Draft, DraftCall, DraftDecision, MemoryRequest};
use crate::tool::MAX_CONTENT_CHARS;
use crate::tool_call::PROPOSE_ADD;
use crate::{MemoryType, Risk, phrases};
use serde_json::json;

/// Beginnings of such requests, in lower case. What follows is remembered.
const BEGINNINGS: &str = "
please remember that | please remember: | remember that | remember: | remember this:
please note that | note that | keep in mind that | for the record: | merk dir, dass | merk dir dass
merk dir bitte, dass | merk dir: | merke dir, dass | merke dir: | bitte merk dir, dass
bitte merken: | merken: | notiere, dass | notiere: | souviens-toi que | souviens-toi :
souviens-toi: | retiens que | retiens : | retiens: | note que | notez que | recuerda que | recuerda:
anota que | anota: | ten en cuenta que | lembra que | lembre-se de que | lembre-se que
lembra-te de que | lembra-te que | anote que | anote: | ricorda che | ricordati che | ricorda:
onthoud dat | onthoud: | zapamiętaj, że | zapamiętaj: | zapisz, że | запам'ятай, що | запам’ятай, що
запам'ятай: | запомни, что | запомни: | şunu hatırla: | unutma: | şunu not et: | not et:
aklında tut: | تذكر أن | تذكّر أن | سجل أن | 请记住 | 请记住： | 记住： | 记住: | 记住 | 覚えておいて： | 覚えておいて:
覚えておいてください： | メモして： | メモ： | 기억해: | 기억해 줘:
";

/// Endings of such requests, in languages whose verb comes last. What precedes is remembered.
const ENDINGS: &str = "
ことを覚えておいてください | ことを覚えておいて | と覚えておいてください | と覚えておいて | を覚えておいてください | を覚えておいて | olduğunu hatırla
olduğunu unutma | 기억해 줘 | 기억해줘
";

/// Words that make what is remembered a rule, a decision or a preference.
const KINDS: [(MemoryType, &str); 3] = [
    (
        MemoryType::Decision,
        "we decided | we agreed | wir haben entschieden | wir haben beschlossen | nous avons décidé
         hemos decidido | decidimos | abbiamo deciso | zdecydowaliśmy | ми вирішили | мы решили
         karar verdik | 决定 | 決め",
    ),
    (
        MemoryType::Preference,
        "i prefer | i like | ich bevorzuge | ich mag | je préfère | prefiero | prefiro | preferisco
         wolę | tercih ederim",
    ),
    (
        MemoryType::Rule,
        "always | never | must | immer | niemals | müssen | toujours | jamais | siempre | nunca
         sempre | zawsze | nigdy | завжди | ніколи | всегда | никогда | her zaman | asla | 必须 | 总是
         必ず",
    ),
];

/// Returns the proposal that a message asks for. Its words are those of the message, its type follows from words such as
/// `we decided` or `always`, and is `fact` otherwise.
pub(super) fn proposal(message: &str) -> Option<Draft> {
    let content = remembered(message.trim())?;
    let kind = kind_of(content);
    let phrases = phrases::of(message);
    let call = DraftCall {
        name: PROPOSE_ADD.to_owned(),
        arguments: json!({"type": kind, "content": content}),
        reason: phrases.asked.to_owned(),
        requires_approval: true,
        risk: Risk::Low,
        memory: Some(MemoryRequest::Add {
            kind,
            content: content.to_owned(),
            ttl: None,
            evidence: Vec::new(),
        }),
    };
    Some(super::plain(DraftDecision::Act {
        calls: vec![call],
        message: phrases.remember.replace("{kind}", kind.as_str()),
    }))
}

fn kind_of(content: &str) -> MemoryType {
    let lower = content.to_lowercase();
    let has = |phrase: &str| {
        lower.match_indices(phrase).any(|(at, _)| {
            let touches = |letter: Option<char>| {
                letter.is_some_and(|letter| letter.is_alphanumeric() && !grov_redact::is_unspaced(letter))
            };
            phrase.starts_with(grov_redact::is_unspaced)
                || !(touches(lower[..at].chars().next_back())
                    || touches(lower[at + phrase.len()..].chars().next()))
        })
    };
    let found = KINDS.iter().find(|(_, phrases)| each(phrases).any(has));
    found.map_or(MemoryType::Fact, |(kind, _)| *kind)
}

/// Returns the phrases of a list, which are divided by lines and bars.
fn each(phrases: &'static str) -> impl Iterator<Item = &'static str> {
    phrases
        .split(['|', '\n'])
        .map(str::trim)
        .filter(|phrase| !phrase.is_empty())
}

fn remembered(message: &str) -> Option<&str> {
    if message.ends_with(['?', '？', '؟']) {
        return None;
    }
    let content = each(BEGINNINGS)
        .filter_map(|beginning| after(message, beginning))
        .chain(each(ENDINGS).filter_map(|ending| {
            message
                .trim_end_matches(['.', '。', '!', '！'])
                .strip_suffix(ending)
        }))
        .min_by_key(|content| content.len())?;
    let content = content
        .trim()
        .trim_start_matches([':', '：', ',', '，', '、'])
        .trim();
    (4..=MAX_CONTENT_CHARS)
        .contains(&content.chars().count())
        .then_some(content)
}

/// Returns what follows a beginning, whatever its case.
fn after<'m>(message: &'m str, beginning: &str) -> Option<&'m str> {
    let mut letters = message.char_indices();
    for expected in beginning.chars() {
        let (_, letter) = letters.next()?;
        let same = letter == expected || letter.to_lowercase().eq(std::iter::once(expected));
        if !same {
            return None;
        }
    }
    let rest = letters.as_str();
    let is_word = beginning
        .chars()
        .next_back()
        .is_some_and(|last| last.is_alphabetic() && !grov_redact::is_unspaced(last));
    let ends = !is_word || rest.chars().next().is_none_or(|next| !next.is_alphanumeric());
    ends.then_some(rest)
}
