//! `fresco upscale`

mod jobs;
mod picture;
mod progress;
mod result_file;

use std::path::Path;

use anyhow::Context as _;
use fresco::{CancelToken, Pass, Runtime, UpscaleRequest, Upscaled, Upscaler, UpscalerOptions};
use serde::Serialize;

use crate::args::UpscaleArguments;
use crate::exit::{self, Exit};
use crate::{interrupt, output};
use jobs::{Existing, Job};
use picture::Picture;
use progress::Progress;
use result_file::ResultFile;

/// A line of the output with `--json`.
#[derive(Serialize)]
#[serde(tag = "event", rename_all = "snake_case")]
enum Line<'l> {
    /// The model was loaded.
    Model {
        path: &'l Path,
        architecture: &'l str,
        scale: u32,
        weight_type: &'l str,
        device: &'l str,
        n_threads: usize,
    },
    /// An image was upscaled and written.
    Done { input: &'l Path, output: &'l Path, width_px: u32, height_px: u32, passes: Vec<PassLine>, elapsed_ms: u128 },
    /// An image was not.
    Failed { input: &'l Path, error: String },
    /// All is done that could be; images that neither were done nor failed were left by an interruption.
    Summary { n_done: usize, n_failed: usize, n_left: usize },
}

#[derive(Serialize)]
struct PassLine {
    tile_px: [u32; 2],
    n_tiles: u64,
    workspace_bytes: u64,
}

pub(crate) fn run(arguments: &UpscaleArguments) -> anyhow::Result<Exit> {
    let existing = if arguments.force { Existing::Replace } else { Existing::Keep };
    let jobs = jobs::find(&arguments.inputs, &arguments.output, existing)?;
    let cancel = interrupt::token()?;
    let progress = Progress::new(cancel.clone());
    let mut upscaler = load(arguments, &progress)?;

    let (mut n_done, mut n_failed) = (0, 0);
    for (i, job) in jobs.iter().enumerate() {
        if cancel.is_cancelled() {
            break;
        }
        let count = if jobs.len() > 1 { format!(" ({} of {})", i + 1, jobs.len()) } else { String::new() };
        progress.begin(format!("{}{count}", job.input.display()));
        match upscale(&mut upscaler, job, arguments, &cancel, existing, &progress) {
            Ok(upscaled) => {
                n_done += 1;
                progress.suspend(|| report_done(job, &upscaled, arguments.json))?;
            }
            Err(error) if Exit::of_error(&error) == Exit::Cancelled => break,
            // A single image ends the command as its error says.
            Err(error) if jobs.len() == 1 && !arguments.json => return Err(error),
            Err(error) => {
                n_failed += 1;
                progress.suspend(|| report_failed(job, &error, arguments.json))?;
            }
        }
    }
    drop(progress);
    finish(&jobs, n_done, n_failed, arguments.json)
}

fn load(arguments: &UpscaleArguments, progress: &Progress) -> anyhow::Result<Upscaler> {
    let mut options = UpscalerOptions::default();
    options.device.clone_from(&arguments.backend);
    options.n_threads = arguments.threads.map(std::num::NonZero::get);
    options.weight_type = arguments.weight_type;
    progress.begin("loading the model".into());
    let runtime = Runtime::new()?;
    let upscaler = Upscaler::load(&runtime, &arguments.model, &options, &mut |event| progress.hear(event))?;
    if arguments.json {
        output::json_line(&Line::Model {
            path: &arguments.model,
            architecture: upscaler.architecture(),
            scale: upscaler.scale(),
            weight_type: upscaler.weight_type().name(),
            device: upscaler.device().name(),
            n_threads: upscaler.n_threads(),
        })?;
    }
    Ok(upscaler)
}

/// Upscales one image from file to file.
fn upscale(
    upscaler: &mut Upscaler,
    job: &Job,
    arguments: &UpscaleArguments,
    cancel: &CancelToken,
    existing: Existing,
    progress: &Progress,
) -> anyhow::Result<Upscaled> {
    let picture = picture::read(&job.input)?;
    let factor = u64::from(upscaler.scale()).saturating_pow(arguments.repeat.get());
    picture::check(&picture, factor, job.format).with_context(|| job.input.display().to_string())?;
    // Now, so that a folder that cannot be written is found out before the work.
    let file = ResultFile::begin(&job.output)?;

    let mut request = UpscaleRequest::default();
    request.tile = arguments.tile;
    request.n_repeats = arguments.repeat.get();
    request.cancel = cancel.clone();
    let Picture { image, icc_profile } = picture;
    let upscaled = upscaler
        .upscale(&image, &request, &mut |event| progress.hear(event))
        .with_context(|| format!("cannot upscale {}", job.input.display()))?;
    drop(image);
    file.finish(existing, |file| picture::write(&upscaled.image, icc_profile, job.format, file))?;
    Ok(upscaled)
}
