package rerun

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/cmd/tare/internal/cmdenv"
	"github.com/tarebench/tare/cmd/tare/internal/session"
)

// isForeign reports whether the result old was made elsewhere, or was changed since it was made
// here. Such a result may run any program, so it is an error unless --trust is set. dir is the
// directory of the result, and arg the user's name for it.
func isForeign(env cmdenv.Env, o options, old *tare.Result, dir, arg string) (bool, error) {
	d, err := env.Dirs()
	if err != nil {
		return false, err
	}
	isMadeHere, err := session.IsMadeHere(d, old, dir)
	if err != nil || isMadeHere {
		return false, err
	}
	if !o.trust {
		return false, cmdenv.Usage(
			fmt.Sprintf("%s was not made by this data directory, or was changed, imported, or made before tare sealed results; nothing was run", arg),
			"tare rerun --trust lists the commands, programs, environment and modules that it holds, and runs them",
		)
	}
	return true, nil
}

// listForeign prints what a foreign result makes tare run. It quotes the texts, because they are
// untrusted.
func listForeign(env cmdenv.Env, old *tare.Result, entries []tare.Entry) {
	fmt.Fprintf(env.Err, "tare: %q was made elsewhere and is trusted; it runs:\n", old.Study)
	printLine := func(label string, texts ...string) {
		if len(texts) > 0 {
			fmt.Fprintf(env.Err, "  %s: %s\n", label, quotedAll(texts))
		}
	}
	printLine("command of tare", old.Asked.Command...)
	printLine("environment", old.Env...)
	printLine("modules of all", old.Asked.With...)
	if old.Asked.Go != "" {
		printLine("Go of all", old.Asked.Go)
	} else if release := mainRelease(old); release != "" {
		printLine("Go", release)
	}
	for _, e := range entries {
		labelFor := func(part string) string { return part + " of " + strconv.Quote(e.ID) }
		switch e.Launch() {
		case tare.LaunchCommand:
			printLine(labelFor("command"), e.Command...)
			for _, name := range slices.Sorted(maps.Keys(e.Files)) {
				printLine(labelFor("file"), name, e.Files[name])
			}
		case tare.LaunchURL:
			printLine(labelFor("address"), e.URL)
		default:
			if e.Program != "" {
				printLine(labelFor("program"), e.Program)
			} else {
				printLine(labelFor("contender"), e.Leaf())
			}
		}
		printLine(labelFor("modules"), e.With...)
		if e.Go != "" {
			printLine(labelFor("Go"), e.Go)
		}
		for _, key := range slices.Sorted(maps.Keys(e.Set)) {
			printLine(labelFor("setting"), key, e.Set[key])
		}
	}
	for _, c := range old.Contenders {
		var linked []string
		for _, m := range c.Modules {
			linked = append(linked, m.Path+"@"+m.Version)
		}
		printLine("modules linked into "+strconv.Quote(c.ID)+" then", linked...)
	}
}

func quotedAll(texts []string) string {
	quoted := make([]string, len(texts))
	for i, text := range texts {
		quoted[i] = strconv.Quote(text)
	}
	return strings.Join(quoted, " ")
}
