//! Programs without rows of their own, by the conventions of command lines: `NOUN delete`, `deploy`, `reset --yes`.

use super::super::EvaluationContext;
use super::kinds::{HOSTED_CHANGE, PUBLISHES, REMOVES_SOMETHING};
use super::{Row, row};
use grov_domain::Program;

/// Options with which a program asks no more.
const UNASKED: &str = "--yes|-y|--force|--all|--no-confirm|--confirm|--auto-approve|--approve|--no-prompt|--non-interactive|--noinput|--no-input\
    |--skip-confirmation|--assume-yes|--yes-i-really-mean-it|--prod|--production|--env=prod*|--stage=prod*|--environment=prod*|-e=prod*|--force-*|--quiet|--remote";

#[rustfmt::skip]
pub(super) const ROWS: &[Row] = &[
    row("++ delete|destroy|terminate|purge|drop|wipe|nuke|obliterate|erase|deregister|decommission|teardown|tear-down|undeploy|uninstall-all|remove-all|delete-*|destroy-*|drop-*|purge-*|wipe-*|terminate-*|*-delete|*-destroy|*-drop|*-purge|*-terminate|*:delete|*:destroy|*:drop|*:purge|*:wipe|*:delete-*|delete:*|destroy:*|drop:*|delete_*|drop_*|purge_*|destroy_*|*_delete|factory-reset|hard-reset|force-delete", "", &REMOVES_SOMETHING)
        .only_if(is_tool).unless("--local"),
    row("++ rm|remove|uninstall|reset|clear|flush|prune|clean|cleanup|revoke|rollback|restore|cancel|kill|stop|disable|evict|truncate|unset|detach|forget|expire|revert|undo|stopall|abort|*:reset|*:clear|*:rollback|*:clean|*:flush|*:prune|*:restore|*-remove|remove-*|clear-*|reset-*|rm-*|kill-*|*-reset", UNASKED, &REMOVES_SOMETHING)
        .only_if(is_tool).unless("--local"),
    row("", "--delete|--delete-all|--delete-*|--purge|--purge-*|--drop|--drop-*|--wipe|--wipe-*|--destroy|--destroy-*|--erase|--erase-*|--factory-reset|--hard-reset|--nuke|--obliterate|--truncate|--flushall", &REMOVES_SOMETHING)
        .only_if(is_tool).unless("--local"),
    row("++ deploy|redeploy|publish|promote|deploy:*|*:deploy|publish:*|*:publish|deploy-*|publish-*|go-live|unpublish|broadcast", "", &PUBLISHES)
        .only_if(is_tool).unless("--local|--no-publish|local|-n|--skip-publish"),
    row("++ migrate|upgrade|apply|sync|push|up|scale|restart|update|set|import|run|execute|start|enable|create|grant|merge|approve|send|submit", "--prod|--production|--env=prod*|--stage=prod*|--environment=prod*|-e=prod*|--profile=prod*|--context=prod*|--target=prod*", &HOSTED_CHANGE)
        .only_if(is_tool),
];

/// Programs whose operands are texts, files or targets, not subcommands. Sorted.
#[rustfmt::skip]
const TAKES_TEXT: &[&str] = &[
    ".", "[", "[[", "ack", "ag", "alias", "apropos", "ava", "awk", "bash", "bat", "bats", "bazel", "behave", "cat", "cd", "chmod", "chown", "code",
    "command", "cowsay", "cp", "cross-env", "curl", "cut", "cypress", "dash", "declare", "dialog", "diff", "doas", "echo", "egrep", "emacs", "env",
    "eslint", "eval", "exec", "export", "expr", "false", "fd", "fgrep", "figlet", "file", "find", "fish", "for", "function", "fzf", "gawk",
    "git-commit", "go", "grep", "grunt", "gulp", "gum", "hash", "head", "http", "https", "invoke", "jest", "jq", "just", "karma", "kill", "less",
    "ln", "local", "locate", "logger", "ls", "mage", "make", "man", "mawk", "mkdir", "mocha", "more", "mv", "nano", "nice", "ninja", "node", "nohup",
    "notify-send", "nox", "nvim", "parallel", "perl", "phpunit", "playwright", "printf", "pushd", "pytest", "python", "read", "readonly",
    "return", "rg", "rm", "rmdir", "rspec", "rsync", "ruby", "say", "screen", "sed", "set", "sh", "shellcheck", "shift", "sleep", "sort", "source",
    "ssh", "stat", "su", "sudo", "tail", "task", "tee", "test", "time", "timeout", "tldr", "tmux", "touch", "tox", "tput", "tr", "trap", "tree",
    "true", "turbo", "type", "typeset", "uniq", "unset", "vi", "vim", "vitest", "wait", "watch", "wc", "wget", "whatis", "which", "whiptail", "xargs",
    "xcodebuild", "yq", "zsh",
];

/// Whether a program may have subcommands: no program of the project, which scripts and tests run to try it.
fn is_tool(command: &Program, context: &EvaluationContext<'_>) -> bool {
    let name = command.name();
    let is_path = command.word.contains('/') && !command.word.starts_with(['/', '~']);
    let is_name = name
        .bytes()
        .all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.'));
    // A request about the program is about work on it: "add a delete command to todo".
    let is_work = context.compiled.request.is_about(&[name])
        && context
            .compiled
            .request
            .is_about(&["command", "cli", "subcommand", "binary"]);
    name != "grov" && is_name && !is_path && !is_work && TAKES_TEXT.binary_search(&name).is_err()
}

#[cfg(test)]
mod tests {
    use super::TAKES_TEXT;

    #[test]
    fn the_table_is_sorted() {
        assert!(TAKES_TEXT.is_sorted_by(|one, other| one < other));
    }
}
