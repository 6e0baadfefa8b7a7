use super::*;
use flate2::Compression;
use flate2::write::ZlibEncoder;

/// A PDF of these objects, numbered from 1; the first is the catalog.
fn pdf(objects: &[Vec<u8>]) -> Vec<u8> {
    let mut file = b"%PDF-1.7\n".to_vec();
    let mut places = Vec::new();
    for (number, object) in objects.iter().enumerate() {
        places.push(file.len());
        file.extend_from_slice(format!("{} 0 obj\n", number + 1).as_bytes());
        file.extend_from_slice(object);
        file.extend_from_slice(b"\nendobj\n");
    }
    let start = file.len();
    file.extend_from_slice(format!("xref\n0 {}\n0000000000 65535 f \n", objects.len() + 1).as_bytes());
    for place in places {
        file.extend_from_slice(format!("{place:010} 00000 n \n").as_bytes());
    }
    file.extend_from_slice(
        format!(
            "trailer\n<</Size {}/Root 1 0 R>>\nstartxref\n{start}\n%%EOF\n",
            objects.len() + 1
        )
        .as_bytes(),
    );
    file
}

fn stream(dictionary: &str, data: &[u8]) -> Vec<u8> {
    let mut object = format!("<</Length {}{dictionary}>>\nstream\n", data.len()).into_bytes();
    object.extend_from_slice(data);
    object.extend_from_slice(b"\nendstream");
    object
}

fn deflated(data: &[u8]) -> Vec<u8> {
    let mut encoder = ZlibEncoder::new(Vec::new(), Compression::best());
    encoder.write_all(data).unwrap();
    encoder.finish().unwrap()
}

/// A PDF with one page of this content, and more objects from number 6 on.
fn page(content: Vec<u8>, resources: &str, more: &[Vec<u8>]) -> Vec<u8> {
    let mut objects = vec![
        b"<</Type/Catalog/Pages 2 0 R>>".to_vec(),
        b"<</Type/Pages/Kids[3 0 R]/Count 1>>".to_vec(),
        format!(
            "<</Type/Page/Parent 2 0 R/MediaBox[0 0 612 792]/Contents 4 0 R/Resources<</Font<</F1 5 0 R>>{resources}>>>>"
        )
        .into_bytes(),
        content,
        b"<</Type/Font/Subtype/Type1/BaseFont/Helvetica/Encoding/WinAnsiEncoding>>".to_vec(),
    ];
    objects.extend_from_slice(more);
    pdf(&objects)
}

const HELLO: &[u8] = b"BT /F1 12 Tf 72 700 Td (Invoices are kept for ten years.) Tj ET";

#[test]
fn text_is_read_plain_and_compressed() {
    for content in [stream("", HELLO), stream("/Filter/FlateDecode", &deflated(HELLO))] {
        let text = text(&page(content, "", &[])).unwrap();
        assert_eq!(text.trim(), "Invoices are kept for ten years.");
    }
}

#[test]
fn text_in_a_form_is_read_and_a_form_in_itself_is_not() {
    let plain = stream(
        "/Type/XObject/Subtype/Form/BBox[0 0 9 9]/Resources<</Font<</F1 5 0 R>>>>",
        HELLO,
    );
    let content = || stream("", b"/X Do BT /F1 12 Tf 72 600 Td (After.) Tj ET");
    let found = text(&page(content(), "/XObject<</X 6 0 R>>", &[plain])).unwrap();
    assert!(found.contains("ten years") && found.contains("After"), "{found}");
    for resources in ["/XObject<</X 6 0 R>>", "/XObject 7 0 R"] {
        for own in [
            "/Resources<</XObject<</X 6 0 R>>>>",
            "/Resources<</XObject 7 0 R>>",
            "",
        ] {
            let circle = stream(
                &format!("/Type/XObject/Subtype/Form/BBox[0 0 9 9]{own}"),
                b"/X Do",
            );
            let list = b"<</X 6 0 R>>".to_vec();
            let found = text(&page(content(), resources, &[circle, list])).unwrap();
            assert_eq!(found.trim(), "After.", "{resources} {own}");
        }
    }
}

#[test]
fn pictures_alone_are_refused_with_what_to_do() {
    let error = text(&page(stream("", b"0 0 10 10 re f"), "", &[])).unwrap_err();
    assert!(error.to_string().contains("no text layer"), "{error}");
}

#[test]
fn what_unpacks_to_much_is_refused_before_it_is_held() {
    let bomb = deflated(&vec![b' '; 80 * 1024 * 1024]);
    for (dictionary, data) in [
        ("/Filter/FlateDecode", bomb.clone()),
        ("/Filter[/FlateDecode/FlateDecode]", deflated(&bomb)),
        ("/Type/ObjStm/N 1/First 4/Filter/FlateDecode", bomb.clone()),
    ] {
        let file = page(stream("", HELLO), "", &[stream(dictionary, &data)]);
        assert!(
            matches!(text(&file), Err(IngestFailed::TooLarge(_))),
            "{dictionary}"
        );
    }
    // Pages that share content count each time.
    let content = deflated(&vec![b' '; 1024 * 1024]);
    let kids: String = (4..104).map(|number| format!("{number} 0 R ")).collect();
    let mut objects = vec![
        b"<</Type/Catalog/Pages 2 0 R>>".to_vec(),
        format!("<</Type/Pages/Kids[{kids}]/Count 100>>").into_bytes(),
        stream("/Filter/FlateDecode", &content),
    ];
    let shared = b"<</Type/Page/Parent 2 0 R/MediaBox[0 0 9 9]/Contents 3 0 R>>".to_vec();
    objects.extend(std::iter::repeat_n(shared, 100));
    let file = pdf(&objects);
    assert!(matches!(text(&file), Err(IngestFailed::TooLarge(_))));
}

#[test]
fn a_bomb_behind_any_end_of_a_line_is_refused() {
    let bomb = deflated(&vec![b' '; 80 * 1024 * 1024]);
    for end in ["\n", "\r\n", "\r", "  \n", "\t\r\n", " \r"] {
        let header = format!("<</Length {}/Filter/FlateDecode>>\nstream{end}", bomb.len());
        let object = [header.as_bytes(), &bomb, b"\nendstream"].concat();
        let file = page(stream("", HELLO), "", &[object]);
        assert!(matches!(text(&file), Err(IngestFailed::TooLarge(_))), "{end:?}");
    }
}

#[test]
fn a_bomb_with_a_picture_near_it_is_refused() {
    let bomb = deflated(&vec![b' '; 80 * 1024 * 1024]);
    let file = page(
        stream("", HELLO),
        "",
        &[
            b"<</Subtype/Image>>".to_vec(),
            stream("/Filter/FlateDecode/Note<</Subtype/Image>>", &bomb),
        ],
    );
    assert!(matches!(text(&file), Err(IngestFailed::TooLarge(_))));
    let layers = deflated(&bomb);
    let file = page(
        stream("", HELLO),
        "",
        &[stream("/Subtype/Image/Filter[/FlateDecode/FlateDecode]", &layers)],
    );
    assert!(matches!(text(&file), Err(IngestFailed::TooLarge(_))));
}

#[test]
fn a_large_picture_is_left_out_and_not_unpacked_as_content() {
    let picture = deflated(&vec![b' '; 80 * 1024 * 1024]);
    let picture = || stream("/Subtype/Image/Filter/FlateDecode", &picture);
    let found = text(&page(stream("", HELLO), "", &[picture()])).unwrap();
    assert_eq!(found.trim(), "Invoices are kept for ten years.");
    let error = text(&page(picture(), "", &[])).unwrap_err();
    assert!(error.to_string().contains("no text layer"), "{error}");
}

#[test]
fn ascii85_between_layers_hides_no_bomb() {
    let bomb = deflated(&vec![b' '; 80 * 1024 * 1024]);
    let mut encoded = Vec::new();
    for group in bomb.chunks(4) {
        let mut padded = [0; 4];
        padded[..group.len()].copy_from_slice(group);
        let mut value = u32::from_be_bytes(padded);
        let mut digits = [0; 5];
        for digit in digits.iter_mut().rev() {
            *digit = b'!' + (value % 85) as u8;
            value /= 85;
        }
        encoded.extend_from_slice(&digits);
    }
    encoded.extend_from_slice(b"~>");
    let file = page(
        stream("", HELLO),
        "",
        &[stream(
            "/Filter[/FlateDecode/ASCII85Decode/FlateDecode]",
            &deflated(&encoded),
        )],
    );
    assert!(matches!(text(&file), Err(IngestFailed::TooLarge(_))));
}

#[test]
fn hostile_structure_is_an_error_and_no_crash() {
    let deepest = "[".repeat(149_000);
    for object in [
        "[".repeat(300_000),
        "<</A".repeat(149_000),
        deepest.clone(),
        deepest + &"]".repeat(149_000),
    ] {
        let _ = text(&page(stream("", HELLO), "", &[object.into_bytes()]));
    }
    let content = [b"[".repeat(100_000), b"] TJ".to_vec()].concat();
    assert!(text(&page(stream("", &content), "", &[])).is_err());
    let circle = pdf(&[
        b"<</Type/Catalog/Pages 2 0 R>>".to_vec(),
        b"<</Type/Pages/Kids[3 0 R]/Count 1/Parent 3 0 R>>".to_vec(),
        b"<</Type/Page/Parent 2 0 R/Contents 4 0 R>>".to_vec(),
        stream("", HELLO),
    ]);
    assert!(text(&circle).is_err());
    for bytes in [&b"%PDF-1.7\n"[..], b"%PDF-", b"%PDF-1.7\nstartxref\n99999\n%%EOF"] {
        assert!(matches!(text(bytes), Err(IngestFailed::Invalid(_))));
    }
    let file = page(stream("", HELLO), "", &[]);
    for end in (0..file.len()).step_by(7) {
        let _ = text(&file[..end]);
    }
}

#[test]
fn encrypted_and_old_files_are_named() {
    let file = page(stream("", HELLO), "", &[b"<</Encr#79pt 9 0 R>>".to_vec()]);
    assert!(text(&file).unwrap_err().to_string().contains("encrypted"));
    let file = page(stream("/Filter/LZWDecode", HELLO), "", &[]);
    assert!(text(&file).unwrap_err().to_string().contains("LZW"));
}
