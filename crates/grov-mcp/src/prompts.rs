//! Prompts that a user selects in the client.

use crate::Ports;
use crate::tools::{self, ToolFailure};
use rmcp::ErrorData;
use rmcp::model::{GetPromptRequestParams, GetPromptResult, Prompt, PromptArgument, PromptMessage, Role};

const RECALL: &str = "recall";
const RESUME: &str = "resume";

/// The declarations.
pub(crate) fn all() -> Vec<Prompt> {
    let topic = PromptArgument::new("topic")
        .with_description("What you want to know")
        .with_required(true);
    vec![
        Prompt::new(
            RECALL,
            Some("What the memory of this project says about a topic"),
            Some(vec![topic]),
        ),
        Prompt::new(
            RESUME,
            Some("Go on with the work of this project's current session"),
            None,
        ),
    ]
}

/// A prompt with what it is about.
pub(crate) async fn get(
    ports: &Ports,
    request: GetPromptRequestParams,
) -> Result<GetPromptResult, ErrorData> {
    let text = match request.name.as_str() {
        RECALL => {
            let topic = request
                .arguments
                .as_ref()
                .and_then(|given| given.get("topic")?.as_str());
            let topic =
                topic.ok_or_else(|| ErrorData::invalid_params("the argument `topic` is missing", None))?;
            let found = tools::search_memory(ports, topic).await.map_err(failed)?;
            format!(
                "What does the memory of this project say about this topic, and what follows from it for our work? Name the ids that you rely on.\n\nTopic: {topic}\n\n{found}"
            )
        }
        RESUME => {
            let goal = tools::current_goal(ports).await.map_err(failed)?;
            let steps = tools::newest_steps(ports).await.map_err(failed)?;
            format!("Go on with this work. First say in two sentences where it stands.\n\n{goal}\n\n{steps}")
        }
        _ => return Err(ErrorData::invalid_params("there is no such prompt", None)),
    };
    Ok(GetPromptResult::new(vec![PromptMessage::new_text(
        Role::User,
        text,
    )]))
}

fn failed(failure: ToolFailure) -> ErrorData {
    match failure {
        ToolFailure::Arguments(message) => ErrorData::invalid_params(message, None),
        failure => ErrorData::internal_error(failure.to_string(), None),
    }
}
