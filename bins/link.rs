//! Linker options of the programs. Each option is tried on a small program first, and dropped if that cannot be built or
//! does not run, because linkers differ.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// Panics and catches that, which works only if the unwinder is linked correctly.
const TRIAL: &str = "fn main() {
    std::panic::set_hook(Box::new(|_| {}));
    let caught = std::panic::catch_unwind(|| panic!());
    std::process::exit(i32::from(caught.is_ok()));
}";

/// Links the unwinder's archives instead of its shared library.
const ARCHIVES: &str = "GROUP ( -lgcc_eh -lgcc )\n";

/// Sets all options for the program of this package, in optimised native builds for Linux.
pub(crate) fn ask(program: &str) {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-changed=../link.rs");
    println!("cargo::rerun-if-changed=functions.txt");
    let is_optimised = variable("OPT_LEVEL") != "0";
    let is_native = variable("HOST") == variable("TARGET");
    let is_gnu = variable("CARGO_CFG_TARGET_OS") == "linux" && variable("CARGO_CFG_TARGET_ENV") == "gnu";
    if !(is_optimised && is_native && is_gnu) {
        return;
    }
    let trial = Trial(PathBuf::from(variable("OUT_DIR")));
    // Functions that run are placed together, so that few pages of the program are read. Unknown names are
    // ignored; `scripts/order-functions` makes the list.
    let list = Path::new(&variable("CARGO_MANIFEST_DIR")).join("functions.txt");
    let order = format!(
        "--symbol-ordering-file={},--no-warn-symbol-ordering",
        list.display()
    );
    // 20,000 addresses in half a megabyte that stays in memory, or in 6 KB: the loader has to know of it, glibc 2.36 does.
    let packed = "-z,pack-relative-relocs".to_owned();
    for option in [order, packed] {
        let option = format!("-Wl,{option}");
        if trial.works(&["-C", &format!("link-arg={option}")]) {
            println!("cargo::rustc-link-arg-bin={program}={option}");
        }
    }
    // A shared library less to be found, mapped and connected at each start.
    if let Some(folder) = trial.unwinder() {
        let search = format!("native={}", folder.display());
        if trial.works(&["-L", &search]) {
            println!("cargo::rustc-link-search={search}");
        }
    }
}

/// A small program in a folder.
struct Trial(PathBuf);

impl Trial {
    /// A folder in which the unwinder's shared library is its archives.
    fn unwinder(&self) -> Option<PathBuf> {
        let folder = self.0.join("unwinder");
        std::fs::create_dir_all(&folder).ok()?;
        std::fs::write(folder.join("libgcc_s.so"), ARCHIVES).ok()?;
        Some(folder)
    }

    /// Whether the trial can be linked with these arguments of the compiler, as this build links, and works.
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
