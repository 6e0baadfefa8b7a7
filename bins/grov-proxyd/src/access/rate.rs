//! How many requests a user may send.

use governor::clock::{Clock as _, DefaultClock};
use governor::{DefaultKeyedRateLimiter, Quota, RateLimiter};
use std::net::IpAddr;
use std::num::NonZeroU32;
use std::sync::Arc;
use std::time::Duration;

/// The most users and addresses that are counted one by one. More share one count.
const MAX_KEYS: usize = 10_000;

/// Limits the requests of each user and address.
pub(super) struct RateLimit {
    limiter: DefaultKeyedRateLimiter<Key>,
    clock: DefaultClock,
    max_keys: usize,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum Key {
    Client(Option<Arc<str>>, IpAddr),
    /// All that are too many to be counted one by one.
    Others,
}

impl RateLimit {
    /// Allows so many requests a minute. As many may come at once.
    pub(super) fn new(per_minute: u32) -> Self {
        Self::with_keys(per_minute, MAX_KEYS)
    }

    fn with_keys(per_minute: u32, max_keys: usize) -> Self {
        let per_minute = NonZeroU32::new(per_minute).unwrap_or(NonZeroU32::MIN);
        Self {
            limiter: RateLimiter::keyed(Quota::per_minute(per_minute)),
            clock: DefaultClock::default(),
            max_keys,
        }
    }

    /// Counts a request.
    ///
    /// # Errors
    /// There are too many. Returns the time after which one is allowed.
    pub(super) fn check(&self, user: Option<&Arc<str>>, address: IpAddr) -> Result<(), Duration> {
        if self.limiter.len() >= self.max_keys {
            // Forgets those that have sent nothing for a while.
            self.limiter.retain_recent();
        }
        let key = match self.limiter.len() >= self.max_keys {
            true => Key::Others,
            false => Key::Client(user.cloned(), network(address)),
        };
        let checked = self.limiter.check_key(&key);
        checked.map_err(|early| early.wait_time_from(self.clock.now()))
    }
}

/// Returns the address, or the network of an IPv6 address: a client has a whole network of them.
fn network(address: IpAddr) -> IpAddr {
    match address.to_canonical() {
        IpAddr::V6(address) => {
            let [a, b, c, d, ..] = address.segments();
            IpAddr::from([a, b, c, d, 0, 0, 0, 0])
        }
        address => address,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn address(number: u32) -> IpAddr {
        IpAddr::from(number.to_be_bytes())
    }

    #[test]
    fn users_and_addresses_have_their_own_limits() {
        let limit = RateLimit::new(3);
        let (ana, ben) = (Arc::from("ana"), Arc::from("ben"));
        for user in [Some(&ana), Some(&ben), None] {
            for host in [1, 2] {
                for _ in 0..3 {
                    assert_eq!(limit.check(user, address(host)), Ok(()));
                }
                let wait = limit.check(user, address(host)).unwrap_err();
                assert!(
                    wait > Duration::from_secs(10) && wait <= Duration::from_secs(20),
                    "{wait:?}"
                );
            }
        }
    }

    #[test]
    fn an_ipv6_network_is_one_client() {
        let limit = RateLimit::new(1);
        assert!(limit.check(None, "2001:db8::1".parse().unwrap()).is_ok());
        assert!(limit.check(None, "2001:db8::2:1".parse().unwrap()).is_err());
        assert!(limit.check(None, "2001:db8:0:1::1".parse().unwrap()).is_ok());
        assert!(limit.check(None, "::ffff:10.0.0.1".parse().unwrap()).is_ok());
        assert!(limit.check(None, "10.0.0.1".parse().unwrap()).is_err());
    }

    #[test]
    fn many_addresses_take_bounded_memory() {
        let limit = RateLimit::with_keys(2, 100);
        let refused = (0..1000)
            .filter(|host| limit.check(None, address(*host)).is_err())
            .count();
        assert!(limit.limiter.len() <= 101, "{}", limit.limiter.len());
        assert!(refused > 800, "they share one count: {refused}");
    }
}
