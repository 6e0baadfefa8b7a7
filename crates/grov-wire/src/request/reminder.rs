//! System reminders: text that the client adds to the user's messages between `<system-reminder>` tags.

use std::borrow::Cow;

const OPEN: &str = "<system-reminder>";
const CLOSE: &str = "</system-reminder>";

/// Returns whether a text starts with `<system-reminder>` and ends with `</system-reminder>`, ignoring white space around it.
pub fn is_system_reminder(text: &str) -> bool {
    let text = text.trim();
    text.starts_with(OPEN) && text.ends_with(CLOSE)
}

/// Returns the text without its system reminders, trimmed. Empty if there is nothing else.
///
/// An opening tag without a closing tag stays: the text is probably about the tag.
pub fn without_system_reminders(text: Cow<'_, str>) -> Cow<'_, str> {
    if is_system_reminder(&text) {
        return Cow::Borrowed("");
    }
    if !text.contains(OPEN) {
        return trimmed(text);
    }
    let mut kept = String::with_capacity(text.len());
    let mut rest: &str = &text;
    while let Some((before, reminder)) = rest.split_once(OPEN) {
        let Some((_, after)) = reminder.split_once(CLOSE) else {
            break;
        };
        kept.push_str(before);
        rest = after;
    }
    kept.push_str(rest);
    trimmed(Cow::Owned(kept))
}

fn trimmed(text: Cow<'_, str>) -> Cow<'_, str> {
    match text {
        Cow::Borrowed(text) => Cow::Borrowed(text.trim()),
        Cow::Owned(text) if text.trim().len() == text.len() => Cow::Owned(text),
        Cow::Owned(text) => Cow::Owned(text.trim().to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn without(text: &str) -> String {
        without_system_reminders(Cow::Borrowed(text)).into_owned()
    }

    #[test]
    fn a_reminder_is_recognised_as_a_whole() {
        assert!(is_system_reminder(
            "<system-reminder>\nbe kind\n</system-reminder>\n"
        ));
        assert!(!is_system_reminder(
            "fix it <system-reminder>be kind</system-reminder>"
        ));
        assert!(!is_system_reminder("what is a <system-reminder>?"));
    }

    #[test]
    fn text_outside_reminders_stays() {
        assert_eq!(without("  fix it\n"), "fix it");
        assert_eq!(without("<system-reminder>a</system-reminder>\nfix it"), "fix it");
        assert_eq!(without("fix it\n<system-reminder>a</system-reminder>"), "fix it");
        assert_eq!(without("one <system-reminder>a</system-reminder>two"), "one two");
        assert_eq!(without("<system-reminder>a</system-reminder>"), "");
    }

    #[test]
    fn reminder_that_contains_its_closing_tag_is_removed() {
        assert_eq!(
            without("<system-reminder>ends with </system-reminder> it says</system-reminder>"),
            ""
        );
    }

    #[test]
    fn opening_tag_without_closing_tag_stays() {
        assert_eq!(
            without("what is a <system-reminder> for?"),
            "what is a <system-reminder> for?"
        );
        assert_eq!(
            without("<system-reminder>a</system-reminder> what is a <system-reminder> for?"),
            "what is a <system-reminder> for?"
        );
    }
}
