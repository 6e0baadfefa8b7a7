//! Properties of code that a constraint keeps as they are: names, routes, formats, interfaces.

use super::change::Change;
use super::labels::{LabelKind, is_renamed};
use super::source::code_of;
use super::surface::exported;
use crate::constraints::substitution::Substitution;
use std::collections::HashSet;

/// A property of code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Aspect {
    /// The names that lines define.
    Names,
    /// The paths of a web interface.
    Routes,
    /// What is printed or written, and how.
    Format,
    /// What others use: routes and exported definitions.
    Interface,
    /// All code but comments.
    Code,
    /// Comments.
    Comments,
    /// Versions.
    Versions,
}

/// Words for properties, folded. Prefixes end with `*`.
#[rustfmt::skip]
const WORDS: &[(Aspect, &[&str])] = &[
    (Aspect::Names, &[
        "name", "names", "naming", "namen", "bezeichner*", "nom", "noms", "nombres", "nomes", "nomi", "nume", "numele", "nazw", "nazwy", "identifiers", "ids", "selectors", "classnames", "renaming",
        "columns", "spalten*", "colonnes", "columnas", "colunas", "kolumn*", "kolommen", "fields", "felder", "champs", "campos",
    ]),
    (Aspect::Routes, &[
        "route", "routes", "routing", "url", "urls", "permalink*", "slug", "slugs", "pfade", "routen", "ruta", "rutas", "rota", "rotas", "rute", "rutele", "rotte", "trasy", "adresy", "endpoint", "endpoints", "enlaces", "path", "paths", "endpunkt*", "eindpunt*", "endpointy", "endpointow",
    ]),
    (Aspect::Format, &[
        "format", "formats", "output", "ausgabe*", "formato", "sortie", "salida", "saida", "uscita", "iesire*", "wyjsci*", "uitvoer", "formatul",
    ]),
    (Aspect::Interface, &[
        "api", "apis", "interface", "interfaces", "contract", "schnittstelle*", "interfaz", "interfaccia", "interfejs*", "signature", "signatures", "signatur*", "types", "exports", "typen", "public",
    ]),
    (Aspect::Versions, &["version", "versions", "versionen", "version*", "wersj*", "versao", "versoes", "versie*"]),
    (Aspect::Comments, &["comment", "comments", "docstring", "docstrings", "kommentar*", "commentaire*", "comentari*", "comentario*", "commenti", "komentarz*", "doc"]),
];

/// Parts of words for properties in languages without spaces.
const PARTS: &[(Aspect, &[&str])] = &[
    (Aspect::Names, &["名", "字段", "列"]),
    (Aspect::Routes, &["路由", "ルート", "エンドポイント", "URL"]),
    (
        Aspect::Format,
        &[
            "输出",
            "格式",
            "返回",
            "响应",
            "出力",
            "書式",
            "形式",
            "レスポンス",
        ],
    ),
    (
        Aspect::Interface,
        &["接口", "インターフェース", "API", "签名", "シグネチャ"],
    ),
    (Aspect::Comments, &["注释", "コメント"]),
];

/// The properties that a word names.
pub(super) fn named_by(word: &str) -> impl Iterator<Item = Aspect> {
    let is_named = move |known: &&str| match known.strip_suffix('*') {
        Some(stem) => word.starts_with(stem),
        None => *known == word,
    };
    WORDS
        .iter()
        .filter(move |(_, words)| words.iter().any(&is_named))
        .map(|(aspect, _)| *aspect)
}

/// The properties that a text without spaces names.
pub(super) fn named_in(text: &str) -> impl Iterator<Item = Aspect> {
    PARTS
        .iter()
        .filter(move |(_, parts)| parts.iter().any(|part| text.contains(part)))
        .map(|(aspect, _)| *aspect)
}

impl Aspect {
    /// Whether an edit changes this property.
    pub(super) fn is_changed_by(self, change: &Change<'_>, extension: &str, labels: &[LabelKind]) -> bool {
        if !change.is_edit {
            // A name is replaced everywhere.
            let is_name = |text: &str| {
                text.chars()
                    .all(|letter| letter.is_alphanumeric() || "_-$:!\"'/".contains(letter))
            };
            let is_renamed = matches!(self, Self::Names | Self::Interface | Self::Routes)
                && change.removed.iter().any(|old| is_name(old));
            let is_changed =
                |one: &Substitution| self.differs(&[one.old.as_str()], &one.old, &one.new, extension, labels);
            return is_renamed || change.replaced.iter().any(is_changed);
        }
        let Some(before) = change.before.filter(|_| !change.is_whole) else {
            return false;
        };
        let removed: Vec<&str> = change.removed.iter().map(AsRef::as_ref).collect();
        self.differs(&removed, before, change.after, extension, labels)
    }

    /// Whether a text differs from the one before in this property. `removed` are the lines that it no longer has.
    fn differs(
        self,
        removed: &[&str],
        before: &str,
        after: &str,
        extension: &str,
        labels: &[LabelKind],
    ) -> bool {
        let loses = |key: &dyn Fn(&str) -> Option<String>| {
            let old: Vec<String> = removed.iter().filter_map(|line| key(line)).collect();
            if old.is_empty() {
                return false;
            }
            let kept: HashSet<String> = after.lines().filter_map(key).collect();
            // A class that is joined by another one stays.
            let is_kept = |old: &String| {
                kept.contains(old)
                    || kept
                        .iter()
                        .any(|kept| kept.split(' ').any(|part| part == old.as_str()))
            };
            old.iter().any(|old| !is_kept(old))
        };
        match self {
            Self::Names => {
                let known: HashSet<&str> = before.lines().map(str::trim).collect();
                let is_new = |line: &&str| !known.contains(line.trim());
                let added: Vec<&str> = after.lines().filter(is_new).collect();
                is_renamed(removed, &added, extension, labels)
            }
            Self::Routes => loses(&route_of),
            Self::Format => loses(&format_of),
            Self::Versions => loses(&version_of),
            Self::Interface => loses(&route_line) || loses(&|line| exported(line, extension)),
            Self::Code => code_of(before, extension) != code_of(after, extension),
            Self::Comments => {
                let kept = comments(after, extension);
                comments(before, extension)
                    .iter()
                    .any(|line| !kept.contains(line))
            }
        }
    }
}

/// The lines of a text that are no code alone, trimmed.
fn comments<'t>(text: &'t str, extension: &str) -> HashSet<&'t str> {
    let code: HashSet<String> = code_of(text, extension).into_iter().collect();
    text.lines()
        .map(str::trim)
        .filter(|line| !line.is_empty() && !code.contains(*line))
        .collect()
}

/// The method and path of a line that declares a route.
fn route_of(line: &str) -> Option<String> {
    let literal = quoted(line).find(|text| text.contains('/') && !text.contains(' '))?;
    let before = line.split(literal).next().unwrap_or_default();
    let method: String = before.chars().filter(|letter| letter.is_alphanumeric()).collect();
    Some(format!("{method} {literal}"))
}

/// A line that declares a route, whole.
pub(super) fn route_line(line: &str) -> Option<String> {
    let lower = line.to_lowercase();
    const DECLARING: &[&str] = &[
        "route", "app.", "@get", "@post", "@put", "@delete", "mapping", "path(",
    ];
    (route_of(line).is_some() && DECLARING.iter().any(|mark| lower.contains(mark)))
        .then(|| line.trim().to_owned())
}

/// The texts between quotation marks.
fn quoted(line: &str) -> impl Iterator<Item = &str> {
    line.split(['"', '\'', '`']).skip(1).step_by(2)
}

/// What a line prints or formats: its texts, and the line itself if it fills columns.
fn format_of(line: &str) -> Option<String> {
    const CALLS: &[&str] = &[
        "print",
        "format",
        "console.log",
        "echo ",
        "fmt.",
        "writer",
        "write(",
        "strftime",
        "f\"",
        "f'",
        "to_csv",
        "join(",
        "json:",
        "return {",
        "return [",
    ];
    // Calls whose arguments are what others read, with or without quotation marks.
    const WHOLE: &[&str] = &[
        "ljust", "rjust", "padstart", "padend", "zfill", "putcsv(", "writerow",
    ];
    let lower = line.to_lowercase();
    // The shape of an answer is that of its brackets and names.
    if ["res.json(", "jsonify("].iter().any(|call| lower.contains(call)) {
        let brackets: String = line.chars().filter(|letter| "{}[]:".contains(*letter)).collect();
        return Some(format!(
            "{brackets} {}",
            quoted(line).collect::<Vec<_>>().join(" ")
        ));
    }
    if WHOLE.iter().any(|call| lower.contains(call)) {
        return Some(line.trim().to_owned());
    }
    let texts: Vec<&str> = quoted(line).collect();
    (CALLS.iter().any(|call| lower.contains(call)) && !texts.is_empty()).then(|| texts.join("\n"))
}

/// The thing to which a line gives a version, and the version.
fn version_of(line: &str) -> Option<String> {
    let is_number = |word: &str| word.starts_with(|letter: char| letter.is_ascii_digit());
    // "node-version: 18", "FROM node:18"
    let is_pinned = line.contains("version") || line.contains("FROM ") || line.contains("image:");
    let digits = |word: &&str| is_number(word) && (word.contains('.') || is_pinned);
    let mut words = line.split(|letter: char| !letter.is_alphanumeric() && letter != '.');
    words.find(digits).map(|_| line.trim().to_owned())
}
