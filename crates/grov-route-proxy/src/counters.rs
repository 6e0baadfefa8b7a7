//! Counters for health pages and metrics.

grov_live::counters! {
    /// The counters of routing.
    pub struct Counters {
        /// Requests that a provider was chosen for.
        routed,
        /// Requests answered without a provider.
        answered_locally,
        /// Responses that arrived whole.
        completed,
        /// Responses that failed or were interrupted.
        failed,
        /// Attempts after which another target was tried.
        retried,
        /// Requests refused because the circuit of every target was open.
        circuit_open,
        /// Tokens of routed responses: input besides cached, cached, output.
        input_tokens,
        cached_tokens,
        output_tokens,
        /// How often the provider file was loaded, and how often it could not be.
        loaded,
        not_loaded,
    }
}
