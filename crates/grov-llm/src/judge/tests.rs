use super::*;
use crate::JudgeCounters;
use crate::model::{Completion, ModelError, Stop};
use crate::request::ModelRequest;
use grov_domain::{
    CallFilter, CallOutcome, LlmCall, MicroUsd, Redacted, Reservation, StoreError, SystemClock, TokenUsage,
};
use std::collections::VecDeque;
use std::sync::Mutex;
use std::time::Duration;
use time::OffsetDateTime;
use tokio::time::Instant;

/// A ledger in memory.
#[derive(Default)]
struct Book {
    calls: Mutex<Vec<LlmCall>>,
    fails: bool,
}

impl Book {
    fn outcomes(&self) -> Vec<CallOutcome> {
        self.calls
            .lock()
            .unwrap()
            .iter()
            .map(|call| call.outcome)
            .collect()
    }

    fn costs(&self) -> Vec<u64> {
        self.calls
            .lock()
            .unwrap()
            .iter()
            .map(|call| call.cost.0)
            .collect()
    }
}

#[async_trait]
impl SpendingStore for Book {
    async fn reserve(
        &self,
        call: &Redacted<LlmCall>,
        budget: MicroUsd,
        since: OffsetDateTime,
    ) -> Result<Reservation, StoreError> {
        if self.fails {
            return Err(StoreError::NotWritable("disk full".to_owned()));
        }
        assert_eq!(call.outcome, CallOutcome::Reserved);
        assert_eq!(since.time(), time::Time::MIDNIGHT);
        let mut calls = self.calls.lock().unwrap();
        let spent = calls.iter().fold(MicroUsd(0), |sum, call| sum.plus(call.cost));
        if spent.plus(call.cost) > budget {
            return Ok(Reservation::Refused { spent });
        }
        calls.push((**call).clone());
        Ok(Reservation::Granted)
    }

    async fn settle(&self, call: &Redacted<LlmCall>) -> Result<(), StoreError> {
        let mut calls = self.calls.lock().unwrap();
        let known = calls.iter_mut().find(|known| known.id == call.id).unwrap();
        *known = (**call).clone();
        Ok(())
    }

    async fn calls(&self, _: &CallFilter) -> Result<Vec<LlmCall>, StoreError> {
        Ok(self.calls.lock().unwrap().clone())
    }

    async fn spent_since(&self, _: OffsetDateTime) -> Result<MicroUsd, StoreError> {
        Ok(MicroUsd(0))
    }
}

type ModelResult = Result<Completion, ModelError>;

/// A model that plays scripted answers, each after a delay, and repeats the last one.
#[derive(Clone)]
struct ScriptedModel {
    lines: Arc<Mutex<VecDeque<ModelResult>>>,
    takes: Duration,
    received: Arc<Mutex<Vec<(Instant, String)>>>,
}

impl ScriptedModel {
    fn new(lines: impl IntoIterator<Item = ModelResult>) -> Self {
        Self {
            lines: Arc::new(Mutex::new(lines.into_iter().collect())),
            takes: Duration::from_millis(10),
            received: Arc::default(),
        }
    }

    fn slow(self, takes: Duration) -> Self {
        Self { takes, ..self }
    }

    fn received(&self) -> usize {
        self.received.lock().unwrap().len()
    }
}

#[async_trait]
impl Model for ScriptedModel {
    async fn complete(&self, request: &ModelRequest) -> ModelResult {
        self.received
            .lock()
            .unwrap()
            .push((Instant::now(), request.user.clone()));
        tokio::time::sleep(self.takes).await;
        let mut lines = self.lines.lock().unwrap();
        if lines.len() > 1 {
            lines.pop_front().unwrap()
        } else {
            lines.front().unwrap().clone()
        }
    }
}

fn says(text: &str) -> ModelResult {
    Ok(Completion {
        text: text.to_owned(),
        usage: Some(TokenUsage {
            input: 1_000,
            output: 100,
            ..TokenUsage::default()
        }),
        cost: None,
        stop: Stop::End,
    })
}

const GOOD: &str =
    r#"{"goal":"Fix the login","scope":["src/login.rs"],"constraints":[],"keywords":["login"]}"#;

/// The cost of `says` with the default model: 1000 tokens at $1 and 100 at $5 per million.
const COST: u64 = 1_500;

fn busy() -> ModelResult {
    Err(ModelError::Unavailable {
        status: 529,
        retry_after: None,
    })
}

fn question(text: &str) -> IntentQuestion {
    IntentQuestion {
        prompts: vec![text.to_owned()],
        first_files: Vec::new(),
    }
}

struct Stage {
    judge: Arc<ModelJudge>,
    book: Arc<Book>,
    actor: ScriptedModel,
}

fn stage_with(actor: &ScriptedModel, book: Book, budget: MicroUsd) -> Stage {
    let book = Arc::new(book);
    let counters = Arc::new(Counters::default());
    let name = DEFAULT_ANTHROPIC_MODEL.to_owned();
    let price = Price::of(&name, false);
    let clock = Arc::new(SystemClock);
    let ledger = Ledger::new(
        Arc::clone(&book) as _,
        clock,
        budget,
        "anthropic",
        name.clone(),
        price,
    );
    let model = Box::new(actor.clone());
    let client = ModelClient::new(model, ledger, 2, Duration::from_secs(30), Arc::clone(&counters));
    let judge = ModelJudge {
        provider: Provider::Anthropic,
        model: Some(name),
        client: Ok(Arc::new(client)),
        singleflight: Singleflight::default(),
        counters,
    };
    Stage {
        judge: Arc::new(judge),
        book,
        actor: actor.clone(),
    }
}

fn stage(lines: impl IntoIterator<Item = ModelResult>) -> Stage {
    stage_with(
        &ScriptedModel::new(lines),
        Book::default(),
        crate::DEFAULT_DAILY_BUDGET,
    )
}

impl Stage {
    async fn ask(&self, text: &str) -> Judged<Intent> {
        let session = SessionId::new("s1");
        self.judge
            .extract_intent(Some(&session), &Redacted::of(&question(text)))
            .await
    }

    fn counters(&self) -> JudgeCounters {
        self.judge.status().counters
    }
}

#[tokio::test(start_paused = true)]
async fn a_valid_answer_is_used_and_charged() {
    let stage = stage([says(GOOD)]);
    let judged = stage.ask("fix the login").await;
    assert_eq!(
        (judged.by, judged.answer.goal.as_str()),
        (JudgedBy::Model, "Fix the login")
    );
    let calls = stage.book.calls.lock().unwrap().clone();
    assert_eq!(calls.len(), 1);
    assert_eq!(
        (calls[0].cost, calls[0].outcome),
        (MicroUsd(COST), CallOutcome::Answered)
    );
    assert_eq!(calls[0].session_id, Some(SessionId::new("s1")));
    assert_eq!(calls[0].latency, Duration::from_millis(10));
    assert_eq!(stage.judge.status().answering, Answering::Model);
    assert_eq!((stage.counters().by_model, stage.counters().calls), (1, 1));
}

#[tokio::test(start_paused = true)]
async fn an_unusable_answer_is_repaired_once_and_each_call_is_charged() {
    let mended = stage([says("{\"goal\": 7}"), says(GOOD)]);
    assert_eq!(mended.ask("fix the login").await.by, JudgedBy::Model);
    assert_eq!(
        mended.book.outcomes(),
        [CallOutcome::Unusable, CallOutcome::Answered]
    );
    let received = mended.actor.received.lock().unwrap().clone();
    assert!(
        received[1].1.contains("`goal` must be a text"),
        "{}",
        received[1].1
    );

    let hopeless = stage([says("I would rather not say {")]);
    assert_eq!(hopeless.ask("fix the login").await.by, JudgedBy::Rules);
    assert_eq!(hopeless.book.outcomes(), [CallOutcome::Unusable; 2]);
    assert_eq!(hopeless.book.costs(), [COST; 2]);
    // The provider works, so the next question calls it again.
    assert_eq!(hopeless.judge.status().answering, Answering::Model);
}

#[tokio::test(start_paused = true)]
async fn a_refusal_is_final() {
    let refusal = Completion {
        stop: Stop::Refusal,
        ..says("").unwrap()
    };
    let stage = stage([Ok(refusal)]);
    assert_eq!(stage.ask("x").await.by, JudgedBy::Rules);
    assert_eq!(stage.actor.received(), 1);
}

#[tokio::test(start_paused = true)]
async fn a_truncated_answer_is_requested_again_more_briefly() {
    let cut = Completion {
        stop: Stop::Length,
        ..says("{\"goal\": \"Fix").unwrap()
    };
    let stage = stage([Ok(cut), says(GOOD)]);
    assert_eq!(stage.ask("x").await.by, JudgedBy::Model);
    let received = stage.actor.received.lock().unwrap().clone();
    assert!(received[1].1.contains("answer more briefly"), "{}", received[1].1);
}

#[tokio::test(start_paused = true)]
async fn a_busy_provider_is_called_three_times_at_no_cost() {
    let stage = stage([busy()]);
    assert_eq!(stage.ask("x").await.by, JudgedBy::Rules);
    assert_eq!(stage.actor.received(), 3);
    assert_eq!(stage.book.outcomes(), [CallOutcome::Failed; 3]);
    assert_eq!(stage.book.costs(), [0; 3]);
    assert_eq!((stage.counters().retries, stage.counters().failures), (2, 3));
}

#[tokio::test(start_paused = true)]
async fn retry_after_is_respected_if_there_is_time() {
    let after = |seconds| {
        Err(ModelError::Unavailable {
            status: 429,
            retry_after: Some(Duration::from_secs(seconds)),
        })
    };
    let patient = stage([after(20), says(GOOD)]);
    assert_eq!(patient.ask("x").await.by, JudgedBy::Model);
    let received = patient.actor.received.lock().unwrap().clone();
    assert!(received[1].0 - received[0].0 >= Duration::from_secs(20));

    let hurried = stage([after(300), says(GOOD)]);
    let begun = Instant::now();
    assert_eq!(hurried.ask("x").await.by, JudgedBy::Rules);
    assert!(begun.elapsed() < Duration::from_secs(1));
}

#[tokio::test(start_paused = true)]
async fn a_hung_call_times_out_and_counts_with_its_maximum_cost() {
    let actor = ScriptedModel::new([says(GOOD)]).slow(Duration::from_secs(3_600));
    let stage = stage_with(&actor, Book::default(), crate::DEFAULT_DAILY_BUDGET);
    let begun = Instant::now();
    assert_eq!(stage.ask("x").await.by, JudgedBy::Rules);
    assert_eq!(begun.elapsed().as_secs(), 30);
    assert_eq!(stage.book.outcomes(), [CallOutcome::Failed]);
    assert!(stage.book.costs()[0] > COST);
}

#[tokio::test(start_paused = true)]
async fn identical_questions_share_one_call() {
    let stage = stage([says(GOOD)]);
    let mut asking = tokio::task::JoinSet::new();
    for _ in 0..50 {
        let judge = Arc::clone(&stage.judge);
        asking.spawn(async move {
            judge
                .extract_intent(None, &Redacted::of(&question("the same")))
                .await
        });
    }
    while let Some(judged) = asking.join_next().await {
        assert_eq!(judged.unwrap().by, JudgedBy::Model);
    }
    assert_eq!(stage.actor.received(), 1);
    assert_eq!((stage.counters().shared, stage.counters().by_model), (49, 50));
    assert_eq!(stage.ask("the same").await.by, JudgedBy::Model);
    assert_eq!(stage.actor.received(), 2, "an answer is shared, not kept");
}

#[tokio::test(start_paused = true)]
async fn a_spent_budget_ends_calls_but_rules_still_answer() {
    let actor = ScriptedModel::new([says(GOOD)]);
    // The budget allows the first call; its actual cost leaves too little for a second one.
    let stage = stage_with(&actor, Book::default(), MicroUsd(7_000));
    let mut by = Vec::new();
    for n in 0..20 {
        by.push(stage.ask(&format!("question {n}")).await.by);
    }
    assert_eq!(by[0], JudgedBy::Model);
    assert_eq!(by[19], JudgedBy::Rules);
    let spent: u64 = stage.book.costs().iter().sum();
    assert!(spent <= 7_000, "{spent}");
    assert_eq!(stage.book.costs().len(), stage.actor.received());
    assert_eq!(
        stage.judge.status().answering,
        Answering::Rules(RulesReason::BudgetSpent)
    );
}

#[tokio::test(start_paused = true)]
async fn without_a_ledger_no_call_is_made() {
    let book = Book {
        fails: true,
        ..Book::default()
    };
    let stage = stage_with(
        &ScriptedModel::new([says(GOOD)]),
        book,
        crate::DEFAULT_DAILY_BUDGET,
    );
    assert_eq!(stage.ask("x").await.by, JudgedBy::Rules);
    assert_eq!(stage.actor.received(), 0);
    assert_eq!(
        stage.judge.status().answering,
        Answering::Rules(RulesReason::LedgerFailed)
    );
}

#[tokio::test(start_paused = true)]
async fn a_provider_that_is_down_is_paused_and_tried_again() {
    let stage = stage([busy()]);
    stage.ask("a").await;
    stage.ask("b").await;
    assert_eq!(
        stage.actor.received(),
        5,
        "three calls, then two until the breaker opens"
    );
    stage.ask("c").await;
    assert_eq!(stage.actor.received(), 5);
    assert_eq!(
        stage.judge.status().answering,
        Answering::Rules(RulesReason::ProviderDown)
    );
    tokio::time::advance(Duration::from_secs(60)).await;
    *stage.actor.lines.lock().unwrap() = [says(GOOD)].into();
    assert_eq!(stage.ask("d").await.by, JudgedBy::Model);
    assert_eq!(stage.judge.status().answering, Answering::Model);
}

#[tokio::test(start_paused = true)]
async fn a_refused_key_is_not_retried() {
    let stage = stage([Err(ModelError::KeyRefused(401))]);
    for text in ["a", "b", "c"] {
        assert_eq!(stage.ask(text).await.by, JudgedBy::Rules);
    }
    assert_eq!(stage.actor.received(), 1);
    assert_eq!(
        stage.judge.status().answering,
        Answering::Rules(RulesReason::KeyRefused)
    );
}

#[tokio::test(start_paused = true)]
async fn a_refused_output_format_is_not_a_provider_failure() {
    let refused = || Err(ModelError::FormatRefused);
    let stage = stage([refused(), refused(), says(GOOD)]);
    assert_eq!(stage.ask("x").await.by, JudgedBy::Model);
    assert_eq!(stage.book.costs(), [0, 0, COST]);
    assert_eq!(stage.counters().retries, 0);
}

#[tokio::test(start_paused = true)]
async fn concurrent_calls_and_waiting_questions_are_bounded() {
    let actor = ScriptedModel::new([says(GOOD)]).slow(Duration::from_secs(20));
    let stage = stage_with(&actor, Book::default(), MicroUsd(u64::MAX));
    let mut asking = tokio::task::JoinSet::new();
    for n in 0..100 {
        let judge = Arc::clone(&stage.judge);
        asking.spawn(async move {
            judge
                .extract_intent(None, &Redacted::of(&question(&format!("question {n}"))))
                .await
                .by
        });
    }
    let mut by_model = 0;
    while let Some(by) = asking.join_next().await {
        by_model += usize::from(by.unwrap() == JudgedBy::Model);
    }
    // Two concurrent calls of twenty seconds each, with a deadline of one minute: the third pair gets its permit too
    // late.
    assert!((4..=6).contains(&by_model), "{by_model}");
    let received = stage.actor.received.lock().unwrap().clone();
    for window in received.windows(3) {
        assert!(
            window[2].0 - window[0].0 >= Duration::from_secs(20),
            "three at once"
        );
    }
    assert!(stage.counters().turned_away >= 66, "{:?}", stage.counters());
    assert!(!stage.book.outcomes().contains(&CallOutcome::Reserved));
}

#[tokio::test(start_paused = true)]
async fn a_cancelled_question_leaves_no_reservation() {
    let actor = ScriptedModel::new([says(GOOD)]).slow(Duration::from_secs(5));
    let stage = stage_with(&actor, Book::default(), crate::DEFAULT_DAILY_BUDGET);
    let left = tokio::time::timeout(Duration::from_secs(1), stage.ask("x")).await;
    assert!(left.is_err());
    assert_eq!(stage.book.outcomes(), [CallOutcome::Reserved]);
    stage.judge.close().await;
    assert_eq!(stage.book.outcomes(), [CallOutcome::Answered]);
    assert_eq!(stage.book.costs(), [COST]);
}

#[tokio::test(start_paused = true)]
async fn a_closed_judge_answers_by_rules() {
    let stage = stage([says(GOOD)]);
    stage.judge.close().await;
    assert_eq!(stage.ask("fix the login").await.by, JudgedBy::Rules);
    assert_eq!(
        stage.judge.status().answering,
        Answering::Rules(RulesReason::Closed)
    );
    assert_eq!(stage.actor.received(), 0);
}

#[tokio::test(start_paused = true)]
async fn a_question_in_flight_when_the_judge_closes_is_answered_by_rules() {
    let actor = ScriptedModel::new([says(GOOD)]).slow(Duration::from_secs(20));
    let stage = stage_with(&actor, Book::default(), crate::DEFAULT_DAILY_BUDGET);
    let begun = Instant::now();
    let ask = async {
        let judged = stage.ask("fix the login").await;
        (judged.by, begun.elapsed())
    };
    let close = async {
        tokio::time::sleep(Duration::from_secs(1)).await;
        stage.judge.close().await;
        begun.elapsed()
    };
    let ((by, answered), closed) = tokio::join!(ask, close);
    assert_eq!((by, answered), (JudgedBy::Rules, Duration::from_secs(1)));
    assert_eq!(closed, Duration::from_secs(20));
    assert_eq!(stage.book.outcomes(), [CallOutcome::Answered]);
    assert_eq!(stage.book.costs(), [COST]);
}

#[tokio::test]
async fn without_a_model_rules_answer() {
    let judge = ModelJudge::new(
        JudgeSettings::default(),
        Arc::new(Book::default()),
        Arc::new(SystemClock),
    )
    .unwrap();
    assert_eq!(
        judge
            .extract_intent(None, &Redacted::of(&IntentQuestion::default()))
            .await
            .by,
        JudgedBy::Rules
    );
    let task = judge
        .analyze_task_context(None, &Redacted::of(&TaskContextQuestion::default()))
        .await;
    assert_eq!(task.by, JudgedBy::Rules);
    let learned = judge
        .extract_reasoning(None, &Redacted::of(&ReasoningQuestion::default()))
        .await;
    assert_eq!(learned.by, JudgedBy::Rules);
    let drift = judge
        .check_drift(None, &Redacted::of(&DriftQuestion::default()))
        .await;
    assert_eq!(drift, None);
    let demanded = judge
        .generate_forced_recovery(None, &Redacted::of(&ForcedRecoveryQuestion::default()))
        .await;
    assert_eq!(demanded, None);
    assert_eq!(judge.status().answering, Answering::Rules(RulesReason::Offline));
    assert_eq!(judge.status().counters.by_rules, 5);
}

fn setup(settings: JudgeSettings) -> Result<ModelJudge, SetupError> {
    ModelJudge::new(settings, Arc::new(Book::default()), Arc::new(SystemClock))
}

#[test]
fn settings_select_the_model_or_rules() {
    let key = || Some("k".into());
    let anthropic = JudgeSettings {
        provider: Provider::Anthropic,
        ..JudgeSettings::default()
    };
    let answering = |settings: JudgeSettings| setup(settings).unwrap().status().answering;
    assert_eq!(answering(anthropic.clone()), Answering::Rules(RulesReason::NoKey));
    let keyed = JudgeSettings {
        api_key: key(),
        ..anthropic.clone()
    };
    assert_eq!(answering(keyed.clone()), Answering::Model);
    assert_eq!(
        setup(keyed.clone()).unwrap().status().model.as_deref(),
        Some(DEFAULT_ANTHROPIC_MODEL)
    );
    let open = JudgeSettings {
        provider: Provider::OpenAi,
        model: Some("smollm2".to_owned()),
        ..JudgeSettings::default()
    };
    assert_eq!(answering(open.clone()), Answering::Rules(RulesReason::NoKey));
    let local = JudgeSettings {
        base_url: Some("http://localhost:11434/v1".to_owned()),
        ..open
    };
    assert_eq!(answering(local.clone()), Answering::Model);
    let nameless = JudgeSettings { model: None, ..local };
    assert_eq!(setup(nameless).unwrap_err(), SetupError::NoModel);
    let looped = JudgeSettings {
        base_url: Some("http://localhost:8080".to_owned()),
        own_listeners: vec!["127.0.0.1:8080".parse().unwrap()],
        ..keyed.clone()
    };
    assert!(matches!(setup(looped), Err(SetupError::OwnListener { .. })));
    let broken = JudgeSettings {
        api_key: Some("a\nb".into()),
        ..keyed
    };
    assert_eq!(setup(broken).unwrap_err(), SetupError::Credential);
}
