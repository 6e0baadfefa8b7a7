//! What the user requested, as far as dangerous edits are concerned.

use crate::contract::{MAIN_POINT, RequestWords};

/// Words that ask to skip or disable something. A stem with a dot is a whole word.
#[rustfmt::skip]
pub(super) const SKIPPING: &[&str] = &[
    "skip", "disabl", "ignor", "mute", "quarantin", "xfail", "pending", "exclud", "suppress", "deactivat", "relax", "loosen",
    "bypass", "silenc", "allowlist", "whitelist", "unblock", "nolint", "noqa", "nocheck", "commented.",
    // Romanian, German, French
    "sari", "dezactiv", "opreste", "comentez", "uberspring", "deaktivier", "ausschalt", "abschalt", "ausklammer", "unterdruck", "auskommentier", "saut",
    "desactiv", "coupe", "passer.",
    // Spanish, Italian, Portuguese
    "salt", "omit", "deshabilit", "silenci", "disabilit", "disattiv", "tralasci", "pule.", "pula", "pular", "desativ", "desabilit", "suprim",
    // Polish, Dutch
    "pomin", "wylacz", "wyłącz", "ignoruj", "overslaan", "sla.", "uitschakel", "uitzet", "negeer", "onderdruk",
    "跳过", "禁用", "忽略", "关闭", "屏蔽", "注释", "スキップ", "無効", "無視", "オフ", "コメントアウト",
];

/// Words that ask to remove something.
#[rustfmt::skip]
pub(super) const REMOVING: &[&str] = &[
    "delet", "remov", "drop", "prun", "purg", "rid.", "obsolet", "unused", "legacy", "deprecat", "retire", "sunset", "strip", "dead.", "wipe",
    "sterg", "elimin", "scoate", "losch", "lösch", "entfern", "weg.", "supprim", "enlev", "retir", "borr", "quita", "rimuov", "togli",
    "apag", "exclui", "excluir.", "exclua.", "usun", "usuń", "skasuj", "verwijder", "weghal", "删除", "删掉", "移除", "去掉", "削除", "取り除", "消し",
];

/// Words that ask to rearrange code.
#[rustfmt::skip]
pub(crate) const RESTRUCTURING: &[&str] = &[
    "renam", "move.", "moved.", "moves.", "moving.", "replac", "restructur", "reorgan", "refactor", "rewrit", "migrat", "extract", "split",
    "consolidat", "dedup", "simplif", "parametri", "parameteri", "tabl", "convert", "port.", "porting.", "rework",
    "redenum", "muta.", "mutam.", "mutat.", "inlocui", "rescri", "umbenen", "verschieb", "ersetz", "umstell", "aufteil", "aufraum", "deplac", "remplac", "reecri", "divis",
    "decoup", "mueve", "mover", "reemplaz", "reescrib", "divid", "spost", "sostitu", "riscriv", "substitu", "przenie", "zamie", "podziel", "przepisz",
    "verplaats", "vervang", "herschrij", "splits", "重构", "重写", "移动", "迁移", "替换", "拆分", "合并", "リファクタ", "移行", "書き換え", "置き換え", "分割", "移動",
];

/// Words that ask for a change of a tool's configuration.
#[rustfmt::skip]
pub(super) const CONFIGURING: &[&str] = &[
    "config", "setup", "set-up", "setting", "rule.", "rules.", "ruleset", "preset", "adopt", "introduc", "migrat", "upgrad", "scaffold", "bootstrap",
    "einricht", "konfig", "einfuhr", "regel", "regl", "regla", "regol", "regra", "regul", "instelling", "配置", "规则", "設定", "ルール", "導入",
];

/// Words that ask for something new, such as a checker.
pub(super) const ADDING: &[&str] = &[
    "add.", "ajout", "aggiung", "adicion", "anad", "creat", "dodaj", "enabl", "hinzu", "toevoeg", "添加",
    "追加",
];

/// Words that ask to run chosen tests alone.
pub(super) const FOCUSING: &[&str] = &["focus", "only.", "isolat", "solo.", "nur.", "seul", "doar."];

/// Words that ask to retry tests.
pub(super) const RETRYING: &[&str] = &[
    "retr",
    "rerun",
    "wiederhol",
    "reintent",
    "reessa",
    "重试",
    "リトライ",
];

/// Words that ask for a change of the required coverage.
pub(super) const COVERAGE: &[&str] = &[
    "coverage",
    "threshold",
    "abdeckung",
    "cobertura",
    "couverture",
    "copertura",
];

/// Words that ask for a change of how certificates are verified.
#[rustfmt::skip]
pub(super) const TLS: &[&str] = &[
    "tls.", "ssl.", "cert", "https.", "insecure", "self-signed", "selfsigned", "signed.", "verif", "zertifikat", "certificat", "证书", "証明書",
];

/// Words that ask for the replacement or removal of infrastructure.
pub(super) const DEPLOYING: &[&str] = &[
    "destroy",
    "teardown",
    "tear.",
    "recreat",
    "replac",
    "decommission",
    "protect",
    "prevent",
    "distrug",
    "abbau",
    "数据库删除",
];

/// Words that ask for a change of Git hooks.
pub(super) const HOOKS: &[&str] = &[
    "hook",
    "husky",
    "pre-commit",
    "precommit",
    "commit-msg",
    "lefthook",
    "lint-staged",
];

/// Words of tests and their results.
#[rustfmt::skip]
const TESTS: &[&str] = &[
    "test", "spec.", "specs.", "ci.", "flak", "suite", "pytest", "jest", "vitest", "junit", "phpunit", "rspec", "cypress", "playwright", "mocha",
    "prueb", "prove.", "pipeline", "build.", "测试", "テスト",
];

/// Words of static checks and their results.
#[rustfmt::skip]
const CHECKS: &[&str] = &[
    "lint", "eslint", "tslint", "stylelint", "clippy", "mypy", "pyright", "typecheck", "type.", "types.", "typing.", "tsc.", "typescript", "ruff", "flake8",
    "pylint", "pep8", "warn", "rubocop", "checkstyle", "pmd.", "spotbugs", "detekt", "ktlint", "golangci", "staticcheck", "vet.", "phpstan", "psalm",
    "phpcs", "sonar", "credo", "dialyzer", "analyzer", "swiftlint", "shellcheck", "hadolint", "ci.", "pipeline", "build.", "compil",
    "avertis", "warnung", "typfehler", "avviso", "avvisi", "aviso", "ostrzez", "waarschuwing", "警告", "类型", "型エラー",
];

/// Words of what should succeed again.
#[rustfmt::skip]
const FAILING: &[&str] = &[
    "fail", "fix.", "fixes.", "fixed.", "fixing.", "pass.", "passes.", "passing.", "green.", "red.", "broke", "break", "repair", "flak", "succeed", "satisf", "happy",
    "pica", "trec", "trece", "repar", "verde", "verzi", "fehl", "behe", "beheb", "schlag", "grun", "repari", "korrig", "echou", "corrig", "vert.",
    "verts.", "passe.", "passent", "falla", "fallo", "arregl", "pasar", "pasen", "falh", "passar", "passem", "consert", "corregg", "fallisc", "passare", "passino",
    "napraw", "popraw", "przech", "zielon", "herstel", "repareer", "los.", "slaag", "slagen", "faal", "falen", "groen",
    "修", "通过", "失败", "绿", "直", "失敗", "落ち", "赤", "緑",
];

/// Words of what static checks report.
#[rustfmt::skip]
const REPORTED: &[&str] = &[
    "error", "clean", "resolv", "complain", "finding", "issue", "offens", "violation", "erori", "eroare", "fehler", "erreur",
    "blad", "bled", "fout", "报错", "错误", "エラー",
];

/// Words that ask for something new about a topic: "cover the broken case by a test".
#[rustfmt::skip]
const NEW: &[&str] = &[
    "add.", "adds.", "adding.", "write.", "writing.", "cover", "extend", "creat", "with.", "ajout", "ecri", "erganz", "hinzu", "schreib", "aggiung", "scriv", "adicion", "escrev",
    "anad", "escrib", "dodaj", "napisz", "toevoeg", "schrijf", "adaug", "scrie", "添加", "写", "追加", "書",
];

/// Other words of what guards a project, or of the settings of checks.
#[rustfmt::skip]
const GUARDS: &[&str] = &[
    "assert", "coverage", "e2e", "snapshot", "smoke", "cases.", "scenario", "strict", "tsconfig", "rule.", "rules.", "ruleset", "workflow", "gate.", "checks.", "checker",
    "verif", "validat", "protect", "prevent", "safeguard", "guard", "threshold", "hook", "audit", "scan", "format", "style.", "standard", "preset", "annotat",
    "regel", "regl", "regla", "regol", "regra", "regul", "abdeckung", "cobertura", "couverture", "copertura", "规则", "ルール", "覆盖率", "カバレッジ", "检查", "チェック",
];

/// Whether a request names tests, checks, or what else an edit may weaken: "skip the intro" asks for no skipped test.
pub(crate) fn names_checks(words: &RequestWords) -> bool {
    [TESTS, CHECKS, REPORTED, GUARDS]
        .iter()
        .any(|stems| words.is_about(stems))
}

/// A topic of requests.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Topic {
    Tests,
    Checks,
    Any,
}

/// The request of the user.
pub(super) struct Request<'a> {
    words: &'a RequestWords,
}

impl<'a> Request<'a> {
    pub(super) fn new(words: &'a RequestWords) -> Self {
        Self { words }
    }

    /// Whether the request is that tests or checks of a topic succeed. With `mainly`, its beginning says so; a condition like
    /// "all tests must pass" at its end does not count.
    pub(super) fn is_to_mend(&self, topic: Topic, mainly: bool) -> bool {
        let within = if mainly { MAIN_POINT } else { usize::MAX };
        let is_near = |words: &[&str], state: &[&str]| self.words.has_near(words, state, NEW, within);
        let tests = || is_near(TESTS, FAILING);
        let checks = || is_near(CHECKS, FAILING) || is_near(CHECKS, REPORTED);
        match topic {
            Topic::Tests => tests(),
            Topic::Checks => checks(),
            Topic::Any => tests() || checks(),
        }
    }

    /// Whether the user asked for an edit in one of these words.
    pub(super) fn asks_for(&self, requests: &[&[&str]]) -> bool {
        // These words may be about anything.
        let is_general = |words: &[&str]| [SKIPPING, CONFIGURING, ADDING].contains(&words);
        let names_checks = names_checks(self.words);
        let both = |first: &[&str], second: &str| self.words.requests_any(first) && self.words.names(second);
        let is_put_off = || both(&["turn", "switch", "toggl"], "off") || both(&["comment."], "out");
        names_checks && is_put_off()
            || requests
                .iter()
                .any(|words| (names_checks || !is_general(words)) && self.words.requests_any(words))
    }
}
