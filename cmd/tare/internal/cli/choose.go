package cli

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/cmd/tare/internal/near"
	"github.com/tarebench/tare/cmd/tare/internal/studyfile"
	"github.com/tarebench/tare/lab"
)

// Bundled are the names of the studies that come with tare, sorted.
func (env Env) Bundled() []string {
	files, _ := fs.Glob(env.Lab.Studies, "*.yaml")
	names := make([]string, len(files))
	for i, f := range files {
		names[i] = strings.TrimSuffix(f, ".yaml")
	}
	slices.Sort(names)
	return names
}

// firstStudy is carried out before the others if no study is named: it answers
// soonest.
const firstStudy = "json-encode"

// inOrder puts the first study first and the others from short to long.
func inOrder(studies []chosen, quick bool) {
	slices.SortStableFunc(studies, func(a, b chosen) int {
		if first := b.ID == firstStudy; first != (a.ID == firstStudy) {
			if first {
				return 1
			}
			return -1
		}
		return cmp.Compare(lab.Budget(a.Budget, quick), lab.Budget(b.Budget, quick))
	})
}

// chosen is a study to carry out, and where its fields are in its file.
type chosen struct {
	tare.Study
	at     *studyfile.Positions // nil: it is in no file
	source string               // text of its file; empty: it is in none
}

// ReadStudy reads one study: a bundled one by name, a file, or - for stdin.
func (env Env) ReadStudy(arg string) (chosen, error) {
	switch {
	case arg == "-":
		src, err := io.ReadAll(io.LimitReader(env.In, studyfile.MaxBytes+1))
		if err != nil {
			return chosen{}, fmt.Errorf("read the study from stdin: %w", err)
		}
		return parse("<stdin>", src)
	case slices.Contains(env.Bundled(), arg):
		src, err := fs.ReadFile(env.Lab.Studies, arg+".yaml")
		if err != nil {
			return chosen{}, err
		}
		return parse(arg+".yaml", src)
	}
	src, err := os.ReadFile(arg)
	switch isFile := strings.ContainsAny(arg, `/\`) || strings.HasSuffix(arg, ".yaml") || strings.HasSuffix(arg, ".yml"); {
	case err == nil:
		return parse(arg, src)
	case isFile && errors.Is(err, fs.ErrNotExist):
		return chosen{}, Usage("no study file "+arg, "write one, or name a bundled study (tare list studies)")
	case isFile || !errors.Is(err, fs.ErrNotExist):
		return chosen{}, Usage(fmt.Sprintf("cannot read study file %s: %v", arg, cause(err)), "")
	}
	return chosen{}, unknown("study", arg, env.Bundled(), "tare list studies shows them; a file needs its path, e.g. ./"+arg+".yaml")
}

// parse reads a study. Its relative paths start where the file is, whatever
// the working directory of what is started later.
func parse(name string, src []byte) (chosen, error) {
	study, at, err := studyfile.Read(name, src)
	if err == nil {
		study.Dir, err = filepath.Abs(study.Dir)
	}
	return chosen{study, at, string(src)}, err
}

// vetter is what sources can be that know, without building anything, whether
// there is such a contender. The error is a *lab.UnknownError.
type vetter interface {
	Vet(kind string, e tare.Entry) error
}

// vet finds names of programs that nobody knows before anything is built for
// those that somebody does. The error says where in the file the name is.
func (c chosen) vet(sources lab.Sources) error {
	v, ok := sources.(vetter)
	if !ok || len(c.Kinds) != 1 {
		return nil
	}
	for i, e := range c.Contenders {
		if e.Launch() != tare.LaunchProgram { // nobody builds it
			continue
		}
		err := v.Vet(c.Kinds[0], e)
		var who *lab.UnknownError
		if errors.As(err, &who) {
			hint := "tare list contenders shows them"
			if len(who.Near) > 0 {
				hint = near.Hint(e.Leaf(), who.Near)
			}
			field := &tare.FieldError{Path: fmt.Sprintf("contenders[%d]", i), What: "unknown " + who.What, Hint: hint}
			if c.at == nil {
				return field
			}
			return c.at.Locate(field)
		}
		if err != nil {
			return err
		}
	}
	return nil
}
