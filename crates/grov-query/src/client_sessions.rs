//! Lists client sessions of both paths with their state, and selects one of them.

use crate::lookup::Lookup;
use crate::sessions::{SelectedSession, find_session};
use grov_domain::{
    ClientSessionId, GoalEditKind, HookSession, KnownSession, SessionActivity, SessionFilter, SessionState,
    SessionSummary, Store, StoreError, active_task,
};
use serde::{Serialize, Serializer};
use std::collections::{BTreeMap, BTreeSet};
use time::{Duration, OffsetDateTime};

/// A session without a sign of life for this long has ended: clients that are killed, and print mode without hooks, do not
/// report it.
const IDLE_END: Duration = Duration::hours(1);
/// A turn without activity for this long does not run any more: the user interrupted it. Commands may take ten minutes.
const IDLE_TURN: Duration = Duration::minutes(15);
/// The least length of a short id, in characters.
const SHORT_ID: usize = 8;

/// How a session was recorded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SessionPath {
    /// By the proxy, and perhaps by hooks, too.
    Proxy,
    /// By hooks alone.
    Hooks,
}

/// Whether the agent works, waits for the user, or the session is over. Ordered by how likely a user means it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum LiveState {
    /// The session is over. It may be resumed.
    Ended,
    /// The agent waits for the user.
    Waiting,
    /// A turn runs.
    Working,
}

impl SessionPath {
    /// Returns the name: `proxy` or `hooks`.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Proxy => "proxy",
            Self::Hooks => "hooks",
        }
    }
}

impl LiveState {
    /// Returns the name: `working`, `waiting` or `ended`.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Ended => "ended",
            Self::Waiting => "waiting",
            Self::Working => "working",
        }
    }

    /// The state of a session with activity at `last_update`. `in_turn` says whether its newest turn was still running then.
    fn of(
        in_turn: bool,
        ended_at: Option<OffsetDateTime>,
        last_update: OffsetDateTime,
        now: OffsetDateTime,
    ) -> Self {
        let idle = now - last_update;
        if ended_at.is_some_and(|ended| ended >= last_update) || idle >= IDLE_END {
            Self::Ended
        } else if in_turn && idle < IDLE_TURN {
            Self::Working
        } else {
            Self::Waiting
        }
    }
}

impl Serialize for SessionPath {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.as_str())
    }
}

impl Serialize for LiveState {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.as_str())
    }
}

/// A client session.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ClientSessionView {
    /// The session.
    pub id: ClientSessionId,
    /// The beginning of the id that is unique among all sessions, at least eight characters.
    pub short_id: String,
    /// The session; the same as `id`.
    pub client_session_id: ClientSessionId,
    /// Which path recorded it.
    pub path: SessionPath,
    /// Whether it works, waits or has ended.
    pub state: LiveState,
    /// The goal of the active task; `None` while unknown.
    pub goal: Option<String>,
    /// The project's key; `None` while unknown.
    pub project_path: Option<String>,
    /// Time of the first activity.
    #[serde(with = "time::serde::rfc3339")]
    pub started_at: OffsetDateTime,
    /// Time of the newest activity.
    #[serde(with = "time::serde::rfc3339")]
    pub last_update: OffsetDateTime,
    /// The client's transcript, if hooks named it.
    #[serde(skip)]
    pub transcript: Option<String>,
}

/// The keys of the projects with records, sorted.
///
/// # Errors
/// Returns the store's error.
pub async fn known_projects(store: &dyn Store) -> Result<Vec<String>, StoreError> {
    let of_memories = store.memory_projects().await?.into_iter();
    let of_sessions = store.known_sessions().await?.into_iter();
    let known: BTreeSet<String> = of_memories
        .map(|project| project.project_path)
        .chain(of_sessions.map(|session| session.project_path))
        .filter(|path| !path.is_empty())
        .collect();
    Ok(known.into_iter().collect())
}

/// Returns the sessions of a project, or of all projects, newest first, at most `limit`.
///
/// # Errors
/// Returns the store's error.
pub async fn client_sessions(
    store: &dyn Store,
    project: Option<&str>,
    limit: Option<u32>,
    now: OffsetDateTime,
) -> Result<Vec<ClientSessionView>, StoreError> {
    let filter = SessionFilter {
        project_path: project.map(str::to_owned),
        ..SessionFilter::default()
    };
    let mut recorded: BTreeMap<ClientSessionId, Vec<SessionState>> = BTreeMap::new();
    for SessionSummary { state, .. } in store.sessions(&filter).await? {
        recorded
            .entry(state.client_session_id.clone())
            .or_default()
            .push(state);
    }
    let hooked = store.recent_hook_sessions(project, None).await?;
    let mut hooked: BTreeMap<ClientSessionId, HookSession> = hooked
        .into_iter()
        .map(|session| (session.client_session_id.clone(), session))
        .collect();
    let ids = known_ids(store).await?;
    let mut views = Vec::new();
    for (id, tasks) in &recorded {
        views.extend(of_proxy(id, tasks, hooked.remove(id).as_ref()));
    }
    views.extend(hooked.values().map(|session| of_hooks(session, now)));
    views.sort_by(|one, other| (other.last_update, &other.id).cmp(&(one.last_update, &one.id)));
    views.truncate(limit.map_or(usize::MAX, |limit| limit as usize));
    for view in &mut views {
        view.short_id = short_id(view.id.as_str(), &ids);
        set_goal(store, view).await?;
        // Most sessions ended long ago, and need no look at their newest response.
        if view.path == SessionPath::Proxy && now - view.last_update < IDLE_END {
            complete(view, &store.session_activity(&view.id).await?, now);
        }
    }
    Ok(views)
}

/// A session that the proxy recorded, as ended. [`complete`] says what it is if it was active lately.
pub(crate) fn of_proxy(
    id: &ClientSessionId,
    tasks: &[SessionState],
    hooked: Option<&HookSession>,
) -> Option<ClientSessionView> {
    let active = active_task(tasks)?;
    let started_at = tasks.iter().map(|task| task.start_time).min()?;
    let last_update = tasks.iter().map(|task| task.last_update).max()?;
    Some(ClientSessionView {
        id: id.clone(),
        short_id: String::new(),
        client_session_id: id.clone(),
        path: SessionPath::Proxy,
        state: LiveState::Ended,
        goal: active.original_goal.clone(),
        project_path: Some(active.project_path.clone()).filter(|path| !path.is_empty()),
        started_at,
        last_update,
        transcript: hooked.and_then(|session| session.transcript_path.clone()),
    })
}

/// Adds what the newest response and the hook at the end of the session tell.
pub(crate) fn complete(view: &mut ClientSessionView, activity: &SessionActivity, now: OffsetDateTime) {
    let in_turn = activity.stop_reason.as_deref() == Some("tool_use");
    view.state = LiveState::of(in_turn, activity.ended_at, view.last_update, now);
}

pub(crate) fn of_hooks(session: &HookSession, now: OffsetDateTime) -> ClientSessionView {
    let id = &session.client_session_id;
    let in_turn = session.turn_ended_at.is_none() && session.prompts > 0;
    // A worker may follow the session after its end.
    let ended_at = session.ended_at.map(|ended| ended.max(session.updated_at));
    ClientSessionView {
        id: id.clone(),
        short_id: String::new(),
        client_session_id: id.clone(),
        path: SessionPath::Hooks,
        state: LiveState::of(in_turn, ended_at, session.updated_at, now),
        goal: Some(session.contract.goal.clone()).filter(|goal| !goal.is_empty()),
        project_path: Some(session.project_path.clone()).filter(|path| !path.is_empty()),
        started_at: session.started_at,
        last_update: session.updated_at,
        transcript: session.transcript_path.clone(),
    }
}

/// Shows the goal that the user set, if they did.
pub(crate) async fn set_goal(store: &dyn Store, view: &mut ClientSessionView) -> Result<(), StoreError> {
    let edits = store.goal_edits(&view.id).await?.into_iter().rev();
    let mut set = edits.filter(|edit| edit.kind == GoalEditKind::Set);
    if let Some(edit) = set.next() {
        view.goal = Some(edit.text);
    }
    Ok(())
}

async fn known_ids(store: &dyn Store) -> Result<Vec<String>, StoreError> {
    let known = store.known_sessions().await?;
    let id = |session: KnownSession| session.client_session_id.to_string();
    let mut ids: Vec<String> = known.into_iter().map(id).collect();
    ids.sort();
    Ok(ids)
}

/// The beginning of an id that tells it from others, as good as always: eight characters, after what many ids have in common. Ids
/// of sessions without a name begin with the same word, and UUIDs of version 7 with the same digits for a minute.
pub fn short_beginning(id: &str) -> &str {
    const UNNAMED: &str = "unnamed-";
    // The last four digits of the time, and the hyphen before them.
    const TIME: usize = 5;
    let bytes = id.as_bytes();
    let is_by_time = bytes.len() == 36 && bytes.get(8) == Some(&b'-') && bytes.get(14) == Some(&b'7');
    let shared = match id.starts_with(UNNAMED) {
        true => UNNAMED.len(),
        false if is_by_time => TIME,
        false => 0,
    };
    let end = id.char_indices().nth(shared + SHORT_ID);
    end.and_then(|(end, _)| id.get(..end)).unwrap_or(id)
}

/// The beginning of an id that no other one of the sorted `ids` has.
fn short_id(id: &str, ids: &[String]) -> String {
    let place = ids.partition_point(|other| other.as_str() < id);
    let shared = |other: &String| {
        let same = id.chars().zip(other.chars());
        same.take_while(|(one, other)| one == other).count()
    };
    let after = ids[place..].iter().find(|other| other.as_str() != id);
    let before = ids[..place].last();
    let shared = before.into_iter().chain(after).map(shared).max().unwrap_or(0);
    id.chars().take((shared + 1).max(SHORT_ID)).collect()
}

/// The result of selecting a session.
#[derive(Clone, Debug, PartialEq)]
pub struct PickedSession {
    /// The session.
    pub session: SelectedSession,
    /// How it is listed, if no id was given: what the user is told.
    pub because: Option<ClientSessionView>,
}

/// Selects the session that a command is about. With an id: the client session or task with that id or unique prefix, of any
/// project. Without one: of the sessions of the project the one that works; of several, or if none works, prefers those that
/// wait to those that have ended, and then the newest.
///
/// # Errors
/// Returns the store's error.
pub async fn pick_session(
    store: &dyn Store,
    wanted: Option<&str>,
    project: &str,
    now: OffsetDateTime,
) -> Result<Lookup<PickedSession, BTreeSet<String>>, StoreError> {
    if let Some(wanted) = wanted {
        let found = find_session(store, wanted, project).await?;
        return Ok(match found {
            Lookup::Found(session) => Lookup::Found(PickedSession {
                session,
                because: None,
            }),
            Lookup::NotFound => Lookup::NotFound,
            Lookup::Ambiguous(ids) => Lookup::Ambiguous(ids),
        });
    }
    let sessions = client_sessions(store, Some(project), None, now).await?;
    let likeliest = sessions.into_iter().max_by_key(likelihood);
    let Some(view) = likeliest else {
        return Ok(Lookup::NotFound);
    };
    // It may have been deleted meanwhile.
    Ok(match find_session(store, view.id.as_str(), project).await? {
        Lookup::Found(session) => Lookup::Found(PickedSession {
            session,
            because: Some(view),
        }),
        _ => Lookup::NotFound,
    })
}

/// The likelier a user means a session, the greater. A session of hooks without a goal had no prompt yet: the client reports
/// one under another id when it continues an earlier session.
fn likelihood(session: &ClientSessionView) -> (LiveState, bool, OffsetDateTime) {
    let had_prompt = session.path == SessionPath::Proxy || session.goal.is_some();
    (session.state, had_prompt, session.last_update)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_phantom_session_of_a_continued_one_is_not_picked() {
        let view = |id: &str, goal: Option<&str>, state: LiveState, minutes: i64| ClientSessionView {
            id: ClientSessionId::new(id),
            short_id: id.to_owned(),
            client_session_id: ClientSessionId::new(id),
            path: SessionPath::Hooks,
            state,
            goal: goal.map(str::to_owned),
            project_path: None,
            started_at: OffsetDateTime::UNIX_EPOCH,
            last_update: OffsetDateTime::UNIX_EPOCH + Duration::minutes(minutes),
            transcript: None,
        };
        let picked = |views: [ClientSessionView; 2]| views.into_iter().max_by_key(likelihood).unwrap().id;
        let phantom = view("phantom", None, LiveState::Waiting, 5);
        let continued = view("continued", Some("fix it"), LiveState::Waiting, 4);
        assert_eq!(
            picked([phantom.clone(), continued]),
            ClientSessionId::new("continued")
        );
        // A session that has just begun is meant rather than one that is over.
        let over = view("over", Some("fix it"), LiveState::Ended, 4);
        assert_eq!(picked([phantom, over]), ClientSessionId::new("phantom"));
    }

    fn state(in_turn: bool, ended: Option<i64>, idle_minutes: i64) -> LiveState {
        let last_update = OffsetDateTime::UNIX_EPOCH;
        let ended_at = ended.map(|minutes| last_update + Duration::minutes(minutes));
        LiveState::of(
            in_turn,
            ended_at,
            last_update,
            last_update + Duration::minutes(idle_minutes),
        )
    }

    #[test]
    fn a_session_works_waits_or_has_ended() {
        assert_eq!(state(true, None, 5), LiveState::Working);
        assert_eq!(state(false, None, 5), LiveState::Waiting);
        assert_eq!(state(true, None, 20), LiveState::Waiting, "it was interrupted");
        assert_eq!(state(true, None, 60), LiveState::Ended, "nothing for an hour");
        assert_eq!(state(true, Some(1), 2), LiveState::Ended);
        assert_eq!(state(true, Some(-1), 2), LiveState::Working, "it was resumed");
    }

    #[test]
    fn the_short_id_of_a_session_without_a_name_is_more_than_the_prefix() {
        for (id, short) in [
            ("unnamed-0123456789abcdef0123456789abcdef", "unnamed-01234567"),
            ("01a21fec-5c3b-7aaa-8000-000000000001", "01a21fec-5c3b"),
            ("3f2a91c0-77aa-4c1e-9d10-5b6c7d8e9f00", "3f2a91c0"),
            ("übermäßig", "übermäßi"),
            ("s", "s"),
        ] {
            assert_eq!(short_beginning(id), short);
        }
    }

    #[test]
    fn a_short_id_is_unique() {
        let ids: Vec<String> = ["a", "aaaaaaaa-1", "aaaaaaaa-2", "bbbbbbbb-1"]
            .map(str::to_owned)
            .into();
        let short = |id: &str| short_id(id, &ids);
        assert_eq!(short("bbbbbbbb-1"), "bbbbbbbb");
        assert_eq!(short("aaaaaaaa-2"), "aaaaaaaa-2");
        assert_eq!(short("aaaaaaaa-1"), "aaaaaaaa-1");
        assert_eq!(short("a"), "a");
        assert_eq!(short_id("x", &[]), "x");
    }
}
