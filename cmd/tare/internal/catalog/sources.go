package catalog

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/internal/build"
	"github.com/tarebench/tare/lab"
)

// Sources builds the contenders, programs to compare, that a study names in its entries. It builds each
// folder once, even for several variants. Do not copy it.
type Sources struct {
	Catalog Catalog
	Builder *build.Builder // its Licences is set if nil

	// With lists modules as path@version or path=directory (relative to the working directory). Every
	// contender that requires such a module is built with it. Go is the toolchain for every contender,
	// e.g. go1.25.5. The settings of an entry take precedence.
	With []string
	Go   string

	mu   sync.Mutex
	done map[string]outcome // builds by folder, tags and pinned versions
}

type outcome struct {
	built build.Built
	err   error
}

var _ lab.Sources = (*Sources)(nil)

// Program builds the contender of entry e, or finds its build. If the build fails, the program has the
// values of the contender's manifest.
func (s *Sources) Program(ctx context.Context, kind, studyDir string, e tare.Entry) (build.Program, error) {
	leaf, variant, err := s.findLeaf(kind, studyDir, e)
	if err != nil {
		return build.Program{}, err
	}
	leaf.Manifest.Tags = slices.Concat(leaf.Manifest.Tags, e.Tags)
	p := newUnbuiltProgram(leaf.Manifest, variant)
	pin, err := s.newPin(leaf, studyDir, e)
	if err == nil {
		var built build.Built
		if built, err = s.buildOnce(ctx, leaf, pin); err == nil {
			p = built.Program(variant)
		}
	}
	p.Contender.ID = e.ID
	if !e.Expect.IsZero() {
		p.Contender.Expect = e.Expect
	}
	return p, err
}

// buildOnce builds a contender's folder. Later calls with the same settings return the same result,
// also an error. An interrupted build is repeated.
func (s *Sources) buildOnce(ctx context.Context, leaf build.Leaf, pin build.Pin) (build.Built, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	key := fmt.Sprintf("%s\n%q\n%+v", leaf.Dir, leaf.Manifest.Tags, pin)
	if o, ok := s.done[key]; ok {
		return o.built, o.err
	}
	if s.Builder.Licences == nil {
		s.Builder.Licences = Licences
	}
	var built build.Built
	prepared, err := s.Builder.Prepare(ctx, leaf, pin)
	if err == nil {
		built, err = s.Builder.Build(ctx, prepared)
	}
	if ctx.Err() != nil {
		return built, err
	}
	if s.done == nil {
		s.done = map[string]outcome{}
	}
	s.done[key] = outcome{built, err}
	return built, err
}

// findLeaf finds the folder and the variant of the contender of entry e. It is in the catalog, or in
// the user's directory e.Program, which is relative to studyDir.
func (s *Sources) findLeaf(kind, studyDir string, e tare.Entry) (build.Leaf, string, error) {
	if e.Program == "" {
		return s.Catalog.Leaf(kind, e.Leaf())
	}
	dir := filepath.FromSlash(e.Program)
	if !filepath.IsAbs(dir) {
		dir = filepath.Join(studyDir, dir)
	}
	leaf, err := readProgram(dir, kind, e)
	if err != nil {
		return leaf, "", fmt.Errorf("program %s: %w", e.Program, err)
	}
	m := leaf.Manifest
	if len(m.Variants) == 0 {
		return leaf, "", nil
	}
	longest := "" // variant that the id of the entry ends with, as in ID-VARIANT
	for _, v := range m.Variants {
		if strings.HasSuffix("-"+e.ID, "-"+v) && len(v) > len(longest) {
			longest = v
		}
	}
	if longest != "" {
		return leaf, longest, nil
	}
	return leaf, "", fmt.Errorf("program %s has the variants %s; end the contender's id with one, e.g. %s-%s",
		e.Program, strings.Join(m.Variants, ", "), e.ID, m.Variants[0])
}

// readProgram reads the folder dir of the user's own contender. Without a manifest, it has the id of
// entry e and the kind of the study.
func readProgram(dir, kind string, e tare.Entry) (build.Leaf, error) {
	info, err := os.Stat(dir)
	if errors.Is(err, fs.ErrNotExist) || err == nil && !info.IsDir() {
		return build.Leaf{}, fmt.Errorf("there is no directory %s", dir)
	}
	if err != nil {
		return build.Leaf{}, err
	}
	leaf, err := build.ReadLeaf(dir)
	if errors.Is(err, fs.ErrNotExist) {
		abs, err := build.RealPath(dir)
		m := build.Manifest{ID: e.ID, Kind: kind, Why: "the user's own"}
		return build.Leaf{Dir: abs, Manifest: m}, err
	}
	if err == nil && leaf.Manifest.Kind != kind {
		return leaf, fmt.Errorf("its %s says it is a %s, the study asks for a %s", build.ManifestName, leaf.Manifest.Kind, kind)
	}
	return leaf, err
}

func newUnbuiltProgram(m build.Manifest, variant string) build.Program {
	c := tare.Contender{
		Kind:     m.Kind,
		Role:     tare.RoleContender,
		Variant:  variant,
		Why:      m.Why,
		Declared: tare.Declared{Layers: m.LayersOf(variant), Expect: m.Expect},
	}
	if m.Trap {
		c.Role = tare.RoleTrap
	}
	c.Adoption.Unmaintained = m.Unmaintained
	return build.Program{Variant: variant, Contender: c}
}
