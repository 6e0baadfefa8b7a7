//! Makes the gateway that the client used before the upstream of the proxy, by a line in the home's `.env`.

use crate::failure::Failure;
use grov_hooks::settings::{SettingsError, SettingsFile};
use grov_runtime::{Home, Settings, Url, without_credentials};

/// Marks the line that Grov wrote. Lines of earlier versions have it too, so it must not change.
const MARK: &str = " # the gateway of the client's settings, noted by grov init";
const VARIABLE: &str = "GROV_PROXY_UPSTREAM";

/// The gateway as the proxy's new upstream; `None` if it already is the upstream.
///
/// # Errors
/// It is not a URL, or another upstream is configured.
pub(super) fn upstream(gateway: &str, settings: &Settings) -> Result<Option<String>, Failure> {
    let shown = without_credentials(gateway);
    let url = Url::parse(gateway).map_err(|error| {
        let message = format!("ANTHROPIC_BASE_URL is {shown:?}, which the proxy cannot forward to: {error}");
        Failure::error("gateway", message).hint("correct or remove it in the client's settings")
    })?;
    let without_slash = |url: &str| url.trim_end_matches('/').to_owned();
    let upstream = settings.proxy().upstream.as_str();
    if without_slash(upstream) == without_slash(url.as_str()) {
        return Ok(None);
    }
    if settings.is_set("proxy.upstream") {
        let upstream = without_credentials(upstream);
        let message = format!(
            "the client uses {shown}, but the proxy forwards to {upstream}: a proxy has one upstream"
        );
        return Err(Failure::error("gateway", message).hint(
            "set proxy.upstream to the client's gateway (see grov config explain proxy.upstream), or omit --proxy",
        ));
    }
    Ok(Some(url.as_str().to_owned()))
}

/// Writes the proxy's upstream to the home's `.env`.
pub(super) fn write(home: &Home, upstream: &str) -> Result<(), SettingsError> {
    let file = SettingsFile::read(&home.env_file())?;
    let mut text = without_marked(file.text());
    if !text.is_empty() && !text.ends_with('\n') {
        text.push('\n');
    }
    text.push_str(&format!("{VARIABLE}=\"{upstream}\"{MARK}\n"));
    file.replace(&text)
}

/// Removes the line. Returns whether there was one.
pub(super) fn remove(home: &Home) -> Result<bool, SettingsError> {
    let file = SettingsFile::read(&home.env_file())?;
    let text = without_marked(file.text());
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

fn without_marked(text: &str) -> String {
    let lines = text.split_inclusive('\n');
    lines.filter(|line| !line.trim_end().ends_with(MARK)).collect()
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
    fn a_gateway_is_written_once_and_removed() {
        let folder = tempfile::tempdir().unwrap();
        let home = Home::locate(Some(folder.path()), &Environment::default()).unwrap();
        let url = "https://user:pass@gateway.example/a#b".replace("#b", "");
        std::fs::write(home.env_file(), "A=1").unwrap();
        let noted = upstream(&url, &settings(&home, &[])).unwrap().unwrap();
        write(&home, &noted).unwrap();
        write(&home, &noted).unwrap();
        assert_eq!(settings(&home, &[]).proxy().upstream.as_str(), url);
        assert_eq!(upstream(&format!("{url}/"), &settings(&home, &[])).unwrap(), None);
        assert!(upstream("https://other.example", &settings(&home, &[])).is_err());
        assert!(remove(&home).unwrap());
        assert_eq!(std::fs::read_to_string(home.env_file()).unwrap(), "A=1\n");
        assert!(!remove(&home).unwrap());
        std::fs::remove_file(home.env_file()).unwrap();
        write(&home, &noted).unwrap();
        assert!(remove(&home).unwrap() && !home.env_file().exists());
    }

    #[test]
    fn errors_do_not_show_the_password() {
        let folder = tempfile::tempdir().unwrap();
        let home = Home::locate(Some(folder.path()), &Environment::default()).unwrap();
        let set = settings(&home, &[("GROV_PROXY_UPSTREAM", "https://u:secret@one.example")]);
        for gateway in ["https://u:secret@two.example", "ftp://u:secret@two.example"] {
            let Err(Failure::Report(report)) = upstream(gateway, &set) else {
                panic!("{gateway} must be refused")
            };
            assert!(!report.message.contains("secret"), "{}", report.message);
        }
        assert_eq!(
            upstream("https://api.anthropic.com/", &settings(&home, &[])).unwrap(),
            None
        );
    }
}
