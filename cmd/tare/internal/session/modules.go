package session

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"github.com/tarebench/tare/cmd/tare/internal/cmdenv"
	"github.com/tarebench/tare/cmd/tare/internal/studyfile"
	"github.com/tarebench/tare/internal/build"
	"github.com/tarebench/tare/lab"
)

// ParsePins parses the values of --with: path@version or path=directory of a module. It makes directories
// absolute.
func ParsePins(with []string) ([]string, error) {
	var out []string
	seen := map[string]bool{}
	for _, text := range with {
		w, err := build.ParseWith(text, ".")
		switch {
		case err != nil:
			return nil, cmdenv.Usage("--with "+err.Error(), "")
		case seen[w.Path]:
			return nil, cmdenv.Usage("--with "+w.Path+" is given twice", "build with one version of it; a study can list a contender twice")
		case w.Dir != "":
			if info, err := os.Stat(filepath.Join(w.Dir, "go.mod")); err != nil || info.IsDir() {
				return nil, cmdenv.Usage(fmt.Sprintf("--with %s: there is no go.mod in %s", text, w.Dir), "name the directory of the module")
			}
		}
		seen[w.Path] = true
		out = append(out, w.String())
	}
	return out, nil
}

// checkUnused rejects a module of --with that no contender of the studies requires.
func (w *Session) checkUnused(studies []cmdenv.Study) error {
	p, ok := w.Sources.(cmdenv.CatalogSources)
	if !ok || len(w.Options.With) == 0 {
		return nil
	}
	remaining := w.Options.With
	for _, s := range studies {
		part, _, err := lab.Part(s.Study, w.Options.Quick, w.Options.Only)
		if err != nil {
			continue // the study itself will report it
		}
		unused := p.Unused(string(s.Kind), part.Contenders, s.Dir)
		remaining = slices.DeleteFunc(slices.Clone(remaining), func(with string) bool { return !slices.Contains(unused, with) })
	}
	if len(remaining) == 0 {
		return nil
	}
	return cmdenv.Usage("--with "+remaining[0]+" changes nothing: no contender that would be measured requires that module, or each has a version of its own", "--contender NAME measures one at any budget; tare explain NAME says what it contains")
}

// ParseRelease checks the values of --go and returns the toolchain's name, or "" without values.
func ParseRelease(values []string) (string, error) {
	if len(values) == 0 {
		return "", nil
	}
	name, ok := studyfile.GoRelease(values[0])
	switch {
	case len(values) > 1:
		return "", cmdenv.Usage("--go is given twice", "two toolchains are two contenders of a study: {id: …, use: …, go: go1.25.5}")
	case !ok:
		return "", cmdenv.Usage(fmt.Sprintf("--go %q is not a Go release", values[0]), studyfile.GoHint)
	}
	return name, nil
}

// ParseOriginal checks that the published library in dir is a module. It returns the absolute path; "" stays
// "".
func ParseOriginal(dir string) (string, error) {
	if dir == "" {
		return "", nil
	}
	if info, err := os.Stat(filepath.Join(dir, "go.mod")); err != nil || info.IsDir() {
		return "", cmdenv.Usage("--with-original "+dir+": there is no go.mod in it", "name a clone of the published library")
	}
	return filepath.Abs(dir)
}

// AddOriginal adds the published library in o.Original to o.With, for modules that a contender takes from the
// user (Entry.Given). It then removes contenders whose module still has no directory.
func (o *Options) AddOriginal(studies []cmdenv.Study) error {
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
