//! Finds the files that a prompt names.

/// Maximum number of files taken from one prompt.
const MAX_FILES: usize = 32;
/// Maximum number of bytes read of a prompt; pasted logs are longer.
const MAX_READ_BYTES: usize = 64 * 1024;
/// Maximum length of a path, in bytes.
const MAX_PATH_BYTES: usize = 512;

/// Extensions of file names without a folder; sorted. Without those that are more often something else in a sentence (`com`,
/// `io`, `net`, `env`, `so`).
#[rustfmt::skip]
const EXTENSIONS: &[&str] = &[
    "adoc", "astro", "avif", "bash", "bat", "bazel", "bicep", "bmp", "bzl", "c", "cc", "cfg", "cjs", "clj", "cljs",
    "cls", "cmake", "cmd", "conf", "config", "cpp", "cs", "csproj", "css", "csv", "cts", "cu", "cue", "cxx", "d",
    "dart", "db", "diff", "dockerfile", "el", "elm", "erb", "erl", "ex", "exs", "f90", "fish", "fs", "fsx", "gd",
    "gif", "go", "gql", "gradle", "graphql", "groovy", "h", "haml", "hbs", "hcl", "hh", "hpp", "hrl", "hs", "htm",
    "html", "hxx", "ico", "inc", "ini", "ino", "ipynb", "j2", "java", "jl", "jpeg", "jpg", "js", "json", "json5",
    "jsonc", "jsonl", "jsonnet", "jsx", "kt", "kts", "less", "lhs", "lock", "log", "lua", "m", "make", "markdown",
    "md", "mdc", "mdx", "mjs", "mk", "ml", "mli", "mm", "mod", "mts", "nim", "nix", "patch", "pdf", "php", "pl",
    "plist", "pm", "png", "prisma", "properties", "proto", "ps1", "psm1", "pug", "py", "pyi", "pyx", "r", "rake",
    "rb", "rej", "rkt", "rmd", "ron", "rs", "rst", "s", "sass", "sbt", "scala", "scm", "scss", "sh", "sln", "snap",
    "sol", "sql", "sqlite", "styl", "sum", "sv", "svelte", "svg", "swift", "tcl", "tex", "tf", "tfvars", "thrift",
    "tmpl", "toml", "tpl", "ts", "tsv", "tsx", "txt", "vb", "vbs", "vhd", "vim", "vue", "wasm", "webp", "wgsl",
    "wit", "xml", "xsl", "yaml", "yml", "zig", "zsh",
];

/// File names without an extension; lower case.
#[rustfmt::skip]
const BARE_NAMES: &[&str] = &[
    "makefile", "gnumakefile", "dockerfile", "containerfile", "justfile", "gemfile", "rakefile", "procfile",
    "vagrantfile", "jenkinsfile", "brewfile", "codeowners", "license", "cmakelists.txt", "go.mod", "go.sum",
];

/// Products and sites that look like file names; lower case.
#[rustfmt::skip]
const NO_FILES: &[&str] = &[
    "node.js", "next.js", "vue.js", "nuxt.js", "react.js", "angular.js", "ember.js", "express.js", "three.js",
    "d3.js", "chart.js", "backbone.js", "nest.js", "deno.js", "bun.js", "alpine.js", "discord.js", "p5.js",
    "moment.js", "solid.js", "svelte.js", "electron.js", "socket.js", "docs.rs", "asp.net", "e.g", "i.e",
];

/// The distinct files that a prompt names, in order, with `/` between folders and without line numbers. URLs, versions,
/// abbreviations and folders are not included.
pub fn mentioned_files(prompt: &str) -> Vec<String> {
    let prompt = &prompt[..prompt.floor_char_boundary(MAX_READ_BYTES)];
    let mut found: Vec<String> = Vec::new();
    let mut add = |file: Option<String>| {
        if let Some(file) = file
            && found.len() < MAX_FILES
            && !found.contains(&file)
        {
            found.push(file);
        }
    };
    for (part, is_quoted) in parts(prompt) {
        // A quoted path may contain spaces. Most quotations are not one path, but may mention some.
        let whole = if is_quoted && part.contains(char::is_whitespace) {
            file_with_spaces(part)
        } else {
            None
        };
        if whole.is_some() {
            add(whole);
            continue;
        }
        for token in part.split(|character: char| {
            character.is_whitespace() || ",;|<>{}*\"`=\u{3001}\u{3002}".contains(character)
        }) {
            for piece in pieces(token) {
                add(file(piece));
            }
        }
    }
    found
}

/// Splits the prompt at backticks and double quotes within a line. The flag says whether a part was quoted.
fn parts(prompt: &str) -> impl Iterator<Item = (&str, bool)> {
    prompt.split('\n').flat_map(|line| {
        let mut parts = Vec::new();
        let mut rest = line;
        while let Some(open) = rest.find(['`', '"']) {
            let mark = &rest[open..=open];
            let Some(length) = rest[open + 1..].find(mark) else {
                break;
            };
            parts.push((&rest[..open], false));
            parts.push((&rest[open + 1..open + 1 + length], true));
            rest = &rest[open + length + 2..];
        }
        parts.push((rest, false));
        parts
    })
}

/// A quotation that is one path with spaces: it has a folder, and none of its words but the last is a file by itself.
fn file_with_spaces(quotation: &str) -> Option<String> {
    let words: Vec<&str> = quotation.split_whitespace().collect();
    let (_, first) = words.split_last()?;
    let of_a_path = |word: &&&str| !word.starts_with('-') && file(word).is_none();
    let opens = quotation.contains(['/', '\\']) && first.first()?.contains(['/', '\\']);
    (opens && first.iter().filter(of_a_path).count() == first.len())
        .then(|| file(quotation))
        .flatten()
}

/// Splits a token at brackets, unless they belong to a file or folder name (`app/[id]`), and at text in a script without
/// spaces, unless it is part of a path.
fn pieces(token: &str) -> Vec<&str> {
    if token.contains("://") || token.starts_with("www.") {
        return Vec::new();
    }
    let mut pieces = Vec::new();
    let mut start = 0;
    let mut named = false;
    for (at, character) in token.char_indices() {
        let parts = match character {
            '(' | '[' => {
                named = token[..at].ends_with('/');
                !named
            }
            ')' | ']' => !std::mem::replace(&mut named, false),
            '\u{ff08}' | '\u{ff09}' | '\u{ff0c}' | '\u{ff1a}' | '\u{300c}' | '\u{300d}' => true,
            _ => false,
        };
        if parts {
            // A name followed by `(` is a call, unless it has a folder: `response.json()`.
            let is_call = character == '(' && !token[start..at].contains(['/', '\\']);
            if !is_call {
                pieces.push(&token[start..at]);
            }
            start = at + character.len_utf8();
        }
    }
    pieces.push(&token[start..]);
    let mut named = Vec::new();
    for piece in pieces {
        let ascii: Vec<&str> = piece
            .split(|character: char| ('\u{2e80}'..='\u{ffff}').contains(&character))
            .collect();
        if ascii.len() > 1 && ascii.iter().any(|part| file(part).is_some()) {
            named.extend(ascii);
        } else {
            named.push(piece);
        }
    }
    named
}

/// The file named by a piece, if any.
fn file(piece: &str) -> Option<String> {
    let piece =
        piece.trim_matches(|character: char| "'\u{2018}\u{2019}\u{201c}\u{201d}()[]!?,".contains(character));
    let piece = piece.trim_end_matches(['.', ':']);
    let piece = without_line(piece.strip_prefix('@').unwrap_or(piece));
    if piece.is_empty() || piece.len() > MAX_PATH_BYTES || piece.contains('@') && !piece.contains('/') {
        return None;
    }
    if piece
        .chars()
        .any(|character| character.is_control() || "()?&%$".contains(character) && !piece.contains('/'))
    {
        return None;
    }
    let path = piece.replace('\\', "/");
    let drive =
        path.as_bytes().get(1) == Some(&b':') && path.as_bytes().first().is_some_and(u8::is_ascii_alphabetic);
    // Any other colon: `git@host:path`, `std::fs`, `key:value`.
    if path.get(if drive { 2 } else { 0 }..)?.contains(':') {
        return None;
    }
    let mut path = path.as_str();
    while let Some(rest) = path
        .strip_prefix("./")
        .or_else(|| path.strip_prefix("../"))
        .or_else(|| path.strip_prefix("~/"))
    {
        path = rest;
    }
    is_file(path).then(|| path.to_owned())
}

/// The path without a line reference: `:12`, `:12:5`, `:12-20`, `#L12-L20`.
fn without_line(piece: &str) -> &str {
    let is_line = |text: &str| {
        text.chars()
            .all(|character| character.is_ascii_digit() || "L-C".contains(character))
            && text.contains(|character: char| character.is_ascii_digit())
    };
    let mut piece = piece;
    for _ in 0..2 {
        match piece.rsplit_once([':', '#']) {
            Some((path, place)) if is_line(place) => piece = path,
            _ => break,
        }
    }
    piece
}

/// Whether the last component of a path is a file name.
fn is_file(path: &str) -> bool {
    let (folder, name) = match path.rsplit_once('/') {
        Some((folder, name)) => (Some(folder), name),
        None => (None, path),
    };
    let lower = name.to_ascii_lowercase();
    if BARE_NAMES.contains(&lower.as_str()) {
        // "license" is also a word; with a capital or a folder it is a file.
        return folder.is_some() || name.contains('.') || name.starts_with(char::is_uppercase);
    }
    let Some((stem, extension)) = lower.rsplit_once('.') else {
        return false;
    };
    if stem.is_empty() {
        // `.gitignore`, `.env`: dot files of at least three letters.
        return extension.len() >= 3 && extension.bytes().all(|byte| byte.is_ascii_alphabetic());
    }
    let plain = |text: &str| text.bytes().all(|byte| byte.is_ascii_alphanumeric());
    if folder.is_some() {
        // With a folder, any short extension with a letter counts: `etc/app.cnf`, but not `v1/2.0`.
        return (1..=12).contains(&extension.len())
            && plain(extension)
            && extension.bytes().any(|byte| byte.is_ascii_alphabetic())
            && !is_host(path);
    }
    // `.env.local` and `config.test.ts` have several dots; `1.5.d` has no letter before them.
    let named = stem.chars().any(char::is_alphabetic) || stem.starts_with('[');
    let known = EXTENSIONS.binary_search(&extension).is_ok() || lower.starts_with(".env");
    // A single letter before and after the dot is an abbreviation (`e.g`, `p.s`).
    let short = stem.chars().count() == 1 && extension.len() == 1;
    named && known && !short && !NO_FILES.contains(&lower.as_str())
}

/// Whether this is a URL without its scheme: `github.com/owner/project.git`, `example.com/a.html`.
fn is_host(path: &str) -> bool {
    const DOMAINS: &[&str] = &[
        "com", "org", "net", "io", "dev", "ai", "app", "co", "edu", "gov", "de", "uk", "eu",
    ];
    let first = path.split('/').next().unwrap_or_default();
    first.rsplit_once('.').is_some_and(|(name, domain)| {
        !name.is_empty() && DOMAINS.contains(&domain.to_ascii_lowercase().as_str())
    })
}

#[cfg(test)]
mod tests;
