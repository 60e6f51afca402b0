//! Runs bindgen over ggml's headers and our shim's, for what the table below names.

use std::fs;

use anyhow::{Context as _, bail};
use bindgen::{EnumVariation, Formatter, RustEdition, RustTarget};

use crate::{process, vendor};

const OUTPUT: &str = "crates/ggml-sys/src/bindings.rs";

/// The headers that the table draws on.
const HEADERS: &[&str] = &["ggml.h", "ggml-backend.h", "ggml-cpu.h", "gguf.h", "shim.h"];

/// The functions that are bound, by subject. Calls that may throw are bound through the shim alone.
const FUNCTIONS: &[&str] = &[
    // Types, rows and quantisation.
    "ggml_type_name ggml_type_size ggml_blck_size ggml_row_size ggml_is_quantized ggml_get_type_traits
     ggml_quantize_chunk ggml_quantize_init ggml_quantize_free ggml_quantize_requires_imatrix
     ggml_validate_row_data ggml_fp16_to_fp32_row ggml_fp32_to_fp16_row ggml_bf16_to_fp32_row ggml_fp32_to_bf16_row",
    // The process: versions, logging, what happens on a failed assertion.
    "ggml_version ggml_log_set ggml_log_get ggml_set_abort_callback ggml_status_to_string ggml_op_name ggml_op_desc
     ggml_time_init",
    // Contexts and tensors.
    "ggml_init ggml_reset ggml_free ggml_used_mem ggml_get_mem_size ggml_tensor_overhead ggml_get_first_tensor
     ggml_get_next_tensor ggml_new_tensor ggml_dup_tensor ggml_view_tensor ggml_set_name ggml_get_name
     ggml_set_input ggml_set_output ggml_nelements ggml_nrows ggml_nbytes ggml_n_dims ggml_is_contiguous
     ggml_is_contiguous_rows ggml_is_contiguous_1 ggml_is_contiguous_2 ggml_is_contiguously_allocated
     ggml_is_contiguous_channels ggml_is_transposed ggml_is_permuted ggml_is_empty ggml_are_same_shape
     ggml_are_same_stride ggml_can_repeat",
    // Operations: arithmetic.
    "ggml_add ggml_add_inplace ggml_add_cast ggml_sub ggml_mul ggml_mul_inplace ggml_div ggml_acc ggml_sqr
     ggml_sqrt ggml_log ggml_sin ggml_cos ggml_abs ggml_sgn ggml_neg ggml_step ggml_exp ggml_floor ggml_ceil
     ggml_round ggml_clamp ggml_scale ggml_scale_inplace ggml_scale_bias ggml_sum ggml_sum_rows ggml_mean
     ggml_argmax ggml_cumsum ggml_repeat ggml_repeat_4d ggml_arange ggml_fill ggml_diag_mask_inf",
    // Operations: activations and normalisation.
    "ggml_relu ggml_leaky_relu ggml_tanh ggml_elu ggml_sigmoid ggml_gelu ggml_gelu_erf ggml_gelu_quick ggml_silu
     ggml_silu_inplace ggml_hardswish ggml_hardsigmoid ggml_softplus ggml_unary ggml_unary_inplace ggml_glu
     ggml_glu_split ggml_geglu_split ggml_swiglu_split ggml_norm ggml_rms_norm ggml_group_norm ggml_l2_norm
     ggml_soft_max ggml_soft_max_inplace ggml_soft_max_ext",
    // Operations: matrix products, convolution, attention.
    "ggml_mul_mat ggml_mul_mat_id ggml_prec_set_acc ggml_prec_set_src ggml_out_prod ggml_im2col ggml_im2col_3d
     ggml_conv_2d_direct ggml_conv_2d_dw_direct ggml_conv_3d_direct ggml_conv_transpose_1d
     ggml_conv_transpose_2d_p0 ggml_pool_1d ggml_pool_2d ggml_flash_attn_ext ggml_rope_ext ggml_rope_multi
     ggml_timestep_embedding ggml_get_rel_pos ggml_win_part ggml_win_unpart",
    // Operations: layout.
    "ggml_dup ggml_cont ggml_cont_4d ggml_cpy ggml_cast ggml_concat ggml_reshape ggml_reshape_1d ggml_reshape_2d
     ggml_reshape_3d ggml_reshape_4d ggml_view_1d ggml_view_2d ggml_view_3d ggml_view_4d ggml_permute
     ggml_transpose ggml_get_rows ggml_set_rows ggml_set ggml_set_inplace ggml_pad_ext ggml_pad_reflect_1d
     ggml_roll ggml_upscale ggml_interpolate ggml_argsort ggml_top_k",
    // Graphs.
    "ggml_new_graph_custom ggml_build_forward_expand ggml_graph_overhead_custom ggml_graph_size ggml_graph_n_nodes
     ggml_graph_node ggml_graph_nodes ggml_graph_clear",
    // Backends, devices and buffers. What may throw is left out: the shim has it.
    "ggml_backend_reg_count ggml_backend_reg_get ggml_backend_reg_name ggml_backend_reg_dev_count
     ggml_backend_reg_dev_get ggml_backend_reg_get_proc_address ggml_backend_register ggml_backend_device_register
     ggml_backend_dev_count ggml_backend_dev_get ggml_backend_dev_name ggml_backend_dev_description
     ggml_backend_dev_type ggml_backend_dev_backend_reg ggml_backend_dev_buffer_type
     ggml_backend_dev_host_buffer_type ggml_backend_dev_supports_op ggml_backend_dev_supports_buft
     ggml_backend_dev_offload_op ggml_backend_guid ggml_backend_name ggml_backend_get_device
     ggml_backend_get_default_buffer_type ggml_backend_buft_name ggml_backend_buft_get_alignment
     ggml_backend_buft_get_max_size ggml_backend_buft_get_alloc_size ggml_backend_buft_is_host
     ggml_backend_buft_get_device ggml_backend_buffer_name ggml_backend_buffer_get_base
     ggml_backend_buffer_get_size ggml_backend_buffer_get_alignment ggml_backend_buffer_get_alloc_size
     ggml_backend_buffer_is_host ggml_backend_buffer_set_usage ggml_backend_buffer_get_usage
     ggml_backend_buffer_get_type ggml_backend_cpu_buffer_type ggml_backend_cpu_buffer_from_ptr",
    // The CPU backend.
    "ggml_backend_cpu_reg ggml_backend_is_cpu ggml_backend_cpu_set_n_threads ggml_backend_cpu_set_threadpool
     ggml_backend_cpu_set_abort_callback ggml_threadpool_params_default ggml_threadpool_new ggml_threadpool_free
     ggml_threadpool_get_n_threads ggml_threadpool_pause ggml_threadpool_resume ggml_get_type_traits_cpu
     ggml_cpu_init ggml_cpu_has_llamafile ggml_cpu_has_avx2 ggml_cpu_has_avx512 ggml_cpu_has_amx_int8",
    // GGUF files.
    "gguf_type_name",
    // Our shim.
    "fresco_.*",
];

/// Types and enumerations that no function of the table mentions.
const TYPES: &[&str] = &[
    "ggml_tensor_flag",
    "ggml_scale_mode",
    "ggml_scale_flag",
    "ggml_sched_priority",
    "gguf_type",
    "ggml_backend_feature",
    "ggml_backend_get_features_t",
];

/// Constants.
const CONSTANTS: &[&str] = &["GGML_MAX_.*", "GGML_MEM_ALIGN", "GGUF_.*", "GGML_ROPE_TYPE_.*"];

pub(crate) fn run(check: bool) -> anyhow::Result<()> {
    let root = process::workspace_root();
    let output = root.join(OUTPUT);
    let generated = generate()?;
    let committed = fs::read_to_string(&output).unwrap_or_default();
    if generated == committed {
        println!("{OUTPUT} is up to date");
        return Ok(());
    }
    if check {
        bail!("{OUTPUT} differs from what ggml's headers give; run `cargo xtask bindings` and commit the result");
    }
    fs::write(&output, generated).with_context(|| format!("cannot write {}", output.display()))?;
    println!("wrote {OUTPUT}");
    Ok(())
}

fn generate() -> anyhow::Result<String> {
    let root = process::workspace_root();
    let include = vendor::registry_source()?.join("include");
    let mut builder = bindgen::builder()
        .clang_arg(format!("-I{}", include.display()))
        .clang_arg(format!("-I{}", root.join("crates/ggml-sys/shim").display()))
        .rust_target(RustTarget::stable(85, 0).map_err(|error| anyhow::anyhow!("{error}"))?)
        .rust_edition(RustEdition::Edition2024)
        .default_enum_style(EnumVariation::Consts)
        .prepend_enum_name(false)
        .use_core()
        .generate_comments(false)
        .layout_tests(true)
        .derive_default(false)
        .raw_line(
            "//! ggml's C interface as `cargo xtask bindings` generates it: what its table of functions names, and the\n\
             //! types and constants that these need.",
        )
        .disable_header_comment()
        .formatter(Formatter::Rustfmt)
        .rustfmt_configuration_file(Some(root.join("rustfmt.toml")));
    let includes: String = HEADERS.iter().map(|header| format!("#include <{header}>\n")).collect();
    builder = builder.header_contents("all.h", &includes);
    for function in FUNCTIONS.iter().flat_map(|group| group.split_whitespace()) {
        builder = builder.allowlist_function(function);
    }
    for ty in TYPES {
        builder = builder.allowlist_type(*ty);
    }
    for constant in CONSTANTS {
        builder = builder.allowlist_var(*constant);
    }
    let bindings =
        builder.generate().context("bindgen cannot read ggml's headers; `cargo xtask doctor` looks for libclang")?;
    Ok(bindings.to_string())
}
