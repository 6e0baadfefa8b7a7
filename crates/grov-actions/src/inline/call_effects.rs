//! What calls do, by the names of what is called.

use super::Language;
use super::calls::Call;

/// What a call does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Deed {
    /// Runs a command line, or a program with its arguments in one list.
    Runs,
    /// Runs the program that is the first argument, with those in the list behind it.
    RunsWithList,
    /// Runs a program; every argument is one of its words.
    RunsWords,
    /// Removes files.
    Removes,
    /// Removes a folder and all in it.
    RemovesAll,
    /// The one or the other, as the arguments say.
    RemovesAsTold,
    /// Removes an empty folder.
    RemovesFolder,
    Writes,
    Appends,
    /// Opens a file as the argument behind its name says.
    Opens,
    Moves,
    Copies,
    MakesFolder,
    /// Goes to another folder.
    Goes,
    /// Runs code of the same language.
    Evaluates,
}

/// What a call does; `None`: nothing that is told.
pub(super) fn deed(language: Language, call: &Call) -> Option<Deed> {
    if call.name == "`" {
        return Some(Deed::Runs);
    }
    match language {
        Language::Python => python(call),
        Language::JavaScript => javascript(call),
        Language::Perl => perl(&call.name),
        Language::Ruby => ruby(call),
        Language::Php => php(&call.name),
    }
}

/// Whether a name is one of those that are called without parentheses.
pub(super) fn is_called_bare(name: &str) -> bool {
    matches!(
        name,
        "system"
            | "exec"
            | "spawn"
            | "unlink"
            | "rmdir"
            | "rmtree"
            | "remove_tree"
            | "rename"
            | "chdir"
            | "mkdir"
            | "open"
            | "popen"
            | "rm"
            | "rm_f"
            | "rm_r"
            | "rm_rf"
            | "rm_tree"
            | "remove_dir"
            | "remove_entry"
            | "mv"
            | "cp"
            | "cp_r"
            | "delete"
            | "write"
            | "mkdir_p"
            | "cd"
            | "eval"
    )
}

fn python(call: &Call) -> Option<Deed> {
    use Deed::{
        Copies, Evaluates, Goes, MakesFolder, Moves, Opens, Removes, RemovesAll, RemovesFolder, Runs,
        RunsWithList, RunsWords, Writes,
    };
    Some(match call.name.as_str() {
        "os.system"
        | "os.popen"
        | "subprocess.run"
        | "subprocess.call"
        | "subprocess.check_call"
        | "subprocess.check_output"
        | "subprocess.Popen"
        | "subprocess.getoutput"
        | "subprocess.getstatusoutput"
        | "pty.spawn"
        | "asyncio.create_subprocess_shell"
        | "asyncio.subprocess.create_subprocess_shell" => Runs,
        "os.execv" | "os.execvp" | "os.execve" | "os.execvpe" => RunsWithList,
        "os.execl" | "os.execlp" => RunsWords,
        "asyncio.create_subprocess_exec" => RunsWords,
        "os.remove" | "os.unlink" | "Path().unlink" => Removes,
        "shutil.rmtree" => RemovesAll,
        "os.rmdir" | "os.removedirs" | "Path().rmdir" => RemovesFolder,
        "open" | "io.open" | "codecs.open" | "gzip.open" | "Path().open" => Opens,
        "Path().write_text" | "Path().write_bytes" | "Path().touch" | "os.truncate" => Writes,
        "os.rename" | "os.replace" | "os.renames" | "shutil.move" | "Path().rename" | "Path().replace" => {
            Moves
        }
        "shutil.copy" | "shutil.copy2" | "shutil.copyfile" | "shutil.copytree" => Copies,
        "os.mkdir" | "os.makedirs" | "Path().mkdir" => MakesFolder,
        "os.chdir" => Goes,
        "exec" | "eval" => Evaluates,
        _ => return None,
    })
}

fn javascript(call: &Call) -> Option<Deed> {
    use Deed::{
        Appends, Copies, Evaluates, Goes, MakesFolder, Moves, Removes, RemovesAll, RemovesAsTold,
        RemovesFolder, Runs, RunsWithList, Writes,
    };
    let last = call.last();
    // Names that others have as well count where they come from the module.
    let is_of = |modules: &[&str]| {
        call.name
            .strip_suffix(last)
            .and_then(|rest| rest.strip_suffix('.'))
            .is_some_and(|module| modules.contains(&module))
    };
    let files = [
        "fs",
        "fs.promises",
        "fsPromises",
        "fsp",
        "fs-extra",
        "fse",
        "Deno",
    ];
    Some(match last {
        "execSync" => Runs,
        "exec" if is_of(&["child_process", "cp", "childProcess"]) => Runs,
        "spawnSync" | "execFileSync" => RunsWithList,
        "spawn" | "execFile" if is_of(&["child_process", "cp", "childProcess"]) => RunsWithList,
        "spawn" if is_of(&["Bun"]) => Runs,
        "unlinkSync" => Removes,
        "unlink" if is_of(&files) => Removes,
        "rmSync" => RemovesAsTold,
        "rm" | "rmdir" | "remove" if is_of(&files) => RemovesAsTold,
        "removeSync" if is_of(&files) => {
            if is_of(&["Deno"]) {
                RemovesAsTold
            } else {
                RemovesAll
            }
        }
        "emptyDirSync" | "emptyDir" if is_of(&files) => RemovesAll,
        "rmdirSync" if call.named("recursive").is_some() => RemovesAll,
        "rmdirSync" => RemovesFolder,
        "writeFileSync" | "createWriteStream" | "truncateSync" | "outputFileSync" => Writes,
        "writeFile" | "writeTextFile" | "writeTextFileSync" | "truncate" | "outputFile" if is_of(&files) => {
            Writes
        }
        "write" if is_of(&["Bun"]) => Writes,
        "appendFileSync" => Appends,
        "appendFile" if is_of(&files) => Appends,
        "renameSync" => Moves,
        "rename" | "move" | "moveSync" if is_of(&files) => Moves,
        "copyFileSync" | "cpSync" => Copies,
        "copyFile" | "cp" | "copy" | "copySync" if is_of(&files) => Copies,
        "mkdirSync" => MakesFolder,
        "mkdir" if is_of(&files) => MakesFolder,
        "chdir" if is_of(&["process", "Deno"]) => Goes,
        "eval" if call.name == "eval" => Evaluates,
        _ => return None,
    })
}

fn perl(name: &str) -> Option<Deed> {
    use Deed::{Evaluates, Goes, MakesFolder, Moves, Opens, Removes, RemovesAll, RemovesFolder, Runs};
    Some(match name {
        "system" | "exec" => Runs,
        "unlink" => Removes,
        "rmtree" | "remove_tree" | "File.Path.rmtree" | "File.Path.remove_tree" => RemovesAll,
        "rmdir" => RemovesFolder,
        "open" => Opens,
        "rename" => Moves,
        "mkdir" => MakesFolder,
        "chdir" => Goes,
        "eval" => Evaluates,
        _ => return None,
    })
}

fn ruby(call: &Call) -> Option<Deed> {
    use Deed::{
        Copies, Evaluates, Goes, MakesFolder, Moves, Opens, Removes, RemovesAll, RemovesFolder, Runs, Writes,
    };
    Some(match call.name.as_str() {
        "system" | "exec" | "spawn" | "Kernel.system" | "Kernel.exec" | "Kernel.spawn" | "Process.spawn"
        | "IO.popen" | "Open3.capture2" | "Open3.capture2e" | "Open3.capture3" | "Open3.popen2"
        | "Open3.popen2e" | "Open3.popen3" => Runs,
        "File.delete"
        | "File.unlink"
        | "FileUtils.rm"
        | "FileUtils.rm_f"
        | "FileUtils.remove"
        | "FileUtils.safe_unlink" => Removes,
        "FileUtils.rm_r"
        | "FileUtils.rm_rf"
        | "FileUtils.rmtree"
        | "FileUtils.remove_dir"
        | "FileUtils.remove_entry"
        | "FileUtils.remove_entry_secure"
        | "FileUtils.remove_file" => RemovesAll,
        "Dir.rmdir" | "Dir.delete" | "Dir.unlink" | "FileUtils.rmdir" => RemovesFolder,
        "File.write" | "File.binwrite" | "IO.write" | "FileUtils.touch" | "File.truncate" => Writes,
        "File.open" | "File.new" | "open" => Opens,
        "File.rename" | "FileUtils.mv" | "FileUtils.move" => Moves,
        "FileUtils.cp" | "FileUtils.copy" | "FileUtils.cp_r" | "FileUtils.copy_file" => Copies,
        "Dir.mkdir" | "FileUtils.mkdir" | "FileUtils.mkdir_p" | "FileUtils.makedirs" => MakesFolder,
        "Dir.chdir" | "FileUtils.cd" | "FileUtils.chdir" => Goes,
        "eval" => Evaluates,
        _ => return None,
    })
}

fn php(name: &str) -> Option<Deed> {
    use Deed::{
        Copies, Evaluates, Goes, MakesFolder, Moves, Opens, Removes, RemovesFolder, Runs, RunsWithList,
        Writes,
    };
    Some(match name {
        "system" | "exec" | "shell_exec" | "passthru" | "popen" | "proc_open" => Runs,
        "pcntl_exec" => RunsWithList,
        "unlink" => Removes,
        "rmdir" => RemovesFolder,
        "file_put_contents" | "touch" => Writes,
        "fopen" => Opens,
        "rename" => Moves,
        "copy" => Copies,
        "mkdir" => MakesFolder,
        "chdir" => Goes,
        "eval" => Evaluates,
        _ => return None,
    })
}
