//! The scenarios that are always there.

use super::{Block, Scenario, Step};
use crate::json::Json;
use std::collections::BTreeMap;

/// Model steps of the `long` scenario, its closing text included.
const LONG_STEPS: usize = 70;

pub(super) fn all() -> BTreeMap<String, Scenario> {
    [
        ("text", text()),
        ("tools", tools()),
        ("parallel", parallel()),
        ("thinking", thinking()),
        ("subagent", subagent()),
        ("count-lines", count_lines()),
        ("long", long()),
        ("question", question()),
        ("search", search()),
    ]
    .into_iter()
    .map(|(name, scenario)| (name.to_owned(), scenario))
    .collect()
}

fn say(text: &str) -> Block {
    Block::Text(text.to_owned())
}

fn think(text: &str) -> Block {
    Block::Thinking(text.to_owned())
}

fn call<const N: usize>(name: &str, input: [(&str, Json); N]) -> Block {
    Block::ToolUse {
        name: name.to_owned(),
        input: Json::object(input),
    }
}

fn bash(command: &str, description: &str) -> Block {
    call(
        "Bash",
        [("command", command.into()), ("description", description.into())],
    )
}

fn write(file: &str, content: &str) -> Block {
    call(
        "Write",
        [
            ("file_path", format!("{{cwd}}/{file}").into()),
            ("content", content.into()),
        ],
    )
}

fn read(file: &str) -> Block {
    call("Read", [("file_path", format!("{{cwd}}/{file}").into())])
}

fn edit(file: &str, old: &str, new: &str) -> Block {
    call(
        "Edit",
        [
            ("file_path", format!("{{cwd}}/{file}").into()),
            ("old_string", old.into()),
            ("new_string", new.into()),
        ],
    )
}

fn script(steps: Vec<Vec<Block>>) -> Scenario {
    Scenario::of(steps.into_iter().map(Step::of).collect())
}

fn text() -> Scenario {
    script(vec![vec![say(
        "Everything is in order; there is nothing to change.",
    )]])
}

fn tools() -> Scenario {
    Scenario {
        title: Some("Add a greeting".to_owned()),
        suggestion: Some("run the tests".to_owned()),
        summary: Some("A greeting file was written, changed and counted.".to_owned()),
        ..script(vec![
            vec![
                say("I will write the greeting first."),
                write("greeting.txt", "hello\nworld\n"),
            ],
            vec![read("greeting.txt")],
            vec![say("Now the name."), edit("greeting.txt", "world", "grov")],
            vec![bash(
                "wc -l greeting.txt && grep -c grov greeting.txt",
                "Count the lines",
            )],
            vec![say("The greeting is written, changed and counted.")],
        ])
    }
}

fn parallel() -> Scenario {
    script(vec![
        vec![
            say("Two files at once."),
            write("left.txt", "left\n"),
            write("right.txt", "right\n"),
            bash("echo beside", "Say something meanwhile"),
        ],
        vec![read("left.txt"), read("right.txt")],
        vec![say("Both files are there.")],
    ])
}

fn thinking() -> Scenario {
    script(vec![
        vec![
            think("A small note is enough; a file will do."),
            say("Writing the note."),
            write("note.txt", "a note\n"),
        ],
        vec![
            think("The note is written. Check it."),
            bash("cat note.txt", "Show the note"),
        ],
        vec![think("Done."), say("The note says what it should.")],
    ])
}

fn subagent() -> Scenario {
    script(vec![
        vec![write("list.txt", "one\ntwo\nthree\n")],
        vec![
            say("Somebody else may count."),
            call(
                "Agent",
                [
                    ("description", "Count the lines".into()),
                    (
                        "prompt",
                        "Count the lines of list.txt. [[scenario:count-lines]]".into(),
                    ),
                    ("subagent_type", "general-purpose".into()),
                ],
            ),
        ],
        vec![say("There are three lines.")],
    ])
}

fn count_lines() -> Scenario {
    script(vec![
        vec![bash("wc -l < list.txt", "Count the lines")],
        vec![read("list.txt")],
        vec![say("list.txt has 3 lines.")],
    ])
}

fn long() -> Scenario {
    let mut steps: Vec<Vec<Block>> = (1..LONG_STEPS)
        .map(|step| match step % 5 {
            1 => vec![say("Next part."), write("part-{step}.txt", "part {step}\n")],
            _ => vec![bash(
                "echo step {step} >> log.txt && wc -l < log.txt",
                "Write the log",
            )],
        })
        .collect();
    steps.push(vec![say("All parts are written.")]);
    script(steps)
}

fn question() -> Scenario {
    script(vec![vec![say(
        "Which of the two files do you mean: the one in `src` or the one in `tests`?",
    )]])
}

fn search() -> Scenario {
    script(vec![
        vec![call("WebSearch", [("query", "prompt cache look-back".into())])],
        vec![say("The search found one page.")],
    ])
}
