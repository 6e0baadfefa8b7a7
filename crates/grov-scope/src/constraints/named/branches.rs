//! Branches that constraints name, and the Git commands that change them.

use super::Named;
use crate::constraints::clause::Token;
use crate::constraints::vocabulary::Term;
use grov_domain::{Program, Role};

/// Names of shared branches.
const SHARED: &[&str] = &["main", "master", "develop", "trunk"];

/// Words that may precede the name of a branch, folded: prepositions and conjunctions.
#[rustfmt::skip]
const BEFORE: &[&str] = &[
    "to", "on", "onto", "into", "in", "at", "of", "from", "with", "against", "or", "and", "nor", "upstream", "remote", "auf", "nach", "zu", "zum", "von", "oder", "und", "sur", "dans", "vers", "ou", "et", "en", "a", "al", "hacia", "sobre",
    "o", "y", "su", "nel", "sul", "e", "em", "para", "na", "no", "do", "w", "lub", "i", "op", "naar", "pe", "la", "catre", "sau", "directly", "directement", "direkt",
];

/// Articles and the like, which say nothing about the word after them.
#[rustfmt::skip]
const ARTICLES: &[&str] = &[
    "the", "our", "my", "your", "this", "that", "shared", "der", "die", "das", "den", "dem", "le", "la", "el", "il", "het", "de",
];

/// Words that may follow the name of a branch without being what it describes: "main yet".
#[rustfmt::skip]
const AFTER: &[&str] = &[
    "alone", "again", "at", "by", "directly", "either", "ever", "for", "from", "here", "in", "is", "itself", "now", "on", "please", "that", "this", "to", "today", "with", "without", "yet", "you", "yourself", "pls",
    "bitte", "direkt", "ist", "direct", "est", "esta", "este", "jest", "stp", "svp",
];

/// Whether the word at a position is the name of a shared branch: "to main", "main is off limits", and neither "the main
/// layout" nor "la fonction main".
pub(super) fn is_named(clause: &[&Token], at: usize) -> bool {
    let Some(token) = clause
        .get(at)
        .filter(|token| SHARED.contains(&token.folded.as_str()))
    else {
        return false;
    };
    let before = clause[..at]
        .iter()
        .rev()
        .find(|token| !ARTICLES.contains(&token.folded.as_str()));
    let follows = before.is_none_or(|before| {
        before.pauses
            || before.term.is_some_and(|term| !is_thing(term))
            || is_any(before, BEFORE)
            || is_any(before, SHARED)
    });
    let describes = clause
        .get(at + 1)
        .is_some_and(|next| !token.pauses && next.term.is_none_or(is_thing) && !continues(next));
    follows && !describes
}

/// Whether a word means to switch branches. "Switch to" may also mean to replace something.
pub(super) fn is_switch(token: &Token) -> bool {
    token.is(Term::Switch) || token.folded.starts_with("switch")
}

fn is_any(token: &Token, words: &[&str]) -> bool {
    words.contains(&token.folded.as_str())
}

/// Whether a word does not belong to the name before it.
fn continues(token: &Token) -> bool {
    let is_adverb = ["ly", "ment", "mente"]
        .iter()
        .any(|ending| token.folded.ends_with(ending));
    is_any(token, AFTER) || is_any(token, BEFORE) || is_any(token, ARTICLES) || is_adverb
}

/// Whether a meaning is one of a noun that a name may describe: "the main tests".
fn is_thing(term: Term) -> bool {
    matches!(
        term,
        Term::File
            | Term::Tests
            | Term::Docs
            | Term::Config
            | Term::Pipeline
            | Term::Schema
            | Term::Styles
            | Term::Source
            | Term::Component
            | Term::Frontend
            | Term::Backend
            | Term::Data
            | Term::Query
            | Term::Dependency
            | Term::Comment
            | Term::Signature
            | Term::Line
            | Term::Function
            | Term::Code
            | Term::Key
            | Term::Asset
            | Term::Aspect
            | Term::Container
    )
}

impl Named {
    /// Whether a Git command changes a branch that the clause names, or leaves for it where the clause forbids to switch.
    pub(super) fn changes_branch(&self, program: &Program) -> bool {
        let (command, rest) = program.git();
        let operands = || {
            rest.iter()
                .filter(|word| word.role == Role::Operand)
                .map(|word| word.as_str())
        };
        let has = |words: &[&str]| rest.iter().any(|word| words.contains(&word.as_str()));
        let after = |options: &[&str]| {
            let mut words = rest.iter().map(|word| word.as_str());
            words.by_ref().find(|word| options.contains(word))?;
            words.next()
        };
        match command {
            "push" => operands()
                .skip(1)
                .any(|refspec| self.is_branch(destination(refspec))),
            "branch" if has(&["-D", "-d", "--delete", "-m", "-M", "--move"]) => {
                rest.iter().any(|word| self.is_branch(word.as_str()))
            }
            "branch" => after(&["-f", "--force"]).is_some_and(|name| self.is_branch(name)),
            "checkout" | "switch" => {
                let recreated = after(&["-B", "-C", "--force-create"]);
                let creates = has(&["-b", "-c", "--create", "--"]);
                recreated.is_some_and(|name| self.is_branch(name))
                    || self.is_switch
                        && recreated.is_none()
                        && !creates
                        && operands().count() == 1
                        && operands().any(|name| self.is_branch(name))
            }
            _ => false,
        }
    }

    fn is_branch(&self, name: &str) -> bool {
        self.branches.iter().any(|branch| match branch.strip_suffix('/') {
            Some(_) => name.starts_with(branch.as_str()),
            None => name == branch,
        })
    }
}

/// The branch that a refspec of `git push` changes: `main` of `+HEAD:refs/heads/main`.
fn destination(refspec: &str) -> &str {
    let name = refspec.rsplit(':').next().unwrap_or(refspec);
    let name = name.trim_start_matches('+');
    name.strip_prefix("refs/heads/").unwrap_or(name)
}
