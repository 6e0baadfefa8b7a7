//! `grov memory trust ID`

use super::named;
use crate::context::Context;
use crate::failure::Failure;
use crate::output::{Outcome, Style};
use crate::table::one_line;
use grov_memory::{suspicions, trusted};
use grov_redact::Redactor;
use serde::Serialize;

#[derive(Serialize)]
struct Answer {
    id: String,
    /// The number of findings that are overruled.
    overruled: usize,
}

pub(super) fn run(context: &Context, id: &str) -> Outcome {
    let answer = context.write(async |store| {
        let task = named::find(store, id).await?;
        let overruled = suspicions(&task).len();
        let word = Redactor::shared().clean(trusted(&task));
        if !store.trust_memory(&task, &word).await? {
            let message = format!("the memory {} was changed by another process meanwhile", task.id);
            let hint = "read it again with `grov memory show`";
            return Err(Failure::error("changed_meanwhile", message).hint(hint));
        }
        Ok(Answer {
            id: task.id.to_string(),
            overruled,
        })
    })?;
    context.answer(answer.ok_or_else(|| named::unknown(id))?, text)
}

fn text(answer: &Answer, style: Style) -> String {
    let id = style.bold(&one_line(&answer.id));
    match answer.overruled {
        0 => format!("nothing was found in {id}; it is trusted as it reads now\n"),
        _ => format!("{id} is given to agents again, as it reads now\n"),
    }
}
