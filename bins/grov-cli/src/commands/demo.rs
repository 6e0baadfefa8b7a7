//! `grov demo`: a whole session with a simulated model and a scripted client, through the real proxy and store.

use crate::assembly::{self, CommandStore};
use crate::failure::Failure;
use crate::output::{Outcome, Style, Terminal, Verdict, say};
use crate::show::moment;
use crate::table::{Table, harmless};
use grov_domain::{
    ClientSessionId, Lineage, RecordSink, SessionStore, SessionSummary, SpendingStore, StepRow, SystemClock,
    Task, TaskStore, TokenTotals,
};
use grov_live::{Injection, MemorySource, Recorder, TaskOrchestrator, UserNaming};
use grov_llm::{JudgeSettings, ModelJudge};
use grov_memory::{Budget, Ranking};
use grov_proxy_core::{Proxy, Upstream};
use grov_query::{SessionView, StepView, TaskView, TokensView};
use grov_sim::{Player, PlayerConfig, ScenarioSet, Sim, SimConfig, Transcript};
use grov_store::{BatchWriter, WriterOptions};
use serde::Serialize;
use std::fmt::{Display, Write};
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::net::TcpListener;
use tokio::sync::oneshot;

/// What is typed in the demo. The mark names the scenario that the simulated model plays.
const PROMPTS: [&str; 3] = [
    "Write a greeting to greeting.txt and change the name in it. Do not touch other files. [[scenario:greeting]]",
    "Let somebody else count the lines of a list [[scenario:subagent]]",
    "Now compare left.txt with right.txt [[scenario:parallel]]",
];

/// What is typed in a second session, when the first task of the first one is remembered.
const FOLLOW_UP: &str = "Why is the name in greeting.txt written in lower case? [[scenario:recall]]";

/// What the simulated model does in the demo, besides its built-in scenarios.
const SCENARIOS: &[u8] = include_bytes!("demo.json");

/// Nobody waits that long in a demo.
const ABANDON_AFTER: Duration = Duration::from_secs(60 * 60);

/// More tasks than the demo has.
const MEMORY_LIMIT: u32 = 100;

/// Sessions that ask. On a busy machine memory may be out of time for one of them, which then goes on without.
const TRIES: usize = 5;

/// Longest wait for the last record.
const FLUSH_LIMIT: Duration = Duration::from_secs(5);

#[derive(Serialize)]
struct Answer {
    session_id: String,
    prompts: u64,
    steps: Vec<StepView>,
    /// What the work was divided into.
    tasks: Vec<SessionView>,
    /// What was saved of it.
    memory: Vec<TaskView>,
    /// What the second session was told of that.
    told: Option<String>,
    tokens: TokensView,
    exchanges: u64,
    client_actions: usize,
    agrees: bool,
    cache_misses: usize,
    seconds: f64,
}

pub(crate) fn run(terminal: Terminal) -> Outcome {
    let started = Instant::now();
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()
        .map_err(|error| failed("no runtime can be started", error))?;
    let directory =
        tempfile::tempdir().map_err(|error| failed("no temporary directory can be made", error))?;
    let project = directory.path().join("project");
    let played_in = project.to_string_lossy().into_owned();
    let played = runtime.block_on(play(directory.path()))?;
    let Played {
        transcript,
        tasks,
        memory,
        told,
        steps,
        cache_misses,
    } = played;
    let recorded = steps.iter().filter_map(|step| step.tool_use_id.as_deref());
    let agrees = transcript.first_error().is_none() && same_calls(&transcript, recorded);
    let answer = Answer {
        session_id: transcript.session_id.clone(),
        prompts: tasks.iter().map(|task| task.prompts).sum(),
        tokens: TokensView::from(total(&tasks)),
        exchanges: tasks.iter().map(|task| task.exchanges).sum(),
        tasks: tasks.into_iter().map(SessionView::from).collect(),
        memory: memory.into_iter().map(TaskView::from).collect(),
        told,
        steps: steps.into_iter().map(StepView::from).collect(),
        client_actions: transcript.actions.len(),
        agrees,
        cache_misses,
        seconds: started.elapsed().as_secs_f64(),
    };
    terminal.answer(answer, |answer, style| {
        text(answer, &transcript, &played_in, style)
    })?;
    Ok(if agrees && cache_misses == 0 {
        Verdict::Found
    } else {
        Verdict::Nothing
    })
}

/// What came of the session.
struct Played {
    transcript: Transcript,
    tasks: Vec<SessionSummary>,
    memory: Vec<Task>,
    told: Option<String>,
    steps: Vec<StepRow>,
    cache_misses: usize,
}

async fn play(directory: &Path) -> Result<Played, Failure> {
    let (home, project) = (directory.join("home"), directory.join("project"));
    for folder in [&home, &project] {
        std::fs::create_dir(folder).map_err(|error| failed("no folder can be made", error))?;
    }
    let scenarios = ScenarioSet::default()
        .with_json(SCENARIOS)
        .map_err(|error| failed("the simulated model cannot be told what to do", error))?;
    let config = SimConfig {
        scenarios,
        ..SimConfig::default()
    };
    let sim = Sim::start(config)
        .await
        .map_err(|error| failed("the simulated model cannot start", error))?;
    let listener = TcpListener::bind("127.0.0.1:0")
        .await
        .map_err(|error| failed("no port is free", error))?;
    let address = listener
        .local_addr()
        .map_err(|error| failed("no port is free", error))?;

    let store = Arc::new(assembly::open(&home.join("grov.db")).await?);
    let spool = grov_store::Spool::new(home.join("spool.jsonl"));
    let writer = BatchWriter::start(Arc::clone(&store) as Arc<_>, WriterOptions::new(spool));
    let writer = Arc::new(writer.map_err(|error| failed("the writer cannot start", error))?);
    let sink: Arc<dyn RecordSink> = Arc::clone(&writer) as Arc<_>;
    let judge = ModelJudge::new(
        JudgeSettings::default(),
        Arc::clone(&store) as Arc<dyn SpendingStore>,
        Arc::new(SystemClock),
    )
    .map_err(|error| failed("the judge cannot start", error))?;
    let (tasks, orchestration) = TaskOrchestrator::new(
        Arc::new(judge),
        Arc::clone(&store) as Arc<_>,
        Arc::new(SystemClock),
        ABANDON_AFTER,
    );
    let upstream = Upstream::parse(&sim.url()).map_err(|error| failed("the proxy cannot start", error))?;
    let source = MemorySource::new(
        Arc::clone(&store) as Arc<_>,
        Ranking::for_injection(),
        Budget::default(),
    );
    let (injection, keeping) = Injection::new(Arc::clone(&store) as Arc<_>, vec![Arc::new(source)]);
    let proxy = grov_live::configure(Proxy::builder(upstream), &sink)
        .policy(injection)
        .observer(Recorder::new(sink, UserNaming::Off, None).with_tasks(tasks))
        .build()
        .map_err(|error| failed("the proxy cannot start", error))?;

    let (stop, stopped) = oneshot::channel::<()>();
    let serving = proxy.serve(listener, async move {
        // The sender goes only when the client is done, one way or the other.
        let _ = stopped.await;
    });
    let (all_told, told) = oneshot::channel::<()>();
    let serving = async move {
        let served = serving.await;
        drop(all_told);
        served
    };
    let judging = orchestration.run(async move {
        // Gone once every exchange was observed.
        let _ = told.await;
    });
    let (all_said, said) = oneshot::channel::<()>();
    let keeping = keeping.run(async move {
        let _ = said.await;
    });
    let remembered = Arc::clone(&store);
    let playing = async move {
        let config = PlayerConfig {
            interactive: true,
            ..PlayerConfig::in_directory(&project)
        };
        let mut player = Player::new(&format!("http://{address}"), config)
            .map_err(|error| failed("the client cannot start", error))?;
        for (number, prompt) in PROMPTS.iter().enumerate() {
            say(&format!(
                "prompt {} of {}: {}",
                number + 1,
                PROMPTS.len(),
                spoken(prompt)
            ));
            player.run([*prompt]).await;
        }
        wait_for_memory(&*remembered).await?;
        say(&format!("a second session: {}", spoken(FOLLOW_UP)));
        let mut told = None;
        for _ in 0..TRIES {
            let config = PlayerConfig::in_directory(&project);
            let mut second = Player::new(&format!("http://{address}"), config)
                .map_err(|error| failed("the client cannot start", error))?;
            second.run([FOLLOW_UP]).await;
            told = said_to(
                &*remembered,
                &ClientSessionId::new(&second.transcript().session_id),
            )
            .await?;
            if told.is_some() {
                break;
            }
        }
        drop((stop, all_said));
        Ok::<_, Failure>((player.transcript().clone(), told))
    };
    let (served, played, (), ()) = tokio::join!(serving, playing, judging, keeping);
    served.map_err(|error| failed("the proxy stopped", error))?;
    let (transcript, told) = played?;
    writer.shutdown(FLUSH_LIMIT).await;

    let session = ClientSessionId::new(&transcript.session_id);
    let tasks = store.client_session(&session).await?;
    let project = tasks.first().map(|task| task.state.project_path.clone());
    let project = project.ok_or_else(|| failed("nothing was recorded", "the store has no such session"))?;
    let mut memory = store.tasks_for_project(&project, MEMORY_LIMIT).await?;
    memory.retain(|task| task.client_session_id.as_ref() == Some(&session));
    memory.reverse();
    let steps = store.client_steps(&session).await?;
    let cache_misses = sim.cache_report().broken().count();
    Ok(Played {
        transcript,
        tasks,
        memory,
        told,
        steps,
        cache_misses,
    })
}

/// Waits until the first finished task is saved.
async fn wait_for_memory(store: &dyn CommandStore) -> Result<(), Failure> {
    let deadline = Instant::now() + FLUSH_LIMIT;
    while store.memory_stats(None).await?.memories == 0 && Instant::now() < deadline {
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    Ok(())
}

/// What was said to a session.
async fn said_to(store: &dyn CommandStore, session: &ClientSessionId) -> Result<Option<String>, Failure> {
    let lineage = Lineage {
        session: session.clone(),
        agent: None,
    };
    let kept = store.lineage(&lineage).await?.unwrap_or_default();
    let block = kept.entries.into_iter().find_map(|entry| entry.block);
    let block = block.and_then(|block| serde_json::from_str::<serde_json::Value>(&block).ok());
    Ok(block.and_then(|block| Some(block.get("text")?.as_str()?.to_owned())))
}

fn total(tasks: &[SessionSummary]) -> TokenTotals {
    let mut total = TokenTotals::default();
    for tokens in tasks.iter().map(|task| task.tokens) {
        total.input += tokens.input;
        total.cache_read += tokens.cache_read;
        total.cache_creation += tokens.cache_creation;
        total.cache_creation_5m += tokens.cache_creation_5m;
        total.cache_creation_1h += tokens.cache_creation_1h;
        total.output += tokens.output;
    }
    total
}

/// Whether the client ran exactly the calls that were recorded. Parallel ones may have ended in another order.
fn same_calls<'a>(transcript: &'a Transcript, recorded: impl Iterator<Item = &'a str>) -> bool {
    let mut ran: Vec<&str> = transcript
        .actions
        .iter()
        .map(|action| action.tool_use_id.as_str())
        .collect();
    let mut seen: Vec<&str> = recorded.collect();
    ran.sort_unstable();
    seen.sort_unstable();
    ran == seen
}

fn spoken(prompt: &str) -> &str {
    prompt.split(" [[").next().unwrap_or(prompt)
}

fn text(answer: &Answer, transcript: &Transcript, played_in: &str, style: Style) -> String {
    let mut out = String::new();
    let mut table = Table::new(&["TIME", "ACTION", "TOOL", "AGENT", "SUBJECT"]);
    for step in &answer.steps {
        table.row([
            moment(step.timestamp),
            step.action_type.to_owned(),
            step.tool.clone(),
            step.agent_id.clone().unwrap_or_default(),
            step.subject().replace(&format!("{}/", played_in), ""),
        ]);
    }
    let tokens = answer.tokens;
    // Writing to a String cannot fail.
    let _ = writeln!(out, "{}", style.bold("What Grov saw"));
    out.push_str(&table.render(style));
    let _ = writeln!(out, "\n{}", style.bold("What Grov understood, by rules alone"));
    let mut table = Table::new(&["TASK", "STATUS", "STEPS#", "GOAL"]);
    for task in &answer.tasks {
        table.row([
            task.task_type.to_owned(),
            task.status.to_owned(),
            task.steps.to_string(),
            harmless(spoken(task.original_goal.as_deref().unwrap_or(""))).to_string(),
        ]);
    }
    out.push_str(&table.render(style));
    for task in &answer.memory {
        let goal = harmless(spoken(task.goal.as_deref().unwrap_or(&task.original_query))).to_string();
        let _ = writeln!(out, "remembered for the team: {goal}");
        for line in &task.reasoning_trace {
            let _ = writeln!(out, "  - {}", harmless(line));
        }
    }
    let _ = writeln!(
        out,
        "\n{}",
        style.bold("What the second session was told, behind its prompt")
    );
    match &answer.told {
        Some(told) => {
            for line in told.lines() {
                let _ = writeln!(out, "{}", harmless(line));
            }
        }
        None => out.push_str("nothing\n"),
    }
    let _ = writeln!(
        out,
        "\n{} prompts, {} actions, {} requests to the model (title and suggestions included)",
        answer.prompts,
        answer.steps.len(),
        answer.exchanges
    );
    let _ = writeln!(
        out,
        "tokens: {} uncached, {} read from the prompt cache, {} written to it, {} of output",
        tokens.input, tokens.cache_read, tokens.cache_creation, tokens.output
    );
    let agreement = if answer.agrees {
        style.green("yes")
    } else {
        style.red("NO")
    };
    let _ = writeln!(out, "every action of the client recorded, none more: {agreement}");
    if let Some(error) = transcript.first_error() {
        let _ = writeln!(out, "the client met an error: {error}");
    }
    let unbroken = if answer.cache_misses == 0 {
        style.green("yes")
    } else {
        style.red("NO")
    };
    let _ = writeln!(out, "prompt cache unbroken: {unbroken}");
    let _ = writeln!(
        out,
        "{}",
        style.faint(&format!(
            "played in {:.1} s, in a directory that is gone now",
            answer.seconds
        ))
    );
    out
}

fn failed(what: &str, why: impl Display) -> Failure {
    Failure::error("demo", format!("{what}: {why}"), None)
}
