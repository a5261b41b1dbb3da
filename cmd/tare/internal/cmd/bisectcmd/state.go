package bisectcmd

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/cmd/tare/internal/benchstudy/bisect"
	"github.com/tarebench/tare/cmd/tare/internal/cmdenv"
	"github.com/tarebench/tare/internal/format"
	"github.com/tarebench/tare/kinds/gobench"
	"github.com/tarebench/tare/stats"
)

// This file stores the state of a search, so that a later call of tare bisect continues it. It also
// prints the search: which commits were compared, and which is the first bad one.

// schema is the format of a stored search. Changes are additive.
const schema = "tare.bisect/1"

// state is a search, as stored in a file and printed.
type state struct {
	Schema   string          `json:"schema"`
	Settings []string        `json:"asked"` // flags and environment on which measurements depend
	Good     string          `json:"good"`  // commit without the effect
	Bad      string          `json:"bad"`   // commit with the effect
	Quantity bisect.Quantity `json:"of"`    // benchmark and metric
	Name     string          `json:"name"`  // benchmark without its package
	Base     float64         `json:"base"`  // count of the good revision; 0 if none was needed
	Search   bisect.Search   `json:"search"`
	Seconds  float64         `json:"seconds"` // measuring time so far

	typed cmdenv.Command // the user's command, for hints
}

func newState(o options, h commitRange) *state {
	s := &state{Schema: schema, Good: h.good.Commit, Bad: h.bad.Commit}
	s.Settings = append([]string{
		h.repo.Root, h.repo.Prefix, o.bench, o.metric, fmt.Sprint(o.firstParent, o.effect, o.fixed, o.bound, o.maxTime, o.procs),
		os.Getenv("GOFLAGS"), os.Getenv("GOTOOLCHAIN"),
	}, o.packages...)
	s.Search = bisect.Search{Plan: bisect.Plan{ErrorBound: o.bound, Commits: len(h.commits), MaxRounds: stats.MaxRounds}, FixedEdge: o.fixed}
	for _, c := range h.commits {
		s.Search.History = append(s.Search.History, bisect.Commit{ID: c.ID, Parents: c.Parents, Author: c.Author, Time: c.Time, Subject: c.Subject})
	}
	return s
}

func (s *state) hashKey() string {
	sum := sha256.Sum256([]byte(strings.Join(append([]string{s.Good, s.Bad}, s.Settings...), "\x00")))
	return hex.EncodeToString(sum[:16])
}

// loadState returns the search stored at path, or fresh if the file does not exist. A damaged file
// or one of another search is an error: only --restart may replace hours of measuring.
func loadState(path string, fresh *state) (*state, error) {
	text, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return fresh, nil
	}
	if err != nil {
		return nil, fmt.Errorf("cannot read the search in %s: %w", path, cmdenv.Cause(err))
	}
	stored := &state{}
	err = json.Unmarshal(text, stored)
	isComplete := stored.Schema == schema && stored.Quantity.Benchmark != ""
	if err != nil || !isComplete || stored.hashKey() != fresh.hashKey() {
		return nil, cmdenv.Usage(path+" is no search of this version of tare, or damaged", "--restart begins it again")
	}
	return stored, nil
}

func (s *state) saveTo(path string) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return fmt.Errorf("keep the search: %w", err)
	}
	out, err := cmdenv.OpenOutput(path)
	if err != nil {
		return err
	}
	defer out.Close()
	return out.Save(func(f io.Writer) error { return cmdenv.PrintJSON(f, s) })
}

func (s *state) countDone() int {
	n := 0
	for _, t := range s.Search.Tests {
		if t.Verdict != "" {
			n++
		}
	}
	return n
}

// countRemaining returns the number of remaining comparisons if no commit is skipped. The comparison
// of the bad revision is done already.
func (s *state) countRemaining() int {
	return bisect.Plan{Commits: len(s.Search.Suspects())}.Comparisons() - 1
}

func (s *state) exitCode() int {
	switch first := s.Search.Tests[0]; { // compares the bad revision
	case first.Verdict == bisect.Good:
		return cmdenv.ExitNotMet
	case len(s.Search.Suspects()) == 1:
		return cmdenv.ExitOK
	}
	return cmdenv.ExitInconclusive
}

func (s *state) toDocument() any {
	found := []string{}
	for _, c := range s.Search.Suspects() {
		found = append(found, c.ID)
	}
	return struct {
		*state
		Edge     float64  `json:"edge"`  // threshold that the effect of a commit is compared with
		Found    []string `json:"found"` // commits of which one is the first bad commit
		Sentence string   `json:"sentence"`
	}{s, s.Search.Edge(), found, s.formatSentence()}
}

func (s *state) formatSentence() string {
	first := s.Search.Tests[0]
	found := s.Search.Suspects()
	switch {
	case first.Verdict == bisect.Good:
		return fmt.Sprintf("%s does not show the effect: %s.", shortID(s.Bad), s.formatChange(first))
	case first.Verdict == bisect.Skipped:
		return fmt.Sprintf("%s cannot be compared: %s.", shortID(s.Bad), first.Why)
	case first.Verdict == bisect.Open:
		return fmt.Sprintf("It cannot be decided whether %s shows the effect: %s. A longer --max may.", shortID(s.Bad), s.formatChange(first))
	case len(found) == 1:
		return fmt.Sprintf("%s is the first commit that shows it: %s (%s, %s).", shortID(found[0].ID), found[0].Subject, found[0].Author, found[0].Time.Format("2006-01-02"))
	}
	return fmt.Sprintf("One of %d commits is the first that shows it: the others were passed over.", len(found))
}

func (s *state) describeBad() string {
	return fmt.Sprintf("%s shows it: %s", shortID(s.Bad), s.formatChange(s.Search.Tests[0]))
}

// formatChange returns the change of a commit from the good revision, with its interval: a ratio of
// times or a difference of counts.
func (s *state) formatChange(t bisect.Test) string {
	if len(t.Effects) == 0 {
		return "-"
	}
	sign := s.Quantity.Sign // 1 if more is bad, -1 if less is bad; stored effects are positive if bad
	low, high := sign*t.Low, sign*t.High
	if low > high {
		low, high = high, low
	}
	if !s.Quantity.IsDifference() { // effects are logarithms of ratios
		if low == high {
			return format.Factor(math.Exp(sign*t.Estimate)) + " the time"
		}
		return format.Within(math.Exp(sign*t.Estimate), math.Exp(low), math.Exp(high)) + " the time"
	}
	text := fmt.Sprintf("%+.4g %s", sign*t.Estimate, tare.MetricFor(s.Quantity.Metric).Unit)
	if low != high {
		text += fmt.Sprintf(" (%+.4g to %+.4g)", low, high)
	}
	return text
}

func (s *state) tableRow(t bisect.Test) []string {
	subject := ""
	for _, c := range s.Search.History {
		if c.ID == t.Commit {
			subject = format.Line(c.Subject, 50)
		}
	}
	change := s.formatChange(t)
	if t.Verdict == bisect.Skipped {
		change = format.Line(t.Why, 60)
	}
	return []string{shortID(t.Commit), string(t.Verdict), change, fmt.Sprint(len(t.Effects)), subject}
}

func (s *state) writeText(w io.Writer) error {
	fmt.Fprintf(w, "%s\n\n%s, %s against %s:\n\n", s.formatSentence(), s.Quantity.Benchmark, s.Quantity.Metric, shortID(s.Good))
	tw := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(tw, "commit\tis\ttakes\trounds\tsubject")
	for _, c := range slices.Backward(s.Search.History) {
		for _, t := range s.Search.Tests {
			if t.Commit == c.ID {
				fmt.Fprintln(tw, strings.Join(s.tableRow(t), "\t"))
			}
		}
	}
	if err := tw.Flush(); err != nil {
		return err
	}
	found := s.Search.Suspects()
	if len(found) > 1 {
		fmt.Fprintln(w, "\nThe first may be any of:")
		for _, c := range slices.Backward(found) {
			fmt.Fprintf(w, "  %s %s\n", shortID(c.ID), format.Line(c.Subject, 70))
		}
	}
	fmt.Fprintf(w, "\n%s, %.0f s of measuring; any of them is wrong with a chance of at most %s.\n", format.Count(s.countDone(), "comparison"), s.Seconds, format.Percent(s.Search.Plan.ErrorBound))
	if len(found) == 1 && len(found[0].Parents) > 0 {
		explain := cmdenv.NewCommand("tare bench", packageOf(s.Quantity.Benchmark)...).Set("base", shortID(found[0].Parents[0])).Set("head", shortID(found[0].ID)).
			Set("bench", gobench.Exactly(s.Name)).WithFlagsOf(s.typed, "procs", "seed", "no-lock").SetPlain("profile")
		_, err := fmt.Fprintln(w, "Why: "+explain.String())
		return err
	}
	return nil
}

// packageOf returns the package in import/path.BenchmarkName as arguments of tare bench, or nil if
// it is unknown.
func packageOf(benchmark string) []string {
	pkg, _, ok := strings.Cut(benchmark, ".Benchmark")
	if !ok {
		return nil
	}
	return []string{strings.TrimSuffix(pkg, "_test")}
}
