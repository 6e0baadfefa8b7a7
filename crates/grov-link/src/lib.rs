//! The link of a project to the agent service: sends what a person decided and what was finished, and receives what others did.
//!
//! [`Service`] makes the calls, [`follow`] keeps all links of a store going, [`SenderLock`] sees to it that one process of a home
//! does so, and [`KeyFile`] holds the key of a link. The state is in a [`LinkStore`](grov_domain::LinkStore): a call that was
//! interrupted is made again, and making it twice changes nothing.
//!
//! The crate knows no SQL, no hooks and no proxy. A prompt never waits for it.
#![forbid(unsafe_code)]

mod error;
mod follow;
mod keys;
mod lock;
mod service;
mod sync;

pub use error::LinkError;
pub use follow::{Followed, follow};
pub use keys::KeyFile;
pub use lock::SenderLock;
pub use service::{Service, ServiceAddress};
pub use sync::{pull, push};
