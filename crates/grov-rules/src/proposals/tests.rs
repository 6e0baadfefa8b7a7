use super::*;

fn texts(list: &[&str]) -> Vec<String> {
    list.iter().map(|text| (*text).to_owned()).collect()
}

fn of(prompts: &[&str], answer: &str) -> Vec<(MemoryType, String)> {
    let prompts = texts(prompts);
    let question = grov_domain::ReasoningQuestion {
        prompts: prompts.clone(),
        answer: answer.to_owned(),
        ..grov_domain::ReasoningQuestion::default()
    };
    let decisions = crate::extract_reasoning(&question).decisions;
    let material = ProposalMaterial {
        prompts: &prompts,
        answer,
        decisions: &decisions,
        ..ProposalMaterial::default()
    };
    let found = proposals(&material).into_iter();
    found.map(|one| (one.kind, one.content)).collect()
}

#[test]
fn a_standing_rule_is_proposed_and_a_limit_of_the_task_is_not() {
    let found = of(
        &["Add a date picker. From now on use date-fns, never moment."],
        "Done.",
    );
    assert_eq!(
        found,
        [(
            MemoryType::Rule,
            "From now on use date-fns, never moment.".to_owned()
        )]
    );
    assert_eq!(
        of(&["don't touch the tests, just make it faster"], "It is faster."),
        []
    );
}

#[test]
fn a_repeated_limit_is_a_rule_also_across_tasks() {
    let found = of(
        &[
            "rename it. And don't use default exports.",
            "add another. again: no default exports please",
        ],
        "Done.",
    );
    assert_eq!(found.len(), 1, "{found:?}");
    let prompts = texts(&["Write the guide. Don't use default exports."]);
    let earlier = texts(&["don't use default exports"]);
    let material = ProposalMaterial {
        prompts: &prompts,
        earlier: &earlier,
        ..ProposalMaterial::default()
    };
    assert_eq!(proposals(&material).len(), 1);
    let known = texts(&["Don't use default exports."]);
    assert_eq!(
        proposals(&ProposalMaterial {
            known: &known,
            ..material
        }),
        []
    );
}

#[test]
fn a_decision_needs_an_alternative_and_an_open_end_is_stated() {
    let answer = "Search tolerates typos. I went with trigram indexes instead of Elasticsearch, because a second datastore would need \
                  backups. Not done: the synonyms are not loaded yet. Let me know if you want more.";
    let found = of(&["Make the search tolerant"], answer);
    let kinds: Vec<MemoryType> = found.iter().map(|(kind, _)| *kind).collect();
    assert_eq!(kinds, [MemoryType::Decision, MemoryType::OpenLoop], "{found:?}");
    assert_eq!(
        of(
            &["Why is it red?", "fix it"],
            "It failed because Node was 16. I set it to 20."
        ),
        []
    );
}

#[test]
fn nothing_with_a_secret_in_it_is_proposed() {
    assert_eq!(
        of(&["From now on use the key [REDACTED:api-key] for tests."], ""),
        []
    );
}
