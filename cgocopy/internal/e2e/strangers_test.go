package e2e

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tarebench/tare/cgocopy/internal/testenv"
)

// strangers is a header with constructs that real libraries have: two views of a protocol header, two
// names for a number, an event whose members all begin with its type, and linked lists.
const strangers = `#include <stdint.h>
struct segment {
	__extension__ union {
		struct { uint16_t from, to; uint8_t low : 4, high : 4; uint8_t flags; };
		struct { uint16_t source, dest; uint16_t low1 : 4, high1 : 4, fin : 1, syn : 1, rest : 6; };
	};
	union { long most; long word_most; };
	union { uint8_t len; uint8_t dlc; };
	union { uint8_t b[16]; uint16_t s[8]; uint32_t w[4]; } addr, route[2];
};
typedef enum { IDLE, KEY_DOWN = 2, POINTER = 4 } InputType;
typedef struct { InputType type; uint32_t time; int code; } KeyInput;
typedef struct { InputType type; uint32_t time; float x, y; const char *device; } PointerInput;
typedef union Input { InputType type; KeyInput key; PointerInput pointer; long room[8]; } Input;
struct recording { int n; Input last; Input list[3]; struct recording *next; const char *title; void *owner; };
`

// TestStrangers checks that a program reads the values that C has written, that one tag is enough for
// events, that omitted pointers are listed, and that check finds an added pointer.
func TestStrangers(t *testing.T) {
	skipIfShort(t, "a program of its own")
	t.Parallel()
	testenv.Programs(t, "gcc")
	dir := module(t, map[string]string{"s.h": strangers})
	mustReject(t, dir, []string{
		"Input (Input) is a union, and nothing around it shows which member holds; where its members begin with a number that does, say so with -tag 'Input=union=MEMBER:0:first,1:second'",
	}, "gen", "-type", "Input", "-pkg", "m", "s.h")
	args := []string{"gen", "-pkg", "m", "-type", "segment,recording,Input", "-omit", "pointers", "-tag", "Input=union=type:2:key,4:pointer", "-tag", "recording.title=,max=99", "s.h"}
	mustRun(t, dir, tool, args...)
	mustRun(t, dir, "go", "test", "-vet=all", ".")
	mustRun(t, dir, tool, "check")
	made, err := os.ReadFile(filepath.Join(dir, "z_cgocopy.go"))
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"// Left out by -omit pointers, as no tag names them:\n//\n//\tPointerInput.device (char *)\n//\trecording.next (struct recording *)\n//\trecording.owner (void *)\n",
		"\tFrom  uint16 ", "\tMost  int64 ", "\tLen   uint8 ", "\tAddr  [16]uint8 ", "// addr.b\n", "\tTitle string ",
		"\tType  InputType  // type\n\tUnion InputUnion // the member that type says\n",
	} {
		if !strings.Contains(string(made), want) {
			t.Errorf("nothing of %q in\n%s", want, clip(string(made)))
		}
	}
	write(t, dir, map[string]string{"s.h": strings.Replace(strangers, "uint8_t dlc;", "int8_t dlc;", 1)})
	text, err := output(dir, nil, tool, "check")
	if err == nil || !strings.Contains(text, "segment.len (union without a name) is a union, and C does not say which member holds") {
		t.Errorf("%v: %s", err, text)
	}
	write(t, dir, map[string]string{"s.h": strings.Replace(strangers, "void *owner;", "void *more;", 1)})
	text, err = output(dir, nil, tool, "check")
	if err == nil || !strings.Contains(text, "recording.more (void *) is left out as a pointer, and was not there, or was taken, before") || !strings.Contains(text, "recording.owner (void *) was left out as a pointer, and is gone, or taken, now") {
		t.Errorf("%v: %s", err, text)
	}
	write(t, dir, map[string]string{"s.h": strangers, "main.go": `package main

import (
	"fmt"
	"unsafe"
)

func main() {
	raw := [16]uint32{4, 77, 0x3fc00000, 0x40200000}
	var in Input
	fmt.Println(in.FromC(unsafe.Pointer(&raw)), in.Union.Pointer.X, in.Union.Pointer.Y, in.Union.Key.Code)
	raw[0], raw[2] = 2, 5
	fmt.Println(in.FromC(unsafe.Pointer(&raw)), in.Union.Key.Code, in.Union.Pointer.X)
	raw[0] = 9
	fmt.Println(in.FromC(unsafe.Pointer(&raw)), in.Type)
}
`})
	args[2] = "main"
	mustRun(t, dir, tool, args...)
	if text := mustRun(t, dir, "go", "run", "."); text != "<nil> 1.5 2.5 0\n<nil> 5 0\nInput.type is 9, for which the union has no member 9\n" {
		t.Error(text)
	}
	if text, err := output(dir, nil, tool, "gen", "-type", "Input", "-omit", "texts", "s.h"); err == nil || !strings.Contains(text, "-omit texts: what can be omitted is pointers") {
		t.Errorf("%v: %s", err, text)
	}
}

// TestStrangersBound checks that the user's own types can take such unions too.
func TestStrangersBound(t *testing.T) {
	skipIfShort(t, "a program of its own")
	t.Parallel()
	testenv.Programs(t, "gcc")
	dir := module(t, map[string]string{"s.h": strangers, "own.go": `package m

type Segment struct {
	From, To  uint16
	High      int
	Flags     byte
	Len       int
	Most      int64
	Addr      [16]byte
	Route     [2][16]byte
}
`})
	text := mustRun(t, dir, tool, "bind", "-type", "Segment=segment", "s.h")
	if text != "note: s.h:4: struct segment.low (uint8_t) is taken by no field of Segment\n" {
		t.Error(text)
	}
	mustRun(t, dir, "go", "test", "-vet=all", ".")
}

// TestSystemHeaders generates structs of the headers of Linux and glibc in one package, and runs the
// generated test.
func TestSystemHeaders(t *testing.T) {
	skipIfShort(t, "thirty structs")
	t.Parallel()
	testenv.Programs(t, "gcc")
	headers := strings.Fields("<sys/stat.h> <time.h> <sys/time.h> <sys/resource.h> <sys/utsname.h> <sys/statvfs.h> <dirent.h> <termios.h> <sys/ioctl.h> <poll.h> <netinet/in.h> <sys/un.h> <netinet/tcp.h> <netinet/udp.h> <netinet/ip.h> <linux/can.h> <pwd.h> <grp.h> <netdb.h> <sys/timex.h> <linux/input.h> <sys/uio.h> <sys/socket.h> <sys/ipc.h> <utmp.h> <mntent.h>")
	types := strings.Fields("stat tm timespec timeval rusage rlimit utsname statvfs dirent termios winsize pollfd sockaddr_in sockaddr_in6 in6_addr sockaddr_un tcphdr udphdr iphdr tcp_info can_frame passwd group addrinfo hostent timex input_event iovec msghdr ipc_perm utmp mntent")
	if len(types) < 30 {
		t.Fatalf("%d types", len(types))
	}
	probe := "#include <features.h>\n#ifndef __GLIBC__\n#error no glibc\n#endif\n"
	for _, h := range headers {
		probe += "#include " + h + "\n"
	}
	dir := module(t, map[string]string{"probe.c": probe})
	if text, err := output(dir, nil, "gcc", "-c", "-o", os.DevNull, "probe.c"); err != nil {
		t.Skip("not the headers of Linux and glibc: " + clip(text))
	}
	os.Remove(filepath.Join(dir, "probe.c"))
	mustRun(t, dir, tool, append([]string{"gen", "-pkg", "m", "-omit", "pointers", "-type", strings.Join(types, ",")}, headers...)...)
	mustRun(t, dir, "go", "test", ".")
}
