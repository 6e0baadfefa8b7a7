//! The words of the request, read when the first rule asks for them: most actions need none, and reading twenty prompts takes longer than
//! all else that a hook does.

use super::request_words::RequestWords;
use std::ops::Deref;
use std::sync::OnceLock;

/// The words of the request.
#[derive(Clone, Debug, Default)]
pub(crate) struct LazyRequest {
    texts: Vec<String>,
    consents: Vec<String>,
    words: OnceLock<RequestWords>,
}

impl LazyRequest {
    /// Takes the user's texts, and the proposals of the agent that the user accepted.
    pub(super) fn new(texts: &[&str], consents: &[String]) -> Self {
        Self {
            texts: texts.iter().map(|&text| text.to_owned()).collect(),
            consents: consents.to_vec(),
            words: OnceLock::new(),
        }
    }
}

impl Deref for LazyRequest {
    type Target = RequestWords;

    fn deref(&self) -> &RequestWords {
        self.words.get_or_init(|| {
            let texts = self.texts.iter().map(String::as_str).collect();
            RequestWords::new(texts, &self.consents)
        })
    }
}
