package catalog

import (
	"slices"

	"github.com/google/licensecheck"
)

// minRecognised is the least share of a licence file, in percent of its words, that must be
// text of known licences. pkg.go.dev has the same threshold.
const minRecognised = 75

// Licences returns the SPDX identifiers of the licences in a text. It returns nil if less
// than minRecognised of the text is known.
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
