//! What was seen of a plan's branch, so that it can be recognized when the branch was merged or deleted.

use crate::{PlanDir, PlanError, file};
use serde::{Deserialize, Serialize};

/// The file in the plan directory.
pub(crate) const FILE: &str = "record.json";
const MAX_RECORD: u64 = 64 * 1024;

/// What was seen of a branch.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct Record {
    /// The commit of the branch when the plan was first seen.
    pub(crate) start: Option<String>,
    /// The newest commit.
    pub(crate) tip: Option<String>,
    /// Whether the branch ever had commits that the main branch did not have.
    pub(crate) worked: bool,
    /// The newest commit of the branch that no main branch had. The branch was merged only if this commit was.
    pub(crate) own: Option<String>,
    /// The commits of the branch and the main branches that were compared last, when its work was found unmerged.
    pub(crate) unmerged_at: Option<String>,
}

impl Record {
    /// The record of a plan; if there is none, what its prompts tell.
    pub(crate) fn read(plan: &PlanDir) -> Self {
        let recorded = plan
            .inside(FILE)
            .and_then(|path| file::read_text(&path, MAX_RECORD));
        let recorded = recorded.ok().flatten();
        if let Some(mut record) = recorded.and_then(|text| serde_json::from_str::<Self>(&text).ok()) {
            // Earlier versions did not record it.
            if record.worked && record.own.is_none() {
                record.own.clone_from(&record.tip);
            }
            return record;
        }
        let queries = plan.queries().map(|listed| listed.items).unwrap_or_default();
        let mut commits = queries
            .into_iter()
            .filter_map(|query| query.commit)
            .filter(|commit| is_commit(commit));
        let start = commits.next();
        Self {
            tip: commits.next_back().or_else(|| start.clone()),
            start,
            ..Self::default()
        }
    }

    /// Writes the record if it differs from `before`.
    pub(crate) fn write(&self, plan: &PlanDir, before: &Self) -> Result<(), PlanError> {
        if self == before {
            return Ok(());
        }
        let text = serde_json::to_string(self).unwrap_or_default() + "\n";
        file::replace(&plan.inside(FILE)?, text.as_bytes())
    }
}

/// Whether a text is the hash of a commit: it is passed to git.
pub(crate) fn is_commit(text: &str) -> bool {
    matches!(text.len(), 40 | 64) && text.bytes().all(|byte| byte.is_ascii_hexdigit())
}
