package jsonstudy

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/tarebench/tare/internal/lazyregexp"
)

// Bounds of the rules by which an object counts as a map, because its keys are data and not names of
// fields.
const (
	minVariedKeys  = 24  // fewest distinct keys of objects that have few of them in common
	maxVariedShare = 0.5 // largest average share of these keys in an object
	minAlikeKeys   = 16  // fewest keys whose values are objects with the same fields
	minScalarKeys  = 64  // fewest keys whose values are scalars of one kind
	maxFields      = 400 // most fields of a struct
	maxNameLength  = 48  // most characters of the name of a field
)

// mapValues returns the shape of all values in the objects of s if these are maps, whose keys are
// data: dates, ids.
func (s *shape) mapValues() (values *shape, isMap bool) {
	values = s.mergeFields()
	seen, dataLike, canBeStruct := 0, 0, true
	for _, f := range s.fields {
		seen += f.seen
		if looksLikeData(f.key) {
			dataLike++
		}
		canBeStruct = canBeStruct && canTag(f.key)
	}
	n := len(s.fields)
	isScalar := values.objects+values.arrays == 0
	switch {
	case !canBeStruct || n == 0 || n > maxFields:
		return values, true
	case len(values.kindNames()) > 1: // values of several kinds: a struct has better types
		return nil, false
	case 2*dataLike > n,
		n >= minVariedKeys && float64(seen) < maxVariedShare*float64(n*s.objects),
		n >= minAlikeKeys && values.objects > 0 && haveSimilarFields(s.fields),
		n >= minScalarKeys && isScalar:
		return values, true
	}
	return nil, false
}

// mergeFields returns the shape of the values of all fields together.
func (s *shape) mergeFields() *shape {
	values := new(shape)
	for _, f := range s.fields {
		values.merge(f.shape)
	}
	return values
}

// haveSimilarFields reports whether all values are objects, which have on average at least half of the
// fields of all of them.
func haveSimilarFields(fields []*field) bool {
	union, seen := map[string]bool{}, 0
	for _, f := range fields {
		if f.shape.objects == 0 {
			return false
		}
		for _, inner := range f.shape.fields {
			union[inner.key] = true
			seen++
		}
	}
	return len(union) > 0 && 2*seen >= len(union)*len(fields)
}

// dataKey matches numbers and dates, hexadecimal ids and UUIDs, and keys with a space, a slash or an
// @ or an unusual first character.
var dataKey = lazyregexp.New(`^[0-9]|^[0-9a-fA-F]{8,}$|[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-|[\s/@]|^[^\pL\pN_$#@-]`)

// looksLikeData reports whether a key is an unlikely name of a field: a number, a date, a hash, an
// address or a path.
func looksLikeData(key string) bool {
	return key == "" || utf8.RuneCountInString(key) > maxNameLength || dataKey.MatchString(key)
}

// canTag reports whether key can be in a struct tag, by the rules of encoding/json.
func canTag(key string) bool {
	if key == "" {
		return false
	}
	for _, r := range key {
		switch {
		case unicode.IsLetter(r), unicode.IsDigit(r), r < utf8.RuneSelf && isTagMark(byte(r)): // valid
		default:
			return false
		}
	}
	return true
}

// isTagMark reports whether encoding/json accepts a punctuation mark in the name of a tag.
func isTagMark(c byte) bool {
	return strings.IndexByte("!#$%&()*+-./:;<=>?@[]^_{|}~ ", c) >= 0
}
