//! The log of the hook path, `logs/hooks.log`.

use crate::private_file;
use grov_domain::{Clock, SystemClock};
use grov_redact::Redactor;
use grov_runtime::Home;
use std::fmt::Display;
use std::io::Write;

/// The log is truncated when it exceeds this size in bytes.
const MAX_LOG_BYTES: u64 = 1024 * 1024;

/// Appends an error to `logs/hooks.log`, redacted and on one line.
pub fn log_error(home: Option<&Home>, error: impl Display) {
    let Some(path) = home
        .and_then(|home| home.create_logs().ok())
        .map(|logs| logs.join("hooks.log"))
    else {
        return;
    };
    let fits = std::fs::metadata(&path).is_ok_and(|metadata| metadata.len() < MAX_LOG_BYTES);
    let mut options = std::fs::OpenOptions::new();
    options.append(fits).write(!fits).truncate(!fits);
    let at = SystemClock.now().unix_timestamp();
    if let Ok(mut file) = private_file::open(&path, &mut options) {
        let _ = file.write_all(format!("{at} {}\n", single_line(&error.to_string())).as_bytes());
    }
}

/// An error message, redacted and on one line.
pub(crate) fn single_line(message: &str) -> String {
    let message = Redactor::shared().redact(message);
    let parts: Vec<&str> = message
        .split(char::is_control)
        .map(str::trim)
        .filter(|part| !part.is_empty())
        .collect();
    parts.join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_error_is_one_line_without_secrets() {
        let secret = format!("sk-ant-api03-{}", "aB3dE6gH9k".repeat(9));
        let line = single_line(&format!("proxy.port is the text \"{secret}\"\r\n  |\n3 | x\n"));
        assert!(
            !line.contains(&secret) && !line.contains(char::is_control),
            "{line}"
        );
        assert!(line.starts_with("proxy.port is the text"), "{line}");
    }
}
