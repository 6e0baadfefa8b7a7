//! The effects of calls, by the names of the functions.

use super::Language;
use super::calls::Call;
use crate::has_word;
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
/// The content is not known: the command that prints it stands for any.
const WRITE: CallEffect = PerPath("cat >");
const APPEND: CallEffect = PerPath("cat >>");
const MOVE: CallEffect = FromTo("mv");
const COPY: CallEffect = FromTo("cp -r");

/// Effects with the full names of their functions, separated by spaces.
type Functions = &'static [(CallEffect, &'static str)];

#[rustfmt::skip]
const PYTHON: Functions = &[
    (Run, "os.system os.popen subprocess.run subprocess.call subprocess.check_call subprocess.check_output \
          subprocess.Popen subprocess.getoutput subprocess.getstatusoutput pty.spawn \
          asyncio.create_subprocess_shell asyncio.subprocess.create_subprocess_shell os.execute io.popen system system2 \
          shell System.shell System.cmd"),
    (RunWithArgs, "os.execv os.execvp os.execve os.execvpe"),
    (RunWords, "os.execl os.execlp asyncio.create_subprocess_exec"),
    (REMOVE, "os.remove os.unlink Path().unlink file.remove unlink rm Base.rm File.rm"),
    (REMOVE_TREE, "shutil.rmtree File.rm_rf fs.dir_delete lfs.rmdir"),
    (REMOVE_DIR, "os.rmdir os.removedirs Path().rmdir"),
    (Open, "open io.open codecs.open gzip.open Path().open"),
    (WRITE, "Path().write_text Path().write_bytes Path().touch os.truncate"),
    (MOVE, "os.rename os.replace os.renames shutil.move Path().rename Path().replace"),
    (COPY, "shutil.copy shutil.copy2 shutil.copyfile shutil.copytree"),
    (CREATE_DIR, "os.mkdir os.makedirs Path().mkdir"),
    (ChangeDir, "os.chdir"),
    (Eval, "exec eval"),
];

#[rustfmt::skip]
const RUBY: Functions = &[
    (Run, "system exec spawn Kernel.system Kernel.exec Kernel.spawn Process.spawn IO.popen Open3.capture2 \
          Open3.capture2e Open3.capture3 Open3.popen2 Open3.popen2e Open3.popen3 sh"),
    (REMOVE, "File.delete File.unlink FileUtils.rm FileUtils.rm_f FileUtils.remove FileUtils.safe_unlink rm rm_f"),
    (REMOVE_TREE, "rm_r rm_rf rmtree \
          FileUtils.rm_r FileUtils.rm_rf FileUtils.rmtree FileUtils.remove_dir FileUtils.remove_entry \
          FileUtils.remove_entry_secure FileUtils.remove_file"),
    (REMOVE_DIR, "Dir.rmdir Dir.delete Dir.unlink FileUtils.rmdir"),
    (WRITE, "File.write File.binwrite IO.write FileUtils.touch File.truncate"),
    (Open, "File.open File.new open"),
    (MOVE, "File.rename FileUtils.mv FileUtils.move"),
    (COPY, "FileUtils.cp FileUtils.copy FileUtils.cp_r FileUtils.copy_file"),
    (CREATE_DIR, "Dir.mkdir FileUtils.mkdir FileUtils.mkdir_p FileUtils.makedirs"),
    (ChangeDir, "Dir.chdir FileUtils.cd FileUtils.chdir"),
    (Eval, "eval"),
];

#[rustfmt::skip]
const PERL_AND_PHP: Functions = &[
    (Run, "system exec shell_exec passthru popen proc_open"),
    (RunWithArgs, "pcntl_exec"),
    (REMOVE, "unlink"),
    (REMOVE_TREE, "rmtree remove_tree File.Path.rmtree File.Path.remove_tree"),
    (REMOVE_DIR, "rmdir"),
    (WRITE, "file_put_contents touch"),
    (Open, "open fopen"),
    (MOVE, "rename"),
    (COPY, "copy"),
    (CREATE_DIR, "mkdir"),
    (ChangeDir, "chdir"),
    (Eval, "eval"),
];

const FILES: &str = "fs fs.promises fsPromises fsp fs-extra fse Deno";
const CHILD_PROCESS: &str = "child_process cp childProcess";

/// Effects with the modules and the last names of their functions. Other modules may have functions of the same
/// names. `*` means any module, `(none)` no module.
#[rustfmt::skip]
const JAVASCRIPT: &[(CallEffect, &str, &str)] = &[
    (Run, "*", "execSync"),
    (Run, CHILD_PROCESS, "exec"),
    (Run, "Bun", "spawn"),
    (RunWithArgs, "*", "spawnSync execFileSync"),
    (RunWithArgs, CHILD_PROCESS, "spawn execFile"),
    (REMOVE, "*", "unlinkSync rmSync"),
    (REMOVE, FILES, "unlink rm rmdir remove"),
    (REMOVE_DIR, "*", "rmdirSync"),
    (REMOVE, "Deno", "removeSync"),
    (REMOVE_TREE, FILES, "removeSync emptyDirSync emptyDir"),
    (WRITE, "*", "writeFileSync createWriteStream truncateSync outputFileSync"),
    (WRITE, FILES, "writeFile writeTextFile writeTextFileSync truncate outputFile"),
    (WRITE, "Bun", "write"),
    (APPEND, "*", "appendFileSync"),
    (APPEND, FILES, "appendFile"),
    (MOVE, "*", "renameSync"),
    (MOVE, FILES, "rename move moveSync"),
    (COPY, "*", "copyFileSync cpSync"),
    (COPY, FILES, "copyFile cp copy copySync"),
    (CREATE_DIR, "*", "mkdirSync"),
    (CREATE_DIR, FILES, "mkdir"),
    (ChangeDir, "process Deno", "chdir"),
    (Eval, "(none)", "eval"),
];

fn functions(language: Language) -> Functions {
    match language {
        Language::Python => PYTHON,
        Language::Ruby => RUBY,
        Language::Perl | Language::Php => PERL_AND_PHP,
        Language::JavaScript => &[],
    }
}

/// The effect of a call; `None` if it neither runs a program nor changes files.
pub(super) fn call_effect(language: Language, call: &Call) -> Option<CallEffect> {
    if call.name == "`" {
        return Some(Run);
    }
    if language == Language::JavaScript {
        return javascript(call);
    }
    let mut functions = functions(language).iter();
    let (effect, _) = functions.find(|(_, names)| has_word(names, &call.name))?;
    Some(*effect)
}

fn javascript(call: &Call) -> Option<CallEffect> {
    let (module, name) = call.name.rsplit_once('.').unwrap_or(("(none)", &call.name));
    let (effect, ..) = JAVASCRIPT.iter().find(|(_, modules, names)| {
        has_word(names, name) && (*modules == "*" || has_word(modules, module))
    })?;
    let is_recursive = call.named("recursive").is_some();
    Some(match *effect {
        REMOVE | REMOVE_DIR if is_recursive => REMOVE_TREE,
        effect => effect,
    })
}

/// Whether a function of Perl or Ruby with an effect has this last name. Such functions may be called without parentheses.
pub(super) fn is_called_bare(language: Language, name: &str) -> bool {
    let is_last = |full: &str| full.rsplit('.').next() == Some(name);
    let mut functions = functions(language).iter();
    functions.any(|(_, names)| names.split_ascii_whitespace().any(is_last))
}
