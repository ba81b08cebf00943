//! Line plots as SVG: readable in colour, without it, and in print.

use std::fmt::Write;

use serde::ser::SerializeStruct;
use serde::{Serialize, Serializer};

use crate::compare::axis::{Axis, Unit};
use crate::compare::markup::escaped;

/// A plot of lines over a whole number.
pub(super) struct Plot {
    pub(super) title: String,
    pub(super) figure: Figure,
}

/// The series and axes of a plot.
pub(super) struct Figure {
    /// The meaning of the horizontal axis.
    pub(super) across: String,
    /// The unit of the vertical axis.
    pub(super) unit: Unit,
    pub(super) lines: Vec<Line>,
}

/// A line, whose style tells it from the others of a report.
pub(super) struct Line {
    pub(super) name: String,
    pub(super) style: Style,
    pub(super) points: Vec<(f64, f64)>,
}

/// Colour, marker and dashes of a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Style {
    /// The place in the palette of Okabe and Ito, whose colours are told apart with every kind of colour vision.
    pub(super) colour: usize,
    pub(super) dashed: bool,
}

/// The palette, with its yellow left out, which is too light on white.
const COLOURS: [&str; 7] = ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#000000"];

/// The sizes of a plot, in pixels.
const WIDTH: f64 = 460.0;
const HEIGHT: f64 = 272.0;
const LEFT: f64 = 66.0;
const RIGHT: f64 = 12.0;
const TOP: f64 = 34.0;
const BOTTOM: f64 = 40.0;
/// Of the legend below.
const ENTRY_HEIGHT: f64 = 17.0;
const ENTRIES_IN_A_ROW: usize = 2;
const MARKER: f64 = 3.6;

/// Plots travel as pictures: their numbers are in the records.
impl Serialize for Plot {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut plot = serializer.serialize_struct("Plot", 2)?;
        plot.serialize_field("title", &self.title)?;
        plot.serialize_field("svg", &self.figure.svg(&self.title))?;
        plot.end()
    }
}

impl Figure {
    /// The plot as one element, under its title, which readers of screens find too.
    pub(super) fn svg(&self, title: &str) -> String {
        let points = || self.lines.iter().flat_map(|line| line.points.iter().copied());
        let x = Axis::new(Unit::Count, points().map(|(x, _)| x));
        let y = Axis::new(self.unit, points().map(|(_, y)| y));
        let rows = self.lines.len().div_ceil(ENTRIES_IN_A_ROW) as f64;
        let height = HEIGHT + rows * ENTRY_HEIGHT;
        let title = escaped(title);
        let mut svg = format!(
            r#"<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" width="{WIDTH}" height="{height}" role="img" font-family="system-ui, sans-serif" font-size="11"><title>{title}</title><text x="{LEFT}" y="{}" font-size="12.5" font-weight="bold">{title}</text>"#,
            TOP - 18.0
        );
        let across = |place: f64| LEFT + place * (WIDTH - LEFT - RIGHT);
        let down = |place: f64| HEIGHT - BOTTOM - place * (HEIGHT - BOTTOM - TOP);
        let mut put = |text: std::fmt::Arguments<'_>| {
            // A string takes all that is written to it.
            let _ = svg.write_fmt(text);
        };
        for (value, name) in y.ticks() {
            let Some(place) = y.place(value).map(down) else { continue };
            put(format_args!(
                r##"<line x1="{LEFT}" y1="{place:.1}" x2="{:.1}" y2="{place:.1}" stroke="#ddd"/><text x="{:.1}" y="{:.1}" text-anchor="end">{name}</text>"##,
                WIDTH - RIGHT,
                LEFT - 6.0,
                place + 4.0
            ));
        }
        for (value, name) in x.ticks() {
            let Some(place) = x.place(value).map(across) else { continue };
            put(format_args!(
                r##"<line x1="{place:.1}" y1="{:.1}" x2="{place:.1}" y2="{:.1}" stroke="#555"/><text x="{place:.1}" y="{:.1}" text-anchor="middle">{name}</text>"##,
                HEIGHT - BOTTOM,
                HEIGHT - BOTTOM + 4.0,
                HEIGHT - BOTTOM + 16.0
            ));
        }
        put(format_args!(
            r##"<path d="M{LEFT} {TOP}V{0}H{1}" fill="none" stroke="#555"/><text x="{2:.1}" y="{3:.1}" text-anchor="middle">{4}</text>"##,
            HEIGHT - BOTTOM,
            WIDTH - RIGHT,
            (LEFT + WIDTH - RIGHT) / 2.0,
            HEIGHT - 8.0,
            escaped(&self.across)
        ));
        for (index, line) in self.lines.iter().enumerate() {
            let places = line.points.iter().filter_map(|&(a, b)| Some((across(x.place(a)?), down(y.place(b)?))));
            let places: Vec<(f64, f64)> = places.collect();
            put(format_args!("{}", line.style.drawn(&places)));
            let (column, row) = ((index % ENTRIES_IN_A_ROW) as f64, (index / ENTRIES_IN_A_ROW) as f64);
            let left = 10.0 + column * WIDTH / ENTRIES_IN_A_ROW as f64;
            let middle = HEIGHT + row * ENTRY_HEIGHT + ENTRY_HEIGHT / 2.0;
            put(format_args!(
                r#"{}<text x="{:.1}" y="{:.1}">{}</text>"#,
                line.style.drawn(&[(left, middle), (left + 26.0, middle)]),
                left + 34.0,
                middle + 4.0,
                escaped(&line.name)
            ));
        }
        svg.push_str("</svg>");
        svg
    }
}

impl Style {
    /// A line through these places with a marker at each.
    fn drawn(self, places: &[(f64, f64)]) -> String {
        let colour = COLOURS[self.colour % COLOURS.len()];
        let dashes = if self.dashed { r#" stroke-dasharray="5 3""# } else { "" };
        let path: Vec<String> = places.iter().map(|(x, y)| format!("{x:.1},{y:.1}")).collect();
        let mut drawn = format!(
            r#"<polyline points="{}" fill="none" stroke="{colour}" stroke-width="1.6"{dashes}/>"#,
            path.join(" ")
        );
        let fill = if self.dashed { "#fff" } else { colour };
        for (x, y) in places {
            drawn.push_str(&self.marker(*x, *y, colour, fill));
        }
        drawn
    }

    /// The marker of the colour: circle, square, triangle up, diamond, triangle down, cross, plus.
    fn marker(self, x: f64, y: f64, colour: &str, fill: &str) -> String {
        let m = MARKER;
        let polygon = |corners: &[(f64, f64)]| {
            let corners: Vec<String> =
                corners.iter().map(|(dx, dy)| format!("{:.1},{:.1}", x + m * dx, y + m * dy)).collect();
            format!(r#"<polygon points="{}" fill="{fill}" stroke="{colour}"/>"#, corners.join(" "))
        };
        let strokes = |of: &[[f64; 4]]| {
            let path: String = of
                .iter()
                .map(|[a, b, c, d]| format!("M{:.1} {:.1}L{:.1} {:.1}", x + m * a, y + m * b, x + m * c, y + m * d))
                .collect();
            format!(r#"<path d="{path}" stroke="{colour}" stroke-width="1.6"/>"#)
        };
        match self.colour % COLOURS.len() {
            0 => format!(r#"<circle cx="{x:.1}" cy="{y:.1}" r="{m}" fill="{fill}" stroke="{colour}"/>"#),
            1 => polygon(&[(-0.9, -0.9), (0.9, -0.9), (0.9, 0.9), (-0.9, 0.9)]),
            2 => polygon(&[(0.0, -1.2), (1.1, 0.9), (-1.1, 0.9)]),
            3 => polygon(&[(0.0, -1.3), (1.3, 0.0), (0.0, 1.3), (-1.3, 0.0)]),
            4 => polygon(&[(0.0, 1.2), (1.1, -0.9), (-1.1, -0.9)]),
            5 => strokes(&[[-1.0, -1.0, 1.0, 1.0], [-1.0, 1.0, 1.0, -1.0]]),
            _ => strokes(&[[-1.2, 0.0, 1.2, 0.0], [0.0, -1.2, 0.0, 1.2]]),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_point_stands_within_the_frame() {
        let points = vec![(2.0, 3e5), (20.0, 0.0), (100.0, 7e9)];
        let line = Line { name: "a < b".to_owned(), style: Style { colour: 1, dashed: true }, points };
        let figure = Figure { across: "numbers".to_owned(), unit: Unit::Time, lines: vec![line] };
        let svg = figure.svg("times & more");
        for text in ["<title>times &amp; more</title>", ">times &amp; more</text>", ">a &lt; b</text>"] {
            assert!(svg.contains(text), "{svg}");
        }
        // No place for the time of zero: two markers, and two in the legend.
        assert_eq!(svg.matches("<polygon").count(), 4, "{svg}");
        let (_, rest) = svg.split_once(r#"<polyline points=""#).expect("a line");
        let (places, _) = rest.split_once('"').expect("its end");
        for place in places.split(' ') {
            let (x, y) = place.split_once(',').expect("two numbers");
            let (x, y): (f64, f64) = (x.parse().expect("a number"), y.parse().expect("a number"));
            assert!((LEFT..=WIDTH - RIGHT).contains(&x) && (TOP..=HEIGHT - BOTTOM).contains(&y), "{place}");
        }
    }

    #[test]
    fn a_figure_without_points_is_an_empty_frame() {
        let figure = Figure { across: "numbers".to_owned(), unit: Unit::Bytes, lines: Vec::new() };
        let svg = figure.svg("nothing");
        assert!(!svg.contains("NaN") && !svg.contains("polyline"), "{svg}");
    }
}
