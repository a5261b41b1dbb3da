package gatecmd

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/cmd/tare/internal/benchstudy/gate"
	"github.com/tarebench/tare/cmd/tare/internal/cmdenv"
	"github.com/tarebench/tare/cmd/tare/internal/fleet"
	"github.com/tarebench/tare/cmd/tare/internal/footprint"
	"github.com/tarebench/tare/cmd/tare/internal/history"
	"github.com/tarebench/tare/cmd/tare/internal/session"
	"github.com/tarebench/tare/internal/format"
)

// measureOn runs tare gate on the machines of --on and merges their reports. Each machine measures
// both sides. lost is an error about machines that returned no result, or nil.
func measureOn(cmd *cobra.Command, env cmdenv.Env, o options, sides gate.Sides) (m gate.Measured, lost, err error) {
	order, err := session.NewOrder(cmd, &o.machines, o.rounds, o.seed)
	if err != nil {
		return m, nil, err
	}
	defer order.Close()
	order.Name, order.Divide = "gate", o.divided
	order.Read = func(name string, document []byte) ([]*tare.Result, error) {
		rep, err := readReport(name, document)
		return rep.Results, err
	}
	if o.divided {
		order.Drop("shard") // each machine gets a different part of the benchmarks
	}
	// The base and head that this machine has found replace the user's.
	order.Drop("base")
	order.Drop("head")
	revisions := map[string]string{"base": sides.Base}
	order.Flags = append(order.Flags, "--base="+sides.Base)
	if o.head != gate.Worktree {
		revisions["head"] = o.head
		order.Flags = append(order.Flags, "--head="+o.head)
	}
	ctx := cmd.Context()
	const sendWorktree = true
	if err := order.AddRepo(ctx, revisions, sendWorktree); err != nil {
		return m, nil, err
	}
	runs, err := order.Measure(ctx, env, o.quiet)
	var nothing *fleet.NothingError
	if errors.As(err, &nothing) {
		return gate.Measured{Base: shortHash(sides.BaseCommit), Head: o.head, Nothing: nothing.Why}, nil, nil
	}
	if err != nil {
		return m, nil, err
	}
	var machines []gate.Machine
	for _, d := range runs.Got {
		rep, err := readReport(d.Name, d.Document)
		if err != nil {
			return m, nil, err
		}
		rep.Base, rep.Head = order.Title(rep.Base), order.Title(rep.Head)
		for _, r := range rep.Results {
			order.Entitle(r)
		}
		machines = append(machines, gate.Machine{Name: d.Name, Report: rep})
	}
	if m, err = gate.OverMachines(machines, o.divided, o.machines.Mixed); err != nil {
		return m, nil, err
	}
	if runs.Failed != nil {
		m.Skipped = append(m.Skipped, gate.Skipped{What: "--on", Why: format.Line(runs.Failed.Error(), 0)})
	}
	return m, runs.Failed, runs.Keep(m.Results)
}

func readReport(name string, document []byte) (rep gate.Report, err error) {
	if err := footprint.Unmarshal(document, &rep, footprint.Most); err != nil {
		return rep, fmt.Errorf("%s is no report of tare gate: %w", name, err)
	}
	if rep.Schema != gate.Schema {
		return rep, fmt.Errorf("%s is no report of tare gate: its schema is another", name)
	}
	return rep, history.Check(name, rep.Results)
}
