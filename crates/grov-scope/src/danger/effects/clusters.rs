//! Clusters and infrastructure described by files.

use super::super::EvaluationContext;
use super::kinds::{
    CLOUD, CLUSTER, CLUSTER_CHANGE, CLUSTER_STOP, DESTROYS, KEYS, PODS, PROVISIONS, PUBLISHES, REMOTE_CODE,
};
use super::{Row, row};
use grov_domain::Program;

#[rustfmt::skip]
pub(super) const KUBECTL: &[Row] = &[
    row("delete pod|pods|po|pod/*|pods/*|po/*", "", &PODS).only_if(is_shared).unless("--all"),
    row("delete pod|pods|po|pod/*|pods/*|po/*", "--all", &CLUSTER).only_if(is_shared),
    row("delete", "", &CLUSTER).only_if(is_shared).unless("pod|pods|po|pod/*|pods/*|po/*"),
    row("scale", "--replicas=0", &CLUSTER_STOP).only_if(is_shared),
    row("drain|cordon|taint", "", &CLUSTER_STOP).only_if(is_shared),
    row("adm drain|cordon|taint", "", &CLUSTER_STOP).only_if(is_shared),
    row("scale|autoscale|patch|edit|replace|apply|create|annotate|label|set|expose|run|autoscale", "", &CLUSTER_CHANGE).only_if(is_shared)
        .unless("--restart=Never|--rm|-o=yaml"),
    row("rollout restart|undo|pause|resume", "", &CLUSTER_CHANGE).only_if(is_shared),
    row("config delete-context|delete-cluster|delete-user|unset", "", &CLUSTER),
    row("certificate approve|deny", "", &CLUSTER_CHANGE),
];

#[rustfmt::skip]
pub(super) const HELM: &[Row] = &[
    row("uninstall|delete|del|un", "", &CLUSTER).only_if(is_shared),
    row("upgrade|install|rollback", "", &CLUSTER_CHANGE).only_if(is_shared),
    row("push|cm-push", "", &PUBLISHES),
    row("s3 push", "", &PUBLISHES),
    row("destroy", "", &CLUSTER).only_if(is_shared),
    row("apply|sync", "", &CLUSTER_CHANGE).only_if(is_shared),
];

/// Programs that deploy to clusters, or administer them.
#[rustfmt::skip]
pub(super) const CLUSTER_TOOLS: &[Row] = &[
    row("app|proj|cluster|repo|appset|account delete|rm|delete-resource|terminate-op", "", &CLUSTER),
    row("app sync|rollback|set|patch|create", "", &CLUSTER_CHANGE),
    row("delete|uninstall|down|destroy|reset|purge|teardown|remove", "", &CLUSTER),
    row("** delete|uninstall|destroy", "", &CLUSTER),
    row("suspend|resume|reconcile|bootstrap", "", &CLUSTER_CHANGE),
    row("deploy|run|apply|rollout|promote", "", &CLUSTER_CHANGE),
    row("job stop|purge|dispatch|run", "", &CLUSTER_STOP),
    row("system gc|reconcile", "", &CLUSTER_CHANGE),
    row("node drain|eligibility", "", &CLUSTER_STOP),
    row("restore create", "", &CLUSTER_CHANGE),
];

/// Stores of secrets and of settings.
#[rustfmt::skip]
pub(super) const VAULT: &[Row] = &[
    row("kv delete|destroy|del", "", &KEYS),
    row("kv metadata delete", "", &KEYS),
    row("delete|del", "", &KEYS),
    row("secrets|auth|audit disable", "", &KEYS),
    row("operator seal|rekey|rotate|step-down", "", &KEYS),
    row("lease|token revoke", "", &KEYS),
    row("policy|namespace|acl delete", "", &KEYS),
    row("kv put|patch|import", "", &CLUSTER_CHANGE),
    row("write|put", "", &CLUSTER_CHANGE),
];

#[rustfmt::skip]
pub(super) const TERRAFORM: &[Row] = &[
    row("destroy", "", &DESTROYS),
    row("apply", "-destroy", &DESTROYS),
    row("run-all|all destroy", "", &DESTROYS),
    row("state rm|push|replace-provider", "", &DESTROYS),
    row("workspace delete", "", &DESTROYS),
    row("force-unlock|taint|untaint", "", &PROVISIONS),
    row("apply|up|apply-all", "", &PROVISIONS),
    row("run-all|all apply", "", &PROVISIONS),
    row("stack rm", "", &DESTROYS),
    row("state delete", "", &DESTROYS),
    row("update|cancel|import", "", &PROVISIONS),
];

/// Programs that deploy an application described by files, or remove it.
#[rustfmt::skip]
pub(super) const STACKS: &[Row] = &[
    row("deploy|bootstrap|redeploy|publish", "", &PUBLISHES).unless("--noDeploy|--build-only"),
    row("destroy|remove|delete|undeploy|terminate|teardown", "", &DESTROYS),
    row("app|env|svc|job|service|stack|accessory delete|remove", "", &DESTROYS),
    row("push|update|promote", "", &PUBLISHES),
    row("setup|rollback|reboot", "", &PROVISIONS),
];

#[rustfmt::skip]
pub(super) const PLAYBOOK: &[Row] = &[
    row("*", "", &PROVISIONS).unless("--check|-C|--syntax-check|--list-hosts|--list-tasks|--list-tags|--connection=local|-c=local|localhost,|-i=localhost,"),
];

/// Single commands on many machines.
#[rustfmt::skip]
pub(super) const FLEET: &[Row] = &[
    row("*", "-m=reboot|-m=shell|-m=file|-m=service|-m=systemd|-m=apt|-m=yum|-m=dnf|-m=user|-m=copy|-m=command -a=*rm*|-a=*state=*|-a=*stop*|-a=*restart*|-a=*reboot*|-a=*drop*|-a=*kill*|-a=*disable*", &PROVISIONS),
    row("* cmd.run|cmd.shell *rm*|*stop*|*reboot*|*kill*", "", &PROVISIONS),
    row("* state.apply|state.highstate|system.reboot|service.stop", "", &PROVISIONS),
];

/// Clusters of a cloud, made by their own programs.
#[rustfmt::skip]
pub(super) const CLUSTER_MAKERS: &[Row] = &[
    row("delete *", "", &CLOUD),
    row("delete|reset|destroy", "", &CLOUD),
    row("create|upgrade|scale|update|apply *", "", &PROVISIONS),
    row("rolling-update", "", &PROVISIONS),
];

/// Interpreters that load their program from an address.
pub(super) const DENO: &[Row] = &[
    row("run|install|eval|x", "http://*|https://*", &REMOTE_CODE)
        .unless("https://deno.land/*|https://jsr.io/*"),
    row("publish", "", &PUBLISHES),
    row("deploy", "", &PUBLISHES),
];

/// Whether a cluster may be used by others.
fn is_shared(command: &Program, _: &EvaluationContext<'_>) -> bool {
    const LOCAL: &[&str] = &[
        "kind",
        "minikube",
        "docker-desktop",
        "k3d",
        "microk8s",
        "colima",
        "orbstack",
        "rancher-desktop",
        "local",
        "dev",
    ];
    let mut names = command.arguments.iter().enumerate().filter_map(|(at, argument)| {
        let (name, value) = argument.split_once('=').unwrap_or((argument, ""));
        let selects = matches!(name, "--context" | "--kube-context" | "--cluster");
        match (selects, value) {
            (false, _) => None,
            (true, "") => command.arguments.get(at + 1).map(|value| value.as_str()),
            (true, value) => Some(value),
        }
    });
    !names.any(|name| {
        LOCAL
            .iter()
            .any(|local| name == *local || name.strip_prefix(local).is_some_and(|rest| rest.starts_with('-')))
    })
}
