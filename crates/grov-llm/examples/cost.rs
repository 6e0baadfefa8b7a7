//! Estimates how many questions recorded work puts to a model, and their cost: `cargo run -p grov-llm --example cost --
//! TURNS.jsonl`, or without a file for a sample of two turns.
//!
//! Each line is a turn; the turns of a session are in order:
//! `{"session": "a", "prompt": "…", "answer": "…", "actions": [{"type": "edit", "files": ["src/a.rs"], "command": null,
//! "text": "the written text, or the reason", "failed": false, "effects": ["modify"]}]}`. Nothing is sent: every
//! question is rendered for the default model, its size is recorded where its cost would be reserved, and rules answer
//! it. The answers decide which tasks begin and end, and therefore which further questions there are. Drift is checked
//! as in the daemon: at the first change after every third prompt, and at most twice per prompt where the rules are
//! suspicious.
#![forbid(unsafe_code)]
#![allow(clippy::print_stdout, reason = "the measures are what it is for")]

use async_trait::async_trait;
use grov_domain::{
    ActionSketch, ActionType, CallFilter, DriftQuestion, EffectKind, GoalContract, Intent, IntentQuestion,
    Judge, LlmCall, MicroUsd, OFF_GOAL_BELOW, Purpose, ReasoningQuestion, Redacted, Reservation, SessionId,
    SpendingStore, StoreError, SystemClock, TaskAction, TaskAnalysis, TaskContextQuestion, TaskSketch,
    TaskType,
};
use grov_llm::{DEFAULT_ANTHROPIC_MODEL, JudgeSettings, ModelJudge, Provider};
use grov_scope::Rules;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::error::Error;
use std::sync::{Arc, Mutex, PoisonError};
use time::OffsetDateTime;

/// The ledger overestimates on purpose: one token for every two bytes, plus a constant for framing. The figures printed
/// here assume one token for every four bytes.
const LEDGER_BYTES: u64 = 2;
const LEDGER_FRAMING: u64 = 300;
const BYTES: u64 = 4;

/// The turns that are replayed if no file is given.
const SAMPLE: &str = r#"{"session":"a","prompt":"Fix the login bug in src/login.rs. Do not touch the tests.","answer":"Done. The check was inverted; all tests pass.","actions":[{"type":"edit","files":["src/login.rs"]}]}
{"session":"a","prompt":"Now add dark mode to src/theme.css.","answer":"Shall I add a toggle as well?","actions":[{"type":"write","files":["src/theme.css"]}]}"#;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Turn {
    session: String,
    prompt: String,
    actions: Vec<Action>,
    answer: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Action {
    #[serde(rename = "type")]
    action_type: ActionType,
    files: Vec<String>,
    command: Option<String>,
    text: Option<String>,
    failed: Option<bool>,
    #[serde(default)]
    effects: Vec<EffectKind>,
}

impl Action {
    fn sketch(self) -> ActionSketch {
        let writes = self.action_type.modifies_files();
        ActionSketch {
            action_type: self.action_type,
            files: self.files,
            command: self.command,
            effects: self.effects,
            reasoning: self.text.clone().filter(|_| !writes),
            failed: self.failed,
            output: None,
            content: self.text.filter(|_| writes),
            line: None,
            change: None,
        }
    }
}

/// A store that records every call and refuses it.
#[derive(Default)]
struct Refusing(Mutex<BTreeMap<&'static str, Totals>>);

/// Calls and tokens of one purpose.
#[derive(Clone, Copy, Default)]
struct Totals {
    calls: u64,
    input: u64,
    most_output: u64,
    /// The length of the rules' answers, used as an estimate for a model's.
    output: u64,
}

impl Refusing {
    /// Records an answer's length as JSON.
    fn answered(&self, purpose: Purpose, answer: &impl Serialize) -> Result<(), serde_json::Error> {
        let bytes = serde_json::to_string(answer)?.len() as u64;
        let mut totals = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        totals.entry(purpose.as_str()).or_default().output += bytes.div_ceil(BYTES);
        Ok(())
    }
}

#[async_trait]
impl SpendingStore for Refusing {
    async fn reserve(
        &self,
        call: &Redacted<LlmCall>,
        _: MicroUsd,
        _: OffsetDateTime,
    ) -> Result<Reservation, StoreError> {
        let mut totals = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let totals = totals.entry(call.purpose.as_str()).or_default();
        totals.calls += 1;
        let bytes = call.usage.input.saturating_sub(LEDGER_FRAMING) * LEDGER_BYTES;
        totals.input += bytes.div_ceil(BYTES);
        totals.most_output += call.usage.output;
        Ok(Reservation::Refused { spent: MicroUsd(0) })
    }

    async fn settle(&self, _: &Redacted<LlmCall>) -> Result<(), StoreError> {
        Ok(())
    }

    async fn calls(&self, _: &CallFilter) -> Result<Vec<LlmCall>, StoreError> {
        Ok(Vec::new())
    }

    async fn spent_since(&self, _: OffsetDateTime) -> Result<MicroUsd, StoreError> {
        Ok(MicroUsd(0))
    }
}

/// A judge that records the length of every answer.
struct Asked {
    judge: ModelJudge,
    ledger: Arc<Refusing>,
}

impl Asked {
    async fn intent(&self, question: &IntentQuestion) -> Result<Intent, serde_json::Error> {
        let answer = self
            .judge
            .extract_intent(None, &Redacted::of(question))
            .await
            .answer;
        self.ledger.answered(Purpose::ExtractIntent, &answer)?;
        Ok(answer)
    }

    async fn context(&self, question: &TaskContextQuestion) -> Result<TaskAnalysis, serde_json::Error> {
        let answer = self
            .judge
            .analyze_task_context(None, &Redacted::of(question))
            .await
            .answer;
        let shown = serde_json::json!({
            "action": answer.action, "task_id": answer.task_id.as_ref().map(SessionId::as_str), "goal": answer.goal,
            "finished": answer.finished, "constraints": answer.constraints, "reasoning": answer.reasoning,
        });
        self.ledger.answered(Purpose::AnalyzeTaskContext, &shown)?;
        Ok(answer)
    }

    async fn drift(&self, question: &DriftQuestion) -> Result<(), serde_json::Error> {
        self.judge.check_drift(None, &Redacted::of(question)).await;
        // Rules give no answer to this question; a model's answer has about this length.
        let shown = serde_json::json!({
            "score": 4, "diagnostic": "web/site.css has nothing to do with the login bug that the user asked to fix.",
            "recovery_plan": [
                {"file": "web/site.css", "action": "Undo the change of web/site.css unless the fix needs it"},
                {"file": "src/login.rs", "action": "Continue in src/login.rs with the inverted check"},
            ],
        });
        self.ledger.answered(Purpose::CheckDrift, &shown)
    }

    async fn reasoning(&self, question: &ReasoningQuestion) -> Result<(), serde_json::Error> {
        let answer = self
            .judge
            .extract_reasoning(None, &Redacted::of(question))
            .await
            .answer;
        self.ledger.answered(Purpose::ExtractReasoning, &answer)
    }
}

/// Prompts between two drift checks, and the maximum number of suspicions that are judged per prompt: the daemon's
/// defaults.
const CHECK_INTERVAL: usize = 3;
const MAX_SUSPICIONS: usize = 2;

/// The maximum number of earlier actions in a question about drift.
const EARLIER: usize = 10;

/// Tracks the drift of a session.
struct Watch {
    rules: Rules,
    prompts: Vec<String>,
    judged_at: usize,
    earlier: Vec<ActionSketch>,
}

impl Default for Watch {
    fn default() -> Self {
        Self {
            rules: Rules::new(GoalContract::default(), None),
            prompts: Vec::new(),
            judged_at: 0,
            earlier: Vec::new(),
        }
    }
}

impl Watch {
    async fn acquire(
        &mut self,
        asked: &Asked,
        prompt: &str,
        actions: &[ActionSketch],
    ) -> Result<(), serde_json::Error> {
        self.prompts.push(prompt.to_owned());
        let intent = grov_rules::extract_intent(&IntentQuestion {
            prompts: self.prompts.clone(),
            first_files: Vec::new(),
        });
        self.rules.set_contract(GoalContract {
            goal: intent.goal.clone(),
            instructions: self.prompts.clone(),
            scope: intent.scope.clone(),
            constraints: intent.constraints.clone(),
            keywords: intent.keywords,
            ..GoalContract::default()
        });
        let mut suspicions = 0;
        for action in actions {
            let assessment = self.rules.assess(action, None);
            let is_hard = assessment.findings.iter().any(|finding| finding.rule.is_hard());
            let is_suspicious = assessment.score < OFF_GOAL_BELOW && !is_hard && suspicions < MAX_SUSPICIONS;
            let changes = action.action_type.modifies_files();
            let is_due = changes && self.prompts.len() - self.judged_at >= CHECK_INTERVAL;
            if is_due || is_suspicious {
                suspicions += usize::from(!is_due);
                self.judged_at = self.prompts.len();
                let question = DriftQuestion {
                    goal: intent.goal.clone(),
                    newest_instruction: prompt.to_owned(),
                    constraints: intent.constraints.clone(),
                    scope: intent.scope.clone(),
                    earlier: self.earlier.clone(),
                    actions: vec![action.clone()],
                };
                asked.drift(&question).await?;
            }
            self.earlier.push(ActionSketch {
                content: None,
                ..action.clone()
            });
            let surplus = self.earlier.len().saturating_sub(EARLIER);
            self.earlier.drain(..surplus);
        }
        Ok(())
    }
}

/// A task with its records.
struct Task {
    sketch: TaskSketch,
    question: ReasoningQuestion,
}

/// A client session, replayed.
#[derive(Default)]
struct Session {
    watch: Watch,
    tasks: Vec<Task>,
    current: Option<usize>,
}

impl Session {
    async fn acquire(&mut self, asked: &Asked, turn: Turn) -> Result<(), serde_json::Error> {
        let prompts = vec![turn.prompt];
        let actions: Vec<ActionSketch> = turn.actions.into_iter().map(Action::sketch).collect();
        self.watch.acquire(asked, &prompts[0], &actions).await?;
        let read = actions
            .iter()
            .filter(|action| !action.action_type.modifies_files());
        let intent_question = IntentQuestion {
            prompts: prompts.clone(),
            first_files: read.flat_map(|action| action.files.clone()).take(8).collect(),
        };
        // The intent of a session's first prompt is extracted when it arrives, and used again when the task begins.
        let mut early = None;
        if self.tasks.is_empty() {
            early = Some(asked.intent(&intent_question).await?);
        }
        let sketches = self.tasks.iter().enumerate().map(|(at, task)| (at, &task.sketch));
        let current = self.current;
        let question = TaskContextQuestion {
            current: current.map(|at| self.tasks[at].sketch.clone()),
            others: sketches
                .filter(|(at, task)| Some(*at) != current && (!task.completed || *at + 1 == self.tasks.len()))
                .map(|(_, task)| task.clone())
                .collect(),
            prompts: prompts.clone(),
            actions: actions.clone(),
            answer: turn.answer.clone(),
            stop_reason: Some("end_turn".to_owned()),
            unchecked_finishes: false,
            is_remembered_complete: false,
        };
        let analysis = asked.context(&question).await?;
        let named = |id: &SessionId| self.tasks.iter().position(|task| task.sketch.id == *id);
        let known = match &analysis.task_id {
            Some(id) => named(id),
            None => current,
        };
        let at = match known.filter(|_| !analysis.action.starts()) {
            Some(at) => at,
            None => {
                let intent = match early {
                    Some(intent) => intent,
                    None => asked.intent(&intent_question).await?,
                };
                let task_type = match analysis.action {
                    TaskAction::Subtask => TaskType::Subtask,
                    TaskAction::ParallelTask => TaskType::Parallel,
                    _ => TaskType::Main,
                };
                let goal = if intent.goal.is_empty() {
                    analysis.goal
                } else {
                    intent.goal
                };
                self.tasks.push(Task {
                    sketch: TaskSketch {
                        id: SessionId::fresh(),
                        goal: goal.clone(),
                        task_type,
                        parent: current
                            .filter(|_| task_type != TaskType::Main)
                            .map(|at| self.tasks[at].sketch.id.clone()),
                        completed: false,
                    },
                    question: ReasoningQuestion {
                        goal,
                        constraints: intent.constraints,
                        ..ReasoningQuestion::default()
                    },
                });
                self.tasks.len() - 1
            }
        };
        self.current = Some(at);
        let task = &mut self.tasks[at];
        task.question.prompts.extend(prompts);
        task.question.actions.extend(actions);
        task.question.answer = turn.answer;
        if analysis.action.completes() || analysis.finished {
            self.finish(asked, at).await?;
            let parent = self.tasks[at].sketch.parent.clone();
            self.current = self
                .tasks
                .iter()
                .position(|task| Some(&task.sketch.id) == parent.as_ref() && !task.sketch.completed);
        }
        Ok(())
    }

    async fn finish(&mut self, asked: &Asked, at: usize) -> Result<(), serde_json::Error> {
        let task = &mut self.tasks[at];
        if !task.sketch.completed {
            task.sketch.completed = true;
            asked.reasoning(&task.question).await?;
        }
        Ok(())
    }
}

/// Dollars per million tokens of the default model: input, output.
fn price() -> Result<(f64, f64), Box<dyn Error>> {
    let prices = grov_route::PriceTable::built_in().of(DEFAULT_ANTHROPIC_MODEL);
    let prices = prices.ok_or("the default model has no list price")?;
    Ok((prices.input, prices.output))
}

async fn replay(turns: Vec<Turn>) -> Result<(), Box<dyn Error>> {
    let ledger = Arc::new(Refusing::default());
    let settings = JudgeSettings {
        provider: Provider::Anthropic,
        api_key: Some("never sent".into()),
        ..JudgeSettings::default()
    };
    let judge = ModelJudge::new(settings, Arc::<Refusing>::clone(&ledger), Arc::new(SystemClock))?;
    let asked = Asked {
        judge,
        ledger: Arc::clone(&ledger),
    };
    let all = turns.len();
    let mut sessions: BTreeMap<String, Session> = BTreeMap::new();
    for turn in turns {
        let session = sessions.entry(turn.session.clone()).or_default();
        session.acquire(&asked, turn).await?;
    }
    // Unfinished tasks are saved, too, once the session has been idle for long.
    let mut left = 0;
    for session in sessions.values_mut() {
        for at in 0..session.tasks.len() {
            left += usize::from(!session.tasks[at].sketch.completed);
            session.finish(&asked, at).await?;
        }
    }
    let tasks: usize = sessions.values().map(|session| session.tasks.len()).sum();
    println!(
        "{all} prompts of {} sessions, {tasks} tasks, {left} of them never finished",
        sessions.len()
    );
    println!("per 100 prompts           calls    input  a call   output  at most      USD  at most");
    let (input_price, output_price) = price()?;
    let hundredth = 100.0 / all as f64;
    let mut sum = Totals::default();
    let line = |name: &str, totals: Totals| {
        let input = totals.input as f64 * hundredth;
        let output = totals.output as f64 * hundredth;
        let most_output = totals.most_output as f64 * hundredth;
        let dollars = |output: f64| (input * input_price + output * output_price) / 1e6;
        println!(
            "{name:24} {:6.1} {input:8.0} {:7} {output:8.0} {most_output:8.0} {:8.3} {:8.3}",
            totals.calls as f64 * hundredth,
            totals.input.checked_div(totals.calls).unwrap_or(0),
            dollars(output),
            dollars(most_output)
        );
    };
    let totals = ledger.0.lock().unwrap_or_else(PoisonError::into_inner).clone();
    for purpose in Purpose::QUESTIONS {
        if let Some(&totals) = totals.get(purpose.as_str()) {
            line(purpose.as_str(), totals);
            sum.calls += totals.calls;
            sum.input += totals.input;
            sum.most_output += totals.most_output;
            sum.output += totals.output;
        }
    }
    line("all", sum);
    Ok(())
}

fn main() -> Result<(), Box<dyn Error>> {
    let path = std::env::args().nth(1);
    let text = match &path {
        Some(path) => std::fs::read_to_string(path).map_err(|error| format!("{path}: {error}"))?,
        None => SAMPLE.to_owned(),
    };
    let path = path.unwrap_or_else(|| "the sample".to_owned());
    let mut turns = Vec::new();
    for (at, line) in text.lines().enumerate() {
        turns.push(serde_json::from_str(line).map_err(|error| format!("{path}:{}: {error}", at + 1))?);
    }
    if turns.is_empty() {
        return Err(format!("{path} has no turns").into());
    }
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?;
    runtime.block_on(replay(turns))
}
