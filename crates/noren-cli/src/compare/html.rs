//! A report as one page: no script, nothing from elsewhere.

use std::fmt::Write;

use crate::compare::markup::escaped;
use crate::compare::report::{Block, ComparisonReport, Section, Table};

const STYLE: &str = include_str!("report.css");

/// The page.
pub(super) fn page(report: &ComparisonReport) -> String {
    let title = escaped(&report.title);
    let mut page = format!(
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<title>{title}</title>\n\
         <style>\n{STYLE}</style>\n</head>\n<body>\n<h1>{title}</h1>\n<dl>\n"
    );
    for (name, fact) in &report.facts {
        put(&mut page, format_args!("<dt>{}</dt><dd>{}</dd>\n", escaped(name), escaped(fact)));
    }
    page.push_str("</dl>\n<nav><ul>\n");
    for Section { id, heading, .. } in &report.sections {
        put(&mut page, format_args!("<li><a href=\"#{id}\">{}</a></li>\n", escaped(heading)));
    }
    page.push_str("</ul></nav>\n");
    for section in &report.sections {
        put(&mut page, format_args!("<section id=\"{}\">\n<h2>{}</h2>\n", section.id, escaped(&section.heading)));
        section.blocks.iter().for_each(|block| write_block(&mut page, block));
        page.push_str("</section>\n");
    }
    page.push_str("</body>\n</html>\n");
    page
}

fn write_block(page: &mut String, block: &Block) {
    match block {
        Block::Text(text) => put(page, format_args!("<p>{}</p>\n", escaped(text))),
        Block::List(items) => {
            page.push_str("<ul>\n");
            items.iter().for_each(|item| put(page, format_args!("<li>{}</li>\n", escaped(item))));
            page.push_str("</ul>\n");
        }
        Block::Table(table) => write_table(page, table),
        Block::Plots(plots) => {
            page.push_str("<div class=\"plots\">\n");
            for plot in plots {
                put(page, format_args!("<figure>{}</figure>\n", plot.figure.svg(&plot.title)));
            }
            page.push_str("</div>\n");
        }
    }
}

fn write_table(page: &mut String, table: &Table) {
    put(
        page,
        format_args!("<div class=\"table\"><table>\n<caption>{}</caption>\n<thead><tr>", escaped(&table.caption)),
    );
    for (column, name) in table.header.iter().enumerate() {
        let is_number = table.rows.iter().any(|row| row.get(column).is_some_and(|cell| is_number(cell)));
        let class = if is_number { " class=\"number\"" } else { "" };
        put(page, format_args!("<th scope=\"col\"{class}>{}</th>", escaped(name)));
    }
    page.push_str("</tr></thead>\n<tbody>\n");
    for row in &table.rows {
        page.push_str("<tr>");
        for cell in row {
            let class = if is_number(cell) { " class=\"number\"" } else { "" };
            put(page, format_args!("<td{class}>{}</td>", escaped(cell)));
        }
        page.push_str("</tr>\n");
    }
    page.push_str("</tbody>\n</table></div>\n");
}

/// Whether a cell stands at the right.
fn is_number(cell: &str) -> bool {
    cell.trim_start_matches("about ").starts_with(|first: char| first.is_ascii_digit())
}

fn put(page: &mut String, text: std::fmt::Arguments<'_>) {
    // A string takes all that is written to it.
    let _ = page.write_fmt(text);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_of_others_are_no_markup() {
        let table =
            Table { caption: "<b>".to_owned(), header: vec!["&".to_owned()], rows: vec![vec!["\"".to_owned()]] };
        let blocks = vec![Block::Text("<script>".to_owned()), Block::Table(table)];
        let section = Section { id: "one", heading: "1 < 2".to_owned(), blocks };
        let report = ComparisonReport { title: "a & b".to_owned(), facts: Vec::new(), sections: vec![section] };
        let page = page(&report);
        assert!(page.contains("<title>a &amp; b</title>") && page.contains("<h2>1 &lt; 2</h2>"), "{page}");
        assert!(page.contains("<p>&lt;script&gt;</p>") && page.contains("<td>&quot;</td>"), "{page}");
        assert!(!page.contains("<script") && !page.contains("http"), "{page}");
    }

    #[test]
    fn numbers_stand_at_the_right() {
        assert!(is_number("12.3 ms") && is_number("about 3 s"));
        assert!(!is_number("noren") && !is_number(""));
    }
}
