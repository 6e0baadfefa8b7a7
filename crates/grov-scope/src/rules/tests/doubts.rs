//! Changes that seem to have nothing to do with the goal.

use super::*;

/// The scores of the changes of some files, each looked at before, under a goal.
fn changes(goal: &str, shown: &str, texts: &[(&str, &str)]) -> Vec<u8> {
    let held = GoalContract {
        goal: goal.to_owned(),
        instructions: vec![goal.to_owned()],
        ..GoalContract::default()
    };
    let mut rules = Rules::new(held, Some("/home/me/p"));
    rules.record_output(shown);
    let change = |(file, text): &(&str, &str)| {
        rules.assess(&read(file), None);
        rules.assess(&edit(file, text), None).score
    };
    texts.iter().map(change).collect()
}

const SCATTERED: &[(&str, &str)] = &[
    (
        "billing/invoice.py",
        "    total = sum(line.amount for line in lines)\n    return Decimal(total)",
    ),
    (
        "web/src/hero/Banner.tsx",
        "  return <section className=\"hero\">{headline}</section>;",
    ),
    (
        "infra/network/dns.tf",
        "resource \"aws_route53_zone\" \"internal\" { name = \"corp\" }",
    ),
    (
        "tools/release/notes.rb",
        "  changelog.entries.group_by(&:author).each { |who, list| emit(who, list) }",
    ),
    (
        "mobile/ios/Login.swift",
        "    let controller = UIHostingController(rootView: PinPad())",
    ),
    (
        "ml/train/loss.jl",
        "gradient(x, y) = mean(softmax(x) .- onehot(y))",
    ),
];

#[test]
fn broad_work_is_doubted_at_most_now_and_then() {
    for goal in [
        "Remove unused code everywhere",
        "Fix every clippy and eslint warning",
        "Upgrade all packages to their newest versions",
        "Implement the plan in notes/next.md",
        "Work through the review comments of Ana",
        "CI fails on main, make it green again",
        "Redenumește Client în Customer peste tot",
    ] {
        let scores = changes(goal, "", SCATTERED);
        assert!(scores.iter().all(|score| *score >= 4), "{goal}: {scores:?}");
        let doubted = scores.iter().filter(|score| **score < 5).count();
        assert!(doubted <= 1, "{goal}: {scores:?}");
    }
    // The same changes are off a goal that is about one thing.
    let scores = changes("Fix the overflow in billing/invoice.py", "", SCATTERED);
    assert!(
        scores.iter().filter(|score| **score < 5).count() >= 3,
        "{scores:?}"
    );
}

#[test]
fn what_a_log_says_of_files_ties_their_changes() {
    let goal = "Fix the overflow in billing/invoice.py";
    let log = "web/src/hero/Banner.tsx(4,9): error TS2304: cannot find name 'headline'\n\
        infra/network/dns.tf:1: invalid zone in resource aws_route53_zone internal corp\n\
        tools/release/notes.rb:12: undefined method emit for changelog entries author\n\
        mobile/ios/Login.swift:3:1: error: no such controller PinPad UIHostingController\n\
        ml/train/loss.jl:1 gradient softmax onehot is not defined\n";
    let off = |shown: &str| {
        let scores = changes(goal, shown, SCATTERED);
        scores.iter().filter(|score| **score < 5).count()
    };
    assert_eq!(off(log), 0);
    // A listing names every file and ties none.
    let listing: String = SCATTERED.iter().map(|(file, _)| format!("{file}\n")).collect();
    assert_eq!(off(&listing), off(""));
}

#[test]
fn the_first_change_after_a_new_goal_is_no_doubt() {
    let first = "Fix the token refresh in src/auth/token.ts";
    let contract = |goal: &str, instructions: &[&str]| GoalContract {
        goal: goal.to_owned(),
        instructions: instructions.iter().map(|text| (*text).to_owned()).collect(),
        ..GoalContract::default()
    };
    let footer = edit("web/footer.css", "margin: 0; color: teal;");
    let score = |goal: &str, second: &str| {
        let mut rules = Rules::new(contract(first, &[first]), Some("/home/me/p"));
        rules.assess(
            &edit("src/auth/token.ts", "export const ttl = renew(session);"),
            None,
        );
        rules.set_contract(contract(goal, &[first, second]));
        rules.assess(&footer, None).score
    };
    assert_eq!(
        score("rather fix the footer", "Forget that; rather fix the footer"),
        10
    );
    assert!(score(first, "go on please") < 5);
}
