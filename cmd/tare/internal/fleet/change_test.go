package fleet

import (
	"bytes"
	"encoding/json"
	"math/rand/v2"
	"strings"
	"testing"
)

// changer changes messages as a peer that means ill would.
type changer struct {
	*rand.Rand
	t *testing.T
}

// text is a message with one to three fields changed. added names fields that it may have
// and has not.
func (c changer) text(message any, added ...string) []byte {
	text, err := json.Marshal(message)
	if err != nil {
		c.t.Fatal(err)
	}
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	var root any
	if err := d.Decode(&root); err != nil {
		c.t.Fatal(err)
	}
	for range 1 + c.IntN(3) {
		if fields, ok := root.(map[string]any); ok && len(added) > 0 && c.IntN(4) == 0 {
			fields[added[c.IntN(len(added))]] = c.value(root)
			continue
		}
		if all := places(root, func(v any) { root = v }); len(all) > 1 {
			all = all[1:] // not the message itself
			all[c.IntN(len(all))](c.value(root))
		}
	}
	if text, err = json.Marshal(root); err != nil {
		c.t.Fatal(err)
	}
	return text
}

// places are functions that put a value at each place of v, that of v first.
func places(v any, put func(any)) []func(any) {
	all := []func(any){put}
	switch v := v.(type) {
	case map[string]any:
		for key, below := range v {
			all = append(all, places(below, func(x any) { v[key] = x })...)
			all = append(all, func(any) { delete(v, key) })
		}
	case []any:
		for i, below := range v {
			all = append(all, places(below, func(x any) { v[i] = x })...)
		}
	}
	return all
}

// value is a value at some bound, or one of the message's own.
func (c changer) value(root any) any {
	numbers := []string{
		"0", "-1", "1", "2", "3", "255", "65536", "2147483647", "2147483648", "-2147483649", "4294967296", "17592186044416", "17592186044415", "17592186044417",
		"35184372088832", "52776558133248", "9007199254740993", "4611686018427387904", "9223372036854775807", "9223372036854775808", "-9223372036854775808",
		"-9223372036854775809", "18446744073709551615", "18446744073709551616", "0.5", "-0.0", "1e308", "1e-320", "1e400",
	}
	texts := []string{
		"", "a", "b", "*", ">", ".", "..", "../x", "/etc/passwd", "-x", "--x=y", "o", strings.Repeat("x", 300), strings.Repeat(".1", 100), "\x1b[31m\u202e\n", "::::", "127.0.0.1:1", "[::1]:0",
		strings.Repeat("0", 64), "AAAA", "{}", "1e999999/s", "step:1/s" + strings.Repeat(",1/s", 2000), "ramp:0/s..0/s", "-1/s", "%s%n", "null",
	}
	switch c.IntN(8) {
	case 0, 1, 2, 3:
		return json.Number(numbers[c.IntN(len(numbers))])
	case 4, 5:
		return texts[c.IntN(len(texts))]
	case 6:
		deep := any("x")
		for range 1 + c.IntN(100) {
			deep = []any{deep}
		}
		many := make([]any, c.IntN(1000))
		return []any{nil, true, false, []any{}, map[string]any{}, deep, many, []any{json.Number("9223372036854775807")}}[c.IntN(8)]
	}
	// One of its own, as a copy: a value in itself would have no end.
	var values []any
	var collect func(any)
	collect = func(v any) {
		values = append(values, v)
		switch v := v.(type) {
		case map[string]any:
			for _, below := range v {
				collect(below)
			}
		case []any:
			for _, below := range v {
				collect(below)
			}
		}
	}
	collect(root)
	text, err := json.Marshal(values[c.IntN(len(values))])
	if err != nil {
		c.t.Fatal(err)
	}
	return json.RawMessage(text)
}
