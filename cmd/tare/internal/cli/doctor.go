package cli

import (
	"context"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/internal/build"
	"github.com/tarebench/tare/internal/machine"
	"github.com/tarebench/tare/report"
)

// diagnosis is what tare doctor prints.
type diagnosis struct {
	Tare      Version      `json:"tare"`
	Machine   tare.Machine `json:"machine"`
	Toolchain toolchain    `json:"toolchain"`
	Cache     place        `json:"cache"`
	Data      place        `json:"data"`
	Catalog   catalogState `json:"catalog"`
	Lock      lockState    `json:"lock"`
}

type toolchain struct {
	Path    string `json:"path,omitempty"`
	Version string `json:"version,omitempty"`
	Error   string `json:"error,omitempty"`
}

type place struct {
	Dir   string `json:"dir"`
	Bytes int64  `json:"bytes"`
	Error string `json:"error,omitempty"` // why it cannot be written
}

type catalogState struct {
	Dir        string `json:"dir"`
	Contenders int    `json:"contenders"`
	Error      string `json:"error,omitempty"`
}

type lockState struct {
	Path   string `json:"path"`
	Held   bool   `json:"held"`
	Holder string `json:"holder,omitempty"`
}

func doctorCommand(env Env) *cobra.Command {
	var asJSON, known bool
	var dir string
	var budget time.Duration
	cmd := &cobra.Command{
		Use:   "doctor",
		Short: "Say what this machine can tell and whether tare can work on it",
		Long: `Say what this machine is, what it can tell about a measurement, where tare keeps
its files, and whether everything it needs is there. Exit code 1: something is
missing that tare run needs.

With --calibrate it weighs programs of known cost instead: two copies of one, and
programs that do 2 % and 5 % more, in arithmetic and in allocation. It says which
were told apart, after how many rounds, and what difference this machine resolves
in what time. Whatever that is, the exit code is 0. Other runs wait meanwhile.`,
		Example: `  tare doctor
  tare doctor --json
  tare doctor --calibrate --budget 2m`,
		Args: atMost(0),
		RunE: func(cmd *cobra.Command, _ []string) error {
			switch {
			case cmd.Flags().Changed("budget") && !known:
				return Usage("--budget is for --calibrate", "give both, or neither")
			case budget <= 0:
				return Usage(fmt.Sprintf("--budget %v is not a budget", budget), "a duration such as 60s or 5m")
			case known:
				return calibrate(cmd.Context(), env, dir, budget, asJSON)
			}
			d, missing, err := diagnose(cmd.Context(), env, dir)
			if err != nil {
				return err
			}
			if asJSON {
				err = printJSON(env.Out, d)
			} else {
				err = d.write(env.Out, env.Style(env.Out))
			}
			if err != nil {
				return err
			}
			return missing
		},
	}
	cmd.Flags().SortFlags = false
	cmd.Flags().BoolVar(&known, "calibrate", false, "weigh programs of known cost: what can be told apart here?")
	cmd.Flags().DurationVar(&budget, "budget", time.Minute, "measuring time of --calibrate; it is stretched where that is too short for a verdict")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	cmd.Flags().StringVar(&dir, "catalog", "", "`directory` of contenders; default: the repository's, else the built-in ones")
	return cmd
}

// diagnose looks at everything. missing is the first thing that would keep
// tare run from working.
func diagnose(ctx context.Context, env Env, catalogDir string) (d diagnosis, missing, err error) {
	dirs, err := env.Dirs()
	if err != nil {
		return d, nil, err
	}
	note := func(err error) string {
		if err == nil {
			return ""
		}
		if missing == nil {
			missing = err
		}
		return oneLine(err.Error())
	}
	d.Tare, d.Machine = version(), env.Lab.Facts(ctx)
	d.Toolchain, err = findToolchain(ctx)
	d.Toolchain.Error = note(err)
	d.Cache = place{dirs.Cache, 0, note(dirs.makeCache())}
	d.Data = place{dirs.Data, 0, note(dirs.makeData())}
	d.Cache.Bytes, d.Data.Bytes = size(dirs.Cache), size(dirs.Data)
	c, err := findCatalog(catalogDir, dirs.Cache)
	d.Catalog = catalogState{c.Dir, len(contenderRows(c)), note(err)}
	d.Lock = lookAtLock(ctx, dirs.Lock())
	return d, missing, nil
}

// findToolchain asks the go command for its version.
func findToolchain(ctx context.Context) (toolchain, error) {
	path, err := exec.LookPath("go")
	if err != nil {
		return toolchain{}, fmt.Errorf("%w: %q was not found; install Go from https://go.dev/dl/ or put it in PATH", build.ErrNoToolchain, "go")
	}
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	cmd := exec.CommandContext(ctx, path, "env", "GOVERSION")
	cmd.Dir = os.TempDir() // not in a module that asks for another version
	out, err := cmd.Output()
	if err != nil {
		return toolchain{Path: path}, fmt.Errorf("%w: %s does not say its version: %w", build.ErrNoToolchain, path, err)
	}
	return toolchain{Path: path, Version: strings.TrimSpace(string(out))}, nil
}

// size is how much dir holds; what cannot be read counts nothing.
func size(dir string) (bytes int64) {
	_ = filepath.WalkDir(dir, func(_ string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return nil
		}
		if info, err := e.Info(); err == nil {
			bytes += info.Size()
		}
		return nil
	})
	return bytes
}

// lookAtLock says who measures on this machine, without waiting.
func lookAtLock(ctx context.Context, path string) lockState {
	l := lockState{Path: path}
	if _, err := os.Stat(path); err != nil {
		return l // nobody ever measured here
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	unlock, err := machine.Lock(ctx, path, func(holder string) {
		l.Held, l.Holder = true, holder
		cancel()
	})
	if err == nil {
		unlock()
	}
	return l
}

func (d diagnosis) write(w io.Writer, st report.Style) error {
	tw := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	row := func(label, format string, args ...any) {
		fmt.Fprintf(tw, "%s\t%s\n", label, fmt.Sprintf(format, args...))
	}
	m := d.Machine
	row("tare", "%s", strings.TrimPrefix(d.Tare.String(), "tare "))
	row("system", "%s", strings.TrimSpace(fmt.Sprintf("%s/%s %s", m.OS, m.Arch, m.Kernel)))
	row("processor", "%s", strings.TrimSpace(fmt.Sprintf("%s, %s", or(m.CPU, runtime.GOARCH), plural(m.Cores, "core"))))
	if m.Memory > 0 {
		row("memory", "%.1f GiB", float64(m.Memory)/(1<<30))
	}
	row("go command", "%s", or(d.Toolchain.Error, d.Toolchain.Version+" "+d.Toolchain.Path))
	row("cache", "%s", or(d.Cache.Error, fmt.Sprintf("%s (%s)", d.Cache.Dir, bytesText(d.Cache.Bytes))))
	row("data", "%s", or(d.Data.Error, fmt.Sprintf("%s (%s)", d.Data.Dir, bytesText(d.Data.Bytes))))
	row("catalog", "%s", or(d.Catalog.Error, fmt.Sprintf("%s (%s)", d.Catalog.Dir, plural(d.Catalog.Contenders, "contender"))))
	lock := "free"
	if d.Lock.Held {
		lock = "held by " + d.Lock.Holder
	}
	row("machine lock", "%s", lock)
	if err := tw.Flush(); err != nil {
		return err
	}
	if len(m.Facilities) == 0 {
		return nil
	}
	fmt.Fprintf(w, "\n%s\n", paint(st.Bold, "What this machine can tell"))
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

func or(a, b string) string {
	if a != "" {
		return a
	}
	return b
}

// bytesText is n as people read it: 512 B, 13.4 MB.
func bytesText(n int64) string {
	const unit = 1000
	if n < unit {
		return fmt.Sprintf("%d B", n)
	}
	x, i := float64(n)/unit, 0
	for x >= 999.95 && i < 3 {
		x, i = x/unit, i+1
	}
	return fmt.Sprintf("%.1f %s", x, []string{"kB", "MB", "GB", "TB"}[i])
}
