//! Checks citations: what is cited was given, and what is quoted is there.

use super::quote;
use super::source::Source;
use crate::{Citation, SourceKind};
use serde_json::Value;

/// The most citations of an answer. More are dropped.
const MAX_CITATIONS: usize = 32;
/// How much of a false quotation a problem repeats, in bytes.
const SHOWN: usize = 120;

/// The citations of an answer.
#[derive(Debug, Default)]
pub(super) struct Checked {
    /// Those that hold.
    pub(super) citations: Vec<Citation>,
    /// Why the others do not, in words for the model.
    pub(super) problems: Vec<String>,
}

/// Checks citations. A quotation that differs a little becomes what the source says; an inexact one becomes the sentence that it
/// means, if there is one with the same numbers; a citation of something that was not given is moved to where its quotation is.
/// What remains false is a problem. A citation without a quotation that fits no sentence is dropped: it claims nothing.
pub(super) fn checked(citations: &[Value], sources: &[Source], answer: &str) -> Checked {
    let mut checked = Checked::default();
    for citation in citations.iter().take(MAX_CITATIONS) {
        match one(citation, sources, answer) {
            Ok(Some(citation)) if !checked.citations.contains(&citation) => checked.citations.push(citation),
            Ok(_) => {}
            Err(problem) => checked.problems.push(problem),
        }
    }
    checked
}

fn one(citation: &Value, sources: &[Source], answer: &str) -> Result<Option<Citation>, String> {
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
            return Ok(Some(cited(source, found)));
        }
    }
    let elsewhere = sources
        .iter()
        .find_map(|source| Some(cited(source, quote::find(&source.text, quoted)?)));
    let shown = |text| grov_redact::beginning_of(text, SHOWN);
    match (elsewhere, named) {
        (Some(found), _) => Ok(Some(found)),
        (None, Some(_)) if quoted.is_empty() => Ok(None),
        (None, Some(_)) => Err(format!(
            "citations: \"{}\" is not in the source {}; quote words that are in it, or leave the citation out and claim \
             nothing that it does not say",
            shown(quoted),
            shown(id)
        )),
        (None, None) if id.is_empty() && quoted.is_empty() => Ok(None),
        (None, None) => Err(format!(
            "citations: there is no source \"{}\"; cite only what was given, by its id",
            shown(id)
        )),
    }
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
            .citations
            .into_iter()
            .map(|citation| (citation.id, citation.quote))
            .collect()
    }

    #[test]
    fn a_false_citation_is_a_problem_and_an_empty_one_is_not() {
        for (citation, problem) in [
            (
                json!({"id": "one", "quote": "refunds are paid in gold"}),
                Some("is not in the source one"),
            ),
            (
                json!({"id": "one", "quote": "Goods are returned within 60 days."}),
                Some("is not in the source one"),
            ),
            (
                json!({"id": "none", "quote": "nothing of it"}),
                Some("there is no source \"none\""),
            ),
            (json!({"id": "none"}), Some("there is no source")),
            (json!({"id": "one"}), None),
            (json!({"id": "two", "quote": "at nine"}), None),
            (json!({}), None),
        ] {
            let found = checked(
                std::slice::from_ref(&citation),
                &sources(),
                "The office opens at nine.",
            )
            .problems;
            match problem {
                Some(words) => assert!(
                    found.len() == 1 && found[0].contains(words),
                    "{citation}: {found:?}"
                ),
                None => assert!(found.is_empty(), "{citation}: {found:?}"),
            }
        }
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
