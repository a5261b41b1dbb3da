package catalog

import (
	"slices"

	"github.com/google/licensecheck"
)

// minRecognised is the smallest part of a licence file, in percent of its words, that known
// licences must account for. It is the threshold of the Go module index.
const minRecognised = 75

// Licences returns the SPDX identifiers of the terms in a licence's text; none if too much of it is
// not known.
func Licences(text []byte) []string {
	found := licensecheck.Scan(text)
	if found.Percent < minRecognised {
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
