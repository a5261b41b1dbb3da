package cmdenv

import (
	"cmp"
	"errors"
	"fmt"

	"github.com/tarebench/tare/cmd/tare/internal/catalog"
	"github.com/tarebench/tare/internal/format"
)

// Contender is a program under test, in the lists that commands print.
type Contender struct {
	ID      string   `json:"id"`
	Kind    string   `json:"kind"` // what it does, e.g. codec or server
	Trap    bool     `json:"trap"` // it repeats a published mistake on purpose
	Why     string   `json:"why"`  // why the catalog has it
	Modules []string `json:"modules"`
	Dir     string   `json:"dir"` // directory of its source

	Unmaintained string `json:"unmaintained,omitempty"` // why it counts as unmaintained; "" if it does not
}

// Contenders returns the contenders of the catalog that [Env.FindCatalog] finds.
func (env Env) Contenders(dir string) ([]Contender, error) {
	c, err := env.FindCatalog(dir)
	return ContendersOf(c), err
}

// ContendersOf returns one Contender for each id that studies can list. An entry of the catalog may
// have several ids.
func ContendersOf(c catalog.Catalog) []Contender {
	var rows []Contender
	for _, leaf := range c.Leaves() {
		m := leaf.Manifest
		for _, id := range m.IDs() {
			rows = append(rows, Contender{
				ID: id, Kind: m.Kind, Trap: m.Trap, Why: m.Why, Dir: leaf.Dir,
				Modules: append([]string{}, m.Modules...), Unmaintained: m.Unmaintained,
			})
		}
	}
	return rows
}

// FindCatalog finds the catalog of contenders. The first that exists counts: dir (the value of
// --catalog), the directory in TARE_CATALOG, the repository around the working directory. The last
// choice is the catalog in this binary, which it unpacks into the cache.
func (env Env) FindCatalog(dir string) (catalog.Catalog, error) {
	d, err := env.Dirs()
	if err != nil {
		return catalog.Catalog{}, err
	}
	return Workshop{Catalog: env.CatalogDir(dir), Cache: d.Cache}.FindCatalog()
}

// CatalogDir returns flag, the value of --catalog, or else TARE_CATALOG.
func (env Env) CatalogDir(flag string) string { return cmp.Or(flag, env.Getenv(catalog.EnvCatalog)) }

// FindCatalog finds the catalog in w.Catalog. If that is "", it searches like [Env.FindCatalog].
func (w Workshop) FindCatalog() (catalog.Catalog, error) {
	c, err := catalog.Locate(w.Catalog, w.Cache)
	var foreign *catalog.OwnerError // the repository belongs to another user
	switch {
	case err != nil && w.Catalog != "":
		err = Usage(fmt.Sprintf("--catalog %s: %s", w.Catalog, format.Line(err.Error(), 0)), "")
	case errors.As(err, &foreign):
		err = UsageOf(err, "")
	}
	return c, err
}

// SumsOf returns the hashes of the sources of a kind's contenders, by id. A nil ids means all. It skips
// unknown ids.
func SumsOf(c catalog.Catalog, kind string, ids []string) (map[string]string, error) {
	if ids == nil {
		ids = c.IDs(kind)
	}
	sums := map[string]string{}
	for _, id := range ids {
		leaf, _, err := c.Leaf(kind, id)
		if err != nil {
			continue // measuring the contender reports the error
		}
		if sums[id], err = leaf.Sum(); err != nil {
			return nil, err
		}
	}
	return sums, nil
}
