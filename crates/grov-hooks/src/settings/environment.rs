//! What the client's environment must say so that it talks to Grov's proxy.

use super::change::Change;
use super::error::SyntaxError;
use super::scan::Document;
use crate::json;

const BASE_URL: &str = "ANTHROPIC_BASE_URL";
const CUSTOM_HEADERS: &str = "ANTHROPIC_CUSTOM_HEADERS";
const TOOL_SEARCH: &str = "ENABLE_TOOL_SEARCH";
const PROJECT_HEADER: &str = "x-grov-project";
/// Each sends requests through a proxy of the user's, those to this machine included.
const PROXIES: [&str; 6] = [
    "HTTPS_PROXY",
    "https_proxy",
    "HTTP_PROXY",
    "http_proxy",
    "ALL_PROXY",
    "all_proxy",
];
const EXCEPTIONS: [&str; 2] = ["NO_PROXY", "no_proxy"];
const LOOPBACK: [&str; 2] = ["127.0.0.1", "localhost"];

/// Where the client is to send its requests.
#[derive(Clone, Copy, Debug)]
pub struct Route<'a> {
    /// Where Grov's proxy listens: `http://127.0.0.1:8080`.
    pub url: &'a str,
    /// The project's directory, where the file belongs to one project on one machine.
    pub project: Option<&'a str>,
}

/// What follows for the client's environment.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RoutedEnvironment {
    /// Variables to set in the file.
    pub environment: Vec<(String, String)>,
    /// Where the client sent its requests before; the proxy must send them there.
    pub gateway: Option<String>,
    /// What a person should know.
    pub notes: Vec<String>,
}

/// Decides what must be set in a settings file. `process` is the environment that the client is started from, which the
/// file ranks above; `changes` is what was registered in the file before.
///
/// # Errors
/// The text is no JSON.
pub fn route(
    text: &str,
    process: impl Fn(&str) -> Option<String>,
    changes: &[Change],
    route: Route<'_>,
) -> Result<RoutedEnvironment, SyntaxError> {
    let variables = Variables::read(text, process)?;
    let mut routed = RoutedEnvironment::default();

    let set = variables.get(BASE_URL).filter(|set| !set.is_empty());
    routed.gateway =
        set.filter(|set| !is_same_listener(set, route.url) && !was_written(changes, BASE_URL, set));
    routed.set(BASE_URL, route.url);

    // Behind a base address of one's own the client sends every tool in full unless told otherwise.
    match variables.get(TOOL_SEARCH) {
        Some(choice) if choice != "true" => {
            let note =
                format!("{TOOL_SEARCH} is {choice:?} and stays so; with \"true\" requests would be smaller");
            routed.notes.push(note);
        }
        _ => routed.set(TOOL_SEARCH, "true"),
    }

    routed.environment.extend(variables.exceptions());

    if let Some(project) = route.project {
        match (
            variables.in_file(CUSTOM_HEADERS),
            (variables.process)(CUSTOM_HEADERS),
        ) {
            // A header may be a credential, which is not ours to write down.
            (None, Some(_)) => {}
            _ if !project.bytes().all(|byte| (b' '..=b'~').contains(&byte)) => {}
            (headers, _) => routed.set(CUSTOM_HEADERS, &with_header(headers.as_deref(), project)),
        }
    }
    Ok(routed)
}

/// What must be set so that the client reaches this machine without a proxy of the user's.
///
/// # Errors
/// The text is no JSON.
pub fn loopback_exceptions(
    text: &str,
    process: impl Fn(&str) -> Option<String>,
) -> Result<Vec<(String, String)>, SyntaxError> {
    Ok(Variables::read(text, process)?.exceptions())
}

/// The variables that the client gets: those of its settings file, then those of its own environment.
struct Variables<'t, P> {
    document: Document<'t>,
    process: P,
}

impl<'t, P: Fn(&str) -> Option<String>> Variables<'t, P> {
    fn read(text: &'t str, process: P) -> Result<Self, SyntaxError> {
        let document = Document::scan(text)?;
        Ok(Self { document, process })
    }

    fn in_file(&self, name: &str) -> Option<String> {
        self.document.at(&["env", name])?.text().map(str::to_owned)
    }

    fn get(&self, name: &str) -> Option<String> {
        self.in_file(name).or_else(|| (self.process)(name))
    }

    /// The `NO_PROXY` variables to set so that the client reaches this machine directly; none if it uses no proxy.
    fn exceptions(&self) -> Vec<(String, String)> {
        let is_set = |name| self.get(name).is_some_and(|proxy| !proxy.is_empty());
        if !PROXIES.into_iter().any(is_set) {
            return Vec::new();
        }
        let named = |find: &dyn Fn(&str) -> Option<String>| -> Vec<&str> {
            let names = EXCEPTIONS.into_iter();
            names.filter(|name| find(name).is_some()).collect()
        };
        let mut names = named(&|name| self.in_file(name));
        if names.is_empty() {
            names = named(&self.process);
        }
        if names.is_empty() {
            names.push(EXCEPTIONS[0]);
        }
        let mut set = Vec::new();
        for name in names {
            let value = with_loopback(&self.get(name).unwrap_or_default());
            if self.in_file(name).is_some() || self.get(name).as_ref() != Some(&value) {
                set.push((name.to_owned(), value));
            }
        }
        set
    }
}

impl RoutedEnvironment {
    fn set(&mut self, name: &str, value: &str) {
        self.environment.push((name.to_owned(), value.to_owned()));
    }
}

/// Whether both addresses lead to the same port of this machine.
fn is_same_listener(one: &str, other: &str) -> bool {
    let plain = |url: &str| {
        url.trim_end_matches('/')
            .replacen("//localhost", "//127.0.0.1", 1)
    };
    plain(one).eq_ignore_ascii_case(&plain(other))
}

/// Whether an earlier registration gave the variable this value.
fn was_written(changes: &[Change], name: &str, value: &str) -> bool {
    changes.iter().any(|change| {
        let written = match change {
            Change::Inserted { into, key, value, .. } if into == &["env"] && key.as_deref() == Some(name) => {
                value
            }
            Change::Replaced { at, after, .. } if at == &["env", name] => after,
            _ => return false,
        };
        json::parse::<String>(written).as_deref() == Some(value)
    })
}

/// The hosts that are reached without a proxy, this machine among them.
fn with_loopback(hosts: &str) -> String {
    let named: Vec<&str> = hosts.split([',', ' ']).filter(|host| !host.is_empty()).collect();
    let mut result = hosts.to_owned();
    for host in LOOPBACK {
        if !named.contains(&host) && !named.contains(&"*") {
            if !result.is_empty() {
                result.push(',');
            }
            result.push_str(host);
        }
    }
    result
}

/// The headers with the project's, in place of any that names a project.
fn with_header(headers: Option<&str>, project: &str) -> String {
    let others = headers.unwrap_or_default().lines().filter(|line| {
        let name = line.split(':').next().unwrap_or_default();
        !name.trim().eq_ignore_ascii_case(PROJECT_HEADER) && !line.trim().is_empty()
    });
    let mut lines: Vec<String> = others.map(str::to_owned).collect();
    lines.push(format!("{PROJECT_HEADER}: {project}"));
    lines.join("\n")
}

#[cfg(test)]
mod tests {
    use super::super::{Registration, register};
    use super::*;

    const URL: &str = "http://127.0.0.1:8080";

    fn routed(file: &str, process: &[(&str, &str)], project: Option<&str>) -> RoutedEnvironment {
        let find = |name: &str| {
            let found = process.iter().find(|(known, _)| *known == name);
            found.map(|(_, value)| (*value).to_owned())
        };
        route(file, find, &[], Route { url: URL, project }).unwrap()
    }

    fn value<'r>(routed: &'r RoutedEnvironment, name: &str) -> Option<&'r str> {
        let found = routed.environment.iter().find(|(known, _)| known == name);
        found.map(|(_, value)| value.as_str())
    }

    #[test]
    fn an_empty_file_is_sent_to_the_proxy() {
        let routed = routed("", &[], None);
        assert_eq!(
            routed.environment,
            [
                ("ANTHROPIC_BASE_URL".to_owned(), URL.to_owned()),
                ("ENABLE_TOOL_SEARCH".to_owned(), "true".to_owned())
            ]
        );
        assert_eq!((routed.gateway, routed.notes), (None, Vec::new()));
    }

    #[test]
    fn a_gateway_is_chained_but_not_ourselves() {
        let gateway = |file: &str, process: &[(&str, &str)]| routed(file, process, None).gateway;
        let corporate = "https://gateway.example/anthropic";
        let file = format!(r#"{{"env": {{"ANTHROPIC_BASE_URL": "{corporate}"}}}}"#);
        assert_eq!(gateway(&file, &[]).as_deref(), Some(corporate));
        assert_eq!(gateway("", &[(BASE_URL, corporate)]).as_deref(), Some(corporate));
        assert_eq!(gateway("", &[(BASE_URL, "http://localhost:8080/")]), None);
        assert_eq!(gateway(&file, &[(BASE_URL, URL)]).as_deref(), Some(corporate));
    }

    #[test]
    fn the_address_of_an_earlier_registration_is_no_gateway() {
        let wanted = Registration {
            environment: vec![(BASE_URL.to_owned(), "http://127.0.0.1:9000".to_owned())],
            ..Registration::default()
        };
        let earlier = register("{}", &wanted).unwrap();
        let to = Route {
            url: URL,
            project: None,
        };
        let routed = route(&earlier.text, |_| None, &earlier.changes, to).unwrap();
        assert_eq!(routed.gateway, None);
    }

    #[test]
    fn loopback_needs_no_proxy_where_there_is_one() {
        assert_eq!(value(&routed("", &[("NO_PROXY", "a")], None), "NO_PROXY"), None);
        let proxy = ("HTTPS_PROXY", "http://p:3128");
        let set = |file: &str, process: &[(&str, &str)]| {
            let routed = routed(file, process, None);
            EXCEPTIONS.map(|name| value(&routed, name).map(str::to_owned))
        };
        let some = |text: &str| Some(text.to_owned());
        assert_eq!(set("", &[proxy]), [some("127.0.0.1,localhost"), None]);
        assert_eq!(
            set("", &[proxy, ("no_proxy", "corp")]),
            [None, some("corp,127.0.0.1,localhost")]
        );
        assert_eq!(
            set("", &[proxy, ("NO_PROXY", "localhost, 127.0.0.1")]),
            [None, None]
        );
        assert_eq!(set("", &[proxy, ("NO_PROXY", "*")]), [None, None]);
        assert_eq!(
            set(
                r#"{"env": {"http_proxy": "p", "NO_PROXY": "x localhost"}}"#,
                &[("NO_PROXY", "y")]
            ),
            [some("x localhost,127.0.0.1"), None]
        );
    }

    #[test]
    fn the_users_choice_of_tool_search_stays() {
        let routed = routed(r#"{"env": {"ENABLE_TOOL_SEARCH": "false"}}"#, &[], None);
        assert_eq!(value(&routed, TOOL_SEARCH), None);
        assert!(routed.notes[0].contains(TOOL_SEARCH), "{:?}", routed.notes);
    }

    #[test]
    fn the_project_is_named_beside_other_headers() {
        let headers = |file: &str, process: &[(&str, &str)], project: &str| {
            value(&routed(file, process, Some(project)), CUSTOM_HEADERS).map(str::to_owned)
        };
        assert_eq!(headers("", &[], "/p q").as_deref(), Some("x-grov-project: /p q"));
        let file = r#"{"env": {"ANTHROPIC_CUSTOM_HEADERS": "A: b\nX-Grov-Project: /old"}}"#;
        assert_eq!(
            headers(file, &[], "/p").as_deref(),
            Some("A: b\nx-grov-project: /p")
        );
        assert_eq!(headers("", &[], "/ünï"), None, "no header can say that");
        assert_eq!(
            headers("", &[(CUSTOM_HEADERS, "Authorization: secret")], "/p"),
            None
        );
    }
}
