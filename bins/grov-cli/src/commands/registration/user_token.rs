//! The tokens that `grov init --proxy` creates for clients of this machine.

use crate::commands::token::await_daemon;
use crate::failure::Failure;
use grov_domain::{Clock, SystemClock};
use grov_hooks::settings::{MASK, SettingsFile, user_token};
use grov_redact::Secret;
use grov_runtime::{Home, MAX_TOKEN_NAME, Tokens};
use std::path::Path;
use time::OffsetDateTime;

/// The name if the user has none that is valid.
const ANONYMOUS: &str = "local";

/// The token that the file has, if it is active, else a new one.
pub(super) fn find_or_create(
    home: &Home,
    file: &SettingsFile,
    user: Option<&str>,
    dry_run: bool,
) -> Result<Secret, Failure> {
    let now = SystemClock.now();
    let present = user_token(file.text()).map_err(|error| file.malformed(error))?;
    let is_active = |token: &Secret| {
        let tokens = Tokens::read(home)?;
        let known = tokens.find(token.expose().as_bytes());
        Ok::<_, Failure>(known.is_some_and(|known| known.is_active(now)))
    };
    if let Some(token) = present
        && is_active(&token)?
    {
        return Ok(token);
    }
    if dry_run {
        return Ok(Secret::from(MASK));
    }
    let made_for = file.path().to_string_lossy();
    let token = Tokens::update(home, |tokens| {
        // Its text is lost.
        tokens.revoke_made_for(&made_for, now);
        let name = free_name(tokens, user.unwrap_or(ANONYMOUS), now);
        tokens.create(&name, None, Some(&made_for), now)
    })?;
    await_daemon(home);
    Ok(token)
}

/// Revokes the tokens that were created for a file. Returns their names.
pub(super) fn revoke(home: &Home, path: &Path, dry_run: bool) -> Result<Vec<String>, Failure> {
    let made_for = path.to_string_lossy();
    let now = SystemClock.now();
    if dry_run || !home.tokens().exists() {
        let tokens = Tokens::read(home)?;
        let made = tokens
            .iter()
            .filter(|token| token.made_for.as_deref() == Some(&made_for));
        return Ok(made
            .filter(|token| token.is_active(now))
            .map(|token| token.name.clone())
            .collect());
    }
    Ok(Tokens::update(home, |tokens| {
        Ok(tokens.revoke_made_for(&made_for, now))
    })?)
}

fn free_name(tokens: &Tokens, user: &str, now: OffsetDateTime) -> String {
    let is_allowed = |c: &char| c.is_ascii_alphanumeric() || "._@+-".contains(*c);
    let user: String = user.chars().filter(is_allowed).take(MAX_TOKEN_NAME - 8).collect();
    let user = match user.trim_start_matches('-') {
        "" => ANONYMOUS,
        user => user,
    };
    let mut names =
        std::iter::once(user.to_owned()).chain((2_u32..).map(|number| format!("{user}-{number}")));
    let free = names.find(|name| tokens.active(name, now).is_none());
    free.unwrap_or_else(|| user.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_valid_and_free() {
        let now = SystemClock.now();
        let mut tokens = Tokens::default();
        for (user, expected) in [
            ("ana", "ana"),
            ("ana", "ana-2"),
            ("ana", "ana-3"),
            ("-ö ", "local"),
            ("a b", "ab"),
        ] {
            let name = free_name(&tokens, user, now);
            assert_eq!(name, expected);
            tokens.create(&name, None, None, now).unwrap();
        }
        let long = free_name(&tokens, &"x".repeat(100), now);
        tokens.create(&long, None, None, now).unwrap();
        tokens
            .create(&free_name(&tokens, &"x".repeat(100), now), None, None, now)
            .unwrap();
    }
}
