//! Splits a piece of code into the tokens that are needed to find calls.
//!
//! Comments, whitespace and the contents of numbers and regular expressions are dropped. [`UNKNOWN`] replaces the
//! parts of a text that are inserted at run time.

use super::Language;
use crate::cursor::Cursor;

/// Replaces a value that is known only at run time: an undefined shell variable.
pub(super) const UNKNOWN: &str = "$_";

/// The maximum length of a regular expression in characters.
const MAX_PATTERN: usize = 1024;

/// The maximum number of tokens.
const MAX_TOKENS: usize = 8192;

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Token {
    Name(String),
    Text(Text),
    Sign(char),
    /// The end of a line.
    Line,
    /// A number or a regular expression.
    Other,
}

impl Token {
    pub(super) fn is(&self, sign: char) -> bool {
        *self == Self::Sign(sign)
    }

    pub(super) fn name(&self) -> Option<&str> {
        match self {
            Self::Name(name) => Some(name),
            _ => None,
        }
    }

    /// Whether the token ends a value: then `/` is a division.
    fn ends_value(&self) -> bool {
        match self {
            Self::Name(name) => !matches!(
                name.as_str(),
                "return"
                    | "typeof"
                    | "case"
                    | "in"
                    | "of"
                    | "and"
                    | "or"
                    | "not"
                    | "if"
                    | "unless"
                    | "while"
                    | "when"
                    | "split"
            ),
            Self::Text(_) | Self::Other => true,
            Self::Sign(sign) => matches!(sign, ')' | ']' | '}'),
            Self::Line => false,
        }
    }
}

/// A string literal.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Text {
    pub(super) value: String,
    /// Part of the value is [`UNKNOWN`].
    pub(super) has_unknown: bool,
    /// A shell runs the text: backticks.
    pub(super) is_run: bool,
}

impl Text {
    fn push_unknown(&mut self) {
        self.value.push_str(UNKNOWN);
        self.has_unknown = true;
    }
}

/// The delimiters and the rules of a text.
#[derive(Clone, Copy, Debug)]
struct Quoting {
    /// The opening delimiter, if it differs from the closing one. Then both may occur in pairs in the text.
    opens: Option<char>,
    closes: char,
    /// The number of closing delimiters that end the text.
    times: usize,
    /// The backslash has no meaning.
    is_raw: bool,
    /// Values of variables or expressions are inserted.
    interpolates: bool,
}

impl Quoting {
    fn new(opens: char, interpolates: bool) -> Self {
        let closes = match opens {
            '(' => ')',
            '[' => ']',
            '{' => '}',
            '<' => '>',
            other => other,
        };
        Self {
            opens: (closes != opens).then_some(opens),
            closes,
            times: 1,
            is_raw: false,
            interpolates,
        }
    }
}

/// The tokens of a piece of code.
pub(super) fn tokens(language: Language, code: &str) -> Vec<Token> {
    let mut reader = Reader {
        language,
        cursor: Cursor::new(code),
        found: Vec::new(),
    };
    while reader.found.len() < MAX_TOKENS {
        let Some(letter) = reader.cursor.take_char() else {
            break;
        };
        reader.step(letter);
    }
    reader.found
}

struct Reader<'c> {
    language: Language,
    cursor: Cursor<'c>,
    found: Vec<Token>,
}

impl<'c> Reader<'c> {
    fn take_name(&mut self) {
        let rest = self.cursor.rest();
        let end = rest.find(|next: char| !(next.is_alphanumeric() || next == '_'));
        self.cursor.at += end.unwrap_or(rest.len());
    }

    fn push_text(&mut self, quoting: Quoting, is_run: bool) {
        let text = self.text(quoting);
        self.found.push(Token::Text(Text { is_run, ..text }));
    }

    fn step(&mut self, letter: char) {
        use Language::{JavaScript, Perl, Php, Python, Ruby};
        let language = self.language;
        match letter {
            '\n' => self.found.push(Token::Line),
            letter if letter.is_whitespace() => {}
            '\\' => {
                // A continued line.
                let goes_on = self.cursor.take("\n");
                if !goes_on {
                    self.found.push(Token::Sign('\\'));
                }
            }
            // `$#list`, `$"` and `$/` are variables.
            '#' | '"' | '\'' | '`' | '/' if language == Perl && self.follows_dollar(letter) => {
                self.found.push(Token::Sign(letter));
            }
            '#' if language != JavaScript => self.cursor.skip_line(),
            '/' if matches!(language, JavaScript | Php) && self.cursor.next_is("/") => {
                self.cursor.skip_line()
            }
            '/' if matches!(language, JavaScript | Php) && self.cursor.next_is("*") => {
                let rest = self.cursor.rest();
                self.cursor.at += rest.find("*/").map_or(rest.len(), |end| end + 2);
            }
            '/' if matches!(language, JavaScript | Perl | Ruby)
                && (!self.found.last().is_some_and(Token::ends_value) || self.closes_condition()) =>
            {
                self.pattern();
            }
            '\'' | '"' if language == Python => self.python_text(letter, ""),
            '\'' => self.push_text(Quoting::new(letter, false), false),
            '"' => self.push_text(Quoting::new(letter, language != JavaScript), false),
            '`' if language != Python => {
                // JavaScript runs a template after `$`.
                let is_run = language != JavaScript || self.found.last().is_some_and(|last| last.is('$'));
                self.push_text(Quoting::new(letter, true), is_run);
            }
            '%' if language == Ruby => self.percent(),
            letter if letter.is_alphabetic() || letter == '_' => self.name(letter),
            letter if letter.is_ascii_digit() => {
                self.take_name();
                self.found.push(Token::Other);
            }
            sign => self.found.push(Token::Sign(sign)),
        }
    }

    fn name(&mut self, first: char) {
        let start = self.cursor.at - first.len_utf8();
        self.take_name();
        let name = &self.cursor.text[start..self.cursor.at];
        let is_prefix =
            |name: &str| name.len() <= 2 && name.chars().all(|letter| "rbuftRBUFT".contains(letter));
        let language = self.language;
        if language == Language::Perl && !self.is_member() && self.quoted_by_name(name) {
            return;
        }
        if language == Language::Python && self.cursor.rest().starts_with(['\'', '"']) && is_prefix(name) {
            let quote = self.cursor.take_char().unwrap_or('"');
            return self.python_text(quote, &name.to_ascii_lowercase());
        }
        self.found.push(Token::Name(name.to_owned()));
    }

    /// Whether the name to be read belongs to a variable or a member.
    fn is_member(&self) -> bool {
        matches!(
            self.found.last(),
            Some(Token::Sign('$' | '@' | '%' | '&' | '>' | '{' | '#'))
        )
    }

    /// Whether the character just taken directly follows a `$`.
    fn follows_dollar(&self, letter: char) -> bool {
        let before = &self.cursor.text[..self.cursor.at - letter.len_utf8()];
        before.ends_with('$') && self.found.last().is_some_and(|last| last.is('$'))
    }

    /// Whether the last token closes the condition of a JavaScript statement, such as `if (x)`. A regular expression
    /// may follow it.
    fn closes_condition(&self) -> bool {
        if self.language != Language::JavaScript || !self.found.last().is_some_and(|last| last.is(')')) {
            return false;
        }
        let mut depth = 0_usize;
        let opens = self.found.iter().rposition(|token| {
            match token {
                Token::Sign(')') => depth += 1,
                Token::Sign('(') => depth -= 1,
                _ => {}
            }
            depth == 0
        });
        let keyword = opens.and_then(|at| self.found.get(at.checked_sub(1)?)?.name());
        keyword.is_some_and(|name| matches!(name, "if" | "while" | "for" | "with"))
    }

    fn python_text(&mut self, quote: char, prefix: &str) {
        let pair: String = [quote, quote].iter().collect();
        let times = if self.cursor.take(&pair) { 3 } else { 1 };
        let quoting = Quoting {
            times,
            is_raw: prefix.contains('r'),
            ..Quoting::new(quote, prefix.contains(['f', 't']))
        };
        self.push_text(quoting, false);
    }

    /// Perl's `qw(a b)`, `q{…}`, `qx/…/`, `m{…}` and `s/…/…/`.
    fn quoted_by_name(&mut self, name: &str) -> bool {
        if !matches!(name, "q" | "qq" | "qx" | "qw" | "qr" | "m" | "s" | "tr" | "y") {
            return false;
        }
        let delimits = |sign: &char| sign.is_ascii_punctuation() && !"=,;)-._>".contains(*sign);
        let Some(opens) = self.cursor.peek().filter(delimits) else {
            return false;
        };
        self.cursor.take_char();
        let first = self.text(Quoting::new(opens, matches!(name, "qq" | "qx")));
        let found = match name {
            "qw" => {
                self.list(&first.value);
                return true;
            }
            "q" | "qq" => Token::Text(first),
            "qx" => Token::Text(Text {
                is_run: true,
                ..first
            }),
            "s" | "tr" | "y" => {
                let mut second = Some(opens);
                if Quoting::new(opens, false).opens.is_some() {
                    self.cursor.at += self.cursor.rest().len() - self.cursor.rest().trim_start().len();
                    second = self.cursor.take_char();
                }
                if let Some(opens) = second {
                    self.text(Quoting::new(opens, false));
                }
                Token::Other
            }
            _ => Token::Other,
        };
        self.found.push(found);
        true
    }

    /// Ruby's `%x(…)`, `%w[a b]` and `%q{…}`.
    fn percent(&mut self) {
        let mut rest = self.cursor.rest().chars();
        let (Some(kind), Some(opens)) = (rest.next(), rest.next()) else {
            return self.found.push(Token::Sign('%'));
        };
        if !("xwWiqQ".contains(kind) && "([{<|!/".contains(opens)) {
            return self.found.push(Token::Sign('%'));
        }
        self.cursor.at += kind.len_utf8() + opens.len_utf8();
        let text = self.text(Quoting::new(opens, "xWQ".contains(kind)));
        match kind {
            'x' => self.found.push(Token::Text(Text { is_run: true, ..text })),
            'q' | 'Q' => self.found.push(Token::Text(text)),
            _ => self.list(&text.value),
        }
    }

    /// A list of words.
    fn list(&mut self, words: &str) {
        self.found.push(Token::Sign('['));
        for word in words.split_whitespace().take(MAX_TOKENS / 2) {
            let text = Text {
                value: word.to_owned(),
                ..Text::default()
            };
            self.found.extend([Token::Text(text), Token::Sign(',')]);
        }
        self.found.push(Token::Sign(']'));
    }

    /// Skips a regular expression if it ends on its line.
    fn pattern(&mut self) {
        let mut is_escaped = false;
        let mut is_class = false;
        for (at, letter) in self.cursor.rest().char_indices().take(MAX_PATTERN) {
            match letter {
                '\n' => break,
                _ if is_escaped => is_escaped = false,
                '\\' => is_escaped = true,
                '[' => is_class = true,
                ']' => is_class = false,
                '/' if !is_class => {
                    self.cursor.at += at + 1;
                    return self.found.push(Token::Other);
                }
                _ => {}
            }
        }
        self.found.push(Token::Sign('/'));
    }

    /// Reads the rest of a text after its opening delimiter.
    fn text(&mut self, quoting: Quoting) -> Text {
        let mut text = Text::default();
        let mut depth = 0;
        while let Some(letter) = self.cursor.take_char() {
            match letter {
                '\\' if !quoting.is_raw => self.escaped(quoting, &mut text),
                letter if quoting.opens == Some(letter) => {
                    depth += 1;
                    text.value.push(letter);
                }
                letter if letter == quoting.closes => {
                    if depth > 0 {
                        depth -= 1;
                        text.value.push(letter);
                        continue;
                    }
                    let ends = quoting.times == 1 || {
                        let others: String = std::iter::repeat_n(letter, quoting.times - 1).collect();
                        self.cursor.take(&others)
                    };
                    if ends {
                        return text;
                    }
                    text.value.push(letter);
                }
                letter => self.plain(letter, quoting, &mut text),
            }
        }
        text
    }

    fn escaped(&mut self, quoting: Quoting, text: &mut Text) {
        let Some(escaped) = self.cursor.take_char() else {
            return;
        };
        // Perl, Ruby and PHP keep most backslashes in texts without interpolation.
        let has_escapes =
            quoting.interpolates || matches!(self.language, Language::Python | Language::JavaScript);
        match escaped {
            'n' if has_escapes => text.value.push('\n'),
            't' if has_escapes => text.value.push('\t'),
            '\n' if has_escapes => {}
            escaped if has_escapes || escaped == '\\' || escaped == quoting.closes => {
                text.value.push(escaped)
            }
            escaped => text.value.extend(['\\', escaped]),
        }
    }

    /// Reads a character of a text or an inserted value: `{x}` in Python, `${x}` in JavaScript, `#{x}` in Ruby, `$x`
    /// and `@x` in Perl and PHP.
    fn plain(&mut self, letter: char, quoting: Quoting, text: &mut Text) {
        use Language::{JavaScript, Perl, Php, Python, Ruby};
        let next = self.cursor.peek();
        let begins_name = next.is_some_and(|next| next.is_alphabetic() || matches!(next, '_' | '{'));
        match (self.language, letter) {
            _ if !quoting.interpolates => text.value.push(letter),
            (Python, '{' | '}') if next == Some(letter) => {
                self.cursor.take_char();
                text.value.push(letter);
            }
            (Python, '{') => {
                self.skip_braces();
                text.push_unknown();
            }
            (JavaScript, '$') | (Ruby, '#') if next == Some('{') => {
                self.cursor.take_char();
                self.skip_braces();
                text.push_unknown();
            }
            (Perl | Php, '$' | '@') if begins_name => {
                if self.cursor.take("{") {
                    self.skip_braces();
                }
                self.take_name();
                text.push_unknown();
            }
            _ => text.value.push(letter),
        }
    }

    /// Skips to the closing brace.
    fn skip_braces(&mut self) {
        let mut depth = 0_usize;
        while let Some(letter) = self.cursor.take_char() {
            match letter {
                '{' => depth += 1,
                '}' if depth == 0 => return,
                '}' => depth -= 1,
                _ => {}
            }
        }
    }
}
