//! Reads the agent's answer to the question what to remember of a task.

use super::text::{fold, shorten};

/// The longest line that is kept, in characters.
const MAX_LINE: usize = 200;

/// The most lines of a kind.
const MAX_LINES: usize = 8;

/// What the agent said of a task that it finished.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Told {
    /// The goal.
    pub goal: String,
    /// The decisions, each with its reason.
    pub decisions: Vec<String>,
    /// What is left to do.
    pub open: Vec<String>,
}

/// Parses an answer of lines that begin with `Goal:`, `Decision:` and `Open:`. `None` without a goal and one other line.
pub fn told(answer: &str) -> Option<Told> {
    let mut told = Told::default();
    let mut is_answer = false;
    for line in answer.lines() {
        let line = line.replace("**", "");
        let line = line.trim().trim_start_matches(['-', '*', '•', ' ']);
        let Some((label, rest)) = line.split_once(':') else {
            continue;
        };
        let rest = shorten(rest, MAX_LINE);
        let is_none = ["", "none", "none.", "-", "n/a"].contains(&fold(&rest).as_str());
        match fold(label.trim()).as_str() {
            "goal" if told.goal.is_empty() => told.goal = rest,
            "decision" => {
                is_answer = true;
                told.decisions
                    .extend((!is_none && told.decisions.len() < MAX_LINES).then_some(rest));
            }
            "open" => {
                is_answer = true;
                told.open
                    .extend((!is_none && told.open.len() < MAX_LINES).then_some(rest));
            }
            _ => {}
        }
    }
    (is_answer && !told.goal.is_empty()).then_some(told)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_agents_answer_is_read_line_by_line() {
        let answer = "Goal: encrypt the backups\nDecision: age, because GPG needs a passphrase at night\n- **Open:** none";
        let found = told(answer).unwrap();
        assert_eq!(found.goal, "encrypt the backups");
        assert_eq!(found.decisions, ["age, because GPG needs a passphrase at night"]);
        assert!(found.open.is_empty());
        assert_eq!(told("Goal: x\nOpen: the docs").unwrap().open, ["the docs"]);
        for other in ["", "Done: the backups are encrypted.", "Goal: x", "Decision: y"] {
            assert_eq!(told(other), None, "{other}");
        }
    }
}
