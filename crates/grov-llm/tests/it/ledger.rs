//! A ledger in memory.

use async_trait::async_trait;
use grov_domain::{
    CallFilter, CallOutcome, LlmCall, MicroUsd, Redacted, Reservation, SpendingStore, StoreError,
};
use std::sync::Mutex;
use time::OffsetDateTime;

#[derive(Default)]
pub(crate) struct Book(Mutex<Vec<LlmCall>>);

impl Book {
    pub(crate) fn all(&self) -> Vec<LlmCall> {
        self.0.lock().unwrap().clone()
    }

    pub(crate) fn outcomes(&self) -> Vec<CallOutcome> {
        self.all().iter().map(|call| call.outcome).collect()
    }
}

#[async_trait]
impl SpendingStore for Book {
    async fn reserve(
        &self,
        call: &Redacted<LlmCall>,
        _: MicroUsd,
        _: OffsetDateTime,
    ) -> Result<Reservation, StoreError> {
        self.0.lock().unwrap().push((**call).clone());
        Ok(Reservation::Granted)
    }

    async fn settle(&self, call: &Redacted<LlmCall>) -> Result<(), StoreError> {
        let mut calls = self.0.lock().unwrap();
        *calls.iter_mut().find(|known| known.id == call.id).unwrap() = (**call).clone();
        Ok(())
    }

    async fn calls(&self, _: &CallFilter) -> Result<Vec<LlmCall>, StoreError> {
        Ok(self.all())
    }

    async fn spent_since(&self, _: OffsetDateTime) -> Result<MicroUsd, StoreError> {
        Ok(MicroUsd(0))
    }
}
