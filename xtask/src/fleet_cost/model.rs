//! [`Prices`]: what a fleet of any size costs, from what the measured sizes did.
//!
//! A server sends each event to each machine, the one that it came from included, and each machine acknowledges it: what an
//! event costs grows with the number of machines, as a line. A machine that waits asks five times a second, and writes a sign
//! of life every 15 seconds, at any size; it reads the signs of all others as often, but not more than five of them a second.

use std::fmt;

use super::Point;

/// Seconds between two signs of life of a machine.
const SIGN: f64 = 15.0;

/// Signs of life of others that a machine reads in that time, at most.
const MOST_SIGNS: f64 = 75.0;

/// Times each second that a machine asks for events.
const WAITS: f64 = 5.0;

/// Events that a machine sends in a second, for which the model is asked: two each minute.
const EVENTS: f64 = 2.0 / 60.0;

/// A line through points, and how far the points are from it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Line {
    fixed: f64,
    slope: f64,
    /// The largest distance of a point, as a part of its value.
    residual: f64,
}

impl Line {
    /// Fits a line by least squares. `None` for fewer than two points.
    pub(super) fn through(points: &[(f64, f64)]) -> Option<Self> {
        let count = points.len() as f64;
        let mean = |of: fn(&(f64, f64)) -> f64| points.iter().map(of).sum::<f64>() / count;
        let (x, y) = (mean(|point| point.0), mean(|point| point.1));
        let spread: f64 = points.iter().map(|point| (point.0 - x).powi(2)).sum();
        if points.len() < 2 || spread == 0.0 {
            return None;
        }
        let common: f64 = points
            .iter()
            .map(|point| (point.0 - x) * (point.1 - y))
            .sum();
        let slope = common / spread;
        let fixed = y - slope * x;
        let distances = points.iter().map(|point| {
            let expected = fixed + slope * point.0;
            (expected - point.1).abs() / point.1.abs().max(f64::MIN_POSITIVE)
        });
        let residual = distances.fold(0.0, f64::max);
        Some(Self {
            fixed,
            slope,
            residual,
        })
    }

    /// A constant: the mean.
    pub(super) fn flat(values: impl Iterator<Item = f64>) -> Self {
        let values: Vec<f64> = values.collect();
        let fixed = values.iter().sum::<f64>() / values.len() as f64;
        let distances = values.iter().map(|value| (fixed - value).abs() / value);
        Self {
            fixed,
            slope: 0.0,
            residual: distances.fold(0.0, f64::max),
        }
    }

    pub(super) fn at(&self, x: f64) -> f64 {
        self.fixed + self.slope * x
    }
}

impl fmt::Display for Line {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            fixed,
            slope,
            residual,
        } = self;
        let percent = residual * 100.0;
        write!(
            f,
            "{fixed:.3} + {slope:.3} N (off by {percent:.0} % at most)"
        )
    }
}

/// What things cost, by the number of machines.
#[derive(Debug)]
pub(super) struct Prices {
    /// Bytes each second of a machine that waits, by the number of machines.
    idle_bytes: Line,
    /// Milliseconds of the server each second, by the requests of all machines that wait.
    idle_server: Line,
    /// Milliseconds of a machine that waits for each of its requests.
    idle_machine: Line,
    event_bytes: Line,
    event_server: Line,
    /// Of all machines together.
    event_machines: Line,
    burst_bytes: Line,
}

/// Requests each second of a machine that waits: for events, and for the signs of life of the others.
fn requests(size: f64) -> f64 {
    WAITS + size.min(MOST_SIGNS) / SIGN
}

impl Prices {
    pub(super) fn of(points: &[Point]) -> Result<Self, String> {
        let line = |x: fn(f64) -> f64, y: fn(&Point) -> f64| {
            let points = points.iter().map(|point| (x(point.size), y(point)));
            let points: Vec<(f64, f64)> = points.collect();
            Line::through(&points).ok_or_else(|| "there are too few points".to_owned())
        };
        let size = |size| size;
        Ok(Self {
            idle_bytes: line(size, |point| point.idle.bytes / point.size)?,
            idle_server: line(
                |size| size * requests(size),
                |point| point.idle.server * 1e3,
            )?,
            idle_machine: Line::flat(points.iter().map(|point| {
                let each = point.idle.machines / point.size;
                each * 1e3 / requests(point.size)
            })),
            event_bytes: line(size, |point| point.alone.bytes)?,
            event_server: line(size, |point| point.alone.server * 1e3)?,
            event_machines: line(size, |point| point.alone.machines * 1e3)?,
            burst_bytes: line(size, |point| point.burst.bytes)?,
        })
    }

    pub(super) fn lines(&self) -> [(&'static str, Line); 7] {
        [
            (
                "bytes a second of a machine that waits, by N machines",
                self.idle_bytes,
            ),
            (
                "server, ms a second, by N requests of machines that wait",
                self.idle_server,
            ),
            ("a machine that waits, ms of a request", self.idle_machine),
            ("bytes of an event that comes alone", self.event_bytes),
            ("server, ms of an event that comes alone", self.event_server),
            (
                "all machines, ms of an event that comes alone",
                self.event_machines,
            ),
            ("bytes of an event of many", self.burst_bytes),
        ]
    }

    /// What a fleet of this size costs each second.
    pub(super) fn row(&self, size: usize) -> String {
        let size = size as f64;
        // The part that grows with the others is that of their signs of life, of which a machine reads only so many.
        let signs = size.min(MOST_SIGNS);
        let events = size * EVENTS;
        let bytes = size * self.idle_bytes.at(signs) + events * self.event_bytes.at(size);
        let server =
            self.idle_server.at(size * requests(size)) + events * self.event_server.at(size);
        let machine =
            self.idle_machine.at(size) * requests(size) + EVENTS * self.event_machines.at(size);
        format!(
            "| {size} | {:.2} MB | {:.2} | {:.1} KB | {:.3} |",
            bytes / 1e6,
            server / 1e3,
            bytes / size / 1e3,
            machine / 1e3,
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_goes_through_its_points() {
        let line = Line::through(&[(2.0, 7.0), (4.0, 11.0), (8.0, 19.0)]).unwrap();
        assert!(
            (line.at(1000.0) - 2003.0).abs() < 1e-6 && line.residual < 1e-9,
            "{line:?}"
        );
        let bent = Line::through(&[(1.0, 1.0), (2.0, 4.0), (3.0, 9.0)]).unwrap();
        assert!(bent.residual > 0.1, "{bent:?}");
        assert_eq!(Line::through(&[(1.0, 1.0)]), None);
        let flat = Line::flat([1.0, 3.0].into_iter());
        assert_eq!((flat.at(7.0), flat.residual), (2.0, 1.0));
    }
}
