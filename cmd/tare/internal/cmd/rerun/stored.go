package rerun

import (
	"cmp"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/cmd/tare/internal/cmdenv"
	"github.com/tarebench/tare/cmd/tare/internal/session"
	"github.com/tarebench/tare/cmd/tare/internal/studyfile"
	"github.com/tarebench/tare/lab"
)

// This file reads from a result what was measured: the study and the options.

// storedStudy returns the study of a result, from the text in it. An older result has only the name
// of a bundled study. Then note warns the user that this may have changed.
func storedStudy(env cmdenv.Env, old *tare.Result) (study cmdenv.Study, note string, err error) {
	switch {
	case old.Asked.Study != "":
		dir := cmp.Or(old.Asked.Dir, ".")
		study, err = cmdenv.ParseStudy(filepath.Join(dir, "the study in the result of "+old.Study), []byte(old.Asked.Study))
		return study, "", err
	case slices.Contains(env.Bundled(), old.Study):
		study, err = env.ReadStudy(old.Study)
		return study, "the result does not hold its study: the bundled " + old.Study + " is run as it is today", err
	}
	if hint := suggestCommand(old); hint != "" {
		return cmdenv.Study{}, "", cmdenv.Usage("the result of "+old.Study+" does not hold the command that made it", hint)
	}
	return cmdenv.Study{}, "", cmdenv.Usage("the result of "+old.Study+" does not hold its study, and none of that name is bundled", "tare run FILE runs a study; results say since tare kept histories what was asked")
}

// originalOptions returns the options with which a result was measured. It rejects values that the
// flags of tare run reject: anyone may have written the result.
func originalOptions(old *tare.Result) (o session.Options, err error) {
	o = session.Options{Release: old.Asked.Go, Measuring: lab.Measuring{
		Rounds: old.Asked.Rounds, Until: old.Plan.Until, Slice: old.Asked.Slice, Isolation: old.Plan.Isolation, Procs: old.Procs, Env: old.Env,
		Only: lab.Only{Contenders: old.Asked.Contenders, Workloads: old.Asked.Workloads},
	}}
	if o.Isolation == "" {
		o.Isolation = tare.Lockstep
	}
	if o.Seed, err = strconv.ParseUint(old.Seed, 10, 64); err != nil {
		return o, invalidError("seed", old.Seed)
	}
	budget := old.Asked.Budget
	if budget == "" {
		if budget, o.Rounds, err = parseDescribedBudget(old); err != nil {
			return o, err
		}
	}
	switch budget {
	case "quick":
		o.Quick = true
	case "full": // o.Quick is false and o.Budget is 0
	default:
		if o.Budget, err = time.ParseDuration(budget); err != nil || o.Budget <= 0 {
			return o, invalidError("budget", budget)
		}
		o.User = true // the user has set the budget
	}
	if err := cmdenv.CheckPatterns(o.Only); err != nil {
		return o, err
	}
	if err := session.CheckEnvironment(o.Env); err != nil {
		return o, err
	}
	if o.Release != "" {
		name, ok := studyfile.GoRelease(o.Release)
		if !ok {
			return o, invalidError("Go", o.Release)
		}
		o.Release = name
	}
	o.With, err = session.ParsePins(old.Asked.With)
	return o, err
}

// parseDescribedBudget parses the budget of an older result: "quick (40s)", "full (5m0s)", "90s", or "8
// rounds".
func parseDescribedBudget(old *tare.Result) (budget string, rounds int, err error) {
	budget, _, _ = strings.Cut(old.Budget, " (")
	n, isRounds := strings.CutSuffix(budget, " rounds")
	if !isRounds {
		return budget, 0, nil
	}
	if rounds, err = strconv.Atoi(n); err != nil || rounds < 1 {
		return "", 0, invalidError("budget", old.Budget)
	}
	if len(old.NotWeighed) == 0 {
		return "full", rounds, nil
	}
	return "quick", rounds, nil // unlike a full run, it skipped parts of the study
}

// invalidError rejects a value with which no command can have made a result.
func invalidError(name, value string) error {
	return cmdenv.Usage(fmt.Sprintf("the result was made with %s %q, which cannot be requested", name, value), "")
}
