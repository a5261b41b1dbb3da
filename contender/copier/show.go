package copier

import (
	"math"
	"reflect"
	"strconv"
)

// Show is a Go value as answers show it: canonical JSON, in which two values are
// the same text when and only when they are equal. Members are named as in Go
// and stand in their order. Each byte of a text is a character of the same
// number, so that what is not UTF-8 shows as well; an array of bytes is
// the text up to its NUL. A nil slice is an empty one, a pointer what it points
// to, nil where it is nil.
func Show(v any) []byte { return show(nil, reflect.ValueOf(v)) }

func show(out []byte, v reflect.Value) []byte {
	switch v.Kind() {
	case reflect.Bool:
		return strconv.AppendBool(out, v.Bool())
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		return strconv.AppendInt(out, v.Int(), 10)
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		return strconv.AppendUint(out, v.Uint(), 10)
	case reflect.Float32, reflect.Float64:
		return number(out, v.Float(), v.Type().Bits())
	case reflect.String:
		return text(out, v.String())
	case reflect.Array:
		if v.Type().Elem().Kind() == reflect.Uint8 {
			return chars(out, v)
		}
		return elements(out, v)
	case reflect.Slice:
		return elements(out, v)
	case reflect.Struct:
		return members(out, v)
	case reflect.Pointer:
		if !v.IsNil() {
			return show(out, v.Elem())
		}
	}
	return append(out, "null"...)
}

// number keeps those apart that JSON has no word for.
func number(out []byte, f float64, bits int) []byte {
	if math.IsNaN(f) || math.IsInf(f, 0) {
		return strconv.AppendQuote(out, strconv.FormatFloat(f, 'g', -1, bits))
	}
	return strconv.AppendFloat(out, f, 'g', -1, bits)
}

func text(out []byte, s string) []byte {
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

func chars(out []byte, v reflect.Value) []byte {
	var b []byte
	for i := range v.Len() {
		c := byte(v.Index(i).Uint())
		if c == 0 {
			break
		}
		b = append(b, c)
	}
	return text(out, string(b))
}

func elements(out []byte, v reflect.Value) []byte {
	out = append(out, '[')
	for i := range v.Len() {
		if i > 0 {
			out = append(out, ',')
		}
		out = show(out, v.Index(i))
	}
	return append(out, ']')
}

func members(out []byte, v reflect.Value) []byte {
	out = append(out, '{')
	first := true
	for i := range v.NumField() {
		name := v.Type().Field(i).Name
		if name == "_" {
			continue
		}
		if !first {
			out = append(out, ',')
		}
		first = false
		out = append(text(out, name), ':')
		out = show(out, v.Field(i))
	}
	return append(out, '}')
}

// weight is how many bytes of memory a value takes beside its own place: texts
// and the elements of slices.
func weight(v reflect.Value) int64 {
	switch v.Kind() {
	case reflect.String:
		return int64(v.Len())
	case reflect.Pointer:
		if !v.IsNil() {
			return int64(v.Type().Elem().Size()) + weight(v.Elem())
		}
	case reflect.Slice:
		return int64(v.Len())*int64(v.Type().Elem().Size()) + inside(v, v.Len())
	case reflect.Array:
		return inside(v, v.Len())
	case reflect.Struct:
		var n int64
		for i := range v.NumField() {
			n += weight(v.Field(i))
		}
		return n
	}
	return 0
}

// inside is the weight of n elements; numbers have none.
func inside(v reflect.Value, n int) int64 {
	switch v.Type().Elem().Kind() {
	case reflect.String, reflect.Pointer, reflect.Slice, reflect.Array, reflect.Struct:
	default:
		return 0
	}
	var sum int64
	for i := range n {
		sum += weight(v.Index(i))
	}
	return sum
}
