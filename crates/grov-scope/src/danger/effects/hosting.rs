//! Platforms that host applications.

use super::super::EvaluationContext;
use super::kinds::{
    CLOUD, CLOUD_CHANGE, DROPS, EXPOSES, HOSTED_CHANGE, LOADS, MAILS, PREVIEWS, PUBLISHES, SHARES,
};
use super::{Row, row};
use grov_domain::Program;

#[rustfmt::skip]
pub(super) const HEROKU: &[Row] = &[
    row("pg:reset|pg:copy|pg:restore|pg:push|pg:backups:restore|pg:backups:delete|pg:killall|redis:reset|pg:promote", "", &DROPS),
    row("*:destroy|*:remove|*:delete|*:unset|*:disable|*:rm|*:clear|*:reset|*:revoke|*:detach|destroy", "", &CLOUD).unless("accounts:remove|git:*"),
    row("ps:stop|ps:kill|maintenance:on|ps:scale|dyno:stop|dyno:kill", "", &CLOUD_CHANGE),
    row("container:release|container:push|pipelines:promote|releases:rollback|rollback|builds:create|deploy*|slugs:push|jar:deploy|war:deploy", "", &PUBLISHES),
    row("config:set|config:edit|addons:create|addons:attach|addons:upgrade|domains:add|features:enable|buildpacks:*|certs:add|access:add|labs:enable|stack:set|drains:add|webhooks:add|apps:transfer|apps:rename|ps:restart|restart|members:add|keys:add", "", &CLOUD_CHANGE),
    row("run|run:*", "*drop*|*reset*|*destroy*|*delete*|*flush*|*truncate*|*fresh*|*wipe*|rm|*update_all*|*.save*", &DROPS),
    row("run|run:*", "*migrate*|*console*|*psql*", &CLOUD_CHANGE).only_if(changes_by_input),
];

#[rustfmt::skip]
pub(super) const FLY: &[Row] = &[
    row("deploy|launch", "", &PUBLISHES).unless("--build-only"),
    row("console|ssh", "-C=*rm*|-C=*drop*|-C=*delete*|--command=*rm*|--command=*drop*|-C=*reset*|-C=*destroy*", &DROPS),
    row("proxy|wireguard reset|remove", "", &CLOUD),
    row("storage|redis|mysql|extensions|tokens|orgs|litefs-cloud|mpg|machine destroy|delete|revoke|update|reset", "", &CLOUD),
    row("destroy|suspend|delete", "", &CLOUD),
    row("** destroy|delete|remove|stop|kill|release|detach|unset|revoke|suspend|rollback", "", &CLOUD),
    row("scale|secrets|machine|machines|apps|volumes|regions|autoscale|postgres|pg|ips|certs|config count|vm|memory|set|import|restart|update|clone|extend|create|add|attach|allocate*|failover|run|start|move|fork|deploy", "", &CLOUD_CHANGE),
    row("restart|resume", "", &CLOUD_CHANGE),
];

#[rustfmt::skip]
pub(super) const VERCEL: &[Row] = &[
    row("", "--prod|--production", &PUBLISHES).unless("pull|env|build|ls|list|inspect|logs"),
    row("promote|redeploy|rollback", "", &PUBLISHES).unless("status"),
    row("deploy", "", &PREVIEWS),
    row("remove|rm", "", &CLOUD),
    row("project|projects|alias|env|domains|domain|dns|secrets|certs|blob|teams|cache rm|remove|del|delete|purge|delete-store|empty-store", "", &CLOUD),
    row("alias|env|domains|dns|certs|secrets|rolling-release set|add|buy|issue|transfer-in|move|import|update|configure|start|complete", "", &CLOUD_CHANGE),
];

#[rustfmt::skip]
pub(super) const NETLIFY: &[Row] = &[
    row("deploy", "--prod|-p|--prod-if-unlocked", &PUBLISHES),
    row("deploy", "", &PREVIEWS).unless("--prod|-p|--prod-if-unlocked"),
    row("sites:delete|env:unset|blobs:delete|api:delete*|db:destroy|logs:delete", "", &CLOUD),
    row("api delete*|cancel*", "", &CLOUD),
    row("env:set|env:import|env:clone|sites:create|blobs:set|env:migrate", "", &CLOUD_CHANGE),
    row("env|blobs|sites unset|delete", "", &CLOUD),
    row("env|blobs set|import", "", &CLOUD_CHANGE),
];

#[rustfmt::skip]
pub(super) const FIREBASE: &[Row] = &[
    row("deploy|hosting:clone|hosting:channel:deploy|appdistribution:distribute|apphosting:rollouts:create|ext:install|ext:update", "", &PUBLISHES),
    row("firestore:delete|database:remove|database:set|database:update|auth:import|firestore:databases:delete|firestore:databases:restore|dataconnect:sql:migrate", "", &DROPS),
    row("*:delete|*:disable|*:remove|*:destroy|*:uninstall|*:unset|*:clear|functions:secrets:prune|*:prune", "", &CLOUD),
    row("functions:secrets:set|functions:config:set|remoteconfig:rollback|*:create|*:set|database:push|projects:addfirebase", "", &CLOUD_CHANGE),
];

#[rustfmt::skip]
pub(super) const SUPABASE: &[Row] = &[
    row("db reset", "--linked|--db-url", &DROPS).unless("--local"),
    row("db push", "", &PUBLISHES).unless("--local"),
    row("migration up|down|repair", "--linked|--db-url", &DROPS),
    row("functions deploy", "", &PUBLISHES),
    row("db remote", "", &DROPS).unless("--local"),
    row("projects|functions|branches|secrets|storage|sso|domains|network-bans|postgres-config|vanity-subdomains|snippets delete|unset|rm|remove|disable", "", &CLOUD),
    row("projects|secrets|config|branches|domains|sso|ssl-enforcement|network-restrictions|storage create|set|push|update|merge|reset|pause|activate|add|cp|mv", "", &CLOUD_CHANGE),
    row("stop", "--no-backup", &DROPS),
];

#[rustfmt::skip]
pub(super) const WRANGLER: &[Row] = &[
    row("deploy|publish|rollback", "", &PUBLISHES).unless("--outdir"),
    row("pages|versions|triggers|dispatch-namespace deploy|publish|upload", "", &PUBLISHES).unless("--dry-run"),
    row("pages deployment|project delete", "", &CLOUD),
    row("delete", "", &CLOUD).unless("--local"),
    row("d1 delete|time-travel", "", &DROPS).unless("--local|info"),
    row("d1 migrations apply", "--remote", &DROPS),
    row("d1 execute", "--remote --file", &DROPS),
    row("queues|hyperdrive|vectorize|workflows|pipelines|containers|r2|kv|secrets-store|tunnel|versions|deployments ** create|update|pause-delivery|resume-delivery|purge|insert|delete-vectors|trigger|terminate|rollback|deploy|upload|put", "", &CLOUD_CHANGE).unless("--local|list|info|get"),
    row("** delete|purge|remove|unset|disconnect", "", &CLOUD).unless("--local"),
    row("kv:* delete", "", &CLOUD).unless("--local"),
    row("secret put|bulk", "", &CLOUD_CHANGE),
    row("kv key|bulk put", "--remote", &CLOUD_CHANGE),
    row("r2 object|bucket put|create", "--remote", &CLOUD_CHANGE),
];

/// Smaller platforms.
#[rustfmt::skip]
pub(super) const PLATFORMS: &[Row] = &[
    row("up|deploy|redeploy|publish|push|promote|launch|ship|release|app:deploy|deploys", "", &PUBLISHES).unless("--dev|--local"),
    row("** push|publish|deploy|release", "", &PUBLISHES).unless("--dev|--local|--development|--unpublished|list"),
    row("down|delete|remove|destroy|rm|teardown|uninstall", "", &CLOUD),
    row("** delete|remove|destroy|rm|unset|stop|purge|disable|clear|*:delete|*:remove|*:destroy|*:rm|*:unset|*:stop|*-delete|*-destroy|pause|suspend|kill|wipe|reset|drop", "", &CLOUD),
    row("ps|service|app|machine|env|domain|cron|job|plugin|addon|scale|ps:scale|config ** scale|restart|rebuild|restore|rollback|update|set|link|unlink|create|run|trigger|import", "", &CLOUD_CHANGE),
    row("*:set|*:add|*:scale|*:restart|*:rebuild|*:import|*:link|*:promote|*:unlink|*:rollback|ps:scale|ps:restart|scale|restart|rollback|rebuild|redeploy", "", &CLOUD_CHANGE),
    row("import", "--replace|--replace-all|-y", &DROPS),
    row("env|variables|secrets|secret|domain set|add|import|create", "", &CLOUD_CHANGE).unless("list"),
];

/// Programs that publish a folder whenever they run.
#[rustfmt::skip]
pub(super) const PUBLISHERS: &[Row] = &[
    row("teardown|delete", "", &CLOUD),
    row("", "", &PUBLISHES).unless("-d|-h|-T|-P|list|whoami|login|logout|-n|--tasks|-AT|-v|ls"),
];

/// Capistrano; Capacitor has the same name.
#[rustfmt::skip]
pub(super) const CAPISTRANO: &[Row] = &[
    row("deploy*", "", &PUBLISHES).unless("-T|-n|*:check"),
    row("* deploy*", "", &PUBLISHES).unless("-T|-n|*:check"),
];
/// Programs that publish a folder; `-d` is its name.
pub(super) const FOLDER_PUBLISHERS: &[Row] = &[row("", "", &PUBLISHES)];
pub(super) const DOCS: &[Row] = &[row("gh-deploy|publish|deploy", "", &PUBLISHES)];

#[rustfmt::skip]
pub(super) const TUNNELS: &[Row] = &[
    row("http|tcp|tls|start|connect|port-forward|share|funnel|serve", "", &EXPOSES),
    row("tunnel run|delete|route|cleanup", "", &EXPOSES),
    row("tunnel", "--url", &EXPOSES),
    row("", "--port|-p", &EXPOSES),
];

/// Databases in the cloud.
#[rustfmt::skip]
pub(super) const CLOUD_DATABASES: &[Row] = &[
    row("** delete|destroy|drop|reset|restore|rm|prune|clean|terminate|purge|pause|archive|remove|revert|reset-from-parent|delete-*|truncate", "", &DROPS),
    row("delete|destroy|drop|reset|clean", "", &DROPS),
    row("schema clean", "", &DROPS),
    row("deploy-request|deploy deploy|create", "", &CLOUD_CHANGE),
    row("branch|branches|database|db|role|roles promote|demote|create|scale", "", &CLOUD_CHANGE),
];

/// Programs that send mail or messages.
#[rustfmt::skip]
pub(super) const MAIL: &[Row] = &[
    row("", "", &MAILS).only_if(reads_message),
    row("", "*@*|-s|-t|--to|*customers*|*$(*|*`*", &MAILS),
];

/// Services of third parties: payments, messages, errors, feature flags.
#[rustfmt::skip]
pub(super) const SERVICES: &[Row] = &[
    row("** create|update|refund|cancel|capture|confirm|pay|finalize|set|send|enable|disable|resolve", "--live|-live|--mode=live", &HOSTED_CHANGE),
    row("** delete|remove|archive|cancel", "", &CLOUD),
    row("issues|monitors|organizations|teams|alerts resolve|mute|unresolve|ignore|update|create", "", &HOSTED_CHANGE),
    row("delete", "", &CLOUD),
    row("refunds|charges|payouts|transfers|subscriptions create|cancel", "", &HOSTED_CHANGE),
    row("api:core:messages:create|api:*:create|api:*:remove|phone-numbers:*", "", &HOSTED_CHANGE),
    row("releases deploys|new|finalize|delete", "", &HOSTED_CHANGE),
    row("send-event|upload-dif|sourcemaps", "", &SHARES),
];

/// Programs of chats and of push notifications, which send whenever they run.
#[rustfmt::skip]
pub(super) const MESSENGERS: &[Row] = &[row("", "", &MAILS).unless("-h|list|whoami|login|--version|read|history|subscribe|sub")];

/// Load from many clients on another machine.
#[rustfmt::skip]
pub(super) const LOAD: &[Row] = &[
    row("", "-u|--users|--host|-H|-c|-n|-t|--vus|-d|--duration|-z|-r|--rate", &LOADS).only_if(is_elsewhere),
];

fn is_elsewhere(command: &Program, _: &EvaluationContext<'_>) -> bool {
    command.words().any(|word| word.contains("://")) && !crate::danger::is_local(command)
}

fn changes_by_input(command: &Program, _: &EvaluationContext<'_>) -> bool {
    let text = command.input.as_deref().unwrap_or_default();
    [
        "update", "delete", "destroy", "drop", "save", "create", "truncate",
    ]
    .iter()
    .any(|verb| text.contains(verb))
        || command
            .words()
            .any(|word| word.contains("migrate") && !word.contains("status"))
}

/// Whether a mailer reads a whole message: `sendmail -t < mail.txt`.
fn reads_message(command: &Program, _: &EvaluationContext<'_>) -> bool {
    !command.reads.is_empty() || command.source.is_some()
}
