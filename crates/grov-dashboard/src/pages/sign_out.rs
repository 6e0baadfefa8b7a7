//! Signing out.

use crate::Site;
use crate::access::signed_form;
use crate::page::message;
use axum::extract::{Request, State};
use axum::http::StatusCode;
use axum::response::Response;
use serde::Deserialize;

/// A form without fields.
#[derive(Deserialize)]
struct Nothing {}

/// `POST /_grov/ui/sign-out`: signs out every browser.
pub(super) async fn sign_out(State(site): State<Site>, request: Request) -> Response {
    if let Err(refused) = signed_form::<Nothing>(&site, request).await {
        return refused;
    }
    match site.access.sign_out() {
        Ok(()) => message(
            StatusCode::OK,
            "Signed out",
            "Every browser is signed out. Run `grov ui` in a terminal to sign in again.",
        ),
        Err(error) => {
            tracing::warn!(%error, "the key of the dashboard cannot be removed");
            message(
                StatusCode::INTERNAL_SERVER_ERROR,
                "Still signed in",
                "The key in Grov's home cannot be removed. Remove the file ui-key there.",
            )
        }
    }
}
