//! What a request does not ask for although it has the verb of a command: applying what is only to be edited, and pushing to an
//! address that it does not name.

use super::{Effect, Scope, kinds, matching, names_operand};
use crate::contract::RequestWords;
use grov_domain::Program;

/// Words for descriptions of infrastructure, which are files: "change the instance type in terraform".
#[rustfmt::skip]
const SOURCES: &[&str] = &[
    "terraform", "tofu", "terragrunt", "pulumi", "ansible", "playbook", "helm", "chart", "kustomiz", "manifest", "cloudformation", "cdk", "bicep", "serverless", "yaml", "yml", "hcl", "tf.", "tfvars", "module", "modul", "role.", "rolle", "template", "k8s",
];

/// Words that apply such a description.
#[rustfmt::skip]
const APPLYING: &[&str] = &[
    "appl", "deploy", "redeploy", "provision", "roll.", "rollout", "launch", "spin", "run.", "rerun", "execut", "restart", "scal", "install", "upgrad", "releas", "ship", "start", "restor", "import", "rotat", "unlock", "sync", "recreat", "rebuild",
    "anwend", "wende", "ausroll", "fuhr", "starte", "aplic", "appliqu", "execut", "ejecut", "lance", "esegui", "ruleaz", "uruchom", "zastosuj", "toepas", "uitvoer", "draai", "voer", "примен", "накат", "запус", "uygula", "应用", "执行", "运行", "部署", "適用", "実行", "反映",
];

/// Subcommands that only show what would change.
const SHOWING: &[&str] = &[
    "plan.", "preview", "diff.", "validat", "fmt.", "synth", "lint", "what-if",
];

/// Words of an order that applies, whatever else is only shown.
const DEFINITE: &[&str] = &[
    "appl",
    "deploy",
    "provision",
    "rollout",
    "ship",
    "aplic",
    "anwend",
    "appliqu",
    "uygula",
    "应用",
    "適用",
    "примен",
];

/// Words for images and their registries.
#[rustfmt::skip]
const IMAGES: &[&str] = &[
    "image", "imagen", "immagin", "imagem", "imagin", "obraz", "docker", "container", "registr", "ghcr", "ecr.", "dockerhub", "hub.", "chart", "helm", "artifact", "afbeelding", "镜像", "イメージ", "образ", "imaj", "kontejner",
];

/// Words for where commits are pushed.
const BRANCHES: &[&str] = &[
    "main.",
    "master.",
    "develop.",
    "branch",
    "origin",
    "remote",
    "github",
    "gitlab",
    "commit",
    "pr.",
    "zweig",
    "rama.",
    "分支",
    "ブランチ",
    "ветк",
];

/// Whether an effect applies what files describe.
pub(super) fn is_for_applying(effect: &Effect) -> bool {
    [
        kinds::PROVISIONS,
        kinds::CLUSTER_CHANGE,
        kinds::CLOUD_CHANGE,
        kinds::PUBLISHES,
    ]
    .iter()
    .any(|applying| applying.says == effect.says)
}

/// Whether a request edits the description of infrastructure, or only wants to see what it would change.
pub(super) fn only_edits_source(request: &RequestWords) -> bool {
    let shows = request.is_about(SHOWING) && !request.orders_any(DEFINITE);
    request.is_about(SOURCES) && (shows || !request.orders_any(APPLYING))
}

/// Whether a command pushes to an address that the request does not name, or an image where the request is about commits.
pub(super) fn goes_elsewhere(
    effect: &Effect,
    command: &Program,
    found: &matching::Match<'_>,
    request: &RequestWords,
) -> bool {
    if effect.says == kinds::ELSEWHERE.says {
        let mut addresses = command
            .operands()
            .filter(|word| word.contains("://") || word.contains('@'));
        return addresses.any(|address| !names_address(address, request));
    }
    let pushes_images = matches!(
        command.name(),
        "docker" | "podman" | "nerdctl" | "buildah" | "oras" | "crane"
    );
    let is_image = effect.scope == Scope::Publishing && found.verb == "push" && pushes_images;
    is_image && request.is_about(BRANCHES) && !request.is_about(IMAGES) && !names_operand(found.rest, request)
}

/// Whether a request names an address, its host, or the service by a part of the host: "push it to github".
fn names_address(address: &str, request: &RequestWords) -> bool {
    const MIN_LETTERS: usize = 4;
    let bare = address.split_once("://").map_or(address, |(_, rest)| rest);
    let bare = bare.rsplit_once('@').map_or(bare, |(_, rest)| rest);
    let host = bare.split(['/', ':']).next().unwrap_or(bare);
    let is_named = |part: &str| part.len() >= MIN_LETTERS && request.names(part);
    request.names(address) || is_named(bare) || is_named(host) || host.split('.').any(is_named)
}
