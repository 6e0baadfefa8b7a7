//! Lets a model read memories once, in the background, for harm that rules do not find.
//!
//! The verdict is stored with the memory, so that prompts read nothing more. It holds for exactly the text that was read;
//! so does the word of a user that a text is fine, which overrules model and rules.

use crate::suspicion::add_texts;
use grov_domain::{
    Harm, Judge, MemoryStore, ModelScreening, ScreeningQuestion, StoreError, Task, UnjudgedMemory,
};
use grov_redact::Redactor;
use time::OffsetDateTime;
use xxhash_rust::xxh3::Xxh3;

/// Memories that are read at once, and parts of memories in one question.
const MEMORIES_PER_QUESTION: u32 = 8;
const PARTS_PER_QUESTION: usize = 8;
/// Maximum bytes of a part, of what two parts share, and of what is read of a memory.
const MAX_PART: usize = 2_800;
const OVERLAP: usize = 300;
const MAX_READ: usize = 64 * 1024;

/// What came of a round.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Round {
    /// No memory waits.
    Done,
    /// The model judged all that were asked about; more may wait.
    Judged,
    /// The model did not answer. The memories stay as they are and are asked about again later.
    NoAnswer,
}

/// Asks a model about the memories that come next.
///
/// # Errors
/// Those of the store.
pub async fn screen_by_model<S: MemoryStore + ?Sized>(
    store: &S,
    judge: &dyn Judge,
    now: OffsetDateTime,
) -> Result<Round, StoreError> {
    let memories = store.reserve_unjudged(now, MEMORIES_PER_QUESTION).await?;
    if memories.is_empty() {
        return Ok(Round::Done);
    }
    let parts = parts(&memories);
    // `None`: a question about it had no answer.
    let mut found: Vec<Option<Vec<Harm>>> = vec![Some(Vec::new()); memories.len()];
    for asked in parts.chunks(PARTS_PER_QUESTION) {
        let question = ScreeningQuestion {
            memories: asked.iter().map(|(_, text)| text.clone()).collect(),
        };
        let answer = judge.screen_memories(&Redactor::shared().clean(question)).await;
        let Some(harms) = answer else {
            for (memory, _) in asked {
                found.get_mut(*memory).map(Option::take);
            }
            continue;
        };
        for (place, harm) in harms {
            let memory = asked.get(place).and_then(|(memory, _)| found.get_mut(*memory));
            if let Some(Some(harms)) = memory {
                harms.push(harm);
            }
        }
    }
    let is_answered = found.iter().all(Option::is_some);
    for (memory, harms) in memories.iter().zip(found) {
        let Some(harms) = harms else { continue };
        let screening = ModelScreening {
            text: text_fingerprint(&memory.task),
            harms,
            trusted: false,
        };
        store
            .save_model_screening(memory, &Redactor::shared().clean(screening))
            .await?;
    }
    Ok(if is_answered {
        Round::Judged
    } else {
        Round::NoAnswer
    })
}

/// The word of the user that the text of a memory is fine.
pub fn trusted(task: &Task) -> ModelScreening {
    let text = text_fingerprint(task);
    let found = task.model_screening.as_ref().filter(|found| found.text == text);
    ModelScreening {
        text,
        harms: found.map(|found| found.harms.clone()).unwrap_or_default(),
        trusted: true,
    }
}

/// A hash of the texts of a memory.
pub fn text_fingerprint(task: &Task) -> i64 {
    let mut hash = Xxh3::new();
    add_texts(&mut hash, task);
    hash.digest().cast_signed()
}

/// What a model or a user said about exactly the text of this memory, if it says more than "nothing was found".
pub(crate) fn verdict(task: &Task) -> Option<&ModelScreening> {
    let found = task.model_screening.as_ref()?;
    let says_more = found.trusted || !found.harms.is_empty();
    (says_more && found.text == text_fingerprint(task)).then_some(found)
}

/// The texts of the memories, each with the position of its memory. A long memory has several parts, so that nothing is hidden
/// behind the beginning.
fn parts(memories: &[UnjudgedMemory]) -> Vec<(usize, String)> {
    let memories = memories.iter().enumerate();
    memories
        .flat_map(|(place, memory)| {
            screening_parts(&memory.task)
                .into_iter()
                .map(move |part| (place, part))
        })
        .collect()
}

/// A memory as a model reads it: all its texts with their names, in one part or several that overlap.
pub fn screening_parts(task: &Task) -> Vec<String> {
    let mut texts: Vec<String> = Vec::new();
    let mut add = |name: &str, text: &str| {
        if !text.trim().is_empty() {
            texts.push(format!("{name}: \"{}\"", text.trim()));
        }
    };
    add("goal", task.goal.as_deref().unwrap_or_default());
    if task.goal.as_ref() != Some(&task.original_query) {
        add("prompt", &task.original_query);
    }
    for decision in &task.decisions {
        add("decided", &decision.choice);
        add("because", &decision.reason);
    }
    for (name, all) in [
        ("constraint", &task.constraints),
        ("found", &task.reasoning_trace),
        ("file", &task.files_touched),
        ("tag", &task.tags),
    ] {
        all.iter().for_each(|text| add(name, text));
    }
    add("by", task.user.as_deref().unwrap_or_default());
    // Redacted before it is cut: half of a secret would not be recognised.
    let text = Redactor::shared().redact(&texts.join("; ")).into_owned();
    cut(&text)
}

fn cut(text: &str) -> Vec<String> {
    let mut rest = text.get(..text.floor_char_boundary(MAX_READ)).unwrap_or(text);
    let mut parts = Vec::new();
    while rest.len() > MAX_PART {
        let end = rest.floor_char_boundary(MAX_PART);
        let next = rest.floor_char_boundary(MAX_PART - OVERLAP);
        parts.push(rest.get(..end).unwrap_or_default().to_owned());
        rest = rest.get(next..).unwrap_or_default();
    }
    parts.push(rest.to_owned());
    parts
}

#[cfg(test)]
mod tests;
