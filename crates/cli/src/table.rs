//! Tables for people: columns as wide as their widest cell, two spaces between.

/// Rows under a heading.
#[derive(Debug, Clone)]
pub(crate) struct Table {
    heading: Vec<&'static str>,
    rows: Vec<Vec<String>>,
}

impl Table {
    /// A table without rows.
    pub(crate) fn new(heading: &[&'static str]) -> Self {
        Self {
            heading: heading.to_vec(),
            rows: Vec::new(),
        }
    }

    /// Adds a row; it has a cell for each heading.
    pub(crate) fn row(&mut self, cells: Vec<String>) {
        assert_eq!(cells.len(), self.heading.len(), "a cell for each heading");
        self.rows.push(cells);
    }

    /// Whether it has no rows.
    pub(crate) fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// The text, a line for the heading and one a row.
    pub(crate) fn render(&self) -> String {
        let widths: Vec<usize> = (0..self.heading.len())
            .map(|column| {
                let cells = self.rows.iter().map(|row| width(&row[column]));
                cells.chain([self.heading[column].len()]).max().unwrap_or(0)
            })
            .collect();
        let heading: Vec<String> = self
            .heading
            .iter()
            .map(|cell| cell.to_uppercase())
            .collect();
        let lines = std::iter::once(&heading).chain(&self.rows);
        let lines: Vec<String> = lines.map(|row| render_row(row, &widths)).collect();
        lines.join("\n")
    }
}

fn render_row(row: &[String], widths: &[usize]) -> String {
    let mut line = String::new();
    for (cell, wide) in row.iter().zip(widths) {
        line.push_str(cell);
        let pad = wide.saturating_sub(width(cell)) + 2;
        line.extend(std::iter::repeat_n(' ', pad));
    }
    line.trim_end().to_owned()
}

/// Columns that a cell takes: letters, without the codes that colour it.
fn width(cell: &str) -> usize {
    let mut columns = 0;
    let mut in_code = false;
    for c in cell.chars() {
        match c {
            '\u{1b}' => in_code = true,
            'm' if in_code => in_code = false,
            _ if !in_code => columns += 1,
            _ => {}
        }
    }
    columns
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_line_up_whatever_the_colour() {
        let mut table = Table::new(&["topic", "phase", "entries"]);
        table.row(vec![
            "lobby".into(),
            "\u{1b}[32msynced\u{1b}[0m".into(),
            "12".into(),
        ]);
        table.row(vec!["a-long-name".into(), "behind".into(), "3".into()]);
        assert_eq!(
            table.render(),
            "TOPIC        PHASE   ENTRIES\n\
             lobby        \u{1b}[32msynced\u{1b}[0m  12\n\
             a-long-name  behind  3"
        );
    }
}
