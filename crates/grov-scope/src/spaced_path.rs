//! Paths with spaces, in quotes.

use std::borrow::Cow;

/// The longest path looked for, in bytes.
const MAX_BYTES: usize = 200;

/// Pairs of quotes.
const QUOTES: &[(char, char)] = &[
    ('"', '"'),
    ('\'', '\''),
    ('`', '`'),
    ('“', '”'),
    ('„', '“'),
    ('„', '"'),
    ('«', '»'),
    ('‘', '’'),
];

/// Words between two paths, which are no part of one.
#[rustfmt::skip]
const JOINING: &[&str] = &[
    "and", "or", "to", "with", "in", "und", "oder", "mit", "et", "ou", "y", "o", "e", "i", "lub", "si", "sau",
    "en", "of", "da", "->", "=>", "&&", "||", "|", ">", ">>", "<", "=",
];

/// The length of a path with spaces in quotes at the beginning of `text`, up to its closing quote, with what stands before it:
/// `"docs/My Notes/plan.md"`, `@"src/old code/"`.
///
/// A command in quotes is no path: in backticks, words begin with capitals or the text ends with a slash.
pub(crate) fn quoted_path(text: &str) -> Option<usize> {
    let inner = text.trim_start_matches(['(', '[', '@']);
    let is_mention = text[..text.len() - inner.len()].ends_with('@');
    let open = inner.chars().next()?;
    let from = text.len() - inner.len() + open.len_utf8();
    let near = &text[from..text.floor_char_boundary((from + MAX_BYTES).min(text.len()))];
    let quotes = QUOTES.iter().filter(|(first, _)| *first == open);
    // A text may be cut before its closing quote.
    let ends = quotes.map(|(_, close)| near.find(*close).unwrap_or(near.len()));
    let path = &near[..ends.min()?];
    let is_closed = path.len() < near.len();
    let is_whole = is_closed || from + near.len() == text.len() && (path.ends_with('/') || has_ending(path));
    (is_whole
        && !path.contains('\n')
        && (is_mention && !path.trim().is_empty() || is_path(path, open == '`')))
    .then_some(from + path.len())
}

fn is_path(text: &str, may_be_command: bool) -> bool {
    let pieces: Vec<&str> = text.split(' ').collect();
    let is_plain = |piece: &&str| {
        !piece.is_empty()
            && !piece.starts_with('-')
            && !piece.ends_with([',', ';', ':', '!', '?'])
            && !JOINING.contains(piece)
            && !piece.contains(['=', '$', '{', '<', '>', '|'])
            && !piece.contains("://")
    };
    let is_folder = text.ends_with('/');
    // "a.md b.md" are two files, and "deploy.sh production" is a command.
    let names_file = |piece: &&str| {
        let name = piece.rsplit('/').next().unwrap_or(piece);
        name.trim_start_matches('.').contains('.')
    };
    let (Some(first), [before_last @ .., _]) = (pieces.first(), pieces.as_slice()) else {
        return false;
    };
    // The words beside each space.
    let mut beside = pieces.windows(2).flat_map(|pair| {
        let before = pair[0].rsplit('/').next().unwrap_or_default();
        [before, pair[1]]
    });
    let is_name = |word: &str| !word.starts_with(|letter: char| letter.is_lowercase());
    pieces.len() > 1
        && pieces.iter().all(is_plain)
        && (first.contains('/') || is_folder || has_ending(text))
        && !before_last.iter().any(names_file)
        && (is_folder || !may_be_command || beside.all(is_name))
}

/// Whether a path ends with a file name that has an ending.
fn has_ending(path: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or(path);
    name.rsplit_once('.').is_some_and(|(stem, ending)| {
        !stem.is_empty()
            && (1..=5).contains(&ending.len())
            && ending.bytes().all(|byte| byte.is_ascii_alphanumeric())
    })
}

/// A path as it is on the disk: `My\ Notes` is written so in a shell.
pub(crate) fn unescaped(path: &str) -> Cow<'_, str> {
    match path.contains("\\ ") {
        true => path.replace("\\ ", " ").into(),
        false => path.into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_paths_with_spaces_are_kept_whole() {
        let paths = [
            "\"docs/My Notes/plan.md\" now",
            "`docs/My Notes/plan.md`, please",
            "(\"Quarterly Report 2025.xlsx\")",
            "@\"legacy code\" and more",
            "„src/alte Entwürfe/“ nicht",
            "'src/old code/'",
            "\"docs/release notes.md\"",
            "«docs/Notes de version.md»",
            "«docs/Notes de version.md",
            "„docs/Neue Notizen/\"",
        ];
        for text in paths {
            assert!(quoted_path(text).is_some(), "{text}");
        }
        let others = [
            "\"src/a.ts and src/b.ts\"",
            "`bin/rails db:migrate`",
            "`scripts/deploy.sh production`",
            "`npm run build.js`",
            "\"don't touch the docs\"",
            "\"src/cart",
            "\"src/my cart",
            "\"a/b -> c/d\"",
            "'s src/my files/ and it's",
            "`NODE_ENV=test bin/run it/`",
            "plain words",
        ];
        for text in others {
            assert_eq!(quoted_path(text), None, "{text}");
        }
    }
}
