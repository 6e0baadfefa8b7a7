//! The one action that is demanded after corrections failed.

use super::clean::clean;
use super::text::shorten;
use super::{goal, scope};
use grov_domain::{ForcedRecovery, ForcedRecoveryQuestion, RecoveryStep};

/// The action that is demanded: the file that the newest instruction names is to be read, else what went off goal is to be
/// looked at and undone.
pub fn generate_forced_recovery(question: &ForcedRecoveryQuestion) -> ForcedRecovery {
    let instruction = clean(&question.newest_instruction);
    let wanted = goal::goal_of(instruction.sentences());
    let original = shorten(&question.goal, goal::MOST_CHARACTERS);
    let wanted = if wanted.is_empty() {
        original.clone()
    } else {
        wanted
    };
    let named = scope::paths(&instruction.whole)
        .into_iter()
        .chain(scope::paths(&question.goal))
        .find(|path| !path.contains('*'));
    let off_goal = question
        .actions
        .iter()
        .rev()
        .filter(|action| action.changes_build_inputs())
        .find_map(|action| action.files.first());
    let mandatory_action = match (named, off_goal) {
        (Some(file), _) => RecoveryStep {
            action: format!("Read {file} and go on there with what was asked"),
            file: Some(file),
        },
        (None, Some(file)) => RecoveryStep {
            file: Some(file.clone()),
            action: format!("Look at the changes of {file} and undo what the goal does not need"),
        },
        (None, None) => RecoveryStep {
            file: None,
            action: "Tell the user where the work stands and ask how to go on".to_owned(),
        },
    };
    let mut prompt = String::from("Stop. The last actions do not serve the goal.");
    if !original.is_empty() {
        prompt.push_str(&format!("\nGoal: {original}"));
    }
    if wanted != original && !wanted.is_empty() {
        prompt.push_str(&format!("\nAsked last: {wanted}"));
    }
    for diagnostic in question.diagnostics.iter().rev().take(3) {
        prompt.push_str(&format!("\nFound: {}", shorten(diagnostic, 200)));
    }
    for constraint in question.constraints.iter().take(8) {
        prompt.push_str(&format!("\nLimit: {}", shorten(constraint, 200)));
    }
    prompt.push_str(&format!("\nDo this first: {}.", mandatory_action.action));
    ForcedRecovery {
        recovery_prompt: prompt,
        mandatory_action,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_file_that_was_asked_for_comes_first() {
        let recovery = generate_forced_recovery(&ForcedRecoveryQuestion {
            goal: "Fix the parser".to_owned(),
            newest_instruction: "Fix the loop in src/parser.rs.".to_owned(),
            constraints: vec!["don't touch the lexer".to_owned()],
            diagnostics: vec!["Changed outside the scope: web/site.css.".to_owned()],
            ..ForcedRecoveryQuestion::default()
        });
        assert_eq!(recovery.mandatory_action.file.as_deref(), Some("src/parser.rs"));
        for part in [
            "Fix the parser",
            "Fix the loop",
            "web/site.css",
            "don't touch the lexer",
            "src/parser.rs",
        ] {
            assert!(recovery.recovery_prompt.contains(part), "{part}");
        }
    }

    #[test]
    fn where_nothing_is_known_the_user_is_asked() {
        let recovery = generate_forced_recovery(&ForcedRecoveryQuestion::default());
        assert_eq!(recovery.mandatory_action.file, None);
        assert!(recovery.mandatory_action.action.contains("ask"));
    }
}
