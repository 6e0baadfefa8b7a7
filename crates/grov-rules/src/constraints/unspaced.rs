//! Finds constraints in Chinese and Japanese, which do not separate words.
//!
//! A constraint is a clause between punctuation marks that contains a cue.

use grov_scope::phrases::{Cue, Languages, Phrases};

/// Punctuation between clauses. In Chinese, `、` separates the items of a list only.
const MARKS: &[char] = &[
    '。', '，', '；', '！', '？', '：', '!', '?', ';', '\n', '（', '）', '(', ')',
];

/// The most letters of an object before a Chinese prohibition.
const MAX_OBJECT: usize = 14;

/// What may follow a Japanese prohibition.
const MAX_POLITENESS: usize = 30;

/// Words of which "别" is a part, and the others that contain a cue by chance.
#[rustfmt::skip]
const PARTS: &[&str] = &[
    "不只", "不动产", "个别", "分别", "别人", "别名", "别的地方", "别墅", "别称", "区别", "只会", "只剩", "只好", "只是",
    "只有", "只能看到", "只要", "性别", "特别", "类别", "级别", "识别", "辨别", "删除", "去除", "排除", "清除", "移除", "解除", "除了问题",
];

/// A clause as a byte range.
#[derive(Clone, Copy, Debug)]
struct Clause {
    from: usize,
    to: usize,
    /// It is a question.
    asks: bool,
}

/// The constraints in a sentence as byte ranges, in order. `is_quoted` tells whether an offset is quoted.
pub(super) fn find(
    sentence: &str,
    languages: Languages,
    is_quoted: &dyn Fn(usize) -> bool,
) -> Vec<(usize, usize)> {
    let mut found: Vec<(usize, usize)> = Vec::new();
    for table in languages.tables().filter(|table| table.is_unspaced) {
        let japanese = table.cues.entries().iter().any(|(entry, _)| *entry == "ないで");
        let clauses = split(sentence, japanese);
        let mut taken = 0;
        for (index, clause) in clauses.iter().enumerate() {
            let text = &sentence[clause.from..clause.to];
            // "不要な" is a word for things, which are to be removed.
            let is_stated = || {
                japanese
                    && !text.contains("不要")
                    && grov_scope::ReadClause::new(text, languages).states_limit(false)
            };
            if clause.from < taken || clause.asks || !is_constraint(text, table, japanese) && !is_stated() {
                continue;
            }
            let cue = first_cue(text, table).map_or(0, |(at, _)| at);
            if is_quoted(clause.from + cue) {
                continue;
            }
            let mut to = clause.to;
            // "除了 X，其他都不要动": the exception and what it excepts from.
            let excepts = matches!(first_cue(text, table), Some((_, Cue::Except)));
            // "packages/ui 以外的文件都不能改" says both.
            let rest = first_cue(text, table).map_or("", |(at, _)| {
                text[at..].trim_start_matches(['以', '之', '外', '除', '了'])
            });
            if !japanese && excepts && !has_cue(rest, table) && !text.ends_with("除外") {
                match clauses.get(index + 1) {
                    Some(next) if has_cue(&sentence[next.from..next.to], table) => to = next.to,
                    _ => continue,
                }
            }
            // "a.py を変更せずに b.py を直して": what follows is the work.
            let work = ["せずに", "しないで"]
                .iter()
                .find_map(|cue| text.find(cue).map(|at| at + cue.len()));
            if let Some(at) = work.filter(|at| japanese && text.len() - at > MAX_POLITENESS) {
                to = clause.from + at;
            }
            let from = topic(sentence, &clauses, index, japanese);
            found.push((from, to));
            taken = to;
        }
    }
    found
}

fn split(sentence: &str, japanese: bool) -> Vec<Clause> {
    let mut clauses = Vec::new();
    let mut from = 0;
    let mut push = |from: usize, to: usize, asks: bool| {
        let text = &sentence[from..to];
        let start = from + text.len() - text.trim_start_matches([' ', '、', ',']).len();
        let to = start + sentence[start..to].trim_end().len();
        if start < to {
            clauses.push(Clause {
                from: start,
                to,
                asks,
            });
        }
    };
    let mut letters = sentence.char_indices().peekable();
    while let Some((at, letter)) = letters.next() {
        let comma = letter == ',' && letters.peek().is_none_or(|(_, next)| !next.is_ascii_digit());
        if comma || MARKS.contains(&letter) || japanese && letter == '、' {
            push(from, at, matches!(letter, '？' | '?'));
            from = at + letter.len_utf8();
        }
    }
    push(from, sentence.len(), false);
    clauses
}

/// The start of a clause with the topic that a comma separates from it: "テストは、変更しないで".
fn topic(sentence: &str, clauses: &[Clause], index: usize, japanese: bool) -> usize {
    let from = clauses[index].from;
    let Some(before) = index.checked_sub(1).map(|index| clauses[index]) else {
        return from;
    };
    let text = &sentence[before.from..before.to];
    let joined = sentence[before.to..from].contains(['、', '，', ',']);
    let is_topic = japanese && text.ends_with(['は', 'も', 'を', 'に']) && text.chars().count() <= 24;
    if joined && is_topic { before.from } else { from }
}

/// The first cue in a text: its offset and kind. Longer cues count first.
fn first_cue(text: &str, table: &Phrases) -> Option<(usize, Cue)> {
    let mut at = 0;
    while at < text.len() {
        let rest = &text[at..];
        let around = &text[text.floor_char_boundary(at.saturating_sub(3))..];
        if let Some(part) = PARTS
            .iter()
            .find(|part| rest.starts_with(**part) || around.starts_with(**part))
        {
            let start = if rest.starts_with(*part) {
                at
            } else {
                text.floor_char_boundary(at.saturating_sub(3))
            };
            at = (start + part.len()).max(at + 1);
            at = text.ceil_char_boundary(at);
            continue;
        }
        if let Some((_, cue)) = table.cues.before(rest) {
            return Some((at, cue));
        }
        at += rest.chars().next().map_or(1, char::len_utf8);
    }
    None
}

fn has_cue(text: &str, table: &Phrases) -> bool {
    first_cue(text, table).is_some()
}

fn contains_any(text: &str, entries: &[&str]) -> bool {
    entries.iter().any(|entry| text.contains(entry))
}

/// Whether a clause is a constraint.
fn is_constraint(text: &str, table: &Phrases, japanese: bool) -> bool {
    let excepts = matches!(first_cue(text, table), Some((0, Cue::Except)));
    if !excepts && contains_any(text, table.permissions.entries()) {
        return false;
    }
    let mut at = 0;
    while let Some((offset, cue)) = first_cue(&text[at..], table) {
        let here = at + offset;
        let length = table.cues.before(&text[here..]).map_or(1, |(length, _)| length);
        let (before, behind) = (&text[..here], &text[here + length..]);
        let opens = if japanese {
            opens_japanese(text, before, &text[here..here + length], behind, cue, table)
        } else {
            opens_chinese(text, before, &text[here..here + length], behind, cue, table)
        };
        if opens {
            return true;
        }
        at = here + length;
    }
    false
}

fn opens_chinese(text: &str, before: &str, cue: &str, behind: &str, kind: Cue, table: &Phrases) -> bool {
    if contains_any(text, table.narrating.entries()) {
        return false;
    }
    let lead = before.trim_start_matches([
        '也', '并', '且', '但', '而', '请', '都', '还', '就', '又', '是', '先', '同', '时', '另', '外', '千',
        '万', ' ', '绝', '对', '可', '注', '意', '记', '得',
    ]);
    match kind {
        // "后端接口不能改": the object stands before.
        Cue::Prohibition
            if behind.is_empty()
                && matches!(
                    cue,
                    "不能改"
                        | "不能动"
                        | "不能碰"
                        | "不能变"
                        | "不准"
                        | "不许"
                        | "别动"
                        | "别改"
                        | "不要动"
                        | "不要改"
                ) =>
        {
            !lead.is_empty() && letters(lead) <= MAX_OBJECT
        }
        // "api/orders.go 不许改"
        Cue::Prohibition
            if matches!(
                cue,
                "不许" | "不准" | "不得" | "不可" | "不能" | "不要" | "别" | "禁止"
            ) && matches!(
                behind.trim(),
                "改" | "动" | "碰" | "变" | "修改" | "改动" | "编辑" | "更改"
            ) =>
        {
            !lead.is_empty() && letters(lead) <= MAX_OBJECT || lead.is_empty()
        }
        // "不加 X" describes anywhere else.
        Cue::Prohibition if cue.starts_with('不') && !cue.starts_with("不要") => lead.is_empty(),
        // "密码绝对不能明文存储" is what the program has to do.
        Cue::Prohibition
            if matches!(cue, "不允许" | "不可以" | "不得" | "绝不" | "绝对不") && !lead.is_empty() =>
        {
            contains_verb(behind, table)
        }
        Cue::Prohibition => !behind.is_empty() && !behind.starts_with(['了', '的']) || cue == "禁止",
        Cue::Only => {
            let acts = contains_any(
                behind,
                &[
                    "改", "动", "修", "碰", "在", "看", "读", "查", "允许", "用", "处理", "涉及", "能", "限",
                    "需", "加", "写",
                ],
            );
            acts && !contains_any(lead, &["用户", "系统", "页面"])
        }
        Cue::AtMost => {
            text.contains(|letter: char| letter.is_ascii_digit() || "一二三四五六七八九十百".contains(letter))
        }
        Cue::Stays => !lead.is_empty() || !behind.is_empty(),
        // "src/kernel/ 除外"
        Cue::Except if cue == "除外" => !lead.is_empty() && letters(lead) <= MAX_OBJECT,
        Cue::Except => !behind.is_empty(),
        _ => true,
    }
}

fn opens_japanese(text: &str, before: &str, cue: &str, behind: &str, kind: Cue, table: &Phrases) -> bool {
    let polite = behind.len() <= MAX_POLITENESS;
    let tells =
        text.ends_with("のに") || text.ends_with("ので") || text.ends_with("から") || text.ends_with("けど");
    match kind {
        Cue::Prohibition => {
            let idle = before.ends_with("でき")
                || before.ends_with("され")
                || before.ends_with("忘れ")
                || before.ends_with("気にし")
                || before.ends_with("心配し")
                || before.ends_with("遠慮し");
            let vague = matches!(cue, "ないように" | "ずに") && !contains_verb(before, table);
            // "マイナスにならないこと" is what the program has to do.
            let behaves = cue.ends_with("こと") && !contains_verb(before, table);
            !idle
                && !vague
                && !behaves
                && !tells
                && (polite || matches!(cue, "なしで" | "無しで" | "抜きで" | "ずに" | "ないで"))
                && !before.is_empty()
        }
        Cue::Only => {
            let changes = contains_verb(behind, table) || behind.len() <= MAX_POLITENESS;
            changes
                && !tells
                && !before.is_empty()
                && !contains_any(
                    behind,
                    &[
                        "起き", "発生", "なる", "出る", "可能", "失敗", "落ち", "でき", "表示",
                    ],
                )
        }
        Cue::AtMost => {
            let number = before.chars().rev().take(4).any(|letter| letter.is_numeric())
                || behind.chars().take(4).any(char::is_numeric);
            number && !tells
        }
        Cue::AskFirst => contains_any(before, &["前に", "先に", "事前", "まず"]) && polite,
        Cue::Stays => {
            polite && !before.is_empty() && !tells
                || contains_any(behind, &["して", "に"]) && !tells && behind.len() <= 2 * MAX_POLITENESS
        }
        _ => polite && !tells,
    }
}

/// The letters of a text, of which a path or another foreign word counts as one.
fn letters(text: &str) -> usize {
    let is_foreign = |letter: &char| letter.is_ascii_graphic();
    let starts = text.chars().zip(std::iter::once(' ').chain(text.chars()));
    starts
        .filter(|(letter, before)| !(letter.is_whitespace() || is_foreign(letter) && is_foreign(before)))
        .count()
}

/// Whether a text contains a verb that constraints are about.
fn contains_verb(text: &str, table: &Phrases) -> bool {
    table
        .verbs
        .entries()
        .iter()
        .any(|(entry, _)| text.contains(entry))
}
