package suite

import (
	"testing"

	"github.com/tarebench/tare/kinds/gobench"
)

// Every benchmark is in one part, whichever side has it.
func TestShards(t *testing.T) {
	tests := map[string][]Tests{}
	ids := []string{"a.BenchmarkA", "a.BenchmarkB", "a.BenchmarkC", "b.BenchmarkD"}
	for side, names := range map[string][]string{"base": {"BenchmarkA", "BenchmarkC"}, "head": {"BenchmarkC", "BenchmarkB"}} {
		tests[side] = []Tests{
			{Package: Package{ImportPath: "a"}, TestFiles: []gobench.TestFile{{Package: "a", Names: names}}},
			{Package: Package{ImportPath: "b"}, TestFiles: []gobench.TestFile{{Package: "b_test", Names: []string{"BenchmarkD"}}}},
		}
	}
	for of := range 6 {
		parts := map[string]int{}
		for i := range max(1, of) {
			keep := Shard{i + 1, of}.FilterIDs(tests)
			for _, id := range ids {
				if keep(id) {
					parts[id]++
				}
			}
		}
		for _, id := range ids {
			if parts[id] != 1 {
				t.Errorf("of %d parts %d have %s", of, parts[id], id)
			}
		}
	}
}

// A part is a number from 1 to the number of parts, which is limited, and its text comes back.
func TestParseShard(t *testing.T) {
	for _, text := range []string{"1/2", "4/4", "10000/10000"} {
		if s, err := ParseShard(text); err != nil || s.String() != text {
			t.Errorf("%s: %v, %v", text, s, err)
		}
	}
	for _, text := range []string{"", "2", "/2", "2/", "0/2", "3/2", "-1/2", "1/2/3", "a/b", "1/10001", "1/9223372036854775807", "1/9223372036854775808"} {
		if s, err := ParseShard(text); err == nil {
			t.Errorf("%q is %v", text, s)
		}
	}
}
