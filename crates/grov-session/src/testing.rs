//! A reading of prompts for tests.

/// What prompts ask for, in the simplest way: the goal of the newest that is no assent, every word with a dot as scope, and
/// sentences with "do not" as constraints.
pub(crate) fn read_intent(question: &grov_domain::IntentQuestion) -> grov_domain::Intent {
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
