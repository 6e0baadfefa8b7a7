//! The options with a value, by program.

use super::{Valued, roles};
use grov_domain::Role;

/// Global options of Git.
pub(crate) const GIT: Valued = Valued::new("Cc", "git-dir work-tree namespace exec-path");

/// The options of a program. Options of unknown programs are assumed to have no value.
#[rustfmt::skip]
pub(crate) fn of(program: &str) -> Valued {
    let (letters, names): (&str, &str) = match program {
        "head" | "tail" => ("nc", ""),
        "bat" | "batcat" => ("lrH", "language line-range style"),
        "cut" => ("dfcb", ""),
        "uniq" | "od" | "xxd" | "hexdump" | "base64" => ("fswANjlcn", ""),
        "diff" | "colordiff" | "sdiff" => ("UCxIL", "exclude unified context label"),
        "stat" => ("cft", "format printf"),
        "jq" | "yq" | "gron" => ("", "indent"),
        "join" => ("t12oaej", ""),
        "touch" => ("drt", ""),
        "mkdir" => ("m", "mode"),
        "truncate" | "fallocate" => ("srol", "size reference"),
        "shred" => ("ns", "iterations size"),
        "vim" | "vi" | "nvim" | "nano" | "emacs" | "ed" | "ex" | "code" | "dos2unix" | "unix2dos"
        | "gzip" | "gunzip" | "bzip2" | "bunzip2" | "xz" | "unxz" | "zstd" | "unzstd" => ("cnT", ""),
        "ls" | "dir" | "exa" | "eza" | "lsd" | "tree" | "du" => ("IwTLPd", "ignore width level max-depth sort color"),
        "rg" => ("efmABCgtTjrEMd", GREP_NAMES),
        "grep" | "egrep" | "fgrep" | "zgrep" | "ag" | "ack" | "ugrep" => ("efmABCdD", GREP_NAMES),
        "fd" | "fdfind" => ("etdEcSoj", "extension type max-depth exclude size base-directory"),
        "sed" | "gsed" => ("efl", "expression file line-length"),
        "awk" | "gawk" | "mawk" | "nawk" => ("fFvi", "file assign field-separator"),
        "sort" => ("kotST", "key output field-separator"),
        "mv" | "cp" | "gcp" | "ditto" | "ln" => ("tS", "target-directory suffix"),
        "install" => ("mogtS", "mode owner group target-directory"),
        "patch" => ("piodBFrzDVY", "strip input output directory"),
        "tar" | "bsdtar" => ("fCTXI", "file directory files-from exclude strip-components"),
        "zip" => ("xinPt", "exclude include"),
        "unzip" => ("dxP", ""),
        "curl" => ("oHXdFuAeTbcmwKxrCEyYzPQU", "\
          output header request data data-raw data-binary data-urlencode json form user user-agent referer \
          upload-file cookie cookie-jar max-time connect-timeout write-out config proxy retry cacert cert \
          key resolve output-dir url dump-header retry-delay range"),
        "wget" => ("OoPaUtTwQi", "output-document output-file directory-prefix header user password tries timeout post-data"),
        "scp" => ("iPFoclJS", TRANSFER_NAMES),
        "rsync" | "rclone" | "sftp" => ("efT", TRANSFER_NAMES),
        "npm" | "pnpm" | "yarn" | "bun" | "cnpm" => ("CwF", "prefix cwd dir filter workspace registry"),
        "cargo" => ("CZ", "config color manifest-path target-dir"),
        "make" | "gmake" | "just" | "task" | "rake" | "invoke" | "ninja" | "nx" | "turbo" | "lerna" | "grunt"
        | "gulp" => ("CfjIo", "directory file makefile justfile filter target jobs"),
        "docker" | "podman" | "nerdctl" | "docker-compose" | "podman-compose" => ("H", "file project-name host context profile env-file"),
        "kubectl" | "oc" | "helm" => ("n", "namespace context kube-context kubeconfig cluster server"),
        "gh" => ("R", "repo"),
        "gcloud" => ("", "project account configuration"),
        "mvn" | "mvnw" => ("fPsT", "pl rf file projects"),
        "gradle" | "gradlew" => ("pbcgIx", "project-dir build-file exclude-task"),
        "pkill" => ("uUgGPst", ""),
        "killall" => ("suoyn", ""),
        "sh" | "bash" | "zsh" | "dash" | "ksh" | "ash" | "su" => ("coO", "command rcfile init-file"),
        _ => ("", ""),
    };
    Valued { letters, names }
}

const GREP_NAMES: &str = "regexp file max-count include exclude exclude-dir after-context before-context context glob \
          iglob type type-not max-depth color colors replace sort threads encoding";

const TRANSFER_NAMES: &str = "rsh exclude include filter files-from exclude-from bwlimit";

/// The options of a Git command.
#[rustfmt::skip]
pub(crate) fn of_git(command: &str) -> Valued {
    let (letters, names): (&str, &str) = match command {
        "commit" => ("mFCct", "message file author date fixup squash reuse-message trailer"),
        "checkout" | "switch" => ("bBcC", "orphan create conflict"),
        "restore" => ("s", "source"),
        "log" | "show" | "shortlog" => ("nSGL", "max-count since until after before author grep format pretty"),
        "diff" => ("SGU", "diff-filter unified stat"),
        "blame" => ("LSC", "since"),
        "grep" => ("eABCf", "max-depth"),
        "clone" => ("bocu", "branch depth origin config reference filter"),
        "clean" => ("e", "exclude"),
        "rev-list" => ("n", "max-count"),
        "archive" | "format-patch" => ("on", "output format prefix output-directory"),
        "stash" => ("m", "message pathspec-from-file"),
        "merge" | "tag" | "notes" => ("mFsXu", "message strategy"),
        "worktree" => ("bB", "reason"),
        "ls-tree" | "ls-files" => ("xX", "exclude format"),
        "config" => ("f", "file type default"),
        _ => ("", ""),
    };
    Valued { letters, names }
}

/// The role of each argument of a program.
pub(crate) fn roles_of(program: &str, words: &[&str]) -> Vec<Role> {
    if program != "git" {
        return roles(words.iter().copied(), of(program));
    }
    let mut found = roles(words.iter().copied(), GIT);
    if let Some(command) = found.iter().position(|role| *role == Role::Operand) {
        found.truncate(command + 1);
        let rest = &words[command + 1..];
        found.extend(roles(rest.iter().copied(), of_git(words[command])));
    }
    found
}
