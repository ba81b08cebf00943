//! Text within markup.

/// Text as it may stand in an element or an attribute.
pub(super) fn escaped(text: &str) -> String {
    let mut made = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '&' => made.push_str("&amp;"),
            '<' => made.push_str("&lt;"),
            '>' => made.push_str("&gt;"),
            '"' => made.push_str("&quot;"),
            other => made.push(other),
        }
    }
    made
}
