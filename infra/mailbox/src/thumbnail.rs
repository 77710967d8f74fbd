//! A small picture of an attachment: 180 by 120 pixels of JPEG, as Mailpit's.

use std::io::Cursor;

use image::codecs::jpeg::JpegEncoder;
use image::imageops::{self, FilterType};
use image::{DynamicImage, ImageReader, Limits, Rgb, RgbImage};

const WIDTH: u32 = 180;
const HEIGHT: u32 = 120;
const QUALITY: u8 = 70;

/// Pixels of a side of a picture that is read.
const LONGEST_SIDE: u32 = 16_000;

/// Bytes that the reader may use for a picture: 20 million pixels.
const LARGEST: u64 = 80 << 20;

/// A picture that is smaller lies on white, a larger one is cut. What is no picture of a known kind, or too large to
/// read, is white.
pub(crate) fn thumbnail(kind: &str, bytes: &[u8]) -> Vec<u8> {
    let shown = if kind.starts_with("image/") {
        read(bytes)
    } else {
        None
    };
    let mut page = RgbImage::from_pixel(WIDTH, HEIGHT, Rgb([255; 3]));
    if let Some(picture) = shown {
        lay(&mut page, &picture);
    }
    let mut jpeg = Vec::new();
    let encoder = JpegEncoder::new_with_quality(&mut jpeg, QUALITY);
    if let Err(error) = page.write_with_encoder(encoder) {
        tracing::warn!(%error, "a thumbnail could not be written: {error}");
    }
    jpeg
}

fn read(bytes: &[u8]) -> Option<DynamicImage> {
    let mut limits = Limits::default();
    limits.max_image_width = Some(LONGEST_SIDE);
    limits.max_image_height = Some(LONGEST_SIDE);
    limits.max_alloc = Some(LARGEST);
    let mut reader = ImageReader::new(Cursor::new(bytes))
        .with_guessed_format()
        .ok()?;
    reader.limits(limits);
    let picture = reader.decode().ok()?;
    Some(if picture.width() < WIDTH || picture.height() < HEIGHT {
        let is_larger = picture.width() > WIDTH || picture.height() > HEIGHT;
        if is_larger {
            picture.resize(WIDTH, HEIGHT, FilterType::Triangle)
        } else {
            picture
        }
    } else {
        picture.resize_to_fill(WIDTH, HEIGHT, FilterType::Triangle)
    })
}

/// Lays a picture into the middle of the page; where it is transparent the page shows.
fn lay(page: &mut RgbImage, picture: &DynamicImage) {
    let mut whole = DynamicImage::ImageRgb8(page.clone()).to_rgba8();
    let left = i64::from((WIDTH.saturating_sub(picture.width())) / 2);
    let top = i64::from((HEIGHT.saturating_sub(picture.height())) / 2);
    imageops::overlay(&mut whole, &picture.to_rgba8(), left, top);
    *page = DynamicImage::ImageRgba8(whole).to_rgb8();
}

#[cfg(test)]
mod tests {
    use image::{ImageFormat, Rgba, RgbaImage};

    use super::*;

    fn png(width: u32, height: u32, color: [u8; 4]) -> Vec<u8> {
        let mut bytes = Cursor::new(Vec::new());
        let picture = RgbaImage::from_pixel(width, height, Rgba(color));
        picture.write_to(&mut bytes, ImageFormat::Png).unwrap();
        bytes.into_inner()
    }

    /// The colours in a corner and in the middle: white and red, or what else.
    fn colors(kind: &str, bytes: &[u8]) -> [&'static str; 2] {
        let jpeg = thumbnail(kind, bytes);
        let picture = image::load_from_memory_with_format(&jpeg, ImageFormat::Jpeg).unwrap();
        assert_eq!((picture.width(), picture.height()), (WIDTH, HEIGHT));
        let picture = picture.to_rgb8();
        [(0, 0), (WIDTH / 2, HEIGHT / 2)].map(|(x, y)| {
            let [red, green, blue] = picture.get_pixel(x, y).0;
            match (red > 200, green.max(blue)) {
                (true, 241..) => "white",
                (true, ..60) => "red",
                _ => "other",
            }
        })
    }

    #[test]
    fn a_small_picture_lies_on_white_and_a_large_one_is_cut() {
        let red = [255, 0, 0, 255];
        assert_eq!(colors("image/png", &png(20, 20, red)), ["white", "red"]);
        assert_eq!(colors("image/png", &png(1_000, 100, red)), ["white", "red"]);
        assert_eq!(colors("image/png", &png(640, 900, red)), ["red", "red"]);
        let clear = [255, 0, 0, 0];
        assert_eq!(
            colors("image/png", &png(640, 900, clear)),
            ["white", "white"]
        );
    }

    #[test]
    fn what_is_no_picture_is_white() {
        let red = png(640, 900, [255, 0, 0, 255]);
        let white = ["white", "white"];
        assert_eq!(colors("application/pdf", &red), white);
        for bytes in [&b""[..], b"no picture", &red[..40], b"\x89PNG\r\n\x1a\n"] {
            assert_eq!(colors("image/png", bytes), white);
        }
    }

    /// A few bytes may claim any size.
    #[test]
    fn a_picture_that_would_fill_the_memory_is_white() {
        let mut huge = png(1, 1, [255, 0, 0, 255]);
        huge[16..24].copy_from_slice(&[0, 0, 0x3e, 0x80, 0, 0, 0x3e, 0x80]);
        let mut crc = flate2::Crc::new();
        crc.update(&huge[12..29]);
        huge[29..33].copy_from_slice(&crc.sum().to_be_bytes());
        assert!(read(&huge).is_none());
        assert_eq!(colors("image/png", &huge), ["white", "white"]);
    }
}
