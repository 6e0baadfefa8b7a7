//! Linker arguments of the programs. Each is tried on a small program first and dropped where that does not link or run.

use std::path::PathBuf;
use std::process::{Command, Stdio};

/// Panics and catches the panic, which works only if the unwinder is linked correctly.
const TRIAL: &str = "fn main() {
    std::panic::set_hook(Box::new(|_| {}));
    let caught = std::panic::catch_unwind(|| panic!());
    std::process::exit(i32::from(caught.is_ok()));
}";

/// A linker script that replaces the unwinder's shared library by its archives.
const ARCHIVES: &str = "GROUP ( -lgcc_eh -lgcc )\n";

/// Adds the arguments for `program`, in optimised native builds for Linux with glibc.
pub(crate) fn configure(program: &str) {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-changed=../link.rs");
    let is_optimised = variable("OPT_LEVEL") != "0";
    let is_native = variable("HOST") == variable("TARGET");
    let is_gnu = variable("CARGO_CFG_TARGET_OS") == "linux" && variable("CARGO_CFG_TARGET_ENV") == "gnu";
    if !(is_optimised && is_native && is_gnu) {
        return;
    }
    let trial = Trial(PathBuf::from(variable("OUT_DIR")));
    // 20,000 relocations take 6 KB instead of half a megabyte of resident memory; needs glibc 2.36.
    let packed = "-Wl,-z,pack-relative-relocs";
    if trial.works(&["-C", &format!("link-arg={packed}")]) {
        println!("cargo::rustc-link-arg-bin={program}={packed}");
    }
    // One shared library less to find, map and relocate at each start.
    if let Some(folder) = trial.static_unwinder() {
        let search = format!("native={}", folder.display());
        if trial.works(&["-L", &search]) {
            println!("cargo::rustc-link-search={search}");
        }
    }
}

/// The directory of a trial program.
struct Trial(PathBuf);

impl Trial {
    /// Creates a directory in which `libgcc_s.so` is the static unwinder.
    fn static_unwinder(&self) -> Option<PathBuf> {
        let folder = self.0.join("unwinder");
        std::fs::create_dir_all(&folder).ok()?;
        std::fs::write(folder.join("libgcc_s.so"), ARCHIVES).ok()?;
        Some(folder)
    }

    /// Whether the trial program links with these compiler arguments, and then runs.
    fn works(&self, arguments: &[&str]) -> bool {
        let (source, trial) = (self.0.join("trial.rs"), self.0.join("trial"));
        if std::fs::write(&source, TRIAL).is_err() {
            return false;
        }
        let flags = variable("CARGO_ENCODED_RUSTFLAGS");
        let linker = variable("RUSTC_LINKER");
        let mut compiler = Command::new(variable("RUSTC"));
        compiler
            .arg(&source)
            .arg("-o")
            .arg(&trial)
            .args(flags.split('\u{1f}').filter(|flag| !flag.is_empty()))
            .args(arguments);
        if !linker.is_empty() {
            compiler.arg("-C").arg(format!("linker={linker}"));
        }
        succeeds(&mut compiler) && succeeds(&mut Command::new(&trial))
    }
}

fn succeeds(command: &mut Command) -> bool {
    let command = command
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    command.status().is_ok_and(|status| status.success())
}

fn variable(name: &str) -> String {
    std::env::var(name).unwrap_or_default()
}
