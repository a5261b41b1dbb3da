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
	"github.com/tarebench/tare/cmd/tare/internal/catalog"
	"github.com/tarebench/tare/cmd/tare/internal/cmdenv"
	"github.com/tarebench/tare/cmd/tare/internal/fleet"
	"github.com/tarebench/tare/cmd/tare/internal/gitrev"
	"github.com/tarebench/tare/internal/format"
	"github.com/tarebench/tare/internal/machine"
	"github.com/tarebench/tare/lab"
)

// This file carries out an order of a coordinator, which is a tare on another machine. It runs the
// ordered command in this process and returns the result document.

// runOrder runs the tare command of an order in this process, in a temporary directory with the
// order's files. It returns the document that the command prints. root returns tare's commands for
// an environment.
func runOrder(ctx context.Context, env cmdenv.Env, root func(cmdenv.Env) *cobra.Command, o fleet.StudyOrder, t fleet.Task) ([]byte, error) {
	dir, remove, err := machine.TempDir("agent")
	if err != nil {
		return nil, fmt.Errorf("make a directory for the order: %w", err)
	}
	defer remove()
	dirs, err := env.Dirs()
	if err != nil {
		return nil, err
	}
	if env, err = withBuiltIn(env); err != nil && len(o.Contenders) > 0 { // otherwise no catalog is needed
		return nil, err
	}
	files := orderFiles{ctx: ctx, cache: filepath.Join(dirs.Cache, "sent"), dir: filepath.Join(dir, "files"), fetch: t.Fetch}
	leave, err := files.enterDirectory(o, filepath.Join(dir, "repo"))
	if err != nil {
		return nil, err
	}
	defer leave()
	if err := checkContenders(env, o); err != nil {
		return nil, err
	}
	var out bytes.Buffer
	env.Ordered = true
	env.In, env.Out, env.Args = strings.NewReader(o.Text), &out, o.Args(files.dir)
	run := root(withPermit(withData(env, filepath.Join(dir, "data")), o, t.Permit))
	run.SetArgs(env.Args)
	err = run.ExecuteContext(ctx)
	switch cmdenv.ExitCode(err) {
	case cmdenv.ExitOK, cmdenv.ExitNotMet, cmdenv.ExitInconclusive, cmdenv.ExitVoid: // the coordinator judges the result
		return out.Bytes(), checkNothing(o, out.Bytes())
	}
	return nil, err
}

// withAgentDirs returns env with absolute paths of the cache and catalog: orders run in another
// directory.
func withAgentDirs(env cmdenv.Env) (cmdenv.Env, error) {
	dirs, err := env.Dirs()
	if err != nil {
		return env, err
	}
	catalogDir, err := filepath.Abs(env.CatalogDir("")) // the working directory if TARE_CATALOG is not set
	if err != nil {
		return env, err
	}
	values := map[string]string{"TARE_CACHE": dirs.Cache}
	if env.CatalogDir("") == "" {
		catalogDir, err = catalog.Repository(catalogDir)
	}
	switch {
	case err == nil:
		values[catalog.EnvCatalog] = catalogDir
	case !errors.Is(err, catalog.ErrNone):
		return env, cmdenv.UsageOf(err, "")
	}
	return withVariables(env, values), nil
}

// withBuiltIn returns env with the catalog in this binary, unless env has one. After an error, the
// catalog of env is a directory that does not exist.
func withBuiltIn(env cmdenv.Env) (cmdenv.Env, error) {
	if env.CatalogDir("") != "" {
		return env, nil
	}
	dirs, err := env.Dirs()
	if err != nil {
		return env, err
	}
	builtIn, err := catalog.Carried(dirs.Cache)
	dir := builtIn.Dir
	if err != nil {
		dir = catalog.Unpacked(dirs.Cache)
	} else if root, err := builtIn.Repository(); err == nil { // the catalog has the SDK next to it
		dir = root
	}
	return withVariables(env, map[string]string{catalog.EnvCatalog: dir}), err
}

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

// checkContenders returns an error if the sources of a contender, a program under test, differ from the
// coordinator's.
func checkContenders(env cmdenv.Env, o fleet.StudyOrder) error {
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

// checkNothing returns a *fleet.NothingError if the command printed nothing, or a report of tare
// gate without results.
func checkNothing(o fleet.StudyOrder, document []byte) error {
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

// withData returns env for the command of an order, with a separate data directory.
func withData(env cmdenv.Env, data string) cmdenv.Env {
	return withVariables(env, map[string]string{
		"TARE_DATA":           data,
		"TARE_LOCK":           fmt.Sprintf("agent-%d", os.Getpid()), // another lock: the agent already has the machine's
		"GITHUB_ACTIONS":      "",                                   // the coordinator reports to GitHub Actions
		"GITHUB_STEP_SUMMARY": "",
		"GITHUB_OUTPUT":       "",
	})
}

// withPermit returns env in which the first study calls permit before each round. The coordinator
// decides how many rounds each machine measures. Further studies, which only tare gate has, run o.Share
// rounds.
func withPermit(env cmdenv.Env, o fleet.StudyOrder, permit lab.Permit) cmdenv.Env {
	run, isFirst := env.Lab.Run, true
	if run == nil {
		run = lab.Run
	}
	env.Lab.Run = func(ctx context.Context, s tare.Study, options lab.Options) (*tare.Result, error) {
		if isFirst {
			options.Permit = permit
		} else {
			options.Permit, options.Rounds = nil, o.Share
		}
		isFirst = false
		return run(ctx, s, options)
	}
	return env
}

type orderFiles struct {
	ctx   context.Context
	cache string // received files, which are named by their content
	dir   string // the order's files under their original names
	fetch func(context.Context, fleet.File, io.Writer) error
}

// enterDirectory fetches the order's files, and unpacks its repository. It changes the working
// directory until leave is called, which is safe with one order at a time.
func (p orderFiles) enterDirectory(o fleet.StudyOrder, repo string) (leave func(), err error) {
	if err := os.MkdirAll(p.dir, 0o700); err != nil {
		return nil, err
	}
	for _, f := range o.Files {
		if err := p.placeFile(f); err != nil {
			return nil, err
		}
	}
	workDir := p.dir
	if o.Repo != nil {
		var packs []string
		for _, f := range o.Packs {
			path, err := fleet.CachedFile(p.ctx, p.cache, f, p.fetch)
			if err != nil {
				return nil, err
			}
			packs = append(packs, path)
		}
		if err := os.Mkdir(repo, 0o700); err != nil {
			return nil, err
		}
		if workDir, err = gitrev.Unpack(p.ctx, *o.Repo, packs, repo); err != nil {
			return nil, err
		}
	}
	before, err := os.Getwd()
	if err != nil {
		return nil, err
	}
	return func() { _ = os.Chdir(before) }, os.Chdir(workDir)
}

func (p orderFiles) placeFile(f fleet.File) error {
	source, err := fleet.CachedFile(p.ctx, p.cache, f, p.fetch)
	if err != nil {
		return err
	}
	target := filepath.Join(p.dir, filepath.FromSlash(f.Name))
	if err := os.MkdirAll(filepath.Dir(target), 0o700); err != nil {
		return err
	}
	in, err := os.Open(source)
	if err != nil {
		return err
	}
	defer in.Close()
	out, err := os.OpenFile(target, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	defer out.Close()
	if _, err := io.Copy(out, in); err != nil {
		return err
	}
	return out.Close()
}
