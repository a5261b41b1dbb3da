package bench

import (
	"context"
	"io"
	"slices"

	"github.com/tarebench/tare/cmd/tare/internal/benchstudy"
	"github.com/tarebench/tare/cmd/tare/internal/cmdenv"
	"github.com/tarebench/tare/cmd/tare/internal/receipt"
	"github.com/tarebench/tare/cmd/tare/internal/session"
	"github.com/tarebench/tare/lab"
)

// record is the receipt of a run that is under way. Without --receipt it has no sides.
type record struct {
	path       string
	file       *cmdenv.Output
	base, head string // revisions; "" for the worktree
	sides      []receipt.Side
}

// openReceipt opens the file of --receipt and finds out what is measured, before it is.
func openReceipt(ctx context.Context, o options) (r record, err error) {
	r.path = o.receipt
	if r.file, err = cmdenv.OpenOutput(o.receipt); err != nil || o.receipt == "" {
		return r, err
	}
	if r.head = o.asked.Head; r.head == benchstudy.Worktree {
		r.head = ""
	}
	if r.base = o.asked.Base; r.base == "" { // the same files, built otherwise
		r.base = r.head
	}
	r.sides, err = receipt.Trees(ctx, o.asked.Dir, r.base, r.head, o.receipt)
	return r, err
}

// write writes the receipt of the session's result. What changed while it was measured,
// and what was interrupted, gets none.
func (r record) write(ctx context.Context, w *session.Session) error {
	if r.sides == nil || len(w.Results) == 0 {
		return nil
	}
	result := w.Results[len(w.Results)-1]
	if result.Stopped == lab.Interrupted {
		w.Progress.Say("no receipt: the run was interrupted")
		return nil
	}
	sides, err := receipt.Trees(ctx, ".", r.base, r.head, r.path)
	if err != nil {
		return err
	}
	if !slices.Equal(sides, r.sides) {
		return cmdenv.Usage("no receipt: the files changed while they were measured", "give the command again, and leave them alone meanwhile")
	}
	return r.file.Save(func(f io.Writer) error { return receipt.New(result, r.sides).Write(f, w.Dirs) })
}
