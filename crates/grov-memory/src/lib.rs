//! Finds the memories that fit a prompt, and renders them as text for the agent.
//!
//! [`search`] ranks the memories of a scope for a [`Query`], through the port
//! [`MemorySearch`](grov_domain::MemorySearch). Every [`Found`] lists how much each [`Signal`] added to its score; the
//! parameters are in [`Ranking`]. [`Candidates`] holds the pure scoring, without the store.
//!
//! [`EmbeddingWorker`] embeds memories in the background, and [`semantic_search`] uses the embeddings for ranking. No
//! request waits for either.
//!
//! [`prompt_kind`] says whether a prompt is worth a search, [`refers_to_earlier_work`] whether it means the newest memory,
//! [`mentioned_files`] which files it names. [`recall`] loads the
//! memories that fit, [`offered`] those among which a model chooses when words find none, [`demote_stale`] lowers those whose files have changed, [`render`] produces the text for the agent.
//! [`suspicions`] finds text in a memory that instructs the agent instead of describing work.
//!
//! The crate knows no SQL, no HTTP and no clock: a query carries its own time.
#![forbid(unsafe_code)]

mod bm25;
mod candidates;
mod choice;
mod concepts;
mod embedding;
mod file_mentions;
mod files;
mod fitting;
mod language;
mod model_screening;
mod named;
mod pointed;
mod prompt_kind;
mod query;
mod ranking;
mod recall;
mod recency;
mod recent;
mod relevance;
mod render;
mod search;
mod semantic;
mod suspicion;
mod vague;

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests;

pub use candidates::{Candidates, Found, Share, Signal};
pub use choice::{choice_line, offered};
pub use embedding::{EmbeddingState, EmbeddingStatus, EmbeddingWorker};
pub use file_mentions::mentioned_files;
pub use files::CoChangedFile;
pub use grov_session::quote::{self, estimated_tokens};
pub use language::Language;
pub use model_screening::{Round, screen_by_model, screening_parts, text_fingerprint, trusted};
pub use prompt_kind::{PromptKind, prompt_kind};
pub use query::{Query, RelatedTerm, Terms};
pub use ranking::Ranking;
pub use recall::{Freshness, Recalled, demote_stale, recall};
pub use recent::{names_work, recent, worth_telling};
pub use render::{Budget, FileNote, RenderedMemories, render, render_with_details, short_id};
pub use search::search;
pub use semantic::{SemanticSearch, semantic_search};
pub use suspicion::{Suspicion, SuspicionKind, rescreen, screened, suspicions, suspicions_in};
pub use vague::refers_to_earlier_work;
