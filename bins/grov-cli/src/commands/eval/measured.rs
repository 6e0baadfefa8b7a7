//! Added latency, from the histogram in the proxy's metrics.

use super::Latency;
use grov_runtime::port;
use std::net::SocketAddr;

const NAME: &str = "grov_added_latency_seconds";

/// The latency that a running proxy has measured since its start; `None` if it does not answer or served no request.
pub(in crate::commands) fn added_latency(address: SocketAddr) -> Option<Latency> {
    of_metrics(&port::fetch_metrics(port::connect(address).ok()?)?)
}

/// The latency in Prometheus text.
fn of_metrics(text: &str) -> Option<Latency> {
    let value = |line: &str| line.rsplit(' ').next()?.parse::<f64>().ok();
    let find = |suffix: &str| {
        let mut lines = text.lines();
        lines.find_map(|line| line.strip_prefix(NAME)?.strip_prefix(suffix).and_then(value))
    };
    let (sum, count) = (find("_sum ")?, find("_count ")?);
    if count < 1.0 {
        return None;
    }
    let buckets: Vec<(f64, f64)> = text
        .lines()
        .filter_map(|line| {
            let rest = line.strip_prefix(NAME)?.strip_prefix("_bucket{le=\"")?;
            let (bound, rest) = rest.split_once("\"}")?;
            let bound = match bound {
                "+Inf" => f64::INFINITY,
                bound => bound.parse().ok()?,
            };
            Some((bound, value(rest)?))
        })
        .collect();
    let percentile = |share: f64| {
        let mut buckets = buckets.iter();
        let bound = buckets.find(|(_, below)| *below >= share * count)?.0;
        // Beyond the last bound only the mean is known.
        bound.is_finite().then_some(bound * 1e3)
    };
    let mean_ms = sum / count * 1e3;
    Some(Latency {
        requests: count as u64,
        mean_ms,
        p50_ms: percentile(0.5).unwrap_or(mean_ms),
        p99_ms: percentile(0.99).unwrap_or(mean_ms),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentiles_are_bounds_of_buckets() {
        let text = "# TYPE grov_added_latency_seconds histogram\ngrov_added_latency_seconds_sum 0.2\ngrov_added_latency_seconds_count 100\n\
                    grov_added_latency_seconds_bucket{le=\"0.001\"} 60\ngrov_added_latency_seconds_bucket{le=\"0.004\"} 99\n\
                    grov_added_latency_seconds_bucket{le=\"+Inf\"} 100\n";
        let latency = of_metrics(text).unwrap();
        assert_eq!(
            (latency.requests, latency.p50_ms, latency.p99_ms),
            (100, 1.0, 4.0)
        );
        assert!((latency.mean_ms - 2.0).abs() < 1e-9);
        assert_eq!(of_metrics(&text.replace("count 100", "count 0")), None);
        assert_eq!(of_metrics("not metrics"), None);
    }
}
