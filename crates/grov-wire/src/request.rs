//! Requests: the index of a body, the skeleton of its message history, and edits that change only the bytes they name.

mod cache;
mod cut;
mod edit;
mod entry;
mod index;
mod link;
mod parse;
mod reminder;
mod skeleton;
mod splice;
mod view;

pub use cache::RequestCache;
pub use edit::{CutPoint, Edit, InsertionPoint, ResultPlace, text_block};
pub use entry::{BlockKind, IndexError, Role};
pub use index::RequestIndex;
pub use link::{Key128, Link, Speaker};
pub use reminder::{is_system_reminder, without_system_reminders};
pub use skeleton::Skeleton;
pub use splice::{Chunks, Splice, SpliceError};
pub use view::{Block, Blocks, Content, Message, SystemPrompt, Tool};
