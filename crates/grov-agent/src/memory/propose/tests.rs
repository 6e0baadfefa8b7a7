use super::*;
use crate::EvidenceKind;
use time::macros::datetime;

const NOW: OffsetDateTime = datetime!(2026-01-05 12:00 UTC);

fn at() -> ProposedAt {
    ProposedAt {
        project: ProjectId::of(uuid::Uuid::nil()),
        thread: None,
        now: NOW,
    }
}

fn proposal(kind: MemoryType, content: &str) -> Proposal {
    Proposal {
        kind,
        content: content.to_owned(),
        evidence: vec![Evidence {
            kind: EvidenceKind::Message,
            id: "m".to_owned(),
            quote: content.to_owned(),
        }],
        ttl: None,
        supersedes: None,
    }
}

fn item(kind: MemoryType, content: &str, status: MemoryStatus) -> KnownItem {
    let mut item = build(proposal(kind, content), &[], at()).unwrap().item;
    item.status = status;
    KnownItem::of(item)
}

#[test]
fn each_type_starts_in_its_state() {
    for kind in MemoryType::ALL {
        let Proposed { item, call } = build(proposal(kind, "Something worth keeping"), &[], at()).unwrap();
        let (status, expires, waits) = match kind {
            MemoryType::Event => (MemoryStatus::Active, None, false),
            MemoryType::Metric => (MemoryStatus::Accepted, Some(NOW + Duration::days(7)), false),
            _ => (MemoryStatus::Proposed, None, true),
        };
        assert_eq!(
            (item.status, item.expires_at, call.is_some()),
            (status, expires, waits),
            "{kind}"
        );
        if let Some(call) = call {
            assert_eq!(
                (call.status, call.memory_item_id),
                (ToolCallStatus::AwaitingApproval, Some(item.id))
            );
            assert_eq!(call.expires_at, NOW + Duration::hours(24));
        }
    }
}

#[test]
fn a_lifetime_has_bounds_and_an_event_has_none() {
    for (seconds, holds) in [
        (0, false),
        (1, true),
        (316_224_000, true),
        (316_224_001, false),
        (-5, false),
    ] {
        let mut metric = proposal(MemoryType::Metric, "Load is 5");
        metric.ttl = Some(Duration::seconds(seconds));
        let built = build(metric, &[], at());
        assert_eq!(built.is_ok(), holds, "{seconds}");
        if let Ok(built) = built {
            assert_eq!(built.item.expires_at, Some(NOW + Duration::seconds(seconds)));
        }
    }
    let mut event = proposal(MemoryType::Event, "The server restarted");
    event.ttl = Some(Duration::hours(1));
    assert_eq!(build(event, &[], at()).unwrap().item.expires_at, None);
}

#[test]
fn what_is_known_or_empty_is_not_proposed() {
    let known = |status| [item(MemoryType::Fact, "The office closes at 18:00.", status)];
    let same = || proposal(MemoryType::Fact, "the office closes at 18:00");
    for status in [
        MemoryStatus::Accepted,
        MemoryStatus::Active,
        MemoryStatus::Proposed,
    ] {
        assert!(
            matches!(build(same(), &known(status), at()), Err(ProposeFailed::Known(_))),
            "{status}"
        );
    }
    for status in [MemoryStatus::Rejected, MemoryStatus::Done, MemoryStatus::Blocked] {
        assert!(build(same(), &known(status), at()).is_ok(), "{status}");
    }
    assert!(
        build(
            proposal(MemoryType::Rule, "The office closes at 18:00."),
            &known(MemoryStatus::Accepted),
            at()
        )
        .is_ok()
    );
    for content in ["", "  \n"] {
        assert!(matches!(
            build(proposal(MemoryType::Fact, content), &[], at()),
            Err(ProposeFailed::Invalid { .. })
        ));
    }
    assert!(build(proposal(MemoryType::Fact, &"x".repeat(4_001)), &[], at()).is_err());
}

#[test]
fn the_same_event_later_is_another_event() {
    let mut before = item(
        MemoryType::Event,
        "The nightly build failed",
        MemoryStatus::Active,
    );
    let again = || proposal(MemoryType::Event, "The nightly build failed");
    assert!(build(again(), std::slice::from_ref(&before), at()).is_err());
    before.item.created_at = NOW - Duration::hours(2);
    assert!(build(again(), &[before], at()).is_ok());
}

#[test]
fn contradicted_items_in_force_are_named_but_not_the_one_that_is_replaced() {
    let accepted = item(
        MemoryType::Fact,
        "The hall hire costs 38 GBP per hour",
        MemoryStatus::Accepted,
    );
    let mut expired = item(
        MemoryType::Fact,
        "The hall hire costs 30 GBP per hour",
        MemoryStatus::Accepted,
    );
    expired.item.expires_at = Some(NOW);
    let rejected = item(
        MemoryType::Fact,
        "The hall hire costs 20 GBP per hour",
        MemoryStatus::Rejected,
    );
    let known = [accepted.clone(), expired, rejected];
    let mut new = proposal(MemoryType::Fact, "The hall hire costs 45 GBP per hour");
    assert_eq!(
        build(new.clone(), &known, at()).unwrap().item.contradicts,
        [accepted.item.id]
    );
    new.supersedes = Some(accepted.item.id);
    let built = build(new, &known, at()).unwrap().item;
    assert_eq!(
        (built.contradicts, built.supersedes),
        (vec![], Some(accepted.item.id))
    );
}

#[test]
fn what_is_accepted_at_once_does_not_replace_what_a_person_accepted() {
    let rule = item(
        MemoryType::Rule,
        "Never send mail on Sunday",
        MemoryStatus::Accepted,
    );
    let metric = item(MemoryType::Metric, "Load is 5", MemoryStatus::Accepted);
    let known = [rule.clone(), metric.clone()];
    for (kind, replaced, holds) in [
        (MemoryType::Event, &rule, false),
        (MemoryType::Metric, &rule, false),
        (MemoryType::Event, &metric, false),
        (MemoryType::Metric, &metric, true),
        (MemoryType::Rule, &rule, true),
    ] {
        let mut new = proposal(kind, "The load was 7 at noon");
        new.supersedes = Some(replaced.item.id);
        assert_eq!(build(new, &known, at()).is_ok(), holds, "{kind}");
    }
}

#[test]
fn an_expired_item_is_not_replaced() {
    let mut metric = item(MemoryType::Metric, "Load is 5", MemoryStatus::Accepted).item;
    assert_eq!(metric.must_be_replaceable(NOW), Ok(()));
    metric.expires_at = Some(NOW);
    let refused = metric.must_be_replaceable(NOW).unwrap_err();
    assert!(refused.contains("expired"), "{refused}");
}

#[test]
fn secrets_are_masked() {
    let built = build(
        proposal(
            MemoryType::Fact,
            "The token is ghp_a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8",
        ),
        &[],
        at(),
    )
    .unwrap();
    assert_eq!(built.item.content, "The token is [redacted:github-token]");
    assert!(!format!("{built:?}").contains("ghp_"));
}
