package rpcstudy

import (
	"strings"
	"testing"

	"github.com/tarebench/tare"
)

// result is one of the document's, with these comparisons with gRPC, and a control
// that shows 2 %.
func result(comparisons ...tare.Comparison) *tare.Result {
	r := &tare.Result{}
	for _, id := range []string{Baseline, tare.ControlID, "connect", "gateway-dial", "connect-json"} {
		r.Contenders = append(r.Contenders, tare.Contender{ID: id, Role: tare.RoleContender})
	}
	r.Contenders[0].Role, r.Contenders[1].Role = tare.RoleBaseline, tare.RoleControl
	r.Contenders[4].Error = "it does not compile."
	for _, id := range []string{allID, oneID} {
		r.Workloads = append(r.Workloads, tare.Workload{ID: id})
		for _, metric := range []string{"cpu", "time"} {
			comparisons = append(comparisons, comparison(tare.ControlID, id, metric, 1, 0.98, 1.02))
		}
	}
	r.Comparisons = comparisons
	return r
}

func comparison(id, workload, metric string, ratio, low, high float64) tare.Comparison {
	c := tare.Comparison{Contender: id, Against: Baseline, Workload: workload, Metric: metric}
	c.Ratio, c.Low, c.High, c.Value, c.AgainstValue = ratio, low, high, 50e3*ratio, 50e3
	return c
}

func TestRecommendation(t *testing.T) {
	d := document(t, "testdata/shop.proto")
	said := strings.Join(d.Recommendation(result(
		comparison("gateway-dial", allID, "cpu", 3.5, 3.2, 3.9), comparison("connect", allID, "cpu", 1.01, 0.99, 1.03), comparison("gateway-dial", oneID, "time", 2, 1.8, 2.2),
	)), "\n")
	for _, want := range []string{
		"On your 8 methods no difference in server CPU time was shown between connect and gRPC: 1.01× (0.99–1.03).\n",
		"On your 8 methods gateway-dial takes 3.50× (3.20–3.90) the server CPU time of gRPC for a call, 175 µs instead of 50 µs; one caller waits 100 µs for an answer instead of 50 µs, 2.00× (1.80–2.20).\n",
		"connect-json could not be measured: it does not compile.\n",
		"Not answered: what your own handlers", "Not answered: what clients cost", "Not answered: encryption", "Not answered: 3 of the methods asked for",
	} {
		if !strings.Contains(said, want) {
			t.Errorf("no %q in\n%s", want, said)
		}
	}
	r := result()
	if said := d.Recommendation(r)[0]; said != "On your 8 methods: no transport was compared with gRPC." {
		t.Error(said)
	}
	r.Comparisons = nil
	if said := d.Recommendation(r)[0]; said != "On your 8 methods: no comparison: too few rounds for an interval." {
		t.Error(said)
	}
	r.Workloads = r.Workloads[1:]
	if said := d.Recommendation(r)[0]; said != "On your 8 methods: no comparison: the workload all was not measured." {
		t.Error(said)
	}
}
