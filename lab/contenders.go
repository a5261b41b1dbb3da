package lab

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/internal/build"
	"github.com/tarebench/tare/internal/machine"
)

// This file turns the entries of a study into contenders: programs that are built, commands of the
// user, or URLs. For example, a contender that does not build is omitted, with the reason.

// buildContenders turns the study's entries into contenders. It adds the control (the baseline a
// second time) and the null contender (which does no work). The study continues without a contender
// that cannot be built or lacks programs, unless it is the baseline.
func (r *run) buildContenders(ctx context.Context) error {
	for _, e := range append(slices.Clone(r.study.Contenders), tare.Entry{ID: tare.NullID}) {
		r.sendProgress(Event{Phase: "build", Contender: e.ID})
		p, err := r.loadProgram(ctx, e)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if errors.Is(err, build.ErrNoToolchain) || errors.Is(err, build.ErrCache) {
			return err
		}
		var unknown *UnknownError
		if errors.As(err, &unknown) {
			return &StudyError{r.study.ID, err}
		}
		c := p.Contender
		c.ID, c.Kind, c.Variant, c.Set = e.ID, r.kindName, p.Variant, e.Set
		if !e.Expect.IsZero() {
			c.Expect = e.Expect
		}
		c.Role = r.chooseRole(e, c)
		if err != nil {
			c.Error = err.Error()
			r.sendProgress(Event{Phase: "build", Contender: e.ID, Err: err})
			if c.Role == tare.RoleBaseline || c.Role == tare.RoleNull {
				return &LostError{Contender: "the " + string(c.Role) + " contender " + e.ID, Why: c.Error}
			}
			r.dropped[e.ID] = true
		} else {
			p.Contender = c
			r.programs[e.ID] = p
			r.sendProgress(Event{Phase: "build", Contender: e.ID, Cached: p.Cached, Message: c.String()})
		}
		r.contenders = append(r.contenders, c)
		if c.Role == tare.RoleBaseline && err == nil {
			control := c
			control.ID, control.Role, control.Expect = tare.ControlID, tare.RoleControl, tare.Expect{}
			r.contenders = append(r.contenders, control)
			r.programs[tare.ControlID] = p
		}
	}
	return nil
}

// chooseRole returns the role of contender c in the study.
func (r *run) chooseRole(e tare.Entry, c tare.Contender) tare.Role {
	switch {
	case e.ID == tare.NullID:
		return tare.RoleNull
	case e.ID == r.study.Baseline:
		return tare.RoleBaseline
	case c.Role == tare.RoleTrap || !c.Expect.IsZero(): // a check is expected to void it
		return tare.RoleTrap
	case e.Answers == tare.AnswersStatus:
		return tare.RoleApart
	}
	return tare.RoleContender
}

// loadProgram returns the program of entry e: built, or only declared.
func (r *run) loadProgram(ctx context.Context, e tare.Entry) (build.Program, error) {
	c := tare.Contender{Role: tare.RoleContender, Start: tare.Start{Launch: e.Launch()}, Declared: tare.Declared{Expect: e.Expect}}
	var path string
	switch c.Launch {
	case tare.LaunchCommand:
		c.Name, c.Command, c.Why = strings.Join(e.Command, " "), e.Command, "the user's own command"
		c.Path, c.Files, c.Delivers = e.Path, e.Files, e.Delivers
		found, err := r.findInstalled(e)
		if err != nil {
			return build.Program{Contender: c}, err
		}
		path = found[e.Command[0]]
		if err := r.buildFor(ctx, e, path); err != nil {
			return build.Program{Contender: c}, err
		}
	case tare.LaunchURL:
		c.Name, c.URL, c.Why = e.URL, e.URL, "runs elsewhere"
	default:
		return r.opts.Sources.Program(ctx, r.kindName, r.study.Dir, e)
	}
	if err := r.checkLaunch(e); err != nil {
		return build.Program{Contender: c}, err
	}
	return build.Program{Path: path, Contender: c}, nil
}

// buildFor builds what the command of e needs, so that no measured start waits for a compiler. path
// is the command's program. If it is "", the one in PATH is meant.
func (r *run) buildFor(ctx context.Context, e tare.Entry, path string) (err error) {
	if r.opts.BuildFor == nil {
		return nil
	}
	command := slices.Clone(e.Command)
	command[0] = cmp.Or(path, command[0])
	r.builtFor[e.ID], err = r.opts.BuildFor(ctx, command)
	return err
}

// findInstalled returns the paths of the programs that the command of e requires. The error lists
// those that are missing or do not run.
func (r *run) findInstalled(e tare.Entry) (map[string]string, error) {
	paths := map[string]string{} // by program name
	var missing []string
	for _, program := range e.Requires {
		path, err := r.opts.LookPath(program)
		paths[program] = path
		var broken *machine.BrokenToolError
		switch {
		case errors.As(err, &broken):
			missing = append(missing, fmt.Sprintf("a %s that runs (%s)", program, broken.Reason))
		case err != nil:
			missing = append(missing, program)
		}
	}
	if len(missing) > 0 {
		return nil, &NotInstalledError{missing}
	}
	return paths, nil
}

// NotInstalledError lists the programs that a contender requires and that are missing or do not run.
// The study continues without the contender.
type NotInstalledError struct {
	Programs []string
}

// Error returns one line.
func (e *NotInstalledError) Error() string { return tare.NotInstalled(e.Programs) }

// UnknownError is the error for an entry of a study that Sources do not know, or that cannot be
// launched.
type UnknownError struct {
	What string   // e.g. contender "jsonitre-fastest"
	Near []string // similar known names; nil if there are none
}

// Error returns one line that suggests the similar names.
func (e *UnknownError) Error() string {
	s := "unknown " + e.What
	if len(e.Near) > 0 {
		s += "; did you mean " + strings.Join(e.Near, " or ") + "?"
	}
	return s
}

func (r *run) roleOf(id string) tare.Role {
	for _, c := range r.contenders {
		if c.ID == id {
			return c.Role
		}
	}
	return ""
}

// isNeeded reports whether the study cannot continue without contender id.
func (r *run) isNeeded(id string) bool {
	switch r.roleOf(id) {
	case tare.RoleBaseline, tare.RoleControl, tare.RoleNull:
		return true
	}
	return false
}

// dropContender removes contender id from the rest of the run. If the study cannot continue without
// it, the error is a *LostError.
func (r *run) dropContender(id, why string) error {
	r.dropped[id] = true
	if r.isNeeded(id) {
		return &LostError{Contender: "the " + string(r.roleOf(id)) + " contender", Why: why}
	}
	return nil
}

func joinKeys[V any](m map[string]V) string {
	return strings.Join(slices.Sorted(maps.Keys(m)), ", ")
}

func oneLine(s string) string {
	first, _, _ := strings.Cut(strings.TrimSpace(s), "\n")
	return first
}
