package catalog

import (
	"slices"

	"github.com/google/licensecheck"
)

// recognised is the least part of a licence file, in percent of its words,
// that known licences must account for. It is the threshold of the Go module
// index.
const recognised = 75

// Licences names the terms that a licence's text holds, as SPDX identifiers
// where there are such: none where too much of it is not known.
func Licences(text []byte) []string {
	found := licensecheck.Scan(text)
	if found.Percent < recognised {
		return nil
	}
	var names []string
	for _, m := range found.Match {
		if !m.IsURL && !slices.Contains(names, m.ID) {
			names = append(names, m.ID)
		}
	}
	return names
}
