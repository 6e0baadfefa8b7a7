//! What calls do, by the names of the functions.

use super::Language;
use super::calls::Call;
use CallEffect::{
    Append, ChangeDir, CopyFile, CreateDir, Eval, Move, Open, Remove, RemoveDir, RemoveMaybeRecursive,
    RemoveTree, Run, RunWithArgs, RunWords, Write,
};

/// What a call does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum CallEffect {
    /// Runs a command line, or a program with its arguments in one list.
    Run,
    /// Runs the program in the first argument with the arguments in the list that follows.
    RunWithArgs,
    /// Runs a program; every argument is one of its words.
    RunWords,
    /// Removes files.
    Remove,
    /// Removes a folder and its contents.
    RemoveTree,
    /// Removes a file or, if the arguments say so, a folder and its contents.
    RemoveMaybeRecursive,
    /// Removes an empty folder.
    RemoveDir,
    /// Writes a file.
    Write,
    /// Appends to a file.
    Append,
    /// Opens a file in the mode that the second argument gives.
    Open,
    /// Moves or renames a file.
    Move,
    /// Copies a file.
    CopyFile,
    /// Creates a folder.
    CreateDir,
    /// Changes the working folder.
    ChangeDir,
    /// Evaluates code of the same language.
    Eval,
}

/// Functions by their full names.
type Functions = &'static [(CallEffect, Names)];
type Names = &'static [&'static str];

#[rustfmt::skip]
const PYTHON: Functions = &[
    (Run, &[
        "os.system", "os.popen", "subprocess.run", "subprocess.call", "subprocess.check_call", "subprocess.check_output",
        "subprocess.Popen", "subprocess.getoutput", "subprocess.getstatusoutput", "pty.spawn",
        "asyncio.create_subprocess_shell", "asyncio.subprocess.create_subprocess_shell",
    ]),
    (RunWithArgs, &["os.execv", "os.execvp", "os.execve", "os.execvpe"]),
    (RunWords, &["os.execl", "os.execlp", "asyncio.create_subprocess_exec"]),
    (Remove, &["os.remove", "os.unlink", "Path().unlink"]),
    (RemoveTree, &["shutil.rmtree"]),
    (RemoveDir, &["os.rmdir", "os.removedirs", "Path().rmdir"]),
    (Open, &["open", "io.open", "codecs.open", "gzip.open", "Path().open"]),
    (Write, &["Path().write_text", "Path().write_bytes", "Path().touch", "os.truncate"]),
    (Move, &["os.rename", "os.replace", "os.renames", "shutil.move", "Path().rename", "Path().replace"]),
    (CopyFile, &["shutil.copy", "shutil.copy2", "shutil.copyfile", "shutil.copytree"]),
    (CreateDir, &["os.mkdir", "os.makedirs", "Path().mkdir"]),
    (ChangeDir, &["os.chdir"]),
    (Eval, &["exec", "eval"]),
];

#[rustfmt::skip]
const PERL: Functions = &[
    (Run, &["system", "exec"]),
    (Remove, &["unlink"]),
    (RemoveTree, &["rmtree", "remove_tree", "File.Path.rmtree", "File.Path.remove_tree"]),
    (RemoveDir, &["rmdir"]),
    (Open, &["open"]),
    (Move, &["rename"]),
    (CreateDir, &["mkdir"]),
    (ChangeDir, &["chdir"]),
    (Eval, &["eval"]),
];

#[rustfmt::skip]
const RUBY: Functions = &[
    (Run, &[
        "system", "exec", "spawn", "Kernel.system", "Kernel.exec", "Kernel.spawn", "Process.spawn", "IO.popen",
        "Open3.capture2", "Open3.capture2e", "Open3.capture3", "Open3.popen2", "Open3.popen2e", "Open3.popen3",
    ]),
    (Remove, &[
        "File.delete", "File.unlink", "FileUtils.rm", "FileUtils.rm_f", "FileUtils.remove", "FileUtils.safe_unlink",
    ]),
    (RemoveTree, &[
        "FileUtils.rm_r", "FileUtils.rm_rf", "FileUtils.rmtree", "FileUtils.remove_dir", "FileUtils.remove_entry",
        "FileUtils.remove_entry_secure", "FileUtils.remove_file",
    ]),
    (RemoveDir, &["Dir.rmdir", "Dir.delete", "Dir.unlink", "FileUtils.rmdir"]),
    (Write, &["File.write", "File.binwrite", "IO.write", "FileUtils.touch", "File.truncate"]),
    (Open, &["File.open", "File.new", "open"]),
    (Move, &["File.rename", "FileUtils.mv", "FileUtils.move"]),
    (CopyFile, &["FileUtils.cp", "FileUtils.copy", "FileUtils.cp_r", "FileUtils.copy_file"]),
    (CreateDir, &["Dir.mkdir", "FileUtils.mkdir", "FileUtils.mkdir_p", "FileUtils.makedirs"]),
    (ChangeDir, &["Dir.chdir", "FileUtils.cd", "FileUtils.chdir"]),
    (Eval, &["eval"]),
];

#[rustfmt::skip]
const PHP: Functions = &[
    (Run, &["system", "exec", "shell_exec", "passthru", "popen", "proc_open"]),
    (RunWithArgs, &["pcntl_exec"]),
    (Remove, &["unlink"]),
    (RemoveDir, &["rmdir"]),
    (Write, &["file_put_contents", "touch"]),
    (Open, &["fopen"]),
    (Move, &["rename"]),
    (CopyFile, &["copy"]),
    (CreateDir, &["mkdir"]),
    (ChangeDir, &["chdir"]),
    (Eval, &["eval"]),
];

const FILES: Names = &[
    "fs",
    "fs.promises",
    "fsPromises",
    "fsp",
    "fs-extra",
    "fse",
    "Deno",
];
const CHILD_PROCESS: Names = &["child_process", "cp", "childProcess"];

/// Functions of JavaScript by their last names, and the modules that they count for: other modules have functions of the
/// same names. `None` means any module, `""` no module.
#[rustfmt::skip]
const JAVASCRIPT: &[(CallEffect, Option<Names>, Names)] = &[
    (Run, None, &["execSync"]),
    (Run, Some(CHILD_PROCESS), &["exec"]),
    (Run, Some(&["Bun"]), &["spawn"]),
    (RunWithArgs, None, &["spawnSync", "execFileSync"]),
    (RunWithArgs, Some(CHILD_PROCESS), &["spawn", "execFile"]),
    (Remove, None, &["unlinkSync"]),
    (Remove, Some(FILES), &["unlink"]),
    (RemoveMaybeRecursive, None, &["rmSync"]),
    (RemoveMaybeRecursive, Some(FILES), &["rm", "rmdir", "remove"]),
    (RemoveMaybeRecursive, Some(&["Deno"]), &["removeSync"]),
    (RemoveTree, Some(FILES), &["removeSync", "emptyDirSync", "emptyDir"]),
    (Write, None, &["writeFileSync", "createWriteStream", "truncateSync", "outputFileSync"]),
    (Write, Some(FILES), &["writeFile", "writeTextFile", "writeTextFileSync", "truncate", "outputFile"]),
    (Write, Some(&["Bun"]), &["write"]),
    (Append, None, &["appendFileSync"]),
    (Append, Some(FILES), &["appendFile"]),
    (Move, None, &["renameSync"]),
    (Move, Some(FILES), &["rename", "move", "moveSync"]),
    (CopyFile, None, &["copyFileSync", "cpSync"]),
    (CopyFile, Some(FILES), &["copyFile", "cp", "copy", "copySync"]),
    (CreateDir, None, &["mkdirSync"]),
    (CreateDir, Some(FILES), &["mkdir"]),
    (ChangeDir, Some(&["process", "Deno"]), &["chdir"]),
    (Eval, Some(&[""]), &["eval"]),
];

/// Functions of Perl and Ruby that are called without parentheses.
#[rustfmt::skip]
const CALLED_BARE: &[&str] = &[
    "system", "exec", "spawn", "unlink", "rmdir", "rmtree", "remove_tree", "rename", "chdir", "mkdir", "open", "popen", "rm",
    "rm_f", "rm_r", "rm_rf", "rm_tree", "remove_dir", "remove_entry", "mv", "cp", "cp_r", "delete", "write", "mkdir_p", "cd",
    "eval",
];

/// What a call does; `None` if it runs nothing and touches no files.
pub(super) fn call_effect(language: Language, call: &Call) -> Option<CallEffect> {
    if call.name == "`" {
        return Some(Run);
    }
    let functions = match language {
        Language::JavaScript => return javascript(call),
        Language::Python => PYTHON,
        Language::Perl => PERL,
        Language::Ruby => RUBY,
        Language::Php => PHP,
    };
    let (effect, _) = functions
        .iter()
        .find(|(_, names)| names.contains(&call.name.as_str()))?;
    Some(*effect)
}

fn javascript(call: &Call) -> Option<CallEffect> {
    let (module, name) = call.name.rsplit_once('.').unwrap_or(("", &call.name));
    if name == "rmdirSync" {
        let recursive = call.named("recursive").is_some();
        return Some(if recursive { RemoveTree } else { RemoveDir });
    }
    let (effect, ..) = JAVASCRIPT.iter().find(|(_, modules, names)| {
        names.contains(&name) && modules.is_none_or(|modules| modules.contains(&module))
    })?;
    Some(*effect)
}

/// Whether a function of Perl or Ruby is called without parentheses.
pub(super) fn is_called_bare(name: &str) -> bool {
    CALLED_BARE.contains(&name)
}
