//! A WordPiece tokenizer with BERT's pre-tokenizer, as described by `tokenizer.json`.

use super::UnusableFile;
use super::pretokenizer::{Normalizer, split_words};
use serde::Deserialize;
use serde_json::value::RawValue;
use std::cmp::Reverse;
use std::collections::HashMap;

/// The maximum number of added tokens (`[PAD]` and the like). There are usually five; each is searched for in every
/// text.
const MAX_ADDED_TOKENS: usize = 256;

/// The tokenizer of a model.
#[derive(Debug)]
pub(super) struct Tokenizer {
    normalizer: Normalizer,
    vocabulary: HashMap<String, u32>,
    /// Tokens recognised in the text before normalisation.
    added: Vec<Added>,
    /// The prefix of a piece inside of a word.
    prefix: String,
    /// A longer word, in characters, is unknown.
    longest_word: usize,
    /// Bytes of the longest piece, prefix included.
    longest_piece: usize,
    /// The token of an unknown word.
    unknown: Option<u32>,
}

#[derive(Debug)]
struct Added {
    text: String,
    token: u32,
}

#[derive(Deserialize)]
#[serde(expecting = "an object with normalizer, pre_tokenizer and model")]
struct File<'a> {
    #[serde(default)]
    added_tokens: Vec<AddedToken>,
    #[serde(borrow)]
    normalizer: Option<&'a RawValue>,
    #[serde(borrow)]
    pre_tokenizer: Option<&'a RawValue>,
    #[serde(borrow)]
    model: &'a RawValue,
}

#[derive(Deserialize)]
struct AddedToken {
    id: u32,
    content: String,
    #[serde(default)]
    single_word: bool,
    #[serde(default)]
    normalized: bool,
}

#[derive(Deserialize)]
struct Typed {
    #[serde(rename = "type")]
    kind: Option<String>,
}

#[derive(Deserialize)]
struct WordPiece {
    unk_token: String,
    continuing_subword_prefix: String,
    max_input_chars_per_word: usize,
    vocab: HashMap<String, u32>,
}

impl Tokenizer {
    /// Parses `tokenizer.json`.
    pub(super) fn read(json: &[u8]) -> Result<Self, UnusableFile> {
        let file: File<'_> = serde_json::from_slice(json).map_err(|error| error.to_string())?;
        let normalizer = of_kind(file.normalizer, "normalizer", "BertNormalizer")?;
        let _: Typed = of_kind(file.pre_tokenizer, "pre_tokenizer", "BertPreTokenizer")?;
        let model: WordPiece = of_kind(Some(file.model), "model", "WordPiece")?;
        let added = file.added_tokens.into_iter();
        let added: Vec<Added> = added
            .filter(|token| !token.content.is_empty())
            .map(|token| token.read(&model.vocab))
            .collect::<Result<_, _>>()?;
        if added.len() > MAX_ADDED_TOKENS {
            return Err(format!("{} added tokens are more than {MAX_ADDED_TOKENS}", added.len()).into());
        }
        Ok(Self {
            normalizer,
            added,
            prefix: model.continuing_subword_prefix,
            longest_word: model.max_input_chars_per_word,
            longest_piece: model.vocab.keys().map(String::len).max().unwrap_or_default(),
            unknown: model.vocab.get(&model.unk_token).copied(),
            vocabulary: model.vocab,
        })
    }

    /// The number of tokens.
    pub(super) fn size(&self) -> usize {
        let beyond = self
            .added
            .iter()
            .filter(|added| !self.vocabulary.contains_key(&added.text));
        self.vocabulary.len() + beyond.count()
    }

    /// The largest token id.
    pub(super) fn last(&self) -> Option<u32> {
        let added = self.added.iter().map(|added| added.token);
        self.vocabulary.values().copied().chain(added).max()
    }

    /// The token of an unknown word.
    pub(super) fn unknown(&self) -> Option<u32> {
        self.unknown
    }

    /// The tokens of a text, in order.
    pub(super) fn tokens(&self, text: &str) -> Vec<u32> {
        let mut tokens = Vec::with_capacity(text.len() / 4);
        let mut rest = text;
        while let Some((at, added)) = self.next_added(rest) {
            self.add_tokens(&rest[..at], &mut tokens);
            tokens.push(added.token);
            rest = &rest[at + added.text.len()..];
        }
        self.add_tokens(rest, &mut tokens);
        tokens
    }

    /// The first added token in a text; of several at one position the longest.
    fn next_added(&self, text: &str) -> Option<(usize, &Added)> {
        let found = self
            .added
            .iter()
            .filter_map(|added| text.find(&added.text).map(|at| (at, added)));
        found.min_by_key(|(at, added)| (*at, Reverse(added.text.len())))
    }

    fn add_tokens(&self, text: &str, tokens: &mut Vec<u32>) {
        let mut piece = String::with_capacity(self.longest_piece);
        split_words(&self.normalizer.apply(text), |word| {
            let before = tokens.len();
            if !self.add_pieces(word, &mut piece, tokens) {
                tokens.truncate(before);
                tokens.extend(self.unknown);
            }
        });
    }

    /// Splits a word greedily into the longest pieces; `false` if that is not possible.
    fn add_pieces(&self, word: &str, piece: &mut String, tokens: &mut Vec<u32>) -> bool {
        if word.chars().count() > self.longest_word {
            return false;
        }
        let mut rest = word;
        while !rest.is_empty() {
            piece.clear();
            if rest.len() < word.len() {
                piece.push_str(&self.prefix);
            }
            let prefix = piece.len();
            piece.push_str(&rest[..rest.floor_char_boundary(self.longest_piece)]);
            let token = loop {
                if piece.len() <= prefix {
                    return false;
                }
                match self.vocabulary.get(piece.as_str()) {
                    Some(token) => break *token,
                    None => piece.pop(),
                };
            };
            tokens.push(token);
            rest = &rest[piece.len() - prefix..];
        }
        true
    }
}

impl AddedToken {
    fn read(self, vocabulary: &HashMap<String, u32>) -> Result<Added, UnusableFile> {
        if self.normalized || self.single_word {
            return Err(format!(
                "its added token {:?} is looked for in normalised text or in whole words, which Grov does not do",
                self.content
            ).into());
        }
        Ok(Added {
            token: vocabulary.get(&self.content).copied().unwrap_or(self.id),
            text: self.content,
        })
    }
}

/// Parses a part of the file, which must be of this type.
fn of_kind<'a, T: Deserialize<'a>>(
    part: Option<&'a RawValue>,
    name: &str,
    kind: &str,
) -> Result<T, UnusableFile> {
    let unsupported = |found: &str| UnusableFile(format!("its {name} is {found}; Grov supports only {kind}"));
    let invalid = |error: serde_json::Error| UnusableFile(format!("{name}: {error}"));
    let Some(part) = part else {
        return Err(unsupported("missing"));
    };
    let typed: Typed = serde_json::from_str(part.get()).map_err(invalid)?;
    match typed.kind.as_deref() {
        Some(found) if found == kind => serde_json::from_str(part.get()).map_err(invalid),
        Some(found) => Err(unsupported(found)),
        None => Err(unsupported("of no named type")),
    }
}
