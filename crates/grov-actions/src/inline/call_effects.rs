//! The effects of calls, by the names of the functions.

use super::Language;
use super::calls::Call;
use CallEffect::{ChangeDir, Eval, FromTo, Open, PerPath, Remove, Run, RunWithArgs, RunWords};

/// The effect of a call. The texts are the beginnings of equivalent shell commands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum CallEffect {
    /// Runs a command line, or a program with its arguments in one list.
    Run,
    /// Runs the program in the first argument with the arguments in the list after it.
    RunWithArgs,
    /// Runs a program. Each argument is one word.
    RunWords,
    /// Removes the paths in the arguments.
    Remove(&'static str),
    /// Creates or writes each path of the first argument.
    PerPath(&'static str),
    /// Moves or copies the first path to the second.
    FromTo(&'static str),
    /// Opens a file. The second argument is the mode.
    Open,
    /// Changes the working folder.
    ChangeDir,
    /// Evaluates code of the same language.
    Eval,
}

const REMOVE: CallEffect = Remove("rm");
const REMOVE_TREE: CallEffect = Remove("rm -r");
const REMOVE_DIR: CallEffect = Remove("rmdir");
const CREATE_DIR: CallEffect = PerPath("mkdir -p");
const WRITE: CallEffect = PerPath(">");
const APPEND: CallEffect = PerPath(">>");
const MOVE: CallEffect = FromTo("mv");
const COPY: CallEffect = FromTo("cp -r");

/// Effects with the full names of their functions.
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
    (REMOVE, &["os.remove", "os.unlink", "Path().unlink"]),
    (REMOVE_TREE, &["shutil.rmtree"]),
    (REMOVE_DIR, &["os.rmdir", "os.removedirs", "Path().rmdir"]),
    (Open, &["open", "io.open", "codecs.open", "gzip.open", "Path().open"]),
    (WRITE, &["Path().write_text", "Path().write_bytes", "Path().touch", "os.truncate"]),
    (MOVE, &["os.rename", "os.replace", "os.renames", "shutil.move", "Path().rename", "Path().replace"]),
    (COPY, &["shutil.copy", "shutil.copy2", "shutil.copyfile", "shutil.copytree"]),
    (CREATE_DIR, &["os.mkdir", "os.makedirs", "Path().mkdir"]),
    (ChangeDir, &["os.chdir"]),
    (Eval, &["exec", "eval"]),
];

#[rustfmt::skip]
const PERL: Functions = &[
    (Run, &["system", "exec"]),
    (REMOVE, &["unlink"]),
    (REMOVE_TREE, &["rmtree", "remove_tree", "File.Path.rmtree", "File.Path.remove_tree"]),
    (REMOVE_DIR, &["rmdir"]),
    (Open, &["open"]),
    (MOVE, &["rename"]),
    (CREATE_DIR, &["mkdir"]),
    (ChangeDir, &["chdir"]),
    (Eval, &["eval"]),
];

#[rustfmt::skip]
const RUBY: Functions = &[
    (Run, &[
        "system", "exec", "spawn", "Kernel.system", "Kernel.exec", "Kernel.spawn", "Process.spawn", "IO.popen",
        "Open3.capture2", "Open3.capture2e", "Open3.capture3", "Open3.popen2", "Open3.popen2e", "Open3.popen3",
    ]),
    (REMOVE, &[
        "File.delete", "File.unlink", "FileUtils.rm", "FileUtils.rm_f", "FileUtils.remove", "FileUtils.safe_unlink",
    ]),
    (REMOVE_TREE, &[
        "FileUtils.rm_r", "FileUtils.rm_rf", "FileUtils.rmtree", "FileUtils.remove_dir", "FileUtils.remove_entry",
        "FileUtils.remove_entry_secure", "FileUtils.remove_file",
    ]),
    (REMOVE_DIR, &["Dir.rmdir", "Dir.delete", "Dir.unlink", "FileUtils.rmdir"]),
    (WRITE, &["File.write", "File.binwrite", "IO.write", "FileUtils.touch", "File.truncate"]),
    (Open, &["File.open", "File.new", "open"]),
    (MOVE, &["File.rename", "FileUtils.mv", "FileUtils.move"]),
    (COPY, &["FileUtils.cp", "FileUtils.copy", "FileUtils.cp_r", "FileUtils.copy_file"]),
    (CREATE_DIR, &["Dir.mkdir", "FileUtils.mkdir", "FileUtils.mkdir_p", "FileUtils.makedirs"]),
    (ChangeDir, &["Dir.chdir", "FileUtils.cd", "FileUtils.chdir"]),
    (Eval, &["eval"]),
];

#[rustfmt::skip]
const PHP: Functions = &[
    (Run, &["system", "exec", "shell_exec", "passthru", "popen", "proc_open"]),
    (RunWithArgs, &["pcntl_exec"]),
    (REMOVE, &["unlink"]),
    (REMOVE_DIR, &["rmdir"]),
    (WRITE, &["file_put_contents", "touch"]),
    (Open, &["fopen"]),
    (MOVE, &["rename"]),
    (COPY, &["copy"]),
    (CREATE_DIR, &["mkdir"]),
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

/// Effects with the modules and the last names of their functions. Other modules may have functions of the same
/// names. `None` means any module, `""` no module.
#[rustfmt::skip]
const JAVASCRIPT: &[(CallEffect, Option<Names>, Names)] = &[
    (Run, None, &["execSync"]),
    (Run, Some(CHILD_PROCESS), &["exec"]),
    (Run, Some(&["Bun"]), &["spawn"]),
    (RunWithArgs, None, &["spawnSync", "execFileSync"]),
    (RunWithArgs, Some(CHILD_PROCESS), &["spawn", "execFile"]),
    (REMOVE, None, &["unlinkSync", "rmSync"]),
    (REMOVE, Some(FILES), &["unlink", "rm", "rmdir", "remove"]),
    (REMOVE_DIR, None, &["rmdirSync"]),
    (REMOVE, Some(&["Deno"]), &["removeSync"]),
    (REMOVE_TREE, Some(FILES), &["removeSync", "emptyDirSync", "emptyDir"]),
    (WRITE, None, &["writeFileSync", "createWriteStream", "truncateSync", "outputFileSync"]),
    (WRITE, Some(FILES), &["writeFile", "writeTextFile", "writeTextFileSync", "truncate", "outputFile"]),
    (WRITE, Some(&["Bun"]), &["write"]),
    (APPEND, None, &["appendFileSync"]),
    (APPEND, Some(FILES), &["appendFile"]),
    (MOVE, None, &["renameSync"]),
    (MOVE, Some(FILES), &["rename", "move", "moveSync"]),
    (COPY, None, &["copyFileSync", "cpSync"]),
    (COPY, Some(FILES), &["copyFile", "cp", "copy", "copySync"]),
    (CREATE_DIR, None, &["mkdirSync"]),
    (CREATE_DIR, Some(FILES), &["mkdir"]),
    (ChangeDir, Some(&["process", "Deno"]), &["chdir"]),
    (Eval, Some(&[""]), &["eval"]),
];

/// Functions that Perl and Ruby programs call without parentheses.
#[rustfmt::skip]
const CALLED_BARE: &[&str] = &[
    "system", "exec", "spawn", "unlink", "rmdir", "rmtree", "remove_tree", "rename", "chdir", "mkdir", "open", "popen", "rm",
    "rm_f", "rm_r", "rm_rf", "rm_tree", "remove_dir", "remove_entry", "mv", "cp", "cp_r", "delete", "write", "mkdir_p", "cd",
    "eval",
];

/// The effect of a call; `None` if it neither runs a program nor changes files.
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
    let (effect, ..) = JAVASCRIPT.iter().find(|(_, modules, names)| {
        names.contains(&name) && modules.is_none_or(|modules| modules.contains(&module))
    })?;
    let is_recursive = call.named("recursive").is_some();
    Some(match *effect {
        REMOVE | REMOVE_DIR if is_recursive => REMOVE_TREE,
        effect => effect,
    })
}

pub(super) fn is_called_bare(name: &str) -> bool {
    CALLED_BARE.contains(&name)
}
