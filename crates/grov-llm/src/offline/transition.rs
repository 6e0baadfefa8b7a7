//! Which task a turn belongs to, and whether it is done.

use super::claims::{Claims, Proof, claims_of, finished, proof_of};
use super::clean::{Cleaned, clean};
use super::intent::{MOST_PROMPTS, newest_goal};
use super::prompt::{Prompt, Relation};
use super::text::shorten;
use super::{constraints, goal, scope};
use grov_domain::{TaskAction, TaskAnalysis, TaskContextQuestion, TaskSketch, TaskType};

/// At most so many other tasks are compared.
const MOST_TASKS: usize = 64;

/// Which task a turn belongs to, and whether it is done. Where nothing is known the current task goes on; without one, a
/// new task begins.
pub fn analyze_task_context(question: &TaskContextQuestion) -> TaskAnalysis {
    let newest = &question.prompts[question.prompts.len().saturating_sub(MOST_PROMPTS)..];
    let cleaned: Vec<Cleaned> = newest.iter().map(|prompt| clean(prompt)).collect();
    let mut limits = Vec::new();
    for prompt in &cleaned {
        constraints::find(&prompt.prose, &mut limits);
    }
    let turn = Turn {
        prompt: leading_prompt(&cleaned),
        goal: newest_goal(&cleaned),
        claims: claims_of(&question.answer),
        proof: proof_of(&question.actions),
        stop_reason: question.stop_reason.as_deref(),
        cleared: newest
            .iter()
            .any(|prompt| prompt.contains("<command-name>/clear")),
    };
    let open = question.current.as_ref().filter(|task| !task.completed);
    let closed = question.current.as_ref().filter(|task| task.completed);
    let others: Vec<&TaskSketch> = question.others.iter().take(MOST_TASKS).chain(closed).collect();
    let mut analysis = match open {
        Some(current) => turn.within(current, &others),
        None => turn.without_current(&others),
    };
    analysis.constraints = limits;
    analysis
}

/// The newest prompt that is no mere acknowledgement, else the newest.
fn leading_prompt(cleaned: &[Cleaned]) -> Prompt {
    let read = |prompt: &Cleaned| Prompt::read(prompt.best());
    let mut newest = None;
    for prompt in cleaned.iter().rev() {
        let prompt = read(prompt);
        if prompt.empty {
            continue;
        }
        if !prompt.acknowledges && !prompt.approves {
            return prompt;
        }
        newest = newest.or(Some(prompt));
    }
    newest.unwrap_or_else(|| Prompt::read(""))
}

struct Turn<'a> {
    prompt: Prompt,
    goal: String,
    claims: Claims,
    proof: Proof,
    stop_reason: Option<&'a str>,
    cleared: bool,
}

impl Turn<'_> {
    /// The verdict while `current` is in work.
    fn within(&self, current: &TaskSketch, others: &[&TaskSketch]) -> TaskAnalysis {
        let prompt = &self.prompt;
        if self.cleared {
            return self.start(TaskAction::NewTask, "the conversation was cleared");
        }
        if prompt.empty {
            return self.go_on(current, None, "nothing new was asked");
        }
        if prompt.acknowledges {
            return if self.can_end() && !self.proof.changed && !self.claims.worked {
                self.end(current, None, "the user is content with the work")
            } else {
                self.go_on(current, None, "the user agreed and the work went on")
            };
        }
        if prompt.approves {
            return self.go_on(current, None, "the user let the work go on");
        }
        if prompt.relation == Relation::Back {
            if let Some(task) = self.named_task(others, current) {
                return self.go_on(task, Some(task), "the user went back to an earlier task");
            }
            return self.go_on(current, None, "the user went back to the task");
        }
        if prompt.objects {
            return continued(current, None, "the user objected to what was done");
        }
        if prompt.asks && !prompt.orders {
            return continued(current, None, "the user asked a question");
        }
        match prompt.relation {
            Relation::Before => {
                return self.start(TaskAction::Subtask, "the user named work that is needed first");
            }
            Relation::Beside => {
                return self.start(TaskAction::ParallelTask, "the user asked for something besides");
            }
            Relation::Other => return self.start(TaskAction::NewTask, "the user turned to other work"),
            Relation::Back | Relation::Unsaid => {}
        }
        if prompt.orders && self.is_different(&current.goal) {
            return self.start(
                TaskAction::NewTask,
                "the user asked for work that has nothing to do with the task",
            );
        }
        self.go_on(current, None, "the turn goes on with the task")
    }

    /// The verdict while no task is in work.
    fn without_current(&self, others: &[&TaskSketch]) -> TaskAnalysis {
        let prompt = &self.prompt;
        if self.cleared {
            return self.start(TaskAction::NewTask, "the conversation was cleared");
        }
        if prompt.relation == Relation::Back
            && let Some(task) = self.best_match(others.iter().copied())
        {
            return self.go_on(task, Some(task), "the user went back to an earlier task");
        }
        if let Some(last) = others.iter().rfind(|task| task.completed) {
            let about_it = scope::overlap(&self.text(), &last.goal) > 0;
            if prompt.empty || prompt.acknowledges || prompt.approves {
                return continued(last, Some(last), "the user acknowledged finished work");
            }
            if prompt.objects {
                return continued(last, Some(last), "the user objected to finished work");
            }
            if prompt.asks && !prompt.orders && (about_it || prompt.leans) {
                return continued(last, Some(last), "the user asked about finished work");
            }
        }
        self.start(TaskAction::NewTask, "no task was in work")
    }

    /// The words of the prompt.
    fn text(&self) -> String {
        self.prompt.sentences.join(" ")
    }

    /// Whether the prompt tells a goal of its own that shares nothing with `known`.
    fn is_different(&self, known: &str) -> bool {
        !self.prompt.leans
            && scope::content_words(&self.goal).len() >= 3
            && scope::overlap(&self.text(), known) == 0
            && !scope::content_words(known).is_empty()
    }

    /// The other task that the prompt names, if it does not name the current one better.
    fn named_task<'t>(&self, others: &[&'t TaskSketch], current: &TaskSketch) -> Option<&'t TaskSketch> {
        let task = self.best_match(others.iter().copied())?;
        let text = self.text();
        (scope::overlap(&text, &task.goal) > scope::overlap(&text, &current.goal)).then_some(task)
    }

    /// The task whose goal shares most with the prompt; open ones first.
    fn best_match<'t>(&self, tasks: impl Iterator<Item = &'t TaskSketch>) -> Option<&'t TaskSketch> {
        let text = self.text();
        tasks
            .map(|task| (scope::overlap(&text, &task.goal), !task.completed, task))
            .filter(|(shared, _, _)| *shared > 0)
            .max_by_key(|(shared, open, _)| (*open, *shared))
            .map(|(_, _, task)| task)
    }

    fn finished(&self) -> Option<&'static str> {
        finished(&self.claims, &self.proof, self.stop_reason)
    }

    /// Whether nothing speaks against an end.
    fn can_end(&self) -> bool {
        self.stop_reason.is_none_or(|reason| reason == "end_turn")
            && !self.claims.asks
            && !self.claims.plans
            && !self.claims.unfinished
            && !self.proof.failed
    }

    fn start(&self, action: TaskAction, why: &str) -> TaskAnalysis {
        let answered = self.prompt.asks
            && !self.prompt.orders
            && !self.proof.changed
            && self.claims.says_something
            && self.can_end();
        let proof = self.finished();
        let goal = if self.goal.is_empty() {
            shorten(&self.text(), goal::MOST_CHARACTERS)
        } else {
            self.goal.clone()
        };
        TaskAnalysis {
            action,
            task_id: None,
            goal,
            finished: answered || proof.is_some(),
            constraints: Vec::new(),
            reasoning: match (answered, proof) {
                (true, _) => format!("{why}; it was a question and is answered"),
                (_, Some(proof)) => format!("{why}; {proof}"),
                _ => why.to_owned(),
            },
        }
    }

    fn go_on(&self, task: &TaskSketch, other: Option<&TaskSketch>, why: &str) -> TaskAnalysis {
        match self.finished() {
            Some(proof) if !task.completed => self.end(task, other, proof),
            _ => continued(task, other, why),
        }
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
        goal: shorten(&task.goal, goal::MOST_CHARACTERS),
        finished: false,
        constraints: Vec::new(),
        reasoning: why.to_owned(),
    }
}
