//! A line diff of two texts.

/// Number of unchanged lines shown around a difference.
const CONTEXT: usize = 3;
/// Maximum number of differing lines that are compared; longer ones are shown as replaced.
const MAX_LINES: usize = 2_000;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Line<'t> {
    Kept(&'t str),
    Removed(&'t str),
    Added(&'t str),
}

/// The differences in the format of `diff -u` without a header; empty if the texts are equal. Carriage returns are ignored.
pub fn difference(before: &str, after: &str) -> String {
    let (before, after): (Vec<&str>, Vec<&str>) = (before.lines().collect(), after.lines().collect());
    let lines = aligned(&before, &after);
    let mut text = String::new();
    let mut last_shown = None;
    let (mut old, mut new) = (1, 1);
    for (at, line) in lines.iter().enumerate() {
        let near = &lines[at.saturating_sub(CONTEXT)..lines.len().min(at + CONTEXT + 1)];
        if near.iter().any(|line| !matches!(line, Line::Kept(_))) {
            if last_shown.is_none_or(|last| last + 1 != at) {
                text.push_str(&format!("@@ -{old} +{new} @@\n"));
            }
            last_shown = Some(at);
            let (sign, content) = match line {
                Line::Kept(content) => (' ', content),
                Line::Removed(content) => ('-', content),
                Line::Added(content) => ('+', content),
            };
            text.push(sign);
            text.push_str(content);
            text.push('\n');
        }
        old += usize::from(!matches!(line, Line::Added(_)));
        new += usize::from(!matches!(line, Line::Removed(_)));
    }
    text
}

/// Aligns the lines of both texts.
fn aligned<'t>(before: &[&'t str], after: &[&'t str]) -> Vec<Line<'t>> {
    let same =
        |pairs: &mut dyn Iterator<Item = (&&'t str, &&'t str)>| pairs.take_while(|(a, b)| a == b).count();
    let head = same(&mut before.iter().zip(after.iter()));
    let tail = same(&mut before[head..].iter().rev().zip(after[head..].iter().rev()));
    let (old, new) = (
        &before[head..before.len() - tail],
        &after[head..after.len() - tail],
    );
    let mut lines: Vec<Line<'t>> = before[..head].iter().map(|line| Line::Kept(line)).collect();
    lines.extend(middle(old, new));
    lines.extend(before[before.len() - tail..].iter().map(|line| Line::Kept(line)));
    lines
}

/// Aligns the differing lines by their longest common subsequence.
fn middle<'t>(old: &[&'t str], new: &[&'t str]) -> Vec<Line<'t>> {
    if old.len() > MAX_LINES || new.len() > MAX_LINES {
        let removed = old.iter().map(|line| Line::Removed(line));
        return removed.chain(new.iter().map(|line| Line::Added(line))).collect();
    }
    // common[i][j]: length of the longest common subsequence of old[i..] and new[j..].
    let width = new.len() + 1;
    let mut common = vec![0_u32; (old.len() + 1) * width];
    for i in (0..old.len()).rev() {
        for j in (0..new.len()).rev() {
            common[i * width + j] = if old[i] == new[j] {
                common[(i + 1) * width + j + 1] + 1
            } else {
                common[(i + 1) * width + j].max(common[i * width + j + 1])
            };
        }
    }
    let mut lines = Vec::with_capacity(old.len() + new.len());
    let (mut i, mut j) = (0, 0);
    while i < old.len() || j < new.len() {
        if i < old.len() && j < new.len() && old[i] == new[j] {
            lines.push(Line::Kept(old[i]));
            (i, j) = (i + 1, j + 1);
        } else if j == new.len()
            || (i < old.len() && common[(i + 1) * width + j] >= common[i * width + j + 1])
        {
            lines.push(Line::Removed(old[i]));
            i += 1;
        } else {
            lines.push(Line::Added(new[j]));
            j += 1;
        }
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn differences_are_shown_with_context() {
        let before = "1\n2\n3\n4\n5\n6\n7\n8\n9\n10\n11\n12\n";
        let after = "1\nnew\n2\n3\n4\n5\n6\n7\n8\n9\n11\n12\n";
        assert_eq!(
            difference(before, after),
            "@@ -1 +1 @@\n 1\n+new\n 2\n 3\n 4\n@@ -7 +8 @@\n 7\n 8\n 9\n-10\n 11\n 12\n"
        );
        assert_eq!(difference(before, before), "");
        assert_eq!(difference("", "a\n"), "@@ -1 +1 @@\n+a\n");
        assert_eq!(difference("a", ""), "@@ -1 +1 @@\n-a\n");
        assert_eq!(difference("a\nb\n", "a\nc\n"), "@@ -1 +1 @@\n a\n-b\n+c\n");
    }

    #[test]
    fn long_texts_are_shown_as_replaced() {
        let before = "a\n".repeat(MAX_LINES + 1);
        let after = "b\n".repeat(2);
        let shown = difference(&before, &after);
        assert_eq!(shown.lines().count(), MAX_LINES + 1 + 2 + 1);
    }
}
