//! Code that sends files or the environment to another machine: `requests.post(url, data=open(".env"))`.

use super::calls::Call;
use super::token::Token;
use super::values::Code;
use crate::has_word;

/// The last names of functions that send their arguments.
const SEND: &str = "post put patch request fetch urlopen Request upload sendBeacon post_form";

/// The last names of functions that read the file in their first argument.
const READ: &str = "open readFileSync readFile createReadStream file_get_contents read read_text read_bytes readlines binread \
      Path expanduser File file blob";

/// What a call sends.
#[derive(Clone, Debug, Default)]
pub(super) struct Sent {
    /// The names of files.
    pub(super) files: Vec<String>,
    /// All variables of the environment.
    pub(super) has_environment: bool,
}

/// What a call with the arguments between two tokens sends; `None` if it is no such call.
pub(super) fn sent(code: &Code<'_>, name: &str, start: usize, end: usize) -> Option<Sent> {
    let last = name.rsplit('.').next().unwrap_or(name);
    if !has_word(SEND, last) {
        return None;
    }
    let mut sent = Sent::default();
    let tokens = &code.tokens[start..end.max(start)];
    for (at, token) in tokens.iter().enumerate() {
        let rest = &tokens[at + 1..];
        match (token.name(), rest) {
            (Some(read), [Token::Sign('('), Token::Text(file), ..]) if has_word(READ, read) => {
                sent.files.push(file.value.clone());
            }
            (Some("environ" | "env" | "ENV"), rest) => {
                let before = at.checked_sub(2).and_then(|before| tokens[before].name());
                let is_whole = !matches!(rest, [Token::Sign('[' | '{'), ..] | [Token::Sign('.'), ..])
                    || matches!(rest, [Token::Sign('.'), Token::Name(name), ..] if matches!(name.as_str(), "copy" | "to_h" | "items"));
                let is_process = matches!(before, Some("os" | "process")) || token.name() == Some("ENV");
                sent.has_environment |= is_whole && is_process;
            }
            _ => {}
        }
    }
    let is_any = sent.has_environment || !sent.files.is_empty();
    is_any.then_some(sent)
}

/// The command lines that send the same: `curl -T file url`.
pub(super) fn lines(call: &Call) -> Vec<String> {
    let Some(sent) = &call.sent else {
        return Vec::new();
    };
    let texts = call
        .arguments
        .iter()
        .chain(call.named.iter().map(|(_, value)| value));
    let mut urls = texts.filter_map(|value| Some(value.text()?.value.as_str()));
    let url = urls
        .find(|text| text.contains("://") && !text.contains(['\'', ' ']))
        .unwrap_or("https://$_");
    let is_plain = |file: &&String| !file.contains('\'');
    let files = sent.files.iter().filter(is_plain);
    let mut lines: Vec<String> = files.map(|file| format!("curl -T '{file}' '{url}'")).collect();
    if sent.has_environment {
        lines.push(format!("env | curl -d @- '{url}'"));
    }
    lines
}
