//! Linker options.

#[path = "../link.rs"]
mod link;

fn main() {
    let target = |name: &str| std::env::var(name).unwrap_or_default();
    // A hook runs for a few milliseconds, a tenth of which would go into relocating 20,000 addresses. The daemon, which
    // faces the network, stays position-independent.
    if target("CARGO_CFG_TARGET_OS") == "linux" && target("CARGO_CFG_TARGET_ENV") == "gnu" {
        println!("cargo::rustc-link-arg-bin=grov=-no-pie");
    }
    link::ask("grov");
}
