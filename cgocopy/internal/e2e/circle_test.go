package e2e

import (
	"strings"
	"testing"

	"github.com/tarebench/tare/cgocopy/internal/testenv"
)

const circleHeader = `#include <stdlib.h>
struct ring { int id; struct ring *next; char *name; int n_kids; struct ring *kids; };
struct box { struct ring *ring; };
enum kind { KEY_DOWN = 1, KEY_UP, MOVE };
struct event { enum kind kind; union { struct { int lo, hi; }; struct { int code; } key; struct { double x, y; } at; }; };
extern int given, freed;
struct box *box(int n, int back);
void drop(void *p);
`

const circleC = `#include "circle.h"
#include <string.h>
int given, freed;
static struct ring *one(int id) {
	struct ring *r = calloc(1, sizeof *r);
	*r = (struct ring){.id = id, .name = strdup("name"), .n_kids = 2, .kids = calloc(2, sizeof *r)};
	given += 3;
	return r;
}
struct box *box(int n, int back) {
	struct box *b = calloc(1, sizeof *b);
	struct ring *at = b->ring = one(0), *to = back == 0 ? at : 0;
	for (int i = 1; i < n; i++) {
		at = at->next = one(i);
		if (i == back) to = at;
	}
	at->next = to;
	at->kids[1].next = back >= 0 ? b->ring : 0;
	at->kids[0].next = back >= 0 ? &at->kids[1] : 0;
	return b;
}
void drop(void *p) { if (p) freed++; free(p); }
`

const circleGo = `package main

// #include "circle.h"
import "C"

import (
	"errors"
	"fmt"
	"unsafe"

	"github.com/tarebench/tare/cgocopy"
)

func main() {
	for _, c := range [][2]int{{3, -1}, {9, -1}, {1, 0}, {3, 0}, {3, 1}, {3, 2}, {9, 4}} {
		C.given, C.freed = 0, 0
		b := C.box(C.int(c[0]), C.int(c[1]))
		var got Box
		err := got.TakeFromC(unsafe.Pointer(b))
		if tooDeep := c[0] > 3 || c[1] >= 0; errors.Is(err, cgocopy.ErrDepth) != tooDeep || !tooDeep && err != nil || C.freed != C.given || b.ring != nil {
			fmt.Println(c, err, C.given, C.freed)
		}
		C.free(unsafe.Pointer(b))
	}
	var e Event
	for kind, want := range map[Kind]EventKey{KindKeyDown: {Code: 7}, KindKeyUp: {Code: 7}, KindMove: {}} {
		raw := [24]byte{0: byte(kind), 8: 7}
		if err := e.FromC(unsafe.Pointer(&raw)); err != nil || e.Lo.Key != (EventLoKey(want)) {
			fmt.Println(kind, e, err)
		}
	}
	fmt.Println("done")
}

type EventKey = EventLoKey
`

// TestCircles checks that structs in a pointer cycle are freed once, and that several values of a
// discriminant may select the same member of a union.
func TestCircles(t *testing.T) {
	skipIfShort(t, "C that is compiled")
	t.Parallel()
	testenv.Programs(t, "gcc")
	dir := module(t, map[string]string{"circle.h": circleHeader, "circle.c": circleC, "main.go": circleGo})
	mustRun(t, dir, tool, "gen", "-type", "box,event", "-tag", "box.ring=depth=4,free=drop", "-tag", "ring.next=depth=4,free=drop", "-tag", "ring.name=free=drop",
		"-tag", "ring.kids=len=n_kids,depth=4,free=drop", "-tag", "event.lo=union=kind:1:key,2:key,3:at", "circle.h")
	mustRun(t, dir, "go", "test", "-vet=all", ".")
	for _, flags := range [][]string{checkptr, {"-asan"}} {
		if text, err := output(dir, nil, "go", append(append([]string{"build", "-o", "circle"}, flags...), ".")...); err != nil {
			t.Logf("go build %s: %s", flags, clip(text))
			continue
		}
		if text, err := output(dir, []string{"ASAN_OPTIONS=detect_leaks=0"}, "./circle"); err != nil || text != "done\n" {
			t.Errorf("%s: %v: %s", flags, err, clip(text))
		}
	}
	if testing.Short() {
		return // what follows needs a standard library for 386
	}
	// Pointers of another size than in C do not compile.
	if text, err := output(dir, []string{"GOARCH=386", "CGO_ENABLED=0"}, "go", "vet", "z_cgocopy.go"); err == nil || !strings.Contains(text, "unsafe.Sizeof(uintptr(0)) - 8") {
		t.Errorf("%v: %s", err, text)
	}
}
