package session

import (
	"strings"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/cmd/tare/internal/catalog"
	"github.com/tarebench/tare/cmd/tare/internal/cmdenv"
	"github.com/tarebench/tare/internal/build"
	"github.com/tarebench/tare/lab"
)

// CatalogSources returns sources that build contenders of the catalog with the go command.
func CatalogSources(w cmdenv.Workshop) (lab.Sources, error) {
	c, err := w.FindCatalog()
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
	return vettingSources{&catalog.Sources{Catalog: c, Builder: b, With: w.With, Go: w.Go}}, nil
}

// vettingSources adds checks of names and toolchains to the catalog's sources.
type vettingSources struct{ *catalog.Sources }

// Vet returns an error if the catalog does not have the contender of an entry.
func (s vettingSources) Vet(kind string, e tare.Entry) error {
	if e.Program != "" {
		return nil // a directory of the user, whose build reports errors
	}
	_, _, err := s.Catalog.Leaf(kind, e.Leaf())
	return err
}
