//! What a person changed in a memory.

use crate::{Decision, Task, TaskStatus};
use serde::{Deserialize, Serialize};

/// The changes that a person made to a memory. A session that saves its memory again keeps them.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct MemoryEdits {
    /// The goal; empty for none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub goal: Option<String>,
    /// The goal before the first edit of it; empty for none. It tells which work the session continues.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub captured_goal: Option<String>,
    /// The prompt.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub original_query: Option<String>,
    /// The status.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub status: Option<TaskStatus>,
    /// The user; empty for none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub user: Option<String>,
    /// The commit with the result; empty for none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub linked_commit: Option<String>,
    /// Items that were added or reworded.
    #[serde(skip_serializing_if = "MemoryLists::is_empty")]
    pub added: MemoryLists,
    /// Items that were removed, or the former text of reworded ones.
    #[serde(skip_serializing_if = "MemoryLists::is_empty")]
    pub removed: MemoryLists,
}

/// Items of the lists of a memory.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct MemoryLists {
    /// Decisions.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub decisions: Vec<Decision>,
    /// Constraints.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub constraints: Vec<String>,
    /// Steps and results.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub reasoning_trace: Vec<String>,
    /// Files.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub files_touched: Vec<String>,
    /// Tags.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub tags: Vec<String>,
}

impl MemoryEdits {
    /// Returns the edits that make `after` of `before`.
    pub fn between(before: &Task, after: &Task) -> Self {
        let changed = |before: &Option<String>, after: &Option<String>| {
            (before != after).then(|| after.clone().unwrap_or_default())
        };
        let goal = changed(&before.goal, &after.goal);
        let (mut added, mut removed) = (MemoryLists::default(), MemoryLists::default());
        difference(
            &before.decisions,
            &after.decisions,
            &mut added.decisions,
            &mut removed.decisions,
        );
        let strings = [
            (
                &before.constraints,
                &after.constraints,
                &mut added.constraints,
                &mut removed.constraints,
            ),
            (
                &before.reasoning_trace,
                &after.reasoning_trace,
                &mut added.reasoning_trace,
                &mut removed.reasoning_trace,
            ),
            (
                &before.files_touched,
                &after.files_touched,
                &mut added.files_touched,
                &mut removed.files_touched,
            ),
            (&before.tags, &after.tags, &mut added.tags, &mut removed.tags),
        ];
        for (before, after, added, removed) in strings {
            difference(before, after, added, removed);
        }
        Self {
            captured_goal: goal.is_some().then(|| before.goal.clone().unwrap_or_default()),
            goal,
            original_query: (before.original_query != after.original_query)
                .then(|| after.original_query.clone()),
            status: (before.status != after.status).then_some(after.status),
            user: changed(&before.user, &after.user),
            linked_commit: changed(&before.linked_commit, &after.linked_commit),
            added,
            removed,
        }
    }

    /// Returns these edits followed by later ones.
    #[must_use]
    pub fn then(self, later: Self) -> Self {
        let (mut added, mut removed) = (self.added, self.removed);
        added.remove(&later.removed);
        removed.remove(&later.added);
        added.add(later.added);
        removed.add(later.removed);
        Self {
            goal: later.goal.or(self.goal),
            captured_goal: self.captured_goal.or(later.captured_goal),
            original_query: later.original_query.or(self.original_query),
            status: later.status.or(self.status),
            user: later.user.or(self.user),
            linked_commit: later.linked_commit.or(self.linked_commit),
            added,
            removed,
        }
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// Applies the edits to the record that a session saves again, and notes them in it.
    #[must_use]
    pub fn applied(self, mut task: Task) -> Task {
        let set = |value: &Option<String>, field: &mut Option<String>| {
            if let Some(value) = value {
                *field = Some(value.clone()).filter(|value| !value.is_empty());
            }
        };
        set(&self.goal, &mut task.goal);
        set(&self.user, &mut task.user);
        set(&self.linked_commit, &mut task.linked_commit);
        if let Some(query) = &self.original_query {
            task.original_query.clone_from(query);
        }
        if let Some(status) = self.status {
            task.status = status;
        }
        // The judge may give another reason for the same choice.
        let is_removed = |decision: &Decision| {
            let same = |removed: &Decision| removed.choice == decision.choice;
            self.removed.decisions.iter().any(same) && !self.added.decisions.contains(decision)
        };
        task.decisions.retain(|decision| !is_removed(decision));
        append(&mut task.decisions, self.added.decisions.clone());
        let lists = [
            (
                &mut task.constraints,
                &self.removed.constraints,
                &self.added.constraints,
            ),
            (
                &mut task.reasoning_trace,
                &self.removed.reasoning_trace,
                &self.added.reasoning_trace,
            ),
            (
                &mut task.files_touched,
                &self.removed.files_touched,
                &self.added.files_touched,
            ),
            (&mut task.tags, &self.removed.tags, &self.added.tags),
        ];
        for (list, removed, added) in lists {
            list.retain(|item| !removed.contains(item));
            append(list, added.clone());
        }
        task.file_pins
            .retain(|pin| !self.removed.files_touched.contains(&pin.path));
        task.edits = self;
        task
    }
}

impl MemoryLists {
    fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    fn add(&mut self, others: Self) {
        append(&mut self.decisions, others.decisions);
        append(&mut self.constraints, others.constraints);
        append(&mut self.reasoning_trace, others.reasoning_trace);
        append(&mut self.files_touched, others.files_touched);
        append(&mut self.tags, others.tags);
    }

    fn remove(&mut self, others: &Self) {
        self.decisions.retain(|item| !others.decisions.contains(item));
        self.constraints.retain(|item| !others.constraints.contains(item));
        self.reasoning_trace
            .retain(|item| !others.reasoning_trace.contains(item));
        self.files_touched
            .retain(|item| !others.files_touched.contains(item));
        self.tags.retain(|item| !others.tags.contains(item));
    }
}

fn difference<T: Clone + PartialEq>(before: &[T], after: &[T], added: &mut Vec<T>, removed: &mut Vec<T>) {
    added.extend(after.iter().filter(|item| !before.contains(item)).cloned());
    removed.extend(before.iter().filter(|item| !after.contains(item)).cloned());
}

fn append<T: PartialEq>(list: &mut Vec<T>, others: Vec<T>) {
    for item in others {
        if !list.contains(&item) {
            list.push(item);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn decision(choice: &str, reason: &str) -> Decision {
        Decision {
            choice: choice.to_owned(),
            reason: reason.to_owned(),
        }
    }

    fn saved() -> Task {
        Task {
            goal: Some("Retry uploads".to_owned()),
            decisions: vec![
                decision("three attempts", "more annoys"),
                decision("no queue", "one more service"),
            ],
            constraints: vec!["keep the API".to_owned()],
            tags: vec!["upload".to_owned()],
            status: TaskStatus::Abandoned,
            ..Task::new("t", "/p", "retry the uploads")
        }
    }

    #[test]
    fn the_edits_between_two_records_make_one_of_the_other() {
        let before = saved();
        let mut after = before.clone();
        after.goal = None;
        after.status = TaskStatus::Complete;
        after.decisions[0].reason = "the server is slow".to_owned();
        after.constraints.clear();
        after.tags.push("network".to_owned());
        let edits = MemoryEdits::between(&before, &after);
        assert_eq!(edits.captured_goal.as_deref(), Some("Retry uploads"));
        let mut again = edits.applied(before.clone());
        again.edits = MemoryEdits::default();
        again
            .decisions
            .sort_by(|one, other| other.choice.cmp(&one.choice));
        assert_eq!(again, after);
        assert!(MemoryEdits::between(&before, &before).is_empty());
    }

    #[test]
    fn a_later_save_keeps_the_edits_and_adds_its_own_work() {
        let before = saved();
        let mut after = before.clone();
        after.decisions.remove(1);
        after.goal = Some("Make uploads robust".to_owned());
        let edits = MemoryEdits::between(&before, &after);
        let mut later = saved();
        later.status = TaskStatus::Complete;
        later.decisions[1].reason = "said in other words".to_owned();
        later.decisions.push(decision("a jitter", "all retried at once"));
        let kept = edits.clone().applied(later);
        let choices: Vec<&str> = kept.decisions.iter().map(|one| one.choice.as_str()).collect();
        assert_eq!(choices, ["three attempts", "a jitter"]);
        assert_eq!(kept.goal.as_deref(), Some("Make uploads robust"));
        assert_eq!(kept.status, TaskStatus::Complete, "the person did not set it");
        assert_eq!(kept.edits, edits);
    }

    #[test]
    fn a_later_edit_outranks_an_earlier_one() {
        let first = saved();
        let mut second = first.clone();
        second.goal = Some("Two".to_owned());
        second.tags = vec!["new".to_owned()];
        let mut third = second.clone();
        third.goal = Some("Three".to_owned());
        third.tags = vec!["upload".to_owned()];
        let edits = MemoryEdits::between(&first, &second).then(MemoryEdits::between(&second, &third));
        assert_eq!(edits.captured_goal.as_deref(), Some("Retry uploads"));
        let kept = edits.applied(saved());
        assert_eq!(
            (kept.goal.as_deref(), kept.tags),
            (Some("Three"), vec!["upload".to_owned()])
        );
    }
}
