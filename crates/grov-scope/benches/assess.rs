//! What the rules cost for one action late in a long conversation.
//!
//! `cargo bench -p grov-scope` prints one line for each kind of action: the median, the 99th percentile and the slowest of
//! many runs, each after five hundred actions. What is measured is the work of the thread, so that it does not matter what
//! else the machine does. `cargo bench -p grov-scope -- WORD` measures the kinds alone that have the word in their name;
//! with `--untimed` none is timed, for a count of instructions by valgrind, which does not bear the clock.
#![allow(clippy::print_stdout, reason = "a bench talks to a person")]

use grov_domain::{ActionSketch, ActionType, EffectKind, GoalContract};
use grov_scope::Rules;
use rustix::time::{ClockId, clock_gettime};
use std::hint::black_box;
use std::time::Duration;

const STEPS: usize = 500;
const RUNS: usize = 2_000;

fn main() {
    let rules = late_conversation();
    let content = "fn parse(input: &str) -> Result<Tree, Error> {\n    use crate::lexer;\n".repeat(60);
    measure("edit of 4,000 characters", &rules, &|n| {
        edit(&format!("src/parser/part_{n}.rs"), &content)
    });
    measure("edit outside of the scope", &rules, &|n| {
        edit(&format!("web/pages/part_{n}.ts"), &content)
    });
    measure("command", &rules, &|_| {
        bash("cd crates && cargo test -p grov-scope 2>&1 | tail -20")
    });
    let long = "rm -rf target/x && git push origin a; ".repeat(2_700);
    measure("command of 100 KB", &rules, &|_| bash(&long));
    let files: Vec<String> = (0..200).map(|n| format!("src/generated/file_{n}.rs")).collect();
    measure("command of 200 files", &rules, &|_| ActionSketch {
        files: files.clone(),
        ..bash(&format!("rm {}", files.join(" ")))
    });
    measure("read", &rules, &|n| ActionSketch {
        action_type: ActionType::Read,
        ..edit(&format!("src/part_{n}.rs"), "")
    });
    let start = worked();
    black_box(Rules::new(contract(), Some("/home/me/project")));
    println!("{:32} {:>9.1?}", "preparing a contract", worked() - start);
}

/// What this thread has worked so far.
fn worked() -> Duration {
    if std::env::args().any(|word| word == "--untimed") {
        return Duration::ZERO;
    }
    let time = clock_gettime(ClockId::ThreadCPUTime);
    Duration::new(
        time.tv_sec.unsigned_abs(),
        u32::try_from(time.tv_nsec).unwrap_or_default(),
    )
}

/// Whether a kind of action is asked for.
fn is_wanted(name: &str) -> bool {
    let mut words = std::env::args()
        .skip(1)
        .filter(|word| !word.starts_with('-'))
        .peekable();
    words.peek().is_none() || words.any(|word| name.contains(&word))
}

fn measure(name: &str, rules: &Rules, action: &dyn Fn(usize) -> ActionSketch) {
    if !is_wanted(name) {
        return;
    }
    let mut times: Vec<Duration> = Vec::with_capacity(RUNS);
    let mut rules = rules.clone();
    for run in 0..RUNS {
        let action = action(run);
        let start = worked();
        black_box(rules.assess(black_box(&action), Some("call")));
        times.push(worked() - start);
    }
    times.sort_unstable();
    let at = |share: usize| times[(times.len() * share / 100).min(times.len() - 1)];
    println!(
        "{name:32} p50 {:>9.1?}  p99 {:>9.1?}  max {:>9.1?}",
        at(50),
        at(99),
        at(100)
    );
}

/// A contract with as much in it as a long session brings together.
fn contract() -> GoalContract {
    let constraints = (0..20).map(|n| format!("do not touch src/area_{n}/ and don't run make task_{n}"));
    GoalContract {
        goal: "Fix the parser in src/parser/mod.rs so that errors tell their place".to_owned(),
        instructions: (0..20)
            .map(|n| format!("now look at src/parser/step_{n}.rs and `Token{n}` too"))
            .collect(),
        scope: (0..40).map(|n| format!("src/parser/part_{n}.rs")).collect(),
        allowed: vec!["docs/**".to_owned()],
        forbidden: vec!["migrations/**".to_owned(), "src/{auth,billing}/**".to_owned()],
        constraints: constraints.collect(),
        keywords: Vec::new(),
        reading: None,
        is_goal_newest: false,
    }
}

fn late_conversation() -> Rules {
    let mut rules = Rules::new(contract(), Some("/home/me/project"));
    for step in 0..STEPS {
        let call = step.to_string();
        let content =
            format!("use crate::part_{step};\nfn step_{step}() {{ let value = {step}; }}\n").repeat(20);
        let action = match step % 5 {
            0 | 1 => edit(&format!("src/parser/part_{}.rs", step % 40), &content),
            2 => bash(&format!("cargo test step_{step}")),
            _ => ActionSketch {
                action_type: ActionType::Read,
                ..edit(&format!("src/other_{step}.rs"), "")
            },
        };
        rules.assess(&action, Some(&call));
        rules.record_result(&call, step % 7 == 0);
    }
    rules
}

fn edit(file: &str, content: &str) -> ActionSketch {
    ActionSketch {
        action_type: ActionType::Edit,
        files: vec![file.to_owned()],
        command: None,
        effects: Vec::new(),
        reasoning: None,
        failed: None,
        output: None,
        content: Some(content.to_owned()),
        line: None,
        change: None,
    }
}

fn bash(command: &str) -> ActionSketch {
    ActionSketch {
        action_type: ActionType::Bash,
        files: Vec::new(),
        command: Some(command.to_owned()),
        effects: vec![EffectKind::Execute, EffectKind::Delete],
        ..edit("", "")
    }
}
