//! Stems of words in a request that ask for an effect, in several languages, folded. A dot at the end marks a whole word.

/// Removing, deleting, emptying, throwing away.
#[rustfmt::skip]
pub(crate) const REMOVE: &[&str] = &[
    // English
    "delet", "remov", "prun", "purg", "wipe", "wiping", "rid.", "drop", "eras", "destroy", "trash", "nuke", "nuking", "discard",
    "empty", "uninstal", "teardown", "tear.", "toss", "ditch", "scrap.", "obliterat", "evict", "expung", "decommission", "dismantl",
    "reclaim", "retire", "terminat", "undeploy",
    // Destroying, in other languages
    "zerstor", "vernietig", "detruis", "destru", "distrugg", "derrub", "abbatt", "tumba", "zniszcz", "摧毁", "拆除", "拆了", "壊し",
    // German, Dutch
    "losch", "entfern", "leere.", "leeren", "leert", "wirf", "wegwerf", "schmeiss", "weg.", "raus.", "deinstall", "verwerf", "verwirf",
    "verwijder", "wis.", "leeg", "gooi", "weghal", 
    // French, Spanish, Portuguese, Italian, Romanian
    "supprim", "effac", "enlev", "vire.", "virer", "jette", "jeter", "vide.", "vider", "videz", "desinstall", "degag", "retir",
    "elimin", "borr", "vaci", "quita", "tira.", "tirar", "descart", "desinstal", "deshaz", "elimina",
    "apag", "exclui", "exclua", "esvazi", "joga.", "jogue",
    "cancell", "rimuov", "rimozion", "svuot", "butta", "togli", "togliere", "leva.", "disinstall", "scart",
    "sterg", "golest", "goleas", "distrug", "scoate", "scapa", "arunc", "dezinstal",
    // Polish, Russian, Turkish
    "usun", "skasuj", "skasow", "kasuj", "wyczysc", "wyrzuc", "wywal", "oprozn", "oproznij", "pozbadz", "odinstal", 
    "удал", "очист", "сотр", "снес", "убер", "убра", "выкин", "выброс", "грохн", "опустош", "снос", "деинстал", "sil.", "silebil", "silin",
    "bosalt", "kaldir", "kaldır", "boşalt",
    // Chinese, Japanese
    "删", "移除", "去掉", "扔", "丢弃", "销毁", "卸载", "刪", "削除", "消し", "消す", "消去", "クリア", "空に", "捨て", "除去", "取り除", "アンインストール", "破棄", 
];

/// Cleaning up, which is as often said of code as of files and data: it asks for a removal if the object is named.
#[rustfmt::skip]
pub(crate) const TIDY: &[&str] = &[
    "clean", "tidy", "bereinig", "raum", "aufgeraum", "aufraum", "opruim", "ruim.", "schoon", "nettoi", "nettoy", "limpi", "limp", "pulisc", "pulir", "pulizi", "curat", "sprzat", "posprzat",
    "почист", "подчист", "убор", "temizl", "清", "片付", "掃除", "housekeep", "free.", "freeing", "libera",
];

/// Starting over with fresh data.
#[rustfmt::skip]
pub(crate) const RESET: &[&str] = &[
    "reset", "recreat", "fresh", "rebuild", "reseed", "seed", "repopul", "redo", "scratch", "recre", "reinit", "reprovision", "reimag", "start-over",
    "zuruck", "zurucksetz", "neu.", "reinicial", "reinitial", "reinstal", "resete", "reiniti", "azzer", "ripristin", "ricre", "resetuj", "zresetuj", "odtworz", "recree",
    "обнул", "пересозд", "пересобер", "сброс", "заново", "с нуля", "sıfırl", "sifirla", "重置", "重建", "重新", "重来", "リセット", "作り直", "初期化", "やり直",
];

/// Discarding changes of a working tree.
#[rustfmt::skip]
pub(crate) const DISCARD: &[&str] = &[
    "reset", "revert", "undo", "discard", "rollback", "roll", "throw", "start over", "restor", "clean", "sync", "rebas", "anul", "drop",
    "verwerf", "zuruck", "annul", "descart", "annull", "odrzu", "cofn", "ruckgangig", "deshaz", "desfaz", "terugdraai", "откат", "отмен", "撤销", "撤回", "回退", "还原", "戻", "取り消",
];

/// Removing stored data.
#[rustfmt::skip]
pub(crate) const DATA: &[&str] = &["truncat", "clear", "flush", "downgrad", "empti", "unload"];

/// Publishing and deploying.
#[rustfmt::skip]
pub(crate) const PUBLISH: &[&str] = &[
    "publish", "releas", "deploy", "redeploy", "ship", "upload", "public", "submit", "distribut", "launch", "roll", "promot",
    "veroffentlich", "ausliefer", "ausroll", "roll.", "hochlad", "deploye", "einspiel", "uitrol", "publiceer", "publicer",
    "publie", "deploi", "livr", "pousse", "desplieg", "despleg", "publica", "publiq", "sube", "subir", "lanza",
    "implant", "pubblic", "rilasc", "distribu", "lanseaz", "urc", "livreaz",
    "wdroz", "opublik", "wypusc", "wypchn", "wgraj", "wystaw", "опублик", "задепло", "выложи", "выкат", "раскат", "зарелиз", "релиз", "залей", "запуш", "yayinla",
    "yayınla", "发布", "部署", "上线", "推送", "发版", "上传", "公開", "リリース", "デプロイ", "アップロード", "配信", "プッシュ",
];

/// Words that publish only together with what is published or where to: "bring it live", "saca la versión nueva".
#[rustfmt::skip]
pub(crate) const BRING_OUT: &[&str] = &[
    "bring.", "bringing.", "lad.", "lade.", "bring", "zet.", "breng", "sors.", "mettr", "mets.", "lanc", "saca", "sacar", "envia", "coloc", "carica", "metti", "porta.", "pune", "wrzuc", "schieb",
];

/// What is published, and where to.
#[rustfmt::skip]
pub(crate) const PUBLISHED: &[&str] = &[
    "prod", "live.", "production", "produzion", "produccion", "produktion", "produkcj", "producao", "productie", "productia", "прод", "生产", "本番", "staging", "registry", "npm", "pypi", "store", "public", "online",
    "version", "versie", "versione", "versiune", "wersj", "версию", "releas", "site", "website", "pagina", "webseite", "сайт", "paquet", "pachet", "paket", "pakiet", "package", "crate", "gem.", "docker", "image", "server",
];

/// Running what the object names.
#[rustfmt::skip]
pub(crate) const RUN: &[&str] = &[
    "run.", "rerun", "execut", "invok", "start.", "launch", "fuhr", "lass", "starte", "ausfuhr", "draai", "voer", "lance", "lancer", "relanc", "ejecut", "corre.", "lanza", "esegui", "lancia", "rode.", "roda.", "rodar",
    "ruleaz", "rulez", "porn", "uruchom", "odpal", "wykonaj", "запус", "прогон", "выполн", "calistir", "çalıştır", "运行", "执行", "跑", "実行", "走らせ", "回し",
];

/// Changing settings or resources of a service.
#[rustfmt::skip]
pub(crate) const CHANGE: &[&str] = &[
    "creat", "updat", "chang", "add.", "adding.", "set.", "appl", "deploy", "install", "configur", "enabl", "edit", "modif", "patch", "replac", "increas",
    "decreas", "rais", "lower", "scal", "restart", "roll", "start", "launch", "provision", "upgrad", "rotat", "grant", "attach", "regist",
    "restor", "import", "upload", "copy", "send", "make.", "put.", "fix", "bump", "switch", "renam", "label", "tag.", "spin", "migrat", "resiz", "grow", "unlock", "rebuild",
    "creez", "creea", "adaug", "schimb", "modific", "seteaz", "aplic", "instal", "anleg", "erstell", "ander", "hinzufug", "bau", "setz", "stell", "spiel", "starte", "einspiel",
    "vergrosser", "ajout", "mett", "mets.", "cree.", "creer", "appliqu", "lance", "demarr", "install",
    "agreg", "anad", "pon.", "poner", "escal", "aplica", "arranc", "sube", "aggiung", "adicion", "metti", "coloc", "bota", "aumenta", "crie.", "criar", "cria.", "crea.", "crear", "attiv", "avvia",
    "dodaj", "utworz", "zmien", "ustaw", "zastosuj", "uruchom", "toevoeg", "maak", "zet.", "voeg", "созда", "добав", "измен", "примен", "накат", "подними", "поменя",
    "обнов", "запус", "ustaw", "olustur", "oluştur", "guncelle", "güncelle", "uygula", "创建", "添加", "修改", "应用", "扩容", "更新", "设置", "作成", "追加", "変更", "適用", "更新", "設定", "増やし",
];

/// Stopping what runs.
#[rustfmt::skip]
pub(crate) const STOP: &[&str] = &[
    "stop", "disabl", "kill", "shut", "halt", "terminat", "paus", "suspend", "off.", "down.", "deactivat", "opres", "dezactiv", "arret", "coupe.", "couper", "desactiv", "deten", "apaga", "parar", "pare.",
    "mata.", "matar", "ferma", "spegn", "spengi", "disattiv", "desliga", "stopp", "beend", "abschalt", "abstell", "deaktivier", "schalt", "uitzet", "uitschakel", "zatrzym", "wylacz", "ubij", "останов",
    "выключ", "отключ", "убей", "заверши", "durdur", "kapat", "停", "关", "禁用", "止め", "落と", "切っ", "無効",
];

/// Restarting.
#[rustfmt::skip]
pub(crate) const RESTART: &[&str] = &[
    "restart", "reboot", "bounc", "reload", "recycl", "reporn", "neustart", "redemarr", "relanc", "reinici", "riavvi", "herstart", "zrestartuj", "uruchom", "перезапус", "перезагруз", "рестарт",
    "重启", "重新启动", "再起動",
];

/// Sending messages or files.
#[rustfmt::skip]
pub(crate) const SEND: &[&str] = &[
    "send", "upload", "post.", "posting", "submit", "share", "sharing", "mail", "announc", "push", "transfer", "attach", "backup", "copy", "sync", "mirror", "notif", "ping.", "paste",
    "trimit", "urc", "schick", "sende", "teil.", "teile.", "hochlad", "kopier", "sichern", "sichere.", "envoi", "envoy", "partag", "envi", "compart", "sube", "subir", "copia", "invia", "carica", "manda.", "mandare", "condivid",
    "wysl", "przesl", "wrzuc", "skopiuj", "udostepn", "stuur", "deel.", "отправ", "залей", "скопир", "пришл", "gonder", "gönder", "发送", "发给", "上传", "拷贝", "复制", "送", "アップロード",
    "共有", "コピー",
];
