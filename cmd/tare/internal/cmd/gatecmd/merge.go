package gatecmd

import (
	"context"
	"errors"
	"fmt"
	"io/fs"

	"github.com/spf13/cobra"

	"github.com/tarebench/tare/cmd/tare/internal/benchstudy/gate"
	"github.com/tarebench/tare/cmd/tare/internal/cmdenv"
	"github.com/tarebench/tare/cmd/tare/internal/history"
	"github.com/tarebench/tare/internal/atomicfile"
)

// mergeCommand returns tare gate merge. With tare gate --shard, each of several runners measures a part
// of the benchmarks. tare gate merge judges all parts together.
func mergeCommand(env cmdenv.Env) *cobra.Command {
	var o options
	cmd := &cobra.Command{
		Use:   "merge FILE…",
		Short: "Judge the parts of a gate together",
		Long: `Read what tare gate --shard i/n wrote with -o, of all n parts, and judge it as one
table: the error rate is that of the whole. tare.yaml and the repository are those
of the working directory. What is printed and the exit codes are as for tare gate.`,
		Example: `  tare gate --shard 1/2 -o 1.json      # on one runner
  tare gate --shard 2/2 -o 2.json      # on another
  tare gate merge 1.json 2.json`,
		Args: cmdenv.Needs(0, "the files of the parts", "what tare gate --shard wrote with -o"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := o.check(cmd); err != nil {
				return err
			}
			return mergeGate(cmd.Context(), env, o, args)
		},
	}
	output := cmdenv.NewFlags("What is printed")
	o.addPrinted(output)
	rules := cmdenv.NewFlags("How it is judged")
	o.addReviews(rules)
	cmdenv.AddFlags(cmd, rules, output)
	return cmd
}

func mergeGate(ctx context.Context, env cmdenv.Env, o options, paths []string) error {
	var parts []gate.Report
	for _, path := range paths {
		rep, err := readPart(path, history.MaxBytes)
		if err != nil {
			return err
		}
		parts = append(parts, rep)
	}
	measured, err := gate.Merge(parts)
	if err != nil {
		return cmdenv.UsageOf(err, "")
	}
	p, at, err := loadProject()
	if err != nil {
		return err
	}
	if p, measured.Policy, err = o.judgingProject(ctx, p, at, measured.Commit); err != nil {
		return err
	}
	files, err := o.openFiles()
	if err != nil {
		return err
	}
	defer files.Close()
	measured.Commands = mergedCommands(p, measured)
	rep := gate.Judge(p, measured, findDeclarations(p.Dir, at.root), env.Now().UTC(), configName(at.root, p))
	exit := gateCode(rep)
	if err := printGate(env, o, rep, exit, files); err != nil {
		return err
	}
	return cmdenv.Code(exit)
}

// readPart reads the report of a part. A file of more than maxBytes is a usage error.
func readPart(path string, maxBytes int64) (gate.Report, error) {
	text, err := atomicfile.ReadStart(path, maxBytes)
	if errors.Is(err, fs.ErrNotExist) {
		return gate.Report{}, cmdenv.Usage("no file "+path, "what tare gate --shard wrote with -o")
	}
	if err != nil {
		return gate.Report{}, cmdenv.Usage(fmt.Sprintf("cannot read %s: %v", path, cmdenv.Cause(err)), "")
	}
	if int64(len(text)) > maxBytes {
		return gate.Report{}, cmdenv.Usage(fmt.Sprintf("%s is larger than %d MiB", path, maxBytes>>20), "name what tare gate --shard wrote with -o")
	}
	rep, err := readReport(path, text)
	if err != nil {
		return rep, cmdenv.UsageOf(err, "")
	}
	return rep, nil
}
