//! What of a task goes to team memory. Pure, but for the store's types.

use super::exchange::both_ends;
use grov_domain::{
    ActionSketch, Prompt, Reasoning, ReasoningQuestion, SessionState, SessionStatus, StepRow, Task, TaskId,
    TaskStatus, TriggerReason, prompt_of_goal, without_own_text,
};
use grov_project::GrovIgnore;
use std::path::Path;
use time::OffsetDateTime;

/// Steps scored below this are off goal and teach nothing.
const LEAST_SCORE: u8 = 5;

/// Files kept with a task.
const MAX_FILES: usize = 200;

/// How a task ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Ending {
    /// The work was finished.
    Complete,
    /// Nobody came back.
    Abandoned,
}

impl Ending {
    pub(super) fn session_status(self) -> SessionStatus {
        match self {
            Self::Complete => SessionStatus::Completed,
            Self::Abandoned => SessionStatus::Abandoned,
        }
    }
}

/// All that is known of a task when it ends.
pub(super) struct Material {
    prompts: Vec<String>,
    /// In order, those judged off goal left out, files relative to `root`.
    actions: Vec<ActionSketch>,
}

impl Material {
    /// From what is stored. `root` is the folder of the working tree; what was done to files that `ignore` keeps out of
    /// memory is left out.
    pub(super) fn new(
        prompts: &[Prompt],
        steps: &[StepRow],
        root: Option<&Path>,
        ignore: &GrovIgnore,
        outcome: impl Fn(&str) -> Option<(bool, Option<String>)>,
    ) -> Self {
        let on_goal = steps
            .iter()
            .filter(|step| step.is_validated && step.drift_score.is_none_or(|score| score >= LEAST_SCORE))
            .filter(|step| !step.files.iter().any(|file| ignore.ignores(file)));
        let actions = on_goal.map(|step| {
            let ended = step.tool_use_id.as_deref().and_then(&outcome);
            let (failed, output) = ended.map_or((None, None), |(failed, output)| (Some(failed), output));
            ActionSketch {
                files: step.files.iter().map(|file| relative(file, root)).collect(),
                command: step.command.clone(),
                effects: step.effects.iter().map(|effect| effect.kind).collect(),
                reasoning: step
                    .reasoning
                    .as_deref()
                    .map(|text| without_own_text(text).into_owned()),
                failed,
                output,
                ..ActionSketch::empty(step.action_type)
            }
        });
        Self {
            prompts: prompts
                .iter()
                .map(|prompt| both_ends(without_own_text(&prompt.text).trim()))
                .filter(|text| !text.is_empty())
                .collect(),
            actions: actions.collect(),
        }
    }

    /// Whether there is nothing to remember. Of what was forgotten actions without a word are left.
    pub(super) fn is_empty(&self) -> bool {
        let is_wordless = |action: &ActionSketch| {
            action.files.is_empty() && action.command.is_none() && action.reasoning.is_none()
        };
        self.prompts.is_empty() && self.actions.iter().all(is_wordless)
    }

    /// Whether anything was changed.
    pub(super) fn has_work(&self) -> bool {
        self.actions.iter().any(ActionSketch::has_changed)
    }

    /// The question for the judge.
    pub(super) fn question(&self, state: &SessionState, answer: &str) -> ReasoningQuestion {
        ReasoningQuestion {
            goal: state.original_goal.clone().unwrap_or_default(),
            prompts: self.prompts_of(state).to_vec(),
            constraints: state.constraints.clone(),
            actions: self.actions.clone(),
            answer: answer.to_owned(),
        }
    }

    /// The record for team memory.
    pub(super) fn task(
        &self,
        state: &SessionState,
        remote: Option<String>,
        reasoning: Reasoning,
        ending: Ending,
        head: Option<String>,
        now: OffsetDateTime,
    ) -> Task {
        let mut constraints = state.constraints.clone();
        for constraint in reasoning.constraints {
            if !constraints.contains(&constraint) {
                constraints.push(constraint);
            }
        }
        let (status, trigger_reason) = match ending {
            Ending::Complete => (TaskStatus::Complete, TriggerReason::Complete),
            Ending::Abandoned => (TaskStatus::Abandoned, TriggerReason::Abandoned),
        };
        let moved = state.head_at_start.is_some() && head != state.head_at_start;
        Task {
            id: TaskId::fresh(),
            project_path: state.project_path.clone(),
            project_remote: remote,
            user: state.user_id.clone(),
            client_session_id: Some(state.client_session_id.clone()),
            session_id: Some(state.session_id.clone()),
            original_query: self
                .prompts_of(state)
                .first()
                .cloned()
                .or_else(|| state.original_goal.clone())
                .unwrap_or_default(),
            goal: state.original_goal.clone(),
            reasoning_trace: reasoning.reasoning_trace,
            files_touched: self.files_touched(),
            decisions: reasoning.decisions,
            constraints,
            status,
            trigger_reason: Some(trigger_reason),
            linked_commit: head.filter(|_| moved),
            parent_session_id: state.parent_session_id.clone(),
            parent_task_id: None,
            tags: reasoning.tags,
            file_pins: Vec::new(),
            superseded_by: None,
            created_at: now,
        }
    }

    /// The prompts from the one on that the goal was taken from: what came before it was about something else.
    fn prompts_of(&self, state: &SessionState) -> &[String] {
        let from = prompt_of_goal(state.original_goal.as_deref().unwrap_or_default(), &self.prompts);
        self.prompts.get(from..).unwrap_or_default()
    }

    /// The files that were changed; of work that changed none, those it was about.
    fn files_touched(&self) -> Vec<String> {
        let of = |wanted: &dyn Fn(&ActionSketch) -> bool| {
            let mut files: Vec<String> = Vec::new();
            let chosen = self.actions.iter().filter(|action| wanted(action));
            for file in chosen.flat_map(|action| &action.files) {
                if files.len() < MAX_FILES && !files.contains(file) {
                    files.push(file.clone());
                }
            }
            files
        };
        let changed = of(&ActionSketch::has_changed);
        if changed.is_empty() {
            of(&ActionSketch::took_effect)
        } else {
            changed
        }
    }
}

/// `file` as seen from `root`, if it lies in it.
pub(super) fn relative(file: &str, root: Option<&Path>) -> String {
    let inside = root.and_then(|root| Path::new(file).strip_prefix(root).ok());
    inside
        .and_then(Path::to_str)
        .filter(|path| !path.is_empty())
        .unwrap_or(file)
        .to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tasks::testing::task;
    use grov_domain::{ActionType, Effect, EffectKind, ExchangeId, SessionId, StepId};

    fn step(file: &str, score: Option<u8>) -> StepRow {
        StepRow {
            id: StepId::new(file),
            session_id: SessionId::new("s1"),
            exchange_id: ExchangeId::new("x"),
            agent_id: None,
            tool: "Edit".to_owned(),
            tool_use_id: Some(file.to_owned()),
            action_type: ActionType::Edit,
            files: vec![format!("/p/{file}")],
            folders: Vec::new(),
            command: None,
            effects: Vec::new(),
            reasoning: Some("told <grov-context>by Grov</grov-context>by the agent".to_owned()),
            drift_score: score,
            drift_type: None,
            is_key_decision: false,
            is_validated: true,
            correction_given: None,
            correction_level: None,
            keywords: Vec::new(),
            timestamp: OffsetDateTime::UNIX_EPOCH,
        }
    }

    fn prompt(text: &str) -> Prompt {
        Prompt {
            text: text.to_owned(),
            queued: false,
        }
    }

    fn saved(material: &Material) -> Task {
        let state = task("s1", None);
        let reasoning = Reasoning::default();
        material.task(
            &state,
            None,
            reasoning,
            Ending::Complete,
            None,
            OffsetDateTime::UNIX_EPOCH,
        )
    }

    #[test]
    fn goal_and_text_of_a_memory_come_from_one_prompt() {
        let prompts = [
            prompt("How does the login work?"),
            prompt("Translate the readme into French"),
        ];
        let material = Material::new(&prompts, &[], None, &GrovIgnore::default(), |_| None);
        let mut state = task("s1", None);
        state.original_goal = Some("Translate the readme into French".to_owned());
        let task = material.task(
            &state,
            None,
            Reasoning::default(),
            Ending::Complete,
            None,
            OffsetDateTime::UNIX_EPOCH,
        );
        assert_eq!(task.original_query, "Translate the readme into French");
        assert_eq!(
            material.question(&state, "").prompts,
            ["Translate the readme into French"]
        );
    }

    #[test]
    fn what_was_judged_off_goal_teaches_nothing() {
        let mut invalid = step("invalid", None);
        invalid.is_validated = false;
        let steps = [
            step("good", Some(5)),
            step("off", Some(4)),
            step("unjudged", None),
            invalid,
        ];
        let material = Material::new(
            &[prompt("go")],
            &steps,
            Some(Path::new("/p")),
            &GrovIgnore::default(),
            |_| None,
        );
        let question = material.question(&task("s1", None), "");
        let files: Vec<_> = question
            .actions
            .into_iter()
            .flat_map(|action| action.files)
            .collect();
        assert_eq!(files, ["good", "unjudged"]);
        assert_eq!(saved(&material).files_touched, ["good", "unjudged"]);
    }

    #[test]
    fn text_that_grov_put_there_is_not_captured_again() {
        let prompts = [
            prompt("<grov-context>memory</grov-context>"),
            prompt("fix <grov-context>m</grov-context>it"),
        ];
        let material = Material::new(&prompts, &[step("a", None)], None, &GrovIgnore::default(), |_| {
            None
        });
        let question = material.question(&task("s1", None), "");
        assert_eq!(question.prompts, ["fix it"]);
        assert_eq!(
            question.actions[0].reasoning.as_deref(),
            Some("told by the agent")
        );
        assert_eq!(saved(&material).original_query, "fix it");
    }

    #[test]
    fn results_of_tools_are_told_where_they_are_known() {
        let known = |call: &str| (call == "a").then(|| (true, Some("2 failed".to_owned())));
        let material = Material::new(
            &[],
            &[step("a", None), step("b", None)],
            None,
            &GrovIgnore::default(),
            known,
        );
        let actions = material.question(&task("s1", None), "").actions;
        assert_eq!(
            (actions[0].failed, actions[0].output.as_deref()),
            (Some(true), Some("2 failed"))
        );
        assert_eq!(actions[1].failed, None);
    }

    #[test]
    fn what_was_refused_is_no_work_of_the_task() {
        let steps = [step("refused", None), step("done", None)];
        let touched = |steps: &[StepRow]| {
            let refused = |call: &str| (call == "refused").then(|| (true, Some("not allowed".to_owned())));
            let ignore = GrovIgnore::default();
            let material = Material::new(&[], steps, Some(Path::new("/p")), &ignore, refused);
            (saved(&material).files_touched, material.has_work())
        };
        assert_eq!(touched(&steps), (vec!["done".to_owned()], true));
        assert_eq!(touched(&steps[..1]), (Vec::new(), false));
    }

    #[test]
    fn work_that_changed_nothing_is_known_by_what_it_looked_at() {
        let mut read = step("read", None);
        read.action_type = ActionType::Read;
        let looked = Material::new(
            &[],
            std::slice::from_ref(&read),
            Some(Path::new("/p")),
            &GrovIgnore::default(),
            |_| None,
        );
        assert_eq!(saved(&looked).files_touched, ["read"]);
        let mut removed = step("removed", None);
        removed.action_type = ActionType::Bash;
        removed.effects = vec![Effect {
            kind: EffectKind::Delete,
            paths: Vec::new(),
        }];
        let changed = Material::new(
            &[],
            &[read, removed],
            Some(Path::new("/p")),
            &GrovIgnore::default(),
            |_| None,
        );
        assert_eq!(saved(&changed).files_touched, ["removed"]);
    }
}
