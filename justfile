# Short names for what people do. Every recipe calls cargo or cargo xtask.

# Show this list
default:
    @just --list

# Start a node with everything at its defaults
run *ARGS:
    cargo run --release -- {{ARGS}}

# Run every test, or the suites named
test *SUITES:
    cargo xtask test {{SUITES}}

# Run every check that is not a test
ci:
    cargo xtask ci

# Format all code
fmt:
    cargo xtask fmt

# Lint all code
clippy:
    cargo clippy --workspace --all-targets

# Look at the API documentation
doc:
    cargo doc --no-deps --workspace --exclude osier-cli --open

# Check the golden vectors
vectors:
    cargo xtask vectors --check

# Write the golden vectors again
bless:
    cargo xtask vectors

# Replay one seed of the simulator
seed SEED:
    cargo xtask sim --seeds 1 --from {{SEED}}

# Look for trouble in new seeds, for an hour unless told otherwise
soak FROM SECONDS="3600":
    cargo xtask sim --seeds 1000000000 --seconds {{SECONDS}} --from {{FROM}}

# Run the benchmarks
bench *ARGS:
    cargo xtask bench {{ARGS}}
