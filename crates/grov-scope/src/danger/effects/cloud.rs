//! Clouds: rows by the naming conventions of each command line.

use super::super::EvaluationContext;
use super::kinds::{ACCESS, CLOUD, CLOUD_CHANGE, DROPS, KEYS, PUBLISHES, SHARES};
use super::{Row, row};
use grov_domain::Program;

#[rustfmt::skip]
pub(super) const AWS: &[Row] = &[
    row("s3 rm|rb", "", &CLOUD),
    row("s3 sync", "--delete", &CLOUD).only_if(loses_objects),
    row("s3 cp|sync|mv", "", &SHARES).only_if(uploads_to_s3),
    row("iam create-*|attach-*|put-*|add-*|update-*|set-*|upload-*", "", &ACCESS),
    row("ec2 authorize-*|modify-*-attribute|create-key-pair|import-key-pair", "", &ACCESS),
    row("s3api put-bucket-policy|put-bucket-acl|put-object-acl|put-public-access-block|delete-public-access-block", "", &ACCESS),
    row("lambda|sns|sqs|ecr|kms|secretsmanager add-permission|set-*-policy|put-*-policy|create-grant|put-resource-policy", "", &ACCESS),
    row("secretsmanager|ssm|kms delete-*|schedule-key-deletion|disable-key", "", &KEYS),
    row("dynamodb delete-*|batch-write-item", "", &DROPS),
    row("** delete-*|terminate-*|deregister-*|purge-*|remove-*|batch-delete-*|schedule-*|disable-*|detach-*|revoke-*|stop-*|release-*|disassociate-*|empty-*|cancel-*", "", &CLOUD)
        .unless("logs"),
    row("logs|cloudwatch delete-*|disable-*", "", &CLOUD),
    row("** create-*|put-*|update-*|modify-*|attach-*|associate-*|register-*|set-*|enable-*|import-*|run-instances|restore-*|copy-*|send-*|publish|reboot-*|reset-*|start-instances|start-db-*|failover-*|promote-*|rollback-*|authorize-*|execute-statement|run-task|change-resource-record-sets|deploy|publish-*|transact-write-items|upload-*", "", &CLOUD_CHANGE)
        .unless("configure|sts|sso|--generate-cli-skeleton|put-metric-data|update-kubeconfig|get-*|describe-*|list-*|create-change-set|--no-execute-changeset"),
    row("** invoke|invoke-*|start-build|start-execution|start-pipeline-execution|start-job-run|start-deployment|start-refresh|start-task|execute-change-set|execute-command|accept-*|reject-*|allocate-*|request-*|purchase-*|run-*|rotate-secret|resume-*|suspend-*|tag-*|untag-*|subscribe|unsubscribe|respond-*|signal-*|admin-*|change-*|switch-*|add-*|replace-*|start-failover|apply-*|complete-*|deactivate-*|leave-*|archive-*|unarchive-*|opt-*|reboot-*|rebuild-*|rotate-*|retry-*", "", &CLOUD_CHANGE)
        .unless("get-*|describe-*|list-*|configure|sso|sts"),
    row("s3 mv", "s3://*", &CLOUD),
    row("s3 website|mb", "", &CLOUD_CHANGE),
    row("ecs|ec2|ssm execute-command|send-command|send-ssh-public-key", "", &CLOUD_CHANGE),
    row("amplify|deploy|elasticbeanstalk|cloudformation start-job|create-deployment|push|deploy|start-deployment", "", &PUBLISHES),
];

#[rustfmt::skip]
pub(super) const GCLOUD: &[Row] = &[
    row("storage rm|delete", "", &CLOUD),
    row("storage rsync", "--delete-unmatched-destination-objects", &CLOUD),
    row("storage cp|mv|rsync", "", &SHARES).only_if(uploads_to_gcs),
    row("secrets|kms ** delete|destroy|disable", "", &KEYS),
    row("** add-iam-policy-binding|set-iam-policy|remove-iam-policy-binding|add-access-config", "", &ACCESS),
    row("** keys create", "", &ACCESS),
    row("** firewall-rules create|update", "", &ACCESS),
    row("** delete|destroy|purge|undeploy|abandon-instances|delete-instances|delete-access-config", "", &CLOUD).unless("config|auth"),
    row("** stop|disable|suspend|detach-disk|reset|cancel|remove-*", "", &CLOUD).unless("config|auth"),
    row("app|run|functions|endpoints|deployment-manager deploy|replace|create", "", &PUBLISHES),
    row("* deploy", "", &PUBLISHES),
    row("builds submit", "", &PUBLISHES),
    row("** create|update|patch|set|import|enable|resize|restart|restore-backup|restore|clone|failover|promote-replica|migrate|update-traffic|set-password|start|publish|add-tags|add-*|rolling-action|submit|ssh-keys|execute", "", &CLOUD_CHANGE)
        .unless("config|auth|components|configurations|*emulators*|get-credentials|print-*"),
    row("** deploy|replace-traffic", "", &PUBLISHES),
    row("** call|run|simulate-maintenance-event|rollback|drain|cordon|abandon|undelete|wait-until|attach-disk|resume|reschedule|pause|invoke|move|copy|export|failover|add-*|set-*|unset|clear-*|reset-*|recreate-instances|bulk|apply|replace|sign-url", "", &CLOUD_CHANGE)
        .unless("config|auth|components|get|list|describe|read"),
    row("auth revoke", "", &KEYS),
];

#[rustfmt::skip]
pub(super) const BIGQUERY: &[Row] = &[
    row("rm|delete", "", &DROPS),
    row("load", "--replace", &DROPS),
    row("cp", "-f|--force", &DROPS),
    row("update|mk|cancel|undelete|partition|insert|add-iam-policy-binding|set-iam-policy", "", &CLOUD_CHANGE),
    row("query", "--replace", &DROPS),
];

#[rustfmt::skip]
pub(super) const AZURE: &[Row] = &[
    row("keyvault|ad ** delete|purge|reset|remove", "", &KEYS),
    row("role|ad|keyvault ** create|add|set-policy|update", "", &ACCESS),
    row("network nsg rule create|update", "", &ACCESS),
    row("** firewall-rule create|update", "", &ACCESS),
    row("** delete|purge|remove|delete-batch|destroy|deallocate|stop|reset|failover|revoke|disable|detach|undeploy|release", "", &CLOUD)
        .unless("config|account clear|cache"),
    row("storage blob|file|fs upload|upload-batch|sync|copy", "", &SHARES),
    row("storage ** upload|upload-batch|sync", "", &SHARES),
    row("** deploy|publish|up|deployment", "", &PUBLISHES).unless("list|show|what-if|validate"),
    row("deployment ** create", "", &PUBLISHES),
    row("acr build|import", "", &PUBLISHES),
    row("** create|update|set|add|start|restart|enable|assign|import|upload|regenerate|renew|invoke|run|scale|swap|restore|approve|complete|merge|run-command", "", &CLOUD_CHANGE)
        .unless("account|config|configure|extension|login|bicep|cloud|init"),
    row("rest", "--method=delete|-m=delete", &CLOUD),
    row("** rotate|kill|cancel|redeploy|reimage|restart-*|run-cli|execute|send|publish|promote|sync|peer|unassign|move|rename|rollback|trigger|queue|close|abandon|vote|set-*|add-*|remove-*|update-*|purge-*|delete-*|detach-*|create-*|start-*|stop-*|reset-*|cleanup|prune|flush|force-reboot|simulate-eviction", "", &CLOUD_CHANGE)
        .unless("account|config|configure|extension|login|bicep|cloud|init|list|show"),
    row("rest", "--method=put|--method=patch|--method=post|-m=put|-m=patch|-m=post", &CLOUD_CHANGE),
];

/// Clouds whose commands end with the verb: `hcloud server delete`.
#[rustfmt::skip]
pub(super) const VERB_LAST: &[Row] = &[
    row("delete|destroy|terminate|rm|remove|del", "", &CLOUD).unless("config|auth|context"),
    row("** delete|destroy|terminate|rm|remove|del|purge|poweroff|power-off|shutdown|reset|rebuild|*-delete|*-rm|delete-*|remove-*|undo|prune|disable|stop|detach|revoke", "", &CLOUD)
        .unless("config|auth|context|profile"),
    row("apps|app create-deployment", "", &PUBLISHES),
    row("** *_delete|clear|flush|kill|drain|truncate|reimage|reinstall|erase|drop|wipe|destroy-*|cancel|unassign|revert|evict", "", &CLOUD)
        .unless("config|auth|context|profile"),
    row("** deploy|redeploy", "", &PUBLISHES),
    row("** create|update|add|set|resize|reboot|restart|scale|restore|enable|attach|import|promote|upgrade|failover|start|power-cycle|password-reset", "", &CLOUD_CHANGE)
        .unless("config|auth|context|profile|login"),
];

fn last_starts_with(command: &Program, start: &str) -> bool {
    let last = command.operands().last();
    last.is_some_and(|place| place.starts_with(start))
}

fn uploads_to_s3(command: &Program, _: &EvaluationContext<'_>) -> bool {
    last_starts_with(command, "s3://")
}

fn uploads_to_gcs(command: &Program, _: &EvaluationContext<'_>) -> bool {
    last_starts_with(command, "gs://")
}

/// Whether the user asked for no upload of the whole.
fn loses_objects(_: &Program, context: &EvaluationContext<'_>) -> bool {
    !context.uploads_whole()
}
