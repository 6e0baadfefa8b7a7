//! Reads dependencies line by line, by the format of the manifest. The text may be a part of the file.

use crate::normalized_path::NormalizedPath;

/// Only the first lines of a manifest are read.
const MAX_LINES: usize = 1000;

/// The format of a manifest.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Format {
    /// package.json, composer.json, deno.json, vcpkg.json
    Json,
    /// Cargo.toml, Pipfile, and pyproject.toml, which also has lists of requirements.
    Toml,
    /// libs.versions.toml
    Catalog,
    /// requirements.txt
    Requirements,
    /// setup.py, setup.cfg
    Python,
    GoMod,
    /// Gemfile, *.gemspec, Podfile
    Ruby,
    /// pom.xml, *.csproj
    Xml,
    Gradle,
    /// pubspec.yaml, environment.yml
    Yaml,
    Mix,
    Swift,
    Sbt,
}

impl Format {
    fn of(place: &NormalizedPath) -> Option<Self> {
        Some(match (place.name(), place.extension()) {
            ("libs.versions.toml", _) => Self::Catalog,
            (_, "json") => Self::Json,
            (_, "toml") | ("pipfile", _) => Self::Toml,
            (_, "txt" | "in") => Self::Requirements,
            ("setup.py" | "setup.cfg", _) => Self::Python,
            ("go.mod", _) => Self::GoMod,
            ("gemfile" | "podfile", _) | (_, "gemspec") => Self::Ruby,
            (_, "xml" | "csproj" | "props") => Self::Xml,
            (_, "gradle" | "kts") => Self::Gradle,
            (_, "yaml" | "yml") => Self::Yaml,
            ("mix.exs", _) => Self::Mix,
            ("package.swift", _) => Self::Swift,
            (_, "sbt") => Self::Sbt,
            _ => return None,
        })
    }
}

/// The dependencies that a text of a manifest declares, in lower case.
pub(super) fn dependencies(place: &NormalizedPath, text: &str) -> Vec<String> {
    let Some(format) = Format::of(place) else {
        return Vec::new();
    };
    let mut section = Section::Unknown;
    let mut found: Vec<String> = Vec::new();
    for line in text.lines().take(MAX_LINES) {
        let bare = line.trim();
        if bare.is_empty()
            || bare.starts_with(['#', '*'])
            || bare.starts_with("//")
            || bare.starts_with("<!--")
        {
            continue;
        }
        section.enter(bare, line, format);
        let names = match format {
            Format::Json => json(bare, section),
            Format::Toml | Format::Catalog => toml(bare, section, format),
            Format::Requirements => requirement(bare).into_iter().collect(),
            Format::Python => quoted(bare).filter_map(versioned).collect(),
            Format::GoMod => go_module(bare).into_iter().collect(),
            Format::Ruby => ruby(bare).into_iter().collect(),
            Format::Xml => xml(bare, section).into_iter().collect(),
            Format::Gradle => gradle(bare).into_iter().collect(),
            Format::Yaml => yaml(line, section).into_iter().collect(),
            Format::Mix => mix(bare).into_iter().collect(),
            Format::Swift => swift(bare).into_iter().collect(),
            Format::Sbt => sbt(bare).into_iter().collect(),
        };
        found.extend(
            names
                .into_iter()
                .filter(|name| is_name(name))
                .map(str::to_lowercase),
        );
    }
    found
}

/// What the lines around a line are about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Section {
    /// The text does not show it.
    Unknown,
    Dependencies,
    Other,
}

impl Section {
    /// Enters the section that a line begins.
    fn enter(&mut self, line: &str, raw: &str, format: Format) {
        let is_dependencies = |name: &str| {
            name.to_ascii_lowercase().contains("dependenc")
                || name.contains("packages")
                || name == "require"
                || name == "require-dev"
                || name == "imports"
        };
        let of = |name: &str| {
            if is_dependencies(name) {
                Self::Dependencies
            } else {
                Self::Other
            }
        };
        match format {
            Format::Json if line.ends_with('{') || line.ends_with('[') => {
                if let Some(name) = quoted(line).next() {
                    *self = of(name);
                }
            }
            Format::Json if line.starts_with(['}', ']']) => *self = Self::Unknown,
            Format::Toml | Format::Catalog
                if line.starts_with('[') && line.ends_with(']') && !line.contains(',') =>
            {
                let name = line.trim_matches(['[', ']']);
                *self = if name.contains("libraries") {
                    Self::Dependencies
                } else {
                    of(name)
                };
            }
            Format::Xml => {
                if ["<dependency>", "<dependency "]
                    .iter()
                    .any(|tag| line.starts_with(tag))
                {
                    *self = Self::Dependencies;
                } else if ["<plugin>", "<parent>", "<exclusion>", "</dependency>"]
                    .iter()
                    .any(|tag| line.starts_with(tag))
                {
                    *self = Self::Other;
                }
            }
            Format::Yaml if !raw.starts_with([' ', '\t', '-']) => *self = of(line.trim_end_matches(':')),
            _ => {}
        }
    }
}

/// Keys that look like dependencies but are not.
#[rustfmt::skip]
const NO_DEPENDENCIES: &[&str] = &[
    "author", "description", "edition", "engines", "go", "license", "lto", "main", "module", "name", "node", "npm", "opt-level", "packagemanager", "pnpm", "python",
    "requires-python", "resolver", "rust-version", "sdk", "target", "type", "version", "yarn",
];

fn is_name(name: &str) -> bool {
    let fits = |letter: char| {
        letter.is_ascii_alphanumeric() || matches!(letter, '-' | '_' | '.' | '/' | '@' | ':' | '[' | ']')
    };
    (1..=120).contains(&name.len())
        && name.contains(|letter: char| letter.is_ascii_alphabetic())
        && name.chars().all(fits)
        && !NO_DEPENDENCIES.contains(&name.to_ascii_lowercase().as_str())
}

/// Whether a value is a version or the place of a package.
fn is_version(value: &str) -> bool {
    let value = value.trim().trim_matches(['"', '\'', ',']);
    const PLACES: &[&str] = &[
        "workspace:",
        "npm:",
        "jsr:",
        "git+",
        "github:",
        "catalog:",
        "latest",
        "next",
        "http",
        "any",
    ];
    let number = value.trim_start_matches(['^', '~', '=', '>', '<', 'v', ' ']);
    value == "*"
        || PLACES.iter().any(|place| value.starts_with(place))
        || number.starts_with(|letter: char| letter.is_ascii_digit()) && !number.contains(['/', ':'])
}

/// The quoted parts of a line.
fn quoted(line: &str) -> impl Iterator<Item = &str> {
    line.split(['"', '\'']).skip(1).step_by(2)
}

/// `requests` of `requests>=2`; `None` for a text without a version.
fn versioned(text: &str) -> Option<&str> {
    let end = text.find(['=', '>', '<', '~', '!'])?;
    Some(without_extras(&text[..end]))
}

fn without_extras(name: &str) -> &str {
    name.split(['[', ';', ' ']).next().unwrap_or_default().trim()
}

fn json(line: &str, section: Section) -> Vec<&str> {
    if section == Section::Other {
        return Vec::new();
    }
    // `"dependencies": { "a": "1", "b": "2" }` on one line.
    let body = match line.split_once('{') {
        Some((key, body))
            if key.contains("ependenc") || key.contains("require") || key.contains("imports") =>
        {
            body
        }
        Some(_) => return Vec::new(),
        None => line,
    };
    let declared = body.split(',').filter_map(|pair| {
        let (name, version) = pair.split_once("\":")?;
        let is_catalog = section == Section::Dependencies;
        (is_version(version) || is_catalog && version.contains('"'))
            .then(|| name.trim().trim_start_matches('"'))
    });
    declared.collect()
}

fn toml(line: &str, section: Section, format: Format) -> Vec<&str> {
    // `[dependencies.serde]`
    if let Some(header) = line.strip_prefix('[').and_then(|line| line.strip_suffix(']')) {
        let table = header
            .rsplit_once("dependencies.")
            .map(|(_, name)| name.trim_matches(']'));
        return table.into_iter().collect();
    }
    let Some((key, value)) = line
        .split_once('=')
        .filter(|(key, _)| !key.trim_start().starts_with(['"', '\'']))
    else {
        // A list of requirements: `"requests>=2",`.
        let is_listed = section != Section::Other || line.contains('>') || line.contains("==");
        return quoted(line).filter(|_| is_listed).filter_map(versioned).collect();
    };
    let (key, value) = (key.trim(), value.trim());
    if value.starts_with('[') {
        let lists = ["dependencies", "requires", "dev", "test", "install_requires"];
        let is_list = lists.contains(&key) && !key.contains("python");
        return quoted(value)
            .filter(|_| is_list)
            .map(|name| versioned(name).unwrap_or(name))
            .map(without_extras)
            .collect();
    }
    if section == Section::Other {
        return Vec::new();
    }
    let name = key.trim_matches('"').split('.').next().unwrap_or_default();
    let is_local = value.contains("path =") && !value.contains("version") && !value.contains("git =");
    let is_table = value.starts_with('{')
        && !is_local
        && (value.contains("version")
            || value.contains("git =")
            || value.contains("workspace")
            || value.contains("module =")
            || value.contains("group ="));
    let is_plain = format != Format::Catalog && value.starts_with(['"', '\'']) && is_version(value);
    let is_shared = key.ends_with(".workspace");
    (is_table || is_plain || is_shared)
        .then_some(name)
        .into_iter()
        .collect()
}

fn requirement(line: &str) -> Option<&str> {
    if line.starts_with('-') {
        return None;
    }
    if let Some((_, egg)) = line.split_once("#egg=") {
        return Some(egg);
    }
    let name = versioned(line).unwrap_or(line);
    let name = name.split([';', '#', '@']).next().unwrap_or_default();
    Some(without_extras(name.trim()))
}

fn go_module(line: &str) -> Option<&str> {
    if line.contains("=>")
        || line.ends_with("// indirect")
        || line.starts_with("exclude")
        || line.starts_with("retract")
    {
        return None;
    }
    let line = line.strip_prefix("require ").unwrap_or(line);
    let (name, version) = line.split_once(' ')?;
    (version.starts_with('v') && name.contains(['.', '/'])).then_some(name)
}

fn ruby(line: &str) -> Option<&str> {
    let declares = ["gem ", "gem(", "pod ", "pod("]
        .iter()
        .any(|begin| line.starts_with(begin))
        || line.contains("add_") && line.contains("dependency");
    let is_local = line.contains("path:") || line.contains(":path");
    (declares && !is_local).then(|| quoted(line).next())?
}

fn xml(line: &str, section: Section) -> Option<&str> {
    let package = ["<PackageReference ", "<PackageVersion "];
    if package.iter().any(|tag| line.starts_with(tag)) {
        let (_, rest) = line.split_once("Include=")?;
        return quoted(rest).next();
    }
    // `<dependency><artifactId>x</artifactId></dependency>` may be on one line.
    let (_, rest) = line
        .split_once("<artifactId>")
        .filter(|_| section == Section::Dependencies)?;
    rest.split('<').next()
}

fn gradle(line: &str) -> Option<&str> {
    #[rustfmt::skip]
    const CONFIGURATIONS: &[&str] = &[
        "annotationprocessor", "api", "classpath", "compileonly", "coreLibraryDesugaring", "implementation", "kapt", "ksp", "runtimeonly",
    ];
    let end = line.find(['(', ' '])?;
    let (configuration, rest) = line.split_at(end);
    let configuration = configuration.to_ascii_lowercase();
    if !CONFIGURATIONS.iter().any(|name| configuration.ends_with(name))
        || rest.contains("project(")
        || rest.contains("files(")
        || rest.contains("fileTree(")
    {
        return None;
    }
    match quoted(rest).next() {
        // `group:artifact:version`
        Some(coordinates) => {
            let end = coordinates
                .match_indices(':')
                .nth(1)
                .map_or(coordinates.len(), |(at, _)| at);
            coordinates.contains(':').then_some(&coordinates[..end])
        }
        None => rest.trim_matches(['(', ')', ' ']).strip_prefix("libs."),
    }
}

fn yaml(line: &str, section: Section) -> Option<&str> {
    if section == Section::Other {
        return None;
    }
    let bare = line.trim();
    // environment.yml
    if let Some(name) = bare.strip_prefix("- ") {
        return (section == Section::Dependencies && !name.ends_with(':'))
            .then(|| versioned(name).unwrap_or(name).trim());
    }
    let (name, version) = bare.split_once(':')?;
    let depth = line.len() - line.trim_start().len();
    let is_nested = depth > 2
        || matches!(
            name,
            "git" | "url" | "ref" | "path" | "hosted" | "sdk" | "flutter"
        );
    let declares = is_version(version)
        && (section == Section::Dependencies || version.trim().starts_with('^'))
        || version.trim().is_empty() && section == Section::Dependencies && depth > 0;
    (declares && !is_nested).then_some(name)
}

fn mix(line: &str) -> Option<&str> {
    let (name, rest) = line.strip_prefix("{:")?.split_once(',')?;
    let is_local = rest.contains("path:") || rest.contains("in_umbrella");
    let declares = rest.contains("~>")
        || rest.contains(">=")
        || rest.contains("==")
        || rest.contains("git:")
        || rest.contains("github:");
    (declares && !is_local).then_some(name)
}

fn swift(line: &str) -> Option<&str> {
    let (_, rest) = line.split_once(".package(")?;
    let url = quoted(rest).find(|text| text.contains("://"))?;
    let name = url.trim_end_matches('/').rsplit('/').next()?;
    Some(name.strip_suffix(".git").unwrap_or(name))
}

fn sbt(line: &str) -> Option<&str> {
    let is_library = line.contains("\" %% \"") || line.contains("\" % \"");
    is_library.then(|| quoted(line).nth(1))?
}
