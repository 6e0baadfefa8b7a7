use super::{ContentDecoder, DecodeFault, MAX_DECODED_BYTES, decode_body};
use crate::response::testing::{cut, damage, damages, places};
use bytes::Bytes;
use flate2::write::{DeflateEncoder, GzEncoder, ZlibEncoder};
use flate2::{Compression, Crc, GzBuilder};
use proptest::prelude::*;
use std::io::Write;

/// Every coding, and raw deflate.
const CODINGS: [&str; 5] = ["gzip", "deflate", "raw deflate", "br", "zstd"];

fn header(coding: &str) -> &str {
    if coding == "raw deflate" {
        "deflate"
    } else {
        coding
    }
}

/// An encoder that can be flushed.
fn encoder(coding: &str) -> Box<dyn Encoder> {
    let level = Compression::default();
    match coding {
        "gzip" => Box::new(GzEncoder::new(Vec::new(), level)),
        "deflate" => Box::new(ZlibEncoder::new(Vec::new(), level)),
        "raw deflate" => Box::new(DeflateEncoder::new(Vec::new(), level)),
        "br" => Box::new(brotli::CompressorWriter::new(Vec::new(), 4096, 5, 20)),
        "zstd" => Box::new(zstd::stream::write::Encoder::new(Vec::new(), 3).unwrap()),
        _ => unreachable!("no such coding: {coding}"),
    }
}

trait Encoder: Write {
    /// Returns the bytes encoded since the last call.
    fn drain(&mut self) -> Vec<u8>;
    fn end(self: Box<Self>) -> Vec<u8>;
}

macro_rules! encoders {
    ($($type:ty => |$encoder:ident| $end:expr),+ $(,)?) => {$(
        impl Encoder for $type {
            fn drain(&mut self) -> Vec<u8> {
                std::mem::take(self.get_mut())
            }
            fn end(self: Box<Self>) -> Vec<u8> {
                let $encoder = *self;
                $end
            }
        }
    )+};
}
encoders! {
    GzEncoder<Vec<u8>> => |encoder| encoder.finish().unwrap(),
    ZlibEncoder<Vec<u8>> => |encoder| encoder.finish().unwrap(),
    DeflateEncoder<Vec<u8>> => |encoder| encoder.finish().unwrap(),
    brotli::CompressorWriter<Vec<u8>> => |encoder| encoder.into_inner(),
    zstd::stream::write::Encoder<'static, Vec<u8>> => |encoder| encoder.finish().unwrap(),
}

fn encode(coding: &str, text: &[u8]) -> Vec<u8> {
    let mut encoder = encoder(coding);
    encoder.write_all(text).unwrap();
    encoder.end()
}

/// Decodes, and returns whether the body may end there.
fn decode<'a>(
    header: &str,
    chunks: impl IntoIterator<Item = &'a [u8]>,
) -> (Vec<u8>, Result<bool, DecodeFault>) {
    let mut decoder = ContentDecoder::for_header(header).unwrap().unwrap();
    let mut text = Vec::new();
    for chunk in chunks {
        let result = decoder.feed(chunk, &mut |decoded| {
            text.extend_from_slice(decoded);
            Ok(())
        });
        if let Err(fault) = result {
            return (text, Err(fault));
        }
    }
    (text, Ok(decoder.is_at_end()))
}

fn events(number: usize) -> Vec<u8> {
    (0..number)
        .flat_map(|n| format!("event: e\ndata: {{\"n\":{n}}}\n\n").into_bytes())
        .collect()
}

#[test]
fn identity_needs_no_decoder() {
    for header in ["", "identity", " Identity ", "identity, identity"] {
        assert!(
            ContentDecoder::for_header(header).unwrap().is_none(),
            "{header:?}"
        );
    }
}

#[test]
fn an_unknown_coding_is_unsupported() {
    for header in ["compress", "gzip, snappy", "gzip,gzip,gzip,gzip,gzip"] {
        assert_eq!(
            ContentDecoder::for_header(header).err(),
            Some(DecodeFault::Unsupported),
            "{header:?}"
        );
    }
}

#[test]
fn every_coding_decodes_in_any_chunks() {
    let text = events(2000);
    for coding in CODINGS {
        let encoded = encode(coding, &text);
        for size in [1, 2, 3, 7, 1000, encoded.len()] {
            let (decoded, end) = decode(header(coding), encoded.chunks(size));
            assert_eq!(decoded.len(), text.len(), "{coding} by {size}");
            assert_eq!(decoded, text, "{coding} by {size}");
            assert_eq!(end, Ok(true), "{coding} by {size}");
        }
    }
}

#[test]
fn flushed_data_is_decoded_at_once() {
    for coding in CODINGS {
        let mut encoder = encoder(coding);
        let mut decoder = ContentDecoder::for_header(header(coding)).unwrap().unwrap();
        for number in 0..50 {
            let event = format!("event: e\ndata: {{\"n\":{number}}}\n\n");
            encoder.write_all(event.as_bytes()).unwrap();
            encoder.flush().unwrap();
            let mut text = Vec::new();
            let fed = decoder.feed(&encoder.drain(), &mut |decoded| {
                text.extend_from_slice(decoded);
                Ok(())
            });
            assert_eq!(fed, Ok(()), "{coding}");
            assert_eq!(String::from_utf8(text).unwrap(), event, "{coding}");
            assert!(!decoder.is_at_end(), "{coding}");
        }
        let fed = decoder.feed(&encoder.end(), &mut |_| Ok(()));
        assert_eq!((fed, decoder.is_at_end()), (Ok(()), true), "{coding}");
    }
}

#[test]
fn stacked_codings_are_decoded_in_reverse_order() {
    let text = events(500);
    let encoded = encode("br", &encode("gzip", &text));
    assert_eq!(decode("gzip, br", [&encoded[..]]), (text.clone(), Ok(true)));
    assert_eq!(decode("GZIP ,identity,Br", encoded.chunks(1)), (text, Ok(true)));
    assert_eq!(decode("br, gzip", [&encoded[..]]).1, Err(DecodeFault::Corrupt));
}

#[test]
fn several_gzip_members_and_zstd_frames_are_decoded() {
    for coding in ["gzip", "zstd"] {
        let encoded = [
            encode(coding, b"one, "),
            encode(coding, b""),
            encode(coding, b"two"),
        ]
        .concat();
        for size in [1, encoded.len()] {
            assert_eq!(
                decode(coding, encoded.chunks(size)),
                (b"one, two".to_vec(), Ok(true)),
                "{coding}"
            );
        }
    }
    let padded = [encode("gzip", b"text"), vec![0; 20]].concat();
    assert_eq!(decode("gzip", [&padded[..]]), (b"text".to_vec(), Ok(true)));
}

#[test]
fn gzip_members_are_limited_because_each_costs_a_reset() {
    let encoded = encode("gzip", b"").repeat(super::gzip::MAX_MEMBERS + 1);
    assert_eq!(decode("gzip", [&encoded[..encoded.len() - 20]]).1, Ok(true));
    assert_eq!(decode("gzip", [&encoded[..]]).1, Err(DecodeFault::Corrupt));
}

#[test]
fn gzip_headers_may_have_every_field() {
    let mut encoder = GzBuilder::new()
        .extra(*b"extra")
        .filename("name")
        .comment("comment")
        .write(Vec::new(), Compression::fast());
    encoder.write_all(b"text").unwrap();
    let mut encoded = encoder.finish().unwrap();
    // flate2 writes no header checksum. Like other decoders, ours skips it.
    let fields = 10 + 2 + b"extra".len() + b"name\0comment\0".len();
    encoded[3] |= super::gzip::HEADER_CRC;
    let mut checksum = Crc::new();
    checksum.update(&encoded[..fields]);
    encoded.splice(fields..fields, (checksum.sum() as u16).to_le_bytes());
    for size in [1, encoded.len()] {
        assert_eq!(decode("gzip", encoded.chunks(size)), (b"text".to_vec(), Ok(true)));
    }
    let mut empty_extra = encode("gzip", b"text");
    empty_extra[3] |= super::gzip::EXTRA;
    empty_extra.splice(10..10, [0, 0]);
    assert_eq!(decode("gzip", [&empty_extra[..]]), (b"text".to_vec(), Ok(true)));
}

#[test]
fn truncation_at_any_byte_is_detected() {
    let text = events(100);
    for coding in CODINGS {
        let encoded = encode(coding, &text);
        for length in 0..encoded.len() {
            let (decoded, end) = decode(header(coding), [&encoded[..length]]);
            assert!(text.starts_with(&decoded), "{coding} cut at {length}");
            assert_eq!(end, Ok(false), "{coding} cut at {length} of {}", encoded.len());
        }
    }
}

#[test]
fn a_wrong_checksum_or_length_is_corrupt() {
    for (coding, from_the_end) in [("gzip", 5), ("gzip", 1), ("deflate", 1)] {
        let mut encoded = encode(coding, b"some text");
        let at = encoded.len() - from_the_end;
        encoded[at] ^= 1;
        assert_eq!(
            decode(coding, [&encoded[..]]).1,
            Err(DecodeFault::Corrupt),
            "{coding}"
        );
    }
}

#[test]
fn bytes_after_the_end_are_corrupt() {
    for coding in CODINGS {
        let encoded = [encode(coding, b"some text"), b"{\"type\"".to_vec()].concat();
        let (decoded, end) = decode(header(coding), [&encoded[..]]);
        assert_eq!(
            (decoded, end),
            (b"some text".to_vec(), Err(DecodeFault::Corrupt)),
            "{coding}"
        );
    }
}

#[test]
fn a_window_larger_than_the_coding_allows_is_refused() {
    let mut encoder = zstd::stream::write::Encoder::new(Vec::new(), 1).unwrap();
    encoder
        .set_parameter(zstd::stream::raw::CParameter::WindowLog(24))
        .unwrap();
    encoder.write_all(b"text").unwrap();
    encoder.flush().unwrap();
    let encoded = encoder.finish().unwrap();
    assert_eq!(decode("zstd", [&encoded[..]]).1, Err(DecodeFault::Corrupt));

    let parameters = brotli::enc::BrotliEncoderParams {
        lgwin: 26,
        large_window: true,
        ..Default::default()
    };
    let mut encoder = brotli::CompressorWriter::with_params(Vec::new(), 4096, &parameters);
    encoder.write_all(b"text").unwrap();
    assert_eq!(
        decode("br", [&encoder.into_inner()[..]]).1,
        Err(DecodeFault::Corrupt)
    );
}

/// Decodes and discards the result.
fn decoded_length(header: &str, encoded: &[u8]) -> (usize, Result<(), DecodeFault>) {
    let mut decoder = ContentDecoder::for_header(header).unwrap().unwrap();
    let mut length = 0;
    let result = decoder.feed(encoded, &mut |decoded| {
        length += decoded.len();
        Ok(())
    });
    (length, result)
}

#[test]
fn decompression_bomb_stops_at_the_limit() {
    let mut encoder = zstd::stream::write::Encoder::new(Vec::new(), 1).unwrap();
    let zeros = vec![0; 1024 * 1024];
    for _ in 0..=MAX_DECODED_BYTES / zeros.len() {
        encoder.write_all(&zeros).unwrap();
    }
    let bomb = encoder.finish().unwrap();
    assert!(bomb.len() < 16 * 1024, "no bomb: {} bytes", bomb.len());
    let (length, result) = decoded_length("zstd", &bomb);
    assert_eq!(result, Err(DecodeFault::TooLarge));
    assert!(length <= MAX_DECODED_BYTES);
    // Also if the inner coding produces nothing.
    let empty_blocks = [0, 0, 0, 0xFF, 0xFF].repeat(MAX_DECODED_BYTES / 5 + 1);
    let bomb = zstd::encode_all(&empty_blocks[..], 1).unwrap();
    assert_eq!(
        decoded_length("deflate, zstd", &bomb),
        (0, Err(DecodeFault::TooLarge))
    );
}

proptest! {
    #[test]
    fn damaged_bodies_only_cause_a_fault(
        coding in prop::sample::select(CODINGS.to_vec()),
        number in 0usize..60,
        damages in damages(),
        places in places(),
    ) {
        let mut encoded = encode(coding, &events(number));
        damage(&mut encoded, &damages);
        let whole = decode(header(coding), [&encoded[..]]);
        let cut = decode(header(coding), cut(&encoded, &places));
        // Whether and when damage is detected may depend on the chunks: libzstd checks a frame's size only if it has the
        // whole frame. The decoded bytes must not depend on them.
        if whole.1.is_ok() && cut.1.is_ok() {
            prop_assert_eq!(whole, cut);
        }
    }

    #[test]
    fn noise_only_causes_a_fault(
        coding in prop::sample::select(CODINGS.to_vec()),
        noise in prop::collection::vec(any::<u8>(), 0..300),
    ) {
        let _ = decode(header(coding), noise.chunks(7));
    }
}

#[test]
fn whole_bodies_are_decoded_up_to_a_limit() {
    let text = "a body, ".repeat(1000);
    for coding in CODINGS {
        let mut encoder = encoder(coding);
        encoder.write_all(text.as_bytes()).unwrap();
        let encoded = Bytes::from(encoder.end());
        let decode = |limit| decode_body(header(coding), &encoded, limit);
        assert_eq!(decode(text.len()).unwrap(), text, "{coding}");
        assert_eq!(decode(text.len() - 1), Err(DecodeFault::TooLarge), "{coding}");
        let cut = encoded.slice(..encoded.len() - 3);
        assert!(decode_body(header(coding), &cut, text.len()).is_err(), "{coding}");
    }
    let plain = Bytes::from(text);
    assert_eq!(decode_body("identity, ", &plain, 1).unwrap(), plain);
    assert_eq!(decode_body("lzma", &plain, 1), Err(DecodeFault::Unsupported));
}
