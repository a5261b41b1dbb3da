// Package doctor implements tare doctor, which checks this machine and the installation.
package doctor

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"os"
	"runtime"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/cmd/tare/internal/cmdenv"
	"github.com/tarebench/tare/cmd/tare/internal/counts"
	"github.com/tarebench/tare/internal/format"
	"github.com/tarebench/tare/internal/machine"
	"github.com/tarebench/tare/report"
)

type diagnosis struct {
	Tare      cmdenv.Version   `json:"tare"`
	Machine   tare.Machine     `json:"machine"`
	Toolchain cmdenv.Toolchain `json:"toolchain"`
	Cache     place            `json:"cache"`
	Data      place            `json:"data"`
	Catalog   catalogState     `json:"catalog"`
	Lock      lockState        `json:"lock"`
	Counter   counterState     `json:"counter"`
}

type counterState struct {
	*tare.Counter
	Missing string `json:"missing,omitempty"` // the reason if there is no counter
}

type place struct {
	Dir   string `json:"dir"`
	Bytes int64  `json:"bytes"`           // size of all files
	Error string `json:"error,omitempty"` // why it is not writable
}

// catalogState describes the catalog of programs that tare can compare.
type catalogState struct {
	Dir        string `json:"dir"`
	Contenders int    `json:"contenders"`
	Error      string `json:"error,omitempty"` // why it cannot be read
}

// lockState shows whether another tare measures.
type lockState struct {
	Path   string `json:"path"`             // path of the lock in the cache
	Held   bool   `json:"held"`             // another tare holds this lock, or the machine's
	Holder string `json:"holder,omitempty"` // the process that has the lock
}

type options struct {
	calibrate bool
	budget    time.Duration // measuring time of --calibrate
	quiet     bool
	asJSON    bool
	catalog   string // "" means the repository's, else the built-in one
}

// Command returns tare doctor.
func Command(env cmdenv.Env) *cobra.Command {
	var o options
	cmd := &cobra.Command{
		Use:   "doctor",
		Short: "Check this machine: precision, tools, directories",
		Long: `Print facts about this machine, how small a difference it can measure, where tare
stores its files, and which tools are missing. Exit code 1: tare run needs one of
the missing tools.

With --calibrate it measures programs of known cost instead: two copies of one,
and programs that do 2 % and 5 % more, in arithmetic and in allocation. It prints
which of them differed, after how many rounds, and what difference this machine
resolves in what time. The exit code is then 0. Other runs wait meanwhile.`,
		Example: `  tare doctor
  tare doctor --json
  tare doctor --calibrate --budget 2m`,
		Args: cmdenv.AtMost(0),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := o.check(cmd); err != nil {
				return err
			}
			if o.calibrate {
				return runCalibration(cmd.Context(), env, o)
			}
			d, missing, err := diagnose(cmd.Context(), env, o.catalog)
			if err != nil {
				return err
			}
			if o.asJSON {
				err = cmdenv.PrintJSON(env.Out, d)
			} else {
				err = d.writeText(env.Out, env.Style(env.Out))
			}
			if err != nil {
				return err
			}
			return missing
		},
	}
	o.addFlags(cmd)
	return cmd
}

func (o *options) addFlags(cmd *cobra.Command) {
	cmd.Flags().SortFlags = false
	cmd.Flags().BoolVar(&o.calibrate, "calibrate", false, "measure programs of known cost: which differences are found here?")
	cmd.Flags().DurationVar(&o.budget, "budget", time.Minute, "measuring time of --calibrate; extended if that is too short for a verdict")
	cmd.Flags().BoolVar(&o.asJSON, "json", false, "print JSON")
	cmdenv.AddProgress(cmd.Flags(), &o.quiet)
	cmdenv.CompleteProgress(cmd)
	cmd.Flags().StringVar(&o.catalog, "catalog", "", "`directory` of contenders; default: the repository's, else the built-in ones")
}

func (o *options) check(cmd *cobra.Command) error {
	for _, name := range []string{"budget", "quiet", "progress"} {
		if cmd.Flags().Changed(name) && !o.calibrate {
			return cmdenv.Usage("--"+name+" is for --calibrate", "give both, or neither")
		}
	}
	if o.budget <= 0 {
		return cmdenv.Usage(fmt.Sprintf("--budget %v is not a budget", o.budget), "a duration such as 60s or 5m")
	}
	return nil
}

// diagnose checks everything that tare run needs. missing is the first problem found. err is an error
// of the diagnosis itself.
func diagnose(ctx context.Context, env cmdenv.Env, catalogDir string) (d diagnosis, missing, err error) {
	dirs, err := env.Dirs()
	if err != nil {
		return d, nil, err
	}
	record := func(err error) string { // returns the text of the error and remembers the first
		if err == nil {
			return ""
		}
		if missing == nil {
			missing = err
		}
		return format.Line(err.Error(), 0)
	}
	d.Tare, d.Machine = cmdenv.ThisVersion(), env.Lab.Facts(ctx)
	d.Toolchain, err = cmdenv.FindToolchain(ctx)
	d.Toolchain.Error = record(err)
	d.Cache = place{Dir: dirs.Cache, Error: record(dirs.MakeCache())}
	d.Data = place{Dir: dirs.Data, Error: record(dirs.MakeData())}
	d.Cache.Bytes, d.Data.Bytes = cmdenv.DirSize(dirs.Cache), cmdenv.DirSize(dirs.Data)
	c, err := env.FindCatalog(catalogDir)
	d.Catalog = catalogState{Dir: c.Dir, Contenders: len(cmdenv.ContendersOf(c)), Error: record(err)}
	d.Lock = readLock(ctx, dirs.Lock(), env.HostLock())
	counter, missingCounter := counts.FindCounter(ctx, counts.Auto)
	d.Counter.Missing = missingCounter
	if counter != nil {
		d.Counter.Counter = &counter.Counter
	}
	return d, missing, nil
}

// readLock returns the process that measures on this machine, without waiting. The argument path is the
// cache's lock, host the machine's.
func readLock(ctx context.Context, path, host string) lockState {
	l := lockState{Path: path}
	tryLock := func(lock func(ctx context.Context, name string, waiting func(string)) (func(), error), name string) {
		ctx, cancel := context.WithCancel(ctx)
		defer cancel()
		unlock, err := lock(ctx, name, func(holder string) { // called if another process has the lock
			l.Held, l.Holder = true, holder
			cancel()
		})
		if err == nil {
			unlock()
		}
	}
	if _, err := os.Stat(path); err == nil {
		tryLock(machine.Lock, path)
	}
	if !l.Held {
		tryLock(machine.LockHost, host)
	}
	return l
}

func (d diagnosis) writeText(w io.Writer, st report.Style) error {
	tw := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	writeRow := func(label, format string, args ...any) {
		fmt.Fprintf(tw, "%s\t%s\n", label, fmt.Sprintf(format, args...))
	}
	m := d.Machine
	writeRow("tare", "%s", strings.TrimPrefix(d.Tare.String(), "tare "))
	writeRow("system", "%s", strings.TrimSpace(fmt.Sprintf("%s/%s %s", m.OS, m.Arch, m.Kernel)))
	writeRow("processor", "%s", strings.TrimSpace(fmt.Sprintf("%s, %s", cmp.Or(m.CPU, runtime.GOARCH), format.Count(m.Cores, "core"))))
	if m.Memory > 0 {
		writeRow("memory", "%.1f GiB", float64(m.Memory)/(1<<30))
	}
	writeRow("go command", "%s", cmp.Or(d.Toolchain.Error, d.Toolchain.Version+" "+d.Toolchain.Path))
	writeRow("cache", "%s", cmp.Or(d.Cache.Error, fmt.Sprintf("%s (%s)", d.Cache.Dir, cmdenv.BytesText(d.Cache.Bytes))))
	writeRow("data", "%s", cmp.Or(d.Data.Error, fmt.Sprintf("%s (%s)", d.Data.Dir, cmdenv.BytesText(d.Data.Bytes))))
	writeRow("catalog", "%s", cmp.Or(d.Catalog.Error, fmt.Sprintf("%s (%s)", d.Catalog.Dir, format.Count(d.Catalog.Contenders, "contender"))))
	lock := "free"
	if d.Lock.Held {
		lock = "held by " + d.Lock.Holder
	}
	writeRow("machine lock", "%s", lock)
	if d.Counter.Counter != nil {
		writeRow("counter", "%s, for instructions (--counts)", d.Counter.Counter)
	} else {
		writeRow("counter", "none: %s", d.Counter.Missing)
	}
	if err := tw.Flush(); err != nil {
		return err
	}
	if len(m.Facilities) == 0 {
		return nil
	}
	fmt.Fprintf(w, "\n%s\n", cmdenv.Paint(st.Bold, "What this machine can tell"))
	tw = tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	for _, f := range m.Facilities {
		has := "no"
		if f.Found {
			has = "yes"
		}
		fmt.Fprintf(tw, "  %s\t%s\t%s\n", f.Name, has, f.Note)
	}
	return tw.Flush()
}
