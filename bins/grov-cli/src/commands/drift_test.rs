//! `grov drift-test`: judges an action that a prompt describes.

use super::drift::{command_action, intent_of};
use crate::arguments::DriftTestArguments;
use crate::context::{Context, block_on};
use crate::failure::Failure;
use crate::output::{Outcome, Style, note};
use crate::table::one_line;
use grov_domain::{
    ActionSketch, ActionType, Assessment, DriftQuestion, DriftType, DriftVerdict, EffectKind, Finding,
    GoalContract, Judge,
};
use grov_redact::Redactor;
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
    /// The action that was read from the prompt.
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

pub(crate) fn run(context: &Context, arguments: &DriftTestArguments) -> Outcome {
    for (name, text) in [("PROMPT", &arguments.prompt), ("--goal", &arguments.goal)] {
        if text.trim().is_empty() {
            return Err(Failure::usage(format!("{name} must not be empty")));
        }
    }
    let contract = contract(arguments);
    let here = context.directory().and_then(Path::to_str);
    let mut rules = Rules::new(contract.clone(), here);
    let is_refused = |action: &ActionSketch| {
        let findings = rules.assess_without_history(action).findings;
        findings.iter().any(|finding| finding.rule.is_hard())
    };
    let action = action(&arguments.prompt, is_refused);
    let assessment = rules.assess(&action, None);
    let verdict = model_verdict(context, &contract, &arguments.prompt, &action)?;
    context.answer(answer(action, assessment, verdict), text)
}

/// The contract: extracted from the goal, with the scope and constraints of the flags added.
fn contract(arguments: &DriftTestArguments) -> GoalContract {
    let intent = intent_of(&arguments.goal);
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

/// The action that the prompt describes: a command line, else a change of the files that it names.
fn action(prompt: &str, is_refused: impl Fn(&ActionSketch) -> bool) -> ActionSketch {
    let command = command_action(prompt);
    // Any word could be the name of a program, so the prompt is a command only if its effects are known, or if the rules that
    // the guard follows refuse it.
    let has_effect = command
        .effects
        .iter()
        .any(|effect| *effect != EffectKind::Execute);
    if has_effect || is_refused(&command) {
        return ActionSketch {
            command: Some(prompt.to_owned()),
            ..command
        };
    }
    ActionSketch {
        files: intent_of(prompt).scope,
        content: Some(prompt.to_owned()),
        ..ActionSketch::empty(ActionType::Edit)
    }
}

/// The model's verdict, if a model is configured and answers.
fn model_verdict(
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
        // Models are not sent the content of an action, so the prompt is passed as its command.
        actions: vec![ActionSketch {
            command: Some(prompt.to_owned()),
            ..action.clone()
        }],
    };
    let verdict = block_on(async {
        let verdict = judge.check_drift(None, &Redactor::shared().clean(question)).await;
        judge.close().await;
        Ok::<_, Failure>(verdict)
    })?;
    if verdict.is_none() {
        note!("warning: the model did not answer; rules judge alone");
    }
    Ok(verdict)
}

/// Combines rules and model as in a session: the model's score is used, unless a hard rule is broken.
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
        reason: reason.unwrap_or_else(|| "no objections".to_owned()),
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
    let described = match (&action.command, action.files.as_slice()) {
        (Some(command), _) => format!("the command {command}"),
        (None, []) => "a change of unnamed files".to_owned(),
        (None, files) => format!("a change of {}", files.join(", ")),
    };
    let score = format!("{} of 10", answer.score);
    let score = match answer.score < grov_domain::OFF_GOAL_BELOW {
        true => style.red(&score),
        false => style.green(&score),
    };
    let correction = match answer.level {
        "none" => "no correction".to_owned(),
        level => format!("correction: {level}"),
    };
    format!(
        "{score} (drift: {}): {}\n{correction}\nread as {}; judged by {}\n",
        answer.drift_type,
        one_line(&answer.reason),
        one_line(&described),
        answer.judged_by
    )
}
