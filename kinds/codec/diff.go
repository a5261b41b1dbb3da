package codec

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"math/big"
	"slices"
	"strconv"
	"strings"
)

// Diff compares two JSON documents by value: key order, white space, escapes
// and the spelling of numbers do not count, everything else does. It returns
// the first difference in one line, or nothing.
func Diff(want, got []byte) string {
	if bytes.Equal(want, bytes.TrimRight(got, "\n")) {
		return ""
	}
	g, err := decodeOne(got)
	if err != nil {
		return fmt.Sprintf("not valid JSON (%v) after %d bytes, the reference has %d", err, len(got), len(want))
	}
	w, err := decodeOne(want)
	if err != nil {
		return fmt.Sprintf("the reference is not valid JSON: %v", err)
	}
	return findDifference("$", w, g)
}

// decodeOne reads exactly one document, with numbers as they were written.
func decodeOne(src []byte) (any, error) {
	d := json.NewDecoder(bytes.NewReader(src))
	d.UseNumber()
	var v any
	if err := d.Decode(&v); err != nil {
		if err == io.EOF {
			return nil, fmt.Errorf("empty")
		}
		return nil, err
	}
	if _, err := d.Token(); err != io.EOF {
		return nil, fmt.Errorf("something follows the document")
	}
	return v, nil
}

func findDifference(at string, want, got any) string {
	switch w := want.(type) {
	case map[string]any:
		g, ok := got.(map[string]any)
		if !ok {
			return formatDifference(at, want, got)
		}
		for _, key := range slices.Sorted(maps.Keys(w)) {
			gv, ok := g[key]
			if !ok {
				return fmt.Sprintf("%s.%s: missing", at, key)
			}
			if d := findDifference(at+"."+key, w[key], gv); d != "" {
				return d
			}
		}
		for _, key := range slices.Sorted(maps.Keys(g)) {
			if _, ok := w[key]; !ok {
				return fmt.Sprintf("%s.%s: not in the reference", at, key)
			}
		}
	case []any:
		g, ok := got.([]any)
		if !ok {
			return formatDifference(at, want, got)
		}
		if len(w) != len(g) {
			return fmt.Sprintf("%s: want %d items, got %d", at, len(w), len(g))
		}
		for i := range w {
			if d := findDifference(at+"["+strconv.Itoa(i)+"]", w[i], g[i]); d != "" {
				return d
			}
		}
	case json.Number:
		g, ok := got.(json.Number)
		if !ok || !sameNumber(w, g) {
			return formatDifference(at, want, got)
		}
	default:
		if want != got {
			return formatDifference(at, want, got)
		}
	}
	return ""
}

func formatDifference(at string, want, got any) string {
	return fmt.Sprintf("%s: want %s, got %s", at, formatValue(want), formatValue(got))
}

// formatValue returns a value in at most a few words.
func formatValue(v any) string {
	b, err := json.Marshal(v)
	if err != nil {
		return fmt.Sprintf("%T", v)
	}
	const most = 60
	if len(b) > most {
		return string(b[:most]) + "…"
	}
	return string(b)
}

// sameNumber compares decimal values exactly: 1e2 is 100, and 1.5e-9 is not 0.
// An exponent beyond any float64, either way, is compared as text, so that a
// hostile answer cannot ask for a gigabyte of digits.
func sameNumber(a, b json.Number) bool {
	if a == b {
		return true
	}
	for _, n := range []json.Number{a, b} {
		digits, _, _ := strings.Cut(strings.ToLower(n.String()), "e")
		f, err := strconv.ParseFloat(n.String(), 64)
		if err != nil || f == 0 && strings.ContainsAny(digits, "123456789") {
			return false
		}
	}
	x, ok := new(big.Rat).SetString(a.String())
	y, ok2 := new(big.Rat).SetString(b.String())
	return ok && ok2 && x.Cmp(y) == 0
}
