//! Providers of the judge and of embeddings, and their keys.

use super::*;

#[test]
fn the_provider_depends_on_the_configured_values() {
    let provider = |variables: &[(&str, &str)]| {
        let scene = variables
            .iter()
            .fold(Scene::new(), |scene, (name, value)| scene.variable(name, value));
        let settings = scene.load().unwrap();
        (settings.llm().provider, settings.llm().missing.is_some())
    };
    const KEY: (&str, &str) = ("GROV_LLM_API_KEY", "k");
    const SERVER: (&str, &str) = ("GROV_LLM_BASE_URL", "http://127.0.0.1:11434");
    const MODEL: (&str, &str) = ("GROV_LLM_MODEL", "qwen3:4b");
    let named = |name| ("GROV_LLM_PROVIDER", name);
    assert_eq!(provider(&[KEY]), (LlmProvider::Anthropic, false));
    assert_eq!(provider(&[]), (LlmProvider::Offline, false));
    assert_eq!(provider(&[SERVER, MODEL]), (LlmProvider::Offline, true));
    assert_eq!(
        provider(&[("GROV_LLM_USE_ANTHROPIC_KEY", "true")]),
        (LlmProvider::Offline, true)
    );
    assert_eq!(provider(&[KEY, named("offline")]), (LlmProvider::Offline, false));
    assert_eq!(provider(&[named("anthropic")]), (LlmProvider::Offline, true));
    assert_eq!(
        provider(&[named("anthropic"), KEY]),
        (LlmProvider::Anthropic, false)
    );
    assert_eq!(
        provider(&[named("openai"), SERVER, MODEL]),
        (LlmProvider::OpenAi, false)
    );
    assert_eq!(
        provider(&[named("openai"), KEY, MODEL]),
        (LlmProvider::OpenAi, false)
    );
    assert_eq!(provider(&[named("openai"), SERVER]), (LlmProvider::Offline, true));
    assert_eq!(provider(&[named("openai"), MODEL]), (LlmProvider::Offline, true));
}

#[test]
fn the_users_client_judges_only_if_a_file_of_the_home_says_so() {
    let provider = |scene: &Scene| {
        let settings = scene.load().unwrap();
        (settings.llm().provider, settings.llm().missing.is_some())
    };
    let on = (LlmProvider::ClaudeCli, false);
    let refused = (LlmProvider::Offline, true);
    let variable = || Scene::new().variable("GROV_LLM_PROVIDER", "claude_cli");
    assert_eq!(
        provider(&Scene::new().user_file("llm.provider = 'claude_cli'")),
        on
    );
    let env_file = Scene::new().env_file("GROV_LLM_PROVIDER=claude_cli");
    assert_eq!(provider(&env_file), on);
    // A project can set variables for the client and its hooks.
    assert_eq!(provider(&variable()), refused);
    assert_eq!(provider(&variable().user_file("llm.provider = 'claude_cli'")), on);
    let elsewhere = Scene::new().write("code/other.toml", "llm.provider = 'claude_cli'");
    let named = elsewhere.path("code/other.toml");
    let named = elsewhere.variable("GROV_CONFIG", named.to_str().unwrap());
    assert_eq!(provider(&named), refused);
    let project = Scene::new().project_file("llm.provider = 'claude_cli'");
    assert_eq!(provider(&project), (LlmProvider::Offline, false));
    // The login goes to the server.
    let address = ("GROV_LLM_BASE_URL", "http://192.0.2.1");
    let redirected = Scene::new()
        .user_file("llm.provider = 'claude_cli'")
        .variable(address.0, address.1);
    assert_eq!(provider(&redirected), refused);
    let own = Scene::new().user_file("llm.provider = 'claude_cli'\nllm.base_url = 'http://192.0.2.1'");
    assert_eq!(provider(&own), on);
}

#[test]
fn the_anthropic_key_is_used_only_if_allowed() {
    let key = |scene: &Scene| {
        let llm = scene.load().unwrap().llm().clone();
        llm.api_key.map(|key| key.expose().to_owned())
    };
    let scene = Scene::new().variable("ANTHROPIC_API_KEY", "theirs");
    assert_eq!(key(&scene), None);
    let scene = scene.variable("GROV_LLM_USE_ANTHROPIC_KEY", "true");
    assert_eq!(key(&scene).as_deref(), Some("theirs"));
    assert_eq!(scene.load().unwrap().llm().provider, LlmProvider::Anthropic);
    let scene = scene
        .variable("GROV_LLM_PROVIDER", "openai")
        .variable("GROV_LLM_MODEL", "m");
    assert_eq!(key(&scene), None, "no other provider gets Anthropic's key");
    let scene = scene.variable("GROV_LLM_API_KEY", "own");
    assert_eq!(key(&scene).as_deref(), Some("own"));
    let scene = Scene::new()
        .user_file("llm.use_anthropic_key = true")
        .env_file("ANTHROPIC_API_KEY=from-the-file");
    assert_eq!(key(&scene).as_deref(), Some("from-the-file"));
    let scene = scene
        .variable("ANTHROPIC_API_KEY", "theirs")
        .variable("GROV_LLM_API_KEY", "own");
    assert_eq!(key(&scene).as_deref(), Some("own"));
}

#[test]
fn a_key_is_read_from_every_source_of_the_user_and_never_shown() {
    for scene in [
        Scene::new().user_file("[llm]\napi_key = 'pa55-word'"),
        Scene::new().env_file("GROV_LLM_API_KEY=pa55-word"),
        Scene::new().variable("GROV_LLM_API_KEY", "pa55-word"),
    ] {
        let settings = scene.load().unwrap();
        assert_eq!(
            settings.llm().api_key.as_ref().map(|key| key.expose()),
            Some("pa55-word")
        );
        let explanation = settings.explain("llm.api_key").unwrap();
        assert_eq!(explanation.value.to_string(), "set");
        assert_ne!(explanation.origin, Origin::Default);
        assert!(!format!("{settings:?}{explanation:?}").contains("pa55"));
    }
    let settings = Scene::new().load().unwrap();
    assert_eq!(
        settings.explain("llm.api_key").unwrap().value.to_string(),
        "not set"
    );
    for scene in [
        Scene::new().variable("GROV_LLM_API_KEY", "pa55 word"),
        Scene::new().user_file("llm.api_key = 'pa55 word'"),
        Scene::new().user_file("llm.api_key = ['pa55']"),
    ] {
        let error = scene.error();
        assert!(
            error.contains("llm.api_key must be") && !error.contains("pa55"),
            "{error}"
        );
    }
}

#[test]
fn embeddings_need_a_configured_model() {
    let of = |variables: &[(&str, &str)]| {
        let scene = variables
            .iter()
            .fold(Scene::new(), |scene, (name, value)| scene.variable(name, value));
        let settings = scene.load().unwrap();
        let embedder = settings.embedder().clone();
        let key = embedder.api_key.map(|key| key.expose().to_owned());
        (embedder.provider, embedder.missing.is_some(), key)
    };
    const OLLAMA: (&str, &str) = ("GROV_EMBEDDER_PROVIDER", "ollama");
    const OPENAI: (&str, &str) = ("GROV_EMBEDDER_PROVIDER", "openai");
    const MODEL: (&str, &str) = ("GROV_EMBEDDER_MODEL", "all-minilm");
    const SERVER: (&str, &str) = ("GROV_EMBEDDER_BASE_URL", "http://127.0.0.1:11434");
    const KEY: (&str, &str) = ("GROV_EMBEDDER_API_KEY", "own");
    let own = Some("own".to_owned());
    assert_eq!(
        of(&[MODEL, SERVER, KEY]),
        (EmbeddingProvider::Off, false, own.clone())
    );
    assert_eq!(of(&[OLLAMA, MODEL]), (EmbeddingProvider::Ollama, false, None));
    assert_eq!(of(&[OLLAMA]), (EmbeddingProvider::Off, true, None));
    assert_eq!(of(&[OPENAI, MODEL]), (EmbeddingProvider::Off, true, None));
    assert_eq!(
        of(&[OPENAI, MODEL, SERVER]),
        (EmbeddingProvider::OpenAi, false, None)
    );
    assert_eq!(of(&[OPENAI, MODEL, KEY]), (EmbeddingProvider::OpenAi, false, own));

    // The judge's key is sent only to the judge's server.
    const JUDGES: (&str, &str) = ("GROV_LLM_API_KEY", "judges");
    const JUDGED: (&str, &str) = ("GROV_LLM_PROVIDER", "openai");
    let judges = Some("judges".to_owned());
    assert_eq!(
        of(&[OPENAI, MODEL, JUDGES, JUDGED]),
        (EmbeddingProvider::OpenAi, false, judges)
    );
    assert_eq!(of(&[OPENAI, MODEL, JUDGES]), (EmbeddingProvider::Off, true, None));
    assert_eq!(
        of(&[OPENAI, MODEL, JUDGES, JUDGED, SERVER]),
        (EmbeddingProvider::OpenAi, false, None)
    );
    assert_eq!(
        of(&[OLLAMA, MODEL, JUDGES, JUDGED]),
        (EmbeddingProvider::Ollama, false, None)
    );
}

#[test]
fn a_static_model_is_a_folder_relative_to_the_home() {
    let of = |model: &str| {
        let scene = Scene::new().user_file(&format!("[embedder]\nprovider = 'static'\nmodel = '{model}'\n"));
        let settings = scene.load().unwrap();
        let embedder = settings.embedder().clone();
        (embedder.provider, embedder.missing.is_some(), scene.path(".grov"))
    };
    let (provider, missing, home) = of("models/a b");
    assert_eq!(
        (provider, missing),
        (EmbeddingProvider::Static(home.join("models/a b")), false)
    );
    let (provider, missing, _) = of("/opt/modèle");
    assert_eq!(
        (provider, missing),
        (EmbeddingProvider::Static("/opt/modèle".into()), false)
    );
    let (provider, missing, _) = of("");
    assert_eq!((provider, missing), (EmbeddingProvider::Off, true));
}

#[test]
fn the_ledger_is_kept_longer_than_the_day_of_the_budget() {
    let scene = |value| Scene::new().variable("GROV_STORE_RETENTION_SPENDING", value);
    assert!(scene("1d").error().contains("store.retention_spending must be"));
    assert!(scene("2d").load().is_ok());
}
