// Package ctype describes C types as compiled: their members, with offsets and sizes. All sizes and
// offsets are in bytes unless a name says bits.
package ctype

import (
	"fmt"
	"strings"
)

// Kind is the sort of a type, independent of its name.
type Kind int

// Kinds.
const (
	Void    Kind = iota
	Bool         // _Bool, bool
	Char         // char, and nothing else of one byte: its sign differs by processor
	Int          // signed integers
	Uint         // unsigned integers
	Float        // float, double
	Enum         // stored as Elem
	Pointer      // to Elem
	Array        // of Count times Elem
	Struct       // C structs, and classes without anything hidden
	Union        // Fields all begin at zero
	Func         // only through a pointer
	Typedef      // another name for Elem
	Other        // cannot be copied; Why has the reason
)

// Type is one type of one object file.
type Type struct {
	Kind  Kind
	Name  string // as C writes it, without qualifiers: unsigned int, struct point, GameObject; empty if it has none
	Size  int64  // 0 if Incomplete
	Align int64  // of a struct or union: the largest alignment of a member, or what was declared; else zero
	Elem  *Type  // of pointers, arrays, enums (their storage type) and typedefs; nil means void
	Count int64  // of arrays: elements; [Flexible] where C gives none

	Const    bool    // of a qualifier, which is a Typedef without a name: const
	Params   []*Type // of functions; Elem is what they return
	Variadic bool    // of functions: more parameters may follow, or none are declared

	Fields      []Field      // of structs and unions, in the order of their declaration
	Enumerators []Enumerator // of enums

	Incomplete bool   // declared, not defined
	Why        string // of Other, and of structs that cannot be copied: what is wrong, as a sentence without its subject
	File       string // position of its declaration, as the compiler prints it; empty if unknown
	Line       int
	Language   Language // of the unit it comes from
}

// Flexible is the Count of an array member without a length.
const Flexible = -1

// Field is a member.
type Field struct {
	Name      string // empty for an anonymous struct or union
	Type      *Type
	Offset    int64 // bytes from the beginning of the struct; of a bit-field: of the unit Bits counts from
	BitOffset int64 // of a bit-field: bits from the least significant one of the byte at Offset
	BitSize   int64 // of a bit-field; 0 if it is none
	File      string
	Line      int
}

// Enumerator is a named value of an enum.
type Enumerator struct {
	Name  string
	Value int64
}

// Language is the language of a unit, as far as layouts depend on it.
type Language string

// Languages that differ in their types.
const (
	C    Language = "C"
	CXX  Language = "C++"
	Rust Language = "Rust"
	None Language = "other"
)

// String returns the type as an error names it.
func (t *Type) String() string {
	switch {
	case t == nil:
		return "void"
	case t.Name != "":
		return t.Name
	}
	switch t.Kind {
	case Pointer:
		return t.Elem.String() + " *"
	case Array:
		dims, inner := "", t
		for ; inner != nil && inner.Kind == Array && inner.Name == ""; inner = inner.Elem {
			if inner.Count == Flexible {
				dims += "[]"
			} else {
				dims += fmt.Sprintf("[%d]", inner.Count)
			}
		}
		return inner.String() + " " + dims
	case Struct:
		return "struct without a name"
	case Union:
		return "union without a name"
	case Enum:
		return "enum without a name"
	case Typedef: // a qualifier
		return t.Elem.String()
	case Func:
		return "function"
	case Void:
		return "void"
	}
	return "type without a name"
}

// Strip returns the type without its typedefs; nil means void.
func (t *Type) Strip() *Type {
	for t != nil && t.Kind == Typedef {
		t = t.Elem
	}
	return t
}

// Pos returns the position of the declaration of a type: file:line, or "".
func (t *Type) Pos() string { return formatPos(t.File, t.Line) }

// Pos returns the position of the declaration of a member: file:line, or "".
func (f Field) Pos() string { return formatPos(f.File, f.Line) }

func formatPos(file string, line int) string {
	switch {
	case file == "":
		return ""
	case line == 0:
		return file
	}
	return fmt.Sprintf("%s:%d", file, line)
}

// Tag returns the name of a struct, union or enum without the word before it.
func (t *Type) Tag() string {
	switch t.Kind {
	case Struct, Union, Enum:
		if _, tag, ok := strings.Cut(t.Name, " "); ok {
			return tag
		}
	}
	return ""
}
