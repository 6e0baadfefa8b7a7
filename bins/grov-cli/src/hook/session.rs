//! A session begins, goes on, or begins anew.

use super::{Call, proxy, told_list};
use grov_hooks::ToldList;
use std::time::SystemTime;

/// The proxy must be up before the client's first request, and a history that is gone holds nothing any more.
pub(super) fn starts(call: &Call<'_>) -> Result<Option<String>, String> {
    if matches!(call.input.source.as_deref(), Some("compact" | "clear"))
        && let Some(told) = told_list(call)
    {
        told.clear().map_err(|error| format!("what was told: {error}"))?;
    }
    ToldList::remove_old(call.home.root(), SystemTime::now());
    proxy::start(call)?;
    Ok(None)
}
