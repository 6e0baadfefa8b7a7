//! The fuzzing binary: libFuzzer with the target that `GROV_FUZZ_TARGET` names.
//!
//! Built by `cargo xtask fuzz` with `--cfg fuzzing` and coverage counters. Without them it only prints a message.
#![forbid(unsafe_code)]
#![cfg_attr(fuzzing, no_main)]

#[cfg(fuzzing)]
libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    use std::sync::OnceLock;
    static CHECK: OnceLock<fn(&[u8])> = OnceLock::new();
    CHECK.get_or_init(|| grov_fuzz::chosen().check)(data);
});

#[cfg(not(fuzzing))]
#[expect(clippy::print_stderr, reason = "all that this build does is to say something")]
fn main() -> std::process::ExitCode {
    eprintln!("This build does not fuzz: it has no coverage counters. Run `cargo xtask fuzz`.");
    std::process::ExitCode::FAILURE
}
