//! The plainest answers, until the rules of [`crate::offline`] give better ones.

use grov_domain::{
    DriftQuestion, DriftType, DriftVerdict, ForcedRecovery, ForcedRecoveryQuestion, Intent, IntentQuestion,
    Reasoning, ReasoningQuestion, RecoveryStep, SessionDigest, SummaryQuestion, TaskAction, TaskAnalysis,
    TaskContextQuestion,
};

fn goal_of(prompts: &[String]) -> String {
    prompts
        .last()
        .map(|prompt| prompt.chars().take(200).collect())
        .unwrap_or_default()
}

pub(crate) fn extract_intent(question: &IntentQuestion) -> Intent {
    Intent {
        goal: goal_of(&question.prompts),
        ..Intent::default()
    }
}

pub(crate) fn analyze_task_context(question: &TaskContextQuestion) -> TaskAnalysis {
    TaskAnalysis {
        action: if question.current.is_some() {
            TaskAction::Continue
        } else {
            TaskAction::NewTask
        },
        task_id: None,
        goal: question
            .current
            .as_ref()
            .map_or_else(|| goal_of(&question.prompts), |task| task.goal.clone()),
        finished: false,
        constraints: Vec::new(),
        reasoning: "no judge was available".to_owned(),
    }
}

pub(crate) fn extract_reasoning(question: &ReasoningQuestion) -> Reasoning {
    Reasoning {
        constraints: question.constraints.clone(),
        ..Reasoning::default()
    }
}

pub(crate) fn session_summary(question: &SummaryQuestion) -> SessionDigest {
    SessionDigest {
        current_state: question.answer.chars().take(400).collect(),
        next_action: question.goal.clone(),
        ..SessionDigest::default()
    }
}

pub(crate) fn check_drift(_: &DriftQuestion) -> DriftVerdict {
    DriftVerdict {
        score: 8,
        drift_type: DriftType::of_score(8),
        diagnostic: "not judged".to_owned(),
        recovery_plan: Vec::new(),
    }
}

pub(crate) fn generate_forced_recovery(question: &ForcedRecoveryQuestion) -> ForcedRecovery {
    ForcedRecovery {
        recovery_prompt: format!("Stop and return to the goal: {}", question.goal),
        mandatory_action: RecoveryStep {
            file: None,
            action: "Say how the next action serves the goal".to_owned(),
        },
    }
}
