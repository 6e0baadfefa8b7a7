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
    /// Any other, below a top-level domain that lists of abused domains put first.
    Dubious,
}

/// Such top-level domains.
#[rustfmt::skip]
const DUBIOUS: &[&str] = &[
    "top", "xyz", "icu", "click", "pw", "loan", "buzz", "cf", "ga", "gq", "ml", "tk", "work", "monster", "quest", "cam", "lol", "rest",
    "surf", "hair", "zip", "mov", "biz", "su", "cyou", "sbs", "cfd", "bond", "autos", "boats", "mom", "pics", "beauty", "gives", "fun",
    "cc", "vip", "site", "online", "website", "space", "win", "bid", "men", "date", "stream", "download", "racing", "review", "country",
];

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
/// Public services: registries, mirrors, and projects that offer packages of their own.
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
    "anthropic.com",
    "openai.com",
    "openrouter.ai",
    "mistral.ai",
    "groq.com",
    "together.xyz",
    "deepseek.com",
    "sentry.io",
    "stripe.com",
    "slack.com",
    "discord.com",
    "cloudflare.com",
    "vercel.app",
    "docs.rs",
    "readthedocs.io",
    "wikipedia.org",
    "stackoverflow.com",
    "mozilla.org",
    "w3.org",
    "rust-lang.org",
    "python.org",
    "nodejs.org",
    "ietf.org",
    "github.io",
    "gitlab.io",
    "grafana.com",
    "elastic.co",
    "jetstack.io",
    "helm.sh",
    "k8s.io",
    "kubernetes.io",
    "nodesource.com",
    "postgresql.org",
    "nginx.org",
    "redis.io",
    "mongodb.com",
    "mongodb.org",
    "mysql.com",
    "mariadb.org",
    "rabbitmq.com",
    "influxdata.com",
    "datadoghq.com",
    "newrelic.com",
    "tailscale.com",
    "adoptium.net",
    "llvm.org",
    "cmake.org",
    "kitware.com",
    "goproxy.cn",
    "goproxy.io",
    "ustc.edu.cn",
    "edu.cn",
    "leaseweb.com",
    "alpinelinux.org",
    "opensuse.org",
    "redhat.com",
    "centos.org",
    "rockylinux.org",
    "cncf.io",
    "istio.io",
    "hashicorp.io",
    "deno.land",
    "bun.sh",
    "rustup.rs",
    "clojars.org",
    "hex.pm",
    "cocoapods.org",
    "pub.dev",
    "dart.dev",
    "flutter.dev",
    "cran.r-project.org",
    "julialang.org",
    "hackage.haskell.org",
    "elm-lang.org",
    "swift.org",
    "jsdelivr.net",
    "unpkg.com",
    "esm.sh",
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
    let is_dubious = name
        .rsplit('.')
        .next()
        .is_some_and(|domain| DUBIOUS.contains(&domain));
    match (is_inside, is_dubious) {
        (true, _) => Host::Internal,
        (false, true) => Host::Dubious,
        (false, false) => Host::Foreign,
    }
}

impl Host {
    /// Whether it is of a stranger.
    pub(super) fn is_foreign(self) -> bool {
        matches!(self, Self::Foreign | Self::Dubious | Self::Address)
    }
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
