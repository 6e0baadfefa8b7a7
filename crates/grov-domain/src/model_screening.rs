//! Memories that a model read to see whether they would harm the user.
//!
//! Rules find orders in usual words. A model finds the others. Its verdict holds for exactly the text that it read.

use crate::Task;
use crate::macros::named;
use serde::{Deserialize, Serialize};

/// What is harmful about a memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum HarmKind {
    /// It gives orders to the agent, or hides something from the user or the team.
    Order,
    /// It speaks in the name of the system, the user or Grov.
    Impersonation,
    /// It sends data or secrets away.
    Exfiltration,
    /// It downloads and runs code.
    Download,
    /// It takes packages or code from another source.
    Redirection,
    /// It is disguised.
    Disguise,
    /// It switches off checks, tests, security or oversight.
    Unchecked,
    /// It falsifies results, or weakens the product against its own users.
    Sabotage,
}

named!(HarmKind {
    Order => "order", Impersonation => "impersonation", Exfiltration => "exfiltration", Download => "download",
    Redirection => "redirection", Disguise => "disguise", Unchecked => "unchecked", Sabotage => "sabotage",
});

/// Something harmful in a memory.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Harm {
    /// The kind.
    pub kind: HarmKind,
    /// The words of the memory.
    pub quote: String,
}

/// What a model, or the user after it, said about the text of a memory.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ModelScreening {
    /// The fingerprint of the text; see `grov_memory::text_fingerprint`.
    pub text: i64,
    /// What the model found.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub harms: Vec<Harm>,
    /// The user said that the text is fine.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub trusted: bool,
}

/// The question which memories would harm the user if an agent followed them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ScreeningQuestion {
    /// The texts of memories, one line each. The answer names them by number, from 1.
    pub memories: Vec<String>,
}

/// A memory that waits to be judged, reserved for one process.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnjudgedMemory {
    /// The memory.
    pub task: Task,
    /// The mark of the reservation. A verdict is refused if the text has changed or another process reserved the memory since.
    pub reservation: i64,
}
