//! The words and signs of a Rust file, without comments, literals and tests.

/// A word or a sign of the code, and its line.
#[derive(Clone, Debug)]
pub struct Token {
    pub text: String,
    pub line: usize,
}

impl Token {
    /// Whether this is a name or a keyword.
    pub fn is_word(&self) -> bool {
        self.text.starts_with(|c: char| c.is_alphabetic() || c == '_')
    }
}

/// The code of a file, without the tests at its end.
pub fn without_tests(text: &str) -> &str {
    let tests = text.find("\nmod tests {").unwrap_or(text.len());
    // The attributes before them are of no import.
    &text[..tests]
}

/// The tokens of a text: words, numbers, `::` and single signs. Comments, strings and characters are left out.
pub fn tokens(text: &str) -> Vec<Token> {
    let mut tokens = Vec::new();
    let (mut rest, mut line) = (text, 1);
    while !rest.is_empty() {
        let (length, code) = first_piece(rest);
        let piece = &rest[..length];
        if code {
            tokens.push(Token { text: piece.to_owned(), line });
        }
        line += piece.matches('\n').count();
        rest = &rest[length..];
    }
    tokens
}

/// The length in bytes of the first token, literal, comment or space, and whether it is a token.
fn first_piece(text: &str) -> (usize, bool) {
    let until = |end: &str| text.find(end).map_or(text.len(), |at| at + end.len());
    let first = text.chars().next().expect("a text");
    let word = text.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(text.len());
    if text.starts_with("//") {
        (until("\n"), false)
    } else if text.starts_with("/*") {
        (until("*/"), false)
    } else if text.starts_with('"') || text.starts_with("b\"") || text.starts_with("c\"") {
        (length_of_string(text), false)
    } else if let Some(length) = length_of_raw_string(text) {
        (length, false)
    } else if let Some(rest) = text.strip_prefix('\'') {
        match length_of_character(rest) {
            Some(length) => (1 + length, false),
            // A lifetime.
            None => (1 + rest.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(rest.len()), false),
        }
    } else if word > 0 {
        (word, true)
    } else if text.starts_with("::") {
        (2, true)
    } else {
        (first.len_utf8(), !first.is_whitespace())
    }
}

/// The length of the string at the start of the text, from before its first to after its last quotation mark.
fn length_of_string(text: &str) -> usize {
    let mut escaped = false;
    let start = text.find('"').expect("a string") + 1;
    for (at, c) in text[start..].char_indices() {
        match c {
            '"' if !escaped => return start + at + 1,
            '\\' => escaped = !escaped,
            _ => escaped = false,
        }
    }
    text.len()
}

/// The length of the raw string at the start of the text, if there is one.
fn length_of_raw_string(text: &str) -> Option<usize> {
    let rest = text.strip_prefix('r').or_else(|| text.strip_prefix("br"))?;
    let hashes = rest.len() - rest.trim_start_matches('#').len();
    let content = rest[hashes..].strip_prefix('"')?;
    let end = format!("\"{}", "#".repeat(hashes));
    let start = text.len() - content.len();
    Some(content.find(&end).map_or(text.len(), |at| start + at + end.len()))
}

/// The length of the character literal whose first mark is before `rest`, if it is one and no lifetime.
fn length_of_character(rest: &str) -> Option<usize> {
    let mut chars = rest.char_indices();
    let (_, first) = chars.next()?;
    if first == '\\' {
        let (escaped, _) = chars.next()?;
        let after = escaped + 1;
        return rest[after..].find('\'').map(|at| after + at + 1);
    }
    chars.next().filter(|&(_, c)| c == '\'').map(|(at, _)| at + 1)
}
