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

// Resolve adapts the side's go.mod: it pins the modules of --with, and lets relative replacements
// that lead out of the tree lead to the same place as in the user's own. The resulting go.mod is in
// work; the tree's stays as it is.
func (s *Side) Resolve(ctx context.Context, work string) error {
	out, err := s.runGo(ctx, "env", "GOMOD", "GOWORK", "GOFLAGS")
	if err != nil {
		return err
	}
	gomod, rest, _ := strings.Cut(out, "\n")
	gowork, goflags, _ := strings.Cut(rest, "\n")
	s.tags, s.ldflags = flagIn(goflags, "tags"), flagIn(goflags, "ldflags")
	inWork := gowork != "" && gowork != "off"
	if inWork && len(s.With) > 0 {
		return &UsageError{What: "--with does not reach into a go.work; GOWORK=off in the environment leaves it out"}
	}
	s.noModule = gomod == "" || gomod == os.DevNull
	if inWork { // go.work decides
		return nil
	}
	if s.noModule {
		where := s.Home + " or above"
		if s.Dir != s.Home {
			where = "the revision, where " + s.Home + " is"
		}
		return &UsageError{What: fmt.Sprintf("%s: no go.mod in %s; benchmarks are those of a module", s.ID, where)}
	}
	away, err := s.outsideReplacements(ctx, gomod)
	if err != nil || len(s.With) == 0 && len(away) == 0 {
		return err
	}
	mod := filepath.Join(work, s.ID+".mod")
	if err := copyFile(gomod, mod); err != nil {
		return err
	}
	if err := copyFile(strings.TrimSuffix(gomod, ".mod")+".sum", filepath.Join(work, s.ID+".sum")); err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	args := []string{"mod", "edit"}
	for _, r := range away {
		args = append(args, "-replace="+r)
	}
	for _, w := range s.With {
		if err := s.checkRequired(ctx, w); err != nil {
			return err
		}
		if w.Dir != "" {
			args = append(args, "-replace="+w.Path+"="+w.Dir)
		}
	}
	if len(args) > 2 {
		if _, err := s.runGo(ctx, append(args, mod)...); err != nil {
			return err
		}
	}
	for _, w := range s.With {
		if w.Dir == "" {
			_, err := s.runGo(ctx, "get", "-modfile="+mod, w.Path+"@"+w.Version)
			if broken := (*BuildError)(nil); errors.As(err, &broken) {
				return &BuildError{s.ID + " with " + w.String(), broken.Why}
			}
			if err != nil {
				return err
			}
		}
	}
	s.modfile = mod
	return nil
}

// checkRequired returns an error for a pin that would change nothing.
func (s *Side) checkRequired(ctx context.Context, w build.With) error {
	out, err := s.runGo(ctx, "list", "-mod=mod", "-m", "-json", w.Path)
	var m Module
	if err != nil || json.Unmarshal([]byte(out), &m) != nil || m.Main {
		return &UsageError{What: fmt.Sprintf("--with %s changes nothing: the module does not require %s", w, w.Path)}
	}
	return nil
}

// outsideReplacements returns the replacements in gomod that lead out of the tree, as go mod edit
// takes them: with the directory that they have in the user's own tree. It returns none if the side
// is that tree, or has everything in vendor.
func (s *Side) outsideReplacements(ctx context.Context, gomod string) ([]string, error) {
	if _, err := os.Stat(filepath.Join(filepath.Dir(gomod), "vendor", "modules.txt")); s.Dir == s.Home || err == nil {
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
	home := filepath.Join(s.Home, rel) // where gomod is in the user's own tree
	var away []string
	for _, r := range file.Replace {
		if r.New.Version != "" || filepath.IsAbs(r.New.Path) {
			continue
		}
		target := filepath.Join(filepath.Dir(gomod), r.New.Path)
		if in, err := filepath.Rel(s.Root, target); err == nil && filepath.IsLocal(in) {
			continue
		}
		old := r.Old.Path
		if r.Old.Version != "" {
			old += "@" + r.Old.Version
		}
		away = append(away, old+"="+filepath.Join(home, r.New.Path))
	}
	return away, nil
}

func copyFile(from, to string) error {
	text, err := os.ReadFile(from)
	if err != nil {
		return err
	}
	return os.WriteFile(to, text, 0o644)
}
