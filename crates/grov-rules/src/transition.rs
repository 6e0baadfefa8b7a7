//! Decides which task a turn belongs to, and whether it is done.

use super::claims::{Claims, Proof, claims_of, finished, proof_of};
use super::clean::clean;
use super::decisions::{self, StatedDecision};
use super::goal::{Goal, Sentence};
use super::intent::{MAX_PROMPTS, current_goal};
use super::new_work::about_finished;
use super::prompt::{Objection, Prompt, Relation};
use super::text::{shorten, words};
use super::{constraints, extraction, goal, scope};
use grov_domain::{ClientDialect, TaskAction, TaskAnalysis, TaskContextQuestion, TaskSketch, TaskType};

/// A goal with so many subject words is self-contained.
const SELF_CONTAINED_GOAL: usize = 4;

/// The most words of an answer that takes note of an order for later work.
const MAX_NOTE: usize = 12;

/// The most other tasks compared.
const MAX_TASKS: usize = 64;

/// Decides which task a turn belongs to, and whether it is done. By default the current task continues; without one, a new task
/// starts.
pub fn analyze_task_context(question: &TaskContextQuestion) -> TaskAnalysis {
    let newest = &question.prompts[question.prompts.len().saturating_sub(MAX_PROMPTS)..];
    let prompts: Vec<Vec<String>> = newest.iter().map(|prompt| clean(prompt).sentences()).collect();
    let mut limits = Vec::new();
    for sentences in &prompts {
        constraints::find(sentences, &mut limits);
    }
    let turn = Turn {
        prompt: leading_prompt(&prompts),
        text: prompts.iter().flatten().cloned().collect::<Vec<_>>().join(" "),
        goal: {
            let goals = prompts
                .iter()
                .map(|sentences| Goal::of(&Sentence::read(sentences)));
            current_goal(goals).0
        },
        claims: claims_of(&question.answer),
        proof: proof_of(extraction::newest(&question.actions)),
        stop_reason: question.stop_reason.as_deref(),
        question,
        cleared: newest
            .iter()
            .any(|prompt| prompt.contains(ClientDialect::CLAUDE_CODE.cleared)),
    };
    let others: Vec<&TaskSketch> = question.others.iter().take(MAX_TASKS).collect();
    let mut analysis = match &question.current {
        Some(current) => turn.within(current, &others),
        None => turn.without_current(&others),
    };
    analysis.constraints = limits;
    analysis
}

/// The newest prompt that is more than an acknowledgement, else the newest.
fn leading_prompt(prompts: &[Vec<String>]) -> Prompt {
    let mut newest = None;
    for sentences in prompts.iter().rev() {
        let prompt = Prompt::read(sentences);
        if prompt.empty {
            continue;
        }
        if !prompt.acknowledges && !prompt.approves {
            return prompt;
        }
        newest = newest.or(Some(prompt));
    }
    newest.unwrap_or_else(|| Prompt::read(&[]))
}

struct Turn<'a> {
    prompt: Prompt,
    /// The words of all prompts of the turn.
    text: String,
    goal: String,
    claims: Claims,
    proof: Proof,
    stop_reason: Option<&'a str>,
    question: &'a TaskContextQuestion,
    cleared: bool,
}

impl Turn<'_> {
    /// The analysis while `current` is the active task, which may be finished.
    fn within(&self, current: &TaskSketch, others: &[&TaskSketch]) -> TaskAnalysis {
        let prompt = &self.prompt;
        if self.cleared {
            return self.start(TaskAction::NewTask, "the conversation was cleared");
        }
        if prompt.empty {
            return self.continue_with(current, None, "nothing new was asked");
        }
        if prompt.acknowledges {
            return if self.can_end() && !self.proof.changed {
                self.end(current, None, "the user is content with the work")
            } else {
                self.continue_with(current, None, "the user agreed and the work went on")
            };
        }
        if prompt.approves {
            return self.continue_with(current, None, "the user let the work go on");
        }
        if prompt.relation == Relation::Back {
            return match self.named_task(others, current) {
                Some(task) => self.continue_with(task, Some(task), "the user went back to an earlier task"),
                None => self.continue_with(current, None, "the user went back to the task"),
            };
        }
        if prompt.only_asks && !self.proof.changed {
            return continued(current, None, "the user asked a question");
        }
        let objects = prompt.objection == Objection::Plain;
        match prompt.relation {
            Relation::Other => return self.start(TaskAction::NewTask, "the user turned to other work"),
            Relation::Before if prompt.orders || !objects => {
                return self.start(TaskAction::Subtask, "the user named work that is needed first");
            }
            Relation::Beside if prompt.orders && !objects => {
                return self.start(TaskAction::ParallelTask, "the user asked for something besides");
            }
            Relation::Now
                if prompt.orders
                    && !objects
                    && !prompt.is_anaphoric
                    && !prompt.routine
                    && self.shared(current) == 0 =>
            {
                return self.start(TaskAction::NewTask, "the user turned to the next work");
            }
            _ => {}
        }
        if objects || (prompt.objection == Objection::Fault && !prompt.orders) {
            return if self.proof.changed && self.proof.tested {
                self.continue_with(current, None, "the user objected to what was done")
            } else {
                continued(current, None, "the user objected to what was done")
            };
        }
        if prompt.orders && self.is_different(current) {
            return self.start(
                TaskAction::NewTask,
                "the user asked for work that has nothing to do with the task",
            );
        }
        self.continue_with(current, None, "the turn goes on with the task")
    }

    /// The analysis while no task is open.
    fn without_current(&self, others: &[&TaskSketch]) -> TaskAnalysis {
        let prompt = &self.prompt;
        if self.cleared {
            return self.start(TaskAction::NewTask, "the conversation was cleared");
        }
        if prompt.relation == Relation::Back
            && let Some(task) = self.best_match(others)
        {
            return self.continue_with(task, Some(task), "the user went back to an earlier task");
        }
        if let Some(last) = others.iter().rfind(|task| task.completed)
            && let Some(why) = about_finished(prompt, &self.text, &last.goal)
        {
            return continued(last, Some(last), why);
        }
        self.start(TaskAction::NewTask, "no task was in work")
    }

    /// How many subject words the prompts share with a task's goal.
    fn shared(&self, task: &TaskSketch) -> usize {
        scope::overlap(&self.text, &task.goal)
    }

    /// Whether the prompt states another goal: self-contained, and without subject words of the current one.
    fn is_different(&self, current: &TaskSketch) -> bool {
        !self.prompt.is_anaphoric
            && !self.prompt.routine
            && scope::subject(&self.goal).len() >= SELF_CONTAINED_GOAL
            && !scope::subject(&current.goal).is_empty()
            && self.shared(current) == 0
    }

    /// The other task that the prompt names, unless it matches the current one better; without a match, the current task's
    /// parent.
    fn named_task<'t>(&self, others: &[&'t TaskSketch], current: &TaskSketch) -> Option<&'t TaskSketch> {
        let shared = self.shared(current);
        if let Some(task) = self.best_match(others) {
            return (self.shared(task) > shared).then_some(task);
        }
        let parent = current.parent.as_ref()?;
        (shared == 0)
            .then(|| {
                others
                    .iter()
                    .find(|task| task.id == *parent && !task.completed)
                    .copied()
            })
            .flatten()
    }

    /// The task whose goal shares most with the prompt; open ones first.
    fn best_match<'t>(&self, tasks: &[&'t TaskSketch]) -> Option<&'t TaskSketch> {
        tasks
            .iter()
            .map(|task| (self.shared(task), !task.completed, *task))
            .filter(|(shared, _, _)| *shared > 0)
            .max_by_key(|(shared, open, _)| (*open, *shared))
            .map(|(_, _, task)| task)
    }

    /// Whether the work on `goal` is finished, as the reason to believe so.
    fn finished(&self, goal: &str, is_whole: bool) -> Option<&'static str> {
        let is_whole = is_whole && self.question.unchecked_finishes;
        finished(&self.claims, &self.proof, self.stop_reason, goal, is_whole)
    }

    /// Whether the work on `goal` looks finished, although nothing proves it.
    fn looks_finished(&self, goal: &str, is_whole: bool) -> bool {
        finished(&self.claims, &self.proof, self.stop_reason, goal, is_whole).is_some()
    }

    /// Whether the task can end.
    fn can_end(&self) -> bool {
        self.answered() && !self.claims.unfinished && !self.proof.failed
    }

    /// Whether the user only stated a decision, and the agent took note of it.
    fn notes_decision(&self) -> bool {
        let TaskContextQuestion { actions, prompts, .. } = self.question;
        let is_short = || words(&self.question.answer).len() <= MAX_NOTE && !self.claims.unfinished;
        let states = |prompt: &String| match decisions::stated_in_prompt(prompt) {
            StatedDecision::None => false,
            StatedDecision::Alone => true,
            StatedDecision::WithOrder => is_short(),
        };
        actions.is_empty() && self.claims.says_something && self.answered() && prompts.iter().any(states)
    }

    /// Whether the agent ended its turn without a question or plan.
    fn answered(&self) -> bool {
        self.stop_reason.is_none_or(|reason| reason == "end_turn") && !self.claims.asks && !self.claims.plans
    }

    fn start(&self, action: TaskAction, why: &str) -> TaskAnalysis {
        let answered =
            self.prompt.only_asks && !self.proof.changed && self.claims.says_something && self.answered();
        let noted = self.notes_decision();
        let text = || shorten(&self.text, goal::MAX_CHARACTERS);
        let TaskContextQuestion { actions, answer, .. } = self.question;
        let done = || extraction::goal_from_actions(actions, answer, goal::MAX_CHARACTERS);
        let agrees = self.prompt.approves || self.prompt.acknowledges;
        let sources: [&dyn Fn() -> String; 2] = if agrees { [&done, &text] } else { [&text, &done] };
        let goal = std::iter::once(self.goal.clone())
            .chain(sources.iter().map(|source| source()))
            .find(|goal| !goal.is_empty())
            .unwrap_or_default();
        let proof = self.finished(&goal, !agrees);
        let finished = answered || noted || proof.is_some();
        TaskAnalysis {
            action,
            task_id: None,
            looks_finished: !finished && self.looks_finished(&goal, !agrees),
            goal,
            finished,
            constraints: Vec::new(),
            reasoning: match (answered, proof) {
                (true, _) => format!("{why}; it was a question and is answered"),
                (_, None) if noted => format!("{why}; it states a decision, and nothing was to be done"),
                (_, Some(proof)) => format!("{why}; {proof}"),
                _ => why.to_owned(),
            },
        }
    }

    fn continue_with(&self, task: &TaskSketch, other: Option<&TaskSketch>, why: &str) -> TaskAnalysis {
        // More of finished work is finished unless the turn says otherwise.
        let is_whole = task.completed && other.is_none();
        match self.finished(&task.goal, is_whole) {
            Some(proof) if !task.completed || is_whole => self.end(task, other, proof),
            _ => TaskAnalysis {
                looks_finished: self.more_looks_finished(task, other),
                ..continued(task, other, why)
            },
        }
    }

    /// Whether an open task that is in memory as complete still is.
    fn more_looks_finished(&self, task: &TaskSketch, other: Option<&TaskSketch>) -> bool {
        self.question.is_remembered_complete && other.is_none() && self.looks_finished(&task.goal, true)
    }

    fn end(&self, task: &TaskSketch, other: Option<&TaskSketch>, why: &str) -> TaskAnalysis {
        let action = if task.task_type == TaskType::Subtask {
            TaskAction::SubtaskComplete
        } else {
            TaskAction::TaskComplete
        };
        TaskAnalysis {
            action,
            ..continued(task, other, why)
        }
    }
}

fn continued(task: &TaskSketch, other: Option<&TaskSketch>, why: &str) -> TaskAnalysis {
    TaskAnalysis {
        action: TaskAction::Continue,
        task_id: other.map(|task| task.id.clone()),
        goal: shorten(&task.goal, goal::MAX_CHARACTERS),
        finished: false,
        looks_finished: false,
        constraints: Vec::new(),
        reasoning: why.to_owned(),
    }
}

#[cfg(test)]
mod tests;
