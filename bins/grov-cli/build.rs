//! How the program is linked.

#[path = "../link.rs"]
mod link;

fn main() {
    let target = |name: &str| std::env::var(name).unwrap_or_default();
    // A hook is a process of a few milliseconds, one in ten of which would go into moving 20,000 addresses to a place
    // of the day. The daemon, which faces the network, is linked as usual.
    if target("CARGO_CFG_TARGET_OS") == "linux" && target("CARGO_CFG_TARGET_ENV") == "gnu" {
        println!("cargo::rustc-link-arg-bin=grov=-no-pie");
    }
    link::ask("grov");
}
