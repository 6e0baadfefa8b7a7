//! Which terms of a query name something that exists once: an identifier, a file, a name in another script.
//!
//! One of them in a memory is enough, whatever the rest of the prompt says and in whichever language.

use crate::Terms;
use crate::language::Language;
use grov_domain::{MemoryStatistics, TermCount, file_name, is_common_file, is_common_word, words};

/// A name in more memories than this, or in more than one in [`SHARE`], is not special.
const MAX_MEMORIES: u64 = 3;
const SHARE: u64 = 200;
/// Shortest name without an inner capital letter or underscore, in characters.
const MIN_NAME: usize = 4;

/// Products, languages and formats that look like identifiers, or are named in prompts about any project; lower case.
#[rustfmt::skip]
const PRODUCTS: &[&str] = &[
    "airflow", "android", "angular", "ansible", "anthropic", "apache", "aws", "azure", "bash", "bitbucket", "bootstrap",
    "celery", "chatgpt", "chrome", "claude", "cloudflare", "codex", "confluence", "css", "cursor", "debian", "deno",
    "devops", "devtools", "discord", "django", "docker", "dockerfile", "dotnet", "elasticsearch", "electron", "eslint",
    "excel", "express", "fastapi", "figma", "firebase", "firefox", "flask", "flutter", "gcp", "git", "github", "gitlab",
    "golang", "google", "gpt", "gradle", "grafana", "graphql", "grpc", "heroku", "html", "http", "https", "ios", "iphone",
    "java", "javascript", "jenkins", "jest", "jira", "jpeg", "json", "jupyter", "kafka", "kotlin", "kubectl", "kubernetes",
    "laravel", "latex", "linkedin", "linux", "macos", "makefile", "markdown", "matplotlib", "maven", "mcp", "microsoft",
    "mongodb", "mysql", "netlify", "nextjs", "nginx", "nodejs", "notion", "npm", "numpy", "nuxt", "oauth", "openai",
    "openapi", "pandas", "php", "playwright", "pnpm", "postgres", "postgresql", "powershell", "prettier", "prisma",
    "prometheus", "pypi", "pytest", "python", "pytorch", "rails", "react", "readme", "redis", "redux", "rest", "ruby",
    "rust", "safari", "sass", "scala", "selenium", "slack", "spring", "sqlalchemy", "sqlite", "stackoverflow", "storybook",
    "stripe", "svelte", "swift", "tailwind", "tensorflow", "terraform", "todo", "typescript", "ubuntu", "vercel", "vite",
    "vitest", "vscode", "vue", "webassembly", "webpack", "websocket", "websockets", "windows", "xcode", "xml", "yaml",
    "yarn", "youtube",
];

/// For each term of a query, in the order of [`Terms::all`]: whether it is a name.
pub(crate) fn names(terms: &Terms, statistics: &MemoryStatistics) -> Vec<Name> {
    let most = MAX_MEMORIES.max(statistics.documents / SHARE);
    let is_rare = |place: usize| {
        let term = statistics.terms.get(place);
        term.is_some_and(|term| (1..=most).contains(&term.frequency))
    };
    let of_word = |(place, word): (usize, &String)| {
        if !is_rare(place) || PRODUCTS.binary_search(&word.as_str()).is_ok() {
            return Name::No;
        }
        if terms.identifiers.contains(word) {
            return identifier(terms, place);
        }
        let is_loan_word = terms.language == Language::OtherScript
            && !is_part(terms, place)
            && word.len() >= MIN_NAME
            && word.bytes().all(|byte| byte.is_ascii_alphabetic())
            && !is_common_word(word);
        if is_loan_word { Name::Anywhere } else { Name::No }
    };
    let of_file = |(number, (path, _)): (usize, &(String, String))| {
        let name = file_name(path);
        if is_rare(terms.words.len() + number) && !is_common_file(&name) && is_special_file(&name) {
            Name::Anywhere
        } else {
            Name::No
        }
    };
    let of_related = |(number, related): (usize, &crate::RelatedTerm)| {
        if related.is_compound && is_rare(terms.first_related() + number) {
            Name::InPath
        } else {
            Name::No
        }
    };
    let words = terms
        .words
        .iter()
        .enumerate()
        .map(|(place, word)| of_word((place, word)));
    let files = terms
        .files
        .iter()
        .enumerate()
        .map(|(number, file)| of_file((number, file)));
    let related = terms
        .related
        .iter()
        .enumerate()
        .map(|(number, related)| of_related((number, related)));
    words.chain(files).chain(related).collect()
}

/// Whether a word is a part of an identifier or of a file of the query.
fn is_part(terms: &Terms, place: usize) -> bool {
    let word = &terms.words[place];
    let is_whole = |whole: &String| whole != word && whole.contains(word.as_str());
    terms.identifiers.iter().any(is_whole)
        || terms
            .files
            .iter()
            .any(|(path, _)| path.to_lowercase().contains(word.as_str()))
}

/// Where a term must occur to be a name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Name {
    /// It is no name.
    No,
    /// In a path: its words are common.
    InPath,
    /// In the text or a path.
    Anywhere,
}

impl Name {
    /// Whether a memory with this count of the term has the name.
    pub(crate) fn is_in(self, count: &TermCount) -> bool {
        // The trace quotes what others said, too.
        let [text, _, path, file] = count.counts;
        match self {
            Self::No => false,
            Self::InPath => path > 0 || file > 0,
            Self::Anywhere => text > 0 || path > 0 || file > 0,
        }
    }
}

/// An identifier of at least two parts. If all of them are common, it must be in a path: `next_run`.
fn identifier(terms: &Terms, place: usize) -> Name {
    // The parts follow the identifier.
    let whole = &terms.words[place];
    let parts: Vec<&String> = terms.words[place + 1..]
        .iter()
        .take_while(|part| whole.contains(part.as_str()) && whole.len() > part.len())
        .collect();
    let has_digits_only = parts
        .iter()
        .filter(|part| !part.bytes().all(|byte| byte.is_ascii_digit()))
        .count()
        < 2;
    if has_digits_only && whole.len() < 8 {
        // `sha256`, `int32`, `v2`.
        return Name::No;
    }
    if parts.iter().all(|part| is_common_word(part)) {
        Name::InPath
    } else {
        Name::Anywhere
    }
}

/// Whether a file name is unlikely in another project: several parts, or a long one.
fn is_special_file(name: &str) -> bool {
    let stem = name.trim_start_matches('.').split('.').next().unwrap_or(name);
    let mut parts = words(stem, 8);
    if parts.len() > 1 {
        // The first one is the whole name.
        parts.remove(0);
    }
    let special = parts.iter().filter(|part| !is_common_word(part)).count();
    special >= 1 && (parts.len() >= 2 || stem.len() >= MIN_NAME)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn products_are_sorted() {
        assert!(PRODUCTS.is_sorted());
    }

    #[test]
    fn file_names_of_any_project_are_not_special() {
        for name in [
            "reserve_stock.py",
            "zplprinter.cs",
            "pgbouncer.ini",
            "invoice.typ",
        ] {
            assert!(is_special_file(name), "{name}");
        }
        for name in ["test_utils.py", "db.ts", "app.go", "v2.json"] {
            assert!(!is_special_file(name), "{name}");
        }
    }
}
