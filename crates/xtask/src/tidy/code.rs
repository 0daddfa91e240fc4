//! A rough reading of rustfmt-ed Rust: indentation tells where an item ends.

/// A line and its number, counted from 1.
pub(crate) type Line<'a> = (usize, &'a str);

/// The lines of `code` that are not part of an item under `#[cfg(test)]`.
pub(crate) fn without_tests(code: &str) -> Vec<Line<'_>> {
    let mut kept = Vec::new();
    let mut lines = code
        .lines()
        .enumerate()
        .map(|(index, line)| (index + 1, line));
    while let Some((number, line)) = lines.next() {
        if is_test_attribute(line) {
            skip_item(&mut lines, indent(line));
        } else {
            kept.push((number, line));
        }
    }
    kept
}

fn is_test_attribute(line: &str) -> bool {
    let line = line.trim_start();
    line.starts_with("#[cfg(test)]") || line.starts_with("#[cfg(all(test") || line == "#[test]"
}

/// Goes past the item whose attributes are indented by `depth`.
fn skip_item<'a>(lines: &mut impl Iterator<Item = Line<'a>>, depth: usize) {
    for (_, line) in lines {
        let attribute = line.trim_start().starts_with("#[") || line.trim_start().starts_with("//");
        if indent(line) == depth && !attribute && ends_item(line) {
            return;
        }
    }
}

/// The functions among `lines`: the number of the first line, the name, and how many lines.
pub(crate) fn functions<'a>(lines: &[Line<'a>]) -> Vec<(usize, &'a str, usize)> {
    let starts = lines.iter().enumerate();
    let found = starts.filter_map(|(index, (number, line))| {
        let name = function_name(line)?;
        let rest = lines.get(index..)?;
        let same_depth = |(_, other): &Line<'_>| indent(other) == indent(line) && ends_item(other);
        let end = rest.iter().position(same_depth)?;
        Some((*number, name, end + 1))
    });
    found.collect()
}

/// The name of the function whose first line this is.
fn function_name(line: &str) -> Option<&str> {
    let line = line.trim_start();
    let (before, after) = line
        .strip_prefix("fn ")
        .map(|it| ("", it))
        .or(line.split_once(" fn "))?;
    let qualifier = |word: &str| {
        ["const", "async", "unsafe", "extern", "default"].contains(&word)
            || word.starts_with("pub")
            || word.ends_with(')')
    };
    before
        .split_whitespace()
        .all(qualifier)
        .then(|| after.split(['(', '<']).next())?
}

/// Whether an item that starts at this line's depth ends with this line.
fn ends_item(line: &str) -> bool {
    let line = line.trim();
    line == "}" || line.ends_with(';') || (line.ends_with('}') && line.contains('{'))
}

fn indent(line: &str) -> usize {
    line.len() - line.trim_start().len()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_test_module_is_left_out() {
        let code = "fn a() {}\n#[cfg(test)]\nmod tests {\n    fn b() {\n    }\n}\nfn c() {}";
        let kept: Vec<_> = without_tests(code)
            .iter()
            .map(|(number, _)| *number)
            .collect();
        assert_eq!(kept, [1, 7]);
    }

    #[test]
    fn a_test_module_in_its_own_file_is_one_line() {
        let code = "#[cfg(test)]\nmod tests;\nfn c() {}";
        assert_eq!(without_tests(code), [(3, "fn c() {}")]);
    }

    #[test]
    fn a_test_only_method_is_left_out() {
        let code = "impl A {\n    #[cfg(test)]\n    #[must_use]\n    fn b(&self) -> u8 {\n        \
                    1\n    }\n    fn c() {}\n}";
        let kept: Vec<_> = without_tests(code)
            .iter()
            .map(|(number, _)| *number)
            .collect();
        assert_eq!(kept, [1, 7, 8]);
    }

    #[test]
    fn functions_are_measured() {
        let method =
            "    pub(crate) const fn a(\n        x: u8,\n    ) -> u8 {\n        x\n    }\n";
        let code = format!("impl A {{\n{method}}}\nfn b<T>() {{}}\nfn c();\n// a fn d() {{");
        let lines = without_tests(&code);
        assert_eq!(functions(&lines), [(2, "a", 5), (8, "b", 1), (9, "c", 1)]);
    }
}
