//! The request side: where everything is in a Messages request, what its history is known by, and edits that
//! leave every byte alone that they do not name.

mod edit;
mod entry;
mod index;
mod known;
mod link;
mod parse;
mod reminder;
mod skeleton;
mod splice;
mod view;

pub use edit::{Edit, Part, Seam, text_block};
pub use entry::{BlockKind, IndexError, Role};
pub use index::RequestIndex;
pub use known::KnownRequests;
pub use link::{Key128, Link, Speaker};
pub use reminder::{is_system_reminder, without_system_reminders};
pub use skeleton::Skeleton;
pub use splice::{Chunks, Splice, SpliceError};
pub use view::{Block, Blocks, Content, Message, SystemPrompt, Tool};
