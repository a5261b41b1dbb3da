// Package plan decides how each member of a C struct is copied into a field of a Go struct. A [Rule] is the
// decision about a value; a [Plan] has all facts for generated code, which package emit writes. Members
// belong to C types, and fields to Go types.
//
// [Derive] plans new Go types: addFields plans a struct, planMember a member, planRule a value, and
// planCall a function. Package bind plans types that the user has declared, with [Members] and
// [Member.Rule].
package plan

import (
	"fmt"
	"strings"

	"github.com/tarebench/tare/cgocopy/internal/ctype"
)

// Struct is one Go type with the rules that fill it.
type Struct struct {
	Go       string // of the Go type
	C        *ctype.Type
	CName    string // in C: GameObject, struct node
	UserType bool   // the user has declared the Go type
	Flat     bool   // same layout and values in Go and C: one assignment copies it
	Fails    bool   // filling can fail
	Allocs   bool   // filling can allocate
	Fields   []Field
	Free     string // C function that frees the struct itself; "" if none
	Part     bool   // a member is omitted
}

// Field is one field of the Go type.
type Field struct {
	Go     string
	C      string // C member, or its path from the struct: u.i
	Type   string // in C
	Pos    string // file:line of the declaration
	Tag    Tag
	Offset int64 // bytes from the start of the struct
	Rule   Rule

	// Nameless is set for two kinds of unions. An anonymous union has the name of its first member in C. A
	// struct that is itself planned from a union has "" there.
	Nameless bool
}

// ResolveView makes a field of type t take the member of a union that represents all, see [View].
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
	Chars            // text in a char[N]: up to its NUL, or all of it
	Text             // text at a char *: up to its NUL, or of counted bytes
	Nested           // a struct, member by member
	Each             // N elements of an array, one by one
	Slice            // counted elements at a pointer
	Tail             // counted elements of an array: flexible, or with room for more
	Bits             // a bit-field
	Union            // union member that the discriminant selects
	Deref            // struct that a pointer points to
	Opaque           // address in a pointer, as a number
)

// UTF8 is the treatment of text that is not valid UTF-8.
type UTF8 string

// Treatments of text that is not valid UTF-8.
const (
	Keep    UTF8 = ""        // copy it unchanged
	Replace UTF8 = "replace" // replace invalid bytes
	Refuse  UTF8 = "error"   // fail
)

// Rule describes how one value is copied. A comment that begins with ops names those that use the field.
type Rule struct {
	Op      Op
	Go      string  // Go type, as source
	From    string  // Load: Go type of the value in C memory, if it differs from Go. Bool, Bits: "bool" for a named bool type
	Num     string  // Load: Go type with the layout of the C number, e.g. int32; "" if the value is no number
	Size    int64   // size in C, in bytes
	Aligned bool    // Go may load the value in one access
	N       int64   // Chars, Each: elements
	Elem    *Rule   // Each, Slice, Tail, Load of an array: rule of an element
	Struct  *Struct // Nested, Deref, Load of a struct
	Bytes   bool    // Chars, Text: the Go value is []byte
	UTF8    UTF8    // Chars, Text
	Max     int64   // Text: most bytes. Slice, Tail: most elements
	Len     *Count  // Slice, Tail: number of elements. Text: number of bytes; nil means up to the NUL
	Bit     int64   // Bits: first bit, from the least significant bit of the byte at the offset
	Width   int64   // Bits: bits
	Signed  bool    // Bits: the highest bit is a sign
	Depth   int64   // Deref, Slice: most pointers in a row; 0 means unlimited
	On      *Count  // Union: the discriminant
	Cases   []Case  // Union: by the value of the discriminant
	Free    string  // Text, Slice, Deref: C function that frees the target of the pointer; "" if none
	View    string  // path of the member to read in a union, see [View]; "" for a member without a name
}

// Count is a member that counts the elements of another member. It may also be the discriminant of a union:
// the number that selects a member.
type Count struct {
	C      string // of the member
	Go     string // name of the Go field, e.g. ItemsCount; "" if the member is not copied
	Offset int64  // from the start of the struct
	Size   int64  // bytes
	Signed bool
}

// Case is one alternative of a union.
type Case struct {
	Value int64  // of the discriminant
	Field string // Go field
	C     string // C member
	Type  string // of the member, in C
	Rule  Rule
}

// Default limits of rules.
const (
	MaxText  = 1 << 20 // of a char *
	MaxCount = 1 << 24 // at a pointer
)

// Refusal explains why a member or struct cannot be copied, and names a remedy.
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
