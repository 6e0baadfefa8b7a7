//! The database.

use super::Check;
use crate::context::Context;
use crate::failure::Failure;
use grov_domain::SwitchStore;

const NAME: &str = "database";

pub(super) fn checks(context: &Context) -> Vec<Check> {
    // A question to it, so that it is read as well as opened.
    let answered = context.read(|store| async move { store.revision().await });
    let path = context.database();
    let path = path.display();
    let check = match answered {
        Ok(Some(_)) => Check::well(NAME, format!("{path} opens and answers")),
        Ok(None) => Check::well(NAME, format!("{path} is not there yet")),
        Err(Failure::Told(told)) => {
            let consequence =
                "nothing is remembered, and what is recorded waits in a file; requests pass all the same";
            let fix = told.hint.unwrap_or_else(|| "see what was seen".to_owned());
            Check::ill(NAME, told.message, consequence, fix)
        }
        Err(Failure::BrokenPipe) => Check::well(NAME, "nobody reads the answer"),
    };
    vec![check]
}
