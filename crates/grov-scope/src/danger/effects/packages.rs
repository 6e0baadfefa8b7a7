//! Publishing packages and applications.

use super::kinds::{KEYS, PUBLISHES, REGISTRY, RETRACTS, UNCHECKED_PACKAGE};
use super::{Row, row};

#[rustfmt::skip]
pub(super) const NODE: &[Row] = &[
    row("publish", "", &PUBLISHES),
    row("npm publish", "", &PUBLISHES),
    row("workspace|workspaces ** publish", "", &PUBLISHES),
    row("unpublish|deprecate", "", &RETRACTS),
    row("dist-tag|dist-tags|owner|access|team|token|tag|org add|rm|remove|create|revoke|set|public|restricted|grant|destroy", "", &REGISTRY),
    row("npm tag add|remove", "", &REGISTRY),
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
    row("delete", "", &RETRACTS),
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
    row("unpublish|retire|yank|delete", "", &RETRACTS),
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
];
