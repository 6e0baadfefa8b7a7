use super::*;
use crate::cache::{CacheAudit, LOOK_BACK, PromptCache, RenderedPrompt};
use crate::request::{MessagesRequest, Role, is_type};
use std::collections::{BTreeMap, HashMap, HashSet};

/// The number and length of the histories in these tests.
const HISTORIES: u64 = 70;
const LENGTH: usize = 60;

fn sent(operations: &[Operation]) -> Vec<Sent> {
    play(operations)
        .into_iter()
        .filter_map(|event| match event {
            Event::Sent(sent) => Some(sent),
            Event::Restart => None,
        })
        .collect()
}

fn parsed(sent: &Sent) -> MessagesRequest {
    MessagesRequest::parse(&sent.body).unwrap()
}

/// A cache without a minimum prefix length, so that small bodies are cached.
fn cache() -> PromptCache {
    MODELS.iter().fold(PromptCache::default(), |cache, model| {
        cache.with_minimum(model, 1)
    })
}

fn kind(operation: &Operation) -> String {
    let text = format!("{operation:?}");
    text.split([' ', '{']).next().unwrap().to_owned()
}

/// The kinds of operations.
const KINDS: [&str; 23] = [
    "Begin",
    "Say",
    "Call",
    "Answer",
    "Interrupt",
    "GiveUp",
    "Repeat",
    "Suggest",
    "Aside",
    "GoOn",
    "Remind",
    "ClearResults",
    "NextDay",
    "Wait",
    "ChangeModel",
    "Compact",
    "Clear",
    "Resume",
    "Fork",
    "Rewind",
    "Delegate",
    "Twin",
    "Restart",
];

/// All content on the wire except the numbers that make texts and ids unique.
fn shape(events: &[Event]) -> Vec<String> {
    let without_numbers = |text: &str| text.replace(|character: char| character.is_ascii_digit(), "");
    events
        .iter()
        .map(|event| match event {
            Event::Restart => "restart".to_owned(),
            Event::Sent(sent) => {
                let body = String::from_utf8_lossy(&sent.body);
                let date = body
                    .split("Today's date is ")
                    .nth(1)
                    .and_then(|rest| rest.get(..10));
                let model = parsed(sent).model;
                format!(
                    "{} {model} {date:?} {} {}",
                    sent.at,
                    sent.began,
                    without_numbers(&body)
                )
            }
        })
        .collect()
}

#[test]
fn every_kind_of_operation_occurs_and_has_an_effect() {
    /// The number of operations checked per kind, and how many of them must have had an effect.
    const LOOKED_AT: usize = 30;
    const EFFECTIVE: usize = 8;
    let mut looked_at: BTreeMap<String, (usize, usize)> = BTreeMap::new();
    for seed in 0..HISTORIES {
        let operations = Operation::random(seed, 30);
        let whole = shape(&play(&operations));
        for (at, operation) in operations.iter().enumerate() {
            let (seen, effective) = looked_at.entry(kind(operation)).or_default();
            if *seen == LOOKED_AT {
                continue;
            }
            let mut without = operations.clone();
            without.remove(at);
            *seen += 1;
            *effective += usize::from(shape(&play(&without)) != whole);
        }
    }
    for kind in KINDS {
        let effective = looked_at.get(kind).map_or(0, |(_, effective)| *effective);
        assert!(effective >= EFFECTIVE, "{kind}: {looked_at:?}");
    }
    assert_eq!(
        looked_at.len(),
        KINDS.len(),
        "a kind is not in the table: {looked_at:?}"
    );
}

#[test]
fn requests_are_valid_and_have_the_stated_purpose() {
    let mut purposes: HashMap<String, usize> = HashMap::new();
    for seed in 0..HISTORIES {
        let operations = Operation::random(seed, LENGTH);
        for (at, sent) in sent(&operations).iter().enumerate() {
            let request = parsed(sent);
            let where_it_is = format!("history {seed}, request {at}, {:?}", operations[sent.operation]);
            assert_eq!(request.refusal(), None, "{where_it_is}: {}", request.body);
            assert_eq!(request.purpose(), sent.purpose, "{where_it_is}");
            assert_eq!(request.session_id().as_deref(), Some(sent.session.as_str()));
            *purposes
                .entry(format!("{:?} {}", sent.purpose, sent.agent.is_some()))
                .or_default() += 1;
        }
    }
    for purpose in [
        "Step false",
        "Step true",
        "Title false",
        "Suggestion false",
        "Compaction false",
        "WebSearch false",
    ] {
        assert!(
            purposes.get(purpose).is_some_and(|count| *count >= 8),
            "{purpose}: {purposes:?}"
        );
    }
}

/// Properties of the client's bodies on the wire, each with a minimum number of occurrences.
#[test]
fn request_shapes_of_the_real_client_occur() {
    let mut seen: BTreeMap<&str, usize> = BTreeMap::new();
    let mut see = |what: &'static str, times: usize| *seen.entry(what).or_default() += times;
    for seed in 0..HISTORIES {
        for sent in sent(&Operation::random(seed, LENGTH)) {
            let request = parsed(&sent);
            let text = String::from_utf8_lossy(&sent.body);
            let json = request.body.get("messages").unwrap().as_array().unwrap();
            see(
                "a user message as a string",
                json.iter()
                    .filter(|m| m.get_str("role") == Some("user") && m.get_str("content").is_some())
                    .count(),
            );
            see(
                "a system message",
                json.iter()
                    .filter(|m| m.get_str("role") == Some("system"))
                    .count(),
            );
            see(
                "a queued prompt",
                text.matches("The user sent a new message while").count(),
            );
            see(
                "an interruption",
                text.matches("[Request interrupted by user]").count(),
            );
            see(
                "an interrupted tool",
                text.matches("[Request interrupted by user for tool use]").count(),
            );
            see(
                "a cleared result",
                text.matches("[Old tool result content cleared]").count(),
            );
            see(
                "a summary",
                text.matches("This session is being continued").count(),
            );
            see(
                "not streamed",
                usize::from(!request.stream && sent.purpose == Purpose::Step),
            );
            see("refused", usize::from(!sent.began));
            for message in request
                .messages
                .iter()
                .filter(|message| message.role == Role::User)
            {
                let results = message
                    .blocks
                    .iter()
                    .filter(|block| is_type(block, "tool_result"));
                let contents: Vec<_> = results.filter_map(|block| block.get_str("content")).collect();
                see("a wide turn", usize::from(contents.len() >= 8));
                see(
                    "a reminder inside a result",
                    contents
                        .iter()
                        .filter(|text| text.contains("<system-reminder>"))
                        .count(),
                );
                let beside = contents.len() < message.blocks.len() && !contents.is_empty();
                see("a text beside results", usize::from(beside));
            }
        }
    }
    assert_eq!(seen.len(), 12);
    for (what, times) in &seen {
        assert!(*times >= 20, "{what}: {times} times; all: {seen:?}");
    }
}

/// Counts the blocks between the breakpoints of consecutive steps of a conversation.
#[test]
fn breakpoint_distances_around_the_look_back_limit_occur() {
    let mut distances: BTreeMap<usize, usize> = BTreeMap::new();
    for seed in 0..HISTORIES {
        let mut last: HashMap<(String, Option<String>), usize> = HashMap::new();
        for sent in sent(&Operation::random(seed, LENGTH)) {
            let prompt = RenderedPrompt::of(&parsed(&sent));
            let Some((at, _)) = prompt
                .breakpoints()
                .last()
                .filter(|_| sent.purpose == Purpose::Step)
            else {
                continue;
            };
            if let Some(before) = last.insert((sent.session, sent.agent), at) {
                *distances.entry(at.saturating_sub(before)).or_default() += 1;
            }
        }
    }
    for distance in LOOK_BACK - 3..=LOOK_BACK + 3 {
        assert!(
            distances.get(&distance).is_some_and(|count| *count >= 3),
            "{distance}: {distances:?}"
        );
    }
}

/// Operations that do not disturb the client's own cache.
fn is_calm(operation: &Operation) -> bool {
    match operation {
        Operation::Call { calls, hook, .. } => *calls <= 6 && !hook,
        Operation::Fork { model, .. } => *model == 0,
        // Text appended on the user's side goes before the system message that follows it, which therefore moves.
        Operation::Interrupt { .. } | Operation::GiveUp { .. } => false,
        Operation::ClearResults { .. }
        | Operation::NextDay
        | Operation::Wait { .. }
        | Operation::ChangeModel { .. }
        | Operation::Compact { .. }
        | Operation::Clear { .. }
        | Operation::Resume { .. }
        | Operation::Rewind { .. } => false,
        _ => true,
    }
}

#[test]
fn an_undisturbed_client_reads_everything_it_cached() {
    let (mut continued, mut forked, mut inherited) = (0, 0, 0);
    for seed in 0..HISTORIES {
        let mut operations = Operation::random(seed, 2 * LENGTH);
        operations.retain(is_calm);
        let mut audit = CacheAudit::starting_with(cache());
        let mut cached: HashMap<(String, Option<String>), usize> = HashMap::new();
        for (at, sent) in sent(&operations).iter().enumerate() {
            let compared = match sent.began {
                true => audit.observe(&sent.body, &sent.body, sent.at),
                false => audit.observe_refused(&sent.body, &sent.body, sent.at),
            };
            let compared = compared.unwrap();
            assert_eq!(compared.cached_as_sent, compared.cached_as_arrived);
            assert_eq!(compared.cached_as_sent, compared.within_any_reach);
            if matches!(sent.purpose, Purpose::Title | Purpose::WebSearch) {
                continue;
            }
            let who = (sent.session.clone(), sent.agent.clone());
            let operation = &operations[sent.operation];
            match cached.get(&who) {
                Some(before) => {
                    assert!(
                        compared.cached_as_sent >= *before,
                        "history {seed}, request {at}, {operation:?}: {compared:?}, before {before}"
                    );
                    continued += 1;
                }
                // The head of the request, which all share, is 6 blocks long with the main tools.
                None if matches!(operation, Operation::Fork { .. }) => {
                    forked += usize::from(compared.cached_as_sent > 7)
                }
                None if sent.agent.is_some() => inherited += usize::from(compared.cached_as_sent > 7),
                None => {}
            }
            if sent.began {
                cached.insert(who, compared.left_as_sent);
            }
        }
    }
    assert!(
        continued > 500 && forked > 20 && inherited > 20,
        "{continued} {forked} {inherited}"
    );
}

#[test]
fn sessions_and_families_are_distinguished() {
    let (mut twins, mut forks) = (0, 0);
    for seed in 0..HISTORIES {
        let operations = Operation::random(seed, LENGTH);
        let mut families: HashMap<String, HashSet<usize>> = HashMap::new();
        let mut sessions: HashMap<usize, HashSet<String>> = HashMap::new();
        let mut messages: HashMap<String, HashSet<String>> = HashMap::new();
        for sent in sent(&operations) {
            if sent.purpose != Purpose::Step {
                continue;
            }
            if sent.agent.is_none() {
                families
                    .entry(sent.session.clone())
                    .or_default()
                    .insert(sent.family);
            }
            sessions
                .entry(sent.family)
                .or_default()
                .insert(sent.session.clone());
            let text = parsed(&sent).body.get("messages").unwrap().to_string();
            messages.entry(text).or_default().insert(sent.session);
        }
        assert!(families.values().all(|families| families.len() == 1));
        forks += sessions.values().filter(|sessions| sessions.len() > 1).count();
        twins += messages.values().filter(|sessions| sessions.len() > 1).count();
    }
    assert!(twins > 20 && forks > 20, "{twins} {forks}");
}
