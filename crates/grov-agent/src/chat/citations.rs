//! Checks citations: what is cited was given, and what is quoted is there.

use super::quote;
use super::source::Source;
use crate::{Citation, SourceKind};
use serde_json::Value;

/// The most citations of an answer. More are dropped.
const MAX_CITATIONS: usize = 32;

/// Returns the citations that hold. A quotation that differs a little becomes what the source says; a wrong one becomes the
/// sentence that it means, if there is one; a citation of something that was not given is moved to where its quotation is. What
/// remains false is dropped.
pub(super) fn checked(citations: &[Value], sources: &[Source], answer: &str) -> Vec<Citation> {
    let mut checked: Vec<Citation> = Vec::new();
    for citation in citations.iter().take(MAX_CITATIONS) {
        if let Some(citation) = one(citation, sources, answer)
            && !checked.contains(&citation)
        {
            checked.push(citation);
        }
    }
    checked
}

fn one(citation: &Value, sources: &[Source], answer: &str) -> Option<Citation> {
    let text = |member: &str| {
        citation
            .get(member)
            .and_then(Value::as_str)
            .map(str::trim)
            .unwrap_or_default()
    };
    let (id, quoted) = (text("id"), text("quote"));
    let named = sources.iter().find(|source| source.id.eq_ignore_ascii_case(id));
    if let Some(source) = named {
        let meant = if quoted.is_empty() { answer } else { quoted };
        let found = quote::find(&source.text, quoted).or_else(|| quote::repair(&source.text, meant));
        if let Some(found) = found {
            return Some(cited(source, found));
        }
    }
    sources
        .iter()
        .find_map(|source| Some(cited(source, quote::find(&source.text, quoted)?)))
}

/// Cites a part of a source.
pub(super) fn cited(source: &Source, quote: &str) -> Citation {
    Citation {
        kind: source.kind,
        id: source.id.clone(),
        title: source.title.clone(),
        heading_path: match source.kind {
            SourceKind::Chunk => source.heading_path.clone(),
            SourceKind::Memory => Vec::new(),
        },
        quote: quote.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn sources() -> Vec<Source> {
        let source = |id: &str, text: &str| Source {
            kind: SourceKind::Chunk,
            id: id.to_owned(),
            title: format!("Title {id}"),
            heading_path: vec!["Top".to_owned()],
            category: None,
            text: text.to_owned(),
            standing: None,
        };
        vec![
            source("one", "Goods are returned\nwithin 30 days. Shipping is free."),
            source("two", "The office opens at nine."),
        ]
    }

    fn quotes(citations: Value) -> Vec<(String, String)> {
        let list = citations.as_array().cloned().unwrap_or_default();
        let found = checked(&list, &sources(), "The office opens at nine.");
        found
            .into_iter()
            .map(|citation| (citation.id, citation.quote))
            .collect()
    }

    #[test]
    fn no_quotation_is_false() {
        let pair = |id: &str, quote: &str| (id.to_owned(), quote.to_owned());
        for (citation, expected) in [
            (
                json!({"id": "one", "quote": "returned within 30 days"}),
                vec![pair("one", "returned\nwithin 30 days")],
            ),
            (
                json!({"id": "two", "quote": "The office opens at 9."}),
                vec![pair("two", "The office opens at nine.")],
            ),
            (json!({"id": "one", "quote": "refunds are paid in gold"}), vec![]),
            (
                json!({"id": "none", "quote": "shipping is free"}),
                vec![pair("one", "Shipping is free")],
            ),
            (json!({"id": "none", "quote": "nothing of it"}), vec![]),
            (
                json!({"id": "two"}),
                vec![pair("two", "The office opens at nine.")],
            ),
            (json!({"id": "one"}), vec![]),
            (json!("one"), vec![]),
            (json!(null), vec![]),
        ] {
            assert_eq!(quotes(json!([citation])), expected, "{citation}");
        }
        assert_eq!(
            quotes(json!([{"id": "two", "quote": "at nine"}, {"id": "two", "quote": "at nine"}])).len(),
            1
        );
    }
}
