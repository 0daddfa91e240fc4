//! The integers of the wire: base-128 digits, most significant first, the high bit set on every
//! byte but the last, and no leading zero digit. Rule REC-2.

/// A 64-bit number takes at most 10 digits of 7 bits.
pub(crate) const BYTES_MAX: usize = 10;

/// Appends `value`.
pub(crate) fn write(out: &mut Vec<u8>, value: u64) {
    let digits = usize::try_from((u64::BITS - value.leading_zeros()).div_ceil(7))
        .expect("at most 10")
        .max(1);
    for place in (0..digits).rev() {
        let digit = (value >> (7 * place)) & 0x7f;
        let more = if place > 0 { 0x80 } else { 0 };
        out.push(u8::try_from(digit).expect("7 bits") | more);
    }
}

/// Why bytes are not a varint.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Fault {
    /// The bytes end on a digit that announces another.
    Truncated,
    /// The number needs more than 64 bits.
    Overflow,
    /// It begins with a zero digit that could have been left out.
    Padded,
}

/// Reads one varint from the front; returns it and how many bytes it took.
pub(crate) fn read(bytes: &[u8]) -> Result<(u64, usize), Fault> {
    let mut value: u64 = 0;
    for (index, byte) in bytes.iter().enumerate() {
        if index == 0 && *byte == 0x80 {
            return Err(Fault::Padded);
        }
        if value > u64::MAX >> 7 {
            return Err(Fault::Overflow);
        }
        value = (value << 7) | u64::from(byte & 0x7f);
        if byte & 0x80 == 0 {
            return Ok((value, index + 1));
        }
    }
    Err(Fault::Truncated)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn written(value: u64) -> Vec<u8> {
        let mut out = Vec::new();
        write(&mut out, value);
        out
    }

    #[test]
    fn known_encodings() {
        assert_eq!(written(0), [0]);
        assert_eq!(written(127), [0x7f]);
        assert_eq!(written(128), [0x81, 0x00]);
        assert_eq!(written(u64::MAX).len(), BYTES_MAX);
    }

    #[test]
    fn faults_are_told_apart() {
        assert_eq!(read(&[]), Err(Fault::Truncated));
        assert_eq!(read(&[0x81, 0x80]), Err(Fault::Truncated));
        assert_eq!(read(&[0x80, 0x01]), Err(Fault::Padded));
        // 2^64: one more than fits.
        let mut over = vec![0x82];
        over.extend([0x80; 8]);
        over.push(0x00);
        assert_eq!(read(&over), Err(Fault::Overflow));
        assert_eq!(read(&[0xff; 4096]), Err(Fault::Overflow));
    }

    proptest! {
        #[test]
        fn what_is_written_is_read(value: u64, tail: Vec<u8>) {
            let mut bytes = written(value);
            let length = bytes.len();
            bytes.extend(tail);
            prop_assert_eq!(read(&bytes), Ok((value, length)));
        }

        #[test]
        fn what_is_read_is_what_would_be_written(bytes: Vec<u8>) {
            if let Ok((value, length)) = read(&bytes) {
                prop_assert_eq!(&bytes[..length], &written(value)[..]);
            }
        }
    }
}
