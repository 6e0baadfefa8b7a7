//! Proposing something to remember, about which a person decides.

use super::ToolFailure;
use super::session::pick;
use crate::Ports;
use grov_domain::{
    Evidence, EvidenceKind, InboxItem, MemoryItem, MemoryStatus, MemoryType, ProposalOutcome, Redacted,
    derived_item_id, local_project_id, without_own_text,
};
use grov_redact::Redactor;
use serde::Deserialize;

/// Maximum characters of what is proposed.
const MAX_CONTENT: usize = 500;
/// Maximum characters of the quotation that it rests on.
const MAX_QUOTE: usize = 500;

/// The arguments of `memory_propose`.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Proposal {
    #[serde(rename = "type")]
    kind: Kind,
    content: String,
    #[serde(default)]
    quote: String,
}

/// What an agent may propose. Events and metrics are accepted without a person, so that it may not.
#[derive(Clone, Copy, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Kind {
    Fact,
    Rule,
    Decision,
    Lesson,
    OpenLoop,
}

impl From<Kind> for MemoryType {
    fn from(kind: Kind) -> Self {
        match kind {
            Kind::Fact => Self::Fact,
            Kind::Rule => Self::Rule,
            Kind::Decision => Self::Decision,
            Kind::Lesson => Self::Lesson,
            Kind::OpenLoop => Self::OpenLoop,
        }
    }
}

/// Puts a proposal into the inbox of the project.
pub(super) async fn propose(ports: &Ports, proposal: Proposal) -> Result<Redacted, ToolFailure> {
    let content = cleaned("content", &proposal.content, MAX_CONTENT)?;
    if content.is_empty() {
        return Err(ToolFailure::Arguments("the content is empty".to_owned()));
    }
    if ports.project.path.is_none() {
        return Err(ToolFailure::Arguments(
            "the project is unknown: name its directory in the header X-Grov-Project-Dir".to_owned(),
        ));
    }
    let quote = cleaned("quote", &proposal.quote, MAX_QUOTE)?;
    let scope = ports.scope();
    let project_id = local_project_id(&scope);
    let kind = MemoryType::from(proposal.kind);
    let now = ports.clock.now();
    // Without a recorded session the proposal still has its words.
    let session = pick(ports, None).await.map(|picked| picked.id.to_string());
    let evidence = (!quote.is_empty()).then(|| Evidence {
        kind: EvidenceKind::Task,
        id: session.unwrap_or_else(|_| "mcp".to_owned()),
        quote,
    });
    let item = InboxItem {
        item: MemoryItem {
            id: derived_item_id(project_id, kind, &content),
            project_id,
            kind,
            status: MemoryStatus::Proposed,
            content,
            reason: None,
            evidence: evidence.into_iter().collect(),
            contradicts: Vec::new(),
            supersedes: None,
            superseded_by: None,
            expires_at: None,
            created_at: now,
            updated_at: now,
            decided_by: None,
        },
        scope,
        task_id: None,
    };
    let id = item.item.id;
    let said = match ports.store.propose_item(&Redacted::of(&item)).await? {
        ProposalOutcome::Proposed => format!(
            "Proposed as {id}. The user decides with `grov memory approve` or `reject`; until then it is not used."
        ),
        ProposalOutcome::Known => "This is known already, or the user decided about it.".to_owned(),
        ProposalOutcome::Full => {
            "Too many proposals wait for the user (`grov memory inbox`); propose it later.".to_owned()
        }
    };
    Ok(Redactor::shared().text(&said))
}

/// A text without secrets and without Grov's own words.
fn cleaned(name: &str, text: &str, most: usize) -> Result<String, ToolFailure> {
    let own = without_own_text(text);
    let text = Redactor::shared().text(own.trim()).into_inner();
    let characters = text.chars().count();
    if characters > most {
        return Err(ToolFailure::Arguments(format!(
            "`{name}` has {characters} characters, and {most} are allowed: shorten it"
        )));
    }
    Ok(text)
}
