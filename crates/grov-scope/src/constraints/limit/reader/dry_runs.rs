//! "Only dry runs", "dry-run first, then show me the numbers before anything is written": a script of the prompt does not run for real.

use super::ClauseReader;
use crate::constraints::limit::{ForbiddenCommand, Limit};
use crate::constraints::vocabulary::Term;
use crate::words::fold;

/// Words for a dry run, folded.
#[rustfmt::skip]
const DRY_RUNS: &[&str] = &[
    "dry run", "dry-run", "dryrun", "probelauf", "trockenlauf", "testlauf", "essai a blanc", "essais a blanc", "simulation", "simulacro", "simulacion", "prova a vuoto", "prove a vuoto", "simulazion", "simulac", "na sucho", "proefdraai",
    "proefrun", "rulari de proba", "rulare de proba", "试运行", "空跑", "ドライラン",
];

/// What happens in a run that is no dry run.
#[rustfmt::skip]
const HAPPENING: &[&str] = &["written", "executed", "changed", "applied", "saved", "stored", "deleted", "updated", "run", "sent", "geschrieben", "ausgefuhrt", "gespeichert", "geandert", "ecrit", "modifie", "escriba", "scritto"];

impl ClauseReader<'_> {
    /// The limit to dry runs of a clause.
    pub(super) fn only_dry_runs(&self) -> Option<Limit> {
        let says: Vec<&str> = self.clause.iter().map(|token| token.phrase.as_str()).collect();
        let says = says.join(" ");
        let names = |text: &str| DRY_RUNS.iter().any(|phrase| text.contains(phrase));
        let has = |term| self.clause.iter().any(|token| token.is(term));
        let is_only = has(Term::Only) && !has(Term::Not) && names(&says);
        let waits = has(Term::Ask)
            && has(Term::Before)
            && has(Term::All)
            && self
                .clause
                .iter()
                .any(|token| HAPPENING.contains(&token.folded.as_str()))
            && names(&fold(&self.context.around));
        if !(is_only || waits) {
            return None;
        }
        let mut scripts: Vec<String> = self
            .context
            .paths
            .iter()
            .map(|path| path.to_lowercase())
            .collect();
        scripts.retain(|path| path.contains('.'));
        scripts.extend(self.context.script_words.iter().cloned());
        (!scripts.is_empty()).then_some(Limit::Command(ForbiddenCommand::WetRun(scripts)))
    }
}
