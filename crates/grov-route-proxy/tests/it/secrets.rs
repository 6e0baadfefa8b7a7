//! Keys and credentials never reach a host that they do not belong to.

use crate::scene::{Scene, behave, file, saying};

/// The heads and bodies that a simulation received, as text.
fn received(sim: &grov_sim::Sim) -> String {
    let requests = sim.requests();
    requests
        .iter()
        .map(|request| format!("{:?} {}\n", request.head, String::from_utf8_lossy(&request.body)))
        .collect()
}

#[tokio::test]
async fn each_provider_sees_its_own_key_only() {
    let (first, second) = (saying("first").await, saying("second").await);
    behave(&first, "status=500,times=1");
    let mut text = file(&[&first, &second], "");
    text = text.replace(
        "      l0: model-0\n",
        "      l0: {model: model-0, fallback: [l1]}\n",
    );
    let scene = Scene::with(Some(&text)).await;
    for label in [Some("l0"), Some("l0"), Some("l1"), None] {
        assert_eq!(scene.ask(label, true).await.status, 200);
    }
    let (first, second, anthropic) = (received(&first), received(&second), received(&scene.anthropic));
    assert!(first.contains("provider-key-0") && second.contains("provider-key-1"));
    for (text, foreign) in [
        (&first, ["provider-key-1", "client-secret", "oauth", "s1\""]),
        (&second, ["provider-key-0", "client-secret", "oauth", "s1\""]),
        (
            &anthropic,
            [
                "provider-key-0",
                "provider-key-1",
                "provider-key",
                "proxy-local-route",
            ],
        ),
    ] {
        for word in foreign {
            assert!(!text.contains(word), "{word} in {text}");
        }
    }
    assert!(anthropic.contains("client-secret"));
    let pages = format!("{}{}", scene.page("routes").await, scene.page("health").await);
    assert!(!pages.contains("provider-key"), "{pages}");
}
