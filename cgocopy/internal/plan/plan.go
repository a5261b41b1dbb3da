// Package plan decides how each member of a C struct is copied into a field of a Go struct. The decision
// about a value is a [Rule], and a [Plan] has all facts that generated code needs; package emit writes
// the code. In this package a member is part of a C type, and a field is part of a Go type.
//
// [Derive] plans new Go types that correspond to C types: addFields plans a struct, planMember a member,
// planRule a value, and planCall a function. Package bind plans types that the user has declared; it
// uses [Members] and [Member.Rule].
package plan

import (
	"fmt"
	"strings"

	"github.com/tarebench/tare/cgocopy/internal/ctype"
)

// Struct is one Go type with the rules that fill it.
type Struct struct {
	Go       string      // name of the Go type
	C        *ctype.Type // the C type
	CName    string      // name of the C type as C writes it: GameObject, struct node
	UserType bool        // the user has declared the Go type, so generated code does not
	Flat     bool        // Go and C have the same layout and the same values, so that one assignment copies it
	Fails    bool        // filling it can fail
	Allocs   bool        // filling it can allocate
	Fields   []Field
	Free     string // C function that frees the struct itself; "" if none
	Part     bool   // a member is omitted
}

// Field is one field of the Go type.
type Field struct {
	Go     string // name of the field
	C      string // name of the C member, or its path from the struct: u.i
	Type   string // C type, as C writes it
	Pos    string // file:line of the declaration
	Tag    Tag
	Offset int64 // bytes from the start of the struct
	Rule   Rule

	// Nameless is true for two kinds of unions: the member is an anonymous union, and C is the name of its
	// first member; or the struct is itself planned from a union, and C is "".
	Nameless bool
}

// ResolveView changes a field of type t that is a union of which one member is read in place of all, see
// [View]: it makes the field take that member directly. It leaves other fields unchanged.
func (f *Field) ResolveView(t *ctype.Type) {
	if f.Rule.View == "" {
		return
	}
	_, m, _ := View(t)
	f.C, f.Type, f.Rule.View = f.C+"."+f.Rule.View, m.Type.String(), ""
}

// Op is the way in which a value is copied.
type Op int

// Ways to copy a value.
const (
	Load   Op = iota // one assignment: a number, or a flat struct or array
	Bool             // true if the byte is not zero
	Chars            // the text in a char[N]: up to its NUL, or all of it
	Text             // the text at a char *: up to its NUL, or of counted bytes
	Nested           // a struct, member by member
	Each             // N elements of an array, one by one
	Slice            // as many elements at a pointer as another member counts
	Tail             // as many elements of an array as another member counts: a flexible array, or one with room for more
	Bits             // a bit-field
	Union            // the union member that the discriminant selects
	Deref            // the struct that a pointer points to
	Opaque           // the address in a pointer, as a number
)

// UTF8 is the treatment of text that is not valid UTF-8.
type UTF8 string

// Treatments of text that is not valid UTF-8.
const (
	Keep    UTF8 = ""        // copy it unchanged
	Replace UTF8 = "replace" // replace invalid bytes
	Refuse  UTF8 = "error"   // fail
)

// Rule describes how one value is copied. A comment that begins with ops names the only ops that use
// the field; the field is zero for others.
type Rule struct {
	Op      Op
	Go      string  // type of the Go value, as Go source
	From    string  // Load: Go type of the value in C memory, if it differs from Go. Bool, Bits: "bool", if Go is a named bool type
	Num     string  // Load: Go type with the layout of the C number, e.g. int32; "" if the value is no number
	Size    int64   // size in C, in bytes
	Aligned bool    // Go may load the value in one access
	N       int64   // Chars, Each: number of elements
	Elem    *Rule   // Each, Slice, Tail: rule of an element. Load: the same, of an array
	Struct  *Struct // Nested, Deref, and Load of a struct: the struct
	Bytes   bool    // Chars, Text: the Go value is []byte
	UTF8    UTF8    // Chars, Text: treatment of invalid UTF-8
	Max     int64   // Text: maximum number of bytes. Slice, Tail: maximum number of elements
	Len     *Count  // Slice, Tail: number of elements. Text: number of bytes; nil means up to the NUL
	Bit     int64   // Bits: first bit, counted from the least significant bit of the byte at the offset
	Width   int64   // Bits: number of bits
	Signed  bool    // Bits: the highest bit is a sign
	Depth   int64   // Deref, Slice: maximum number of pointers that are followed one after another; 0 means unlimited
	On      *Count  // Union: the discriminant
	Cases   []Case  // Union: the members, by the value of the discriminant
	Free    string  // Text, Slice, Deref: C function that frees the target of the pointer; "" if none
	View    string  // path of the union member that is read, if the value is a union, see [View]; "" if it is not, or the member has no name
}

// Count is a member that has the number of elements of another member, or that is the discriminant of a
// union: a number that selects one of the union's members.
type Count struct {
	C      string // name of the member
	Go     string // name of the Go field, e.g. ItemsCount; "" if the member is not copied
	Offset int64  // bytes from the start of the struct
	Size   int64  // bytes
	Signed bool
}

// Case is one alternative of a union.
type Case struct {
	Value int64  // value of the discriminant that selects it
	Field string // name of the Go field
	C     string // name of the member
	Type  string // type of the member, as C writes it
	Rule  Rule
}

// Default limits of rules.
const (
	MaxText  = 1 << 20 // bytes of a char *
	MaxCount = 1 << 24 // elements after a pointer
)

// Refusal explains why a member, or the struct itself, cannot be copied, and names a remedy.
type Refusal struct {
	Pos    string // file:line; "" if unknown
	Struct string
	Field  string // name of the member; "" for the struct itself
	Type   string // type of the member, as C writes it
	Reason string // a sentence without its subject, the member
	Remedy string // what the user can do
}

// Error returns the reason and the remedy in one line.
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

// Refusals has all refusals of a run. A run with refusals generates nothing.
type Refusals []Refusal

// Error returns the errors of all members, one line each.
func (r Refusals) Error() string {
	var lines []string
	for _, refusal := range r {
		lines = append(lines, refusal.Error())
	}
	return strings.Join(lines, "\n")
}
