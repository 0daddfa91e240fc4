//! The command line.

use osier_sim::Knobs;

/// What `--help` prints.
pub(crate) const HELP: &str = "\
Runs simulated worlds, each from one number.

  --seeds N          how many seeds [default: 100]
  --from SEED        the first seed [default: 1]
  --seconds S        start no further seed after so many seconds
  --jobs J           seeds at once [default: 1]
  --trace            print one line a transition
  --twice            run every seed twice and compare the traces, not only one in 25
  --shrink           make a failing seed smaller and print the command that replays it
  --keep-going       run all seeds, also after a failure
  --set NAME=VALUE   set a parameter of every seed; may be repeated
  --scenario NAME    no faults but of this kind: calm, liars, crashes, partitions, hostile";

/// Parsed arguments.
#[derive(Debug, Clone)]
#[expect(clippy::struct_excessive_bools, reason = "flags of a command line")]
pub(crate) struct Args {
    pub(crate) seeds: u64,
    pub(crate) from: u64,
    pub(crate) seconds: Option<u64>,
    pub(crate) jobs: usize,
    pub(crate) trace: bool,
    pub(crate) twice: bool,
    pub(crate) shrink: bool,
    pub(crate) keep_going: bool,
    set: Vec<(String, u64)>,
    scenario: Option<String>,
}

impl Args {
    /// Reads the words after the program's name; none when help was asked for.
    pub(crate) fn parse(mut words: impl Iterator<Item = String>) -> Result<Option<Self>, String> {
        let mut args = Self {
            seeds: 100,
            from: 1,
            seconds: None,
            jobs: 1,
            trace: false,
            twice: false,
            shrink: false,
            keep_going: false,
            set: Vec::new(),
            scenario: None,
        };
        while let Some(word) = words.next() {
            let mut value = || words.next().ok_or(format!("{word} needs a value"));
            match word.as_str() {
                "--help" | "-h" => return Ok(None),
                "--seeds" => args.seeds = number(&value()?)?,
                "--from" => args.from = number(&value()?)?,
                "--seconds" => args.seconds = Some(number(&value()?)?),
                "--jobs" => args.jobs = usize::try_from(number(&value()?)?).unwrap_or(1).max(1),
                "--trace" => args.trace = true,
                "--twice" => args.twice = true,
                "--shrink" => args.shrink = true,
                "--keep-going" => args.keep_going = true,
                "--set" => args.set.push(assignment(&value()?)?),
                "--scenario" => args.scenario = Some(known_scenario(&value()?)?),
                _ => return Err(format!("no such option: {word}; try --help")),
            }
        }
        Ok(Some(args))
    }

    /// The parameters of a seed under these arguments.
    pub(crate) fn knobs(&self, seed: u64) -> Knobs {
        let mut knobs = Knobs::draw(seed);
        if let Some(scenario) = &self.scenario {
            only(&mut knobs, scenario);
        }
        for (name, value) in &self.set {
            knobs.set(name, *value);
        }
        knobs
    }
}

/// Kinds of faults, each with its parameters.
const KINDS: [(&str, &[&str]); 4] = [
    ("liars", &["liars", "lie"]),
    (
        "crashes",
        &["crashes", "wipes", "churns", "disk_fail_pcm", "disk_full"],
    ),
    (
        "partitions",
        &[
            "partitions",
            "asymmetric",
            "clogs",
            "breaks",
            "lags",
            "final_lag",
            "gossip_loss_pct",
        ],
    ),
    (
        "hostile",
        &["forkers", "bad_signers", "inventors", "futurists"],
    ),
];

/// Calms every kind of fault but one.
fn only(knobs: &mut Knobs, kind: &str) {
    let calm = Knobs::calm();
    for (other, names) in KINDS {
        for name in names.iter().filter(|_| other != kind) {
            knobs.set(name, calm.get(name).unwrap_or(0));
        }
    }
}

fn known_scenario(name: &str) -> Result<String, String> {
    let known = name == "calm" || KINDS.iter().any(|(kind, _)| *kind == name);
    known
        .then(|| name.to_owned())
        .ok_or(format!("no such scenario: {name}; try --help"))
}

fn number(text: &str) -> Result<u64, String> {
    text.parse()
        .map_err(|_| format!("{text:?} is not a number"))
}

fn assignment(text: &str) -> Result<(String, u64), String> {
    let (name, value) = text
        .split_once('=')
        .ok_or(format!("{text:?} is not NAME=VALUE"))?;
    if Knobs::calm().get(name).is_none() {
        let names = Knobs::NAMES.join(" ");
        return Err(format!("no such parameter: {name}; there are: {names}"));
    }
    Ok((name.to_owned(), number(value)?))
}
