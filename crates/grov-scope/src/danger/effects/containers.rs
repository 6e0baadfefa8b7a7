//! Containers, virtual machines and local clusters.

use super::super::EvaluationContext;
use super::kinds::{
    CLUSTER, CLUSTER_CHANGE, COMPOSE_VOLUMES, CONTAINERS, DESTROYS, DOCKER_DATA, HOST_ACCESS, PUBLISHES,
};
use super::{Row, row};
use grov_domain::Program;

/// Arguments that mount the whole machine or lift the limits of a container.
const WHOLE_MACHINE: &str = "--privileged|--pid=host|-v=/:*|--volume=/:*|--mount=*source=/,*|--mount=*src=/,*|-v=/etc:*|-v=/root:*|-v=$HOME:*|-v=${HOME}:*|-v=~:*|-v=~/:*|-v=$HOME/:*|-v=$HOME/.ssh*|-v=~/.ssh*|-v=$HOME/.aws*|-v=~/.aws*|-v=*docker.sock:*|--mount=*source=$HOME,*|--mount=*src=$HOME,*";

#[rustfmt::skip]
pub(super) const DOCKER: &[Row] = &[
    row("system prune|reset", "", &DOCKER_DATA),
    row("volume rm|remove|prune", "", &DOCKER_DATA),
    row("container prune", "", &DOCKER_DATA),
    row("compose down", "-v|--volumes", &COMPOSE_VOLUMES).unless("*.test.*|*-test.*|*.ci.*|*test*.yml|*test*.yaml"),
    row("compose rm", "-v|--volumes", &COMPOSE_VOLUMES),
    row("rm|remove", "-f|--force|-v|--volumes", &CONTAINERS),
    row("container rm|remove", "-f|--force|-v|--volumes", &CONTAINERS),
    row("stop|kill", "*$(*|*`*", &CONTAINERS),
    row("rmi", "*$(*|*`*", &CONTAINERS),
    row("stop|kill|rm|restart|pause|rmi|update", "", &CONTAINERS).only_if(only_looks),
    row("container|image|network|pod|compose stop|kill|rm|remove|prune|pause", "", &CONTAINERS).only_if(only_looks),
    row("image prune", "-a|--all", &DOCKER_DATA),
    row("pod|kube|play rm|stop|kill|down|prune", "-a|--all|-f|--force", &CONTAINERS),
    row("model|scout|sandbox|desktop|context|plugin rm|remove|uninstall|disable|reset", "", &DOCKER_DATA),
    row("swarm|node|service|stack init|join|leave|update|promote|demote|create|deploy|ca", "", &CLUSTER_CHANGE).only_if(only_looks),
    row("stack|service|node|swarm|secret|config rm|remove|leave|down", "", &CLUSTER),
    row("service|stack scale|update|deploy|rollback", "", &CLUSTER_CHANGE),
    row("machine|machine rm|reset", "", &DOCKER_DATA).unless("machine ls|inspect|list"),
    row("push", "", &PUBLISHES),
    row("image|manifest|compose|trust|plugin|buildx push|publish|sign", "", &PUBLISHES),
    row("build|buildx|bake", "--push|--output=*push=true*|-o=*push=true*", &PUBLISHES),
    row("compose build", "--push", &PUBLISHES),
    row("run|create", WHOLE_MACHINE, &HOST_ACCESS).unless("*:ro|*binfmt*|*dind*|*node-exporter*|*cadvisor*|*testcontainers*|*traefik*|*portainer*|*watchtower*|*dive*|*ctop*|*lazydocker*|*trivy*|*grype*|*syft*"),
    row("container run|create", WHOLE_MACHINE, &HOST_ACCESS).unless("*:ro|*binfmt*|*dind*"),
    row("exec", "--privileged", &HOST_ACCESS),
];

#[rustfmt::skip]
pub(super) const COMPOSE: &[Row] = &[
    row("down", "-v|--volumes", &COMPOSE_VOLUMES).unless("*.test.*|*-test.*|*.ci.*|*test*.yml|*test*.yaml"),
    row("rm", "-v|--volumes", &COMPOSE_VOLUMES),
    row("push|publish", "", &PUBLISHES),
    row("build", "--push", &PUBLISHES),
];

/// Programs that copy or delete images in a registry.
#[rustfmt::skip]
pub(super) const IMAGES: &[Row] = &[
    row("push|copy|cp|append|mutate|tag|sync|attach|sign", "", &PUBLISHES).unless("*docker-daemon:*|oci:*|dir:*"),
    row("delete|rm", "", &DESTROYS),
    row("manifest|blob delete|push", "", &DESTROYS),
];

/// Local clusters and virtual machines.
#[rustfmt::skip]
pub(super) const MACHINES: &[Row] = &[
    row("delete|destroy|purge|undefine|rm|remove", "", &DESTROYS),
    row("cluster|clusters|vm|node|box|machine|profile|snapshot delete|destroy|rm|remove", "", &DESTROYS),
    row("unregistervm", "--delete", &DESTROYS),
    row("--unregister", "", &DESTROYS),
    row("", "--unregister", &DESTROYS),
    row("snapshot-delete|snapshot-revert|vol-delete|pool-destroy|rollback", "", &DESTROYS),
];

/// Clients of container runtimes.
#[rustfmt::skip]
pub(super) const RUNTIMES: &[Row] = &[
    row("rm|rmi|rmp|stop|stopp|prune|delete", "-a|--all|-f|--force|--prune|*$(*|*`*", &CONTAINERS),
    row("containers|container|c|images|image|i|tasks|task|t|snapshots|content|leases|namespaces|ns delete|del|rm|remove|kill|prune", "", &CONTAINERS),
    row("push|images push", "", &PUBLISHES),
    row("rm|rmi|rmp|stop|stopp", "", &CONTAINERS).only_if(only_looks),
];

/// Whether only a look was asked for. What a variable names was made by the same line.
fn only_looks(command: &Program, context: &EvaluationContext<'_>) -> bool {
    context.compiled.request.only_looks() && !command.operands().any(|word| word.starts_with('$'))
}
