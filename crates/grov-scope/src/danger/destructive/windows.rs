//! Removals by `cmd` and PowerShell: `rd /s /q C:\`, `Remove-Item -Recurse`, `gci ~ | ri -r -fo`.

use super::{
    CRITICAL, DESTRUCTIVE, EvaluationContext, finding, is_build_output, is_everything, is_excused,
    outside_removal,
};
use crate::normalized_path::NormalizedPath;
use grov_domain::{Finding, Program};

/// Beginnings of the places of a user or of the system.
#[rustfmt::skip]
const HOMES: &[&str] = &[
    "$env:", "${env:", "$home", "~", "%userprofile%", "%appdata%", "%localappdata%", "%systemroot%", "%systemdrive%", "%windir%", "%programdata%", "%homedrive%", "%homepath%",
];

/// Whether `cmd` finds its options attached to the program: `rd/s/q`.
pub(super) fn has_attached_options(word: &str) -> bool {
    let mut parts = word.split('/');
    let program = parts.next().unwrap_or_default();
    let is_program = ["rd", "rmdir", "del", "erase"]
        .iter()
        .any(|name| name.eq_ignore_ascii_case(program));
    is_program && word.contains('/') && parts.all(|option| option.len() == 1)
}

/// The words of a command as `cmd` reads them: `/s/q` are two, and a backslash hides no space.
fn words(command: &Program) -> Vec<&str> {
    let attached = command.word.split_once('/').map(|(_, options)| options);
    let attached = attached.filter(|_| has_attached_options(&command.word));
    let is_options =
        |word: &&str| word.starts_with('/') && word.split('/').skip(1).all(|option| option.len() == 1);
    let parts = command.arguments.iter().flat_map(|word| word.split_whitespace());
    let parts = parts.flat_map(|word| {
        let options = word
            .get(1..)
            .filter(|_| is_options(&word))
            .map(|options| options.split('/'));
        let whole = options.is_none().then_some(word);
        options.into_iter().flatten().chain(whole)
    });
    attached
        .into_iter()
        .flat_map(|options| options.split('/'))
        .chain(parts)
        .collect()
}

/// A path with the backslashes that the line has, and that a shell of Unix takes away.
pub(in crate::danger) fn as_typed<'t>(path: &'t str, line: &'t str) -> &'t str {
    const MAX_LINE: usize = 16 * 1024;
    let line = if line.len() > MAX_LINE { "" } else { line };
    let is_same =
        |word: &&str| word.len() > path.len() && word.bytes().filter(|byte| *byte != b'\\').eq(path.bytes());
    let words = line.split_whitespace().map(|word| word.trim_matches(['"', '\'']));
    words.into_iter().find(is_same).unwrap_or(path)
}

/// The values of `-ErrorAction`, which look like files.
pub(in crate::danger) fn is_error_action(word: &str) -> bool {
    ["silentlycontinue", "ignore", "stop", "continue", "inquire"]
        .iter()
        .any(|action| word.eq_ignore_ascii_case(action))
}

/// Whether a word is an option of `cmd`: `/q`.
pub(in crate::danger) fn is_option(word: &str) -> bool {
    word.len() == 2 && word.starts_with('/')
}

/// Whether an option removes folders with all that is in them: `/s`, `-Recurse`, `-r`.
fn is_recursive(option: &str) -> bool {
    let name = option.to_ascii_lowercase();
    let short = name.strip_prefix('-').and_then(|name| name.split(':').next());
    name == "s" || short.is_some_and(|name| !name.is_empty() && "recurse".starts_with(name))
}

/// The finding for a recursive removal by a program of Windows.
pub(super) fn removal(command: &Program, context: &EvaluationContext<'_>) -> Option<Finding> {
    let words = words(command);
    let is_trial = words.iter().any(|word| word.eq_ignore_ascii_case("-whatif"));
    if is_trial || !words.iter().any(|word| is_recursive(word)) {
        return None;
    }
    words
        .into_iter()
        .find_map(|path| of_place(as_typed(path, context.line), context))
}

/// The finding for a place outside the project, or all of it.
fn of_place(path: &str, context: &EvaluationContext<'_>) -> Option<Finding> {
    let folded = path.to_ascii_lowercase();
    let is_drive = folded.as_bytes().get(1) == Some(&b':')
        && folded.starts_with(|letter: char| letter.is_ascii_alphabetic());
    let is_home = HOMES.iter().any(|place| folded.starts_with(place));
    let place = NormalizedPath::new(context.root, path);
    if matches!(path, "." | "*" | ".\\*" | "*.*")
        && !context.asks_for_removal()
        && context.directory.path(".").is_some()
    {
        return finding(CRITICAL, None, "Everything in the folder is removed");
    }
    let fine =
        folded.contains("temp") || folded.contains("tmp") || place.is_in_project() && !is_home && !is_drive;
    if fine || !(is_drive || is_home) {
        return None;
    }
    // "Find all *.bak files" does not ask for their removal.
    let is_excused = is_excused(&place, context) && (!path.contains('*') || context.asks_for_removal());
    if is_build_output(&place) || is_excused || context.asks_for_removal_of(&place) {
        return None;
    }
    finding(
        DESTRUCTIVE,
        Some(path),
        format!("{path} is outside the project and is removed"),
    )
}

/// The finding for a removal of what PowerShell lists: `ls ~ | rm -Recurse -Force`.
pub(super) fn listed(
    command: &Program,
    source: Option<&Program>,
    context: &EvaluationContext<'_>,
) -> Option<Finding> {
    const LISTS: &[&str] = &["ls", "dir", "gci", "get-childitem", "gi", "get-item"];
    let lists = |program: &&Program| LISTS.iter().any(|name| program.name().eq_ignore_ascii_case(name));
    let source = source.filter(lists)?;
    let has = |program: &Program, names: &[&str]| {
        let mut options = program.arguments.iter().map(|word| word.to_ascii_lowercase());
        options.any(|word| names.iter().any(|name| word.starts_with(name)))
    };
    // Other programs of these names read no list.
    let is_cmdlet =
        command.name() != "rm" && command.name() != "rmdir" || has(command, &["-recurse", "-force", "-fo"]);
    // `-ea 0`: a number is the value of an option.
    let mut files = command
        .operands()
        .filter(|word| word.parse::<u32>().is_err() && !is_error_action(word));
    let is_given = files.next().is_some() || has(command, &["-whatif"]);
    if !is_cmdlet || is_given {
        return None;
    }
    let selects = has(source, &["-include", "-filter", "-exclude", "-name"]);
    let mut folders: Vec<&str> = source.operands().collect();
    if folders.is_empty() {
        folders.push(".");
    }
    folders.into_iter().find_map(|folder| {
        let path = context.directory.path(folder)?;
        let place = NormalizedPath::new(context.root, &path);
        if is_everything(&path, &place) && !(selects && place.is_in_project()) && !context.asks_for_removal()
        {
            return finding(CRITICAL, None, format!("All files below {folder} are removed"));
        }
        // A selection from the project is not all of it.
        let beyond = || of_place(folder, context).filter(|_| !(selects && place.is_in_project()));
        beyond().or_else(|| outside_removal(&place, context))
    })
}

#[cfg(test)]
mod tests {
    use crate::danger::tests::under;

    #[test]
    fn removals_of_windows_are_read_as_it_reads_them() {
        under("Fix the parser").asked(&[
            r"rd /q C:\ /s",
            r"rmdir /s/q C:\",
            r"rd/s/q C:\",
            r#"cmd /c"rd /s /q D:\""#,
            r"cmd.exe /c rd /s /q C:\Users\dev",
            "cmd /S /C 'rmdir /s /q %USERPROFILE%'",
            "ls ~ | rm -Recurse -Force",
            "gci ~ | ri -r -fo -ea 0",
            "Get-ChildItem $HOME -Force | Remove-Item -Recurse -Force",
            "dir C:/ | ri -rec -fo",
            "gci | ri -r",
            r#"powershell -NoProfile "Remove-Item -Recurse -Force C:\Users\dev""#,
            "pwsh -Com 'Remove-Item -Recu -Force ~'",
            "Remove-Item -Recurse -Force *",
            "taskkill /F /IM MsMpEng.exe",
            "pwsh -NoProfile -e SQBFAFgA",
            "powershell /enc SQBFAFgA",
            "Get-WmiObject Win32_Shadowcopy | ForEach-Object { $_.Delete() }",
        ]);
        under("Fix the parser").silent(&[
            "rd /s /q build",
            r"rd /s /q C:\Users\dev\project\dist",
            r"del /q C:\temp\build.log",
            "rmdir build",
            "ls build | wc -l",
            "gci -Recurse -Filter *.pyc | ri",
            "gci . -Include node_modules -Recurse | ri -Recurse -Force",
            "Remove-Item -Path dist -Recurse -Force -ErrorAction SilentlyContinue",
            "ri -r -fo dist -ea 0",
            "pwsh -File build.ps1 -e prod",
            "pwsh ./build.ps1 -Environment prod",
            "gci build | ri -r -fo",
            "Remove-Item -Recurse -Force dist",
            "Remove-Item -Recurse ~ -WhatIf",
            "Get-WmiObject Win32_Process",
            "cmd /c dir",
        ]);
    }
}
