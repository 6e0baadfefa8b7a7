//! Errors and warnings name the place of the mistake.

use super::*;

#[test]
fn wrong_values_name_place_key_and_expectation() {
    let scene = Scene::new().user_file("[proxy]\n\nport = 'abc'\n");
    assert_eq!(
        scene.error(),
        format!(
            "{}:3: proxy.port must be a whole number from 0 to 65535, but is the text \"abc\"",
            scene.path(".grov/config.toml").display()
        )
    );
    assert_eq!(
        Scene::new().variable("PROXY_PORT", "tcp://10.0.0.1:80").error(),
        "environment variable PROXY_PORT: proxy.port must be a whole number from 0 to 65535, but is \
         \"tcp://10.0.0.1:80\""
    );
    let scene = Scene::new().env_file("\nPROXY_PORT=70000");
    assert!(scene.error().starts_with(&format!(
        "{}:2 (PROXY_PORT): ",
        scene.path(".grov/.env").display()
    )));
    assert!(
        Scene::new()
            .flag("proxy.port", "-1")
            .error()
            .starts_with("flag --port: proxy.port must be")
    );
    assert!(
        Scene::new()
            .user_file("proxy.upstream = 'api.anthropic.com'")
            .error()
            .contains("http://")
    );
    assert!(
        Scene::new()
            .project_file("drift.check_interval = 0")
            .error()
            .contains("config.toml:1: drift.")
    );
}

#[test]
fn an_invalid_variable_that_is_not_used_is_shown_without_an_error() {
    let scene = Scene::new()
        .variable("GROV_PROXY_PORT", "9")
        .variable("PROXY_PORT", "tcp://x");
    let (value, _, candidates) = explained(&scene.load().unwrap(), "proxy.port");
    assert_eq!(value, "9");
    assert_eq!(candidates[1], "environment=\"tcp://x\" overridden");
}

#[test]
fn a_wrong_value_in_a_file_is_an_error_even_if_it_is_overridden() {
    assert!(
        Scene::new()
            .user_file("proxy.port = 1.5")
            .flag("proxy.port", "9")
            .load()
            .is_err()
    );
}

#[test]
fn broken_toml_names_its_line() {
    let scene = Scene::new().user_file("[proxy]\nport = 8080\nhost = = 3\n");
    assert!(
        scene
            .error()
            .starts_with(&format!("{}:3: ", scene.path(".grov/config.toml").display()))
    );
    assert!(Scene::new().user_file("a = 1\na = 2").error().contains(":2: "));
}

#[test]
fn warnings_about_unknown_names_suggest_the_nearest_one() {
    let scene = Scene::new().user_file("colour = true\n[proxy]\nprot = 1\n\n[porxy.deep]\nx = 2\n");
    let settings = scene.load().unwrap();
    let path = scene.path(".grov/config.toml");
    let warnings: Vec<_> = settings.warnings().iter().map(ToString::to_string).collect();
    assert_eq!(
        warnings,
        [
            format!("{}:1: unknown setting \"colour\" is ignored", path.display()),
            format!(
                "{}:3: unknown setting \"proxy.prot\" is ignored; did you mean proxy.port?",
                path.display()
            ),
            format!(
                "{}:6: unknown setting \"porxy.deep.x\" is ignored",
                path.display()
            ),
        ]
    );
    let scene = Scene::new().user_file("proxy = 3");
    assert!(
        scene.load().unwrap().warnings()[0]
            .message
            .contains("is a section")
    );
}

#[test]
fn unreadable_files_are_errors() {
    let scene = Scene::new();
    std::fs::create_dir_all(scene.path("code/repo/.grov/config.toml")).unwrap();
    scene.load().unwrap();
    std::fs::create_dir_all(scene.path(".grov/config.toml")).unwrap();
    assert!(scene.error().contains("it is not a file"));
    assert!(
        Scene::new()
            .user_file(&"#".repeat(300_000))
            .error()
            .contains("256 KiB")
    );
    let scene = Scene::new();
    std::fs::write(scene.path(".grov/config.toml"), b"user = '\xff'").unwrap();
    assert!(scene.error().contains("not UTF-8 (byte 8)"), "{}", scene.error());
}

#[test]
fn an_untrusted_file_cannot_exhaust_the_reader() {
    for text in [
        format!("{}=1", "a.".repeat(100_000) + "a"),
        format!("[{}]\nx=1", "a.".repeat(100_000) + "a"),
        format!("x={}", "[".repeat(200_000)),
        format!("x={}", "{a=".repeat(60_000)),
        (0..20_000).map(|number| format!("k{number}=1\n")).collect(),
        format!("{}=1", "p".repeat(250_000)),
    ] {
        if let Ok(settings) = Scene::new().project_file(&text).load() {
            assert!((1..=20).contains(&settings.warnings().len()));
        }
    }
}

#[test]
fn warnings_about_broken_lines_of_the_env_file_omit_their_text() {
    let scene = Scene::new().env_file("PROXY_PORT=7\nsk-ant-secret\n");
    let settings = scene.load().unwrap();
    assert_eq!(settings.proxy().port, 7);
    let warning = settings.warnings()[0].to_string();
    assert!(
        warning.contains(".env:2: ") && !warning.contains("secret"),
        "{warning}"
    );
}
