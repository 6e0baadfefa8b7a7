//! Puts every question to the simulated API, which validates requests like the real one.

use crate::ledger::Book;
use grov_domain::{
    ActionSketch, ActionType, CallOutcome, DriftQuestion, ForcedRecoveryQuestion, IntentQuestion, Judge,
    JudgedBy, LimitsQuestion, MemoryChoiceQuestion, Purpose, ReasoningQuestion, Redacted, ScreeningQuestion,
    SessionId, SummaryQuestion, SystemClock, TaskContextQuestion, TaskSketch, TaskType,
};
use grov_llm::{JudgeSettings, ModelJudge, Provider};
use grov_sim::{JudgeScript, Sim, SimConfig};
use std::sync::Arc;

fn judge(sim: &Sim, provider: Provider, book: &Arc<Book>) -> ModelJudge {
    let settings = JudgeSettings {
        provider,
        base_url: Some(sim.url()),
        api_key: Some("own-key".into()),
        model: (provider == Provider::OpenAi).then(|| "smollm2".to_owned()),
        ..JudgeSettings::default()
    };
    ModelJudge::new(settings, Arc::clone(book) as _, Arc::new(SystemClock)).unwrap()
}

fn context() -> TaskContextQuestion {
    TaskContextQuestion {
        current: Some(TaskSketch {
            id: SessionId::new("t1"),
            goal: "Fix the login".to_owned(),
            task_type: TaskType::Main,
            parent: None,
            completed: false,
        }),
        prompts: vec!["go on".to_owned()],
        stop_reason: Some("end_turn".to_owned()),
        ..TaskContextQuestion::default()
    }
}

async fn ask_everything(judge: &ModelJudge) -> Vec<JudgedBy> {
    let edit = ActionSketch {
        action_type: ActionType::Edit,
        files: vec!["src/login.rs".to_owned()],
        command: None,
        effects: Vec::new(),
        reasoning: None,
        failed: None,
        output: None,
        content: None,
        line: None,
        change: None,
    };
    let goal = || "Fix the login".to_owned();
    let intent = IntentQuestion {
        prompts: vec![goal()],
        first_files: Vec::new(),
    };
    let reasoning = ReasoningQuestion {
        goal: goal(),
        actions: vec![edit.clone()],
        ..ReasoningQuestion::default()
    };
    let limits = LimitsQuestion {
        prompts: vec![goal()],
    };
    let choice = MemoryChoiceQuestion {
        prompt: goal(),
        memories: vec!["Keep the login for a week".to_owned()],
    };
    let screening = ScreeningQuestion {
        memories: choice.memories.clone(),
    };
    let drift = DriftQuestion {
        goal: goal(),
        actions: vec![edit.clone()],
        ..DriftQuestion::default()
    };
    let recovery = ForcedRecoveryQuestion {
        goal: goal(),
        actions: vec![edit.clone()],
        ..ForcedRecoveryQuestion::default()
    };
    let summary = SummaryQuestion {
        goal: goal(),
        actions: vec![edit],
        ..SummaryQuestion::default()
    };
    vec![
        judge.extract_intent(None, &Redacted::of(&intent)).await.by,
        judge
            .analyze_task_context(None, &Redacted::of(&context()))
            .await
            .by,
        judge.extract_reasoning(None, &Redacted::of(&reasoning)).await.by,
        judge
            .read_limits(None, &Redacted::of(&limits))
            .await
            .map_or(JudgedBy::Rules, |_| JudgedBy::Model),
        judge
            .choose_memories(None, &Redacted::of(&choice))
            .await
            .map_or(JudgedBy::Rules, |_| JudgedBy::Model),
        judge
            .screen_memories(&Redacted::of(&screening))
            .await
            .map_or(JudgedBy::Rules, |_| JudgedBy::Model),
        judge
            .check_drift(None, &Redacted::of(&drift))
            .await
            .map_or(JudgedBy::Rules, |_| JudgedBy::Model),
        judge
            .generate_forced_recovery(None, &Redacted::of(&recovery))
            .await
            .map_or(JudgedBy::Rules, |_| JudgedBy::Model),
        judge
            .summarize(None, &Redacted::of(&summary))
            .await
            .map_or(JudgedBy::Rules, |_| JudgedBy::Model),
    ]
}

#[tokio::test]
async fn both_apis_accept_every_question() {
    for provider in [Provider::Anthropic, Provider::OpenAi] {
        let sim = Sim::start(SimConfig::default()).await.unwrap();
        let book = Arc::new(Book::default());
        let judge = judge(&sim, provider, &book);
        assert_eq!(
            ask_everything(&judge).await,
            [JudgedBy::Model; 9],
            "{:?}",
            book.outcomes()
        );
        let purposes: Vec<Option<Purpose>> = sim.judge_calls().iter().map(|(_, call)| call.purpose).collect();
        assert_eq!(
            purposes,
            Purpose::QUESTIONS.map(Some),
            "one call for each question"
        );
        assert_eq!(book.outcomes(), [CallOutcome::Answered; 9]);
        sim.shutdown().await;
    }
}

#[tokio::test]
async fn a_verdict_on_an_unknown_task_is_requested_again() {
    let sim = Sim::start(SimConfig::default()).await.unwrap();
    let verdict = |id: &str| {
        format!(
            r#"{{"action":"continue","task_id":{id},"goal":"g","finished":false,"constraints":[],"reasoning":"r"}}"#
        )
    };
    let script = JudgeScript::default()
        .with(Purpose::AnalyzeTaskContext, verdict("\"somebody-elses\""))
        .with(Purpose::AnalyzeTaskContext, verdict("\"t1\""));
    sim.set_judge(script);
    let book = Arc::new(Book::default());
    let judge = judge(&sim, Provider::Anthropic, &book);
    let judged = judge.analyze_task_context(None, &Redacted::of(&context())).await;
    assert_eq!((judged.by, judged.answer.task_id), (JudgedBy::Model, None));
    let calls = sim.judge_calls();
    assert!(
        calls[1]
            .1
            .user
            .contains("`task_id` must be the id of a task in the data")
    );
    assert_eq!(book.outcomes(), [CallOutcome::Unusable, CallOutcome::Answered]);
    sim.shutdown().await;
}
