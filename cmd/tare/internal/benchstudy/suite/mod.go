package suite

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/tarebench/tare/internal/build"
)

// This file makes a changed copy of go.mod for a build, e.g. with another version of a module. The
// user's go.mod stays as it is.

// Resolve finds out how the side builds. For --with, and for relative replacements that lead out of
// an unpacked revision, it makes a changed copy of go.mod in work. The copy leads to the same
// directory as in the user's tree. The side's own go.mod stays as it is.
func (s *Side) Resolve(ctx context.Context, work string) error {
	out, err := s.runGo(ctx, "env", "GOMOD", "GOWORK", "GOFLAGS")
	if err != nil {
		return err
	}
	gomod, rest, _ := strings.Cut(out, "\n")
	gowork, goflags, _ := strings.Cut(rest, "\n")
	s.tags, s.ldflags = findFlag(goflags, "tags"), findFlag(goflags, "ldflags")
	inWork := gowork != "" && gowork != "off"
	if inWork && len(s.With) > 0 {
		return &UsageError{What: "--with does not reach into a go.work; GOWORK=off in the environment leaves it out"}
	}
	s.noModule = gomod == "" || gomod == os.DevNull
	if inWork {
		return nil // go.work decides about versions
	}
	if s.noModule {
		place := s.UserDir + " or above"
		if s.Dir != s.UserDir {
			place = "the revision, where " + s.UserDir + " is"
		}
		return &UsageError{What: fmt.Sprintf("%s: no go.mod in %s; benchmarks are those of a module", s.ID, place)}
	}
	replacements, err := s.outsideReplacements(ctx, gomod)
	if err != nil {
		return err
	}
	if len(s.With) == 0 && len(replacements) == 0 {
		return nil
	}
	return s.writeModFile(ctx, gomod, filepath.Join(work, s.ID+".mod"), replacements)
}

// writeModFile makes the side build with mod, a changed copy of gomod. replacements are of the form
// module=directory.
func (s *Side) writeModFile(ctx context.Context, gomod, mod string, replacements []string) error {
	if err := copyFile(gomod, mod); err != nil {
		return err
	}
	err := copyFile(strings.TrimSuffix(gomod, ".mod")+".sum", strings.TrimSuffix(mod, ".mod")+".sum")
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	for _, w := range s.With {
		if err := s.checkRequired(ctx, w); err != nil {
			return err
		}
		if w.Dir != "" {
			replacements = append(replacements, w.Path+"="+w.Dir)
		}
	}
	if len(replacements) > 0 {
		args := []string{"mod", "edit"}
		for _, r := range replacements {
			args = append(args, "-replace="+r)
		}
		if _, err := s.runGo(ctx, append(args, mod)...); err != nil {
			return err
		}
	}
	for _, w := range s.With {
		if w.Dir != "" {
			continue
		}
		_, err := s.runGo(ctx, "get", "-modfile="+mod, w.Path+"@"+w.Version)
		if broken := (*BuildError)(nil); errors.As(err, &broken) {
			return &BuildError{Side: s.ID + " with " + w.String(), Why: broken.Why}
		}
		if err != nil {
			return err
		}
	}
	s.modfile = mod
	return nil
}

// checkRequired returns an error if the side does not require the module of w. Another version of it
// would have no effect then.
func (s *Side) checkRequired(ctx context.Context, w build.With) error {
	out, err := s.runGo(ctx, "list", "-mod=mod", "-m", "-json", w.Path)
	var m Module
	if err != nil || json.Unmarshal([]byte(out), &m) != nil || m.Main {
		return &UsageError{What: fmt.Sprintf("--with %s changes nothing: the module does not require %s", w, w.Path)}
	}
	return nil
}

// outsideReplacements returns the relative replacements in gomod that lead out of the tree, as
// module=directory. The directory is that in the user's tree.
func (s *Side) outsideReplacements(ctx context.Context, gomod string) ([]string, error) {
	_, err := os.Stat(filepath.Join(filepath.Dir(gomod), "vendor", "modules.txt"))
	isVendored := err == nil
	if isVendored || s.Dir == s.UserDir {
		return nil, nil
	}
	out, err := s.runGo(ctx, "mod", "edit", "-json", gomod)
	if err != nil {
		return nil, err
	}
	type version struct{ Path, Version string }
	var file struct{ Replace []struct{ Old, New version } }
	if err := json.Unmarshal([]byte(out), &file); err != nil {
		return nil, fmt.Errorf("%s: read go.mod: %w", s.ID, err)
	}
	rel, err := filepath.Rel(s.Dir, filepath.Dir(gomod))
	if err != nil {
		return nil, err
	}
	home := filepath.Join(s.UserDir, rel)
	var replacements []string
	for _, r := range file.Replace {
		if r.New.Version != "" || filepath.IsAbs(r.New.Path) {
			continue
		}
		target := filepath.Join(filepath.Dir(gomod), r.New.Path)
		if rel, err := filepath.Rel(s.Root, target); err == nil && filepath.IsLocal(rel) {
			continue // inside of the tree
		}
		old := r.Old.Path
		if r.Old.Version != "" {
			old += "@" + r.Old.Version
		}
		replacements = append(replacements, old+"="+filepath.Join(home, r.New.Path))
	}
	return replacements, nil
}

func copyFile(source, target string) error {
	text, err := os.ReadFile(source)
	if err != nil {
		return err
	}
	return os.WriteFile(target, text, 0o644)
}
