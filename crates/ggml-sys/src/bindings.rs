//! ggml's C interface as `cargo xtask bindings` generates it: what its table of functions names, and the
//! types and constants that these need.

pub const GGML_MAX_DIMS: u32 = 4;
pub const GGML_MAX_PARAMS: u32 = 2048;
pub const GGML_MAX_SRC: u32 = 10;
pub const GGML_MAX_N_THREADS: u32 = 512;
pub const GGML_MAX_OP_PARAMS: u32 = 64;
pub const GGML_MAX_NAME: u32 = 64;
pub const GGML_MEM_ALIGN: u32 = 16;
pub const GGML_ROPE_TYPE_NORMAL: u32 = 0;
pub const GGML_ROPE_TYPE_NEOX: u32 = 2;
pub const GGML_ROPE_TYPE_MROPE: u32 = 8;
pub const GGML_ROPE_TYPE_VISION: u32 = 24;
pub const GGML_ROPE_TYPE_IMROPE: u32 = 40;
pub const GGUF_MAGIC: &[u8; 5] = b"GGUF\0";
pub const GGUF_VERSION: u32 = 3;
pub const GGUF_KEY_GENERAL_ALIGNMENT: &[u8; 18] = b"general.alignment\0";
pub const GGUF_DEFAULT_ALIGNMENT: u32 = 32;
pub type ggml_abort_callback_t =
    ::core::option::Option<unsafe extern "C" fn(error_message: *const ::core::ffi::c_char)>;
unsafe extern "C" {
    pub fn ggml_set_abort_callback(callback: ggml_abort_callback_t) -> ggml_abort_callback_t;
}
pub const GGML_STATUS_ALLOC_FAILED: ggml_status = -2;
pub const GGML_STATUS_FAILED: ggml_status = -1;
pub const GGML_STATUS_SUCCESS: ggml_status = 0;
pub const GGML_STATUS_ABORTED: ggml_status = 1;
pub type ggml_status = ::core::ffi::c_int;
unsafe extern "C" {
    pub fn ggml_status_to_string(status: ggml_status) -> *const ::core::ffi::c_char;
}
pub type ggml_fp16_t = u16;
unsafe extern "C" {
    pub fn ggml_fp16_to_fp32_row(arg1: *const ggml_fp16_t, arg2: *mut f32, arg3: i64);
}
unsafe extern "C" {
    pub fn ggml_fp32_to_fp16_row(arg1: *const f32, arg2: *mut ggml_fp16_t, arg3: i64);
}
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct ggml_bf16_t {
    pub bits: u16,
}
#[allow(clippy::unnecessary_operation, clippy::identity_op)]
const _: () = {
    ["Size of ggml_bf16_t"][::core::mem::size_of::<ggml_bf16_t>() - 2usize];
    ["Alignment of ggml_bf16_t"][::core::mem::align_of::<ggml_bf16_t>() - 2usize];
    ["Offset of field: ggml_bf16_t::bits"][::core::mem::offset_of!(ggml_bf16_t, bits) - 0usize];
};
unsafe extern "C" {
    pub fn ggml_bf16_to_fp32_row(arg1: *const ggml_bf16_t, arg2: *mut f32, arg3: i64);
}
unsafe extern "C" {
    pub fn ggml_fp32_to_bf16_row(arg1: *const f32, arg2: *mut ggml_bf16_t, arg3: i64);
}
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct ggml_context {
    _unused: [u8; 0],
}
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct ggml_cgraph {
    _unused: [u8; 0],
}
pub const GGML_TYPE_F32: ggml_type = 0;
pub const GGML_TYPE_F16: ggml_type = 1;
pub const GGML_TYPE_Q4_0: ggml_type = 2;
pub const GGML_TYPE_Q4_1: ggml_type = 3;
pub const GGML_TYPE_Q5_0: ggml_type = 6;
pub const GGML_TYPE_Q5_1: ggml_type = 7;
pub const GGML_TYPE_Q8_0: ggml_type = 8;
pub const GGML_TYPE_Q8_1: ggml_type = 9;
pub const GGML_TYPE_Q2_K: ggml_type = 10;
pub const GGML_TYPE_Q3_K: ggml_type = 11;
pub const GGML_TYPE_Q4_K: ggml_type = 12;
pub const GGML_TYPE_Q5_K: ggml_type = 13;
pub const GGML_TYPE_Q6_K: ggml_type = 14;
pub const GGML_TYPE_Q8_K: ggml_type = 15;
pub const GGML_TYPE_IQ2_XXS: ggml_type = 16;
pub const GGML_TYPE_IQ2_XS: ggml_type = 17;
pub const GGML_TYPE_IQ3_XXS: ggml_type = 18;
pub const GGML_TYPE_IQ1_S: ggml_type = 19;
pub const GGML_TYPE_IQ4_NL: ggml_type = 20;
pub const GGML_TYPE_IQ3_S: ggml_type = 21;
pub const GGML_TYPE_IQ2_S: ggml_type = 22;
pub const GGML_TYPE_IQ4_XS: ggml_type = 23;
pub const GGML_TYPE_I8: ggml_type = 24;
pub const GGML_TYPE_I16: ggml_type = 25;
pub const GGML_TYPE_I32: ggml_type = 26;
pub const GGML_TYPE_I64: ggml_type = 27;
pub const GGML_TYPE_F64: ggml_type = 28;
pub const GGML_TYPE_IQ1_M: ggml_type = 29;
pub const GGML_TYPE_BF16: ggml_type = 30;
pub const GGML_TYPE_TQ1_0: ggml_type = 34;
pub const GGML_TYPE_TQ2_0: ggml_type = 35;
pub const GGML_TYPE_MXFP4: ggml_type = 39;
pub const GGML_TYPE_NVFP4: ggml_type = 40;
pub const GGML_TYPE_Q1_0: ggml_type = 41;
pub const GGML_TYPE_Q2_0: ggml_type = 42;
pub const GGML_TYPE_COUNT: ggml_type = 43;
pub type ggml_type = ::core::ffi::c_uint;
pub const GGML_PREC_UNDEFINED: ggml_prec = 0;
pub const GGML_PREC_DEFAULT: ggml_prec = 0;
pub const GGML_PREC_F32: ggml_prec = 10;
pub const GGML_PREC_BF16: ggml_prec = 15;
pub const GGML_PREC_F16: ggml_prec = 20;
pub const GGML_PREC_Q8: ggml_prec = 30;
pub const GGML_PREC_Q4: ggml_prec = 40;
pub type ggml_prec = ::core::ffi::c_uint;
pub const GGML_OP_NONE: ggml_op = 0;
pub const GGML_OP_DUP: ggml_op = 1;
pub const GGML_OP_ADD: ggml_op = 2;
pub const GGML_OP_ADD_ID: ggml_op = 3;
pub const GGML_OP_ADD1: ggml_op = 4;
pub const GGML_OP_ACC: ggml_op = 5;
pub const GGML_OP_SUB: ggml_op = 6;
pub const GGML_OP_MUL: ggml_op = 7;
pub const GGML_OP_DIV: ggml_op = 8;
pub const GGML_OP_SQR: ggml_op = 9;
pub const GGML_OP_SQRT: ggml_op = 10;
pub const GGML_OP_LOG: ggml_op = 11;
pub const GGML_OP_SIN: ggml_op = 12;
pub const GGML_OP_COS: ggml_op = 13;
pub const GGML_OP_SUM: ggml_op = 14;
pub const GGML_OP_SUM_ROWS: ggml_op = 15;
pub const GGML_OP_CUMSUM: ggml_op = 16;
pub const GGML_OP_MEAN: ggml_op = 17;
pub const GGML_OP_ARGMAX: ggml_op = 18;
pub const GGML_OP_COUNT_EQUAL: ggml_op = 19;
pub const GGML_OP_REPEAT: ggml_op = 20;
pub const GGML_OP_REPEAT_BACK: ggml_op = 21;
pub const GGML_OP_CONCAT: ggml_op = 22;
pub const GGML_OP_SILU_BACK: ggml_op = 23;
pub const GGML_OP_NORM: ggml_op = 24;
pub const GGML_OP_RMS_NORM: ggml_op = 25;
pub const GGML_OP_RMS_NORM_BACK: ggml_op = 26;
pub const GGML_OP_GROUP_NORM: ggml_op = 27;
pub const GGML_OP_L2_NORM: ggml_op = 28;
pub const GGML_OP_MUL_MAT: ggml_op = 29;
pub const GGML_OP_MUL_MAT_ID: ggml_op = 30;
pub const GGML_OP_OUT_PROD: ggml_op = 31;
pub const GGML_OP_SCALE: ggml_op = 32;
pub const GGML_OP_SET: ggml_op = 33;
pub const GGML_OP_CPY: ggml_op = 34;
pub const GGML_OP_CONT: ggml_op = 35;
pub const GGML_OP_RESHAPE: ggml_op = 36;
pub const GGML_OP_VIEW: ggml_op = 37;
pub const GGML_OP_PERMUTE: ggml_op = 38;
pub const GGML_OP_TRANSPOSE: ggml_op = 39;
pub const GGML_OP_GET_ROWS: ggml_op = 40;
pub const GGML_OP_GET_ROWS_BACK: ggml_op = 41;
pub const GGML_OP_SET_ROWS: ggml_op = 42;
pub const GGML_OP_DIAG: ggml_op = 43;
pub const GGML_OP_DIAG_MASK_INF: ggml_op = 44;
pub const GGML_OP_DIAG_MASK_ZERO: ggml_op = 45;
pub const GGML_OP_SOFT_MAX: ggml_op = 46;
pub const GGML_OP_SOFT_MAX_BACK: ggml_op = 47;
pub const GGML_OP_ROPE: ggml_op = 48;
pub const GGML_OP_ROPE_BACK: ggml_op = 49;
pub const GGML_OP_CLAMP: ggml_op = 50;
pub const GGML_OP_CONV_TRANSPOSE_1D: ggml_op = 51;
pub const GGML_OP_IM2COL: ggml_op = 52;
pub const GGML_OP_IM2COL_BACK: ggml_op = 53;
pub const GGML_OP_IM2COL_3D: ggml_op = 54;
pub const GGML_OP_COL2IM_1D: ggml_op = 55;
pub const GGML_OP_CONV_2D: ggml_op = 56;
pub const GGML_OP_CONV_3D: ggml_op = 57;
pub const GGML_OP_CONV_2D_DW: ggml_op = 58;
pub const GGML_OP_CONV_TRANSPOSE_2D: ggml_op = 59;
pub const GGML_OP_POOL_1D: ggml_op = 60;
pub const GGML_OP_POOL_2D: ggml_op = 61;
pub const GGML_OP_POOL_2D_BACK: ggml_op = 62;
pub const GGML_OP_UPSCALE: ggml_op = 63;
pub const GGML_OP_PAD: ggml_op = 64;
pub const GGML_OP_PAD_REFLECT_1D: ggml_op = 65;
pub const GGML_OP_ROLL: ggml_op = 66;
pub const GGML_OP_ARANGE: ggml_op = 67;
pub const GGML_OP_TIMESTEP_EMBEDDING: ggml_op = 68;
pub const GGML_OP_ARGSORT: ggml_op = 69;
pub const GGML_OP_TOP_K: ggml_op = 70;
pub const GGML_OP_LEAKY_RELU: ggml_op = 71;
pub const GGML_OP_TRI: ggml_op = 72;
pub const GGML_OP_FILL: ggml_op = 73;
pub const GGML_OP_FLASH_ATTN_EXT: ggml_op = 74;
pub const GGML_OP_FLASH_ATTN_BACK: ggml_op = 75;
pub const GGML_OP_SSM_CONV: ggml_op = 76;
pub const GGML_OP_SSM_SCAN: ggml_op = 77;
pub const GGML_OP_WIN_PART: ggml_op = 78;
pub const GGML_OP_WIN_UNPART: ggml_op = 79;
pub const GGML_OP_GET_REL_POS: ggml_op = 80;
pub const GGML_OP_ADD_REL_POS: ggml_op = 81;
pub const GGML_OP_RWKV_WKV6: ggml_op = 82;
pub const GGML_OP_GATED_LINEAR_ATTN: ggml_op = 83;
pub const GGML_OP_RWKV_WKV7: ggml_op = 84;
pub const GGML_OP_SOLVE_TRI: ggml_op = 85;
pub const GGML_OP_GATED_DELTA_NET: ggml_op = 86;
pub const GGML_OP_LIGHTNING_INDEXER: ggml_op = 87;
pub const GGML_OP_DSV4_HC_COMB: ggml_op = 88;
pub const GGML_OP_DSV4_HC_PRE: ggml_op = 89;
pub const GGML_OP_DSV4_HC_POST: ggml_op = 90;
pub const GGML_OP_UNARY: ggml_op = 91;
pub const GGML_OP_MAP_CUSTOM1: ggml_op = 92;
pub const GGML_OP_MAP_CUSTOM2: ggml_op = 93;
pub const GGML_OP_MAP_CUSTOM3: ggml_op = 94;
pub const GGML_OP_CUSTOM: ggml_op = 95;
pub const GGML_OP_CROSS_ENTROPY_LOSS: ggml_op = 96;
pub const GGML_OP_CROSS_ENTROPY_LOSS_BACK: ggml_op = 97;
pub const GGML_OP_OPT_STEP_ADAMW: ggml_op = 98;
pub const GGML_OP_OPT_STEP_SGD: ggml_op = 99;
pub const GGML_OP_GLU: ggml_op = 100;
pub const GGML_OP_COUNT: ggml_op = 101;
pub type ggml_op = ::core::ffi::c_uint;
pub const GGML_UNARY_OP_ABS: ggml_unary_op = 0;
pub const GGML_UNARY_OP_SGN: ggml_unary_op = 1;
pub const GGML_UNARY_OP_NEG: ggml_unary_op = 2;
pub const GGML_UNARY_OP_STEP: ggml_unary_op = 3;
pub const GGML_UNARY_OP_TANH: ggml_unary_op = 4;
pub const GGML_UNARY_OP_ELU: ggml_unary_op = 5;
pub const GGML_UNARY_OP_RELU: ggml_unary_op = 6;
pub const GGML_UNARY_OP_SIGMOID: ggml_unary_op = 7;
pub const GGML_UNARY_OP_GELU: ggml_unary_op = 8;
pub const GGML_UNARY_OP_GELU_QUICK: ggml_unary_op = 9;
pub const GGML_UNARY_OP_SILU: ggml_unary_op = 10;
pub const GGML_UNARY_OP_HARDSWISH: ggml_unary_op = 11;
pub const GGML_UNARY_OP_HARDSIGMOID: ggml_unary_op = 12;
pub const GGML_UNARY_OP_EXP: ggml_unary_op = 13;
pub const GGML_UNARY_OP_EXPM1: ggml_unary_op = 14;
pub const GGML_UNARY_OP_SOFTPLUS: ggml_unary_op = 15;
pub const GGML_UNARY_OP_GELU_ERF: ggml_unary_op = 16;
pub const GGML_UNARY_OP_XIELU: ggml_unary_op = 17;
pub const GGML_UNARY_OP_FLOOR: ggml_unary_op = 18;
pub const GGML_UNARY_OP_CEIL: ggml_unary_op = 19;
pub const GGML_UNARY_OP_ROUND: ggml_unary_op = 20;
pub const GGML_UNARY_OP_TRUNC: ggml_unary_op = 21;
pub const GGML_UNARY_OP_COUNT: ggml_unary_op = 22;
pub type ggml_unary_op = ::core::ffi::c_uint;
pub const GGML_GLU_OP_REGLU: ggml_glu_op = 0;
pub const GGML_GLU_OP_GEGLU: ggml_glu_op = 1;
pub const GGML_GLU_OP_SWIGLU: ggml_glu_op = 2;
pub const GGML_GLU_OP_SWIGLU_OAI: ggml_glu_op = 3;
pub const GGML_GLU_OP_GEGLU_ERF: ggml_glu_op = 4;
pub const GGML_GLU_OP_GEGLU_QUICK: ggml_glu_op = 5;
pub const GGML_GLU_OP_SWIGLU_CLAMP: ggml_glu_op = 6;
pub const GGML_GLU_OP_COUNT: ggml_glu_op = 7;
pub type ggml_glu_op = ::core::ffi::c_uint;
pub const GGML_LOG_LEVEL_NONE: ggml_log_level = 0;
pub const GGML_LOG_LEVEL_DEBUG: ggml_log_level = 1;
pub const GGML_LOG_LEVEL_INFO: ggml_log_level = 2;
pub const GGML_LOG_LEVEL_WARN: ggml_log_level = 3;
pub const GGML_LOG_LEVEL_ERROR: ggml_log_level = 4;
pub const GGML_LOG_LEVEL_CONT: ggml_log_level = 5;
pub type ggml_log_level = ::core::ffi::c_uint;
pub const GGML_TENSOR_FLAG_INPUT: ggml_tensor_flag = 1;
pub const GGML_TENSOR_FLAG_OUTPUT: ggml_tensor_flag = 2;
pub const GGML_TENSOR_FLAG_PARAM: ggml_tensor_flag = 4;
pub const GGML_TENSOR_FLAG_LOSS: ggml_tensor_flag = 8;
pub const GGML_TENSOR_FLAG_COMPUTE: ggml_tensor_flag = 16;
pub type ggml_tensor_flag = ::core::ffi::c_uint;
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct ggml_init_params {
    pub mem_size: usize,
    pub mem_buffer: *mut ::core::ffi::c_void,
    pub no_alloc: bool,
}
#[allow(clippy::unnecessary_operation, clippy::identity_op)]
const _: () = {
    ["Size of ggml_init_params"][::core::mem::size_of::<ggml_init_params>() - 24usize];
    ["Alignment of ggml_init_params"][::core::mem::align_of::<ggml_init_params>() - 8usize];
    ["Offset of field: ggml_init_params::mem_size"][::core::mem::offset_of!(ggml_init_params, mem_size) - 0usize];
    ["Offset of field: ggml_init_params::mem_buffer"][::core::mem::offset_of!(ggml_init_params, mem_buffer) - 8usize];
    ["Offset of field: ggml_init_params::no_alloc"][::core::mem::offset_of!(ggml_init_params, no_alloc) - 16usize];
};
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct ggml_tensor {
    pub type_: ggml_type,
    pub buffer: *mut ggml_backend_buffer,
    pub ne: [i64; 4usize],
    pub nb: [usize; 4usize],
    pub op: ggml_op,
    pub op_params: [i32; 16usize],
    pub flags: i32,
    pub src: [*mut ggml_tensor; 10usize],
    pub view_src: *mut ggml_tensor,
    pub view_offs: usize,
    pub data: *mut ::core::ffi::c_void,
    pub name: [::core::ffi::c_char; 64usize],
    pub extra: *mut ::core::ffi::c_void,
    pub padding: [::core::ffi::c_char; 8usize],
}
#[allow(clippy::unnecessary_operation, clippy::identity_op)]
const _: () = {
    ["Size of ggml_tensor"][::core::mem::size_of::<ggml_tensor>() - 336usize];
    ["Alignment of ggml_tensor"][::core::mem::align_of::<ggml_tensor>() - 8usize];
    ["Offset of field: ggml_tensor::type_"][::core::mem::offset_of!(ggml_tensor, type_) - 0usize];
    ["Offset of field: ggml_tensor::buffer"][::core::mem::offset_of!(ggml_tensor, buffer) - 8usize];
    ["Offset of field: ggml_tensor::ne"][::core::mem::offset_of!(ggml_tensor, ne) - 16usize];
    ["Offset of field: ggml_tensor::nb"][::core::mem::offset_of!(ggml_tensor, nb) - 48usize];
    ["Offset of field: ggml_tensor::op"][::core::mem::offset_of!(ggml_tensor, op) - 80usize];
    ["Offset of field: ggml_tensor::op_params"][::core::mem::offset_of!(ggml_tensor, op_params) - 84usize];
    ["Offset of field: ggml_tensor::flags"][::core::mem::offset_of!(ggml_tensor, flags) - 148usize];
    ["Offset of field: ggml_tensor::src"][::core::mem::offset_of!(ggml_tensor, src) - 152usize];
    ["Offset of field: ggml_tensor::view_src"][::core::mem::offset_of!(ggml_tensor, view_src) - 232usize];
    ["Offset of field: ggml_tensor::view_offs"][::core::mem::offset_of!(ggml_tensor, view_offs) - 240usize];
    ["Offset of field: ggml_tensor::data"][::core::mem::offset_of!(ggml_tensor, data) - 248usize];
    ["Offset of field: ggml_tensor::name"][::core::mem::offset_of!(ggml_tensor, name) - 256usize];
    ["Offset of field: ggml_tensor::extra"][::core::mem::offset_of!(ggml_tensor, extra) - 320usize];
    ["Offset of field: ggml_tensor::padding"][::core::mem::offset_of!(ggml_tensor, padding) - 328usize];
};
pub type ggml_abort_callback = ::core::option::Option<unsafe extern "C" fn(data: *mut ::core::ffi::c_void) -> bool>;
pub type ggml_guid = [u8; 16usize];
pub type ggml_guid_t = *mut ggml_guid;
unsafe extern "C" {
    pub fn ggml_version() -> *const ::core::ffi::c_char;
}
unsafe extern "C" {
    pub fn ggml_time_init();
}
unsafe extern "C" {
    pub fn ggml_nelements(tensor: *const ggml_tensor) -> i64;
}
unsafe extern "C" {
    pub fn ggml_nrows(tensor: *const ggml_tensor) -> i64;
}
unsafe extern "C" {
    pub fn ggml_nbytes(tensor: *const ggml_tensor) -> usize;
}
unsafe extern "C" {
    pub fn ggml_blck_size(type_: ggml_type) -> i64;
}
unsafe extern "C" {
    pub fn ggml_type_size(type_: ggml_type) -> usize;
}
unsafe extern "C" {
    pub fn ggml_row_size(type_: ggml_type, ne: i64) -> usize;
}
unsafe extern "C" {
    pub fn ggml_type_name(type_: ggml_type) -> *const ::core::ffi::c_char;
}
unsafe extern "C" {
    pub fn ggml_op_name(op: ggml_op) -> *const ::core::ffi::c_char;
}
unsafe extern "C" {
    pub fn ggml_op_desc(t: *const ggml_tensor) -> *const ::core::ffi::c_char;
}
unsafe extern "C" {
    pub fn ggml_is_quantized(type_: ggml_type) -> bool;
}
unsafe extern "C" {
    pub fn ggml_is_transposed(tensor: *const ggml_tensor) -> bool;
}
unsafe extern "C" {
    pub fn ggml_is_permuted(tensor: *const ggml_tensor) -> bool;
}
unsafe extern "C" {
    pub fn ggml_is_empty(tensor: *const ggml_tensor) -> bool;
}
unsafe extern "C" {
    pub fn ggml_n_dims(tensor: *const ggml_tensor) -> ::core::ffi::c_int;
}
unsafe extern "C" {
    pub fn ggml_is_contiguous(tensor: *const ggml_tensor) -> bool;
}
unsafe extern "C" {
    pub fn ggml_is_contiguous_1(tensor: *const ggml_tensor) -> bool;
}
unsafe extern "C" {
    pub fn ggml_is_contiguous_2(tensor: *const ggml_tensor) -> bool;
}
unsafe extern "C" {
    pub fn ggml_is_contiguously_allocated(tensor: *const ggml_tensor) -> bool;
}
unsafe extern "C" {
    pub fn ggml_is_contiguous_channels(tensor: *const ggml_tensor) -> bool;
}
unsafe extern "C" {
    pub fn ggml_is_contiguous_rows(tensor: *const ggml_tensor) -> bool;
}
unsafe extern "C" {
    pub fn ggml_are_same_shape(t0: *const ggml_tensor, t1: *const ggml_tensor) -> bool;
}
unsafe extern "C" {
    pub fn ggml_are_same_stride(t0: *const ggml_tensor, t1: *const ggml_tensor) -> bool;
}
unsafe extern "C" {
    pub fn ggml_can_repeat(t0: *const ggml_tensor, t1: *const ggml_tensor) -> bool;
}
unsafe extern "C" {
    pub fn ggml_tensor_overhead() -> usize;
}
unsafe extern "C" {
    pub fn ggml_validate_row_data(type_: ggml_type, data: *const ::core::ffi::c_void, nbytes: usize) -> bool;
}
unsafe extern "C" {
    pub fn ggml_init(params: ggml_init_params) -> *mut ggml_context;
}
unsafe extern "C" {
    pub fn ggml_reset(ctx: *mut ggml_context);
}
unsafe extern "C" {
    pub fn ggml_free(ctx: *mut ggml_context);
}
unsafe extern "C" {
    pub fn ggml_used_mem(ctx: *const ggml_context) -> usize;
}
unsafe extern "C" {
    pub fn ggml_get_mem_size(ctx: *const ggml_context) -> usize;
}
unsafe extern "C" {
    pub fn ggml_new_tensor(
        ctx: *mut ggml_context,
        type_: ggml_type,
        n_dims: ::core::ffi::c_int,
        ne: *const i64,
    ) -> *mut ggml_tensor;
}
unsafe extern "C" {
    pub fn ggml_dup_tensor(ctx: *mut ggml_context, src: *const ggml_tensor) -> *mut ggml_tensor;
}
unsafe extern "C" {
    pub fn ggml_view_tensor(ctx: *mut ggml_context, src: *mut ggml_tensor) -> *mut ggml_tensor;
}
unsafe extern "C" {
    pub fn ggml_get_first_tensor(ctx: *const ggml_context) -> *mut ggml_tensor;
}
unsafe extern "C" {
    pub fn ggml_get_next_tensor(ctx: *const ggml_context, tensor: *mut ggml_tensor) -> *mut ggml_tensor;
}
unsafe extern "C" {
    pub fn ggml_get_name(tensor: *const ggml_tensor) -> *const ::core::ffi::c_char;
}
unsafe extern "C" {
    pub fn ggml_set_name(tensor: *mut ggml_tensor, name: *const ::core::ffi::c_char) -> *mut ggml_tensor;
}
unsafe extern "C" {
    pub fn ggml_set_input(tensor: *mut ggml_tensor);
}
unsafe extern "C" {
    pub fn ggml_set_output(tensor: *mut ggml_tensor);
}
unsafe extern "C" {
    pub fn ggml_dup(ctx: *mut ggml_context, a: *mut ggml_tensor) -> *mut ggml_tensor;
}
unsafe extern "C" {
    pub fn ggml_add(ctx: *mut ggml_context, a: *mut ggml_tensor, b: *mut ggml_tensor) -> *mut ggml_tensor;
}
unsafe extern "C" {
    pub fn ggml_add_inplace(ctx: *mut ggml_context, a: *mut ggml_tensor, b: *mut ggml_tensor) -> *mut ggml_tensor;
}
unsafe extern "C" {
    pub fn ggml_add_cast(
        ctx: *mut ggml_context,
        a: *mut ggml_tensor,
        b: *mut ggml_tensor,
        type_: ggml_type,
    ) -> *mut ggml_tensor;
}
unsafe extern "C" {
    pub fn ggml_acc(
        ctx: *mut ggml_context,
        a: *mut ggml_tensor,
        b: *mut ggml_tensor,
        nb1: usize,
        nb2: usize,
        nb3: usize,
        offset: usize,
    ) -> *mut ggml_tensor;
}
unsafe extern "C" {
    pub fn ggml_sub(ctx: *mut ggml_context, a: *mut ggml_tensor, b: *mut ggml_tensor) -> *mut ggml_tensor;
}
unsafe extern "C" {
    pub fn ggml_mul(ctx: *mut ggml_context, a: *mut ggml_tensor, b: *mut ggml_tensor) -> *mut ggml_tensor;
}
unsafe extern "C" {
    pub fn ggml_mul_inplace(ctx: *mut ggml_context, a: *mut ggml_tensor, b: *mut ggml_tensor) -> *mut ggml_tensor;
}
unsafe extern "C" {
    pub fn ggml_div(ctx: *mut ggml_context, a: *mut ggml_tensor, b: *mut ggml_tensor) -> *mut ggml_tensor;
}
unsafe extern "C" {
    pub fn ggml_sqr(ctx: *mut ggml_context, a: *mut ggml_tensor) -> *mut ggml_tensor;
}
unsafe extern "C" {
    pub fn ggml_sqrt(ctx: *mut ggml_context, a: *mut ggml_tensor) -> *mut ggml_tensor;
}
unsafe extern "C" {
    pub fn ggml_log(ctx: *mut ggml_context, a: *mut ggml_tensor) -> *mut ggml_tensor;
}
unsafe extern "C" {
    pub fn ggml_softplus(ctx: *mut ggml_context, a: *mut ggml_tensor) -> *mut ggml_tensor;
}
unsafe extern "C" {
    pub fn ggml_sin(ctx: *mut ggml_context, a: *mut ggml_tensor) -> *mut ggml_tensor;
}
unsafe extern "C" {
    pub fn ggml_cos(ctx: *mut ggml_context, a: *mut ggml_tensor) -> *mut ggml_tensor;
}
unsafe extern "C" {
    pub fn ggml_sum(ctx: *mut ggml_context, a: *mut ggml_tensor) -> *mut ggml_tensor;
}
unsafe extern "C" {
    pub fn ggml_sum_rows(ctx: *mut ggml_context, a: *mut ggml_tensor) -> *mut ggml_tensor;
}
unsafe extern "C" {
    pub fn ggml_cumsum(ctx: *mut ggml_context, a: *mut ggml_tensor) -> *mut ggml_tensor;
}
unsafe extern "C" {
    pub fn ggml_mean(ctx: *mut ggml_context, a: *mut ggml_tensor) -> *mut ggml_tensor;
}
unsafe extern "C" {
    pub fn ggml_argmax(ctx: *mut ggml_context, a: *mut ggml_tensor) -> *mut ggml_tensor;
}
unsafe extern "C" {
    pub fn ggml_repeat(ctx: *mut ggml_context, a: *mut ggml_tensor, b: *mut ggml_tensor) -> *mut ggml_tensor;
}
unsafe extern "C" {
    pub fn ggml_repeat_4d(
        ctx: *mut ggml_context,
        a: *mut ggml_tensor,
        ne0: i64,
        ne1: i64,
        ne2: i64,
        ne3: i64,
    ) -> *mut ggml_tensor;
}
unsafe extern "C" {
    pub fn ggml_concat(
        ctx: *mut ggml_context,
        a: *mut ggml_tensor,
        b: *mut ggml_tensor,
        dim: ::core::ffi::c_int,
    ) -> *mut ggml_tensor;
}
unsafe extern "C" {
    pub fn ggml_abs(ctx: *mut ggml_context, a: *mut ggml_tensor) -> *mut ggml_tensor;
}
unsafe extern "C" {
    pub fn ggml_sgn(ctx: *mut ggml_context, a: *mut ggml_tensor) -> *mut ggml_tensor;
}
unsafe extern "C" {
    pub fn ggml_neg(ctx: *mut ggml_context, a: *mut ggml_tensor) -> *mut ggml_tensor;
}
unsafe extern "C" {
    pub fn ggml_step(ctx: *mut ggml_context, a: *mut ggml_tensor) -> *mut ggml_tensor;
}
unsafe extern "C" {
    pub fn ggml_tanh(ctx: *mut ggml_context, a: *mut ggml_tensor) -> *mut ggml_tensor;
}
unsafe extern "C" {
    pub fn ggml_elu(ctx: *mut ggml_context, a: *mut ggml_tensor) -> *mut ggml_tensor;
}
unsafe extern "C" {
    pub fn ggml_relu(ctx: *mut ggml_context, a: *mut ggml_tensor) -> *mut ggml_tensor;
}
unsafe extern "C" {
    pub fn ggml_leaky_relu(
        ctx: *mut ggml_context,
        a: *mut ggml_tensor,
        negative_slope: f32,
        inplace: bool,
    ) -> *mut ggml_tensor;
}
unsafe extern "C" {
    pub fn ggml_sigmoid(ctx: *mut ggml_context, a: *mut ggml_tensor) -> *mut ggml_tensor;
}
unsafe extern "C" {
    pub fn ggml_gelu(ctx: *mut ggml_context, a: *mut ggml_tensor) -> *mut ggml_tensor;
}
unsafe extern "C" {
    pub fn ggml_gelu_erf(ctx: *mut ggml_context, a: *mut ggml_tensor) -> *mut ggml_tensor;
}
unsafe extern "C" {
    pub fn ggml_gelu_quick(ctx: *mut ggml_context, a: *mut ggml_tensor) -> *mut ggml_tensor;
}
unsafe extern "C" {
    pub fn ggml_silu(ctx: *mut ggml_context, a: *mut ggml_tensor) -> *mut ggml_tensor;
}
unsafe extern "C" {
    pub fn ggml_silu_inplace(ctx: *mut ggml_context, a: *mut ggml_tensor) -> *mut ggml_tensor;
}
unsafe extern "C" {
    pub fn ggml_hardswish(ctx: *mut ggml_context, a: *mut ggml_tensor) -> *mut ggml_tensor;
}
unsafe extern "C" {
    pub fn ggml_hardsigmoid(ctx: *mut ggml_context, a: *mut ggml_tensor) -> *mut ggml_tensor;
}
unsafe extern "C" {
    pub fn ggml_exp(ctx: *mut ggml_context, a: *mut ggml_tensor) -> *mut ggml_tensor;
}
unsafe extern "C" {
    pub fn ggml_floor(ctx: *mut ggml_context, a: *mut ggml_tensor) -> *mut ggml_tensor;
}
unsafe extern "C" {
    pub fn ggml_ceil(ctx: *mut ggml_context, a: *mut ggml_tensor) -> *mut ggml_tensor;
}
unsafe extern "C" {
    pub fn ggml_round(ctx: *mut ggml_context, a: *mut ggml_tensor) -> *mut ggml_tensor;
}
unsafe extern "C" {
    pub fn ggml_glu(ctx: *mut ggml_context, a: *mut ggml_tensor, op: ggml_glu_op, swapped: bool) -> *mut ggml_tensor;
}
unsafe extern "C" {
    pub fn ggml_glu_split(
        ctx: *mut ggml_context,
        a: *mut ggml_tensor,
        b: *mut ggml_tensor,
        op: ggml_glu_op,
    ) -> *mut ggml_tensor;
}
unsafe extern "C" {
    pub fn ggml_geglu_split(ctx: *mut ggml_context, a: *mut ggml_tensor, b: *mut ggml_tensor) -> *mut ggml_tensor;
}
unsafe extern "C" {
    pub fn ggml_swiglu_split(ctx: *mut ggml_context, a: *mut ggml_tensor, b: *mut ggml_tensor) -> *mut ggml_tensor;
}
unsafe extern "C" {
    pub fn ggml_norm(ctx: *mut ggml_context, a: *mut ggml_tensor, eps: f32) -> *mut ggml_tensor;
}
unsafe extern "C" {
    pub fn ggml_rms_norm(ctx: *mut ggml_context, a: *mut ggml_tensor, eps: f32) -> *mut ggml_tensor;
}
unsafe extern "C" {
    pub fn ggml_group_norm(
        ctx: *mut ggml_context,
        a: *mut ggml_tensor,
        n_groups: ::core::ffi::c_int,
        eps: f32,
    ) -> *mut ggml_tensor;
}
unsafe extern "C" {
    pub fn ggml_l2_norm(ctx: *mut ggml_context, a: *mut ggml_tensor, eps: f32) -> *mut ggml_tensor;
}
unsafe extern "C" {
    pub fn ggml_prec_set_acc(a: *mut ggml_tensor, prec: ggml_prec) -> bool;
}
unsafe extern "C" {
    pub fn ggml_prec_set_src(a: *mut ggml_tensor, prec: ggml_prec, idx: ::core::ffi::c_int) -> bool;
}
unsafe extern "C" {
    pub fn ggml_mul_mat(ctx: *mut ggml_context, a: *mut ggml_tensor, b: *mut ggml_tensor) -> *mut ggml_tensor;
}
unsafe extern "C" {
    pub fn ggml_mul_mat_id(
        ctx: *mut ggml_context,
        as_: *mut ggml_tensor,
        b: *mut ggml_tensor,
        ids: *mut ggml_tensor,
    ) -> *mut ggml_tensor;
}
unsafe extern "C" {
    pub fn ggml_out_prod(ctx: *mut ggml_context, a: *mut ggml_tensor, b: *mut ggml_tensor) -> *mut ggml_tensor;
}
unsafe extern "C" {
    pub fn ggml_scale(ctx: *mut ggml_context, a: *mut ggml_tensor, s: f32) -> *mut ggml_tensor;
}
unsafe extern "C" {
    pub fn ggml_scale_inplace(ctx: *mut ggml_context, a: *mut ggml_tensor, s: f32) -> *mut ggml_tensor;
}
unsafe extern "C" {
    pub fn ggml_scale_bias(ctx: *mut ggml_context, a: *mut ggml_tensor, s: f32, b: f32) -> *mut ggml_tensor;
}
unsafe extern "C" {
    pub fn ggml_set(
        ctx: *mut ggml_context,
        a: *mut ggml_tensor,
        b: *mut ggml_tensor,
        nb1: usize,
        nb2: usize,
        nb3: usize,
        offset: usize,
    ) -> *mut ggml_tensor;
}
unsafe extern "C" {
    pub fn ggml_set_inplace(
        ctx: *mut ggml_context,
        a: *mut ggml_tensor,
        b: *mut ggml_tensor,
        nb1: usize,
        nb2: usize,
        nb3: usize,
        offset: usize,
    ) -> *mut ggml_tensor;
}
unsafe extern "C" {
    pub fn ggml_cpy(ctx: *mut ggml_context, a: *mut ggml_tensor, b: *mut ggml_tensor) -> *mut ggml_tensor;
}
unsafe extern "C" {
    pub fn ggml_cast(ctx: *mut ggml_context, a: *mut ggml_tensor, type_: ggml_type) -> *mut ggml_tensor;
}
unsafe extern "C" {
    pub fn ggml_cont(ctx: *mut ggml_context, a: *mut ggml_tensor) -> *mut ggml_tensor;
}
unsafe extern "C" {
    pub fn ggml_cont_4d(
        ctx: *mut ggml_context,
        a: *mut ggml_tensor,
        ne0: i64,
        ne1: i64,
        ne2: i64,
        ne3: i64,
    ) -> *mut ggml_tensor;
}
unsafe extern "C" {
    pub fn ggml_reshape(ctx: *mut ggml_context, a: *mut ggml_tensor, b: *mut ggml_tensor) -> *mut ggml_tensor;
}
unsafe extern "C" {
    pub fn ggml_reshape_1d(ctx: *mut ggml_context, a: *mut ggml_tensor, ne0: i64) -> *mut ggml_tensor;
}
unsafe extern "C" {
    pub fn ggml_reshape_2d(ctx: *mut ggml_context, a: *mut ggml_tensor, ne0: i64, ne1: i64) -> *mut ggml_tensor;
}
unsafe extern "C" {
    pub fn ggml_reshape_3d(
        ctx: *mut ggml_context,
        a: *mut ggml_tensor,
        ne0: i64,
        ne1: i64,
        ne2: i64,
    ) -> *mut ggml_tensor;
}
unsafe extern "C" {
    pub fn ggml_reshape_4d(
        ctx: *mut ggml_context,
        a: *mut ggml_tensor,
        ne0: i64,
        ne1: i64,
        ne2: i64,
        ne3: i64,
    ) -> *mut ggml_tensor;
}
unsafe extern "C" {
    pub fn ggml_view_1d(ctx: *mut ggml_context, a: *mut ggml_tensor, ne0: i64, offset: usize) -> *mut ggml_tensor;
}
unsafe extern "C" {
    pub fn ggml_view_2d(
        ctx: *mut ggml_context,
        a: *mut ggml_tensor,
        ne0: i64,
        ne1: i64,
        nb1: usize,
        offset: usize,
    ) -> *mut ggml_tensor;
}
unsafe extern "C" {
    pub fn ggml_view_3d(
        ctx: *mut ggml_context,
        a: *mut ggml_tensor,
        ne0: i64,
        ne1: i64,
        ne2: i64,
        nb1: usize,
        nb2: usize,
        offset: usize,
    ) -> *mut ggml_tensor;
}
unsafe extern "C" {
    pub fn ggml_view_4d(
        ctx: *mut ggml_context,
        a: *mut ggml_tensor,
        ne0: i64,
        ne1: i64,
        ne2: i64,
        ne3: i64,
        nb1: usize,
        nb2: usize,
        nb3: usize,
        offset: usize,
    ) -> *mut ggml_tensor;
}
unsafe extern "C" {
    pub fn ggml_permute(
        ctx: *mut ggml_context,
        a: *mut ggml_tensor,
        axis0: ::core::ffi::c_int,
        axis1: ::core::ffi::c_int,
        axis2: ::core::ffi::c_int,
        axis3: ::core::ffi::c_int,
    ) -> *mut ggml_tensor;
}
unsafe extern "C" {
    pub fn ggml_transpose(ctx: *mut ggml_context, a: *mut ggml_tensor) -> *mut ggml_tensor;
}
unsafe extern "C" {
    pub fn ggml_get_rows(ctx: *mut ggml_context, a: *mut ggml_tensor, b: *mut ggml_tensor) -> *mut ggml_tensor;
}
unsafe extern "C" {
    pub fn ggml_set_rows(
        ctx: *mut ggml_context,
        a: *mut ggml_tensor,
        b: *mut ggml_tensor,
        c: *mut ggml_tensor,
    ) -> *mut ggml_tensor;
}
unsafe extern "C" {
    pub fn ggml_diag_mask_inf(
        ctx: *mut ggml_context,
        a: *mut ggml_tensor,
        n_past: ::core::ffi::c_int,
    ) -> *mut ggml_tensor;
}
unsafe extern "C" {
    pub fn ggml_clamp(ctx: *mut ggml_context, a: *mut ggml_tensor, min: f32, max: f32) -> *mut ggml_tensor;
}
unsafe extern "C" {
    pub fn ggml_soft_max(ctx: *mut ggml_context, a: *mut ggml_tensor) -> *mut ggml_tensor;
}
unsafe extern "C" {
    pub fn ggml_soft_max_inplace(ctx: *mut ggml_context, a: *mut ggml_tensor) -> *mut ggml_tensor;
}
unsafe extern "C" {
    pub fn ggml_soft_max_ext(
        ctx: *mut ggml_context,
        a: *mut ggml_tensor,
        mask: *mut ggml_tensor,
        scale: f32,
        max_bias: f32,
    ) -> *mut ggml_tensor;
}
unsafe extern "C" {
    pub fn ggml_rope_ext(
        ctx: *mut ggml_context,
        a: *mut ggml_tensor,
        b: *mut ggml_tensor,
        c: *mut ggml_tensor,
        n_dims: ::core::ffi::c_int,
        mode: ::core::ffi::c_int,
        n_ctx_orig: ::core::ffi::c_int,
        freq_base: f32,
        freq_scale: f32,
        ext_factor: f32,
        attn_factor: f32,
        beta_fast: f32,
        beta_slow: f32,
    ) -> *mut ggml_tensor;
}
unsafe extern "C" {
    pub fn ggml_rope_multi(
        ctx: *mut ggml_context,
        a: *mut ggml_tensor,
        b: *mut ggml_tensor,
        c: *mut ggml_tensor,
        n_dims: ::core::ffi::c_int,
        sections: *mut ::core::ffi::c_int,
        mode: ::core::ffi::c_int,
        n_ctx_orig: ::core::ffi::c_int,
        freq_base: f32,
        freq_scale: f32,
        ext_factor: f32,
        attn_factor: f32,
        beta_fast: f32,
        beta_slow: f32,
    ) -> *mut ggml_tensor;
}
unsafe extern "C" {
    pub fn ggml_im2col(
        ctx: *mut ggml_context,
        a: *mut ggml_tensor,
        b: *mut ggml_tensor,
        s0: ::core::ffi::c_int,
        s1: ::core::ffi::c_int,
        p0: ::core::ffi::c_int,
        p1: ::core::ffi::c_int,
        d0: ::core::ffi::c_int,
        d1: ::core::ffi::c_int,
        is_2D: bool,
        dst_type: ggml_type,
    ) -> *mut ggml_tensor;
}
unsafe extern "C" {
    pub fn ggml_conv_transpose_1d(
        ctx: *mut ggml_context,
        a: *mut ggml_tensor,
        b: *mut ggml_tensor,
        s0: ::core::ffi::c_int,
        p0: ::core::ffi::c_int,
        d0: ::core::ffi::c_int,
    ) -> *mut ggml_tensor;
}
unsafe extern "C" {
    pub fn ggml_im2col_3d(
        ctx: *mut ggml_context,
        a: *mut ggml_tensor,
        b: *mut ggml_tensor,
        IC: i64,
        s0: ::core::ffi::c_int,
        s1: ::core::ffi::c_int,
        s2: ::core::ffi::c_int,
        p0: ::core::ffi::c_int,
        p1: ::core::ffi::c_int,
        p2: ::core::ffi::c_int,
        d0: ::core::ffi::c_int,
        d1: ::core::ffi::c_int,
        d2: ::core::ffi::c_int,
        dst_type: ggml_type,
    ) -> *mut ggml_tensor;
}
unsafe extern "C" {
    pub fn ggml_conv_2d_dw_direct(
        ctx: *mut ggml_context,
        a: *mut ggml_tensor,
        b: *mut ggml_tensor,
        stride0: ::core::ffi::c_int,
        stride1: ::core::ffi::c_int,
        pad0: ::core::ffi::c_int,
        pad1: ::core::ffi::c_int,
        dilation0: ::core::ffi::c_int,
        dilation1: ::core::ffi::c_int,
    ) -> *mut ggml_tensor;
}
unsafe extern "C" {
    pub fn ggml_conv_transpose_2d_p0(
        ctx: *mut ggml_context,
        a: *mut ggml_tensor,
        b: *mut ggml_tensor,
        stride: ::core::ffi::c_int,
    ) -> *mut ggml_tensor;
}
unsafe extern "C" {
    pub fn ggml_conv_2d_direct(
        ctx: *mut ggml_context,
        a: *mut ggml_tensor,
        b: *mut ggml_tensor,
        s0: ::core::ffi::c_int,
        s1: ::core::ffi::c_int,
        p0: ::core::ffi::c_int,
        p1: ::core::ffi::c_int,
        d0: ::core::ffi::c_int,
        d1: ::core::ffi::c_int,
    ) -> *mut ggml_tensor;
}
unsafe extern "C" {
    pub fn ggml_conv_3d_direct(
        ctx: *mut ggml_context,
        a: *mut ggml_tensor,
        b: *mut ggml_tensor,
        s0: ::core::ffi::c_int,
        s1: ::core::ffi::c_int,
        s2: ::core::ffi::c_int,
        p0: ::core::ffi::c_int,
        p1: ::core::ffi::c_int,
        p2: ::core::ffi::c_int,
        d0: ::core::ffi::c_int,
        d1: ::core::ffi::c_int,
        d2: ::core::ffi::c_int,
        n_channels: ::core::ffi::c_int,
        n_batch: ::core::ffi::c_int,
        n_channels_out: ::core::ffi::c_int,
    ) -> *mut ggml_tensor;
}
pub const GGML_OP_POOL_MAX: ggml_op_pool = 0;
pub const GGML_OP_POOL_AVG: ggml_op_pool = 1;
pub const GGML_OP_POOL_COUNT: ggml_op_pool = 2;
pub type ggml_op_pool = ::core::ffi::c_uint;
unsafe extern "C" {
    pub fn ggml_pool_1d(
        ctx: *mut ggml_context,
        a: *mut ggml_tensor,
        op: ggml_op_pool,
        k0: ::core::ffi::c_int,
        s0: ::core::ffi::c_int,
        p0: ::core::ffi::c_int,
    ) -> *mut ggml_tensor;
}
unsafe extern "C" {
    pub fn ggml_pool_2d(
        ctx: *mut ggml_context,
        a: *mut ggml_tensor,
        op: ggml_op_pool,
        k0: ::core::ffi::c_int,
        k1: ::core::ffi::c_int,
        s0: ::core::ffi::c_int,
        s1: ::core::ffi::c_int,
        p0: f32,
        p1: f32,
    ) -> *mut ggml_tensor;
}
pub const GGML_SCALE_MODE_NEAREST: ggml_scale_mode = 0;
pub const GGML_SCALE_MODE_BILINEAR: ggml_scale_mode = 1;
pub const GGML_SCALE_MODE_BICUBIC: ggml_scale_mode = 2;
pub const GGML_SCALE_MODE_COUNT: ggml_scale_mode = 3;
pub type ggml_scale_mode = ::core::ffi::c_uint;
pub const GGML_SCALE_FLAG_ALIGN_CORNERS: ggml_scale_flag = 256;
pub const GGML_SCALE_FLAG_ANTIALIAS: ggml_scale_flag = 512;
pub type ggml_scale_flag = ::core::ffi::c_uint;
unsafe extern "C" {
    pub fn ggml_upscale(
        ctx: *mut ggml_context,
        a: *mut ggml_tensor,
        scale_factor: ::core::ffi::c_int,
        mode: ggml_scale_mode,
    ) -> *mut ggml_tensor;
}
unsafe extern "C" {
    pub fn ggml_interpolate(
        ctx: *mut ggml_context,
        a: *mut ggml_tensor,
        ne0: i64,
        ne1: i64,
        ne2: i64,
        ne3: i64,
        mode: u32,
    ) -> *mut ggml_tensor;
}
unsafe extern "C" {
    pub fn ggml_pad_ext(
        ctx: *mut ggml_context,
        a: *mut ggml_tensor,
        lp0: ::core::ffi::c_int,
        rp0: ::core::ffi::c_int,
        lp1: ::core::ffi::c_int,
        rp1: ::core::ffi::c_int,
        lp2: ::core::ffi::c_int,
        rp2: ::core::ffi::c_int,
        lp3: ::core::ffi::c_int,
        rp3: ::core::ffi::c_int,
    ) -> *mut ggml_tensor;
}
unsafe extern "C" {
    pub fn ggml_pad_reflect_1d(
        ctx: *mut ggml_context,
        a: *mut ggml_tensor,
        p0: ::core::ffi::c_int,
        p1: ::core::ffi::c_int,
    ) -> *mut ggml_tensor;
}
unsafe extern "C" {
    pub fn ggml_roll(
        ctx: *mut ggml_context,
        a: *mut ggml_tensor,
        shift0: ::core::ffi::c_int,
        shift1: ::core::ffi::c_int,
        shift2: ::core::ffi::c_int,
        shift3: ::core::ffi::c_int,
    ) -> *mut ggml_tensor;
}
unsafe extern "C" {
    pub fn ggml_fill(ctx: *mut ggml_context, a: *mut ggml_tensor, c: f32) -> *mut ggml_tensor;
}
unsafe extern "C" {
    pub fn ggml_timestep_embedding(
        ctx: *mut ggml_context,
        timesteps: *mut ggml_tensor,
        dim: ::core::ffi::c_int,
        max_period: ::core::ffi::c_int,
    ) -> *mut ggml_tensor;
}
pub const GGML_SORT_ORDER_ASC: ggml_sort_order = 0;
pub const GGML_SORT_ORDER_DESC: ggml_sort_order = 1;
pub type ggml_sort_order = ::core::ffi::c_uint;
unsafe extern "C" {
    pub fn ggml_argsort(ctx: *mut ggml_context, a: *mut ggml_tensor, order: ggml_sort_order) -> *mut ggml_tensor;
}
unsafe extern "C" {
    pub fn ggml_top_k(ctx: *mut ggml_context, a: *mut ggml_tensor, k: ::core::ffi::c_int) -> *mut ggml_tensor;
}
unsafe extern "C" {
    pub fn ggml_arange(ctx: *mut ggml_context, start: f32, stop: f32, step: f32) -> *mut ggml_tensor;
}
unsafe extern "C" {
    pub fn ggml_flash_attn_ext(
        ctx: *mut ggml_context,
        q: *mut ggml_tensor,
        k: *mut ggml_tensor,
        v: *mut ggml_tensor,
        mask: *mut ggml_tensor,
        scale: f32,
        max_bias: f32,
        logit_softcap: f32,
    ) -> *mut ggml_tensor;
}
unsafe extern "C" {
    pub fn ggml_win_part(ctx: *mut ggml_context, a: *mut ggml_tensor, w: ::core::ffi::c_int) -> *mut ggml_tensor;
}
unsafe extern "C" {
    pub fn ggml_win_unpart(
        ctx: *mut ggml_context,
        a: *mut ggml_tensor,
        w0: ::core::ffi::c_int,
        h0: ::core::ffi::c_int,
        w: ::core::ffi::c_int,
    ) -> *mut ggml_tensor;
}
unsafe extern "C" {
    pub fn ggml_unary(ctx: *mut ggml_context, a: *mut ggml_tensor, op: ggml_unary_op) -> *mut ggml_tensor;
}
unsafe extern "C" {
    pub fn ggml_unary_inplace(ctx: *mut ggml_context, a: *mut ggml_tensor, op: ggml_unary_op) -> *mut ggml_tensor;
}
unsafe extern "C" {
    pub fn ggml_get_rel_pos(
        ctx: *mut ggml_context,
        a: *mut ggml_tensor,
        qh: ::core::ffi::c_int,
        kh: ::core::ffi::c_int,
    ) -> *mut ggml_tensor;
}
unsafe extern "C" {
    pub fn ggml_build_forward_expand(cgraph: *mut ggml_cgraph, tensor: *mut ggml_tensor);
}
unsafe extern "C" {
    pub fn ggml_new_graph_custom(ctx: *mut ggml_context, size: usize, grads: bool) -> *mut ggml_cgraph;
}
unsafe extern "C" {
    pub fn ggml_graph_clear(cgraph: *mut ggml_cgraph);
}
unsafe extern "C" {
    pub fn ggml_graph_size(cgraph: *mut ggml_cgraph) -> ::core::ffi::c_int;
}
unsafe extern "C" {
    pub fn ggml_graph_node(cgraph: *mut ggml_cgraph, i: ::core::ffi::c_int) -> *mut ggml_tensor;
}
unsafe extern "C" {
    pub fn ggml_graph_nodes(cgraph: *mut ggml_cgraph) -> *mut *mut ggml_tensor;
}
unsafe extern "C" {
    pub fn ggml_graph_n_nodes(cgraph: *mut ggml_cgraph) -> ::core::ffi::c_int;
}
unsafe extern "C" {
    pub fn ggml_graph_overhead_custom(size: usize, grads: bool) -> usize;
}
pub type ggml_log_callback = ::core::option::Option<
    unsafe extern "C" fn(level: ggml_log_level, text: *const ::core::ffi::c_char, user_data: *mut ::core::ffi::c_void),
>;
unsafe extern "C" {
    pub fn ggml_log_get(log_callback: *mut ggml_log_callback, user_data: *mut *mut ::core::ffi::c_void);
}
unsafe extern "C" {
    pub fn ggml_log_set(log_callback: ggml_log_callback, user_data: *mut ::core::ffi::c_void);
}
unsafe extern "C" {
    pub fn ggml_quantize_init(type_: ggml_type);
}
unsafe extern "C" {
    pub fn ggml_quantize_free();
}
unsafe extern "C" {
    pub fn ggml_quantize_requires_imatrix(type_: ggml_type) -> bool;
}
unsafe extern "C" {
    pub fn ggml_quantize_chunk(
        type_: ggml_type,
        src: *const f32,
        dst: *mut ::core::ffi::c_void,
        start: i64,
        nrows: i64,
        n_per_row: i64,
        imatrix: *const f32,
    ) -> usize;
}
pub type ggml_to_float_t =
    ::core::option::Option<unsafe extern "C" fn(x: *const ::core::ffi::c_void, y: *mut f32, k: i64)>;
pub type ggml_from_float_t =
    ::core::option::Option<unsafe extern "C" fn(x: *const f32, y: *mut ::core::ffi::c_void, k: i64)>;
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct ggml_type_traits {
    pub type_name: *const ::core::ffi::c_char,
    pub blck_size: i64,
    pub blck_size_interleave: i64,
    pub type_size: usize,
    pub is_quantized: bool,
    pub to_float: ggml_to_float_t,
    pub from_float_ref: ggml_from_float_t,
}
#[allow(clippy::unnecessary_operation, clippy::identity_op)]
const _: () = {
    ["Size of ggml_type_traits"][::core::mem::size_of::<ggml_type_traits>() - 56usize];
    ["Alignment of ggml_type_traits"][::core::mem::align_of::<ggml_type_traits>() - 8usize];
    ["Offset of field: ggml_type_traits::type_name"][::core::mem::offset_of!(ggml_type_traits, type_name) - 0usize];
    ["Offset of field: ggml_type_traits::blck_size"][::core::mem::offset_of!(ggml_type_traits, blck_size) - 8usize];
    ["Offset of field: ggml_type_traits::blck_size_interleave"]
        [::core::mem::offset_of!(ggml_type_traits, blck_size_interleave) - 16usize];
    ["Offset of field: ggml_type_traits::type_size"][::core::mem::offset_of!(ggml_type_traits, type_size) - 24usize];
    ["Offset of field: ggml_type_traits::is_quantized"]
        [::core::mem::offset_of!(ggml_type_traits, is_quantized) - 32usize];
    ["Offset of field: ggml_type_traits::to_float"][::core::mem::offset_of!(ggml_type_traits, to_float) - 40usize];
    ["Offset of field: ggml_type_traits::from_float_ref"]
        [::core::mem::offset_of!(ggml_type_traits, from_float_ref) - 48usize];
};
unsafe extern "C" {
    pub fn ggml_get_type_traits(type_: ggml_type) -> *const ggml_type_traits;
}
pub const GGML_SCHED_PRIO_LOW: ggml_sched_priority = -1;
pub const GGML_SCHED_PRIO_NORMAL: ggml_sched_priority = 0;
pub const GGML_SCHED_PRIO_MEDIUM: ggml_sched_priority = 1;
pub const GGML_SCHED_PRIO_HIGH: ggml_sched_priority = 2;
pub const GGML_SCHED_PRIO_REALTIME: ggml_sched_priority = 3;
pub type ggml_sched_priority = ::core::ffi::c_int;
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct ggml_threadpool_params {
    pub cpumask: [bool; 512usize],
    pub n_threads: ::core::ffi::c_int,
    pub prio: ggml_sched_priority,
    pub poll: u32,
    pub strict_cpu: bool,
    pub paused: bool,
}
#[allow(clippy::unnecessary_operation, clippy::identity_op)]
const _: () = {
    ["Size of ggml_threadpool_params"][::core::mem::size_of::<ggml_threadpool_params>() - 528usize];
    ["Alignment of ggml_threadpool_params"][::core::mem::align_of::<ggml_threadpool_params>() - 4usize];
    ["Offset of field: ggml_threadpool_params::cpumask"]
        [::core::mem::offset_of!(ggml_threadpool_params, cpumask) - 0usize];
    ["Offset of field: ggml_threadpool_params::n_threads"]
        [::core::mem::offset_of!(ggml_threadpool_params, n_threads) - 512usize];
    ["Offset of field: ggml_threadpool_params::prio"][::core::mem::offset_of!(ggml_threadpool_params, prio) - 516usize];
    ["Offset of field: ggml_threadpool_params::poll"][::core::mem::offset_of!(ggml_threadpool_params, poll) - 520usize];
    ["Offset of field: ggml_threadpool_params::strict_cpu"]
        [::core::mem::offset_of!(ggml_threadpool_params, strict_cpu) - 524usize];
    ["Offset of field: ggml_threadpool_params::paused"]
        [::core::mem::offset_of!(ggml_threadpool_params, paused) - 525usize];
};
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct ggml_threadpool {
    _unused: [u8; 0],
}
pub type ggml_threadpool_t = *mut ggml_threadpool;
unsafe extern "C" {
    pub fn ggml_threadpool_params_default(n_threads: ::core::ffi::c_int) -> ggml_threadpool_params;
}
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct ggml_backend_buffer_type {
    _unused: [u8; 0],
}
pub type ggml_backend_buffer_type_t = *mut ggml_backend_buffer_type;
pub type ggml_backend_buffer_t = *mut ggml_backend_buffer;
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct ggml_backend {
    _unused: [u8; 0],
}
pub type ggml_backend_t = *mut ggml_backend;
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct ggml_backend_reg {
    _unused: [u8; 0],
}
pub type ggml_backend_reg_t = *mut ggml_backend_reg;
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct ggml_backend_device {
    _unused: [u8; 0],
}
pub type ggml_backend_dev_t = *mut ggml_backend_device;
unsafe extern "C" {
    pub fn ggml_backend_buft_name(buft: ggml_backend_buffer_type_t) -> *const ::core::ffi::c_char;
}
unsafe extern "C" {
    pub fn ggml_backend_buft_get_alignment(buft: ggml_backend_buffer_type_t) -> usize;
}
unsafe extern "C" {
    pub fn ggml_backend_buft_get_max_size(buft: ggml_backend_buffer_type_t) -> usize;
}
unsafe extern "C" {
    pub fn ggml_backend_buft_get_alloc_size(buft: ggml_backend_buffer_type_t, tensor: *const ggml_tensor) -> usize;
}
unsafe extern "C" {
    pub fn ggml_backend_buft_is_host(buft: ggml_backend_buffer_type_t) -> bool;
}
unsafe extern "C" {
    pub fn ggml_backend_buft_get_device(buft: ggml_backend_buffer_type_t) -> ggml_backend_dev_t;
}
pub const GGML_BACKEND_BUFFER_USAGE_ANY: ggml_backend_buffer_usage = 0;
pub const GGML_BACKEND_BUFFER_USAGE_WEIGHTS: ggml_backend_buffer_usage = 1;
pub const GGML_BACKEND_BUFFER_USAGE_COMPUTE: ggml_backend_buffer_usage = 2;
pub type ggml_backend_buffer_usage = ::core::ffi::c_uint;
unsafe extern "C" {
    pub fn ggml_backend_buffer_name(buffer: ggml_backend_buffer_t) -> *const ::core::ffi::c_char;
}
unsafe extern "C" {
    pub fn ggml_backend_buffer_get_base(buffer: ggml_backend_buffer_t) -> *mut ::core::ffi::c_void;
}
unsafe extern "C" {
    pub fn ggml_backend_buffer_get_size(buffer: ggml_backend_buffer_t) -> usize;
}
unsafe extern "C" {
    pub fn ggml_backend_buffer_get_alignment(buffer: ggml_backend_buffer_t) -> usize;
}
unsafe extern "C" {
    pub fn ggml_backend_buffer_get_alloc_size(buffer: ggml_backend_buffer_t, tensor: *const ggml_tensor) -> usize;
}
unsafe extern "C" {
    pub fn ggml_backend_buffer_is_host(buffer: ggml_backend_buffer_t) -> bool;
}
unsafe extern "C" {
    pub fn ggml_backend_buffer_set_usage(buffer: ggml_backend_buffer_t, usage: ggml_backend_buffer_usage);
}
unsafe extern "C" {
    pub fn ggml_backend_buffer_get_usage(buffer: ggml_backend_buffer_t) -> ggml_backend_buffer_usage;
}
unsafe extern "C" {
    pub fn ggml_backend_buffer_get_type(buffer: ggml_backend_buffer_t) -> ggml_backend_buffer_type_t;
}
unsafe extern "C" {
    pub fn ggml_backend_guid(backend: ggml_backend_t) -> ggml_guid_t;
}
unsafe extern "C" {
    pub fn ggml_backend_name(backend: ggml_backend_t) -> *const ::core::ffi::c_char;
}
unsafe extern "C" {
    pub fn ggml_backend_get_default_buffer_type(backend: ggml_backend_t) -> ggml_backend_buffer_type_t;
}
unsafe extern "C" {
    pub fn ggml_backend_get_device(backend: ggml_backend_t) -> ggml_backend_dev_t;
}
pub const GGML_BACKEND_DEVICE_TYPE_CPU: ggml_backend_dev_type = 0;
pub const GGML_BACKEND_DEVICE_TYPE_GPU: ggml_backend_dev_type = 1;
pub const GGML_BACKEND_DEVICE_TYPE_IGPU: ggml_backend_dev_type = 2;
pub const GGML_BACKEND_DEVICE_TYPE_ACCEL: ggml_backend_dev_type = 3;
pub const GGML_BACKEND_DEVICE_TYPE_META: ggml_backend_dev_type = 4;
pub type ggml_backend_dev_type = ::core::ffi::c_uint;
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct ggml_backend_dev_caps {
    pub async_: bool,
    pub host_buffer: bool,
    pub buffer_from_host_ptr: bool,
    pub events: bool,
    pub mmap_support: bool,
}
#[allow(clippy::unnecessary_operation, clippy::identity_op)]
const _: () = {
    ["Size of ggml_backend_dev_caps"][::core::mem::size_of::<ggml_backend_dev_caps>() - 5usize];
    ["Alignment of ggml_backend_dev_caps"][::core::mem::align_of::<ggml_backend_dev_caps>() - 1usize];
    ["Offset of field: ggml_backend_dev_caps::async_"][::core::mem::offset_of!(ggml_backend_dev_caps, async_) - 0usize];
    ["Offset of field: ggml_backend_dev_caps::host_buffer"]
        [::core::mem::offset_of!(ggml_backend_dev_caps, host_buffer) - 1usize];
    ["Offset of field: ggml_backend_dev_caps::buffer_from_host_ptr"]
        [::core::mem::offset_of!(ggml_backend_dev_caps, buffer_from_host_ptr) - 2usize];
    ["Offset of field: ggml_backend_dev_caps::events"][::core::mem::offset_of!(ggml_backend_dev_caps, events) - 3usize];
    ["Offset of field: ggml_backend_dev_caps::mmap_support"]
        [::core::mem::offset_of!(ggml_backend_dev_caps, mmap_support) - 4usize];
};
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct ggml_backend_dev_props {
    pub name: *const ::core::ffi::c_char,
    pub description: *const ::core::ffi::c_char,
    pub memory_free: usize,
    pub memory_total: usize,
    pub type_: ggml_backend_dev_type,
    pub device_id: *const ::core::ffi::c_char,
    pub caps: ggml_backend_dev_caps,
}
#[allow(clippy::unnecessary_operation, clippy::identity_op)]
const _: () = {
    ["Size of ggml_backend_dev_props"][::core::mem::size_of::<ggml_backend_dev_props>() - 56usize];
    ["Alignment of ggml_backend_dev_props"][::core::mem::align_of::<ggml_backend_dev_props>() - 8usize];
    ["Offset of field: ggml_backend_dev_props::name"][::core::mem::offset_of!(ggml_backend_dev_props, name) - 0usize];
    ["Offset of field: ggml_backend_dev_props::description"]
        [::core::mem::offset_of!(ggml_backend_dev_props, description) - 8usize];
    ["Offset of field: ggml_backend_dev_props::memory_free"]
        [::core::mem::offset_of!(ggml_backend_dev_props, memory_free) - 16usize];
    ["Offset of field: ggml_backend_dev_props::memory_total"]
        [::core::mem::offset_of!(ggml_backend_dev_props, memory_total) - 24usize];
    ["Offset of field: ggml_backend_dev_props::type_"]
        [::core::mem::offset_of!(ggml_backend_dev_props, type_) - 32usize];
    ["Offset of field: ggml_backend_dev_props::device_id"]
        [::core::mem::offset_of!(ggml_backend_dev_props, device_id) - 40usize];
    ["Offset of field: ggml_backend_dev_props::caps"][::core::mem::offset_of!(ggml_backend_dev_props, caps) - 48usize];
};
unsafe extern "C" {
    pub fn ggml_backend_dev_name(device: ggml_backend_dev_t) -> *const ::core::ffi::c_char;
}
unsafe extern "C" {
    pub fn ggml_backend_dev_description(device: ggml_backend_dev_t) -> *const ::core::ffi::c_char;
}
unsafe extern "C" {
    pub fn ggml_backend_dev_type(device: ggml_backend_dev_t) -> ggml_backend_dev_type;
}
unsafe extern "C" {
    pub fn ggml_backend_dev_backend_reg(device: ggml_backend_dev_t) -> ggml_backend_reg_t;
}
unsafe extern "C" {
    pub fn ggml_backend_dev_buffer_type(device: ggml_backend_dev_t) -> ggml_backend_buffer_type_t;
}
unsafe extern "C" {
    pub fn ggml_backend_dev_host_buffer_type(device: ggml_backend_dev_t) -> ggml_backend_buffer_type_t;
}
unsafe extern "C" {
    pub fn ggml_backend_dev_supports_op(device: ggml_backend_dev_t, op: *const ggml_tensor) -> bool;
}
unsafe extern "C" {
    pub fn ggml_backend_dev_supports_buft(device: ggml_backend_dev_t, buft: ggml_backend_buffer_type_t) -> bool;
}
unsafe extern "C" {
    pub fn ggml_backend_dev_offload_op(device: ggml_backend_dev_t, op: *const ggml_tensor) -> bool;
}
unsafe extern "C" {
    pub fn ggml_backend_reg_name(reg: ggml_backend_reg_t) -> *const ::core::ffi::c_char;
}
unsafe extern "C" {
    pub fn ggml_backend_reg_dev_count(reg: ggml_backend_reg_t) -> usize;
}
unsafe extern "C" {
    pub fn ggml_backend_reg_dev_get(reg: ggml_backend_reg_t, index: usize) -> ggml_backend_dev_t;
}
unsafe extern "C" {
    pub fn ggml_backend_reg_get_proc_address(
        reg: ggml_backend_reg_t,
        name: *const ::core::ffi::c_char,
    ) -> *mut ::core::ffi::c_void;
}
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct ggml_backend_feature {
    pub name: *const ::core::ffi::c_char,
    pub value: *const ::core::ffi::c_char,
}
#[allow(clippy::unnecessary_operation, clippy::identity_op)]
const _: () = {
    ["Size of ggml_backend_feature"][::core::mem::size_of::<ggml_backend_feature>() - 16usize];
    ["Alignment of ggml_backend_feature"][::core::mem::align_of::<ggml_backend_feature>() - 8usize];
    ["Offset of field: ggml_backend_feature::name"][::core::mem::offset_of!(ggml_backend_feature, name) - 0usize];
    ["Offset of field: ggml_backend_feature::value"][::core::mem::offset_of!(ggml_backend_feature, value) - 8usize];
};
pub type ggml_backend_get_features_t =
    ::core::option::Option<unsafe extern "C" fn(reg: ggml_backend_reg_t) -> *mut ggml_backend_feature>;
unsafe extern "C" {
    pub fn ggml_backend_register(reg: ggml_backend_reg_t);
}
unsafe extern "C" {
    pub fn ggml_backend_device_register(device: ggml_backend_dev_t);
}
unsafe extern "C" {
    pub fn ggml_backend_reg_count() -> usize;
}
unsafe extern "C" {
    pub fn ggml_backend_reg_get(index: usize) -> ggml_backend_reg_t;
}
unsafe extern "C" {
    pub fn ggml_backend_dev_count() -> usize;
}
unsafe extern "C" {
    pub fn ggml_backend_dev_get(index: usize) -> ggml_backend_dev_t;
}
unsafe extern "C" {
    pub fn ggml_backend_cpu_buffer_from_ptr(ptr: *mut ::core::ffi::c_void, size: usize) -> ggml_backend_buffer_t;
}
unsafe extern "C" {
    pub fn ggml_backend_cpu_buffer_type() -> ggml_backend_buffer_type_t;
}
unsafe extern "C" {
    pub fn ggml_threadpool_new(params: *mut ggml_threadpool_params) -> *mut ggml_threadpool;
}
unsafe extern "C" {
    pub fn ggml_threadpool_free(threadpool: *mut ggml_threadpool);
}
unsafe extern "C" {
    pub fn ggml_threadpool_get_n_threads(threadpool: *mut ggml_threadpool) -> ::core::ffi::c_int;
}
unsafe extern "C" {
    pub fn ggml_threadpool_pause(threadpool: *mut ggml_threadpool);
}
unsafe extern "C" {
    pub fn ggml_threadpool_resume(threadpool: *mut ggml_threadpool);
}
unsafe extern "C" {
    pub fn ggml_cpu_has_avx2() -> ::core::ffi::c_int;
}
unsafe extern "C" {
    pub fn ggml_cpu_has_avx512() -> ::core::ffi::c_int;
}
unsafe extern "C" {
    pub fn ggml_cpu_has_amx_int8() -> ::core::ffi::c_int;
}
unsafe extern "C" {
    pub fn ggml_cpu_has_llamafile() -> ::core::ffi::c_int;
}
pub type ggml_vec_dot_t = ::core::option::Option<
    unsafe extern "C" fn(
        n: ::core::ffi::c_int,
        s: *mut f32,
        bs: usize,
        x: *const ::core::ffi::c_void,
        bx: usize,
        y: *const ::core::ffi::c_void,
        by: usize,
        nrc: ::core::ffi::c_int,
    ),
>;
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct ggml_type_traits_cpu {
    pub from_float: ggml_from_float_t,
    pub vec_dot: ggml_vec_dot_t,
    pub vec_dot_type: ggml_type,
    pub nrows: i64,
}
#[allow(clippy::unnecessary_operation, clippy::identity_op)]
const _: () = {
    ["Size of ggml_type_traits_cpu"][::core::mem::size_of::<ggml_type_traits_cpu>() - 32usize];
    ["Alignment of ggml_type_traits_cpu"][::core::mem::align_of::<ggml_type_traits_cpu>() - 8usize];
    ["Offset of field: ggml_type_traits_cpu::from_float"]
        [::core::mem::offset_of!(ggml_type_traits_cpu, from_float) - 0usize];
    ["Offset of field: ggml_type_traits_cpu::vec_dot"][::core::mem::offset_of!(ggml_type_traits_cpu, vec_dot) - 8usize];
    ["Offset of field: ggml_type_traits_cpu::vec_dot_type"]
        [::core::mem::offset_of!(ggml_type_traits_cpu, vec_dot_type) - 16usize];
    ["Offset of field: ggml_type_traits_cpu::nrows"][::core::mem::offset_of!(ggml_type_traits_cpu, nrows) - 24usize];
};
unsafe extern "C" {
    pub fn ggml_get_type_traits_cpu(type_: ggml_type) -> *const ggml_type_traits_cpu;
}
unsafe extern "C" {
    pub fn ggml_cpu_init();
}
unsafe extern "C" {
    pub fn ggml_backend_is_cpu(backend: ggml_backend_t) -> bool;
}
unsafe extern "C" {
    pub fn ggml_backend_cpu_set_n_threads(backend_cpu: ggml_backend_t, n_threads: ::core::ffi::c_int);
}
unsafe extern "C" {
    pub fn ggml_backend_cpu_set_threadpool(backend_cpu: ggml_backend_t, threadpool: ggml_threadpool_t);
}
unsafe extern "C" {
    pub fn ggml_backend_cpu_set_abort_callback(
        backend_cpu: ggml_backend_t,
        abort_callback: ggml_abort_callback,
        abort_callback_data: *mut ::core::ffi::c_void,
    );
}
unsafe extern "C" {
    pub fn ggml_backend_cpu_reg() -> ggml_backend_reg_t;
}
pub const GGUF_TYPE_UINT8: gguf_type = 0;
pub const GGUF_TYPE_INT8: gguf_type = 1;
pub const GGUF_TYPE_UINT16: gguf_type = 2;
pub const GGUF_TYPE_INT16: gguf_type = 3;
pub const GGUF_TYPE_UINT32: gguf_type = 4;
pub const GGUF_TYPE_INT32: gguf_type = 5;
pub const GGUF_TYPE_FLOAT32: gguf_type = 6;
pub const GGUF_TYPE_BOOL: gguf_type = 7;
pub const GGUF_TYPE_STRING: gguf_type = 8;
pub const GGUF_TYPE_ARRAY: gguf_type = 9;
pub const GGUF_TYPE_UINT64: gguf_type = 10;
pub const GGUF_TYPE_INT64: gguf_type = 11;
pub const GGUF_TYPE_FLOAT64: gguf_type = 12;
pub const GGUF_TYPE_COUNT: gguf_type = 13;
pub type gguf_type = ::core::ffi::c_uint;
unsafe extern "C" {
    pub fn gguf_type_name(type_: gguf_type) -> *const ::core::ffi::c_char;
}
pub const FRESCO_OK: fresco_status = 0;
pub const FRESCO_FAILED: fresco_status = 1;
pub const FRESCO_THROWN: fresco_status = 2;
pub const FRESCO_ABORTED: fresco_status = 3;
pub type fresco_status = ::core::ffi::c_uint;
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct fresco_message {
    pub text: [::core::ffi::c_char; 512usize],
}
#[allow(clippy::unnecessary_operation, clippy::identity_op)]
const _: () = {
    ["Size of fresco_message"][::core::mem::size_of::<fresco_message>() - 512usize];
    ["Alignment of fresco_message"][::core::mem::align_of::<fresco_message>() - 1usize];
    ["Offset of field: fresco_message::text"][::core::mem::offset_of!(fresco_message, text) - 0usize];
};
unsafe extern "C" {
    pub fn fresco_devices_init(n_devices: *mut usize, message: *mut fresco_message) -> fresco_status;
}
unsafe extern "C" {
    pub fn fresco_device_props(
        device: ggml_backend_dev_t,
        props: *mut ggml_backend_dev_props,
        message: *mut fresco_message,
    ) -> fresco_status;
}
unsafe extern "C" {
    pub fn fresco_device_buffer_type(
        device: ggml_backend_dev_t,
        buft: *mut ggml_backend_buffer_type_t,
        message: *mut fresco_message,
    ) -> fresco_status;
}
unsafe extern "C" {
    pub fn fresco_device_supports_op(
        device: ggml_backend_dev_t,
        node: *const ggml_tensor,
        supported: *mut bool,
        message: *mut fresco_message,
    ) -> fresco_status;
}
unsafe extern "C" {
    pub fn fresco_backend_init(
        device: ggml_backend_dev_t,
        backend: *mut ggml_backend_t,
        message: *mut fresco_message,
    ) -> fresco_status;
}
unsafe extern "C" {
    pub fn fresco_backend_free(backend: ggml_backend_t, message: *mut fresco_message) -> fresco_status;
}
unsafe extern "C" {
    pub fn fresco_backend_synchronize(backend: ggml_backend_t, message: *mut fresco_message) -> fresco_status;
}
unsafe extern "C" {
    pub fn fresco_backend_load(
        path: *const ::core::ffi::c_char,
        reg: *mut ggml_backend_reg_t,
        message: *mut fresco_message,
    ) -> fresco_status;
}
unsafe extern "C" {
    pub fn fresco_buffer_alloc(
        buft: ggml_backend_buffer_type_t,
        n_bytes: usize,
        buffer: *mut ggml_backend_buffer_t,
        message: *mut fresco_message,
    ) -> fresco_status;
}
unsafe extern "C" {
    pub fn fresco_buffer_free(buffer: ggml_backend_buffer_t, message: *mut fresco_message) -> fresco_status;
}
unsafe extern "C" {
    pub fn fresco_tensor_alloc(
        buffer: ggml_backend_buffer_t,
        tensor: *mut ggml_tensor,
        address: *mut ::core::ffi::c_void,
        message: *mut fresco_message,
    ) -> fresco_status;
}
unsafe extern "C" {
    pub fn fresco_tensor_view_init(tensor: *mut ggml_tensor, message: *mut fresco_message) -> fresco_status;
}
unsafe extern "C" {
    pub fn fresco_tensor_set(
        tensor: *mut ggml_tensor,
        data: *const ::core::ffi::c_void,
        offset: usize,
        n_bytes: usize,
        message: *mut fresco_message,
    ) -> fresco_status;
}
unsafe extern "C" {
    pub fn fresco_tensor_get(
        tensor: *const ggml_tensor,
        data: *mut ::core::ffi::c_void,
        offset: usize,
        n_bytes: usize,
        message: *mut fresco_message,
    ) -> fresco_status;
}
unsafe extern "C" {
    pub fn fresco_graph_compute(
        backend: ggml_backend_t,
        graph: *mut ggml_cgraph,
        message: *mut fresco_message,
    ) -> fresco_status;
}
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct ggml_backend_buffer {
    pub _address: u8,
}
