package copier_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/kinds/copier"
	"github.com/tarebench/tare/lab"
)

func fromRust(fixture, op string) tare.Workload {
	return tare.Workload{ID: "w", Fixture: fixture, N: 1, Op: op, Pool: 2, Set: map[string]string{"producer": "rust"}}
}

// Without a compiler that works the workload is left out; without a producer it
// is wrong.
func TestNoProducer(t *testing.T) {
	for compiler, want := range map[string]string{"no-such-rustc": "not installed: no-such-rustc", "false": "not installed: a false that compiles here (exit status 1)"} {
		_, err := copier.Kind{Rust: compiler}.Input(fromRust("person", "single"), "", t.TempDir())
		var missing *lab.NotInstalledError
		if !errors.As(err, &missing) || missing.Error() != want {
			t.Errorf("%s: %v, want %s", compiler, err, want)
		}
	}
	for _, c := range []struct{ fixture, producer, want string }{
		{"audio", "rust", "the producer in Rust fills BenchPerson, GameObject, DeviceList, not AudioBuffer"},
		{"person", "ada", `unknown producer "ada"; known: c, rust`},
	} {
		w := fromRust(c.fixture, "single")
		w.Set["producer"] = c.producer
		_, err := copier.New().Input(w, "", t.TempDir())
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s by %s: %v, want %q", c.fixture, c.producer, err, c.want)
		}
	}
	w := fromRust("person", "single")
	w.Set["producer"] = "c"
	if in, err := copier.New().Input(w, "", t.TempDir()); err != nil || len(in.Spec) > 0 {
		t.Errorf("in C: spec %s, %v", in.Spec, err)
	}
}
