// Package list implements tare list: it lists studies, contenders, checks and metrics.
package list

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/cmd/tare/internal/cmdenv"
	"github.com/tarebench/tare/internal/check"
	"github.com/tarebench/tare/report"
)

// lists holds the requested lists; others are nil.
type lists struct {
	Studies    *[]studyRow         `json:"studies,omitempty"`
	Contenders *[]cmdenv.Contender `json:"contenders,omitempty"`
	Checks     *[]checkRow         `json:"checks,omitempty"`
	Metrics    *[]metricRow        `json:"metrics,omitempty"`
}

type studyRow struct {
	ID         string   `json:"study"`
	Question   string   `json:"question"`
	Kinds      []string `json:"kinds"`
	Contenders int      `json:"contenders"`
	Workloads  int      `json:"workloads"`
	Claims     int      `json:"claims"`
}

type checkRow struct {
	ID       string        `json:"check"`
	Severity tare.Severity `json:"severity"`
	Summary  string        `json:"summary"`
}

type metricRow struct {
	Name      string         `json:"metric"`
	Key       string         `json:"key"`
	Unit      string         `json:"unit"`
	Direction tare.Direction `json:"better"`
	Doc       string         `json:"doc"`
}

// sectionNames returns the names of the lists.
func sectionNames() []string { return []string{"studies", "contenders", "checks", "metrics"} }

// Command returns tare list.
func Command(env cmdenv.Env) *cobra.Command {
	var asJSON bool
	var dir string
	cmd := &cobra.Command{
		Use:   "list [studies|contenders|checks|metrics]",
		Short: "List what there is: studies, contenders, checks, metrics",
		Example: `  tare list
  tare list studies
  tare list contenders --json`,
		Args:      cmdenv.AtMost(1),
		ValidArgs: sectionNames(),
		RunE: func(_ *cobra.Command, args []string) error {
			if len(args) == 1 && !slices.Contains(sectionNames(), args[0]) {
				return cmdenv.Unknown("list", args[0], sectionNames(), "one of "+strings.Join(sectionNames(), ", "))
			}
			want := func(section string) bool { return len(args) == 0 || args[0] == section }
			l, err := collectLists(env, want, dir)
			if err != nil {
				return err
			}
			if asJSON {
				return cmdenv.PrintJSON(env.Out, l)
			}
			return l.writeTables(env.Out, env, len(args) == 0)
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	cmd.Flags().StringVar(&dir, "catalog", "", "`directory` of contenders; default: the repository's, else the built-in ones")
	return cmd
}

// collectLists collects the wanted sections.
func collectLists(env cmdenv.Env, want func(section string) bool, catalogDir string) (lists, error) {
	var l lists
	if want("studies") {
		l.Studies = &[]studyRow{}
		for _, name := range env.Bundled() {
			st, err := env.ReadStudy(name)
			if err != nil {
				return l, err
			}
			*l.Studies = append(*l.Studies, studyRow{st.ID, st.Question, []string{string(st.Kind)}, len(st.Contenders), len(st.Workloads), len(st.Claims)})
		}
	}
	if want("contenders") {
		l.Contenders = &[]cmdenv.Contender{}
		rows, err := env.Contenders(catalogDir)
		if err != nil {
			return l, err
		}
		*l.Contenders = append(*l.Contenders, rows...)
	}
	if want("checks") {
		l.Checks = &[]checkRow{}
		for _, c := range check.All() {
			*l.Checks = append(*l.Checks, checkRow{c.ID, c.Severity, c.Summary})
		}
	}
	if want("metrics") {
		l.Metrics = &[]metricRow{}
		for _, m := range tare.Metrics() {
			*l.Metrics = append(*l.Metrics, metricRow{m.Name, m.Key, m.Unit, m.Direction, m.Doc})
		}
	}
	return l, nil
}

func (l lists) writeTables(w io.Writer, s cmdenv.Env, titled bool) error {
	l = report.LegibleAll(l) // texts of contenders are untrusted
	st := s.Style(s.Out)
	first := true
	table := func(title, head string, rows func(io.Writer)) error {
		if titled {
			if !first {
				fmt.Fprintln(w)
			}
			first = false
			fmt.Fprintln(w, cmdenv.Paint(st.Bold, title))
		}
		tw := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
		fmt.Fprintln(tw, head)
		rows(tw)
		return tw.Flush()
	}
	if l.Studies != nil {
		if err := table("Studies", "study\tcontenders\tclaims\tquestion", func(w io.Writer) {
			for _, r := range *l.Studies {
				fmt.Fprintf(w, "%s\t%d\t%d\t%s\n", r.ID, r.Contenders, r.Claims, r.Question)
			}
		}); err != nil {
			return err
		}
	}
	if l.Contenders != nil {
		if err := table("Contenders († repeats a published mistake)", "contender\tkind\twhat it is", func(w io.Writer) {
			for _, r := range *l.Contenders {
				why := r.Why
				if r.Unmaintained != "" {
					why += " (unmaintained)"
				}
				fmt.Fprintf(w, "%s\t%s\t%s\n", r.ID+cmdenv.Dagger(r.Trap), r.Kind, why)
			}
		}); err != nil {
			return err
		}
	}
	if l.Checks != nil {
		if err := table("Checks", "check\tseverity\twhat it sees", func(w io.Writer) {
			for _, r := range *l.Checks {
				fmt.Fprintf(w, "%s\t%s\t%s\n", r.ID, r.Severity, firstSentence(r.Summary))
			}
		}); err != nil {
			return err
		}
	}
	if l.Metrics != nil {
		return table("Metrics", "metric\tunit\tbetter\twhat it is", func(w io.Writer) {
			for _, r := range *l.Metrics {
				fmt.Fprintf(w, "%s\t%s\t%s\t%s\n", r.Name, r.Unit, r.Direction, r.Doc)
			}
		})
	}
	return nil
}

// firstSentence returns the first sentence of text; tare explain shows the rest.
func firstSentence(text string) string {
	first, _, more := strings.Cut(text, ". ")
	if more {
		first += "."
	}
	return first
}
