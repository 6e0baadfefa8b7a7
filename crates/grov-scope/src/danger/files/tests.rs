//! Files that are emptied, overwritten or lost.

use crate::danger::tests::{requests_silent, under};

#[test]
fn files_that_cannot_be_restored_are_kept() {
    under("Why is the list empty?").asked(&[
        "sort words.txt > words.txt",
        "cat a.json | jq . > a.json",
        "sed 's/a/b/' f.py > f.py",
        "mv exports/*.csv /dev/null",
        "mv -f reports/*.xlsx reports/report.xlsx",
        "mv ~/.bashrc ~/.config /tmp/",
        "sudo truncate -s 0 /var/log/syslog",
        "for f in $(grep -rl x src); do : > \"$f\"; done",
        "rm -f .env .env.*",
        "rm terraform.tfstate",
        "rm -f storage/database.sqlite",
        "rm -rf checkpoints/",
        "rm -rf public/uploads dist",
        "rm ~/Documents/a.pdf",
        "rm -rf \"$DATA_ROOT\"/*",
        "cd content && rm -rf !(posts)",
        "find . -delete -name .DS_Store",
    ]);
}

#[test]
fn files_that_are_made_again_may_go() {
    under("Fix the empty list").silent(&[
        "sort words.txt > sorted.txt",
        "sort words.txt >> words.txt",
        "echo a.txt > a.txt",
        "cat a.json | jq . > b.json",
        "mv a.txt b.txt",
        "mv src/*.ts src/lib/",
        ": > app.log",
        "> new.txt",
        "truncate -s 0 logs/dev.log",
        "truncate -s 2G /tmp/big.bin",
        "rm -f .env.example",
        "rm -f test.db tmp/x.sqlite",
        "rm -f build/CMakeCache.txt src/*.o",
        "rm -rf \"$BUILD_DIR\"/*",
        "rm -rf \"$TMP\"/*",
        "rm -f /tmp/a.json",
        "curl -o data.db https://x.example/data.db && rm data.db",
        "rm notes.md",
        "find . -name .DS_Store -delete",
    ]);
    requests_silent(&[("delete the .env file", "rm .env")]);
}
