//! Divides a text into the parts that may state a decision: sentences, list items, and rows of tables.

use super::lexicon::{DECISION_LABELS, REASON_LABELS};
use crate::text::{fold, sentences};

/// A line of prose this long was wrapped, so that the next one continues it.
const WRAPPED: usize = 50;

/// The most words of a label.
const MAX_LABEL_WORDS: usize = 4;

/// The most words of the name of a field.
const MAX_FIELD_WORDS: usize = 2;

/// The most parts of a text.
const MAX_UNITS: usize = 240;

/// What a label or a heading announces.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Label {
    /// "Decision:".
    Decision,
    /// "Why:".
    Reason,
}

/// A part of a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Unit {
    /// The text, without its label and without bold marks.
    pub(super) text: String,
    /// Its own label.
    pub(super) label: Option<Label>,
    /// Whether it is below a heading that announces decisions.
    pub(super) is_in_section: bool,
    /// Whether a list item begins here.
    pub(super) is_item: bool,
    /// The reason, if the unit is a row of a table with a column for reasons.
    pub(super) reason: Option<String>,
}

/// The parts of a text, in order.
pub(super) fn units(text: &str) -> Vec<Unit> {
    let mut reader = Reader::default();
    let mut fence: Option<&str> = None;
    for line in text.lines() {
        let trimmed = line.trim();
        let mark = ["```", "~~~"].into_iter().find(|mark| trimmed.starts_with(mark));
        match (fence, mark) {
            (Some(open), Some(mark)) if open == mark => fence = None,
            (Some(_), _) => {}
            (None, Some(mark)) => fence = Some(mark),
            (None, None) => reader.line(trimmed, line.starts_with([' ', '\t'])),
        }
        if reader.units.len() >= MAX_UNITS {
            break;
        }
    }
    reader.flush();
    reader.units
}

#[derive(Default)]
struct Reader {
    units: Vec<Unit>,
    pending: String,
    is_item: bool,
    is_in_section: bool,
    /// The columns of the table that is being read.
    table: Option<Columns>,
}

/// The columns of a table with decisions and reasons.
#[derive(Clone, Copy)]
struct Columns {
    choice: usize,
    reason: Option<usize>,
}

impl Reader {
    fn line(&mut self, line: &str, is_indented: bool) {
        if line.starts_with('|') {
            self.flush();
            self.row(line);
            return;
        }
        self.table = None;
        if line.is_empty() {
            self.flush();
            return;
        }
        let plain = line.replace("**", "").replace("__", "");
        let plain = plain.trim();
        if line.starts_with('#') || is_title(line, plain) {
            self.flush();
            let title = plain.trim_start_matches('#').trim_end_matches([':', '：']).trim();
            self.is_in_section = label_of(title) == Some(Label::Decision);
            return;
        }
        let (text, is_item) = without_bullet(plain);
        // The next line of a list item is indented.
        let continues = !is_item && (is_indented || !self.is_item);
        let wraps = continues
            && self.pending.chars().count() >= WRAPPED
            && !ends_sentence(&self.pending)
            && !opens_field(text);
        if wraps {
            self.pending.push(' ');
        } else {
            self.flush();
            self.is_item = is_item;
        }
        self.pending.push_str(text);
    }

    fn flush(&mut self) {
        let pending = std::mem::take(&mut self.pending);
        for (place, sentence) in sentences(&pending).into_iter().enumerate() {
            let (label, text) = without_label(&sentence);
            self.units.push(Unit {
                text: text.to_owned(),
                label,
                is_in_section: self.is_in_section && place == 0,
                is_item: self.is_item && place == 0,
                reason: None,
            });
        }
    }

    fn row(&mut self, line: &str) {
        let cells: Vec<String> = line
            .trim_matches('|')
            .split('|')
            .map(|cell| cell.replace("**", "").trim().to_owned())
            .collect();
        let is_rule = |cell: &String| cell.chars().all(|letter| matches!(letter, '-' | ':' | ' '));
        if cells.iter().all(is_rule) {
            return;
        }
        let Some(columns) = self.table else {
            let place = |label| cells.iter().position(|cell| label_of(cell) == Some(label));
            let reason = place(Label::Reason);
            let choice = place(Label::Decision).unwrap_or(0);
            self.table = Some(Columns {
                choice,
                reason: reason.filter(|reason| *reason != choice),
            });
            return;
        };
        let Some(reason) = columns.reason.and_then(|column| cells.get(column)) else {
            return;
        };
        if let Some(choice) = cells.get(columns.choice) {
            self.units.push(Unit {
                text: choice.clone(),
                label: Some(Label::Decision),
                is_in_section: false,
                is_item: true,
                reason: Some(reason.clone()),
            });
        }
    }
}

/// Whether a line is a title: "**Decisions**", "Decisions:".
fn is_title(line: &str, plain: &str) -> bool {
    let is_bold = line.starts_with("**") && line.trim_end_matches(':').ends_with("**");
    (is_bold || plain.ends_with([':', '：'])) && label_of(plain.trim_end_matches([':', '：'])).is_some()
}

/// Whether a line begins with a name of its own, as a line of a form: "Open: metrics".
fn opens_field(line: &str) -> bool {
    line.split_once(": ").is_some_and(|(name, _)| {
        name.split_whitespace().count() <= MAX_FIELD_WORDS && name.starts_with(char::is_uppercase)
    })
}

fn ends_sentence(text: &str) -> bool {
    text.ends_with(['.', '!', '?', ':', ';', '。', '！', '？', '…'])
}

/// A line without its bullet, number or leading emoji, and whether it had one.
fn without_bullet(line: &str) -> (&str, bool) {
    for bullet in ["- [ ] ", "- [x] ", "- ", "* ", "• ", "+ ", "– ", "> ", "・"] {
        if let Some(rest) = line.strip_prefix(bullet) {
            return (without_emoji(rest.trim_start()).0, true);
        }
    }
    let digits = line.bytes().take_while(u8::is_ascii_digit).count();
    if (1..=2).contains(&digits)
        && let Some(rest) = line[digits..]
            .strip_prefix(". ")
            .or_else(|| line[digits..].strip_prefix(") "))
    {
        return (rest.trim_start(), true);
    }
    without_emoji(line)
}

fn without_emoji(line: &str) -> (&str, bool) {
    let is_emoji = |letter: char| matches!(letter, '\u{2190}'..='\u{2bff}' | '\u{1f000}'..='\u{1faff}' | '\u{fe0f}' | '\u{200d}');
    let rest = line.trim_start_matches(is_emoji);
    (rest.trim_start(), rest.len() < line.len())
}

/// The label that a text is, as a whole.
fn label_of(text: &str) -> Option<Label> {
    let folded = fold(text.trim().trim_matches(['*', '?', '？']).trim());
    if DECISION_LABELS.contains(&folded.as_str()) {
        Some(Label::Decision)
    } else if REASON_LABELS.contains(&folded.as_str()) {
        Some(Label::Reason)
    } else {
        None
    }
}

/// The label that a sentence begins with, and the rest.
fn without_label(sentence: &str) -> (Option<Label>, &str) {
    let Some(colon) = sentence.find([':', '：']) else {
        return (None, sentence);
    };
    let head = &sentence[..colon];
    if head.split_whitespace().count() > MAX_LABEL_WORDS {
        return (None, sentence);
    }
    match label_of(head) {
        Some(label) => (
            Some(label),
            sentence[colon..].trim_start_matches([':', '：', ' ']),
        ),
        None => (None, sentence),
    }
}
