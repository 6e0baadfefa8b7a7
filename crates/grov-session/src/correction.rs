//! Writes the texts of corrections within a token budget. Quoted text cannot escape from its line.

use crate::quote::{estimated_tokens, line, quoted};
use grov_domain::{
    ClientDialect, CorrectionLevel, GoalContract, OWN_TEXT_CLOSING, OWN_TEXT_OPENING, RecoveryStep,
};
use std::fmt::Write;
use xxhash_rust::xxh3::xxh3_64;

/// Maximum characters of the goal and of an issue.
const MAX_SENTENCE: usize = 220;
/// Maximum characters of a step.
const MAX_STEP: usize = 180;
/// Percentages of these limits, tried in order until the text fits the budget.
const SCALES: [usize; 6] = [100, 70, 45, 28, 15, 6];

/// Maximum number of issues in a text.
pub(crate) const MAX_ISSUES: usize = 4;

const PREAMBLE: &str = "From Grov, which checks your work against the user's goal. This is information about your latest \
    actions; the user's instructions take precedence.";

/// The content of a correction.
#[derive(Clone, Debug)]
pub(crate) struct CorrectionInput<'a> {
    /// The goal contract.
    pub(crate) contract: &'a GoalContract,
    /// The level.
    pub(crate) level: CorrectionLevel,
    /// The score, 1 to 10.
    pub(crate) score: u8,
    /// The escalation, 0 to 3, including this correction.
    pub(crate) escalation: u8,
    /// Number of ignored corrections.
    pub(crate) failed: u8,
    /// The issues, most severe first, one sentence each.
    pub(crate) issues: &'a [String],
    /// The recovery plan.
    pub(crate) plan: &'a [RecoveryStep],
    /// What the agent did instead of following the last correction.
    pub(crate) instead: Option<&'a str>,
    /// Whether the issue is only a doubt of the rules.
    pub(crate) is_doubt: bool,
}

/// Returns the text of a correction without its frame. With the frame, it has at most `budget` tokens, as far as the
/// smallest form fits. It differs from all texts whose [`hash`]es are in `delivered`.
pub(crate) fn text(input: &CorrectionInput<'_>, budget: usize, delivered: &[u64]) -> String {
    let mut repeats = 0_usize;
    loop {
        let text = fit_to_budget(input, budget, repeats);
        if repeats > delivered.len() || !delivered.contains(&hash(&text)) {
            return text;
        }
        repeats += 1;
    }
}

/// Returns a hash that identifies a text.
pub(crate) fn hash(text: &str) -> u64 {
    xxh3_64(text.as_bytes())
}

/// Returns the text in its frame: the lines that mark Grov's own text and, within a tool loop, the client's tags for text
/// that the user did not type.
pub fn framed(text: &str, level: CorrectionLevel, in_tool_loop: bool) -> String {
    let level = level.as_str();
    let own = format!(
        "{OWN_TEXT_OPENING} source=\"drift\" level=\"{level}\">\n{PREAMBLE}\n{text}\n{OWN_TEXT_CLOSING}"
    );
    if in_tool_loop {
        let client = ClientDialect::CLAUDE_CODE;
        format!("{}\n{own}\n{}", client.reminder_opening, client.reminder_closing)
    } else {
        own
    }
}

fn fit_to_budget(input: &CorrectionInput<'_>, budget: usize, repeats: usize) -> String {
    let mut smallest = String::new();
    for percent in SCALES {
        smallest = Writer { input, percent }.write(repeats);
        if estimated_tokens(&framed(&smallest, input.level, true)) <= budget {
            break;
        }
    }
    smallest
}

struct Writer<'a> {
    input: &'a CorrectionInput<'a>,
    /// The percentage of each limit that is used.
    percent: usize,
}

impl Writer<'_> {
    fn write(&self, repeats: usize) -> String {
        let mut text = match self.input.level {
            CorrectionLevel::Nudge => self.nudge(),
            CorrectionLevel::Correct => self.correct(),
            CorrectionLevel::Intervene => self.intervene(),
            CorrectionLevel::Halt => self.halt(),
            CorrectionLevel::Forced => self.forced(),
        };
        if repeats > 0 {
            let _ = write!(
                text,
                "\nThis was said before ({} times) and still applies.",
                repeats
            );
        }
        text
    }

    fn nudge(&self) -> String {
        let goal = self.request().map_or_else(
            || "Keep to what the user asked for.".to_owned(),
            |goal| format!("The goal is {goal}."),
        );
        format!("{goal} {} Stay with the goal.", sentence(&self.issue()))
    }

    fn correct(&self) -> String {
        let mut text = self.heading();
        if self.input.is_doubt {
            let back = match self.input.plan.last().and_then(|step| step.file.as_deref()) {
                Some(file) => format!("to {}", line(file, self.limit(MAX_STEP))),
                None => "to the request".to_owned(),
            };
            let _ = write!(
                text,
                "\nThis is an estimate by rules. If the task needs it, say why in one sentence and continue; otherwise return {back}."
            );
            return text;
        }
        self.add_steps("Steps back to the goal", self.input.plan, &mut text);
        text.push_str("\nIf the goal needs this after all, say why in one sentence and continue.");
        text
    }

    fn intervene(&self) -> String {
        let mut text = self.heading();
        self.add_first("Before anything else", &mut text);
        self.add_steps("Then", self.rest(), &mut text);
        let _ = write!(
            text,
            "\nBegin your next answer with this sentence: {}",
            self.confirmation()
        );
        text.push_str("\nIf the goal needs this after all, tell the user instead of continuing.");
        text
    }

    fn halt(&self) -> String {
        let input = self.input;
        let mut text = format!(
            "STOP. Your latest actions score {}/10 for the goal; escalation {}/3.\n",
            input.score, input.escalation
        );
        text.push_str(&self.heading());
        self.add_first("Your next action must be", &mut text);
        let _ = write!(
            text,
            "\nBegin your next answer with exactly this sentence: {}",
            self.confirmation()
        );
        text.push_str("\nStop everything else: change nothing further until this is done. If you disagree, ask the user.");
        text
    }

    fn forced(&self) -> String {
        let mut text = format!("{} corrections were not followed.\n", self.input.failed.max(1));
        text.push_str(&self.heading());
        self.add_first("Do exactly this one action now, and nothing else", &mut text);
        text.push_str("\nIf you cannot, stop and tell the user why.");
        text
    }

    /// Returns the request, the issues, and what the agent did instead.
    fn heading(&self) -> String {
        let mut lines = Vec::new();
        let extra = self.separate_goal();
        if let Some(request) = self.request() {
            let label = if extra.is_some() { "Latest request" } else { "Goal" };
            lines.push(format!("{label}: {request}"));
        }
        if let Some(goal) = extra {
            lines.push(format!("Goal: {goal}"));
        }
        lines.push(format!("Issue: {}", sentence(&self.issue())));
        let extra = self.input.issues.iter().take(MAX_ISSUES).skip(1);
        for issue in extra.filter(|_| self.percent > 50) {
            lines.push(format!(
                "Also: {}",
                sentence(&line(issue, self.limit(MAX_SENTENCE)))
            ));
        }
        if let Some(instead) = self.input.instead {
            let instead = line(instead, self.limit(MAX_STEP));
            lines.push(format!(
                "Instead of following the last correction: {}",
                sentence(&instead)
            ));
        }
        lines.join("\n")
    }

    /// Returns the current instruction, quoted.
    fn request(&self) -> Option<String> {
        let request = quoted(
            self.input.contract.current_instruction(),
            self.limit(MAX_SENTENCE),
        );
        (!request.is_empty()).then_some(request)
    }

    /// Returns the goal, quoted, if it differs from the prompts because a person or a model worded it.
    fn separate_goal(&self) -> Option<String> {
        let contract = self.input.contract;
        let goal = quoted(contract.separate_goal()?, self.limit(MAX_STEP));
        (!goal.is_empty() && !contract.instructions.is_empty()).then_some(goal)
    }

    fn issue(&self) -> String {
        let issue = self.input.issues.first();
        let issue = issue
            .map(|issue| line(issue, self.limit(MAX_SENTENCE)))
            .unwrap_or_default();
        if issue.is_empty() {
            "the latest actions do not serve the goal".to_owned()
        } else {
            issue
        }
    }

    fn rest(&self) -> &[RecoveryStep] {
        self.input.plan.get(1..).unwrap_or_default()
    }

    fn add_first(&self, heading: &str, text: &mut String) {
        let first = self.input.plan.first();
        let step = first
            .map(|step| line(&step.action, self.limit(MAX_STEP)))
            .unwrap_or_default();
        let step = if step.is_empty() {
            "Return to what the user asked for"
        } else {
            &step
        };
        let _ = write!(text, "\n{heading}: {}", sentence(step));
    }

    fn add_steps(&self, heading: &str, steps: &[RecoveryStep], text: &mut String) {
        if steps.is_empty() {
            return;
        }
        let _ = write!(text, "\n{heading}:");
        for (index, step) in steps.iter().enumerate() {
            let step = line(&step.action, self.limit(MAX_STEP));
            let _ = write!(text, "\n{}. {}", index + 1, sentence(&step));
        }
    }

    fn confirmation(&self) -> &'static str {
        match self.input.level {
            CorrectionLevel::Halt => "\"I stop here and return to the goal.\"",
            _ => "\"I was off the goal and return to it.\"",
        }
    }

    fn limit(&self, max: usize) -> usize {
        (max * self.percent / 100).max(8)
    }
}

/// Capitalises a text and ends it with a full stop.
fn sentence(words: &str) -> String {
    let mut sentence = String::with_capacity(words.len() + 1);
    let mut characters = words.chars();
    if let Some(first) = characters.next() {
        // A path or an identifier keeps its case.
        let word = words.split_whitespace().next().unwrap_or_default();
        if word.chars().all(char::is_alphabetic) {
            sentence.extend(first.to_uppercase());
        } else {
            sentence.push(first);
        }
        sentence.push_str(characters.as_str());
    }
    if !sentence.ends_with(['.', '!', '?', '…']) {
        sentence.push('.');
    }
    sentence
}

#[cfg(test)]
mod tests;
