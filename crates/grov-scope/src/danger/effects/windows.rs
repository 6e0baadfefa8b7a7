//! Windows and PowerShell. Removals are read in `removals`.

use super::super::EvaluationContext;
use super::kinds::{
    ACCESS, ACCOUNT, ACCOUNT_REMOVAL, CLOUD, DISK, FIREWALL, FIREWALL_OFF, POWER, PROTECTION, REMOTE_CODE,
    SCHEDULE, SERVICE, SETTINGS, SETTINGS_REMOVAL, TRACES, UNINSTALLS, VOLUME,
};
use super::{Row, row};
use grov_domain::Program;

pub(super) const FORMAT: &[Row] = &[row("", "*:", &DISK)];
pub(super) const DISKS: &[Row] = &[row("", "", &DISK)];
pub(super) const SHADOWS: &[Row] = &[row("delete|resize", "", &VOLUME), row("", "/w:*", &TRACES)];
pub(super) const MIRROR_FOLDERS: &[Row] = &[row("", "/mir|/purge|/move|/mov", &VOLUME_COPY).unless("/l")];
const VOLUME_COPY: super::Effect = super::effect(
    super::super::DESTRUCTIVE,
    super::Scope::Anywhere,
    &[&["mirror", "sync", "purg", "identical", "exact", "delet"]],
    "removes files that are not in the source",
);
#[rustfmt::skip]
pub(super) const DEFENDER: &[Row] = &[
    row("", "-disable*|-exclusion*|-mapsreporting|-submitsamplesconsent|-enable*", &PROTECTION),
];
#[rustfmt::skip]
pub(super) const NETSH: &[Row] = &[
    row("advfirewall|firewall ** off|reset|delete|disable", "", &FIREWALL_OFF),
    row("advfirewall|firewall ** set|add", "", &FIREWALL),
    row("winsock|int|interface|wlan reset|set|delete|ip|disconnect", "", &SETTINGS).unless("show"),
];
pub(super) const FIREWALL_PROFILE: &[Row] = &[
    row(
        "",
        "-enabled -enabled=false|-enabled=$false|false|*false",
        &FIREWALL_OFF,
    ),
    row("", "", &FIREWALL),
];
#[rustfmt::skip]
pub(super) const REGISTRY: &[Row] = &[
    row("delete", "", &SETTINGS_REMOVAL),
    row("add|import|restore|load|unload", "", &SETTINGS),
];
pub(super) const SETTINGS_OF_SYSTEM: &[Row] = &[row(
    "",
    "hklm*|hkcu*|hkey*|registry::*|/set|/delete*|/import*|/create*|/deletevalue|-disable",
    &SETTINGS,
)];
pub(super) const LOGS: &[Row] = &[
    row("cl|clear-log", "", &TRACES),
    row("usn deletejournal", "", &VOLUME),
    row("", "-logname", &TRACES),
];
pub(super) const ANY_TRACE: &[Row] = &[row("", "", &TRACES)];
#[rustfmt::skip]
pub(super) const OWNERS: &[Row] = &[
    row("", "/r|/t /d|everyone:*|/grant*|/grant", &ACCESS),
    row("", "/r", &ACCESS),
];
#[rustfmt::skip]
pub(super) const NET: &[Row] = &[
    row("user|localgroup|group", "/delete", &ACCOUNT_REMOVAL),
    row("user|localgroup|group", "/add", &ACCOUNT),
    row("stop", "", &SERVICE),
    row("accounts", "/*", &ACCOUNT),
    row("use|session", "/delete|/d", &ACCESS),
    row("share", "/delete|*=*", &ACCESS),
];
pub(super) const ACCOUNT_REMOVALS: &[Row] = &[row("", "", &ACCOUNT_REMOVAL)];
pub(super) const ACCOUNTS: &[Row] = &[row("", "", &ACCOUNT)];
pub(super) const POWER_OFF: &[Row] = &[row("", "", &POWER)];
pub(super) const SERVICES: &[Row] = &[row("", "", &SERVICE)];
pub(super) const SC: &[Row] = &[
    row("stop|delete|config|failure|sdset|triggerinfo", "", &SERVICE),
    row("* stop|delete|config", "", &SERVICE),
];
pub(super) const POLICY: &[Row] = &[row("", "unrestricted|bypass", &PROTECTION).unless("process")];
pub(super) const TASKS: &[Row] = &[row("", "/delete|/create|/change", &SCHEDULE)];
pub(super) const ANY_TASK: &[Row] = &[row("", "", &SCHEDULE)];
pub(super) const AZURE_OBJECTS: &[Row] = &[row("", "", &CLOUD)];
/// Cmdlets that remove or turn off what their name says. Those for files and for the session itself have no danger of their own.
#[rustfmt::skip]
pub(super) const CMDLETS: &[Row] = &[row("", "", &SETTINGS_REMOVAL).only_if(is_lasting)];
#[rustfmt::skip]
pub(super) const WMI: &[Row] = &[row("** delete|call|set", "", &SETTINGS_REMOVAL).unless("get|list")];
#[rustfmt::skip]
pub(super) const DISM: &[Row] = &[row("", "/remove-*|/disable-*|/cleanup-image|/apply-*|-remove-*|-disable-*", &SETTINGS_REMOVAL)];

/// Whether PowerShell runs encoded code. Its options may be cut short and begin with a slash: `-e`, `/enc`. What follows a file or a
/// command belongs to that.
fn is_encoded(command: &Program, _: &EvaluationContext<'_>) -> bool {
    let is_cut = |name: &str, option: &str| !name.is_empty() && option.starts_with(name);
    for word in &command.arguments {
        let Some(name) = word.strip_prefix(['-', '/']) else {
            if word.to_ascii_lowercase().ends_with(".ps1") {
                return false;
            }
            continue;
        };
        let name = name.to_ascii_lowercase();
        if name == "ec" || is_cut(&name, "encodedcommand") {
            return true;
        }
        if is_cut(&name, "file") || is_cut(&name, "commandwithargs") {
            return false;
        }
    }
    false
}

/// Shadow copies that a list of objects deletes: `Get-WmiObject Win32_ShadowCopy | ForEach-Object { $_.Delete() }`.
pub(super) const OBJECTS: &[Row] = &[row("", "*shadowcopy*", &VOLUME).only_if(deletes_objects)];

fn deletes_objects(_: &Program, context: &EvaluationContext<'_>) -> bool {
    let line = context.line.to_ascii_lowercase();
    line.contains(".delete()") || line.contains("remove-")
}

fn is_lasting(command: &Program, _: &EvaluationContext<'_>) -> bool {
    #[rustfmt::skip]
    const SESSION: &[&str] = &[
        "clear-content", "clear-host", "clear-variable", "disable-psbreakpoint", "remove-alias", "remove-event", "remove-item", "remove-job", "remove-module",
        "remove-psbreakpoint", "remove-psdrive", "remove-pssession", "remove-typedata", "remove-variable", "stop-job", "stop-process", "stop-transcript",
    ];
    !SESSION.contains(&command.name().to_ascii_lowercase().as_str()) && command.name().contains('-')
}

pub(super) const UNINSTALL: &[Row] = &[row("", "", &UNINSTALLS)];
/// `iex (iwr …)`: the code comes from the network.
#[rustfmt::skip]
pub(super) const INVOKE: &[Row] = &[
    row("", "*downloadstring*|*iwr*|*irm*|*invoke-webrequest*|*invoke-restmethod*|*curl*|*webclient*|*frombase64string*", &REMOTE_CODE),
];
/// The same in the code of `powershell -Command`.
#[rustfmt::skip]
pub(super) const POWERSHELL: &[Row] = &[
    row("", "*iex*|*invoke-expression* *downloadstring*|*iwr*|*irm*|*invoke-webrequest*|*invoke-restmethod*|*webclient*|*frombase64string*", &REMOTE_CODE),
    row("", "", &REMOTE_CODE).only_if(is_encoded),
];
