package session

import (
	"os"
	"path/filepath"
	"slices"

	"github.com/tarebench/tare/cmd/tare/internal/cmdenv"
	"github.com/tarebench/tare/internal/build"
)

// ParseOriginal checks that dir, the directory of a published library, contains a module, and returns
// its absolute path; "" if dir is "".
func ParseOriginal(dir string) (string, error) {
	if dir == "" {
		return "", nil
	}
	if info, err := os.Stat(filepath.Join(dir, "go.mod")); err != nil || info.IsDir() {
		return "", cmdenv.Usage("--with-original "+dir+": there is no go.mod in it", "name a clone of the published library")
	}
	return filepath.Abs(dir)
}

// Give makes the published library replace the modules that contenders are to be given (Entry.Given),
// by adding it to o.With for each of these modules. It removes contenders from the studies whose
// module is then in no directory of o.With.
func (o *Options) Give(studies []cmdenv.Study) error {
	isGiven := func(module string) bool {
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
			if !isGiven(e.Given) {
				o.With = append(o.With, build.With{Path: e.Given, Dir: o.Original}.String())
			}
		}
		studies[i].Study = studies[i].Having(isGiven)
	}
	if o.Original != "" && !used {
		return cmdenv.Usage("--with-original changes nothing: no selected study measures a published library from a clone", "the study ffi does")
	}
	return nil
}
