//! Hashes of files, to detect later changes.

use crate::read::open_regular;
use grov_domain::FilePin;
use std::collections::HashSet;
use std::io::Read;
use std::path::{Component, Path, PathBuf};
use xxhash_rust::xxh3::Xxh3;

/// The maximum number of files per call.
const MAX_FILES: usize = 32;
/// The maximum size of a file in bytes; larger files are usually data that changes often.
const MAX_FILE_BYTES: u64 = 4 * 1024 * 1024;

/// Hashes at most 32 distinct files below `root`, the top of a working tree, in the given order.
///
/// `files` may be relative to `root` or absolute; a pin's path is relative, with `/` between folders. A file that does not
/// exist has a pin without a hash. Omitted are files outside `root` (also through a link), anything that
/// is not a regular file, files larger than 4 MiB, and unreadable files.
///
/// Blocks; reads at most 128 MiB from the disk.
pub fn pins(root: &Path, files: &[String]) -> Vec<FilePin> {
    let Ok(real_root) = root.canonicalize() else {
        return Vec::new();
    };
    let mut seen = HashSet::new();
    files
        .iter()
        .filter_map(|file| relative(root, &real_root, Path::new(file)))
        .filter(|path| seen.insert(path.clone()))
        .take(MAX_FILES)
        .filter_map(|path| pin(&real_root, &path))
        .collect()
}

/// The path below the root, without `.` and `..`; `None` outside of it.
fn relative(root: &Path, real_root: &Path, file: &Path) -> Option<PathBuf> {
    let below = if file.is_absolute() {
        file.strip_prefix(root)
            .or_else(|_| file.strip_prefix(real_root))
            .ok()?
    } else {
        file
    };
    let mut path = PathBuf::new();
    for component in below.components() {
        match component {
            Component::Normal(name) => path.push(name),
            Component::CurDir => {}
            Component::ParentDir => {
                if !path.pop() {
                    return None;
                }
            }
            Component::RootDir | Component::Prefix(_) => return None,
        }
    }
    (path.file_name().is_some()).then_some(path)
}

fn pin(real_root: &Path, path: &Path) -> Option<FilePin> {
    let whole = real_root.join(path);
    let hash = match whole.canonicalize() {
        Ok(real) => {
            if !real.starts_with(real_root) {
                return None;
            }
            Some(hash(&real)?)
        }
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            // The missing file's folder may be a link to a folder outside the root.
            let folder = whole
                .ancestors()
                .skip(1)
                .find_map(|folder| folder.canonicalize().ok())?;
            if !folder.starts_with(real_root) {
                return None;
            }
            None
        }
        Err(_) => return None,
    };
    let names: Vec<_> = path.iter().map(|name| name.to_string_lossy()).collect();
    Some(FilePin {
        path: names.join("/"),
        hash,
    })
}

/// XXH3-128 of a regular file's content, in hexadecimal.
fn hash(path: &Path) -> Option<String> {
    // Reading one extra byte detects a file that grew meanwhile.
    let mut file = open_regular(path, MAX_FILE_BYTES)?.take(MAX_FILE_BYTES + 1);
    let mut hash = Xxh3::new();
    let mut buffer = vec![0; 64 * 1024];
    let mut length = 0;
    loop {
        let read = file.read(&mut buffer).ok()?;
        if read == 0 {
            break;
        }
        length += read as u64;
        hash.update(buffer.get(..read)?);
    }
    (length <= MAX_FILE_BYTES).then(|| format!("{:032x}", hash.digest128()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    fn names(files: &[&str]) -> Vec<String> {
        files.iter().map(ToString::to_string).collect()
    }

    fn seen(root: &Path, files: &[&str]) -> Vec<(String, bool)> {
        pins(root, &names(files))
            .into_iter()
            .map(|pin| (pin.path, pin.hash.is_some()))
            .collect()
    }

    #[test]
    fn content_decides_and_nothing_else() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path();
        fs::create_dir(root.join("src")).unwrap();
        fs::write(root.join("src/a.rs"), "one").unwrap();
        fs::write(root.join("b.rs"), "one").unwrap();
        let absolute = root.join("src/a.rs").to_string_lossy().into_owned();
        let before = pins(
            root,
            &names(&["src/a.rs", "b.rs", "./src/../src/a.rs", &absolute, "gone.rs"]),
        );
        let paths: Vec<&str> = before.iter().map(|pin| pin.path.as_str()).collect();
        assert_eq!(paths, ["src/a.rs", "b.rs", "gone.rs"]);
        assert_eq!(before[0].hash, before[1].hash);
        assert_eq!(before[0].hash.as_ref().unwrap().len(), 32);
        assert_eq!(before[2].hash, None);
        fs::write(root.join("src/a.rs"), "two").unwrap();
        let after = pins(root, &names(&["src/a.rs"]));
        assert_ne!(before[0].hash, after[0].hash);
        fs::remove_file(root.join("src/a.rs")).unwrap();
        assert_eq!(pins(root, &names(&["src/a.rs"]))[0].hash, None);
    }

    #[test]
    fn the_hash_is_that_of_the_whole_content() {
        let folder = tempfile::tempdir().unwrap();
        let content = vec![7; 200_000];
        fs::write(folder.path().join("data"), &content).unwrap();
        let expected = format!("{:032x}", xxhash_rust::xxh3::xxh3_128(&content));
        assert_eq!(pins(folder.path(), &names(&["data"]))[0].hash, Some(expected));
    }

    #[test]
    fn outside_large_and_irregular_files_are_omitted() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().join("project");
        fs::create_dir_all(root.join("src")).unwrap();
        fs::write(folder.path().join("outside.rs"), "x").unwrap();
        let large = fs::File::create(root.join("large")).unwrap();
        large.set_len(MAX_FILE_BYTES + 1).unwrap();
        let outside = folder.path().join("outside.rs").to_string_lossy().into_owned();
        let files = [
            "../outside.rs",
            &outside,
            "large",
            "src",
            "",
            ".",
            "/",
            "src/../../outside.rs",
            "src/new/x.rs",
        ];
        assert_eq!(seen(&root, &files), [("src/new/x.rs".to_owned(), false)]);
        assert_eq!(seen(&root.join("no-such-root"), &["a.rs"]), []);
    }

    #[cfg(unix)]
    #[test]
    fn links_out_of_the_root_are_not_followed() {
        use std::os::unix::fs::symlink;
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().join("project");
        let other = folder.path().join("other");
        fs::create_dir_all(&root).unwrap();
        fs::create_dir_all(&other).unwrap();
        fs::write(other.join("secret"), "x").unwrap();
        fs::write(root.join("real"), "x").unwrap();
        symlink(other.join("secret"), root.join("file-link")).unwrap();
        symlink(&other, root.join("folder-link")).unwrap();
        symlink(root.join("real"), root.join("inner-link")).unwrap();
        symlink(root.join("nowhere"), root.join("broken-link")).unwrap();
        // The root itself may be reached by a link.
        symlink(&root, folder.path().join("way-in")).unwrap();
        let files = [
            "file-link",
            "folder-link/secret",
            "folder-link/missing",
            "inner-link",
            "broken-link",
        ];
        let expected = [("inner-link".to_owned(), true), ("broken-link".to_owned(), false)];
        assert_eq!(seen(&root, &files), expected);
        assert_eq!(seen(&folder.path().join("way-in"), &files), expected);
    }

    #[test]
    fn the_number_of_hashed_files_is_limited() {
        let folder = tempfile::tempdir().unwrap();
        let files: Vec<String> = (0..100).map(|number| format!("f{number}")).collect();
        assert_eq!(pins(folder.path(), &files).len(), MAX_FILES);
    }
}
