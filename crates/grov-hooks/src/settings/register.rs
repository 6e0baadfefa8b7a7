//! Adds hooks, variables and a status line to a settings file.

use super::change::{Change, edited, insert, insert_root};
use super::error::SyntaxError;
use super::hook::{Hook, is_grovs};
use super::layout::{Form, Layout, Shape, indentation};
use super::scan::{Document, Node, Value};

/// What to register in a settings file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Registration {
    /// Hooks, at most one per event.
    pub hooks: Vec<Hook>,
    /// Environment variables of the client: names and values.
    pub environment: Vec<(String, String)>,
    /// The command that prints the status line.
    pub status_line: Option<String>,
    /// The MCP server.
    pub mcp_server: Option<McpServer>,
}

/// Grov's MCP server as the client starts it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct McpServer {
    /// The object that holds `mcpServers`, as a path of member names; empty for the root.
    pub into: Vec<String>,
    /// The program.
    pub program: String,
    /// The home that it uses, if it is not the usual one.
    pub home: Option<String>,
}

impl McpServer {
    fn shape(&self) -> Shape {
        let text = |text: &str| Shape::Text(text.to_owned());
        let mut members = vec![
            ("type", text("stdio")),
            ("command", text(&self.program)),
            ("args", Shape::List(vec![text("mcp")])),
        ];
        if let Some(home) = &self.home {
            members.push(("env", Shape::Object(vec![("GROV_HOME", text(home))])));
        }
        Shape::Object(members)
    }
}

/// The result of [`register`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RegisteredText {
    /// The whole text of the file.
    pub text: String,
    /// The changes in order; empty if everything was registered already.
    pub changes: Vec<Change>,
}

/// Adds `wanted` to the text of a settings file. Values that are there already are not rewritten, and all other bytes stay
/// unchanged.
///
/// # Errors
/// The text is not valid JSON (comments and trailing commas are allowed), or another value is where an object or array
/// belongs.
pub fn register(text: &str, wanted: &Registration) -> Result<RegisteredText, SyntaxError> {
    let mut file = File {
        text: text.to_owned(),
        changes: Vec::new(),
    };
    file.root()?;
    for hook in &wanted.hooks {
        file.hook(hook)?;
    }
    for (name, value) in &wanted.environment {
        file.container(&[], "env", Shape::Object(Vec::new()))?;
        file.member(&["env"], name, &Shape::Text(value.clone()))?;
    }
    if let Some(command) = &wanted.status_line {
        let text = |text: &str| Shape::Text(text.to_owned());
        let shape = Shape::Object(vec![("type", text("command")), ("command", text(command))]);
        file.member(&[], "statusLine", &shape)?;
    }
    if let Some(server) = &wanted.mcp_server {
        let mut into: Vec<&str> = Vec::new();
        for name in server.into.iter().map(String::as_str).chain(["mcpServers"]) {
            file.container(&into, name, Shape::Object(Vec::new()))?;
            into.push(name);
        }
        file.member(&into, "grov", &server.shape())?;
    }
    // Do not add an empty object that stays empty.
    if let [Change::Root { .. }] = file.changes.as_slice() {
        return Ok(RegisteredText {
            text: text.to_owned(),
            changes: Vec::new(),
        });
    }
    Document::scan(&file.text)?;
    Ok(RegisteredText {
        text: file.text,
        changes: file.changes,
    })
}

/// The text of a file while it is edited.
struct File {
    text: String,
    changes: Vec<Change>,
}

impl File {
    fn take(&mut self, (text, change): (String, Change)) {
        self.text = text;
        self.changes.push(change);
    }

    /// Ensures that the root is an object.
    fn root(&mut self) -> Result<(), SyntaxError> {
        let document = Document::scan(&self.text)?;
        match &document.root {
            Some(root) => expect_object(&document, root, "the settings must be an object"),
            None => {
                let change = insert_root(&document);
                self.take(change);
                Ok(())
            }
        }
    }

    /// Ensures that the member `name` is a container of the kind of `empty`.
    fn container(&mut self, into: &[&str], name: &str, empty: Shape) -> Result<(), SyntaxError> {
        let document = Document::scan(&self.text)?;
        let Some(node) = document.at(into).and_then(|parent| parent.member(name)) else {
            let change = insert(&document, into, Some(name), &empty)?;
            self.take(change);
            return Ok(());
        };
        match empty {
            Shape::List(_) => match node.value {
                Value::Array(_) => Ok(()),
                _ => Err(misplaced(&document, node, "the hooks of an event must be a list")),
            },
            _ => expect_object(&document, node, "an object was expected here"),
        }
    }

    /// Ensures that the event has the hook.
    fn hook(&mut self, hook: &Hook) -> Result<(), SyntaxError> {
        self.container(&[], "hooks", Shape::Object(Vec::new()))?;
        self.container(&["hooks"], hook.event, Shape::List(Vec::new()))?;
        let document = Document::scan(&self.text)?;
        let path = ["hooks", hook.event];
        let handlers: Vec<&Node> = document.at(&path).into_iter().flat_map(handlers).collect();
        let own: Vec<&Node> = handlers.into_iter().filter(|handler| is_grovs(handler)).collect();
        let Some(first) = own.first() else {
            let change = insert(&document, &path, None, &hook.group_shape())?;
            self.take(change);
            return Ok(());
        };
        let after = render_in_place_of(&document, first, &hook.handler_shape());
        if own.iter().any(|handler| handler.is_same_as(&after)) {
            return Ok(());
        }
        let change = Change::Handler {
            event: hook.event.to_owned(),
            before: document.text[first.span.clone()].to_owned(),
            after: after.clone(),
        };
        let text = edited(&self.text, vec![(first.span.clone(), after)]);
        self.take((text, change));
        Ok(())
    }

    /// Ensures that the member has the value.
    fn member(&mut self, into: &[&str], name: &str, shape: &Shape) -> Result<(), SyntaxError> {
        let document = Document::scan(&self.text)?;
        let Some(node) = document.at(into).and_then(|parent| parent.member(name)) else {
            let change = insert(&document, into, Some(name), shape)?;
            self.take(change);
            return Ok(());
        };
        let after = render_in_place_of(&document, node, shape);
        if node.is_same_as(&after) {
            return Ok(());
        }
        let change = Change::Replaced {
            at: into.iter().chain([&name]).map(|&name| name.to_owned()).collect(),
            before: document.text[node.span.clone()].to_owned(),
            after: after.clone(),
        };
        let text = edited(&self.text, vec![(node.span.clone(), after)]);
        self.take((text, change));
        Ok(())
    }
}

/// The handlers of all groups of an event.
pub(super) fn handlers(event: &Node) -> impl Iterator<Item = &Node> {
    event
        .items()
        .iter()
        .filter_map(|group| group.node.member("hooks"))
        .flat_map(|hooks| hooks.items().iter().map(|item| &item.node))
}

/// Renders `shape` in the layout of `node`, which it replaces.
fn render_in_place_of(document: &Document<'_>, node: &Node, shape: &Shape) -> String {
    let text = document.text;
    let form = if text[node.span.clone()].contains('\n') {
        Form::Lines(indentation(text, node.span.start).to_owned())
    } else {
        Form::Line { spaced: true }
    };
    Layout::of(document).render(shape, &form)
}

fn expect_object(document: &Document<'_>, node: &Node, otherwise: &'static str) -> Result<(), SyntaxError> {
    match node.value {
        Value::Object(_) => Ok(()),
        _ => Err(misplaced(document, node, otherwise)),
    }
}

fn misplaced(document: &Document<'_>, node: &Node, what: &'static str) -> SyntaxError {
    SyntaxError::at(document.text, node.span.start, what)
}
