package catalog

import (
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/internal/build"
)

// theirs is a tiny module with the interface of the published library.
const theirs = `package cgocopy2

import "unsafe"

type CFieldInfo struct {
	Name, Type         string
	Offset, Size       uintptr
	IsPointer, IsArray bool
	ArrayLen           int
}

type CStructInfo struct {
	Name   string
	Size   uintptr
	Fields []CFieldInfo
}

func PrecompileWithC[T any](CStructInfo) error { return nil }

//go:noinline
func Copy[T any](p unsafe.Pointer) (T, error) { return *(*T)(p), nil }
`

// TestTheOriginalIsBuiltFromAClone: what is linked is the clone that was given,
// registered and unregistered.
func TestTheOriginalIsBuiltFromAClone(t *testing.T) {
	if testing.Short() {
		t.Skip("builds a contender from a clone")
	}
	if out, err := exec.Command("go", "env", "CGO_ENABLED").Output(); err != nil || strings.TrimSpace(string(out)) != "1" {
		t.Skip("it takes a C compiler")
	}
	c, err := Open(filepath.Join("..", "..", "..", ".."))
	if err != nil {
		t.Fatal(err)
	}
	clone := t.TempDir()
	write(t, clone, map[string]string{"go.mod": "module github.com/shaban/cgocopy\n\ngo 1.25\n", "pkg/cgocopy/copy.go": theirs})
	s := &Sources{Catalog: c, Builder: &build.Builder{Cache: t.TempDir()}, With: []string{"github.com/shaban/cgocopy=" + clone}}
	for _, id := range []string{"original", "original-unregistered"} {
		p, err := s.Program(t.Context(), "copier", "", tare.Entry{ID: id, Given: "github.com/shaban/cgocopy"})
		if err != nil {
			t.Errorf("%s: %v", id, err)
			continue
		}
		if !slices.ContainsFunc(p.Contender.Modules, func(m tare.Module) bool {
			return m.Path == "github.com/shaban/cgocopy" && m.Replace == clone
		}) {
			t.Errorf("%s links %+v, not what is in %s", id, p.Contender.Modules, clone)
		}
		if len(p.Contender.Identity.MissingSymbols) > 0 || (p.Contender.Role == tare.RoleTrap) != (id != "original") {
			t.Errorf("%s became %+v", id, p.Contender)
		}
	}
}
