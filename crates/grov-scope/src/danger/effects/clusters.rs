//! Clusters and infrastructure described by files.

use super::super::EvaluationContext;
use super::kinds::{
    CLOUD, CLUSTER, CLUSTER_CHANGE, CLUSTER_STOP, DESTROYS, KEYS, PODS, PROVISIONS, PUBLISHES, REMOTE_CODE,
    ROLLS_BACK,
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
    row("scale|autoscale|patch|edit|replace|apply|create|label|set|expose|run|autoscale", "", &CLUSTER_CHANGE).only_if(is_shared)
        .unless("--restart=Never|--rm|-o=yaml"),
    row("rollout undo", "", &ROLLS_BACK).only_if(is_shared),
    row("rollout restart|pause|resume", "", &CLUSTER_CHANGE).only_if(is_shared),
    row("config delete-context|delete-cluster|delete-user|unset", "", &CLUSTER),
    row("certificate approve|deny", "", &CLUSTER_CHANGE),
    row("argo|cnpg|minio|directpv|hns|rollouts|cert-manager|testkube|linstor ** delete|destroy|promote|abort|undo|retry|purge|restart|renew|set|hibernate", "", &CLUSTER_CHANGE).only_if(is_shared),
    row("replace|apply|delete", "--raw|--prune", &CLUSTER).only_if(is_shared),
    row("cp", "", &CLUSTER_CHANGE).only_if(copies_into_pod),
    row("adm|policy|auth|project|new-project|new-app|process|start-build|import-image|tag|expose|idle|rollback|cancel-build|delete-project add-*|remove-*|policy|reconcile|certificate|groups|prune|upgrade|release|*", "", &CLUSTER_CHANGE).only_if(is_openshift).unless("can-i|whoami|must-gather|top|list|get"),
    row("debug node/*|nodes/*", "", &CLUSTER_CHANGE),
];

#[rustfmt::skip]
pub(super) const HELM: &[Row] = &[
    row("uninstall|delete|del|un", "", &CLUSTER).only_if(is_shared),
    row("rollback", "", &ROLLS_BACK).only_if(is_shared),
    row("upgrade|install", "", &CLUSTER_CHANGE).only_if(is_shared),
    row("push|cm-push", "", &PUBLISHES),
    row("s3 push", "", &PUBLISHES),
    row("destroy", "", &CLUSTER).only_if(is_shared),
    row("apply|sync|charts", "", &CLUSTER_CHANGE).only_if(is_shared),
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
    row("restore|schedule|backup create|pause|unpause|delete", "", &CLUSTER_CHANGE).only_if(is_sent),
    row("** delete-*|terminate|stop|cancel|abort|purge|prune|remove|rm|force-delete|deregister|detach|reset|drain|revoke|remove-peer|force-leave", "", &CLUSTER),
    row("** create|update|set|retry|resubmit|submit|restart|promote|upgrade|install|patch|rotate|scale|sync|rollback|resume|suspend|add|fail|apply|edit|terminate-op|unlock|move|import", "", &CLUSTER_CHANGE).only_if(is_sent).unless("list|get|status|context|config|login"),
    row("upgrade|install|rollback|submit|retry|scale|patch|restart|promote|fail|upload|sync|create|update|edit", "", &CLUSTER_CHANGE).only_if(is_sent),
];

/// Programs that run what is being developed in a cluster.
#[rustfmt::skip]
pub(super) const DEV_TOOLS: &[Row] = &[
    row("delete|destroy|purge|uninstall|run|deploy|apply|converge|dismiss|cleanup", "--profile=*prod*|-p=*prod*|--env=*prod*|--context=*prod*|--namespace=*prod*|-n=*prod*", &CLUSTER),
    row("delete|destroy|deploy|apply|converge|dismiss|cleanup", "", &CLUSTER_CHANGE).only_if(only_looks),
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
    row("force-leave|leave|compact|defrag|maint|reload|deregister", "", &KEYS),
    row("member|user|role|auth|alarm|lease|acl|intention|snapshot|services|config|peering|partition|key|keys|binding-rule|auth-method|token|exported|transit|pki|identity|namespace|plugin|monitor ** remove|delete|disable|disarm|revoke|revoke-*|restore|deregister|destroy|reset|rotate|purge|unset", "", &KEYS),
    row("member|user|role|acl|auth|intention|config|policy|operator|secrets|audit|token|ssh|transform|pki ** add|create|enable|write|update|grant-*|grant-permission|bootstrap|init|unseal|import|move|tune|set-configuration|raft|generate-root|remove-peer|passwd", "", &CLUSTER_CHANGE).unless("-status|list"),
    row("secrets|configs|environments|projects ** set|upload|delete|rotate|update|create", "", &CLUSTER_CHANGE),
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
    row("update|cancel|import|refresh|watch", "", &PROVISIONS),
    row("init", "-force-copy|-migrate-state", &DESTROYS),
    row("** state rm|push|delete|unprotect|mv|edit|repair", "", &DESTROYS),
    row("run-all|all|stack run|run-all destroy|apply|up|down", "", &PROVISIONS),
    row("run|run-all", "destroy", &DESTROYS),
    row("run", "apply", &PROVISIONS).unless("plan"),
    row("down|rm|remove", "", &DESTROYS),
    row("config|env|org|policy rm|rm-all|set-all|unset|remove|enable|disable|publish", "", &PROVISIONS),
];

/// Programs that deploy an application described by files, or remove it.
#[rustfmt::skip]
pub(super) const STACKS: &[Row] = &[
    row("deploy|bootstrap|redeploy|publish", "", &PUBLISHES).unless("--noDeploy|--build-only"),
    row("destroy|remove|delete|undeploy|terminate|teardown", "", &DESTROYS),
    row("app|env|svc|job|service|stack|accessory delete|remove", "", &DESTROYS),
    row("push|update|promote", "", &PUBLISHES),
    row("setup|rollback|reboot|sync|scale|restore|abort|swap|setenv|restart|migrate|import|gc|invoke|promote|unlock", "", &PROVISIONS).unless("local"),
    row("** delete|remove|destroy|terminate|rollback|stop|undeploy|reboot|restart|deploy|redeploy|rm", "", &PROVISIONS).unless("list|logs|local|status|diff|synth|dev"),
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
    row("* state.apply|state.highstate|state.sls|system.reboot|service.*|pkg.*|file.*|user.*|cron.*|ps.*|saltutil.kill*", "", &PROVISIONS).unless("test=true|service.status|service.get_all|pkg.list_*|pkg.version|file.read|file.stats|*True"),
    row("*", "*rm?-*|*reboot*|*shutdown*|*mkfs*|*systemctl?stop*|*systemctl?disable*|*pkill*|*userdel*|*truncate*|*dropdb*|*state=absent*|*state=stopped*", &PROVISIONS),
];

/// Masters that configure many machines.
#[rustfmt::skip]
pub(super) const CONFIGURATION: &[Row] = &[
    row("** delete|purge|clean|deactivate|destroy|remove|bulk", "", &CLOUD),
    row("", "-D|-d|--delete|--delete-all|-A|-a|--accept-all", &PROVISIONS).only_if(is_salt_key),
    row("apply|agent|run|task|plan|command|script|ssh|exec|bootstrap|upload|winrm|orchestrate|state *", "", &PROVISIONS).unless("--noop|show|list|validate|-W|--why-run|lookup|test"),
    row("agent|apply", "", &PROVISIONS).unless("--noop"),
    row("resource", "ensure=absent|ensure=stopped|ensure=present", &PROVISIONS),
    row("node|role|cookbook|environment|client|data|vault|job|group ** delete|create|edit|upload|from|set|start", "", &PROVISIONS),
];

/// Builders of machine images.
#[rustfmt::skip]
pub(super) const PACKER: &[Row] = &[row("build", "-force|-on-error=*|-var=*prod*|-var-file=*prod*", &PROVISIONS)];

/// Batch systems with the jobs of many users.
#[rustfmt::skip]
pub(super) const BATCH: &[Row] = &[
    row("", "", &CLUSTER_STOP).unless("-h|--version"),
];
#[rustfmt::skip]
pub(super) const BATCH_CONTROL: &[Row] = &[row("update|delete|create|requeue|suspend|hold|resume|cancel|add|modify|remove|reconfigure|shutdown|down", "", &CLUSTER_STOP)];

/// Clusters of a cloud, made by their own programs.
#[rustfmt::skip]
pub(super) const CLUSTER_MAKERS: &[Row] = &[
    row("delete *", "", &CLOUD),
    row("delete|reset|destroy", "", &CLOUD),
    row("create|upgrade|scale|update|apply *", "", &PROVISIONS),
    row("rolling-update", "", &PROVISIONS),
    row("** delete|reset|destroy|remove|wipe|reboot|shutdown|remove-member|leave|uninstall|rollback|force-*|evict|kill|drain|stop|cordon", "", &CLOUD).unless("list|get|token"),
    row("** upgrade|apply|apply-config|bootstrap|join|init|create|update|edit|patch|scale|set|deploy|certs|renew|move|import|replace|rotate-*|stop|restart|up|install", "", &PROVISIONS).unless("list|get|--print-join-command|validate|gen|config|plan|preflight|kubeconfig"),
    row("", "", &CLOUD).only_if(uninstalls),
];

/// Interpreters that load their program from an address.
pub(super) const DENO: &[Row] = &[
    row("run|install|eval|x", "http://*|https://*", &REMOTE_CODE)
        .unless("https://deno.land/*|https://jsr.io/*"),
    row("publish", "", &PUBLISHES),
    row("deploy", "", &PUBLISHES),
];

fn only_looks(_: &Program, context: &EvaluationContext<'_>) -> bool {
    context.compiled.request.only_looks()
}

/// Whether a file goes into a container, not out of it.
fn copies_into_pod(command: &Program, context: &EvaluationContext<'_>) -> bool {
    is_shared(command, context)
        && command
            .operands()
            .last()
            .is_some_and(|target| target.contains(':'))
}

fn is_openshift(command: &Program, context: &EvaluationContext<'_>) -> bool {
    command.name() == "oc" && is_shared(command, context)
}

fn is_salt_key(command: &Program, _: &EvaluationContext<'_>) -> bool {
    command.name() == "salt-key"
}

/// `k3s-uninstall.sh`
fn uninstalls(command: &Program, _: &EvaluationContext<'_>) -> bool {
    command.name().contains("uninstall") || command.name().contains("killall")
}

/// Whether a cluster may be used by others.
fn is_shared(command: &Program, context: &EvaluationContext<'_>) -> bool {
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
    // The session or the request is about a cluster on this machine.
    let makes_one = |name: &&str| {
        let is_made = context.history.has_run(name)
            && (context.history.has_run("create") || context.history.has_run("start"));
        // "kind" is also an ordinary word.
        is_made || *name != "kind" && context.compiled.request.names(name)
    };
    let mut names = command.arguments.iter().enumerate().filter_map(|(at, argument)| {
        let (name, value) = argument.split_once('=').unwrap_or((argument, ""));
        let selects = matches!(name, "--context" | "--kube-context" | "--cluster");
        match (selects, value) {
            (false, _) => None,
            (true, "") => command.arguments.get(at + 1).map(|value| value.as_str()),
            (true, value) => Some(value),
        }
    });
    let is_local = |name: &str| {
        LOCAL
            .iter()
            .any(|local| name == *local || name.strip_prefix(local).is_some_and(|rest| rest.starts_with('-')))
    };
    // A cluster that the command selects counts more than the words of the request.
    match names.next() {
        Some(first) => !is_local(first) && !names.any(is_local),
        None => !["kind", "minikube", "k3d"].iter().any(makes_one),
    }
}

/// Whether an object is sent to the cluster: with `-o yaml`, `velero create` only prints it.
fn is_sent(command: &Program, _: &EvaluationContext<'_>) -> bool {
    let prints = command
        .words()
        .any(|word| word == "-o" || word.starts_with("--output") || word == "-oyaml" || word == "-ojson");
    !(prints && command.name() == "velero" && command.has_word(&["create"]))
}
