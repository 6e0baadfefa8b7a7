//! Outcomes of corrections, the same whether they are delivered with requests or with prompts.

use super::*;
use grov_domain::CorrectionOutcome;

fn token(content: &str) -> ActionSketch {
    edit(&format!("{ROOT}/src/auth/token.ts"), content)
}

/// Breaks the constraint and delivers the correction, with a prompt if it needs one.
fn corrected(policy: Policy) -> Session {
    let mut session = Session::new(policy);
    session.act(billing("invoice.ts"));
    session.deliver_next();
    session
}

impl Session {
    /// Delivers the pending correction, with a prompt that permits nothing if it needs one.
    fn deliver_next(&mut self) -> Option<CorrectionLevel> {
        if self.policy.delivery == Delivery::PerPrompt {
            self.prompt("no, go on with the token refresh");
        }
        self.deliver()
    }

    /// The outcomes of corrections that a response decides.
    fn outcomes(&mut self, action: ActionSketch) -> Vec<CorrectionOutcome> {
        let observed = self.observed(action);
        let effects = self.apply(SessionEvent::Response(vec![observed]));
        let resolved = effects.transition.resolved.into_iter();
        resolved.filter_map(|correction| correction.outcome).collect()
    }
}

#[test]
fn a_correction_is_followed_only_by_an_undo() {
    use CorrectionOutcome::{Followed, Ignored};
    for policy in POLICIES {
        for (action, expected) in [
            (undo("invoice.ts"), &[Followed][..]),
            (
                bash(
                    "git restore src/billing/invoice.ts",
                    EffectKind::Modify,
                    &["src/billing/invoice.ts"],
                ),
                &[Followed],
            ),
            (undo("cart.ts"), &[Ignored]),
            (token("refresh(user)"), &[Ignored]),
            (billing("cart.ts"), &[Ignored]),
            (read("src/billing/invoice.ts"), &[]),
        ] {
            let shown = format!("{policy:?}: {action:?}");
            assert_eq!(corrected(policy).outcomes(action), expected, "{shown}");
        }
    }
}

#[test]
fn ignored_corrections_force_an_action_and_going_back_ends_it() {
    for policy in POLICIES {
        let mut session = Session::new(policy);
        let mut levels = Vec::new();
        for file in ["a.ts", "b.ts", "c.ts", "d.ts"] {
            session.act(billing(file));
            levels.extend(session.deliver_next());
        }
        assert_eq!(levels.last(), Some(&CorrectionLevel::Forced), "{policy:?}");
        assert_eq!(session.outcomes(undo("d.ts")), [CorrectionOutcome::Followed]);
        assert_eq!(session.engine.drift().state().mode, SessionMode::Normal);
    }
}

#[test]
fn a_doubt_is_mild_however_escalated_the_session_is() {
    const UNRELATED: &[(&str, &str)] = &[
        (
            "docs/menu/lunch.md",
            "# Soup\n\nLeek, potatoes, cream, nutmeg, pepper.",
        ),
        (
            "assets/icons/moon.svg",
            "<svg viewBox='0 0 9 9'><circle r='4'/></svg>",
        ),
        (
            "scripts/weather/forecast.py",
            "import rainfall\n\nprint(rainfall.tomorrow())",
        ),
        (
            "games/chess/openings.txt",
            "Sicilian, Najdorf, Dragon, Scheveningen",
        ),
        (
            "mobile/ios/PinPad.swift",
            "let controller = UIHostingController(rootView: PinPad())",
        ),
        (
            "infra/network/dns.tf",
            "resource \"aws_route53_zone\" \"internal\" { name = \"corp\" }",
        ),
        (
            "web/hero/Button.tsx",
            "border: 1px solid papayawhip; margin: auto",
        ),
    ];
    for policy in POLICIES {
        let mut session = Session::new(policy);
        session.act(token("refresh(user)"));
        session.engine.drift.set_escalation(3);
        let mut levels = Vec::new();
        for (file, content) in UNRELATED {
            session.act(edit(&format!("{ROOT}/{file}"), content));
            levels.extend(session.deliver());
        }
        levels.extend(session.deliver_next());
        assert_eq!(levels, [CorrectionLevel::Correct], "{policy:?}");
        let state = session.engine.drift().state();
        assert!(state.escalation <= 3 && state.mode != SessionMode::Forced);
        assert_eq!(state.failed_recoveries, 0);
    }
}
