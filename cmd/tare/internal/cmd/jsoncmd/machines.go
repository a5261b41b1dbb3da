package jsoncmd

import (
	"fmt"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/tarebench/tare/cmd/tare/internal/cmdenv"
	"github.com/tarebench/tare/cmd/tare/internal/session"
	"github.com/tarebench/tare/contender/codec"
)

// jsonOn runs tare json on the machines of --on. They get the files args and, with --type, the
// user's module.
func jsonOn(cmd *cobra.Command, env cmdenv.Env, o options, args []string) error {
	if o.typ != "" {
		if _, err := findType(cmd.Context(), env, o.typ); err != nil {
			return err
		}
	}
	order, err := session.NewOrder(cmd, &o.run.On, o.run.Rounds, o.run.Seed)
	if err != nil {
		return err
	}
	defer order.Close()
	order.ID = o.studyID(args[0])
	for i, arg := range args {
		if arg == "-" {
			return cmdenv.Usage("--on takes documents from files", "stdin is read on one machine; save it in a file")
		}
		name := filepath.Base(arg) // the file's name in the report
		if i > 0 {                 // another file may have the same base name
			name = fmt.Sprintf("%d/%s", i+1, name)
		}
		if err := order.AddFile(name, arg); err != nil {
			return err
		}
		order.Names = append(order.Names, name)
	}
	if o.typ != "" {
		const sendWorktree = true
		if err := order.AddRepo(cmd.Context(), nil, sendWorktree); err != nil {
			return err
		}
	}
	if err := order.AddContenders(env, "", codec.Kind, nil); err != nil {
		return err
	}
	return order.MeasureAndReport(cmd.Context(), env, o.run, nil) // no criteria
}
