//! Files in the cloud, copies between machines, backups, volumes.

use super::super::EvaluationContext;
use super::kinds::{BACKUPS, CLOUD, DESTROYS, SHARES, VOLUME};
use super::{Row, row};
use grov_domain::Program;

#[rustfmt::skip]
pub(super) const GSUTIL: &[Row] = &[
    row("rm|rb", "", &CLOUD),
    row("rsync", "-d", &CLOUD).unless("-n"),
    row("cp|mv|rsync", "", &SHARES).only_if(uploads).unless("-n"),
    row("acl|iam|defacl|lifecycle|versioning|web|cors set|ch|add", "", &CLOUD),
];

/// Clients of object stores.
#[rustfmt::skip]
pub(super) const OBJECT_STORES: &[Row] = &[
    row("rm|rb|del|delete|delete-*|undo", "", &CLOUD),
    row("mirror|sync", "--remove|--delete|--delete-removed|--overwrite", &CLOUD),
    row("bucket delete|remove", "", &CLOUD),
    row("put|sync|cp|mv|mirror|upload", "", &SHARES).only_if(uploads),
    row("anonymous|policy|setacl set|setacl", "", &CLOUD),
];

#[rustfmt::skip]
pub(super) const RCLONE: &[Row] = &[
    row("purge|delete|deletefile|rmdirs|rmdir|cleanup|dedupe", "", &CLOUD).unless("-n|-i"),
    row("sync|move|moveto|bisync", "", &CLOUD).unless("-n|-i").only_if(reaches_remote),
    row("copy|copyto|rcat|copyurl", "", &SHARES).unless("-n").only_if(uploads),
];

#[rustfmt::skip]
pub(super) const BACKUP: &[Row] = &[
    row("forget|prune|purge|delete|recreate|remove-all-but-n-full|remove-older-than|rewrite|key", "", &BACKUPS).unless("-n"),
    row("snapshot|repository|policy|stanza-delete|expire delete|expire|remove", "", &BACKUPS),
    row("stanza-delete|expire", "", &BACKUPS),
];

#[rustfmt::skip]
pub(super) const VOLUMES: &[Row] = &[
    row("destroy|rollback|labelclear|detach|remove|offline", "", &VOLUME).unless("-n"),
    row("subvolume|sub delete|d", "", &VOLUME),
    row("device|dev delete|remove", "", &VOLUME),
    row("luksFormat|erase|luksErase|luksKillSlot|luksRemoveKey|reencrypt", "", &VOLUME),
    row("format|sanitize|delete-ns", "", &VOLUME),
    row("", "--zero-superblock|--stop|--remove|--security-erase|--security-erase-enhanced|--wipe*", &VOLUME),
];

/// Programs that only destroy.
pub(super) const REMOVERS: &[Row] = &[row("*", "", &VOLUME).unless("-t|--test")];

/// File systems of clusters.
#[rustfmt::skip]
pub(super) const HDFS: &[Row] = &[
    row("dfs|fs", "-rm|-rmr|-rmdir|-expunge|-mv|-truncate|-deleteSnapshot|-chmod|-chown|-setfacl", &CLOUD),
    row("namenode|dfsadmin|haadmin|application|job|cacheadmin|ec|key|mradmin|rmadmin", "-format|-safemode|-failover|-kill|-finalizeUpgrade|-deleteBlockPool|-removePool|-disablePolicy|-refreshNodes|delete", &CLOUD),
];

/// Transfers with commands of their own.
#[rustfmt::skip]
pub(super) const TRANSFERS: &[Row] = &[row("", "*--delete*|*rm?-r*|*mrm?*|*glob?rm*|*mirror?-R*|*put?*", &CLOUD).only_if(is_elsewhere)];

fn is_elsewhere(command: &Program, _: &EvaluationContext<'_>) -> bool {
    !crate::danger::is_local(command)
}

/// Volumes that a program manages by name.
pub(super) const DISK_UTILITY: &[Row] = &[
    row(
        "erase*|partitionDisk|secureErase|zeroDisk|randomDisk|reformat|splitPartition|mergePartitions|resizeVolume",
        "",
        &VOLUME,
    ),
    row("apfs|cs|ar delete*|erase*|delete", "", &VOLUME),
];

/// Registries and trackers of large data.
pub(super) const DATA_TOOLS: &[Row] = &[
    row("gc|destroy|remove", "-c|--cloud|-w|--workspace|-f|-a", &CLOUD),
    row("push", "", &SHARES),
    row(
        "repo|datasets|competitions|models|kernels|files|buckets|fs|artifact delete*|remove|rm",
        "",
        &DESTROYS,
    ),
    row("repo create", "", &SHARES),
    row("rm|delete", "", &DESTROYS),
    row("upload|upload-large-folder", "", &SHARES),
    row(
        "datasets|models|kernels|competitions create|version|push|submit",
        "",
        &SHARES,
    ),
];

/// Whether the last operand is a place in the cloud.
fn uploads(command: &Program, _: &EvaluationContext<'_>) -> bool {
    command.operands().last().is_some_and(is_remote)
}

fn reaches_remote(command: &Program, context: &EvaluationContext<'_>) -> bool {
    uploads(command, context)
}

fn is_remote(place: &str) -> bool {
    place
        .split_once(':')
        .is_some_and(|(name, _)| name.len() > 1 && !name.contains('/'))
}
