//! Where a context is cut, and whether that pays. Pure.

use super::history::History;
use grov_domain::CutEffect;
use grov_wire::{BlockKind, Link, Message, RequestIndex, Role};
use memchr::memmem;

/// The part of the context window that the newest messages may fill after the cut, as a divisor.
const KEPT_DIVISOR: u64 = 10;

/// The part of the context window that a clear has to free, as a divisor. Otherwise the next clear would follow soon.
const FREED_DIVISOR: u64 = 4;

/// The requests over which a clear has to pay.
const REQUESTS: u64 = 10;

/// Prices of a model's input, in USD per million tokens.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct InputPrices {
    /// Reading from the prompt cache.
    pub cache_read: f64,
    /// Writing to the prompt cache for five minutes.
    pub cache_write: f64,
}

/// Prices relative to uncached input, which hold for most models.
const USUAL: InputPrices = InputPrices {
    cache_read: 0.1,
    cache_write: 1.25,
};

/// The price of a write for an hour relative to one for five minutes.
const HOUR_FACTOR: f64 = 1.6;

/// A cut that could be made.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct CutChoice {
    /// The first part that is kept.
    pub(super) link: Link,
    /// Its effect.
    pub(super) effect: CutEffect,
    /// Whether it saves more in the next ten requests than it costs now, and frees enough of the window.
    pub(super) pays: bool,
    /// Whether the messages that are kept are much more than should be.
    pub(super) keeps_much: bool,
}

/// The context of a conversation after a response.
#[derive(Clone, Copy, Debug)]
pub(super) struct Measured {
    /// Its size in tokens.
    pub(super) tokens: u64,
    /// The size of the model's context window in tokens.
    pub(super) window: u64,
    /// The prices of the model, if they are known.
    pub(super) prices: Option<InputPrices>,
}

/// Chooses where to cut a history: as early as the newest messages fit into a tenth of the context window, else as late as
/// possible. `summary` is the size of the block that stands for the beginning, in tokens, and `covered` the last part that it
/// covers. Returns `None` if the history has no place for a cut before or directly after that.
pub(super) fn choose(
    history: &History<'_>,
    measured: Measured,
    summary: u64,
    covered: &Link,
) -> Option<CutChoice> {
    let index = history.index();
    let messages: u64 = history.messages().map(size).sum();
    let all: u64 = index.messages().map(size).sum();
    let fixed = (index.body().len() as u64).saturating_sub(all);
    // Counts images as text, so that they rather keep less than more.
    let tokens_of = |bytes: u64| {
        let total = u128::from((fixed + messages).max(1));
        u64::try_from(u128::from(bytes) * u128::from(measured.tokens) / total).unwrap_or(u64::MAX)
    };
    let most = measured.window / KEPT_DIVISOR;
    let mut kept = 0;
    let mut chosen: Option<(&Link, u64)> = None;
    for message in history.messages().rev() {
        kept += size(message);
        let is_covered = |link: &&Link| follows_covered(history, link, covered);
        let Some(link) = first_link(history, message).filter(is_covered) else {
            continue;
        };
        if chosen.is_some() && tokens_of(kept) > most {
            break;
        }
        chosen = Some((link, kept));
    }
    let (link, kept) = chosen?;
    let opening: u64 = index
        .opening_reminders()
        .map(|block| block.raw().len() as u64)
        .sum::<u64>()
        + index.opening_system().map_or(0, size);
    let before = tokens_of(messages);
    let after = tokens_of(kept + opening) + summary;
    let (cost, saving) = cost_and_saving(before, after, measured.prices.unwrap_or(USUAL), index);
    Some(CutChoice {
        link: *link,
        effect: CutEffect {
            tokens_before: measured.tokens,
            tokens_after: tokens_of(fixed) + after,
            cost: measured.prices.map(|_| cost.round() as u64),
            saving: measured.prices.map(|_| saving.round() as u64),
        },
        pays: saving > cost && before.saturating_sub(after) >= measured.window / FREED_DIVISOR,
        keeps_much: tokens_of(kept) > most.saturating_mul(2),
    })
}

/// Returns the cost of writing the new messages to the cache instead of reading them, and what the next requests save by not
/// reading the rest of the old ones. Tokens at USD per million are millionths of a USD.
fn cost_and_saving(before: u64, after: u64, prices: InputPrices, index: &RequestIndex) -> (f64, f64) {
    // In a text, the quotes are escaped.
    let is_hour = memmem::find(index.body(), br#""ttl":"1h""#).is_some();
    let write = prices.cache_write * if is_hour { HOUR_FACTOR } else { 1.0 };
    let cost = after as f64 * (write - prices.cache_read).max(0.0);
    let saving = before.saturating_sub(after) as f64 * prices.cache_read * REQUESTS as f64;
    (cost, saving)
}

/// Returns whether everything before a part is covered.
fn follows_covered(history: &History<'_>, link: &Link, covered: &Link) -> bool {
    let before = history.links().iter().take_while(|before| before.key != link.key);
    before
        .last()
        .is_none_or(|before| before.message <= covered.message)
}

/// Returns the first part of a message if the history can be cut before it.
fn first_link<'a>(history: &History<'a>, message: Message<'a>) -> Option<&'a Link> {
    if message.role() != Role::Assistant {
        return None;
    }
    let start = history
        .links()
        .partition_point(|link| link.message < message.number());
    let link = history
        .links()
        .get(start)
        .filter(|link| link.message == message.number())?;
    history.index().cut_point(link.message)?;
    keeps_thinking(history, message).then_some(link)
}

/// Returns whether the thinking stays as the API wants it. If a budget for thinking is set, the tool loop in progress must begin
/// with thinking.
fn keeps_thinking(history: &History<'_>, message: Message<'_>) -> bool {
    let thinking = history.index().field("thinking").unwrap_or_default();
    let has_budget = thinking.contains("\"enabled\"");
    let begins_with_thinking = message.blocks().next().map(|block| block.kind()) == Some(BlockKind::Thinking);
    if !has_budget || begins_with_thinking {
        return true;
    }
    let mut later = history
        .messages()
        .filter(|later| later.number() > message.number());
    later.any(|later| {
        let is_result = |block: grov_wire::Block<'_>| block.kind() == BlockKind::ToolResult;
        later.role() == Role::User && !later.blocks().any(is_result)
    })
}

fn size(message: Message<'_>) -> u64 {
    message.raw().len() as u64
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::injection::history::Beginning;
    use bytes::Bytes;
    use serde_json::{Value, json};

    fn step(number: usize, thinks: bool, size: usize) -> [Value; 2] {
        let id = format!("t{number}");
        let mut content = vec![json!({"type": "tool_use", "id": id, "name": "Bash", "input": {}})];
        if thinks {
            content.insert(0, json!({"type": "thinking", "thinking": "x", "signature": "y"}));
        }
        let result = json!({"type": "tool_result", "tool_use_id": id, "content": "r".repeat(size)});
        [
            json!({"role": "assistant", "content": content}),
            json!({"role": "user", "content": [result]}),
        ]
    }

    /// One prompt and the steps of its tool loop.
    fn request(thinking: &Value, steps: impl Iterator<Item = [Value; 2]>) -> RequestIndex {
        let mut messages = vec![json!({"role": "user", "content": "do it"})];
        messages.extend(steps.flatten());
        let body = json!({"model": "m", "thinking": thinking, "messages": messages, "stream": true});
        RequestIndex::parse(&Bytes::from(body.to_string())).unwrap()
    }

    fn choice(index: &RequestIndex, tokens: u64) -> Option<CutChoice> {
        let skeleton = index.skeleton();
        let history = History::new(index, &skeleton, Beginning::default());
        let prices = InputPrices {
            cache_read: 0.5,
            cache_write: 6.25,
        };
        let measured = Measured {
            tokens,
            window: 200_000,
            prices: Some(prices),
        };
        choose(&history, measured, 1000, skeleton.links().last()?)
    }

    #[test]
    fn a_long_tool_loop_is_cut_inside() {
        let index = request(
            &json!({"type": "adaptive"}),
            (0..300).map(|number| step(number, false, 1000)),
        );
        let chosen = choice(&index, 180_000).unwrap();
        let kept = index.messages().len() - chosen.link.message;
        assert!(
            (60..=68).contains(&kept),
            "a tenth of the window of 601 messages: {kept}"
        );
        assert!(index.cut_point(chosen.link.message).is_some());
        assert!(chosen.pays);
        let CutEffect {
            tokens_before,
            tokens_after,
            cost,
            saving,
        } = chosen.effect;
        assert_eq!(tokens_before, 180_000);
        assert!((20_000..22_000).contains(&tokens_after), "{tokens_after}");
        // 21,000 tokens at 5.75, and ten times 159,000 at 0.5.
        assert!((114_000..123_000).contains(&cost.unwrap()), "{cost:?}");
        assert!((790_000..800_000).contains(&saving.unwrap()), "{saving:?}");
    }

    #[test]
    fn nothing_is_left_out_that_the_summary_does_not_cover() {
        let index = request(
            &json!({"type": "adaptive"}),
            (0..300).map(|number| step(number, false, 1000)),
        );
        let skeleton = index.skeleton();
        let history = History::new(&index, &skeleton, Beginning::default());
        let measured = Measured {
            tokens: 180_000,
            window: 200_000,
            prices: None,
        };
        let chosen = |message: usize| {
            let covered = skeleton.links().iter().rfind(|link| link.message <= message);
            choose(&history, measured, 1000, covered.unwrap()).unwrap()
        };
        assert_eq!((chosen(400).link.message, chosen(400).keeps_much), (401, true));
        assert_eq!(
            (chosen(560).link.message, chosen(560).keeps_much),
            (chosen(600).link.message, false)
        );
    }

    #[test]
    fn a_conversation_of_one_huge_message_does_not_pay() {
        let huge = |number| step(number, false, if number == 1 { 500_000 } else { 10 });
        let index = request(&json!({"type": "adaptive"}), (0..2).map(huge));
        let chosen = choice(&index, 180_000).unwrap();
        assert!(!chosen.pays, "{chosen:?}");
        assert_eq!(choice(&request(&Value::Null, std::iter::empty()), 180_000), None);
    }

    #[test]
    fn a_budget_for_thinking_needs_thinking_after_the_cut() {
        let thinks = |number: usize| number.is_multiple_of(50);
        let steps = || (0..300).map(|number| step(number, thinks(number), 1000));
        let with_budget = request(&json!({"type": "enabled", "budget_tokens": 1024}), steps());
        let chosen = choice(&with_budget, 180_000).unwrap();
        let message = with_budget.message(chosen.link.message).unwrap();
        assert_eq!(message.blocks().next().unwrap().kind(), BlockKind::Thinking);
        let adaptive = request(&json!({"type": "adaptive"}), steps());
        assert!(choice(&adaptive, 180_000).unwrap().link.message > chosen.link.message);
    }
}
