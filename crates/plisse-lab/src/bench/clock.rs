//! Time that a thread has worked, which other programs on the machine do not change.

use std::time::{Duration, Instant};

/// CPU time of the current thread since some point; time on the wall where the system does not
/// tell.
pub(crate) fn thread_time() -> Duration {
    let told = std::fs::read_to_string("/proc/thread-self/schedstat").ok();
    let nanoseconds = told.and_then(|text| text.split_whitespace().next()?.parse().ok());
    nanoseconds.map_or_else(wall_time, Duration::from_nanos)
}

fn wall_time() -> Duration {
    use std::sync::OnceLock;
    static START: OnceLock<Instant> = OnceLock::new();
    START.get_or_init(Instant::now).elapsed()
}

/// CPU time of all threads that the process has now, since some point; time on the wall where the
/// system does not tell. Threads must not end between two calls.
pub(crate) fn process_time() -> Duration {
    let told = || {
        let mut sum = Duration::ZERO;
        for task in std::fs::read_dir("/proc/self/task").ok()? {
            let text = std::fs::read_to_string(task.ok()?.path().join("schedstat")).ok()?;
            sum += Duration::from_nanos(text.split_whitespace().next()?.parse().ok()?);
        }
        Some(sum)
    };
    told().unwrap_or_else(wall_time)
}
