//! Detects requests that concern the whole project: a clean-up, an upgrade, a plan in a file, more speed.
//!
//! The changes of such work are tied by a log, a list, a plan or a measurement instead of shared words, so unrelatedness says
//! little. English and Romanian, and the plainest words of the other languages, with or without diacritics.

use crate::phrases::{Verb, verbs};
use crate::words::{Word, has_phrase, words};

/// The bytes of a text that are read. The beginning states the request; the rest of a long text mentions much in passing.
const MAX_BYTES: usize = 240;
/// The maximum distance in words between "all" and its noun.
const REACH: usize = 4;

#[rustfmt::skip]
const ALL: &[&str] = &[
    "all", "every", "each", "across", "whole", "entire", "toate", "toti", "toata", "tot", "fiecare",
    "intreg", "intregul", "intreaga", "restul",
];

/// Nouns for things found throughout a project. Not "tests", because all work requires that all tests pass.
#[rustfmt::skip]
const MANY: &[&str] = &[
    "files", "file", "modules", "module", "crates", "crate", "packages", "components", "endpoints", "handlers", "routes", "pages", "screens",
    "views", "warnings", "usages", "uses", "occurrences", "references", "imports", "callers", "places", "services", "strings", "project",
    "repo", "repository", "codebase", "workspace", "todos", "issues", "comments", "findings",
    "fisierele", "fisier", "modulele", "componentele", "paginile", "proiectul", "codul", "avertismentele", "locurile", "aparitiile",
    "aplicatia", "textele", "comentariile", "proiect",
];

/// Phrases that request broad work by themselves.
#[rustfmt::skip]
const BROAD: &[&str] = &[
    "everywhere", "throughout", "codebase", "project-wide", "repo-wide", "repository-wide", "codebase-wide", "cross-cutting",
    "clean up", "cleanup", "clean-up", "tidy up", "housekeeping", "dead code", "unused code",
    "lint", "eslint", "clippy", "ruff", "pylint", "flake8", "mypy", "type errors", "type hints",
    "rename", "renaming", "upgrade", "upgrading", "migrate", "migrating", "port to", "bump", "modernize", 
    "docs pass", "doc pass", "documentation pass", "doc comments", "docstrings", "update the docs", "update the documentation",
    "fix ci", "fix the ci", "ci is red", "ci is failing", "ci fails", "ci green", "ci failures", "failing ci", "green again", "fix the build",
    "fix the pipeline", "build is broken", "build is red", "compile errors", "compiler errors",
    "review comments", "review feedback", "address the review", "address review", "address the comments", "pr comments", "code review",
    "implement the plan", "follow the plan", "execute the plan", "work through", "implement the spec", "implement the design",
    "implement the proposal", "implement the rfc", "the plan in", "according to the plan", "todo list", "next phase", "next milestone",
    "translate", "translation", "internationalize", "internationalization", "localize", "localization", "i18n",
    "restructure", "reorganize", "overhaul",
    "faster", "too slow", "is slow", "so slow", "whatever breaks", "whatever it takes", "fix whatever", "what breaks", "what it breaks",
    "callers", "call sites",
    "uberall", "alle dateien", "alle stellen", "schneller", "zu langsam", "partout", "tous les fichiers", "plus rapide", "trop lent", "trop lente",
    "en todas partes", "todos los archivos", "todo el proyecto", "mas rapido", "mas rapida", "muy lento", "muy lenta", "ovunque", "dappertutto", "tutti i file",
    "piu veloce", "troppo lento", "troppo lenta", "em todo o projeto", "todos os arquivos", "todos os ficheiros", "mais rapido", "mais rapida", "muito lento", "muito lenta",
    "wszedzie", "wszystkie pliki", "szybciej", "za wolno", "overal", "alle bestanden", "sneller", "te traag",
    "peste tot", "curata codul", "curatenie", "redenumeste", "redenumire", "migreaza", "migrare", "actualizeaza dependentele", "avertismentele",
    "comentariile de la review", "comentariile din review", "implementeaza planul", "urmeaza planul", "planul din", "tradu", "traduce",
    "traducere", "internationalizare", "repara ci", "repara build-ul", "pipeline-ul", "restructureaza", "reorganizeaza",
];

/// The same in languages without spaces between words.
#[rustfmt::skip]
const BROAD_PARTS: &[&str] = &["所有", "全部", "整个项目", "到处", "更快", "太慢", "很慢", "すべての", "全ての", "全体", "遅い"];

/// Whether a text requests broad work.
pub(super) fn is_broad(text: &str) -> bool {
    let text = &text[..text.floor_char_boundary(MAX_BYTES)];
    let words = words(text);
    has_phrase(&words, BROAD)
        || BROAD_PARTS.iter().any(|part| text.contains(part))
        || (0..words.len()).any(|at| says_all(&words[at..]))
        || verbs(text).iter().any(|verb| verb.means == Verb::Rename)
        || changes_version(text)
}

/// Whether a text asks for another version of something: "Spring Boot 2.7 -> 3.2", "from 7.0.8 to 7.1".
fn changes_version(text: &str) -> bool {
    let words: Vec<&str> = text
        .split(|letter: char| letter.is_whitespace() || matches!(letter, ',' | ';' | '(' | ')' | '`' | '"'))
        .filter(|word| !word.is_empty())
        .collect();
    words.windows(3).any(|three| {
        BETWEEN_VERSIONS.contains(&three[1])
            && is_version(three[0])
            && is_version(three[2])
            && [three[0], three[2]]
                .iter()
                .any(|word| word.starts_with(['v', 'V']) || word.contains('.'))
    })
}

/// Words between an old and a new version.
const BETWEEN_VERSIONS: &[&str] = &[
    "->", "=>", "→", "to", "la", "auf", "zu", "nach", "vers", "a", "à", "al", "alla", "para", "na", "do",
    "naar", "から", "到",
];

/// Whether a word is a version: `v2`, `3.2`, `8.4.x`.
fn is_version(word: &str) -> bool {
    let number = word
        .trim_end_matches(['.', ':', '!', '?'])
        .trim_start_matches(['v', 'V', '^', '~']);
    number.starts_with(|letter: char| letter.is_ascii_digit())
        && number
            .split('.')
            .all(|part| part == "x" || !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit()))
}

/// Whether words start with a phrase like "all of the eslint warnings".
fn says_all(words: &[Word<'_>]) -> bool {
    let Some((all, after)) = words.split_first() else {
        return false;
    };
    if !all.is_any(ALL) || all.pauses() {
        return false;
    }
    for word in after.iter().take(REACH) {
        if word.is_any(MANY) {
            return true;
        }
        if word.pauses() {
            return false;
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn broad_work_is_known_by_its_words() {
        for text in [
            "Remove unused imports from all modules",
            "Use the new logger everywhere",
            "Fix every clippy warning",
            "Upgrade tokio to 2.0 and repair what it breaks",
            "The pipeline is down: CI fails on main since Monday",
            "Please work through the review feedback of Ana",
            "Implement the plan in notes/plan.md",
            "Translate the texts to German",
            "Redenumește Client în Customer peste tot",
            "Implementează planul din docs/plan.md",
            "Curăță codul de avertismente",
            "pydantic v1 -> v2",
            "Spring Boot 2.7 → 3.2 incl. Java 17",
            "please take rails from 7.0.8 to 7.1.3",
            "Renommez Client en Customer",
            "the import takes 40 minutes, make it faster",
            "why does it need 4 seconds to start? fix whatever is stupid",
            "turn the callback API into coroutines and adapt the callers",
            "Turn on strict mode and fix what breaks",
            "Verwende den neuen Logger überall",
            "Le rapport est trop lent, corrige",
            "すべての画面を直してください",
        ] {
            assert!(is_broad(text), "{text}");
        }
        for text in [
            "Fix the login and make sure all tests pass",
            "Add a retry to the fetcher",
            "Users see an error when the token expires",
            "Repară autentificarea",
            "the upload limit should go from 5 to 20 MB",
            "timeout 30 -> 60",
            "see section 3.2 of the spec",
            "",
        ] {
            assert!(!is_broad(text), "{text}");
        }
    }
}
