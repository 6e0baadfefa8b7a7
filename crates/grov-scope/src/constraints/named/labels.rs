//! The names that lines of a file give to things: definitions, keys, fields, attributes, tasks.

use super::source::defined_name;
use crate::constraints::written::setting_of;
use std::collections::HashSet;

/// What a name is the name of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum LabelKind {
    /// A function, type or constant.
    Definition,
    /// An entry with a value.
    Key,
    /// An entry that others stand below.
    Block,
    /// A task, job or resource, which a line names by a text.
    Title,
    /// A class, identifier or test mark of an element.
    Attribute,
    /// A member of a type, or a column.
    Field,
    /// A form of a type with several.
    Variant,
}

/// A name and what it names.
pub(super) type Label = (LabelKind, String);

/// Words for things that have names, folded, by the kinds of their names. Prefixes end with `*`.
#[rustfmt::skip]
const NOUNS: &[(&[LabelKind], &[&str])] = &[
    (&[LabelKind::Attribute], &["css", "klassen", "selector*", "selektor*", "classnames", "testid*", "data-testid", "ids", "elemento*", "element*"]),
    (&[LabelKind::Field, LabelKind::Key], &["column*", "spalte*", "colonn*", "column*", "colun*", "kolumn*", "kolom*", "coloan*", "field*", "feld*", "felder", "champ*", "campo*", "camp*", "veld*", "pol", "pola", "json", "key", "keys", "prop", "props", "env", "umgebungsvariabl*", "attribut*", "member*"]),
    (&[LabelKind::Title, LabelKind::Block], &["task", "tasks", "job", "jobs", "stage", "stages", "step", "steps", "resource*", "ressource*", "recurso*", "risors*", "schritte", "etape*", "module", "modules", "queue*", "topic*", "metric*", "metrik*", "event*"]),
    (&[LabelKind::Variant], &["constructor*", "variant*", "enum*", "konstruktor*", "case", "cases"]),
    (&[LabelKind::Definition], &["function*", "funktion*", "fonction*", "funcion*", "funcoes", "funzion*", "funkcj*", "functie*", "functii*", "method*", "methode*", "metod*", "variable*"]),
    (&[LabelKind::Attribute, LabelKind::Definition], &["class", "classes", "clase", "clases", "classe", "classi"]),
];

/// The kinds of names that words are about; none if they do not tell.
pub(super) fn kinds_of(words: &[String]) -> Vec<LabelKind> {
    let is_named = |known: &&str| {
        words.iter().any(|word| match known.strip_suffix('*') {
            Some(stem) => word.starts_with(stem),
            None => word == known,
        })
    };
    let rows = NOUNS.iter().filter(|(_, nouns)| nouns.iter().any(is_named));
    rows.flat_map(|(kinds, _)| kinds.iter().copied()).collect()
}

/// The kinds of names that a text without spaces is about.
pub(super) fn kinds_in(text: &str) -> Vec<LabelKind> {
    const PARTS: &[(&[LabelKind], &[&str])] = &[
        (
            &[LabelKind::Definition],
            &["函数", "方法", "関数", "メソッド", "クラス", "类名"],
        ),
        (
            &[LabelKind::Field, LabelKind::Key],
            &["字段", "列", "カラム", "キー", "フィールド", "键"],
        ),
    ];
    let rows = PARTS
        .iter()
        .filter(|(_, parts)| parts.iter().any(|part| text.contains(part)));
    rows.flat_map(|(kinds, _)| kinds.iter().copied()).collect()
}

/// Whether lines that an edit adds give a thing of one of these kinds another name than those that it removes; of any kind if there
/// are none.
pub(super) fn is_renamed(removed: &[&str], added: &[&str], extension: &str, kinds: &[LabelKind]) -> bool {
    let all = |lines: &[&str]| -> HashSet<Label> {
        lines.iter().flat_map(|line| labels(line, extension)).collect()
    };
    let (old, new) = (all(removed), all(added));
    let is_meant = |kind: &LabelKind| kinds.is_empty() || kinds.contains(kind);
    let gained: HashSet<LabelKind> = new.difference(&old).map(|(kind, _)| *kind).collect();
    old.difference(&new)
        .any(|(kind, _)| is_meant(kind) && gained.contains(kind))
}

/// Kinds of files whose lines are entries with keys.
#[rustfmt::skip]
const ENTRIES: &[&str] = &["json", "yml", "yaml", "toml", "ini", "properties", "po", "arb", "strings", "env", "jcl", "tfvars", "cfg", "conf"];

/// Attributes of elements, and tags of fields.
#[rustfmt::skip]
const ATTRIBUTES: &[&str] = &["class=\"", "class='", "className=\"", "className='", "id=\"", "id='", "name=\"", "data-testid=\"", "data-test=\"", "DSN="];

/// Calls that declare a column or field.
const FIELDS: &[&str] = &[
    "Column(",
    "Field(",
    "models.",
    "relationship(",
    "db.String",
    "mapped_column(",
    "Property(",
];

/// The names that a line gives.
fn labels(line: &str, extension: &str) -> Vec<Label> {
    let line = line.trim();
    let mut found = Vec::new();
    let mut add = |kind: LabelKind, name: &str| {
        let name = name.trim();
        if !name.is_empty() {
            found.push((kind, name.to_owned()));
        }
    };
    // ".price { float: left; }"
    if line.starts_with(['.', '#']) && line.ends_with(['{', ',', '}']) && !line.starts_with("#[") {
        add(LabelKind::Attribute, line.split('{').next().unwrap_or(line));
        return found;
    }
    for mark in ATTRIBUTES {
        for (at, _) in line.match_indices(mark) {
            let rest = &line[at + mark.len()..];
            let end = rest.find(['"', '\'', ',', '>']).unwrap_or(rest.len());
            rest[..end]
                .split_whitespace()
                .for_each(|name| add(LabelKind::Attribute, name));
        }
    }
    if let Some((_, rest)) = line.split_once("json:\"") {
        add(
            LabelKind::Field,
            rest.split(['"', ',']).next().unwrap_or_default(),
        );
    }
    let bare = line.trim_start_matches("- ");
    if let Some(title) = ["name:", "name =", "\"name\":"]
        .iter()
        .find_map(|mark| bare.strip_prefix(mark))
    {
        add(LabelKind::Title, title.trim_matches([' ', '"', '\'', ',']));
        return found;
    }
    let first = line.split([' ', '(', '"']).next().unwrap_or_default();
    if matches!(
        first,
        "resource" | "data" | "module" | "variable" | "output" | "provider"
    ) && line.contains('"')
    {
        add(LabelKind::Title, line.split('{').next().unwrap_or(line));
        return found;
    }
    if let Some(name) = variant(line, extension) {
        add(LabelKind::Variant, name);
    }
    if let Some((name, _)) = line
        .split_once('=')
        .filter(|(_, value)| FIELDS.iter().any(|call| value.contains(call)))
    {
        add(LabelKind::Field, name);
    } else if let Some(name) = defined_name(line) {
        add(LabelKind::Definition, name);
    } else if let Some(name) = field(line, extension) {
        add(LabelKind::Field, name);
    }
    if extension == "sql" {
        for (at, _) in line.to_uppercase().match_indices(" AS ") {
            let rest = line.get(at + 4..).unwrap_or_default();
            add(
                LabelKind::Field,
                rest.split([',', ' ', ')']).next().unwrap_or_default(),
            );
        }
    }
    if ENTRIES.contains(&extension) {
        let name = setting_of(bare).filter(|name| !name.contains(' ') || extension == "properties");
        let opens = line.ends_with([':', '{']) || line.starts_with("- ") && !line.contains(": ");
        name.into_iter().for_each(|name| {
            add(LabelKind::Key, name);
            if opens {
                add(LabelKind::Block, name);
            }
        });
        // An item of a list: the name of a stage.
        if let Some(item) = line.strip_prefix("- ").filter(|item| !item.contains([':', ' '])) {
            add(LabelKind::Block, item);
        }
    } else {
        super::surface::names(line)
            .iter()
            .for_each(|name| add(LabelKind::Key, name));
    }
    found
}

/// The form of a type: "| UnexpectedEof", "UnexpectedEof,".
fn variant<'l>(line: &'l str, extension: &str) -> Option<&'l str> {
    let rest = match extension {
        "hs" | "ml" | "mli" | "fs" | "elm" | "re" => {
            line.strip_prefix("| ").or_else(|| line.strip_prefix("= "))?
        }
        "rs" | "swift" => line
            .strip_prefix("case ")
            .unwrap_or(line)
            .split([',', '(', '{'])
            .next()?,
        _ => return None,
    };
    let name = rest.split([' ', '(', ',']).next()?.trim();
    (name.starts_with(char::is_uppercase)
        && name
            .chars()
            .all(|letter| letter.is_alphanumeric() || letter == '_'))
    .then_some(name)
}

/// Modifiers before a member.
#[rustfmt::skip]
const MODIFIERS: &[&str] = &["pub", "public", "private", "protected", "internal", "readonly", "val", "var", "let", "const", "static", "final", "override", "mutable", "required", "late"];

/// Words that begin statements.
#[rustfmt::skip]
const STATEMENTS: &[&str] = &["return", "if", "else", "for", "while", "import", "package", "use", "using", "from", "throw", "await", "new", "case", "goto", "delete", "break", "continue", "yield"];

/// The member of a type that a line declares: "private String nickName;", "email: string".
fn field<'l>(line: &'l str, extension: &str) -> Option<&'l str> {
    let code = line.trim_end_matches([',', ';']).trim_end();
    let head = code.split(['=', '{']).next()?.trim();
    if head.contains(['(', ')', '"', '\'', '.', '+']) && !head.starts_with('@')
        || head.is_empty()
        || code.ends_with('{')
    {
        return None;
    }
    let is_name = |name: &str| {
        !name.is_empty()
            && name
                .chars()
                .all(|letter| letter.is_alphanumeric() || letter == '_' || letter == '$')
            && !name.starts_with(|letter: char| letter.is_ascii_digit())
    };
    match extension {
        "ts" | "tsx" | "kt" | "rs" | "swift" | "py" | "pyi" | "scala" | "proto" | "graphql" | "graphqls"
        | "vue" => {
            let (before, of) = head.split_once(':')?;
            let name = before.split_whitespace().last()?.trim_end_matches('?');
            let plain = before.split_whitespace().all(|word| {
                MODIFIERS.contains(&word) || word.trim_end_matches('?') == name || word.starts_with('@')
            });
            (plain
                && is_name(name)
                && !of.trim().is_empty()
                && of.trim().chars().next().is_some_and(char::is_alphabetic))
            .then_some(name)
        }
        "java" | "cs" | "cpp" | "cc" | "c" | "h" | "hpp" | "dart" | "php" | "sol" => {
            if !line.ends_with([';', ',']) && !line.contains("{ get") && extension != "java" {
                return None;
            }
            let mut words = head.split_whitespace();
            let first = words.next()?;
            let name = head
                .split_whitespace()
                .last()?
                .trim_start_matches(['*', '&', '$']);
            let has_modifier = head.split_whitespace().any(|word| MODIFIERS.contains(&word));
            // "Customer c = repo.find(id);" is a variable.
            if !has_modifier && code.split_once('=').is_some_and(|(_, value)| value.contains('(')) {
                return None;
            }
            let typed = head
                .split_whitespace()
                .filter(|word| !MODIFIERS.contains(word))
                .count()
                >= 2;
            (!STATEMENTS.contains(&first) && typed && is_name(name)).then_some(name)
        }
        "go" => {
            let mut words = head.split_whitespace();
            let (name, of) = (words.next()?, words.next()?);
            (is_name(name)
                && !STATEMENTS.contains(&name)
                && !of.starts_with(':')
                && name.starts_with(char::is_uppercase))
            .then_some(name)
        }
        _ => None,
    }
}
