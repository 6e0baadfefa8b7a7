//! Fuzz targets for the parsers of untrusted bytes, each with properties that hold for any input.
//!
//! [`TARGETS`] lists them. `cargo xtask fuzz` runs each with libFuzzer; the tests of this crate run every input of
//! `corpus/` once, as regression tests.
#![forbid(unsafe_code)]
#![expect(
    clippy::panic,
    reason = "a property that does not hold ends the run: that is what a fuzzer looks for"
)]

mod event_stream;
mod json_repair;
mod redactor;
mod request_index;
mod route_answer;
mod route_request;
mod settings;
mod shell;
mod transcript;

/// A parser and its properties.
#[derive(Clone, Copy, Debug)]
pub struct Target {
    /// Its name, which is also the name of its folder in `corpus/`.
    pub name: &'static str,
    /// Panics if a property does not hold for these bytes.
    pub check: fn(&[u8]),
}

/// Every target.
pub const TARGETS: &[Target] = &[
    Target {
        name: "event-stream",
        check: event_stream::check,
    },
    Target {
        name: "json-repair",
        check: json_repair::check,
    },
    Target {
        name: "redactor",
        check: redactor::check,
    },
    Target {
        name: "request-index",
        check: request_index::check,
    },
    Target {
        name: "route-answer",
        check: route_answer::check,
    },
    Target {
        name: "route-request",
        check: route_request::check,
    },
    Target {
        name: "settings",
        check: settings::check,
    },
    Target {
        name: "shell",
        check: shell::check,
    },
    Target {
        name: "transcript",
        check: transcript::check,
    },
];

/// The environment variable with the name of the target to run.
pub const TARGET_VARIABLE: &str = "GROV_FUZZ_TARGET";

/// The target named by [`TARGET_VARIABLE`].
///
/// # Panics
/// If the variable is not the name of a target.
pub fn chosen() -> Target {
    let name = std::env::var(TARGET_VARIABLE).unwrap_or_default();
    match TARGETS.iter().find(|target| target.name == name) {
        Some(target) => *target,
        None => panic!("{TARGET_VARIABLE} is {name:?}, which is no target"),
    }
}

/// Splits fuzzer input into a control byte and the bytes that are parsed.
fn controlled(data: &[u8]) -> (u8, &[u8]) {
    match data.split_first() {
        Some((control, rest)) => (*control, rest),
        None => (0, data),
    }
}

/// Splits bytes into chunks of varying sizes, as a network delivers them; `seed` chooses the sizes.
fn chunks(mut bytes: &[u8], seed: u8) -> impl Iterator<Item = &[u8]> {
    let mut state = u32::from(seed).wrapping_mul(2_654_435_761).wrapping_add(1);
    std::iter::from_fn(move || {
        if bytes.is_empty() {
            return None;
        }
        // A linear congruential step (Numerical Recipes): small sizes, and the same ones for the same input.
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        let size = (state >> 24) as usize % 40 + 1;
        let (chunk, rest) = bytes.split_at(size.min(bytes.len()));
        bytes = rest;
        Some(chunk)
    })
}

#[cfg(test)]
mod tests {
    use super::TARGETS;
    use std::path::Path;

    #[test]
    fn every_corpus_input_passes() {
        let corpus = Path::new(env!("CARGO_MANIFEST_DIR")).join("corpus");
        for target in TARGETS {
            let folder = corpus.join(target.name);
            let mut inputs: Vec<_> = std::fs::read_dir(&folder)
                .unwrap()
                .map(|entry| entry.unwrap().path())
                .collect();
            inputs.sort();
            assert!(!inputs.is_empty(), "{} is empty", folder.display());
            for input in inputs {
                println!("{}", input.display());
                (target.check)(&std::fs::read(&input).unwrap());
            }
        }
    }
}
