//! Runs that were started with `nohup` go on when their terminal is closed.

/// Keeps hangups away where whoever started the program has chosen to ignore them; the handler of
/// interrupts would take the next one for Ctrl-C. To be called before there are threads: they
/// inherit what is kept away.
#[cfg(target_os = "linux")]
pub(crate) fn keep_ignoring() {
    use nix::sys::signal::{SigSet, Signal};
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let ignored = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    let ignored = ignored.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).unwrap_or(0);
    // The first bit is that of the signal with the number one.
    if ignored >> (Signal::SIGHUP as u32 - 1) & 1 == 1 {
        let mut hangup = SigSet::empty();
        hangup.add(Signal::SIGHUP);
        // Without it a hangup ends the run as Ctrl-C does: nothing is lost.
        _ = hangup.thread_block();
    }
}

/// Nothing: there is no safe way to ask here.
#[cfg(not(target_os = "linux"))]
pub(crate) fn keep_ignoring() {}
