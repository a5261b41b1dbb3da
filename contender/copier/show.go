package copier

import (
	"math"
	"reflect"
	"strconv"
)

// Show formats a Go value as canonical JSON. Only equal values have the same text. Members have their Go names
// and order.
//
// Each byte of a string becomes one character, so that invalid UTF-8 differs. An array of bytes ends before
// its first zero. A nil slice equals an empty one. A pointer is its target or null.
func Show(v any) []byte { return appendValue(nil, reflect.ValueOf(v)) }

func appendValue(out []byte, v reflect.Value) []byte {
	switch v.Kind() {
	case reflect.Bool:
		return strconv.AppendBool(out, v.Bool())
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		return strconv.AppendInt(out, v.Int(), 10)
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		return strconv.AppendUint(out, v.Uint(), 10)
	case reflect.Float32, reflect.Float64:
		return appendNumber(out, v.Float(), v.Type().Bits())
	case reflect.String:
		return appendText(out, v.String())
	case reflect.Array:
		if v.Type().Elem().Kind() == reflect.Uint8 {
			return appendChars(out, v)
		}
		return appendElements(out, v)
	case reflect.Slice:
		return appendElements(out, v)
	case reflect.Struct:
		return appendMembers(out, v)
	case reflect.Pointer:
		if !v.IsNil() {
			return appendValue(out, v.Elem())
		}
	}
	return append(out, "null"...)
}

// appendNumber quotes NaN and infinities, which JSON does not have.
func appendNumber(out []byte, f float64, bits int) []byte {
	if math.IsNaN(f) || math.IsInf(f, 0) {
		return strconv.AppendQuote(out, strconv.FormatFloat(f, 'g', -1, bits))
	}
	return strconv.AppendFloat(out, f, 'g', -1, bits)
}

// appendText appends s as a JSON string, in which each byte of s is a character.
func appendText(out []byte, s string) []byte {
	const digits = "0123456789abcdef"
	out = append(out, '"')
	for i := range len(s) {
		switch c := s[i]; {
		case c == '"' || c == '\\':
			out = append(out, '\\', c)
		case c < ' ' || c >= 0x7f:
			out = append(out, '\\', 'u', '0', '0', digits[c>>4], digits[c&15])
		default:
			out = append(out, c)
		}
	}
	return append(out, '"')
}

// appendChars appends an array of bytes as a string, up to the first zero byte.
func appendChars(out []byte, v reflect.Value) []byte {
	var b []byte
	for i := range v.Len() {
		c := byte(v.Index(i).Uint())
		if c == 0 {
			break
		}
		b = append(b, c)
	}
	return appendText(out, string(b))
}

func appendElements(out []byte, v reflect.Value) []byte {
	out = append(out, '[')
	for i := range v.Len() {
		if i > 0 {
			out = append(out, ',')
		}
		out = appendValue(out, v.Index(i))
	}
	return append(out, ']')
}

func appendMembers(out []byte, v reflect.Value) []byte {
	out = append(out, '{')
	first := true
	for i := range v.NumField() {
		name := v.Type().Field(i).Name
		if name == "_" { // padding
			continue
		}
		if !first {
			out = append(out, ',')
		}
		first = false
		out = append(appendText(out, name), ':')
		out = appendValue(out, v.Field(i))
	}
	return append(out, '}')
}

// countBytes returns the bytes to which a value refers, in strings, slices and targets of pointers.
func countBytes(v reflect.Value) int64 {
	switch v.Kind() {
	case reflect.String:
		return int64(v.Len())
	case reflect.Pointer:
		if !v.IsNil() {
			return int64(v.Type().Elem().Size()) + countBytes(v.Elem())
		}
	case reflect.Slice:
		return int64(v.Len())*int64(v.Type().Elem().Size()) + countElementBytes(v, v.Len())
	case reflect.Array:
		return countElementBytes(v, v.Len())
	case reflect.Struct:
		var n int64
		for i := range v.NumField() {
			n += countBytes(v.Field(i))
		}
		return n
	}
	return 0
}

func countElementBytes(v reflect.Value, n int) int64 {
	switch v.Type().Elem().Kind() {
	case reflect.String, reflect.Pointer, reflect.Slice, reflect.Array, reflect.Struct: // may refer to memory
	default:
		return 0 // numbers: do not look at each
	}
	var sum int64
	for i := range n {
		sum += countBytes(v.Index(i))
	}
	return sum
}
