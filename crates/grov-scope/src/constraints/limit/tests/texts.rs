//! What must not be written, or must stay, inside of files.

use super::*;
use crate::analyzed_action::tests::replacement;

#[test]
fn texts_are_forbidden_by_construct() {
    check(&[
        (
            "don't touch calculateTotal",
            &["edit src/cart.ts: function calculateTotal(items) {"],
            &["edit src/cart.ts: const t = calculateTotal(items);"],
        ),
        (
            "no jQuery please",
            &["npm i jquery", "edit a.js: import $ from 'jquery';"],
            &[
                "edit a.js: document.querySelector('a')",
                "edit README.md: we removed jquery",
            ],
        ),
        (
            "don't use unwrap",
            &["edit src/a.rs: let a = b.unwrap();"],
            &[
                "edit src/a.rs: let a = b?;",
                "edit src/a.rs: let a = b.unwrap_or(1);",
            ],
        ),
        (
            "no console.log",
            &["edit a.ts: console.log(a)"],
            &["edit a.ts: logger.info(a)"],
        ),
        (
            "no `any`",
            &["write a.ts: const f = (a: any) => a;"],
            &["write a.ts: const f = (company: string) => company;"],
        ),
        (
            "don't add comments",
            &["edit a.ts: // adds one", "edit a.py: x = 1  # one"],
            &["edit a.ts: const url = 'http://x'", "edit a.py: x = '#fff'"],
        ),
        (
            "no emojis in the output",
            &["edit a.py: print('✨ done')"],
            &["edit a.py: print('done')"],
        ),
        (
            "no inline styles",
            &["edit a.tsx: <a style={{color: 'red'}}>"],
            &[
                "edit a.tsx: <a className='x'>",
                "edit a.tsx: <a style={styles.a}>",
            ],
        ),
        (
            "min iOS stays 15",
            &["edit Package.swift: platforms: [.iOS(.v17)],"],
            &["edit Package.swift: platforms: [.iOS(.v15)],"],
        ),
        (
            "without !important",
            &["edit a.css: a { color: red !important; }"],
            &["edit a.css: a { color: red; }"],
        ),
        (
            "the signature of export_rows() has to stay",
            &["edit a.py: def export_rows(query, stream=True):"],
            &[
                "edit a.py: def _iter_rows(query):",
                "edit a.py: rows = export_rows(q)",
            ],
        ),
        (
            "no mocks",
            &["edit tests/a.ts: vi.mock('./a')"],
            &["edit tests/a.ts: expect(a()).toBe(1)"],
        ),
        (
            "C99",
            &["edit a.c: _Static_assert(1, \"x\");"],
            &["edit a.c: int a = 1;"],
        ),
    ]);
}

#[test]
fn an_edit_that_keeps_a_definition_keeps_its_signature() {
    let limit = "keep the public signatures as they are";
    let old = "export function load(id: string): Item {\n  return a;\n}";
    for (after, expected) in [
        (
            "export function load(id: string): Item {\n  return b;\n}\n",
            false,
        ),
        (
            "export function load(id: string): Item {\n  return a;\n}\nexport function more() {}",
            false,
        ),
        (
            "export function load(id: string, b = 1): Item {\n  return a;\n}",
            true,
        ),
        ("export function read(id: string): Item {\n  return a;\n}", true),
    ] {
        assert_eq!(
            breaks(limit, limit, &replacement("src/a.ts", old, after)).is_some(),
            expected,
            "{after}"
        );
    }
}

#[test]
fn keys_and_values_are_kept() {
    for (limit, file, before, after, expected) in [
        (
            "don't change the keys",
            "lang/ro.json",
            "\"a_b\": \"Coș\",",
            "\"a.b\": \"Coș\",",
            true,
        ),
        (
            "don't change the keys",
            "lang/ro.json",
            "\"a_b\": \"Coș\",",
            "\"a_b\": \"Coșul\",",
            false,
        ),
        (
            "nie zmieniaj kluczy",
            "m.php",
            "'a' => 'Adres',",
            "'b' => 'Adres',",
            true,
        ),
        (
            "keep the batch size at 256",
            "a.yaml",
            "batch_size: 256",
            "batch_size: 128",
            true,
        ),
        ("keep the batch size at 256", "a.yaml", "lr: 1", "lr: 2", false),
        (
            "hands off the ingress section",
            "a.yaml",
            "ingress:\n  on: true",
            "ingress:\n  on: false",
            true,
        ),
        (
            "hands off the ingress section",
            "a.yaml",
            "service:\n  on: true",
            "service:\n  on: false",
            false,
        ),
        (
            "stay on react 17",
            "package.json",
            "\"react\": \"17.0.2\"",
            "\"react\": \"18.0.0\"",
            true,
        ),
        (
            "leave the versions alone",
            "package.json",
            "\"react\": \"17.0.2\"",
            "\"react\": \"18.0.0\"",
            true,
        ),
        (
            "leave the versions alone",
            "package.json",
            "\"build\": \"a\"",
            "\"build\": \"b\"",
            false,
        ),
    ] {
        let found = breaks(limit, limit, &replacement(file, before, after));
        assert_eq!(
            found.is_some(),
            expected,
            "{limit}: {before} => {after}: {found:?}"
        );
    }
}

#[test]
fn replacements_by_commands_are_read_like_edits() {
    check(&[
        (
            "don't change the signature of normalize()",
            &["sed -i 's/func normalize(s string)/func normalize(b []byte)/' a.go"],
            &["sed -i 's/return s/return t/' a.go"],
        ),
        (
            "please no formatting changes",
            &["npx prettier --write src"],
            &["sed -i 's/a/b/' src/a.ts"],
        ),
    ]);
    let layout = replacement(
        "lib/a.js",
        "function f(d) { return d }",
        "function f(d) {\n  return d;\n}",
    );
    assert!(breaks("no formatting changes", "no formatting changes", &layout).is_some());
}
