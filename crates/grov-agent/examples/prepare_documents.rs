//! Measures how long documents take to be prepared: extracted, redacted and divided into chunks, without a store.
//!
//! ```text
//! cargo run --release -p grov-agent --example prepare_documents -- 10        # texts of 10 MB, usual and hostile
//! cargo run --release -p grov-agent --example prepare_documents -- FILE…     # files
//! ```
#![forbid(unsafe_code)]
#![allow(clippy::print_stdout, reason = "an example that reports on stdout")]

use grov_agent::{Category, ProjectId, Upload, prepare};
use std::time::Instant;

fn main() -> std::io::Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    println!(
        "{:<28} {:>11} {:>9} {:>8}",
        "document", "bytes", "chunks", "seconds"
    );
    match arguments
        .first()
        .map_or(Some(1), |first| first.parse::<usize>().ok())
    {
        Some(megabytes) => {
            for (name, file, part) in SHAPES {
                let count = (megabytes * 1_000_000).div_ceil(part.len());
                measure(name, file, part.repeat(count).into_bytes());
            }
            let deep = "> ".repeat(10_000) + "text\n";
            measure(
                "quotations 10,000 deep",
                "a.md",
                deep.repeat(megabytes * 50).into_bytes(),
            );
            let deeper: String = (0..1_400)
                .map(|depth| format!("{}- a\n", "  ".repeat(depth)))
                .collect();
            measure(
                "lists, each deeper",
                "a.md",
                deeper.repeat(megabytes.div_ceil(2)).into_bytes(),
            );
            measure("HTML", "a.html", html(megabytes * 1_000_000));
        }
        None => {
            for path in &arguments {
                let name = path.rsplit('/').next().unwrap_or(path);
                measure(name, name, std::fs::read(path)?);
            }
        }
    }
    Ok(())
}

fn measure(name: &str, file: &str, bytes: Vec<u8>) {
    let size = bytes.len();
    let upload = Upload {
        project: ProjectId::fresh(),
        title: name.to_owned(),
        category: Category::Facts,
        content_type: None,
        file_name: Some(file.to_owned()),
        bytes,
    };
    let start = Instant::now();
    let prepared = prepare(&upload, time::OffsetDateTime::UNIX_EPOCH);
    let seconds = start.elapsed().as_secs_f64();
    match prepared {
        Ok(prepared) => println!(
            "{name:<28} {size:>11} {:>9} {seconds:>8.2}",
            prepared.document.chunks.len()
        ),
        Err(error) => println!("{name:<28} {size:>11} {:>9} {seconds:>8.2} {error}", "-"),
    }
}

/// Names, file names and the text that is repeated.
const SHAPES: &[(&str, &str, &str)] = &[
    ("Markdown, usual", "a.md", USUAL),
    ("a heading every line", "a.md", "# Heading\n"),
    (
        "a nested heading every line",
        "a.md",
        "# A\n## B\n### C\n#### D\n##### E\n###### F\n",
    ),
    ("one line without spaces", "a.md", "x"),
    ("one line of words", "a.md", "word "),
    ("one line of sentences", "a.txt", "A sentence of some words. "),
    ("short lines", "a.txt", "a\n"),
    ("quotations in a line", "a.md", "> "),
    ("lists in a line", "a.md", "- "),
    ("emphasis", "a.md", "*a **b "),
    ("open brackets", "a.md", "["),
    ("links", "a.md", "[a](b) "),
    ("backticks", "a.md", "`a ``b ```c "),
    ("open fences", "a.md", "```\n~~~\n"),
    ("tables", "a.md", "| a | b |\n|---|---|\n| c | d |\n\n"),
    ("one table", "a.md", "| a | b |\n|---|---|\n"),
    ("HTML blocks", "a.md", "<div>\n"),
    ("entities", "a.md", "&amp;&#35;"),
    ("footnotes", "a.md", "[^1]: a\n"),
    ("dollars", "a.md", "$a$$b"),
    ("underscores", "a.md", "_"),
    ("angle brackets", "a.md", "<a <!-- <? "),
    (
        "source code",
        "a.rs",
        "/// Adds.\nfn add(a: i32, b: i32) -> i32 {\n    let c = a + b;\n\n    c\n}\n\n",
    ),
    ("secrets", "a.md", "password = hunter2-hunter2\n"),
];

const USUAL: &str = "## Retention of invoices\n\nInvoices are kept for ten years, because the law asks for it. After that the nightly \
    job deletes them, and `audit_log` keeps a row for each.\n\n- The archive is in Frankfurt.\n- Its backups are encrypted.\n\n\
    ```sql\nselect id from invoices where created_at < now() - interval '10 years';\n```\n\n\
    | region | days |\n|---|---|\n| eu | 30 |\n| us | 35 |\n\nThe *owner* of the job is the [platform team](team.md). It \
    answers within a day, and it says what was deleted and why. Questions about single invoices belong to accounting.\n\n";

fn html(size: usize) -> Vec<u8> {
    let part = "<p>Invoices are kept for <b>ten years</b>, because the law asks for it. After that the nightly job deletes them, \
        and a table keeps a row for each of them.</p>\n<ul><li>one</li><li>two</li></ul>\n";
    part.repeat(size.div_ceil(part.len())).into_bytes()
}
