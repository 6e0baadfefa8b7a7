//! Who judges, and whether that is who was asked for.

use super::Check;
use crate::context::Context;

const NAME: &str = "judge";

pub(super) fn checks(context: &Context) -> Vec<Check> {
    let llm = context.settings.llm();
    let check = match (llm.missing, llm.daily_budget_micro_usd) {
        (Some(missing), _) => Check::ill(
            NAME,
            format!(
                "{} was asked for, but there is no {missing}",
                llm.provider.as_str()
            ),
            "rules judge instead of a model",
            format!("set {missing}, or llm.provider = \"offline\""),
        ),
        (None, 0) if llm.api_key.is_some() => Check::ill(
            NAME,
            "there is a key, but llm.daily_budget_usd is 0",
            "rules judge instead of a model",
            "set llm.daily_budget_usd",
        ),
        _ => Check::well(NAME, format!("{} as asked for", llm.provider.as_str())),
    };
    vec![check]
}
