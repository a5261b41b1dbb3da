package figures

import (
	"regexp"
	"strconv"
	"strings"
)

// structs reads the definitions of structs of C in blocks of code, and computes their sizes
// on a 64-bit machine.
type structs struct {
	doc    *document
	open   bool
	at     position
	known  map[string]layout // of structs before
	size   int64
	align  int64
	broken bool // a field has a type that is not known
}

// layout is the size and the alignment of a type in bytes.
type layout struct{ size, align int64 }

// scalars are the types of C with the sizes that all 64-bit machines give them; long and
// pointers differ on 32 bits and Windows, so that only pointers are here.
var scalars = map[string]layout{
	"char": {1, 1}, "signed char": {1, 1}, "unsigned char": {1, 1}, "bool": {1, 1}, "_Bool": {1, 1}, "int8_t": {1, 1}, "uint8_t": {1, 1},
	"short": {2, 2}, "unsigned short": {2, 2}, "int16_t": {2, 2}, "uint16_t": {2, 2},
	"int": {4, 4}, "unsigned int": {4, 4}, "unsigned": {4, 4}, "int32_t": {4, 4}, "uint32_t": {4, 4}, "float": {4, 4},
	"double": {8, 8}, "int64_t": {8, 8}, "uint64_t": {8, 8}, "long long": {8, 8}, "unsigned long long": {8, 8},
}

var (
	structOpen  = regexp.MustCompile(`^(?:typedef )?struct(?: \w+)? *\{$`)
	structClose = regexp.MustCompile(`^\} *(\w+)? *;$`)
	structField = regexp.MustCompile(`^(?:const )?(?:struct )?([A-Za-z_][\w ]*?) *(\*?) *\b(\w+)((?:\[\d+\])*);`)
	arrayLength = regexp.MustCompile(`\[(\d+)\]`)
)

// read takes in a line of code.
func (s *structs) read(at position, text string) {
	switch {
	case structOpen.MatchString(text):
		s.open, s.at, s.size, s.align, s.broken = true, at, 0, 1, false
	case !s.open || text == "" || strings.HasPrefix(text, "//"):
	case structClose.MatchString(text):
		s.open = false
		name := structClose.FindStringSubmatch(text)[1]
		if s.broken || s.size == 0 || len(s.known) > 1000 {
			return
		}
		size := (s.size + s.align - 1) / s.align * s.align
		s.known[name] = layout{size, s.align}
		s.doc.structs = append(s.doc.structs, structSize{position: s.at, name: name, size: size})
	default:
		s.addField(text)
	}
}

// addField adds a field to the struct that is open.
func (s *structs) addField(text string) {
	m := structField.FindStringSubmatch(text)
	if m == nil {
		s.broken = true
		return
	}
	field, ok := scalars[m[1]]
	if !ok {
		field, ok = s.known[m[1]]
	}
	if m[2] != "" {
		field, ok = layout{8, 8}, true
	}
	if !ok {
		s.broken = true
		return
	}
	count := int64(1)
	for _, length := range arrayLength.FindAllStringSubmatch(m[4], -1) {
		n, err := strconv.ParseInt(length[1], 10, 32)
		if err != nil || count > 1<<20 {
			s.broken = true
			return
		}
		count *= n
	}
	s.size = (s.size+field.align-1)/field.align*field.align + field.size*count
	s.align = max(s.align, field.align)
}
