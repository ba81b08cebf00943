//! The text of a question: `SELECT` measures `WHERE` condition `GROUP BY` columns, of SQL.

use noren_rlwe::error::{Error, Result};

use crate::tables::codes::Codes;
use crate::tables::column::{Schema, Values};
use crate::tables::error::TableError;
use crate::tables::question::{Condition, Measure, Question};

/// No text has more bytes.
const MOST_BYTES: usize = 1 << 16;
/// No parentheses are nested deeper.
const MOST_DEPTH: usize = 64;
/// No more columns are compared with one another.
const MOST_PAIRS: usize = 64;

/// A word of a text.
#[derive(Debug, Clone, PartialEq)]
enum Token {
    /// A name, or a word of the language.
    Word(String),
    /// A name in double quotes.
    Name(String),
    Number(f64),
    /// A text in single quotes.
    Text(String),
    Symbol(&'static str),
    End,
}

impl Token {
    /// The name that it may be.
    fn name(&self) -> Option<&str> {
        match self {
            Self::Name(name) => Some(name),
            Self::Word(word) if !RESERVED.iter().any(|reserved| word.eq_ignore_ascii_case(reserved)) => Some(word),
            _ => None,
        }
    }

    fn words(&self) -> String {
        match self {
            Self::Word(word) | Self::Name(word) => word.clone(),
            Self::Number(x) => x.to_string(),
            Self::Text(text) => format!("'{text}'"),
            Self::Symbol(symbol) => (*symbol).to_owned(),
            Self::End => "the end".to_owned(),
        }
    }
}

const SYMBOLS: [&str; 14] = ["<=", ">=", "<>", "!=", "==", "=", "<", ">", "(", ")", ",", "*", ";", "-"];

const COMPARISONS: [&str; 8] = ["=", "==", "<>", "!=", "<", "<=", ">", ">="];

/// Words that are no names of columns unless they stand in double quotes.
const RESERVED: [&str; 13] =
    ["select", "from", "where", "group", "by", "and", "or", "not", "between", "in", "as", "true", "false"];

impl Question {
    /// The question that a text asks of a table.
    ///
    /// ```text
    /// [SELECT] measure [AS name], ... [FROM table] [WHERE condition] [GROUP BY column, ...] [;]
    /// ```
    /// Measures: `count(*)`, and `sum`, `avg`, `var_pop`, `var_samp`, `stddev_pop`, `stddev_samp`, `median`, `min` and `max` of a
    /// column, `quantile(column, share)`, `histogram(column, edge, edge, ...)`. Conditions: `=`, `<>`, `<`, `<=`, `>`, `>=`,
    /// `BETWEEN a AND b` and `IN (a, b)` of a column and what is known, `AND`, `OR`, `NOT`, parentheses. Texts stand in single
    /// quotes, names that are no words in double ones. Columns of one kind are compared with one another too.
    ///
    /// # Errors
    /// [`TableError`] names the place of what is no question, columns that there are not, and what their values do not have.
    pub fn parse(text: &str, schema: &Schema) -> Result<Self> {
        schema.check()?;
        if text.len() > MOST_BYTES {
            let (found, needed) = (format!("{} bytes", text.len()), format!("at most {MOST_BYTES}"));
            return Err(TableError::Question { found, needed }.into());
        }
        let tokens = tokens(text)?;
        let (question, compared) = Parser::new(text, &tokens, schema).question()?;
        if compared.is_empty() {
            return Ok(question);
        }
        // Numbers that columns are compared with have other codes in another range.
        let schema = schema.with_common_values(&compared)?;
        Parser::new(text, &tokens, &schema).question().map(|(question, _)| question)
    }
}

fn refused(text: &str, at: usize, found: impl Into<String>, needed: impl Into<String>) -> Error {
    let at = text[..at].chars().count() + 1;
    TableError::Text { text: text.to_owned(), at, found: found.into(), needed: needed.into() }.into()
}

/// The words of a text, each with where it begins, in bytes.
fn tokens(text: &str) -> Result<Vec<(usize, Token)>> {
    let mut tokens = Vec::new();
    let mut at = 0;
    while let Some(first) = text[at..].chars().next() {
        let rest = &text[at..];
        let length_while = |keep: fn(char) -> bool| rest.find(|c| !keep(c)).unwrap_or(rest.len());
        let (length, token) = if first.is_whitespace() {
            at += first.len_utf8();
            continue;
        } else if first.is_ascii_digit() || first == '.' {
            let mut length = length_while(|c| c.is_ascii_alphanumeric() || c == '.' || c == '_');
            // The sign of an exponent belongs to the number.
            if rest[..length].ends_with(['e', 'E']) && rest[length..].starts_with(['+', '-']) {
                let digits = &rest[length + 1..];
                length += 1 + digits.find(|c: char| !c.is_ascii_digit()).unwrap_or(digits.len());
            }
            let number: std::result::Result<f64, _> = rest[..length].replace('_', "").parse();
            let number = number.ok().filter(|x| x.is_finite());
            let number = number.ok_or_else(|| refused(text, at, &rest[..length], "a finite number"))?;
            (length, Token::Number(number))
        } else if first.is_alphabetic() || first == '_' {
            let length = length_while(|c| c.is_alphanumeric() || c == '_');
            (length, Token::Word(rest[..length].to_owned()))
        } else if first == '\'' || first == '"' {
            let (length, inner) = quoted(rest, first).ok_or_else(|| {
                refused(text, at, "a quotation mark that nothing closes", format!("{first} behind the text"))
            })?;
            (length, if first == '"' { Token::Name(inner) } else { Token::Text(inner) })
        } else {
            let symbol = SYMBOLS.into_iter().find(|symbol| rest.starts_with(symbol));
            let symbol = symbol.ok_or_else(|| refused(text, at, first, "a word, a number or a comparison"))?;
            (symbol.len(), Token::Symbol(symbol))
        };
        tokens.push((at, token));
        at += length;
    }
    tokens.push((text.len(), Token::End));
    Ok(tokens)
}

/// The length of a quotation, and what stands in it: a doubled mark is one.
fn quoted(rest: &str, mark: char) -> Option<(usize, String)> {
    let mut inner = String::new();
    let mut characters = rest.char_indices().skip(1).peekable();
    while let Some((at, c)) = characters.next() {
        if c != mark {
            inner.push(c);
        } else if characters.next_if(|(_, next)| *next == mark).is_some() {
            inner.push(mark);
        } else {
            return Some((at + 1, inner));
        }
    }
    None
}

/// A number or a text that a column is compared with.
enum Known {
    Number(f64),
    Text(String),
}

struct Parser<'a> {
    text: &'a str,
    tokens: &'a [(usize, Token)],
    at: usize,
    /// How many conditions are open.
    depth: usize,
    schema: &'a Schema,
    /// The columns that are compared with one another.
    compared: Vec<[usize; 2]>,
}

impl<'a> Parser<'a> {
    const fn new(text: &'a str, tokens: &'a [(usize, Token)], schema: &'a Schema) -> Self {
        Self { text, tokens, at: 0, depth: 0, schema, compared: Vec::new() }
    }

    fn token(&self) -> &Token {
        &self.tokens[self.at].1
    }

    fn refused(&self, needed: impl Into<String>) -> Error {
        let (at, token) = &self.tokens[self.at];
        refused(self.text, *at, token.words(), needed)
    }

    /// Whether a word of the language is next, which is passed then.
    fn takes(&mut self, word: &str) -> bool {
        let is_next = matches!(self.token(), Token::Word(found) if found.eq_ignore_ascii_case(word));
        self.at += usize::from(is_next);
        is_next
    }

    fn takes_symbol(&mut self, symbol: &str) -> bool {
        let is_next = matches!(self.token(), Token::Symbol(found) if *found == symbol);
        self.at += usize::from(is_next);
        is_next
    }

    fn symbol(&mut self, symbol: &str) -> Result<()> {
        if self.takes_symbol(symbol) { Ok(()) } else { Err(self.refused(format!("{symbol:?}"))) }
    }

    fn name(&mut self, needed: &str) -> Result<String> {
        let name = self.token().name().map(str::to_owned).ok_or_else(|| self.refused(needed))?;
        self.at += 1;
        Ok(name)
    }

    fn column(&mut self) -> Result<usize> {
        let name = self.name("the name of a column")?;
        self.schema.place(&name).ok_or_else(|| self.schema.no_column(&name))
    }

    /// Refuses a column for what its values are.
    fn unsuitable<T>(&self, column: usize, found: &str, needed: &str) -> Result<T> {
        let column = self.schema.columns[column].name.clone();
        Err(TableError::Column { column, found: found.to_owned(), needed: needed.to_owned() }.into())
    }

    /// The question, and which columns are compared with one another.
    fn question(mut self) -> Result<(Question, Vec<[usize; 2]>)> {
        self.takes("select");
        let (mut measures, mut keys) = (Vec::new(), Vec::new());
        loop {
            let start = self.at;
            match self.measure()? {
                None => keys.push((start, self.column()?)),
                Some(measure) => {
                    let end = self.tokens[self.at].0;
                    let written = self.text[self.tokens[start].0..end].trim().to_owned();
                    let label = if self.takes("as") { self.name("a name")? } else { written };
                    measures.push((label, measure));
                }
            }
            if !self.takes_symbol(",") {
                break;
            }
        }
        if self.takes("from") {
            self.name("the name of a table")?;
        }
        let condition = if self.takes("where") { self.any()? } else { Condition::All(Vec::new()) };
        let mut groups = Vec::new();
        if self.takes("group") {
            if !self.takes("by") {
                return Err(self.refused("BY"));
            }
            groups.push(self.column()?);
            while self.takes_symbol(",") {
                groups.push(self.column()?);
            }
        }
        self.takes_symbol(";");
        if *self.token() != Token::End {
            return Err(self.refused("WHERE, GROUP BY, or the end"));
        }
        if let Some((at, _)) = keys.into_iter().find(|(_, column)| !groups.contains(column)) {
            self.at = at;
            return Err(self.refused("a measure, such as sum of the column, or the column in GROUP BY"));
        }
        if measures.is_empty() {
            self.at = 0;
            return Err(self.refused("a measure, such as count(*)"));
        }
        Ok((Question { schema: self.schema.clone(), measures, condition, groups }, self.compared))
    }

    /// A measure, or nothing where the name of a column stands alone.
    fn measure(&mut self) -> Result<Option<Measure>> {
        let is_call = matches!(self.tokens.get(self.at + 1), Some((_, Token::Symbol("("))));
        let word = match self.token().clone() {
            Token::Word(word) if is_call => word,
            Token::Word(_) | Token::Name(_) => return Ok(None),
            _ => return Err(self.refused("a measure, such as count(*)")),
        };
        let name = word.to_ascii_lowercase();
        let all =
            "count(*), sum, avg, var_pop, var_samp, stddev_pop, stddev_samp, median, quantile, min, max or histogram";
        let start = self.at;
        self.at += 2;
        if name == "count" {
            self.symbol("*")?;
            self.symbol(")")?;
            return Ok(Some(Measure::Count));
        }
        let of_column: Option<fn(usize) -> Measure> = match name.as_str() {
            "sum" => Some(Measure::Sum),
            "avg" | "mean" => Some(Measure::Mean),
            "var_pop" => Some(|column| Measure::Variance { column, freedom: 0, root: false }),
            "var_samp" | "variance" => Some(|column| Measure::Variance { column, freedom: 1, root: false }),
            "stddev_pop" => Some(|column| Measure::Variance { column, freedom: 0, root: true }),
            "stddev_samp" | "stddev" => Some(|column| Measure::Variance { column, freedom: 1, root: true }),
            "median" => Some(|column| Measure::Quantile(column, 0.5)),
            "min" => Some(Measure::Minimum),
            "max" => Some(Measure::Maximum),
            "quantile" | "histogram" => None,
            _ => {
                self.at = start;
                return Err(self.refused(all));
            }
        };
        let column = self.column()?;
        if matches!(self.schema.columns[column].values, Values::Categories(_)) {
            return self.unsuitable(column, "texts", "numbers: count(*) GROUP BY counts texts");
        }
        let measure = match of_column {
            Some(of_column) => of_column(column),
            None if name == "quantile" => {
                self.symbol(",")?;
                let at = self.at;
                let share = self.number()?;
                if !(0.0..=1.0).contains(&share) {
                    self.at = at;
                    return Err(self.refused("a share from 0 to 1"));
                }
                Measure::Quantile(column, share)
            }
            None => {
                let mut edges = Vec::new();
                while self.takes_symbol(",") {
                    let at = self.at;
                    edges.push(self.number()?);
                    if edges.len() > 1 && edges[edges.len() - 2] >= edges[edges.len() - 1] {
                        self.at = at;
                        return Err(self.refused("a larger edge than the one before"));
                    }
                }
                if edges.len() < 2 {
                    return Err(self.refused("two edges or more"));
                }
                Measure::Histogram(column, edges)
            }
        };
        self.symbol(")")?;
        Ok(Some(measure))
    }

    fn number(&mut self) -> Result<f64> {
        let sign = if self.takes_symbol("-") { -1.0 } else { 1.0 };
        match *self.token() {
            Token::Number(x) => {
                self.at += 1;
                Ok(sign * x)
            }
            _ => Err(self.refused("a number")),
        }
    }

    fn any(&mut self) -> Result<Condition> {
        let mut found = self.all()?;
        while self.takes("or") {
            found = found.or(self.all()?);
        }
        Ok(found)
    }

    fn all(&mut self) -> Result<Condition> {
        let mut found = self.single()?;
        while self.takes("and") {
            found = found.and(self.single()?);
        }
        Ok(found)
    }

    fn single(&mut self) -> Result<Condition> {
        self.depth += 1;
        if self.depth > MOST_DEPTH {
            return Err(self.refused(format!("at most {MOST_DEPTH} conditions in one another")));
        }
        let found = if self.takes("not") {
            let schema = self.schema;
            self.single()?.negated(|column| schema.columns[column].values.count())
        } else if self.takes_symbol("(") {
            let found = self.any()?;
            self.symbol(")")?;
            found
        } else {
            self.comparison()?
        };
        self.depth -= 1;
        Ok(found)
    }

    fn comparison(&mut self) -> Result<Condition> {
        let column = self.column()?;
        if let Some(condition) = self.between_columns(column)? {
            return Ok(condition);
        }
        let values = &self.schema.columns[column].values;
        let negated = self.takes("not");
        let codes = if self.takes("between") {
            let low = self.ordered(column)?;
            if !self.takes("and") {
                return Err(self.refused("AND"));
            }
            let high = self.ordered(column)?;
            values.codes_from(low).intersection(&values.codes_above(high).complement(values.count()))
        } else if self.takes("in") {
            self.symbol("(")?;
            let mut codes = self.equal(column)?;
            while self.takes_symbol(",") {
                codes = codes.union(&self.equal(column)?);
            }
            self.symbol(")")?;
            codes
        } else if negated {
            return Err(self.refused("BETWEEN or IN"));
        } else {
            self.compared(column)?
        };
        let codes = if negated { codes.complement(values.count()) } else { codes };
        Ok(Condition::Among(column, codes))
    }

    /// A comparison with another column, if one stands behind it.
    fn between_columns(&mut self, first: usize) -> Result<Option<Condition>> {
        let [(_, Token::Symbol(symbol)), (_, name), ..] = &self.tokens[self.at..] else { return Ok(None) };
        if !COMPARISONS.contains(symbol) || name.name().is_none() {
            return Ok(None);
        }
        if self.compared.len() == MOST_PAIRS {
            return Err(self.refused(format!("at most {MOST_PAIRS} comparisons of columns with one another")));
        }
        self.at += 1;
        let second = self.column()?;
        let is_ordered = !matches!(self.schema.columns[first].values, Values::Categories(_));
        if !is_ordered && !["=", "==", "<>", "!="].contains(symbol) {
            return self.unsuitable(first, "texts in an order", "=, <> or IN");
        }
        self.compared.push([first, second]);
        let negated = |condition: Condition| Condition::Not(Box::new(condition));
        Ok(Some(match *symbol {
            "=" | "==" => Condition::Equal(first, second),
            "<>" | "!=" => negated(Condition::Equal(first, second)),
            "<" => Condition::Above(second, first),
            "<=" => negated(Condition::Above(first, second)),
            ">" => Condition::Above(first, second),
            _ => negated(Condition::Above(second, first)),
        }))
    }

    fn compared(&mut self, column: usize) -> Result<Codes> {
        let values = &self.schema.columns[column].values;
        let symbol = match *self.token() {
            Token::Symbol(symbol) if COMPARISONS.contains(&symbol) => symbol,
            // A column of truth values is a condition by itself.
            _ if matches!(values, Values::Integers { low: 0.., high: ..=1 }) => return Ok(values.codes_of(1.0)),
            _ => return Err(self.refused("a comparison: =, <>, <, <=, >, >=, BETWEEN or IN")),
        };
        let complement = |codes: Codes| codes.complement(values.count());
        self.at += 1;
        Ok(match symbol {
            "=" | "==" => self.equal(column)?,
            "<>" | "!=" => complement(self.equal(column)?),
            "<" => complement(values.codes_from(self.ordered(column)?)),
            "<=" => complement(values.codes_above(self.ordered(column)?)),
            ">" => values.codes_above(self.ordered(column)?),
            _ => values.codes_from(self.ordered(column)?),
        })
    }

    /// A number or a text; truth values are 1 and 0.
    fn known(&mut self) -> Result<Known> {
        if self.takes("true") {
            return Ok(Known::Number(1.0));
        }
        if self.takes("false") {
            return Ok(Known::Number(0.0));
        }
        if let Token::Text(text) = self.token().clone() {
            self.at += 1;
            return Ok(Known::Text(text));
        }
        if matches!(self.token(), Token::Number(_) | Token::Symbol("-")) {
            return self.number().map(Known::Number);
        }
        Err(self.refused("a number, a text in single quotes, or a column behind =, <>, <, <=, > or >="))
    }

    /// A number that a column is ordered by.
    fn ordered(&mut self, column: usize) -> Result<f64> {
        match (self.known()?, &self.schema.columns[column].values) {
            (Known::Number(x), Values::Integers { .. } | Values::Steps { .. }) => Ok(x),
            (_, Values::Categories(_)) => self.unsuitable(column, "texts in an order", "=, <> or IN"),
            (Known::Text(text), _) => self.unsuitable(column, &format!("'{text}'"), "a number"),
        }
    }

    /// The codes that are equal to what stands next.
    fn equal(&mut self, column: usize) -> Result<Codes> {
        match (self.known()?, &self.schema.columns[column].values) {
            (Known::Number(x), values @ (Values::Integers { .. } | Values::Steps { .. })) => Ok(values.codes_of(x)),
            (Known::Text(text), Values::Categories(all)) => match all.iter().position(|category| *category == text) {
                Some(code) => Ok(Codes::between(code as u64, code as u64)),
                None => self.unsuitable(column, &format!("'{text}'"), &format!("one of {}", all.join(", "))),
            },
            (Known::Text(text), _) => self.unsuitable(column, &format!("'{text}'"), "a number"),
            (Known::Number(x), _) => self.unsuitable(column, &x.to_string(), "a text in single quotes"),
        }
    }
}
