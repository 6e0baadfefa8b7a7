//! A ledger store in memory.

use async_trait::async_trait;
use grov_domain::{
    HistoryKey, LedgerEntry, LedgerLineage, LedgerStore, LedgerUse, Lineage, LineageTip, NewLineage,
    Redacted, StoreError, SwitchScope, SwitchStore, TaskId,
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
    fn continued_by(&self, new: &NewLineage) -> LedgerLineage {
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
        parent.map_or_else(LedgerLineage::default, |(at, _, parent)| {
            let mut adopted = known(&parent.lineage);
            adopted.tip = new.history.get(at).copied();
            adopted.entries.retain(|entry| place(entry.anchor).is_some());
            adopted
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
        let adopted = match self.stranger {
            true => LedgerLineage::default(),
            false => kept.continued_by(new),
        };
        kept.lineages.insert(new.lineage.clone(), adopted.clone());
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
