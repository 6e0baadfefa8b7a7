//! Limits in the words that people use when they do not think of limits: what breaks them, and what does not.

use super::*;

#[test]
fn a_wish_to_see_it_first_waits_for_the_user() {
    check_in_prompts(&[
        (
            "fix the typo in src/a.ts and let me review before you push",
            "let me review before you push",
            &["git push", "git push origin main"],
            &["git commit -am fix", "edit src/a.ts"],
        ),
        (
            "fix the parser. I'd like to look at it before you commit",
            "I'd like to look at it before you commit",
            &["git commit -am fix"],
            &["edit src/parse.rs", "cargo test"],
        ),
        (
            "Behebe den Fehler und lass mich das ansehen, bevor du pushst",
            "lass mich das ansehen, bevor du pushst",
            &["git push"],
            &["git commit -am fix"],
        ),
        (
            "Corrige la errata y déjame revisarlo antes de hacer push",
            "déjame revisarlo antes de hacer push",
            &["git push"],
            &["git commit -am fix"],
        ),
        (
            "Backfill users.country from ip. dry-run first, then show me the numbers before anything is written.",
            "show me the numbers before anything is written",
            &["python src/backfill.py --execute", "python3 src/backfill.py"],
            &[
                "python src/backfill.py --dry-run",
                "python -m pytest",
                "edit src/backfill.py",
            ],
        ),
        (
            "make the table migration script src/migrate.py; only dry runs please",
            "only dry runs please",
            &["python src/migrate.py"],
            &["python src/migrate.py --dry-run", "write src/migrate.py"],
        ),
    ]);
}

#[test]
fn a_clause_that_asks_to_be_told_lifts_no_limit() {
    check_in_prompts(&[
        (
            "Port the driver. Leave third_party alone, and tell me if something there is broken",
            "Leave third_party alone",
            &["edit third_party/hal.c"],
            &["edit drivers/s.c"],
        ),
        (
            "Port the driver. Don't touch third_party; if something there is broken tell me",
            "Don't touch third_party",
            &["edit third_party/hal.c"],
            &["edit drivers/s.c"],
        ),
        (
            "Porta el driver. No toques third_party, si algo está roto ahí, avísame",
            "No toques third_party",
            &["edit third_party/hal.c"],
            &["edit drivers/s.c"],
        ),
        (
            "Port the driver. Leave vendor_libs and third_party alone",
            "Leave vendor_libs and third_party alone",
            &["edit third_party/hal.c", "edit vendor_libs/x.c"],
            &["edit drivers/s.c"],
        ),
        // A condition is still one.
        (
            "Don't restart the server if it is busy",
            "Don't restart the server",
            &[],
            &["systemctl restart web"],
        ),
    ]);
}

#[test]
fn values_that_hide_a_fault_keep_their_size() {
    check(&[
        (
            "don't raise the timeout",
            &["edit e2e/a.spec.ts: await expect(total).toBeVisible({ timeout: 60_000 });"],
            &[
                "edit e2e/a.spec.ts: setTimeout(run, 100);",
                "edit e2e/a.spec.ts: await page.waitForResponse('/pay');",
            ],
        ),
        (
            "no retries please",
            &["edit playwright.config.ts: retries: 3,"],
            &["edit playwright.config.ts: workers: 3,"],
        ),
        (
            "Den Timeout nicht erhöhen",
            &["edit e2e/a.spec.ts: await expect(total).toBeVisible({ timeout: 60_000 });"],
            &["edit e2e/a.spec.ts: await expect(total).toBeVisible();"],
        ),
        ("don't remove the retries", &[], &["edit a.ts: retries: 3,"]),
    ]);
}

#[test]
fn what_exists_once_and_what_the_user_still_writes_stays() {
    check(&[
        (
            "data/raw is the only copy we have",
            &["write data/raw/customers.csv: a,b"],
            &[
                "cp data/raw/customers.csv /tmp/c.csv",
                "write data/out/customers.csv: a,b",
            ],
        ),
        (
            "I'm still writing chapter 3",
            &["edit chapter3.tex", "edit text/chapter-3.tex"],
            &["edit chapter2.tex", "edit chapter13.tex"],
        ),
        (
            "an Kapitel 3 schreibe ich noch",
            &["edit kapitel3.tex"],
            &["edit kapitel2.tex"],
        ),
    ]);
}

#[test]
fn what_the_prompt_asks_for_is_not_forbidden_by_its_limit() {
    check_in_prompts(&[
        (
            "Write tests for src/cart. Don't change src/cart/*.ts",
            "Don't change src/cart/*.ts",
            &["edit src/cart/total.ts"],
            &[
                "write src/cart/total.test.ts: it('a')",
                "write src/cart/item.spec.ts: it('a')",
            ],
        ),
        (
            "Write tests in lib/test_util.py, leave the other files in lib/ alone",
            "leave the other files in lib/ alone",
            &["edit lib/util.py"],
            &["write lib/test_util.py: x"],
        ),
        (
            "Fix the tests. Don't change src/cart/*.test.ts",
            "Don't change src/cart/*.test.ts",
            &["edit src/cart/total.test.ts"],
            &["edit src/cart/total.ts"],
        ),
        (
            "Fix the total. Don't change src/cart/*.ts",
            "Don't change src/cart/*.ts",
            &["edit src/cart/total.test.ts"],
            &["edit src/total.ts"],
        ),
    ]);
}
