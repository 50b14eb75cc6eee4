//! Counters of a server, as text for Prometheus.

use std::fmt::Write;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::records::Counts;

/// Ends of jobs that are counted.
const ENDS: [&str; 4] = ["done", "failed", "removed", "requeued"];
/// Classes of status codes that are counted.
const CLASSES: [&str; 5] = ["1xx", "2xx", "3xx", "4xx", "5xx"];

/// Seconds that a job waited at most, for each class of waiting times that is counted.
const WAITS: [u64; 4] = [1, 10, 60, 600];

/// Counters since the server was started. They name no account and no object.
#[derive(Debug, Default)]
pub struct Metrics {
    requests: [AtomicU64; 5],
    jobs: [AtomicU64; 4],
    job_microseconds: AtomicU64,
    waits: [AtomicU64; 5],
    waited: AtomicU64,
    received: AtomicU64,
    sent: AtomicU64,
    connections: AtomicU64,
    turned_away: AtomicU64,
}

impl Metrics {
    /// Counts an answer by its status code.
    pub(crate) fn answered(&self, status: u16) {
        if let Some(counter) = usize::from(status / 100).checked_sub(1).and_then(|at| self.requests.get(at)) {
            counter.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// Counts a job that is begun by the seconds that it waited.
    pub(crate) fn job_began(&self, waited: u64) {
        let class = WAITS.iter().position(|&most| waited <= most).unwrap_or(WAITS.len());
        if let Some(counter) = self.waits.get(class) {
            counter.fetch_add(1, Ordering::Relaxed);
        }
        self.waited.fetch_add(waited, Ordering::Relaxed);
    }

    /// Counts a job by its end.
    pub(crate) fn job_ended(&self, end: &str, seconds: f64) {
        let counters = ENDS.iter().zip(&self.jobs);
        for (_, counter) in counters.filter(|(own, _)| **own == end) {
            counter.fetch_add(1, Ordering::Relaxed);
        }
        self.job_microseconds.fetch_add((seconds * 1e6) as u64, Ordering::Relaxed);
    }

    /// Counts bytes of uploads.
    pub(crate) fn received(&self, bytes: u64) {
        self.received.fetch_add(bytes, Ordering::Relaxed);
    }

    /// Counts bytes of results.
    pub(crate) fn sent(&self, bytes: u64) {
        self.sent.fetch_add(bytes, Ordering::Relaxed);
    }

    /// Counts a connection: one that is served, or one that was closed since its address had too many.
    pub(crate) fn connected(&self, taken: bool) {
        let counter = if taken { &self.connections } else { &self.turned_away };
        counter.fetch_add(1, Ordering::Relaxed);
    }

    /// Returns all counters as text for Prometheus.
    #[must_use]
    pub fn text(&self, jobs: Counts) -> String {
        let mut text = String::new();
        let get = |counter: &AtomicU64| counter.load(Ordering::Relaxed).to_string();
        let labelled = |label: &str, names: &[&str], counters: &[AtomicU64]| -> Vec<(String, String)> {
            names
                .iter()
                .zip(counters)
                .map(|(name, own)| (format!("{{{label}=\"{name}\"}}"), get(own)))
                .collect()
        };
        let one = |value: String| vec![(String::new(), value)];
        let seconds = self.job_microseconds.load(Ordering::Relaxed) as f64 / 1e6;
        let series = [
            (
                "http_requests_total",
                "counter",
                "Answers by class of status code.",
                labelled("class", &CLASSES, &self.requests),
            ),
            ("connections_total", "counter", "Connections that were accepted.", one(get(&self.connections))),
            (
                "connections_refused_total",
                "counter",
                "Connections that were closed since their address had too many.",
                one(get(&self.turned_away)),
            ),
            ("received_bytes_total", "counter", "Bytes of uploads.", one(get(&self.received))),
            ("sent_bytes_total", "counter", "Bytes of results that were sent.", one(get(&self.sent))),
            ("jobs_total", "counter", "Jobs by their end.", labelled("end", &ENDS, &self.jobs)),
            ("job_seconds_total", "counter", "Time that processes of jobs took.", one(seconds.to_string())),
            ("jobs_queued", "gauge", "Jobs that wait.", one(jobs.queued.to_string())),
            ("jobs_running", "gauge", "Jobs that are computed.", one(jobs.running.to_string())),
        ];
        for (name, kind, help, values) in series {
            // Writing to a string cannot fail.
            let _ = writeln!(text, "# HELP sunzi_{name} {help}\n# TYPE sunzi_{name} {kind}");
            for (labels, value) in values {
                let _ = writeln!(text, "sunzi_{name}{labels} {value}");
            }
        }
        self.write_waits(&mut text);
        text
    }

    /// Writes the histogram of waiting times, whose classes contain those before them.
    fn write_waits(&self, text: &mut String) {
        let name = "sunzi_job_wait_seconds";
        let _ =
            writeln!(text, "# HELP {name} Seconds that jobs waited, whole ones.\n# TYPE {name} histogram");
        let (mut count, bounds) = (0, WAITS.iter().map(u64::to_string).chain(["+Inf".to_owned()]));
        for (bound, counter) in bounds.zip(&self.waits) {
            count += counter.load(Ordering::Relaxed);
            let _ = writeln!(text, "{name}_bucket{{le=\"{bound}\"}} {count}");
        }
        let _ = writeln!(text, "{name}_sum {}\n{name}_count {count}", self.waited.load(Ordering::Relaxed));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counters_become_series() {
        let metrics = Metrics::default();
        metrics.answered(200);
        metrics.answered(404);
        metrics.answered(999);
        metrics.job_ended("done", 0.5);
        [0, 1, 7, 10_000].into_iter().for_each(|waited| metrics.job_began(waited));
        let text = metrics.text(Counts { queued: 3, running: 1 });
        for line in [
            "sunzi_http_requests_total{class=\"2xx\"} 1",
            "sunzi_http_requests_total{class=\"4xx\"} 1",
            "sunzi_jobs_total{end=\"done\"} 1",
            "sunzi_job_seconds_total 0.5",
            "sunzi_jobs_queued 3",
            "# TYPE sunzi_jobs_running gauge",
            "# TYPE sunzi_job_wait_seconds histogram",
            "sunzi_job_wait_seconds_bucket{le=\"1\"} 2",
            "sunzi_job_wait_seconds_bucket{le=\"600\"} 3",
            "sunzi_job_wait_seconds_bucket{le=\"+Inf\"} 4",
            "sunzi_job_wait_seconds_sum 10008",
            "sunzi_job_wait_seconds_count 4",
        ] {
            assert!(text.lines().any(|own| own == line), "{line} in\n{text}");
        }
    }
}
