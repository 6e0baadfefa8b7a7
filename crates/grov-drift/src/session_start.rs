//! A session begins, goes on, or begins anew.

use crate::compaction::{loss, recap};
use crate::delivery_log::ToldList;
use crate::error_log::{note, tellable};
use crate::hook::Call;
use crate::prompt::once;
use crate::resume::{Whose, intent_reader, take_up};
use crate::team_memory::{Prompt, RenderedMemories, is_off, newest};
use crate::transcript_file::{catch_up, last};
use crate::{daemon, fork, proxied, runtime, task_rows};
use grov_domain::{Clock, GoalContract, SessionDigest, StoreError, SystemClock};
use grov_hooks::event;
use grov_memory::Budget;
use grov_project::{GrovIgnore, Place};
use grov_redact::Redactor;
use grov_rules::session_summary;
use std::time::{Duration, Instant, SystemTime};

/// Time for looking whether files are as memories left them.
const TIME_FOR_FILES: Duration = Duration::from_millis(50);
/// Time for following what no hook has followed before a compaction: a model was just asked for a summary.
const TIME_TO_FOLLOW: Duration = Duration::from_secs(5);
/// How long the database is waited for: what ended just before may still be at it, and nobody types meanwhile.
const BUSY_PATIENCE: Duration = Duration::from_millis(500);
/// How often a session is taken up anew because another hook wrote meanwhile.
const TRIES: usize = 3;
/// A session does not begin twice in so short a time: then two hooks are told of one event, which bears no name.
const ONE_INSTANT: Duration = Duration::from_secs(2);

/// The proxy must be up before the client's first request, and a history that is gone holds nothing any more.
pub(crate) fn starts(call: &Call<'_>) -> Result<Option<String>, String> {
    // Before anything that can fail: a client without its proxy tries for minutes.
    let fault = daemon::start(call).err();
    if let Some(fault) = &fault {
        note(Some(call.home), fault);
    }
    let source = call.input.source.as_deref().unwrap_or_default();
    let event = match source {
        "compact" => "compacted",
        "clear" => "cleared",
        "resume" => "resumed",
        _ => "began",
    };
    // Outside of what is answered once: of one session two forks may begin at one instant.
    if source == "resume"
        && let Some(whose) = call.whose()
        && let Err(fault) = fork::goes_on(call, &whose, BUSY_PATIENCE)
    {
        note(Some(call.home), &fault);
    }
    let answer = once(call, Some(event), Some(ONE_INSTANT), || told(call, source));
    ToldList::remove_old(call.home.root(), SystemTime::now());
    let Some(fault) = fault else { return answer };
    // The client would wait for minutes without a word.
    let notice = format!("Grov: {}", tellable(&fault));
    let answer = answer.unwrap_or_else(|fault| {
        note(Some(call.home), &fault);
        None
    });
    Ok(Some(event::with_notice(answer.as_deref(), &notice)))
}

/// What the agent is told where its history begins, as the client is answered.
fn told(call: &Call<'_>, source: &str) -> Result<Option<String>, String> {
    let is_empty = matches!(source, "compact" | "clear");
    if is_empty && let Some(Err(error)) = call.told_list().map(|told| told.clear()) {
        note(Some(call.home), &format!("what was told: {error}"));
    }
    let Some(whose) = call.whose() else {
        return Ok(None);
    };
    match source {
        "compact" => runtime()?.block_on(goes_on(call, &whose)),
        // What a resumed session holds is in its history.
        "resume" => Ok(None),
        _ => runtime()?.block_on(begins(call, &whose)),
    }
}

/// A session begins: it is registered, and hears what is remembered of its project.
async fn begins(call: &Call<'_>, whose: &Whose) -> Result<Option<String>, String> {
    let settings = call.settings(Some(&whose.directory))?;
    if daemon::own(call, &settings).is_some() {
        return Ok(None);
    }
    let memory = settings.memory();
    let tokens = if memory.enabled { memory.budget_tokens } else { 0 };
    let told = registered(call, whose, tokens).await;
    let Some(told) = told.map_err(|error| error.to_string())? else {
        return Ok(None);
    };
    let Some(list) = call.told_list() else {
        return Ok(None);
    };
    list.add(&told.memories)
        .map_err(|error| format!("what was told: {error}"))?;
    Ok(Some(event::context(event::SESSION_START, &told.text)))
}

async fn registered(
    call: &Call<'_>,
    whose: &Whose,
    tokens: usize,
) -> Result<Option<RenderedMemories>, StoreError> {
    let store = call.services.stores.open(Some(BUSY_PATIENCE)).await?;
    let told_before = call.told_list().map(|list| list.read()).unwrap_or_default();
    let id = whose.id();
    let beginning = Prompt {
        text: "",
        session: Some(&id),
        directory: &whose.directory,
        told: &told_before,
        budget: Budget { tokens },
        time_for_files: TIME_FOR_FILES,
    };
    let told = newest(&*store, &beginning).await?;
    let mut following = take_up(&*store, call.home, whose, intent_reader()).await?;
    following.session_mut().memories_told += told.as_ref().map_or(0, |told| told.memories.len() as u64);
    let progress = following.into_progress(SystemClock.now());
    // Another hook was faster: it is registered.
    store
        .save_hook_progress(&Redactor::shared().clean(progress))
        .await?;
    call.put_away(store);
    Ok(told)
}

/// The history was replaced by a summary: what the session is held to, what was decided and what is open is given back, and
/// the person who works there is told how much that was.
async fn goes_on(call: &Call<'_>, whose: &Whose) -> Result<Option<String>, String> {
    let settings = call.settings(Some(&whose.directory))?;
    let known = match daemon::own(call, &settings) {
        Some(_) => proxied::standing(call, whose).await,
        None => standing(call, whose).await,
    };
    let known = known.map_err(|error| error.to_string())?;
    Ok(known.and_then(|(contract, digest)| {
        let text = recap(&contract, &digest)?;
        let notice = loss(&contract, &digest);
        Some(event::context_with_notice(event::SESSION_START, &text, &notice))
    }))
}

/// What the session is held to and where it stands; `None` where Grov is to be silent.
async fn standing(
    call: &Call<'_>,
    whose: &Whose,
) -> Result<Option<(GoalContract, SessionDigest)>, StoreError> {
    let store = call.services.stores.open(Some(BUSY_PATIENCE)).await?;
    let place = Place::locate(&whose.directory);
    let id = whose.id();
    if is_off(&*store, place.project().key(), Some(&id)).await? {
        return Ok(None);
    }
    for _ in 0..TRIES {
        let mut following = take_up(&*store, call.home, whose, intent_reader()).await?;
        if let Err(error) = catch_up(&mut following, Instant::now() + TIME_TO_FOLLOW) {
            note(Some(call.home), &format!("the transcript: {error}"));
        }
        let contract = following.contract().clone();
        let answer = last(whose.transcript.as_deref()).answer;
        let progress = Redactor::shared().clean(following.into_progress(SystemClock.now()));
        if !store.save_hook_progress(&progress).await? {
            continue;
        }
        let steps = store.hook_steps(&id).await?;
        let root = place.work_tree().unwrap_or(&whose.directory);
        let ignore = GrovIgnore::at(&place);
        let material = task_rows::material(&contract, task_rows::done(&steps), root, &ignore);
        let question = material.summary_question(&contract.goal, &contract.constraints, &answer);
        let digest = session_summary(&question);
        return Ok(Some((contract, digest)));
    }
    Ok(None)
}
