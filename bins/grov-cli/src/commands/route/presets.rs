//! Providers with a known endpoint.

/// A provider with a known endpoint.
pub(super) struct Preset {
    pub(super) name: &'static str,
    pub(super) endpoint: &'static str,
    /// The usual variable of the key; `None` if it wants none.
    pub(super) key_variable: Option<&'static str>,
    /// Transforms whose need does not show in the answer to a single request.
    pub(super) transforms: &'static [&'static str],
}

const PRESETS: &[Preset] = &[
    Preset {
        name: "ollama",
        endpoint: "http://localhost:11434/v1",
        key_variable: None,
        transforms: &[],
    },
    Preset {
        name: "lmstudio",
        endpoint: "http://localhost:1234/v1",
        key_variable: None,
        transforms: &[],
    },
    Preset {
        name: "openrouter",
        endpoint: "https://openrouter.ai/api/v1",
        key_variable: Some("OPENROUTER_API_KEY"),
        transforms: &["openrouter"],
    },
    Preset {
        name: "deepseek",
        endpoint: "https://api.deepseek.com/v1",
        key_variable: Some("DEEPSEEK_API_KEY"),
        // It wants its reasoning back in later turns.
        transforms: &["deepseek", "reasoning"],
    },
    Preset {
        name: "groq",
        endpoint: "https://api.groq.com/openai/v1",
        key_variable: Some("GROQ_API_KEY"),
        transforms: &["groq"],
    },
    Preset {
        name: "gemini",
        endpoint: "https://generativelanguage.googleapis.com/v1beta/openai",
        key_variable: Some("GEMINI_API_KEY"),
        // Schemas of other tools have more of what it refuses.
        transforms: &["schema:gemini"],
    },
    Preset {
        name: "openai",
        endpoint: "https://api.openai.com/v1",
        key_variable: Some("OPENAI_API_KEY"),
        transforms: &[],
    },
];

/// The preset of that name.
pub(super) fn preset(name: &str) -> Option<&'static Preset> {
    PRESETS.iter().find(|preset| preset.name == name)
}

/// The names of all presets.
pub(super) fn names() -> String {
    let names: Vec<&str> = PRESETS.iter().map(|preset| preset.name).collect();
    names.join(", ")
}
