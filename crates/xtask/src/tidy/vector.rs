//! Golden vectors that nothing reads prove nothing.

use std::path::{Path, PathBuf};

use crate::{finding::Finding, workspace::Text};

/// Where vectors are.
const VECTORS: &str = "specs/vectors";

/// Every vector file is named by some Rust file.
pub(crate) fn unread(files: &[PathBuf], texts: &[Text]) -> Vec<Finding> {
    let vectors = files
        .iter()
        .filter(|path| path.starts_with(VECTORS) && !is_prose(path));
    let unread = vectors.filter(|path| !is_named(path, texts));
    unread
        .map(|path| Finding::of(path, "is read by no test"))
        .collect()
}

fn is_prose(path: &Path) -> bool {
    path.extension().is_some_and(|it| it == "md")
}

fn is_named(path: &Path, texts: &[Text]) -> bool {
    let Some(name) = path.file_name().and_then(|name| name.to_str()) else {
        return false;
    };
    texts
        .iter()
        .any(|text| text.has_extension("rs") && text.content.contains(name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_vector_that_no_test_names() {
        let files = ["a.json", "b.json", "README.md"].map(|name| Path::new(VECTORS).join(name));
        let texts = [Text::new("tests/it/vectors.rs", "read(\"a.json\")")];
        let found: Vec<_> = unread(&files, &texts)
            .iter()
            .map(ToString::to_string)
            .collect();
        assert_eq!(found, ["specs/vectors/b.json: is read by no test"]);
    }
}
