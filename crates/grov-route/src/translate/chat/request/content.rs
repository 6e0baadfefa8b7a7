//! Texts, images and documents of a message.

use crate::translate::json::Json;
use crate::translate::messages::{Block, Content, SourceFields};
use std::borrow::Cow;

/// The texts of the blocks, joined by line feeds. Blocks without text are left out.
pub(super) fn joined<'a>(blocks: impl IntoIterator<Item = Block<'a>>) -> Cow<'a, str> {
    let mut texts = blocks.into_iter().filter_map(text);
    let Some(first) = texts.next() else {
        return Cow::Borrowed("");
    };
    let Some(second) = texts.next() else { return first };
    let mut all = first.into_owned();
    for text in std::iter::once(second).chain(texts) {
        all.push('\n');
        all.push_str(&text);
    }
    Cow::Owned(all)
}

/// The text of a block: a text block, a text document, or a search result.
fn text(block: Block<'_>) -> Option<Cow<'_, str>> {
    let text = match block.kind.as_ref() {
        "text" => block.text?,
        "document" => document_text(block)?,
        "search_result" => {
            let body = content_text(block.content);
            match block.title {
                Some(title) => Cow::Owned(format!("{title}\n{body}")),
                None => body,
            }
        }
        _ => return None,
    };
    Some(text).filter(|text| !text.is_empty())
}

fn document_text(block: Block<'_>) -> Option<Cow<'_, str>> {
    let source = block.source.fields?;
    match source.kind.as_ref() {
        "text" => source.data,
        "content" => Some(content_text(source.content)),
        "url" => source.url.map(|url| Cow::Owned(format!("[document: {url}]"))),
        _ => None,
    }
}

fn content_text(content: Content<'_>) -> Cow<'_, str> {
    match content {
        Content::None => Cow::Borrowed(""),
        Content::Text(text) => text,
        Content::Blocks(blocks) => joined(blocks),
    }
}

/// Whether a block is an image or a document that is not text.
pub(super) fn is_media(block: &Block<'_>) -> bool {
    let base64 = || {
        block
            .source
            .fields
            .as_ref()
            .is_some_and(|source| source.kind == "base64")
    };
    block.kind == "image" || block.kind == "document" && base64()
}

/// The content of a user message: a plain text unless there is an image or a file.
pub(super) fn user_content<'a>(moved: Vec<Json<'a>>, own: Vec<Block<'a>>) -> Option<Json<'a>> {
    if moved.is_empty() && !own.iter().any(is_media) {
        let any = !own.is_empty();
        let text = joined(own);
        return (any && !text.is_empty()).then_some(Json::Text(text));
    }
    let mut parts = moved;
    parts.extend(own.into_iter().filter_map(part));
    (!parts.is_empty()).then_some(Json::Array(parts))
}

/// A block as a part of a user message.
pub(super) fn part(block: Block<'_>) -> Option<Json<'_>> {
    if !is_media(&block) {
        let text = text(block)?;
        return Some(Json::object([
            ("type", Json::text("text")),
            ("text", Json::Text(text)),
        ]));
    }
    let is_image = block.kind == "image";
    let source = block.source.fields?;
    if is_image {
        let url = Json::object([("url", Json::Text(url(source, "image/png")?))]);
        return Some(Json::object([
            ("type", Json::text("image_url")),
            ("image_url", url),
        ]));
    }
    let file = Json::object([
        (
            "filename",
            Json::Text(block.title.unwrap_or(Cow::Borrowed("document.pdf"))),
        ),
        ("file_data", Json::Text(url(source, "application/pdf")?)),
    ]);
    Some(Json::object([("type", Json::text("file")), ("file", file)]))
}

/// The URL of a source, or its bytes as a data URL.
fn url<'a>(source: SourceFields<'a>, otherwise: &str) -> Option<Cow<'a, str>> {
    if source.kind == "url" {
        return source.url;
    }
    let media = source.media_type.as_deref().unwrap_or(otherwise);
    source
        .data
        .map(|data| Cow::Owned(format!("data:{media};base64,{data}")))
}
