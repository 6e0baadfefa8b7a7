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
    /// The method of the request, if the name of the function says it.
    pub(super) method: Option<&'static str>,
    /// It is a message to people.
    pub(super) is_message: bool,
}

/// The last names of functions that send mail or messages to people.
const MESSAGE: &str = "sendmail send_mail send_message sendMail chat_postMessage postMessage send_email sendEmail EmailMessage sendMessage create_message publish_message";

fn method_of(name: &str) -> Option<&'static str> {
    Some(match name {
        "post" | "post_form" => "POST",
        "put" => "PUT",
        "patch" => "PATCH",
        "delete" => "DELETE",
        _ => return None,
    })
}

/// What a call with the arguments between two tokens sends; `None` if it is no such call.
pub(super) fn sent(code: &Code<'_>, call: &Call, start: usize, end: usize) -> Option<Sent> {
    let name = call.name.as_str();
    let last = name.rsplit('.').next().unwrap_or(name);
    // `send_issue.delay(…)`, `OrderMailer.confirm.deliver_now`
    let is_sender = |part: &str| {
        part.starts_with("send_")
            || part.starts_with("notify_")
            || matches!(part, "deliver_now" | "deliver_later")
    };
    let is_message = name.contains('.') && (has_word(MESSAGE, last) || name.split('.').any(is_sender));
    if !has_word(SEND, last) && last != "delete" && !is_message {
        return None;
    }
    let mut sent = Sent {
        method: method_of(last),
        is_message,
        ..Sent::default()
    };
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
    let named = call.named("method").and_then(super::values::Value::text);
    sent.method = sent
        .method
        .or_else(|| method_of(&named?.value.to_ascii_lowercase()));
    let is_any = sent.has_environment || !sent.files.is_empty() || sent.method.is_some() || sent.is_message;
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
    let shown = urls.find(|text| text.contains("://") && !text.contains(['\'', ' ']));
    let url = shown.unwrap_or("https://$_");
    let is_plain = |file: &&String| !file.contains('\'');
    let files = sent.files.iter().filter(is_plain);
    let mut lines: Vec<String> = files.map(|file| format!("curl -T '{file}' '{url}'")).collect();
    if sent.is_message {
        lines.push("mail -s message 'someone@example.org'".to_owned());
    } else if let (Some(method), Some(url), true) =
        (sent.method, shown, lines.is_empty() && !sent.has_environment)
    {
        lines.push(format!("curl -X {method} -d data '{url}'"));
    }
    if sent.has_environment {
        lines.push(format!("env | curl -d @- '{url}'"));
    }
    lines
}
