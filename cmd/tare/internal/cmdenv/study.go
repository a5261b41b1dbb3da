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
	"github.com/tarebench/tare/cmd/tare/internal/catalog"
	"github.com/tarebench/tare/cmd/tare/internal/studyfile"
	"github.com/tarebench/tare/cmd/tare/internal/suggest"
	"github.com/tarebench/tare/internal/atomicfile"
	"github.com/tarebench/tare/lab"
)

// Bundled returns the sorted names of the studies that this binary contains.
func (env Env) Bundled() []string {
	files, _ := fs.Glob(env.Lab.Studies, "*.yaml") // fails only for an invalid pattern
	names := make([]string, len(files))
	for i, f := range files {
		names[i] = strings.TrimSuffix(f, ".yaml")
	}
	slices.Sort(names)
	return names
}

// Study is a study, and its file if it has one.
type Study struct {
	tare.Study
	positions *studyfile.Positions // positions of fields in the file; nil without a file
	Source    string               // text of the file; "" without a file
}

// ReadInput reads the file arg, or stdin if arg is -. It reads at most maxBytes+1 bytes; more than
// maxBytes means that the input is too large. It also returns the name of the file. In an error of
// stdin, noun names the content. An unreadable file is a usage error with hint.
func (env Env) ReadInput(arg string, maxBytes int64, noun, hint string) (name string, src []byte, err error) {
	if arg == "-" {
		if src, err = io.ReadAll(io.LimitReader(env.In, maxBytes+1)); err != nil {
			return "", nil, fmt.Errorf("read %s from stdin: %w", noun, err)
		}
		return "<stdin>", src, nil
	}
	if src, err = atomicfile.ReadStart(arg, maxBytes); err != nil {
		return "", nil, Usage(fmt.Sprintf("cannot read %s: %v", arg, Cause(err)), hint)
	}
	return arg, src, nil
}

// ReadStudy reads the study that arg names: a bundled study, a file, or - for stdin.
func (env Env) ReadStudy(arg string) (Study, error) {
	switch {
	case arg == "-":
		name, src, err := env.ReadInput(arg, studyfile.MaxBytes, "the study", "")
		if err != nil {
			return Study{}, err
		}
		return ParseStudy(name, src)
	case slices.Contains(env.Bundled(), arg):
		src, err := fs.ReadFile(env.Lab.Studies, arg+".yaml")
		if err != nil {
			return Study{}, err
		}
		return ParseStudy(arg+".yaml", src)
	}
	src, err := atomicfile.ReadStart(arg, studyfile.MaxBytes)
	looksLikeFile := strings.ContainsAny(arg, `/\`) || strings.HasSuffix(arg, ".yaml") || strings.HasSuffix(arg, ".yml")
	switch {
	case err == nil:
		return ParseStudy(arg, src)
	case looksLikeFile && errors.Is(err, fs.ErrNotExist):
		return Study{}, Usage("no study file "+arg, "write one, or name a bundled study (tare list studies)")
	case looksLikeFile || !errors.Is(err, fs.ErrNotExist):
		return Study{}, Usage(fmt.Sprintf("cannot read study file %s: %v", arg, Cause(err)), "")
	}
	return Study{}, Unknown("study", arg, env.Bundled(), "tare list studies shows them; a file needs its path, e.g. ./"+arg+".yaml")
}

// ParseStudy parses the text of a study file. Relative paths in the text start at the file's directory.
// That becomes absolute, because the working directory may change.
func ParseStudy(name string, src []byte) (Study, error) {
	study, positions, err := studyfile.Read(name, src)
	if err == nil {
		study.Dir, err = filepath.Abs(study.Dir)
	}
	return Study{Study: study, positions: positions, Source: string(src)}, err
}

// CatalogSources build the contenders (programs under test) of a catalog, and can describe them without
// a build.
type CatalogSources interface {
	lab.Sources
	// Vet returns a *lab.UnknownError if the contender does not exist.
	Vet(kind string, e tare.Entry) error
	// Describe returns what is built for an entry, without building it.
	Describe(kind, studyDir string, e tare.Entry) (catalog.Description, error)
	// Unused returns the modules of --with that none of the entries requires.
	Unused(kind string, entries []tare.Entry, studyDir string) []string
	// Here reports whether a build with a Go release downloads no toolchain.
	Here(ctx context.Context, release string) bool
	// Toolchain selects the Go release for all builds. It returns an error if it is not available.
	Toolchain(ctx context.Context, release string) error
	// Versions returns the versions of the modules in an entry's build; nil if unknown.
	Versions(kind string, e tare.Entry) map[string]string
}

// Vet returns an error if the catalog lacks a contender, before any build starts. The error has the
// position in the study file and similar names.
func (c Study) Vet(sources lab.Sources) error {
	v, ok := sources.(CatalogSources)
	if !ok {
		return nil
	}
	for i, e := range c.Contenders {
		if e.Launch() != tare.LaunchProgram { // nothing is built for it
			continue
		}
		err := v.Vet(string(c.Kind), e)
		var unknown *lab.UnknownError
		if errors.As(err, &unknown) {
			hint := "tare list contenders shows them"
			if len(unknown.Near) > 0 {
				hint = suggest.Hint(e.Leaf(), unknown.Near)
			}
			field := &tare.FieldError{Path: fmt.Sprintf("contenders[%d]", i), What: "unknown " + unknown.What, Hint: hint}
			if c.positions == nil {
				return field
			}
			return c.positions.Locate(field)
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

// ReadAtMost reads r to its end. More than maxBytes are a usage error.
func ReadAtMost(r io.Reader, maxBytes int64) ([]byte, error) {
	src, err := io.ReadAll(io.LimitReader(r, maxBytes+1))
	if err == nil && int64(len(src)) > maxBytes {
		return nil, Usage(fmt.Sprintf("more than %d bytes", maxBytes), "")
	}
	return src, err
}
