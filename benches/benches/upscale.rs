//! Published upscalers on one tile of 64 × 64 pixels: `cargo bench -p fresco-benches --bench upscale`.
#![allow(clippy::print_stdout, reason = "a benchmark reports on standard output")]

use std::thread::available_parallelism;

use fresco::DType;
use fresco_benches::{Net, median_seconds, published};

/// The models, with the runs that each is timed for.
const MODELS: [(&str, usize); 3] =
    [("realesrgan-x4plus", 5), ("realesrgan-x4plus-anime", 7), ("realesr-animevideov3-x4", 21)];

fn main() -> anyhow::Result<()> {
    let n_threads = available_parallelism()?.get();
    println!(
        "{:<26} {:>6} {:>8} {:>9} {:>9} {:>9}",
        "model, 3x64x64", "type", "threads", "GFLOP", "seconds", "GFLOP/s"
    );
    for (model, n_runs) in MODELS {
        for dtype in [DType::F32, DType::F16, DType::Q8_0] {
            let mut net = Net::upscaler(&published(model)?, dtype, [1, 3, 64, 64].into(), n_threads)?;
            let gflop = net.graph.n_flops() as f64 / 1e9;
            let seconds = median_seconds(n_runs, || net.run())?;
            let rate = gflop / seconds;
            println!("{model:<26} {:>6} {n_threads:>8} {gflop:>9.1} {seconds:>9.3} {rate:>9.1}", dtype.name());
        }
    }
    Ok(())
}
