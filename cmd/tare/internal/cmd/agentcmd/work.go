package agentcmd

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/cmd/tare/internal/bring/tree"
	"github.com/tarebench/tare/cmd/tare/internal/catalog"
	"github.com/tarebench/tare/cmd/tare/internal/cmdenv"
	"github.com/tarebench/tare/cmd/tare/internal/fleet"
	"github.com/tarebench/tare/internal/format"
	"github.com/tarebench/tare/internal/machine"
	"github.com/tarebench/tare/lab"
)

// carryOut carries an order out by the command of tare that it is for, and returns
// the document that this prints.
func carryOut(ctx context.Context, env cmdenv.Env, root func(cmdenv.Env) *cobra.Command, o fleet.StudyOrder, t fleet.Task) ([]byte, error) {
	dir, remove, err := machine.TempDir("agent")
	if err != nil {
		return nil, fmt.Errorf("make a directory for the order: %w", err)
	}
	defer remove()
	dirs, err := env.Dirs()
	if err != nil {
		return nil, err
	}
	if env, err = withCarried(env); err != nil && len(o.Contenders) > 0 {
		return nil, err
	}
	p := place{ctx: ctx, kept: filepath.Join(dirs.Cache, "sent"), files: filepath.Join(dir, "files"), fetch: t.Fetch}
	leave, err := p.enter(o, filepath.Join(dir, "repo"))
	if err != nil {
		return nil, err
	}
	defer leave()
	if err := sameContenders(env, o); err != nil {
		return nil, err
	}
	var out bytes.Buffer
	env.Ordered = true
	env.In, env.Out, env.Args = strings.NewReader(o.Text), &out, o.Args(p.files)
	run := root(withPermit(withData(env, filepath.Join(dir, "data")), o, t.Permit))
	run.SetArgs(env.Args)
	err = run.ExecuteContext(ctx)
	switch cmdenv.ExitCode(err) {
	case cmdenv.ExitOK, cmdenv.ExitNotMet, cmdenv.ExitInconclusive, cmdenv.ExitVoid: // the coordinator says what follows
		return out.Bytes(), nothing(o, out.Bytes())
	}
	return nil, err
}

// withOwnPlaces returns env with the cache, and with the catalog around the directory
// that the agent was started in if there is one. Among the files of an order, where
// commands of env work, neither is looked for.
func withOwnPlaces(env cmdenv.Env) (cmdenv.Env, error) {
	dirs, err := env.Dirs()
	if err != nil {
		return env, err
	}
	at, err := filepath.Abs(env.CatalogDir(""))
	if err != nil {
		return env, err
	}
	values := map[string]string{"TARE_CACHE": dirs.Cache}
	if env.CatalogDir("") == "" {
		at, err = catalog.Repository(at)
	}
	switch {
	case err == nil:
		values[catalog.EnvCatalog] = at
	case !errors.Is(err, catalog.ErrNone):
		return env, cmdenv.Usage(format.Line(err.Error(), 0), "")
	}
	return withVariables(env, values), nil
}

// withCarried returns env with a catalog in any case: the one that this binary carries if
// env has none. If that cannot be unpacked, the commands of env find none.
func withCarried(env cmdenv.Env) (cmdenv.Env, error) {
	if env.CatalogDir("") != "" {
		return env, nil
	}
	dirs, err := env.Dirs()
	if err != nil {
		return env, err
	}
	carried, err := catalog.Carried(dirs.Cache)
	dir := carried.Dir
	if err != nil {
		dir = catalog.Unpacked(dirs.Cache)
	} else if root, err := carried.Repository(); err == nil {
		dir = root
	}
	return withVariables(env, map[string]string{catalog.EnvCatalog: dir}), err
}

// withVariables returns env with variables of other values.
func withVariables(env cmdenv.Env, values map[string]string) cmdenv.Env {
	getenv := env.Getenv
	env.Getenv = func(name string) string {
		if value, ok := values[name]; ok {
			return value
		}
		return getenv(name)
	}
	return env
}

// sameContenders refuses an order whose contenders would be built from other sources
// here than at the coordinator: before they are measured, not after.
func sameContenders(env cmdenv.Env, o fleet.StudyOrder) error {
	if len(o.Contenders) == 0 {
		return nil
	}
	all, err := env.FindCatalog("")
	if err != nil {
		return err
	}
	ids := slices.Sorted(maps.Keys(o.Contenders))
	sums, err := cmdenv.SumsOf(all, o.Kind, ids)
	if err != nil {
		return err
	}
	for _, id := range ids {
		if sums[id] != o.Contenders[id] {
			return fmt.Errorf("contender %s is another on this machine than at the coordinator; this is tare %s: use the same on both", format.Line(id, 80), cmdenv.ThisVersion())
		}
	}
	return nil
}

// nothing is the error of a command that found nothing to measure.
func nothing(o fleet.StudyOrder, document []byte) error {
	var report struct {
		Sentence string            `json:"sentence"`
		Results  []json.RawMessage `json:"results"`
	}
	switch {
	case len(document) == 0:
		return &fleet.NothingError{Why: "no benchmark to measure"}
	case o.Command == "gate" && json.Unmarshal(document, &report) == nil && len(report.Results) == 0:
		return &fleet.NothingError{Why: report.Sentence}
	}
	return nil
}

// withData is env with a data directory, and with the machine that the agent has.
func withData(env cmdenv.Env, data string) cmdenv.Env {
	return withVariables(env, map[string]string{
		"TARE_DATA": data, "TARE_LOCK": fmt.Sprintf("agent-%d", os.Getpid()), // the agent has the machine already
		"GITHUB_ACTIONS": "", "GITHUB_STEP_SUMMARY": "", "GITHUB_OUTPUT": "", // the coordinator reports to them
	})
}

// withPermit is env in which the first study asks before each round. What a gate
// measures after its benchmarks has a fixed number of rounds.
func withPermit(env cmdenv.Env, o fleet.StudyOrder, permit lab.Permit) cmdenv.Env {
	run, first := env.Lab.Run, true
	if run == nil {
		run = lab.Run
	}
	env.Lab.Run = func(ctx context.Context, s tare.Study, options lab.Options) (*tare.Result, error) {
		if options.Permit = permit; !first {
			options.Permit, options.Rounds = nil, o.Share
		}
		first = false
		return run(ctx, s, options)
	}
	return env
}

// place is where an order is carried out.
type place struct {
	ctx   context.Context
	kept  string // directory of what was sent, by its content
	files string // directory of the order's files
	fetch func(context.Context, fleet.File, io.Writer) error
}

// enter fetches what the order needs, and has the process work in the order's
// repository, or among its files, until leave is called: an agent carries one order
// out at a time.
func (p place) enter(o fleet.StudyOrder, repo string) (leave func(), err error) {
	if err := os.MkdirAll(p.files, 0o700); err != nil {
		return nil, err
	}
	for _, f := range o.Files {
		if err := p.put(f); err != nil {
			return nil, err
		}
	}
	here := p.files
	if o.Repo != nil {
		var packs []string
		for _, f := range o.Packs {
			path, err := fleet.Kept(p.ctx, p.kept, f, p.fetch)
			if err != nil {
				return nil, err
			}
			packs = append(packs, path)
		}
		if err := os.Mkdir(repo, 0o700); err != nil {
			return nil, err
		}
		if here, err = tree.Unpack(p.ctx, *o.Repo, packs, repo); err != nil {
			return nil, err
		}
	}
	before, err := os.Getwd()
	if err != nil {
		return nil, err
	}
	return func() { _ = os.Chdir(before) }, os.Chdir(here)
}

// put has a file of the order at its place.
func (p place) put(f fleet.File) error {
	from, err := fleet.Kept(p.ctx, p.kept, f, p.fetch)
	if err != nil {
		return err
	}
	to := filepath.Join(p.files, filepath.FromSlash(f.Name))
	if err := os.MkdirAll(filepath.Dir(to), 0o700); err != nil {
		return err
	}
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer in.Close()
	out, err := os.OpenFile(to, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	defer out.Close()
	if _, err := io.Copy(out, in); err != nil {
		return err
	}
	return out.Close()
}
