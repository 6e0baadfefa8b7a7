//! Who embeds memories, and whether that can be.

use super::Check;
use crate::context::Context;
use crate::embedder::embedder;

const NAME: &str = "embedder";

/// Says something only where embeddings were asked for. Files are read, servers are not asked.
pub(super) fn check(context: &Context) -> Option<Check> {
    match embedder(context) {
        Ok(embedder) => embedder.map(|embedder| Check::well(NAME, format!("it is {}", embedder.model()))),
        Err(trouble) => Some(Check::ill(
            NAME,
            trouble,
            "memories are not embedded, and `grov memory search` goes by words, files and time",
            "correct embedder.provider and embedder.model, or set embedder.provider = \"off\"; then start the proxy anew",
        )),
    }
}
