//! Sorted lists of words in one text, searched without splitting it: a hook process asks for a few words only.

/// Whether a sorted list, with one space or line break between its words, has this word.
pub fn has_word(list: &str, word: &str) -> bool {
    let is_gap = |byte: &u8| byte.is_ascii_whitespace();
    let mut rest = list.trim_ascii().as_bytes();
    while !rest.is_empty() {
        let middle = rest.len() / 2;
        let from = rest[..middle].iter().rposition(is_gap).map_or(0, |gap| gap + 1);
        let length = rest[from..].iter().position(is_gap);
        let end = length.map_or(rest.len(), |length| from + length);
        match rest[from..end].cmp(word.as_bytes()) {
            std::cmp::Ordering::Equal => return true,
            std::cmp::Ordering::Less => rest = rest.get(end + 1..).unwrap_or_default(),
            std::cmp::Ordering::Greater => rest = &rest[..from.saturating_sub(1)],
        }
    }
    false
}

/// Whether the words of a list are in order, so that [`has_word`] finds each.
#[cfg(test)]
pub(crate) fn is_in_order(list: &str) -> bool {
    let words: Vec<&str> = list.split_whitespace().collect();
    words.is_sorted_by(|one, other| one < other) && words.iter().all(|word| has_word(list, word))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn exactly_the_words_of_a_list_are_found() {
        const WORDS: [&str; 8] = ["a", "aa", "ab", "abc", "b", "ba", "c", "é"];
        for subset in 0..1_u32 << WORDS.len() {
            let is_listed = |place: usize| subset >> place & 1 != 0;
            let places = (0..WORDS.len()).filter(|place| is_listed(*place));
            let listed: Vec<&str> = places.map(|place| WORDS[place]).collect();
            for gap in [" ", "\n"] {
                let list = format!("{}\n", listed.join(gap));
                assert!(is_in_order(&list), "{list:?}");
                for (place, word) in WORDS.iter().enumerate() {
                    assert_eq!(has_word(&list, word), is_listed(place), "{word} in {list:?}");
                }
                assert!(!has_word(&list, "") && !has_word(&list, "zz"), "{list:?}");
            }
        }
    }
}
