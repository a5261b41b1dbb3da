package report

import (
	"fmt"
	"strings"
	"testing"

	"github.com/tarebench/tare"
)

// many returns a result in which contenders differ from the baseline on workloads; with ranks, the
// comparisons have ranks.
func many(contenders, workloads int, ranks bool) *tare.Result {
	r := &tare.Result{Design: tare.Design{Metrics: []string{"time"}, Contenders: []tare.Contender{{ID: "base", Role: tare.RoleBaseline}}}}
	for c := range contenders {
		id := fmt.Sprint("c", c)
		r.Contenders = append(r.Contenders, tare.Contender{ID: id, Role: tare.RoleContender})
		for w := range workloads {
			work := fmt.Sprint("w", w)
			x := tare.Comparison{Workload: work, Contender: id, Metric: "time", Against: "base", Ratio: 0.5 + float64((c+w)%contenders)/10}
			if ranks {
				x.RankLow = 1 + (c+w)%contenders
			}
			r.Comparisons = append(r.Comparisons, x)
			r.Verdicts = append(r.Verdicts, tare.Verdict{Contender: id, Workload: work, Metric: "time", Sentence: id + " on " + work + "."})
		}
	}
	return r
}

func TestHeadlines(t *testing.T) {
	if told, rest := listHeadlines(many(3, 4, true)); len(told) != 12 || rest != "" {
		t.Errorf("twelve differences: %d told, %q", len(told), rest)
	}
	for _, ranks := range []bool{true, false} {
		told, rest := listHeadlines(many(7, 3, ranks))
		if len(told) != 3 || !strings.HasPrefix(rest, "18 further statements") {
			t.Errorf("ranks %v: %d told, %q; want the best of three workloads and 18 in the tables", ranks, len(told), rest)
		}
		for i, v := range told { // the best of workload w is the contender (c+w)%7 == 0
			if want := fmt.Sprintf("c%d on w%d.", (7-i)%7, i); !strings.Contains(fmt.Sprint(told), want) {
				t.Errorf("ranks %v: %q is missing in %v", ranks, want, v)
			}
		}
	}
}
