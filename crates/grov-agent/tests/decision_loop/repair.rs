//! Answers that do not hold.

use super::*;

#[tokio::test]
async fn a_wrong_answer_is_repaired_with_the_words_of_the_validator() {
    let world = World::new("Assistant.").await;
    let wrong = act(json!([{"name": "jira_create", "arguments": {"summary": "x"}}]));
    let right = act(json!([{"name": "jira.create", "arguments": {"summary": "x"}}]));
    let (answer, model) = chat(&world, &[&wrong, &right], "File a ticket: x").await;
    assert_eq!(calls(&answer).len(), 1);
    let prompts = model.prompts();
    assert_eq!(prompts.len(), 2);
    let [.., wrong_again, words] = &prompts[1].messages[..] else {
        panic!("two more messages")
    };
    assert_eq!(wrong_again.text.as_str(), wrong);
    assert!(
        words
            .text
            .contains("there is no tool \"jira_create\"; the tools are: memory.propose_add")
    );
    assert_eq!(
        (answer.usage.input, answer.usage.output, answer.cost),
        (200, 20, Some(MicroUsd(14)))
    );
}

#[tokio::test]
async fn what_is_wrong_twice_becomes_a_question_and_never_a_call() {
    let invented = act(json!([{"name": "sms.send", "arguments": {}}]));
    let unfit = act(json!([{"name": "jira.create", "arguments": {"summary": 5}}]));
    let half = act(json!([{"name": "status.get", "arguments": {}}, {"name": "sms.send", "arguments": {}}]));
    let unknown = act(
        json!([{"name": "memory.propose_update", "arguments": {"id": "00000000-0000-0000-0000-000000000000", "status": "done"}}]),
    );
    for (answer, problem) in [
        ("I will do it right away!", "has no JSON object"),
        ("", "empty"),
        (invented.as_str(), "there is no tool \"sms.send\""),
        (unfit.as_str(), "5 is not of type"),
        (half.as_str(), "there is no tool"),
        (unknown.as_str(), "there is no memory item"),
    ] {
        let world = World::new("Assistant.").await;
        let (found, model) = chat(&world, &[answer, answer], "Do it").await;
        let Decision::Ask { question, reason, .. } = &found.response.decision else {
            panic!("{answer}")
        };
        assert!(
            question.contains(problem) && reason.contains(problem),
            "{answer}: {question} {reason}"
        );
        assert_eq!(model.prompts().len(), 2);
        assert!(stored_calls(&world).await.is_empty() && stored_items(&world).await.is_empty());
    }
}
