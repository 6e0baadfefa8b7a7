//! `grov drift-test`: what would Grov say of an action under a goal?

use crate::arguments::{Common, DriftTestArguments};
use crate::context::Context;
use crate::failure::Failure;
use crate::output::{Outcome, Style, Terminal, Verdict, say};
use crate::table::harmless;
use grov_actions::{ToolCall, understand};
use grov_domain::{
    ActionSketch, ActionType, Assessment, DriftQuestion, DriftType, DriftVerdict, EffectKind, Finding,
    GoalContract, IntentQuestion, Judge, SettlingJudge,
};
use grov_redact::Redactor;
use grov_rules::extract_intent;
use grov_scope::Rules;
use grov_session::level::level;
use serde::Serialize;
use std::path::Path;

#[derive(Serialize)]
struct Answer {
    /// 1 to 10.
    score: u8,
    /// `none`, `nudge`, `correct`, `intervene` or `halt`.
    level: &'static str,
    reason: String,
    drift_type: &'static str,
    /// `rules` or `model`.
    judged_by: &'static str,
    /// What the words were taken for.
    action: ActionView,
    findings: Vec<Finding>,
}

#[derive(Serialize)]
struct ActionView {
    action_type: &'static str,
    files: Vec<String>,
    command: Option<String>,
    effects: Vec<EffectKind>,
}

pub(crate) fn run(common: &Common, arguments: &DriftTestArguments, terminal: Terminal) -> Outcome {
    for (name, text) in [("PROMPT", &arguments.prompt), ("--goal", &arguments.goal)] {
        if text.trim().is_empty() {
            return Err(Failure::usage(format!("{name} must say something")));
        }
    }
    let context = Context::load(common)?;
    let contract = contract(arguments);
    let action = action(&arguments.prompt);
    // Relative names are meant from here, as the agent's are from where it works.
    let here = context.directory().and_then(Path::to_str);
    let assessment = Rules::new(contract.clone(), here).assess(&action, None);
    let verdict = asked(&context, &contract, &arguments.prompt, &action)?;
    terminal.answer(answer(action, assessment, verdict), text)?;
    Ok(Verdict::Found)
}

/// What the goal says as a prompt, and what the flags say besides.
fn contract(arguments: &DriftTestArguments) -> GoalContract {
    let intent = extract_intent(&IntentQuestion {
        prompts: vec![arguments.goal.clone()],
        first_files: Vec::new(),
    });
    let mut contract = GoalContract {
        goal: intent.goal,
        instructions: vec![arguments.goal.clone()],
        scope: intent.scope,
        constraints: intent.constraints,
        keywords: intent.keywords,
        ..GoalContract::default()
    };
    contract.scope.extend(arguments.scope.iter().cloned());
    contract.constraints.extend(arguments.constraint.iter().cloned());
    contract
}

/// The action that the words are taken for: a command line, else a change of the files that they name.
fn action(prompt: &str) -> ActionSketch {
    let input = serde_json::json!({ "command": prompt });
    let command = understand(&ToolCall {
        name: "Bash",
        id: None,
        input: (&input).into(),
        working_directory: None,
    });
    // A line whose effects are known is a command; any words could be the name of a program.
    if command
        .effects
        .iter()
        .any(|effect| effect.kind != EffectKind::Execute)
    {
        return ActionSketch {
            command: Some(prompt.to_owned()),
            ..ActionSketch::of(&command)
        };
    }
    // What the offline judge takes for paths in a prompt, it takes for paths here.
    let named = extract_intent(&IntentQuestion {
        prompts: vec![prompt.to_owned()],
        first_files: Vec::new(),
    });
    ActionSketch {
        files: named.scope,
        content: Some(prompt.to_owned()),
        ..ActionSketch::empty(ActionType::Edit)
    }
}

/// What a model says, where one is set up and answers.
fn asked(
    context: &Context,
    contract: &GoalContract,
    prompt: &str,
    action: &ActionSketch,
) -> Result<Option<DriftVerdict>, Failure> {
    let Some(judge) = context.judge() else {
        return Ok(None);
    };
    let question = DriftQuestion {
        goal: contract.goal.clone(),
        newest_instruction: contract.newest_instruction().to_owned(),
        constraints: contract.constraints.clone(),
        scope: contract.scope.clone(),
        earlier: Vec::new(),
        // A model is not shown what an action writes, and here that is all there is.
        actions: vec![ActionSketch {
            command: Some(prompt.to_owned()),
            ..action.clone()
        }],
    };
    let verdict = context.wait(async {
        let verdict = judge.check_drift(None, &Redactor::shared().clean(question)).await;
        judge.close().await;
        verdict
    })?;
    if verdict.is_none() {
        say("warning: the model gave no answer; rules judged alone");
    }
    Ok(verdict)
}

/// The rules and the model together, as for a session: the model's score counts, except that what is a matter of fact
/// stands.
fn answer(action: ActionSketch, assessment: Assessment, verdict: Option<DriftVerdict>) -> Answer {
    let is_hard = assessment.findings.iter().any(|finding| finding.rule.is_hard());
    let found = assessment.findings.first().map(|finding| finding.reason.clone());
    let (score, reason, judged_by) = match verdict {
        Some(verdict) if is_hard && assessment.score <= verdict.score => (assessment.score, found, "rules"),
        Some(verdict) => (verdict.score.clamp(1, 10), Some(verdict.diagnostic), "model"),
        None => (assessment.score, found, "rules"),
    };
    Answer {
        score,
        level: level(score, 0).map_or("none", |level| level.as_str()),
        reason: reason.unwrap_or_else(|| "nothing speaks against it".to_owned()),
        drift_type: DriftType::of_score(score).as_str(),
        judged_by,
        action: ActionView {
            action_type: action.action_type.as_str(),
            files: action.files,
            command: action.command,
            effects: action.effects,
        },
        findings: assessment.findings,
    }
}

fn text(answer: &Answer, style: Style) -> String {
    let action = &answer.action;
    let what = match (&action.command, action.files.as_slice()) {
        (Some(command), _) => format!("the command {command}"),
        (None, []) => "a change of files that are not named".to_owned(),
        (None, files) => format!("a change of {}", files.join(", ")),
    };
    let score = format!("{} of 10", answer.score);
    let score = if answer.score < grov_domain::OFF_GOAL_BELOW {
        style.red(&score)
    } else {
        style.green(&score)
    };
    let told = match answer.level {
        "none" => "the agent would be told nothing".to_owned(),
        level => format!("the agent would get: {level}"),
    };
    format!(
        "{score} ({}): {}\n{told}\ntaken for {}, judged by {}\n",
        answer.drift_type,
        harmless(&answer.reason),
        harmless(&what),
        answer.judged_by
    )
}
