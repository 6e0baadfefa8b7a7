//! A session in which the test releases the agent step by step.

use super::{Running, Story, calls, reads, repairs, says, step, waits_for};
use anyhow::{Result, ensure};
use grov_tests::eventually;
use serde_json::{Value, json};

/// The maximum number of rounds.
const ROUNDS: usize = 40;

/// A session in which the agent repeats the same kind of action, one round at a time.
pub(super) struct Rounds<'a> {
    story: &'a Story,
    running: Running,
    done: usize,
    /// Actions off goal and injected texts so far.
    pub(super) seen: Seen,
}

/// Actions off goal and injected texts of one round.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Seen {
    pub(super) off_goal: usize,
    pub(super) injected: usize,
}

impl<'a> Rounds<'a> {
    /// In every round the agent does `action`, with a different number for `{step}`. The first round, in the second
    /// step, is done on return.
    pub(super) fn begin(story: &'a Story, prompt: &str, action: &Value) -> Result<Self> {
        story.plays(&[
            step(&[reads("src/auth/token.ts"), repairs()]),
            json!({"repeat": ROUNDS, "blocks": [action, waits_for("round-{step}")]}),
        ])?;
        let mut rounds = Self {
            story,
            running: story.begins(prompt)?,
            done: 0,
            seen: Seen::default(),
        };
        rounds.wait_for_round()?;
        Ok(rounds)
    }

    pub(super) fn session(&self) -> &str {
        &self.running.session
    }

    /// Lets the agent do the next round.
    pub(super) fn next(&mut self) -> Result<Seen> {
        ensure!(self.done < ROUNDS, "no round met the condition");
        self.release_round()?;
        self.wait_for_round()
    }

    /// Releases the gate of the current round, `done` steps after the first one.
    fn release_round(&self) -> Result<()> {
        self.story.opens_gate(&format!("round-{}", self.done + 1))
    }

    /// Waits for the end of the current round.
    fn wait_for_round(&mut self) -> Result<Seen> {
        self.done += 1;
        let (story, session) = (self.story, self.session());
        let expected = 2 + 2 * self.done;
        let off_goal = eventually("the round to be recorded", || {
            let steps = story.grov().steps(session).ok()?.len();
            // Read once the steps are complete: both are stored together.
            let off_goal = (steps == expected).then(|| story.events(session).ok())??;
            Some(off_goal.len())
        })?;
        let injected = story.injected(session)?.len();
        let new = Seen {
            off_goal: off_goal - self.seen.off_goal,
            injected: injected - self.seen.injected,
        };
        self.seen = Seen { off_goal, injected };
        Ok(new)
    }

    /// Repeats rounds until one is `wanted`, and requires the same of several following rounds.
    pub(super) fn wait_until_stable(&mut self, wanted: impl Fn(Seen) -> bool) -> Result<()> {
        while !wanted(self.next()?) {}
        for _ in 0..2 {
            let seen = self.next()?;
            ensure!(wanted(seen), "the following rounds differ: {seen:?}");
        }
        Ok(())
    }

    /// Lets the agent do other steps until the turn ends.
    pub(super) fn ends_with(mut self, steps: &[Value]) -> Result<()> {
        let before = json!({"repeat": self.done + 1, "blocks": [says("This is over.")]});
        self.story.plays(&[&[before], steps].concat())?;
        self.release_round()?;
        self.running.ends()
    }
}

/// Style changes that the prompt does not ask for, in a new file each time.
pub(super) fn changes_styles() -> Value {
    let input = json!({
        "file_path": "{cwd}/src/styles/part-{step}.css",
        "content": ".part-{step} {\n  color: #ff5500;\n  padding: {step}px;\n}\n",
    });
    calls("Write", &input)
}
