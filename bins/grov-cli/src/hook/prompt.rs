//! The user has sent a prompt.

use super::{Call, proxy, told_list};
use grov_domain::ClientSessionId;
use grov_hooks::event;
use grov_hooks::memory::{Prompt, Told, is_worth_asking, remembered};
use grov_memory::Budget;
use grov_store::{OpenOptions, SqliteStore};
use std::path::Path;
use std::time::{Duration, Instant};

/// Time for looking whether files are as memories left them.
const TIME_FOR_FILES: Duration = Duration::from_millis(15);

/// Tells what memory knows about a prompt.
pub(super) fn arrives(call: &Call<'_>) -> Result<Option<String>, String> {
    let input = call.input;
    let Some(prompt) = input.prompt.as_deref().filter(|prompt| is_worth_asking(prompt)) else {
        return Ok(None);
    };
    // Without a place in the file system nobody knows whose memory it is, without a session nobody what was said.
    let (Some(directory), Some(list)) = (call.directory(), told_list(call)) else {
        return Ok(None);
    };
    let settings = call.settings(Some(directory))?;
    let memory = settings.memory();
    // What goes through the proxy hears it from there: two that know nothing of one another would say it twice.
    if !memory.enabled || proxy::own(call, &settings).is_some() {
        return Ok(None);
    }
    let session = input.session_id.as_deref().map(ClientSessionId::new);
    let told = list.read();
    let prompt = Prompt {
        text: prompt,
        session: session.as_ref(),
        directory,
        told: &told,
        budget: Budget {
            tokens: memory.budget_tokens,
        },
        until: Instant::now() + TIME_FOR_FILES,
    };
    let words = ask(&call.home.database(), &prompt)?;
    let Some(words) = words else { return Ok(None) };
    // First the note: what nobody knows was said would be said again with every prompt.
    list.add(&words.memories)
        .map_err(|error| format!("what was told: {error}"))?;
    Ok(Some(event::context(event::USER_PROMPT_SUBMIT, &words.text)))
}

fn ask(database: &Path, prompt: &Prompt<'_>) -> Result<Option<Told>, String> {
    let runtime = super::runtime()?;
    let asked = runtime.block_on(async {
        match SqliteStore::open_existing(database, &OpenOptions::brief()).await? {
            Some(store) => remembered(&store, prompt).await,
            None => Ok(None),
        }
    });
    asked.map_err(|error| error.to_string())
}
