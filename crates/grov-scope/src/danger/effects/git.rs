//! Git, and the programs of the services that host repositories.

use super::super::EvaluationContext;
use super::kinds::{
    ALL_BRANCHES, BRANCH, BYPASSES, CLEANS, ELSEWHERE, FORCE, GISTS, HARD_RESET, HISTORY, HOOKS, HOSTED,
    HOSTED_CHANGE, KEYS, LEASED, MERGES, MIRRORS, PUBLISHES, RECOVERY, REFERENCE, REMOTE_BRANCH, SHARES,
    STARTS_WORKFLOW, STASH, TRACKED, WORKTREE,
};
use super::{Row, row};
use crate::constraints::pushes_by_force;
use crate::file_kind::is_temporary;
use crate::normalized_path::NormalizedPath;
use grov_domain::{Argument, Program};

#[rustfmt::skip]
pub(super) const GIT: &[Row] = &[
    row("push", "--mirror|--prune", &MIRRORS).unless("-n"),
    row("push", "", &FORCE).only_if(is_forced).unless("-n"),
    row("push", "", &LEASED).only_if(is_leased).unless("-n"),
    row("push", "--delete|-d|:*", &REMOTE_BRANCH).unless("-n"),
    row("push", "--all|--branches", &ALL_BRANCHES).unless("-n"),
    row("push heroku|dokku|production|prod|live|piku", "", &PUBLISHES),
    row("push *://*|git@*", "", &ELSEWHERE).unless("-n"),
    row("push|merge|rebase|cherry-pick|am|pull", "--no-verify", &HOOKS),
    row("commit", "--no-verify", &HOOKS),
    row("commit", "", &HOOKS).only_if(commits_unverified),
    row("commit|push|merge|rebase", "env:HUSKY=0|env:HUSKY_SKIP_HOOKS=*|env:LEFTHOOK=0|env:LEFTHOOK=false|env:SKIP=*|env:PRE_COMMIT_ALLOW_NO_CONFIG=*|core.hooksPath=*", &HOOKS),
    row("config", "core.hooksPath /dev/null|/tmp/*|''", &HOOKS),
    row("reset", "--hard", &HARD_RESET).only_if(loses_changes),
    row("clean", "-f|--force", &CLEANS).unless("-n"),
    row("branch", "-D", &BRANCH),
    row("branch", "--delete|-d --force|-f", &BRANCH),
    row("stash clear", "", &STASH),
    row("stash drop", "", &STASH).only_if(drops_unapplied),
    row("filter-branch|filter-repo", "", &HISTORY).unless("-h|--analyze"),
    row("lfs migrate import|export", "", &HISTORY),
    row("rebase", "--root", &HISTORY),
    row("reflog expire|delete", "", &RECOVERY).unless("-n"),
    row("gc", "--prune=now|--prune=all", &RECOVERY),
    row("prune", "", &RECOVERY).unless("-n"),
    row("update-ref", "-d|--delete", &REFERENCE),
    row("worktree remove", "-f|--force", &WORKTREE).only_if(removes_worktree_of_user),
    row("rm", "-r", &TRACKED).unless("--cached|-n"),
    row("submodule deinit", "-f|--force", &TRACKED),
];

#[rustfmt::skip]
pub(super) const GITHUB: &[Row] = &[
    row("pr merge", "--admin", &BYPASSES),
    row("pr merge", "", &MERGES).unless("--disable-auto"),
    row("release delete|delete-asset", "", &HOSTED),
    row("release create|upload", "", &PUBLISHES),
    row("repo|secret|variable|gist|issue|label|project|codespace|ssh-key|gpg-key|cache|run|ruleset|deploy-key delete|remove", "", &HOSTED),
    row("repo deploy-key delete", "", &HOSTED),
    row("repo archive|rename", "", &HOSTED),
    row("repo edit", "--visibility", &SHARES),
    row("repo create", "--public --source|--push", &SHARES),
    row("pr|issue close", "", &HOSTED),
    row("secret|variable set", "", &HOSTED_CHANGE),
    row("ssh-key|gpg-key add", "", &HOSTED_CHANGE),
    row("workflow run", "", &STARTS_WORKFLOW),
    row("workflow disable|enable", "", &HOSTED_CHANGE),
    row("run cancel", "", &HOSTED_CHANGE),
    row("pr review", "--approve|-a", &HOSTED_CHANGE),
    row("gist create", "", &GISTS),
    row("auth logout", "", &KEYS),
    row("api", "-X=DELETE|--method=DELETE", &HOSTED),
    row("api", "-X=PUT|--method=PUT|-X=PATCH|--method=PATCH|-X=POST|--method=POST", &HOSTED_CHANGE),
];

#[rustfmt::skip]
pub(super) const GITLAB: &[Row] = &[
    row("mr merge|accept", "", &MERGES),
    row("repo|project|release|variable|issue|mr|label|ssh-key|snippet|schedule|ci delete|archive", "", &HOSTED),
    row("release create|upload", "", &PUBLISHES),
    row("mr|issue close", "", &HOSTED),
    row("variable set|update", "", &HOSTED_CHANGE),
    row("ci|pipeline run|trigger|retry|cancel", "", &STARTS_WORKFLOW),
    row("snippet create", "", &SHARES),
    row("api", "-X=DELETE|--method=DELETE", &HOSTED),
    row("api", "-X=PUT|--method=PUT|-X=PATCH|--method=PATCH|-X=POST|--method=POST", &HOSTED_CHANGE),
];

#[rustfmt::skip]
pub(super) const OTHER_SYSTEMS: &[Row] = &[
    row("strip|rollback|purge", "", &HISTORY),
    row("update|up|revert", "--clean|-C|--all", &HARD_RESET),
    row("abandon|restore", "", &HARD_RESET),
    row("op restore|abandon", "", &RECOVERY),
];

/// The options that the BFG, a rewriter of history, needs.
pub(super) const REWRITERS: &[Row] = &[row("", "--delete-*|--strip-*|--replace-text|-b|-D", &HISTORY)];

/// Hook managers, removed from the repository.
#[rustfmt::skip]
pub(super) const HOOK_MANAGERS: &[Row] = &[row("uninstall", "", &HOOKS)];

fn leases(command: &Program) -> bool {
    command
        .arguments
        .iter()
        .any(|word| word.starts_with("--force-with-lease") || word == "--force-if-includes")
}

fn is_forced(command: &Program, _: &EvaluationContext<'_>) -> bool {
    pushes_by_force(command) && !leases(command)
}

/// Rewritten commits can only be pushed by force; the lease protects what others pushed.
fn is_leased(command: &Program, context: &EvaluationContext<'_>) -> bool {
    pushes_by_force(command) && leases(command) && !context.has_rewritten()
}

/// `git commit -n`: the letter of an option, not of a message attached to `-m`.
fn commits_unverified(command: &Program, _: &EvaluationContext<'_>) -> bool {
    command.git().1.iter().any(|word| {
        let own = word.strip_prefix('-').filter(|letters| !letters.starts_with('-'));
        let own = own.and_then(|letters| letters.split(['m', 'F', 'C', 'c', 't', 'u', 'S']).next());
        word.role == grov_domain::Role::Option && own.is_some_and(|letters| letters.contains('n'))
    })
}

fn loses_changes(command: &Program, context: &EvaluationContext<'_>) -> bool {
    // "Update my branch" requests the state of the remote branch.
    let is_upstream = |word: &Argument| word.contains('/') || word.contains("@{") || word == "FETCH_HEAD";
    let request = &context.compiled.request;
    let updates = command.git().1.iter().any(is_upstream)
        && request.mentions_any(&[
            "updat", "latest", "upstream", "fetch", "actualiz", "align", "match",
        ]);
    !updates && !context.saves_changes
}

/// Whether a worktree is removed that the agent did not add and that is not among temporary files.
fn removes_worktree_of_user(command: &Program, context: &EvaluationContext<'_>) -> bool {
    let is_own = |name: &str| context.has_run("worktree") && context.has_run("add") && context.has_run(name);
    let is_throwaway = |path: &str| {
        let place = context.directory.path(path);
        let place = place.map(|path| NormalizedPath::new(context.root, &path));
        place.is_none_or(|place| is_temporary(&place) || is_own(place.name()))
    };
    // Without a path, `xargs` names the worktrees.
    let mut paths = command.operands().skip(2).peekable();
    paths.peek().is_none() || !paths.all(is_throwaway)
}

/// `apply` and `drop` together are a `pop`.
fn drops_unapplied(_: &Program, context: &EvaluationContext<'_>) -> bool {
    !context.applies_stash && !context.has_run("apply")
}
