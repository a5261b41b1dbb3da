package agentcmd

import (
	"bytes"
	"context"
	"encoding/json"
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
	"github.com/tarebench/tare/cmd/tare/internal/cmdenv"
	"github.com/tarebench/tare/cmd/tare/internal/fleet"
	"github.com/tarebench/tare/internal/format"
	"github.com/tarebench/tare/lab"
)

// carryOut carries an order out by the command of tare that it is for, and returns
// the document that this prints.
func carryOut(ctx context.Context, env cmdenv.Env, root func(cmdenv.Env) *cobra.Command, o fleet.StudyOrder, t fleet.Task) ([]byte, error) {
	dir, err := os.MkdirTemp("", "tare-agent-")
	if err != nil {
		return nil, fmt.Errorf("make a directory for the order: %w", err)
	}
	defer os.RemoveAll(dir)
	dirs, err := env.Dirs()
	if err != nil {
		return nil, err
	}
	p := place{ctx: ctx, kept: filepath.Join(dirs.Cache, "sent"), files: filepath.Join(dir, "files"), fetch: t.Fetch}
	leave, err := p.enter(o, filepath.Join(dir, "repo"))
	if err != nil {
		return nil, err
	}
	defer leave()
	if err := sameContenders(o, dirs.Cache); err != nil {
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

// sameContenders refuses an order whose contenders would be built from other sources
// here than at the coordinator: before they are measured, not after.
func sameContenders(o fleet.StudyOrder, cache string) error {
	if len(o.Contenders) == 0 {
		return nil
	}
	all, err := cmdenv.FindCatalog("", cache)
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
	getenv := env.Getenv
	env.Getenv = func(name string) string {
		switch name {
		case "TARE_DATA":
			return data
		case "TARE_LOCK": // the agent has the machine already
			return fmt.Sprintf("agent-%d", os.Getpid())
		case "GITHUB_ACTIONS", "GITHUB_STEP_SUMMARY", "GITHUB_OUTPUT": // the coordinator tells it
			return ""
		}
		return getenv(name)
	}
	return env
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
