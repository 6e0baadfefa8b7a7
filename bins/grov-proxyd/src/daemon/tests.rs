use super::*;

#[test]
fn the_daemon_does_not_start_outside_the_years_1970_to_9999() {
    let year = Duration::from_secs(366 * 24 * 3600);
    let epoch = SystemTime::UNIX_EPOCH;
    assert!(ensure_clock(epoch).is_ok() && ensure_clock(epoch + year * 500).is_ok());
    for wrong in [
        epoch - Duration::from_secs(1),
        epoch - year * 10,
        epoch + year * 8100,
    ] {
        assert!(ensure_clock(wrong).is_err_and(|stop| stop.code == 2));
    }
}
