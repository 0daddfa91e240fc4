//! What a swarm costs does not depend on its size, and the model of large swarms says what engines
//! say.
//!
//! The first takes some 30 s of CPU without optimisation: a thousand engines, each of which
//! verifies every word of the swarm.

#![expect(clippy::print_stdout, reason = "figures are what it is run for")]

use osier_sim::crowd::{Cost, measure, model};

/// The greater over the smaller.
fn apart(one: f64, other: f64) -> f64 {
    one.max(other) / one.min(other)
}

fn show(name: &str, cost: &Cost) {
    println!("{name}: {cost:?}");
}

/// `GOS-12`: at 1,000 nodes the model agrees with engines. Bytes while entries are written, and
/// watermarks, are within a third; hops on average, and bytes in quiet, when both count a dozen
/// messages, within a factor of two.
#[test]
fn the_model_agrees_with_engines() {
    let (exact, light) = (measure(1_000, 1), model(1_000, 1));
    show("engines", &exact);
    show("model", &light);
    assert!(apart(exact.busy, light.busy) < 1.33);
    assert!(apart(exact.watermarks, light.watermarks) < 1.33);
    assert!(apart(exact.hops_mean, light.hops_mean) < 2.0);
    assert!(apart(exact.quiet, light.quiet) < 2.0);
    let engines = exact.engines.expect("engines were run");
    assert_eq!(engines.join_sessions, 1);
    assert!(engines.join_ms < 1_000.0);
}

/// `GOS-12`: bytes a node and minute are flat in the size of the swarm.
#[test]
fn a_watermark_costs_the_same_in_any_swarm() {
    let small = model(300, 1);
    show("300", &small);
    for nodes in [3_000_u32, 30_000] {
        let large = model(usize::try_from(nodes).expect("few nodes"), 1);
        show("more", &large);
        assert!(large.busy < 1.25 * small.busy);
        assert!(large.quiet < 1.5 * small.quiet);
        assert!(f64::from(large.hops_max) < 2.0 * f64::from(nodes).log2());
    }
}
