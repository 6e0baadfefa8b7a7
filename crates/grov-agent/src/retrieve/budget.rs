//! The share of a chat's context that the situation takes.

use crate::tokens::tokens;
use crate::{MemoryItem, Situation};

/// Bounds a situation, and returns the tokens that are left for passages.
///
/// Accepted rules come first and may take the whole budget. Open loops, recent events and active ideas share what the rules
/// leave of half the budget, the newest of each first.
pub(super) fn bounded(situation: Situation, budget: u32) -> (Situation, u32) {
    let Situation {
        open_loops,
        recent_events,
        active_ideas,
        rules,
    } = situation;
    let mut left = budget;
    let count = rules.len();
    let rules = fitting(rules, &mut left);
    if rules.len() < count {
        tracing::warn!(
            rules = count,
            given = rules.len(),
            "the accepted rules do not fit in the context of a chat; supersede some of them, or allow more context"
        );
    }
    // Half of the budget stays for passages, unless the rules need it.
    let mut half = left.saturating_sub(budget / 2);
    let given = half;
    // Each list has a third of it, and what the lists before it left.
    let mut share = half / 3;
    let events = fitting(recent_events, &mut share);
    half = half - half / 3 + share;
    let mut share = half / 2;
    let ideas = fitting(active_ideas, &mut share);
    half = half - half / 2 + share;
    let loops = fitting(open_loops, &mut half);
    let situation = Situation {
        open_loops: loops,
        recent_events: events,
        active_ideas: ideas,
        rules,
    };
    (situation, left - (given - half))
}

/// The ids of all items of a situation.
pub(super) fn ids(situation: &Situation) -> Vec<String> {
    let Situation {
        open_loops,
        recent_events,
        active_ideas,
        rules,
    } = situation;
    let all = open_loops
        .iter()
        .chain(recent_events)
        .chain(active_ideas)
        .chain(rules);
    all.map(|item| item.id.to_string()).collect()
}

/// The items that fit, the first ones first: one that is too long does not keep the next from being taken.
fn fitting(items: Vec<MemoryItem>, left: &mut u32) -> Vec<MemoryItem> {
    let mut fitting = Vec::new();
    for item in items {
        let size = tokens(&item.content);
        if size > *left {
            continue;
        }
        *left -= size;
        fitting.push(item);
    }
    fitting
}
