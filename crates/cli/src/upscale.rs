//! `fresco upscale`

mod jobs;
mod picture;
mod progress;
mod result_file;

use std::collections::BTreeMap;
use std::num::NonZero;
use std::path::Path;
use std::time::{Duration, Instant};

use anyhow::Context as _;
use fresco::{Pass, Runtime, UpscalePlan, UpscaleRequest, Upscaled, Upscaler, UpscalerOptions};
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
        weights_bytes: BTreeMap<&'static str, u64>,
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

pub(crate) fn run(
    arguments: &UpscaleArguments,
    runtime: impl FnOnce() -> Result<Runtime, fresco::Error>,
) -> anyhow::Result<Exit> {
    let existing = if arguments.force { Existing::Replace } else { Existing::Keep };
    let jobs = jobs::find(&arguments.inputs, &arguments.output, existing)?;
    let cancel = interrupt::token()?;
    let progress = Progress::new(cancel.clone());
    let mut upscaler = load(arguments, runtime, &progress)?;

    let mut request = UpscaleRequest::default();
    request.tile = arguments.tile;
    request.n_repeats = arguments.repeat.get();
    request.cancel = cancel.clone();
    let (mut n_done, mut failed) = (0, Vec::new());
    for (i, job) in jobs.iter().enumerate() {
        if cancel.is_cancelled() {
            break;
        }
        let count = if jobs.len() > 1 { format!(" ({} of {})", i + 1, jobs.len()) } else { String::new() };
        progress.begin(format!("{}{count}", job.input.display()));
        match upscale(&mut upscaler, job, &request, existing, &progress) {
            Ok(done) => {
                n_done += 1;
                progress.suspend(|| report_done(job, &done, arguments.json))?;
            }
            Err(error) if Exit::of_error(&error) == Exit::Cancelled => break,
            Err(error) => {
                failed.push(job.input.as_path());
                progress.suspend(|| report_failed(job, &error, arguments.json))?;
            }
        }
    }
    drop(progress);
    finish(&jobs, n_done, &failed, arguments.json)
}

fn load(
    arguments: &UpscaleArguments,
    runtime: impl FnOnce() -> Result<Runtime, fresco::Error>,
    progress: &Progress,
) -> anyhow::Result<Upscaler> {
    let mut options = UpscalerOptions::default();
    options.device.clone_from(&arguments.backend);
    options.n_threads = arguments.threads.map(NonZero::get);
    options.weight_type = arguments.weight_type;
    progress.begin("loading the model".into());
    let runtime = runtime()?;
    let upscaler = Upscaler::load(&runtime, &arguments.model, &options, &mut |event| progress.hear(event))?;
    if arguments.json {
        output::json_line(&Line::Model {
            path: &arguments.model,
            architecture: upscaler.architecture(),
            scale: upscaler.scale(),
            weights_bytes: upscaler.weights_bytes().iter().map(|(dtype, bytes)| (dtype.name(), *bytes)).collect(),
            device: upscaler.device().name(),
            n_threads: upscaler.n_threads(),
        })?;
    }
    Ok(upscaler)
}

/// What became of an image.
struct Done {
    plan: UpscalePlan,
    elapsed: Duration,
}

/// Upscales one image from file to file.
fn upscale(
    upscaler: &mut Upscaler,
    job: &Job,
    request: &UpscaleRequest,
    existing: Existing,
    progress: &Progress,
) -> anyhow::Result<Done> {
    let started = Instant::now();
    let input = || job.input.display();
    let Picture { image, icc_profile } = picture::read(&job.input)?;
    let factor = u64::from(upscaler.scale()).saturating_pow(request.n_repeats);
    picture::check(&image, factor, job.format).with_context(|| format!("cannot upscale {}", input()))?;
    // Now, so that a folder that cannot be written is found out before the work.
    let file = ResultFile::begin(&job.output)?;
    let upscaled = upscaler.upscale(&image, request, &mut |event| progress.hear(event));
    let Upscaled { image, plan, .. } = upscaled.with_context(|| format!("cannot upscale {}", input()))?;
    let picture = Picture { image, icc_profile };
    file.finish(existing, |file| picture::write(picture, job.format, file))?;
    Ok(Done { plan, elapsed: started.elapsed() })
}

fn report_done(job: &Job, done: &Done, json: bool) -> anyhow::Result<()> {
    let [width_px, height_px] = done.plan.output_px();
    if !json {
        let (input, output, seconds) = (job.input.display(), job.output.display(), done.elapsed.as_secs_f64());
        return output::line(format_args!("{input} -> {output}  {width_px} x {height_px}, {seconds:.1} s"));
    }
    let pass = |pass: &Pass| PassLine {
        tile_px: pass.tile_px(),
        n_tiles: pass.n_tiles(),
        workspace_bytes: pass.workspace_bytes(),
    };
    output::json_line(&Line::Done {
        input: &job.input,
        output: &job.output,
        width_px,
        height_px,
        passes: done.plan.passes.iter().map(pass).collect(),
        elapsed_ms: done.elapsed.as_millis(),
    })
}

fn report_failed(job: &Job, error: &anyhow::Error, json: bool) -> anyhow::Result<()> {
    let error = exit::describe(error.as_ref());
    output::error(&error);
    if json { output::json_line(&Line::Failed { input: &job.input, error }) } else { Ok(()) }
}

/// Sums up, and says how the command ends.
fn finish(jobs: &[Job], n_done: usize, failed: &[&Path], json: bool) -> anyhow::Result<Exit> {
    let n_left = jobs.len() - n_done - failed.len();
    if json {
        output::json_line(&Line::Summary { n_done, n_failed: failed.len(), n_left })?;
    } else if jobs.len() > 1 {
        output::line(format_args!("{n_done} of {} images upscaled", jobs.len()))?;
    }
    if jobs.len() > 1 && !failed.is_empty() {
        let names: Vec<_> = failed.iter().map(|path| path.display().to_string()).collect();
        output::error(format_args!("{} of {} images failed: {}", failed.len(), jobs.len(), names.join(", ")));
    }
    if n_left > 0 {
        output::error(format_args!("interrupted; {n_left} of {} images were left", jobs.len()));
        return Ok(Exit::Cancelled);
    }
    Ok(if failed.is_empty() { Exit::Success } else { Exit::Failure })
}
