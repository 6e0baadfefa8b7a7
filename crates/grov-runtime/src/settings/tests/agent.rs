//! Settings of the agent service.

use super::*;

fn scene(variables: &[(&str, &str)]) -> Scene {
    variables
        .iter()
        .fold(Scene::new(), |scene, (name, value)| scene.variable(name, value))
}

fn refusal(variables: &[(&str, &str)]) -> String {
    let settings = scene(variables).load().unwrap();
    settings.agent().unwrap_err().to_string()
}

#[test]
fn the_service_starts_with_nothing() {
    let scene = Scene::new();
    let settings = scene.load().unwrap();
    let agent = settings.agent().unwrap();
    assert_eq!((agent.host.to_string().as_str(), agent.port), ("127.0.0.1", 8090));
    assert_eq!(agent.chat.provider, ChatProvider::Offline);
    assert_eq!(agent.embedding.provider, AgentEmbedding::None);
    let home = scene.path(".grov");
    assert_eq!(agent.database, DatabaseUrl::Sqlite(home.join("agent.db")));
    assert_eq!(agent.upload_dir, home.join("uploads"));
    assert_eq!(agent.limits.max_body_bytes, 20 * 1024 * 1024);
    assert_eq!(
        (agent.limits.chats_per_minute, agent.limits.chats_at_once),
        (60, 8)
    );
    assert_eq!(agent.shutdown_grace.as_secs(), 20);
}

#[test]
fn the_seeds_names_their_grov_forms_and_the_derived_names_work() {
    for name in ["CHAT_MODEL", "GROV_CHAT_MODEL", "GROV_AGENT_CHAT_MODEL"] {
        let settings = scene(&[(name, "m")]).load().unwrap();
        assert_eq!(
            settings.agent().unwrap().chat.model.as_deref(),
            Some("m"),
            "{name}"
        );
    }
    let settings = scene(&[
        ("AGENT_API_KEY", "pa55-a"),
        ("DATABASE_URL", "postgresql://me:pa55@db:5432/agent"),
        ("QDRANT_URL", "http://localhost:6333"),
        ("QDRANT_API_KEY", "pa55-q"),
        ("CHAT_PROVIDER", "openai"),
        ("CHAT_BASE_URL", "http://localhost:8000/v1"),
        ("CHAT_MODEL", "m"),
        ("CHAT_API_KEY", "pa55-c"),
        ("EMBEDDING_PROVIDER", "mock"),
        ("EMBEDDING_DIMS", "64"),
        ("GROV_ALLOW_MOCK", "1"),
        ("TOOL_WEBHOOK_URL", "https://n8n.example/hook?token=pa55"),
        ("TOOL_WEBHOOK_SECRET", "pa55-w"),
        ("UPLOAD_DIR", "up"),
    ]);
    let settings = settings.load().unwrap();
    let agent = settings.agent().unwrap();
    assert_eq!(agent.database.expose(), "postgresql://me:pa55@db:5432/agent");
    assert_eq!(agent.chat.provider, ChatProvider::OpenAi);
    assert_eq!(agent.embedding.dims, Some(64));
    assert!(agent.upload_dir.ends_with(".grov/up"));
    assert_eq!(agent.api_key, Some(Secret::new("pa55-a")));
    assert_eq!(agent.webhook_secret, Some(Secret::new("pa55-w")));
    let webhook = agent.webhook_url.as_ref().map(Secret::expose);
    assert_eq!(webhook, Some("https://n8n.example/hook?token=pa55"));
    let (value, origin, _) = explained(&settings, "agent.database_url");
    assert_eq!(value, "postgresql://db:5432/agent");
    assert_eq!(origin, "environment variable DATABASE_URL");
    assert!(!format!("{settings:?}").contains("pa55"));
}

#[test]
fn a_variable_of_another_program_stops_only_the_agent_service() {
    let settings = scene(&[
        ("DATABASE_URL", "mysql://root:pa55@db/shop"),
        ("CHAT_PROVIDER", "slack"),
    ]);
    let settings = settings.load().unwrap();
    assert_eq!(settings.proxy().port, 8080);
    let error = settings.agent().unwrap_err().to_string();
    assert_eq!(
        error,
        "environment variable CHAT_PROVIDER: agent.chat_provider must be one of offline, anthropic, openai, claude_cli, but is \"slack\""
    );
    let (value, origin, candidates) = explained(&settings, "agent.database_url");
    assert_eq!((value.as_str(), origin.as_str()), ("", "default"));
    assert_eq!(candidates, ["environment=another text refused"]);
}

#[test]
fn a_project_sets_nothing_of_the_agent_service() {
    assert!(
        KEYS.iter()
            .all(|key| !key.project || !key.name.starts_with("agent."))
    );
    let settings = Scene::new()
        .project_file("[agent]\nchat_base_url = 'http://evil.example'\ndatabase_url = 'sqlite:x.db'\n")
        .load()
        .unwrap();
    let agent = settings.agent().unwrap();
    assert_eq!(agent.chat.base_url, None);
    assert!(agent.database.expose().ends_with("agent.db"));
    assert_eq!(settings.warnings().len(), 2);
}

#[test]
fn incomplete_settings_say_what_is_missing() {
    let openai = ("CHAT_PROVIDER", "openai");
    assert!(refusal(&[openai]).contains("CHAT_MODEL"));
    assert!(refusal(&[openai, ("CHAT_MODEL", "m")]).contains("CHAT_BASE_URL nor CHAT_API_KEY"));
    assert!(refusal(&[("CHAT_PROVIDER", "anthropic")]).contains("no key"));
    assert!(refusal(&[("EMBEDDING_PROVIDER", "mock")]).contains("only for tests"));
    assert!(refusal(&[("EMBEDDING_PROVIDER", "static")]).contains("EMBEDDING_MODEL"));
    assert!(refusal(&[("EMBEDDING_PROVIDER", "ollama")]).contains("EMBEDDING_MODEL"));
    let openai = [("EMBEDDING_PROVIDER", "openai"), ("EMBEDDING_MODEL", "m")];
    assert!(refusal(&openai).contains("EMBEDDING_API_KEY"));
    assert!(refusal(&[("GROV_AGENT_TLS_CERT", "c.pem")]).contains("agent.tls_key"));
    let webhook = refusal(&[("TOOL_WEBHOOK_URL", "n8n.example/pa55")]);
    assert!(
        webhook.contains("TOOL_WEBHOOK_URL") && !webhook.contains("pa55"),
        "{webhook}"
    );
}

#[test]
fn anthropics_own_key_goes_only_to_anthropic() {
    let allowed = [
        ("ANTHROPIC_API_KEY", "theirs"),
        ("GROV_LLM_USE_ANTHROPIC_KEY", "true"),
        ("CHAT_PROVIDER", "anthropic"),
    ];
    let key = |variables: &[(&str, &str)]| {
        let settings = scene(variables).load().unwrap();
        let key = settings.agent().unwrap().chat.api_key.clone();
        key.map(|key| key.expose().to_owned())
    };
    assert_eq!(key(&allowed).as_deref(), Some("theirs"));
    let elsewhere = [&allowed[..], &[("CHAT_BASE_URL", "http://localhost:1")]].concat();
    assert_eq!(key(&elsewhere), None);
    assert!(refusal(&[allowed[0], allowed[2]]).contains("no key"));
}

#[test]
fn a_static_embedding_model_is_a_folder_relative_to_the_home() {
    let scene = scene(&[
        ("EMBEDDING_PROVIDER", "static"),
        ("EMBEDDING_MODEL", "models/a b"),
    ]);
    let settings = scene.load().unwrap();
    let folder = scene.path(".grov/models/a b");
    assert_eq!(
        settings.agent().unwrap().embedding.model,
        folder.display().to_string()
    );
}
