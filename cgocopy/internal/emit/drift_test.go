package emit

import (
	"strings"
	"testing"
)

// TestDriftNameless checks that LayoutChanges distinguishes a type without a name from the member of that type,
// although both have the same name in a layout.
func TestDriftNameless(t *testing.T) {
	old := []string{"a.in: 4 bytes", "a.in.x: 0 int", "struct a: 8 bytes", "struct a.in: 0 struct without a name", "a.in: 0 struct without a name", "struct a.n: 4 int"}
	new := append(append([]string{}, old[:5]...), "struct a.n: 4 unsigned int")
	if got := strings.Join(LayoutChanges(old, new), "; "); got != "struct a.n is unsigned int, not int" {
		t.Error(got)
	}
	new[0] = "a.in: 8 bytes"
	if got := strings.Join(LayoutChanges(old, new), "; "); got != "a.in has 8 bytes, not 4; struct a.n is unsigned int, not int" {
		t.Error(got)
	}
	if got := strings.Join(LayoutChanges(old, old[1:]), "; "); got != "a.in is gone" {
		t.Error(got)
	}
}
