package workload

import (
	"slices"
	"testing"
)

// The ids of get-random are these for ever: results of two years can be held against each other.
func TestIdsStay(t *testing.T) {
	list, err := newRequests("get-random", 3)
	if err != nil {
		t.Fatal(err)
	}
	var paths []string
	for _, q := range list {
		paths = append(paths, q.Path)
	}
	if want := []string{"/v1/id/34466185", "/v1/id/68482686", "/v1/id/62559852"}; !slices.Equal(paths, want) {
		t.Errorf("ids %q, want %q", paths, want)
	}
}
