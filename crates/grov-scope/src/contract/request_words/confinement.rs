//! Requests that confine themselves to a trial: a dry run, a preview, a test environment, this machine.

use super::RequestWords;

/// Stems of words for a run that changes nothing.
#[rustfmt::skip]
const DRY: &[&str] = &[
    "dry-run", "dryrun", "dry.", "simulat", "rehears", "what-if", "noop.", "no-op.",
    "trockenlauf", "probelauf", "simulier", "simul.", "simulacro", "simulaz", "simulac", "simulare", "symulac", "zasymuluj", "proefdraai",
    "холост", "симул", "试运行", "演练", "模拟", "ドライラン", "予行", "simüla",
];

/// Words after which the real thing follows.
#[rustfmt::skip]
const AFTERWARDS: &[&str] = &[
    "then", "after", "afterwards", "real.", "actual.", "apply", "danach", "dann", "anschliess", "puis", "ensuite", "apres", "luego", "despues", "poi.", "dopo", "depois", "apoi", "dupa",
    "potem", "nastepnie", "daarna", "потом", "затем", "之后", "然后", "再", "その後", "sonra",
];

/// Stems of words for environments that users do not depend on.
#[rustfmt::skip]
const TRIAL: &[&str] = &[
    "preview", "staging", "stage.", "sandbox", "scratch", "throwaway", "qa.", "uat.", "preprod", "testenv", "draft", "vorschau", "testumgebung", "apercu", "previsualiz", "recette", "anteprima", "collaudo", "homolog",
    "podglad", "previzualiz", "предпросмотр", "стейдж", "тестов", "预览", "预发", "测试环境", "プレビュー", "ステージング", "検証環境", "onizleme",
];

/// Stems of words for this machine.
#[rustfmt::skip]
const HERE: &[&str] = &[
    "local", "locally", "lokal", "localement", "localmente", "localhost", "locale.", "local.", "laptop", "локальн", "本地", "本机", "ローカル", "手元", "yerel",
];

/// Stems of words for the environment that users depend on.
#[rustfmt::skip]
const LIVE: &[&str] = &[
    "prod", "production", "produkt", "produzion", "produccion", "produktion", "producao", "productie", "productia", "produkcj", "прод", "боев", "生产", "线上", "本番", "canli",
];

impl RequestWords {
    /// Whether the request wants to see what would happen, and nothing more.
    pub(crate) fn wants_dry_run(&self) -> bool {
        self.requests_any(DRY) && !self.mentions_any(AFTERWARDS) && !self.is_about(AFTERWARDS)
    }

    /// Whether the request names an environment for trials and not the one that users depend on.
    pub(crate) fn is_confined_to_trial(&self) -> bool {
        (self.requests_any(TRIAL) || self.wants_dry_run()) && !self.is_about(LIVE)
    }

    /// Whether the request names the environment that users depend on.
    pub(crate) fn is_about_production(&self) -> bool {
        self.is_about(LIVE) || self.is_about(&["live"])
    }

    /// Whether the request is about this machine and not about the one that users depend on.
    pub(crate) fn is_confined_to_this_machine(&self) -> bool {
        self.requests_any(HERE) && !self.is_about(LIVE)
    }
}

#[cfg(test)]
mod tests {
    use super::RequestWords;

    #[test]
    fn a_request_may_be_confined() {
        for (text, dry, trial, here) in [
            ("dry run the archive job please", true, true, false),
            ("dry run it, then apply", false, false, false),
            ("deploy a preview before we go live", false, true, false),
            ("deploy the preview and then production", false, false, false),
            ("скейлни воркеры на стейджинге", false, true, false),
            ("validate it locally", false, false, true),
            ("deploy it", false, false, false),
        ] {
            let request = RequestWords::new(vec![text], &[]);
            assert_eq!(request.wants_dry_run(), dry, "{text}");
            assert_eq!(request.is_confined_to_trial(), trial, "{text}");
            assert_eq!(request.is_confined_to_this_machine(), here, "{text}");
        }
    }
}
