package cmdenv

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/cmd/tare/internal/studyfile"
	"github.com/tarebench/tare/cmd/tare/internal/suggest"
	"github.com/tarebench/tare/internal/atomicfile"
	"github.com/tarebench/tare/lab"
)

// Bundled returns the sorted names of the bundled studies.
func (env Env) Bundled() []string {
	files, _ := fs.Glob(env.Lab.Studies, "*.yaml")
	names := make([]string, len(files))
	for i, f := range files {
		names[i] = strings.TrimSuffix(f, ".yaml")
	}
	slices.Sort(names)
	return names
}

// Study is a study with the positions of its fields.
type Study struct {
	tare.Study
	at     *studyfile.Positions // nil without a file
	Source string               // text of its file; "" without one
}

// ReadStudy reads one study: a bundled one by name, a file, or - for stdin.
func (env Env) ReadStudy(arg string) (Study, error) {
	switch {
	case arg == "-":
		src, err := io.ReadAll(io.LimitReader(env.In, studyfile.MaxBytes+1))
		if err != nil {
			return Study{}, fmt.Errorf("read the study from stdin: %w", err)
		}
		return ParseStudy("<stdin>", src)
	case slices.Contains(env.Bundled(), arg):
		src, err := fs.ReadFile(env.Lab.Studies, arg+".yaml")
		if err != nil {
			return Study{}, err
		}
		return ParseStudy(arg+".yaml", src)
	}
	src, err := atomicfile.ReadStart(arg, studyfile.MaxBytes)
	switch isFile := strings.ContainsAny(arg, `/\`) || strings.HasSuffix(arg, ".yaml") || strings.HasSuffix(arg, ".yml"); {
	case err == nil:
		return ParseStudy(arg, src)
	case isFile && errors.Is(err, fs.ErrNotExist):
		return Study{}, Usage("no study file "+arg, "write one, or name a bundled study (tare list studies)")
	case isFile || !errors.Is(err, fs.ErrNotExist):
		return Study{}, Usage(fmt.Sprintf("cannot read study file %s: %v", arg, Cause(err)), "")
	}
	return Study{}, Unknown("study", arg, env.Bundled(), "tare list studies shows them; a file needs its path, e.g. ./"+arg+".yaml")
}

// ParseStudy parses a study. Its relative paths start at the file's directory, regardless of
// later working directories.
func ParseStudy(name string, src []byte) (Study, error) {
	study, at, err := studyfile.Read(name, src)
	if err == nil {
		study.Dir, err = filepath.Abs(study.Dir)
	}
	return Study{study, at, string(src)}, err
}

// CatalogSources are sources that build contenders of a catalog, and describe them without
// building. Other sources do not implement it.
type CatalogSources interface {
	lab.Sources
	// Vet returns a *lab.UnknownError if the contender does not exist.
	Vet(kind string, e tare.Entry) error
	// Unused returns the modules of --with that would change none of the entries.
	Unused(kind string, entries []tare.Entry, studyDir string) []string
	// Here reports whether building with a Go release needs no download.
	Here(ctx context.Context, release string) bool
	// Toolchain selects the Go release for all builds. It returns an error if it
	// is not available.
	Toolchain(ctx context.Context, release string) error
	// Versions returns the versions of the modules in an entry's build;
	// nil if unknown.
	Versions(kind string, e tare.Entry) map[string]string
}

// Vet finds unknown contenders before any build starts. The error has the position in the file.
func (c Study) Vet(sources lab.Sources) error {
	v, ok := sources.(CatalogSources)
	if !ok {
		return nil
	}
	for i, e := range c.Contenders {
		if e.Launch() != tare.LaunchProgram { // not built
			continue
		}
		err := v.Vet(string(c.Kind), e)
		var who *lab.UnknownError
		if errors.As(err, &who) {
			hint := "tare list contenders shows them"
			if len(who.Near) > 0 {
				hint = suggest.Hint(e.Leaf(), who.Near)
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

// Names returns the ids of a study's contenders and workloads.
func (c Study) Names() (contenders, workloads []string) {
	for _, e := range c.Contenders {
		contenders = append(contenders, e.ID)
	}
	for _, w := range c.Workloads {
		workloads = append(workloads, w.ID)
	}
	return contenders, workloads
}
