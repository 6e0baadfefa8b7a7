//! Checks a token so many times against a table of a hundred, for counting instructions:
//!
//! `valgrind --tool=callgrind target/debug/examples/token_check 10000`, less the same with 0.
#![expect(clippy::print_stdout, reason = "an example prints its result")]

use grov_runtime::{Environment, Home, TokenTable, Tokens};
use std::error::Error;
use time::OffsetDateTime;

fn main() -> Result<(), Box<dyn Error>> {
    let checks: usize = std::env::args().nth(1).map_or(Ok(1_000), |count| count.parse())?;
    let folder = tempfile::tempdir()?;
    let home = Home::locate(Some(folder.path()), &Environment::default())?;
    let now = OffsetDateTime::now_utc();
    let tokens = (0..100).map(|number| {
        let name = format!("user-{number}");
        Tokens::update(&home, |tokens| tokens.create(&name, None, None, now))
    });
    let tokens = tokens.collect::<Result<Vec<_>, _>>()?;
    let table = TokenTable::load(&home)?;
    let shown = tokens.last().ok_or("no token")?;
    let mut accepted = 0;
    for _ in 0..checks {
        accepted += usize::from(table.check(shown.expose().as_bytes(), now).is_ok());
    }
    println!("{accepted} of {checks} checks passed");
    Ok(())
}
