use super::*;
use bytes::Bytes;

/// Returns a message of about `bytes` bytes for each letter.
fn messages(letters: &str, bytes: usize) -> String {
    let message = |letter: char| {
        let text = letter.to_string().repeat(bytes);
        format!(r#"{{"role":"user","content":[{{"type":"text","text":"{text}"}},{{}}]}}"#)
    };
    letters.chars().map(message).collect::<Vec<_>>().join(",")
}

fn request(messages: &str, after: &str) -> Bytes {
    Bytes::from(format!(r#"{{"messages":[{messages}]{after}}}"#))
}

/// Parses a request. Returns the number of messages that came from the cache.
fn parse(cache: &RequestCache, body: &Bytes) -> usize {
    let index = RequestIndex::parse_with_cache(body, cache).unwrap();
    index.shared_prefix.0.map_or(0, |beginning| beginning.count)
}

/// Returns the lengths of the cached bodies, newest first.
fn cached_lengths(cache: &RequestCache) -> Vec<usize> {
    let newest = cache.newest.read().unwrap();
    newest.iter().map(|cache| cache.index.body.len()).collect()
}

#[test]
fn messages_before_the_first_change_come_from_the_cache() {
    let cache = RequestCache::default();
    let parse_letters = |letters| parse(&cache, &request(&messages(letters, 2000), ""));
    assert_eq!(parse_letters("abcd"), 0);
    for (letters, count) in [("abcd", 4), ("abcdef", 3), ("abxdef", 2), ("ab", 1), ("xbcd", 0)] {
        assert_eq!(parse_letters(letters), count, "{letters}");
    }
    assert_eq!(super::common(b"", b"ab"), 0);
    for length in [3, STEP - 1, STEP, STEP + 1, 3 * STEP] {
        let text = vec![b'a'; length];
        assert_eq!(common(&text, &[text.as_slice(), b"b"].concat()), length);
        for at in [0, 1, length - 1] {
            let mut changed = text.clone();
            changed[at] = b'b';
            assert_eq!(common(&text, &changed), at);
        }
    }
}

#[test]
fn continued_conversation_replaces_its_earlier_request() {
    let cache = RequestCache::default();
    let mut lengths = Vec::new();
    for letters in ["abcd", "abcdef", "abcdefgh", "abxyzuvw"] {
        let body = request(&messages(letters, 2000), "");
        parse(&cache, &body);
        lengths.push(body.len());
    }
    // The last one differs early, so it is another conversation.
    assert_eq!(cached_lengths(&cache), [lengths[3], lengths[2]]);
}

#[test]
fn short_long_and_repeated_requests_are_not_cached() {
    let cache = RequestCache::default();
    let empty = request(&messages("a", 0), "").len();
    for (length, is_kept) in [
        (MIN_BYTES - 1, false),
        (MIN_BYTES, true),
        (MAX_BYTES, true),
        (MAX_BYTES + 1, false),
    ] {
        let cache = RequestCache::default();
        parse(&cache, &request(&messages("a", length - empty), ""));
        assert_eq!(
            cached_lengths(&cache),
            vec![length; usize::from(is_kept)],
            "{length}"
        );
    }
    let long = messages("abcdefghij", 8_000);
    parse(&cache, &request(&long, ""));
    let before = cached_lengths(&cache);
    parse(&cache, &request(&format!("{long},{}", messages("k", 100)), ""));
    assert_eq!(cached_lengths(&cache), before);
    parse(&cache, &request(&format!("{long},{}", messages("k", 20_000)), ""));
    assert_ne!(cached_lengths(&cache), before);
}

#[test]
fn cache_size_is_bounded() {
    let cache = RequestCache::default();
    let letters = "abcdefghijkl";
    for letter in letters.chars() {
        parse(&cache, &request(&messages(&letter.to_string(), 5000), ""));
    }
    assert_eq!(cached_lengths(&cache).len(), MAX_REQUESTS);
    // The newest are cached.
    let is_known = |letter: &char| parse(&cache, &request(&messages(&letter.to_string(), 5000), "")) == 1;
    assert_eq!(
        letters.chars().rev().take(MAX_REQUESTS).filter(is_known).count(),
        MAX_REQUESTS
    );
    for letter in letters.chars() {
        parse(
            &cache,
            &request(&messages(&letter.to_string(), MAX_BYTES / 2), ""),
        );
        assert!(cached_lengths(&cache).iter().sum::<usize>() <= MAX_TOTAL);
    }
    assert!(cached_lengths(&cache).len() > 1);
}

#[test]
fn requests_with_large_indexes_are_not_cached() {
    let cache = RequestCache::default();
    let numbers = "0,".repeat(100_000) + "0";
    assert!(numbers.len() < MAX_BYTES);
    parse(&cache, &request(&numbers, ""));
    assert!(cached_lengths(&cache).is_empty());
}

#[test]
fn requests_with_many_fields_are_not_cached() {
    let cache = RequestCache::default();
    for (fields, is_kept) in [(MAX_FIELDS, true), (MAX_FIELDS + 1, false)] {
        let others: String = (1..fields).map(|number| format!(r#","{number}":0"#)).collect();
        let body = request(&messages("a", 5000), &others);
        parse(&cache, &body);
        assert_eq!(
            cached_lengths(&cache).first() == Some(&body.len()),
            is_kept,
            "{fields}"
        );
    }
}

#[test]
fn tools_are_found_at_any_offset() {
    let cache = RequestCache::default();
    let list = format!(r#"[{{"name":"x","description":"{}"}},7]"#, "d".repeat(5000));
    parse(
        &cache,
        &request(&messages("a", 5000), &format!(r#","tools":{list}"#)),
    );
    parse(&cache, &request(&messages("b", 5000), ""));
    let tools = cache.tools(format!("{list},").as_bytes(), 100).unwrap();
    let (count, first) = tools.value;
    let name = list.find("x").unwrap() as u32 + 100;
    let first = first.unwrap().name.unwrap();
    assert_eq!((tools.length, count, first.start), (list.len(), 2, name));
    assert!(cache.tools(&list.as_bytes()[..list.len() - 1], 100).is_none());
    for at in [1, 2000, list.len() - 20, list.len() - 1] {
        let mut changed = list.clone();
        changed.replace_range(at..=at, "!");
        assert!(cache.tools(changed.as_bytes(), 100).is_none(), "{at}");
    }
}

#[test]
fn system_prompt_is_cached_together_with_its_messages() {
    let cache = RequestCache::default();
    let system = r#"[{"type":"text","text":"be kind"},{"text":7}]"#;
    let body = |letters| request(&messages(letters, 5000), &format!(r#","system":{system}"#));
    parse(&cache, &body("ab"));
    let beginning = cache.longest_prefix(&body("acdef")).unwrap();
    let found = beginning.system(system.as_bytes(), 0).unwrap();
    let text = found.value[0].text.unwrap();
    assert_eq!((found.length, &system[text.range()]), (system.len(), "be kind"));
    assert!(
        beginning
            .system(br#"[{"type":"text","text":"be rude"},{"text":7}]"#, 0)
            .is_none()
    );
    assert!(cache.longest_prefix(&body("cdef")).is_none());
}

#[test]
fn replaced_request_is_freed() {
    let cache = RequestCache::default();
    parse(&cache, &request(&messages("abcd", 2000), ""));
    let first = Arc::downgrade(&cache.newest.read().unwrap()[0]);
    parse(&cache, &request(&messages("abcdefgh", 2000), ""));
    assert!(first.upgrade().is_none());
}
