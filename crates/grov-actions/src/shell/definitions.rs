//! What a command line defines and uses later: functions, aliases, files with known content, and loop variables.

use crate::shell::words::Argument;
use grov_domain::beginning_to;
use std::collections::HashMap;

/// The maximum number of definitions of each kind.
const MAX_DEFINITIONS: usize = 64;
/// The maximum length of a definition in bytes.
const MAX_BYTES: usize = 16 * 1024;

/// The word that `xargs -I{}` replaces.
const PLACEHOLDER: &str = "{}";

/// The definitions of a command line.
#[derive(Debug, Default)]
pub(crate) struct Definitions {
    functions: HashMap<String, String>,
    aliases: HashMap<String, String>,
    files: HashMap<String, String>,
    lists: HashMap<String, usize>,
}

fn insert<V>(map: &mut HashMap<String, V>, name: &str, value: V) {
    if map.len() < MAX_DEFINITIONS || map.contains_key(name) {
        map.insert(name.to_owned(), value);
    }
}

impl Definitions {
    /// Defines a function.
    pub(crate) fn function(&mut self, name: &str, body: &str) {
        if body.len() <= MAX_BYTES {
            insert(&mut self.functions, name, body.to_owned());
        }
    }

    /// `alias name=value…`
    pub(crate) fn alias(&mut self, arguments: &[Argument]) {
        for (name, value) in arguments
            .iter()
            .filter_map(|argument| argument.written().split_once('='))
        {
            insert(&mut self.aliases, name, value.to_owned());
        }
    }

    /// Records the content of a file that is written, or appended to it.
    pub(crate) fn file(&mut self, path: &str, text: &str, appends: bool) {
        let known = self.files.get(path).filter(|_| appends);
        let whole = known.map_or_else(|| text.to_owned(), |known| format!("{known}\n{text}"));
        let whole = beginning_to(&whole, whole.floor_char_boundary(MAX_BYTES)).to_owned();
        insert(&mut self.files, path, whole);
    }

    /// The content of a file that the command line wrote.
    pub(crate) fn content_of(&self, path: &str) -> Option<&str> {
        self.files.get(path).map(String::as_str)
    }

    /// Records that a variable takes each line that a program prints: `… | while read name`, `for name in $(…)`.
    pub(crate) fn list(&mut self, name: &str, source: usize) {
        insert(&mut self.lists, name, source);
    }

    /// Sets the program whose output a script gets as its arguments: `list | xargs sh -c '…'`.
    pub(crate) fn feed(&mut self, source: Option<usize>) {
        for name in [PLACEHOLDER, "0", "1", "@", "*"] {
            match source {
                Some(source) => insert(&mut self.lists, name, source),
                None => drop(self.lists.remove(name)),
            }
        }
    }

    /// The program that prints the values of an argument, which is only a variable of a loop.
    pub(crate) fn source_of(&self, argument: &Argument) -> Option<usize> {
        if self.lists.is_empty() {
            return None;
        }
        let written = argument.written();
        let name = match written {
            PLACEHOLDER => PLACEHOLDER,
            _ => written.strip_prefix('$')?.trim_matches(['{', '}']),
        };
        self.lists.get(name).copied()
    }

    /// The commands that run in place of a program that is an alias or a function. The definition is removed, so that it
    /// cannot run itself; [`Definitions::restore`] adds it again.
    pub(crate) fn take(&mut self, name: &str, arguments: &[Argument]) -> Option<Taken> {
        if let Some(value) = self.aliases.remove(name) {
            let words: Vec<String> = arguments.iter().map(|word| quoted(word.written())).collect();
            return Some(Taken {
                script: format!("{value} {}", words.join(" ")),
                name: name.to_owned(),
                value,
                is_alias: true,
            });
        }
        let body = self.functions.get(name)?;
        // The body was analyzed where it was defined; only its arguments are new.
        if arguments.is_empty() || !body.contains('$') {
            return None;
        }
        let script = with_arguments(body, arguments)?;
        let value = self.functions.remove(name)?;
        Some(Taken {
            script,
            name: name.to_owned(),
            value,
            is_alias: false,
        })
    }

    /// Adds a definition again.
    pub(crate) fn restore(&mut self, taken: Taken) {
        let map = if taken.is_alias {
            &mut self.aliases
        } else {
            &mut self.functions
        };
        map.entry(taken.name).or_insert(taken.value);
    }
}

/// A definition that is being run.
#[derive(Debug)]
pub(crate) struct Taken {
    /// The commands that run.
    pub(crate) script: String,
    name: String,
    value: String,
    is_alias: bool,
}

/// The body of a function with its arguments in place of `$1`, `$@` and `$*`; `None` if it uses none of them.
fn with_arguments(body: &str, arguments: &[Argument]) -> Option<String> {
    let mut script = String::with_capacity(body.len());
    let mut rest = body;
    let (mut in_single, mut in_double) = (false, false);
    let mut has_argument = false;
    while let Some(at) = rest.find(['\'', '"', '\\', '$']) {
        script.push_str(&rest[..at]);
        let sign = rest.as_bytes()[at];
        rest = &rest[at + 1..];
        match sign {
            b'\\' if !in_single => {
                script.push('\\');
                let escaped = rest.chars().next().unwrap_or_default();
                script.push(escaped);
                rest = &rest[escaped.len_utf8().min(rest.len())..];
            }
            b'\'' if !in_double => {
                in_single = !in_single;
                script.push('\'');
            }
            b'"' if !in_single => {
                in_double = !in_double;
                script.push('"');
            }
            b'$' if !in_single => match parameter(rest) {
                Some((number, length)) => {
                    rest = &rest[length..];
                    has_argument = true;
                    insert_arguments(&mut script, number, arguments, in_double);
                }
                None => script.push('$'),
            },
            sign => script.push(char::from(sign)),
        }
        if script.len() > MAX_BYTES {
            break;
        }
    }
    script.push_str(rest);
    has_argument.then_some(script)
}

/// The number of a positional parameter after `$`, 0 for all of them, and the length of its name.
fn parameter(text: &str) -> Option<(usize, usize)> {
    let (inner, braces) = match text.strip_prefix('{') {
        Some(inner) => (inner, 1),
        None => (text, 0),
    };
    let letter = inner.chars().next()?;
    let number = match letter {
        '@' | '*' => 0,
        '1'..='9' => usize::try_from(letter.to_digit(10)?).ok()?,
        _ => return None,
    };
    let closes = braces == 0 || inner[1..].starts_with('}');
    closes.then_some((number, 1 + 2 * braces))
}

/// Inserts the argument with this number, or all of them.
fn insert_arguments(script: &mut String, number: usize, arguments: &[Argument], in_double: bool) {
    let chosen = match number {
        0 => arguments,
        number => arguments.get(number - 1..number).unwrap_or_default(),
    };
    for (at, argument) in chosen.iter().enumerate() {
        let text = argument.written();
        match (in_double, at) {
            // Each argument is a word of its own.
            (true, 1..) => script.push_str("\" \""),
            (false, 1..) => script.push(' '),
            _ => {}
        }
        match in_double {
            true => script.extend(text.chars().filter(|letter| !matches!(letter, '"' | '`'))),
            false => script.push_str(&quoted(text)),
        }
    }
}

/// A text as one word of a shell. Variables keep their meaning.
fn quoted(text: &str) -> String {
    let is_plain = |letter: char| letter.is_alphanumeric() || "/._-+@%:=,~$*{}".contains(letter);
    match !text.is_empty() && text.chars().all(is_plain) {
        true => text.to_owned(),
        false => format!("\"{}\"", text.replace(['"', '`'], "")),
    }
}

#[cfg(test)]
mod tests {
    fn programs(command: &str) -> Vec<String> {
        let line = crate::command_line(command);
        line.programs
            .iter()
            .map(|program| program.words().collect::<Vec<_>>().join(" "))
            .collect()
    }

    #[test]
    fn functions_run_with_their_arguments() {
        for (command, expected) in [
            ("f() { rm -rf \"$1\"; }\nf /srv/x", "rm -rf /srv/x"),
            ("function f { rm -rf \"$@\"; }; f a b", "rm -rf a b"),
            ("f() { rm -rf ${2}/x; }; f a b", "rm -rf b/x"),
            ("function f() {\n  if true; then { rm $*; }; fi\n}\nf a", "rm a"),
            ("cd() { builtin cd \"$@\" && ls; }\ncd \"$HOME\"", "cd ~"),
        ] {
            let found = programs(command);
            assert!(
                found.iter().any(|program| program.ends_with(expected)),
                "{command}: {found:?}"
            );
        }
        assert!(!programs("f() { echo '$1'; }; f /srv").contains(&"echo /srv".to_owned()));
        assert!(programs(":(){ :|:& };:").len() < 20);
        assert!(programs("f() { f \"$@\"; f \"$@\"; }; f a").len() < 20);
    }

    #[test]
    fn a_loop_over_hosts_runs_its_command_on_each() {
        let found = programs("for h in web1 web2; do ssh \"$h\" sudo reboot; done");
        assert!(found.contains(&"reboot".to_owned()), "{found:?}");
    }

    #[test]
    fn aliases_run_their_commands() {
        let line = "alias s='rm -rf' ll='ls -l'\nshopt -s expand_aliases\neval 's ~/x'";
        assert!(programs(line).contains(&"rm -rf ~/x".to_owned()));
        assert!(programs("alias rm='rm -i'; rm a").contains(&"rm -i a".to_owned()));
        assert!(programs("alias a=b b=a; a").len() < 10);
    }

    #[test]
    fn scripts_that_the_line_writes_run_when_it_runs_them() {
        for line in [
            "cat > /tmp/x.sh <<'EOF'\n#!/bin/sh\nrm -rf /srv/x\nEOF\nsh /tmp/x.sh",
            "echo 'rm -rf /srv/x' > x.sh && chmod +x x.sh && ./x.sh",
            "printf 'rm -rf /srv/x\\n' | tee x.sh; bash ./x.sh",
            "cat <<EOF > x.py\nimport shutil\nshutil.rmtree('/srv/x')\nEOF\npython3 x.py",
            "echo '#!/bin/sh' > x; echo 'rm -rf /srv/x' >> x; . ./x",
            "make -f - <<< $'all:\\n\\trm -rf /srv/x'",
            "cat > Makefile <<'EOF'\nall:\n\trm -rf /srv/x\nEOF\nmake",
        ] {
            let found = programs(line);
            let removes = |program: &String| program.starts_with("rm -r") && program.ends_with("/srv/x");
            assert!(found.iter().any(removes), "{line}: {found:?}");
        }
        let found = programs("cat > x.sh <<'EOF'\nrm -rf /srv/x\nEOF\nls x.sh");
        assert!(
            !found.iter().any(|program| program.starts_with("rm")),
            "{found:?}"
        );
    }

    #[test]
    fn variables_of_loops_have_the_source_of_their_values() {
        for line in [
            "find /srv -name x | while read -r f; do rm \"$f\"; done",
            "for f in $(find /srv -name x); do rm $f; done",
            "ls /srv | xargs -I{} sh -c 'test -f {} && rm {}'",
            "find /srv | xargs -n1 sh -c 'rm \"$0\"'",
            "ls /srv | while IFS= read f; do test -f $f && rm ${f}; done",
        ] {
            let line = crate::command_line(line);
            let removal = line
                .programs
                .iter()
                .find(|program| program.name() == "rm")
                .unwrap();
            let source = removal
                .source
                .and_then(|source| line.programs.get(source))
                .unwrap();
            assert!(
                matches!(source.name(), "find" | "ls") && removal.through == ["xargs"],
                "{line:?}"
            );
        }
        let line = crate::command_line("for f in a b; do rm $f; done; rm $g");
        assert!(line.programs.iter().all(|program| program.source.is_none()));
    }
}
