// Package studies embeds the studies that tare comes with. A study is a YAML file that describes a
// comparison: contenders (programs that do the same work), workloads and questions. "tare run tiny"
// runs tiny.yaml.
package studies

import (
	"embed"
	"io/fs"
	"slices"
	"strings"
)

// FS has one file NAME.yaml for each study.
//
//go:embed *.yaml
var FS embed.FS

// Names returns the sorted names of the studies in FS, without ".yaml".
func Names() []string {
	files, err := fs.Glob(FS, "*.yaml")
	if err != nil {
		panic(err) // Glob fails only if the pattern is malformed
	}
	for i, f := range files {
		files[i] = strings.TrimSuffix(f, ".yaml")
	}
	slices.Sort(files)
	return files
}
