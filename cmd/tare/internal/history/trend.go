package history

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/lab"
)

// Query chooses what of a study's history is wanted. Only Study is needed.
type Query struct {
	Study      string
	Contenders []string // patterns as in lab.Match; none: all that compete
	Workloads  []string // likewise
	Metric     string   // empty: the primary one of the newest run
	Against    string   // id; empty: the baseline of the newest run
	Last       int      // newest runs of each machine; zero: all
}

// Trend is what became of the ratios of a study from run to run. Runs of
// different machines are never in one series.
type Trend struct {
	Study    string    `json:"study"`
	Metric   string    `json:"metric"`
	Against  string    `json:"against"` // what every ratio is taken to
	Machines []Machine `json:"machines"`
	Left     []string  `json:"left_out,omitempty"` // results that could not be read, a line each
}

// Machine is the runs of one machine. The one that ran last comes first.
type Machine struct {
	Name   string     `json:"machine"`
	Runs   []TrendRun `json:"runs"`   // the oldest first
	Series []Series   `json:"series"` // in the order of the newest run
}

// TrendRun is a run in a trend.
type TrendRun struct {
	Started time.Time `json:"started"`
	Path    string    `json:"path"` // of its directory
	Seed    string    `json:"seed"`
	Rounds  int       `json:"rounds_done"`
	Stopped string    `json:"stopped"`
	Tare    string    `json:"tare,omitempty"`
	Stale   []string  `json:"stale,omitempty"` // in which ways it differs from the newest, a line each

	digest *tare.Result
	id     int64
	stale  map[string]bool // contenders that differ; "": all of them
}

// Series is one contender on one workload, from run to run.
type Series struct {
	Workload  string   `json:"workload"`
	Contender string   `json:"contender"`
	Points    []*Point `json:"points"` // one for each run; null: the run has no such pair
	Last      *Point   `json:"last"`   // newest that is not void; null: there is none
	Before    *Point   `json:"before"` // the newest before that on the same input, one with an interval where there is one; null: there is none
	Change    Change   `json:"change"`
}

// Point is a ratio in a run.
type Point struct {
	Run   int     `json:"run"` // index of the machine's runs
	Ratio float64 `json:"ratio"`
	Low   float64 `json:"low"` // zero, as high: too few rounds for an interval
	High  float64 `json:"high"`
	Level float64 `json:"level"`
	Void  bool    `json:"void,omitempty"`
	Stale bool    `json:"stale,omitempty"`       // the contender, the reference or the machine differ from the newest run's
	Other bool    `json:"other_input,omitempty"` // the workload asked something else than in the newest run
}

// Bounded reports whether the point has an interval.
func (p Point) Bounded() bool { return p.Low > 0 && p.High > 0 }

// Change says what two runs allow to say about a series.
type Change string

// Changes. Only intervals that do not overlap are one.
const (
	First    Change = "first"     // there is nothing to hold the last against
	Changed  Change = "changed"   // the intervals of the last and the one before do not overlap
	NotShown Change = "not shown" // they overlap
	Unknown  Change = "unknown"   // a side has no interval
)

// change holds the last point against the one before.
func change(last, before *Point) Change {
	switch {
	case last == nil || before == nil:
		return First
	case !last.Bounded() || !before.Bounded():
		return Unknown
	case last.Low > before.High || last.High < before.Low:
		return Changed
	}
	return NotShown
}

// Trend reads the history of a study. It is empty where there is no result of
// that study; an unknown metric, contender or workload is for the caller to
// find among what [Index.Names] lists.
func (x *Index) Trend(ctx context.Context, q Query) (Trend, error) {
	t := Trend{Study: q.Study, Metric: q.Metric, Against: q.Against, Machines: []Machine{}}
	runs, left, err := x.runs(ctx, q.Study)
	if err != nil {
		return t, err
	}
	t.Left = left
	if len(runs) == 0 {
		return t, nil
	}
	newest := runs[len(runs)-1].digest
	if t.Metric == "" && len(newest.Metrics) > 0 {
		t.Metric = newest.Metrics[0]
	}
	if i := slices.IndexFunc(newest.Contenders, func(c tare.Contender) bool { return c.Role == tare.RoleBaseline }); i >= 0 {
		t.Against = cmp.Or(t.Against, newest.Contenders[i].ID)
	}
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
		mark(m.Runs)
		if err := x.series(ctx, &m, q, t); err != nil {
			return t, err
		}
		t.Machines = append(t.Machines, m)
	}
	return t, nil
}

// machineName tells machines apart: what a result is known to depend on and
// that nobody changes by an update.
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

// runs are the readable results of a study, the oldest first, and a line for
// each of the others.
func (x *Index) runs(ctx context.Context, study string) (runs []TrendRun, left []string, err error) {
	rows, err := x.db.QueryContext(ctx, "SELECT id, path, started_ns, digest, error FROM document WHERE study = ? ORDER BY started_ns, path", study)
	if err != nil {
		return nil, nil, unusable(err)
	}
	defer rows.Close()
	for rows.Next() {
		var r TrendRun
		var started int64
		var text, why string
		if err := rows.Scan(&r.id, &r.Path, &started, &text, &why); err != nil {
			return nil, nil, unusable(err)
		}
		if why != "" {
			left = append(left, why)
			continue
		}
		if err := json.Unmarshal([]byte(text), &r.digest); err != nil {
			return nil, nil, fmt.Errorf("%w: %w", errNotIndex, err)
		}
		if started != 0 {
			r.Started = time.Unix(0, started).UTC()
		}
		r.Path = filepath.Join(x.results, filepath.FromSlash(r.Path))
		r.Seed, r.Rounds, r.Stopped, r.Tare = r.digest.Seed, r.digest.RoundsDone, r.digest.Stopped, r.digest.Tare
		runs = append(runs, r)
	}
	return runs, left, unusable(rows.Err())
}

// series reads the points of a machine's runs.
func (x *Index) series(ctx context.Context, m *Machine, q Query, t Trend) error {
	at := map[[2]string]int{}
	newest := m.Runs[len(m.Runs)-1].digest
	for i, run := range slices.Backward(m.Runs) { // the newest run gives the order
		pairs, err := x.pairs(ctx, run.id, t.Metric, t.Against)
		if err != nil {
			return err
		}
		for _, p := range pairs {
			if !chosen(q, run.digest, p) {
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
				Other: otherInput(newest, run.digest, p.Workload),
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
		s.Change = change(s.Last, s.Before)
	}
	return nil
}

// chosen reports whether the query chooses a pair. Where it names nobody, those
// who compete are wanted: not the control, no traps.
func chosen(q Query, r *tare.Result, p Pair) bool {
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

// pairs are what a run tells of everybody against one contender, turned round
// where need be, in the order of its workloads and contenders.
func (x *Index) pairs(ctx context.Context, document int64, metric, against string) ([]Pair, error) {
	rows, err := x.db.QueryContext(ctx, `SELECT workload, metric, contender, against, ratio, low, high, level, rounds, void FROM pair
		WHERE document = ? AND metric = ? AND (contender = ? OR against = ?)`, document, metric, against, against)
	if err != nil {
		return nil, unusable(err)
	}
	defer rows.Close()
	var out []Pair
	for rows.Next() {
		var p Pair
		if err := rows.Scan(&p.Workload, &p.Metric, &p.Contender, &p.Against, &p.Ratio, &p.Low, &p.High, &p.Level, &p.Rounds, &p.Void); err != nil {
			return nil, unusable(err)
		}
		if p.Against != against {
			p = p.turned()
		}
		out = append(out, p)
	}
	return out, unusable(rows.Err())
}

// placeOf is where in a list the first is that is meant; behind its end where
// none is.
func placeOf[T any](list []T, is func(T) bool) int {
	if i := slices.IndexFunc(list, is); i >= 0 {
		return i
	}
	return len(list)
}

// Digests are what lists of runs need of the results, by directory. Their
// comparisons, rounds and trials are left out. The error of a result says why
// it cannot be read.
func (x *Index) Digests(ctx context.Context) (map[string]Digest, error) {
	rows, err := x.db.QueryContext(ctx, "SELECT path, digest, error FROM document")
	if err != nil {
		return nil, unusable(err)
	}
	defer rows.Close()
	all := map[string]Digest{}
	for rows.Next() {
		var path, text string
		var d Digest
		if err := rows.Scan(&path, &text, &d.Error); err != nil {
			return nil, unusable(err)
		}
		if err := json.Unmarshal([]byte(text), &d.Result); err != nil {
			return nil, fmt.Errorf("%w: %w", errNotIndex, err)
		}
		all[filepath.Join(x.results, filepath.FromSlash(path))] = d
	}
	return all, unusable(rows.Err())
}

// Digest is a part of a result, or why there is none.
type Digest struct {
	Result *tare.Result
	Error  string // one line; empty: it was read
}
