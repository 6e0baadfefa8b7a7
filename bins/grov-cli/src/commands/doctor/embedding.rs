//! The embedding model.

use super::Check;
use crate::context::Context;
use crate::embedder::embedder;

const NAME: &str = "embedder";

/// `None` if no embedder is configured. Model files are read; servers are not contacted.
pub(super) fn check(context: &Context) -> Option<Check> {
    match embedder(context) {
        Ok(embedder) => embedder.map(|embedder| Check::ok(NAME, embedder.model())),
        Err(error) => Some(
            Check::fail(NAME, error)
                .consequence("`grov memory search` ranks by words, files and age only.")
                .fix(
                    "correct embedder.provider and embedder.model, or set embedder.provider = \"off\"; then restart the proxy",
                ),
        ),
    }
}
