//! Adds the prompt to the plan of the checked-out branch, where plans are on for the project.

use crate::error_log::log_error;
use crate::hook::HookContext;
use crate::resume::SessionRef;
use grov_domain::{Clock, SystemClock};
use grov_plans::{Branch, Git, PlanError, Prompt, Switch};
use grov_project::ProjectLocation;
use grov_redact::Redactor;
use std::time::{Duration, Instant};

/// Time limit for git, which is asked only in repositories whose references cannot be read otherwise.
const GIT_TIMEOUT: Duration = Duration::from_millis(100);

/// Adds a prompt, of which `prompt` is the text that the user typed. Errors are logged: a plan must not hold up an answer.
pub(crate) fn capture(context: &HookContext<'_>, session_ref: &SessionRef, prompt: &str) {
    if let Err(error) = try_capture(context, session_ref, prompt) {
        log_error(Some(context.home), format_args!("plan: {error}"));
    }
}

fn try_capture(context: &HookContext<'_>, session_ref: &SessionRef, prompt: &str) -> Result<(), PlanError> {
    let directory = &session_ref.directory;
    let switch = Switch::of(context.home.root());
    if !switch.may_cover(directory)? {
        return Ok(());
    }
    let location = ProjectLocation::locate(directory);
    // The directory may be in a repository of its own inside of the project.
    let (Some(tree), true) = (location.work_tree(), location.is_git()) else {
        return Ok(());
    };
    if !switch.is_on(location.root())? {
        return Ok(());
    }
    let head = location.head();
    let (branch, commit) = match (&head.branch, &head.commit) {
        // References are not in files: git's format reftable.
        (None, None) => Git::at(tree).until(Instant::now() + GIT_TIMEOUT).head()?,
        _ => (Branch::of(head.branch.as_deref()), head.commit),
    };
    let prompt = Prompt {
        text: &Redactor::shared().text(prompt),
        directory,
        session: Some(&session_ref.session),
        id: context.input.prompt_id.as_deref(),
        commit: commit.as_deref(),
        at: SystemClock.now(),
    };
    grov_plans::capture(tree, &branch, &prompt)?;
    Ok(())
}
