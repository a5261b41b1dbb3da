package suite

import (
	"errors"
	"slices"
	"testing"
)

// Of what the go command says, one line is passed on: the first with a
// position, else the first; one that ends in a colon goes on in the next.
func TestMessage(t *testing.T) {
	s := Side{Dir: "/repo/sub", Root: "/repo"}
	for _, tt := range []struct{ said, want string }{
		{"# example.com/tiny\n./tiny.go:3:30: undefined: m\nother\n", "sub/tiny.go:3:30: undefined: m"},
		{"go: errors parsing go.mod:\n/repo/sub/go.mod:3: usage: require module/path v1.2.3\n", "sub/go.mod:3: usage: require module/path v1.2.3"},
		{"x_test.go:6:2: missing go.sum entry; to add:\n\tgo get -t example.com/tiny\n", "sub/x_test.go:6:2: missing go.sum entry; to add: go get -t example.com/tiny"},
		{"go: downloading x\ngo: inconsistent vendoring in /repo/sub:\n\texample.com/other@v1.0.0: is explicitly required\n", "go: inconsistent vendoring in sub: example.com/other@v1.0.0: is explicitly required"},
		{"go: go.mod requires go >= 1.99\n", "go: go.mod requires go >= 1.99"},
		{"", "exit status 1"},
	} {
		if got := s.firstMessage(tt.said, errors.New("exit status 1")); got != tt.want {
			t.Errorf("%q: %q, want %q", tt.said, got, tt.want)
		}
	}
}

// What the head is built with is besides the user's own tags, which a flag of
// the go command would take the place of.
func TestTags(t *testing.T) {
	for goflags, want := range map[string]string{
		"": "-tags=special", "-mod=mod": "-tags=special", "-tags=a,b -v": "-tags=a,b,special", "-tags=a --tags=b": "-tags=b,special", "'-tags=a'": "-tags=a,special",
	} {
		s := Side{Tags: "special", tags: findFlag(goflags, "tags")}
		if got := s.withFlags("list"); !slices.Contains(got, want) {
			t.Errorf("GOFLAGS=%q: %q, want %s", goflags, got, want)
		}
	}
}
