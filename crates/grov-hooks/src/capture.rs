//! What of a session goes to team memory. Pure.
//!
//! What a session works on is saved after each of its turns, over what was saved before. A prompt that turns to something else
//! begins another task, which is saved beside it.

use grov_domain::{
    ActionSketch, EffectKind, GoalContract, HookSession, HookStep, OFF_GOAL_BELOW, Reasoning,
    ReasoningQuestion, SummaryQuestion, Task, TaskContextQuestion, TaskId, TaskSketch, TaskStatus, TaskType,
    TriggerReason, prompt_of_goal, without_own_text,
};
use grov_project::GrovIgnore;
use std::path::Path;
use time::OffsetDateTime;

/// Files kept with a task.
const MOST_FILES: usize = 200;

/// What the client writes for a call that the user or a hook did not let run, as it is or cut off.
const REFUSED: &[&str] = &[
    "The tool use was rejected",
    "wait for the user to tell you how to proceed",
];

/// What is known of a session when something of it is to be kept.
#[derive(Clone, Debug)]
pub struct Material<'a> {
    session: &'a HookSession,
    /// With what a person changed of it.
    contract: &'a GoalContract,
    prompts: Vec<String>,
    /// In order, those judged off goal left out, files relative to the working tree; each with the number of its prompt.
    actions: Vec<(u64, ActionSketch)>,
    /// Tasks of the session that were kept before this one.
    before: usize,
}

/// Where and by whom the work is done.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Circumstances {
    /// The project's remote.
    pub remote: Option<String>,
    /// Who works.
    pub user: Option<String>,
    /// The commit that is checked out.
    pub head: Option<String>,
}

impl<'a> Material<'a> {
    /// From what is stored. `root` is the folder of the working tree; what was done to files that `ignore` keeps out of
    /// memory is left out.
    pub fn new(
        session: &'a HookSession,
        contract: &'a GoalContract,
        steps: &[HookStep],
        root: &Path,
        ignore: &GrovIgnore,
    ) -> Self {
        let on_goal = steps
            .iter()
            .filter(|step| step.score.is_none_or(|score| score >= OFF_GOAL_BELOW))
            .filter(|step| !step.action.files.iter().any(|file| ignore.ignores(file)));
        let actions = on_goal.map(|step| {
            let mut action = step.action.clone();
            for file in &mut action.files {
                *file = relative(file, root);
            }
            action.reasoning = action.reasoning.map(|text| without_own_text(&text).into_owned());
            (step.prompt, action)
        });
        let prompts = contract
            .instructions
            .iter()
            .map(|prompt| without_own_text(prompt).trim().to_owned());
        Self {
            session,
            contract,
            prompts: prompts.filter(|prompt| !prompt.is_empty()).collect(),
            actions: actions.collect(),
            before: 0,
        }
    }

    /// Leaves out what was done for other tasks of the session: they were kept already, the newest first.
    #[must_use]
    pub fn beside(mut self, others: &[Task], steps: &[HookStep]) -> Self {
        self.before = others.len();
        if let Some(since) = others.first().map(|task| task.created_at) {
            let before = steps.iter().filter(|step| step.timestamp <= since);
            let last = before.map(|step| step.prompt).max().unwrap_or(0);
            self.actions.retain(|(prompt, _)| *prompt > last);
        }
        self
    }

    /// The prompts from the one on that the goal was taken from: what came before it was about something else.
    fn prompts_of_goal(&self) -> &[String] {
        let from = prompt_of_goal(&self.contract.goal, &self.prompts);
        self.prompts.get(from..).unwrap_or_default()
    }

    /// Whether the newest prompt turned to another task than the one that was kept.
    pub fn turned_from(&self, known: &Task) -> bool {
        let newest = self.prompts.len().saturating_sub(1);
        let goal = known.goal.as_deref().unwrap_or_default();
        newest > 0
            && !goal.is_empty()
            && goal != self.contract.goal
            && prompt_of_goal(&self.contract.goal, &self.prompts) == newest
            && self.prompts[newest].contains(self.contract.goal.trim_end_matches(['.', '…']))
    }

    /// Whether there is nothing to remember. Of what was forgotten actions without a word are left.
    pub fn is_empty(&self) -> bool {
        let is_wordless = |action: &ActionSketch| {
            action.files.is_empty() && action.command.is_none() && action.reasoning.is_none()
        };
        self.prompts.is_empty() && self.actions.iter().all(|(_, action)| is_wordless(action))
    }

    /// Whether files or the repository were changed in the newest turn.
    pub fn newest_turn_changed(&self) -> bool {
        self.newest_turn().any(changes)
    }

    /// Whether anything was done on the goal.
    pub fn has_actions(&self) -> bool {
        !self.actions.is_empty()
    }

    /// Whether files or the repository were changed.
    pub fn changed(&self) -> bool {
        self.actions.iter().any(|(_, action)| changes(action))
    }

    fn newest_turn(&self) -> impl Iterator<Item = &ActionSketch> {
        let newest = self.session.prompts;
        let actions = self.actions.iter().filter(move |(prompt, _)| *prompt >= newest);
        actions.map(|(_, action)| action)
    }

    fn sketches(&self) -> Vec<ActionSketch> {
        self.actions.iter().map(|(_, action)| action.clone()).collect()
    }

    /// Asks what the newest turn means. `known` is what was saved of the session so far, `prompt` what the user typed last,
    /// `answer` what the agent said last.
    pub fn turn_question(
        &self,
        known: Option<&Task>,
        prompt: Option<&str>,
        answer: &str,
    ) -> TaskContextQuestion {
        let prompt = prompt.map(str::to_owned).or_else(|| self.prompts.last().cloned());
        let id = self.session.client_session_id.first_task();
        TaskContextQuestion {
            // Before anything was saved, nobody said what the task is: it begins with this turn.
            current: known.map(|task| TaskSketch {
                id,
                goal: task.goal.clone().unwrap_or_default(),
                task_type: TaskType::Main,
                parent: None,
                completed: task.status != TaskStatus::Abandoned,
            }),
            others: Vec::new(),
            prompts: prompt.into_iter().collect(),
            actions: self.newest_turn().cloned().collect(),
            answer: answer.to_owned(),
            stop_reason: None,
        }
    }

    /// Asks what the team should remember.
    pub fn reasoning_question(&self, answer: &str) -> ReasoningQuestion {
        ReasoningQuestion {
            goal: self.contract.goal.clone(),
            prompts: self.prompts_of_goal().to_vec(),
            constraints: self.contract.constraints.clone(),
            actions: self.sketches(),
            answer: answer.to_owned(),
        }
    }

    /// Asks where the session stands.
    pub fn summary_question(&self, answer: &str) -> SummaryQuestion {
        SummaryQuestion {
            goal: self.contract.goal.clone(),
            constraints: self.contract.constraints.clone(),
            prompts: self.prompts.clone(),
            actions: self.sketches(),
            answer: answer.to_owned(),
        }
    }

    /// The record for team memory, under the id of the one that was saved before. Its files are not looked at.
    pub fn task(
        &self,
        known: Option<&Task>,
        reasoning: Reasoning,
        is_complete: bool,
        circumstances: Circumstances,
        now: OffsetDateTime,
    ) -> Task {
        let mut constraints = self.contract.constraints.clone();
        for constraint in reasoning.constraints {
            if !constraints.contains(&constraint) {
                constraints.push(constraint);
            }
        }
        let (status, trigger_reason) = if is_complete {
            (TaskStatus::Complete, TriggerReason::Complete)
        } else {
            (TaskStatus::Abandoned, TriggerReason::Abandoned)
        };
        let goal = Some(self.contract.goal.clone()).filter(|goal| !goal.is_empty());
        let committed = self.actions.iter().any(|(_, action)| commits(action));
        Task {
            id: known.map_or_else(TaskId::fresh, |task| task.id.clone()),
            project_path: self.session.project_path.clone(),
            project_remote: circumstances.remote,
            user: circumstances.user,
            client_session_id: Some(self.session.client_session_id.clone()),
            session_id: known
                .and_then(|task| task.session_id.clone())
                .or_else(|| Some(self.session.client_session_id.seen_by_hooks_after(self.before))),
            original_query: known
                .filter(|task| task.goal == goal)
                .map(|task| task.original_query.clone())
                .filter(|query| !query.is_empty())
                .or_else(|| self.prompts_of_goal().first().cloned())
                .or_else(|| goal.clone())
                .unwrap_or_default(),
            goal,
            reasoning_trace: reasoning.reasoning_trace,
            files_touched: self.files_touched(),
            decisions: reasoning.decisions,
            constraints,
            status,
            trigger_reason: Some(trigger_reason),
            linked_commit: circumstances.head.filter(|_| committed),
            parent_session_id: None,
            parent_task_id: known.and_then(|task| task.parent_task_id.clone()),
            tags: reasoning.tags,
            file_pins: Vec::new(),
            superseded_by: known.and_then(|task| task.superseded_by.clone()),
            created_at: now,
        }
    }

    /// The files that were changed; of work that changed none, those it was about.
    fn files_touched(&self) -> Vec<String> {
        let of = |wanted: &dyn Fn(&ActionSketch) -> bool| {
            let mut files: Vec<String> = Vec::new();
            let chosen = self.actions.iter().map(|(_, action)| action);
            for file in chosen
                .filter(|action| wanted(action))
                .flat_map(|action| &action.files)
            {
                if files.len() < MOST_FILES && !files.contains(file) {
                    files.push(file.clone());
                }
            }
            files
        };
        let changed = of(&changes);
        if changed.is_empty() {
            of(&was_done)
        } else {
            changed
        }
    }
}

/// Whether an action changed files or the repository. A command that failed may have.
fn changes(action: &ActionSketch) -> bool {
    if !was_done(action) {
        return false;
    }
    let is_change = |effect: &EffectKind| effect.changes_files() || *effect == EffectKind::VersionControl;
    action.action_type.modifies_files() || action.effects.iter().any(is_change)
}

/// Whether anything came of an action: what was refused or failed did nothing, but a command did what it did before.
fn was_done(action: &ActionSketch) -> bool {
    let output = action.output.as_deref().unwrap_or_default();
    let may_have_run = action.command.is_some() && !REFUSED.iter().any(|words| output.contains(words));
    action.failed != Some(true) || may_have_run
}

/// Whether an action put the work into a commit.
fn commits(action: &ActionSketch) -> bool {
    let command = action.command.as_deref().unwrap_or_default();
    action.failed != Some(true)
        && action.effects.contains(&EffectKind::VersionControl)
        && command.split_whitespace().any(|word| word == "commit")
}

/// `file` as seen from `root`, if it lies in it.
pub fn relative(file: &str, root: &Path) -> String {
    let inside = Path::new(file).strip_prefix(root).ok().and_then(Path::to_str);
    inside.filter(|path| !path.is_empty()).unwrap_or(file).to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use grov_domain::{ActionType, ClientSessionId, StepId};

    fn session() -> HookSession {
        let mut session = HookSession::new(
            ClientSessionId::new("s"),
            "/p".to_owned(),
            "/p".to_owned(),
            OffsetDateTime::UNIX_EPOCH,
        );
        session.prompts = 2;
        session
    }

    fn contract(prompts: &[&str]) -> GoalContract {
        GoalContract {
            goal: "Add a greeting".to_owned(),
            instructions: prompts.iter().map(ToString::to_string).collect(),
            constraints: vec!["leave main.rs alone".to_owned()],
            ..GoalContract::default()
        }
    }

    fn step(file: &str, prompt: u64, score: Option<u8>) -> HookStep {
        HookStep {
            id: StepId::new(file),
            tool_use_id: Some(file.to_owned()),
            agent_id: None,
            tool: "Edit".to_owned(),
            action: ActionSketch {
                action_type: ActionType::Edit,
                files: vec![format!("/p/{file}")],
                command: None,
                effects: Vec::new(),
                reasoning: Some("told <grov-context>by Grov</grov-context>by the agent".to_owned()),
                failed: None,
                output: None,
                content: None,
                line: None,
            },
            prompt,
            score,
            findings: Vec::new(),
            timestamp: OffsetDateTime::UNIX_EPOCH,
        }
    }

    fn saved(material: &Material<'_>, known: Option<&Task>) -> Task {
        material.task(
            known,
            Reasoning::default(),
            true,
            Circumstances::default(),
            OffsetDateTime::UNIX_EPOCH,
        )
    }

    #[test]
    fn what_was_judged_off_goal_and_what_grov_said_teach_nothing() {
        let (session, contract) = (session(), contract(&["<grov-context>m</grov-context>go", "on"]));
        let steps = [
            step("good", 1, Some(5)),
            step("off", 1, Some(4)),
            step("new", 2, None),
        ];
        let material = Material::new(
            &session,
            &contract,
            &steps,
            Path::new("/p"),
            &GrovIgnore::default(),
        );
        let question = material.reasoning_question("");
        assert_eq!(question.prompts, ["go", "on"]);
        let told = question.actions[0].reasoning.as_deref();
        assert_eq!(told, Some("told by the agent"));
        let task = saved(&material, None);
        assert_eq!(task.files_touched, ["good", "new"]);
        assert_eq!(task.original_query, "go");
        assert_eq!(task.constraints, ["leave main.rs alone"]);
        let turn = material.turn_question(None, None, "");
        assert_eq!(
            (turn.prompts.as_slice(), turn.actions.len()),
            (["on".to_owned()].as_slice(), 1)
        );
    }

    #[test]
    fn what_is_saved_again_keeps_its_name_and_what_was_asked_first() {
        let (session, first) = (session(), contract(&["go"]));
        let steps = [step("a", 1, None)];
        let ignore = GrovIgnore::default();
        let material = Material::new(&session, &first, &steps, Path::new("/p"), &ignore);
        let task = saved(&material, None);
        // The oldest prompts may be gone from the contract by then.
        let later = contract(&["on"]);
        let material = Material::new(&session, &later, &steps, Path::new("/p"), &ignore);
        let again = saved(&material, Some(&task));
        assert_eq!((again.id, again.original_query), (task.id, "go".to_owned()));
    }

    #[test]
    fn a_prompt_that_turns_elsewhere_is_another_memory_and_mixes_nothing_of_the_first() {
        let mut session = session();
        let mut contract = contract(&["Add a greeting"]);
        let mut steps = vec![step("greeting", 1, None)];
        let ignore = GrovIgnore::default();
        let material = Material::new(&session, &contract, &steps, Path::new("/p"), &ignore);
        let first = saved(&material, None);
        assert!(!material.turned_from(&first));

        session.prompts = 2;
        contract
            .instructions
            .push("Translate the readme into French".to_owned());
        contract.goal = "Translate the readme into French".to_owned();
        let mut later = step("readme", 2, None);
        later.timestamp += time::Duration::seconds(1);
        steps.push(later);
        let material = Material::new(&session, &contract, &steps, Path::new("/p"), &ignore);
        assert!(material.turned_from(&first));
        let material = material.beside(std::slice::from_ref(&first), &steps);
        let second = saved(&material, None);
        assert_eq!(second.original_query, "Translate the readme into French");
        assert_eq!(second.goal.as_deref(), Some("Translate the readme into French"));
        assert_eq!(second.files_touched, ["readme"]);
        assert_eq!(
            material.reasoning_question("").prompts,
            ["Translate the readme into French"]
        );
        assert_ne!((&second.id, &second.session_id), (&first.id, &first.session_id));
    }

    #[test]
    fn of_what_was_forgotten_nothing_is_kept() {
        let (session, empty) = (session(), GoalContract::default());
        let mut step = step("a", 1, None);
        step.action.files.clear();
        step.action.reasoning = None;
        let ignore = GrovIgnore::default();
        let material = Material::new(&session, &empty, &[step], Path::new("/p"), &ignore);
        assert!(material.is_empty());
        assert!(material.changed());
    }

    #[test]
    fn what_was_refused_is_no_work_of_the_session() {
        let (mut session, contract) = (session(), contract(&["go"]));
        session.prompts = 1;
        let ignore = GrovIgnore::default();
        let mut refused = step("refused", 1, None);
        refused.action.failed = Some(true);
        let mut removal = step("removed", 1, None);
        removal.action.action_type = ActionType::Bash;
        removal.action.command = Some("rm removed && false".to_owned());
        removal.action.effects = vec![EffectKind::Delete];
        removal.action.failed = Some(true);
        let touched = |steps: &[HookStep]| {
            let material = Material::new(&session, &contract, steps, Path::new("/p"), &ignore);
            (
                saved(&material, None).files_touched,
                material.newest_turn_changed(),
            )
        };
        let (files, changed) = touched(std::slice::from_ref(&refused));
        assert_eq!((files.len(), changed), (0, false));
        let (files, _) = touched(&[refused.clone(), step("done", 1, None)]);
        assert_eq!(files, ["done"]);
        // It may have failed behind the removal.
        let (files, changed) = touched(&[refused.clone(), removal.clone()]);
        assert_eq!(
            (files.as_slice(), changed),
            (["removed".to_owned()].as_slice(), true)
        );
        removal.action.output = Some("[…] The tool use was rejected (eg. …".to_owned());
        assert_eq!(touched(&[removal]), (Vec::new(), false));
    }

    #[test]
    fn a_commit_holds_the_result_if_the_work_was_committed() {
        let (session, contract) = (session(), contract(&["go"]));
        let mut commit = step("a", 1, None);
        commit.action.action_type = ActionType::Bash;
        commit.action.command = Some("git commit -am x".to_owned());
        commit.action.effects = vec![EffectKind::VersionControl];
        let head = |steps: &[HookStep]| {
            let ignore = GrovIgnore::default();
            let material = Material::new(&session, &contract, steps, Path::new("/p"), &ignore);
            let circumstances = Circumstances {
                head: Some("abc".to_owned()),
                ..Circumstances::default()
            };
            let now = OffsetDateTime::UNIX_EPOCH;
            let task = material.task(None, Reasoning::default(), true, circumstances, now);
            task.linked_commit
        };
        assert_eq!(head(&[step("a", 1, None)]), None);
        assert_eq!(head(std::slice::from_ref(&commit)).as_deref(), Some("abc"));
        commit.action.failed = Some(true);
        assert_eq!(head(&[commit]), None);
    }
}
