//! The outline of plain text: paragraphs and lines.

use super::outline::{Break, Outline, lines};

/// The depth of a line inside a paragraph.
const LINE_DEPTH: u8 = 2;

/// Returns the outline of a plain text: best divided between paragraphs, else between lines.
pub(super) fn outline(text: &str) -> Outline {
    let mut after_blank = false;
    let mut breaks = Vec::new();
    for (at, line) in lines(text) {
        let is_blank = line.trim().is_empty();
        if at > 0 && !is_blank {
            breaks.push(Break {
                at,
                depth: if after_blank { 0 } else { LINE_DEPTH },
            });
        }
        after_blank = is_blank;
    }
    Outline::flat(text.len(), breaks)
}
