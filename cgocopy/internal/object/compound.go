package object

import (
	"debug/dwarf"
	"fmt"

	"github.com/tarebench/tare/cgocopy/internal/ctype"
)

// attrGNUVector marks arrays that are SIMD vectors.
const attrGNUVector dwarf.Attr = 0x2107

// The fill functions complete a type t from its entry e in DWARF, and from the children of e. list has read
// e last.

// fillArray completes the array type t. Each further dimension becomes a separate array type.
// [reader.resolveSizes] computes the sizes later.
func (r *reader) fillArray(t *ctype.Type, e *dwarf.Entry, list *entries) error {
	elem, err := r.elemType(e)
	if err != nil {
		return err
	}
	if vector, _ := e.Val(attrGNUVector).(bool); vector {
		t.Kind, t.Why = ctype.Other, "is a vector of the processor"
		return nil
	}
	var dims []int64
	err = visitChildren(e, list, func(kid *dwarf.Entry) error {
		if kid.Tag != dwarf.TagSubrangeType {
			return nil
		}
		n := int64(ctype.Flexible)
		if count, ok := kid.Val(dwarf.AttrCount).(int64); ok {
			n = count
		} else if last, ok := kid.Val(dwarf.AttrUpperBound).(int64); ok {
			n = last + 1
		}
		dims = append(dims, n)
		return nil
	})
	if err != nil {
		return err
	}
	if len(dims) == 0 {
		dims = []int64{ctype.Flexible}
	}
	for i := len(dims) - 1; i > 0; i-- { // DWARF has the innermost dimension last
		elem = &ctype.Type{Kind: ctype.Array, Elem: elem, Count: dims[i], Language: r.unit.language}
		r.arrays = append(r.arrays, elem)
	}
	t.Kind, t.Name, t.Elem, t.Count, t.Size = ctype.Array, "", elem, dims[0], 0
	r.arrays = append(r.arrays, t)
	return nil
}

// SizeOf returns the size in bytes of a type without its typedefs; 0 for void.
func SizeOf(t *ctype.Type) int64 {
	if t = t.Strip(); t == nil {
		return 0
	}
	return t.Size
}

// fillEnum completes the enum type t: its storage type and its values.
func (r *reader) fillEnum(t *ctype.Type, e *dwarf.Entry, list *entries) (err error) {
	if t.Elem, err = r.elemType(e); err != nil {
		return err
	}
	t.Incomplete, _ = e.Val(dwarf.AttrDeclaration).(bool)
	err = visitChildren(e, list, func(kid *dwarf.Entry) error {
		if kid.Tag != dwarf.TagEnumerator {
			return nil
		}
		name, _ := kid.Val(dwarf.AttrName).(string)
		value, _ := kid.Val(dwarf.AttrConstValue).(int64)
		t.Enumerators = append(t.Enumerators, ctype.Enumerator{Name: name, Value: value})
		return nil
	})
	if t.Elem != nil || err != nil {
		return err
	}
	// Older DWARF does not state the storage type: it is unsigned, unless a value is negative.
	t.Elem = &ctype.Type{Kind: ctype.Uint, Name: "unsigned int", Size: t.Size, Language: t.Language}
	for _, v := range t.Enumerators {
		if v.Value < 0 {
			t.Elem.Kind, t.Elem.Name = ctype.Int, "int"
		}
	}
	return nil
}

// fillMembers completes a struct, class or union. It sets the reason if it cannot be copied.
func (r *reader) fillMembers(t *ctype.Type, e *dwarf.Entry, list *entries) error {
	r.compounds = append(r.compounds, t)
	t.Align, _ = e.Val(dwarf.AttrAlignment).(int64)
	if _, ok := e.Val(dwarf.AttrVtableElemLoc).([]byte); ok {
		t.Why = "has virtual functions"
	}
	return visitChildren(e, list, func(kid *dwarf.Entry) error {
		switch kid.Tag {
		case dwarf.TagMember:
			return r.addMember(t, kid)
		case dwarf.TagInheritance:
			return r.addBase(t, kid)
		case dwarf.TagVariantPart:
			t.Why = "is a Rust enum with data, which has no layout that C knows"
		case dwarf.TagSubprogram:
			if virtual, _ := kid.Val(dwarf.AttrVirtuality).(int64); virtual != 0 {
				t.Why = "has virtual functions"
			}
		}
		return nil
	})
}

// AlignOf returns the usual alignment of a type in bytes. Packed structs may ignore it.
func AlignOf(t *ctype.Type) int64 {
	t = t.Strip()
	switch {
	case t == nil:
		return 1
	case t.Kind == ctype.Array:
		return AlignOf(t.Elem)
	case t.Kind == ctype.Struct, t.Kind == ctype.Union:
		return max(t.Align, 1)
	}
	return max(t.Size, 1)
}

// addMember adds the member that e describes to the fields of t, but no static members or constants of C++.
// If the compiler has added the member, e.g. for virtual functions, t cannot be copied.
func (r *reader) addMember(t *ctype.Type, e *dwarf.Entry) error {
	if external, _ := e.Val(dwarf.AttrExternal).(bool); external {
		return nil // a static member of C++
	}
	if _, constant := e.Val(dwarf.AttrConstValue).(int64); constant {
		return nil
	}
	var f ctype.Field
	f.Name, _ = e.Val(dwarf.AttrName).(string)
	var err error
	if f.File, f.Line, err = r.declaredAt(e); err != nil {
		return err
	}
	if f.Type, err = r.elemType(e); err != nil {
		return err
	}
	if s := f.Type.Strip(); f.Line == 0 && s != nil && (s.Kind == ctype.Struct || s.Kind == ctype.Union) {
		f.File, f.Line = s.File, s.Line // gcc records no position for members without a name
	}
	if artificial, _ := e.Val(dwarf.AttrArtificial).(bool); artificial {
		t.Why = "has virtual functions or a hidden base"
		return nil
	}
	switch location := e.Val(dwarf.AttrDataMemberLoc).(type) {
	case int64:
		f.Offset = location
	case []byte:
		n, ok := parseOffset(location)
		if !ok {
			return fmt.Errorf("read DWARF: %s.%s is where only a debugger at run time can tell", t, f.Name)
		}
		f.Offset = n
	}
	r.fillBits(&f, e)
	t.Fields = append(t.Fields, f)
	return nil
}

// fillBits sets the offset and the size of a bit-field. Since DWARF 4 the offset counts from the start of
// the struct. Before, it counts from the most significant bit of a storage unit.
func (r *reader) fillBits(f *ctype.Field, e *dwarf.Entry) {
	size, ok := e.Val(dwarf.AttrBitSize).(int64)
	if !ok {
		return
	}
	f.BitSize = size
	if bits, ok := e.Val(dwarf.AttrDataBitOffset).(int64); ok {
		f.Offset, f.BitOffset = bits/8, bits%8
		return
	}
	from, _ := e.Val(dwarf.AttrBitOffset).(int64)
	unit, ok := e.Val(dwarf.AttrByteSize).(int64)
	if !ok {
		unit = SizeOf(f.Type)
	}
	low := unit*8 - from - size // from the least significant bit of the unit, little endian
	f.Offset, f.BitOffset = f.Offset+low>>3, low&7
}

// maxInherited is the largest number of fields that all classes of a file inherit together. In a hostile
// file each class could inherit twice from the one before.
const maxInherited = 1 << 20

func (r *reader) addBase(t *ctype.Type, e *dwarf.Entry) error {
	if virtual, _ := e.Val(dwarf.AttrVirtuality).(int64); virtual != 0 {
		t.Why = "has a virtual base"
		return nil
	}
	base, err := r.elemType(e)
	if err != nil {
		return err
	}
	offset, _ := e.Val(dwarf.AttrDataMemberLoc).(int64)
	base = base.Strip()
	if base == nil {
		return nil
	}
	if base.Why != "" {
		t.Why = base.Why
	}
	if r.inherited += len(base.Fields); r.inherited > maxInherited {
		return fmt.Errorf("read DWARF: classes inherit more than %d fields in all", maxInherited)
	}
	for _, f := range base.Fields {
		f.Offset += offset
		t.Fields = append(t.Fields, f)
	}
	return nil
}

// parseOffset parses the only expression that old compilers write for the offset of a member:
// DW_OP_plus_uconst and a number in LEB128.
func parseOffset(b []byte) (int64, bool) {
	const plusUconst = 0x23
	if len(b) < 2 || b[0] != plusUconst {
		return 0, false
	}
	var n int64
	for i, shift := 1, 0; i < len(b) && shift < 63; i, shift = i+1, shift+7 {
		n |= int64(b[i]&0x7f) << shift
		if b[i]&0x80 == 0 {
			return n, i == len(b)-1
		}
	}
	return 0, false
}

// visitChildren visits the entries directly below e, which must be the last entry that list has read.
func visitChildren(e *dwarf.Entry, list *entries, visit func(*dwarf.Entry) error) error {
	if !e.Children {
		return nil
	}
	for {
		kid, err := list.Next()
		if err != nil {
			return fmt.Errorf("read DWARF: %w", err)
		}
		if kid == nil || kid.Tag == 0 {
			return nil
		}
		if err := visit(kid); err != nil {
			return err
		}
		if err := skipChildren(kid, list); err != nil {
			return err
		}
	}
}
