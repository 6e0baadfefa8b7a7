//! An agent of launchd, which starts the daemon at login and after a crash.

use super::{Service, ServiceFile};
use crate::failure::Failure;
use grov_runtime::Environment;
use std::path::{Path, PathBuf};

const LABEL: &str = "dev.grov.proxyd";

pub(super) fn files(service: &Service<'_>, environment: &Environment) -> Result<Vec<ServiceFile>, Failure> {
    let home = environment.get("HOME").map(Path::new);
    let home = home.ok_or_else(|| {
        let failure = Failure::error(
            "service",
            "launchd's directory is unknown: there is no home directory",
        );
        failure.hint("set HOME")
    })?;
    Ok(vec![ServiceFile {
        path: home.join(format!("Library/LaunchAgents/{LABEL}.plist")),
        text: plist(service),
    }])
}

fn plist(service: &Service<'_>) -> String {
    let string = |path: &Path| format!("<string>{}</string>", escaped(&path.to_string_lossy()));
    format!(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n\
        <!DOCTYPE plist PUBLIC \"-//Apple//DTD PLIST 1.0//EN\" \"http://www.apple.com/DTDs/PropertyList-1.0.dtd\">\n\
        <!-- Written by `grov service install`. `grov service remove` removes it. -->\n\
        <plist version=\"1.0\">\n\
        <dict>\n\
        \t<key>Label</key><string>{LABEL}</string>\n\
        \t<key>ProgramArguments</key>\n\
        \t<array>{}<string>--home</string>{}</array>\n\
        \t<key>EnvironmentVariables</key>\n\
        \t<dict><key>GROV_LOG_FILE</key>{}</dict>\n\
        \t<key>RunAtLoad</key><true/>\n\
        \t<key>KeepAlive</key><dict><key>SuccessfulExit</key><false/></dict>\n\
        \t<key>AbandonProcessGroup</key><true/>\n\
        </dict>\n\
        </plist>\n",
        string(service.program),
        string(service.home),
        string(service.log),
    )
}

pub(super) fn enabling(files: &[ServiceFile]) -> Vec<Vec<String>> {
    let load = |file: &ServiceFile| load("load", &file.path);
    files.iter().map(load).collect()
}

pub(super) fn disabling(paths: &[PathBuf]) -> Vec<Vec<String>> {
    paths.iter().map(|path| load("unload", path)).collect()
}

pub(super) fn asking() -> Vec<String> {
    vec!["launchctl".to_owned(), "list".to_owned(), LABEL.to_owned()]
}

fn load(verb: &str, path: &Path) -> Vec<String> {
    let path = path.to_string_lossy().into_owned();
    vec!["launchctl".to_owned(), verb.to_owned(), "-w".to_owned(), path]
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_escaped() {
        let service = Service {
            program: Path::new("/a & b/<grov>"),
            home: Path::new("/home"),
            log: Path::new("/log"),
            address: ([127, 0, 0, 1], 8080).into(),
        };
        let environment: Environment = [("HOME", "/Users/u")].into_iter().collect();
        let files = files(&service, &environment).unwrap();
        assert_eq!(
            files[0].path,
            Path::new("/Users/u/Library/LaunchAgents/dev.grov.proxyd.plist")
        );
        assert!(
            files[0]
                .text
                .contains("<string>/a &amp; b/&lt;grov&gt;</string><string>--home</string>")
        );
    }
}
