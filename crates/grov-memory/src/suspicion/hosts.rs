//! What the name of a host says about it.

/// The kind of a host.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Host {
    /// Inside the organization, by its name or its private address.
    Internal,
    /// A public service that most projects use.
    Known,
    /// A public address without a name.
    Address,
    /// Any other.
    Foreign,
}

/// Parts of a name that mean a host of the organization.
const INTERNAL: &[&str] = &[
    "corp",
    "internal",
    "intern",
    "intranet",
    "local",
    "localhost",
    "lan",
    "home",
    "nexus",
    "artifactory",
    "verdaccio",
    "jfrog",
    "svc",
    "cluster",
    "localdomain",
    "private",
];
/// Public services.
const KNOWN: &[&str] = &[
    "github.com",
    "githubusercontent.com",
    "ghcr.io",
    "gitlab.com",
    "bitbucket.org",
    "codeberg.org",
    "pypi.org",
    "pythonhosted.org",
    "npmjs.org",
    "npmjs.com",
    "yarnpkg.com",
    "crates.io",
    "rubygems.org",
    "golang.org",
    "anaconda.org",
    "conda.io",
    "maven.org",
    "apache.org",
    "gradle.org",
    "nuget.org",
    "packagist.org",
    "docker.com",
    "docker.io",
    "quay.io",
    "gcr.io",
    "flathub.org",
    "debian.org",
    "ubuntu.com",
    "launchpad.net",
    "fedoraproject.org",
    "archlinux.org",
    "nixos.org",
    "huggingface.co",
    "pytorch.org",
    "nvidia.com",
    "googleapis.com",
    "google.com",
    "microsoft.com",
    "azure.com",
    "amazonaws.com",
    "sr.ht",
    "kernel.org",
    "npmmirror.com",
    "tuna.tsinghua.edu.cn",
    "aliyun.com",
    "hashicorp.com",
    "sourceforge.net",
    "jitpack.io",
    "bitnami.com",
    "pkg.dev",
    "cloudsmith.io",
    "pkgs.dev.azure.com",
];

/// The kind of the host at the start of an address without its scheme.
pub(super) fn host(address: &str) -> Host {
    let address = address.rsplit_once('@').map_or(address, |(_, rest)| rest);
    let name = address
        .split(['/', ':', '?', '#'])
        .next()
        .unwrap_or_default()
        .trim_end_matches('.');
    let numbers: Vec<Option<u8>> = name.split('.').map(|part| part.parse().ok()).collect();
    if let [Some(first), Some(second), Some(_), Some(_)] = numbers[..] {
        let is_private = matches!(
            (first, second),
            (10 | 127, _) | (192, 168) | (172, 16..=31) | (169, 254)
        );
        return if is_private { Host::Internal } else { Host::Address };
    }
    let is_known = |known: &&str| {
        name.strip_suffix(*known)
            .is_some_and(|rest| rest.is_empty() || rest.ends_with('.'))
    };
    if KNOWN.iter().any(is_known) {
        return Host::Known;
    }
    let is_inside = !name.contains('.') || name.split('.').any(|part| INTERNAL.contains(&part));
    if is_inside { Host::Internal } else { Host::Foreign }
}

/// Whether a memory says that a source belongs to the organization: "our registry".
pub(super) fn is_of_the_organization(texts: &[&str]) -> bool {
    const WORDS: &[&str] = &[
        "our",
        "ours",
        "own",
        "internal",
        "company",
        "companys",
        "corporate",
        "private",
        "in-house",
        "self-hosted",
        "unser",
        "unsere",
        "unserem",
        "unseren",
        "notre",
        "nos",
        "interne",
        "nuestro",
        "nuestra",
        "interno",
        "interna",
        "nosso",
        "nossa",
        "nostro",
        "nostra",
        "наш",
        "наше",
        "нашем",
        "внутренний",
        "внутреннее",
        "nasz",
        "nasze",
        "wewnętrzny",
        "onze",
        "intern",
        "şirket",
    ];
    const UNSPACED: &[&str] = &["内部", "公司", "社内", "自社", "사내", "내부"];
    texts.iter().any(|text| {
        let lower = text.to_lowercase();
        let mut words = lower.split(|character: char| !(character.is_alphanumeric() || character == '-'));
        words.any(|word| WORDS.contains(&word)) || UNSPACED.iter().any(|word| lower.contains(word))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hosts_are_told_apart_by_name() {
        assert_eq!(host("pypi.corp.example.com/simple"), Host::Internal);
        assert_eq!(host("10.1.2.3:8080/x"), Host::Internal);
        assert_eq!(host("nexus:8081"), Host::Internal);
        assert_eq!(host("185.212.44.9/b"), Host::Address);
        assert_eq!(host("registry.npmjs.org/"), Host::Known);
        assert_eq!(host("git@github.com:owner/name"), Host::Known);
        assert_eq!(host("notgithub.com/owner"), Host::Foreign);
        assert_eq!(host("pypi.fast-wheels.example.cn/simple"), Host::Foreign);
    }
}
