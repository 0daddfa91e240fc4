//! When is history complete: trust, outcomes, rules, deadlines, verdicts.
