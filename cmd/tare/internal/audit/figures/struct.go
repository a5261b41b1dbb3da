package figures

import (
	"strconv"
	"strings"

	"github.com/tarebench/tare/internal/lazyregexp"
)

// This file computes the sizes of C structs on a page. For example, "struct { int32_t id; char
// name[60]; }" has 64 bytes. The audit rule bytes-below-result compares them with the allocated
// bytes of an operation.

// structReader reads the C structs in blocks of code, line by line. It adds the size that each has on
// 64-bit machines to doc.structs.
type structReader struct {
	doc            *document
	inStruct       bool
	start          position          // first line of the current struct
	known          map[string]layout // layouts of the complete structs, by name
	size           int64             // bytes of the fields that were read of the current struct
	align          int64             // greatest alignment of these fields
	hasUnknownType bool              // a field of the current struct has an unknown type
}

// layout holds the size and the alignment of a type, in bytes.
type layout struct{ size, align int64 }

// scalarLayouts has the layouts that all 64-bit machines share. The type long is missing, because it
// has 4 bytes on Windows.
var scalarLayouts = map[string]layout{
	"char": {1, 1}, "signed char": {1, 1}, "unsigned char": {1, 1}, "bool": {1, 1}, "_Bool": {1, 1}, "int8_t": {1, 1}, "uint8_t": {1, 1},
	"short": {2, 2}, "unsigned short": {2, 2}, "int16_t": {2, 2}, "uint16_t": {2, 2},
	"int": {4, 4}, "unsigned int": {4, 4}, "unsigned": {4, 4}, "int32_t": {4, 4}, "uint32_t": {4, 4}, "float": {4, 4},
	"double": {8, 8}, "int64_t": {8, 8}, "uint64_t": {8, 8}, "long long": {8, 8}, "unsigned long long": {8, 8},
}

// structCloseRE matches "} Order;" with the group "Order". structFieldRE matches "char *name[64];" with
// the groups "char", "*", "name" and "[64]".
var (
	structOpenRE  = lazyregexp.New(`^(?:typedef )?struct(?: \w+)? *\{$`)
	structCloseRE = lazyregexp.New(`^\} *(\w+)? *;$`)
	structFieldRE = lazyregexp.New(`^(?:const )?(?:struct )?([A-Za-z_][\w ]*?) *(\*?) *\b(\w+)((?:\[\d+\])*);`)
	arrayLengthRE = lazyregexp.New(`\[(\d+)\]`)
)

// readLine reads a line of code. At the end of a struct it stores the size.
func (s *structReader) readLine(pos position, text string) {
	switch {
	case structOpenRE.MatchString(text):
		s.inStruct, s.hasUnknownType = true, false
		s.start, s.size, s.align = pos, 0, 1
	case !s.inStruct || text == "" || strings.HasPrefix(text, "//"): // other code, or a comment
	case structCloseRE.MatchString(text):
		s.inStruct = false
		name := structCloseRE.FindStringSubmatch(text)[1]
		if s.hasUnknownType || s.size == 0 || len(s.known) > maxStructs {
			return
		}
		size := roundUp(s.size, s.align)
		s.known[name] = layout{size, s.align}
		s.doc.structs = append(s.doc.structs, structSize{position: s.start, name: name, size: size})
	default:
		s.addField(text)
	}
}

const (
	maxStructs = 1000
	maxArray   = 1 << 20 // elements of a field
)

func roundUp(size, align int64) int64 { return (size + align - 1) / align * align }

// addField adds the size of a field to the current struct, with the padding before the field.
func (s *structReader) addField(text string) {
	m := structFieldRE.FindStringSubmatch(text)
	if m == nil {
		s.hasUnknownType = true
		return
	}
	field, ok := scalarLayouts[m[1]]
	if !ok {
		field, ok = s.known[m[1]]
	}
	if isPointer := m[2] != ""; isPointer {
		field, ok = layout{8, 8}, true
	}
	if !ok {
		s.hasUnknownType = true
		return
	}
	count := int64(1)
	for _, length := range arrayLengthRE.FindAllStringSubmatch(m[4], -1) {
		n, err := strconv.ParseInt(length[1], 10, 32)
		if err != nil || count > maxArray {
			s.hasUnknownType = true
			return
		}
		count *= n
	}
	s.size = roundUp(s.size, field.align) + field.size*count
	s.align = max(s.align, field.align)
}
