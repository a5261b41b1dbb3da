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

// isForeign reports whether a result comes from elsewhere, which is an error without --trust.
func isForeign(env cmdenv.Env, o options, old *tare.Result, dir, arg string) (bool, error) {
	d, err := env.Dirs()
	if err != nil {
		return false, err
	}
	made, err := session.MadeHere(d, old, dir)
	if err != nil || made {
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

// listForeign lists everything that a result makes tare run, before it does. It quotes the
// texts, because they are untrusted.
func listForeign(env cmdenv.Env, old *tare.Result, entries []tare.Entry) {
	fmt.Fprintf(env.Err, "tare: %q was made elsewhere and is trusted; it runs:\n", old.Study)
	line := func(what string, texts ...string) {
		if len(texts) > 0 {
			fmt.Fprintf(env.Err, "  %s: %s\n", what, quotedAll(texts))
		}
	}
	line("command of tare", old.Asked.Command...)
	line("environment", old.Env...)
	line("modules of all", old.Asked.With...)
	if old.Asked.Go != "" {
		line("Go of all", old.Asked.Go)
	} else if release := mainRelease(old); release != "" {
		line("Go", release)
	}
	for _, e := range entries {
		of := func(what string) string { return what + " of " + strconv.Quote(e.ID) }
		switch e.Launch() {
		case tare.LaunchCommand:
			line(of("command"), e.Command...)
			for _, name := range slices.Sorted(maps.Keys(e.Files)) {
				line(of("file"), name, e.Files[name])
			}
		case tare.LaunchURL:
			line(of("address"), e.URL)
		default:
			if e.Program != "" {
				line(of("program"), e.Program)
			} else {
				line(of("contender"), e.Leaf())
			}
		}
		line(of("modules"), e.With...)
		if e.Go != "" {
			line(of("Go"), e.Go)
		}
		for _, key := range slices.Sorted(maps.Keys(e.Set)) {
			line(of("setting"), key, e.Set[key])
		}
	}
	for _, c := range old.Contenders {
		var linked []string
		for _, m := range c.Modules {
			linked = append(linked, m.Path+"@"+m.Version)
		}
		line("modules linked into "+strconv.Quote(c.ID)+" then", linked...)
	}
}

func quotedAll(texts []string) string {
	quoted := make([]string, len(texts))
	for i, text := range texts {
		quoted[i] = strconv.Quote(text)
	}
	return strings.Join(quoted, " ")
}
