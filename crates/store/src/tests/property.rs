//! Random histories, in any order and any cut, against the model.

use osier_core::testing::topic;
use osier_proto::{StoreId, View};
use proptest::prelude::*;

use super::{
    history::{deal, steps, write},
    model::Model,
};
use crate::{Batch, Store};

fn config() -> ProptestConfig {
    ProptestConfig {
        cases: 64,
        failure_persistence: None,
        ..ProptestConfig::default()
    }
}

const ID: StoreId = StoreId::from_bytes([5; 16]);

fn store_all(
    store: &Store,
    model: &mut Model,
    batches: Vec<Vec<osier_core::Verified<osier_core::Entry>>>,
) {
    for entries in batches {
        let mut batch = Batch::new();
        batch.extend(entries.iter().cloned());
        let before = model.holes();
        let committed = store.commit(&batch).unwrap();
        let fates = model.store(&entries);
        let Some(done) = committed.topics.get(&topic()) else {
            assert!(entries.is_empty());
            continue;
        };
        assert_eq!(done.entries, fates);
        assert_eq!(done.summary, model.summary());
        assert_eq!(done.hole_count, model.holes().len() as u64);
        let closed: Vec<_> = before
            .into_iter()
            .filter(|hash| model.entries.contains_key(hash))
            .collect();
        assert_eq!(done.closed, closed);
    }
}

proptest! {
    #![proptest_config(config())]

    /// Everything that a view answers is what walking all entries answers (`STO-10`).
    #[test]
    fn a_store_answers_as_the_model_does(
        steps in steps(70),
        keys in prop::collection::vec(any::<u32>(), 70),
        keep in 3_u32..9,
    ) {
        let store = Store::in_memory(ID).unwrap();
        let mut model = Model::default();
        store_all(&store, &mut model, deal(&write(&steps), &keys, keep));
        model.agree(&store.snapshot(topic()).unwrap());
        let report = store.check(&mut |_, _| {}).unwrap();
        prop_assert!(report.is_clean(), "{:?}", report.findings);
        prop_assert_eq!(report.entries, model.entries.len() as u64);
    }

    /// The order and the cut of what comes does not matter.
    #[test]
    fn any_order_ends_alike(
        steps in steps(60),
        keys in prop::collection::vec(any::<u32>(), 60),
        other in prop::collection::vec(any::<u32>(), 60),
    ) {
        let entries = write(&steps);
        let (one, two) = (Store::in_memory(ID).unwrap(), Store::in_memory(ID).unwrap());
        store_all(&one, &mut Model::default(), deal(&entries, &keys, 8));
        store_all(&two, &mut Model::default(), deal(&entries, &other, 8));
        let (one, two) = (one.snapshot(topic()).unwrap(), two.snapshot(topic()).unwrap());
        prop_assert_eq!(one.summary(), two.summary());
        prop_assert_eq!(one.heads(None, 1000).unwrap(), two.heads(None, 1000).unwrap());
        prop_assert_eq!(one.holes(None, 1000).unwrap(), two.holes(None, 1000).unwrap());
    }
}
