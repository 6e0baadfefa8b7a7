//! Actions and findings for tests.

use crate::assessed_action::AssessedAction;
use grov_domain::{ActionSketch, ActionType, Assessment, EffectKind, Finding, Rule};

/// For tests.
pub fn action(action_type: ActionType, files: &[&str]) -> ActionSketch {
    ActionSketch {
        files: files.iter().map(|file| (*file).to_owned()).collect(),
        ..ActionSketch::empty(action_type)
    }
}

/// For tests.
pub fn edit(file: &str, content: &str) -> ActionSketch {
    ActionSketch {
        content: Some(content.to_owned()),
        ..action(ActionType::Edit, &[file])
    }
}

/// For tests.
pub fn read(file: &str) -> ActionSketch {
    action(ActionType::Read, &[file])
}

/// For tests.
pub fn bash(command: &str, effect: EffectKind, files: &[&str]) -> ActionSketch {
    ActionSketch {
        command: Some(command.to_owned()),
        effects: vec![effect],
        ..action(ActionType::Bash, files)
    }
}

/// For tests.
pub fn finding(rule: Rule, at_most: u8) -> Finding {
    Finding {
        rule,
        file: None,
        reason: "the change has nothing to do with the goal".to_owned(),
        at_most,
    }
}

/// For tests.
pub fn assessed(action: ActionSketch, rule: Rule, score: u8) -> AssessedAction {
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
        assessment: Assessment { score, findings },
        is_delegated: false,
        put_back: Vec::new(),
    }
}

/// What prompts ask for, in the simplest way: the goal of the newest that is no assent, every word with a dot as scope, and
/// sentences with "do not" as constraints.
pub fn read_intent(question: &grov_domain::IntentQuestion) -> grov_domain::Intent {
    const ASSENT: &[&str] = &["yes", "ok", "continue", "looks good", "go on"];
    let saying: Vec<&String> = question
        .prompts
        .iter()
        .filter(|prompt| !ASSENT.contains(&prompt.trim().to_lowercase().as_str()))
        .collect();
    let mut intent = grov_domain::Intent {
        goal: saying
            .last()
            .map_or(String::new(), |goal| goal.chars().take(200).collect()),
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
    let is_word = |word: &&str| word.len() > 3 && !word.contains('.');
    intent.keywords = newest
        .split_whitespace()
        .filter(is_word)
        .map(str::to_lowercase)
        .collect();
    intent
}
