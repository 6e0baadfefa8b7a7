//! `grov token`

use crate::arguments::{CreateArguments, TokenCommand};
use crate::context::Context;
use crate::daemon_health;
use crate::failure::Failure;
use crate::format::ago;
use crate::output::{Outcome, Style, note};
use crate::table::Table;
use grov_domain::{Clock, SystemClock};
use grov_runtime::{Home, Kind, TokenError, TokenRecord, Tokens, Value, daemon};
use serde::Serialize;
use std::time::Duration;
use time::OffsetDateTime;

/// A running daemon checks the tokens ten times a second.
const DAEMON_PAUSE: Duration = Duration::from_millis(250);

#[derive(Serialize)]
struct CreateAnswer {
    name: String,
    token: String,
    #[serde(with = "time::serde::rfc3339::option")]
    expires_at: Option<OffsetDateTime>,
}

#[derive(Serialize)]
struct ListAnswer {
    tokens: Vec<TokenView>,
}

#[derive(Serialize)]
struct TokenView {
    name: String,
    state: TokenState,
    #[serde(with = "time::serde::rfc3339")]
    created_at: OffsetDateTime,
    #[serde(with = "time::serde::rfc3339::option")]
    expires_at: Option<OffsetDateTime>,
    #[serde(with = "time::serde::rfc3339::option")]
    revoked_at: Option<OffsetDateTime>,
    #[serde(with = "time::serde::rfc3339::option")]
    last_used_at: Option<OffsetDateTime>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
enum TokenState {
    Active,
    Expired,
    Revoked,
}

#[derive(Serialize)]
struct RevokeAnswer {
    name: String,
    revoked: bool,
}

impl From<TokenError> for Failure {
    fn from(error: TokenError) -> Self {
        let hint = error.hint();
        let failure = match error {
            TokenError::Name { .. } => Self::usage(error.to_string()),
            TokenError::Taken { .. } => Self::negative("token", error.to_string()),
            _ => Self::error("token", error.to_string()),
        };
        failure.hint(hint)
    }
}

pub(crate) fn run(context: &Context, command: &TokenCommand) -> Outcome {
    match command {
        TokenCommand::Create(arguments) => create(context, arguments),
        TokenCommand::List => list(context),
        TokenCommand::Revoke { name } => revoke(context, name),
    }
}

fn create(context: &Context, arguments: &CreateArguments) -> Outcome {
    let now = SystemClock.now();
    let lifetime = arguments.expires.as_deref().map(parse_lifetime).transpose()?;
    let expires_at = lifetime
        .map(|lifetime| now.checked_add(lifetime))
        .map(|at| at.ok_or_else(|| Failure::usage("--expires is too far in the future")));
    let expires_at = expires_at.transpose()?;
    context.home.create()?;
    let create = |tokens: &mut Tokens| tokens.create(&arguments.name, expires_at, None, now);
    let token = Tokens::update(&context.home, create)?;
    await_daemon(&context.home);
    let answer = CreateAnswer {
        name: arguments.name.clone(),
        token: token.expose().to_owned(),
        expires_at,
    };
    context.answer(answer, |answer, _| format!("{}\n", answer.token))?;
    note!(
        "the token is shown only now; the client sends it with ANTHROPIC_CUSTOM_HEADERS=\"x-grov-token: TOKEN\""
    );
    let running = daemon_health::query(&context.home);
    let asks = running.access.map(|access| access.tokens.is_some());
    if let Some(advice) = advice(asks, context.settings.proxy().enable_auth) {
        note!("{advice}");
    }
    Ok(crate::output::ExitStatus::Success)
}

/// What is left to do until tokens count. `asks` is whether the running proxy asks for them, `None` without one: it may have been
/// started with other settings than those of this command.
fn advice(asks: Option<bool>, is_set: bool) -> Option<&'static str> {
    match (asks, is_set) {
        (Some(true), _) | (None, true) => None,
        (Some(false), true) => Some("the running proxy does not ask for tokens yet: grov proxy restart"),
        (_, false) => Some(
            "the proxy does not ask for tokens yet: set proxy.enable_auth or ENABLE_AUTH to true, and restart it",
        ),
    }
}

fn list(context: &Context) -> Outcome {
    let now = SystemClock.now();
    let tokens = Tokens::read(&context.home)?;
    let uses = Tokens::last_uses(&context.home);
    let view = |token: &TokenRecord| TokenView {
        name: token.name.clone(),
        state: state(token, now),
        created_at: token.created_at,
        expires_at: token.expires_at,
        revoked_at: token.revoked_at,
        last_used_at: uses.of(token),
    };
    let answer = ListAnswer {
        tokens: tokens.iter().map(view).collect(),
    };
    context.answer(answer, |answer, style| text(answer, style, now))
}

fn revoke(context: &Context, name: &str) -> Outcome {
    let now = SystemClock.now();
    // Without a home there is nothing to revoke, and nothing is created.
    let is_revoked = context.home.tokens().exists()
        && Tokens::update(&context.home, |tokens| Ok(tokens.revoke(name, now).is_some()))?;
    if !is_revoked {
        let shown = crate::table::one_line(name);
        let failure = Failure::negative("token", format!("there is no active token {shown}"));
        return Err(failure.hint("grov token list shows all"));
    }
    await_daemon(&context.home);
    let answer = RevokeAnswer {
        name: name.to_owned(),
        revoked: true,
    };
    context.answer(answer, |answer, _| format!("{} revoked\n", answer.name))
}

fn state(token: &TokenRecord, now: OffsetDateTime) -> TokenState {
    if token.revoked_at.is_some() {
        TokenState::Revoked
    } else if token.is_expired(now) {
        TokenState::Expired
    } else {
        TokenState::Active
    }
}

/// Waits until a running daemon knows the change, so that the next request meets it.
pub(super) fn await_daemon(home: &Home) {
    if daemon::is_running(home) {
        std::thread::sleep(DAEMON_PAUSE);
    }
}

fn parse_lifetime(text: &str) -> Result<time::Duration, Failure> {
    let kind = Kind::Duration { min_seconds: 1 };
    let parsed = match kind.parse_text(text) {
        Ok(Value::Duration(duration)) => time::Duration::try_from(duration).ok(),
        _ => None,
    };
    parsed.ok_or_else(|| {
        let shown = crate::table::one_line(text);
        Failure::usage(format!(
            "--expires must be a duration like 12h or 30d, but is {shown:?}"
        ))
    })
}

fn text(answer: &ListAnswer, style: Style, now: OffsetDateTime) -> String {
    if answer.tokens.is_empty() {
        return "there are no tokens; `grov token create NAME` makes one\n".to_owned();
    }
    let date =
        |at: Option<OffsetDateTime>, none: &str| at.map_or(none.to_owned(), |at| at.date().to_string());
    let mut table = Table::new("NAME~, STATE, CREATED?, EXPIRES, LAST USE");
    for token in &answer.tokens {
        let state = match token.state {
            TokenState::Active => "active",
            TokenState::Expired => "expired",
            TokenState::Revoked => "revoked",
        };
        table.row([
            token.name.clone(),
            state.to_owned(),
            date(Some(token.created_at), ""),
            date(token.expires_at, "never"),
            token.last_used_at.map_or("never".to_owned(), |at| ago(at, now)),
        ]);
    }
    table.render(style)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whether_tokens_are_asked_for_is_said_by_the_running_proxy() {
        assert_eq!(advice(Some(true), false), None);
        assert_eq!(advice(None, true), None);
        assert!(advice(Some(false), true).is_some_and(|advice| advice.contains("restart")));
        for asks in [Some(false), None] {
            assert!(advice(asks, false).is_some_and(|advice| advice.contains("ENABLE_AUTH")));
        }
    }

    #[test]
    fn a_lifetime_is_a_duration() {
        assert_eq!(parse_lifetime("30d").unwrap(), time::Duration::days(30));
        for text in ["", "0s", "-1d", "soon", "99999999999999999999d"] {
            assert!(parse_lifetime(text).is_err(), "{text}");
        }
    }
}
