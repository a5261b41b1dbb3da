package cli

import (
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/cmd/tare/internal/cmdenv"
	"github.com/tarebench/tare/cmd/tare/internal/studyfile"
	"github.com/tarebench/tare/internal/build"
	"github.com/tarebench/tare/lab"
)

// recordAsked says in a result how it was asked for, and of which tare.
func (w *weighing) recordAsked(res *tare.Result) {
	res.Tare = cmdenv.ThisVersion().Short()
	if w.asking.ID != res.Study {
		return
	}
	res.Asked = tare.Asked{
		Study: w.asking.Source, Budget: "full", Rounds: w.o.rounds, Slice: w.o.slice,
		Contenders: w.o.only.Contenders, Workloads: w.o.only.Workloads, With: w.o.with, Go: w.o.release,
	}
	switch {
	case w.o.user:
		res.Asked.Budget = w.o.budget.String()
	case w.o.quick:
		res.Asked.Budget = "quick"
	}
	if w.asking.Source == "" {
		res.Asked.Command, res.Asked.WorkDir, res.Asked.Files = w.typed.args, w.typed.dir, w.typed.sums
	}
	if relative(w.asking.Study) {
		res.Asked.Dir = w.asking.Dir
	}
}

// relative reports whether a study names files from where its own is.
func relative(s tare.Study) bool {
	return slices.ContainsFunc(s.Contenders, func(e tare.Entry) bool {
		return e.Program != "" && !filepath.IsAbs(e.Program) || len(e.Command) > 0 ||
			slices.ContainsFunc(e.With, func(with string) bool {
				w, err := build.ParseWith(with, "")
				return err == nil && w.Dir != ""
			})
	}) || slices.ContainsFunc(s.Workloads, func(w tare.Workload) bool { return w.File != "" && !filepath.IsAbs(w.File) })
}

// storedStudy is the study of a result as it was, and what is to be said of it.
func storedStudy(env cmdenv.Env, old *tare.Result) (study cmdenv.Study, said string, err error) {
	switch {
	case old.Asked.Study != "":
		dir := old.Asked.Dir
		if dir == "" {
			dir = "."
		}
		study, err = cmdenv.ParseStudy(filepath.Join(dir, "the study in the result of "+old.Study), []byte(old.Asked.Study))
		return study, "", err
	case slices.Contains(env.Bundled(), old.Study):
		study, err = env.ReadStudy(old.Study)
		return study, "the result does not hold its study: the bundled " + old.Study + " is run as it is today", err
	}
	if hint := toType(old); hint != "" {
		return cmdenv.Study{}, "", cmdenv.Usage("the result of "+old.Study+" does not hold the command that made it", hint)
	}
	return cmdenv.Study{}, "", cmdenv.Usage("the result of "+old.Study+" does not hold its study, and none of that name is bundled", "tare run FILE runs a study; results say since tare kept histories what was asked")
}

// askedOptions are the options a result was asked with.
func askedOptions(old *tare.Result) (o runOptions, err error) {
	o = runOptions{
		rounds: old.Asked.Rounds, slice: old.Asked.Slice, isolation: old.Plan.Isolation, procs: old.Procs, env: old.Env,
		only: lab.Only{Contenders: old.Asked.Contenders, Workloads: old.Asked.Workloads}, release: old.Asked.Go,
	}
	if o.isolation == "" {
		o.isolation = tare.Lockstep
	}
	bad := func(what, text string) error {
		return cmdenv.Usage(fmt.Sprintf("the result was made with %s %q, which cannot be asked for", what, text), "")
	}
	if o.seed, err = strconv.ParseUint(old.Seed, 10, 64); err != nil {
		return o, bad("seed", old.Seed)
	}
	budget := old.Asked.Budget
	if budget == "" { // it says less: quick (40s), full (5m0s), 90s, 8 rounds
		budget, _, _ = strings.Cut(old.Budget, " (")
		if n, ok := strings.CutSuffix(budget, " rounds"); ok {
			if o.rounds, err = strconv.Atoi(n); err != nil || o.rounds < 1 {
				return o, bad("budget", old.Budget)
			}
			budget = "quick"
			if len(old.NotWeighed) == 0 {
				budget = "full"
			}
		}
	}
	switch budget {
	case "quick":
		o.quick = true
	case "full":
	default:
		if o.budget, err = time.ParseDuration(budget); err != nil || o.budget <= 0 {
			return o, bad("budget", budget)
		}
		o.user = true
	}
	if err := cmdenv.CheckPatterns(o.only); err != nil {
		return o, err
	}
	if err := environment(o.env); err != nil {
		return o, err
	}
	if o.release != "" {
		name, ok := studyfile.GoRelease(o.release)
		if !ok {
			return o, bad("Go", o.release)
		}
		o.release = name
	}
	o.with, err = pins(old.Asked.With)
	return o, err
}
