//! The provider file.

use super::Check;
use crate::commands::route::provider_file;
use crate::context::Context;
use grov_route::Problem;

const NAME: &str = "other models";

/// `None` if there is no provider file. Providers are not contacted.
pub(super) fn check(context: &Context) -> Option<Check> {
    let file = match provider_file(context) {
        Ok(None) => return None,
        Ok(Some(file)) => file,
        Err(error) => {
            return Some(
                Check::fail(NAME, error.to_string())
                    .consequence(
                        "A running proxy keeps the last version that worked; after a restart marked agents get an error, \
                         and rules route nothing.",
                    )
                    .fix("`grov route check` lists every problem; the file is read again when it changes"),
            );
        }
    };
    let models = file.targets().len();
    let evidence = format!("{models} model(s) in the provider file");
    Some(match file.warnings().first() {
        None => Check::ok(NAME, evidence),
        Some(Problem { line, message, .. }) => {
            Check::warn(NAME, format!("{evidence}; line {line}: {message}"))
                .fix("`grov route check` lists all warnings")
        }
    })
}
