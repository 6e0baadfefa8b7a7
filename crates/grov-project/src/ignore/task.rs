//! Removal of ignored paths from a task.

use super::GrovIgnore;
use grov_domain::{Task, file_name};
use std::ops::Range;

/// Replaces an ignored path in a text that is kept.
pub(super) const MASK: &str = "[ignored path]";
/// The maximum length of a quotation that may be a path, in bytes.
const MAX_QUOTATION: usize = 300;

/// Removes ignored files from a task, and every decision, constraint, tag and line of reasoning that names
/// one. In the query and the goal, a mask replaces them.
///
/// Text about an ignored file that does not name it is kept.
pub fn without_ignored(mut task: Task, ignore: &GrovIgnore) -> Task {
    if ignore.is_empty() {
        return task;
    }
    // Exhaustive, so that adding a field to `Task` requires a change here.
    let Task {
        original_query,
        goal,
        reasoning_trace,
        files_touched,
        decisions,
        constraints,
        tags,
        file_pins,
        id: _,
        project_path: _,
        project_remote: _,
        user: _,
        client_session_id: _,
        session_id: _,
        status: _,
        trigger_reason: _,
        linked_commit: _,
        parent_session_id: _,
        parent_task_id: _,
        superseded_by: _,
        screened: _,
        model_screening: _,
        edits: _,
        created_at: _,
        item: _,
    } = &mut task;
    let files = files_touched.iter().chain(file_pins.iter().map(|pin| &pin.path));
    let hidden: Vec<String> = files.filter(|file| ignore.ignores(file)).cloned().collect();
    let mentions = Mentions {
        ignore,
        hidden: &hidden,
    };

    mentions.mask(original_query);
    goal.iter_mut().for_each(|goal| mentions.mask(goal));
    for texts in [reasoning_trace, constraints, tags] {
        texts.retain(|text| !mentions.are_in(text));
    }
    decisions.retain(|decision| !mentions.are_in(&decision.choice) && !mentions.are_in(&decision.reason));
    files_touched.retain(|file| !ignore.ignores(file));
    file_pins.retain(|pin| !ignore.ignores(&pin.path));
    task
}

/// Ignored paths in texts.
struct Mentions<'a> {
    ignore: &'a GrovIgnore,
    /// Ignored files that the task touched: their names alone are masked too.
    hidden: &'a [String],
}

impl Mentions<'_> {
    fn are_in(&self, text: &str) -> bool {
        !self.ranges(text).is_empty()
    }

    fn mask(&self, text: &mut String) {
        let mut ranges = self.ranges(text);
        ranges.sort_by_key(|range| (range.start, range.end));
        let mut masked = String::with_capacity(text.len());
        let mut done = 0;
        for range in ranges {
            if range.start >= done {
                masked.push_str(&text[done..range.start]);
                masked.push_str(MASK);
            }
            done = done.max(range.end);
        }
        masked.push_str(&text[done..]);
        *text = masked;
    }

    /// The ranges of ignored paths; they may overlap.
    fn ranges(&self, text: &str) -> Vec<Range<usize>> {
        let mut ranges: Vec<Range<usize>> = quotations(text)
            .into_iter()
            .filter(|range| self.ignore.ignores(&text[range.clone()]))
            .collect();
        for word in words(text) {
            let spans = spans(text, word);
            let is_hit = |span: &Range<usize>| {
                let path = &text[span.clone()];
                path.contains(['/', '.']) && self.ignore.ignores(path)
            };
            ranges.extend(spans.into_iter().filter(is_hit));
        }
        for file in self.hidden {
            ranges.extend(mentions_of(text, file));
            ranges.extend(mentions_of(text, &file_name(file)));
        }
        ranges
    }
}

/// The texts between two quotation marks of the same kind on one line. Which mark opens is unknown, so the text
/// between every two consecutive marks is included.
fn quotations(text: &str) -> Vec<Range<usize>> {
    let mut found = Vec::new();
    for mark in ['`', '"', '\''] {
        let mut last: Option<usize> = None;
        for (at, _) in text.match_indices(mark) {
            if let Some(start) = last
                && at - start <= MAX_QUOTATION
                && at > start
                && !text[start..at].contains('\n')
            {
                found.push(start..at);
            }
            last = Some(at + mark.len_utf8());
        }
    }
    found
}

/// The parts of a text between white space.
fn words(text: &str) -> impl Iterator<Item = Range<usize>> {
    let start_of = |part: &str| part.as_ptr() as usize - text.as_ptr() as usize;
    text.split_whitespace().map(move |word| {
        let start = start_of(word);
        start..start + word.len()
    })
}

/// The possible paths in a word: the word without surrounding marks, and each part between marks.
fn spans(text: &str, word: Range<usize>) -> Vec<Range<usize>> {
    // The path of a URL is not a project path.
    if text[word.clone()].contains("://") {
        return Vec::new();
    }
    let mut spans = vec![trimmed(text, word.clone())];
    let mut start = word.start;
    for (at, mark) in text[word.clone()].char_indices() {
        if is_mark(mark) {
            spans.push(trimmed(text, start..word.start + at));
            start = word.start + at + mark.len_utf8();
        }
    }
    if start > word.start {
        spans.push(trimmed(text, start..word.end));
    }
    spans.retain(|span| !span.is_empty());
    spans
}

/// Whether a character can separate a path from the text around it. Some of these can also be part of a path.
fn is_mark(character: char) -> bool {
    matches!(
        character,
        '"' | '\''
            | '`'
            | '('
            | ')'
            | '['
            | ']'
            | '{'
            | '}'
            | '<'
            | '>'
            | ','
            | ';'
            | ':'
            | '='
            | '|'
            | '&'
            | '#'
    )
}

/// The range without surrounding marks, a leading `@` and sentence punctuation.
fn trimmed(text: &str, range: Range<usize>) -> Range<usize> {
    let whole = &text[range.clone()];
    let from = whole.trim_start_matches(|c| is_mark(c) || c == '@');
    let start = range.start + whole.len() - from.len();
    let both = from.trim_end_matches(|c| is_mark(c) || matches!(c, '.' | '!' | '?' | '…'));
    start..start + both.len()
}

/// The occurrences of `name` that are not part of another name or path.
fn mentions_of<'a>(text: &'a str, name: &'a str) -> impl Iterator<Item = Range<usize>> + 'a {
    let is_part = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-');
    text.match_indices(name).filter_map(move |(start, found)| {
        let end = start + found.len();
        let before = text[..start].chars().next_back();
        let after = text[end..].chars().next();
        let is_separate =
            !before.is_some_and(|c| is_part(c) || matches!(c, '/' | '.')) && !after.is_some_and(is_part);
        (is_separate && !found.is_empty()).then_some(start..end)
    })
}
