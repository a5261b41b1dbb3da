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

// findScalar returns the layout of a type of C that has the same on all 64-bit machines: a long
// has not.
func findScalar(name string) (layout, bool) {
	switch name {
	case "char", "signed char", "unsigned char", "bool", "_Bool", "int8_t", "uint8_t":
		return layout{1, 1}, true
	case "short", "unsigned short", "int16_t", "uint16_t":
		return layout{2, 2}, true
	case "int", "unsigned int", "unsigned", "int32_t", "uint32_t", "float":
		return layout{4, 4}, true
	case "double", "int64_t", "uint64_t", "long long", "unsigned long long":
		return layout{8, 8}, true
	}
	return layout{}, false
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
	field, ok := findScalar(m[1])
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
