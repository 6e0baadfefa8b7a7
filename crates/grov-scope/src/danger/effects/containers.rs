//! Containers, virtual machines and local clusters.

use super::kinds::{
    CLUSTER, CLUSTER_CHANGE, COMPOSE_VOLUMES, CONTAINERS, DESTROYS, DOCKER_DATA, HOST_ACCESS, PUBLISHES,
};
use super::{Row, row};

/// Arguments that mount the whole machine or lift the limits of a container.
const WHOLE_MACHINE: &str =
    "--privileged|--pid=host|-v=/:*|--volume=/:*|--mount=*source=/,*|--mount=*src=/,*|-v=/etc:*|-v=/root:*";

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
    row("stack|service|node|swarm|secret|config rm|remove|leave|down", "", &CLUSTER),
    row("service|stack scale|update|deploy|rollback", "", &CLUSTER_CHANGE),
    row("machine|machine rm|reset", "", &DOCKER_DATA).unless("machine ls|inspect|list"),
    row("push", "", &PUBLISHES),
    row("image|manifest|compose|trust|plugin|buildx push|publish|sign", "", &PUBLISHES),
    row("build|buildx|bake", "--push|--output=*push=true*|-o=*push=true*", &PUBLISHES),
    row("compose build", "--push", &PUBLISHES),
    row("run|create", WHOLE_MACHINE, &HOST_ACCESS).unless("*:ro|*binfmt*|*dind*|*node-exporter*|*cadvisor*"),
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
