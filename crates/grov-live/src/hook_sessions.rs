//! Sessions of intercepted connections that hooks record.

use grov_domain::ClientSessionId;

/// Tells whether the client of a session runs Grov's hooks.
///
/// The requests of an intercepted connection are not edited, so that memory and corrections arrive by hooks. Hooks cannot see that
/// the connection is intercepted, and record the session themselves: the recorder leaves it to them.
pub trait HookSessions: Send + Sync + 'static {
    /// Returns whether hooks run in the session. Called on the observers' thread and may block.
    fn is_hooked(&self, session: &ClientSessionId) -> bool;
}
