//! Requests of every kind, each with an `Idempotency-Key`, repeated until they are answered: as clients behave whose service is
//! killed now and then. In the end each of them must have had its effect once.

use super::text;
use anyhow::{Context, Result, ensure};
use grov_tests::{Agent, Request, exchange, json_of};
use serde_json::{Value, json};
use std::collections::HashSet;
use std::sync::atomic::{AtomicBool, AtomicU16, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

/// The admin key of every agent service in a test.
const KEY: &str = "test-admin-key";
/// How long a request is repeated.
const PATIENCE: Duration = Duration::from_secs(60);

/// What is requested, and where.
pub struct Workload {
    project: String,
    /// The port of the service or of what is in front of it, which changes with a restart.
    pub port: AtomicU16,
    next: AtomicUsize,
    /// Set to end the requests.
    pub is_over: AtomicBool,
}

/// The kinds of requests, which take turns.
const KINDS: usize = 4;

impl Workload {
    pub fn new(project: &str, port: u16) -> Self {
        Self {
            project: project.to_owned(),
            port: AtomicU16::new(port),
            next: AtomicUsize::new(0),
            is_over: AtomicBool::new(false),
        }
    }

    /// Makes requests until `is_over`, or until `most` were made by all callers of this function.
    pub fn run(&self, most: usize) -> Result<()> {
        while !self.is_over.load(Ordering::Relaxed) {
            let number = self.next.fetch_add(1, Ordering::Relaxed);
            if number >= most {
                self.next.fetch_sub(1, Ordering::Relaxed);
                return Ok(());
            }
            self.request(number)?;
        }
        Ok(())
    }

    /// How many requests were made.
    pub fn made(&self) -> usize {
        self.next.load(Ordering::Relaxed)
    }

    /// Makes one request, again and again until it is answered.
    fn request(&self, number: usize) -> Result<()> {
        let project = &self.project;
        let (target, body) = match number % KINDS {
            0 => ("/chat".to_owned(), chat(project, number)),
            1 => {
                let content = document(number, 1);
                let body =
                    json!({"title": format!("Document {number}"), "category": "FACTS", "content": content});
                (format!("/projects/{project}/docs"), body)
            }
            2 => {
                // The second version of the document before.
                let content = document(number - 1, 2);
                let body = json!({"title": format!("Document {}", number - 1), "category": "FACTS", "content": content});
                (format!("/projects/{project}/docs"), body)
            }
            _ => {
                let body = json!({"type": "event", "content": format!("Event number {number} happened")});
                (format!("/projects/{project}/memory"), body)
            }
        };
        let answer = self.answered(&target, &format!("request-{number}"), &body)?;
        if number.is_multiple_of(KINDS) {
            // The callback of the tool that the chat asked for.
            let call = &answer["response_json"]["tool_calls"][0]["id"];
            for status in ["approved", "succeeded"] {
                let mut body = json!({"tool_call_id": call, "status": status});
                if status == "succeeded" {
                    body["result"] = json!({"number": number});
                }
                self.answered("/tools/result", &format!("{status}-{number}"), &body)?;
            }
        }
        Ok(())
    }

    /// Posts a request until it is answered.
    fn answered(&self, target: &str, key: &str, body: &Value) -> Result<Value> {
        let start = Instant::now();
        loop {
            let failure = match post(self.port.load(Ordering::Relaxed), target, key, body) {
                Ok((200 | 201, answer)) => return Ok(answer),
                Ok((status @ (429 | 503), answer)) => format!("{status} {answer}"),
                Ok((status, answer)) => anyhow::bail!("{target} {key}: {status} {answer}"),
                Err(error) => format!("{error:#}"),
            };
            ensure!(start.elapsed() < PATIENCE, "{target} {key}: {failure}");
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    /// Checks that each request had its effect once, and completely.
    pub fn verify(&self, agent: &Agent) -> Result<()> {
        let (made, project) = (self.made(), &self.project);
        let of_kind = |kind| (0..made).filter(|number| number % KINDS == kind).count();
        let threads = all(agent, &format!("/threads?project_id={project}"))?;
        ensure!(threads.len() == of_kind(0), "{} threads of {made}", threads.len());
        for thread in &threads {
            ensure!(thread["messages"] == 2, "{thread}");
        }
        let calls = all(agent, &format!("/tool_calls?project_id={project}"))?;
        ensure!(calls.len() == of_kind(0), "{} calls of {made}", calls.len());
        let of: HashSet<&str> = calls.iter().map(|call| text(&call["thread_id"])).collect();
        ensure!(of.len() == calls.len(), "two calls of one thread");
        let results: HashSet<u64> = calls
            .iter()
            .filter(|call| call["status"] == "succeeded")
            .filter_map(|call| call["result"]["number"].as_u64())
            .collect();
        ensure!(
            results.len() == calls.len(),
            "{} results of {} calls",
            results.len(),
            calls.len()
        );
        let events = all(agent, &format!("/projects/{project}/memory?type=event"))?;
        let contents: HashSet<&str> = events.iter().map(|event| text(&event["content"])).collect();
        ensure!(
            events.len() == of_kind(3) && contents.len() == events.len(),
            "{} events",
            events.len()
        );
        self.verify_documents(agent)
    }

    fn verify_documents(&self, agent: &Agent) -> Result<()> {
        let project = &self.project;
        let documents = all(agent, &format!("/projects/{project}/docs"))?;
        let expected = (0..self.made()).filter(|number| number % KINDS == 1).count();
        ensure!(
            documents.len() == expected,
            "{} of {expected} documents",
            documents.len()
        );
        for document in &documents {
            let chunks = all(
                agent,
                &format!("/projects/{project}/docs/{}/chunks", text(&document["id"])),
            )?;
            ensure!(
                document["chunks"] == chunks.len(),
                "{document}: {} chunks",
                chunks.len()
            );
            // The two versions may have come in either order, but never half of each.
            let version = [1, 2].map(|version| format!("version {version}."));
            let is_of = |version: &String| chunks.iter().all(|chunk| text(&chunk["text"]).contains(version));
            ensure!(version.iter().any(is_of), "{document}: {chunks:?}");
        }
        Ok(())
    }
}

fn chat(project: &str, number: usize) -> Value {
    json!({"project_id": project, "message": format!("Create ticket {number}"), "tools": super::ticket_tool()})
}

/// A document of some chunks, each of which names the version.
fn document(number: usize, version: usize) -> String {
    (0..6)
        .map(|part| {
            format!(
                "# Part {part}\n\nDocument {number}, version {version}. {}\n\n",
                "word ".repeat(40)
            )
        })
        .collect()
}

fn post(port: u16, target: &str, key: &str, body: &Value) -> Result<(u16, Value)> {
    let request = Request::new("POST", target)
        .header("X-AGENT-KEY", KEY)
        .header("Idempotency-Key", key)
        .header("Content-Type", "application/json")
        .header("Connection", "close")
        .body(body.to_string());
    json_of(&exchange(port, &request)?)
}

/// All entries of a list.
fn all(agent: &Agent, target: &str) -> Result<Vec<Value>> {
    let (mut found, mut cursor) = (Vec::new(), String::new());
    let sign = if target.contains('?') { '&' } else { '?' };
    loop {
        let (status, page) = agent.call("GET", &format!("{target}{sign}limit=200{cursor}"), &Value::Null)?;
        ensure!(status == 200, "{target}: {status} {page}");
        found.extend(page["items"].as_array().context("a list")?.iter().cloned());
        match page["next_cursor"].as_str() {
            Some(next) => cursor = format!("&cursor={next}"),
            None => return Ok(found),
        }
    }
}
