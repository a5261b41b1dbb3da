package routes

import (
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/tarebench/tare/cmd/tare/internal/cmdenv"
	"github.com/tarebench/tare/cmd/tare/internal/session"
	"github.com/tarebench/tare/contender/router"
)

func routesOn(cmd *cobra.Command, env cmdenv.Env, o options, arg string) error {
	order, err := session.NewOrder(cmd, &o.run.On, o.run.Rounds, o.run.Seed)
	if err != nil {
		return err
	}
	defer order.Close()
	if arg == "-" {
		return cmdenv.Usage("--on takes routes from a file", "stdin is read on one machine; save it in a file")
	}
	order.ID, order.Names = o.studyID(), []string{filepath.Base(arg)}
	if err := order.AddFile(filepath.Base(arg), arg); err != nil {
		return err
	}
	if err := order.AddContenders(env, "", router.Kind, nil); err != nil {
		return err
	}
	return order.MeasureAndReport(cmd.Context(), env, o.run, nil) // no criteria
}
