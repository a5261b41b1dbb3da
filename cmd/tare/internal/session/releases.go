package session

import (
	"context"
	"slices"

	"github.com/spf13/pflag"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/cmd/tare/internal/cmdenv"
	"github.com/tarebench/tare/cmd/tare/internal/releases"
	"github.com/tarebench/tare/internal/format"
)

// ReleaseFlag is --go of commands that compare several Go releases.
type ReleaseFlag struct {
	Text   string             // value of the flag; "" means that releases are not compared
	parsed []releases.Release // set by Check
}

// Add adds the flag. usage names the releases in back quotes.
func (f *ReleaseFlag) Add(set *pflag.FlagSet, usage string) {
	set.StringVar(&f.Text, "go", "", usage)
}

// IsSet reports whether releases are compared.
func (f *ReleaseFlag) IsSet() bool { return f.Text != "" }

// Check parses the flag. On several machines it rejects a release without its last number, such as go1.26.
// Each machine could choose another toolchain for it.
func (f *ReleaseFlag) Check(on cmdenv.Machines) (err error) {
	if !f.IsSet() {
		return nil
	}
	if f.parsed, err = releases.Parse(f.Text); err != nil {
		return cmdenv.Usage("--go "+err.Error(), releases.Hint)
	}
	isOpen := func(r releases.Release) bool { return !r.IsExact() }
	if len(on.On) > 0 && slices.ContainsFunc(f.parsed, isOpen) {
		return cmdenv.Usage("--go with --on takes releases with all their numbers", "the newest one may differ between machines; e.g. --go go1.26.8,go1.27.2")
	}
	return nil
}

// Names returns the releases as the user wrote them. Resolve, which runs the go command, adds missing
// numbers.
func (f *ReleaseFlag) Names() []string {
	var names []string
	for _, r := range f.parsed {
		names = append(names, r.String())
	}
	return names
}

// Resolve returns the toolchains of the releases, with all their numbers.
func (f *ReleaseFlag) Resolve(ctx context.Context, env cmdenv.Env) ([]string, error) {
	installed, err := cmdenv.FindToolchain(ctx)
	if err != nil {
		return nil, err
	}
	toolchains, err := releases.Resolve(ctx, env.Tag(), installed.Version, f.parsed)
	if err != nil {
		return nil, cmdenv.Usage("--go: "+format.Line(err.Error(), 0), "")
	}
	return toolchains, nil
}

// ToolchainError returns the usage error about a toolchain that cannot be downloaded, or cannot build a
// contender.
func ToolchainError(toolchain string, err error) error {
	return cmdenv.Usage("--go "+toolchain+": "+format.Line(err.Error(), 0), "")
}

// BuildReleases builds a contender, a program to measure, with each of toolchains. So a missing toolchain is
// an error before anything is measured. contender is its catalog id, name its name in the progress.
func (w *Session) BuildReleases(ctx context.Context, study tare.Study, contender, name string, toolchains []string) error {
	for _, e := range study.Contenders {
		if e.Leaf() != contender || !slices.Contains(toolchains, e.Go) {
			continue
		}
		w.Progress.Status("building", "building "+name+" with "+e.Go)
		_, err := w.Sources.Program(ctx, string(study.Kind), study.Dir, e)
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case err != nil:
			return ToolchainError(e.Go, err)
		}
	}
	return nil
}
