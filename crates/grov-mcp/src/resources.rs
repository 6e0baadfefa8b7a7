//! Memories and plans as resources.

use crate::Ports;
use crate::information::Information;
use crate::tools::{self, ToolFailure};
use grov_domain::StoreError;
use grov_memory::quote::line;
use grov_memory::{short_id, suspicions};
use grov_plans::PlanDir;
use grov_query::title;
use rmcp::ErrorData;
use rmcp::model::{ReadResourceResult, Resource, ResourceContents, ResourceTemplate};

const MEMORY: &str = "grov://memory/";
const PLAN: &str = "grov://plan/";
/// Maximum number of listed memories, the newest.
const MAX_LISTED: u32 = 50;
/// Maximum characters of a title.
const MAX_TITLE: usize = 120;
/// Maximum bytes of a plan.
const MAX_PLAN: usize = 256 * 1024;
const TEXT: &str = "text/plain";

/// The newest memories of the project, and its plans.
pub(crate) async fn all(ports: &Ports) -> Result<Vec<Resource>, ErrorData> {
    let unreadable = |error: StoreError| internal(ToolFailure::Store(error));
    let project = ports.project.key();
    let tasks = ports.store.tasks_for_project(project, MAX_LISTED).await;
    let withheld = |task: &grov_domain::Task| {
        let mut found = suspicions(task).into_iter();
        found.any(|suspicion| suspicion.withholds())
    };
    let memories = tasks
        .map_err(unreadable)?
        .into_iter()
        .filter(|task| !withheld(task))
        .map(|task| {
            Resource::new(format!("{MEMORY}{}", task.id), short_id(&task.id))
                .with_title(line(title(&task), MAX_TITLE))
                .with_mime_type(TEXT)
        });
    let plans = plans(ports).into_iter().map(|plan| {
        let name = plan.name();
        Resource::new(format!("{PLAN}{name}"), name.clone())
            .with_title(format!("Plan of branch {}", line(&name, MAX_TITLE)))
            .with_mime_type("text/markdown")
    });
    Ok(memories.chain(plans).collect())
}

/// How resources are addressed that are not listed.
pub(crate) fn templates() -> Vec<ResourceTemplate> {
    vec![
        ResourceTemplate::new(format!("{MEMORY}{{id}}"), "memory").with_mime_type(TEXT),
        ResourceTemplate::new(format!("{PLAN}{{branch}}"), "plan").with_mime_type("text/markdown"),
    ]
}

/// The text of a resource.
pub(crate) async fn read(ports: &Ports, uri: &str) -> Result<ReadResourceResult, ErrorData> {
    let named = || Some(serde_json::json!({ "uri": uri }));
    let unknown = || ErrorData::resource_not_found("there is no such resource", named());
    let text = if let Some(id) = uri.strip_prefix(MEMORY) {
        tools::show_memory(ports, id)
            .await
            .map_err(|failure| match failure {
                ToolFailure::Arguments(message) => ErrorData::resource_not_found(message, named()),
                failure => internal(failure),
            })?
    } else if let Some(name) = uri.strip_prefix(PLAN) {
        let plans = plans(ports);
        let plan = plans
            .iter()
            .find(|plan| plan.name() == name)
            .ok_or_else(unknown)?;
        let text = plan
            .text()
            .map_err(|error| ErrorData::internal_error(error.to_string(), None))?;
        let mut information = Information::default();
        information.document(&text.ok_or_else(unknown)?, MAX_PLAN);
        information.into_text("plan")
    } else {
        return Err(unknown());
    };
    let contents = ResourceContents::text(text.into_inner(), uri).with_mime_type(TEXT);
    Ok(ReadResourceResult::new(vec![contents]))
}

/// The readable plans of the working tree.
fn plans(ports: &Ports) -> Vec<PlanDir> {
    let tree = ports.work_tree.as_deref();
    let all = tree.and_then(|tree| PlanDir::all(tree).ok());
    all.map(|(plans, _)| plans).unwrap_or_default()
}

fn internal(failure: ToolFailure) -> ErrorData {
    ErrorData::internal_error(failure.to_string(), None)
}
