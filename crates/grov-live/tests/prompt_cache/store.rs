//! A ledger store in memory.

use async_trait::async_trait;
use grov_domain::{
    ClearSummary, ClientSessionId, CutNote, CutStore, HistoryCut, HistoryKey, LedgerEntry, LedgerLineage,
    LedgerStore, LedgerUse, Lineage, LineageCuts, LineageTip, NewLineage, Redacted, StoreError, SwitchScope,
    SwitchStore, TaskId, TrimmedResult,
};
use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard};
use std::time::Instant;

pub(crate) struct MemoryLedger {
    kept: Mutex<Kept>,
    /// Whether it accepts only every third decision.
    picky: bool,
    /// Whether it adopts no histories.
    stranger: bool,
}

#[derive(Default)]
struct Kept {
    lineages: HashMap<Lineage, LedgerLineage>,
    cuts: HashMap<Lineage, LineageCuts>,
    tips: Vec<LineageTip>,
    asked: usize,
}

impl MemoryLedger {
    pub(crate) fn new(picky: bool, stranger: bool) -> Self {
        Self {
            kept: Mutex::default(),
            picky,
            stranger,
        }
    }

    fn kept(&self) -> MutexGuard<'_, Kept> {
        self.kept.lock().unwrap()
    }
}

impl Kept {
    /// Returns what a new lineage adopts.
    fn continued_by(&self, new: &NewLineage) -> (LedgerLineage, LineageCuts) {
        let place = |key: HistoryKey| new.history.iter().position(|known| *known == key);
        let known = |lineage: &Lineage| self.lineages.get(lineage).cloned().unwrap_or_default();
        let parent = self
            .tips
            .iter()
            .enumerate()
            .filter(|(_, tip)| tip.project_path == new.project_path)
            .filter_map(|(age, tip)| Some((place(tip.tip?)?, age, tip)))
            .max_by_key(|(at, age, tip)| {
                let entries = known(&tip.lineage).entries;
                let decided = entries.iter().filter_map(|entry| place(entry.anchor));
                (tip.model == new.model, *at, decided.max(), *age)
            });
        parent.map_or_else(Default::default, |(at, _, parent)| {
            let mut adopted = known(&parent.lineage);
            adopted.tip = new.history.get(at).copied();
            adopted.entries.retain(|entry| place(entry.anchor).is_some());
            let mut cuts = self.cuts.get(&parent.lineage).cloned().unwrap_or_default();
            cuts.cuts
                .retain(|cut| cut.applied_at.is_some() && place(cut.anchor).is_some());
            (adopted, cuts)
        })
    }
}

fn nothing(anchor: HistoryKey, at: time::OffsetDateTime) -> LedgerEntry {
    LedgerEntry {
        anchor,
        block: None,
        memories: Vec::new(),
        decided_at: at,
    }
}

#[async_trait]
impl LedgerStore for MemoryLedger {
    async fn lineage(&self, lineage: &Lineage) -> Result<Option<LedgerLineage>, StoreError> {
        let kept = self.kept();
        let newest = kept.tips.iter().rfind(|tip| tip.lineage == *lineage);
        Ok(kept.lineages.get(lineage).map(|known| LedgerLineage {
            tip: newest.and_then(|newest| newest.tip),
            ..known.clone()
        }))
    }

    async fn adopt(&self, new: &NewLineage) -> Result<LedgerLineage, StoreError> {
        let mut kept = self.kept();
        if let Some(known) = kept.lineages.get(&new.lineage) {
            return Ok(known.clone());
        }
        let (adopted, cuts) = match self.stranger {
            true => Default::default(),
            false => kept.continued_by(new),
        };
        kept.lineages.insert(new.lineage.clone(), adopted.clone());
        kept.cuts.insert(new.lineage.clone(), cuts);
        Ok(adopted)
    }

    async fn decide(
        &self,
        lineage: &Lineage,
        entry: &LedgerEntry<Redacted>,
        _until: Instant,
    ) -> Result<bool, StoreError> {
        let mut kept = self.kept();
        kept.asked += 1;
        if self.picky && !kept.asked.is_multiple_of(3) {
            return Ok(false);
        }
        let entries = &mut kept.lineages.entry(lineage.clone()).or_default().entries;
        let is_open = entries.iter().all(|known| known.anchor != entry.anchor);
        if is_open {
            entries.push(LedgerEntry {
                anchor: entry.anchor,
                block: entry.block.clone().map(Redacted::into_inner),
                memories: entry.memories.clone(),
                decided_at: entry.decided_at,
            });
        }
        Ok(is_open)
    }

    async fn withdraw(&self, lineage: &Lineage, anchors: &[HistoryKey]) -> Result<(), StoreError> {
        let mut kept = self.kept();
        let entries = &mut kept.lineages.entry(lineage.clone()).or_default().entries;
        entries.retain(|known| !anchors.contains(&known.anchor));
        let now = time::OffsetDateTime::UNIX_EPOCH;
        entries.extend(anchors.iter().map(|anchor| nothing(*anchor, now)));
        Ok(())
    }

    async fn note_tips(&self, tips: &[LineageTip]) -> Result<(), StoreError> {
        let mut kept = self.kept();
        for tip in tips {
            let entries = &mut kept.lineages.entry(tip.lineage.clone()).or_default().entries;
            for anchor in &tip.nothing_at {
                if entries.iter().all(|known| known.anchor != *anchor) {
                    entries.push(nothing(*anchor, tip.at));
                }
            }
        }
        kept.tips.extend_from_slice(tips);
        Ok(())
    }

    async fn disable_edits(&self, lineage: &Lineage) -> Result<(), StoreError> {
        self.kept()
            .lineages
            .entry(lineage.clone())
            .or_default()
            .edits_disabled = true;
        Ok(())
    }

    async fn uses(&self, _tasks: &[TaskId]) -> Result<Vec<LedgerUse>, StoreError> {
        Ok(Vec::new())
    }
}

#[async_trait]
impl CutStore for MemoryLedger {
    async fn cuts(&self, lineage: &Lineage) -> Result<LineageCuts, StoreError> {
        Ok(self.kept().cuts.get(lineage).cloned().unwrap_or_default())
    }

    async fn save_cut(&self, lineage: &Lineage, cut: &HistoryCut<Redacted>) -> Result<bool, StoreError> {
        let mut kept = self.kept();
        let cuts = &mut kept.cuts.entry(lineage.clone()).or_default().cuts;
        let is_new = cuts.iter().all(|known| known.anchor != cut.anchor);
        if is_new {
            cuts.push(HistoryCut {
                anchor: cut.anchor,
                block: cut.block.clone().into_inner(),
                decided_at: cut.decided_at,
                applied_at: cut.applied_at,
                is_measured: cut.is_measured,
                effect: cut.effect,
            });
        }
        Ok(is_new)
    }

    async fn note_cut(&self, lineage: &Lineage, anchor: HistoryKey, note: CutNote) -> Result<(), StoreError> {
        let mut kept = self.kept();
        let cuts = &mut kept.cuts.entry(lineage.clone()).or_default().cuts;
        match note {
            CutNote::Dropped => cuts.retain(|cut| cut.anchor != anchor || cut.applied_at.is_some()),
            CutNote::Applied(at) => {
                let applied = cuts.iter_mut().filter(|cut| cut.anchor == anchor);
                applied.for_each(|cut| cut.applied_at = Some(at));
            }
            CutNote::Measured(_) => {}
        }
        Ok(())
    }

    async fn save_trims(
        &self,
        lineage: &Lineage,
        trims: &[TrimmedResult<Redacted>],
        _until: Instant,
    ) -> Result<bool, StoreError> {
        let mut kept = self.kept();
        let known = &mut kept.cuts.entry(lineage.clone()).or_default().trims;
        known.extend(trims.iter().map(|trim| TrimmedResult {
            tool_use_id: trim.tool_use_id.clone(),
            content: trim.content.clone().into_inner(),
            decided_at: trim.decided_at,
        }));
        Ok(true)
    }

    async fn remove_trims(&self, lineage: &Lineage, tool_use_ids: &[String]) -> Result<(), StoreError> {
        let mut kept = self.kept();
        let known = &mut kept.cuts.entry(lineage.clone()).or_default().trims;
        known.retain(|trim| !tool_use_ids.contains(&trim.tool_use_id));
        Ok(())
    }

    async fn clears(&self, _sessions: &[ClientSessionId]) -> Result<Vec<ClearSummary>, StoreError> {
        Ok(Vec::new())
    }

    async fn last_request(&self) -> Result<Option<time::OffsetDateTime>, StoreError> {
        Ok(self.kept().tips.iter().map(|tip| tip.at).max())
    }
}

#[async_trait]
impl SwitchStore for MemoryLedger {
    async fn switch(&self, _scope: &SwitchScope, _on: bool) -> Result<(), StoreError> {
        Ok(())
    }

    async fn switched_off(&self) -> Result<Vec<SwitchScope>, StoreError> {
        Ok(Vec::new())
    }

    async fn revision(&self) -> Result<i64, StoreError> {
        Ok(0)
    }
}
