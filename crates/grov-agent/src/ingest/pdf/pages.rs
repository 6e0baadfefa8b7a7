//! Checks of the pages of a PDF: the reader follows references without asking whether it was there before.

use super::{IngestFailed, invalid, too_large};
use memchr::memmem;
use pdf_extract::{Dictionary, Document, Object, ObjectId, Stream};
use std::collections::HashSet;

/// The most pages.
const MAX_PAGES: usize = 10_000;
/// The most bytes of content that all pages together have, those counted again that pages share.
const MAX_CONTENT: usize = 64 * 1024 * 1024;
/// The most nodes from a page to the root of the page tree.
const MAX_PARENTS: usize = 64;
/// The deepest arrays in a page's content.
const MAX_DEPTH: usize = 500;

/// Checks that the pages refer to a bounded amount of content, without circles.
pub(super) fn check(document: &Document) -> Result<(), IngestFailed> {
    let pages = document.get_pages();
    if pages.len() > MAX_PAGES {
        return Err(too_large("its pages"));
    }
    let form = largest_form(document);
    let mut left = MAX_CONTENT;
    for page in pages.into_values() {
        check_parents(document, page)?;
        let content = document.get_page_content(page).unwrap_or_default();
        let forms = memmem::find_iter(&content, b"Do").count();
        let work = content.len().saturating_add(forms.saturating_mul(form));
        left = left
            .checked_sub(work)
            .ok_or_else(|| too_large("the content of its pages"))?;
        check_depth(&content)?;
    }
    Ok(())
}

/// The size of the largest form, unpacked.
fn largest_form(document: &Document) -> usize {
    let forms = document
        .objects
        .values()
        .filter_map(|object| object.as_stream().ok());
    forms
        .filter(|stream| is_plain_form(document, stream))
        .map(|stream| {
            stream
                .decompressed_content()
                .map_or(stream.content.len(), |content| content.len())
        })
        .max()
        .unwrap_or(0)
}

fn check_parents(document: &Document, page: ObjectId) -> Result<(), IngestFailed> {
    let mut node = page;
    for _ in 0..MAX_PARENTS {
        let parent = document
            .get_dictionary(node)
            .and_then(|dictionary| dictionary.get(b"Parent"));
        match parent.and_then(Object::as_reference) {
            Ok(parent) => node = parent,
            Err(_) => return Ok(()),
        }
    }
    Err(invalid(
        "the page tree of the PDF is a circle or deeper than any program makes it".to_owned(),
    ))
}

/// Bounds how deep arrays and dictionaries in a content are: strings are skipped.
fn check_depth(content: &[u8]) -> Result<(), IngestFailed> {
    let (mut depth, mut string) = (0_usize, 0_usize);
    let mut bytes = content.iter();
    while let Some(byte) = bytes.next() {
        match byte {
            b'\\' if string > 0 => {
                bytes.next();
            }
            b'(' => string += 1,
            b')' => string = string.saturating_sub(1),
            b'[' | b'<' if string == 0 => depth += 1,
            b']' | b'>' if string == 0 => depth = depth.saturating_sub(1),
            _ => {}
        }
        if depth > MAX_DEPTH || string > MAX_DEPTH {
            return Err(invalid(
                "the content of a page of the PDF is nested too deeply".to_owned(),
            ));
        }
    }
    Ok(())
}

/// Makes pictures and forms with forms of their own empty. The reader would read a picture as text, and a form that contains
/// itself forever.
pub(super) fn leave_out_nested_forms(document: &mut Document) {
    let plain: HashSet<ObjectId> = document
        .objects
        .iter()
        .filter(|(_, object)| {
            object
                .as_stream()
                .is_ok_and(|stream| is_plain_form(document, stream))
        })
        .map(|(id, _)| *id)
        .collect();
    let lists = lists_of_forms(document);
    let empty = document.add_object(Stream::new(Dictionary::new(), Vec::new()));
    for (id, object) in &mut document.objects {
        replace_forms(object, lists.contains(id), &plain, empty);
    }
}

/// The dictionaries to which entries called `XObject` refer.
fn lists_of_forms(document: &Document) -> HashSet<ObjectId> {
    let mut lists = HashSet::new();
    for object in document.objects.values() {
        let mut left = vec![object];
        while let Some(object) = left.pop() {
            let dictionary = match object {
                Object::Array(entries) => {
                    left.extend(entries);
                    continue;
                }
                Object::Dictionary(dictionary) => dictionary,
                Object::Stream(stream) => &stream.dict,
                _ => continue,
            };
            if let Ok(forms) = dictionary.get(b"XObject")
                && let Ok((Some(id), _)) = document.dereference(forms)
            {
                lists.insert(id);
            }
            left.extend(dictionary.iter().map(|(_, value)| value));
        }
    }
    lists
}

/// Whether a stream is a form with resources of its own that have no further forms.
fn is_plain_form(document: &Document, stream: &Stream) -> bool {
    let dictionary = &stream.dict;
    let is_form = dictionary
        .get(b"Subtype")
        .and_then(Object::as_name)
        .is_ok_and(|name| name == b"Form");
    let resources = dictionary
        .get_deref(b"Resources", document)
        .and_then(Object::as_dict);
    is_form && resources.is_ok_and(|resources| resources.get(b"XObject").is_err())
}

/// Replaces references in dictionaries called `XObject`, and in `object` if it is such a list. A stack, because objects may be nested deeply.
fn replace_forms(object: &mut Object, is_list: bool, plain: &HashSet<ObjectId>, empty: ObjectId) {
    let mut left = vec![(object, is_list)];
    while let Some((object, is_in_forms)) = left.pop() {
        match object {
            Object::Array(entries) => left.extend(entries.iter_mut().map(|entry| (entry, false))),
            Object::Dictionary(dictionary) => push_entries(dictionary, is_in_forms, &mut left),
            Object::Stream(stream) => push_entries(&mut stream.dict, false, &mut left),
            Object::Reference(id) if is_in_forms && !plain.contains(id) => *id = empty,
            _ => {}
        }
    }
}

fn push_entries<'a>(dictionary: &'a mut Dictionary, are_forms: bool, left: &mut Vec<(&'a mut Object, bool)>) {
    for (name, value) in dictionary.iter_mut() {
        let is_forms = name == b"XObject" && matches!(value, Object::Dictionary(_));
        left.push((value, is_forms || are_forms));
    }
}
