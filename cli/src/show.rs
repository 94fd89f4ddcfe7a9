//! `myriscope show`: the characters of both directions of a link side by side.

use analyzer::show::{Pair, Show};
use codec::capture::{Item, Progress, Reader};

use crate::args::View;
use crate::files;
use crate::output::Output;
use crate::report::{Failure, Report};

pub(crate) fn run(view: &View, output: &mut Output) -> Result<Report, Failure> {
    let capture = files::open(&view.file).map_err(|e| Failure::file(&view.file, &e))?;
    let mut report = Report::of(&view.file);
    let mut reader = Reader::new(capture);
    let mut show = Show::new(view.channel.clone().map_or(Pair::First, Pair::Of));
    let (window, limit) = (view.window(), view.limit.unwrap_or(u64::MAX));
    let mut printed = 0;
    let mut print = |line| {
        // The head is no row.
        if printed <= limit {
            output.line(&line);
        }
        printed += 1;
        output.is_open() && printed <= limit
    };
    let mut goes_on = true;
    while goes_on {
        let step = reader.step(&mut |item| {
            show.feed(&item, &window, &mut |line| goes_on = print(line));
            if let Item::Fault(fault) = item {
                report.fault(fault);
            }
        });
        match step {
            Ok(Progress::More) => {}
            Ok(Progress::Done) => break,
            Err(error) => {
                report.error(&error);
                break;
            }
        }
    }
    show.finish(&mut |line| {
        print(line);
    });
    match (&view.channel, show.shown()) {
        (Some(name), [None, _]) => Err(Failure::no_channel(name, show.names())),
        _ => Ok(report),
    }
}
