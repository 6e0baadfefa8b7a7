//! Normalised addresses of remotes.

/// The maximum length of an address in bytes.
const LENGTH_LIMIT: usize = 2048;

/// The address as `host/path`: without scheme, credentials, query, `.git` and the usual port, the host in lower case.
/// For example, `git@host:org/repo.git`, `ssh://git@host:2222/org/repo` and `https://user:token@Host/org/repo/` are the same.
/// `None` for a local path, which teammates cannot share, and for anything that is not an address.
pub fn normalize_remote(address: &str) -> Option<String> {
    let address = address.trim();
    if address.len() > LENGTH_LIMIT || address.contains(char::is_control) {
        return None;
    }
    let (host, path) = match address.split_once("://") {
        Some((scheme, rest)) => split_url(&scheme.to_ascii_lowercase(), rest)?,
        None => split_scp(address)?,
    };
    let path = path.split(['?', '#']).next().unwrap_or(path).trim_matches('/');
    let path = path.strip_suffix(".git").unwrap_or(path).trim_end_matches('/');
    (!host.is_empty() && !path.is_empty()).then(|| format!("{}/{path}", host.to_lowercase()))
}

fn split_url<'a>(scheme: &str, rest: &'a str) -> Option<(&'a str, &'a str)> {
    let scheme = scheme.strip_prefix("git+").unwrap_or(scheme);
    let (authority, path) = rest.split_once('/')?;
    let host = without_credentials(authority);
    let (name, port) = match host.rsplit_once(':') {
        Some((name, port)) if !port.ends_with(']') => (name, port),
        _ => (host, ""),
    };
    let host = match (scheme, port) {
        // SSH ports do not identify a repository.
        ("ssh", _) | ("https", "443" | "") | ("http", "80" | "") | ("git", "9418" | "") => name,
        ("https" | "http" | "git", _) => host,
        _ => return None,
    };
    Some((host, path))
}

/// `user@host:path`, the form of scp.
fn split_scp(address: &str) -> Option<(&str, &str)> {
    let colon = match address.find("]:") {
        Some(bracket) => bracket + 1,
        None => address.find(':')?,
    };
    let (host, path) = (without_credentials(&address[..colon]), &address[colon + 1..]);
    // A slash before the colon makes it a path, and a single letter is a drive.
    (!host.contains('/') && host.len() > 1).then_some((host, path))
}

fn without_credentials(authority: &str) -> &str {
    authority.rsplit_once('@').map_or(authority, |(_, host)| host)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn spellings_of_one_repository() {
        for address in [
            "git@git.example:org/Repo.git",
            "git.example:org/Repo",
            "git@git.example:/org/Repo.git/",
            "https://git.example/org/Repo",
            "https://Git.Example:443/org/Repo.git",
            "https://user:token@git.example/org/Repo.git/",
            "https://x-access-token:gh@p@git.example/org/Repo?private_token=x#y",
            "ssh://git@git.example/org/Repo.git",
            "ssh://git@git.example:2222/org/Repo.git",
            "git+ssh://git.example/org/Repo",
            "git://git.example:9418/org/Repo.git",
            " http://git.example:80//org/Repo.git\n",
        ] {
            assert_eq!(
                normalize_remote(address).as_deref(),
                Some("git.example/org/Repo"),
                "{address}"
            );
        }
    }

    #[test]
    fn what_is_kept_apart() {
        assert_eq!(
            normalize_remote("https://h:8443/o/r").as_deref(),
            Some("h:8443/o/r")
        );
        assert_eq!(normalize_remote("git@[::1]:o/r").as_deref(), Some("[::1]/o/r"));
        assert_eq!(
            normalize_remote("https://[::1]/o/r").as_deref(),
            Some("[::1]/o/r")
        );
    }

    #[test]
    fn local_paths_and_invalid_urls_have_no_remote() {
        let long = format!("https://h/{}", "x".repeat(3000));
        for address in [
            "",
            "/srv/r.git",
            "../r",
            "./a:b",
            "a/b:c",
            "file:///srv/r",
            "C:\\r",
            "C:/r",
            "https://h",
            "https://h/",
            "https:///r",
            "h:",
            "ftp://h/r",
            &long,
            "h:a\nb",
        ] {
            assert_eq!(normalize_remote(address), None, "{address}");
        }
    }

    proptest! {
        #[test]
        fn no_credential_survives(user in "[a-z]{1,8}", password in "[a-zA-Z0-9:@%]{1,20}") {
            let remote = normalize_remote(&format!("https://{user}:QQ{password}@h.example/o/r.git"));
            prop_assert_eq!(remote.as_deref(), Some("h.example/o/r"));
        }

        #[test]
        fn any_text_ends(text in any::<String>()) {
            let _ = normalize_remote(&text);
        }
    }
}
