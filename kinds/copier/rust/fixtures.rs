//! Values for the fixtures, in memory that Rust lays out, fills and frees. What
//! is drawn, and in which order, is the same as in contender/copier/cmem/fill.c,
//! and so are the functions that are called.

use std::ffi::{c_char, c_float, c_int, c_void, CStr, CString};
use std::ptr;

#[repr(C)]
struct BenchPerson {
    id: c_int,
    name: [c_char; 64],
    balance: f64,
    active: c_int,
}

#[repr(C)]
struct Point3D {
    x: f64,
    y: f64,
    z: f64,
}

#[repr(C)]
struct GameObject {
    id: c_int,
    name: [c_char; 64],
    position: Point3D,
    velocity: Point3D,
    health: c_float,
    level: c_int,
}

#[repr(C)]
struct Device {
    id: c_int,
    name: *mut c_char,
    reading: f64,
}

#[repr(C)]
struct DeviceList {
    owner: *mut c_char,
    count: c_int,
    devices: *mut Device,
    tag_count: c_int,
    tags: *mut c_int,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct Place {
    first: *mut c_void,
    n: c_int,
}

/// SplitMix64: Steele, Lea and Flood, "Fast splittable pseudorandom number
/// generators", OOPSLA 2014.
struct Draw {
    state: u64,
    names: c_int,
    items: c_int,
    base: c_int,
}

impl Draw {
    fn next(&mut self) -> u64 {
        self.state = self.state.wrapping_add(0x9e3779b97f4a7c15);
        let mut z = self.state;
        z = (z ^ z >> 30).wrapping_mul(0xbf58476d1ce4e5b9);
        z = (z ^ z >> 27).wrapping_mul(0x94d049bb133111eb);
        z ^ z >> 31
    }

    fn whole(&mut self) -> c_int {
        (self.next() % 1_000_000) as c_int
    }

    fn number(&mut self) -> f64 {
        (self.next() % 100_000_000) as f64 / 1024.0
    }

    fn part(&mut self) -> c_float {
        (self.next() % 65536) as c_float / 64.0
    }

    /// A name of at most 64 bytes, without a NUL.
    fn text(&mut self) -> Vec<u8> {
        let n = match self.names {
            1 => [0, 1, 62, 63, 64][(self.next() % 5) as usize],
            2 => 60,
            _ => 4 + self.next() % 21,
        };
        (0..n)
            .map(|_| match self.names {
                2 => (1 + self.next() % 255) as u8,
                _ => b'a' + (self.next() % 26) as u8,
            })
            .collect()
    }

    fn chars(&mut self) -> [c_char; 64] {
        let mut out = [0; 64];
        for (to, from) in out.iter_mut().zip(self.text()) {
            *to = from as c_char;
        }
        out
    }

    fn string(&mut self) -> *mut c_char {
        CString::new(self.text()).expect("names hold no NUL").into_raw()
    }

    fn point(&mut self) -> Point3D {
        Point3D { x: self.number(), y: self.number(), z: self.number() }
    }

    fn person(&mut self, i: c_int) -> BenchPerson {
        BenchPerson { id: self.base + i, name: self.chars(), balance: self.number(), active: self.whole() & 1 }
    }

    fn object(&mut self, i: c_int) -> GameObject {
        GameObject {
            id: self.base + i,
            name: self.chars(),
            position: self.point(),
            velocity: self.point(),
            health: self.part(),
            level: self.whole(),
        }
    }

    fn devices(&mut self, _: c_int) -> DeviceList {
        let owner = self.string();
        let devices: Vec<Device> = (0..self.items)
            .map(|k| Device { id: self.base + k, name: self.string(), reading: self.number() })
            .collect();
        let tags: Vec<c_int> = (0..8).map(|_| self.whole()).collect();
        DeviceList {
            owner,
            count: devices.len() as c_int,
            devices: leak(devices),
            tag_count: tags.len() as c_int,
            tags: leak(tags),
        }
    }
}

/// Hands a list out; taken gets it back.
fn leak<T>(list: Vec<T>) -> *mut T {
    Box::into_raw(list.into_boxed_slice()) as *mut T
}

unsafe fn taken<T>(first: *mut T, n: c_int) -> Box<[T]> {
    Box::from_raw(ptr::slice_from_raw_parts_mut(first, n as usize))
}

fn array<T>(d: &mut Draw, count: c_int, one: fn(&mut Draw, c_int) -> T) -> *mut c_void {
    leak((0..count).map(|i| one(d, i)).collect::<Vec<T>>()) as *mut c_void
}

/// # Safety
/// ctype is a text that ends in a NUL.
#[no_mangle]
pub unsafe extern "C" fn fixture_make(ctype: *const c_char, names: c_int, count: c_int, items: c_int, seed: u64) -> *mut c_void {
    let mut d = Draw { state: seed, names, items, base: 0 };
    d.base = d.whole();
    match CStr::from_ptr(ctype).to_bytes() {
        b"BenchPerson" => array(&mut d, count, Draw::person),
        b"GameObject" => array(&mut d, count, Draw::object),
        b"DeviceList" => array(&mut d, count, Draw::devices),
        _ => ptr::null_mut(),
    }
}

/// # Safety
/// first is what fixture_make returned for the same type and count, or null.
#[no_mangle]
pub unsafe extern "C" fn fixture_free(ctype: *const c_char, first: *mut c_void, count: c_int) {
    if first.is_null() {
        return;
    }
    match CStr::from_ptr(ctype).to_bytes() {
        b"BenchPerson" => drop(taken(first as *mut BenchPerson, count)),
        b"GameObject" => drop(taken(first as *mut GameObject, count)),
        b"DeviceList" => {
            for list in taken(first as *mut DeviceList, count).iter() {
                drop(CString::from_raw(list.owner));
                for device in taken(list.devices, list.count).iter() {
                    drop(CString::from_raw(device.name));
                }
                drop(taken(list.tags, list.tag_count));
            }
        }
        _ => {}
    }
}

/// # Safety
/// places has more than i of them.
#[no_mangle]
pub unsafe extern "C" fn fixture_at(places: *const Place, i: c_int) -> Place {
    *places.offset(i as isize)
}
