//! Lets the judging model read memories after a turn, where no daemon does.

use super::TurnWorker;
use grov_domain::{Clock, StoreError, SystemClock};
use grov_memory::screen_by_model;
use grov_runtime::{LlmProvider, daemon};

impl TurnWorker<'_> {
    /// Asks one question about memories that wait, if there is a model.
    pub(super) async fn screen_by_model(&self) -> Result<(), StoreError> {
        let is_offline = self.settings.llm().provider == LlmProvider::Offline;
        if is_offline || !self.ends_turn_of_session() || daemon::is_running(self.home) {
            return Ok(());
        }
        let store = self.services.stores.open(None).await?;
        let judge = (self.services.judge)(&self.settings)?;
        let done = match judge.has_model() {
            true => screen_by_model(&*store, &*judge, SystemClock.now())
                .await
                .map(drop),
            false => Ok(()),
        };
        judge.close().await;
        let closed = store.close().await;
        done.and(closed)
    }
}
