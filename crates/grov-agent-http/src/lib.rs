//! The agent service's HTTP interface: routes, keys, limits, errors, the OpenAPI document, and the server.
//!
//! [`router`] is the whole API over a [`Service`]; [`Server`] serves it until it is asked to stop.
#![forbid(unsafe_code)]

mod admission;
mod caller;
mod extract;
mod gate;
mod keys;
mod limits;
mod metrics;
mod once;
mod problem;
mod routes;
mod server;
mod service;
mod signature;
mod tidy;
mod uploads;

pub use admission::Admission;
pub use keys::{ADMIN_NAME, secret_hash};
pub use limits::Limits;
pub use problem::{Code, FieldError, Problem, ProblemBody};
pub use routes::router;
pub use server::Server;
pub use service::{ProviderHealth, Service, ServiceParts, ServiceState};
pub use signature::{SIGNATURE_HEADER, SIGNATURE_TOLERANCE, SignatureError, sign, verify};
pub use tidy::{tidy, tidy_uploads};
pub use uploads::Uploads;
