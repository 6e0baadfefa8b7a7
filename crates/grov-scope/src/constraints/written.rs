//! Texts that a constraint forbids to write.

use super::command_effects::rewrites_text;
use super::place::has_words;
use super::request::Sentence;
use super::substitution::in_place;
use crate::analyzed_action::AnalyzedAction;
use crate::file_kind::FileKind;
use crate::history::History;
use crate::normalized_path::NormalizedPath;
use crate::words::common_beginning;
use grov_domain::ActionType;
use std::borrow::Cow;
use std::collections::HashSet;

/// The most lines of a text that are read.
const MAX_LINES: usize = 600;

/// Something that must not be written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Construct {
    /// A text as it stands, in a line that also has the word `of`.
    Literal { text: String, of: Option<String> },
    /// A keyword, or the name of a library.
    Name(String),
    /// A section of a document.
    Section(String),
    /// A thing in a manifest or image.
    Declared(String),
    /// The definition of a function.
    Symbol(String),
    /// Another signature of these functions; of all public ones if there are none.
    Signature(Vec<String>),
    /// Another version of a thing.
    Version { name: String, version: String },
    /// Another key of an entry that keeps its value.
    Keys,
    /// Another value of the setting that these words name: `batch_size: 256`.
    Setting(Vec<String>),
    /// A number that was not there before for a name with this part: `timeout: 60_000`.
    Knob(String),
    /// More lines than this.
    Lines(usize),
    /// More tests than this.
    Tests(usize),
    /// Comments.
    Comment,
    /// Mocks.
    Mock,
    /// Emojis.
    Emoji,
    /// Badges of a README.
    Badge,
    /// Style sheets and inline styles.
    OwnStyle,
    /// Inline styles alone.
    InlineStyle,
    /// Nothing but another layout of the same code.
    Formatting,
    /// Output for debugging.
    DebugOutput,
    /// One of these in a line that logs.
    Logged(Vec<String>),
}

impl Construct {
    /// A text as it stands.
    pub(super) fn literal(text: &str) -> Self {
        Self::Literal {
            text: text.to_owned(),
            of: None,
        }
    }
}

/// A constraint on what is written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct WrittenConstraint {
    /// The text of the constraint.
    pub(super) text: String,
    /// What must not be written.
    pub(super) what: Construct,
}

/// A text that an action writes, and the one that it replaces.
pub(super) struct Written<'a> {
    place: Option<&'a NormalizedPath>,
    after: Cow<'a, str>,
    before: Option<Cow<'a, str>>,
    /// The whole file is written.
    is_whole: bool,
}

impl<'a> Written<'a> {
    /// The texts that an action writes into the project, as far as they are known.
    pub(super) fn all(action: &'a AnalyzedAction<'_>, history: &History) -> Vec<Self> {
        let place = action.changed.iter().find(|place| place.is_in_project());
        if action.sketch.action_type.modifies_files() {
            let change = action.sketch.change.as_deref();
            let is_whole = action.sketch.action_type == ActionType::Write;
            let is_known = |place: &&NormalizedPath| {
                // What a file held before it is written as a whole is unknown.
                !(is_whole && history.knows(place) && !history.has_changed(place))
            };
            let edited = place.filter(is_known).map(|place| Self {
                place: Some(place),
                after: change
                    .map_or(action.content(), |change| change.after.as_str())
                    .into(),
                before: change
                    .and_then(|change| change.before.as_deref())
                    .map(Cow::Borrowed),
                is_whole,
            });
            return edited.into_iter().collect();
        }
        let replaced = action.programs().iter().flat_map(in_place).map(|one| Self {
            place,
            after: one.new.into(),
            before: Some(one.old.into()),
            is_whole: false,
        });
        let mut found: Vec<Self> = replaced.collect();
        if found.is_empty()
            && let Some(place) = place
            && let Some(text) = action.programs().iter().find_map(rewrites_text)
        {
            found.push(Self {
                place: Some(place),
                after: text.into(),
                before: None,
                is_whole: false,
            });
        }
        found
    }

    /// The lines that were not there before.
    fn added(&self) -> impl Iterator<Item = &str> {
        let known: HashSet<&str> = self
            .before
            .iter()
            .flat_map(|before| before.lines().map(str::trim))
            .collect();
        let is_old = move |line: &str| !line.trim().is_empty() && known.contains(line.trim());
        self.after
            .lines()
            .take(MAX_LINES)
            .filter(move |line| !is_old(line))
    }

    fn is_ending(&self, endings: &[&str]) -> bool {
        self.place
            .is_some_and(|place| endings.contains(&place.extension()))
    }

    /// Whether the file declares dependencies or images.
    fn is_settings(&self) -> bool {
        let declares = |place: &NormalizedPath| {
            place.name().starts_with("dockerfile")
                || place.name().contains("compose")
                || FileKind::Manifest.is(place)
        };
        self.place.is_some_and(declares)
    }

    /// Whether the file holds prose.
    fn is_prose(&self) -> bool {
        self.is_ending(&["md", "mdx", "txt", "rst", "adoc"])
    }
}

impl WrittenConstraint {
    /// The file into which one of these texts writes what is forbidden; `Some(None)` if the file is unknown.
    pub(super) fn broken_by<'a>(&self, texts: &[Written<'a>]) -> Option<Option<&'a NormalizedPath>> {
        let broken = texts.iter().find(|written| self.what.is_in(written))?;
        Some(broken.place)
    }
}

impl Construct {
    fn is_in(&self, written: &Written<'_>) -> bool {
        let any = |test: &dyn Fn(&str) -> bool| written.added().any(test);
        match self {
            Self::Literal { text, of } => {
                let text = text.to_lowercase();
                let glob = text.strip_suffix('*').unwrap_or(&text);
                if glob == "any" {
                    return any(&|line| uses(line, glob, written));
                }
                !written.is_prose()
                    && any(&|line| {
                        let line = line.to_lowercase();
                        (if glob.is_empty() {
                            line.contains("select *") || line.contains("import *")
                        } else {
                            holds(&line, glob)
                        }) && of.as_ref().is_none_or(|word| line.contains(word.as_str()))
                    })
            }
            Self::Name(name) => !written.is_prose() && any(&|line| uses(line, name, written)),
            Self::Section(name) => {
                written.is_prose()
                    && any(&|line| line.trim_start().starts_with('#') && holds(&line.to_lowercase(), name))
            }
            Self::Declared(name) => written.is_settings() && any(&|line| holds(&line.to_lowercase(), name)),
            Self::Symbol(name) => {
                let defines = |text: &str| text.lines().any(|line| defines(line, name));
                defines(&written.after) || written.before.as_deref().is_some_and(defines)
            }
            Self::Signature(names) => changes_signature(written, names),
            // Of any dependency.
            Self::Version { name, .. } if name.is_empty() => {
                written.before.as_deref().is_some_and(|before| {
                    let declares = |line: &&str| !setting_of(line).unwrap_or_default().is_empty();
                    written.is_settings()
                        && before.lines().filter(declares).any(|line| {
                            let name = setting_of(line).unwrap_or_default().to_lowercase();
                            let known = version_in(line, &name);
                            known.is_some_and(|known| any(&|line| has_other_version(line, &name, &known)))
                        })
                })
            }
            Self::Version { name, version } if version.is_empty() => {
                written.before.as_deref().is_some_and(|before| {
                    let known = before.lines().find_map(|line| version_in(line, name));
                    known.is_some_and(|known| any(&|line| has_other_version(line, name, &known)))
                })
            }
            Self::Version { name, version } => any(&|line| has_other_version(line, name, version)),
            Self::Keys => renames_key(written),
            Self::Setting(words) => changes_setting(written, words),
            Self::Knob(name) => sets_number(written, name),
            Self::Lines(most) => has_too_many_lines(written, *most),
            Self::Tests(most) => {
                let count = written.added().filter(|line| is_test(line)).count();
                if *most == 0 {
                    count > 0 && written.place.is_some_and(|place| FileKind::Test.is(place))
                } else {
                    count > *most
                }
            }
            Self::Comment => !written.is_prose() && any(&|line| is_comment(line, written)),
            Self::Mock => any(&|line| !is_comment(line, written) && mocks(line)),
            Self::Emoji => written.added().flat_map(str::chars).any(is_emoji),
            Self::Badge => any(&|line| {
                line.contains("img.shields.io") || line.contains("badge") && line.contains("](http")
            }),
            Self::OwnStyle => {
                written.is_ending(&["css", "scss", "sass", "less", "styl"]) || any(&has_inline_style)
            }
            Self::InlineStyle => any(&has_inline_style),
            Self::Formatting => written.before.as_deref().is_some_and(|before| {
                !written.is_whole && *before != *written.after && bare(before) == bare(&written.after)
            }),
            Self::Logged(names) => any(&|line| logs(line, names)),
            Self::DebugOutput => any(&|line| {
                [
                    "console.log(",
                    "console.debug(",
                    "print(",
                    "println!(",
                    "dbg!(",
                    "var_dump(",
                    "System.out.print",
                ]
                .iter()
                .any(|call| line.contains(call))
            }),
        }
    }
}

/// A text without what formatters change: white space, the kind of quotation marks, commas and semicolons at ends.
fn bare(text: &str) -> String {
    let mut found = String::with_capacity(text.len());
    for letter in text
        .chars()
        .filter(|letter| !letter.is_whitespace() && *letter != ';')
    {
        if matches!(letter, ')' | ']' | '}') && found.ends_with(',') {
            found.pop();
        }
        found.push(if letter == '\'' { '"' } else { letter });
    }
    found.trim_end_matches(',').to_owned()
}

/// Whether a line has a text that is no part of a longer word.
fn holds(line: &str, text: &str) -> bool {
    let is_word =
        |letter: Option<char>| letter.is_some_and(|letter| letter.is_alphanumeric() || letter == '_');
    line.match_indices(text).any(|(at, _)| {
        let opens = !is_word(text.chars().next()) || !is_word(line[..at].chars().next_back());
        let closes = !is_word(text.chars().next_back()) || !is_word(line[at + text.len()..].chars().next());
        opens && closes
    })
}

/// Words of programming languages. They are found wherever they stand as words of code.
#[rustfmt::skip]
pub(super) const KEYWORDS: &[&str] = &[
    "any", "async", "await", "class", "clone", "eval", "goto", "innerhtml", "lambda", "let", "panic", "regex", "settimeout", "sleep", "static", "ts-ignore", "typeof", "unknown", "unsafe", "unwrap", "var",
];

/// Forms of the type `any`.
const ANY_TYPES: &[&str] = &[
    ": any", "<any", "as any", " any>", "| any", "any |", "any[", "=> any",
];

/// How lines begin that import something.
pub(super) const IMPORTING: &[&str] = &[
    "import ",
    "from ",
    "use ",
    "using ",
    "#include",
    "require",
    "extern crate",
];

/// Whether a line uses a keyword or library.
fn uses(line: &str, name: &str, written: &Written<'_>) -> bool {
    let lower = line.to_lowercase();
    if !holds(&lower, name) {
        return false;
    }
    let trimmed = lower.trim_start();
    let is_text = is_comment(line, written) && !name.contains('-');
    if name == "any" {
        // The type, and not the matcher of a test: `expect.any(String)`.
        return !is_text && ANY_TYPES.iter().any(|form| lower.contains(form));
    }
    if KEYWORDS.contains(&name) {
        return !is_text;
    }
    let others = &["gem ", "implementation", "mod ", "@import", "include "];
    let imports = IMPORTING
        .iter()
        .chain(others)
        .any(|word| trimmed.starts_with(word))
        || lower.contains("require(")
        || lower.contains(" from ")
        || lower.contains("import(");
    let is_called = lower.match_indices(name).any(|(at, _)| {
        let rest = &lower[at + name.len()..];
        rest.starts_with("::")
            || rest.starts_with('.') && line[at..].starts_with(|letter: char| letter.is_alphabetic())
            || lower[..at].ends_with(['@', '<'])
    });
    !is_text && (imports || written.is_settings() || is_called || name.contains('-'))
}

/// Words that define a function.
#[rustfmt::skip]
const DEFINING: &[&str] = &[
    "def ", "defp ", "fn ", "func ", "function ", "fun ", "sub ", "const ", "let ", "var ", "public ", "private ", "protected ", "static ", "export ", "async ", "override ",
    "class ", "struct ", "interface ", "trait ", "enum ", "type ", "internal ", "int ", "void ", "char ", "bool ", "double ", "float ", "size_t ",
];

/// Whether a line defines a function or type.
fn defines(line: &str, name: &str) -> bool {
    let line = line.trim_start();
    let Some(at) = line.find(name) else { return false };
    let is_whole = holds(line, name);
    let rest = line[at + name.len()..].trim_start();
    let opens = rest.starts_with(['(', '<', '=', ':', '{']) || rest.is_empty();
    is_whole
        && opens
        && DEFINING.iter().any(|word| line[..at].contains(word))
        && !line[..at].contains(['(', '='])
}

/// Whether a line defines a function that others can call.
fn defines_public(line: &str) -> bool {
    let line = line.trim_start();
    let begins = |words: &[&str]| words.iter().any(|word| line.starts_with(word));
    let is_shown = begins(&[
        "export ",
        "public ",
        "pub ",
        "def ",
        "fun ",
        "open ",
        "override fun",
    ]) || line.starts_with("func ")
        && line["func ".len()..]
            .trim_start_matches(|letter| letter != ')')
            .trim_start_matches([')', ' '])
            .starts_with(char::is_uppercase);
    let is_function = line.contains('(')
        && begins(&[
            "export function",
            "export async",
            "export const",
            "export default",
            "public ",
            "pub ",
            "def ",
            "fun ",
            "open fun",
            "override fun",
            "func ",
        ]);
    let is_hidden = begins(&[
        "def _",
        "pub(crate)",
        "public class",
        "export class",
        "export interface",
        "export type",
    ]);
    is_shown && is_function && !is_hidden
}

/// Whether an edit changes a signature. What is not known to have been there before does not count.
fn changes_signature(written: &Written<'_>, names: &[String]) -> bool {
    let Some(before) = written.before.as_deref().filter(|_| !written.is_whole) else {
        return false;
    };
    let is_signature = |line: &&str| {
        if names.is_empty() {
            defines_public(line)
        } else {
            names.iter().any(|name| defines(line, name))
        }
    };
    let kept: HashSet<&str> = written.after.lines().map(head).collect();
    // Nothing is known of a text that replaces none, but a function that is named was there.
    if before.trim().is_empty() {
        return !names.is_empty() && written.after.lines().any(|line| is_signature(&line));
    }
    before
        .lines()
        .filter(is_signature)
        .any(|line| !kept.contains(head(line)))
}

/// A definition without its body.
fn head(line: &str) -> &str {
    let line = line.trim();
    let end = line.find(" {").or_else(|| line.find("=>")).unwrap_or(line.len());
    line[..end].trim_end_matches(['{', ' ', ';'])
}

/// The version that a line gives a thing: the first digits at most 24 characters behind its name.
fn version_in(line: &str, name: &str) -> Option<String> {
    let lower = line.to_lowercase();
    let at = lower.find(name)?;
    let rest: String = lower[at + name.len()..].chars().take(24).collect();
    if !rest.starts_with(|letter: char| !letter.is_alphanumeric()) {
        return None;
    }
    let first = rest.find(|letter: char| letter.is_ascii_digit())?;
    let found = rest[first..].chars();
    let found: String = found
        .take_while(|letter| letter.is_ascii_digit() || *letter == '.')
        .collect();
    Some(found.trim_end_matches('.').to_owned())
}

/// Whether a line gives a thing another version than this.
pub(super) fn has_other_version(line: &str, name: &str, version: &str) -> bool {
    let wanted = version.trim_start_matches('v').trim_end_matches(".x");
    version_in(line, name).is_some_and(|found| {
        found != wanted
            && !found.starts_with(&format!("{wanted}."))
            && !wanted.starts_with(&format!("{found}."))
    })
}

/// Whether an edit changes the line that gives a setting its value, or what stands below it.
fn changes_setting(written: &Written<'_>, words: &[String]) -> bool {
    let Some(before) = written.before.as_deref().filter(|_| !written.is_prose()) else {
        return false;
    };
    let is_named = |line: &&str| setting_of(line).is_some_and(|name| has_words(name, words));
    before.lines().take(MAX_LINES).filter(is_named).any(|line| {
        let is_kept = written.after.lines().any(|other| other.trim() == line.trim());
        let opens = line.trim_end().ends_with([':', '{', '[']);
        !is_kept || opens && before.trim() != written.after.trim()
    })
}

/// Whether a text gives a number to a name with this part, that it did not have before.
fn sets_number(written: &Written<'_>, part: &str) -> bool {
    if written.is_prose() {
        return false;
    }
    let known = written
        .before
        .as_deref()
        .map_or_else(Vec::new, |text| numbers_of(text, part));
    let numbers = numbers_of(&written.after, part);
    numbers.iter().any(|number| !known.contains(number))
}

/// The numbers that a text gives to names with a part: `60_000` of `timeout: 60_000` and of `setDefaultTimeout(60_000)`.
fn numbers_of<'t>(text: &'t str, part: &str) -> Vec<&'t str> {
    const BETWEEN: &[char] = &[' ', '\t', ':', '=', '(', '"', '\'', '>'];
    // A timer is no limit.
    const TIMERS: &[&str] = &["settimeout", "cleartimeout"];
    let is_name = |letter: char| letter.is_ascii_alphanumeric() || matches!(letter, '_' | '-');
    let mut found = Vec::new();
    for line in text.lines().take(MAX_LINES) {
        for name in line.split(|letter: char| !is_name(letter)) {
            let lower = name.to_ascii_lowercase();
            if !lower.contains(part) || TIMERS.contains(&lower.as_str()) {
                continue;
            }
            let Some((_, rest)) = line.split_once(name) else {
                continue;
            };
            let rest = rest.trim_start_matches(BETWEEN);
            let end = rest.find(|letter: char| !is_name(letter)).unwrap_or(rest.len());
            if rest.starts_with(|letter: char| letter.is_ascii_digit()) {
                found.push(&rest[..end]);
            }
        }
    }
    found
}

/// Whether an edit gives an entry another key: the old key is gone, and its value stands at another.
fn renames_key(written: &Written<'_>) -> bool {
    let Some(before) = written.before.as_deref() else {
        return false;
    };
    let entry = |line: &str| {
        let name = setting_of(line)?.to_owned();
        let value = line[line.find([':', '='])? + 1..]
            .trim_start_matches('>')
            .trim()
            .trim_end_matches(',')
            .to_owned();
        (!value.is_empty()).then_some((name, value))
    };
    let after: Vec<(String, String)> = written.after.lines().take(MAX_LINES).filter_map(entry).collect();
    before
        .lines()
        .take(MAX_LINES)
        .filter_map(entry)
        .any(|(name, value)| {
            let is_same = |one: &str, other: &str| one == other || is_near(one, other);
            !after.iter().any(|(other, _)| *other == name)
                && after.iter().any(|(_, other)| is_same(other, &value))
        })
}

/// Whether two values differ in a few letters only, as after the correction of a typing mistake.
fn is_near(one: &str, other: &str) -> bool {
    common_beginning(one, other) >= 8 && one.len().abs_diff(other.len()) <= 3
}

/// The name of the setting to which a line gives a value: `batch_size` of `batch_size: 256`.
pub(super) fn setting_of(line: &str) -> Option<&str> {
    const MOST: usize = 60;
    let end = line.find([':', '=', '{'])?;
    let name = line[..end].trim().trim_matches(['"', '\'']);
    let is_name = |letter: char| letter.is_alphanumeric() || "_-.$ ".contains(letter);
    (!name.is_empty() && name.len() <= MOST && name.chars().all(is_name)).then_some(name)
}

/// Whether more lines are written than allowed: of a document as a whole, of a function elsewhere.
fn has_too_many_lines(written: &Written<'_>, most: usize) -> bool {
    if written.is_prose() {
        return written.is_whole && written.after.lines().count() > most;
    }
    let lines: Vec<&str> = written.after.lines().take(MAX_LINES).collect();
    let indent = |line: &str| line.len() - line.trim_start().len();
    let is_function = |line: &str| {
        line.contains('(')
            && ["def ", "fn ", "func ", "function ", "fun ", "sub "]
                .iter()
                .any(|word| line.trim_start().contains(word))
    };
    (0..lines.len()).filter(|at| is_function(lines[*at])).any(|at| {
        let body = lines[at + 1..].iter().take_while(|line| {
            line.trim().is_empty() || indent(line) > indent(lines[at]) || line.trim_start().starts_with(')')
        });
        let closes = lines
            .get(at + 1 + body.clone().count())
            .is_some_and(|line| line.trim_start().starts_with(['}', 'e']));
        body.count() + 1 + usize::from(closes) > most
    })
}

fn is_test(line: &str) -> bool {
    let line = line.trim_start();
    [
        "@Test",
        "#[test]",
        "#[tokio::test]",
        "[Fact]",
        "[Test]",
        "[TestMethod]",
        "it(",
        "test(",
        "it '",
        "it \"",
        "def test_",
        "func Test",
        "async def test_",
        "specify ",
        "scenario ",
    ]
    .iter()
    .any(|begin| line.starts_with(begin))
}

/// Whether a line holds a comment.
fn is_comment(line: &str, written: &Written<'_>) -> bool {
    let line = line.trim();
    if line.starts_with("#!") || line.is_empty() {
        return false;
    }
    let hashes = written.is_ending(&[
        "py", "rb", "sh", "bash", "yml", "yaml", "toml", "tf", "pl", "r", "ex", "exs", "ps1", "jl", "cr", "",
        "mk", "cfg", "conf",
    ]);
    let slashes = !hashes && !written.is_ending(&["sql", "lua", "hs", "html", "css", "elm", "json"]);
    let opens = |mark: &str| line.starts_with(mark) || line.contains(&format!(" {mark} "));
    hashes && opens("#")
        || slashes && (opens("//") || opens("/*") || line.starts_with("///"))
        || written.is_ending(&["sql", "lua", "hs", "elm"]) && opens("--")
        || written.is_ending(&["html", "vue", "xml", "svelte", "md"]) && line.contains("<!--")
        || written.is_ending(&["css", "scss", "less"]) && line.contains("/*")
}

fn has_inline_style(line: &str) -> bool {
    ["style={{", "style=\"", "<style"]
        .iter()
        .any(|mark| line.contains(mark))
}

fn mocks(line: &str) -> bool {
    let lower = line.to_lowercase();
    ["mock", "sinon.", "jest.fn(", "vi.fn(", "stub("]
        .iter()
        .any(|name| lower.contains(name))
}

/// Whether a line logs a value with one of these names.
fn logs(line: &str, names: &[String]) -> bool {
    let lower = line.to_lowercase();
    let calls = [
        "log.", "logger.", "logging.", "log(", "print(", "println", "printf(", "console.",
    ];
    let Some(at) = calls.iter().find_map(|call| lower.find(call)) else {
        return false;
    };
    // What is between quotation marks is a message.
    let values: String = lower[at..]
        .split(['"', '\'', '`'])
        .step_by(2)
        .collect::<Vec<_>>()
        .join(" ");
    names.iter().any(|name| values.contains(name.as_str()))
}

fn is_emoji(letter: char) -> bool {
    matches!(letter, '\u{1f300}'..='\u{1faff}' | '\u{2600}'..='\u{26ff}' | '\u{2705}' | '\u{2728}' | '\u{2753}'..='\u{2757}' | '\u{274c}' | '\u{2b50}')
}

impl WrittenConstraint {
    /// Whether a sentence that requests a change names what is forbidden.
    pub(super) fn is_lifted_by(&self, sentence: &Sentence) -> bool {
        let names = |names: &[&str]| sentence.requests(names);
        let quotes = |name: &String| sentence.orders() && sentence.text.contains(name.as_str());
        match &self.what {
            Construct::Literal { text, .. } => quotes(text),
            Construct::Name(name)
            | Construct::Declared(name)
            | Construct::Symbol(name)
            | Construct::Version { name, .. } => names(&[name.to_lowercase().as_str()]),
            Construct::Signature(of) => {
                names(&["signature", "parameter", "argument"]) || of.iter().any(quotes)
            }
            Construct::Comment => names(&["comments", "comment"]),
            Construct::Tests(_) => names(&["tests", "test", "specs"]),
            Construct::Mock => names(&["mock", "mocks"]),
            Construct::Emoji => names(&["emoji", "emojis"]),
            Construct::Badge => names(&["badge", "badges"]),
            Construct::OwnStyle | Construct::InlineStyle => names(&["css", "style", "styles"]),
            Construct::DebugOutput => names(&["print", "log", "prints", "logs"]),
            Construct::Formatting => names(&["format", "reformat", "fmt", "formatting"]),
            Construct::Keys => names(&["keys", "key"]),
            Construct::Setting(words) => {
                sentence.orders() && words.iter().all(|word| sentence.has_any(&[word.as_str()]))
            }
            Construct::Knob(name) => sentence.orders() && sentence.has_word_of(name),
            Construct::Lines(_) | Construct::Section(_) | Construct::Logged(_) => false,
        }
    }
}
