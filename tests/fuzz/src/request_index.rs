//! A request body: everything that the index accepts is JSON, its pieces add up to the body, and the request cache does not
//! change the result. As a request of another API it is read or refused.

use bytes::Bytes;
use grov_wire::{Api, RequestCache, RequestIndex, Splice};
use serde_json::error::Category;

/// Checks one body.
pub(crate) fn check(data: &[u8]) {
    let body = Bytes::copy_from_slice(data);
    let cache = RequestCache::default();
    let found = RequestIndex::parse_with_cache(&body, &cache);
    let again = RequestIndex::parse_with_cache(&body, &cache);
    let alone = RequestIndex::parse(&body);
    for api in [Api::Responses, Api::Chat, Api::Gemini] {
        if let Ok(read) = RequestIndex::parse_foreign(api, None, &body) {
            // What is read is a document of the Messages API.
            let same = RequestIndex::parse(read.body()).map(|same| same.skeleton());
            assert_eq!(same.as_ref(), Ok(&read.skeleton()));
        }
    }
    assert_eq!(format!("{found:?}"), format!("{alone:?}"));
    assert_eq!(format!("{again:?}"), format!("{alone:?}"));
    let Ok(index) = alone else { return };
    let read = serde_json::from_slice::<serde::de::IgnoredAny>(data);
    if let Err(error) = read {
        // The index allows deeper nesting than this reader does.
        let is_depth = error.to_string().starts_with("recursion limit");
        assert!(is_depth || error.classify() == Category::Data, "{error}");
    }
    let unedited = Splice::apply(&index, &[]).map(|chunks| chunks.into_vec().concat());
    assert_eq!(unedited.as_deref(), Ok(data));
    let _skeleton = index.skeleton();
}
