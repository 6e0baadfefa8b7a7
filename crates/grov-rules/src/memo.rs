//! Prompts that are read once and asked about often.

use super::intent::{newest, put_together};
use super::reading::Reading;
use grov_domain::{Intent, IntentQuestion};
use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

/// Prompts that are remembered; a question looks at far fewer.
const MOST_READINGS: usize = 64;
/// Bytes of a prompt that is remembered: longer ones than a contract keeps are read anew.
const LONGEST: usize = 32 * 1024;

/// Answers as [`extract_intent`](super::extract_intent) does, and reads no prompt twice: whoever follows a session asks
/// about the same prompts again and again, each time with one more.
#[derive(Debug, Default)]
pub struct IntentMemo {
    readings: Mutex<HashMap<String, Arc<Reading>>>,
}

impl IntentMemo {
    /// Answers as [`extract_intent`](super::extract_intent) does.
    pub fn extract_intent(&self, question: &IntentQuestion) -> Intent {
        let prompts = newest(&question.prompts);
        let readings: Vec<Arc<Reading>> = prompts.iter().map(|prompt| self.reading(prompt)).collect();
        let readings: Vec<&Reading> = readings.iter().map(AsRef::as_ref).collect();
        put_together(&readings, &question.first_files)
    }

    /// Caches the reading of a prompt.
    pub fn prefetch(&self, prompt: &str) {
        self.reading(prompt);
    }

    /// Caches the reading of a prompt that a question asks about alone, or as the newest of several.
    pub fn prefetch_alone(&self, prompt: &str) {
        put_together(&[&self.reading(prompt)], &[]);
    }

    fn reading(&self, prompt: &str) -> Arc<Reading> {
        if let Some(known) = self.lock().get(prompt) {
            return Arc::clone(known);
        }
        let reading = Arc::new(Reading::of(prompt));
        if prompt.len() <= LONGEST {
            let mut readings = self.lock();
            if readings.len() >= MOST_READINGS {
                readings.clear();
            }
            readings.insert(prompt.to_owned(), Arc::clone(&reading));
        }
        reading
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, HashMap<String, Arc<Reading>>> {
        self.readings.lock().unwrap_or_else(PoisonError::into_inner)
    }
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
        let memo = IntentMemo::default();
        memo.prefetch(&prompts[2]);
        memo.prefetch_alone(&prompts[0]);
        for _ in 0..2 {
            for end in 0..=prompts.len() {
                let question = question(&prompts[..end]);
                assert_eq!(memo.extract_intent(&question), extract_intent(&question));
            }
        }
        assert_eq!(memo.lock().len(), prompts.len());
    }

    #[test]
    fn what_is_remembered_is_bounded() {
        let memo = IntentMemo::default();
        for number in 0..10 * MOST_READINGS {
            memo.prefetch(&format!("Fix the login bug {number}"));
            assert!(memo.lock().len() <= MOST_READINGS);
        }
        let long = "word ".repeat(LONGEST);
        let question = question(std::slice::from_ref(&long));
        assert_eq!(memo.extract_intent(&question), extract_intent(&question));
        assert!(!memo.lock().contains_key(&long));
    }
}
