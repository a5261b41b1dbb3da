package e2e

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tarebench/tare/cgocopy/internal/testenv"
)

const rustLib = `use std::os::raw::c_char;
use std::sync::atomic::{AtomicU32, Ordering};

#[repr(u8)]
#[derive(Clone, Copy)]
pub enum Mode { Idle = 0, Run = 5 }

#[repr(C)]
#[derive(Clone, Copy)]
pub struct Point { pub x: f64, pub y: f64 }

#[repr(C)]
pub struct Sensor {
    pub id: u32,
    pub on: bool,
    pub mode: Mode,
    pub name: [u8; 16],
    pub at: Point,
    pub path: [Point; 2],
    pub label: *const c_char,
    pub samples: *const f32,
    pub samples_len: usize,
}

static LABEL: &[u8] = b"kitchen\0";
static SAMPLES: [f32; 3] = [1.5, -2.0, 0.25];

#[no_mangle]
pub extern "C" fn sensor_fill(s: *mut Sensor) {
    let mut name = [0u8; 16];
    name[..6].copy_from_slice(b"sensor");
    unsafe {
        *s = Sensor {
            id: 7, on: true, mode: Mode::Run, name,
            at: Point { x: 1.0, y: -1.0 },
            path: [Point { x: 2.0, y: 3.0 }, Point { x: 4.0, y: 5.0 }],
            label: LABEL.as_ptr() as *const c_char,
            samples: SAMPLES.as_ptr(), samples_len: SAMPLES.len(),
        };
    }
}

#[repr(C)]
pub struct Count { pub hits: AtomicU32, pub step: u32 }

#[no_mangle]
pub extern "C" fn count(c: &Count) -> u32 { c.hits.fetch_add(c.step, Ordering::Relaxed) }

pub enum Shape { Round(f64), Square { side: f64 } }

#[no_mangle]
pub extern "C" fn area(s: &Shape) -> f64 {
    match s { Shape::Round(r) => r * r, Shape::Square { side } => side * side }
}
`

const rustGo = `package main

// #cgo LDFLAGS: ${SRCDIR}/crate/target/debug/libsensor.a -lm -ldl -lpthread
// void sensor_fill(void *s);
import "C"

import (
	"fmt"
	"unsafe"
)

func main() {
	var b [SizeofSensor / 8]uint64
	C.sensor_fill(unsafe.Pointer(&b))
	var s Sensor
	err := s.FromC(unsafe.Pointer(&b))
	fmt.Printf("%+v %v\n", s, err)
}
`

// TestRust builds a crate with cargo, reads its types from the static library and from the .rlib, and calls
// it.
func TestRust(t *testing.T) {
	skipIfShort(t, "a crate")
	t.Parallel()
	testenv.Programs(t, "cargo", "rustc", "gcc")
	dir := module(t, map[string]string{
		"crate/Cargo.toml": "[package]\nname = \"sensor\"\nversion = \"0.1.0\"\nedition = \"2021\"\n\n[lib]\ncrate-type = [\"staticlib\", \"rlib\"]\n",
		"crate/src/lib.rs": rustLib,
		"main.go":          rustGo,
	})
	if text, err := output(filepath.Join(dir, "crate"), nil, "cargo", "build", "--offline"); err != nil {
		t.Fatalf("%v: %s", err, clip(text))
	}
	args := []string{"gen", "-type", "Sensor", "-repr-c", "-tag", "Sensor.name=,string", "-tag", "Sensor.label=,string", "-tag", "Sensor.samples=,len=samples_len", "-object"}
	var first string
	for _, library := range []string{"libsensor.a", "libsensor.rlib"} {
		mustRun(t, dir, tool, append(args, filepath.Join("crate", "target", "debug", library))...)
		data, err := os.ReadFile(filepath.Join(dir, "z_cgocopy.go"))
		if err != nil {
			t.Fatal(err)
		}
		_, text, _ := strings.Cut(string(data), "\n")
		if first == "" {
			first = text
		} else if text != first {
			t.Errorf("%s says otherwise:\n%s", library, clip(text))
		}
	}
	const want = "{ID:7 On:true Mode:5 Name:sensor At:{X:1 Y:-1} Path:[{X:2 Y:3} {X:4 Y:5}] Label:kitchen Samples:[1.5 -2 0.25] SamplesLen:3} <nil>\n"
	if got := mustRun(t, dir, "go", "run", "."); got != want {
		t.Errorf("%s", got)
	}
	library := filepath.Join("crate", "target", "debug", "libsensor.rlib")
	mustReject(t, dir, []string{"Sensor (struct Sensor) comes from Rust, whose layouts may change unless they are repr(C)", "declare it #[repr(C)] and say so with -repr-c"},
		"gen", "-type", "Sensor", "-object", library, "-o", "z_other.go")
	mustReject(t, dir, []string{"Count.hits (", "Atomic", ": a copy could be torn"}, "gen", "-type", "Count", "-repr-c", "-object", library, "-o", "z_other.go")
	mustReject(t, dir, []string{"is a Rust enum with data"}, "gen", "-type", "Shape", "-repr-c", "-object", library, "-o", "z_other.go")
}
