package catalog

import (
	"slices"

	"github.com/google/licensecheck"
)

// minRecognised is the percentage of words that must be in the texts of known licences. The source is
// pkg.go.dev.
const minRecognised = 75

// Licences returns the SPDX identifiers of the licences in the text of a licence file, such as MIT. It
// returns nil if too little of the text is recognised.
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
