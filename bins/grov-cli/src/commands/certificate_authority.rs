//! `grov ca show`, `grov ca path`, `grov ca rotate`, `grov ca remove`

use crate::arguments::CaCommand;
use crate::context::Context;
use crate::failure::Failure;
use crate::output::{Outcome, Style, note};
use crate::table::Fields;
use grov_ca::{Authorities, Authority, CaError, CaFiles, Overlap, ServerName, Target};
use grov_domain::{Clock, SystemClock};
use serde::Serialize;
use time::OffsetDateTime;
use time::format_description::well_known::Rfc3339;

#[derive(Serialize)]
struct CertificateView {
    subject: String,
    fingerprint_sha256: String,
    hosts: Vec<String>,
    not_before: String,
    not_after: String,
}

#[derive(Serialize)]
struct ShowAnswer {
    exists: bool,
    directory: String,
    /// The certificates that a client must trust.
    bundle: String,
    current: Option<CertificateView>,
    /// The one before it, which signs until the overlap ends.
    old: Option<CertificateView>,
    notes: Vec<String>,
}

#[derive(Serialize)]
struct PathAnswer {
    bundle: String,
    certificate: String,
}

#[derive(Serialize)]
struct RemoveAnswer {
    removed: bool,
}

impl From<&Authority> for CertificateView {
    fn from(authority: &Authority) -> Self {
        Self {
            subject: authority.subject().to_owned(),
            fingerprint_sha256: authority.fingerprint(),
            hosts: authority.permitted().iter().map(ToString::to_string).collect(),
            not_before: rfc3339(authority.not_before()),
            not_after: rfc3339(authority.not_after()),
        }
    }
}

impl From<CaError> for Failure {
    fn from(error: CaError) -> Self {
        Self::error("certificate_authority", error.to_string())
    }
}

pub(crate) fn run(context: &Context, command: &CaCommand) -> Outcome {
    let files = CaFiles::new(context.home.certificate_authority());
    let now = SystemClock.now();
    match command {
        CaCommand::Show => {
            let found = files.load(now)?;
            context.answer(show_answer(&files, found), show_text)
        }
        CaCommand::Path => {
            let authorities = files.ensure(&hosts(context)?, now)?;
            authorities.notes.iter().for_each(|text| note!("{text}"));
            let answer = PathAnswer {
                bundle: files.bundle().display().to_string(),
                certificate: files.certificate().display().to_string(),
            };
            context.answer(answer, |answer, _| format!("{}\n", answer.bundle))
        }
        CaCommand::Rotate { now: at_once } => {
            let overlap = if *at_once { Overlap::None } else { Overlap::Keep };
            let authorities = files.rotate(&hosts(context)?, overlap, now)?;
            context.answer(show_answer(&files, Some(authorities)), show_text)
        }
        CaCommand::Remove => {
            let answer = RemoveAnswer {
                removed: files.remove()?,
            };
            context.answer(answer, remove_text)
        }
    }
}

/// The names of `mitm.hosts`.
pub(super) fn hosts(context: &Context) -> Result<Vec<ServerName>, Failure> {
    let hosts = &context.settings.mitm().hosts;
    let names = hosts
        .iter()
        .map(|host| host.parse::<Target>().map(|target| target.name));
    names.collect::<Result<_, _>>().map_err(|error| {
        let message = format!("mitm.hosts: {error}");
        Failure::usage(message).hint("it is a list of HOST or HOST:PORT, such as api.anthropic.com")
    })
}

fn show_answer(files: &CaFiles, found: Option<Authorities>) -> ShowAnswer {
    let found = found.as_ref();
    ShowAnswer {
        exists: found.is_some(),
        directory: files.directory().display().to_string(),
        bundle: files.bundle().display().to_string(),
        current: found.map(|found| (&found.current).into()),
        old: found.and_then(|found| found.old.as_ref()).map(Into::into),
        notes: found.map(|found| found.notes.clone()).unwrap_or_default(),
    }
}

fn show_text(answer: &ShowAnswer, style: Style) -> String {
    let Some(current) = &answer.current else {
        return format!(
            "no certificate authority in {}; `grov run` and grov-proxyd --mitm make one\n",
            answer.directory
        );
    };
    let mut text = String::new();
    for note in &answer.notes {
        text.push_str(&format!("{note}\n"));
    }
    for (title, view) in [("current", Some(current)), ("old", answer.old.as_ref())] {
        let Some(view) = view else { continue };
        text.push_str(&format!("{} {}\n", style.bold(title), view.subject));
        let mut fields = Fields::new(11, usize::MAX, style);
        fields.add("  hosts", &view.hosts.join(", "));
        fields.add("  valid", &format!("{} to {}", view.not_before, view.not_after));
        fields.add("  SHA-256", &view.fingerprint_sha256);
        text.push_str(&fields.into_text());
    }
    text.push_str(&format!(
        "trusted by clients with NODE_EXTRA_CA_CERTS={}\n",
        answer.bundle
    ));
    text
}

fn remove_text(answer: &RemoveAnswer, _: Style) -> String {
    let text = if answer.removed {
        "The certificate authority was deleted. Clients that were started with `grov run` cannot connect through the proxy any \
         more and must be restarted; the next `grov run` makes a new one.\n"
    } else {
        "There is no certificate authority.\n"
    };
    text.to_owned()
}

fn rfc3339(time: OffsetDateTime) -> String {
    // Fails only for years above 9999.
    time.format(&Rfc3339).unwrap_or_default()
}
