//! The steps of a plan.

use super::{as_order, fold, is_done, is_entry, is_set_aside, options, sentences, words};

/// Maximum number of lines of a list before a question.
const MAX_LIST_LINES: usize = 40;
/// Maximum length of an approved plan that is read, in bytes.
const MAX_PLAN: usize = 32 * 1024;
/// A line that leads into a list or heads a section is no longer than this, in words.
const MAX_HEADING_WORDS: usize = 14;

/// Words of a heading, or of a line before a list, whose entries are no steps: what is open, what might happen, what was done. Folded.
#[rustfmt::skip]
const ASIDE: &[&str] = &[
    "alternative", "alternatives", "background", "caveat", "caveats", "considered", "constraints", "context", "done", "drawbacks", "finished", "found", "future",
    "issues", "left", "limitations", "non-goals", "note", "notes", "ops", "open", "pending", "possible", "problems", "questions", "remaining", "result", "results", "risk",
    "risks", "rollback", "scope", "summary", "todo", "todos", "warning", "warnings", "what happened", "abgelehnt", "alternativen", "erledigt", "fragen",
    "hintergrund", "nachteile", "offen", "offene", "risiken", "risiko", "verworfen", "alternativas", "contexto", "pendiente", "preguntas", "riesgos",
    "contexte", "risques", "restant", "rischi", "riscos", "riscuri", "ryzyka", "risico's", "риски",
];
const UNSPACED_ASIDE: &[&str] = &[
    "风险",
    "背景",
    "待",
    "问题",
    "备选",
    "已完成",
    "结果",
    "回滚",
    "リスク",
    "背景",
    "残り",
    "完了",
];

/// The steps of the list that stands before the last paragraph, without its aside entries; those with the given labels if there are any.
/// `None` if there is no such list.
pub(super) fn block_before(lines: &[&str], labels: &[String]) -> Option<Vec<String>> {
    let lines: Vec<&str> = lines
        .iter()
        .copied()
        .filter(|line| !line.trim().is_empty())
        .collect();
    let lines = &lines[lines.len().saturating_sub(MAX_LIST_LINES)..];
    let last = lines.iter().rposition(|line| is_entry(line) || is_fence(line))?;
    // Only the question and a sentence before it follow the list.
    if lines.len() - last > 3 {
        return None;
    }
    let mut is_code = false;
    let mut first = last + 1;
    for (at, line) in lines[..=last].iter().enumerate().rev() {
        if is_fence(line) {
            is_code = !is_code;
        } else if !is_code && !is_entry(line) && !line.starts_with([' ', '\t']) {
            break;
        }
        first = at;
    }
    let before = first.checked_sub(1).and_then(|before| lines.get(before));
    if before.is_some_and(|line| is_aside(line) || is_set_aside(line)) {
        return Some(Vec::new());
    }
    // A block of code alone shows something, unless the agent says that it is about to run it.
    let announces = before.is_some_and(|line| is_lead_in_of_steps(line));
    let block = &lines[first..=last];
    let has_entries = block.iter().any(|line| is_entry(line));
    let mut steps = Vec::new();
    let mut is_code = false;
    let mut is_chosen = labels.is_empty();
    for line in block {
        if is_fence(line) {
            is_code = !is_code;
            continue;
        }
        if let Some(label) = options::label_of(line).filter(|_| !is_code && !labels.is_empty()) {
            is_chosen = labels.contains(&label);
        }
        if !is_chosen || line.trim_start().starts_with('>') {
            continue;
        }
        if is_code {
            if announces || has_entries {
                steps.push(line.trim().to_owned());
            }
        } else if !is_done(line) {
            steps.extend(steps_of(line));
        }
    }
    Some(steps)
}

/// What a plan that the user approved asks for.
pub fn approved(plan: &str) -> Vec<String> {
    let mut end = plan.len().min(MAX_PLAN);
    while !plan.is_char_boundary(end) {
        end -= 1;
    }
    let mut steps = Vec::new();
    let mut is_code = false;
    // The level of the heading whose section is left out; a line before a list has none.
    let mut left_out: Option<usize> = None;
    for line in plan[..end].lines() {
        let plain = line.trim();
        if is_fence(plain) {
            is_code = !is_code;
            continue;
        }
        let level = plain.chars().take_while(|letter| *letter == '#').count();
        let leads = plain.ends_with([':', '：']) && !is_code;
        if level > 0 && !is_code || is_bold_heading(plain) {
            let level = if level == 0 { usize::MAX - 1 } else { level };
            if left_out.is_none_or(|before| level <= before) {
                left_out = (is_aside(plain) || is_set_aside(plain)).then_some(level);
            }
        } else if leads && left_out.is_none_or(|before| before == usize::MAX) {
            left_out = (is_aside(plain) || is_set_aside(plain)).then_some(usize::MAX);
        } else if left_out == Some(usize::MAX)
            && !plain.is_empty()
            && !is_entry(line)
            && !line.starts_with([' ', '\t'])
        {
            left_out = None;
        }
        if left_out.is_some() || plain.is_empty() || plain.starts_with('>') {
            continue;
        }
        if is_code {
            steps.push(plain.to_owned());
        } else if !is_done(plain) {
            steps.extend(steps_of(plain));
        }
    }
    steps
}

/// The sentences of a line that are no aside.
fn steps_of(line: &str) -> impl Iterator<Item = String> + '_ {
    sentences(line)
        .filter(|part| !is_set_aside(part) && !super::has_alternatives(part))
        .map(as_order)
        .filter(|part| !part.is_empty())
}

/// Whether a line announces what the agent is about to do.
pub(super) fn is_lead_in_of_steps(line: &str) -> bool {
    super::question::announces(line) && !is_aside(line)
}

fn is_fence(line: &str) -> bool {
    line.trim_start().starts_with("```")
}

fn is_bold_heading(line: &str) -> bool {
    line.starts_with("**")
        && line.trim_end_matches(':').ends_with("**")
        && words(line).len() <= MAX_HEADING_WORDS
}

/// Whether a heading, or a line before a list, names what is no step.
fn is_aside(line: &str) -> bool {
    let words = words(line);
    words.len() <= MAX_HEADING_WORDS && words.iter().any(|word| word.is_any(ASIDE))
        || UNSPACED_ASIDE.iter().any(|part| fold(line).contains(part))
}
