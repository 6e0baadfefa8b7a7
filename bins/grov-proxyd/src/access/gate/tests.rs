use super::*;
use grov_proxy_core::Peer;
use grov_redact::Secret;
use grov_runtime::{Environment, Home, Tokens};
use http::{HeaderMap, HeaderValue, Method};
use std::net::SocketAddr;
use std::sync::RwLock;

struct Scene {
    folder: tempfile::TempDir,
    token: Secret,
    gate: Gate,
}

impl Scene {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let home = Home::locate(Some(folder.path()), &Environment::default()).unwrap();
        let token = Tokens::update(&home, |tokens| {
            tokens.create("ana", None, None, SystemClock.now())
        })
        .unwrap();
        let gate = Gate {
            tokens: Some(Arc::new(TokenTable::load(&home).unwrap())),
            rate: Some(RateLimit::new(2)),
            refusals: Arc::default(),
            hook_token: Arc::new(RwLock::new(Some(Secret::new("hook")))),
        };
        Self { folder, token, gate }
    }

    fn ask(
        &self,
        path: &str,
        remote: &str,
        is_plain: bool,
        headers: &[(&'static str, &str)],
    ) -> Result<Admitted, Refusal> {
        let mut map = HeaderMap::new();
        for (name, value) in headers {
            map.append(*name, HeaderValue::from_str(value).unwrap());
        }
        let local = if remote.starts_with("127.") {
            "127.0.0.1"
        } else {
            "192.168.1.5"
        };
        self.gate.admit(&Arrival {
            method: &Method::POST,
            path,
            headers: &map,
            peer: Peer {
                remote: SocketAddr::new(remote.parse().unwrap(), 5000),
                local: SocketAddr::new(local.parse().unwrap(), 8080),
            },
            is_plain_on_tls: is_plain,
        })
    }
}

const HERE: &str = "127.0.0.1";
const THERE: &str = "192.168.1.9";

#[test]
fn requests_need_one_valid_token_wherever_they_come_from() {
    let scene = Scene::new();
    let token = scene.token.expose();
    for remote in [HERE, THERE] {
        let ask = |headers: &[(&'static str, &str)]| scene.ask("/v1/models", remote, false, headers);
        assert_eq!(ask(&[]), Err(Refusal::Unauthenticated));
        assert_eq!(
            ask(&[("x-grov-token", "grov_wrong")]),
            Err(Refusal::Unauthenticated)
        );
        assert_eq!(
            ask(&[("x-grov-token", token), ("x-grov-token", "b")]),
            Err(Refusal::Unauthenticated)
        );
        assert_eq!(ask(&[("authorization", token)]), Err(Refusal::Unauthenticated));
        let admitted = ask(&[("x-grov-token", token)]).unwrap();
        assert_eq!(admitted.user.as_deref(), Some("ana"));
    }
    assert_eq!(scene.ask("/", HERE, false, &[]), Err(Refusal::Unauthenticated));
}

#[test]
fn only_api_requests_count_against_the_rate_limit() {
    let scene = Scene::new();
    let token = scene.token.expose().to_owned();
    let ask = |path: &str| scene.ask(path, THERE, false, &[("x-grov-token", &token)]);
    for _ in 0..5 {
        assert!(ask("/").is_ok() && ask("/api/hello").is_ok());
    }
    assert!(ask("/v1/messages").is_ok() && ask("/prefix/v1/models").is_ok());
    assert!(matches!(ask("/v1/messages"), Err(Refusal::TooMany(_))));
    assert_eq!(
        scene.ask("/v1/messages", THERE, false, &[]),
        Err(Refusal::Unauthenticated)
    );
    let elsewhere = scene.ask("/v1/messages", HERE, false, &[("x-grov-token", &token)]);
    assert!(elsewhere.is_ok(), "another address has its own limit");
}

#[test]
fn admin_routes_are_for_this_machine_or_the_hook_token() {
    let scene = Scene::new();
    let hook = [(TOKEN_HEADER, "hook")];
    let wrong = [(TOKEN_HEADER, "hool")];
    let own = [(port::LOCAL_HEADER, "1")];
    let health = "/_grov/health";
    for (remote, is_plain, headers, expected) in [
        (HERE, false, &[][..], Ok(())),
        (HERE, true, &[][..], Err(Refusal::Plain)),
        (HERE, true, &own[..], Ok(())),
        (HERE, true, &hook[..], Ok(())),
        (HERE, true, &wrong[..], Err(Refusal::Plain)),
        (THERE, false, &[][..], Err(Refusal::Remote)),
        (THERE, false, &own[..], Err(Refusal::Remote)),
        (THERE, false, &wrong[..], Err(Refusal::Remote)),
        (THERE, false, &hook[..], Ok(())),
        (THERE, true, &hook[..], Err(Refusal::Plain)),
        (THERE, true, &own[..], Err(Refusal::Plain)),
    ] {
        let admitted = scene.ask(health, remote, is_plain, headers);
        assert_eq!(admitted.map(|_| ()), expected, "{remote} {is_plain} {headers:?}");
    }
    let token = scene.token.expose();
    let shown = [("x-grov-token", token)];
    assert_eq!(
        scene.ask(health, THERE, false, &shown),
        Err(Refusal::Remote),
        "a user is no administrator"
    );
    assert_eq!(scene.ask("/v1/messages", HERE, true, &shown), Err(Refusal::Plain));
}

#[test]
fn a_request_stands_until_its_token_is_revoked_and_counts_once() {
    let scene = Scene::new();
    let mut headers = HeaderMap::new();
    let token = HeaderValue::from_str(scene.token.expose()).unwrap();
    headers.insert(USER_TOKEN, token);
    let peer = Peer {
        remote: SocketAddr::new(THERE.parse().unwrap(), 5000),
        local: SocketAddr::new("192.168.1.5".parse().unwrap(), 8080),
    };
    let arrival = Arrival {
        method: &Method::GET,
        path: "/v1/ws",
        headers: &headers,
        peer,
        is_plain_on_tls: false,
    };
    assert!(scene.gate.admit(&arrival).is_ok());
    for _ in 0..10 {
        assert!(scene.gate.still_admits(&arrival));
    }
    assert!(scene.gate.admit(&arrival).is_ok(), "the limit is two");
    let home = Home::locate(Some(scene.folder.path()), &Environment::default()).unwrap();
    Tokens::update(&home, |tokens| {
        Ok(tokens.revoke("ana", SystemClock.now()).is_some())
    })
    .unwrap();
    scene.gate.tokens.as_ref().unwrap().refresh().unwrap();
    assert!(!scene.gate.still_admits(&arrival));
}
