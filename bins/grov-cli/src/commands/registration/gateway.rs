//! The gateway that the client talked to before: the proxy is told of it in the home's `.env`.

use crate::failure::Failure;
use grov_hooks::settings::{SettingsError, SettingsFile};
use grov_runtime::{Home, Settings, Url};

/// By this a line is known again.
const MARK: &str = " # the gateway of the client's settings, noted by grov init";
const VARIABLE: &str = "GROV_PROXY_UPSTREAM";

/// The gateway as the proxy's upstream, if that is news to it.
///
/// # Errors
/// It is no address, or the proxy is set up to forward to another one.
pub(super) fn to_note(gateway: &str, settings: &Settings) -> Result<Option<String>, Failure> {
    let url = Url::parse(gateway).map_err(|error| {
        let message = format!(
            "ANTHROPIC_BASE_URL is {:?}, which cannot be chained: {error}",
            shown(gateway)
        );
        Failure::error(
            "gateway",
            message,
            Some("mend or remove it in the client's settings"),
        )
    })?;
    let plain = |url: &str| url.trim_end_matches('/').to_owned();
    let upstream = settings.proxy().upstream.as_str();
    if plain(upstream) == plain(url.as_str()) {
        return Ok(None);
    }
    if settings.is_set("proxy.upstream") {
        let message = format!(
            "the client talks to {} and the proxy forwards to {}: one proxy has one upstream",
            shown(gateway),
            shown(upstream)
        );
        let hint = "make proxy.upstream the client's gateway (grov config explain proxy.upstream), or leave --proxy away";
        return Err(Failure::error("gateway", message, Some(hint)));
    }
    Ok(Some(url.as_str().to_owned()))
}

/// Notes the proxy's upstream.
pub(super) fn note(home: &Home, upstream: &str) -> Result<(), SettingsError> {
    let file = SettingsFile::read(&home.env_file())?;
    let mut text = without(file.text());
    if !text.is_empty() && !text.ends_with('\n') {
        text.push('\n');
    }
    text.push_str(&format!("{VARIABLE}=\"{upstream}\"{MARK}\n"));
    file.replace(&text)
}

/// Takes the note back; says if there was one.
pub(super) fn forget(home: &Home) -> Result<bool, SettingsError> {
    let file = SettingsFile::read(&home.env_file())?;
    let text = without(file.text());
    if text == file.text() {
        return Ok(false);
    }
    if text.is_empty() {
        file.remove()?;
    } else {
        file.replace(&text)?;
    }
    Ok(true)
}

fn without(text: &str) -> String {
    let lines = text.split_inclusive('\n');
    lines.filter(|line| !line.trim_end().ends_with(MARK)).collect()
}

/// An address as it may be shown: without a user's name and password.
pub(crate) fn shown(url: &str) -> String {
    match (url.find("://"), url.find('@')) {
        (Some(scheme), Some(at)) if scheme < at => format!("{}{}", &url[..scheme + 3], &url[at + 1..]),
        _ => url.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use grov_runtime::{Environment, Inputs};

    fn settings(home: &Home, variables: &[(&str, &str)]) -> Settings {
        let environment: Environment = variables.iter().copied().collect();
        let inputs = Inputs {
            home,
            environment: &environment,
            directory: None,
            flags: &[],
        };
        Settings::load(inputs).unwrap()
    }

    #[test]
    fn a_gateway_is_noted_once_and_taken_back() {
        let folder = tempfile::tempdir().unwrap();
        let home = Home::locate(Some(folder.path()), &Environment::default()).unwrap();
        let url = "https://user:pass@gateway.example/a#b".replace("#b", "");
        std::fs::write(home.env_file(), "A=1").unwrap();
        let upstream = to_note(&url, &settings(&home, &[])).unwrap().unwrap();
        note(&home, &upstream).unwrap();
        note(&home, &upstream).unwrap();
        assert_eq!(settings(&home, &[]).proxy().upstream.as_str(), url);
        assert_eq!(to_note(&format!("{url}/"), &settings(&home, &[])).unwrap(), None);
        assert!(to_note("https://other.example", &settings(&home, &[])).is_err());
        assert!(forget(&home).unwrap());
        assert_eq!(std::fs::read_to_string(home.env_file()).unwrap(), "A=1\n");
        assert!(!forget(&home).unwrap());
        std::fs::remove_file(home.env_file()).unwrap();
        note(&home, &upstream).unwrap();
        assert!(forget(&home).unwrap() && !home.env_file().exists());
    }

    #[test]
    fn what_cannot_be_chained_is_refused_without_its_password() {
        let folder = tempfile::tempdir().unwrap();
        let home = Home::locate(Some(folder.path()), &Environment::default()).unwrap();
        let set = settings(&home, &[("GROV_PROXY_UPSTREAM", "https://u:secret@one.example")]);
        for gateway in ["https://u:secret@two.example", "ftp://u:secret@two.example"] {
            let Err(Failure::Told(told)) = to_note(gateway, &set) else {
                panic!("{gateway} must be refused")
            };
            assert!(!told.message.contains("secret"), "{}", told.message);
        }
        assert_eq!(
            to_note("https://api.anthropic.com/", &settings(&home, &[])).unwrap(),
            None
        );
    }
}
