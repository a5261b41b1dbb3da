// Package assert has a few checks for tests. A check that fails ends its test with a message: what was
// checked, the value and the expected value.
package assert

import (
	"errors"
	"math"
	"strings"
	"testing"
)

// Equal fails the test unless got equals want.
func Equal[T comparable](t testing.TB, what string, got, want T) {
	t.Helper()
	if got != want {
		t.Fatalf("%s: got %#v, want %#v", what, got, want)
	}
}

// Slices fails the test unless got and want have the same elements in the same order.
func Slices[T comparable](t testing.TB, what string, got, want []T) {
	t.Helper()
	if len(got) != len(want) {
		t.Fatalf("%s: got %d elements %#v, want %d %#v", what, len(got), got, len(want), want)
	}
	for i := range got {
		if got[i] != want[i] {
			t.Fatalf("%s: element %d: got %#v, want %#v", what, i, got[i], want[i])
		}
	}
}

// Near fails the test unless got differs from want by at most tolerance. A NaN always fails.
func Near(t testing.TB, what string, got, want, tolerance float64) {
	t.Helper()
	if !(math.Abs(got-want) <= tolerance) { // true for NaN, unlike >
		t.Fatalf("%s: got %v, want %v within %v", what, got, want, tolerance)
	}
}

// NoError fails the test unless err is nil.
func NoError(t testing.TB, what string, err error) {
	t.Helper()
	if err != nil {
		t.Fatalf("%s: %v", what, err)
	}
}

// ErrorIs fails the test unless target is in err's chain.
func ErrorIs(t testing.TB, what string, err, target error) {
	t.Helper()
	if !errors.Is(err, target) {
		t.Fatalf("%s: got error %v, want %v", what, err, target)
	}
}

// ErrorContains fails the test unless err has a text that contains part.
func ErrorContains(t testing.TB, what string, err error, part string) {
	t.Helper()
	if err == nil {
		t.Fatalf("%s: got no error, want one that contains %q", what, part)
	}
	if !strings.Contains(err.Error(), part) {
		t.Fatalf("%s: got error %q, want one that contains %q", what, err, part)
	}
}

// Contains fails the test unless text contains part.
func Contains(t testing.TB, what, text, part string) {
	t.Helper()
	if !strings.Contains(text, part) {
		t.Fatalf("%s: %q is not in:\n%s", what, part, text)
	}
}
