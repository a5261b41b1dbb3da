package cmdenv

import (
	"fmt"

	"github.com/tarebench/tare/cmd/tare/internal/catalog"
	"github.com/tarebench/tare/internal/format"
)

// Contender is a contender as commands list it.
type Contender struct {
	ID      string   `json:"id"`
	Kind    string   `json:"kind"`
	Trap    bool     `json:"trap"`
	Why     string   `json:"why"`
	Modules []string `json:"modules"`
	Dir     string   `json:"dir"`

	Unmaintained string `json:"unmaintained,omitempty"` // why it counts as that
}

// Contenders are those of the catalog.
func (env Env) Contenders(dir string) ([]Contender, error) {
	d, err := env.Dirs()
	if err != nil {
		return nil, err
	}
	c, err := FindCatalog(dir, d.Cache)
	return ContendersOf(c), err
}

// ContendersOf are one row per id that studies can list.
func ContendersOf(c catalog.Catalog) []Contender {
	var rows []Contender
	for _, leaf := range c.Leaves() {
		m := leaf.Manifest
		for _, id := range m.IDs() {
			rows = append(rows, Contender{id, m.Kind, m.Trap, m.Why, append([]string{}, m.Modules...), leaf.Dir, m.Unmaintained})
		}
	}
	return rows
}

// FindCatalog finds the contenders: in dir, else around the working directory,
// else those built into this binary, unpacked into the cache.
func FindCatalog(dir, cache string) (catalog.Catalog, error) {
	c, err := catalog.Locate(dir, cache)
	if err != nil && dir != "" {
		err = Usage(fmt.Sprintf("--catalog %s: %s", dir, format.Line(err.Error(), 0)), "")
	}
	return c, err
}

// SumsOf are hashes of what contenders of a kind are built from, by id: of the named
// ones, or of all. Those that the catalog does not have are left out.
func SumsOf(c catalog.Catalog, kind string, ids []string) (map[string]string, error) {
	if ids == nil {
		ids = c.IDs(kind)
	}
	sums := map[string]string{}
	for _, id := range ids {
		leaf, _, err := c.Leaf(kind, id)
		if err != nil {
			continue // what measures it says so
		}
		if sums[id], err = leaf.Sum(); err != nil {
			return nil, err
		}
	}
	return sums, nil
}
