//! Stems of words in a request that ask for an effect, in several languages, folded.

/// Removing, deleting, cleaning.
#[rustfmt::skip]
pub(crate) const REMOVE: &[&str] = &[
    "delet", "remov", "clean", "prun", "purg", "wipe", "wiping", "tidy", "rid", "drop", "eras", "destroy", "trash", "nuke", "discard", "empty",
    "uninstal", "teardown", "tear",
    "sterg", "elimin", "curat", "golest", "goleas", "distrug", "losch", "entfern", "leer", "bereinig", "raum", "supprim", "effac", "enlev",
    "nettoi", "borr", "limpi", "vaci", "cancell", "rimuov", "pulisc", "svuot", "apag", "exclu", "usun", "usuń", "skasuj", "wyczysc",
    "wyczyść", "verwijder", "wis", "opruim", "удал", "очист", "сотр", "删", "清", "削除", "消し", "クリア",
];

/// Starting over with fresh data.
#[rustfmt::skip]
pub(crate) const RESET: &[&str] = &[
    "reset", "recreat", "fresh", "rebuild", "reseed", "seed", "redo", "scratch", "wipe", "recre", "zuruck", "reinitial", "重置", "リセット", "сброс",
];

/// Removing stored data.
#[rustfmt::skip]
pub(crate) const DATA: &[&str] = &["truncat", "clear", "flush", "downgrad", "empti", "unload"];

/// Publishing and deploying.
#[rustfmt::skip]
pub(crate) const PUBLISH: &[&str] = &[
    "publish", "releas", "deploy", "ship", "upload", "public", "submit", "distribut", "launch", "roll",
    "lanseaz", "livr", "urc", "veroffentlich", "ausliefer", "publie", "desplieg", "desplegar", "despleg", "sube", "subir",
    "implanta", "wdroz", "wdróż", "opublik", "uitrol", "publice", "опублик", "депло", "выложи", "发布", "部署", "公開", "リリース", "デプロイ",
];

/// Changing settings or resources of a service.
#[rustfmt::skip]
pub(crate) const CHANGE: &[&str] = &[
    "creat", "updat", "chang", "add", "set", "appl", "deploy", "install", "configur", "enabl", "edit", "modif", "patch", "replac", "increas",
    "decreas", "rais", "lower", "scal", "restart", "roll", "start", "launch", "provision", "upgrad", "rotat", "grant", "giv", "attach", "regist",
    "restor", "import", "upload", "copy", "send", "mak", "put", "fix", "bump", "switch", "renam", "label", "tag", "spin", "migrat",
    "cre", "adaug", "schimb", "modific", "seteaz", "aplic", "instal", "anleg", "erstell", "ander", "hinzufug", "ajout", "chang", "mett",
    "agreg", "anad", "aggiung", "adicion", "dodaj", "utworz", "zmien", "toevoeg", "maak", "созда", "добав", "измен", "创建", "添加", "修改",
    "作成", "追加", "変更",
];

/// Stopping what runs.
#[rustfmt::skip]
pub(crate) const STOP: &[&str] = &[
    "stop", "disabl", "kill", "shut", "halt", "terminat", "paus", "suspend", "off", "down", "opres", "arret", "deten", "par", "ferma",
    "zatrzym", "останов", "выключ", "停", "止め",
];

/// Restarting.
pub(crate) const RESTART: &[&str] = &[
    "restart", "reboot", "bounc", "reload", "reporn", "neustart", "redemarr", "reinici",
];

/// Sending messages or files.
#[rustfmt::skip]
pub(crate) const SEND: &[&str] = &[
    "send", "upload", "post", "submit", "share", "mail", "announc", "push", "transfer", "attach", "backup", "copy", "sync", "mirror", "trimit",
    "urc", "schick", "send", "envoi", "envoy", "envi", "invia", "wysl", "wyśl", "stuur", "отправ", "发送", "送",
];
