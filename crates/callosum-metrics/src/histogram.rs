//! [`Histogram`]: observations counted by upper bounds.

use std::time::Duration;

/// Observations, counted by the first bound that each does not exceed.
#[derive(Clone, Debug, PartialEq)]
pub struct Histogram {
    bounds: &'static [f64],
    /// One more than bounds: the last counts what exceeds all of them.
    counts: Vec<u64>,
    sum: f64,
}

impl Histogram {
    /// Returns an empty histogram. The bounds ascend.
    pub fn new(bounds: &'static [f64]) -> Self {
        Self {
            bounds,
            counts: vec![0; bounds.len() + 1],
            sum: 0.0,
        }
    }

    /// Counts a value.
    pub fn observe(&mut self, value: f64) {
        let at = self.bounds.partition_point(|bound| *bound < value);
        self.counts[at] += 1;
        self.sum += value;
    }

    /// Counts a duration in seconds.
    pub fn observe_duration(&mut self, took: Duration) {
        self.observe(took.as_secs_f64());
    }

    /// Adds the observations of another histogram with the same bounds.
    pub fn join(&mut self, other: &Self) {
        for (count, more) in self.counts.iter_mut().zip(&other.counts) {
            *count += more;
        }
        self.sum += other.sum;
    }

    /// Returns how many observations there are.
    pub fn count(&self) -> u64 {
        self.counts.iter().sum()
    }

    /// Returns the sum of the observations.
    pub fn sum(&self) -> f64 {
        self.sum
    }

    /// Returns how many observations fall into each bucket, without those of the buckets below.
    pub fn buckets(&self) -> impl Iterator<Item = (f64, u64)> {
        self.bounds.iter().copied().zip(self.counts.iter().copied())
    }

    /// Returns how many observations do not exceed each bound.
    pub fn cumulative(&self) -> impl Iterator<Item = (f64, u64)> {
        self.buckets().scan(0, |below, (bound, count)| {
            *below += count;
            Some((bound, *below))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// CAKE-MET-1: a value on a bound belongs to that bound, and two halves join to the whole.
    #[test]
    fn observations_are_counted_by_upper_bound() {
        let mut one = Histogram::new(&[1.0, 2.0]);
        one.observe(1.0);
        one.observe(1.5);
        let mut other = Histogram::new(&[1.0, 2.0]);
        other.observe(3.0);
        one.join(&other);
        assert_eq!(one.cumulative().collect::<Vec<_>>(), [(1.0, 1), (2.0, 2)]);
        assert_eq!(one.count(), 3);
        assert!((one.sum() - 5.5).abs() < 1e-9);
    }
}
