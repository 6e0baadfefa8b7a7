use super::*;
use crate::normalized_path::ProjectRoot;

fn added(file: &str, before: &str, after: &str) -> Vec<String> {
    let place = NormalizedPath::new(&ProjectRoot::default(), file);
    let known = lines::dependencies(&place, before);
    let mut found = lines::dependencies(&place, after);
    found.retain(|name| !known.contains(name));
    found
}

#[test]
fn added_dependencies_are_found_in_every_format() {
    #[rustfmt::skip]
    let cases = [
        ("package.json", "  \"dependencies\": {\n    \"react\": \"^18.0.0\"\n  }", "  \"dependencies\": {\n    \"react\": \"^18.0.0\",\n    \"date-fns\": \"^3.6.0\"\n  }", "date-fns"),
        ("package.json", "", "    \"@tanstack/query\": \"5.1.0\",", "@tanstack/query"),
        ("composer.json", "\"require\": {\n\"php\": \">=8.1\"\n}", "\"require\": {\n\"php\": \">=8.1\",\n\"guzzlehttp/guzzle\": \"^7.0\"\n}", "guzzlehttp/guzzle"),
        ("Cargo.toml", "[dependencies]\nserde = \"1\"", "[dependencies]\nserde = \"1\"\nanyhow = \"1\"", "anyhow"),
        ("Cargo.toml", "serde = \"1\"", "serde = \"1\"\ntokio = { version = \"1\", features = [\"rt\"] }", "tokio"),
        ("Cargo.toml", "", "[dependencies.rand]\nversion = \"0.8\"", "rand"),
        ("Cargo.toml", "", "rand.workspace = true", "rand"),
        ("pyproject.toml", "dependencies = [\n  \"httpx>=0.27\",\n]", "dependencies = [\n  \"httpx>=0.27\",\n  \"rich>=13\",\n]", "rich"),
        ("pyproject.toml", "dependencies = [\"httpx\"]", "dependencies = [\"httpx\", \"rich\"]", "rich"),
        ("pyproject.toml", "[tool.poetry.dependencies]\npython = \"^3.11\"", "[tool.poetry.dependencies]\npython = \"^3.11\"\nrich = \"^13\"", "rich"),
        ("requirements.txt", "httpx==0.27", "httpx==0.27\nrich", "rich"),
        ("requirements-dev.txt", "", "pytest-xdist[psutil]>=3 ; python_version > '3.8'", "pytest-xdist"),
        ("setup.py", "install_requires=['httpx>=0.27']", "install_requires=['httpx>=0.27', 'rich>=13']", "rich"),
        ("go.mod", "require (\n\tgithub.com/a/b v1.0.0\n)", "require (\n\tgithub.com/a/b v1.0.0\n\tgithub.com/c/d v0.2.0\n)", "github.com/c/d"),
        ("go.mod", "", "require github.com/c/d v0.2.0", "github.com/c/d"),
        ("Gemfile", "gem \"rails\"", "gem \"rails\"\ngem 'csv', '~> 3.3'", "csv"),
        ("a.gemspec", "", "spec.add_dependency \"rack\", \"~> 3\"", "rack"),
        ("pom.xml", "", "<dependency>\n<groupId>com.google.guava</groupId>\n<artifactId>guava</artifactId>\n<version>33</version>\n</dependency>", "guava"),
        ("build.gradle.kts", "", "    testImplementation(\"io.kotest:kotest-property:5.9.1\")", "io.kotest:kotest-property"),
        ("app/build.gradle", "", "    implementation 'com.squareup.okhttp3:okhttp:4.12.0'", "com.squareup.okhttp3:okhttp"),
        ("build.gradle.kts", "", "    implementation(libs.okhttp)", "okhttp"),
        ("gradle/libs.versions.toml", "[libraries]", "[libraries]\nokhttp = { module = \"com.squareup.okhttp3:okhttp\", version.ref = \"okhttp\" }", "okhttp"),
        ("pubspec.yaml", "dependencies:\n  http: ^1.0.0", "dependencies:\n  http: ^1.0.0\n  mapbox_maps_flutter: ^2.3.0", "mapbox_maps_flutter"),
        ("pubspec.yaml", "", "  mapbox_maps_flutter: ^2.3.0", "mapbox_maps_flutter"),
        ("A.csproj", "", "<PackageReference Include=\"Polly\" Version=\"8.0.0\" />", "polly"),
        ("Directory.Packages.props", "", "<PackageVersion Include=\"Polly\" Version=\"8.0.0\" />", "polly"),
        ("mix.exs", "{:phoenix, \"~> 1.7\"}", "{:phoenix, \"~> 1.7\"},\n{:req, \"~> 0.5\"}", "req"),
        ("ios/Podfile", "", "  pod 'Alamofire', '~> 5.9'", "alamofire"),
        ("Package.swift", "", ".package(url: \"https://github.com/Alamofire/Alamofire.git\", from: \"5.9.0\"),", "alamofire"),
        ("build.sbt", "", "libraryDependencies += \"org.typelevel\" %% \"cats-core\" % \"2.10\"", "cats-core"),
    ];
    for (file, before, after, name) in cases {
        assert_eq!(added(file, before, after), [name], "{file}: {after}");
    }
}

#[test]
fn other_changes_of_manifests_add_no_dependency() {
    #[rustfmt::skip]
    let cases = [
        ("package.json", "\"react\": \"^18.0.0\"", "\"react\": \"^19.0.0\""),
        ("package.json", "\"scripts\": {\n\"test\": \"jest\"\n}", "\"scripts\": {\n\"test\": \"vitest run\",\n\"build\": \"1.sh\"\n}"),
        ("package.json", "\"version\": \"1.0.0\"", "\"version\": \"1.1.0\",\n\"packageManager\": \"pnpm@9.1.0\""),
        ("package.json", "\"engines\": {\n\"node\": \">=18\"\n}", "\"engines\": {\n\"node\": \">=20\",\n\"npm\": \">=10\"\n}"),
        ("package.json", "", "\"type\": \"module\","),
        ("package.json", "\"a\": \"1\",\n\"b\": \"2\"", "\"b\": \"2\",\n\"a\": \"1\""),
        ("Cargo.toml", "version = \"0.1.0\"", "version = \"0.2.0\"\nedition = \"2024\"\nrust-version = \"1.85\""),
        ("Cargo.toml", "[package]\nname = \"a\"", "[package]\nname = \"b\"\npublish = false"),
        ("Cargo.toml", "[profile.release]", "[profile.release]\nlto = true\nopt-level = 3\ncodegen-units = 1"),
        ("Cargo.toml", "serde = \"1\"", "serde = { version = \"1\", features = [\"derive\"] }"),
        ("Cargo.toml", "[dependencies]", "[dependencies]\ncore = { path = \"../core\" }"),
        ("Cargo.toml", "[lints.clippy]", "[lints.clippy]\nall = \"warn\""),
        ("Cargo.toml", "[features]", "[features]\nfull = [\"a\", \"b\"]"),
        ("pyproject.toml", "[tool.ruff]", "[tool.ruff]\nline-length = 100\ntarget-version = \"py311\""),
        ("pyproject.toml", "[project]\nversion = \"1.0\"", "[project]\nversion = \"1.1\"\nrequires-python = \">=3.11\""),
        ("pyproject.toml", "[tool.pytest.ini_options]", "[tool.pytest.ini_options]\ntestpaths = [\"tests\"]"),
        ("requirements.txt", "httpx==0.27", "# pinned\nhttpx==0.28"),
        ("requirements.txt", "", "-r base.txt"),
        ("go.mod", "go 1.22", "go 1.23\n\ntoolchain go1.23.1"),
        ("go.mod", "\tgithub.com/a/b v1.0.0", "\tgithub.com/a/b v1.1.0"),
        ("go.mod", "", "\tgithub.com/c/d v0.2.0 // indirect"),
        ("Gemfile", "gem 'rails', '7.1'", "gem 'rails', '7.2'"),
        ("Gemfile", "ruby '3.2'", "ruby '3.3'"),
        ("pom.xml", "<artifactId>lombok</artifactId>\n<version>1</version>", "<artifactId>lombok</artifactId>\n<version>2</version>"),
        ("pom.xml", "", "<plugin>\n<artifactId>maven-surefire-plugin</artifactId>\n</plugin>"),
        ("app/build.gradle.kts", "jvmToolchain(17)", "jvmToolchain(21)"),
        ("app/build.gradle.kts", "", "implementation(project(\":core\"))"),
        ("pubspec.yaml", "version: 1.0.0+1", "version: 1.0.1+2"),
        ("pubspec.yaml", "environment:\n  sdk: ^3.0.0", "environment:\n  sdk: ^3.4.0"),
        ("pubspec.yaml", "flutter:\n  assets:", "flutter:\n  assets:\n    - assets/a.png"),
        ("A.csproj", "<TargetFramework>net7.0</TargetFramework>", "<TargetFramework>net8.0</TargetFramework>"),
        ("mix.exs", "version: \"0.1.0\"", "version: \"0.2.0\""),
        ("ios/Podfile", "platform :ios, '13.0'", "platform :ios, '14.0'"),
        ("Package.swift", "", "platforms: [.iOS(.v17)],"),
    ];
    for (file, before, after) in cases {
        assert_eq!(added(file, before, after), [""; 0], "{file}: {after}");
    }
}

#[test]
fn a_forbidden_dependency_is_told_from_a_new_version() {
    let contract = grov_domain::GoalContract {
        goal: "Make the dates relative".to_owned(),
        constraints: vec!["no new dependencies".to_owned()],
        ..grov_domain::GoalContract::default()
    };
    let score = |tool: &str, input: serde_json::Value| {
        let action = grov_actions::understand_whole(&grov_actions::ToolCall {
            name: tool,
            id: None,
            input: (&input).into(),
            working_directory: Some("/home/me/p"),
        });
        let mut rules = crate::Rules::new(contract.clone(), Some("/home/me/p"));
        rules
            .assess_subagent(&grov_domain::ActionSketch::of(&action))
            .score
    };
    let edit = |file: &str, before: &str, after: &str| {
        let file = format!("/home/me/p/{file}");
        score(
            "Edit",
            serde_json::json!({"file_path": file, "old_string": before, "new_string": after}),
        )
    };
    let bash = |command: &str| score("Bash", serde_json::json!({ "command": command }));
    assert_eq!(
        edit(
            "package.json",
            "\"a\": \"^1.0.0\"",
            "\"a\": \"^1.0.0\",\n\"date-fns\": \"^3.6.0\""
        ),
        3
    );
    assert_eq!(edit("package.json", "\"a\": \"^1.0.0\"", "\"a\": \"^2.0.0\""), 10);
    assert_eq!(
        edit(
            "web/package.json",
            "\"a\": \"^1.0.0\",\n\"b\": \"1\"",
            "\"b\": \"1\""
        ),
        10
    );
    assert_eq!(edit("src/a.ts", "x", "\"date-fns\": \"^3.6.0\""), 10);
    assert_eq!(bash("echo 'rich>=13' >> requirements.txt"), 3);
    assert_eq!(bash("sed -i '/^serde/a anyhow = \"1\"' Cargo.toml"), 3);
    assert_eq!(
        bash("sed -i 's/^serde = \"1.0\"/serde = \"1.1\"/' Cargo.toml"),
        10
    );
    assert_eq!(
        bash("cat >> build.gradle <<'EOF'\nimplementation 'com.a:b:1.0'\nEOF"),
        3
    );
}
