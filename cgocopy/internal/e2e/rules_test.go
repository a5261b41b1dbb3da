package e2e

import (
	"strings"
	"testing"

	"github.com/tarebench/tare/cgocopy/internal/testenv"
)

const rulesHeader = `#include <stddef.h>
#include <stdint.h>
#include <stdbool.h>

typedef struct { char s[5]; } Chars;
typedef struct { const char *text, *brief; } Text;
typedef struct { char kept[4], replaced[4]; const char *strict; } Coded;
typedef struct { int32_t *items; int items_count; const uint64_t *wide; uint64_t wide_count; } Counted;
typedef struct { double x, y; } Point;
enum mode { IDLE, RUN = 5, BROKEN = -1 };
typedef struct { Point at; Point path[2]; int grid[2][3]; enum mode mode; bool on; void (*call)(int); void *opaque; } Mixed;
typedef struct { unsigned a : 3; int b : 5; unsigned long long c : 40; bool d : 1; } Bits;
typedef struct __attribute__((packed)) { char tag; int32_t n; double d; const char *text; struct { char c; int64_t wide; } in[2]; } Packed;
typedef struct { int kind; union { int32_t i; float f; char t[8]; } u; } Event;
typedef struct { uint16_t n; uint16_t tail[]; } Tail;
typedef struct node { int id; struct node *next; } Node;
typedef struct tree { int id; int kids_count; struct tree *kids; } Tree;
typedef struct { char *name; int n; Point *points; } Owned;
typedef struct { int id; char *note; } Handle;

void *make(const char *what);
void drop(void *p);
void handle_free(Handle *h);
void counted_free(void *p);
extern int freed;
`

const rulesC = `#include "rules.h"
#include <stdlib.h>
#include <string.h>

int freed;
void counted_free(void *p) { freed++; free(p); }
void handle_free(Handle *h) { freed++; free(h->note); free(h); }
void drop(void *p) { free(p); }
static void hit(int n) { (void)n; }

// Everything has exactly the bytes of its type, so that whoever reads more is
// caught.
#define NEW(T, name, ...) T *name = malloc(sizeof(T)); *name = (T){__VA_ARGS__}
static char *text(const char *s, size_t n) { char *p = malloc(n); memcpy(p, s, n); return p; }

void *make(const char *what) {
	if (!strcmp(what, "chars full")) { NEW(Chars, p); memcpy(p->s, "abcde", 5); return p; }
	if (!strcmp(what, "chars short")) { NEW(Chars, p); strcpy(p->s, "ab"); return p; }
	if (!strcmp(what, "text")) { NEW(Text, p, text("hello", 6), NULL); return p; }
	if (!strcmp(what, "text brief")) { NEW(Text, p, NULL, text("12345678", 9)); return p; }
	if (!strcmp(what, "text too long")) { NEW(Text, p, NULL, text("123456789", 9)); return p; }
	if (!strcmp(what, "text endless")) { char *m = malloc((1 << 20) + 1); memset(m, 'x', (1 << 20) + 1); NEW(Text, p, m, NULL); return p; }
	if (!strcmp(what, "text million")) { char *m = calloc(1, (1 << 20) + 1); memset(m, 'x', 1 << 20); NEW(Text, p, m, NULL); return p; }
	if (!strcmp(what, "coded")) { NEW(Coded, p, "a\xff", "a\xff", "fine"); return p; }
	if (!strcmp(what, "coded badly")) { NEW(Coded, p, "a", "b", text("c\xc3", 3)); return p; }
	if (!strcmp(what, "counted")) { int32_t *i = malloc(12); i[0] = 1; i[1] = -2; i[2] = 3; NEW(Counted, p, i, 3, NULL, 0); return p; }
	if (!strcmp(what, "counted negative")) { NEW(Counted, p, malloc(4), -1, NULL, 0); return p; }
	if (!strcmp(what, "counted above max")) { NEW(Counted, p, malloc(4), 101, NULL, 0); return p; }
	if (!strcmp(what, "counted overflowing")) { NEW(Counted, p, NULL, 0, malloc(8), (uint64_t)1 << 63); return p; }
	if (!strcmp(what, "counted all ones")) { NEW(Counted, p, NULL, 0, malloc(8), ~(uint64_t)0); return p; }
	if (!strcmp(what, "counted nil")) { NEW(Counted, p, NULL, 2, NULL, 0); return p; }
	if (!strcmp(what, "counted nothing")) { NEW(Counted, p, NULL, 0, NULL, 0); return p; }
	if (!strcmp(what, "mixed")) {
		NEW(Mixed, p, {1.5, -2.5}, {{1, 2}, {3, 4}}, {{1, 2, 3}, {4, 5, 6}}, BROKEN, true, hit, (void *)0x1234);
		memset(&p->on, 2, 1); // any byte that is not zero
		return p;
	}
	if (!strcmp(what, "bits")) { NEW(Bits, p, 5, -16, 0x9876543210ULL, true); return p; }
	if (!strcmp(what, "packed")) { NEW(Packed, p, 'x', -7, 2.5, text("odd", 4), {{'a', -1}, {'b', INT64_MIN}}); return p; }
	if (!strcmp(what, "event int")) { NEW(Event, p, 0); p->u.i = -9; return p; }
	if (!strcmp(what, "event float")) { NEW(Event, p, 1); p->u.f = 0.5f; return p; }
	if (!strcmp(what, "event text")) { NEW(Event, p, 2); memcpy(p->u.t, "12345678", 8); return p; }
	if (!strcmp(what, "event unknown")) { NEW(Event, p, 3); return p; }
	if (!strcmp(what, "tail")) { Tail *p = malloc(sizeof *p + 6); p->n = 3; p->tail[0] = 1; p->tail[1] = 65535; p->tail[2] = 3; return p; }
	if (!strcmp(what, "chain") || !strcmp(what, "long chain")) {
		NEW(Node, c, 3, NULL); NEW(Node, b, 2, c); NEW(Node, a, 1, b);
		if (what[0] == 'l') { NEW(Node, d, 4, NULL); c->next = d; }
		return a;
	}
	if (!strcmp(what, "circle")) { NEW(Node, a, 1, NULL); a->next = a; return a; }
	if (!strcmp(what, "tree")) {
		Tree *kids = calloc(2, sizeof *kids); kids[0].id = 2; kids[1].id = 3;
		NEW(Tree, p, 1, 2, kids); return p;
	}
	if (!strcmp(what, "tree in a circle")) { NEW(Tree, p, 1, 1, NULL); p->kids = p; return p; }
	if (!strcmp(what, "owned")) { Point *l = calloc(2, sizeof *l); l[1].y = 4; NEW(Owned, p, text("mine", 5), 2, l); return p; }
	if (!strcmp(what, "owned badly")) { NEW(Owned, p, text("mine", 5), -1, malloc(16)); return p; }
	if (!strcmp(what, "handle")) { NEW(Handle, p, 7, text("note", 5)); return p; }
	abort();
}
`

// rulesGo is a program that checks every rule. The rows have the names of the table of rules.
const rulesGo = `package main

// #include "rules.h"
// #include <stdlib.h>
import "C"

import (
	"errors"
	"fmt"
	"os"
	"reflect"
	"strings"
	"unsafe"

	"github.com/tarebench/tare/cgocopy"
)

type from[T any] interface {
	*T
	FromC(unsafe.Pointer) error
}

func memory(what string) unsafe.Pointer {
	s := C.CString(what)
	defer C.free(unsafe.Pointer(s))
	return C.make(s)
}

var failed bool

func fail(row, what string, got any, err error) {
	fmt.Printf("%s: %s: %+v, %v\n", row, what, got, err)
	failed = true
}

// is fills twice, from what C made, and wants that value.
func is[T any, P from[T]](row, what string, want T) {
	p := memory(what)
	defer C.drop(p)
	var got T
	for range 2 {
		if err := P(&got).FromC(p); err != nil || !reflect.DeepEqual(got, want) {
			fail(row, what, got, err)
			return
		}
	}
}

// fails wants an error that is target, and says says.
func fails[T any, P from[T]](row, what string, target error, says string) {
	p := memory(what)
	defer C.drop(p)
	var got T
	err := P(&got).FromC(p)
	if target != nil && !errors.Is(err, target) || err == nil || err.Error() != says {
		fail(row, what, got, err)
	}
}

func main() {
	row := "nil pointer"
	c := Chars{S: "before"}
	if err := c.FromC(nil); !errors.Is(err, cgocopy.ErrNilPointer) || c.S != "before" {
		fail(row, "nil", c, err)
	}
	m := Mixed{On: true}
	if err := m.FromC(nil); !errors.Is(err, cgocopy.ErrNilPointer) || !m.On {
		fail(row, "nil", m, err)
	}
	is(row, "text brief", Text{Text: "", Brief: "12345678"})

	row = "char[N] without NUL"
	is(row, "chars full", Chars{S: "abcde"})
	is(row, "chars short", Chars{S: "ab"})

	row = "char*"
	is(row, "text", Text{Text: "hello"})
	is(row, "text million", Text{Text: strings.Repeat("x", 1<<20)})
	fails[Text](row, "text too long", cgocopy.ErrTooLong, "Text.brief: text without an end within its limit")
	fails[Text](row, "text endless", cgocopy.ErrTooLong, "Text.text: text without an end within its limit")

	row = "non-UTF-8"
	is(row, "coded", Coded{Kept: "a\xff", Replaced: "a�", Strict: "fine"})
	fails[Coded](row, "coded badly", cgocopy.ErrUTF8, "Coded.strict: text is not UTF-8")

	row = "pointer and count"
	is(row, "counted", Counted{Items: []int32{1, -2, 3}, ItemsCount: 3})
	is(row, "counted nothing", Counted{})
	fails[Counted](row, "counted negative", cgocopy.ErrBadCount, "Counted.items_count is -1")
	fails[Counted](row, "counted above max", cgocopy.ErrBadCount, "Counted.items_count is 101, at most 100 are copied")
	fails[Counted](row, "counted overflowing", cgocopy.ErrBadCount, "Counted.wide_count is -9223372036854775808")
	fails[Counted](row, "counted all ones", cgocopy.ErrBadCount, "Counted.wide_count is -1")
	fails[Counted](row, "counted nil", cgocopy.ErrBadCount, "Counted.items_count is 2, and what it counts is a nil pointer")

	row = "nested, arrays, enums, bool, callbacks"
	p := memory("mixed")
	if err := m.FromC(p); err != nil || m.Call == 0 || m.Opaque != 0x1234 || !m.On || m.Mode != ModeBROKEN() || m.At != (Point{1.5, -2.5}) || m.Path != [2]Point{{1, 2}, {3, 4}} || m.Grid != [2][3]int32{{1, 2, 3}, {4, 5, 6}} {
		fail(row, "mixed", m, err)
	}
	C.drop(p)

	row = "bit-fields"
	is(row, "bits", Bits{A: 5, B: -16, C: 0x9876543210, D: true})

	row = "packed"
	is(row, "packed", Packed{Tag: 'x', N: -7, D: 2.5, Text: "odd", In: [2]PackedIn{{'a', -1}, {'b', -1 << 63}}})

	row = "unions by discriminant"
	is(row, "event int", Event{Kind: 0, U: EventU{I: -9}})
	is(row, "event float", Event{Kind: 1, U: EventU{F: 0.5}})
	is(row, "event text", Event{Kind: 2, U: EventU{T: "12345678"}})
	fails[Event](row, "event unknown", nil, "Event.kind is 3, for which the union has no member")

	row = "flexible arrays"
	is(row, "tail", Tail{N: 3, Tail: []uint16{1, 65535, 3}})

	row = "pointer graphs"
	is(row, "chain", Node{ID: 1, Next: &Node{ID: 2, Next: &Node{ID: 3}}})
	fails[Node](row, "long chain", cgocopy.ErrDepth, "Node.next: Node.next: Node.next: pointers follow each other too far")
	fails[Node](row, "circle", cgocopy.ErrDepth, "Node.next: Node.next: Node.next: pointers follow each other too far")
	is(row, "tree", Tree{ID: 1, KidsCount: 2, Kids: []Tree{{ID: 2}, {ID: 3}}})
	fails[Tree](row, "tree in a circle", cgocopy.ErrDepth, "Tree.kids: Tree.kids: Tree.kids: Tree.kids: pointers follow each other too far")

	row = "ownership"
	var o Owned
	p = memory("owned")
	if err := o.FromC(p); err != nil || C.freed != 0 {
		fail(row, "a copy frees", o, err)
	}
	if err := o.TakeFromC(p); err != nil || C.freed != 2 || o.Name != "mine" || len(o.Points) != 2 || o.Points[1].Y != 4 {
		fail(row, "taken", o, err)
	}
	if err := o.TakeFromC(p); !errors.Is(err, cgocopy.ErrBadCount) || C.freed != 2 {
		fail(row, "taken again", C.freed, err)
	}
	C.drop(p)
	p = memory("owned badly")
	if err := o.TakeFromC(p); !errors.Is(err, cgocopy.ErrBadCount) || C.freed != 4 {
		fail(row, "taken badly", C.freed, err)
	}
	C.drop(p)
	var h Handle
	if err := h.TakeFromC(memory("handle")); err != nil || C.freed != 5 || h.Note != "note" {
		fail(row, "a struct that is freed as a whole", h, err)
	}
	if err := h.TakeFromC(nil); !errors.Is(err, cgocopy.ErrNilPointer) || C.freed != 5 {
		fail(row, "nil", h, err)
	}
	if failed {
		os.Exit(1)
	}
	fmt.Println("all rules hold")
}

// ModeBROKEN is the value by its generated name.
func ModeBROKEN() Mode { return ModeBroken }
`

// checkptr has the flags of a build that checks uses of unsafe.Pointer in generated code and in this
// module. The standard library is not compiled again.
var checkptr = []string{"-gcflags=-d=checkptr", "-gcflags=github.com/tarebench/tare/cgocopy/...=-d=checkptr"}

// rules generates the package that checks every rule, and returns its directory.
func rules(t *testing.T) string {
	testenv.Programs(t, "gcc")
	dir := module(t, map[string]string{"rules.h": rulesHeader, "rules.c": rulesC, "main.go": rulesGo})
	mustRun(t, dir, tool, "gen", "-type", "Chars,Text,Coded,Counted,Mixed,Bits,Packed,Event,Tail,Node,Tree,Owned,Handle",
		"-tag", "Text.brief=,max=8", "-tag", "Coded.replaced=,utf8=replace", "-tag", "Coded.strict=,utf8=error",
		"-tag", "Counted.items=,len=items_count,max=100", "-tag", "Counted.wide=,len=wide_count",
		"-tag", "Event.u=,union=kind:0:i,1:f,2:t", "-tag", "Tail.tail=,len=n",
		"-tag", "Node.next=,depth=2", "-tag", "Tree.kids=,len=kids_count,depth=3",
		"-tag", "Owned.name=,free=counted_free", "-tag", "Owned.points=,len=n,free=counted_free", "-tag", "Handle=,free=handle_free", "rules.h")
	return dir
}

// TestRules checks every row of the table of rules with a real compiler: plain, with checked pointers, with
// the race detector, and with the address sanitizer in C and Go.
func TestRules(t *testing.T) {
	t.Parallel()
	dir := rules(t)
	mustRun(t, dir, "go", "test", "-vet=all", ".")
	for name, args := range map[string][]string{
		"plain":    nil,
		"checkptr": checkptr,
		"race":     {"-race"},
		"asan":     {"-asan"},
	} {
		t.Run(name, func(t *testing.T) {
			if testing.Short() && name != "checkptr" {
				t.Skip("with -short only checkptr")
			}
			if text, err := output(dir, nil, "go", append(append([]string{"build", "-o", name}, args...), ".")...); err != nil {
				if name == "race" || name == "asan" {
					t.Skipf("go build %s: %v: %s", args[0], err, clip(text))
				}
				t.Fatalf("%v: %s", err, clip(text))
			}
			text, err := output(dir, []string{"ASAN_OPTIONS=detect_leaks=0"}, "./"+name)
			if err != nil || !strings.Contains(text, "all rules hold") {
				t.Errorf("%v: %s", err, clip(text))
			}
		})
	}
}
