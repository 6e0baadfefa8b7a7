//! The tests generate the model's files. `tests/golden.json` contains the expected results, computed by Python's
//! `tokenizers` and `model2vec` from the same files.

use super::tensors::Header;
use super::tokenizer::Tokenizer;
use super::{StaticEmbedder, StaticModelError};
use grov_domain::{EmbedError, Embedder, Embedding, MAX_TEXT_BYTES, Redacted};
use proptest::prelude::*;
use serde_json::{Value, json};
use std::fs;
use std::path::Path;
use std::sync::LazyLock;

static GOLDEN: LazyLock<Value> =
    LazyLock::new(|| serde_json::from_str(include_str!("tests/golden.json")).unwrap());
/// Tokens of the golden tokenizer.
const TOKENS: usize = 162;
const DIMENSION: usize = 8;

/// A tensor's name, its numbers' type, its shape, and the numbers as bytes.
type Tensor<'a> = (&'a str, &'a str, &'a [usize], Vec<u8>);

fn safetensors(tensors: &[Tensor<'_>]) -> Vec<u8> {
    let mut header = json!({"__metadata__": {"format": "pt"}});
    let mut data = Vec::new();
    for (name, dtype, shape, bytes) in tensors {
        let from = data.len();
        data.extend_from_slice(bytes);
        header[name] = json!({"dtype": dtype, "shape": shape, "data_offsets": [from, data.len()]});
    }
    let header = header.to_string();
    let length = (header.len() as u64).to_le_bytes();
    [&length[..], header.as_bytes(), &data].concat()
}

/// The number at a row and a column, by the formula used for the golden results.
fn number(row: usize, column: usize) -> i8 {
    let (row, column) = (row as i32, column as i32);
    ((row * 37 + column * 101 + row * column * 13) % 251 - 125) as i8
}

fn numbers(rows: usize) -> impl Iterator<Item = i8> {
    (0..rows).flat_map(|row| (0..DIMENSION).map(move |column| number(row, column)))
}

fn bytes_of<const WIDTH: usize>(numbers: impl Iterator<Item = [u8; WIDTH]>) -> Vec<u8> {
    numbers.flatten().collect()
}

/// All numbers as they are.
fn whole(name: &'static str, rows: usize) -> Tensor<'static> {
    let shape: &[usize] = if rows == TOKENS {
        &[TOKENS, DIMENSION]
    } else {
        &[40, DIMENSION]
    };
    (name, "I8", shape, bytes_of(numbers(rows).map(i8::to_le_bytes)))
}

fn weight(token: usize) -> f64 {
    ((token * 7 % 10 + 1) as f64) / 10.0
}

/// The numbers in half precision, which represents them exactly: integers below 2^7, divided by 64.
fn half(number: i8) -> [u8; 2] {
    let exact = f32::from(number) / 64.0;
    let bits = exact.to_bits();
    let sign = (bits >> 16) as u16 & 0x8000;
    let rest = (bits & 0x7fff_ffff).saturating_sub(112 << 23) >> 13;
    (sign | rest as u16).to_le_bytes()
}

/// The table used for the golden results of that name.
fn table(name: &str) -> Vec<u8> {
    let shape = &[TOKENS, DIMENSION];
    let single = || bytes_of((0..TOKENS).map(|token| (weight(token) as f32).to_le_bytes()));
    match name {
        "i8" => safetensors(&[whole("embeddings", TOKENS)]),
        "f32" => {
            let numbers = numbers(TOKENS).map(|number| (f32::from(number) / 64.0).to_le_bytes());
            safetensors(&[("embeddings", "F32", shape, bytes_of(numbers))])
        }
        "f16" => safetensors(&[("embeddings", "F16", shape, bytes_of(numbers(TOKENS).map(half)))]),
        "weights" => safetensors(&[
            whole("embeddings", TOKENS),
            ("weights", "F32", &[TOKENS], single()),
        ]),
        _ => safetensors(&[
            whole("embeddings", 40),
            (
                "mapping",
                "I64",
                &[TOKENS],
                bytes_of((0..TOKENS).map(|token| (token as i64 * 5 % 40).to_le_bytes())),
            ),
            (
                "weights",
                "F64",
                &[TOKENS],
                bytes_of((0..TOKENS).map(|token| weight(token).to_le_bytes())),
            ),
        ]),
    }
}

fn golden_tokenizer() -> String {
    GOLDEN["tokenizer"].to_string()
}

/// The golden tokenizer, changed.
fn tokenizer_with(change: impl FnOnce(&mut Value)) -> String {
    let mut tokenizer = GOLDEN["tokenizer"].clone();
    change(&mut tokenizer);
    tokenizer.to_string()
}

fn write(folder: &Path, tokenizer: &str, table: &[u8]) {
    fs::write(folder.join("tokenizer.json"), tokenizer).unwrap();
    fs::write(folder.join("model.safetensors"), table).unwrap();
}

/// Loads a model with these files.
fn load(tokenizer: &str, table: &[u8]) -> Result<StaticEmbedder, StaticModelError> {
    let folder = tempfile::tempdir().unwrap();
    write(folder.path(), tokenizer, table);
    StaticEmbedder::load(folder.path())
}

fn golden(name: &str) -> StaticEmbedder {
    load(&golden_tokenizer(), &table(name)).unwrap()
}

/// The error from loading these files.
fn refusal(tokenizer: &str, table: &[u8]) -> String {
    let error = load(tokenizer, table).unwrap_err();
    assert!(matches!(error, StaticModelError::Unusable { .. }), "{error:?}");
    error.to_string()
}

#[test]
fn tokens_equal_the_reference() {
    let uncased = Tokenizer::read(golden_tokenizer().as_bytes()).unwrap();
    let cased = tokenizer_with(|file| file["normalizer"]["lowercase"] = json!(false));
    let cased = Tokenizer::read(cased.as_bytes()).unwrap();
    let accented = tokenizer_with(|file| file["normalizer"]["strip_accents"] = json!(false));
    let accented = Tokenizer::read(accented.as_bytes()).unwrap();
    assert_eq!(uncased.size(), TOKENS);
    for case in GOLDEN["cases"].as_array().unwrap() {
        let text = case["text"].as_str().unwrap();
        for (tokenizer, name) in [(&uncased, "uncased"), (&cased, "cased"), (&accented, "accented")] {
            assert_eq!(json!(tokenizer.tokens(text)), case[name], "{name}: {text:?}");
        }
    }
}

#[test]
fn embeddings_equal_the_reference() {
    for name in ["i8", "f32", "f16", "weights", "mapping"] {
        let embedder = golden(name);
        for case in GOLDEN["embeddings"].as_array().unwrap() {
            let text = case["text"].as_str().unwrap();
            let values: Vec<f32> = serde_json::from_value(case[name].clone()).unwrap();
            let nearness = embedder
                .embedding(text)
                .unwrap()
                .similarity(&Embedding::of(&values).unwrap());
            assert!(nearness > 0.9999, "{name}: {text:?} is {nearness} near");
        }
    }
}

#[test]
fn sentence_transformers_files_are_loaded_and_unknown_words_count() {
    let folder = tempfile::tempdir().unwrap();
    let nested = folder.path().join("0_StaticEmbedding");
    fs::create_dir(&nested).unwrap();
    write(
        &nested,
        &golden_tokenizer(),
        &safetensors(&[whole("embedding.weight", TOKENS)]),
    );
    let embedder = StaticEmbedder::load(folder.path()).unwrap();
    let row: Vec<f32> = (0..DIMENSION).map(|column| number(1, column).into()).collect();
    assert_eq!(embedder.embedding("\u{2603}"), Embedding::of(&row));
    assert_eq!(golden("i8").embedding("\u{2603}"), None);
}

#[tokio::test]
async fn texts_are_embedded_in_order_and_an_unknown_one_is_reported() {
    let embedder = golden("i8");
    let texts = ["the token", "refresh", "the token"].map(str::to_owned);
    let embeddings = embedder.embed(&Redacted::each(&texts)).await.unwrap();
    assert_eq!(embeddings.len(), 3);
    assert_eq!(embeddings[0], embeddings[2]);
    assert_ne!(embeddings[0], embeddings[1]);
    assert_eq!(embeddings[0].dimension(), DIMENSION);
    assert_eq!(embedder.embed(&Redacted::each(&[])).await, Ok(Vec::new()));
    for nothing in ["", " \n", "\u{2603}\u{2603}"] {
        let refused = embedder
            .embed(&Redacted::each(&["the".to_owned(), nothing.to_owned()]))
            .await;
        assert!(
            matches!(&refused, Err(EmbedError::Refused(reason)) if reason.contains("text 1")),
            "{nothing:?}: {refused:?}"
        );
    }
}

#[test]
fn only_both_ends_of_a_long_text_are_embedded() {
    let embedder = golden("i8");
    let long = |middle: &str| {
        format!(
            "rust {} {middle} {} login",
            "the ".repeat(5_000),
            "the ".repeat(5_000)
        )
    };
    assert_eq!(
        embedder.embedding(&long("fix!")),
        embedder.embedding(&long("cafe"))
    );
    assert_ne!(
        embedder.embedding(&long("fix!")),
        embedder.embedding(&format!("{} fix!", long("")))
    );
    // A megabyte, mostly without spaces.
    assert!(embedder.embedding(&"token ".repeat(200_000)).is_some());
    assert!(embedder.embedding(&"a".repeat(1_000_000)).is_some());
    assert!("token".len() < MAX_TEXT_BYTES);
}

#[test]
fn the_model_id_depends_only_on_file_contents() {
    let one = golden("i8");
    assert_eq!(
        one.model(),
        golden("i8").model(),
        "another folder, the same files"
    );
    assert_ne!(one.model(), golden("f16").model());
    let others = tokenizer_with(|file| file["normalizer"]["lowercase"] = json!(false));
    assert_ne!(one.model(), load(&others, &table("i8")).unwrap().model());
    let name = one.model().strip_prefix("static/").unwrap();
    assert!(
        name.len() == 32 && name.bytes().all(|byte| byte.is_ascii_hexdigit()),
        "{name}"
    );
}

#[test]
fn missing_files_are_named_in_the_error() {
    let folder = tempfile::tempdir().unwrap();
    let error = |folder: &Path| StaticEmbedder::load(folder).unwrap_err().to_string();
    let nowhere = folder.path().join("nowhere");
    assert!(
        error(&nowhere).contains("nowhere/tokenizer.json cannot be read"),
        "{}",
        error(&nowhere)
    );
    fs::write(folder.path().join("tokenizer.json"), golden_tokenizer()).unwrap();
    assert!(error(folder.path()).contains("model.safetensors cannot be read"));
    fs::create_dir(folder.path().join("model.safetensors")).unwrap();
    assert!(error(folder.path()).contains("it is not a file"));
}

#[test]
fn unsupported_tokenizers_are_refused_with_a_reason() {
    let refusals = [
        (String::new(), "EOF"),
        (
            "[]".to_owned(),
            "expected an object with normalizer, pre_tokenizer and model",
        ),
        (tokenizer_with(|file| file["model"] = json!(null)), "model"),
        (
            tokenizer_with(|file| {
                file["model"] = json!({"type": "Unigram", "unk_id": 0, "vocab": [["a", -1.5]]})
            }),
            "its model is Unigram; Grov supports only WordPiece",
        ),
        (
            tokenizer_with(|file| file["model"] = json!({"type": "BPE", "vocab": {"a": 0}, "merges": []})),
            "its model is BPE",
        ),
        (
            tokenizer_with(|file| file["model"] = json!({"vocab": {"a": 0}})),
            "its model is of no named type",
        ),
        (
            tokenizer_with(|file| file["model"]["vocab"]["the"] = json!(-1)),
            "model: invalid value",
        ),
        (
            tokenizer_with(|file| file["normalizer"] = json!(null)),
            "its normalizer is missing",
        ),
        (
            tokenizer_with(|file| file["normalizer"] = json!({"type": "Sequence", "normalizers": []})),
            "its normalizer is Sequence",
        ),
        (
            tokenizer_with(|file| file["pre_tokenizer"] = json!({"type": "Whitespace"})),
            "its pre_tokenizer is Whitespace",
        ),
        (
            tokenizer_with(|file| file["added_tokens"][0]["normalized"] = json!(true)),
            "its added token \"[PAD]\"",
        ),
        (
            tokenizer_with(|file| file["added_tokens"][0]["single_word"] = json!(true)),
            "its added token \"[PAD]\"",
        ),
        (
            tokenizer_with(|file| {
                let many = (0..300).map(|id| json!({"id": id, "content": format!("<{id}>")}));
                file["added_tokens"] = many.collect();
            }),
            "300 added tokens are more than 256",
        ),
    ];
    for (tokenizer, reason) in refusals {
        let refusal = refusal(&tokenizer, &table("i8"));
        assert!(refusal.contains("tokenizer.json cannot be used"), "{refusal}");
        assert!(refusal.contains(reason), "{refusal} for {reason}");
    }
}

#[test]
fn vocabularies_and_tables_of_different_sizes_are_refused() {
    let larger = tokenizer_with(|file| file["model"]["vocab"]["more"] = json!(TOKENS));
    let shifted = tokenizer_with(|file| file["model"]["vocab"]["the"] = json!(TOKENS));
    let beyond = tokenizer_with(|file| file["added_tokens"][0] = json!({"id": 7_000, "content": "<more>"}));
    let none = tokenizer_with(|file| {
        file["model"]["vocab"] = json!({});
        file["added_tokens"] = json!([]);
    });
    for tokenizer in [larger, shifted, beyond, none] {
        let refusal = refusal(&tokenizer, &table("i8"));
        assert!(refusal.contains("embeddings for 162 tokens"), "{refusal}");
    }
}

#[test]
fn unsupported_tables_are_refused_with_a_reason() {
    let shape = &[TOKENS, DIMENSION];
    let whole_and = |other: Tensor<'_>| safetensors(&[whole("embeddings", TOKENS), other]);
    let singles = |change: f32| {
        let numbers = (0..TOKENS * DIMENSION).map(|at| if at == 17 { change } else { 1.0 });
        bytes_of(numbers.map(f32::to_le_bytes))
    };
    let mapping = |row: i32| bytes_of((0..TOKENS).map(|_| row.to_le_bytes()));
    let refusals = [
        (Vec::new(), "truncated"),
        (b"PK\x03\x04 an archive of something".to_vec(), "truncated"),
        ([&2_u64.to_le_bytes()[..], b"{]"].concat(), "header is broken"),
        (u64::MAX.to_le_bytes().to_vec(), "truncated"),
        (safetensors(&[]), "no tensor embeddings"),
        (
            safetensors(&[("embeddings", "BOOL", shape, Vec::new())]),
            "numbers of type BOOL",
        ),
        (
            safetensors(&[("embeddings", "F32", shape, vec![0; 7])]),
            "does not match its shape [162, 8]",
        ),
        (
            safetensors(&[("embeddings", "I64", &[usize::MAX, 8], Vec::new())]),
            "does not match its shape",
        ),
        (
            safetensors(&[("embeddings", "I8", &[6], vec![1; 6])]),
            "not rows and columns",
        ),
        (
            safetensors(&[("embeddings", "I8", &[0, 8], Vec::new())]),
            "0 rows of 8",
        ),
        (
            safetensors(&[("embeddings", "I8", &[8, 0], Vec::new())]),
            "8 rows of 0",
        ),
        (
            safetensors(&[("embeddings", "F32", shape, singles(f32::NAN))]),
            "row 2 is not finite",
        ),
        (
            safetensors(&[("embeddings", "F32", shape, singles(f32::NEG_INFINITY))]),
            "row 2 is not finite",
        ),
        (
            whole_and(("weights", "I8", &[1], vec![1])),
            "there are 162 tokens",
        ),
        (
            whole_and((
                "weights",
                "F32",
                &[TOKENS],
                bytes_of((0..TOKENS).map(|_| f32::NAN.to_le_bytes())),
            )),
            "weight of token 0 is not finite",
        ),
        (
            whole_and(("mapping", "I32", &[TOKENS], mapping(162))),
            "names row 162 of 162",
        ),
        (
            whole_and(("mapping", "I32", &[TOKENS], mapping(-1))),
            "names row -1 of 162",
        ),
        (
            whole_and(("mapping", "I8", &[TOKENS], vec![0; TOKENS])),
            "its mapping is no list of whole numbers",
        ),
    ];
    for (table, reason) in refusals {
        let refusal = refusal(&golden_tokenizer(), &table);
        assert!(refusal.contains("model.safetensors cannot be used"), "{refusal}");
        assert!(refusal.contains(reason), "{refusal} for {reason}");
    }
}

#[test]
fn a_truncated_table_is_refused() {
    let whole = table("mapping");
    for length in (0..whole.len()).step_by(7) {
        refusal(&golden_tokenizer(), &whole[..length]);
    }
}

/// Known words, markers, and characters of every kind.
fn texts() -> impl Strategy<Value = String> {
    let part = prop_oneof![
        any::<String>(),
        "[\\PC\\s]{0,40}",
        prop::sample::select(vec![
            "the ",
            "token",
            "[MASK]",
            "[UNK",
            "##",
            "日本語",
            "\u{301}",
            "\u{200b}",
            "ß",
            "<private>"
        ])
        .prop_map(str::to_owned),
        any::<Vec<char>>().prop_map(|characters| characters.into_iter().collect()),
    ];
    prop::collection::vec(part, 0..12).prop_map(|parts| parts.concat())
}

proptest! {
    #[test]
    fn every_text_has_only_tokens_of_the_table(text in texts()) {
        let tokenizer = Tokenizer::read(golden_tokenizer().as_bytes()).unwrap();
        for token in tokenizer.tokens(&text) {
            prop_assert!((token as usize) < TOKENS);
        }
    }

    #[test]
    fn every_text_has_at_most_one_embedding(text in texts()) {
        static EMBEDDER: LazyLock<StaticEmbedder> = LazyLock::new(|| golden("weights"));
        let embedding = EMBEDDER.embedding(&text);
        prop_assert_eq!(&embedding, &EMBEDDER.embedding(&text));
        prop_assert!(embedding.is_none_or(|embedding| embedding.dimension() == DIMENSION));
    }

    #[test]
    fn broken_tables_are_refused_without_a_panic(at in 0_usize..400, byte in any::<u8>()) {
        let mut table = table("mapping");
        table[at] = byte;
        // Some changes result in a valid table, others do not.
        let _ = load(&golden_tokenizer(), &table);
        let _ = Header::read(&table).map(|header| header.tensor("embeddings"));
    }
}
