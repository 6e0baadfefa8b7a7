//! Evaluates expressions as far as they yield texts.

use super::Language;
use super::file_paths::{join_paths, with_suffix};
use super::names::{Names, assignments, imports};
use super::token::{Text, Token, UNKNOWN};

/// The maximum nesting of expressions.
const MAX_DEPTH: u8 = 6;
/// The number of tokens of an expression that are evaluated.
const MAX_TOKENS: usize = 512;
/// The maximum number of items in a list.
const MAX_ELEMENTS: usize = 256;
/// The maximum length of a concatenated text in bytes.
const MAX_TEXT: usize = 16 * 1024;
/// The maximum length of the texts in one list or one call, of a text assigned to a name, and of a command line, in
/// bytes.
pub(super) const MAX_LINE: usize = 8 * 1024;

/// The value of an expression.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Value {
    Text(Text),
    List(Vec<Value>),
    Unknown,
}

impl Value {
    pub(super) fn text(&self) -> Option<&Text> {
        match self {
            Self::Text(text) => Some(text),
            _ => None,
        }
    }

    /// The length of its texts in bytes.
    fn length(&self) -> usize {
        match self {
            Self::Text(text) => text.value.len(),
            Self::List(list) => list.iter().map(Self::length).sum(),
            Self::Unknown => 0,
        }
    }
}

/// The length of texts that may still be added to a list or a call. A name with a long text may occur in it many
/// times.
#[derive(Debug)]
pub(super) struct TextBudget(usize);

impl Default for TextBudget {
    fn default() -> Self {
        Self(MAX_LINE)
    }
}

impl TextBudget {
    /// Evaluates the tokens from `start` to `end`. `Unknown` once the budget is spent.
    pub(super) fn value(&mut self, code: &Code<'_>, start: usize, end: usize) -> Value {
        self.value_at(code, start, end, 0)
    }

    fn value_at(&mut self, code: &Code<'_>, start: usize, end: usize, depth: u8) -> Value {
        if self.0 == 0 {
            return Value::Unknown;
        }
        let value = code.value_at(start, end, depth);
        self.0 = self.0.saturating_sub(value.length());
        value
    }
}

/// The tokens of the code with their matching brackets and names.
#[derive(Debug)]
pub(super) struct Code<'t> {
    pub(super) language: Language,
    pub(super) tokens: &'t [Token],
    pub(super) names: Names,
    /// The index of the matching bracket; of any other token, its own index.
    partner: Vec<usize>,
}

impl<'t> Code<'t> {
    pub(super) fn new(language: Language, tokens: &'t [Token]) -> Self {
        let mut code = Self {
            language,
            tokens,
            names: Names::default(),
            partner: partners(tokens),
        };
        imports(language, tokens, &mut code.names);
        // In order, because a value may refer to the names before it.
        for (name, value) in assignments(tokens) {
            if let Some(start) = value
                && tokens[..start]
                    .last()
                    .and_then(Token::name)
                    .is_some_and(is_loop_word)
            {
                // The files of a pattern: `for f in glob("*.txt")`.
                let files = code.value(start, code.statement_end(start));
                let files = files.text().filter(|files| files.value.contains('*')).cloned();
                code.names.assign(name, files);
                continue;
            }
            let value = value.map_or(Value::Unknown, |start| {
                code.value(start, code.statement_end(start))
            });
            let text = value.text().filter(|text| text.value.len() <= MAX_LINE).cloned();
            code.names.assign(name, text);
        }
        code
    }

    /// The end of the statement at `at`: the end of the line, a semicolon or a closing bracket.
    pub(super) fn statement_end(&self, at: usize) -> usize {
        let mut at = at;
        while let Some(token) = self.tokens.get(at) {
            let ends = *token == Token::Line || matches!(token, Token::Sign(';' | ')' | ']' | '}'));
            let ends = ends
                || self.language == Language::Python && token.is(':')
                || token.name().is_some_and(|name| {
                    matches!(self.language, Language::Perl | Language::Ruby)
                        && matches!(name, "if" | "unless" | "or" | "and" | "do" | "while" | "rescue")
                });
            if ends {
                break;
            }
            at = self.after(at);
        }
        at.min(self.tokens.len())
    }

    /// The index of the matching bracket.
    pub(super) fn partner(&self, at: usize) -> Option<usize> {
        self.partner.get(at).copied().filter(|partner| *partner != at)
    }

    pub(super) fn token(&self, at: usize) -> Option<&'t Token> {
        self.tokens.get(at)
    }

    /// Splits the tokens from `start` to `end` at commas outside of brackets.
    pub(super) fn split_at_commas(&self, start: usize, end: usize) -> Vec<(usize, usize)> {
        let mut parts = Vec::new();
        let (mut begin, mut at) = (start, start);
        while at < end && parts.len() < MAX_ELEMENTS {
            if self.tokens[at].is(',') {
                parts.push((begin, at));
                begin = at + 1;
            }
            at = self.after(at);
        }
        if begin < end {
            parts.push((begin, end));
        }
        parts
    }

    /// The first token from `start` to `end` that is not the end of a line.
    pub(super) fn skip_lines(&self, start: usize, end: usize) -> usize {
        (start..end)
            .find(|at| self.tokens[*at] != Token::Line)
            .unwrap_or(end)
    }

    /// The index after the token or the bracketed group at `at`.
    fn after(&self, at: usize) -> usize {
        match self.partner(at) {
            Some(partner) if partner > at => partner + 1,
            _ => at + 1,
        }
    }

    /// Evaluates the tokens from `start` to `end`.
    pub(super) fn value(&self, start: usize, end: usize) -> Value {
        self.value_at(start, end, 0)
    }

    fn value_at(&self, start: usize, end: usize, depth: u8) -> Value {
        let (mut start, mut end) = (start, end.min(self.tokens.len()).min(start + MAX_TOKENS));
        let is_outside = |at: usize| matches!(self.tokens[at], Token::Line | Token::Sign('*' | ';'));
        while start < end && is_outside(start) {
            start += 1;
        }
        while start < end && is_outside(end - 1) {
            end -= 1;
        }
        if start >= end || depth >= MAX_DEPTH {
            return Value::Unknown;
        }
        let closes_last = self.partner(start) == Some(end - 1);
        match self.tokens[start] {
            Token::Sign(sign @ ('[' | '(')) if closes_last => {
                match self.split_at_commas(start + 1, end - 1).as_slice() {
                    [(start, end)] if sign == '(' => self.value_at(*start, *end, depth + 1),
                    parts => Value::List(self.elements(parts, depth)),
                }
            }
            _ => self.concatenation(start, end, depth),
        }
    }

    /// Evaluates the items of a list.
    fn elements(&self, parts: &[(usize, usize)], depth: u8) -> Vec<Value> {
        let mut budget = TextBudget::default();
        let values = parts
            .iter()
            .map(|(start, end)| budget.value_at(self, *start, *end, depth + 1));
        values.collect()
    }

    /// Evaluates a concatenation of texts.
    fn concatenation(&self, start: usize, end: usize, depth: u8) -> Value {
        let mut text = Text::default();
        let mut is_known = false;
        let mut at = start;
        while at < end {
            if text.value.len() > MAX_TEXT {
                return Value::Unknown;
            }
            if self.tokens[at] == Token::Line || self.joins(at) {
                at += 1;
                continue;
            }
            // `Path("a") / "b"`
            if self.language == Language::Python && self.tokens[at].is('/') && is_known {
                text.value.push('/');
                at += 1;
                continue;
            }
            let (term, next) = self.term(at, end, depth);
            match term {
                Value::Text(term) => {
                    is_known = true;
                    text.value.push_str(&term.value);
                    text.has_unknown |= term.has_unknown;
                }
                list @ Value::List(_) if at == start && next >= end => return list,
                _ => {
                    if !text.value.ends_with(UNKNOWN) {
                        text.value.push_str(UNKNOWN);
                    }
                    text.has_unknown = true;
                }
            }
            at = next;
        }
        if is_known {
            Value::Text(text)
        } else {
            Value::Unknown
        }
    }

    /// Whether the token at `at` concatenates texts.
    fn joins(&self, at: usize) -> bool {
        match self.language {
            Language::Perl | Language::Php => self.tokens[at].is('.'),
            _ => self.tokens[at].is('+'),
        }
    }

    /// The text of a variable.
    fn variable(&self, name: &str) -> Value {
        let text = self.names.text(name).cloned();
        text.map_or(Value::Unknown, Value::Text)
    }

    /// Evaluates a term with its methods. Returns the value and the index after the term.
    fn term(&self, at: usize, end: usize, depth: u8) -> (Value, usize) {
        let (value, next) = match &self.tokens[at..] {
            [Token::Text(text), ..] => (Value::Text(text.clone()), at + 1),
            [Token::Sign('$'), Token::Name(name), ..] => match self.home(at + 1, at + 1, end) {
                Some(next) if name == "ENV" || name == "_ENV" => {
                    let home = Text {
                        value: "~".to_owned(),
                        ..Text::default()
                    };
                    (Value::Text(home), next)
                }
                _ => (self.variable(name), at + 2),
            },
            [Token::Name(_), ..] => self.named(at, end, depth),
            _ => (Value::Unknown, self.after(at)),
        };
        self.with_methods(value, next, end)
    }

    /// Evaluates a name or a call: `p`, `os.path.join('a', 'b')`.
    fn named(&self, at: usize, end: usize, depth: u8) -> (Value, usize) {
        if let Some(name) = self.tokens[at].name()
            && self.tokens[..end].get(at + 1).is_some_and(|next| next.is('.'))
            && let known @ Value::Text(_) = self.variable(name)
        {
            return (known, at + 1);
        }
        let mut last = at;
        let mut is_path = false;
        while let [Token::Name(name), Token::Sign('.'), Token::Name(_), ..] = &self.tokens[last..end] {
            is_path |= matches!(name.as_str(), "path" | "File" | "posixpath");
            last += 2;
        }
        let name = self.tokens[last].name().unwrap_or_default();
        let open = last + 1;
        if let Some(next) = self.home(at, last, end) {
            let home = Text {
                value: "~".to_owned(),
                ..Text::default()
            };
            return (Value::Text(home), next);
        }
        // `glob "x"` in Perl, `Dir["x"]` in Ruby.
        if let ("glob", Some(Token::Text(pattern))) = (name, self.tokens[..end].get(open)) {
            return (Value::Text(pattern.clone()), open + 1);
        }
        if let ("Dir", [Token::Sign('['), Token::Text(pattern), Token::Sign(']'), ..]) =
            (name, &self.tokens[open.min(end)..end])
        {
            return (Value::Text(pattern.clone()), open + 3);
        }
        if open >= end || !self.tokens[open].is('(') {
            let is_variable = last == at;
            let value = if is_variable {
                self.variable(name)
            } else {
                Value::Unknown
            };
            return (value, open);
        }
        let close = self.partner(open).unwrap_or(end).min(end);
        let parts = self.split_at_commas(open + 1, close);
        let value = match (name, parts.as_slice()) {
            (
                "expanduser" | "Path" | "PurePath" | "str" | "String" | "resolve" | "abspath" | "normpath"
                | "realpath" | "fspath" | "expand_path" | "text" | "sql" | "raw" | "quotemeta",
                [(start, end)],
            ) => self.value_at(*start, *end, depth + 1),
            ("glob" | "iglob" | "globSync", [(start, end), ..]) => self.value_at(*start, *end, depth + 1),
            // The files of a folder.
            ("readdirSync" | "listdir" | "scandir", [(start, end), ..]) => {
                with_suffix(self.value_at(*start, *end, depth + 1), "/*")
            }
            ("join", [_, ..]) if is_path => join_paths(self.elements(&parts, depth)),
            _ => Value::Unknown,
        };
        (value, close + 1)
    }

    /// Applies the methods and operators after a value: `.split()`, `% x`, `.format(x)`. Any other method yields an
    /// unknown value.
    fn with_methods(&self, mut value: Value, mut at: usize, end: usize) -> (Value, usize) {
        while at < end {
            let is = |sign| self.tokens[at].is(sign);
            if is('%') && self.language == Language::Python {
                return (fill_placeholders(value), end);
            }
            if is('[') || is('(') {
                value = Value::Unknown;
                at = self.after(at);
            } else if is('.') && !self.joins(at) {
                let method = self.tokens.get(at + 1).and_then(Token::name).unwrap_or_default();
                value = match method {
                    "split" | "strip" | "trim" | "encode" | "decode" | "chomp" | "to_s" | "toString" => value,
                    "format" => fill_placeholders(value),
                    // `require('os').homedir()`
                    "homedir" => Value::Text(Text {
                        value: "~".to_owned(),
                        ..Text::default()
                    }),
                    "glob" | "rglob" | "joinpath" => self.below(value, method, at + 2, end),
                    _ => Value::Unknown,
                };
                at += 2;
                if at < end && self.tokens[at].is('(') {
                    at = self.after(at);
                }
            } else {
                break;
            }
        }
        (value, at.min(end))
    }
}

/// Whether the values of a loop follow this word.
fn is_loop_word(word: &str) -> bool {
    matches!(word, "in" | "of")
}

/// Replaces the placeholders `%s` and `{}` by [`UNKNOWN`].
fn fill_placeholders(value: Value) -> Value {
    let Value::Text(mut text) = value else {
        return Value::Unknown;
    };
    let mut filled = String::with_capacity(text.value.len());
    let mut rest = text.value.as_str();
    // Do not search for the end of braces after the last closing one: that would take quadratic time.
    let closed = rest.rfind('}').map_or(0, |last| rest.len() - last);
    while let Some(at) = rest.find(['%', '{']) {
        filled.push_str(&rest[..at]);
        rest = &rest[at..];
        let length = match rest.as_bytes() {
            [b'%', b's' | b'd' | b'r', ..] => 2,
            [b'{', ..] if closed > 0 && rest.len() >= closed => rest.find('}').map_or(0, |end| end + 1),
            _ => 0,
        };
        filled.push_str(if length > 0 { UNKNOWN } else { &rest[..1] });
        rest = &rest[length.max(1)..];
    }
    filled.push_str(rest);
    text.value = filled;
    text.has_unknown = true;
    Value::Text(text)
}

/// The index of the matching bracket for each bracket.
fn partners(tokens: &[Token]) -> Vec<usize> {
    let mut partner: Vec<usize> = (0..tokens.len()).collect();
    let mut open: Vec<(usize, char)> = Vec::new();
    for (at, token) in tokens.iter().enumerate() {
        let Token::Sign(sign) = token else { continue };
        let closes = match sign {
            '(' | '[' | '{' => {
                open.push((at, *sign));
                continue;
            }
            ')' => '(',
            ']' => '[',
            '}' => '{',
            _ => continue,
        };
        // Unbalanced brackets match nothing.
        if open.last().is_some_and(|(_, sign)| *sign == closes)
            && let Some((opening, _)) = open.pop()
        {
            partner[opening] = at;
            partner[at] = opening;
        }
    }
    partner
}
