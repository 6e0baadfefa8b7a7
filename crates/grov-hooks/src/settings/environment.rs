//! Environment variables that make the client use Grov's proxy.

use super::change::Change;
use super::error::SyntaxError;
use super::scan::Document;
use crate::json;
use grov_redact::Secret;

const BASE_URL: &str = "ANTHROPIC_BASE_URL";
const CUSTOM_HEADERS: &str = "ANTHROPIC_CUSTOM_HEADERS";
const TOOL_SEARCH: &str = "ENABLE_TOOL_SEARCH";
const PROJECT_HEADER: &str = "x-grov-project";
const USER_TOKEN_HEADER: &str = "x-grov-token";
/// Each makes the client use an HTTP proxy, also for requests to this machine.
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

/// The proxy that the client shall use.
#[derive(Clone, Copy, Debug)]
pub struct Route<'a> {
    /// URL of Grov's proxy, such as `http://127.0.0.1:8080`.
    pub url: &'a str,
    /// The project's directory, if the settings file belongs to one project on one machine.
    pub project: Option<&'a str>,
    /// The token that the proxy asks for.
    pub token: Option<&'a Secret>,
}

/// The result of [`route`].
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RoutedEnvironment {
    /// Variables to set in the settings file.
    pub environment: Vec<(String, String)>,
    /// The base URL that the client used before. The proxy must forward requests there.
    pub gateway: Option<String>,
    /// Notes for the user.
    pub notes: Vec<String>,
}

/// Returns the variables to set in a settings file. `process` is the environment in which the client is started; the file takes
/// precedence over it. `changes` are the earlier changes of the file by Grov.
///
/// # Errors
/// The text is not valid JSON.
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

    // With a custom base URL, the client sends all tools in full unless this is set.
    match variables.get(TOOL_SEARCH) {
        Some(choice) if choice != "true" => {
            let note = format!(
                "{TOOL_SEARCH} is {choice:?} and is not changed; \"true\" would make requests smaller"
            );
            routed.notes.push(note);
        }
        _ => routed.set(TOOL_SEARCH, "true"),
    }

    routed.environment.extend(variables.exceptions());

    let is_printable = |value: &&str| value.bytes().all(|byte| (b' '..=b'~').contains(&byte));
    let wanted = [
        (PROJECT_HEADER, route.project.filter(is_printable)),
        (USER_TOKEN_HEADER, route.token.map(Secret::expose)),
    ];
    let wanted: Vec<(&str, &str)> = wanted
        .into_iter()
        .filter_map(|(name, value)| Some((name, value?)))
        .collect();
    match (
        variables.in_file(CUSTOM_HEADERS),
        (variables.process)(CUSTOM_HEADERS),
    ) {
        _ if wanted.is_empty() => {}
        // Do not copy headers of the process to the file: they may contain credentials.
        (None, Some(_)) if route.token.is_none() => {}
        (None, Some(_)) => routed.notes.push(format!(
            "{CUSTOM_HEADERS} is set in the environment and is not changed, so the proxy would refuse requests; \
             add the line \"{USER_TOKEN_HEADER}: TOKEN\" to it, with a token of `grov token create NAME`"
        )),
        (headers, _) => routed.set(CUSTOM_HEADERS, &with_headers(headers.as_deref(), &wanted)),
    }
    Ok(routed)
}

/// Returns the base URL of a settings file if Grov wrote it, which are its earlier `changes`.
///
/// # Errors
/// The text is not valid JSON.
pub fn routed_to(text: &str, changes: &[Change]) -> Result<Option<String>, SyntaxError> {
    let url = Variables::read(text, |_| None)?.in_file(BASE_URL);
    Ok(url.filter(|url| was_written(changes, BASE_URL, url)))
}

/// Returns the token that a settings file makes the client send to the proxy.
///
/// # Errors
/// The text is not valid JSON.
pub fn user_token(text: &str) -> Result<Option<Secret>, SyntaxError> {
    let headers = Variables::read(text, |_| None)?.in_file(CUSTOM_HEADERS);
    Ok(token_of(&headers.unwrap_or_default()))
}

/// Returns the token in a value of `ANTHROPIC_CUSTOM_HEADERS`.
pub fn token_of(headers: &str) -> Option<Secret> {
    let mut lines = headers.lines().filter_map(|line| line.split_once(':'));
    let (_, token) = lines.find(|(name, _)| name.trim().eq_ignore_ascii_case(USER_TOKEN_HEADER))?;
    Some(Secret::new(token.trim()))
}

/// Returns the `NO_PROXY` variables to set so that the client reaches this machine directly; none if it uses no HTTP proxy.
///
/// # Errors
/// The text is not valid JSON.
pub fn loopback_exceptions(
    text: &str,
    process: impl Fn(&str) -> Option<String>,
) -> Result<Vec<(String, String)>, SyntaxError> {
    Ok(Variables::read(text, process)?.exceptions())
}

/// The client's variables: those of its settings file take precedence over those of its process.
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

    /// See [`loopback_exceptions`].
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

/// Whether both URLs are the same, with `localhost` and `127.0.0.1` treated as equal.
fn is_same_listener(one: &str, other: &str) -> bool {
    let plain = |url: &str| {
        url.trim_end_matches('/')
            .replacen("//localhost", "//127.0.0.1", 1)
    };
    plain(one).eq_ignore_ascii_case(&plain(other))
}

/// Whether an earlier registration set the variable to this value.
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

/// Adds this machine to a list of hosts that are reached directly.
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

/// Adds headers, and removes earlier ones of the same names.
fn with_headers(headers: Option<&str>, wanted: &[(&str, &str)]) -> String {
    let others = headers.unwrap_or_default().lines().filter(|line| {
        let name = line.split(':').next().unwrap_or_default().trim();
        let is_wanted = wanted.iter().any(|(wanted, _)| wanted.eq_ignore_ascii_case(name));
        !is_wanted && !line.trim().is_empty()
    });
    let mut lines: Vec<String> = others.map(str::to_owned).collect();
    lines.extend(wanted.iter().map(|(name, value)| format!("{name}: {value}")));
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
        route(
            file,
            find,
            &[],
            Route {
                url: URL,
                project,
                token: None,
            },
        )
        .unwrap()
    }

    fn value<'r>(routed: &'r RoutedEnvironment, name: &str) -> Option<&'r str> {
        let found = routed.environment.iter().find(|(known, _)| known == name);
        found.map(|(_, value)| value.as_str())
    }

    #[test]
    fn an_empty_file_gets_the_proxy() {
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
    fn a_gateway_is_chained_but_not_the_own_proxy() {
        let gateway = |file: &str, process: &[(&str, &str)]| routed(file, process, None).gateway;
        let corporate = "https://gateway.example/anthropic";
        let file = format!(r#"{{"env": {{"ANTHROPIC_BASE_URL": "{corporate}"}}}}"#);
        assert_eq!(gateway(&file, &[]).as_deref(), Some(corporate));
        assert_eq!(gateway("", &[(BASE_URL, corporate)]).as_deref(), Some(corporate));
        assert_eq!(gateway("", &[(BASE_URL, "http://localhost:8080/")]), None);
        assert_eq!(gateway(&file, &[(BASE_URL, URL)]).as_deref(), Some(corporate));
    }

    #[test]
    fn the_url_of_an_earlier_registration_is_not_a_gateway() {
        let wanted = Registration {
            environment: vec![(BASE_URL.to_owned(), "http://127.0.0.1:9000".to_owned())],
            ..Registration::default()
        };
        let earlier = register("{}", &wanted).unwrap();
        let to = Route {
            url: URL,
            project: None,
            token: None,
        };
        let routed = route(&earlier.text, |_| None, &earlier.changes, to).unwrap();
        assert_eq!(routed.gateway, None);
    }

    #[test]
    fn loopback_is_excepted_from_an_http_proxy() {
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
    fn the_users_choice_of_tool_search_is_kept() {
        let routed = routed(r#"{"env": {"ENABLE_TOOL_SEARCH": "false"}}"#, &[], None);
        assert_eq!(value(&routed, TOOL_SEARCH), None);
        assert!(routed.notes[0].contains(TOOL_SEARCH), "{:?}", routed.notes);
    }

    #[test]
    fn the_token_is_added_to_other_headers_and_found_again() {
        let token = Secret::new("grov_2");
        let to = Route {
            url: URL,
            project: Some("/p"),
            token: Some(&token),
        };
        let file = r#"{"env": {"ANTHROPIC_CUSTOM_HEADERS": "X-Grov-Token: grov_1\nA: b"}}"#;
        assert_eq!(user_token(file).unwrap(), Some(Secret::new("grov_1")));
        let routed = route(file, |_| None, &[], to).unwrap();
        let headers = value(&routed, CUSTOM_HEADERS).unwrap();
        assert_eq!(headers, "A: b\nx-grov-project: /p\nx-grov-token: grov_2");
        assert_eq!(token_of(headers), Some(token.clone()));
        assert_eq!(user_token("{}").unwrap(), None);
        let of_process = |name: &str| (name == CUSTOM_HEADERS).then(|| "B: c".to_owned());
        let routed = route("", of_process, &[], to).unwrap();
        assert_eq!(value(&routed, CUSTOM_HEADERS), None);
        assert!(
            routed.notes[0].contains("x-grov-token: TOKEN"),
            "{:?}",
            routed.notes
        );
    }

    #[test]
    fn the_project_header_is_added_to_others() {
        let headers = |file: &str, process: &[(&str, &str)], project: &str| {
            value(&routed(file, process, Some(project)), CUSTOM_HEADERS).map(str::to_owned)
        };
        assert_eq!(headers("", &[], "/p q").as_deref(), Some("x-grov-project: /p q"));
        let file = r#"{"env": {"ANTHROPIC_CUSTOM_HEADERS": "A: b\nX-Grov-Project: /old"}}"#;
        assert_eq!(
            headers(file, &[], "/p").as_deref(),
            Some("A: b\nx-grov-project: /p")
        );
        assert_eq!(headers("", &[], "/ünï"), None, "not representable in a header");
        assert_eq!(
            headers("", &[(CUSTOM_HEADERS, "Authorization: secret")], "/p"),
            None
        );
    }
}
