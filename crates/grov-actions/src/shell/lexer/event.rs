//! What a script consists of, as the lexer reads it.

/// One step of a script.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Event {
    /// A subshell or a substitution begins: what it changes of the shell's state is forgotten at its end. A substitution
    /// has a number, by which the word that it stands in names it.
    Enter(Option<usize>),
    /// It ends.
    Leave,
    /// A simple command.
    Command(Command),
}

/// A simple command: assignments, the program and its arguments as words, and redirections.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Command {
    pub(crate) words: Vec<Word>,
    pub(crate) redirections: Vec<Redirection>,
    /// It stands behind `|`.
    pub(crate) is_piped: bool,
    /// It stands behind `||`.
    pub(crate) is_fallback: bool,
}

/// A word, in the pieces that it is put together from.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Word {
    pub(crate) pieces: Vec<Piece>,
    /// Some of it was quoted or escaped.
    pub(crate) quoted: bool,
}

/// A piece of a word.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Piece {
    Text(String),
    /// Text in quotes, or escaped.
    Quoted(String),
    /// `$NAME` or `${NAME}`.
    Variable(String),
    /// Something that only the shell can compute, as it is written.
    Unknown {
        text: String,
        /// The number of the substitution that it is.
        substitution: Option<usize>,
    },
}

impl Word {
    /// Adds what is not quoted.
    pub(super) fn push(&mut self, c: char) {
        match self.pieces.last_mut() {
            Some(Piece::Text(text)) => text.push(c),
            _ => self.pieces.push(Piece::Text(c.into())),
        }
    }

    /// Adds what is quoted.
    pub(super) fn push_quoted(&mut self, c: char) {
        self.quoted = true;
        match self.pieces.last_mut() {
            Some(Piece::Quoted(text)) => text.push(c),
            _ => self.pieces.push(Piece::Quoted(c.into())),
        }
    }

    /// The text of a word of which nothing is left to the shell.
    pub(crate) fn literal(&self) -> Option<String> {
        self.pieces
            .iter()
            .map(|piece| match piece {
                Piece::Text(text) | Piece::Quoted(text) => Some(text.as_str()),
                Piece::Variable(_) | Piece::Unknown { .. } => None,
            })
            .collect()
    }

    /// The text of a word in which nothing is quoted, as reserved words must be written.
    pub(crate) fn bare(&self) -> Option<&str> {
        match self.pieces.as_slice() {
            [Piece::Text(text)] if !self.quoted => Some(text),
            _ => None,
        }
    }
}

/// What a redirection does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Direction {
    /// `<`
    Read,
    /// `>`, `>|`, `&>`, `<>`
    Write,
    /// `>>`, `&>>`
    Append,
    /// `>&`, `<&`: a file only if the target is no descriptor.
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
    /// The text of a here-document.
    pub(crate) body: Option<String>,
}
