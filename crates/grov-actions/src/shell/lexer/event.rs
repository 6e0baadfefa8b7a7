//! The events of the lexer.

/// A step of a script.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Event {
    /// The start of a subshell or a substitution. Its changes to the shell's state are discarded at its end.
    /// Substitutions are numbered, and words refer to these numbers.
    Enter(Option<usize>),
    /// The end of a subshell or a substitution.
    Leave,
    Command(Command),
    /// The end of a function that was defined. Its commands precede this event.
    Function {
        name: String,
        body: String,
    },
}

/// A simple command: assignments, the program and its arguments as words, and redirections.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Command {
    pub(crate) words: Vec<Word>,
    pub(crate) redirections: Vec<Redirection>,
    /// The command follows `|`.
    pub(crate) is_piped: bool,
    /// The command follows `||`.
    pub(crate) is_fallback: bool,
}

/// A word as a list of pieces.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Word {
    pub(crate) pieces: Vec<Piece>,
    /// Part of the word is quoted or escaped.
    pub(crate) quoted: bool,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Piece {
    Text(String),
    /// Quoted or escaped text.
    Quoted(String),
    /// `$NAME` or `${NAME}`.
    Variable(String),
    /// A piece that only a shell can evaluate, in its source form.
    Unknown {
        text: String,
        /// The number of the substitution, if it is one.
        substitution: Option<usize>,
    },
}

impl Word {
    /// Adds an unquoted character.
    pub(super) fn push(&mut self, c: char) {
        match self.pieces.last_mut() {
            Some(Piece::Text(text)) => text.push(c),
            _ => self.pieces.push(Piece::Text(c.into())),
        }
    }

    /// Adds a quoted character.
    pub(super) fn push_quoted(&mut self, c: char) {
        self.quoted = true;
        match self.pieces.last_mut() {
            Some(Piece::Quoted(text)) => text.push(c),
            _ => self.pieces.push(Piece::Quoted(c.into())),
        }
    }

    /// The text of a word without variables or unknown pieces.
    pub(crate) fn literal(&self) -> Option<String> {
        self.pieces
            .iter()
            .map(|piece| match piece {
                Piece::Text(text) | Piece::Quoted(text) => Some(text.as_str()),
                Piece::Variable(_) | Piece::Unknown { .. } => None,
            })
            .collect()
    }

    /// The text of a word without any quoting, as required of reserved words.
    pub(crate) fn bare(&self) -> Option<&str> {
        match self.pieces.as_slice() {
            [Piece::Text(text)] if !self.quoted => Some(text),
            _ => None,
        }
    }
}

/// The kind of a redirection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Direction {
    /// `<`
    Read,
    /// `>`, `>|`, `&>`, `<>`
    Write,
    /// `>>`, `&>>`
    Append,
    /// `>&`, `<&`: the target is a file only if it is not a descriptor.
    Duplicate,
    /// `<<`, `<<-`; the target is the delimiter.
    HereDocument,
    /// `<<<`
    HereString,
}

/// A redirection.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Redirection {
    pub(crate) direction: Direction,
    pub(crate) target: Word,
    /// The body of a here-document.
    pub(crate) body: Option<String>,
}
