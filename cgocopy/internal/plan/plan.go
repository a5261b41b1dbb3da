// Package plan decides how each member of a C type is copied into a Go value. A plan has all facts
// that generated code needs, and nothing about its wording.
package plan

import (
	"fmt"
	"strings"

	"github.com/tarebench/tare/cgocopy/internal/ctype"
)

// Struct is one Go type with the rules that fill it.
type Struct struct {
	Go     string // its name
	C      *ctype.Type
	Says   string // its name in C: GameObject, struct node
	Own    bool   // the user's own type: it is not declared again
	Flat   bool   // Go lays it out as C does, takes over all of it, and nothing in it needs a look: one copy
	Fails  bool   // filling it can fail
	Allocs bool   // filling it can allocate
	Fields []Field
	Free   string // C function that frees the struct itself
	Part   bool   // a member is omitted
}

// Field is one member of the Go type.
type Field struct {
	Go     string
	C      string // member, with those of anonymous structs around it: u.i
	Type   string // as C writes it
	Pos    string // file:line of the declaration
	Tag    Tag
	Offset int64 // bytes from the beginning of the struct
	Rule   Rule

	Nameless bool // it is an anonymous union, and C its first member's name; or an entire union, and C is ""
}

// See makes the field that of the union's member that its rule reads, if it is a union whose
// members are read alike. t is the type of the field.
func (f *Field) See(t *ctype.Type) {
	if f.Rule.View == "" {
		return
	}
	_, m, _ := View(t)
	f.C, f.Type, f.Rule.View = f.C+"."+f.Rule.View, m.Type.String(), ""
}

// Op is the way a value is copied.
type Op int

// Ops.
const (
	Load   Op = iota // unchanged: a number, or a struct or array that is flat
	Bool             // a byte that is not zero
	Chars            // char[N]: up to its NUL, or all of it
	Text             // char *: up to its NUL
	Nested           // a struct, by its own rules
	Each             // N elements, one by one
	Slice            // a pointer and a count
	Tail             // an array and a count: a flexible one, or one with room for more
	Bits             // a bit-field
	Union            // the member that the discriminant selects
	Deref            // a pointer to one struct
	Opaque           // an address, as a number
)

// UTF8 is the treatment of text that is not UTF-8.
type UTF8 string

// Ways to take it.
const (
	Keep    UTF8 = "" // as it is
	Replace UTF8 = "replace"
	Refuse  UTF8 = "error"
)

// Rule describes how one value is copied.
type Rule struct {
	Op      Op
	Go      string // type of the Go value, as source
	From    string // of Load: its type in memory, if that is not Go; of Bool and Bits: bool, if Go is another name for it
	Num     string // of Load: the C number as a type of Go, e.g. int32; "" if it is no number
	Size    int64  // bytes in C
	Aligned bool   // its address permits Go to load it in one access
	N       int64  // Chars, Each: elements
	Elem    *Rule  // Each, Slice, Tail
	Struct  *Struct
	Bytes   bool   // Chars, Text: as []byte
	UTF8    UTF8   // Chars, Text
	Max     int64  // Text: bytes; Slice, Tail: elements
	Len     *Count // Slice, Tail; of Text: it has no NUL, but this many bytes
	Bit     int64  // Bits: from the least significant one of the byte at the offset
	Width   int64  // Bits
	Signed  bool   // Bits
	Depth   int64  // Deref, Slice: how many pointers may follow each other; 0 means unlimited
	On      *Count // Union: the discriminant
	Cases   []Case // Union
	Free    string // C function that frees what a pointer points to
	View    string // the value is a union, and this member is read; "" if it is none, or the member has no name
}

// Count is a number in the struct next to what it counts.
type Count struct {
	C      string // member
	Go     string // of the Go type, e.g. ItemsCount; empty if it is not copied
	Offset int64
	Size   int64
	Signed bool
}

// Case is one alternative of a union.
type Case struct {
	Value int64
	Field string // of the Go type
	C     string // member
	Type  string // as C writes it
	Rule  Rule
}

// Defaults of rules.
const (
	MaxText  = 1 << 20 // bytes of a char *
	MaxCount = 1 << 24 // elements after a pointer
)

// Refusal is a member that cannot be copied, and a remedy.
type Refusal struct {
	Pos    string // file:line; empty if unknown
	Struct string
	Field  string // empty for the struct itself
	Type   string // as C writes it
	Reason string // a sentence without its subject
	Remedy string
}

// Error returns the refusal in one line.
func (r Refusal) Error() string {
	var b strings.Builder
	if r.Pos != "" {
		b.WriteString(r.Pos + ": ")
	}
	b.WriteString(r.Struct)
	if r.Field != "" {
		b.WriteString("." + r.Field)
	}
	fmt.Fprintf(&b, " (%s) %s; %s", r.Type, r.Reason, r.Remedy)
	return b.String()
}

// Refusals are all refusals of a run: nothing is generated if there is one.
type Refusals []Refusal

// Error returns one line each.
func (r Refusals) Error() string {
	var lines []string
	for _, one := range r {
		lines = append(lines, one.Error())
	}
	return strings.Join(lines, "\n")
}
