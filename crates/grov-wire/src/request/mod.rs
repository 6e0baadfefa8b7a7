//! The request side: where everything is in a Messages request, what its history is known by, and edits that
//! leave every byte alone that they do not name.

mod edit;
mod index;
mod known;
mod parse;
mod reminder;
mod skeleton;
mod splice;
mod view;

pub use edit::{Edit, Part, Seam, text_block};
pub use index::{IndexError, RequestIndex};
pub use known::KnownRequests;
pub use reminder::{is_system_reminder, without_system_reminders};
pub use skeleton::{Key128, Link, Skeleton, Speaker};
pub use splice::{Chunks, Splice, SpliceError};
pub use view::{Block, BlockKind, Blocks, Content, Message, Role, SystemPrompt, Tool};
