//! What an expression of the code stands for, as far as texts go.

use super::Language;
use super::names::{Names, assignments, imports};
use super::token::{LEFT_OPEN, Text, Token};

/// Expressions in expressions are followed this deep.
const MAX_DEPTH: u8 = 6;
/// Of longer expressions the beginning is looked at, in tokens.
const MAX_TOKENS: usize = 512;
/// More elements of one list are not looked at.
const MAX_ELEMENTS: usize = 256;
/// Longer texts that are put together are left open.
const MAX_TEXT: usize = 16 * 1024;
/// More text of one list, or of the arguments of one call, is not known; no longer text of a name is remembered. A line that
/// holds so much is not told.
pub(super) const MAX_LINE: usize = 8 * 1024;

/// A value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Value {
    Text(Text),
    List(Vec<Value>),
    Unknown,
}

impl Value {
    /// The text; `None` for anything else.
    pub(super) fn text(&self) -> Option<&Text> {
        match self {
            Self::Text(text) => Some(text),
            _ => None,
        }
    }

    /// The bytes of its texts.
    fn length(&self) -> usize {
        match self {
            Self::Text(text) => text.value.len(),
            Self::List(list) => list.iter().map(Self::length).sum(),
            Self::Unknown => 0,
        }
    }
}

/// How much text of values that stand together is still known: a name may hold a long text and stand there many times.
#[derive(Debug)]
pub(super) struct TextBudget(usize);

impl Default for TextBudget {
    fn default() -> Self {
        Self(MAX_LINE)
    }
}

impl TextBudget {
    /// What the expression between two places stands for, if there is room.
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

/// The code's tokens with the brackets that belong together.
#[derive(Debug)]
pub(super) struct Code<'t> {
    pub(super) language: Language,
    pub(super) tokens: &'t [Token],
    pub(super) names: Names,
    /// For each opening bracket where it is closed, and the other way round; itself for everything else.
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
        // In order: what a name is given may be said with the names before.
        for (name, value) in assignments(tokens) {
            let value = value.map_or(Value::Unknown, |start| {
                code.value(start, code.statement_end(start))
            });
            let text = value.text().filter(|text| text.value.len() <= MAX_LINE).cloned();
            code.names.give(name, text);
        }
        code
    }

    /// Where the statement ends that `at` stands in: at the end of a line, a semicolon, or the bracket around it.
    pub(super) fn statement_end(&self, at: usize) -> usize {
        let mut at = at;
        while let Some(token) = self.tokens.get(at) {
            let ends = *token == Token::Line || matches!(token, Token::Sign(';' | ')' | ']' | '}'));
            let ends = ends
                || token.name().is_some_and(|name| {
                    matches!(self.language, Language::Perl | Language::Ruby)
                        && matches!(name, "if" | "unless" | "or" | "and" | "do" | "while" | "rescue")
                });
            if ends {
                break;
            }
            at = self.behind(at);
        }
        at.min(self.tokens.len())
    }

    /// The bracket that belongs to the one at `at`.
    pub(super) fn partner(&self, at: usize) -> Option<usize> {
        self.partner.get(at).copied().filter(|partner| *partner != at)
    }

    pub(super) fn token(&self, at: usize) -> Option<&'t Token> {
        self.tokens.get(at)
    }

    /// The places from `start` to `end` that commas part, without those in brackets.
    pub(super) fn parted(&self, start: usize, end: usize) -> Vec<(usize, usize)> {
        let mut parts = Vec::new();
        let (mut begin, mut at) = (start, start);
        while at < end && parts.len() < MAX_ELEMENTS {
            if self.tokens[at].is(',') {
                parts.push((begin, at));
                begin = at + 1;
            }
            at = self.behind(at);
        }
        if begin < end {
            parts.push((begin, end));
        }
        parts
    }

    /// The first token between two places that does not end a line.
    pub(super) fn skip_lines(&self, start: usize, end: usize) -> usize {
        (start..end)
            .find(|at| self.tokens[*at] != Token::Line)
            .unwrap_or(end)
    }

    /// The place behind the token or the brackets at `at`.
    fn behind(&self, at: usize) -> usize {
        match self.partner(at) {
            Some(partner) if partner > at => partner + 1,
            _ => at + 1,
        }
    }

    /// What the expression between two places stands for.
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
                match self.parted(start + 1, end - 1).as_slice() {
                    [(start, end)] if sign == '(' => self.value_at(*start, *end, depth + 1),
                    parts => Value::List(self.elements(parts, depth)),
                }
            }
            _ => self.sum(start, end, depth),
        }
    }

    /// The values of a list at `depth`.
    fn elements(&self, parts: &[(usize, usize)], depth: u8) -> Vec<Value> {
        let mut budget = TextBudget::default();
        let values = parts
            .iter()
            .map(|(start, end)| budget.value_at(self, *start, *end, depth + 1));
        values.collect()
    }

    /// Texts put together.
    fn sum(&self, start: usize, end: usize, depth: u8) -> Value {
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
            let (term, behind) = self.term(at, end, depth);
            match term {
                Some(Value::Text(term)) => {
                    is_known = true;
                    text.value.push_str(&term.value);
                    text.is_open |= term.is_open;
                }
                Some(list @ Value::List(_)) if at == start && behind >= end => return list,
                _ => {
                    if !text.value.ends_with(LEFT_OPEN) {
                        text.value.push_str(LEFT_OPEN);
                    }
                    text.is_open = true;
                }
            }
            at = behind;
        }
        if is_known {
            Value::Text(text)
        } else {
            Value::Unknown
        }
    }

    /// Whether the sign at `at` puts two texts together.
    fn joins(&self, at: usize) -> bool {
        match self.language {
            Language::Perl | Language::Php => self.tokens[at].is('.'),
            _ => self.tokens[at].is('+'),
        }
    }

    /// One term that begins at `at`, and the place behind it and all that is done with it.
    fn term(&self, at: usize, end: usize, depth: u8) -> (Option<Value>, usize) {
        let (value, behind) = match &self.tokens[at] {
            Token::Text(text) => (Some(Value::Text(text.clone())), at + 1),
            Token::Sign('$') if self.tokens.get(at + 1).is_some_and(|next| next.name().is_some()) => {
                let known = self.tokens[at + 1].name().and_then(|name| self.names.text(name));
                (known.cloned().map(Value::Text), at + 2)
            }
            Token::Name(_) => self.named(at, end, depth),
            _ => (None, self.behind(at)),
        };
        self.with_methods(value, behind, end)
    }

    /// A name with what is called or taken of it: `p`, `os.path.join('a', 'b')`.
    fn named(&self, at: usize, end: usize, depth: u8) -> (Option<Value>, usize) {
        let mut last = at;
        let mut is_path = false;
        while last + 2 < end && self.tokens[last + 1].is('.') && self.tokens[last + 2].name().is_some() {
            is_path |= self.tokens[last]
                .name()
                .is_some_and(|name| matches!(name, "path" | "File" | "posixpath"));
            last += 2;
        }
        let name = self.tokens[last].name().unwrap_or_default();
        let open = last + 1;
        if open >= end || !self.tokens[open].is('(') {
            let known = (last == at).then(|| self.names.text(name)).flatten();
            return (known.cloned().map(Value::Text), last + 1);
        }
        let close = self.partner(open).unwrap_or(end).min(end);
        let parts = self.parted(open + 1, close);
        let value = match (name, parts.as_slice()) {
            (
                "expanduser" | "Path" | "PurePath" | "str" | "String" | "resolve" | "abspath" | "normpath"
                | "realpath" | "fspath" | "expand_path",
                [(start, end)],
            ) => Some(self.value_at(*start, *end, depth + 1)),
            ("join", [_, ..]) if is_path => Some(joined(self.elements(&parts, depth))),
            _ => None,
        };
        (value, close + 1)
    }

    /// The value after what is done with it: `.split()`, `% x`, `.format(x)`. Of anything else its text is left open.
    fn with_methods(&self, value: Option<Value>, at: usize, end: usize) -> (Option<Value>, usize) {
        let mut value = value;
        let mut at = at;
        while at < end {
            if self.tokens[at].is('%') && self.language == Language::Python {
                value = value.map(filled_in);
                return (value, end);
            }
            let is_access = self.tokens[at].is('.') && !self.joins(at);
            if self.tokens[at].is('[') || self.tokens[at].is('(') {
                value = None;
                at = self.behind(at);
            } else if is_access {
                let method = self.tokens.get(at + 1).and_then(Token::name).unwrap_or_default();
                value = match method {
                    "split" | "strip" | "trim" | "encode" | "decode" | "chomp" | "to_s" | "toString" => value,
                    "format" => value.map(filled_in),
                    _ => None,
                };
                at += 2;
                if at < end && self.tokens[at].is('(') {
                    at = self.behind(at);
                }
            } else {
                break;
            }
        }
        (value, at.min(end))
    }
}

/// A text in which values are put for `%s` and `{}`.
fn filled_in(value: Value) -> Value {
    let Value::Text(mut text) = value else {
        return Value::Unknown;
    };
    let mut filled = String::with_capacity(text.value.len());
    let mut rest = text.value.as_str();
    // Braces after the last closing one are not searched for their end: that would take quadratic time.
    let closed = rest.rfind('}').map_or(0, |last| rest.len() - last);
    while let Some(at) = rest.find(['%', '{']) {
        filled.push_str(&rest[..at]);
        rest = &rest[at..];
        let length = match rest.as_bytes() {
            [b'%', b's' | b'd' | b'r', ..] => 2,
            [b'{', ..] if closed > 0 && rest.len() >= closed => rest.find('}').map_or(0, |end| end + 1),
            _ => 0,
        };
        filled.push_str(if length > 0 { LEFT_OPEN } else { &rest[..1] });
        rest = &rest[length.max(1)..];
    }
    filled.push_str(rest);
    text.value = filled;
    text.is_open = true;
    Value::Text(text)
}

/// Parts of a path.
fn joined(parts: Vec<Value>) -> Value {
    let mut path = Text::default();
    for part in parts {
        if !path.value.is_empty() && !path.value.ends_with('/') {
            path.value.push('/');
        }
        match part {
            Value::Text(text) if !text.is_open && text.value.starts_with('/') => path = text,
            Value::Text(text) => {
                path.value.push_str(&text.value);
                path.is_open |= text.is_open;
            }
            Value::List(_) | Value::Unknown => {
                path.value.push_str(LEFT_OPEN);
                path.is_open = true;
            }
        }
    }
    Value::Text(path)
}

/// For each bracket the one that belongs to it.
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
        // What does not fit belongs to nothing.
        if open.last().is_some_and(|(_, sign)| *sign == closes)
            && let Some((opening, _)) = open.pop()
        {
            partner[opening] = at;
            partner[at] = opening;
        }
    }
    partner
}
