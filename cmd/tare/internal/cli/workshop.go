package cli

import (
	"fmt"
	"strings"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/cmd/tare/internal/catalog"
	"github.com/tarebench/tare/internal/build"
	"github.com/tarebench/tare/lab"
)

// Workshop is what sources need to know to make contenders.
type Workshop struct {
	Cache     string   // directory for what was built
	Catalog   string   // directory of contenders; empty: looked for
	With      []string // modules to build every contender with that requires them: path@version, or path=/abs/dir
	Go        string   // toolchain to build every contender with, e.g. go1.25.5; empty: the machine's
	Run       string   // tag of every process that is started
	Compiling func()   // called when a compiler starts; may be nil
}

// catalogSources builds contenders out of the catalog with the go command.
func catalogSources(w Workshop) (lab.Sources, error) {
	c, err := findCatalog(w.Catalog, w.Cache)
	if err != nil {
		return nil, err
	}
	sdk, err := catalog.SDK(c, w.Cache)
	if err != nil {
		return nil, err
	}
	b := &build.Builder{Cache: w.Cache, SDK: sdk, Run: w.Run, Log: func(line string) {
		if w.Compiling != nil && strings.HasPrefix(line, "go build") {
			w.Compiling()
		}
	}}
	return shop{&catalog.Sources{Catalog: c, Builder: b, With: w.With, Go: w.Go}}, nil
}

// shop is the catalog's sources that can also vet.
type shop struct{ *catalog.Sources }

// Vet reports a name that the catalog does not hold.
func (s shop) Vet(kind string, e tare.Entry) error {
	if e.Program != "" {
		return nil // a directory of the user's: building it says more
	}
	_, _, err := s.Catalog.Leaf(kind, e.Leaf())
	return err
}

// findCatalog finds the contenders: in dir, else around the working directory,
// else those built into this binary, unpacked into the cache.
func findCatalog(dir, cache string) (catalog.Catalog, error) {
	c, err := catalog.Locate(dir, cache)
	if err != nil && dir != "" {
		err = Usage(fmt.Sprintf("--catalog %s: %s", dir, oneLine(err.Error())), "")
	}
	return c, err
}
