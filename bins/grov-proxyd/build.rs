//! How the program is linked.

use std::process::Command;

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    let variable = |name: &str| std::env::var(name).unwrap_or_default();
    let is_native = variable("HOST") == variable("TARGET");
    let is_gnu = variable("CARGO_CFG_TARGET_OS") == "linux" && variable("CARGO_CFG_TARGET_ENV") == "gnu";
    // 20,000 addresses in half a megabyte that stays in memory, or in 6 KB, where the loader knows of that: glibc 2.36.
    if is_native && is_gnu && loader().is_some_and(|version| version >= (2, 36)) {
        println!("cargo::rustc-link-arg-bin=grov-proxyd=-Wl,-z,pack-relative-relocs");
    }
}

/// The version of this machine's glibc, as `getconf` tells it: `glibc 2.36`.
fn loader() -> Option<(u32, u32)> {
    let told = Command::new("getconf").arg("GNU_LIBC_VERSION").output().ok()?;
    let told = String::from_utf8(told.stdout).ok()?;
    let (major, minor) = told.trim().strip_prefix("glibc ")?.split_once('.')?;
    let minor = minor.split('.').next()?;
    Some((major.parse().ok()?, minor.parse().ok()?))
}
