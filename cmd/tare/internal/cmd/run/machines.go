package run

import (
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/cmd/tare/internal/cmdenv"
	"github.com/tarebench/tare/cmd/tare/internal/session"
)

// runOn runs one study on the machines of --on, and judges their results together.
func runOn(cmd *cobra.Command, env cmdenv.Env, o session.Options, args []string) error {
	if len(args) != 1 {
		return cmdenv.Usage("--on takes one study", "e.g. tare run json-encode --rounds 18 --on local,ssh:a")
	}
	order, err := session.NewOrder(cmd, &o.On, o.Rounds, o.Seed)
	if err != nil {
		return err
	}
	defer order.Close()
	study, err := env.ReadStudy(args[0])
	if err != nil {
		return err
	}
	order.ID, order.Text = study.ID, study.Source
	if err := addFiles(order, study); err != nil {
		return err
	}
	ids := []string{} // catalog ids of the contenders (programs under test) to build; nil would mean all
	for _, e := range study.Contenders {
		if e.Launch() == tare.LaunchProgram {
			ids = append(ids, e.Leaf())
		}
	}
	const defaultCatalog = "" // --on does not take --catalog
	if err := order.AddContenders(env, defaultCatalog, string(study.Kind), ids); err != nil {
		return err
	}
	const studies = 1
	if err := cmdenv.CheckFormat(o.Format, studies); err != nil {
		return err
	}
	return order.MeasureAndReport(cmd.Context(), env, o, nil) // the study has its own criteria
}

func addFiles(order *session.Order, study cmdenv.Study) error {
	added := map[string]bool{}
	for _, w := range study.Workloads {
		switch {
		case w.File == "" || added[w.File]: // no input file, or one that another workload has, too
			continue
		case !filepath.IsLocal(w.File):
			return cmdenv.Usage("--on: workload "+w.ID+": "+w.File+" is not below the directory of the study", "other machines get the files next to the study")
		}
		added[w.File] = true
		if err := order.AddFile(w.File, filepath.Join(study.Dir, w.File)); err != nil {
			return err
		}
	}
	return nil
}
