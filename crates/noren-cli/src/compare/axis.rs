//! Axes of plots: where numbers stand, and which are named.

use serde::Serialize;

use crate::describe::words;

/// The unit of the numbers of an axis.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Unit {
    /// Nanoseconds, on a logarithmic scale.
    Time,
    /// Bytes, on a logarithmic scale.
    Bytes,
    /// Whole numbers, on a linear scale from 0.
    Count,
}

/// An axis from the least to the greatest number that it shows.
pub(super) struct Axis {
    unit: Unit,
    low: f64,
    high: f64,
    /// Numbers with names.
    ticks: Vec<f64>,
}

/// The most names of a logarithmic axis.
const MOST_TICKS: usize = 7;

impl Axis {
    /// An axis on which all these numbers have a place; a logarithmic one takes those above 0.
    pub(super) fn new(unit: Unit, values: impl IntoIterator<Item = f64>) -> Self {
        let values = values.into_iter().filter(|value| value.is_finite() && (unit == Unit::Count || *value > 0.0));
        let values: Vec<f64> = values.collect();
        let least = values.iter().copied().fold(f64::INFINITY, f64::min);
        let most = values.iter().copied().fold(0.0, f64::max);
        match unit {
            Unit::Count => Self::linear(&values, most),
            _ if values.is_empty() => Self { unit, low: 1.0, high: 10.0, ticks: Vec::new() },
            Unit::Time => Self::logarithmic(unit, least, most, &[10.0, 100.0, 1000.0], 10.0),
            Unit::Bytes => Self::logarithmic(unit, least, most, &[2.0, 4.0, 16.0, 64.0, 1024.0], 2.0),
        }
    }

    fn linear(values: &[f64], most: f64) -> Self {
        let mut ticks = values.to_vec();
        ticks.sort_by(f64::total_cmp);
        ticks.dedup();
        // The numbers themselves, where they leave room for their names.
        let mut kept: Vec<f64> = Vec::new();
        for tick in ticks {
            if kept.last().is_none_or(|last| tick - last >= most / 12.0) {
                kept.push(tick);
            }
        }
        Self { unit: Unit::Count, low: 0.0, high: if most > 0.0 { 1.05 * most } else { 1.0 }, ticks: kept }
    }

    /// From a power of `base` below all numbers to one above, with names at the powers of the first step that has few.
    fn logarithmic(unit: Unit, least: f64, most: f64, steps: &[f64], base: f64) -> Self {
        let down = |value: f64| (value.ln() / base.ln() + 1e-9).floor();
        let up = |value: f64| (value.ln() / base.ln() - 1e-9).ceil();
        let (low, high) = (down(least), up(most).max(down(least) + 1.0));
        let powers = |step: f64| {
            let step = (step.ln() / base.ln()).round();
            let first = (low / step).ceil();
            (0..).map(move |k| (first + f64::from(k)) * step).take_while(move |power| *power <= high)
        };
        let step = steps.iter().copied().find(|&step| powers(step).count() <= MOST_TICKS);
        let step = step.or(steps.last().copied()).unwrap_or(base);
        let ticks = powers(step).map(|power| base.powf(power)).collect();
        Self { unit, low: base.powf(low), high: base.powf(high), ticks }
    }

    /// The place of a number: 0 at the begin of the axis, 1 at its end; none where the axis has no place for it.
    pub(super) fn place(&self, value: f64) -> Option<f64> {
        let place = match self.unit {
            Unit::Count => (value - self.low) / (self.high - self.low),
            _ if value <= 0.0 => return None,
            _ => (value / self.low).ln() / (self.high / self.low).ln(),
        };
        // Rounding may lead beyond the ends.
        (place.is_finite() && (-0.001..=1.001).contains(&place)).then_some(place)
    }

    /// The numbers with names, and the names.
    pub(super) fn ticks(&self) -> impl Iterator<Item = (f64, String)> {
        self.ticks.iter().map(|&tick| (tick, self.name(tick)))
    }

    fn name(&self, value: f64) -> String {
        match self.unit {
            Unit::Count => format!("{value}"),
            Unit::Bytes => words::bytes(value).replace(".0 ", " "),
            Unit::Time => {
                let (value, unit) = match value {
                    value if value < 0.99e3 => (value, "ns"),
                    value if value < 0.99e6 => (value / 1e3, "\u{b5}s"),
                    value if value < 0.99e9 => (value / 1e6, "ms"),
                    value => (value / 1e9, "s"),
                };
                format!("{} {unit}", value.round())
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(axis: &Axis) -> Vec<String> {
        axis.ticks().map(|(_, name)| name).collect()
    }

    #[test]
    fn logarithmic_axes_begin_and_end_at_powers() {
        let axis = Axis::new(Unit::Time, [3.2e5, 8e6, 4e10]);
        assert_eq!(names(&axis), ["100 \u{b5}s", "1 ms", "10 ms", "100 ms", "1 s", "10 s", "100 s"]);
        assert_eq!(axis.place(1e5).map(|place| place.round()), Some(0.0));
        assert!(axis.place(1e8).is_some_and(|place| (place - 0.5).abs() < 1e-9));
        assert_eq!((axis.place(0.0), axis.place(-1.0), axis.place(1e13)), (None, None, None));
        let long = Axis::new(Unit::Time, [1e3, 1e12]);
        assert_eq!(names(&long), ["10 \u{b5}s", "1 ms", "100 ms", "10 s", "1000 s"]);
    }

    #[test]
    fn one_number_has_room_around_it() {
        let axis = Axis::new(Unit::Bytes, [(1u64 << 24) as f64]);
        assert_eq!(names(&axis), ["16 MiB", "32 MiB"]);
        assert_eq!(
            names(&Axis::new(Unit::Bytes, [14e6, 12e9])),
            ["16 MiB", "64 MiB", "256 MiB", "1 GiB", "4 GiB", "16 GiB"]
        );
    }

    #[test]
    fn linear_axes_name_their_numbers_where_there_is_room() {
        let axis = Axis::new(Unit::Count, [2.0, 20.0, 40.0, 60.0, 80.0, 100.0, 101.0]);
        assert_eq!(names(&axis), ["2", "20", "40", "60", "80", "100"]);
        assert_eq!(axis.place(0.0), Some(0.0));
    }

    #[test]
    fn axes_without_numbers_are_empty() {
        for unit in [Unit::Time, Unit::Bytes, Unit::Count] {
            assert!(Axis::new(unit, []).ticks().next().is_none());
            assert!(Axis::new(unit, [f64::NAN]).ticks().next().is_none());
        }
    }
}
