//! Actions and findings for tests.

use crate::Assessed;
use grov_domain::{ActionSketch, ActionType, Assessment, EffectKind, Finding, Rule};

pub(crate) fn action(action_type: ActionType, files: &[&str]) -> ActionSketch {
    ActionSketch {
        action_type,
        files: files.iter().map(|file| (*file).to_owned()).collect(),
        command: None,
        effects: Vec::new(),
        reasoning: None,
        failed: None,
        output: None,
        content: None,
    }
}

pub(crate) fn edit(file: &str, content: &str) -> ActionSketch {
    ActionSketch {
        content: Some(content.to_owned()),
        ..action(ActionType::Edit, &[file])
    }
}

pub(crate) fn read(file: &str) -> ActionSketch {
    action(ActionType::Read, &[file])
}

pub(crate) fn bash(command: &str, effect: EffectKind, files: &[&str]) -> ActionSketch {
    ActionSketch {
        command: Some(command.to_owned()),
        effects: vec![effect],
        ..action(ActionType::Bash, files)
    }
}

pub(crate) fn finding(rule: Rule, at_most: u8) -> Finding {
    Finding {
        rule,
        file: None,
        reason: "the change has nothing to do with the goal".to_owned(),
        at_most,
    }
}

pub(crate) fn assessed(action: ActionSketch, rule: Rule, score: u8) -> Assessed {
    let findings = if score >= 8 {
        Vec::new()
    } else {
        vec![Finding {
            file: action.files.first().cloned(),
            ..finding(rule, score)
        }]
    };
    Assessed {
        action,
        step: None,
        assessment: Assessment { score, findings },
        is_delegated: false,
    }
}
