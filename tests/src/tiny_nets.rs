//! Upscalers small enough to run in no time, as model files.

use crate::model_files::safetensors;

/// A model file of a compact net (SRVGGNetCompact) with all weights zero: it repeats each pixel `scale` times.
pub fn repeating_net(scale: u64) -> Vec<u8> {
    compact_net(scale, 4, 1, &mut || 0.0)
}

/// A model file of a compact net (SRVGGNetCompact) with `n_pairs` hidden layers: it sees `n_pairs + 1` pixels far.
pub fn compact_net(scale: u64, n_features: u64, n_pairs: u64, weight: &mut dyn FnMut() -> f32) -> Vec<u8> {
    let mut net = Net::default();
    let mut n_in = 3;
    for pair in 0..n_pairs {
        net.conv(&format!("body.{}", 2 * pair), [n_features, n_in], weight);
        net.add(format!("body.{}.weight", 2 * pair + 1), vec![n_features], weight);
        n_in = n_features;
    }
    net.conv(&format!("body.{}", 2 * n_pairs), [3 * scale * scale, n_in], weight);
    net.into_file()
}

/// A model file of an RRDBNet of one block, which doubles the size twice. With `unshuffle` of 2 or 4 it first folds blocks
/// of such a side into channels, and enlarges by 4 / `unshuffle` in all.
pub fn dense_net(unshuffle: u64, n_features: u64, weight: &mut dyn FnMut() -> f32) -> Vec<u8> {
    let mut net = Net::default();
    let growth = n_features / 2;
    net.conv("conv_first", [n_features, 3 * unshuffle * unshuffle], weight);
    for dense in 1..=3 {
        for i in 1..=5 {
            let n_out = if i == 5 { n_features } else { growth };
            net.conv(&format!("body.0.rdb{dense}.conv{i}"), [n_out, n_features + (i - 1) * growth], weight);
        }
    }
    for name in ["conv_body", "conv_up1", "conv_up2", "conv_hr"] {
        net.conv(name, [n_features, n_features], weight);
    }
    net.conv("conv_last", [3, n_features], weight);
    net.into_file()
}

/// Reproducible values spread evenly over −1 to 1, times `factor`.
pub fn noise(factor: f32) -> impl FnMut() -> f32 {
    let mut state = 7u32;
    move || {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        ((state >> 8) as f32 / (1 << 23) as f32 - 1.0) * factor
    }
}

#[derive(Default)]
struct Net {
    tensors: Vec<(String, Vec<u64>, Vec<u8>)>,
}

impl Net {
    fn add(&mut self, name: String, shape: Vec<u64>, value: &mut dyn FnMut() -> f32) {
        let n: u64 = shape.iter().product();
        let data = (0..n).flat_map(|_| value().to_le_bytes()).collect();
        self.tensors.push((name, shape, data));
    }

    /// A 3×3 convolution. Weights shrink with the number of inputs, so that values keep their scale from layer to layer.
    fn conv(&mut self, name: &str, [n_out, n_in]: [u64; 2], weight: &mut dyn FnMut() -> f32) {
        let scale = 1.0 / ((9 * n_in) as f32).sqrt();
        self.add(format!("{name}.weight"), vec![n_out, n_in, 3, 3], &mut || weight() * scale);
        self.add(format!("{name}.bias"), vec![n_out], &mut || weight() * 0.1);
    }

    fn into_file(self) -> Vec<u8> {
        let tensors: Vec<_> = self
            .tensors
            .iter()
            .map(|(name, shape, data)| (name.as_str(), "F32", shape.as_slice(), data.as_slice()))
            .collect();
        safetensors(&tensors)
    }
}
