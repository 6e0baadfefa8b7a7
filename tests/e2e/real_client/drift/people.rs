//! People have the last word about what a session is for, also while it works.

use super::{
    GOAL, LIMITED, Running, Story, calls, edits, reads, recolours, repairs, runs, says, step, text, waits_for,
};
use anyhow::{Context, Result, ensure};
use grov_tests::eventually;
use serde_json::{Value, json};

/// Rounds within which a decision must be noticed.
const ROUNDS: usize = 40;

/// Rounds that must then go the same way.
const MORE: usize = 2;

/// A session in which the agent does the same kind of thing round after round, each when it is let.
struct Rounds {
    story: Story,
    running: Running,
    done: usize,
    /// Actions off goal, and texts, so far.
    seen: Seen,
}

/// What a round brought.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Seen {
    off_goal: usize,
    told: usize,
}

impl Rounds {
    /// In every round the agent does `action`, in which `{step}` is another number each time. The first one is done.
    fn begin(action: &Value) -> Result<Option<Self>> {
        let steps = [
            step(&[reads("src/auth/token.ts"), reads("src/auth/session.ts")]),
            json!({"repeat": ROUNDS, "blocks": [action, waits_for("round-{step}")]}),
        ];
        let Some(story) = Story::begin(&steps)? else {
            return Ok(None);
        };
        let running = story.begins(GOAL)?;
        let mut rounds = Self {
            story,
            running,
            done: 0,
            seen: Seen::default(),
        };
        rounds.look()?;
        Ok(Some(rounds))
    }

    /// Lets the agent do the next round.
    fn next(&mut self) -> Result<Seen> {
        ensure!(self.done < ROUNDS, "it was not noticed");
        self.story.opens(&format!("round-{}", self.done + 1))?;
        self.look()
    }

    /// Waits for the end of the round under way.
    fn look(&mut self) -> Result<Seen> {
        self.done += 1;
        let (story, session) = (&self.story, &self.running.session);
        let expected = 2 + 2 * self.done;
        let off_goal = eventually("the round to be recorded", || {
            let off_goal = story.events(session).ok()?.len();
            let steps = story.grov().steps(session).ok()?.len();
            (steps + off_goal == expected).then_some(off_goal)
        })?;
        let told = story.told(session)?.len();
        let new = Seen {
            off_goal: off_goal - self.seen.off_goal,
            told: told - self.seen.told,
        };
        self.seen = Seen { off_goal, told };
        Ok(new)
    }

    fn decides(&self, arguments: &[&str]) -> Result<()> {
        self.story.commands(arguments)
    }

    /// Goes on until a round is as `wanted`; then all must be.
    fn settle(&mut self, wanted: impl Fn(Seen) -> bool) -> Result<()> {
        while !wanted(self.next()?) {}
        for _ in 0..MORE {
            let seen = self.next()?;
            ensure!(wanted(seen), "it did not last: {seen:?}");
        }
        Ok(())
    }

    /// Lets the agent end its turn.
    fn end(mut self) -> Result<(Story, String)> {
        self.story.plays(&[])?;
        self.story.opens(&format!("round-{}", self.done + 1))?;
        self.running.ends()?;
        Ok((self.story, self.running.session.clone()))
    }
}

fn paints() -> Value {
    let input = json!({
        "file_path": "{cwd}/src/styles/part-{step}.css",
        "content": ".part-{step} {\n  color: #ff5500;\n  padding: {step}px;\n}\n",
    });
    calls("Write", &input)
}

fn appends_to(file: &str) -> Value {
    runs(&format!("echo '// {{step}}' >> {file}"))
}

#[test]
fn what_a_person_allows_is_on_goal_from_then_on() -> Result<()> {
    let Some(mut rounds) = Rounds::begin(&paints())? else {
        return Ok(());
    };
    assert_eq!(rounds.seen.off_goal, 1, "colours have nothing to do with tokens");
    let session = rounds.running.session.clone();
    rounds.decides(&["goal", "allow", "src/styles/**", "--session", &session])?;
    rounds.settle(|seen| seen.off_goal == 0)?;
    rounds.story.mode_becomes(&session, "normal")?;
    let (story, session) = rounds.end()?;
    let shown = story.grov().ask(&["goal", "show", "--session", &session])?.json;
    assert!(shown.to_string().contains("src/styles/**"), "{shown:#}");
    Ok(())
}

#[test]
fn what_a_person_forbids_is_off_goal_from_then_on() -> Result<()> {
    let Some(mut rounds) = Rounds::begin(&appends_to("src/auth/session.ts"))? else {
        return Ok(());
    };
    assert_eq!(rounds.seen.off_goal, 0, "sessions have to do with tokens");
    let session = rounds.running.session.clone();
    rounds.decides(&["goal", "forbid", "src/auth/session.ts", "--session", &session])?;
    rounds.settle(|seen| seen.off_goal == 1)?;
    let (story, session) = rounds.end()?;
    let events = story.events(&session)?;
    for event in &events {
        assert!(text(event, "reason").contains("src/auth/session.ts"), "{event:#}");
    }
    assert!(!story.told(&session)?.is_empty());
    Ok(())
}

#[test]
fn a_constraint_that_a_person_adds_holds_from_then_on() -> Result<()> {
    let Some(mut rounds) = Rounds::begin(&appends_to("src/auth/session.ts"))? else {
        return Ok(());
    };
    let session = rounds.running.session.clone();
    let constraint = "Do not change src/auth/session.ts";
    rounds.decides(&["goal", "constraint", constraint, "--session", &session])?;
    rounds.settle(|seen| seen.off_goal == 1)?;
    let (story, session) = rounds.end()?;
    let told = story.told(&session)?;
    let first = told.first().context("nothing was told")?.text()?;
    assert!(first.contains(constraint), "{first}");
    Ok(())
}

#[test]
fn a_goal_that_a_person_sets_is_the_goal_from_then_on() -> Result<()> {
    let Some(mut rounds) = Rounds::begin(&paints())? else {
        return Ok(());
    };
    assert_eq!(rounds.seen.off_goal, 1);
    let session = rounds.running.session.clone();
    let goal = "Give every part of the application an orange colour, in files of their own under src/styles";
    rounds.decides(&["goal", "set", goal, "--session", &session])?;
    rounds.settle(|seen| seen.off_goal == 0)?;
    rounds.end()?;
    Ok(())
}

#[test]
fn switched_off_nothing_more_is_said() -> Result<()> {
    let Some(mut rounds) = Rounds::begin(&paints())? else {
        return Ok(());
    };
    // As long as Grov is on, it is told.
    while rounds.next()?.told == 0 {}
    rounds.decides(&["off"])?;
    rounds.settle(|seen| seen.told == 0)?;
    let (story, session) = rounds.end()?;
    // What was said stays where it is.
    assert!(!story.told(&session)?.is_empty());
    Ok(())
}

#[test]
fn with_corrections_turned_off_drift_is_recorded_and_nothing_is_said() -> Result<()> {
    let steps = [
        step(&[reads("src/auth/token.ts")]),
        step(&[repairs()]),
        step(&[reads("src/styles/theme.css"), reads("src/styles/header.css")]),
        step(&[recolours()]),
        step(&[edits("src/styles/header.css", "48px", "64px")]),
        step(&[says("It is orange.")]),
    ];
    let Some(story) = Story::with(&steps, &[("GROV_DRIFT_CORRECTIONS", "off".to_owned())])? else {
        return Ok(());
    };
    let session = story.types(LIMITED, &[])?;
    story.steps(&session)?;
    let events = story.events(&session)?;
    assert_eq!(events.len(), 2, "{events:#?}");
    assert_eq!(story.told(&session)?, []);
    Ok(())
}
