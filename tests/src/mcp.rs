//! A client of the Model Context Protocol on the pipes of `grov mcp`: it sends exactly the given lines.

use crate::process::{self, Lines, PATIENCE};
use anyhow::{Context, Result};
use serde_json::{Value, json};
use std::io::Write;
use std::process::{Child, ChildStdin, Command, Stdio};

/// A running server. Killed when dropped.
pub struct McpClient {
    child: Child,
    input: Option<ChildStdin>,
    output: Lines,
    log: Lines,
    /// The number of lines that were read.
    read: usize,
    id: u64,
}

impl McpClient {
    /// Starts a server.
    ///
    /// # Errors
    /// The command does not start.
    pub fn start(mut command: Command) -> Result<Self> {
        command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        let mut child = command.spawn().context("cannot start the MCP server")?;
        Ok(Self {
            input: child.stdin.take(),
            output: Lines::follow(child.stdout.take()),
            log: Lines::follow(child.stderr.take()),
            child,
            read: 0,
            id: 0,
        })
    }

    /// Starts a server and begins a session as clients of protocol version 2025-11-25 do.
    ///
    /// # Errors
    /// The server does not answer.
    pub fn begin(command: Command) -> Result<Self> {
        let mut client = Self::start(command)?;
        client.request(
            "initialize",
            json!({
                "protocolVersion": "2025-11-25", "capabilities": {},
                "clientInfo": {"name": "test", "version": "1"},
            }),
        )?;
        client.send(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"}).to_string())?;
        Ok(client)
    }

    /// Sends a line.
    ///
    /// # Errors
    /// The server closed its input.
    pub fn send(&mut self, line: &str) -> Result<()> {
        self.send_bytes(line.as_bytes())?;
        self.send_bytes(b"\n")
    }

    /// Sends bytes, which need not be a line.
    ///
    /// # Errors
    /// The server closed its input.
    pub fn send_bytes(&mut self, bytes: &[u8]) -> Result<()> {
        let input = self.input.as_mut().context("the input is closed")?;
        input.write_all(bytes)?;
        Ok(input.flush()?)
    }

    /// The id of the server's process.
    pub fn pid(&self) -> u32 {
        self.child.id()
    }

    /// The next message of the server.
    ///
    /// # Errors
    /// None arrives in time, or it is no JSON.
    pub fn receive(&mut self) -> Result<Value> {
        let line = process::eventually("a message of the MCP server", || {
            self.output.text().lines().nth(self.read).map(str::to_owned)
        })
        .with_context(|| self.log.text())?;
        self.read += 1;
        serde_json::from_str(&line).with_context(|| format!("the MCP server sent {line:?}"))
    }

    /// Sends a request and returns its response; messages before it are skipped.
    ///
    /// # Errors
    /// No response arrives.
    pub fn request(&mut self, method: &str, params: Value) -> Result<Value> {
        self.id += 1;
        let id = self.id;
        let message = json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params});
        self.send(&message.to_string())?;
        loop {
            let message = self.receive()?;
            if message["id"] == id {
                return Ok(message);
            }
        }
    }

    /// Calls a tool. Returns its text and whether that is an error for the model.
    ///
    /// # Errors
    /// The server answers with an error of the protocol, or not at all.
    pub fn call(&mut self, tool: &str, arguments: Value) -> Result<(String, bool)> {
        let answer = self.request("tools/call", json!({"name": tool, "arguments": arguments}))?;
        let result = &answer["result"];
        let text = result["content"][0]["text"].as_str();
        let text = text.with_context(|| format!("no text: {answer}"))?.to_owned();
        Ok((text, result["isError"] == true))
    }

    /// Closes the server's input and waits until it exits.
    ///
    /// # Errors
    /// It does not exit.
    pub fn end(self) -> Result<Option<i32>> {
        Ok(self.end_with_log()?.0)
    }

    /// Like [`end`](Self::end), also with what the server wrote to standard error.
    ///
    /// # Errors
    /// It does not exit.
    pub fn end_with_log(mut self) -> Result<(Option<i32>, String)> {
        self.input = None;
        let code = process::wait(&mut self.child, PATIENCE)?.code();
        Ok((code, self.log.finish()))
    }
}

impl Drop for McpClient {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
