//! What rules remember of a conversation, and pass on.

use super::*;

#[test]
fn memory_is_bounded() {
    let mut rules = Rules::new(GoalContract::default(), None);
    for n in 0..5_000 {
        rules.assess(
            &edit(&format!("src/{n}.rs"), &format!("fn f{n}() {{}}")),
            Some(&n.to_string()),
        );
    }
    assert_eq!(rules.state.history.newest().count(), 500);
}

#[test]
fn the_memo_of_another_version_is_not_read() {
    let rules = Rules::new(GoalContract::default(), None);
    let text = serde_json::to_string(&rules.memo()).unwrap();
    let newer = text.replacen("\"version\":2", "\"version\":999", 1);
    assert_ne!(text, newer);
    let memo = serde_json::from_str(&newer).unwrap();
    assert!(Rules::restore(GoalContract::default(), None, memo).is_none());
}
