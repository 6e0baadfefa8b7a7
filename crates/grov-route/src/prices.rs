//! What tokens cost.

/// Prices of a model in USD per million tokens.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Prices {
    /// Input tokens that were not in the cache.
    pub input: f64,
    /// Output tokens, thinking included.
    pub output: f64,
    /// Input tokens read from the cache.
    pub cache_read: f64,
    /// Input tokens written to the cache.
    pub cache_write: f64,
}
