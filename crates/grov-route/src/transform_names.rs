//! Names of transforms in a provider file.

/// All names.
pub(crate) const TRANSFORM_NAMES: &[&str] = &[
    "schema:generic",
    "schema:openai",
    "schema:gemini",
    "schema:ollama",
    "reasoning",
    "enhancetool",
    "deepseek",
    "extrathinktag",
    "openrouter",
    "groq",
    "tooluse",
    "forcereasoning",
    "cleancache",
    "customparams",
];

/// The transform of a provider without any, by its name.
pub(crate) fn default_transform(provider: &str) -> &'static str {
    let provider = provider.to_lowercase();
    match provider.as_str() {
        name if name.contains("openai") => "schema:openai",
        name if name.contains("gemini") => "schema:gemini",
        name if name.contains("ollama") => "schema:ollama",
        _ => "schema:generic",
    }
}
