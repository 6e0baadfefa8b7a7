//! Words that occur in prompts about any project, such as "test" or "function". A small store cannot tell from its own
//! statistics that they say little.

use crate::word_list::has_word;

/// The stems of the common words, sorted. Precomputed, because stemming six hundred words takes too long for a hook process
/// that looks up ten. The tests contain the words and check this list.
static STEMS: &str = include_str!("common_words/stems.txt");

/// Whether a stem, as [`words`](crate::words) returns it, is a common word. Short numbers and names of one or two letters
/// are.
pub fn is_common_word(word: &str) -> bool {
    let short = word.is_ascii()
        && (word.len() <= 2 || (word.len() <= 3 && word.bytes().all(|byte| byte.is_ascii_digit())));
    short || has_word(STEMS, word)
}

/// Whether most projects have a file of this name (lower case, without folders).
pub fn is_common_file(name: &str) -> bool {
    FILES.contains(&name)
}

#[rustfmt::skip]
const FILES: &[&str] = &[
    ".env", ".gitignore", "__init__.py", "agents.md", "app.js", "app.py", "app.ts", "app.tsx", "build.gradle", "cargo.lock",
    "cargo.toml", "changelog.md", "ci.yml", "claude.md", "client.go", "config.go", "config.json", "config.py", "config.rs",
    "config.toml", "config.ts", "config.yaml", "config.yml", "contributing.md", "dockerfile", "error.rs", "errors.go",
    "go.mod", "go.sum", "index.css", "index.html", "index.js", "index.ts", "index.tsx", "lib.rs", "license", "main.c",
    "main.cpp", "main.go", "main.js", "main.py", "main.rs", "main.ts", "makefile", "mod.rs", "models.py", "package-lock.json",
    "package.json", "pnpm-lock.yaml", "pom.xml", "pyproject.toml", "readme.md", "readme.rst", "release.yml",
    "requirements.txt", "server.go", "server.js", "server.ts", "settings.json", "settings.py", "setup.py", "skill.md",
    "style.css", "styles.css", "test.py", "tests.py", "tests.rs", "todo.md", "tsconfig.json", "types.go", "types.rs",
    "types.ts", "urls.py", "utils.go", "utils.js", "utils.py", "utils.rs", "utils.ts", "views.py", "yarn.lock",
];

#[cfg(test)]
mod tests;
