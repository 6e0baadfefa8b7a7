//! Configures how the program is linked.

#[path = "../link.rs"]
mod link;

fn main() {
    let target = |name: &str| std::env::var(name).unwrap_or_default();
    // A hook runs for a few milliseconds, and relocation at start takes a tenth of that. The daemon faces the network and is
    // linked as a position-independent executable.
    if target("CARGO_CFG_TARGET_OS") == "linux" && target("CARGO_CFG_TARGET_ENV") == "gnu" {
        println!("cargo::rustc-link-arg-bin=grov=-no-pie");
        println!("cargo::rustc-link-arg-bin=envoy=-no-pie");
    }
    link::configure("grov");
    link::configure("envoy");
}
