//! Reads the agent's answer to the question what to remember of a task.

use super::text::{fold, shorten};

/// The longest line that is kept, in characters.
const MAX_LINE: usize = 200;

/// The most lines of a kind.
const MAX_LINES: usize = 8;

/// What the agent said of a task that it finished.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AgentSummary {
    /// The goal.
    pub goal: String,
    /// The decisions, each with its reason.
    pub decisions: Vec<String>,
    /// What is left to do.
    pub open: Vec<String>,
}

/// Parses an answer of lines that begin with `Goal:`, `Decision:` and `Open:`. `None` without a goal and one other line.
pub fn agent_summary(answer: &str) -> Option<AgentSummary> {
    let mut summary = AgentSummary::default();
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
            "goal" if summary.goal.is_empty() => summary.goal = rest,
            "decision" => {
                is_answer = true;
                summary
                    .decisions
                    .extend((!is_none && summary.decisions.len() < MAX_LINES).then_some(rest));
            }
            "open" => {
                is_answer = true;
                summary
                    .open
                    .extend((!is_none && summary.open.len() < MAX_LINES).then_some(rest));
            }
            _ => {}
        }
    }
    (is_answer && !summary.goal.is_empty()).then_some(summary)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_agents_answer_is_read_line_by_line() {
        let answer = "Goal: encrypt the backups\nDecision: age, because GPG needs a passphrase at night\n- **Open:** none";
        let found = agent_summary(answer).unwrap();
        assert_eq!(found.goal, "encrypt the backups");
        assert_eq!(found.decisions, ["age, because GPG needs a passphrase at night"]);
        assert!(found.open.is_empty());
        assert_eq!(
            agent_summary("Goal: x\nOpen: the docs").unwrap().open,
            ["the docs"]
        );
        for other in ["", "Done: the backups are encrypted.", "Goal: x", "Decision: y"] {
            assert_eq!(agent_summary(other), None, "{other}");
        }
    }
}
