//! The graphs of small nets, as text.

use expect_test::{Expect, expect};

use super::checkpoints::{MOSR, Spelling, TINY, VIDEO, mosr, rrdbnet, srvgg};
use crate::engine::Shape;
use crate::engine::residency::Residency;
use crate::testing::{Spec, source};
use crate::upscalers::{MosrConfig, MosrUpsampler, RrdbnetConfig, SrvggConfig, UpscalerConfig};

fn check(config: &UpscalerConfig, tensors: &[Spec], input: [u64; 4], expected: &Expect) {
    let source = source(tensors);
    let mut residency = Residency::new();
    let declaration = residency.declare(source.catalogue(), None);
    let graph = config.build(&declaration.root()).graph(Shape::from(input)).unwrap();
    expected.assert_eq(&graph.to_string());
}

#[test]
fn rrdbnet_x2_with_unshuffle() {
    let net = RrdbnetConfig { unshuffle: 2, ..TINY };
    let tensors = rrdbnet(&net, Spelling::BasicSr);
    check(
        &UpscalerConfig::Rrdbnet(net),
        &tensors,
        [1, 3, 6, 4],
        &expect![[r#"
            %0 = input 'x' : [1, 3, 6, 4]
            %1 = pixel_unshuffle(2) %0 : [1, 12, 3, 2]
            %4 = conv2d(padding [1, 1]) %1 p0.0:f16 p0.1 : [1, 4, 3, 2] | cut conv_first
            %7 = conv2d(padding [1, 1]) %4 p0.2:f16 p0.3 : [1, 2, 3, 2]
            %8 = leaky_relu(0.2) %7 : [1, 2, 3, 2]
            %9 = concat(dim 1) %4 %8 : [1, 6, 3, 2]
            %12 = conv2d(padding [1, 1]) %9 p0.4:f16 p0.5 : [1, 2, 3, 2]
            %13 = leaky_relu(0.2) %12 : [1, 2, 3, 2]
            %14 = concat(dim 1) %9 %13 : [1, 8, 3, 2]
            %17 = conv2d(padding [1, 1]) %14 p0.6:f16 p0.7 : [1, 2, 3, 2]
            %18 = leaky_relu(0.2) %17 : [1, 2, 3, 2]
            %19 = concat(dim 1) %14 %18 : [1, 10, 3, 2]
            %22 = conv2d(padding [1, 1]) %19 p0.8:f16 p0.9 : [1, 2, 3, 2]
            %23 = leaky_relu(0.2) %22 : [1, 2, 3, 2]
            %24 = concat(dim 1) %19 %23 : [1, 12, 3, 2]
            %27 = conv2d(padding [1, 1]) %24 p0.10:f16 p0.11 : [1, 4, 3, 2]
            %28 = scale(0.2) %27 : [1, 4, 3, 2]
            %29 = add %28 %4 : [1, 4, 3, 2]
            %32 = conv2d(padding [1, 1]) %29 p0.12:f16 p0.13 : [1, 2, 3, 2]
            %33 = leaky_relu(0.2) %32 : [1, 2, 3, 2]
            %34 = concat(dim 1) %29 %33 : [1, 6, 3, 2]
            %37 = conv2d(padding [1, 1]) %34 p0.14:f16 p0.15 : [1, 2, 3, 2]
            %38 = leaky_relu(0.2) %37 : [1, 2, 3, 2]
            %39 = concat(dim 1) %34 %38 : [1, 8, 3, 2]
            %42 = conv2d(padding [1, 1]) %39 p0.16:f16 p0.17 : [1, 2, 3, 2]
            %43 = leaky_relu(0.2) %42 : [1, 2, 3, 2]
            %44 = concat(dim 1) %39 %43 : [1, 10, 3, 2]
            %47 = conv2d(padding [1, 1]) %44 p0.18:f16 p0.19 : [1, 2, 3, 2]
            %48 = leaky_relu(0.2) %47 : [1, 2, 3, 2]
            %49 = concat(dim 1) %44 %48 : [1, 12, 3, 2]
            %52 = conv2d(padding [1, 1]) %49 p0.20:f16 p0.21 : [1, 4, 3, 2]
            %53 = scale(0.2) %52 : [1, 4, 3, 2]
            %54 = add %53 %29 : [1, 4, 3, 2]
            %57 = conv2d(padding [1, 1]) %54 p0.22:f16 p0.23 : [1, 2, 3, 2]
            %58 = leaky_relu(0.2) %57 : [1, 2, 3, 2]
            %59 = concat(dim 1) %54 %58 : [1, 6, 3, 2]
            %62 = conv2d(padding [1, 1]) %59 p0.24:f16 p0.25 : [1, 2, 3, 2]
            %63 = leaky_relu(0.2) %62 : [1, 2, 3, 2]
            %64 = concat(dim 1) %59 %63 : [1, 8, 3, 2]
            %67 = conv2d(padding [1, 1]) %64 p0.26:f16 p0.27 : [1, 2, 3, 2]
            %68 = leaky_relu(0.2) %67 : [1, 2, 3, 2]
            %69 = concat(dim 1) %64 %68 : [1, 10, 3, 2]
            %72 = conv2d(padding [1, 1]) %69 p0.28:f16 p0.29 : [1, 2, 3, 2]
            %73 = leaky_relu(0.2) %72 : [1, 2, 3, 2]
            %74 = concat(dim 1) %69 %73 : [1, 12, 3, 2]
            %77 = conv2d(padding [1, 1]) %74 p0.30:f16 p0.31 : [1, 4, 3, 2]
            %78 = scale(0.2) %77 : [1, 4, 3, 2]
            %79 = add %78 %54 : [1, 4, 3, 2]
            %80 = scale(0.2) %79 : [1, 4, 3, 2]
            %81 = add %80 %4 : [1, 4, 3, 2] | cut body.0
            %84 = conv2d(padding [1, 1]) %81 p0.32:f16 p0.33 : [1, 4, 3, 2]
            %85 = add %4 %84 : [1, 4, 3, 2] | cut conv_body
            %86 = upsample_nearest(2) %85 : [1, 4, 6, 4]
            %89 = conv2d(padding [1, 1]) %86 p0.34:f16 p0.35 : [1, 4, 6, 4]
            %90 = leaky_relu(0.2) %89 : [1, 4, 6, 4] | cut conv_up1
            %91 = upsample_nearest(2) %90 : [1, 4, 12, 8]
            %94 = conv2d(padding [1, 1]) %91 p0.36:f16 p0.37 : [1, 4, 12, 8]
            %95 = leaky_relu(0.2) %94 : [1, 4, 12, 8] | cut conv_up2
            %98 = conv2d(padding [1, 1]) %95 p0.38:f16 p0.39 : [1, 4, 12, 8]
            %99 = leaky_relu(0.2) %98 : [1, 4, 12, 8]
            %102 = conv2d(padding [1, 1]) %99 p0.40:f16 p0.41 : [1, 3, 12, 8]
            output 'y' = %102
        "#]],
    );
}

#[test]
fn srvgg_x4_reduced_to_x3() {
    let net = SrvggConfig { n_features: 8, n_pairs: 2, scale: 3, ..VIDEO };
    let tensors = srvgg(&net);
    check(
        &UpscalerConfig::Srvgg(net),
        &tensors,
        [2, 3, 5, 7],
        &expect![[r#"
            %0 = input 'x' : [2, 3, 5, 7]
            %3 = conv2d(padding [1, 1]) %0 p0.0:f16 p0.1 : [2, 8, 5, 7]
            %5 = prelu %3 p0.2 : [2, 8, 5, 7] | cut body.0
            %8 = conv2d(padding [1, 1]) %5 p0.3:f16 p0.4 : [2, 8, 5, 7]
            %10 = prelu %8 p0.5 : [2, 8, 5, 7] | cut body.1
            %13 = conv2d(padding [1, 1]) %10 p0.6:f16 p0.7 : [2, 48, 5, 7]
            %14 = pixel_shuffle(4) %13 : [2, 3, 20, 28]
            %15 = upsample_nearest(4) %0 : [2, 3, 20, 28]
            %16 = add %14 %15 : [2, 3, 20, 28]
            %17 = interpolate_bicubic(15, 21) %16 : [2, 3, 15, 21]
            output 'y' = %17
        "#]],
    );
}

#[test]
fn mosr_with_an_ensemble() {
    let upsampler = MosrUpsampler::Ensemble;
    let net = MosrConfig { n_features: 4, n_hidden: 6, n_mixed: 4, n_blocks: 1, scale: 2, upsampler, ..MOSR };
    let tensors = mosr(&net);
    check(
        &UpscalerConfig::Mosr(net),
        &tensors,
        [1, 3, 5, 7],
        &expect![[r#"
            %0 = input 'x' : [1, 3, 5, 7]
            %3 = conv2d(padding [1, 1]) %0 p0.16:f16 p0.17 : [1, 4, 5, 7]
            %4 = mish %3 : [1, 4, 5, 7]
            %7 = conv2d(padding [1, 1]) %4 p0.18:f16 p0.19 : [1, 4, 5, 7]
            %8 = mish %7 : [1, 4, 5, 7]
            %11 = conv2d(padding [0, 0]) %0 p0.20:f16 p0.21 : [1, 4, 5, 7]
            %12 = add %8 %11 : [1, 4, 5, 7] | cut conv_first
            %15 = conv2d(padding [1, 1]) %0 p0.0:f16 p0.1 : [1, 4, 5, 7] | cut conv_first
            %18 = norm_channels(0.000001) %15 p0.2 p0.3 : [1, 4, 5, 7]
            %21 = conv2d(padding [1, 1]) %18 p0.4:f16 p0.5 : [1, 12, 5, 7]
            %22 = slice(dim 1, 6 from 0) %21 : [1, 6, 5, 7]
            %23 = mish %22 : [1, 6, 5, 7]
            %24 = slice(dim 1, 4 from 8) %21 : [1, 4, 5, 7]
            %27 = conv2d(padding [3, 3], groups 4) %24 p0.6:f16 p0.7 : [1, 4, 5, 7]
            %28 = slice(dim 1, 2 from 6) %21 : [1, 2, 5, 7]
            %29 = concat(dim 1) %28 %27 : [1, 6, 5, 7]
            %30 = mul %23 %29 : [1, 6, 5, 7]
            %33 = conv2d(padding [1, 1]) %30 p0.8:f16 p0.9 : [1, 4, 5, 7]
            %34 = mish %33 : [1, 4, 5, 7]
            %35 = shift(-0.5) %15 : [1, 4, 5, 7]
            %36 = add %34 %35 : [1, 4, 5, 7] | cut blocks.0
            %39 = conv2d(padding [1, 1]) %36 p0.10:f16 p0.11 : [1, 8, 5, 7]
            %40 = mish %39 : [1, 8, 5, 7]
            %43 = conv2d(padding [1, 1]) %40 p0.12:f16 p0.13 : [1, 4, 5, 7]
            %44 = mish %43 : [1, 4, 5, 7]
            %47 = conv2d(padding [0, 0]) %44 p0.14:f16 p0.15 : [1, 4, 5, 7]
            %48 = shift(-0.5) %12 : [1, 4, 5, 7]
            %49 = add %47 %48 : [1, 4, 5, 7] | cut tail
            %52 = conv2d(padding [1, 1]) %49 p0.22:f16 p0.23 : [1, 96, 5, 7]
            %53 = slice(dim 1, 12 from 0) %52 : [1, 12, 5, 7]
            %54 = slice(dim 1, 12 from 12) %52 : [1, 12, 5, 7]
            %55 = add %53 %54 : [1, 12, 5, 7]
            %56 = slice(dim 1, 12 from 24) %52 : [1, 12, 5, 7]
            %57 = add %55 %56 : [1, 12, 5, 7]
            %58 = slice(dim 1, 12 from 36) %52 : [1, 12, 5, 7]
            %59 = add %57 %58 : [1, 12, 5, 7]
            %60 = slice(dim 1, 12 from 48) %52 : [1, 12, 5, 7]
            %61 = add %59 %60 : [1, 12, 5, 7]
            %62 = slice(dim 1, 12 from 60) %52 : [1, 12, 5, 7]
            %63 = add %61 %62 : [1, 12, 5, 7]
            %64 = slice(dim 1, 12 from 72) %52 : [1, 12, 5, 7]
            %65 = add %63 %64 : [1, 12, 5, 7]
            %66 = slice(dim 1, 12 from 84) %52 : [1, 12, 5, 7]
            %67 = add %65 %66 : [1, 12, 5, 7]
            %68 = scale(0.125) %67 : [1, 12, 5, 7]
            %69 = pixel_shuffle(2) %68 : [1, 3, 10, 14]
            output 'y' = %69
        "#]],
    );
}

#[test]
fn inputs_that_do_not_fit_are_refused() {
    let net = RrdbnetConfig { unshuffle: 2, ..TINY };
    let source = source(&rrdbnet(&net, Spelling::BasicSr));
    let mut residency = Residency::new();
    let declaration = residency.declare(source.catalogue(), None);
    let net = UpscalerConfig::Rrdbnet(net).build(&declaration.root());
    let message = |shape: &[u64]| net.graph(Shape::new(shape).unwrap()).unwrap_err().to_string();
    assert!(message(&[1, 3, 5, 4]).contains("height and width must be multiples of 2"));
    assert!(message(&[1, 4, 4, 4]).contains("conv2d"));
    assert!(message(&[3, 4, 4]).contains("needs four dimensions, not 3"));
    assert!(message(&[1, 3, u64::MAX / 8, 4]).contains("too many elements"));
}
