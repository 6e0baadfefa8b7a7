use super::*;
use time::macros::datetime;

fn upload(name: &str, bytes: &[u8]) -> Upload {
    Upload {
        project: ProjectId::fresh(),
        title: String::new(),
        category: Category::Facts,
        content_type: None,
        file_name: Some(name.to_owned()),
        bytes: bytes.to_vec(),
    }
}

fn prepared(name: &str, bytes: &[u8]) -> Result<Prepared, IngestFailed> {
    prepare(&upload(name, bytes), datetime!(2026-05-01 12:00 UTC))
}

#[test]
fn secrets_are_gone_before_anything_is_derived() {
    let token = "ghp_a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8";
    let text = format!("# Access {token}\nUse {token} here.\n");
    let one = prepared("a.md", text.as_bytes()).unwrap();
    assert!(!format!("{:?}", one.document).contains("ghp_"));
    assert!(!String::from_utf8(one.content.clone()).unwrap().contains("ghp_"));
    assert_eq!(one.document.sha256, sha256(&one.content));
    assert_eq!(one.document.bytes, one.content.len() as u64);
    let html = format!("<h1>Access</h1><p>Use {token}<p>password: <b>hunter2-hunter2</b>");
    let one = prepared("a.html", html.as_bytes()).unwrap();
    assert!(
        !format!("{:?}", one.document).contains("ghp"),
        "{:?}",
        one.document
    );
}

#[test]
fn a_range_is_where_the_text_is() {
    let text = "\u{feff}# Überblick\r\n\r\nErster Absatz.\r\n\r\n## Größe\r\n\r\n".to_owned()
        + &"Wörter und Zeilen.\r\n".repeat(200);
    let one = prepared("a.md", text.as_bytes()).unwrap();
    let kept = String::from_utf8(one.content).unwrap();
    assert!(one.document.chunks.len() > 2);
    for chunk in &one.document.chunks {
        let range = chunk.range.start as usize..chunk.range.end as usize;
        assert_eq!(&kept[range], chunk.text.as_str());
    }
    let paths: Vec<String> = one.document.chunks[1]
        .heading_path
        .iter()
        .map(ToString::to_string)
        .collect();
    assert_eq!(paths, ["Überblick", "Größe"]);
}

#[test]
fn a_document_needs_a_title_and_text_of_a_bounded_size() {
    for (name, bytes, part) in [
        ("a.md", &b"  \n"[..], "no text"),
        (" \n", b"text", "title"),
        ("a.md", b"a\0b", "NUL"),
    ] {
        let error = prepared(name, bytes).unwrap_err();
        assert!(
            matches!(error, IngestFailed::Invalid(_)) && error.to_string().contains(part),
            "{error}"
        );
    }
    let large = vec![b'a'; MAX_DOCUMENT_BYTES + 1];
    assert!(matches!(prepared("a.md", &large), Err(IngestFailed::TooLarge(_))));
    let long_name = "n".repeat(400) + ".md";
    assert!(matches!(
        prepared(&long_name, b"x"),
        Err(IngestFailed::Invalid(_))
    ));
}

#[test]
fn a_title_is_one_line_and_never_a_path_to_follow() {
    let mut one = upload("../../etc/passwd.md", b"text");
    one.title = "A\n\u{1b}[31m  B".to_owned();
    let prepared = prepare(&one, datetime!(2026-05-01 12:00 UTC)).unwrap();
    assert_eq!(prepared.document.title.as_str(), "A [31m B");
}

#[test]
fn the_type_of_what_is_kept_is_named() {
    for (name, content_type, expected) in [
        ("a.md", None, "text/markdown"),
        ("a.html", None, "text/markdown"),
        ("a.rs", Some("text/x-rust"), "text/x-rust"),
        (
            "a.json",
            Some("application/json; charset=utf-8"),
            "application/json",
        ),
        ("a.txt", Some("text/plain"), "text/plain"),
        ("a.rs", None, "text/plain"),
    ] {
        let mut one = upload(name, b"fn main() {}");
        one.content_type = content_type.map(str::to_owned);
        let prepared = prepare(&one, datetime!(2026-05-01 12:00 UTC)).unwrap();
        assert_eq!(prepared.document.content_type, expected, "{name}");
    }
}
