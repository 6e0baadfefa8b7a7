//! An action prepared for the rules: the files it changes, the programs it runs, whether it only reads.

use crate::normalized_path::{NormalizedPath, ProjectRoot};
use grov_domain::{ActionSketch, ActionType, CommandLine, EffectKind, ExecutionHost, Program};
use std::sync::Arc;

/// Only the first files of an action are analyzed.
const MAX_FILES: usize = grov_actions::MAX_FILES;

/// The maximum number of changed files analyzed per command.
const MAX_CHANGED: usize = 4096;

/// The maximum number of effects that an action lists.
const MAX_EFFECTS: usize = 200;

/// An action, analyzed once for all rules.
#[derive(Debug)]
pub struct AnalyzedAction<'a> {
    /// The action.
    pub sketch: &'a ActionSketch,
    /// Every file that it reads or changes.
    pub touched: Vec<NormalizedPath>,
    /// The files and folders that it changes, creates or removes.
    pub changed: Vec<NormalizedPath>,
    /// Changed files that it may have created. `touch` and `mkdir -p` keep existing files, so they are not counted.
    pub(crate) created: Vec<NormalizedPath>,
    /// It removes or moves what it changes.
    pub removes: bool,
    /// The command line that it runs.
    line: Arc<CommandLine>,
    /// A limit cut off part of the analysis.
    is_truncated: bool,
}

impl<'a> AnalyzedAction<'a> {
    /// Analyzes an action. Relative paths are resolved against `root`.
    pub fn new(root: &ProjectRoot, action: &'a ActionSketch) -> Self {
        let touched: Vec<NormalizedPath> = action
            .files
            .iter()
            .take(MAX_FILES)
            .map(|file| NormalizedPath::new(root, file))
            .collect();
        let line = match (&action.line, &action.command) {
            (Some(line), _) => Arc::clone(line),
            (None, Some(command)) if action.action_type == ActionType::Bash => {
                Arc::new(grov_actions::command_line(command))
            }
            _ => Arc::default(),
        };
        let programs = &line.programs;
        let changed = if action.action_type.modifies_files() || programs.is_empty() && action.changes_files()
        {
            touched.clone()
        } else {
            changed_by(programs.iter(), &touched, root)
        };
        let goes = |program: &Program| matches!(program.name(), "cd" | "pushd" | "popd");
        // After `cd`, changed files are matched by their full paths in `touched`.
        let is_truncated = line.is_cut
            || action.effects.len() >= MAX_EFFECTS
            || changed.len() >= MAX_CHANGED
            || touched.len() >= MAX_FILES && programs.iter().any(goes);
        let created = if programs.iter().any(|program| program.keeps_what_is_there) {
            let others = programs.iter().filter(|program| !program.keeps_what_is_there);
            changed_by(others, &touched, root)
        } else {
            changed.clone()
        };
        let removes = |effect: &EffectKind| matches!(effect, EffectKind::Delete | EffectKind::Move);
        Self {
            created,
            is_truncated,
            sketch: action,
            removes: action.effects.iter().any(removes),
            touched,
            changed,
            line,
        }
    }

    /// The programs that it runs.
    pub(crate) fn programs(&self) -> &[Program] {
        &self.line.programs
    }

    /// Whether the action changes nothing: it reads, searches, plans, asks or delegates.
    pub fn is_read_only(&self) -> bool {
        match self.sketch.action_type {
            ActionType::Read | ActionType::Search | ActionType::Web | ActionType::Todo | ActionType::Task => {
                true
            }
            ActionType::Bash => {
                !self.sketch.effects.is_empty()
                    && self.sketch.effects.len() < MAX_EFFECTS
                    && self
                        .sketch
                        .effects
                        .iter()
                        .all(|effect| *effect == EffectKind::Read)
            }
            _ => false,
        }
    }

    /// Whether constraints may be about an action that only reads or tests: it asks a server, or rewrites what tests expect.
    pub fn needs_rules(&self) -> bool {
        self.programs().iter().any(|program| {
            asks_a_server(program)
                || updates_snapshots(program)
                || crate::constraints::formats(program)
                || crate::danger::tests_production(program)
        }) || self.programs().iter().any(crate::danger::is_more_than_a_read)
    }

    /// Whether an action may be a danger although its programs mostly read: `go env -w GOSUMDB=off`, `cat ~/.aws/credentials`.
    pub(crate) fn may_be_dangerous(&self) -> bool {
        !self.is_read_only() || self.programs().iter().any(crate::danger::is_more_than_a_read)
    }

    /// Whether a limit on what commands do may be about the action, although it only reads or tests.
    pub fn has_known_effect(&self) -> bool {
        self.programs().iter().any(crate::constraints::has_known_effect)
    }

    /// Whether part of the action was not analyzed and may change something.
    pub fn is_partially_analyzed(&self) -> bool {
        let proves = |effect: &EffectKind| matches!(effect, EffectKind::Read | EffectKind::Test);
        self.is_truncated
            && (self.sketch.effects.len() >= MAX_EFFECTS || !self.sketch.effects.iter().all(proves))
    }

    /// Whether the action changes files.
    pub fn changes_files(&self) -> bool {
        !self.changed.is_empty()
    }

    /// Whether the action installs or removes packages.
    pub fn installs_packages(&self) -> bool {
        self.sketch.effects.contains(&EffectKind::Install)
    }

    /// Whether the action uses the network.
    pub fn uses_network(&self) -> bool {
        self.sketch.action_type == ActionType::Web || self.sketch.effects.contains(&EffectKind::Network)
    }

    /// The text that it writes; empty if it is not known.
    pub fn content(&self) -> &str {
        self.sketch.content.as_deref().unwrap_or_default()
    }
}

/// Clients of servers.
#[rustfmt::skip]
const CLIENTS: &[&str] = &[
    "mariadb", "mongodump", "mongoexport", "mongosh", "mysql", "mysqldump", "pg_dump", "psql", "redis-cli", "sqlcmd", "ssh",
];

/// Whether a program asks a server that its arguments name.
pub(crate) fn asks_a_server(program: &Program) -> bool {
    CLIENTS.contains(&program.name()) && program.arguments.len() > 1
}

/// Whether a test runner rewrites recorded outputs.
pub(crate) fn updates_snapshots(program: &Program) -> bool {
    const RUNNERS: &[&str] = &[
        "ava",
        "jest",
        "playwright",
        "pytest",
        "test",
        "test:unit",
        "vitest",
    ];
    const OPTIONS: &[&str] = &[
        "-u",
        "--update",
        "--updateSnapshot",
        "--update-snapshots",
        "--snapshot-update",
        "--force-update-snapshots",
    ];
    program.words().any(|word| RUNNERS.contains(&word)) && program.has_word(OPTIONS)
}

/// The paths that programs change, without duplicates.
fn changed_by<'p>(
    programs: impl Iterator<Item = &'p Program>,
    touched: &[NormalizedPath],
    root: &ProjectRoot,
) -> Vec<NormalizedPath> {
    let mut found: Vec<NormalizedPath> = Vec::new();
    // Files on another machine do not count.
    let here = programs.filter(|program| program.host != ExecutionHost::Remote);
    for path in here.flat_map(|program| &program.changes).take(MAX_CHANGED) {
        let place = NormalizedPath::new(root, path);
        // After `cd`, the command's path may be shorter than the file's.
        let known = touched.iter().find(|file| {
            **file == place
                || file
                    .as_str()
                    .strip_suffix(place.as_str())
                    .is_some_and(|rest| rest.ends_with('/'))
        });
        let place = known.cloned().unwrap_or(place);
        if !found.contains(&place) {
            found.push(place);
        }
    }
    found
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use grov_domain::TextChange;
    use std::sync::Arc;

    /// An edit of a file.
    pub(crate) fn edit(file: &str, content: &str) -> ActionSketch {
        ActionSketch {
            files: vec![file.to_owned()],
            content: (!content.is_empty()).then(|| content.to_owned()),
            ..ActionSketch::empty(ActionType::Edit)
        }
    }

    /// An edit of a file that replaces one text by another.
    pub(crate) fn replacement(file: &str, before: &str, after: &str) -> ActionSketch {
        ActionSketch {
            change: Some(Arc::new(TextChange {
                before: Some(before.to_owned()),
                after: after.to_owned(),
            })),
            ..edit(file, after)
        }
    }

    /// A file that is read.
    pub(crate) fn read(file: &str) -> ActionSketch {
        ActionSketch {
            action_type: ActionType::Read,
            ..edit(file, "")
        }
    }

    /// A command as the agent gives it, understood in a project at `/home/me/p`.
    pub(crate) fn bash(command: &str) -> ActionSketch {
        let input = serde_json::json!({ "command": command });
        let action = grov_actions::understand(&grov_actions::ToolCall {
            name: "Bash",
            id: None,
            input: (&input).into(),
            working_directory: Some("/home/me/p"),
        });
        ActionSketch::of(&action)
    }

    /// A call as the guard sees it: complete, not truncated like a recorded one.
    pub(crate) fn about_to_run(name: &str, input: &serde_json::Value) -> ActionSketch {
        ActionSketch::of(&grov_actions::understand_whole(&grov_actions::ToolCall {
            name,
            id: None,
            input: input.into(),
            working_directory: Some("/home/me/p"),
        }))
    }

    fn changed(command: &str) -> Vec<String> {
        let root = ProjectRoot::new(Some("/home/me/p"));
        let action = bash(command);
        let action = AnalyzedAction::new(&root, &action);
        action
            .changed
            .iter()
            .map(|place| place.as_str().to_owned())
            .collect()
    }

    #[test]
    fn commands_change_what_they_write_and_not_what_they_read() {
        assert_eq!(changed("cat src/a.rs > /tmp/x"), ["/tmp/x"]);
        assert_eq!(changed("cd src && rm a.rs"), ["src/a.rs"]);
        assert_eq!(changed("cp src/a.rs src/b.rs"), ["src/b.rs"]);
        assert_eq!(changed("sed -i 's/a/b/' src/a.rs"), ["src/a.rs"]);
        assert_eq!(changed("sed 's/a/b/' src/a.rs"), Vec::<String>::new());
        assert_eq!(changed("git checkout -- src/a.rs"), ["src/a.rs"]);
        assert_eq!(
            changed("cat > src/new.rs <<'EOF'\nrm src/a.rs\nEOF"),
            ["src/new.rs"]
        );
        assert_eq!(changed("cargo test 2>/dev/null"), Vec::<String>::new());
        assert_eq!(changed("echo \"open('a', 'w')\" | python3"), ["a"]);
        assert_eq!(
            changed("python3 -c \"print(open('a').read())\""),
            Vec::<String>::new()
        );
    }

    #[test]
    fn looking_is_known() {
        let root = ProjectRoot::default();
        for (action, looks) in [
            (read("a"), true),
            (bash("cat a | grep b"), true),
            (bash("cargo test"), false),
            (edit("a", ""), false),
            (bash("some-program"), false),
        ] {
            assert_eq!(
                AnalyzedAction::new(&root, &action).is_read_only(),
                looks,
                "{action:?}"
            );
        }
    }
}
