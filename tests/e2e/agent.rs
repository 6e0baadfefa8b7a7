//! The agent service as its clients meet it.

mod access;
mod bad_input;
mod flow;
mod killed;
mod model;
mod on_postgres;
mod once;
mod operation;
mod page;
mod qdrant;
mod replicas;
mod stream;
mod workload;

use anyhow::{Result, ensure};
use grov_tests::{Agent, AgentBuilder};
use serde_json::{Value, json};
use tempfile::TempDir;

/// A running service with a project.
pub struct Scene {
    pub agent: Agent,
    pub project: String,
    pub folder: TempDir,
}

impl Scene {
    /// A service with the offline provider.
    pub fn offline() -> Result<Self> {
        Self::with(|agent| agent)
    }

    /// A service whose chat provider is `model`.
    pub fn of_model(model: &model::Model) -> Result<Self> {
        let url = model.url();
        Self::with(|agent| {
            agent
                .env("CHAT_PROVIDER", "openai")
                .env("CHAT_MODEL", "scripted")
                .env("CHAT_BASE_URL", url)
        })
    }

    pub fn with(configure: impl FnOnce(AgentBuilder) -> AgentBuilder) -> Result<Self> {
        let folder = tempfile::tempdir()?;
        let home = folder.path().join("grov");
        let agent = configure(Agent::on(&home)).start()?;
        let project = created(&agent, "Shop")?;
        Ok(Self {
            agent,
            project,
            folder,
        })
    }

    /// Calls a path with the admin key and requires a status.
    pub fn expect(&self, status: u16, method: &str, target: &str, body: &Value) -> Result<Value> {
        let (found, answer) = self.agent.call(method, target, body)?;
        ensure!(found == status, "{method} {target}: {found} {answer}");
        Ok(answer)
    }

    /// Calls a path of the project and requires a status.
    pub fn at(&self, status: u16, method: &str, path: &str, body: &Value) -> Result<Value> {
        let target = format!("/projects/{}{path}", self.project);
        self.expect(status, method, &target, body)
    }

    pub fn document(&self, title: &str, category: &str, content: &str) -> Result<Value> {
        let body = json!({"title": title, "category": category, "content": content});
        self.at(201, "POST", "/docs", &body)
    }

    pub fn chat(&self, message: &str, tools: &Value) -> Result<Value> {
        let body = json!({"project_id": self.project, "message": message, "tools": tools});
        self.expect(200, "POST", "/chat", &body)
    }

    pub fn result(&self, status: u16, body: &Value) -> Result<Value> {
        self.expect(status, "POST", "/tools/result", body)
    }
}

/// Creates a project and returns its id.
pub fn created(agent: &Agent, name: &str) -> Result<String> {
    let body = json!({"name": name, "role_statement": "You help the team of a shop."});
    let (status, project) = agent.call("POST", "/projects", &body)?;
    ensure!(status == 201, "{project}");
    Ok(text(&project["id"]).to_owned())
}

/// A JSON string, or the empty text.
pub fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}

/// A tool of the shape that the callers of the service write.
pub fn ticket_tool() -> Value {
    json!([{
        "name": "jira.create_ticket", "description": "Create a ticket",
        "parameters": {
            "summary": {"type": "string", "required": true},
            "project": {"type": "string", "required": true}
        },
        "requires_approval": true, "risk": "medium"
    }])
}
