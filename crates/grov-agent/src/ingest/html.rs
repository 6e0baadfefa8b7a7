//! HTML as Markdown.

use super::IngestFailed;
use super::guard::guarded;
use htmd::element_handler::Handlers;
use htmd::{Element, HtmlToMarkdown, Node};
use std::rc::Rc;

/// Maximum number of tags. Each costs some hundred bytes while the file is read.
const MAX_TAGS: usize = 1_000_000;
/// Maximum number of open elements at a place. Parsing takes time in proportion to it for each tag.
const MAX_OPEN: usize = 400;
/// Maximum number of open elements such as `b`, which a parser copies into each paragraph that follows.
const MAX_OPEN_FORMATTING: usize = 32;

const FORMATTING: &[&str] = &[
    "a", "b", "big", "code", "em", "font", "i", "nobr", "s", "small", "strike", "strong", "tt", "u",
];
/// Elements without an end tag, or whose end tag may be missing because the next one ends them.
const SELF_ENDING: &[&str] = &[
    "!doctype", "area", "base", "body", "br", "col", "colgroup", "dd", "dt", "embed", "head", "hr", "html",
    "img", "input", "li", "link", "meta", "option", "p", "param", "rp", "rt", "source", "tbody", "td",
    "tfoot", "th", "thead", "tr", "track", "wbr",
];

/// What is never text of the document.
const SKIPPED: &[&str] = &[
    "script", "style", "noscript", "template", "svg", "iframe", "head", "button", "select", "dialog",
];
/// What surrounds the text of a page: menus and what is the same on each page of a site.
const SURROUNDINGS: &[&str] = &["nav", "footer"];
/// Elements whose attributes may say that they are surroundings.
const CONTAINERS: &[&str] = &[
    "aside", "div", "form", "header", "ol", "p", "section", "span", "ul",
];
/// The same by its role, whatever the element.
const SURROUNDING_ROLES: &[&str] = &["navigation", "banner", "contentinfo", "search", "menu", "menubar"];

/// Converts HTML to Markdown, without scripts, styles and navigation. A page that is nothing but navigation keeps it.
///
/// # Errors
///
/// Returns [`IngestFailed::TooLarge`] for too many tags, and [`IngestFailed::Invalid`] for elements nested too deeply or
/// nothing but marks.
pub(super) fn markdown(html: &str) -> Result<String, IngestFailed> {
    check_tags(html)?;
    let markdown = guarded("HTML", || {
        let converter = converter(false);
        let unreadable = |error| IngestFailed::Invalid(format!("the HTML cannot be read: {error}"));
        let tree = converter.html_to_tree(html).map_err(unreadable)?;
        check_depth(&tree)?;
        let text = converter.tree_to_markdown(&tree);
        if text.trim().is_empty() {
            return Ok(self::converter(true).tree_to_markdown(&tree));
        }
        Ok(text)
    })?;
    if markdown.trim().is_empty() {
        return Err(IngestFailed::Invalid(
            "the HTML has no text outside scripts and styles; nothing was stored".to_owned(),
        ));
    }
    Ok(markdown)
}

/// A converter, with or without what surrounds the text of a page.
fn converter(keeps_surroundings: bool) -> HtmlToMarkdown {
    let builder = HtmlToMarkdown::builder().skip_tags(SKIPPED.to_vec());
    if keeps_surroundings {
        return builder.build();
    }
    builder
        .skip_tags(SURROUNDINGS.to_vec())
        .add_handler(
            CONTAINERS.to_vec(),
            |handlers: &dyn Handlers, element: Element<'_>| {
                if is_surrounding(&element) {
                    None
                } else {
                    handlers.fallback(element)
                }
            },
        )
        .build()
}

/// Whether an element is named as navigation or is not shown.
fn is_surrounding(element: &Element<'_>) -> bool {
    element.attrs.iter().any(|attribute| {
        let value = attribute.value.trim();
        match &*attribute.name.local {
            "role" => SURROUNDING_ROLES.contains(&value),
            "aria-hidden" => value == "true",
            "hidden" => value != "until-found",
            _ => false,
        }
    })
}

/// Bounds what a parser has to do, by a count of open elements that is rather too high than too low.
fn check_tags(html: &str) -> Result<(), IngestFailed> {
    let (mut tags, mut open, mut formatting) = (0, 0_usize, 0_usize);
    for tag in html.split('<').skip(1) {
        let (is_end, name) = match tag.strip_prefix('/') {
            Some(rest) => (true, rest),
            None => (false, tag),
        };
        let end = name
            .find(|character: char| !(character.is_ascii_alphanumeric() || character == '!'))
            .unwrap_or(name.len())
            .min(16);
        let Some(name) = name.get(..end).filter(|name| !name.is_empty()) else {
            continue;
        };
        tags += 1;
        if tags > MAX_TAGS {
            return Err(IngestFailed::TooLarge(format!(
                "the HTML has more than {MAX_TAGS} tags; divide it into several documents"
            )));
        }
        let name = name.to_ascii_lowercase();
        if SELF_ENDING.contains(&name.as_str()) {
            continue;
        }
        let count = if FORMATTING.contains(&name.as_str()) {
            &mut formatting
        } else {
            &mut open
        };
        *count = if is_end {
            count.saturating_sub(1)
        } else {
            *count + 1
        };
        if open > MAX_OPEN || formatting > MAX_OPEN_FORMATTING {
            return Err(too_deep());
        }
    }
    Ok(())
}

fn too_deep() -> IngestFailed {
    IngestFailed::Invalid(format!(
        "the HTML opens more than {MAX_OPEN} elements without closing them, or more than {MAX_OPEN_FORMATTING} like <b>; \
         close them, or upload it as text"
    ))
}

/// Checks the real depth: converting recurses.
fn check_depth(tree: &Rc<Node>) -> Result<(), IngestFailed> {
    let mut left = vec![(tree.clone(), 0)];
    while let Some((node, depth)) = left.pop() {
        if depth > 4 * MAX_OPEN {
            return Err(too_deep());
        }
        left.extend(
            node.children
                .borrow()
                .iter()
                .map(|child| (child.clone(), depth + 1)),
        );
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Instant;

    #[test]
    fn headings_lists_code_and_tables_survive() {
        let markdown = markdown(
            "<html><head><title>T</title><style>p{}</style></head><body><h1>Guide</h1><p>Say <b>hello</b>.</p>\
             <ul><li>one<li>two</ul><pre><code>let a = 1;\n# no heading</code></pre>\
             <table><tr><th>k</th><th>v</th></tr><tr><td>a</td><td>b</td></tr></table><script>alert(1)</script></body></html>",
        )
        .unwrap();
        for part in ["# Guide", "**hello**", "one", "```", "# no heading", "| a"] {
            assert!(markdown.contains(part), "{part}: {markdown}");
        }
        assert!(!markdown.contains("alert") && !markdown.contains("p{}"));
    }

    #[test]
    fn hostile_nesting_is_refused_at_once() {
        let start = Instant::now();
        for html in [
            "<div>".repeat(100_000),
            "<b x=1>".repeat(100_000) + &"<p>x".repeat(100_000),
            "<ul><li>".repeat(100_000),
            "<table><tr><td>".repeat(50_000),
            "<x-y>".repeat(100_000),
        ] {
            assert!(matches!(markdown(&html), Err(IngestFailed::Invalid(_))));
        }
        let many = "<br>".repeat(MAX_TAGS + 1);
        assert!(matches!(markdown(&many), Err(IngestFailed::TooLarge(_))));
        assert!(start.elapsed().as_secs() < 20, "far above what it takes");
    }

    #[test]
    fn navigation_is_left_out_unless_there_is_nothing_else() {
        let page = "<body><header><nav><a href=/>Home</a></nav><h1>Guide</h1></header>\
             <div role=navigation>Menu</div><main><p>Say hello.</p><p hidden>Draft</p></main>\
             <footer>Imprint</footer></body>";
        let found = markdown(page).unwrap();
        assert!(
            found.contains("# Guide") && found.contains("Say hello."),
            "{found}"
        );
        for left_out in ["Home", "Menu", "Draft", "Imprint"] {
            assert!(!found.contains(left_out), "{left_out}: {found}");
        }
        assert!(
            markdown("<nav><a href=/a>Only</a></nav>")
                .unwrap()
                .contains("Only")
        );
    }

    #[test]
    fn html_without_text_is_refused() {
        let error = markdown("<script>alert(1)</script>").unwrap_err();
        assert!(error.to_string().contains("no text"), "{error}");
    }
}
