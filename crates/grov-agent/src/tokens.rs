//! The size of texts in tokens, for every budget of this crate.

/// Estimates the number of tokens of a text, rather too high than too low: see [`grov_domain::estimated_tokens`].
pub(crate) fn tokens(text: &str) -> u32 {
    u32::try_from(grov_domain::estimated_tokens(text)).unwrap_or(u32::MAX)
}
