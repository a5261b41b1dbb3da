// Package list implements tare list. It lists the bundled studies, the programs of the catalog, the
// checks of measurements, and the metrics.
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

// lists contains the requested lists. The others are nil. The fields are pointers, so that an empty
// requested list is [] in JSON and not omitted.
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
	Claims     int      `json:"claims"` // published statements that the study tests
}

// checkRow is a check of measured values.
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

// sectionNames returns the names of the lists, which are the possible arguments.
func sectionNames() []string { return []string{"studies", "contenders", "checks", "metrics"} }

// Command returns tare list.
func Command(env cmdenv.Env) *cobra.Command {
	var asJSON bool
	var dir string
	cmd := &cobra.Command{
		Use:   "list [studies|contenders|checks|metrics]",
		Short: "List studies, contenders, checks and metrics",
		Example: `  tare list
  tare list studies
  tare list contenders --json`,
		Args:      cmdenv.AtMost(1),
		ValidArgs: sectionNames(),
		RunE: func(_ *cobra.Command, args []string) error {
			if len(args) == 1 && !slices.Contains(sectionNames(), args[0]) {
				return cmdenv.Unknown("list", args[0], sectionNames(), "one of "+strings.Join(sectionNames(), ", "))
			}
			isWanted := func(section string) bool { return len(args) == 0 || args[0] == section }
			l, err := collectLists(env, isWanted, dir)
			if err != nil {
				return err
			}
			if asJSON {
				return cmdenv.PrintJSON(env.Out, l)
			}
			hasTitles := len(args) == 0
			return l.writeTables(env.Out, env.Style(env.Out), hasTitles)
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	cmd.Flags().StringVar(&dir, "catalog", "", "`directory` of contenders; default: the repository's, else the built-in ones")
	return cmd
}

func collectLists(env cmdenv.Env, isWanted func(section string) bool, catalogDir string) (lists, error) {
	var l lists
	if isWanted("studies") {
		l.Studies = &[]studyRow{}
		for _, name := range env.Bundled() {
			st, err := env.ReadStudy(name)
			if err != nil {
				return l, err
			}
			*l.Studies = append(*l.Studies, studyRow{
				ID: st.ID, Question: st.Question, Kinds: []string{string(st.Kind)},
				Contenders: len(st.Contenders), Workloads: len(st.Workloads), Claims: len(st.Claims),
			})
		}
	}
	if isWanted("contenders") {
		l.Contenders = &[]cmdenv.Contender{}
		rows, err := env.Contenders(catalogDir)
		if err != nil {
			return l, err
		}
		*l.Contenders = append(*l.Contenders, rows...)
	}
	if isWanted("checks") {
		l.Checks = &[]checkRow{}
		for _, c := range check.All() {
			*l.Checks = append(*l.Checks, checkRow{ID: c.ID, Severity: c.Severity, Summary: c.Summary})
		}
	}
	if isWanted("metrics") {
		l.Metrics = &[]metricRow{}
		for _, m := range tare.Metrics() {
			*l.Metrics = append(*l.Metrics, metricRow{Name: m.Name, Key: m.Key, Unit: m.Unit, Direction: m.Direction, Doc: m.Doc})
		}
	}
	return l, nil
}

func (l lists) writeTables(w io.Writer, st report.Style, hasTitles bool) error {
	l = report.LegibleAll(l) // texts of contenders are untrusted
	var tables []textTable
	if l.Studies != nil {
		t := textTable{title: "Studies", head: "study\tcontenders\tclaims\tquestion"}
		for _, r := range *l.Studies {
			t.addRow("%s\t%d\t%d\t%s", r.ID, r.Contenders, r.Claims, r.Question)
		}
		tables = append(tables, t)
	}
	if l.Contenders != nil {
		t := textTable{title: "Contenders († repeats a published mistake)", head: "contender\tkind\twhat it is"}
		for _, r := range *l.Contenders {
			why := r.Why
			if r.Unmaintained != "" {
				why += " (unmaintained)"
			}
			t.addRow("%s\t%s\t%s", r.ID+cmdenv.Dagger(r.Trap), r.Kind, why)
		}
		tables = append(tables, t)
	}
	if l.Checks != nil {
		t := textTable{title: "Checks", head: "check\tseverity\twhat it sees"}
		for _, r := range *l.Checks {
			t.addRow("%s\t%s\t%s", r.ID, r.Severity, firstSentence(r.Summary))
		}
		tables = append(tables, t)
	}
	if l.Metrics != nil {
		t := textTable{title: "Metrics", head: "metric\tunit\tbetter\twhat it is"}
		for _, r := range *l.Metrics {
			t.addRow("%s\t%s\t%s\t%s", r.Name, r.Unit, r.Direction, r.Doc)
		}
		tables = append(tables, t)
	}
	for i, t := range tables {
		if hasTitles && i > 0 {
			fmt.Fprintln(w)
		}
		if hasTitles {
			fmt.Fprintln(w, cmdenv.Paint(st.Bold, t.title))
		}
		tw := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
		fmt.Fprintf(tw, "%s\n%s", t.head, t.rows)
		if err := tw.Flush(); err != nil {
			return err
		}
	}
	return nil
}

type textTable struct {
	title, head string
	rows        string // one line for each row
}

// addRow adds a row. format has its columns with tabs between them.
func (t *textTable) addRow(format string, args ...any) { t.rows += fmt.Sprintf(format+"\n", args...) }

// firstSentence returns the first sentence of text; tare explain shows the rest.
func firstSentence(text string) string {
	first, _, more := strings.Cut(text, ". ")
	if more {
		first += "."
	}
	return first
}
