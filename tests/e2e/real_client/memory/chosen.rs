//! A memory that the model chooses, because no word of the prompt finds it.

use super::Team;
use crate::injected::injected;
use crate::judge::answer;
use anyhow::{Context, Result};
use grov_domain::Purpose;
use grov_sim::JudgeScript;
use grov_tests::{ClientRun, eventually};
use serde_json::{Value, json};
use std::fs;

/// The same question as the other tests', in other words.
const IN_OTHER_WORDS: &str = "Customers' notices get lost whenever our box reboots. Why? [[scenario:wait]]";

/// The questions for memories that the judge got, and has answered.
fn choices(team: &Team) -> Vec<String> {
    let calls = team.judge.sim().judge_calls().into_iter();
    let asked = calls.filter(|(request, call)| {
        call.purpose == Some(Purpose::ChooseMemories) && request.delivery().is_some()
    });
    asked.map(|(_, call)| call.user).collect()
}

/// Types the prompt, and lets the turn go on once the model has chosen.
fn asks(team: &Team, chosen: &Value) -> Result<ClientRun> {
    let script = JudgeScript::default().with(Purpose::ChooseMemories, answer(chosen)?);
    team.judge.sim().set_judge(script);
    std::thread::scope(|scope| {
        let running = scope.spawn(|| team.types(IN_OTHER_WORDS, &[]));
        let asked = eventually("the model to choose", || {
            (!choices(team).is_empty()).then_some(())
        });
        fs::write(team.side.with_file_name("asked"), "")?;
        let run = running
            .join()
            .map_err(|_| anyhow::anyhow!("the client panicked"))?;
        asked?;
        run
    })
}

#[test]
fn a_memory_chosen_by_the_model_is_told_once_with_a_tool_result_of_the_turn() -> Result<()> {
    let Some(team) = Team::remembering()? else {
        return Ok(());
    };
    let run = asks(&team, &json!({"chosen": [1]}))?;
    let session = run.session()?.to_owned();
    let told: Vec<_> = team
        .arrived(&session)
        .iter()
        .map(|request| injected(request))
        .collect::<Result<_>>()?;
    assert_eq!(told.len(), 8, "{told:#?}");
    assert_eq!(told[0], [], "words find nothing");
    let first = told.iter().position(|told| !told.is_empty());
    let first = first.with_context(|| format!("nothing was told: {}", team.work.daemon.log()))?;
    let memories = told[first].clone();
    assert_eq!(memories.len(), 1, "{memories:#?}");
    for part in ["team-memory", "outbox table", "survive a restart"] {
        assert!(memories[0].block.contains(part), "{part}: {}", memories[0].block);
    }
    assert!(memories[0].follows.starts_with("toolu_"), "{memories:#?}");
    let count = team.assert_injected(&session, first, &memories)?;
    let asked = choices(&team);
    assert_eq!(asked.len(), 1, "{asked:#?}");
    assert!(asked[0].contains("box reboots"), "{}", asked[0]);

    // In the next turn, in a new process, and in a fork: at the same place, and the model is not asked again.
    team.types("thanks", &["--resume", &session])?;
    let count = team.assert_injected(&session, count, &memories)?;
    let fork = team.types("thanks a lot", &["--resume", &session, "--fork-session"])?;
    team.assert_injected(fork.session()?, 0, &memories)?;
    // The same question once more: what is in the conversation is not told again.
    team.types(IN_OTHER_WORDS, &["--resume", &session])?;
    team.assert_injected(&session, count, &memories)?;
    team.assert_cache_preserved()
}

#[test]
fn a_model_that_chooses_no_memory_changes_no_request() -> Result<()> {
    let Some(team) = Team::remembering()? else {
        return Ok(());
    };
    let run = asks(&team, &json!({"chosen": []}))?;
    team.assert_injected(run.session()?, 0, &[])?;
    team.assert_cache_preserved()
}
