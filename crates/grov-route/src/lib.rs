//! Which model answers a request, and the translation between the Messages API and the APIs of other providers.
//!
//! Pure: no sockets, files or clock.

// Choosing the model: marker, provider file, rules.

// Translating: requests, responses, streams, transforms.
