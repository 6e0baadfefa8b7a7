//! Actions and findings for tests.

#[cfg(test)]
use crate::assessed_action::AssessedAction;
use grov_domain::{ActionSketch, ActionType, EffectKind};
#[cfg(test)]
use grov_domain::{Assessment, Finding, Rule};

/// Creates an action on these files.
pub fn action(action_type: ActionType, files: &[&str]) -> ActionSketch {
    ActionSketch {
        files: files.iter().map(|file| (*file).to_owned()).collect(),
        ..ActionSketch::empty(action_type)
    }
}

/// Creates an edit that writes `content`.
pub fn edit(file: &str, content: &str) -> ActionSketch {
    ActionSketch {
        content: Some(content.to_owned()),
        ..action(ActionType::Edit, &[file])
    }
}

/// Creates a read of a file.
pub fn read(file: &str) -> ActionSketch {
    action(ActionType::Read, &[file])
}

/// Creates a command with one effect on these files.
pub fn bash(command: &str, effect: EffectKind, files: &[&str]) -> ActionSketch {
    ActionSketch {
        command: Some(command.to_owned()),
        effects: vec![effect],
        ..action(ActionType::Bash, files)
    }
}

/// Creates a finding.
#[cfg(test)]
pub(crate) fn finding(rule: Rule, at_most: u8) -> Finding {
    Finding::new(rule, at_most, None, "the change has nothing to do with the goal")
}

/// Creates an action with this score, and with a finding if the score is below 8. Three doubts are convincing.
#[cfg(test)]
pub(crate) fn assessed(action: ActionSketch, rule: Rule, score: u8) -> AssessedAction {
    let findings = if score >= 8 {
        Vec::new()
    } else {
        vec![Finding {
            file: action.files.first().cloned(),
            ..finding(rule, score)
        }]
    };
    AssessedAction {
        action,
        step: None,
        call: None,
        log_odds: if rule.is_doubt() && score < 8 { 140 } else { 0 },
        assessment: Assessment { score, findings },
        is_delegated: false,
        put_back: Vec::new(),
    }
}

/// A simple intent reader: the goal is the newest prompt that shares no word with the goal and the prompts before it, the scope
/// every word with a dot, and the constraints every prompt with "do not". "Yes" and the like say nothing.
pub fn read_intent(question: &grov_domain::IntentQuestion) -> grov_domain::Intent {
    const ASSENT: &[&str] = &["yes", "ok", "continue", "looks good", "go on"];
    let saying: Vec<&String> = question
        .prompts
        .iter()
        .filter(|prompt| !ASSENT.contains(&prompt.trim().to_lowercase().as_str()))
        .collect();
    let is_word = |word: &&str| word.len() > 3 && !word.contains('.');
    let mut goal = "";
    let mut known: Vec<String> = Vec::new();
    for prompt in &saying {
        let mut words = grov_domain::words(prompt, 400);
        words.retain(|word| word.len() > 3);
        let is_other = words.len() >= 2 && !words.iter().any(|word| known.contains(word));
        if goal.is_empty() || is_other || prompt.starts_with("Forget that") {
            goal = prompt;
            known.clear();
        }
        known.extend(words);
    }
    let mut intent = grov_domain::Intent {
        goal: goal.chars().take(200).collect(),
        ..grov_domain::Intent::default()
    };
    for prompt in &saying {
        for word in prompt.split_whitespace() {
            let word = word.trim_end_matches(['.', ',']);
            if word.contains('.') && !intent.scope.iter().any(|known| known == word) {
                intent.scope.push(word.to_owned());
            }
        }
        if prompt.to_lowercase().contains("do not") {
            intent.constraints.push((*prompt).clone());
        }
    }
    let newest = saying.last().map_or("", |newest| newest.as_str());
    intent.turns_away = newest.starts_with("Forget that");
    intent.keywords = newest
        .split_whitespace()
        .filter(is_word)
        .map(str::to_lowercase)
        .collect();
    intent
}
