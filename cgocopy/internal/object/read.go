package object

import (
	"cmp"
	"debug/dwarf"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/tarebench/tare/cgocopy/internal/ctype"
)

// reader turns DWARF entries into types. An entry describes a type, a variable or a part of them, and has
// attributes and children. Each entry becomes one ctype.Type, so a recursive type points to itself.
type reader struct {
	data  *dwarf.Data
	units []unit // sorted by start
	lines *lineTables
	scope map[dwarf.Offset]string      // C++ namespaces and classes around a type, e.g. "geo::"
	unit  unit                         // of the current entry
	done  map[dwarf.Offset]*ctype.Type // types that have been read or are being read, by entry
	depth int                          // nested calls of typeAt
	all   []*ctype.Type                // types of kinds that can have a name

	inherited int // fields that all classes have inherited

	arrays    []*ctype.Type          // their size is computed at the end
	compounds []*ctype.Type          // structs and unions; their alignment is computed at the end
	anchors   map[string]*ctype.Type // see [File.Anchor]

	printName func(file string) string // see [Open]
}

// unit has facts about a compilation unit.
type unit struct {
	start    dwarf.Offset
	language ctype.Language
	files    []lineFile // source files, by their number in entries
	dir      string     // working directory of the compiler
	address  int64      // size of a pointer in bytes
}

// readTypes reads all types that have a name, the types in them, and the anchors.
func readTypes(data *dwarf.Data, printName func(string) string) (*reader, error) {
	if printName == nil {
		printName = func(file string) string { return file }
	}
	r := &reader{data: data, lines: newLineTables(data), printName: printName, done: map[dwarf.Offset]*ctype.Type{}, scope: map[dwarf.Offset]string{}, anchors: map[string]*ctype.Type{}}
	if err := r.findUnits(); err != nil {
		return nil, err
	}
	all := data.Reader()
	for {
		e, err := all.Next()
		if err != nil {
			return nil, fmt.Errorf("read DWARF: %w", err)
		}
		if e == nil {
			return r, r.resolveSizes()
		}
		r.selectUnit(e.Offset)
		switch {
		case e.Tag == dwarf.TagVariable:
			if err := r.recordAnchor(e); err != nil {
				return nil, err
			}
		case isNamedType(e) && r.done[e.Offset] == nil:
			if _, err := r.typeAt(e.Offset); err != nil {
				return nil, err
			}
		}
	}
}

// findUnits reads the headers of all units before any type: entries may refer to other units. The error is
// errSplit if all types are in other files.
func (r *reader) findUnits() error {
	all := &entries{Reader: r.data.Reader()}
	hasComplete, hasSplit := false, false // some unit has its types in this file; in another file
	for {
		e, err := all.Next()
		if err != nil {
			return fmt.Errorf("read DWARF: %w", err)
		}
		if e == nil && hasSplit && !hasComplete {
			return errSplit
		}
		if e == nil {
			return nil
		}
		hasSplit = hasSplit || isSplit(e)
		if e.Tag == dwarf.TagCompileUnit || e.Tag == dwarf.TagPartialUnit {
			hasComplete = hasComplete || !isSplit(e)
			u := unit{start: e.Offset, language: languageOf(e), address: int64(all.AddressSize())}
			u.dir, _ = e.Val(dwarf.AttrCompDir).(string)
			if u.files, err = r.lines.filesOf(e); err != nil {
				return fmt.Errorf("read DWARF: %w", err)
			}
			r.units = append(r.units, u)
			if u.language == ctype.CXX && e.Children {
				if err := r.recordScopes(all, ""); err != nil {
					return err
				}
				continue
			}
		}
		if err := skipChildren(e, all); err != nil {
			return err
		}
	}
}

// attrGNUDwoName names the file with the rest of a unit, before DWARF 5.
const attrGNUDwoName dwarf.Attr = 0x2130

// isSplit reports whether the types of a unit are in another file.
func isSplit(e *dwarf.Entry) bool {
	return e.Tag == dwarf.TagSkeletonUnit || e.Tag == dwarf.TagCompileUnit && e.AttrField(attrGNUDwoName) != nil
}

func (r *reader) selectUnit(off dwarf.Offset) {
	i, found := slices.BinarySearchFunc(r.units, off, func(u unit, off dwarf.Offset) int { return cmp.Compare(u.start, off) })
	if !found {
		i--
	}
	if i >= 0 {
		r.unit = r.units[i]
	}
}

const anchorPrefix = "__cgocopy__"

// recordAnchor records the type that an anchor variable points to.
func (r *reader) recordAnchor(e *dwarf.Entry) error {
	name, _ := e.Val(dwarf.AttrName).(string)
	if !strings.HasPrefix(name, anchorPrefix) {
		return nil
	}
	t, err := r.elemType(e)
	if err != nil || t == nil || t.Kind != ctype.Pointer {
		return err
	}
	r.anchors[name] = t.Elem
	return nil
}

// isNamedType reports whether an entry describes a type of a kind that can have a name in C.
func isNamedType(e *dwarf.Entry) bool {
	switch e.Tag {
	case dwarf.TagTypedef, dwarf.TagStructType, dwarf.TagClassType, dwarf.TagUnionType, dwarf.TagEnumerationType, dwarf.TagBaseType:
		return true
	}
	return false
}

// languageOf returns the language of a unit. The numbers are from DWARF 5, table 7.17, and later additions.
func languageOf(e *dwarf.Entry) ctype.Language {
	number, _ := e.Val(dwarf.AttrLanguage).(int64)
	switch number {
	case 0x01, 0x02, 0x0c, 0x1d, 0x2c, 0x3e: // C89, C, C99, C11, C17, C23
		return ctype.C
	case 0x04, 0x1a, 0x21, 0x2b, 0x3a: // C++98, 11, 14, 17, 20
		return ctype.CXX
	case 0x1c:
		return ctype.Rust
	}
	return ctype.None
}

// maxDepth is the largest depth of types in types: more than any program has, and few enough for the stack.
const maxDepth = 10_000

func (r *reader) typeAt(off dwarf.Offset) (*ctype.Type, error) {
	if t := r.done[off]; t != nil {
		return t, nil
	}
	if r.depth++; r.depth > maxDepth {
		return nil, fmt.Errorf("read DWARF: types in types, %d deep", maxDepth)
	}
	previous := r.unit
	r.selectUnit(off)
	t, err := r.readType(off)
	r.unit = previous
	r.depth--
	if err == nil && isCircular(t) {
		err = fmt.Errorf("read DWARF: the type at %#x is made of itself", off)
	}
	return t, err
}

// readType reads the entry at off, in the current unit. It records the type in r.done first: types in it
// may refer to it.
func (r *reader) readType(off dwarf.Offset) (*ctype.Type, error) {
	list := &entries{Reader: r.data.Reader()}
	list.Seek(off)
	e, err := list.Next()
	if err != nil {
		return nil, fmt.Errorf("read DWARF: %w", err)
	}
	if e == nil {
		return nil, fmt.Errorf("read DWARF: nothing at %#x", off)
	}
	t := &ctype.Type{Language: r.unit.language}
	if t.Name, _ = e.Val(dwarf.AttrName).(string); t.Name != "" {
		t.Name = r.scope[off] + t.Name
	}
	t.Size, _ = e.Val(dwarf.AttrByteSize).(int64)
	if t.File, t.Line, err = r.declaredAt(e); err != nil {
		return nil, err
	}
	r.done[off] = t
	switch e.Tag {
	case dwarf.TagConstType, dwarf.TagVolatileType, dwarf.TagRestrictType, dwarf.TagAtomicType:
		// A qualifier changes no layout: it becomes a typedef without a name.
		t.Kind, t.Name, t.Const = ctype.Typedef, "", e.Tag == dwarf.TagConstType
		if e.Tag == dwarf.TagAtomicType {
			t.Kind, t.Why = ctype.Other, "is _Atomic: a copy could be torn"
		}
		t.Elem, err = r.elemType(e)
		return t, err
	case dwarf.TagTypedef:
		t.Kind = ctype.Typedef
		t.Elem, err = r.elemType(e)
		r.all = append(r.all, t)
		return t, err
	case dwarf.TagBaseType:
		setBaseType(t, e)
		r.all = append(r.all, t)
		return t, nil
	case dwarf.TagPointerType:
		t.Kind, t.Name = ctype.Pointer, ""
		if t.Size == 0 {
			t.Size = r.unit.address
		}
		t.Elem, err = r.elemType(e)
		return t, err
	case dwarf.TagReferenceType, dwarf.TagRvalueReferenceType:
		t.Kind, t.Why = ctype.Other, "is a C++ reference"
		return t, nil
	case dwarf.TagPtrToMemberType:
		t.Kind, t.Why = ctype.Other, "is a pointer to a C++ member"
		return t, nil
	case dwarf.TagSubroutineType:
		return t, r.fillFunc(t, e, list)
	case dwarf.TagUnspecifiedType:
		t.Kind = ctype.Void
		return t, nil
	case dwarf.TagArrayType:
		return t, r.fillArray(t, e, list)
	case dwarf.TagEnumerationType:
		t.Kind, t.Name = ctype.Enum, withTag("enum", t.Name)
		r.all = append(r.all, t)
		return t, r.fillEnum(t, e, list)
	case dwarf.TagStructType, dwarf.TagClassType, dwarf.TagUnionType:
		t.Kind = ctype.Struct
		word := "struct"
		if e.Tag == dwarf.TagUnionType {
			t.Kind, word = ctype.Union, "union"
		}
		t.Name = withTag(word, t.Name)
		t.Incomplete, _ = e.Val(dwarf.AttrDeclaration).(bool)
		r.all = append(r.all, t)
		if name := atomicName(t); name != "" {
			t.Kind, t.Why = ctype.Other, "is "+name+": a copy could be torn"
			return t, nil
		}
		return t, r.fillMembers(t, e, list)
	}
	t.Kind, t.Why = ctype.Other, fmt.Sprintf("is described as %s, which has no counterpart in Go", e.Tag)
	return t, nil
}

// Names of types that other threads may write, e.g. "struct std::__1::atomic<int>" and "struct AtomicU32".
// The groups together are the name in the source, std::atomic.
const (
	cxxLibrary = `(std::|boost::atomics::)`
	cxxVersion = `(?:__\w+::)?` // of the library, e.g. __1::
	cxxAtomic  = `(atomic|atomic_ref|atomic_flag)(?:<|$)`
)

var (
	atomicCXX  = regexp.MustCompile(`^struct ` + cxxLibrary + cxxVersion + cxxAtomic)
	atomicRust = regexp.MustCompile(`^struct (Atomic(?:Bool|[IU](?:size|[0-9]+)|Ptr<.*|<.*))$`)
)

// atomicName returns the name in the source of an atomic type, or "" for other structs.
func atomicName(t *ctype.Type) string {
	pattern := map[ctype.Language]*regexp.Regexp{ctype.CXX: atomicCXX, ctype.Rust: atomicRust}[t.Language]
	if pattern == nil {
		return ""
	}
	m := pattern.FindStringSubmatch(t.Name)
	if m == nil {
		return ""
	}
	return strings.Join(m[1:], "")
}

// withTag returns the name of a struct, union or enum with that word before it; "" stays "".
func withTag(word, name string) string {
	if name == "" {
		return ""
	}
	return word + " " + name
}

// elemType returns the type of a target, element, result or member, or nil for void.
func (r *reader) elemType(e *dwarf.Entry) (*ctype.Type, error) {
	off, ok := e.Val(dwarf.AttrType).(dwarf.Offset)
	if !ok {
		return nil, nil
	}
	return r.typeAt(off)
}

// declaredAt returns the position of an entry's declaration. file is "" if the position is unknown, or is
// in the source of package cc.
func (r *reader) declaredAt(e *dwarf.Entry) (file string, line int, err error) {
	i, _ := e.Val(dwarf.AttrDeclFile).(int64)
	n, _ := e.Val(dwarf.AttrDeclLine).(int64)
	if i >= 0 && i < int64(len(r.unit.files)) {
		if file, err = r.lines.pathOf(&r.unit.files[i], r.unit.dir); err != nil {
			return "", 0, fmt.Errorf("read DWARF: %w", err)
		}
		if strings.HasSuffix(file, "<stdin>") { // the source of package cc
			return "", 0, nil
		}
		if file != "" {
			file = r.printName(file)
		}
	}
	return file, int(n), nil
}

// Encodings of base types, DWARF 5 table 7.11.
const (
	encBoolean    = 0x02
	encFloat      = 0x04
	encSigned     = 0x05
	encSignedChar = 0x06
	encUnsigned   = 0x07
	encUnsignedCh = 0x08
	encUTF        = 0x10
)

// setBaseType completes a number type. It recognizes char by its name: int8_t or uint8_t has the same
// encoding.
func setBaseType(t *ctype.Type, e *dwarf.Entry) {
	encoding, _ := e.Val(dwarf.AttrEncoding).(int64)
	t.Name = usualName(t.Name)
	switch {
	case t.Name == "char" && t.Language != ctype.Rust:
		t.Kind = ctype.Char
	case t.Size > 8:
		t.Kind, t.Why = ctype.Other, fmt.Sprintf("is a number of %d bytes, for which Go has no type", t.Size)
	case encoding == encBoolean:
		t.Kind = ctype.Bool
	case encoding == encFloat && (t.Size == 4 || t.Size == 8):
		t.Kind = ctype.Float
	case encoding == encSigned, encoding == encSignedChar:
		t.Kind = ctype.Int
	case encoding == encUnsigned, encoding == encUnsignedCh, encoding == encUTF:
		t.Kind = ctype.Uint
	default:
		t.Kind, t.Why = ctype.Other, "is a number of a kind that Go does not have"
	}
}

// usualName returns the usual name of a C number type, as clang records it. gcc writes long long int for
// long long.
func usualName(name string) string {
	switch name {
	case "short int", "long int", "long long int":
		return strings.TrimSuffix(name, " int")
	case "short unsigned int", "long unsigned int", "long long unsigned int":
		return "unsigned " + strings.TrimSuffix(name, " unsigned int")
	case "__int128 unsigned":
		return "unsigned __int128"
	}
	return name
}
