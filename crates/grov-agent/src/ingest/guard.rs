//! Runs libraries that may panic or recurse deeply on hostile files.

use super::IngestFailed;

/// The stack of the thread, in bytes. Pages of it that are not touched cost nothing.
const STACK_BYTES: usize = 512 * 1024 * 1024;

/// Runs `read` on a thread with a large stack. A panic becomes an error that names `what`.
pub(super) fn guarded<T: Send>(
    what: &str,
    read: impl FnOnce() -> Result<T, IngestFailed> + Send,
) -> Result<T, IngestFailed> {
    let failed = |why: &str| IngestFailed::Invalid(format!("the {what} cannot be read: {why}"));
    std::thread::scope(|scope| {
        let thread = std::thread::Builder::new()
            .name(format!("read {what}"))
            .stack_size(STACK_BYTES)
            .spawn_scoped(scope, read);
        let Ok(thread) = thread else {
            return Err(failed("there is no memory for it at present; try again"));
        };
        thread
            .join()
            .unwrap_or_else(|_| Err(failed("it is damaged, or uses what the reader does not know")))
    })
}
