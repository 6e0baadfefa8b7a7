//! The shells of Windows: `powershell -Command '…'`, `cmd /c …`.

use crate::shell::state::{Inner, Shell};
use crate::shell::words::Argument;
use grov_domain::EffectKind;

/// Records what a shell of Windows runs.
pub(crate) fn run_shell(shell: &mut Shell, name: &str, arguments: &[Argument]) {
    let script = match name {
        "cmd" => cmd_script(arguments),
        _ => powershell_script(arguments),
    };
    shell.inner.extend(script.map(Inner::SeparateScript));
    shell.findings.add(EffectKind::Execute, Vec::new());
}

fn joined<'a>(words: impl Iterator<Item = &'a str>) -> String {
    words.collect::<Vec<_>>().join(" ")
}

/// `cmd /c rd x`, `cmd /c"rd x"`, `cmd //c rd x`.
fn cmd_script(arguments: &[Argument]) -> Option<String> {
    arguments.iter().enumerate().find_map(|(at, argument)| {
        let option = argument.written().trim_start_matches('/');
        let is_option =
            argument.written().starts_with('/') && option.starts_with(['c', 'C', 'k', 'K', 'r', 'R']);
        let attached = option.get(1..).filter(|_| is_option)?.trim_matches('"');
        let rest = arguments.get(at + 1..).unwrap_or_default();
        let words = rest.iter().map(Argument::written);
        let words = Some(attached)
            .filter(|text| !text.is_empty())
            .into_iter()
            .chain(words);
        Some(quoted(&joined(words)))
    })
}

/// The script without a backslash at its end, which escapes nothing in `cmd`.
fn quoted(script: &str) -> String {
    script.trim_end_matches('\\').to_owned()
}

/// `powershell -Command x`, of which any beginning will do, or without an option if it is no file.
fn powershell_script(arguments: &[Argument]) -> Option<String> {
    /// Options with a value.
    const VALUED: &[&str] = &[
        "configurationname",
        "custompipename",
        "ep",
        "ex",
        "executionpolicy",
        "inputformat",
        "if",
        "of",
        "outputformat",
        "psconsolefile",
        "settingsfile",
        "version",
        "w",
        "windowstyle",
        "wd",
        "workingdirectory",
    ];
    let mut at = 0;
    while let Some(argument) = arguments.get(at) {
        at += 1;
        let text = argument.written();
        let Some(option) = text.strip_prefix(['-', '/']) else {
            let is_command = text.contains([' ', ';', '|', '(']);
            let words = arguments.get(at - 1..).unwrap_or_default();
            return is_command.then(|| joined(words.iter().map(Argument::written)));
        };
        let option = option.trim_start_matches('/').to_ascii_lowercase();
        if !option.is_empty() && ("commandwithargs".starts_with(&option) || option == "cwa") {
            let words = arguments.get(at..).unwrap_or_default();
            return Some(joined(words.iter().map(Argument::written)));
        }
        let is_file = "file".starts_with(&option) || "encodedcommand".starts_with(&option) || option == "ec";
        if is_file && !option.is_empty() {
            return None;
        }
        at += usize::from(VALUED.contains(&option.as_str()));
    }
    None
}

#[cfg(test)]
mod tests {
    #[test]
    fn commands_of_windows_shells_are_found() {
        for line in [
            "cmd /c rm -rf x",
            "cmd //c rm -rf x",
            "cmd /c\"rm -rf x\"",
            "cmd.exe /S /C 'rm -rf x'",
            "powershell -Command 'rm -rf x'",
            "powershell -NoProfile 'rm -rf x'",
            "pwsh -ExecutionPolicy Bypass -Com rm -rf x",
            "powershell.exe /c 'rm -rf x'",
        ] {
            let programs = crate::command_line(line).programs;
            let removes = programs
                .iter()
                .any(|program| program.words().eq(["rm", "-rf", "x"]));
            assert!(removes, "{line}: {programs:?}");
        }
        for line in [
            "powershell -File rm.ps1 'rm -rf x'",
            "powershell rm.ps1",
            "cmd /q",
        ] {
            let programs = crate::command_line(line).programs;
            assert!(!programs.iter().any(|program| program.name() == "rm"), "{line}");
        }
    }
}
