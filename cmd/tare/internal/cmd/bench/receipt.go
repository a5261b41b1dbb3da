package bench

import (
	"cmp"
	"context"
	"io"
	"slices"

	"github.com/tarebench/tare/cmd/tare/internal/benchstudy"
	"github.com/tarebench/tare/cmd/tare/internal/cmdenv"
	"github.com/tarebench/tare/cmd/tare/internal/receipt"
	"github.com/tarebench/tare/cmd/tare/internal/session"
	"github.com/tarebench/tare/lab"
)

// record has the data of --receipt. A receipt is a sealed record of the measured files, the seed and
// the intervals, which tare verify checks. Without --receipt, sides is nil.
type record struct {
	outputs    []string // files that the command itself writes, which do not count as changes
	file       *cmdenv.Output
	base, head string         // revisions; "" for the worktree
	sides      []receipt.Side // git trees of base and head before the measurement
}

func openReceipt(ctx context.Context, o options) (r record, err error) {
	r.outputs = []string{o.receipt, o.run.Out}
	if r.file, err = cmdenv.OpenOutput(o.receipt); err != nil || o.receipt == "" {
		return r, err
	}
	if o.request.Head != benchstudy.Worktree {
		r.head = o.request.Head
	}
	r.base = cmp.Or(o.request.Base, r.head) // without --base both sides have the same files, built differently
	r.sides, err = receipt.Trees(ctx, o.request.Dir, r.base, r.head, r.outputs...)
	return r, err
}

// write writes the receipt. Files that changed during the measurement are a usage error.
func (r record) write(ctx context.Context, run *session.Session) error {
	if r.sides == nil || len(run.Results) == 0 {
		return nil
	}
	result := run.Results[len(run.Results)-1]
	if result.Stopped == lab.Interrupted {
		run.Progress.Say("no receipt: the run was interrupted")
		return nil
	}
	sidesNow, err := receipt.Trees(ctx, ".", r.base, r.head, r.outputs...)
	if err != nil {
		return err
	}
	if !slices.Equal(sidesNow, r.sides) {
		return cmdenv.Usage("no receipt: the files changed while they were measured", "give the command again, and leave them alone meanwhile")
	}
	return r.file.Save(func(f io.Writer) error { return receipt.New(result, r.sides).Write(f, run.Dirs) })
}
