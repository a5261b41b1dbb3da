// Package ctype describes C types as a compiler lays them out. Sizes and offsets are in bytes, unless the
// name of a field begins with Bit.
package ctype

import (
	"fmt"
	"strings"
)

// Kind is the sort of a type.
type Kind int

// Kinds.
const (
	Void Kind = iota
	Bool      // _Bool, bool
	Char      // only char itself; its sign depends on the processor
	Int
	Uint
	Float   // float, double
	Enum    // stored as Elem
	Pointer // to Elem
	Array   // of Count times Elem
	Struct  // a C struct, or a C++ class
	Union   // its Fields all begin at offset 0
	Func
	Typedef // another name for Elem, or a qualifier such as const
	Other   // cannot be copied; Why has the reason
)

// Type is one type of one object file.
type Type struct {
	Kind  Kind
	Name  string // in C, without qualifiers: unsigned int, struct point, GameObject; or ""
	Size  int64  // in bytes; 0 if Incomplete
	Align int64  // alignment of a struct or union; 0 for other kinds
	Elem  *Type  // target, element, storage type of an enum, named type, or result; nil means void
	Count int64  // elements of an array; [Flexible] if C states none

	Const    bool    // the qualifier const: a Typedef without a name
	Params   []*Type // of a function
	Variadic bool    // further arguments, or no declared parameters

	Fields      []Field      // of a struct or union, in the order of their declaration
	Enumerators []Enumerator // of an enum

	Incomplete bool     // declared but not defined, as by struct x;
	Why        string   // why it cannot be copied, a sentence without its subject; or ""
	File       string   // file of the declaration, for messages; "" if unknown
	Line       int      // of the declaration
	Language   Language // language of the unit that describes the type
}

// Flexible is the Count of an array member without a length.
const Flexible = -1

// Field is a member of a struct or union.
type Field struct {
	Name      string // "" for an anonymous struct or union, and for unnamed bit-fields
	Type      *Type
	Offset    int64  // from the start of the struct; for a bit-field, the byte that BitOffset counts from
	BitOffset int64  // from the least significant bit of the byte at Offset
	BitSize   int64  // of a bit-field; 0 for other members
	File      string // file of the declaration; "" if unknown
	Line      int    // of the declaration
}

// Enumerator is a named value of an enum.
type Enumerator struct {
	Name  string
	Value int64
}

// Language is the language of a compilation unit.
type Language string

// Languages whose types cgocopy treats differently.
const (
	C    Language = "C"
	CXX  Language = "C++"
	Rust Language = "Rust"
	None Language = "other"
)

// String returns the name of the type for errors, e.g. "char [64]".
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

// Strip returns the type that t names after all typedefs and qualifiers. nil means void.
func (t *Type) Strip() *Type {
	for t != nil && t.Kind == Typedef {
		t = t.Elem
	}
	return t
}

// Pos returns file:line of the declaration of a type, or "".
func (t *Type) Pos() string { return formatPos(t.File, t.Line) }

// Pos returns file:line of the declaration of a member, or "".
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

// Tag returns the name of a struct, union or enum without that word: point for struct point. It returns ""
// for other types.
func (t *Type) Tag() string {
	switch t.Kind {
	case Struct, Union, Enum:
		if _, tag, ok := strings.Cut(t.Name, " "); ok {
			return tag
		}
	}
	return ""
}
