//! Edits change exactly what they name, and impossible edits are errors.

use crate::generated::{Noise, request, text};
use crate::golden;
use bytes::Bytes;
use grov_wire::json::JsonProblem;
use grov_wire::{Content, Edit, InsertionPoint, RequestIndex, Role, Splice, SpliceError, text_block};
use proptest::prelude::*;
use serde_json::{Value, json};

fn index(text: &str) -> RequestIndex {
    RequestIndex::parse(&Bytes::copy_from_slice(text.as_bytes())).unwrap()
}

fn insert(at: InsertionPoint, bytes: impl Into<Bytes>) -> Edit {
    Edit::insert(at, bytes)
}

fn apply(index: &RequestIndex, edits: &[Edit]) -> String {
    let chunks = Splice::apply(index, edits).unwrap();
    let length = chunks.len();
    let bytes = chunks.into_vec().concat();
    assert_eq!(bytes.len(), length);
    String::from_utf8(bytes).unwrap()
}

fn end_of(index: &RequestIndex, message: usize) -> InsertionPoint {
    index.message(message).unwrap().insertion_point_at_end().unwrap()
}

fn after(index: &RequestIndex, message: usize, block: usize) -> InsertionPoint {
    index
        .message(message)
        .unwrap()
        .blocks()
        .nth(block)
        .unwrap()
        .insertion_point_after()
        .unwrap()
}

#[test]
fn no_edits_return_the_original() {
    let index = golden::index("loop_1_after_write");
    let pieces = Splice::apply(&index, &[]).unwrap().into_vec();
    assert_eq!(pieces.len(), 1);
    assert_eq!(pieces[0].as_ptr(), index.body().as_ptr());
    assert_eq!(pieces[0], index.body());
}

#[test]
fn blocks_are_added_between_blocks() {
    let index = index(r#"{"messages":[{"content":[ {"n":1} , {"n":2} ]},{"content":[]},{"content":[ ]}]}"#);
    let edits = [
        insert(after(&index, 0, 0), "{\"a\":1}"),
        insert(after(&index, 0, 1), "{\"b\":1}"),
        insert(after(&index, 0, 1), " {\"c\":1}\n"),
        insert(end_of(&index, 1), "{\"d\":1}"),
        insert(end_of(&index, 2), "{\"e\":1}"),
        insert(end_of(&index, 2), "{\"f\":1}"),
    ];
    assert_eq!(
        apply(&index, &edits),
        r#"{"messages":[{"content":[ {"n":1},{"a":1} , {"n":2},{"b":1}, {"c":1}
 ]},{"content":[{"d":1}]},{"content":[{"e":1},{"f":1} ]}]}"#
    );
    assert_eq!(end_of(&index, 0), after(&index, 0, 1));
}

#[test]
fn plain_string_becomes_the_first_block_unchanged() {
    let index = index(r#"{"messages":[{"content": "h\u0069 \"there\"" ,"role":"user"}]}"#);
    let end = end_of(&index, 0);
    assert_eq!(
        apply(&index, &[insert(end, "{\"a\":1}"), insert(end, "{\"b\":1}")]),
        r#"{"messages":[{"content": [{"type":"text","text":"h\u0069 \"there\""},{"a":1},{"b":1}] ,"role":"user"}]}"#
    );
}

#[test]
fn nothing_can_be_inserted_into_a_system_prompt() {
    let index = index(r#"{"system":[{"text":"one"}],"messages":[]}"#);
    let grov_wire::SystemPrompt::Blocks(mut blocks) = index.system() else {
        panic!("{:?}", index.system());
    };
    assert_eq!(blocks.next().unwrap().insertion_point_after(), None);
}

#[test]
fn errors_name_the_failing_edit() {
    let index =
        index(r#"{"model":"m","messages":[{"content":[{"text":"a"},{}]},{"content":"b"},{"content":7}]}"#);
    let first = insert(after(&index, 0, 0), "{}");
    let string = insert(end_of(&index, 1), "{}");
    let refused = |edits: &[&Edit]| {
        let edits: Vec<_> = edits.iter().map(|edit| (*edit).clone()).collect();
        Splice::apply(&index, &edits).unwrap_err()
    };
    assert_eq!(refused(&[&first, &first]), SpliceError::Duplicate { edit: 1 });
    assert_eq!(
        refused(&[&first, &string, &string]),
        SpliceError::Duplicate { edit: 2 }
    );
    assert_eq!(
        refused(&[&first, &string, &first]),
        SpliceError::Duplicate { edit: 2 }
    );

    let at = after(&index, 0, 0);
    assert_eq!(
        refused(&[&insert(at, "[{}]")]),
        SpliceError::NotABlock { edit: 0 }
    );
    for (bytes, problem) in [
        ("", JsonProblem::ExpectedValue),
        ("{},{}", JsonProblem::TrailingCharacters),
        ("{\"a\":\"\u{0}\"}", JsonProblem::ControlCharacter),
    ] {
        match refused(&[&first, &insert(end_of(&index, 0), bytes)]) {
            SpliceError::NotJson { edit: 1, source } => assert_eq!(source.problem, problem),
            other => panic!("{other:?}"),
        }
    }

    assert_eq!(index.message(2).unwrap().insertion_point_at_end(), None);
}

#[test]
fn place_of_another_request_never_splits_a_value() {
    let wide = index(r#"{"messages":[{"content":[{},{},{}]},{"content":"x"},{"content":[]}]}"#);
    let narrow = index(r#"{"messages":[{"content":"y"},{"content":[{}]}]}"#);
    let missing = [
        insert(after(&wide, 0, 0), "{}"),
        insert(end_of(&wide, 1), "{}"),
        insert(end_of(&wide, 2), "{}"),
    ];
    for edit in missing {
        assert_eq!(
            Splice::apply(&narrow, &[edit]).unwrap_err(),
            SpliceError::NoSuchPlace { edit: 0 }
        );
    }
}

#[test]
fn insertion_at_a_link_lands_at_the_same_place_in_a_rewritten_history() {
    let added = text_block("remember: tests first");
    for (earlier, later) in [
        ("loop_0_first", "loop_4_resumed"),
        ("loop_2_after_bash", "side_compaction"),
        ("loop_4_second_prompt", "loop_4_resumed"),
        ("older_1_parallel", "older_2_resumed"),
    ] {
        let anchor = golden::index(earlier).skeleton().newest_user_link().unwrap().key;
        let later = golden::index(later);
        let link = *later.skeleton().find(anchor).unwrap();
        let edited = apply(&later, &[insert(link.insertion_point(), added.clone())]);
        let edited = RequestIndex::parse(&Bytes::from(edited)).unwrap();
        let message = edited.message(link.message).unwrap();
        let place = link.block.map_or(1, |block| block + 1);
        assert_eq!(message.blocks().nth(place).unwrap().raw().as_bytes(), added);
        assert_eq!(edited.messages().len(), later.messages().len());
    }
}

/// An insertion that can be applied to an index and to a tree.
#[derive(Clone, Debug, PartialEq)]
enum Change {
    InsertAfter(usize, usize),
    InsertAtEnd(usize),
}

/// Returns the insertions that are possible in a request, in the order of the request.
fn possible_changes(index: &RequestIndex) -> Vec<Change> {
    let mut changes = vec![];
    for message in index.messages() {
        let number = message.number();
        changes.extend(
            message
                .blocks()
                .map(|block| Change::InsertAfter(number, block.number())),
        );
        if message.blocks().len() == 0 && message.insertion_point_at_end().is_some() {
            changes.extend([Change::InsertAtEnd(number), Change::InsertAtEnd(number)]);
        }
    }
    changes
}

fn as_edit(index: &RequestIndex, change: &Change, value: &Value) -> Edit {
    let at = match change {
        Change::InsertAfter(message, block) => after(index, *message, *block),
        Change::InsertAtEnd(message) => end_of(index, *message),
    };
    insert(at, value.to_string())
}

fn change_tree(tree: &mut Value, change: &Change, value: Value) {
    match change {
        Change::InsertAfter(number, block) => {
            tree["messages"][number]["content"]
                .as_array_mut()
                .unwrap()
                .insert(block + 1, value);
        }
        Change::InsertAtEnd(number) => {
            let content = &mut tree["messages"][number]["content"];
            if content.is_string() {
                *content = json!([{"type": "text", "text": content.take()}]);
            }
            // Backwards: the second insertion at a place is applied first.
            let place = content
                .as_array()
                .unwrap()
                .iter()
                .take_while(|block| block.get("added").is_none())
                .count();
            content.as_array_mut().unwrap().insert(place, value);
        }
    }
}

/// Returns the ranges of the pieces that are slices of the original.
fn original_ranges(body: &Bytes, pieces: &[Bytes]) -> Vec<std::ops::Range<usize>> {
    let all = body.as_ptr_range();
    let from_original = pieces.iter().filter(|piece| all.contains(&piece.as_ptr()));
    from_original
        .map(|piece| {
            let start = piece.as_ptr() as usize - all.start as usize;
            start..start + piece.len()
        })
        .collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn edits_of_bytes_equal_edits_of_a_tree(body in request(), noise: u64, words in text()) {
        let index = RequestIndex::parse(&body).unwrap();
        let mut choices = Noise(noise | 1);
        let mut changes = possible_changes(&index);
        changes.retain(|_| choices.happens(2));
        let value = |number: usize| json!({"type": "text", "text": words, "added": number});
        let edits: Vec<_> =
            changes.iter().enumerate().map(|(number, change)| as_edit(&index, change, &value(number))).collect();
        let mut tree: Value = serde_json::from_slice(&body).unwrap();
        for (number, change) in changes.iter().enumerate().rev() {
            change_tree(&mut tree, change, value(number));
        }

        let chunks = Splice::apply(&index, &edits).unwrap();
        let length = chunks.len();
        prop_assert!(chunks.iter().all(|piece| !piece.is_empty()));
        let pieces = chunks.into_vec();
        let edited = Bytes::from(pieces.concat());
        prop_assert_eq!(edited.len(), length);
        prop_assert_eq!(serde_json::from_slice::<Value>(&edited).unwrap(), tree);
        prop_assert!(RequestIndex::parse(&edited).is_ok());

        let kept = original_ranges(&body, &pieces);
        prop_assert!(kept.windows(2).all(|pair| pair[0].end <= pair[1].start));
        let rest: Vec<u8> = kept.iter().flat_map(|range| body[range.clone()].to_vec()).collect();
        prop_assert_eq!(&rest, &body, "without the additions, the original is left");
    }

    #[test]
    fn order_of_edits_does_not_matter(body in request(), noise: u64) {
        let index = RequestIndex::parse(&body).unwrap();
        let mut choices = Noise(noise | 1);
        let mut changes = possible_changes(&index);
        changes.dedup();
        let mut edits: Vec<_> = changes.iter().map(|change| as_edit(&index, change, &json!({}))).collect();
        let in_order = apply(&index, &edits);
        for place in 1..edits.len() {
            if choices.happens(2) {
                edits.swap(place - 1, place);
            }
        }
        prop_assert_eq!(&apply(&index, &edits), &in_order);
        edits.reverse();
        prop_assert_eq!(apply(&index, &edits), in_order);
    }

    #[test]
    fn places_of_another_request_give_a_valid_request_or_an_error(
        one in request(), other in request(),
    ) {
        let (one, other) = (RequestIndex::parse(&one).unwrap(), RequestIndex::parse(&other).unwrap());
        for change in possible_changes(&one) {
            if let Ok(chunks) = Splice::apply(&other, &[as_edit(&one, &change, &json!({}))]) {
                let edited = chunks.into_vec().concat();
                prop_assert!(serde_json::from_slice::<Value>(&edited).is_ok());
            }
        }
    }

    #[test]
    fn insertions_at_links_keep_the_texts_of_the_prompt_in_order(body in request(), words in text()) {
        let index = RequestIndex::parse(&body).unwrap();
        let skeleton = index.skeleton();
        let mut points: Vec<_> = skeleton.links().iter().map(|link| link.insertion_point()).collect();
        points.sort_unstable();
        points.dedup();
        let added = text_block(&words);
        let edits: Vec<_> = points.into_iter().map(|at| insert(at, added.clone())).collect();
        let edited = RequestIndex::parse(&Bytes::from(Splice::apply(&index, &edits).unwrap().into_vec().concat())).unwrap();
        for (before, after) in index.messages().zip(edited.messages()) {
            let mut texts = after.texts().filter(|text| *text != words);
            prop_assert!(before.texts().filter(|text| *text != words).all(|text| texts.next() == Some(text)));
            prop_assert!(texts.next().is_none());
            if before.role() == Role::System {
                prop_assert!(matches!(after.content(), Content::Text(_)) == matches!(before.content(), Content::Text(_)));
            }
        }
    }

    #[test]
    fn text_block_contains_the_given_text(words in text()) {
        let block: Value = serde_json::from_slice(&text_block(&words)).unwrap();
        prop_assert_eq!(block, json!({"type": "text", "text": words}));
    }
}
