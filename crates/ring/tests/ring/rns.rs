//! Tests of the conversions of [BEHZ16], [HPS19] and [KPZ21], one a file, on all integers of small bases.

mod decryption;
mod digit_decryption;
mod exact_extension;
mod extension;
mod fast_base_conversion;
mod rns_floor;
mod rounded_division;
mod shenoy_kumaresan;
