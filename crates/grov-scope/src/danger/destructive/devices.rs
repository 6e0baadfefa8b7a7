//! Commands that overwrite a disk: `dd of=/dev/sda`, `tee /dev/sda`, `cat image > /dev/nvme0n1`.

use super::{CRITICAL, EvaluationContext, finding};
use grov_domain::{Finding, Program};

/// Beginnings of the names of disks and of what they are made of, after `/dev/`.
#[rustfmt::skip]
const DISKS: &[&str] = &["sd", "hd", "vd", "xvd", "nvme", "mmcblk", "disk", "rdisk", "md", "dm-", "mapper/", "mem", "kmem", "disk/by-", "vg", "zvol/", "pmem"];

/// Devices that keep nothing.
const STREAMS: &[&str] = &[
    "null", "zero", "full", "stdout", "stderr", "stdin", "fd/", "shm/", "tty", "pts/",
];

/// The finding for a command that writes to a disk that the request does not name.
pub(super) fn overwritten(command: &Program, context: &EvaluationContext<'_>) -> Option<Finding> {
    let device = disk_of(command)?;
    let request = &context.compiled.request;
    let is_named = !request.only_looks() && request.names(device);
    finding(CRITICAL, None, "A device is overwritten").filter(|_| !is_named)
}

/// The disk that a command writes to.
pub(in crate::danger) fn disk_of(command: &Program) -> Option<&str> {
    let operands = || command.operands();
    let written = match command.name() {
        "dd" => operands().find_map(|word| word.strip_prefix("of=").filter(|file| is_device(file))),
        "tee" | "sponge" | "shred" | "truncate" => operands().find(|file| is_disk(file)),
        "cp" | "mv" | "install" | "rsync" | "pv" => operands().next_back().filter(|file| is_disk(file)),
        "curl" | "wget" => command
            .arguments
            .windows(2)
            .filter(|pair| matches!(pair[0].as_str(), "-o" | "-O" | "--output" | "--output-document"))
            .map(|pair| pair[1].as_str())
            .find(|file| is_disk(file)),
        _ => None,
    };
    let redirected = || {
        command
            .targets
            .iter()
            .map(String::as_str)
            .find(|file| is_disk(file))
    };
    let changed = || {
        command
            .changes
            .iter()
            .map(String::as_str)
            .find(|file| is_disk(file))
    };
    written.or_else(redirected).or_else(changed)
}

/// Whether a path is a device that keeps what is written to it.
fn is_device(path: &str) -> bool {
    path.strip_prefix("/dev/")
        .is_some_and(|name| !STREAMS.iter().any(|stream| name.starts_with(stream)))
}

fn is_disk(path: &str) -> bool {
    path.strip_prefix("/dev/")
        .is_some_and(|name| DISKS.iter().any(|disk| name.starts_with(disk)))
}

#[cfg(test)]
mod tests {
    use crate::danger::tests::{is_asked, under};

    #[test]
    fn disks_are_not_overwritten_unasked() {
        under("Fix the parser").asked(&[
            "tee /dev/sda < image.img",
            "cat image.img | sudo tee /dev/sdb >/dev/null",
            "cat image.img > /dev/nvme0n1",
            "echo x > /dev/sda1",
            "cp image.img /dev/sdb",
            "sudo dd if=image.img of=/dev/disk4",
            "curl -o /dev/sda https://x.example/image",
            "gunzip -c image.gz > /dev/mmcblk0",
        ]);
        under("Fix the parser").silent(&[
            "dd if=/dev/sda of=/dev/stdout bs=512 count=1",
            "dd if=/dev/zero of=/dev/shm/x count=1",
            "echo x > /dev/null",
            "echo x | tee /dev/stderr",
            "cat /dev/sda1 > part.img",
            "cp /dev/null empty.txt",
        ]);
        assert!(!is_asked(
            "Write image.img to /dev/sdb",
            "dd if=image.img of=/dev/sdb"
        ));
    }
}
