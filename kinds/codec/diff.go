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

// This file compares JSON documents by value. For example, {"a": 1e2} and {"a": 100} are equal.

// Diff compares two JSON documents by value, without the order of keys and the notation of numbers.
// It returns the first difference in one line, or "".
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

// decodeOne decodes exactly one document, with numbers as json.Number.
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

// findDifference returns the first difference between two decoded values, or "". path is their path
// in the document, such as $.items[0].
func findDifference(path string, want, got any) string {
	switch w := want.(type) {
	case map[string]any:
		g, ok := got.(map[string]any)
		if !ok {
			return formatDifference(path, want, got)
		}
		for _, key := range slices.Sorted(maps.Keys(w)) {
			value, ok := g[key]
			if !ok {
				return fmt.Sprintf("%s.%s: missing", path, key)
			}
			if d := findDifference(path+"."+key, w[key], value); d != "" {
				return d
			}
		}
		for _, key := range slices.Sorted(maps.Keys(g)) {
			if _, ok := w[key]; !ok {
				return fmt.Sprintf("%s.%s: not in the reference", path, key)
			}
		}
	case []any:
		g, ok := got.([]any)
		if !ok {
			return formatDifference(path, want, got)
		}
		if len(w) != len(g) {
			return fmt.Sprintf("%s: want %d items, got %d", path, len(w), len(g))
		}
		for i := range w {
			if d := findDifference(path+"["+strconv.Itoa(i)+"]", w[i], g[i]); d != "" {
				return d
			}
		}
	case json.Number:
		g, ok := got.(json.Number)
		if !ok || !sameNumber(w, g) {
			return formatDifference(path, want, got)
		}
	default:
		if want != got {
			return formatDifference(path, want, got)
		}
	}
	return ""
}

func formatDifference(path string, want, got any) string {
	return fmt.Sprintf("%s: want %s, got %s", path, formatValue(want), formatValue(got))
}

func formatValue(v any) string {
	b, err := json.Marshal(v)
	if err != nil {
		return fmt.Sprintf("%T", v)
	}
	const maxBytes = 60
	if len(b) > maxBytes {
		return string(b[:maxBytes]) + "…"
	}
	return string(b)
}

// sameNumber reports whether two decimal numbers are equal: 1e2 equals 100, and 1.5e-9 does not
// equal 0. It compares numbers beyond a float64 as texts, because the digits of 1e999999999 could
// fill the memory.
func sameNumber(a, b json.Number) bool {
	if a == b {
		return true
	}
	for _, n := range []json.Number{a, b} {
		digits, _, _ := strings.Cut(strings.ToLower(n.String()), "e")
		f, err := strconv.ParseFloat(n.String(), 64)
		isTooSmall := f == 0 && strings.ContainsAny(digits, "123456789")
		if err != nil || isTooSmall {
			return false
		}
	}
	x, xOK := new(big.Rat).SetString(a.String())
	y, yOK := new(big.Rat).SetString(b.String())
	return xOK && yOK && x.Cmp(y) == 0
}
