//go:build cgo

package copier_test

import (
	"encoding/json"
	"errors"
	"runtime"
	"strings"
	"testing"

	sdk "github.com/tarebench/tare/contender/copier"
	"github.com/tarebench/tare/contender/copier/cmem"
	"github.com/tarebench/tare/contender/copier/cmem/cmemtest"
	"github.com/tarebench/tare/kinds/copier"
	"github.com/tarebench/tare/lab"
)

// TestRustFillsAsC: what Rust lays out and fills is what Go says C holds.
func TestRustFillsAsC(t *testing.T) {
	in, err := copier.New().Input(fromRust("person", "single"), "", t.TempDir())
	if missing := (*lab.NotInstalledError)(nil); errors.As(err, &missing) {
		t.Skip(err)
	}
	if err != nil {
		t.Fatal(err)
	}
	var spec sdk.Spec
	if err := json.Unmarshal(in.Spec, &spec); err != nil {
		t.Fatal(err)
	}
	cmemtest.Agree(t, spec.Library, "person", "object", "devices")
	if runtime.GOOS != "linux" { // elsewhere other words are said of other files
		return
	}
	for path, want := range map[string]string{spec.Library + ".not": "cannot open", "libm.so.6": "it lacks fixture_make"} {
		_, err := cmem.New(sdk.Source{Shape: sdk.Shape{C: "BenchPerson", Count: 1}, Seeds: []uint64{1}, Library: path})
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", path, err, want)
		}
	}
}
