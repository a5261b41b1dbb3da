package e2e

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tarebench/tare/cgocopy/internal/testenv"
)

const devicesHeader = `#include <stddef.h>
#include <stdint.h>
typedef struct device { int64_t id; char name[16]; const char *path; } Device;
int list_devices(unsigned bus, Device **out, size_t *len);
void free_devices(Device *list, size_t n);
const char *device_strerror(int code);
Device *find_device(const char *name, void *context);
void free_device(Device *d);
int32_t list_ids(int64_t **ids);
void list_names(char ***names, int *n);
const char *version(void);
int stat_device(int64_t id, Device *into);
_Bool device_reset(int type, float level, char mode);
double level_of(const Device *d);
int any(int n, ...);
int old();
struct device by_value(void);
extern int frees, calls;
`

const devicesC = `#include "devices.h"
#include <stdlib.h>
#include <string.h>
int frees, calls;
int list_devices(unsigned bus, Device **out, size_t *len) {
	calls++;
	if (bus == 7) return -3;
	if (bus == 8) { *out = malloc(8); return -4; }
	*out = calloc(3, sizeof **out);
	*len = bus == 9 ? (size_t)-1 : 3;
	for (int i = 0; i < 3; i++) { (*out)[i].id = bus * 10 + i; strcpy((*out)[i].name, "dev"); (*out)[i].path = i == 1 ? "/dev/\xff" : "/dev"; }
	return 0;
}
void free_devices(Device *list, size_t n) { frees += n > 0 || list ? 1 : 100; free(list); }
const char *device_strerror(int code) { return code == -3 ? "no such bus" : "broken"; }
Device *find_device(const char *name, void *context) {
	if (strcmp(name, "x") != 0) return NULL;
	Device *d = calloc(1, sizeof *d);
	d->id = context ? 6 : 5;
	return d;
}
void free_device(Device *d) { frees++; free(d); }
int32_t list_ids(int64_t **ids) { *ids = malloc(16); (*ids)[0] = 4; (*ids)[1] = -4; return 2; }
void list_names(char ***names, int *n) { static char *all[] = {"one", "two", NULL}; *names = all; *n = 3; }
const char *version(void) { return "1.2"; }
int stat_device(int64_t id, Device *into) { if (id < 0) return 5; memset(into, 0, sizeof *into); into->id = id; strcpy(into->name, "stat"); return 0; }
_Bool device_reset(int type, float level, char mode) { return type == 1 && level == 2.5f && mode == 'm'; }
double level_of(const Device *d) { return d ? 0.5 : -1; }
int any(int n, ...) { return n; }
int old() { return 0; }
struct device by_value(void) { return (struct device){0}; }
`

const devicesGo = `package main

// #include "devices.h"
import "C"

import (
	"errors"
	"fmt"
	"unsafe"

	"github.com/tarebench/tare/cgocopy"
)

func main() {
	for _, bus := range []uint32{1, 7, 8, 9} {
		before := C.frees
		list, err := ListDevices(bus)
		fmt.Printf("%d: %+v %v, %d frees\n", bus, list, err, C.frees-before)
	}
	_, err := ListDevices(7)
	var code *cgocopy.CodeError
	fmt.Println(errors.As(err, &code) && code.Code == -3, C.calls)
	fmt.Println(FindDevice("x", nil))
	fmt.Println(FindDevice("x", unsafe.Pointer(&C.calls)))
	_, err = FindDevice("y", nil)
	fmt.Println(err, errors.Is(err, cgocopy.ErrNilPointer), C.frees)
	fmt.Println(ListIds())
	fmt.Println(Names())
	fmt.Println(Version())
	fmt.Println(StatDevice(99))
	fmt.Println(StatDevice(-1))
	fmt.Println(DeviceReset(1, 2.5, 'm'), DeviceReset(2, 2.5, 'm'))
	fmt.Println(LevelOf(nil))
}
`

const devicesWant = `1: [{ID:10 Name:dev Path:/dev} {ID:11 Name:dev Path:/dev/` + "\xff" + `} {ID:12 Name:dev Path:/dev}] <nil>, 1 frees
7: [] list_devices: no such bus (-3), 0 frees
8: [] list_devices: broken (-4), 1 frees
9: [] list_devices.len is -1, 1 frees
true 5
{5  } <nil>
{6  } <nil>
find_device: nil pointer true 5
[4 -4] <nil>
[one two ] <nil>
1.2 <nil>
{99 stat } <nil>
{0  } stat_device returned 5
<nil> device_reset returned 0
-1 <nil>
`

// TestFunc checks that generated functions pass their arguments to C, copy the output, and free it once,
// also if the C function or the copy fails.
func TestFunc(t *testing.T) {
	t.Parallel()
	testenv.Programs(t, "gcc")
	dir := module(t, map[string]string{"devices.h": devicesHeader, "devices.c": devicesC, "main.go": devicesGo})
	mustRun(t, dir, tool, "gen",
		"-func", "list_devices(bus, out, len) error=device_strerror free=free_devices(out,len)",
		"-func", "find_device(name, context) out free=free_device",
		"-func", "list_ids(out) len free=free",
		"-func", "list_names(out, len) as=Names",
		"-func", "version() out",
		"-func", "stat_device(id,out) error",
		"-func", "device_reset(type, level, mode) ok",
		"-func", "level_of(d) out",
		"devices.h")
	mustRun(t, dir, "go", "vet", ".")
	for _, args := range [][]string{nil, checkptr} {
		if testing.Short() && args == nil {
			continue
		}
		if got := mustRun(t, dir, "go", append(append([]string{"run"}, args...), ".")...); got != devicesWant {
			t.Errorf("%v: got\n%s\nwant\n%s", args, got, devicesWant)
		}
	}
	if text := mustRun(t, dir, tool, "check"); !strings.Contains(text, "1 checked, all up to date") {
		t.Error(text)
	}
	// A function whose prototype changes is drift.
	write(t, dir, map[string]string{"devices.h": strings.Replace(devicesHeader, "int64_t id, Device *into", "int32_t id, Device *into", 1)})
	text, err := output(dir, nil, tool, "check")
	if err == nil || !strings.Contains(text, "stat_device() is int (int32_t, Device *), not int (int64_t, Device *)") {
		t.Errorf("%v: %s", err, text)
	}
}

// TestFuncFreesOnce checks that the C list is freed once if the copy of its second element fails.
func TestFuncFreesOnce(t *testing.T) {
	skipIfShort(t, "a program of its own")
	t.Parallel()
	testenv.Programs(t, "gcc")
	dir := module(t, map[string]string{"devices.h": devicesHeader, "devices.c": devicesC, "main.go": `package main

// #include "devices.h"
import "C"

import "fmt"

func main() {
	_, err := ListDevices(1)
	fmt.Println(err, C.frees)
}
`})
	mustRun(t, dir, tool, "gen", "-func", "list_devices(bus, out, len) error free=free_devices(out,len)", "-tag", "Device.path=,utf8=error", "devices.h")
	if got := mustRun(t, dir, "go", "run", "."); got != "list_devices.out: Device.path: text is not UTF-8 1\n" {
		t.Error(got)
	}
}

// TestFuncRefused checks the errors for specifications that do not fit the C functions, and that nothing
// is written.
func TestFuncRefused(t *testing.T) {
	skipIfShort(t, "C that is compiled")
	t.Parallel()
	testenv.Programs(t, "gcc")
	dir := module(t, map[string]string{"devices.h": devicesHeader})
	for call, want := range map[string]string{
		"any(n) error":                                     "any.() (int (int, ...)) takes any number of arguments",
		"old() error":                                      "old.() (int (...)) takes any number of arguments, or declares none: write (void)",
		"nothing() error":                                  "no function nothing in devices.h",
		"Device(x) out":                                    "no function Device in devices.h",
		"list_devices(out, len) error":                     "takes 3 arguments, and 2 are described",
		"list_devices(bus, out, len)":                      "returns int: say what that is: error, ok, len or out",
		"list_devices(out, bus, len) error":                "has out as unsigned int, which is no pointer",
		"list_devices(bus, items, len) error":              "has a len, and no out that it counts",
		"list_devices(bus, out, out) error":                "has two parameters out",
		"list_names(out, len) error":                       "returns nothing, and error is wanted",
		"version() error":                                  "returns char *, which is no error",
		"version() len":                                    "returns char *, which is no len",
		"by_value() out":                                   "returns struct device by value",
		"list_ids(out) out":                                "has out as a parameter and as its result",
		"list_ids(out) error":                              "list_ids.out (int64_t *) points to one value, or to many",
		"find_device(name, c) out free=free_devices":       "find_device: free=free_devices: it takes 2 arguments, not 1; say them",
		"stat_device(id, out) error free=free":             "gives no pointer that could be freed",
		"version() out free=frie":                          "no function frie in devices.h",
		"stat_device(id, out) error=device_reset":          "stat_device: error=device_reset: it is no function of a code that returns text",
		"list_ids(out) len free=list_ids(out,len)":         "it takes 1 arguments, not 2",
		"find_device(n, c) out free=free_devices(out,len)": "is freed with a len, and has none",
	} {
		mustReject(t, dir, []string{want}, "gen", "-pkg", "m", "-func", call, "devices.h")
	}
}

// TestABI checks that CheckABI finds a library that was built from another declaration, and names the
// member.
func TestABI(t *testing.T) {
	skipIfShort(t, "a program and three libraries")
	t.Parallel()
	testenv.Programs(t, "gcc")
	header := "#ifdef NEW\nstruct person { char name[40]; int age; struct { int x, y; } at; };\n#elif defined(SWAPPED)\nstruct person { char name[32]; int age; struct { int y, x; } at; };\n#else\nstruct person { char name[32]; int age; struct { int x, y; } at; };\n#endif\n"
	dir := module(t, map[string]string{"lib/person.h": header, "main.go": `package main

// #cgo LDFLAGS: -ldl
// #include <dlfcn.h>
// #include <stdlib.h>
import "C"

import (
	"fmt"
	"os"
)

func main() {
	path, name := C.CString(os.Args[1]), C.CString("cgocopy_abi_main")
	h := C.dlopen(path, C.RTLD_NOW)
	if h == nil {
		fmt.Println(C.GoString(C.dlerror()))
		os.Exit(1)
	}
	fmt.Println(CheckABI(C.dlsym(h, name)))
}
`})
	mustRun(t, dir, tool, "gen", "-type", "person", "-abi", "lib/abi.c", "lib/person.h")
	mustRun(t, dir, "go", "build", "-o", "program", ".")
	for flags, want := range map[string]string{
		"-O1":       "<nil>\n",
		"-DNEW":     "the library has sizeof(struct person) = 52, and this program was generated for 44\n",
		"-DSWAPPED": "the library has offsetof(struct person, at.x) = 40, and this program was generated for 36\n",
	} {
		mustRun(t, dir, "gcc", "-I.", flags, "-fvisibility=hidden", "-shared", "-fPIC", "-o", "lib.so", "lib/abi.c")
		if got := mustRun(t, dir, "./program", "./lib.so"); got != want {
			t.Errorf("%s: %s", flags, got)
		}
	}
	text := mustRun(t, dir, tool, "check")
	if !strings.Contains(text, "1 checked") {
		t.Error(text)
	}
	if err := os.Remove(filepath.Join(dir, "lib", "abi.c")); err != nil {
		t.Fatal(err)
	}
	if text, err := output(dir, nil, tool, "check"); err == nil || !strings.Contains(text, "lib/abi.c is missing next to it") {
		t.Errorf("%v: %s", err, text)
	}
}
