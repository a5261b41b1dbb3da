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

// benchOn compares the two sides on several machines.
func benchOn(cmd *cobra.Command, env cmdenv.Env, o *options) error {
	order, err := session.NewOrder(cmd, &o.run.On, o.run.Rounds, o.run.Seed)
	if err != nil {
		return err
	}
	defer order.Close()
	order.Name, order.Names = "bench", o.asked.Packages
	if order.Divide = o.divide; o.divide {
		order.Drop("shard")
	}
	if pgo := o.asked.PGO; pgo != "" && pgo != "off" && pgo != "auto" {
		name := filepath.Base(pgo)
		if err := order.AddFile(name, pgo); err != nil {
			return err
		}
		order.Set("pgo", name)
	}
	revisions := map[string]string{"base": o.asked.Base}
	if o.asked.Head != benchstudy.Worktree {
		revisions["head"] = o.asked.Head
	}
	ctx := cmd.Context()
	if err := order.AddRepo(ctx, revisions, revisions["head"] == ""); err != nil {
		return err
	}
	var criteria []tare.Criterion
	if o.run.ExitCode {
		criteria = o.exitCriteria()
	}
	err = order.MeasureAndReport(ctx, env, o.run, criteria)
	var nothing *fleet.NothingError
	if errors.As(err, &nothing) && (o.asked.Changed || o.asked.Shard.Of > 1) {
		return nil // the agents have reported it
	}
	return err
}
