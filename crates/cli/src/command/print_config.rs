//! `osier run --print-config`: the effective settings with the origin of each.

use serde_json::{Value, json};

use super::Context;
use crate::{config::Layers, failure::Outcome};

pub(crate) fn run(context: &Context, layers: &Layers) -> Outcome {
    if context.out.json {
        let all = layers.all().map(|(key, value, origin)| {
            let value = serde_json::to_value(value).unwrap_or(Value::Null);
            (
                key.to_owned(),
                json!({ "value": value, "origin": origin.to_string() }),
            )
        });
        return context.out.value(&Value::Object(all.collect()));
    }
    context.out.line(&render(layers))
}

/// A file that could be used as `osier.toml`.
fn render(layers: &Layers) -> String {
    let mut lines = Vec::new();
    let mut section = "";
    for (key, value, origin) in layers.all() {
        let (table, name) = key.split_once('.').unwrap_or(("", key));
        if table != section {
            lines.push(format!("\n[{table}]"));
            section = table;
        }
        lines.push(format!("{name} = {value} # {origin}"));
    }
    lines.join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Flags;

    #[test]
    fn what_is_printed_can_be_read_again() {
        let flags = Flags {
            file: None,
            values: vec![
                ("listen_api", "127.0.0.1:9".into()),
                ("data_dir", "d".into()),
            ],
        };
        let layers = Layers::merge(&flags, |_| None, None).unwrap();
        let text = render(&layers);
        insta::assert_snapshot!(text);
        let file = Some((text, "printed.toml".into()));
        let again = Layers::merge(&Flags::default(), |_| None, file).unwrap();
        let values = |layers: &Layers| -> Vec<String> {
            layers
                .all()
                .map(|(_, value, _)| value.to_string())
                .collect()
        };
        assert_eq!(values(&again), values(&layers));
    }
}
