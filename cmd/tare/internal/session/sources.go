package session

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/cmd/tare/internal/catalog"
	"github.com/tarebench/tare/cmd/tare/internal/cmdenv"
	"github.com/tarebench/tare/internal/build"
	"github.com/tarebench/tare/internal/lazyregexp"
	"github.com/tarebench/tare/lab"
)

// CatalogSources returns a builder of contenders, the programs to measure. It builds from the catalog with the
// go command.
func CatalogSources(w cmdenv.Workshop) (lab.Sources, error) {
	c, err := w.FindCatalog()
	if err != nil {
		return nil, err
	}
	sdk, err := catalog.SDK(c, w.Cache)
	if err != nil {
		return nil, err
	}
	b := &build.Builder{Cache: w.Cache, SDK: sdk, Run: w.Run, Log: func(line string) {
		if w.Compiling != nil && strings.HasPrefix(line, "go build") {
			w.Compiling()
		}
	}}
	return vettingSources{&catalog.Sources{Catalog: c, Builder: b, With: w.With, Go: w.Go}}, nil
}

type vettingSources struct{ *catalog.Sources }

// Vet returns an error if the catalog does not have the contender of an entry.
func (s vettingSources) Vet(kind string, e tare.Entry) error {
	if e.Program != "" {
		return nil // a directory of the user; its build reports errors
	}
	_, _, err := s.Catalog.Leaf(kind, e.Leaf())
	return err
}

// Here reports whether the toolchain of release is installed, so that no build downloads it.
func (s vettingSources) Here(ctx context.Context, release string) bool {
	return s.Builder.IsInstalled(ctx, release)
}

// Toolchain makes later builds use a Go release. The error names the release that is used instead.
func (s vettingSources) Toolchain(ctx context.Context, release string) error {
	tool, err := cmdenv.FindToolchain(ctx)
	if err != nil {
		return err
	}
	if tool.Version == release {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, downloadTime)
	defer cancel()
	cmd := exec.CommandContext(ctx, tool.Path, "env", "GOVERSION")
	dir, remove := build.OutsideModules()
	defer remove()
	cmd.Dir, cmd.Env = dir, append(os.Environ(), "GOTOOLCHAIN="+release, "GOWORK=off")
	out, err := cmd.Output()
	var exit *exec.ExitError
	switch {
	case errors.As(err, &exit) && len(exit.Stderr) > 0:
		return fmt.Errorf("%s; %s builds them instead", strings.TrimSpace(string(exit.Stderr)), tool.Version)
	case err != nil:
		return fmt.Errorf("%w; %s builds them instead", err, tool.Version)
	case strings.TrimSpace(string(out)) != release:
		return fmt.Errorf("the go command does not know it; %s builds them instead", tool.Version)
	}
	s.Go = release
	return nil
}

// downloadTime limits a go command that may download a toolchain.
const downloadTime = 5 * time.Minute

// requireRE matches a line of go.mod that requires a module, such as "require example.org/m v1.2.3". Its
// groups are path and version.
var requireRE = lazyregexp.New(`(?m)^(?:require)?[\t ]+([^\s()]+)[\t ]+(v[^\s]+)`)

// Versions returns the versions that a contender's go.mod requires, by module path. Errors give nil.
func (s vettingSources) Versions(kind string, e tare.Entry) map[string]string {
	leaf, _, err := s.Catalog.Leaf(kind, e.Leaf())
	if err != nil {
		return nil
	}
	src, err := os.ReadFile(filepath.Join(leaf.Src(), "go.mod"))
	if err != nil {
		return nil
	}
	versions := map[string]string{}
	for _, m := range requireRE.FindAllStringSubmatch(string(src), -1) {
		if uses, err := leaf.Requires(m[1]); uses && err == nil { // false for replaced and excluded modules
			versions[m[1]] = m[2]
		}
	}
	return versions
}
