//! The model that judges, where one is set up.

use crate::context::Context;
use crate::output::say;
use grov_llm::ModelJudge;

/// The judge that the settings name; `None` where rules judge alone. One that cannot be used costs its help and no more.
pub(crate) fn of(context: &Context) -> Option<ModelJudge> {
    let warn = |trouble: &str| say(&format!("warning: {trouble}"));
    grov_hook_path::model_judge::of(&context.settings, &context.database(), warn)
}
