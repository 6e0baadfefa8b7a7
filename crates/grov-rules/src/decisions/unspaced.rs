//! Decisions in Chinese and Japanese, which do not separate words.

use super::lexicon::{
    CHINESE_CAUSES, CHINESE_CHOICES, CHINESE_CONSEQUENCES, CHINESE_PROBLEMS, CHINESE_PURPOSES,
    JAPANESE_CAUSES, JAPANESE_CHOICES, JAPANESE_ENDINGS, JAPANESE_PROBLEMS, UNSPACED_DECIDED,
};
use super::{Candidate, Context, Source};

/// Marks between clauses.
const PAUSES: &[char] = &['，', '、', ',', '；', '。', '：', ':', '（', '('];

fn has(table: &[&str], text: &str) -> bool {
    table.iter().any(|entry| text.contains(entry))
}

fn is_japanese(text: &str) -> bool {
    text.chars()
        .any(|letter| matches!(letter, '\u{3041}'..='\u{30ff}'))
}

/// Whether a text states a choice.
pub(super) fn is_choice(text: &str) -> bool {
    if is_japanese(text) {
        has(JAPANESE_CHOICES, text) && !has(JAPANESE_PROBLEMS, text)
    } else {
        has(CHINESE_CHOICES, text) && !has(CHINESE_PROBLEMS, text)
    }
}

/// The decision in a sentence, or in it and the `next` one.
pub(super) fn decision(text: &str, next: Option<&str>, context: Context) -> Option<Candidate> {
    let found = if is_japanese(text) {
        japanese(text, next, context)
    } else {
        chinese(text, next, context)
    };
    found.map(|(choice, reason)| Candidate {
        choice: choice.to_owned(),
        reason: reason.to_owned(),
        weight: 2,
    })
}

/// The decision in the user's answer to a question.
pub(super) fn answer(text: &str) -> Option<Candidate> {
    let text = text.trim();
    let at = text.find(PAUSES)?;
    let reason = text[at..].trim_start_matches(PAUSES).trim();
    let reason = CHINESE_CAUSES
        .iter()
        .find_map(|cause| reason.strip_prefix(cause))
        .unwrap_or(reason);
    let long = reason
        .chars()
        .filter(|letter| super::is_unspaced(*letter))
        .count()
        >= 4;
    long.then(|| Candidate {
        choice: text[..at].to_owned(),
        reason: reason.to_owned(),
        weight: 3,
    })
}

/// The first of these entries in a text: its offset and its length.
fn first(table: &[&str], text: &str) -> Option<(usize, usize)> {
    let places = table
        .iter()
        .filter_map(|entry| Some((text.find(entry)?, entry.len())));
    places.min_by_key(|(at, length)| (*at, std::cmp::Reverse(*length)))
}

/// How who made the work states what it does: "我们按 LRU 淘汰", "LRUで追い出します".
fn states_deed(choice: &str) -> bool {
    let mut rest = choice.trim_end_matches(['。', '，', '、', ',', ' ']);
    if is_japanese(choice) {
        let has_subject = choice.contains('が') || choice.contains('は');
        return ["します", "しました", "しています"]
            .iter()
            .any(|ending| rest.ends_with(ending))
            && !has_subject
            && !has(JAPANESE_PROBLEMS, choice);
    }
    let Some(deed) = ["我们", "咱们", "我"]
        .iter()
        .find_map(|maker| rest.strip_prefix(maker))
    else {
        return false;
    };
    rest = deed.trim_start();
    !has(CHINESE_PROBLEMS, choice)
        && ![
            "认为", "觉得", "看到", "发现", "需要", "想", "可以", "应该", "建议", "不能", "无法", "遇到",
            "在",
        ]
        .iter()
        .any(|verb| rest.starts_with(verb))
}

fn chinese<'t>(text: &'t str, next: Option<&'t str>, context: Context) -> Option<(&'t str, &'t str)> {
    let accepts = |choice: &str| {
        context.is_announced
            || is_choice(choice)
            || context.is_report && states_deed(choice)
            || context.source == Source::Prompt && choice.chars().any(|letter| letter.is_ascii_digit())
    };
    if let Some((at, length)) = first(CHINESE_CAUSES, text) {
        let reason = &text[at + length..];
        if text[..at].chars().count() <= 2 {
            // "因为 …，所以 …": the reason comes first.
            let end = reason.find(['，', ',', '；'])?;
            let choice = reason[end..].trim_start_matches(['，', ',', '；', ' ']);
            let choice = CHINESE_CONSEQUENCES
                .iter()
                .find_map(|word| choice.strip_prefix(word))
                .unwrap_or(choice);
            return accepts(choice).then_some((choice, &reason[..end]));
        }
        return accepts(&text[..at]).then_some((&text[..at], reason));
    }
    if let Some((at, length)) = first(CHINESE_CONSEQUENCES, text)
        && at > 0
    {
        let choice = text[at + length..].trim_start_matches(['，', ',']);
        return is_choice(choice).then_some((choice, &text[..at]));
    }
    // "If it is empty, show the default, else …" describes what the program does.
    let is_condition = has(&["如果", "若", "当", "時", "时，"], text) && context.source != Source::Prompt;
    if let Some((at, _)) = first(CHINESE_PURPOSES, text)
        && text[..at].chars().count() > 4
        && (!is_condition || context.is_announced)
    {
        return accepts(&text[..at]).then_some((&text[..at], &text[at..]));
    }
    // "用 pnpm，我们的磁盘太小".
    if let Some((at, _)) = first(&["，我们", "，咱们", "，客户", "，用户", "，公司"], text)
        && context.source == Source::Prompt
        && is_choice(&text[..at])
    {
        return Some((&text[..at], &text[at..]));
    }
    // "没用 GPG：服务器上…", "保留 gp3（io2 贵三倍）".
    if let Some(at) = text.find(['：', '（', '—'])
        && is_choice(&text[..at])
        && (context.is_announced || has(UNSPACED_DECIDED, &text[..at]))
        && text[at..]
            .chars()
            .filter(|letter| super::is_unspaced(*letter))
            .count()
            >= 6
    {
        return Some((&text[..at], &text[at..]));
    }
    let next = next.filter(|next| !is_japanese(next))?;
    let opener = CHINESE_CAUSES
        .iter()
        .chain(CHINESE_PURPOSES)
        .find(|word| next.starts_with(**word))?;
    accepts(text).then(|| (text, next.trim_start_matches(opener)))
}

fn japanese<'t>(text: &'t str, next: Option<&'t str>, context: Context) -> Option<(&'t str, &'t str)> {
    let accepts = |choice: &str| {
        context.is_announced
            || is_choice(choice)
            || context.is_report && states_deed(choice)
            || context.source == Source::Prompt && choice.chars().any(|letter| letter.is_ascii_digit())
    };
    let whole = text.trim_end_matches(['。', '.', '！']);
    let gives_reason = |sentence: &str| {
        let sentence = sentence.trim_end_matches(['。', '.', '！', '）', ')']);
        JAPANESE_ENDINGS.iter().any(|ending| sentence.ends_with(ending))
    };
    if gives_reason(whole) {
        // "Aにしたのは、Bためです", "Aです（Bため）".
        let at = first(&["のは、", "のは", "理由は、", "理由は", "（", "：", "—"], whole);
        let (at, length) = at.filter(|(at, _)| *at > 0)?;
        let choice = &whole[..at];
        let is_aside = whole[at..].starts_with('（') && !has(JAPANESE_PROBLEMS, choice);
        return (is_aside || accepts(choice)).then_some((choice, &whole[at + length..]));
    }
    if let Some((at, length)) = first(JAPANESE_CAUSES, whole) {
        let (reason, choice) = whole.split_at(at + length);
        if choice.chars().count() >= 4 && accepts(choice) {
            return Some((choice, reason));
        }
    }
    // "GPGは使わない：サーバーの…".
    if let Some(at) = whole.find(['：', '（', '—'])
        && accepts(&whole[..at])
        && (context.is_announced || has(UNSPACED_DECIDED, &whole[..at]))
        && whole[at..]
            .chars()
            .filter(|letter| super::is_unspaced(*letter))
            .count()
            >= 6
        && (context.is_announced || context.source != Source::Prompt)
    {
        return Some((&whole[..at], &whole[at..]));
    }
    let next = next.filter(|next| gives_reason(next))?;
    // An action or an order that the next sentence explains.
    let acts = match context.source {
        Source::Prompt => ["て", "ください", "下さい", "てね"]
            .iter()
            .any(|ending| whole.ends_with(ending)),
        _ => whole.ends_with("ました") && !whole.ends_with("ていました"),
    };
    let is_choice = has(JAPANESE_CHOICES, whole) || acts;
    (is_choice && !has(JAPANESE_PROBLEMS, whole)).then_some((whole, next))
}
