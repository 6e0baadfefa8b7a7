//! Reads lines of source code.

/// Words before the name that a line defines.
#[rustfmt::skip]
const DEFINING: &[&str] = &[
    "def", "defp", "fn", "func", "function", "fun", "sub", "class", "struct", "interface", "trait", "enum", "type", "const", "let", "var", "procedure", "table", "view", "index", "column", "macro", "define",
];

/// Words before a call that are no types.
#[rustfmt::skip]
const NO_TYPES: &[&str] = &[
    "await", "case", "catch", "delete", "do", "elif", "else", "elseif", "elsif", "for", "foreach", "go", "if", "in", "new", "not", "or", "raise", "return", "switch", "throw", "try", "unless", "until", "when", "while", "with", "yield",
];

/// The name that a line defines, with its signature left out.
pub(super) fn defined_name(line: &str) -> Option<&str> {
    let is_letter = |letter: char| letter.is_alphanumeric() || letter == '_' || letter == '$';
    // "void onTap() {", "private int total(int a)"
    if let Some((head, _)) = line
        .trim_end()
        .ends_with(['{', ')'])
        .then(|| line.split_once('('))
        .flatten()
    {
        let words: Vec<&str> = head.split_whitespace().collect();
        let is_type = |word: &&&str| {
            word.chars()
                .all(|letter| is_letter(letter) || "<>[],?*&:.".contains(letter))
        };
        if let [types @ .., name] = words.as_slice()
            && !types.is_empty()
            && types.iter().all(|word| is_type(&word))
            && !types.iter().any(|word| NO_TYPES.contains(word))
            && !name.is_empty()
            && name.chars().all(is_letter)
        {
            return Some(name);
        }
    }
    let mut words = line.split_whitespace();
    words.by_ref().find(|word| {
        let word = word.trim_start_matches('#').to_lowercase();
        DEFINING.contains(&word.as_str())
    })?;
    let name = words.next()?.trim_start_matches(['&', '*', '`', '"']);
    let end = name.find(|letter| !is_letter(letter)).unwrap_or(name.len());
    (end > 0).then(|| &name[..end])
}

/// The lines of a text without comments, trimmed.
pub(super) fn code_of(text: &str, extension: &str) -> Vec<String> {
    let marks = comment_marks(extension);
    let mut is_in_block = false;
    let mut found = Vec::new();
    for line in text.lines() {
        let line = line.trim();
        let quotes = line.matches("\"\"\"").count() + line.matches("'''").count();
        let opens = quotes % 2 == 1
            || line.starts_with("/*") && !line.contains("*/")
            || line.starts_with("<!--") && !line.contains("-->");
        let was_in_block = is_in_block;
        if was_in_block {
            let closes = quotes % 2 == 1 || line.contains("*/") || line.contains("-->");
            is_in_block = !closes;
            continue;
        }
        is_in_block = opens;
        if quotes > 0 || opens || line.starts_with(['*']) && marks.contains(&"//") {
            continue;
        }
        let end = marks
            .iter()
            .filter_map(|mark| comment_start(line, mark))
            .min()
            .unwrap_or(line.len());
        let code = line[..end].trim();
        if !code.is_empty() {
            found.push(code.to_owned());
        }
    }
    found
}

/// Whether a line is a comment alone.
pub(super) fn is_comment(line: &str, extension: &str) -> bool {
    let line = line.trim();
    comment_marks(extension).iter().any(|mark| line.starts_with(mark))
}

/// Where a comment begins: at the start of a line, or after a space.
fn comment_start(line: &str, mark: &str) -> Option<usize> {
    line.match_indices(mark)
        .map(|(at, _)| at)
        .find(|at| *at == 0 || line[..*at].ends_with([' ', '\t', ';', '{', '}', ')']))
}

fn comment_marks(extension: &str) -> &'static [&'static str] {
    match extension {
        "py" | "rb" | "sh" | "bash" | "yml" | "yaml" | "toml" | "tf" | "pl" | "r" | "ex" | "exs" | "ps1"
        | "jl" | "cr" | "mk" | "cfg" | "conf" | "nim" => &["#"],
        "sql" | "lua" | "hs" | "elm" | "adb" | "vhd" => &["--"],
        "ini" | "asm" | "s" | "clj" | "lisp" | "el" => &[";", "#"],
        "html" | "xml" | "md" => &["<!--"],
        "tex" | "m" | "erl" => &["%"],
        "f90" | "f" => &["!"],
        "bas" | "vb" => &["'"],
        _ => &["//", "/*"],
    }
}
