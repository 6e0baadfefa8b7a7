//! Finds quotations in what they quote.

use super::sentence::sentences;
use grov_domain::words;
use std::collections::HashSet;

/// The most characters of a quotation.
const MAX_QUOTE_CHARS: usize = 600;

/// The share of a quotation's words that a sentence has to contain to take its place.
const REPAIR_SHARE: f64 = 0.6;

/// Returns the part of `source` that `quote` repeats, character for character, or `None`. White space, capitals, the form of
/// quotation marks and dashes, and the marks of emphasis may differ.
pub(crate) fn find<'s>(source: &'s str, quote: &str) -> Option<&'s str> {
    let wanted = Folded::of(unquoted(quote)).text;
    let wanted = wanted.trim();
    if wanted.chars().count() < 2 {
        return None;
    }
    let folded = Folded::of(source);
    let at = folded.text.find(wanted)?;
    let start = folded.source_offset(at);
    let last = folded.source_offset(
        at + wanted
            .chars()
            .next_back()
            .map_or(0, |letter| wanted.len() - letter.len_utf8()),
    );
    let end = source[last..]
        .chars()
        .next()
        .map_or(last, |letter| last + letter.len_utf8());
    Some(shortened(&source[start..end]))
}

/// Returns the sentence of `source` that an inexact quotation probably means: the one with most of its words, at least 60 % of
/// them. A sentence with other numbers says something else.
pub(crate) fn repair<'s>(source: &'s str, quote: &str) -> Option<&'s str> {
    let wanted: HashSet<String> = words(quote, 200).into_iter().collect();
    if wanted.len() < 2 {
        return None;
    }
    let share = |sentence: &str| {
        let found: HashSet<String> = words(sentence, 400).into_iter().collect();
        wanted.intersection(&found).count() as f64 / wanted.len() as f64
    };
    sentences(source)
        .into_iter()
        .map(|range| &source[range])
        .map(|sentence| (share(sentence), sentence))
        .filter(|(share, sentence)| *share >= REPAIR_SHARE && !has_other_numbers(sentence, quote))
        .max_by(|(one, _), (other, _)| one.total_cmp(other))
        .map(|(_, sentence)| shortened(sentence))
}

/// Whether each of two texts has a number that the other lacks: "14 days" and "60 days", but not "nine" and "9".
fn has_other_numbers(one: &str, other: &str) -> bool {
    let numbers = |text: &str| -> HashSet<String> {
        text.split(|letter: char| !letter.is_ascii_digit())
            .filter(|number| !number.is_empty())
            .map(str::to_owned)
            .collect()
    };
    let (one, other) = (numbers(one), numbers(other));
    !one.is_subset(&other) && !other.is_subset(&one)
}

/// Removes what a writer puts around a quotation.
fn unquoted(quote: &str) -> &str {
    quote
        .trim()
        .trim_end_matches("...")
        .trim_start_matches("...")
        .trim_matches(|letter: char| {
            letter.is_whitespace() || matches!(letter, '"' | '“' | '”' | '„' | '«' | '»' | '…')
        })
}

/// Returns the beginning of a quotation, still a part of its source.
fn shortened(quote: &str) -> &str {
    let quote = quote.trim();
    match quote.char_indices().nth(MAX_QUOTE_CHARS) {
        Some((at, _)) => quote[..at].trim_end(),
        None => quote,
    }
}

/// A text with small differences removed, and where its characters come from.
struct Folded {
    text: String,
    /// For each character: its offset in `text` and in the source.
    offsets: Vec<(usize, usize)>,
}

impl Folded {
    fn of(source: &str) -> Self {
        let mut folded = Self {
            text: String::with_capacity(source.len()),
            offsets: Vec::with_capacity(source.len()),
        };
        for (at, letter) in source.char_indices() {
            let letter = match letter {
                '*' | '`' => continue,
                letter if letter.is_whitespace() && folded.text.ends_with(' ') => continue,
                letter if letter.is_whitespace() => ' ',
                '‘' | '’' | '‚' | '‛' => '\'',
                '“' | '”' | '„' | '‟' | '«' | '»' => '"',
                '‐' | '‑' | '‒' | '–' | '—' | '−' => '-',
                letter => letter.to_lowercase().next().unwrap_or(letter),
            };
            folded.offsets.push((folded.text.len(), at));
            folded.text.push(letter);
        }
        folded
    }

    fn source_offset(&self, at: usize) -> usize {
        let place = self.offsets.partition_point(|(offset, _)| *offset < at);
        self.offsets.get(place).map_or(0, |(_, source)| *source)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const SOURCE: &str = "# Returns\n\nGoods can be **returned** within\n30 days – “unused”. Ask `support`.";

    #[test]
    fn small_differences_are_ignored_and_the_source_is_returned() {
        for (quote, found) in [
            ("returned within 30 days", Some("returned** within\n30 days")),
            ("goods can be returned", Some("Goods can be **returned")),
            ("\"30 days - \"unused\".\"", Some("30 days – “unused”.")),
            ("…within 30 days…", Some("within\n30 days")),
            ("within 60 days", None),
            ("x", None),
            ("", None),
            ("   ", None),
        ] {
            assert_eq!(find(SOURCE, quote), found, "{quote}");
        }
    }

    #[test]
    fn a_wrong_quotation_becomes_the_sentence_it_means() {
        let source = "Deploys run on Tuesday. Support answers within two hours on working days.";
        assert_eq!(
            repair(source, "Support answers within 2 hours on working days"),
            Some("Support answers within two hours on working days.")
        );
        assert_eq!(repair(source, "Refunds take five days"), None);
        assert_eq!(repair(source, ""), None);
    }

    proptest! {
        #[test]
        fn what_is_found_is_in_the_source(source in "\\PC{0,60}", quote in "\\PC{0,12}") {
            if let Some(found) = find(&source, &quote) {
                prop_assert!(source.contains(found));
            }
        }

        #[test]
        fn each_part_of_a_text_is_found(source in "[a-zé *\\n.漢İ]{0,40}", from in 0..40_usize, length in 2..20_usize) {
            let part: String = source.chars().skip(from).take(length).collect();
            if Folded::of(unquoted(&part)).text.trim().chars().count() >= 2 {
                prop_assert!(find(&source, &part).is_some(), "{part:?}");
            }
        }
    }
}
