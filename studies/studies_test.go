package studies

import (
	"slices"
	"strings"
	"testing"
)

func TestNames(t *testing.T) {
	names := Names()
	if !slices.Contains(names, "json-encode") || !slices.IsSorted(names) {
		t.Errorf("names %q", names)
	}
	for _, name := range names {
		src, err := FS.ReadFile(name + ".yaml")
		if err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(string(src), "\nstudy: "+name+"\n") {
			t.Errorf("%s.yaml has no line %q below its comment", name, "study: "+name)
		}
	}
}
