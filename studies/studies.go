// Package studies holds the bundled studies, one YAML file each, as users
// write them.
package studies

import (
	"embed"
	"io/fs"
	"slices"
	"strings"
)

// FS has the studies as NAME.yaml.
//
//go:embed *.yaml
var FS embed.FS

// Names are the studies in FS, sorted.
func Names() []string {
	files, err := fs.Glob(FS, "*.yaml")
	if err != nil {
		panic(err) // only a malformed pattern fails
	}
	for i, f := range files {
		files[i] = strings.TrimSuffix(f, ".yaml")
	}
	slices.Sort(files)
	return files
}
