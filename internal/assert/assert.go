// Package assert holds the few checks that tests here repeat. A failed check
// ends its test and says what was looked at, what came and what was wanted.
package assert

import (
	"errors"
	"math"
	"strings"
	"testing"
)

// Equal wants got and want to be the same.
func Equal[T comparable](t testing.TB, what string, got, want T) {
	t.Helper()
	if got != want {
		t.Fatalf("%s: got %#v, want %#v", what, got, want)
	}
}

// Slices wants the same elements in the same order.
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

// Near wants got within tolerance of want; a NaN is near nothing.
func Near(t testing.TB, what string, got, want, tolerance float64) {
	t.Helper()
	if !(math.Abs(got-want) <= tolerance) {
		t.Fatalf("%s: got %v, want %v within %v", what, got, want, tolerance)
	}
}

// NoError wants err to be nil.
func NoError(t testing.TB, what string, err error) {
	t.Helper()
	if err != nil {
		t.Fatalf("%s: %v", what, err)
	}
}

// ErrorIs wants target in err's chain.
func ErrorIs(t testing.TB, what string, err, target error) {
	t.Helper()
	if !errors.Is(err, target) {
		t.Fatalf("%s: got error %v, want %v", what, err, target)
	}
}

// ErrorContains wants an error whose text contains part.
func ErrorContains(t testing.TB, what string, err error, part string) {
	t.Helper()
	if err == nil {
		t.Fatalf("%s: got no error, want one that says %q", what, part)
	}
	if !strings.Contains(err.Error(), part) {
		t.Fatalf("%s: got error %q, want one that says %q", what, err, part)
	}
}

// Contains wants part somewhere in text.
func Contains(t testing.TB, what, text, part string) {
	t.Helper()
	if !strings.Contains(text, part) {
		t.Fatalf("%s: %q is not in:\n%s", what, part, text)
	}
}
