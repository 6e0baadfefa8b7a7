//! A settings file: unregistering hooks restores the file byte for byte.

use grov_hooks::settings::{Hook, McpServer, Registration, inspect, register, unregister};

/// Checks one settings file.
pub(crate) fn check(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else {
        return;
    };
    let wanted = Registration {
        hooks: vec![
            Hook::command("grov", "SessionStart", 20),
            Hook::command("grov", "Stop", 5),
        ],
        environment: vec![(
            "ANTHROPIC_BASE_URL".to_owned(),
            "http://127.0.0.1:8080".to_owned(),
        )],
        status_line: Some("grov statusline".to_owned()),
        mcp_server: Some(McpServer {
            into: vec!["projects".to_owned(), "/p".to_owned()],
            program: "grov".to_owned(),
            home: Some("/h".to_owned()),
        }),
    };
    let _inspected = inspect(text);
    let Ok(registered) = register(text, &wanted) else {
        return;
    };
    let again = register(&registered.text, &wanted);
    assert_eq!(again.map(|again| again.changes), Ok(Vec::new()));
    let back = unregister(&registered.text, &registered.changes);
    assert_eq!(back.as_ref().map(|back| back.text.as_str()), Ok(text));
}
