//! A cache of parsed prompts.

use super::intent::{combine, newest};
use super::parsed_prompt::ParsedPrompt;
use grov_domain::{Intent, IntentQuestion};
use serde::{Deserialize, Serialize};
use std::collections::HashMap;
use std::hash::{BuildHasher, BuildHasherDefault, DefaultHasher};
use std::sync::{Arc, Mutex, PoisonError};

/// The most prompts cached; a question needs far fewer.
const MAX_PROMPTS: usize = 64;
/// The longest prompt cached, in bytes; a contract has no longer ones.
const MAX_PROMPT_BYTES: usize = 32 * 1024;
/// The longest stored form, in bytes: a longer one would take about as long to load as the prompts to read.
const MAX_STORED_BYTES: usize = 64 * 1024;
/// Readings of another version are read again.
const VERSION: &str = env!("CARGO_PKG_VERSION");

/// The stored form: readings by a hash of their prompt.
#[derive(Serialize, Deserialize)]
struct Stored<V, P> {
    version: V,
    prompts: Vec<(u64, P)>,
}

/// Answers like [`extract_intent`](super::extract_intent) and parses each prompt once: following a session asks about the same
/// prompts again with each new one.
#[derive(Debug, Default)]
pub struct IntentCache {
    parsed: Mutex<HashMap<String, Arc<ParsedPrompt>>>,
}

impl IntentCache {
    /// Answers as [`extract_intent`](super::extract_intent) does.
    pub fn extract_intent(&self, question: &IntentQuestion) -> Intent {
        let prompts = newest(&question.prompts);
        let parsed: Vec<Arc<ParsedPrompt>> = prompts.iter().map(|prompt| self.reading(prompt)).collect();
        let parsed: Vec<&ParsedPrompt> = parsed.iter().map(AsRef::as_ref).collect();
        combine(&parsed, &question.first_files)
    }

    /// Whether a prompt turns away from the work so far, as the intent of this prompt alone says.
    pub fn turns_away(&self, prompt: &str) -> bool {
        self.reading(prompt).turns_away
    }

    /// Caches the reading of a prompt.
    pub fn prefetch(&self, prompt: &str) {
        self.reading(prompt);
    }

    /// Caches the reading of a prompt that a question asks about alone, or as the newest of several.
    pub fn prefetch_alone(&self, prompt: &str) {
        combine(&[&self.reading(prompt)], &[]);
    }

    /// Returns the cached readings of these prompts as JSON, for [`load`](Self::load) in another process. `None` if they are too long.
    pub fn stored(&self, prompts: &[String]) -> Option<String> {
        let parsed = self.lock();
        let known = newest(prompts)
            .iter()
            .filter_map(|prompt| Some((hash(prompt), parsed.get(prompt)?.as_ref())));
        let stored = Stored {
            version: VERSION,
            prompts: known.collect(),
        };
        let text = serde_json::to_string(&stored).ok()?;
        (text.len() <= MAX_STORED_BYTES).then_some(text)
    }

    /// Caches the stored readings of these prompts. Readings of another version and damaged ones are ignored.
    pub fn load(&self, stored: &str, prompts: &[String]) {
        let Ok(stored) = serde_json::from_str::<Stored<String, ParsedPrompt>>(stored) else {
            return;
        };
        if stored.version != VERSION {
            return;
        }
        let mut readings: HashMap<u64, ParsedPrompt> = stored.prompts.into_iter().collect();
        let mut parsed = self.lock();
        for prompt in newest(prompts) {
            if let Some(reading) = readings.remove(&hash(prompt)) {
                parsed.entry(prompt.clone()).or_insert_with(|| Arc::new(reading));
            }
        }
    }

    fn reading(&self, prompt: &str) -> Arc<ParsedPrompt> {
        if let Some(known) = self.lock().get(prompt) {
            return Arc::clone(known);
        }
        let reading = Arc::new(ParsedPrompt::of(prompt));
        if prompt.len() <= MAX_PROMPT_BYTES {
            let mut parsed = self.lock();
            if parsed.len() >= MAX_PROMPTS {
                parsed.clear();
            }
            parsed.insert(prompt.to_owned(), Arc::clone(&reading));
        }
        reading
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, HashMap<String, Arc<ParsedPrompt>>> {
        self.parsed.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn hash(prompt: &str) -> u64 {
    BuildHasherDefault::<DefaultHasher>::default().hash_one(prompt)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::extract_intent;

    fn question(prompts: &[String]) -> IntentQuestion {
        IntentQuestion {
            prompts: prompts.to_vec(),
            first_files: vec!["src/lib.rs".to_owned()],
        }
    }

    #[test]
    fn a_remembered_reading_tells_what_a_new_one_does() {
        let prompts = [
            "Fix the login bug in src/auth.rs. Don't touch the header.",
            "thanks",
            "Now add a toggle to src/settings.rs",
        ]
        .map(str::to_owned);
        let memo = IntentCache::default();
        memo.prefetch(&prompts[2]);
        memo.prefetch_alone(&prompts[0]);
        for _ in 0..2 {
            for end in 0..=prompts.len() {
                let question = question(&prompts[..end]);
                assert_eq!(memo.extract_intent(&question), extract_intent(&question));
            }
        }
        for prompt in prompts
            .iter()
            .map(String::as_str)
            .chain(["Forget that. Fix the menu."])
        {
            let alone = extract_intent(&question(&[prompt.to_owned()]));
            assert_eq!(memo.turns_away(prompt), alone.turns_away, "{prompt}");
        }
        memo.lock().remove("Forget that. Fix the menu.");
        assert_eq!(memo.lock().len(), prompts.len());
    }

    #[test]
    fn readings_of_another_version_and_damaged_ones_are_not_loaded() {
        let prompts = ["Fix the login bug in src/auth.rs".to_owned()];
        let memo = IntentCache::default();
        memo.prefetch(&prompts[0]);
        let stored = memo.stored(&prompts).unwrap();
        let other = stored.replace(VERSION, "0.0.0-other");
        for (text, is_loaded) in [
            (&*stored, true),
            (&*other, false),
            ("", false),
            (&stored[1..], false),
        ] {
            let loaded = IntentCache::default();
            loaded.load(text, &prompts);
            assert_eq!(loaded.lock().len(), usize::from(is_loaded), "{text}");
            // A prompt that is not asked for is not loaded.
            loaded.load(text, &["Something else".to_owned()]);
            assert!(!loaded.lock().contains_key("Something else"));
        }
        let long: Vec<String> = (0..9)
            .map(|number| format!("{number} {}", "word ".repeat(5_000)))
            .collect();
        long.iter().for_each(|prompt| memo.prefetch(prompt));
        assert_eq!(memo.stored(&long), None);
    }

    #[test]
    fn what_is_remembered_is_bounded() {
        let memo = IntentCache::default();
        for number in 0..10 * MAX_PROMPTS {
            memo.prefetch(&format!("Fix the login bug {number}"));
            assert!(memo.lock().len() <= MAX_PROMPTS);
        }
        let long = "word ".repeat(MAX_PROMPT_BYTES);
        let question = question(std::slice::from_ref(&long));
        assert_eq!(memo.extract_intent(&question), extract_intent(&question));
        assert!(!memo.lock().contains_key(&long));
    }
}
