//! Conversion between `f32` and ggml's other floating-point and block types, in host memory.

use fresco_ggml_sys as sys;

use crate::DType;
use crate::error::Error;

/// Turns elements of `dtype` into `f32`. `dst` has as many elements as `src` holds; block types come in whole blocks.
pub fn dequantize(dtype: DType, src: &[u8], dst: &mut [f32]) -> Result<(), Error> {
    if !dtype.can_dequantize() {
        return Err(Error::Conversion { dtype, what: "turned into f32" });
    }
    check_lengths(dtype, dst.len(), dst.len(), src.len())?;
    crate::init()?;
    if dtype == DType::F32 {
        for (value, bytes) in dst.iter_mut().zip(src.as_chunks::<4>().0) {
            *value = f32::from_ne_bytes(*bytes);
        }
        return Ok(());
    }
    // Tensors in files lie at any address; ggml reads blocks where their fields are aligned.
    let aligned;
    let src = match src.as_ptr().addr().is_multiple_of(dtype.alignment()) {
        true => src.as_ptr(),
        false => {
            aligned = Aligned::copy_of(src);
            aligned.as_ptr()
        }
    };
    // SAFETY: the type's number is one of ggml's.
    let traits = unsafe { sys::ggml_get_type_traits(dtype.raw()) };
    // SAFETY: a row of a static table.
    let to_float = unsafe { (*traits).to_float };
    let to_float = to_float.ok_or(Error::Conversion { dtype, what: "turned into f32" })?;
    // SAFETY: both sides are aligned and hold `dst.len()` elements, a whole number of blocks.
    unsafe { to_float(src.cast(), dst.as_mut_ptr(), dst.len() as i64) };
    Ok(())
}

/// The largest value that block types are made of: f16's, in which they keep their scales.
const MAX_BLOCK_VALUE: f32 = 65504.0;

/// Makes elements of `dtype` from `f32` in rows of `row_len`, a whole number of blocks. `dst` has exactly their size.
/// Values of block types are finite and within f16's range: ggml aborts on others.
pub fn quantize(dtype: DType, src: &[f32], row_len: usize, dst: &mut [u8]) -> Result<(), Error> {
    if !dtype.can_quantize() {
        return Err(Error::Conversion { dtype, what: "made from f32" });
    }
    check_lengths(dtype, src.len(), row_len, dst.len())?;
    crate::init()?;
    if src.is_empty() {
        return Ok(());
    }
    if dtype.is_quantized()
        && let Some(index) = src.iter().position(|x| x.is_nan() || x.abs() > MAX_BLOCK_VALUE)
    {
        return Err(Error::ValueOutOfRange { dtype, index, value: src[index] });
    }
    let (n_rows, row_len) = ((src.len() / row_len) as i64, row_len as i64);
    let convert = |target: *mut u8| {
        // SAFETY: source and target hold the same whole number of rows of whole blocks, the target is aligned, and the
        // type needs no importance matrix.
        unsafe {
            sys::ggml_quantize_chunk(dtype.raw(), src.as_ptr(), target.cast(), 0, n_rows, row_len, std::ptr::null())
        }
    };
    match dst.as_ptr().addr().is_multiple_of(dtype.alignment()) {
        true => drop(convert(dst.as_mut_ptr())),
        false => {
            let mut aligned = Aligned::copy_of(dst);
            convert(aligned.as_mut_ptr());
            dst.copy_from_slice(aligned.bytes());
        }
    }
    Ok(())
}

fn check_lengths(dtype: DType, n_elements: usize, row_len: usize, n_bytes: usize) -> Result<(), Error> {
    let is_whole =
        row_len.is_multiple_of(dtype.block_len()) && n_elements.checked_rem(row_len).unwrap_or(n_elements) == 0;
    match is_whole && dtype.row_bytes(n_elements as u64) == Some(n_bytes as u64) {
        true => Ok(()),
        false => Err(Error::ConversionLength { dtype, n_elements, row_len, n_bytes }),
    }
}

/// Bytes at an address that suits every type.
struct Aligned {
    words: Vec<u64>,
    n_bytes: usize,
}

impl Aligned {
    fn copy_of(bytes: &[u8]) -> Aligned {
        let word = |bytes: &[u8]| {
            let mut word = [0; 8];
            word[..bytes.len()].copy_from_slice(bytes);
            u64::from_ne_bytes(word)
        };
        Aligned { words: bytes.chunks(8).map(word).collect(), n_bytes: bytes.len() }
    }

    fn as_ptr(&self) -> *const u8 {
        self.words.as_ptr().cast()
    }

    fn as_mut_ptr(&mut self) -> *mut u8 {
        self.words.as_mut_ptr().cast()
    }

    fn bytes(&self) -> &[u8] {
        // SAFETY: the words hold at least as many bytes.
        unsafe { std::slice::from_raw_parts(self.as_ptr(), self.n_bytes) }
    }
}
