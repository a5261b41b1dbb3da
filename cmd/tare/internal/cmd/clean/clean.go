// Package clean implements tare clean. It removes files from tare's cache and data directories that
// tare does not need.
package clean

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/tarebench/tare/cmd/tare/internal/cmdenv"
	"github.com/tarebench/tare/internal/format"
	"github.com/tarebench/tare/internal/machine"
	"github.com/tarebench/tare/report"
)

type options struct {
	results bool // also remove stored runs
	cache   bool // also remove the builds and the catalog of this version
	dryRun  bool
	age     string        // text of --older; "" means any age
	older   time.Duration // parsed age; 0 means any age
	catalog string        // directory of contenders whose builds stay; "" means the usual one
	asJSON  bool
}

// Command returns tare clean.
func Command(env cmdenv.Env) *cobra.Command {
	var o options
	cmd := &cobra.Command{
		Use:   "clean",
		Short: "Remove files that tare does not need from its cache",
		Long: `Remove from the cache the files that this version of tare does not need: catalogs
that other versions unpacked; builds from other sources, with other modules or by
another Go; revisions that tare bench and tare gate unpacked; files that other
machines sent; codecs that tare json made for a type; servers that tare rpc
generated; lists of tare routes that no kept result names; and files of runs and
agents that were killed, also temporary ones. tare can make all of them again.
With --cache it removes everything from the cache that it can make again.

Only --results removes runs, with their journals, from the data directory. They
cannot be made again; tare history export saves a copy. --older keeps younger
files. A run that another tare is writing always stays.

tare removes only its own files, and does not follow symbolic links. It rejects a
cache directory with foreign files next to builds or catalogs.

Exit codes: 0 removed, or nothing to remove; 1 something could not be removed, or
another tare is measuring; 2 a directory that is not tare's.`,
		Example: `  tare clean --dry-run
  tare clean
  tare clean --cache
  tare clean --results --older 30d --dry-run`,
		Args: cmdenv.AtMost(0),
		RunE: func(cmd *cobra.Command, _ []string) (err error) {
			if o.older, err = parseAge(o.age); err != nil {
				return err
			}
			return runClean(cmd.Context(), env, o)
		},
	}
	o.addFlags(cmd)
	return cmd
}

func (o *options) addFlags(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.BoolVar(&o.results, "results", false, "remove kept runs as well; they cannot be made again")
	flags.BoolVar(&o.cache, "cache", false, "remove this version's builds and catalog as well")
	flags.BoolVarP(&o.dryRun, "dry-run", "n", false, "only say what would be removed")
	flags.StringVar(&o.age, "older", "", "only what is older than that `age`, e.g. 30d, 2w or 12h")
	flags.StringVar(&o.catalog, "catalog", "", "`directory` of contenders whose builds stay; default: the repository's, else the built-in ones")
	flags.BoolVar(&o.asJSON, "json", false, "print JSON")
}

// parseAge parses days (30d), weeks (2w), or a duration. It returns 0 for "".
func parseAge(text string) (time.Duration, error) {
	if text == "" {
		return 0, nil
	}
	for suffix, unit := range map[string]time.Duration{"d": 24 * time.Hour, "w": 7 * 24 * time.Hour} {
		if digits, ok := strings.CutSuffix(text, suffix); ok {
			if n, err := strconv.ParseInt(digits, 10, 64); err == nil && 0 < n && n <= int64(math.MaxInt64/unit) {
				return time.Duration(n) * unit, nil
			}
		}
	}
	d, err := time.ParseDuration(text)
	if err != nil || d <= 0 {
		return 0, cmdenv.Usage(fmt.Sprintf("--older %q is not an age", text), "e.g. 30d, 2w or 12h")
	}
	return d, nil
}

type cleanReport struct {
	DryRun  bool      `json:"dry_run"`
	Removed []litter  `json:"removed"`
	Bytes   int64     `json:"bytes"` // total size
	Kept    keptBytes `json:"kept"`
	Skipped []string  `json:"left"` // one line for each skipped or failed removal
}

type keptBytes struct {
	Cache   int64 `json:"cache_bytes"`
	Results int64 `json:"results_bytes"`
}

// litter is a file or directory that tare does not need.
type litter struct {
	Kind  string    `json:"kind"` // one of the constants kindBuild and so on
	Path  string    `json:"path"`
	What  string    `json:"what,omitempty"` // the contender of a build
	Bytes int64     `json:"bytes"`
	Made  time.Time `json:"made"`

	top  string // the cache directory, the data directory, or the directory of temporary files
	name string // path relative to top
}

// runClean removes the files that the flags select, and prints what it removed. If it cannot remove
// a file, it continues and returns an exit code.
func runClean(ctx context.Context, env cmdenv.Env, o options) error {
	d, err := env.Dirs()
	if err != nil {
		return err
	}
	for name, dir := range map[string]string{"TARE_CACHE": d.Cache, "TARE_DATA": d.Data} {
		if err := checkOwnership(name, dir, env.Getenv("HOME")); err != nil {
			return err
		}
	}
	if _, err := os.Stat(d.Cache); err == nil && !o.dryRun {
		unlock, err := lockSoon(ctx, d.Lock())
		if err != nil {
			return err
		}
		defer unlock()
	}
	found, skipped, err := findLitter(ctx, env, d, o)
	if err != nil {
		return err
	}
	if o.older > 0 {
		isYoung := func(l litter) bool { return env.Now().Sub(l.Made) < o.older }
		found = slices.DeleteFunc(found, isYoung)
	}
	result := cleanReport{DryRun: o.dryRun, Removed: []litter{}, Skipped: append([]string{}, skipped...)} // in JSON [], not null
	result.Kept = keptBytes{Cache: cmdenv.DirSize(d.Cache), Results: cmdenv.DirSize(d.AllResults())}
	failed := result.removeAll(found)
	if o.asJSON {
		err = cmdenv.PrintJSON(env.Out, result)
	} else {
		err = result.writeText(env.Out, o)
	}
	for _, text := range result.Skipped {
		fmt.Fprintln(env.Err, "tare: "+text)
	}
	if err == nil && failed {
		err = cmdenv.Code(cmdenv.ExitFailure)
	}
	return err
}

// removeAll removes found, unless c.DryRun is set, and records the outcome in c. It reports whether
// a file could not be removed.
func (c *cleanReport) removeAll(found []litter) (failed bool) {
	for _, l := range found {
		switch err := removeLitter(l, c.DryRun); {
		case errors.Is(err, errInUse):
			c.Skipped = append(c.Skipped, "another tare is writing "+l.Path+"; it was left alone")
			continue
		case err != nil:
			failed = true
			c.Skipped = append(c.Skipped, fmt.Sprintf("cannot remove %s: %v", l.Path, cmdenv.Cause(err)))
			continue
		}
		c.Removed = append(c.Removed, l)
		c.Bytes += l.Bytes
		switch l.Kind {
		case kindRun:
			c.Kept.Results = max(0, c.Kept.Results-l.Bytes)
		case kindTemp: // neither in the cache nor in the data directory
		default:
			c.Kept.Cache = max(0, c.Kept.Cache-l.Bytes)
		}
	}
	return failed
}

// lockSoon takes the lock that a tare has while it measures, because measurements need their builds.
// After two seconds it returns an error that names the holder.
func lockSoon(ctx context.Context, path string) (unlock func(), err error) {
	const timeout = 2 * time.Second
	lockCtx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	otherTare := ""
	unlock, err = machine.Lock(lockCtx, path, func(holder string) { otherTare = holder })
	switch {
	case ctx.Err() != nil:
		return nil, cmdenv.ErrInterrupted
	case otherTare != "" && err != nil:
		return nil, errors.New("another tare is measuring (" + otherTare + "); clean when it is done")
	}
	return unlock, err
}

func (c cleanReport) writeText(w io.Writer, o options) error {
	c = report.LegibleAll(c) // names in shared directories can come from other users
	verb := "removed"
	if c.DryRun {
		verb = "would remove"
	}
	if len(c.Removed) == 0 {
		fmt.Fprintln(w, "nothing to remove")
	}
	tw := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	if c.DryRun {
		for _, l := range c.Removed {
			fmt.Fprintf(tw, "%s\t%s\t%s\t%s\n", l.Kind, cmdenv.BytesText(l.Bytes), l.Path, l.What)
		}
		if err := tw.Flush(); err != nil {
			return err
		}
	}
	for _, row := range []struct{ kind, noun string }{
		{kindBuild, "build"},
		{kindPinned, "prepared source"},
		{kindCatalog, "unpacked catalog"},
		{kindTree, "unpacked revision"},
		{kindSent, "sent file"},
		{kindTyped, "typed catalog"},
		{kindRoutes, "routes list"},
		{kindServers, "generated service"},
		{kindSQLite, "SQLite translation"},
		{kindKnown, "directory of answers"},
		{kindUnfinished, "unfinished build"},
		{kindTemp, "temporary folder"},
		{kindRun, "kept run"},
	} {
		n, bytes := 0, int64(0)
		for _, l := range c.Removed {
			if l.Kind == row.kind {
				n, bytes = n+1, bytes+l.Bytes
			}
		}
		if n > 0 {
			fmt.Fprintf(tw, "%s\t%s\t%s\n", verb, format.Count(n, row.noun), cmdenv.BytesText(bytes))
		}
	}
	if err := tw.Flush(); err != nil {
		return err
	}
	verb = "stays"
	if c.DryRun {
		verb = "would stay"
	}
	_, err := fmt.Fprintf(w, "what %s: %s of cache, %s of results\n", verb, cmdenv.BytesText(c.Kept.Cache), cmdenv.BytesText(c.Kept.Results))
	if err == nil && c.Kept.Results > 0 && !o.results {
		_, err = fmt.Fprintln(w, "results are only removed with --results")
	}
	return err
}
