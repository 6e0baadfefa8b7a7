//! The kind of an uploaded file: by the media type that the caller names, else by its file name, else by its content.

use super::IngestFailed;

/// A kind of document.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Format {
    /// Markdown.
    Markdown,
    /// Plain text.
    Text,
    /// HTML, which becomes Markdown.
    Html,
    /// Source code, configuration and data in text.
    Code,
    /// PDF.
    Pdf,
}

impl Format {
    /// The media type of what is kept, unless the caller named a better one.
    pub(super) fn media_type(self) -> &'static str {
        match self {
            Self::Markdown | Self::Html => "text/markdown",
            Self::Text | Self::Code => "text/plain",
            Self::Pdf => "application/pdf",
        }
    }
}

/// File name extensions.
#[rustfmt::skip]
const EXTENSIONS: &[(Format, &[&str])] = &[
    (Format::Markdown, &["markdown", "md", "mdown", "mdx", "mkd", "qmd", "rmd"]),
    (Format::Text, &["adoc", "asciidoc", "csv", "log", "org", "po", "rst", "srt", "tex", "text", "tsv", "txt", "vtt"]),
    (Format::Html, &["htm", "html", "xhtml"]),
    (Format::Pdf, &["pdf"]),
    (Format::Code, &[
        "astro", "bash", "bat", "c", "cc", "cfg", "clj", "cmake", "conf", "cpp", "cs", "css", "cue", "cxx", "dart", "diff", "el",
        "elm", "erl", "ex", "exs", "fish", "fs", "go", "gradle", "graphql", "groovy", "h", "hcl", "hpp", "hs", "ini", "ipynb",
        "java", "jl", "js", "json", "json5", "jsonl", "jsx", "kt", "kts", "less", "lisp", "lua", "m", "mjs", "ml", "mli", "mm",
        "nim", "nix", "patch", "php", "pl", "plist", "pm", "prisma", "properties", "proto", "ps1", "py", "pyi", "r", "rb", "rs",
        "sass", "scala", "scss", "sh", "sol", "sql", "svelte", "swift", "tcl", "tf", "toml", "ts", "tsx", "vb", "vim", "vue",
        "wat", "xml", "xsd", "xsl", "yaml", "yml", "zig", "zsh",
    ]),
];

/// File names without an extension.
#[rustfmt::skip]
const NAMES: &[(Format, &[&str])] = &[
    (Format::Code, &["brewfile", "cmakelists.txt", "dockerfile", "gemfile", "jenkinsfile", "justfile", "makefile", "procfile", "rakefile", "vagrantfile"]),
    (Format::Text, &["authors", "changelog", "codeowners", "contributors", "copying", "license", "notice", "readme", "todo"]),
];

/// Media types of text that is no prose.
#[rustfmt::skip]
const CODE_TYPES: &[&str] = &[
    "application/ecmascript", "application/graphql", "application/javascript", "application/json", "application/sql",
    "application/toml", "application/typescript", "application/x-httpd-php", "application/x-javascript", "application/x-ndjson",
    "application/x-python", "application/x-sh", "application/x-toml", "application/x-yaml", "application/xml",
    "application/yaml",
];

/// The first bytes of files that are no documents of ours.
#[rustfmt::skip]
const SIGNATURES: &[(&[u8], &str)] = &[
    (b"PK\x03\x04", "ZIP archive or office document"), (b"PK\x05\x06", "ZIP archive"), (b"\x1f\x8b", "gzip"),
    (b"\x28\xb5\x2f\xfd", "Zstandard"), (b"BZh", "bzip2"), (b"\xfd7zXZ\0", "xz"), (b"7z\xbc\xaf\x27\x1c", "7-Zip archive"),
    (b"Rar!\x1a\x07", "RAR archive"), (b"\x89PNG\r\n\x1a\n", "PNG image"), (b"GIF8", "GIF image"), (b"\xff\xd8\xff", "JPEG image"),
    (b"RIFF", "RIFF media"), (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", "old office document"), (b"{\\rtf", "RTF document"),
    (b"\x7fELF", "program"), (b"\xca\xfe\xba\xbe", "program"), (b"\0asm", "WebAssembly module"), (b"SQLite format 3\0", "SQLite database"),
    (b"ID3", "MP3 audio"), (b"OggS", "Ogg media"), (b"%!PS", "PostScript"),
];

/// How far into a file the mark of a PDF may be, in bytes.
const PDF_MARK_WITHIN: usize = 1024;

/// Returns the kind of a file.
///
/// # Errors
///
/// Returns [`IngestFailed::Unsupported`] for other kinds, and if the content is not what the caller says.
pub(super) fn format_of(
    content_type: Option<&str>,
    file_name: Option<&str>,
    bytes: &[u8],
) -> Result<Format, IngestFailed> {
    let named = match content_type.and_then(essence) {
        Some(essence) => by_media_type(&essence)?,
        None => None,
    };
    let by_name = file_name.and_then(by_file_name);
    let is_pdf = bytes[..bytes.len().min(PDF_MARK_WITHIN)]
        .windows(5)
        .any(|part| part == b"%PDF-");
    if let Some((_, kind)) = SIGNATURES
        .iter()
        .find(|(signature, _)| bytes.starts_with(signature))
    {
        return Err(IngestFailed::Unsupported((*kind).to_owned()));
    }
    let format = match (named, by_name) {
        // `text/plain` and `application/octet-stream` say little: the name may know more.
        (Some(Named::Certain(format)), _) | (Some(Named::Vague) | None, Some(format)) => format,
        (Some(Named::Vague), None)
            if !is_pdf && content_type.and_then(essence).as_deref() == Some("text/plain") =>
        {
            Format::Text
        }
        (Some(Named::Vague) | None, None) if is_pdf && bytes.starts_with(b"%PDF-") => Format::Pdf,
        (Some(Named::Vague) | None, None) => by_content(bytes),
    };
    match (format, bytes.starts_with(b"%PDF-"), is_pdf) {
        (Format::Pdf, _, false) => Err(mismatch("PDF", "something else")),
        (Format::Markdown | Format::Text | Format::Html | Format::Code, true, _) => {
            Err(mismatch("text", "PDF"))
        }
        _ => Ok(format),
    }
}

fn mismatch(named: &str, found: &str) -> IngestFailed {
    IngestFailed::Unsupported(format!("{named} by name and {found} by content"))
}

/// What a media type says.
enum Named {
    Certain(Format),
    Vague,
}

/// The media type without its parameters, in lower case; `None` if there is none.
pub(super) fn essence(content_type: &str) -> Option<String> {
    let essence = content_type.split(';').next()?.trim().to_ascii_lowercase();
    (!essence.is_empty()).then_some(essence)
}

fn by_media_type(essence: &str) -> Result<Option<Named>, IngestFailed> {
    Ok(Some(match essence {
        "text/markdown" | "text/x-markdown" => Named::Certain(Format::Markdown),
        "text/html" | "application/xhtml+xml" => Named::Certain(Format::Html),
        "application/pdf" | "application/x-pdf" => Named::Certain(Format::Pdf),
        "text/plain" | "application/octet-stream" | "binary/octet-stream" => Named::Vague,
        "text/rtf" | "text/calendar" => return Err(IngestFailed::Unsupported(essence.to_owned())),
        "text/csv" | "text/tab-separated-values" | "text/x-rst" => Named::Certain(Format::Text),
        other if other.starts_with("text/") || CODE_TYPES.contains(&other) => Named::Certain(Format::Code),
        other if other.ends_with("+json") || other.ends_with("+yaml") => Named::Certain(Format::Code),
        other => {
            let shown = other[..other.floor_char_boundary(100)].to_owned();
            return Err(IngestFailed::Unsupported(shown));
        }
    }))
}

fn by_file_name(name: &str) -> Option<Format> {
    let name = grov_domain::file_name(name);
    let of = |table: &[(Format, &[&str])], word: &str| {
        table
            .iter()
            .find(|(_, words)| words.contains(&word))
            .map(|(format, _)| *format)
    };
    of(NAMES, &name).or_else(|| of(EXTENSIONS, name.rsplit_once('.')?.1))
}

/// Judges text by its first lines.
fn by_content(bytes: &[u8]) -> Format {
    let beginning = String::from_utf8_lossy(&bytes[..bytes.len().min(4096)]);
    let beginning = beginning.trim_start_matches('\u{feff}').trim_start();
    let start = beginning[..beginning.floor_char_boundary(64)].to_ascii_lowercase();
    if start.starts_with("<!doctype html") || start.starts_with("<html") {
        return Format::Html;
    }
    if start.starts_with("#!") {
        return Format::Code;
    }
    let is_markdown = beginning.lines().any(|line| {
        let marks = line.len() - line.trim_start_matches('#').len();
        line.starts_with("```") || ((1..=6).contains(&marks) && line[marks..].starts_with(' '))
    });
    if is_markdown {
        Format::Markdown
    } else {
        Format::Text
    }
}

/// Whether a file of this name is a document that can be ingested: for an import of a directory.
pub fn is_document_name(name: &str) -> bool {
    by_file_name(name).is_some()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn format(content_type: &str, name: &str, bytes: &[u8]) -> Result<Format, String> {
        let some = |text: &'static str| (!text.is_empty()).then_some(text);
        let (content_type, name) = (content_type.to_owned().leak(), name.to_owned().leak());
        format_of(some(content_type), some(name), bytes).map_err(|error| error.to_string())
    }

    #[test]
    fn the_media_type_counts_before_the_name_and_the_name_before_the_content() {
        for (content_type, name, bytes, expected) in [
            (
                "text/markdown; charset=utf-8",
                "a.txt",
                &b"x"[..],
                Format::Markdown,
            ),
            ("Text/HTML", "", b"x", Format::Html),
            ("text/plain", "a.md", b"x", Format::Markdown),
            ("text/plain", "", b"# x", Format::Text),
            ("application/octet-stream", "a.RS", b"x", Format::Code),
            ("application/octet-stream", "", b"# x\n", Format::Markdown),
            ("application/json", "", b"{}", Format::Code),
            ("text/x-python", "", b"x", Format::Code),
            ("", "Dockerfile", b"x", Format::Code),
            ("", "docs/README", b"x", Format::Text),
            ("", "a.unknown", b"x", Format::Text),
            ("", "", b"<!DOCTYPE html><p>", Format::Html),
            ("", "", b"#!/bin/sh\n", Format::Code),
            ("", "", b"%PDF-1.7\n", Format::Pdf),
            ("application/pdf", "", b"junk\n%PDF-1.7\n", Format::Pdf),
            ("", "", b"", Format::Text),
        ] {
            assert_eq!(
                format(content_type, name, bytes),
                Ok(expected),
                "{content_type} {name}"
            );
        }
    }

    #[test]
    fn other_kinds_and_false_names_are_refused() {
        for (content_type, name, bytes) in [
            ("image/png", "", &b"x"[..]),
            ("application/zip", "", b"x"),
            (
                "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
                "a.docx",
                b"x",
            ),
            ("text/markdown", "a.md", b"PK\x03\x04"),
            ("text/markdown", "a.md", b"%PDF-1.4"),
            ("", "a.txt", b"%PDF-1.4"),
            ("application/pdf", "a.pdf", b"hello"),
            ("", "a.pdf", b"hello"),
            ("", "", b"\x89PNG\r\n\x1a\nxx"),
            ("text/rtf", "", b"x"),
        ] {
            assert!(
                format(content_type, name, bytes).is_err(),
                "{content_type} {name}"
            );
        }
    }
}
