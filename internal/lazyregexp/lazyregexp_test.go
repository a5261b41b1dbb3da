package lazyregexp

import "testing"

// An expression is compiled by its first use, not before.
func TestCompiledByFirstUse(t *testing.T) {
	if !New(`^a+$`).MatchString("aaa") || New(`^a+$`).MatchString("b") {
		t.Error("^a+$ does not match as it should")
	}
	invalid := New(`(`) // compiling it panics
	defer func() {
		if recover() == nil {
			t.Error("an invalid expression was used")
		}
	}()
	invalid.MatchString("")
}
