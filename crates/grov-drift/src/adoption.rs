//! Offers the user the memories of the same repository at another place: it was moved, or cloned once more.
//!
//! Only the user sees this. A repository can name any remote, so its memories never reach an agent without the user's word.

use crate::private_file;
use grov_domain::{MemoryProject, MemoryStore, StoreError};
use grov_project::ProjectLocation;
use std::fs::OpenOptions;
use std::hash::{BuildHasher, BuildHasherDefault, DefaultHasher};
use std::path::Path;

/// The notice for a project without memories, if another project with the same remote has some; once per project.
///
/// # Errors
/// Those of the store.
pub(crate) async fn offer<S: MemoryStore + ?Sized>(
    store: &S,
    home: &Path,
    place: &ProjectLocation,
) -> Result<Option<String>, StoreError> {
    let Some(remote) = place.remote() else {
        return Ok(None);
    };
    let project = place.project();
    let all = store.memory_projects().await?;
    let notice = notice(project.key(), &remote, &all);
    Ok(notice.filter(|_| is_first_offer(home, project.key())))
}

fn notice(key: &str, remote: &str, all: &[MemoryProject]) -> Option<String> {
    if all.iter().any(|project| project.project_path == key) {
        return None;
    }
    let others = all.iter().filter(|project| project.project_remote == remote);
    let memories: u64 = others.map(|project| project.memories).sum();
    let counted = match memories {
        1 => "1 memory".to_owned(),
        _ => format!("{memories} memories"),
    };
    (memories > 0).then(|| {
        format!(
            "Grov: this repository has {counted} from another directory. To use them here: grov memory adopt"
        )
    })
}

/// Whether the offer was not made before. If that cannot be recorded, it is not made.
fn is_first_offer(home: &Path, key: &str) -> bool {
    let mark = BuildHasherDefault::<DefaultHasher>::default().hash_one(key);
    let path = home.join("hooks/offered").join(format!("{mark:016x}"));
    private_file::open(&path, OpenOptions::new().write(true).create_new(true)).is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn project(path: &str, remote: &str, memories: u64) -> MemoryProject {
        MemoryProject {
            project_path: path.to_owned(),
            project_remote: remote.to_owned(),
            memories,
        }
    }

    #[test]
    fn a_clone_without_memories_is_offered_those_of_the_same_remote() {
        let all = [
            project("/old", "github.com/a/b", 3),
            project("/x", "github.com/a/c", 9),
        ];
        let offered = notice("/new", "github.com/a/b", &all).unwrap();
        assert!(offered.contains("3 memories") && offered.contains("grov memory adopt"));
        assert_eq!(notice("/old", "github.com/a/b", &all), None);
        assert_eq!(notice("/new", "github.com/a/d", &all), None);
    }

    #[test]
    fn the_offer_is_made_once() {
        let home = tempfile::tempdir().unwrap();
        assert!(is_first_offer(home.path(), "/new"));
        assert!(!is_first_offer(home.path(), "/new"));
        assert!(is_first_offer(home.path(), "/other"));
    }
}
