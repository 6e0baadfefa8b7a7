//! How much a client may ask for.

use crate::problem::{Code, Problem};
use governor::clock::{Clock as _, DefaultClock};
use governor::{DefaultKeyedRateLimiter, Quota, RateLimiter};
use grov_agent::{KeyId, ProjectId};
use std::collections::HashMap;
use std::num::NonZeroU32;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

/// Limits of the service.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Limits {
    /// The most bytes of a body.
    pub max_body_bytes: usize,
    /// Chats per minute and key; 0 for no limit. As many may come at once.
    pub chats_per_minute: u32,
    /// Chats of a project that run at once; 0 for no limit.
    pub chats_at_once: u32,
    /// The most open connections.
    pub connections: usize,
    /// How long a client may take nothing of an answer that waits for it. Then its connection is closed.
    pub client_timeout: Duration,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            max_body_bytes: 20 * 1024 * 1024,
            chats_per_minute: 60,
            chats_at_once: 8,
            connections: 1024,
            client_timeout: Duration::from_secs(45),
        }
    }
}

/// Counts chats.
pub(crate) struct ChatLimits {
    rate: Option<DefaultKeyedRateLimiter<KeyId>>,
    per_minute: u32,
    at_once: u32,
    running: Arc<Mutex<HashMap<ProjectId, u32>>>,
}

impl ChatLimits {
    pub(crate) fn new(limits: &Limits) -> Self {
        let rate = NonZeroU32::new(limits.chats_per_minute);
        Self {
            rate: rate.map(|rate| RateLimiter::keyed(Quota::per_minute(rate))),
            per_minute: limits.chats_per_minute,
            at_once: limits.chats_at_once,
            running: Arc::default(),
        }
    }

    /// Lets a chat begin.
    ///
    /// # Errors
    ///
    /// Returns 429 if the key or the project has too many.
    pub(crate) fn begin(&self, key: KeyId, project: ProjectId) -> Result<RunningChat, Problem> {
        // Before the rate, so that a refused chat does not count against it.
        let running = self.enter(project)?;
        if let Some(rate) = &self.rate
            && let Err(early) = rate.check_key(&key)
        {
            let pause = early.wait_time_from(DefaultClock::default().now());
            let detail = format!(
                "this key has {} chats a minute; wait, then send it again",
                self.per_minute
            );
            return Err(Problem::new(Code::RateLimited, detail).retry_after(pause));
        }
        Ok(running)
    }

    fn enter(&self, project: ProjectId) -> Result<RunningChat, Problem> {
        let mut running = self.running.lock().unwrap_or_else(PoisonError::into_inner);
        let count = running.entry(project).or_default();
        if self.at_once > 0 && *count >= self.at_once {
            let detail =
                format!("this project has {count} chats running, the most at once; send it again later");
            return Err(Problem::new(Code::RateLimited, detail).retry_after(Duration::from_secs(1)));
        }
        *count += 1;
        Ok(RunningChat {
            running: Arc::clone(&self.running),
            project,
        })
    }

    /// Forgets keys that have not chatted for a while.
    pub(crate) fn tidy(&self) {
        if let Some(rate) = &self.rate {
            rate.retain_recent();
            rate.shrink_to_fit();
        }
    }
}

/// A chat that runs. It counts until it is dropped.
pub(crate) struct RunningChat {
    running: Arc<Mutex<HashMap<ProjectId, u32>>>,
    project: ProjectId,
}

impl Drop for RunningChat {
    fn drop(&mut self) {
        let mut running = self.running.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(count) = running.get_mut(&self.project) {
            *count -= 1;
            if *count == 0 {
                running.remove(&self.project);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn limits(chats_per_minute: u32, chats_at_once: u32) -> ChatLimits {
        ChatLimits::new(&Limits {
            chats_per_minute,
            chats_at_once,
            ..Limits::default()
        })
    }

    #[test]
    fn chats_at_once_are_counted_by_project_until_they_end() {
        let limits = limits(0, 2);
        let (key, project) = (KeyId::fresh(), ProjectId::fresh());
        let first = limits.begin(key, project).unwrap();
        let second = limits.begin(KeyId::fresh(), project).unwrap();
        assert!(limits.begin(key, project).is_err());
        assert!(limits.begin(key, ProjectId::fresh()).is_ok());
        drop(first);
        let third = limits.begin(key, project).unwrap();
        drop((second, third));
        assert!(limits.running.lock().unwrap().is_empty());
    }

    #[test]
    fn chats_a_minute_are_counted_by_key() {
        let limits = limits(3, 0);
        let (key, project) = (KeyId::fresh(), ProjectId::fresh());
        for _ in 0..3 {
            limits.begin(key, project).unwrap();
        }
        let refused = limits.begin(key, project).err().unwrap();
        assert_eq!(refused.code(), Code::RateLimited);
        assert!(limits.begin(KeyId::fresh(), project).is_ok());
        assert!(limits.running.lock().unwrap().is_empty());
    }
}
