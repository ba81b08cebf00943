//! Tables as a terminal shows them: the first rows and columns, aligned.

use crate::describe::words::count;
use crate::tables::dialect::Style;
use crate::tables::numbers::Decrypted;

/// The most rows that are shown.
const ROWS: usize = 40;
/// The most columns that are shown.
const COLUMNS: usize = 8;
/// The most characters of a name that are shown.
const NAME: usize = 24;

/// The first rows and columns of a table, numbers at the right, and how many more there are.
pub(super) fn text(decrypted: &Decrypted<'_>, style: &Style) -> String {
    let Decrypted { row_names, column_names, values } = decrypted;
    let columns = column_names.len();
    let (rows, chosen) = (values.len() / columns, columns.min(COLUMNS));
    let mut lines: Vec<Vec<String>> = Vec::new();
    if style.header {
        let corner = row_names.map(|_| "row".to_owned());
        lines.push(corner.into_iter().chain(column_names[..chosen].iter().map(|column| name(column))).collect());
    }
    for row in 0..rows.min(ROWS) {
        let first = row_names.map(|names| name(&names[row]));
        let numbers = (0..chosen).map(|column| values.text(row * columns + column, style.digits));
        lines.push(first.into_iter().chain(numbers).collect());
    }
    let fields = lines.first().map_or(0, Vec::len);
    let width = |field: usize| lines.iter().map(|line| line[field].chars().count()).max().unwrap_or(0);
    let widths: Vec<usize> = (0..fields).map(width).collect();
    let mut text = String::new();
    for line in &lines {
        let field = |(index, field): (usize, &String)| match index {
            0 if row_names.is_some() => format!("{field:<width$}", width = widths[index]),
            _ => format!("{field:>width$}", width = widths[index]),
        };
        text += line.iter().enumerate().map(field).collect::<Vec<_>>().join("  ").trim_end();
        text.push('\n');
    }
    let more = [(rows.saturating_sub(ROWS), "more row"), (columns - chosen, "more column")];
    let more: Vec<String> =
        more.into_iter().filter(|(left, _)| *left > 0).map(|(left, noun)| count(left, noun)).collect();
    if !more.is_empty() {
        text += &format!("and {}: -o FILE writes all\n", more.join(", "));
    }
    text
}

/// A name, which comes from a file: without what a terminal obeys, and not too long.
fn name(text: &str) -> String {
    let plain = |sign: char| if sign.is_control() { sign.escape_default().to_string() } else { sign.to_string() };
    let mut signs = text.chars();
    let begin: String = signs.by_ref().take(NAME).map(plain).collect();
    if signs.next().is_some() { begin + "..." } else { begin }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tables::numbers::Values;

    #[test]
    fn first_rows_and_columns_are_aligned_and_the_others_counted() {
        let style = Style::of_terminal(None, true, None).expect("a terminal");
        let names = ["a".to_owned(), "long\u{1b}[31m".to_owned()];
        let rows = ["mean".to_owned(), "x".to_owned()];
        let values = Values::Real(&[1.25, -3.5, 100.0, 0.0], Some(&[0.1, 0.001, 0.1, 0.001]));
        let found = text(&Decrypted { row_names: Some(&rows), column_names: &names, values }, &style);
        assert_eq!(found, "row       a  long\\u{1b}[31m\nmean    1.2          -3.500\nx     100.0           0.000\n");
        let many: Vec<i128> = (0..9 * 50).collect();
        let names: Vec<String> = (0..9).map(|column| column.to_string()).collect();
        let found = text(&Decrypted { row_names: None, column_names: &names, values: Values::Whole(&many) }, &style);
        assert_eq!(found.lines().count(), 1 + ROWS + 1);
        assert!(found.ends_with("and 10 more rows, 1 more column: -o FILE writes all\n"), "{found}");
        assert_eq!(
            found.lines().nth(2).expect("a row").split_whitespace().collect::<Vec<_>>().join(" "),
            "9 10 11 12 13 14 15 16"
        );
    }
}
