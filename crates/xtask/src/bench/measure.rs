//! What one run of one tool cost, on its own side and on the server's.

use std::error::Error;
use std::process::Command;
use std::time::Duration;

use harness::{ControlPlane, Part, TcpProxy, run};

/// A guard, far above what any tool needs.
const LIMIT: Duration = Duration::from_secs(20 * 60);

#[derive(Debug, Clone, Default)]
pub(super) struct Sample {
    pub(super) wall: f64,
    pub(super) cpu: f64,
    /// MiB.
    pub(super) memory: f64,
    /// By verb, most frequent first.
    pub(super) requests: Vec<(String, usize)>,
    pub(super) connections: f64,
    /// MB from and to the server.
    pub(super) received: f64,
    pub(super) sent: f64,
    pub(super) server_cpu: f64,
    pub(super) etcd_cpu: f64,
}

impl Sample {
    pub(super) fn total(&self) -> usize {
        self.requests.iter().map(|(_, count)| count).sum()
    }
}

/// Runs a command to its end. Fails when it does, so that no table shows half a run.
pub(super) fn measure(
    plane: &ControlPlane,
    user: &str,
    proxy: &TcpProxy,
    command: Command,
) -> Result<Sample, Box<dyn Error>> {
    let mark = plane.mark();
    let before = proxy.traffic();
    let cpu = |part| plane.usage(part).cpu.as_secs_f64();
    let (server, etcd) = (cpu(Part::ApiServer), cpu(Part::Etcd));
    let shown = format!("{command:?}");
    let done = run(command, LIMIT);
    let (server, etcd) = (cpu(Part::ApiServer) - server, cpu(Part::Etcd) - etcd);
    if done.code != Some(0) {
        let tail = |text: &str| {
            let lines: Vec<&str> = text.lines().collect();
            lines[lines.len().saturating_sub(15)..].join("\n")
        };
        return Err(format!(
            "{shown}\nended with {:?} after {:.1} s\nstdout:\n{}\nstderr:\n{}",
            done.code,
            done.wall.as_secs_f64(),
            tail(&done.stdout),
            tail(&done.stderr)
        )
        .into());
    }
    let traffic = proxy.traffic();
    let megabytes = |bytes: u64| bytes as f64 / 1e6;
    Ok(Sample {
        wall: done.wall.as_secs_f64(),
        cpu: done.cpu().as_secs_f64(),
        memory: done.peak as f64 / f64::from(1 << 20),
        requests: plane.requests().since(mark).user(user).by_verb(),
        connections: (traffic.connections - before.connections) as f64,
        received: megabytes(traffic.received - before.received),
        sent: megabytes(traffic.sent - before.sent),
        server_cpu: server,
        etcd_cpu: etcd,
    })
}

/// The middle one of several samples, figure by figure; the requests are those of the median total.
pub(super) fn median(samples: &[Sample]) -> Sample {
    let middle = |figure: fn(&Sample) -> f64| {
        let mut figures: Vec<f64> = samples.iter().map(figure).collect();
        figures.sort_by(f64::total_cmp);
        figures.get(figures.len() / 2).copied().unwrap_or_default()
    };
    let mut by_total: Vec<&Sample> = samples.iter().collect();
    by_total.sort_by_key(|sample| sample.total());
    Sample {
        wall: middle(|sample| sample.wall),
        cpu: middle(|sample| sample.cpu),
        memory: middle(|sample| sample.memory),
        requests: by_total.get(by_total.len() / 2).map(|sample| sample.requests.clone()).unwrap_or_default(),
        connections: middle(|sample| sample.connections),
        received: middle(|sample| sample.received),
        sent: middle(|sample| sample.sent),
        server_cpu: middle(|sample| sample.server_cpu),
        etcd_cpu: middle(|sample| sample.etcd_cpu),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_median_ignores_an_outlier() {
        let samples = [3.0, 100.0, 2.0].map(|wall| Sample { wall, ..Sample::default() });
        assert_eq!(median(&samples).wall, 3.0);
    }
}
