//! The real client on a terminal, with simulated key presses.

use crate::client::RealClient;
use crate::process::{self, PATIENCE};
use anyhow::{Context, Result, ensure};
use serde_json::json;
use std::fs;
use std::io::Write;
use std::path::PathBuf;
use std::process::{Child, ChildStdin, Command, Stdio};

/// The prompt of the client's input line.
const READY: &str = "❯";
/// The beginning of the terminal title while the client waits for input; while it works, a spinner is shown there.
const AT_REST: &str = "]0;✳";
/// The terminal title before the first prompt of a conversation.
const NEW_CONVERSATION: &str = "]0;✳ Claude Code";
/// The key that interrupts a turn.
const ESCAPE: &str = "\u{1b}";
/// The key that ends the client when pressed twice.
const INTERRUPT: &str = "\u{3}";

/// A running interactive client. Killed when dropped.
pub struct Terminal {
    process: Child,
    keyboard: Option<ChildStdin>,
    screen: PathBuf,
    /// Length of the screen output when the newest line was entered.
    entered: usize,
}

impl Terminal {
    /// Starts the client with `base_url` and answers its first-run questions. The client itself asks about no command or
    /// edit, but a person answers the guard. It runs in a pseudo-terminal of
    /// util-linux's `script`.
    ///
    /// # Errors
    /// `script` is not installed, or the client does not start.
    pub fn open(client: &RealClient, base_url: &str) -> Result<Self> {
        let project = client.project();
        let project = project.to_str().context("the path is not UTF-8")?;
        let answered = json!({
            "hasCompletedOnboarding": true,
            "theme": "dark",
            "customApiKeyResponses": {"approved": [client.key_suffix()], "rejected": []},
            "projects": {project: {"hasTrustDialogAccepted": true, "hasCompletedProjectOnboarding": true}},
        });
        fs::write(client.home().join(".claude.json"), answered.to_string())?;
        let screen = client.home().join("screen");
        let mut command = Command::new("script");
        client.client_environment(&mut command, base_url);
        command
            .env("CLIENT", client.program())
            .args(["--quiet", "--flush", "--return", "--command"])
            .arg("stty cols 120 rows 40; exec \"$CLIENT\" --permission-mode acceptEdits --allowedTools Bash Write Edit")
            .arg(&screen)
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::null());
        let mut process = command
            .spawn()
            .context("cannot start `script` of util-linux, which gives the client a terminal")?;
        let keyboard = process.stdin.take();
        let terminal = Self {
            process,
            keyboard,
            screen,
            entered: 0,
        };
        terminal.shows(READY, 0)?;
        Ok(terminal)
    }

    /// Types a line, waits until its last word is shown, and enters it.
    ///
    /// # Errors
    /// The client does not show the line.
    pub fn enter(&mut self, line: &str) -> Result<()> {
        let before = self.screen_length();
        self.press(line)?;
        let last = line.split(' ').next_back().unwrap_or(line);
        self.shows(last, before)?;
        self.entered = self.screen_length();
        self.press("\r")?;
        // An entered line moves up, into the conversation.
        self.wait_for_text(last)
    }

    /// Clears the conversation and waits until that is done: the client then empties its input line, including text
    /// typed meanwhile. The client must have completed a turn before.
    ///
    /// # Errors
    /// The client does not become idle.
    pub fn clear(&mut self) -> Result<()> {
        // A client at work would queue the command.
        self.wait_for_text(AT_REST)?;
        self.enter("/clear")?;
        self.wait_for_text(NEW_CONVERSATION)
    }

    /// Confirms the client's question, whose first choice is yes.
    ///
    /// # Errors
    /// The client accepts no more keys.
    pub fn confirm(&mut self) -> Result<()> {
        self.entered = self.screen_length();
        self.press("\r")
    }

    /// Interrupts the agent.
    ///
    /// # Errors
    /// The client accepts no more keys.
    pub fn interrupt(&mut self) -> Result<()> {
        self.entered = self.screen_length();
        self.press(ESCAPE)
    }

    /// Waits until the client shows `text` after the newest line was entered.
    ///
    /// # Errors
    /// The text does not appear.
    pub fn wait_for_text(&self, text: &str) -> Result<()> {
        self.shows(text, self.entered)
    }

    /// Everything written to the screen so far.
    pub fn screen(&self) -> String {
        let screen = fs::read(&self.screen).unwrap_or_default();
        plain(&String::from_utf8_lossy(&screen))
    }

    /// Exits the client and waits for the process to end.
    ///
    /// # Errors
    /// The process does not end.
    pub fn leave(mut self) -> Result<()> {
        process::eventually("the client to leave", || {
            // A client that has exited accepts no more keys.
            let _ = self.press(INTERRUPT);
            self.process.try_wait().ok().flatten()
        })?;
        Ok(())
    }

    fn press(&mut self, keys: &str) -> Result<()> {
        let keyboard = self
            .keyboard
            .as_mut()
            .context("the input of the client is closed")?;
        keyboard.write_all(keys.as_bytes())?;
        Ok(keyboard.flush()?)
    }

    fn screen_length(&self) -> usize {
        fs::read(&self.screen).map_or(0, |screen| screen.len())
    }

    /// Waits until `text` is written to the screen beyond the first `before` bytes.
    fn shows(&self, text: &str, before: usize) -> Result<()> {
        let shown = || {
            let screen = fs::read(&self.screen).unwrap_or_default();
            plain(&String::from_utf8_lossy(screen.get(before..).unwrap_or_default()))
        };
        let wanted = without_spaces(text);
        let is_shown = || without_spaces(&shown()).contains(&wanted);
        let found = process::within(PATIENCE, text, || is_shown().then_some(()));
        ensure!(found.is_ok(), "the client never showed {text:?}: {:?}", shown());
        Ok(())
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// Removes the sequences that move the cursor and set colours. Words that were next to each other may then touch.
fn plain(screen: &str) -> String {
    let mut text = String::with_capacity(screen.len());
    let mut rest = screen;
    while let Some((before, sequence)) = rest.split_once("\u{1b}[") {
        text.push_str(before);
        let end = sequence.find(|c: char| ('@'..='~').contains(&c));
        rest = end.map_or("", |end| &sequence[end + 1..]);
    }
    text.push_str(rest);
    text
}

/// The client moves the cursor over an existing space instead of writing one, so spaces are ignored.
fn without_spaces(text: &str) -> String {
    text.split_whitespace().collect()
}

#[cfg(test)]
mod tests {
    use super::{plain, without_spaces};

    #[test]
    fn text_is_found_although_the_cursor_moved_over_a_space() {
        let shown = plain("The greeting\u{1b}[1Cis\u{1b}[14;20Hwritten");
        assert!(without_spaces(&shown).contains(&without_spaces("greeting is written")));
    }

    #[test]
    fn escape_sequences_are_not_text() {
        assert_eq!(plain("a\u{1b}[97mb\u{1b}[2;3Hc\u{1b}[?25l\u{1b}["), "abc");
        assert_eq!(plain("❯ x"), "❯ x");
    }
}
