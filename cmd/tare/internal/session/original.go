package session

import (
	"os"
	"path/filepath"
	"slices"

	"github.com/tarebench/tare/cmd/tare/internal/cmdenv"
	"github.com/tarebench/tare/internal/build"
)

// ParseOriginal checks the directory of a published library and returns it absolute; "" if dir is
// empty.
func ParseOriginal(dir string) (string, error) {
	if dir == "" {
		return "", nil
	}
	if info, err := os.Stat(filepath.Join(dir, "go.mod")); err != nil || info.IsDir() {
		return "", cmdenv.Usage("--with-original "+dir+": there is no go.mod in it", "name a clone of the published library")
	}
	return filepath.Abs(dir)
}

// Give adds the published library to the modules to build with, under the names that the studies
// have for it, and removes contenders from the studies whose module is not set.
func (o *Options) Give(studies []cmdenv.Study) error {
	has := func(module string) bool {
		return slices.ContainsFunc(o.With, func(text string) bool {
			w, err := build.ParseWith(text, "")
			return err == nil && w.Path == module && w.Dir != ""
		})
	}
	used := false
	for i := range studies {
		for _, e := range studies[i].Contenders {
			if e.Given == "" || o.Original == "" {
				continue
			}
			used = true
			if !has(e.Given) {
				o.With = append(o.With, build.With{Path: e.Given, Dir: o.Original}.String())
			}
		}
		studies[i].Study = studies[i].Having(has)
	}
	if o.Original != "" && !used {
		return cmdenv.Usage("--with-original changes nothing: no study that was asked for measures a published library from a clone", "the study ffi does")
	}
	return nil
}
