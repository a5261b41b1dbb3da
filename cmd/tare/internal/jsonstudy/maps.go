package jsonstudy

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/tarebench/tare/internal/lazyregexp"
)

// This file decides whether JSON objects become a Go map or a struct. They become a map if their keys
// are data such as dates and ids. They become a struct if their keys name fields.

// Bounds of the rules for maps.
const (
	minVariedKeys  = 24  // least number of distinct keys in objects that have few keys in common
	maxVariedShare = 0.5 // such an object has on average less than this share of the keys
	minAlikeKeys   = 16  // least number of keys whose values are objects with the same fields
	minScalarKeys  = 64  // least number of keys whose values are scalars of one kind
	maxFields      = 400 // largest number of fields of a struct
	maxNameLength  = 48  // largest number of characters in the name of a field
)

// mapValues reports whether the objects of s are maps, and returns the shape of all their values
// together.
func (s *shape) mapValues() (values *shape, isMap bool) {
	values = s.mergeFields()
	seen, dataLike, canBeStruct := 0, 0, true
	for _, f := range s.fields {
		seen += f.seen // number of objects with this key
		if looksLikeData(f.key) {
			dataLike++
		}
		canBeStruct = canBeStruct && canTag(f.key)
	}
	n := len(s.fields)
	mostLookLikeData := 2*dataLike > n
	keysVary := n >= minVariedKeys && float64(seen) < maxVariedShare*float64(n*s.objects)
	valuesAreAlike := n >= minAlikeKeys && values.objects > 0 && haveSimilarFields(s.fields)
	areManyScalars := n >= minScalarKeys && values.objects+values.arrays == 0
	switch {
	case !canBeStruct || n == 0 || n > maxFields:
		return values, true
	case len(values.kindNames()) > 1: // a struct has better types for values of several kinds
		return nil, false
	case mostLookLikeData || keysVary || valuesAreAlike || areManyScalars:
		return values, true
	}
	return nil, false
}

func (s *shape) mergeFields() *shape {
	values := new(shape)
	for _, f := range s.fields {
		values.merge(f.shape)
	}
	return values
}

// haveSimilarFields reports whether objects have, on average, at least half of all keys.
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

// dataKey matches keys that look like data. Its alternatives are, in order: a number or date
// (2024-05-01), a hexadecimal id (deadbeef), a UUID, a key with a space, a slash or an @. The last one
// is a key whose first character is no letter, number, _, $, #, @ or -.
var dataKey = lazyregexp.New(`^[0-9]|^[0-9a-fA-F]{8,}$|[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-|[\s/@]|^[^\pL\pN_$#@-]`)

// looksLikeData reports whether a key is no likely name of a field.
func looksLikeData(key string) bool {
	return key == "" || utf8.RuneCountInString(key) > maxNameLength || dataKey.MatchString(key)
}

// canTag reports whether encoding/json accepts key in a struct tag.
func canTag(key string) bool {
	if key == "" {
		return false
	}
	for _, r := range key {
		switch {
		case unicode.IsLetter(r), unicode.IsDigit(r), r < utf8.RuneSelf && isTagMark(byte(r)):
		default:
			return false
		}
	}
	return true
}

// isTagMark reports whether encoding/json accepts c in the name of a tag.
func isTagMark(c byte) bool {
	return strings.IndexByte("!#$%&()*+-./:;<=>?@[]^_{|}~ ", c) >= 0
}
