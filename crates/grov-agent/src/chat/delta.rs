//! Decodes the text for a person from the JSON that a provider streams.

/// Members of the answer that are text for a person.
const TEXTS: [&str; 3] = ["message", "question", "answer"];

/// Reads the pieces of a JSON object as they arrive, and gives the decoded text of its members `message`, `question` and
/// `answer`. It never fails: from what is not such an object, nothing or less comes out.
#[derive(Debug, Default)]
pub(crate) struct TextDecoder {
    /// Open objects and lists, `true` for an object.
    open: Vec<bool>,
    place: Place,
    key: String,
    /// Whether the next string is a key.
    expects_key: bool,
    escape: Escape,
    /// The first half of a pair of surrogates.
    high: Option<u16>,
    is_over: bool,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Place {
    #[default]
    Between,
    Key,
    /// In a string whose value is given to the caller.
    Text,
    /// In another string.
    Other,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Escape {
    #[default]
    None,
    Started,
    /// In `\u`, with the value and the number of digits so far.
    Unicode(u16, u8),
}

impl TextDecoder {
    /// Reads a piece and returns the text in it.
    pub(crate) fn push(&mut self, piece: &str) -> String {
        let mut text = String::new();
        for letter in piece.chars() {
            if self.is_over {
                break;
            }
            match self.place {
                Place::Between => self.between(letter),
                _ => self.in_string(letter, &mut text),
            }
        }
        text
    }

    fn between(&mut self, letter: char) {
        match letter {
            '{' => {
                self.open.push(true);
                self.expects_key = true;
            }
            // Before the object there may be prose.
            _ if self.open.is_empty() => {}
            '[' => {
                self.open.push(false);
                self.expects_key = false;
            }
            '}' | ']' => {
                self.open.pop();
                self.is_over = self.open.is_empty();
            }
            ',' => self.expects_key = self.open.last() == Some(&true),
            ':' => self.expects_key = false,
            '"' if self.expects_key => {
                self.key.clear();
                self.place = Place::Key;
            }
            '"' if self.open.len() == 1 && TEXTS.contains(&self.key.as_str()) => self.place = Place::Text,
            '"' => self.place = Place::Other,
            _ => {}
        }
    }

    fn in_string(&mut self, letter: char, text: &mut String) {
        match self.escape {
            Escape::None => match letter {
                '"' => {
                    self.end_half(text);
                    self.place = Place::Between;
                }
                '\\' => self.escape = Escape::Started,
                letter => self.plain(letter, text),
            },
            Escape::Started => {
                self.escape = Escape::None;
                match letter {
                    'u' => self.escape = Escape::Unicode(0, 0),
                    'n' => self.plain('\n', text),
                    't' => self.plain('\t', text),
                    'r' => self.plain('\r', text),
                    'b' => self.plain('\u{8}', text),
                    'f' => self.plain('\u{c}', text),
                    letter => self.plain(letter, text),
                }
            }
            Escape::Unicode(value, digits) => {
                let Some(digit) = letter.to_digit(16).and_then(|digit| u16::try_from(digit).ok()) else {
                    self.escape = Escape::None;
                    return;
                };
                let value = (value << 4) | digit;
                self.escape = Escape::Unicode(value, digits + 1);
                if digits == 3 {
                    self.escape = Escape::None;
                    self.unit(value, text);
                }
            }
        }
    }

    fn plain(&mut self, letter: char, text: &mut String) {
        self.end_half(text);
        self.emit(letter, text);
    }

    /// Takes a UTF-16 unit of an escape.
    fn unit(&mut self, unit: u16, text: &mut String) {
        match self.high.take() {
            Some(high) if (0xdc00..0xe000).contains(&unit) => {
                let letter = char::decode_utf16([high, unit]).next().and_then(Result::ok);
                self.emit(letter.unwrap_or(char::REPLACEMENT_CHARACTER), text);
                return;
            }
            Some(_) => self.emit(char::REPLACEMENT_CHARACTER, text),
            None => {}
        }
        if (0xd800..0xdc00).contains(&unit) {
            self.high = Some(unit);
        } else {
            self.emit(
                char::from_u32(unit.into()).unwrap_or(char::REPLACEMENT_CHARACTER),
                text,
            );
        }
    }

    fn end_half(&mut self, text: &mut String) {
        if self.high.take().is_some() {
            self.emit(char::REPLACEMENT_CHARACTER, text);
        }
    }

    fn emit(&mut self, letter: char, text: &mut String) {
        match self.place {
            Place::Text => text.push(letter),
            // A longer key is none of ours.
            Place::Key if self.key.len() < 16 => self.key.push(letter),
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use serde_json::json;

    fn decode(pieces: &[&str]) -> String {
        let mut decoder = TextDecoder::default();
        pieces.iter().map(|piece| decoder.push(piece)).collect()
    }

    #[test]
    fn text_is_decoded_wherever_it_is_split() {
        let json = r#"Here it is: ```json {"decision":"NOOP","citations":[{"answer":"no"}],"answer":"a\n\"b\" \ud83d\ude00 \u00e9"} "answer":"x""#;
        for at in (0..json.len()).filter(|at| json.is_char_boundary(*at)) {
            assert_eq!(decode(&[&json[..at], &json[at..]]), "a\n\"b\" 😀 é", "{at}");
        }
    }

    #[test]
    fn only_text_for_a_person_comes_out() {
        for (json, text) in [
            (
                r#"{"decision":"ASK","question":"Which?","options":["answer"],"reason":"unclear"}"#,
                "Which?",
            ),
            (
                r#"{"tool_calls":[{"arguments":{"message":"secret"}}],"message":"Done"}"#,
                "Done",
            ),
            (r#"{"answer":{"answer":"nested"}}"#, ""),
            (r#"{"answer":["listed"]}"#, ""),
            (r#"{"answer":"\ud83d"}"#, "\u{fffd}"),
            (r#"{"answer":"\ud83dx\udc00"}"#, "\u{fffd}x\u{fffd}"),
            (r#"{"answer":"cut o"#, "cut o"),
            ("prose \"answer\": \"no\"", ""),
            ("}}]]{\"answer\":\"yes\"}", "yes"),
        ] {
            assert_eq!(decode(&[json]), text, "{json}");
        }
    }

    proptest! {
        #[test]
        fn decoded_text_is_that_of_a_json_parser(
            text in "\\PC{0,30}|[\\x00-\\x20\"\\\\/é😀]{0,30}", other in "\\PC{0,10}", cuts in prop::collection::vec(0..200_usize, 0..6)
        ) {
            let json = json!({"a": {"answer": other}, "answer": text, "options": [other], "z": other}).to_string();
            let escaped: String = json.chars().map(|letter| match letter {
                letter if letter.is_ascii() => letter.to_string(),
                letter => letter.encode_utf16(&mut [0; 2]).iter().map(|unit| format!("\\u{unit:04x}")).collect(),
            }).collect();
            for json in [json, escaped] {
                let mut decoder = TextDecoder::default();
                let mut decoded = String::new();
                let letters: Vec<char> = json.chars().collect();
                let mut cuts: Vec<usize> = cuts.iter().map(|cut| cut % (letters.len() + 1)).collect();
                cuts.extend([0, letters.len()]);
                cuts.sort_unstable();
                for pair in cuts.windows(2) {
                    decoded += &decoder.push(&letters[pair[0]..pair[1]].iter().collect::<String>());
                }
                prop_assert_eq!(&decoded, &text);
            }
        }

        #[test]
        fn any_text_is_survived(pieces in prop::collection::vec("[\\\\u0-9a-f\"{}\\[\\],:ansewr ]{0,12}", 0..8)) {
            decode(&pieces.iter().map(String::as_str).collect::<Vec<_>>());
        }
    }
}
