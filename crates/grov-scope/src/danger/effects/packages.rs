//! Publishing packages and applications.

use super::super::EvaluationContext;
use super::kinds::{KEYS, PUBLISHES, REGISTRY, RETRACTS, TLS_OFF, UNCHECKED_PACKAGE};
use super::{Row, row};
use grov_domain::Program;

#[rustfmt::skip]
pub(super) const NODE: &[Row] = &[
    row("publish", "", &PUBLISHES),
    row("npm publish", "", &PUBLISHES),
    row("npm unpublish|deprecate", "", &RETRACTS),
    row("workspace|workspaces ** publish", "", &PUBLISHES),
    row("unpublish|deprecate", "", &RETRACTS),
    row("dist-tag|dist-tags|owner|access|team|token|tag|org add|rm|remove|create|revoke|set|public|restricted|grant|destroy", "", &REGISTRY),
    row("npm tag add|remove", "", &REGISTRY),
    row("config|c set|put", "strict-ssl|strict-ssl=false|cafile=*|sslVerify false|strict-ssl=false", &TLS_OFF),
    row("config set", "enableStrictSsl|unsafeHttpWhitelist", &TLS_OFF),
    row("release", "", &PUBLISHES).only_if(is_nx).unless("--skip-publish|plan"),
    row("profile|2fa|hook|star enable-2fa|disable-2fa|set|add|rm|update", "", &REGISTRY),
    row("version", "", &PUBLISHES).only_if(is_lerna).unless("--no-push"),
    row("install|i|add", "http://*|git+http://*", &UNCHECKED_PACKAGE).unless("http://localhost*|http://127.0.0.1*"),
];

#[rustfmt::skip]
pub(super) const CARGO: &[Row] = &[
    row("publish", "", &PUBLISHES).unless("-n"),
    row("yank", "", &RETRACTS).unless("--undo"),
    row("owner", "--add|-a|--remove|-r", &REGISTRY),
    row("release", "--execute|-x", &PUBLISHES),
    row("workspaces publish", "", &PUBLISHES),
    row("dist upload|host", "", &PUBLISHES),
    row("shuttle|lambda|leptos|component deploy|publish", "", &PUBLISHES),
    row("sqlx database drop|reset", "", &super::kinds::DROPS),
    row("flash|embed|espflash", "", &super::kinds::FLASHES),
];

#[rustfmt::skip]
pub(super) const PYTHON: &[Row] = &[
    row("publish|upload", "", &PUBLISHES),
    row("** upload|publish", "", &PUBLISHES).unless("run"),
    row("install", "http://*|git+http://*", &UNCHECKED_PACKAGE).unless("http://localhost*|http://127.0.0.1*"),
    row("config set", "global.trusted-host|global.trusted-host=*|ssl_verify", &TLS_OFF),
    row("config", "--set|ssl_verify|false", &TLS_OFF).only_if(drops_tls),
    row("pip install", "--system|--break-system-packages", &super::kinds::INSTALLS).only_if(only_looks),
    row("install", "--break-system-packages", &super::kinds::INSTALLS).only_if(only_looks),
    row("uninstall-all|reinstall-all", "", &super::kinds::UNINSTALLS),
    row("env remove|prune", "", &super::kinds::UNINSTALLS).only_if(is_conda),
    row("remove|uninstall", "--all|-y", &super::kinds::UNINSTALLS).only_if(removes_everything),
    row("upload-docs|register", "", &PUBLISHES),
];

#[rustfmt::skip]
pub(super) const RUBY: &[Row] = &[
    row("push", "", &PUBLISHES),
    row("yank", "", &RETRACTS),
    row("owner", "-a|--add|-r|--remove", &REGISTRY),
];

#[rustfmt::skip]
pub(super) const DOTNET: &[Row] = &[
    row("nuget push", "", &PUBLISHES),
    row("nuget delete", "", &RETRACTS),
    row("ef database drop", "", &super::kinds::DROPS),
    row("ef database update 0", "", &super::kinds::DROPS),
    row("push", "", &PUBLISHES),
    row("delete|unlist", "", &RETRACTS),
    row("user-secrets clear", "", &KEYS),
];

#[rustfmt::skip]
pub(super) const DART: &[Row] = &[
    row("pub publish|lish", "", &PUBLISHES).unless("-n"),
    row("pub uploader", "", &REGISTRY),
    row("pub global|deploy deploy", "", &PUBLISHES),
];

#[rustfmt::skip]
pub(super) const JVM: &[Row] = &[
    row("", "deploy|deploy:deploy|deploy:deploy-file|release:perform|nexus-staging:release|central-publishing:publish|jib:build|scm:tag", &PUBLISHES)
        .unless("-DskipDeploy*|-Dmaven.deploy.skip*"),
    row("", "flyway:clean|liquibase:dropAll|*flyway*:clean|*liquibase*:dropAll", &super::kinds::DROPS),
    row("", "publish|*:publish|publishAll*|publishPlugins|publish*ToMavenCentral*|publish*ToSonatype*|publish*ToGitHub*|publish*Repository|uploadArchives|publishToSonatype|closeAndRelease*|jib|dockerPush|dockerPushImage|bintrayUpload|jreleaser*Release", &PUBLISHES)
        .unless("*ToMavenLocal|publish*LocalRepository"),
    row("", "flywayClean|*:flywayClean|dropAll|*:dropAll", &super::kinds::DROPS),
    row("", "+publish|publishSigned|+publishSigned|sonatypeRelease|sonatypeBundleRelease|ci-release|docker:publish|release", &PUBLISHES),
];

/// Programs whose subcommand publishes.
#[rustfmt::skip]
pub(super) const PUBLISH: &[Row] = &[
    row("publish|upload|deploy|submit|push|update|release", "", &PUBLISHES)
        .unless("--snapshot|--skip=publish|--skip-publish|--no-publish|-n|local|--local"),
    row("unpublish|retire|yank|delete|unregister|deprecate|remove", "", &RETRACTS),
    row("** publish|upload|push|submit|promote|rollout|distribute", "", &PUBLISHES).unless("local|--local|list|login"),
    row("config", "disable-tls|secure-http|ssl_verify_mode false|true|0", &TLS_OFF),
    row("version|versions|package|trunk|rt publish|push|delete|u|upload|del|bp", "", &PUBLISHES),
    row("repo push", "", &PUBLISHES),
    row("build", "--auto-submit|--publish|--push", &PUBLISHES),
    row("bump-formula-pr|bump-cask-pr", "", &PUBLISHES),
    row("release|publish|snapcraft *", "", &PUBLISHES).unless("--snapshot|--skip=publish|--skip-publish|-n|--check|list"),
];

#[rustfmt::skip]
pub(super) const COCOAPODS: &[Row] = &[
    row("trunk push|deprecate", "", &PUBLISHES), row("trunk delete", "", &RETRACTS), row("repo push", "", &PUBLISHES),
];

/// Programs that upload an application by an option.
#[rustfmt::skip]
pub(super) const UPLOADERS: &[Row] = &[
    row("altool", "--upload-app|--upload-package|-f", &PUBLISHES).unless("--validate-app"),
    row("notarytool submit", "", &PUBLISHES),
    row("", "--upload-app|--upload-package", &PUBLISHES),
];

#[rustfmt::skip]
pub(super) const FASTLANE: &[Row] = &[
    row("deliver|supply|pilot|release|beta|deploy|production|upload_*|publish*|appstore|playstore|testflight|internal", "", &PUBLISHES),
    row("ios|android|mac *release*|*beta*|*deploy*|*prod*|*publish*|*upload*|*store*|*testflight*|*distribute*", "", &PUBLISHES),
    row("match nuke", "", &KEYS),
    row("* *nuke*|*release*|*beta*|*deploy*", "", &PUBLISHES),
];

/// Releasers that publish whenever they run.
#[rustfmt::skip]
pub(super) const RELEASERS: &[Row] = &[row("", "", &PUBLISHES).unless("--no-publish|--preview|--dry|-h|--no-npm.publish|init|changelog|--changelog|--release-version|list|info|--show-next-version|config")];

fn is_nx(command: &Program, _: &EvaluationContext<'_>) -> bool {
    command.words().any(|word| word == "nx")
}

/// `lerna version` pushes commits and tags.
fn is_lerna(command: &Program, _: &EvaluationContext<'_>) -> bool {
    command.words().any(|word| word == "lerna")
}

fn is_conda(command: &Program, _: &EvaluationContext<'_>) -> bool {
    matches!(command.name(), "conda" | "mamba" | "micromamba")
}

fn drops_tls(command: &Program, _: &EvaluationContext<'_>) -> bool {
    matches!(command.name(), "conda" | "mamba")
        && command.has_word(&["ssl_verify"])
        && command.has_word(&["false", "no"])
}

/// Whether the packages come from a list: `pip freeze | xargs pip uninstall -y`.
fn removes_everything(command: &Program, _: &EvaluationContext<'_>) -> bool {
    command.through.iter().any(|program| program == "xargs") || command.has_word(&["--all", "-r"])
}

fn only_looks(_: &Program, context: &EvaluationContext<'_>) -> bool {
    context.compiled.request.only_looks()
}
