//! Versions of languages and platforms that code must still run on, and what they do not have yet.

use super::change::Side;
use super::source::code_of;

/// A platform and the version that must do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Platform {
    features: &'static [Feature],
    version: (u32, u32),
    /// The extensions of its sources; none for all.
    extensions: &'static [&'static str],
}

/// A text in code, and the first version that has it.
type Feature = ((u32, u32), &'static str);

/// A platform's names, the extensions of its sources, and its features.
type Row = (
    &'static [&'static str],
    &'static [&'static str],
    &'static [Feature],
);

#[rustfmt::skip]
const PLATFORMS: &[Row] = &[
    (&["python", "py"], &["py", "pyi"], &[
        ((3, 8), ":="), ((3, 9), "removeprefix("), ((3, 9), "removesuffix("), ((3, 9), ": list["), ((3, 9), ": dict["), ((3, 9), ": tuple["), ((3, 9), ": set["), ((3, 9), "-> list["), ((3, 9), "-> dict["), ((3, 9), "-> tuple["),
        ((3, 9), "zoneinfo"), ((3, 9), "graphlib"), ((3, 9), "functools.cache\n"), ((3, 10), "match "), ((3, 10), "| None"), ((3, 10), "None |"), ((3, 10), "int | "), ((3, 10), "str | "), ((3, 10), "strict=True"),
        ((3, 10), "pairwise("), ((3, 11), "import tomllib"), ((3, 11), "except*"), ((3, 11), "StrEnum"), ((3, 11), "TaskGroup"), ((3, 11), "ExceptionGroup"), ((3, 12), "itertools.batched"), ((3, 12), "type "), ((3, 12), "typing.override"),
    ]),
    (&["node", "nodejs", "node.js"], &["js", "mjs", "cjs", "ts", "mts"], &[
        ((14, 0), "?."), ((14, 0), "??"), ((15, 0), "??="), ((15, 0), "||="), ((15, 0), ".replaceAll("), ((16, 6), ".at("), ((17, 0), "structuredClone("), ((18, 0), "fetch("), ((18, 0), "node:test"), ((18, 0), ".findLast("),
        ((20, 0), ".toSorted("), ((20, 0), ".toReversed("), ((20, 0), ".toSpliced("), ((20, 11), "import.meta.dirname"), ((20, 11), "import.meta.filename"), ((21, 0), "Object.groupBy("), ((22, 0), "globSync } from 'node:fs'"),
        ((22, 0), "glob } from 'node:fs"), ((22, 0), "Promise.withResolvers"), ((22, 0), "node:sqlite"), ((22, 0), "Array.fromAsync"), ((22, 0), "new WebSocket("),
    ]),
    (&["java", "jdk"], &["java"], &[
        ((9, 0), "List.of("), ((9, 0), "Map.of("), ((9, 0), "Set.of("), ((9, 0), ".takeWhile("), ((10, 0), "var "), ((11, 0), ".isBlank()"), ((11, 0), ".strip()"), ((11, 0), ".repeat("), ((11, 0), "Files.readString"), ((11, 0), "HttpClient.new"),
        ((14, 0), "yield "), ((15, 0), "\"\"\""), ((16, 0), "record "), ((16, 0), ".toList()"), ((17, 0), "sealed "), ((21, 0), "newVirtualThread"), ((21, 0), ".getFirst()"),
    ]),
    (&["php"], &["php"], &[
        ((7, 4), "fn("), ((7, 4), "fn ("), ((7, 4), "??="), ((8, 0), "match ("), ((8, 0), "match("), ((8, 0), "?->"), ((8, 0), "str_contains("), ((8, 0), "str_starts_with("), ((8, 0), "str_ends_with("), ((8, 1), "enum "), ((8, 1), "readonly "),
        ((8, 3), "json_validate("),
    ]),
    (&["go", "golang"], &["go"], &[
        ((1, 18), " any]"), ((1, 18), " comparable]"), ((1, 18), "comparable,"), ((1, 20), "errors.Join("), ((1, 21), "\"slices\""), ((1, 21), "\"maps\""), ((1, 21), "\"log/slog\""), ((1, 21), "\"cmp\""), ((1, 23), "\"iter\""),
    ]),
    (&["ruby"], &["rb"], &[((2, 7), ".filter_map"), ((2, 7), ".tally"), ((3, 0), " in {"), ((3, 1), ".intersect?"), ((3, 2), "Data.define")]),
    (&["rust", "msrv"], &["rs"], &[((1, 65), " else {\n        return"), ((1, 70), "OnceLock"), ((1, 70), "OnceCell"), ((1, 75), "async fn "), ((1, 80), "LazyLock"), ((1, 80), "LazyCell"), ((1, 88), "&& let ")]),
    (&["safari"], &["js", "mjs", "ts", "tsx", "jsx", "vue", "html"], &[((13, 1), "?."), ((13, 1), "??"), ((14, 0), "??="), ((15, 4), ".at("), ((15, 4), ".findLast("), ((15, 4), "structuredClone(")]),
    (&["ie", "ie11", "es5"], &["js", "mjs", "ts", "jsx", "tsx", "html", "vue"], &[
        ((99, 0), "=>"), ((99, 0), "const "), ((99, 0), "let "), ((99, 0), "async "), ((99, 0), "await "), ((99, 0), "class "), ((99, 0), "?."), ((99, 0), "`"), ((99, 0), "fetch("), ((99, 0), "..."), ((99, 0), ".includes("),
    ]),
    (&["c99", "ansi-c99"], &["c", "h"], &[
        ((99, 0), "_Thread_local"), ((99, 0), "_Static_assert"), ((99, 0), "_Generic"), ((99, 0), "_Atomic"), ((99, 0), "_Alignas"), ((99, 0), "_Noreturn"), ((99, 0), "nullptr"), ((99, 0), "typeof"), ((99, 0), "__extension__"), ((99, 0), "-std=gnu"),
    ]),
    (&["c89", "c90"], &["c", "h"], &[((99, 0), "inline "), ((99, 0), "_Bool"), ((99, 0), "for (int"), ((99, 0), "// "), ((99, 0), "_Static_assert"), ((99, 0), "restrict ")]),
    (&["c++11"], &["cpp", "cc", "cxx", "h", "hpp"], &[((99, 0), "std::make_unique"), ((99, 0), "if constexpr"), ((99, 0), "std::optional"), ((99, 0), "std::string_view"), ((99, 0), "[[nodiscard]]"), ((99, 0), "auto [")]),
    (&["c++14"], &["cpp", "cc", "cxx", "h", "hpp"], &[((99, 0), "if constexpr"), ((99, 0), "std::optional"), ((99, 0), "std::string_view"), ((99, 0), "std::variant"), ((99, 0), "[[nodiscard]]"), ((99, 0), "auto [")]),
    (&["c++17"], &["cpp", "cc", "cxx", "h", "hpp"], &[((99, 0), "co_await"), ((99, 0), "concept "), ((99, 0), "requires "), ((99, 0), "std::span"), ((99, 0), "std::format"), ((99, 0), "<=>"), ((99, 0), "std::ranges")]),
];

/// The platforms that folded words name with a version: "python 3.8", "node 18", "ie11".
pub(super) fn named_by(words: &[&str]) -> Vec<Platform> {
    const NEAR: usize = 2;
    let mut found = Vec::new();
    for (at, word) in words.iter().enumerate() {
        let row = PLATFORMS.iter().find(|(names, ..)| names.contains(word));
        let Some((_, extensions, features)) = row else {
            continue;
        };
        // A name that holds its version needs none.
        let holds = word.ends_with(|letter: char| letter.is_ascii_digit());
        let near = words[at + 1..].iter().take(NEAR).find_map(|word| version(word));
        if let Some(version) = near.or_else(|| holds.then_some((0, 0))) {
            found.push(Platform {
                features,
                version,
                extensions,
            });
        }
    }
    found
}

/// The version that a word is: "3.8", "v18", "18+".
fn version(word: &str) -> Option<(u32, u32)> {
    let word = word
        .trim_start_matches('v')
        .trim_end_matches(['+', 'x', '.', ',']);
    let (major, minor) = word.split_once('.').unwrap_or((word, "0"));
    let minor = minor.split('.').next().unwrap_or_default();
    Some((major.parse().ok()?, minor.parse().unwrap_or_default()))
}

impl Platform {
    /// Whether a text uses, and did not use before, what the version does not have.
    pub(super) fn lacks(&self, side: &Side<'_>) -> bool {
        if !self.extensions.contains(&side.extension) {
            return false;
        }
        let code = |text: &str| code_of(text, side.extension).join("\n");
        let after = code(&side.after);
        let before = side.before.as_deref().map(code).unwrap_or_default();
        // What an older version does not have is replaced there.
        if after.contains("except ImportError")
            || after.contains("version_info")
            || after.contains("function_exists")
        {
            return false;
        }
        self.features
            .iter()
            .filter(|(since, _)| *since > self.version)
            .any(|(_, feature)| uses(&after, feature) && !uses(&before, feature))
    }
}

/// Whether code has a text; a keyword must begin a statement.
fn uses(code: &str, feature: &str) -> bool {
    match feature {
        "match " | "type " | "enum " | "record " | "concept " | "class " | "const " | "let " | "var "
        | "yield " => code.lines().any(|line| {
            line.trim_start_matches("export ")
                .trim_start_matches("public ")
                .starts_with(feature)
        }),
        _ => code.contains(feature),
    }
}
