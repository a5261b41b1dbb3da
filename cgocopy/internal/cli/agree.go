package cli

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/tarebench/tare/cgocopy/internal/cc"
	"github.com/tarebench/tare/cgocopy/internal/cgoflags"
	"github.com/tarebench/tare/cgocopy/internal/emit"
	"github.com/tarebench/tare/cgocopy/internal/plan"
)

// compilerConfig returns the configuration for compiling the headers, without wanted types.
func (o options) compilerConfig(ctx context.Context) (cc.Config, error) {
	read := cgoflags.Read
	if o.cxx {
		read = cgoflags.ReadCXX
	}
	flags, err := read(ctx, filepath.Join(o.dir, filepath.Dir(o.out)), o.buildConstraint(), isOutputOf(o.out))
	return cc.Config{Headers: o.headers, Flags: append(flags, o.flags...), CXX: o.cxx, Dir: o.dir}, err
}

// findMacros returns the members of a plan whose names are macros in the headers, as sa_handler in
// signal.h.
func (o options) findMacros(ctx context.Context, p *plan.Plan) ([]string, error) {
	if o.object != "" {
		return nil, nil
	}
	c, err := o.compilerConfig(ctx)
	if err != nil {
		return nil, err
	}
	return cc.Macros(ctx, c, emit.Members(p))
}

// confirmLayout makes the compiler confirm every size and offset of a plan. Its debug information may be
// incomplete: clang omits some facts about a bit-field as wide as its type.
func (o options) confirmLayout(ctx context.Context, p *plan.Plan, undefine []string) error {
	spots := emit.Spots(p)
	if o.object != "" || len(spots) == 0 {
		return nil
	}
	c, err := o.compilerConfig(ctx)
	if err != nil {
		return err
	}
	c.Undefine = undefine
	var claims []string
	for _, s := range spots {
		claims = append(claims, fmt.Sprintf("%s == %d", s.Expr, s.Bytes))
	}
	wrong, err := cc.Confirm(ctx, c, claims)
	if err != nil {
		return err
	}
	var all []error
	reported := map[string]bool{}
	for i, s := range spots {
		text, isWrong := wrong[i]
		switch {
		case !isWrong || reported[s.Name]:
			continue
		case strings.Contains(text, "bit-field"):
			all = append(all, plan.Refusal{Pos: s.Pos, Struct: s.Name, Type: s.Type, Reason: "is a bit-field as wide as its type, which this compiler does not describe as one", Remedy: "leave it out with a tag -, or name another compiler in CC"})
		default:
			all = append(all, plan.Refusal{Pos: s.Pos, Struct: s.Name, Type: s.Type, Reason: fmt.Sprintf("lies elsewhere than the compiler describes: %s is not %d (%s)", s.Expr, s.Bytes, text), Remedy: "leave it out with a tag -, or name another compiler in CC"})
		}
		reported[s.Name] = true
	}
	return errors.Join(all...)
}
