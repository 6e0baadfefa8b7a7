//! The texts that a clause forbids to write.

use super::parts::{Parts, is_function, is_name, singular};
use super::reader::COMMANDS;
use super::{Context, ForbiddenCommand, Limit};
use crate::constraints::clause::Token;
use crate::constraints::vocabulary::Term;
use crate::constraints::written::Construct;
use crate::words::fold;

/// Texts that are written as they stand, of linters and type checkers above all.
#[rustfmt::skip]
pub(super) const LITERALS: &[&str] = &[
    "!important", "#ifdef", "#pragma", "@ts-expect-error", "@ts-ignore", "@ts-nocheck", "as any",
    "console.log", "biome-ignore", "dangerouslysetinnerhtml", "eslint-disable", "istanbul ignore",
    "no cover", "noinspection", "nolint", "noqa", "nosec", "phpstan-ignore", "pylint: disable", "rubocop:disable", "suppresswarnings", "ts-expect-error", "ts-ignore", "ts-nocheck", "type: ignore", "unwrap()",
];

/// Constructs that an old version of a language does not have.
pub(super) fn newer_than(version: &str) -> Option<&'static [&'static str]> {
    Some(match version {
        "c89" | "c90" | "ansi-c" => &["inline", "_Bool", "for (int", "_Static_assert"],
        "c99" => &[
            "_Thread_local",
            "_Static_assert",
            "_Generic",
            "_Atomic",
            "_Alignas",
            "_Noreturn",
            "nullptr",
            "constexpr",
        ],
        "c11" | "c17" => &["nullptr", "constexpr", "typeof"],
        "c++11" => &[
            "std::make_unique",
            "if constexpr",
            "std::optional",
            "std::string_view",
        ],
        "c++14" => &[
            "if constexpr",
            "std::optional",
            "std::string_view",
            "std::variant",
        ],
        "c++17" => &["co_await", "concept", "requires", "std::span", "std::format"],
        "es5" => &["=>", "async", "await", "const", "let"],
        _ => return None,
    })
}

/// "Don't bump gradle", "except changing the Python version".
pub(super) fn versions(parts: &Parts<'_>) -> Vec<Limit> {
    let names = parts
        .words
        .iter()
        .chain(&parts.literals)
        .filter(|name| is_name(name));
    let limits = names.map(|name| {
        Limit::Written(Construct::Version {
            name: fold(name),
            version: String::new(),
        })
    });
    limits.collect()
}

/// First words of negations of a verb.
const VERB_NEGATIONS: &[&str] = &[
    "don't", "do", "never", "nicht", "nix", "ne", "nao", "non", "nie", "niet", "nu",
];

/// The texts that a negated clause forbids.
pub(super) fn written(
    parts: &Parts<'_>,
    rule: &[Token],
    cue: &Token,
    is_state: bool,
    context: &Context,
) -> Vec<Limit> {
    let mut found = Vec::new();
    let negates_verb = VERB_NEGATIONS.contains(&cue.folded.as_str());
    let changes = is_state || parts.has_any(&[Term::Change, Term::Remove, Term::Rename]);
    if parts.has(Term::Signature)
        || parts.has(Term::Public)
            && parts.has_any(&[Term::Change, Term::Remove, Term::Rename, Term::Function])
    {
        return if changes {
            signatures(parts, context)
        } else {
            found
        };
    }
    if changes {
        // "Don't touch calculateTotal"
        let names = parts.literals.iter().filter(|name| is_function(name));
        if parts.has(Term::Rename) && !parts.has(Term::Change) {
            let names: Vec<String> = names.map(|name| name.trim_end_matches("()").to_owned()).collect();
            found.extend((!names.is_empty()).then_some(Limit::Written(Construct::Signature(names))));
            return found;
        }
        found.extend(
            names.map(|name| Limit::Written(Construct::Symbol(name.trim_end_matches("()").to_owned()))),
        );
        return found;
    }
    if let Some(limit) = logged(rule) {
        return vec![limit];
    }
    let constructs = parts.terms.iter().filter_map(|term| {
        Some(match term {
            Term::Comment => Construct::Comment,
            Term::Mock => Construct::Mock,
            Term::Emoji => Construct::Emoji,
            Term::Badge => Construct::Badge,
            Term::OwnStyle
                if rule
                    .iter()
                    .any(|token| token.is(Term::OwnStyle) && token.phrase.contains("inline")) =>
            {
                Construct::InlineStyle
            }
            Term::OwnStyle => Construct::OwnStyle,
            Term::DebugOutput => Construct::DebugOutput,
            Term::Tests
                if !parts.has_any(COMMANDS)
                    && parts.places.is_empty()
                    && parts.words.is_empty()
                    && !parts.has_any(&[Term::Network, Term::Mock, Term::Upgrade]) =>
            {
                Construct::Tests(0)
            }
            _ => return None,
        })
    });
    found.extend(constructs.map(Limit::Written));
    if parts.has_any(&[
        Term::Run,
        Term::Look,
        Term::Commit,
        Term::Push,
        Term::Deploy,
        Term::Aspect,
    ]) {
        return found;
    }
    found.extend(named_literals(parts, rule));
    found.extend(negated_word(rule, negates_verb));
    found
}

/// Names and quoted texts that must not be written: "no clone() of the cache".
fn named_literals(parts: &Parts<'_>, rule: &[Token]) -> Vec<Limit> {
    let mut found = Vec::new();
    let literals = parts
        .literals
        .iter()
        .filter(|name| !LITERALS.contains(&fold(name).as_str()));
    for name in literals {
        // "No clone() of the cache"
        let at = rule
            .iter()
            .position(|token| token.raw == **name)
            .unwrap_or_default();
        let of = rule[at + 1..]
            .iter()
            .take(3)
            .find(|token| token.term.is_none())
            .map(|token| token.folded.clone());
        let is_library = is_name(name) && rule.iter().all(|token| token.raw != **name || !token.is_quoted);
        found.extend(is_library.then(|| Limit::Package(Some(fold(name)))));
        found.push(Limit::Written(
            if name.ends_with("()")
                || rule.iter().any(|token| token.raw == **name && token.is_quoted)
                || !is_name(name)
            {
                Construct::Literal {
                    text: (*name).to_owned(),
                    of,
                }
            } else {
                Construct::Name(fold(name))
            },
        ));
    }
    found
}

/// The one word after a negation: "not zap", "don't use lodash".
fn negated_word(rule: &[Token], negates_verb: bool) -> Vec<Limit> {
    let mut found = Vec::new();
    let mut unknown = rule.iter().skip_while(|token| {
        token.is_any(&[
            Term::Filler,
            Term::Use,
            Term::Add,
            Term::New,
            Term::All,
            Term::And,
            Term::Not,
            Term::Install,
        ])
    });
    let first = unknown
        .next()
        .filter(|token| token.term.is_none() && !token.is_quoted && !token.is_place());
    let ends = unknown.find(|token| !token.is(Term::Filler)).is_none_or(|next| {
        next.is_any(&[Term::And, Term::Not, Term::Dependency]) || negates_verb && next.is(Term::All)
    });
    if let Some(token) =
        first.filter(|token| ends && is_name(&token.folded) && !NO_NAMES.contains(&token.folded.as_str()))
    {
        found.push(Limit::Written(Construct::Name(token.folded.clone())));
        found.push(Limit::Package(Some(token.folded.clone())));
        // "Don't reindex", but not "no logs".
        if negates_verb {
            found.push(Limit::Command(ForbiddenCommand::Named(token.folded.clone())));
        }
    }
    found
}

/// "Don't log user emails or tokens": the last word of each name.
fn logged(rule: &[Token]) -> Option<Limit> {
    let verb = rule
        .iter()
        .position(|token| matches!(token.folded.as_str(), "log" | "logging" | "print"))?;
    let names = rule[verb + 1..].iter().enumerate().filter(|(at, token)| {
        let next = rule.get(verb + 2 + at);
        token.term.is_none()
            && token.folded.len() >= 5
            && next.is_none_or(|next| next.term.is_some() || token.pauses)
    });
    let names: Vec<String> = names.map(|(_, token)| singular(&token.folded)).collect();
    (!names.is_empty()).then_some(Limit::Written(Construct::Logged(names)))
}

/// Words after "no" that are no names.
#[rustfmt::skip]
pub(super) const NO_NAMES: &[&str] = &[
    "bugs", "changes", "conflicts", "crash", "crashes", "delay", "downtime", "duplicates", "errors", "exceptions", "failures", "fluff", "fuss", "hurry", "idea", "issues", "loss", "magic", "nonsense",
    "overhead", "problems", "regressions", "side", "shortcuts", "surprises", "tricks", "warnings", "way", "worries", "wrappers", "leaks", "boilerplate", "guessing", "rush",
];

pub(super) fn signatures(parts: &Parts<'_>, context: &Context) -> Vec<Limit> {
    let own: Vec<String> = parts
        .literals
        .iter()
        .map(|name| name.split('(').next().unwrap_or(name))
        .filter(|name| is_function(name) || is_name(name) && !parts.has(Term::Public))
        .map(str::to_owned)
        .collect();
    let names = if own.is_empty() && !parts.has_any(&[Term::Public]) {
        // "int read(char *to, int most) must keep its signature" has a pause in the name.
        let said = context
            .names
            .iter()
            .map(|name| name.split('(').next().unwrap_or(name));
        let said: Vec<&str> = said.filter(|name| is_function(name)).collect();
        let named = context
            .identifiers
            .iter()
            .map(String::as_str)
            .filter(|name| is_function(name));
        let names = if said.is_empty() { named.collect() } else { said };
        names
            .iter()
            .map(|name| name.trim_end_matches("()").to_owned())
            .collect()
    } else {
        own
    };
    vec![Limit::Written(Construct::Signature(names))]
}
