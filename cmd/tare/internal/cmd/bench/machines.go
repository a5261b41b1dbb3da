package bench

import (
	"errors"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/cmd/tare/internal/benchstudy"
	"github.com/tarebench/tare/cmd/tare/internal/cmdenv"
	"github.com/tarebench/tare/cmd/tare/internal/fleet"
	"github.com/tarebench/tare/cmd/tare/internal/session"
)

func benchOn(cmd *cobra.Command, env cmdenv.Env, o *options) error {
	order, err := session.NewOrder(cmd, &o.run.On, o.run.Rounds, o.run.Seed)
	if err != nil {
		return err
	}
	defer order.Close()
	order.Name, order.Names = "bench", o.request.Packages
	order.Divide = o.divide
	if o.divide {
		order.Drop("shard") // each machine gets a different part of the benchmarks
	}
	if pgo := o.request.PGO; isProfileFile(pgo) { // a profile for the compiler, which the machines need
		name := filepath.Base(pgo)
		if err := order.AddFile(name, pgo); err != nil {
			return err
		}
		order.Set("pgo", name)
	}
	revisions := map[string]string{"base": o.request.Base}
	if o.request.Head != benchstudy.Worktree {
		revisions["head"] = o.request.Head
	}
	ctx := cmd.Context()
	sendWorktree := revisions["head"] == ""
	if err := order.AddRepo(ctx, revisions, sendWorktree); err != nil {
		return err
	}
	var criteria []tare.Criterion
	if o.run.ExitCode {
		criteria = o.exitCriteria()
	}
	err = order.MeasureAndReport(ctx, env, o.run, criteria)
	var nothing *fleet.NothingError
	if errors.As(err, &nothing) && o.mayBeEmpty() {
		return nil // the agents have reported that there is no benchmark
	}
	return err
}
