//! The proxy as a client and an upstream see it, byte by byte.

mod admission;
mod cancel;
mod framing;
mod limits;
mod observe;
mod own_pages;
mod policy;
mod pool;
mod relay;
mod shutdown;
mod support;
