//! Grov itself: switching it off, changing its record, stopping it.

use super::*;

#[test]
fn disabling_or_manipulating_grov_is_a_danger() {
    let tampering = [
        "grov goal allow src/db",
        "grov --home /tmp/x goal --session s allow '**'",
        "cd /tmp && /usr/local/bin/grov goal set anything",
        "grov off",
        "rm -rf \"$GROV_HOME\"",
        "sed -i 's/ask/off/' $GROV_HOME/config.toml",
        "echo 'guard.mode = \"off\"' > ~/.grov/config.toml",
        "grov unregister",
        "grov uninstall --yes",
        "cat x.json | grov hook PostToolUse",
        "grov hook UserPromptSubmit < x.json",
        "grov prompt-inject",
        "grov inject",
        "grov capture",
        "grov store prune",
        "grov memory trust 05361360",
        "grov memory forget 05361360 --yes",
        "grov memory edit 05361360 --content x",
        "grov memory approve 05361360",
        "grov proxy stop",
        "grov service remove",
        "grov config unset guard.mode",
        "grov config set guard.fail open",
        "grov config set memory.enabled false",
        "$(which grov) off",
        "sqlite3 ~/.grov/grov.db \"update guarded set ran = 1 where id = 2\"",
        "cd ~/.grov && sqlite3 grov.db 'update guarded set ran = 1 where id = 2'",
    ];
    dangers("Fix it", 3..=3).of(&tampering);
    dangers("Set grov up anew", NO_DANGER).of(&tampering);
    dangers("Fix it", NO_DANGER).of(&[
        "grov goal show",
        "grov memory list",
        "grov memory search forget",
        "grov config show",
        "grov proxy status",
        "grov goal forbid docs",
        "grov on",
        "grov status",
        "cargo build -p grov",
        "cargo uninstall ripgrep",
        "rm src/grov.rs",
        "npm uninstall left-pad",
        "kill 4711",
        "grov store status",
        "ls ~/.grov/logs",
        "sqlite3 app.db 'select 1'",
    ]);
}

#[test]
fn stopping_or_removing_grov_is_a_danger() {
    let stopping = [
        "pkill grov-proxyd",
        "killall -9 grov-proxyd",
        "kill $(pgrep grov-proxyd)",
        "systemctl --user stop grov",
        "launchctl unload ~/Library/LaunchAgents/grov.plist",
        "cargo uninstall grov-cli",
        "npm uninstall -g grov",
        "rm /usr/local/bin/grov",
        "rm $(which grov)",
        "chmod -x ~/.cargo/bin/grov",
    ];
    dangers("Fix it", 0..=4).of(&stopping);
    dangers("Stop grov", 4..=10).of(&stopping);
    dangers("Fix it", 4..=10).of(&["pkill -f hargrove"]);
}
