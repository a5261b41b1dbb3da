package history

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/lab"
)

// Query selects a part of a study's history. Only Study is needed.
type Query struct {
	Study      string
	Contenders []string // patterns as in lab.Match; if there are none, all that compete
	Workloads  []string // likewise
	Metric     string   // "" means the primary one of the newest run
	Against    string   // id; "" means the baseline of the newest run
	Last       int      // newest runs of each machine; 0 means all
}

// Trend contains the ratios of a study from run to run. Runs of different machines are never in one
// series.
type Trend struct {
	Study    string    `json:"study"`
	Metric   string    `json:"metric"`
	Against  string    `json:"against"` // reference of every ratio
	Machines []Machine `json:"machines"`
	Left     []string  `json:"left_out,omitempty"` // results that could not be read, a line each
}

// Machine contains the runs of one machine. The one that ran last comes first.
type Machine struct {
	Name   string     `json:"machine"`
	Runs   []TrendRun `json:"runs"`   // the oldest first
	Series []Series   `json:"series"` // in the order of the newest run

	// Between measures how ratios differ from run to run beyond their intervals, as a standard
	// deviation on the logarithmic scale. Known is false if there are too few runs for it; changes
	// are then read off intervals only.
	Between float64 `json:"between"`
	Known   bool    `json:"between_known"`

	Left []tare.NotWeighed `json:"not_weighed,omitempty"` // entries that the newest run skipped
}

// Level is the range of a level of a series: low and high are the same, unless it varies.
type Level struct {
	Low  float64 `json:"low"`
	High float64 `json:"high"`
}

// TrendRun is a run in a trend.
type TrendRun struct {
	Started time.Time `json:"started"`
	Path    string    `json:"path"` // of its directory
	Seed    string    `json:"seed"`
	Rounds  int       `json:"rounds_done"`
	Stopped string    `json:"stopped"`
	Tare    string    `json:"tare,omitempty"`
	Stale   []string  `json:"stale,omitempty"` // differences from the newest, a line each

	digest *tare.Result
	id     int64
	stale  map[string]bool // contenders that differ; "" means all
}

// Stored is a result in an index.
type Stored struct {
	ID      int64
	Path    string    // of the run's directory
	Started time.Time // zero if that is not known
	Digest  *tare.Result
}

// Series is one contender on one workload, from run to run.
type Series struct {
	Workload  string   `json:"workload"`
	Contender string   `json:"contender"`
	Points    []*Point `json:"points"` // one for each run; null if the run has no such pair
	Last      *Point   `json:"last"`   // newest that is not void; null if there is none
	Before    *Point   `json:"before"` // the newest before that on the same input, one with an interval if there is one; null if there is none
	Change    Change   `json:"change"`
	Steps     []int    `json:"steps,omitempty"`   // runs from which on the ratio differs, as indexes of the machine's runs
	Fresh     bool     `json:"fresh,omitempty"`   // the newest step is one of the last three runs
	Was       Level    `json:"was,omitzero"`      // before the newest step: ratios, or counts if they are compared
	Now       Level    `json:"now,omitzero"`      // since the newest step, or since the first run; ratios only if there is a step
	Counted   bool     `json:"counted,omitempty"` // counts are compared, not ratios
	Missing   string   `json:"missing,omitempty"` // why the newest run does not have it; "" if it has
	Low       float64  `json:"expected_low"`      // range in which the last was expected, by the runs before it that are alike; 0, as High, if not known
	High      float64  `json:"expected_high"`
}

// Point is a ratio in a run.
type Point struct {
	Run   int     `json:"run"` // index of the machine's runs
	Ratio float64 `json:"ratio"`
	Low   float64 `json:"low"` // 0, as High, if there are too few rounds for an interval
	High  float64 `json:"high"`
	Level float64 `json:"level"`
	Void  bool    `json:"void,omitempty"`
	Stale bool    `json:"stale,omitempty"`       // the contender, the reference or the machine differ from the newest run's
	Other bool    `json:"other_input,omitempty"` // the workload has another input than in the newest run, or the ratio is to another revision
	Count *Count  `json:"count,omitempty"`       // of a metric that counts
}

// Bounded reports whether the point has an interval.
func (p Point) Bounded() bool { return p.Low > 0 && p.High > 0 }

// Change is the verdict on a series.
type Change string

// Changes.
const (
	First    Change = "first"     // there is nothing to compare the last with
	Changed  Change = "changed"   // the runs have a step: the newest is one from Was to Now; if it is not known how runs differ, intervals of neighbours that do not overlap are one
	NotShown Change = "not shown" // neither
	Unknown  Change = "unknown"   // a side has no interval
)

// newChange reports whether the last point can be compared with the one before.
func newChange(last, before *Point) Change {
	switch {
	case last == nil || before == nil:
		return First
	case !last.Bounded() || !before.Bounded():
		return Unknown
	}
	return NotShown
}

// Pairs returns the comparisons of a stored result with one contender.
type Pairs func(id int64, metric, against string) ([]Pair, error)

// NewTrend returns the history of a study by its stored results, the oldest first. It is empty if
// there are none; the caller finds an unknown metric, contender or workload.
func NewTrend(q Query, stored []Stored, pairs Pairs) (Trend, error) {
	t := Trend{Study: q.Study, Metric: q.Metric, Against: q.Against, Machines: []Machine{}}
	if len(stored) == 0 {
		return t, nil
	}
	var runs []TrendRun
	for _, s := range stored {
		d := s.Digest
		runs = append(runs, TrendRun{Started: s.Started, Path: s.Path, Seed: d.Seed, Rounds: d.RoundsDone, Stopped: d.Stopped, Tare: d.Tare, digest: d, id: s.ID})
	}
	newest := runs[len(runs)-1].digest
	if t.Metric == "" && len(newest.Metrics) > 0 {
		t.Metric = newest.Metrics[0]
	}
	t.Against = cmp.Or(t.Against, newest.Baseline())
	var order []string
	by := map[string][]TrendRun{}
	for _, r := range slices.Backward(runs) {
		name := machineName(r.digest.Machine)
		if _, ok := by[name]; !ok {
			order = append(order, name)
		}
		if q.Last == 0 || len(by[name]) < q.Last {
			by[name] = append(by[name], r)
		}
	}
	for _, name := range order {
		m := Machine{Name: name, Runs: by[name], Series: []Series{}}
		slices.Reverse(m.Runs)
		markStale(m.Runs)
		if err := m.addSeries(q, t, pairs); err != nil {
			return t, err
		}
		t.Machines = append(t.Machines, m)
	}
	return t, nil
}

// machineName returns a name by which machines differ: properties that results depend on and that
// an update does not change.
func machineName(m tare.Machine) string {
	memory := ""
	if m.Memory > 0 {
		memory = fmt.Sprintf(", %d GiB", (m.Memory+1<<29)>>30)
	}
	cores := "1 core"
	if m.Cores != 1 {
		cores = fmt.Sprintf("%d cores", m.Cores)
	}
	return fmt.Sprintf("%s (%s/%s, %s%s)", cmp.Or(m.CPU, "a processor without a name"), m.OS, m.Arch, cores, memory)
}

// addSeries gets the points of a machine's runs.
func (m *Machine) addSeries(q Query, t Trend, ask Pairs) error {
	at := map[[2]string]int{}
	newest := m.Runs[len(m.Runs)-1].digest
	for i, run := range slices.Backward(m.Runs) { // the newest run gives the order
		pairs, err := ask(run.id, t.Metric, t.Against)
		if err != nil {
			return err
		}
		for _, p := range pairs {
			if !isSelected(q, run.digest, p) {
				continue
			}
			key := [2]string{p.Workload, p.Contender}
			k, ok := at[key]
			if !ok {
				k = len(m.Series)
				at[key] = k
				m.Series = append(m.Series, Series{Workload: p.Workload, Contender: p.Contender, Points: make([]*Point, len(m.Runs))})
			}
			m.Series[k].Points[i] = &Point{
				Run: i, Ratio: p.Ratio, Low: p.Low, High: p.High, Level: p.Level, Void: p.Void,
				Stale: run.stale[""] || run.stale[p.Contender] || run.stale[t.Against],
				Other: otherInput(newest, run.digest, p.Workload) || otherReference(newest, run.digest, t.Against),
				Count: p.Count,
			}
		}
	}
	slices.SortStableFunc(m.Series, func(a, b Series) int {
		return cmp.Or(
			cmp.Compare(placeOf(newest.Workloads, func(w tare.Workload) bool { return w.ID == a.Workload }), placeOf(newest.Workloads, func(w tare.Workload) bool { return w.ID == b.Workload })),
			strings.Compare(a.Workload, b.Workload),
			cmp.Compare(placeOf(newest.Contenders, func(c tare.Contender) bool { return c.ID == a.Contender }), placeOf(newest.Contenders, func(c tare.Contender) bool { return c.ID == b.Contender })),
			strings.Compare(a.Contender, b.Contender))
	})
	for i := range m.Series {
		s := &m.Series[i]
		for _, p := range slices.Backward(s.Points) {
			switch {
			case p == nil || p.Void:
			case s.Last == nil:
				s.Last = p
			case p.Other != s.Last.Other:
			case s.Before == nil || !s.Before.Bounded() && p.Bounded():
				s.Before = p
			}
		}
		s.Change, s.Missing = newChange(s.Last, s.Before), whyMissing(newest, *s, len(m.Runs)-1)
	}
	m.Left = newest.NotWeighed
	m.findLevels()
	return nil
}

// isSelected reports whether the query selects a pair. Without contenders it selects those that
// compete: not the control, no traps.
func isSelected(q Query, r *tare.Result, p Pair) bool {
	match := func(patterns []string, name string) bool {
		return slices.ContainsFunc(patterns, func(pattern string) bool {
			ok, err := lab.Match(pattern, name)
			return ok && err == nil
		})
	}
	if len(q.Workloads) > 0 && !match(q.Workloads, p.Workload) || p.Contender == p.Against {
		return false
	}
	if len(q.Contenders) > 0 {
		return match(q.Contenders, p.Contender)
	}
	return slices.ContainsFunc(r.Contenders, func(c tare.Contender) bool {
		return c.ID == p.Contender && (c.Role == tare.RoleContender || c.Role == tare.RoleApart || c.Role == tare.RoleBaseline)
	})
}

// placeOf returns the index of the first element for which is returns true; the length of the list
// if there is none.
func placeOf[T any](list []T, is func(T) bool) int {
	if i := slices.IndexFunc(list, is); i >= 0 {
		return i
	}
	return len(list)
}
