package jsonstudy

import (
	"regexp"
	"unicode"
	"unicode/utf8"
)

// Bounds for an object to count as a map: its keys are data, not the names of fields.
const (
	variedKeys = 24  // distinct keys from which on objects may turn out to share few
	variedPart = 0.5 // of all keys, that an object has on average, at most
	alikeKeys  = 16  // objects of the same fields under that many keys
	scalarKeys = 64  // scalars of one kind under that many keys
	maxFields  = 400 // more fields no struct gets
)

// dataKeys reports whether the objects at a place are maps, and returns their values if so.
func (s *shape) dataKeys() (values *shape, ok bool) {
	values = new(shape)
	seen, odd := 0, 0
	for _, f := range s.fields {
		values.merge(f.shape)
		seen += f.seen
		if looksLikeData(f.key) {
			odd++
		}
		if !canTag(f.key) {
			return valuesOf(s), true // no struct can have it
		}
	}
	n := len(s.fields)
	switch {
	case n == 0 || n > maxFields:
		return values, true
	case len(values.kindNames()) > 1:
		return nil, false
	case 2*odd > n:
		return values, true
	case n >= variedKeys && float64(seen) < variedPart*float64(n*s.objects):
		return values, true
	case n >= alikeKeys && values.objects > 0 && haveAlikeFields(s.fields):
		return values, true
	case n >= scalarKeys && values.objects+values.arrays == 0:
		return values, true
	}
	return nil, false
}

func valuesOf(s *shape) *shape {
	values := new(shape)
	for _, f := range s.fields {
		values.merge(f.shape)
	}
	return values
}

// haveAlikeFields reports whether the values are objects that all have most of the same fields.
func haveAlikeFields(fields []*field) bool {
	union, seen := map[string]bool{}, 0
	for _, f := range fields {
		if f.shape.objects == 0 {
			return false
		}
		for _, own := range f.shape.fields {
			union[own.key] = true
			seen++
		}
	}
	return len(union) > 0 && 2*seen >= len(union)*len(fields)
}

var dataKey = regexp.MustCompile(`^[0-9]|^[0-9a-fA-F]{8,}$|[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-|[\s/@]|^[^\pL\pN_$#@-]`)

// looksLikeData reports whether a key is an unlikely name of a field: a number, a date, a hash, an
// address or a path.
func looksLikeData(key string) bool {
	return key == "" || utf8.RuneCountInString(key) > 48 || dataKey.MatchString(key)
}

// canTag reports whether a struct tag can hold the key, as encoding/json reads tags.
func canTag(key string) bool {
	if key == "" {
		return false
	}
	for _, r := range key {
		switch {
		case unicode.IsLetter(r), unicode.IsDigit(r):
		case r < 0x80 && isTagMark(byte(r)):
		default:
			return false
		}
	}
	return true
}

// isTagMark reports whether encoding/json accepts the mark in the name of a tag.
func isTagMark(c byte) bool {
	for _, ok := range []byte("!#$%&()*+-./:;<=>?@[]^_{|}~ ") {
		if c == ok {
			return true
		}
	}
	return false
}
