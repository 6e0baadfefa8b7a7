//! `grov demo`: plays a session with a simulated model and a scripted client through the real proxy and store.

use super::drift::{JudgedAction, judged_actions};
use super::eval::{Latency, added_latency};
use crate::assembly;
use crate::failure::Failure;
use crate::format::clock;
use crate::output::{ExitStatus, Outcome, Style, Terminal, note};
use crate::table::{Table, cell, one_line};
use grov_domain::{
    ClientSessionId, Clock, Lineage, RecordSink, SessionStore, SessionSummary, SpendingStore, StepRow,
    StoreConnection, SystemClock, Task, TaskStore, TokenUsage,
};
use grov_live::{Injection, MemorySource, Recorder, TaskOrchestrator, UserNaming};
use grov_llm::{JudgeSettings, ModelJudge};
use grov_memory::{Budget, Ranking};
use grov_proxy_core::{Proxy, Upstream};
use grov_query::{Lookup, find_session, title};
use grov_sim::{Player, PlayerConfig, ScenarioSet, Sim, SimConfig, Transcript};
use grov_store::{BatchWriter, WriterOptions};
use serde::Serialize;
use std::fmt::Display;
use std::net::SocketAddr;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::net::TcpListener;
use tokio::sync::oneshot;

/// The prompts of the first session. The simulated model plays the scenario that each names in double brackets.
const PROMPTS: [&str; 3] = [
    "Write a greeting to greeting.txt and change the name in it. Do not touch other files. [[scenario:greeting]]",
    "Let a subagent count the lines of a list [[scenario:subagent]]",
    "Now compare left.txt with right.txt [[scenario:parallel]]",
];

/// The prompt of a second session, after the first task is saved to memory.
const FOLLOW_UP: &str = "Why is the name in greeting.txt written in lower case? [[scenario:recall]]";

/// Scenarios besides the built-in ones.
const SCENARIOS: &[u8] = include_bytes!("demo.json");

/// Longer than the demo takes, so that no task is abandoned.
const ABANDON_AFTER: Duration = Duration::from_secs(60 * 60);

/// More tasks than the demo creates.
const MAX_TASKS: u32 = 100;

/// Maximum number of sessions that send the follow-up. On a busy machine memory may miss its time limit in one of them.
const ATTEMPTS: usize = 5;

/// Maximum wait for the last record.
const FLUSH_TIMEOUT: Duration = Duration::from_secs(5);

#[derive(Serialize)]
struct Answer {
    session_id: String,
    prompts: u64,
    steps: Vec<StepRow>,
    tasks: Vec<SessionSummary>,
    /// What was saved to memory.
    memory: Vec<Task>,
    /// What was injected into the second session.
    #[serde(rename = "told")]
    injected: Option<String>,
    tokens: TokenUsage,
    exchanges: u64,
    client_actions: usize,
    /// Whether the recorded actions are those of the client.
    agrees: bool,
    cache_misses: usize,
    #[serde(skip)]
    added_latency: Option<Latency>,
    #[serde(skip)]
    judged: Vec<JudgedAction>,
    seconds: f64,
    #[serde(skip)]
    client_error: Option<String>,
}

/// What `grov eval` takes from the sessions.
pub(super) struct Measured {
    pub(super) sessions: u64,
    pub(super) prompts: u64,
    /// The actions of the first session.
    pub(super) judged: Vec<JudgedAction>,
    pub(super) injected: Option<String>,
    pub(super) cache_misses: usize,
    pub(super) added_latency: Option<Latency>,
}

/// Plays the sessions for their figures.
pub(super) fn measure() -> Result<Measured, Failure> {
    let (answer, _) = played()?;
    Ok(Measured {
        // The second session has one prompt.
        sessions: 2,
        prompts: answer.prompts + 1,
        judged: answer.judged,
        injected: answer.injected,
        cache_misses: answer.cache_misses,
        added_latency: answer.added_latency,
    })
}

pub(crate) fn run(terminal: Terminal) -> Outcome {
    let (answer, project) = played()?;
    let is_success = answer.agrees && answer.cache_misses == 0;
    terminal.answer(answer, |answer, style| text(answer, &project, style))?;
    Ok(ExitStatus::success_if(is_success))
}

/// Plays the sessions in a temporary directory. Returns the directory of the project, too.
fn played() -> Result<(Answer, String), Failure> {
    let started = Instant::now();
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()
        .map_err(failed("cannot start the async runtime"))?;
    let directory = tempfile::tempdir().map_err(failed("cannot create a temporary directory"))?;
    let project = directory.path().join("project").to_string_lossy().into_owned();
    let mut answer = runtime.block_on(play(directory.path()))?;
    answer.seconds = started.elapsed().as_secs_f64();
    Ok((answer, project))
}

/// Runs model, proxy and client until the client is done.
async fn play(directory: &Path) -> Result<Answer, Failure> {
    let (home, project) = (directory.join("home"), directory.join("project"));
    for folder in [&home, &project] {
        std::fs::create_dir(folder).map_err(failed("cannot create a directory"))?;
    }
    let scenarios = ScenarioSet::default().with_json(SCENARIOS);
    let config = SimConfig {
        scenarios: scenarios.map_err(failed("cannot read the scenarios"))?,
        ..SimConfig::default()
    };
    let sim = Sim::start(config)
        .await
        .map_err(failed("cannot start the simulated model"))?;
    let listener = TcpListener::bind("127.0.0.1:0")
        .await
        .map_err(failed("no port is free"))?;
    let address = listener.local_addr().map_err(failed("no port is free"))?;

    let store = Arc::new(assembly::open(&home.join("grov.db")).await?);
    let options = WriterOptions::new(grov_store::Spool::new(home.join("spool.jsonl")));
    let writer = BatchWriter::start(Arc::clone(&store) as Arc<_>, options);
    let writer = Arc::new(writer.map_err(failed("cannot start the writer"))?);
    let sink: Arc<dyn RecordSink> = Arc::clone(&writer) as Arc<_>;
    let clock = Arc::new(SystemClock);
    let ledger = Arc::clone(&store) as Arc<dyn SpendingStore>;
    let judge = ModelJudge::new(JudgeSettings::default(), ledger, Arc::clone(&clock) as Arc<_>);
    let judge = Arc::new(judge.map_err(failed("cannot start the judge"))?);
    let (tasks, orchestration) =
        TaskOrchestrator::new(judge, Arc::clone(&store) as Arc<_>, clock, ABANDON_AFTER);
    let memory = MemorySource::new(
        Arc::clone(&store) as Arc<_>,
        Ranking::for_injection(),
        Budget::default(),
    );
    let (injection, ledger_writer) = Injection::new(Arc::clone(&store) as Arc<_>, vec![Arc::new(memory)]);
    let upstream = Upstream::parse(&sim.url()).map_err(failed("cannot start the proxy"))?;
    let proxy = grov_live::configure(Proxy::builder(upstream), &sink)
        .policy(injection)
        .observer(Recorder::new(sink, UserNaming::Off, None).with_tasks(tasks))
        .build()
        .map_err(failed("cannot start the proxy"))?;

    // Each part ends when its sender is dropped: the client ends the proxy, and the proxy ends the judge.
    let (client_done, until_client_done) = oneshot::channel::<()>();
    let (ledger_done, until_ledger_done) = oneshot::channel::<()>();
    let (proxy_done, until_proxy_done) = oneshot::channel::<()>();
    let serving = async {
        let served = proxy.serve(listener, ended(until_client_done)).await;
        drop(proxy_done);
        served
    };
    let playing = async {
        let played = play_client(&*store, address, &project).await;
        // Before the proxy stops. On a thread of its own, because it waits for the answer.
        let measured = tokio::task::spawn_blocking(move || added_latency(address)).await;
        let played = played.map(|played| (played, measured.ok().flatten()));
        drop((client_done, ledger_done));
        played
    };
    let judging = orchestration.run(ended(until_proxy_done));
    let (served, played, (), ()) = tokio::join!(
        serving,
        playing,
        judging,
        ledger_writer.run(ended(until_ledger_done))
    );
    served.map_err(failed("the proxy failed"))?;
    let ((transcript, injected), added_latency) = played?;
    writer.shutdown(FLUSH_TIMEOUT).await;

    let session = ClientSessionId::new(&transcript.session_id);
    let tasks = store.client_session(&session).await?;
    let Some(task) = tasks.first() else {
        return Err(Failure::error("demo", "nothing was recorded"));
    };
    let mut memory = store
        .tasks_for_project(&task.state.project_path, MAX_TASKS)
        .await?;
    memory.retain(|task| task.client_session_id.as_ref() == Some(&session));
    memory.reverse();
    let steps = store.client_steps(&session).await?;
    let client_error = transcript.first_error().map(ToString::to_string);
    let tokens = tasks.iter().map(|task| task.tokens);
    Ok(Answer {
        prompts: tasks.iter().map(|task| task.prompts).sum(),
        tokens: tokens.fold(TokenUsage::default(), TokenUsage::plus),
        exchanges: tasks.iter().map(|task| task.exchanges).sum(),
        tasks,
        memory,
        injected,
        client_actions: transcript.actions.len(),
        agrees: client_error.is_none() && has_same_calls(&transcript, &steps),
        steps,
        judged: match find_session(&*store, session.as_str(), "").await? {
            Lookup::Found(found) => judged_actions(&*store, &found).await?,
            _ => Vec::new(),
        },
        added_latency,
        cache_misses: sim.cache_report().broken().count(),
        session_id: transcript.session_id,
        seconds: 0.0,
        client_error,
    })
}

/// Completes when the sender is dropped.
async fn ended(receiver: oneshot::Receiver<()>) {
    let _ = receiver.await;
}

/// Plays both sessions. Returns the transcript of the first one, and what was injected into the second.
async fn play_client(
    store: &dyn StoreConnection,
    proxy: SocketAddr,
    project: &Path,
) -> Result<(Transcript, Option<String>), Failure> {
    let url = format!("http://{proxy}");
    // Each configuration has a session id of its own.
    let interactive = PlayerConfig {
        interactive: true,
        ..PlayerConfig::in_directory(project)
    };
    let mut first = Player::new(&url, interactive).map_err(failed("cannot start the client"))?;
    for (number, prompt) in (1..).zip(PROMPTS) {
        note!(
            "prompt {number} of {}: {}",
            PROMPTS.len(),
            without_scenario(prompt)
        );
        first.run([prompt]).await;
    }
    let deadline = Instant::now() + FLUSH_TIMEOUT;
    while store.memory_stats(None).await?.memories == 0 && Instant::now() < deadline {
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    note!("second session: {}", without_scenario(FOLLOW_UP));
    let mut injected = None;
    for _ in 0..ATTEMPTS {
        let config = PlayerConfig::in_directory(project);
        let mut second = Player::new(&url, config).map_err(failed("cannot start the client"))?;
        second.run([FOLLOW_UP]).await;
        injected = injected_into(store, &second.transcript().session_id).await?;
        if injected.is_some() {
            break;
        }
    }
    Ok((first.transcript().clone(), injected))
}

/// The text that was injected into a session.
async fn injected_into(store: &dyn StoreConnection, session: &str) -> Result<Option<String>, Failure> {
    let lineage = Lineage {
        session: ClientSessionId::new(session),
        agent: None,
    };
    let ledger = store.lineage(&lineage).await?.unwrap_or_default();
    let block = ledger.entries.into_iter().find_map(|entry| entry.block);
    let block: Option<serde_json::Value> = block.and_then(|block| serde_json::from_str(&block).ok());
    Ok(block.and_then(|block| Some(block.get("text")?.as_str()?.to_owned())))
}

/// Whether exactly the calls of the client were recorded. Parallel ones may be in another order.
fn has_same_calls(transcript: &Transcript, steps: &[StepRow]) -> bool {
    let actions = transcript.actions.iter();
    let mut made: Vec<&str> = actions.map(|action| action.tool_use_id.as_str()).collect();
    let mut recorded: Vec<&str> = steps
        .iter()
        .filter_map(|step| step.tool_use_id.as_deref())
        .collect();
    made.sort_unstable();
    recorded.sort_unstable();
    made == recorded
}

/// A prompt without the name of its scenario.
fn without_scenario(prompt: &str) -> &str {
    prompt.split(" [[").next().unwrap_or(prompt)
}

fn text(answer: &Answer, project: &str, style: Style) -> String {
    let mut steps = Table::new("TIME?, ACTION, TOOL, AGENT?, SUBJECT~");
    for step in &answer.steps {
        steps.row([
            clock(step.timestamp, SystemClock.now(), style),
            step.action_type.as_str().to_owned(),
            step.tool.clone(),
            cell(step.agent_id.as_ref().map(|agent| style.id(&agent.to_string()))),
            without_scenario(&step.subject().replace(&format!("{project}/"), "")).to_owned(),
        ]);
    }
    let mut tasks = Table::new("TASK, STATUS, STEPS#, GOAL~");
    for task in &answer.tasks {
        let state = &task.state;
        let goal = state.original_goal.as_deref().unwrap_or_default();
        tasks.row([
            state.task_type.as_str().to_owned(),
            state.status.as_str().to_owned(),
            task.steps.to_string(),
            without_scenario(goal).to_owned(),
        ]);
    }
    let mut saved = String::new();
    for task in &answer.memory {
        let goal = without_scenario(title(task));
        saved.push_str(&format!("saved to team memory: {}\n", one_line(goal)));
        for finding in &task.reasoning_trace {
            saved.push_str(&format!("  - {}\n", one_line(finding)));
        }
    }
    let injected = answer.injected.as_deref().unwrap_or("nothing");
    let injected: Vec<String> = injected.lines().map(one_line).collect();
    let client_error = answer.client_error.as_ref();
    let client_error = cell(client_error.map(|error| format!("error of the client: {error}\n")));
    let yes = |is_true| match is_true {
        true => style.green("yes"),
        false => style.red("NO"),
    };
    let seconds = format!(
        "played in {:.1} s in a temporary directory, now deleted",
        answer.seconds
    );
    let Answer {
        prompts,
        exchanges,
        tokens,
        ..
    } = answer;
    format!(
        "{}\n{}\n{}\n{}{saved}\n{}\n{}\n\n\
         {prompts} prompts, {} actions, {exchanges} requests to the model (title and suggestions included)\n\
         tokens: {} uncached, {} read from the prompt cache, {} written to it, {} of output\n\
         recorded actions are exactly the client's: {}\n{client_error}\
         prompt cache intact: {}\n{}\n",
        style.bold("Recorded actions"),
        steps.render(style),
        style.bold("Tasks, as judged by rules"),
        tasks.render(style),
        style.bold("Injected into the second session, after its prompt"),
        injected.join("\n"),
        answer.steps.len(),
        tokens.input,
        tokens.cache_read,
        tokens.cache_creation,
        tokens.output,
        yes(answer.agrees),
        yes(answer.cache_misses == 0),
        style.faint(&seconds)
    )
}

fn failed<E: Display>(what: &'static str) -> impl Fn(E) -> Failure {
    move |error| Failure::error("demo", format!("{what}: {error}"))
}
