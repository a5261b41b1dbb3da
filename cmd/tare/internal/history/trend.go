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

// Query selects a part of a study's history. Only Study is required.
type Query struct {
	Study      string
	Contenders []string // patterns as in lab.Match; none selects all that compete
	Workloads  []string // patterns as in lab.Match; none selects all
	Metric     string   // "" means the first metric of the newest run
	Against    string   // id of the reference; "" means the baseline of the newest run
	Last       int      // number of newest runs of each machine; 0 means all
}

// Trend contains the ratios of a study from run to run. A series never mixes runs of different
// machines.
type Trend struct {
	Study      string    `json:"study"`
	Metric     string    `json:"metric"`
	Against    string    `json:"against"`            // reference of every ratio
	Machines   []Machine `json:"machines"`           // the machine that ran last comes first
	Unreadable []string  `json:"left_out,omitempty"` // why results could not be read, a line each
}

// Machine contains the runs of one machine.
type Machine struct {
	Name   string     `json:"machine"`
	Runs   []TrendRun `json:"runs"`   // the oldest first
	Series []Series   `json:"series"` // in the order of the newest run

	// Between is the standard deviation of the logarithms of ratios from run to run. It is in addition
	// to the error that their intervals express. Known is false if there are too few runs to estimate
	// it.
	Between float64 `json:"between"`
	Known   bool    `json:"between_known"`

	NotWeighed []tare.NotWeighed `json:"not_weighed,omitempty"` // entries that the newest run skipped
}

// Level is the range of values of a series between two steps. Low and High are equal unless counts
// vary.
type Level struct {
	Low  float64 `json:"low"`
	High float64 `json:"high"`
}

// TrendRun is a run in a trend.
type TrendRun struct {
	Started time.Time `json:"started"`
	Path    string    `json:"path"` // path of the run's directory
	Seed    string    `json:"seed"`
	Rounds  int       `json:"rounds_done"`
	Stopped string    `json:"stopped"`
	Tare    string    `json:"tare,omitempty"`
	Stale   []string  `json:"stale,omitempty"` // differences from the newest run, a line each

	digest *tare.Result    // the result, or what DigestOf returns
	id     int64           // id in the index
	stale  map[string]bool // contenders that differ from the newest run; "" means all
}

// Stored is a result in an index.
type Stored struct {
	ID      int64
	Path    string    // path of the run's directory
	Started time.Time // zero if unknown
	Digest  *tare.Result
}

// Series contains the ratios of one contender on one workload, from run to run. A contender is a
// measured program. A step is a run at which the level of the ratio changes.
type Series struct {
	Workload  string   `json:"workload"`
	Contender string   `json:"contender"`
	Points    []*Point `json:"points"` // one point for each run; null if the run does not have this pair
	Last      *Point   `json:"last"`   // newest point that is not void; null if all are void
	Before    *Point   `json:"before"` // newest point before Last that can be compared, if possible with an interval; null if none
	Change    Change   `json:"change"`
	Steps     []int    `json:"steps,omitempty"`   // runs of steps, as indexes of the machine's runs
	Fresh     bool     `json:"fresh,omitempty"`   // the newest step is at one of the last three compared runs
	Was       Level    `json:"was,omitzero"`      // level before the newest step: ratios, or counts if Counted is set
	Now       Level    `json:"now,omitzero"`      // level since the newest step, or since the first run; for ratios only if there is a step
	Counted   bool     `json:"counted,omitempty"` // counts are compared, not ratios
	Missing   string   `json:"missing,omitempty"` // why the newest run does not have a point; "" if it does
	Low       float64  `json:"expected_low"`      // range in which Last was expected from earlier runs of the same level; 0 if unknown
	High      float64  `json:"expected_high"`
}

// Point is a ratio in a run.
type Point struct {
	Run   int     `json:"run"` // index of the machine's runs
	Ratio float64 `json:"ratio"`
	Low   float64 `json:"low"` // bounds of the interval; 0 if there are too few rounds
	High  float64 `json:"high"`
	Level float64 `json:"level"` // confidence of the interval
	Void  bool    `json:"void,omitempty"`
	Stale bool    `json:"stale,omitempty"`       // the contender, the reference or the machine differs from the newest run
	Other bool    `json:"other_input,omitempty"` // the input or the revision of the reference differs from the newest run
	Count *Count  `json:"count,omitempty"`       // only of a metric that counts
}

// Bounded reports whether the point has an interval.
func (p Point) Bounded() bool { return p.Low > 0 && p.High > 0 }

// Change is the verdict on a series.
type Change string

// Changes.
const (
	First    Change = "first"     // no point can be compared with the last one
	Changed  Change = "changed"   // there is a step; the newest one is from Was to Now
	NotShown Change = "not shown" // there is no step
	Unknown  Change = "unknown"   // the last point or the one before has no interval
)

func newChange(last, before *Point) Change {
	switch {
	case last == nil || before == nil:
		return First
	case !last.Bounded() || !before.Bounded():
		return Unknown
	}
	return NotShown
}

// Pairs returns all pairs of the stored result id in which against is the reference.
type Pairs func(id int64, metric, against string) ([]Pair, error)

// NewTrend returns the history of a study from its stored results, the oldest first. The trend is empty
// if nothing matches the query.
func NewTrend(query Query, stored []Stored, pairs Pairs) (Trend, error) {
	t := Trend{Study: query.Study, Metric: query.Metric, Against: query.Against, Machines: []Machine{}}
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
	for _, m := range groupByMachine(runs, query.Last) {
		markStale(m.Runs)
		if err := m.addSeries(query, t, pairs); err != nil {
			return t, err
		}
		t.Machines = append(t.Machines, m)
	}
	return t, nil
}

// groupByMachine returns the machines, beginning with the one that ran last. Each has its newest maxRuns
// runs; 0 means all. Runs are in order, the oldest first.
func groupByMachine(runs []TrendRun, maxRuns int) []Machine {
	var machines []Machine
	for _, r := range slices.Backward(runs) {
		name := machineName(r.digest.Machine)
		i := slices.IndexFunc(machines, func(m Machine) bool { return m.Name == name })
		if i < 0 {
			i = len(machines)
			machines = append(machines, Machine{Name: name, Series: []Series{}})
		}
		if m := &machines[i]; maxRuns == 0 || len(m.Runs) < maxRuns {
			m.Runs = append(m.Runs, r)
		}
	}
	for _, m := range machines {
		slices.Reverse(m.Runs)
	}
	return machines
}

// machineName returns the name of a machine: the properties on which results depend, but that no update
// of the system changes. Runs with the same name are compared.
func machineName(m tare.Machine) string {
	memory := ""
	if m.Memory > 0 {
		memory = fmt.Sprintf(", %d GiB", (m.Memory+1<<29)>>30) // rounded
	}
	cores := "1 core"
	if m.Cores != 1 {
		cores = fmt.Sprintf("%d cores", m.Cores)
	}
	return fmt.Sprintf("%s (%s/%s, %s%s)", cmp.Or(m.CPU, "a processor without a name"), m.OS, m.Arch, cores, memory)
}

func (m *Machine) addSeries(query Query, t Trend, pairsOf Pairs) error {
	if err := m.collectPoints(query, t, pairsOf); err != nil {
		return err
	}
	m.sortSeries()
	newest := m.Runs[len(m.Runs)-1].digest
	for i := range m.Series {
		s := &m.Series[i]
		s.findLast()
		s.Change = newChange(s.Last, s.Before)
		s.Missing = whyMissing(newest, *s, len(m.Runs)-1)
	}
	m.NotWeighed = newest.NotWeighed
	m.findLevels()
	return nil
}

// collectPoints adds a series for each selected workload and contender.
func (m *Machine) collectPoints(query Query, t Trend, pairsOf Pairs) error {
	seriesIndex := map[[2]string]int{} // index in m.Series, by workload and contender
	newest := m.Runs[len(m.Runs)-1].digest
	for i, run := range slices.Backward(m.Runs) {
		pairs, err := pairsOf(run.id, t.Metric, t.Against)
		if err != nil {
			return err
		}
		for _, p := range pairs {
			if !isSelected(query, run.digest, p) {
				continue
			}
			key := [2]string{p.Workload, p.Contender}
			k, ok := seriesIndex[key]
			if !ok {
				k = len(m.Series)
				seriesIndex[key] = k
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
	return nil
}

// sortSeries sorts the series in the order of the newest run.
func (m *Machine) sortSeries() {
	newest := m.Runs[len(m.Runs)-1].digest
	workloadIndex := func(id string) int {
		return indexOrLen(newest.Workloads, func(w tare.Workload) bool { return w.ID == id })
	}
	contenderIndex := func(id string) int {
		return indexOrLen(newest.Contenders, func(c tare.Contender) bool { return c.ID == id })
	}
	slices.SortStableFunc(m.Series, func(a, b Series) int {
		return cmp.Or(
			cmp.Compare(workloadIndex(a.Workload), workloadIndex(b.Workload)),
			strings.Compare(a.Workload, b.Workload),
			cmp.Compare(contenderIndex(a.Contender), contenderIndex(b.Contender)),
			strings.Compare(a.Contender, b.Contender))
	})
}

func (s *Series) findLast() {
	for _, p := range slices.Backward(s.Points) {
		switch {
		case p == nil || p.Void:
			// The point is missing or does not count.
		case s.Last == nil:
			s.Last = p
		case p.Other != s.Last.Other:
			// Its input or reference differs from that of the last point.
		case s.Before == nil || !s.Before.Bounded() && p.Bounded(): // prefer a point with an interval
			s.Before = p
		}
	}
}

// isSelected reports whether the query selects a pair. A query without contenders selects all that
// compete. The control, a second copy of the baseline, does not compete. Nor do traps, which reproduce
// published mistakes.
func isSelected(query Query, r *tare.Result, p Pair) bool {
	match := func(patterns []string, name string) bool {
		return slices.ContainsFunc(patterns, func(pattern string) bool {
			ok, err := lab.Match(pattern, name)
			return ok && err == nil
		})
	}
	if len(query.Workloads) > 0 && !match(query.Workloads, p.Workload) {
		return false
	}
	if p.Contender == p.Against {
		return false
	}
	if len(query.Contenders) > 0 {
		return match(query.Contenders, p.Contender)
	}
	return slices.ContainsFunc(r.Contenders, func(c tare.Contender) bool {
		return c.ID == p.Contender && (c.Role == tare.RoleContender || c.Role == tare.RoleApart || c.Role == tare.RoleBaseline)
	})
}

// indexOrLen returns the index of the first element that matches, or len(list) if none does.
func indexOrLen[T any](list []T, matches func(T) bool) int {
	if i := slices.IndexFunc(list, matches); i >= 0 {
		return i
	}
	return len(list)
}
