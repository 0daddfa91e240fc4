//! `osier man`: the manual page, every command in it.

use clap::{Command, CommandFactory};
use clap_mangen::Man;

use super::Context;
use crate::{
    args::Cli,
    failure::{Failure, Outcome},
};

pub(crate) fn run(context: &Context) -> Outcome {
    let mut page = Vec::new();
    let failed = |error| Failure::other("cannot write the manual page").because(error);
    render(&mut page).map_err(failed)?;
    context.out.bytes(&page)?;
    context.out.flush()
}

/// The page of `osier`, then the synopsis and options of each command under its whole name.
fn render(page: &mut Vec<u8>) -> std::io::Result<()> {
    let mut osier = Cli::command();
    osier.build();
    Man::new(osier.clone()).render(page)?;
    commands(&osier, "osier", page)
}

fn commands(of: &Command, name: &str, page: &mut Vec<u8>) -> std::io::Result<()> {
    for command in of.get_subcommands().filter(|it| it.get_name() != "help") {
        let name = format!("{name} {}", command.get_name());
        page.extend_from_slice(format!(".SH {}\n", name.to_uppercase()).as_bytes());
        let man = Man::new(command.clone());
        man.render_synopsis_section(page)?;
        man.render_description_section(page)?;
        man.render_options_section(page)?;
        commands(command, &name, page)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_command_is_in_it() {
        let mut page = Vec::new();
        render(&mut page).unwrap();
        let page = String::from_utf8(page).unwrap();
        for name in ["OSIER RESTORE", "OSIER TOPIC NEW", "OSIER NOSTR PULL"] {
            assert!(page.contains(&format!(".SH {name}\n")), "{name}");
        }
    }
}
