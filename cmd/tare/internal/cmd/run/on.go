package run

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"

	"github.com/spf13/cobra"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/cmd/tare/internal/cmdenv"
	"github.com/tarebench/tare/cmd/tare/internal/fleet"
	"github.com/tarebench/tare/cmd/tare/internal/session"
	"github.com/tarebench/tare/internal/judge"
)

// notOn are flags of tare run that an order to another machine does not carry.
func notOn() []string {
	return []string{"with", "with-original", "go", "catalog", "until", "effect", "slice", "isolation", "procs", "env", "profile", "resume", "no-lock", "at"}
}

// runOn carries one study out on several machines, and judges over them.
func runOn(cmd *cobra.Command, env cmdenv.Env, o session.Options, on, args []string) error {
	if err := fleet.Hosts(on); err != nil {
		return cmdenv.Usage("--on: "+err.Error(), "")
	}
	for _, flag := range notOn() {
		if cmd.Flags().Changed(flag) {
			return cmdenv.Usage("--on does not take --"+flag, "measure on each machine by itself, and give tare report the results")
		}
	}
	switch {
	case len(args) != 1:
		return cmdenv.Usage("--on takes one study", "e.g. tare run json-encode --rounds 18 --on local,ssh:a")
	case o.Rounds == 0:
		return cmdenv.Usage("--on needs --rounds", "every machine measures that many, e.g. --rounds 18")
	}
	study, err := env.ReadStudy(args[0])
	if err != nil {
		return err
	}
	if err := cmdenv.CheckFormat(o.Format, 1); err != nil {
		return err
	}
	if o.Seed == 0 {
		o.Seed = uint64(env.Now().UnixMicro())%1e9 + 1
	}
	order := fleet.Order{Protocol: fleet.Protocol, Study: study.Source, Rounds: o.Rounds, Seed: o.Seed, Full: !o.Quick, Contenders: o.Only.Contenders, Workloads: o.Only.Workloads}
	if err := order.Check(false); err != nil {
		return cmdenv.Usage("--on: "+err.Error(), "")
	}
	out, err := cmdenv.OpenOutput(o.Out)
	if err != nil {
		return err
	}
	defer out.Close()
	f, err := machines(env, o.Quiet, on)
	if err != nil {
		return err
	}
	results, failed := f.Run(cmd.Context(), on, study.ID, order)
	if err := cmd.Context().Err(); err != nil {
		return cmdenv.ErrInterrupted
	}
	switch {
	case len(results) == 0:
		return failed
	case len(results) == 1 && failed != nil:
		fmt.Fprintf(env.Err, "tare: %s alone measured; nothing is said over machines\n", results[0].Name)
	}
	res := results[0].Result
	if len(results) > 1 {
		if res, err = judge.OverMachines(results, false); err != nil {
			return err
		}
	}
	all := []*tare.Result{res}
	if err := cmdenv.WriteResults(env.Out, o.Format, all, env.Style(env.Out)); err != nil {
		return err
	}
	if err := out.Save(func(file io.Writer) error { return cmdenv.WriteDocument(file, all, true) }); err != nil {
		return err
	}
	if failed != nil {
		return failed // after what the others measured was printed
	}
	if o.ExitCode {
		return cmdenv.Code(cmdenv.VerdictCode(res))
	}
	return nil
}

// machines is the fleet, and where ssh is, if a machine needs it.
func machines(env cmdenv.Env, quiet bool, on []string) (*fleet.Fleet, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, fmt.Errorf("find this executable: %w", err)
	}
	f := &fleet.Fleet{Self: self, Say: func(host, line string) {
		if !quiet {
			fmt.Fprintf(env.Err, "%s: %s\n", host, line)
		}
	}}
	if !slices.Equal(on, []string{"local"}) {
		if f.SSH, err = exec.LookPath("ssh"); err != nil {
			return nil, fmt.Errorf("--on ssh:HOST needs the ssh program: %w", err)
		}
	}
	return f, nil
}
