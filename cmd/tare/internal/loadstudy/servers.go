package loadstudy

import (
	"context"
	"maps"
	"slices"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/internal/build"
	"github.com/tarebench/tare/lab"
)

// Servers provides a comparison of the user's servers with its contenders, the programs that are
// compared. Nothing is built for them.
type Servers struct{}

var _ lab.Sources = Servers{}

// Program returns the contender of entry e of a study: a URL of a running server, or a command that
// starts one. The null contender, a server that does as little as possible, is this program itself.
func (Servers) Program(ctx context.Context, name, dir string, e tare.Entry) (build.Program, error) {
	if e.ID == tare.NullID {
		p, err := lab.Self{}.Program(ctx, name, dir, e)
		p.Variant, p.Contender.Variant = "", ""
		p.Contender.Why = "the load generator alone: this program, which answers anything at once"
		return p, err
	}
	c := tare.Contender{
		ID: e.ID, Kind: name, Role: tare.RoleContender, Name: e.ID,
		Start: tare.Start{Launch: e.Launch(), Command: slices.Clone(e.Command), URL: e.URL},
		Set:   maps.Clone(e.Set), Why: "a server of the user's",
	}
	return build.Program{Cached: true, Contender: c}, nil
}
