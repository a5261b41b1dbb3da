//! Sensors, for programs that call C.

use std::os::raw::c_char;

/// Reading is laid out as C does: cgocopy takes no other structs.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct Reading {
    pub id: u32,
    pub name: [c_char; 16],
    pub celsius: f64,
    pub place: Place,
    pub ok: bool,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct Place {
    pub row: u16,
    pub column: u16,
}

const fn name(text: &[u8]) -> [c_char; 16] {
    let mut out = [0; 16];
    let mut i = 0;
    while i < text.len() {
        out[i] = text[i] as c_char;
        i += 1;
    }
    out
}

static READINGS: [Reading; 2] = [
    Reading { id: 1, name: name(b"boiler"), celsius: 71.5, place: Place { row: 3, column: 9 }, ok: true },
    Reading { id: 2, name: name(b"cellar"), celsius: -0.5, place: Place { row: 1, column: 2 }, ok: false },
];

/// readings is an array of *n, which lives as long as the program.
///
/// # Safety
/// n must point to a number that may be written.
#[no_mangle]
pub unsafe extern "C" fn readings(n: *mut usize) -> *const Reading {
    *n = READINGS.len();
    READINGS.as_ptr()
}
