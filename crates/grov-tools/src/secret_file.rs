//! Files that hold keys, by their names.

/// Whether a file of this path usually holds keys or passwords. Such a file is not sent to a provider unless the user insists.
pub fn is_secret_file(path: &str) -> bool {
    let lower = path.to_ascii_lowercase();
    let name = lower.rsplit(['/', '\\']).next().unwrap_or_default();
    let ends = |endings: &[&str]| endings.iter().any(|ending| name.ends_with(ending));
    let is_example = ends(&[".example", ".sample", ".template", ".dist"]);
    let is_environment = name == ".env" || name.starts_with(".env.") || ends(&[".env"]) || name == ".envrc";
    let is_named = [
        ".netrc",
        "_netrc",
        ".npmrc",
        ".pypirc",
        ".pgpass",
        ".htpasswd",
        ".git-credentials",
        "credentials",
        "credentials.json",
        "service-account.json",
        "id_rsa",
        "id_dsa",
        "id_ecdsa",
        "id_ed25519",
        "hook-token",
        ".vault-token",
        "secrets.yaml",
        "secrets.yml",
        "secrets.json",
        "secrets.toml",
        "kubeconfig",
    ]
    .contains(&name);
    let is_key = ends(&[
        ".pem",
        ".key",
        ".p12",
        ".pfx",
        ".jks",
        ".keystore",
        ".kdbx",
        ".ppk",
        ".asc",
        ".gpg",
    ]);
    let is_inside = ["/.ssh/", "/.gnupg/", "/.aws/", "/.kube/", "/.docker/config.json"]
        .iter()
        .any(|folder| format!("/{lower}").contains(folder));
    !is_example && (is_environment || is_named || is_key || is_inside)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_with_keys_are_known_by_name() {
        for path in [
            ".env",
            "a/.env.local",
            "prod.env",
            "x/server.KEY",
            "cert.pem",
            ".ssh/config",
            "/home/a/.aws/config",
            ".npmrc",
        ] {
            assert!(is_secret_file(path), "{path}");
        }
        for path in [
            "src/main.rs",
            ".env.example",
            "environment.md",
            "keys.rs",
            "docs/ssh.md",
            "public.txt",
        ] {
            assert!(!is_secret_file(path), "{path}");
        }
    }
}
