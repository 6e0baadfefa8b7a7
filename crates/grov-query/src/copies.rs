//! Copies of memories in several clones of one repository.

use grov_domain::{Task, TaskId};
use std::collections::HashSet;
use std::hash::{BuildHasher, BuildHasherDefault, DefaultHasher};

/// The id that a memory has once the project with this key adopted it.
pub fn copy_id(id: &TaskId, project: &str) -> TaskId {
    let mark = BuildHasherDefault::<DefaultHasher>::default().hash_one(project);
    TaskId::new(format!("{id}-{:08x}", mark >> 32))
}

/// The id of the memory that one was copied from, if it is a copy that its project adopted.
fn original_id(memory: &Task) -> Option<TaskId> {
    let original = TaskId::new(memory.id.as_str().rsplit_once('-')?.0);
    (copy_id(&original, &memory.project_path) == memory.id).then_some(original)
}

/// Leaves out memories of other clones that the project with this key has, too: as originals or as adopted copies.
pub fn leave_out_copies(memories: &mut Vec<Task>, project: &str) {
    let own = memories.iter().filter(|memory| memory.project_path == project);
    let own: HashSet<TaskId> = own.map(|memory| memory.id.clone()).collect();
    memories.retain(|memory| {
        let is_known = || {
            own.contains(&copy_id(&memory.id, project))
                || original_id(memory).is_some_and(|original| {
                    own.contains(&original) || own.contains(&copy_id(&original, project))
                })
        };
        memory.project_path == project || !is_known()
    });
}
